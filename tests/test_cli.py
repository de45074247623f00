"""The command line: its table, files and notes; errors are one line and status 2."""

import builtins
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from sparkpart import compare, fit, read_runs
from sparkpart.__main__ import main

GOOD = "nodes,seconds\n4,61\n8,35.5\n16,21.9\n24,18.1\n32,16.6\n48,16.1\n"
QUICK = ("--resamples", "20")


@pytest.fixture
def runs(tmp_path):
    path = tmp_path / "runs.csv"
    path.write_text(GOOD)
    return path


@pytest.fixture
def cli(capsys):
    """Run the command line; returns status, standard output and error lines."""

    def run(*args):
        status = main(["fit", *map(str, args)])
        out, err = capsys.readouterr()
        return status, out, err.splitlines()

    return run


def refused(result, message):
    status, _, err = result
    assert status == 2
    assert len(err) == 1
    assert err[0].startswith("error: ")
    assert message in err[0]


def test_report_has_every_model_and_recommends_the_first(cli, runs):
    status, out, err = cli(runs, *QUICK)
    assert (status, err) == (0, [])
    lines = out.splitlines()
    assert lines[0] == "6 runs at 6 node counts, 4 to 48"
    fits = compare([4, 8, 16, 24, 32, 48], [61, 35.5, 21.9, 18.1, 16.6, 16.1])
    headings = [line for line in lines if "SSE" in line]
    assert len(headings) == len(fits) == 5
    assert f"SSE {fits['eq2'].sse:.6g} s²" in headings[0]
    assert lines[-1] == "recommended: Eq. 1, 2 (eq2), least error at left-out node counts"
    assert "at its bound" in out


def test_table_as_csv_has_a_row_for_each_coefficient(cli, runs, tmp_path):
    file = tmp_path / "table.csv"
    status, _, _ = cli(runs, "--csv", file, "--seed", "3", "--resamples", "40")
    table = pd.read_csv(file)
    assert status == 0
    assert list(table) == ["model", "coefficient", "value", "low", "high", "at_bound", "r2", "sse",
                           "loo_rmse"]  # fmt: skip
    fitted = fit([4, 8, 16, 24, 32, 48], [61, 35.5, 21.9, 18.1, 16.6, 16.1], "eq4")
    rows = table[table["model"] == "eq4"].set_index("coefficient")
    assert rows["value"].to_dict() == pytest.approx(fitted.coefficients)
    assert rows["at_bound"].to_dict() == {k: k in fitted.active for k in "abcde"}
    assert rows["sse"].tolist() == pytest.approx([fitted.sse] * 5)
    interval = fitted.bootstrap(40, seed=3).interval()
    assert rows["high"].to_dict() == pytest.approx(interval["high"].to_dict())


def test_same_seed_same_output_and_another_seed_another(cli, runs, tmp_path):
    files = [tmp_path / f"{k}.csv" for k in "abc"]
    first, second, third = (
        cli(runs, *QUICK, "--seed", seed, "--csv", file)
        for seed, file in zip((5, 5, 6), files, strict=True)
    )
    assert first == second != third
    assert files[0].read_bytes() == files[1].read_bytes() != files[2].read_bytes()


@pytest.mark.parametrize(
    ("name", "magic"), [("p.png", b"\x89PNG"), ("p.PDF", b"%PDF"), ("p.svg", b"<?xml")]
)
def test_plot_is_written_in_the_format_of_its_name(cli, runs, tmp_path, name, magic):
    assert cli(runs, *QUICK, "--plot", tmp_path / name)[0] == 0
    assert (tmp_path / name).read_bytes().startswith(magic)
    assert {p.name for p in tmp_path.iterdir()} == {"runs.csv", name}


def test_output_replaces_an_older_file(cli, runs, tmp_path):
    file = tmp_path / "table.csv"
    file.write_text("old")
    assert cli(runs, *QUICK, "--csv", file, "--models", "eq2")[0] == 0
    assert file.read_text().startswith("model,")


def test_chosen_models_and_free_signs(cli, tmp_path):
    path = tmp_path / "rising.csv"
    path.write_text("nodes,seconds\n4,8\n8,9\n16,10\n24,11\n32,11.5\n48,13\n")
    file = tmp_path / "t.csv"
    assert cli(path, *QUICK, "--models", "eq3, eq2", "--bounds", "none", "--csv", file)[0] == 0
    table = pd.read_csv(file)
    assert set(table["model"]) == {"eq2", "eq3"}
    assert not table["at_bound"].any()
    assert table.query("coefficient == 'b'")["value"].lt(0).any()


def test_models_that_need_more_node_counts_are_noted(cli, tmp_path):
    path = tmp_path / "few.csv"
    path.write_text("\n".join(GOOD.splitlines()[:5]))
    status, out, err = cli(path, *QUICK, "--models", "eq5,eq3,eq2")
    assert status == 0
    assert err == ["note: eq5 left out: 4 node counts, 5 needed"]
    assert "recommended: Eq. 1, 2 (eq2)" in out


