"""CSV files of running times: what is read, and how each kind of bad file is refused."""

import re

import numpy as np
import pytest

from sparkpart import RunsError, read_runs
from sparkpart.runs import NODE_NAMES, UNIT_OF_NAME, bell


@pytest.fixture
def write(tmp_path):
    def write(content):
        path = tmp_path / "runs.csv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def refused(path, message, unit=None):
    """The file is refused with its name, a one-line message and these words."""
    with pytest.raises(RunsError) as error:
        read_runs(path, unit)
    assert str(error.value).startswith(str(path))
    assert "\n" not in str(error.value)
    assert message in str(error.value)


def test_plain_file(write):
    table = read_runs(write("nodes,seconds\n4,61.5\n8,35\n4,60\n"))
    assert table.to_dict("list") == {"nodes": [4, 8, 4], "seconds": [61.5, 35, 60]}
    assert table["nodes"].dtype.kind == "i"
    assert table.attrs["ignored"] == []


@pytest.mark.parametrize(
    "content",
    [
        "seconds,nodes\n61.5,4\n35,8\n",
        "\ufeffnodes,seconds\n4,61.5\n8,35\n",
        "\n\nnodes,seconds\n\n4,61.5\n,\n8,35\n\n\n",
        "nodes,seconds\r\n4,61.5\r\n8,35\r\n",
        "nodes,seconds\n4,61.5\n8,35",
        ' Nodes , SECONDS \n 4 ,6.15e1\n8.0, 35 \n',
        "Machines,Milliseconds\n4,61500\n8,35000\n",
        "Node-Count,ms\n4,61500\n8,35000\n",
        "run,n,s,host\na,4,61.5,x\nb,8,35,y\n",
        '"nodes","seconds"\n"4","61.5"\n"8","35"\n',
    ],
    ids=["column order", "byte order mark", "blank lines", "CRLF", "no last newline", "spaces",
         "milliseconds", "hyphen and ms", "other columns", "quotes"],
)  # fmt: skip
def test_harmless_variants_read_the_same(write, content):
    table = read_runs(write(content))
    assert table["nodes"].tolist() == [4, 8]
    assert table["seconds"].tolist() == pytest.approx([61.5, 35])


def test_columns_that_are_not_used_are_named(write):
    table = read_runs(write("run,n,s,host\na,4,61.5,x\n"))
    assert table.attrs["ignored"] == ["run", "host"]


@pytest.mark.parametrize(("unit", "seconds"), [("s", 61500), ("ms", 61.5)])
@pytest.mark.parametrize("name", ["time", "Runtime", "running time", "duration"])
def test_unit_is_given_where_the_name_has_none(write, name, unit, seconds):
    table = read_runs(write(f"nodes,{name}\n4,61500\n"), unit)
    assert table["seconds"].tolist() == pytest.approx([seconds])


def test_unit_given_may_repeat_that_of_the_name(write):
    assert read_runs(write("nodes,ms\n4,61500\n"), "ms")["seconds"].tolist() == [61.5]


@pytest.mark.parametrize("content", ["", "\n\n", " , \n", "\ufeff"])
def test_empty_file(write, content):
    refused(write(content), "the file is empty; a header and one run a line are needed")


def test_header_alone(write):
    refused(write("nodes,seconds\n\n"), "a header but no runs")


def test_no_time_column(write):
    refused(
        write("nodes,speed\n4,61\n"),
        ", line 1: no column of times; the header is 'nodes,speed', exactly one of "
        f"{', '.join(UNIT_OF_NAME)} is needed",
    )


def test_no_node_column(write):
    refused(
        write("cores,seconds\n4,61\n"),
        f"line 1: no column of node counts; the header is 'cores,seconds', exactly one of "
        f"{', '.join(NODE_NAMES)} is needed",
    )


def test_no_header(write):
    refused(write("4,61\n8,35\n"), "line 1: no column of node counts; the header is '4,61'")


def test_two_time_columns(write):
    refused(write("nodes,seconds,ms\n4,61,61000\n"), "line 1: 2 columns of times")


