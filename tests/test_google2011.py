"""The reader of the Google trace: every trap is counted, every fault named by file and line."""

import gzip
import json
import os

import duckdb
import pandas as pd
import pytest

from flex.__main__ import main
from flex.google2011 import TABLES, TraceError, convert, parts_of, report_of

HASH = "70s3v5qRyCO/1PCdI6fVXnrW8FU/w+5CKRSa72xgcIo="
AFTER = 2**63 - 1
TASKS = [
    f"0,2,3418309,0,4155527081,0,{HASH},3,9,,,,",
    f"600000000,,3418309,1,,0,{HASH},3,9,0,0.0678,0.0001,1",
    f"600000001,,3418309,1,4155527081,1,{HASH},3,9,0.125,0,0.0001,0",
    f"600000002,,3418309,1,4155527081,8,{HASH},3,9,0.125,0.1,0.0001,0",
    f"{AFTER},,3418309,1,4155527081,5,{HASH},3,9,0.125,0.1,0.0001,0",
    f"{2**64 - 1},,3418309,1,7,5,{HASH},3,9,0.125,0.1,0.0001,0",
]
USAGE = [
    "600000000,900000000,3418309,0,4155527081,0.001562,0.06787,0.07568,0.0,0.0,0.0678,0,0,"
    "0.03967,0,2.445,0.007243,0,1,0",
    "600000000,891000000,3418309,1,329150663,0,0,0,0,0,0,0,0,0,0,,,0,0,0",
    "900000000,1200000000,3418309,1,329150663,1.5,0.1,0,0,0,0,,0,2.5,0,1,1,0,1,0",
]
MACHINES = ["0,4155527081,0,HofLGzk1Or/8Ildj2+Lqv0UGGvY82NLoni8+J/Yy0RU=,0.5,0.2493",
            "600000000,329150663,0,x,,"]  # fmt: skip


def part(folder, table, lines, number=0, of=500, suffix=".csv.gz"):
    path = folder / table / f"part-{number:05d}-of-{of:05d}{suffix}"
    path.parent.mkdir(parents=True, exist_ok=True)
    text = lines if isinstance(lines, bytes) else ("\n".join(lines) + "\n").encode()
    path.write_bytes(gzip.compress(text) if suffix.endswith(".gz") else text)
    return path


@pytest.fixture
def trace(tmp_path):
    folder = tmp_path / "trace"
    part(folder, "task_events", TASKS)
    part(folder, "task_usage", USAGE)
    part(folder, "machine_events", MACHINES, of=1)
    return folder


def read(out, table):
    return duckdb.sql(f"SELECT * FROM read_parquet('{out}/{table}/*.parquet')").df()


def counted(report, table, what):
    row = report[(report["table"] == table) & (report["what"] == what)]
    return int(row["count"].item())


def test_columns_are_those_of_the_official_schema(samples):
    schema = pd.read_csv(samples / "google2011" / "schema.csv")
    for table, columns in TABLES.items():
        rows = schema[schema["file pattern"].str.startswith(f"{table}/")]
        names = rows["content"].str.lower().str.replace("[ /]", "_", regex=True)
        kinds = rows["format"].str.lower()
        assert len(rows) == len(columns)
        assert [c.mandatory for c in columns] == (rows["mandatory"] == "YES").tolist()
        for column, name, kind in zip(columns, names, kinds, strict=True):
            assert column.name.split("_")[0] in {*name.split("_"), "cpus", "different"}
            expected = {"time": "integer", "hash": "string_hash"}.get(column.kind, column.kind)
            assert kind.startswith(expected)


def test_marks_of_time_become_flags_and_no_row_is_lost(trace, tmp_path):
    convert(trace, tmp_path / "out")
    tasks = read(tmp_path / "out", "task_events")
    assert len(tasks) == len(TASKS)
    assert tasks["time"].isna().tolist() == [True, False, False, False, True, True]
    assert tasks["before_start"].tolist() == [True] + [False] * 5
    assert tasks["after_end"].tolist() == [False] * 4 + [True, True]
    assert tasks["time"].dropna().astype(int).tolist() == [600000000, 600000001, 600000002]