def test_recommendation_without_a_test_says_so(cli, tmp_path):
    path = tmp_path / "few.csv"
    path.write_text("\n".join(GOOD.splitlines()[:4]))
    _, out, _ = cli(path, *QUICK, "--models", "eq2")
    assert out.splitlines()[-1] == "recommended: Eq. 1, 2 (eq2), too few node counts to test it"


def test_columns_that_are_not_used_are_noted(cli, tmp_path):
    path = tmp_path / "runs.csv"
    path.write_text("\n".join(f"{line},x" for line in GOOD.splitlines()))
    assert cli(path, *QUICK)[2] == ["note: column 'x' is not used"]


@pytest.mark.parametrize("name", ["grep", "sgd"])
def test_real_raw_runs_need_their_unit_and_then_give_a_report(cli, samples, name):
    path = samples / "runtimes" / "bell" / f"{name}.spark.csv"
    refused(cli(path), "column 'Runtime' states no unit")
    status, out, err = cli(path, "--unit", "ms", *QUICK)
    assert (status, err) == (0, [])
    assert out.startswith("105 runs at 15 node counts, 4 to 60\n")
    table = read_runs(path, "ms")
    best = next(iter(compare(table["nodes"], table["seconds"])))
    assert f"({best}), least error at left-out node counts" in out


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "the file is empty"),
        ("nodes,seconds\n", "a header but no runs"),
        ("nodes,speed\n4,1\n", "line 1: no column of times"),
        ("nodes,seconds\n4,fast\n", "line 2, field 'seconds': 'fast' is not a finite number > 0"),
        ("nodes,seconds\n8.5,3\n", "field 'nodes': '8.5' is not a whole number >= 1"),
        ("nodes,seconds\n4,3\n8,2\n", "2 distinct node counts do not determine them"),
        (GOOD + "1e300,9\n", "line 8, field 'nodes': '1e300' is not a whole number >= 1"),
        (GOOD + "64,1e300\n", "line 8, field 'seconds': '1e300' is not a finite number > 0"),
        (GOOD + "64,1e-300\n", "line 8, field 'seconds': '1e-300' is not a finite number > 0"),
        (GOOD + "5_0,9\n", "line 8, field 'nodes': '5_0' is not a whole number >= 1"),
        (
            GOOD + "\u0665\u0660,9\n",
            "line 8, field 'nodes': '\u0665\u0660' is not a whole number >= 1",
        ),
        (GOOD + "1e10,9\n", "'1e10' is not a whole number >= 1 and <= 1000000000"),
        (GOOD.replace(",", ";"), "fields must be separated by commas"),
        (GOOD.replace(",", "\t"), "fields must be separated by commas"),
        ("nodes,seconds\n4,3\n", "bad.csv: Eq. 1, 2 has 3 coefficients; 1 distinct node counts"),
    ],
)
def test_bad_files_are_refused_in_one_line(cli, tmp_path, content, message):
    path = tmp_path / "bad.csv"
    path.write_text(content)
    refused(cli(path), message)


def test_binary_missing_and_folder_are_refused_in_one_line(cli, tmp_path):
    path = tmp_path / "binary"
    path.write_bytes(bytes(range(256)))
    refused(cli(path), "not a CSV file in UTF-8")
    refused(cli(tmp_path / "absent.csv"), "No such file")
    refused(cli(tmp_path), "Is a directory")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--models", "eq3,eq9"), "unknown model 'eq9'; choose from eq2, eq3, eq4, eq5, ernest"),
        (("--models", "eq6"), "unknown model 'eq6'"),
        (("--models", ""), "unknown model ''"),
        (("--resamples", "0"), "--resamples is 0; at least 1 is needed"),
        (("--resamples", "1000000000000"), "at most 100000 are allowed"),
        (("--resamples", "10000000000000000000"), "at most 100000 are allowed"),
        (("--csv", "."), "--csv: . is a folder; the name of a file is needed"),
        (("--seed", "-1"), "--seed is -1; at least 0 is needed"),
        (("--unit", "ms"), "column 'seconds' is in s, but the unit given is ms"),
        (("--plot", "plot.xyz"), "--plot is plot.xyz; its name must end in .png, .svg, .pdf"),
        (("--plot", "plot"), "--plot is plot; its name must end in .png, .svg, .pdf"),
    ],
)
def test_bad_options_are_refused_in_one_line_before_any_output(cli, runs, args, message):
    result = cli(runs, *args)
    refused(result, message)
    assert result[1] == ""


def test_empty_name_of_a_file_is_refused(runs, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["fit", str(runs), "--csv", ""])
    assert stop.value.code == 2
    assert "the name of a file is empty" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--csv", "--plot"])
def test_missing_output_folder_leaves_nothing(cli, runs, tmp_path, option):
    file = tmp_path / "absent" / "out.png"
    refused(cli(runs, *QUICK, option, file), f"{file}: there is no folder {file.parent}")
    assert list(tmp_path.iterdir()) == [runs]


@pytest.mark.parametrize("option", ["--csv", "--plot"])
def test_output_below_a_file_leaves_nothing(cli, runs, option):
    refused(cli(runs, *QUICK, option, runs / "out.png"), f"there is no folder {runs}")
    assert runs.read_text() == GOOD