def test_two_node_columns(write):
    refused(write("nodes,n,seconds\n4,4,61\n"), "line 1: 2 columns of node counts")


@pytest.mark.parametrize("bad", ["fast", "", "nan", "inf", "-inf", "0", "-3.5", "1,5", "0x1F"])
def test_time_that_is_not_a_positive_number(write, bad):
    refused(
        write(f'nodes,seconds\n4,61\n8,"{bad}"\n'),
        f", line 3, field 'seconds': {bad!r} is not a finite number > 0",
    )


@pytest.mark.parametrize("bad", ["eight", "", "8.5", "0", "-8", "nan", "inf"])
def test_node_count_that_is_not_a_whole_number(write, bad):
    refused(
        write(f"seconds,Machines\n61,4\n\n35,{bad}\n"),
        f", line 4, field 'Machines': {bad!r} is not a whole number >= 1",
    )


@pytest.mark.parametrize(("row", "count"), [("8", 1), ("8,35,2", 3), ("8,35,", 3)])
def test_wrong_number_of_fields(write, row, count):
    refused(
        write(f"nodes,seconds\n4,61\n{row}\n16,20\n"),
        f", line 3: {count} fields; the header has 2",
    )


def test_unit_that_contradicts_the_name(write):
    refused(
        write("nodes,Seconds\n4,61\n"),
        ", line 1: column 'Seconds' is in s, but the unit given is ms",
        "ms",
    )


def test_no_unit(write):
    refused(
        write("nodes,Runtime\n4,61\n"),
        ", line 1: column 'Runtime' states no unit; give s or ms as the unit",
    )


def test_unknown_unit(write):
    with pytest.raises(RunsError, match="the unit given is 'min'; it must be s or ms"):
        read_runs(write("nodes,time\n4,61\n"), "min")


@pytest.mark.parametrize(
    "content",
    [b"\x7fELF\x02\x01\xd0\xff\x00", "nodes,seconds\n4,61\n".encode("utf-16"), b"\xff\xfe\x00\n"],
)
def test_binary_file(write, content):
    refused(write(content), "not a CSV file in UTF-8")


def test_null_bytes(write):
    refused(write(b"\x00\x00\x01\x02"), "no column of node counts")


def test_field_too_long_for_csv(write):
    refused(write("nodes,seconds\n4," + "1" * 200_000), "not a CSV file in UTF-8 (field larger")


def test_missing_file_and_folder_are_operating_system_errors(tmp_path):
    with pytest.raises(FileNotFoundError, match="absent"):
        read_runs(tmp_path / "absent.csv")
    with pytest.raises(IsADirectoryError, match=re.escape(str(tmp_path))):
        read_runs(tmp_path)


def test_path_may_be_a_string(write):
    assert len(read_runs(str(write("nodes,seconds\n4,61\n")))) == 1


def test_shipped_medians_have_two_programs_of_fifteen_counts():
    table = bell()
    assert table.groupby("program")["nodes"].apply(list).to_dict() == {
        "grep": list(range(4, 61, 4)),
        "SGD": list(range(4, 61, 4)),
    }
    assert (table["min_seconds"] <= table["median_seconds"]).all()
    assert (table["median_seconds"] <= table["max_seconds"]).all()
    assert (table["runs"] == 7).all()


@pytest.mark.parametrize(("program", "name"), [("grep", "grep"), ("SGD", "sgd")])
def test_shipped_medians_are_those_of_the_raw_runs(samples, program, name):
    raw = read_runs(samples / "runtimes" / "bell" / f"{name}.spark.csv", "ms")
    shipped = bell().query("program == @program")
    ours = raw.groupby("nodes")["seconds"].agg(["median", "min", "max", "count"])
    assert ours.index.tolist() == shipped["nodes"].tolist()
    columns = ["median_seconds", "min_seconds", "max_seconds", "runs"]
    np.testing.assert_allclose(ours, shipped[columns], rtol=1e-12)