def test_empty_and_zero_requests_stay_what_they_are(trace, tmp_path):
    convert(trace, tmp_path / "out")
    tasks = read(tmp_path / "out", "task_events")
    assert tasks["cpu_request"].isna().tolist() == [True] + [False] * 5
    assert tasks["cpu_request"].tolist()[1:3] == [0, 0.125]
    assert tasks["machine_id"].isna().tolist() == [False, True, False, False, False, False]
    assert tasks["different_machines"].tolist()[1:3] == [True, False]


def test_report_counts_every_oddity(trace, tmp_path):
    report = convert(trace, tmp_path / "out")
    expected = {
        ("task_events", "rows"): 6,
        ("task_events", "before the trace"): 1,
        ("task_events", "after the trace"): 2,
        ("task_events", "missing info given"): 1,
        ("task_events", "machine missing"): 1,
        ("task_events", "CPU request missing"): 1,
        ("task_events", "CPU request zero"): 1,
        ("task_events", "memory request zero"): 1,
        ("task_events", "request updated"): 1,
        ("task_events", "machines not in machine_events"): 1,
        ("task_usage", "window shorter than 300 s"): 1,
        ("task_usage", "CPU and memory zero"): 1,
        ("task_usage", "CPU rate above 1"): 1,
        ("task_usage", "maximum CPU rate above 1"): 1,
        ("task_usage", "maximum is a sum of sub-containers"): 2,
        ("task_usage", "disk time missing"): 1,
        ("task_usage", "cycles or memory accesses per instruction missing"): 1,
        ("task_usage", "machines not in machine_events"): 0,
        ("machine_events", "capacity missing"): 1,
    }
    assert {key: counted(report, *key) for key in expected} == expected


def test_older_usage_without_the_last_column_is_read(tmp_path):
    part(tmp_path / "trace", "task_usage", [line.rpartition(",")[0] for line in USAGE])
    convert(tmp_path / "trace", tmp_path / "out")
    usage = read(tmp_path / "out", "task_usage")
    assert len(usage) == 3
    assert usage["sampled_cpu"].isna().all()


def test_uncompressed_parts_are_read_too(tmp_path):
    part(tmp_path / "trace", "task_events", TASKS, suffix=".csv")
    assert counted(convert(tmp_path / "trace", tmp_path / "out"), "task_events", "rows") == 6


def test_missing_parts_between_are_counted(tmp_path):
    for number in (3, 4, 7):
        part(tmp_path / "trace", "task_events", TASKS, number)
    report = convert(tmp_path / "trace", tmp_path / "out")
    assert counted(report, "task_events", "parts") == 3
    assert counted(report, "task_events", "parts missing between") == 2


def test_conversion_is_resumed_and_changed_parts_are_done_again(trace, tmp_path):
    out = tmp_path / "out"
    convert(trace, out)
    usage, tasks = (next((out / t).glob("*.parquet")) for t in ("task_usage", "task_events"))
    before = [usage.stat().st_mtime_ns, tasks.stat().st_mtime_ns]
    changed = part(trace, "task_events", TASKS[:3])
    os.utime(changed, ns=(1, 1))
    report = convert(trace, out)
    assert usage.stat().st_mtime_ns == before[0]
    assert tasks.stat().st_mtime_ns != before[1]
    assert counted(report, "task_events", "rows") == 3
    pd.testing.assert_frame_equal(report, report_of(out))


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (b"", "line 1: the file is empty"),
        (["#time,x"], "line 1: '#time,x' looks like a header"),
        (["time,missing_info"], "line 1: 'time,missing_info' looks like a header"),
        ([TASKS[1] + ",7"], "line 1: 14 columns; task_events has 13"),
        ([TASKS[1], TASKS[1] + ",7"], "line 2"),
        ([TASKS[1], TASKS[1].replace("0.0678", "lots")],
         "line 2: column memory_request: 'lots' is no DOUBLE"),
        ([TASKS[1], TASKS[1].replace("600000000", "-5")], "line 2: column time: '-5' is no U"),
        ([TASKS[1], TASKS[1].replace("3418309,1", ",1")], "job_id is empty in a row"),
    ],
)  # fmt: skip
def test_faults_are_named_by_file_and_line_and_leave_nothing(tmp_path, lines, message):
    path = part(tmp_path / "trace", "task_events", lines)
    with pytest.raises(TraceError, match=message) as error:
        convert(tmp_path / "trace", tmp_path / "out")
    assert str(error.value).startswith(f"{path}: ")
    assert "\n" not in str(error.value)
    assert [p for p in (tmp_path / "out").rglob("*") if p.is_file()] == []