@pytest.mark.parametrize("name", ["folder.png", "."])
def test_output_onto_a_folder_leaves_nothing(cli, runs, tmp_path, monkeypatch, name):
    (tmp_path / "folder.png").mkdir()
    monkeypatch.chdir(tmp_path)
    refused(cli(runs, *QUICK, "--csv", name), name)
    assert {p.name for p in tmp_path.iterdir()} == {"runs.csv", "folder.png"}


@pytest.mark.parametrize("name", ["runs.csv", "link.csv", "hard.csv"])
def test_output_onto_the_input_is_refused(cli, runs, tmp_path, name):
    (tmp_path / "link.csv").symlink_to(runs)
    (tmp_path / "hard.csv").hardlink_to(runs)
    result = cli(runs, *QUICK, "--csv", tmp_path / name)
    refused(result, f"--csv: {tmp_path / name} is also the input")
    assert result[1] == ""
    assert runs.read_text() == GOOD


def test_table_and_plot_in_one_file_are_refused(cli, runs, tmp_path):
    file = tmp_path / "both.png"
    refused(cli(runs, *QUICK, "--csv", file, "--plot", file), "is also the file of --csv")
    assert not file.exists()


def test_output_onto_a_pipe_is_refused_before_the_report(cli, runs, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    result = cli(runs, *QUICK, "--csv", tmp_path / "pipe")
    refused(result, "is not a regular file and is not replaced")
    assert result[1] == ""
    assert (tmp_path / "pipe").is_fifo()


def test_link_stays_a_link_and_its_target_is_written(cli, runs, tmp_path):
    (tmp_path / "link.csv").symlink_to(tmp_path / "table.csv")
    assert cli(runs, *QUICK, "--csv", tmp_path / "link.csv")[0] == 0
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "table.csv").read_text().startswith("model,")


def test_as_many_runs_as_coefficients_have_no_interval(cli, tmp_path):
    path, file = tmp_path / "few.csv", tmp_path / "t.csv"
    path.write_text("\n".join(GOOD.splitlines()[:4]))
    _, out, _ = cli(path, *QUICK, "--models", "eq2", "--csv", file)
    assert out.count("no interval: not more runs than coefficients") == 3
    assert "error at left-out node counts undefined" in out
    assert "nan" not in out
    assert pd.read_csv(file)[["low", "high"]].isna().all(axis=None)


def test_equal_times_keep_the_order_of_the_models(cli, tmp_path):
    path = tmp_path / "equal.csv"
    path.write_text("nodes,seconds\n" + "".join(f"{n},7.3\n" for n in (4, 8, 12, 16, 24, 48)))
    _, out, _ = cli(path, *QUICK)
    assert "recommended: Eq. 1, 2 (eq2)" in out
    assert "nan" not in out


def test_close_node_counts_are_given_as_the_reason(cli, tmp_path):
    path = tmp_path / "close.csv"
    path.write_text("nodes,seconds\n" + "".join(f"{10**9 - k},{7 + k}\n" for k in range(6)))
    refused(cli(path, *QUICK), "6 distinct node counts are too close together to determine them")


def test_failure_halfway_leaves_the_older_file(cli, runs, tmp_path, monkeypatch):
    """The disk is full after the first bytes."""
    file = tmp_path / "table.csv"
    file.write_text("old")

    def full(_, path, **options):
        Path(path).write_text("model,")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pd.DataFrame, "to_csv", full)
    refused(cli(runs, *QUICK, "--csv", file), "No space left")
    assert file.read_text() == "old"
    assert {p.name for p in tmp_path.iterdir()} == {"runs.csv", "table.csv"}


def test_plot_without_matplotlib_is_refused_in_one_line(cli, runs, tmp_path, monkeypatch):
    original = builtins.__import__

    def without(name, *args, **kwargs):
        if name.startswith("matplotlib"):
            raise ModuleNotFoundError("No module named 'matplotlib'")
        return original(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    refused(cli(runs, *QUICK, "--plot", tmp_path / "p.png"), "No module named 'matplotlib'")


@pytest.mark.parametrize("args", [(), ("fit",), ("fit", "x.csv", "--unit", "min"), ("plot",)])
def test_wrong_usage_is_status_2(args, capsys):
    with pytest.raises(SystemExit) as stop:
        main(list(args))
    assert stop.value.code == 2
    assert "usage: python -m sparkpart" in capsys.readouterr().err


def test_help_explains_every_option(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["fit", "--help"])
    assert stop.value.code == 0
    out = capsys.readouterr().out
    for option in ("--unit", "--models", "--bounds", "--resamples", "--seed", "--csv", "--plot"):
        assert option in out
    assert "default: eq2,eq3,eq4,eq5,ernest" in " ".join(out.split())


def test_module_runs_as_a_program_without_a_traceback(tmp_path):
    command = [sys.executable, "-m", "sparkpart", "fit", "absent.csv"]
    run = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr == "error: [Errno 2] No such file or directory: 'absent.csv'\n"