def test_cut_gzip_stream_is_refused(tmp_path):
    path = part(tmp_path / "trace", "task_events", TASKS * 2000)
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(TraceError, match="part-00000"):
        convert(tmp_path / "trace", tmp_path / "out")
    assert list((tmp_path / "out").rglob("*.parquet")) == []


def test_a_fault_in_a_later_part_keeps_the_earlier_ones(tmp_path):
    part(tmp_path / "trace", "task_events", TASKS, 0)
    part(tmp_path / "trace", "task_events", ["x"], 1)
    with pytest.raises(TraceError):
        convert(tmp_path / "trace", tmp_path / "out")
    assert [p.name for p in (tmp_path / "out").rglob("*.parquet")] == ["part-00000.parquet"]


def test_no_folder_and_no_part_are_refused(tmp_path):
    with pytest.raises(TraceError, match="there is no such folder"):
        parts_of(tmp_path / "none")
    with pytest.raises(TraceError, match="no part found"):
        parts_of(tmp_path)
    part(tmp_path, "task_events", TASKS)
    part(tmp_path, "task_events", TASKS, suffix=".csv")
    with pytest.raises(TraceError, match="the same part as"):
        parts_of(tmp_path)


def test_command_prints_the_report(trace, tmp_path, capsys):
    assert main(["convert", str(trace), "--out", str(tmp_path / "out"), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {"table": "task_events", "what": "rows", "count": 6} in rows
    assert main(["convert", str(trace), "--out", str(tmp_path / "out")]) == 0
    assert "machines not in machine_events" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--tables", "nothing"], "'nothing' is not one of"),
        (["--out", "TRACE"], "is the folder of the trace"),
    ],
)  # fmt: skip
def test_command_refuses(trace, tmp_path, capsys, more, message):
    more = [str(trace) if word == "TRACE" else word for word in more]
    assert main(["convert", str(trace), "--out", str(tmp_path / "out"), *more]) == 2
    err = capsys.readouterr().err
    assert err.startswith("error: ")
    assert message in err


def test_real_first_parts_have_the_published_counts(samples, tmp_path):
    """The numbers in the origin of the samples, counted there by other means."""
    folder = samples / "google2011"
    for table, of in (("task_events", 500), ("machine_events", 1), ("job_events", 500)):
        target = tmp_path / "trace" / table / f"part-00000-of-{of:05d}.csv.gz"
        target.parent.mkdir(parents=True)
        target.symlink_to(folder / f"{table}.{target.name}")
    report = convert(tmp_path / "trace", tmp_path / "out")
    expected = {
        ("task_events", "rows"): 450_146,
        ("task_events", "snapshot at the start"): 277_321,
        ("task_events", "CPU request missing"): 291,
        ("task_events", "CPU request zero"): 1533,
        ("task_events", "memory request zero"): 57,
        ("task_events", "machines not in machine_events"): 3,
        ("machine_events", "rows"): 37_780,
        ("machine_events", "capacity missing"): 32,
        ("job_events", "before the trace"): 7970,
    }
    assert {key: counted(report, *key) for key in expected} == expected
