"""The command line of flex: arrays as in the recorded runs, a summary, errors of one line."""

import json

import numpy as np
import pytest

from flex import load, save
from flex.__main__ import main
from flex.data import author_run, author_tasks


@pytest.fixture
def tasks(tmp_path):
    save(author_tasks(), tmp_path / "tasks.npz")
    return tmp_path / "tasks.npz"


@pytest.fixture
def cli(capsys):
    def run(*arguments):
        status = main([str(a) for a in arguments])
        out, err = capsys.readouterr()
        return status, out, err

    return run


def test_writes_the_arrays_of_the_recorded_runs(cli, tasks, tmp_path):
    out = tmp_path / "a" / "b"
    status, printed, shown = cli("run", tasks, "--nodes", 10, "--ticks", 180, "--out", out)
    assert status == 0
    assert "LeastFit" in printed
    assert "violated tasks %" in printed
    assert "181/181" in shown
    assert sorted(p.name for p in out.iterdir()) == [
        "FlexF.npz", "FlexL.npz", "LeastFit.npz", "Oversub.npz",
    ]  # fmt: skip
    for method in ("LeastFit", "Oversub", "FlexF", "FlexL"):
        recorded = author_run(method)
        with np.load(out / f"{method}.npz") as file:
            for key in ("nodes", "node_cols", "node", "queue_cols"):
                np.testing.assert_array_equal(file[key], recorded[key])
            assert file["node"].dtype == np.int64
            queue = file["queue"]
            np.testing.assert_array_equal(queue.astype("f4"), recorded["queue"].astype("f4"))
            assert file["time_s"].tolist() == [60 * (k + 1) for k in range(180)]


def test_options(cli, tasks, tmp_path):
    status, printed, _ = cli(
        "run", tasks, "--nodes", 10, "--ticks", 20, "--methods", "BestFit,FlexF", "--out", tmp_path,
        "--no-nodes", "--rules", "paper", "--set", "failures=1000", "--set", "min_penalty=1.05",
        "--set", "sharing=overflow", "--set", "penalty_in_percent=True", "--scale", "1.2",
    )  # fmt: skip
    assert status == 0
    assert "BestFit" in printed
    with np.load(tmp_path / "BestFit.npz") as file:
        assert sorted(file.files) == ["queue", "queue_cols", "time_s"]


def test_synthesize(cli, tmp_path):
    file = tmp_path / "day.npz"
    assert cli("synthesize", "--tasks", 300, "--seed", 2, "--out", file) == (0, "", "")
    assert len(load(file)) == 300


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("sharing=none", "--set sharing=none: sharing must be one of 'intended', 'overflow'"),
        ("nothing=1", "--set nothing=1: must be RULE=VALUE with a rule named in --help"),
        ("alpha", "--set alpha: must be RULE=VALUE"),
        ("alpha=x", "--set alpha=x: must be a number; got 'x'"),
        ("failures=1.5", "--set failures=1.5: must be a whole number or None; got '1.5'"),
        ("failures=1e9", "--set failures=1e9: must be a whole number or None; got '1e9'"),
        ("beta=inf", "--set beta=inf: beta must be from 0 to 1e+06; got inf"),
        ("single_precision=1", "--set single_precision=1: must be True or False; got '1'"),
        ("failures=-1", "--set failures=-1: failures must be a whole number from 0 to"),
    ],
)
def test_bad_rules_are_one_line(cli, tasks, tmp_path, change, message):
    status, out, err = cli(
        "run", tasks, "--nodes", 1, "--ticks", 1, "--out", tmp_path / "o", "--set", change
    )
    assert (status, out) == (2, "")
    assert err.startswith(f"error: {message}")
    assert err.count("\n") == 1
    assert not (tmp_path / "o").exists()


def test_rules_that_belong_together_are_set_together(cli, tasks, tmp_path):
    base = ("run", tasks, "--nodes", 1, "--ticks", 1, "--methods", "FlexF", "--out", tmp_path / "o")
    status, _, err = cli(*base, "--set", "min_penalty=1.6", "--set", "start_penalty=2")
    assert status == 0, err
    status, _, err = cli(*base, "--set", "beta=1", "--set", "beta=2")
    assert (status, err) == (2, "error: --set beta=2: beta is set more than once\n")


@pytest.mark.parametrize("content", ["", "[", "{}", '[{"name": "pod-1-1"}]', "\x00\x01"])
def test_bad_files_are_one_line(cli, tmp_path, content):
    file = tmp_path / "tasks.json"
    file.write_text(content)
    status, out, err = cli("run", file, "--nodes", 1, "--ticks", 1, "--out", tmp_path / "o")
    assert (status, out) == (2, "")
    assert err.startswith(f"error: {file}: ")
    assert err.count("\n") == 1
    assert not (tmp_path / "o").exists()


def test_missing_files_folders_and_large_tasks(cli, tasks, tmp_path):
    status, _, err = cli("run", tmp_path / "no", "--nodes", 1, "--ticks", 1, "--out", tmp_path)
    assert (status, err.count("\n")) == (2, 1)
    assert "No such file" in err
    status, _, err = cli("run", tasks, "--nodes", 1, "--ticks", 1, "--out", tasks)
    assert (status, err.count("\n")) == (2, 1)
    large = {"arrival_s": 0, "name": "pod-1-0", "req_mcpu": 64_001, "req_bytes": 1,
             "phases": [[60, 1, 1]]}  # fmt: skip
    file = tmp_path / "large.json"
    file.write_text(json.dumps([large]))
    status, _, err = cli("run", file, "--nodes", 1, "--ticks", 1, "--out", tmp_path)
    assert status == 2
    assert "pod-1-0: cpu_request must be at most 64000 mCPU, a node; got 64001" in err


@pytest.mark.parametrize(
    "arguments",
    [
        ("--nodes", "0"), ("--ticks", "-1"), ("--nodes", "x"), ("--methods", "FlexF,Fair"),
        ("--rules", "mine"), ("--nodes", "1" + 40 * "0"), ("--scale", "nan"), ("--scale", "-1"),
        ("--scale", "x"), ("--out", ""),
    ],
)  # fmt: skip
def test_bad_arguments_are_refused(tasks, tmp_path, arguments):
    base = {"--nodes": "1", "--ticks": "1", "--out": str(tmp_path)} | dict([arguments])
    with pytest.raises(SystemExit) as stopped:
        main(["run", str(tasks), *(x for pair in base.items() for x in pair)])
    assert stopped.value.code == 2


def test_the_file_of_tasks_is_never_replaced(cli, tasks, tmp_path):
    mine = tmp_path / "in" / "FlexF.npz"
    mine.parent.mkdir()
    tasks.rename(mine)
    (tmp_path / "link.npz").symlink_to(mine)
    before = mine.read_bytes()
    for source in (mine, tmp_path / "link.npz"):
        status, _, err = cli("run", source, "--nodes", 1, "--ticks", 1, "--out", mine.parent)
        assert (status, err) == (
            2, f"error: --out: {mine} is the file of tasks and is not replaced\n"
        )  # fmt: skip
    assert mine.read_bytes() == before
    assert [p.name for p in mine.parent.iterdir()] == ["FlexF.npz"]


def test_outputs_are_checked_before_any_work(cli, tasks, tmp_path, monkeypatch):
    from flex import __main__ as command

    def fail(*args, **kwargs):
        raise AssertionError

    for name in ("synthesize", "simulate", "read_workload"):
        monkeypatch.setattr(command, name, fail)
    (tmp_path / "o" / "FlexF.npz").mkdir(parents=True)
    run = ("run", tasks, "--nodes", 1, "--ticks", 1, "--methods", "FlexF", "--out")
    day = ("synthesize", "--tasks", 5, "--out")
    for arguments, message in (
        ((*run, tmp_path / "o"), "FlexF.npz is a folder; the name of a file is needed"),
        ((*run, tasks / "o"), "tasks.npz is not a folder"),
        ((*day, tmp_path / "day.txt"), "day.txt: the name must end in .npz"),
        ((*day, tmp_path / "no" / "day.npz"), f"there is no folder {tmp_path / 'no'}"),
        ((*day, tmp_path / "o" / "FlexF.npz"), "FlexF.npz is a folder"),
    ):
        status, out, err = cli(*arguments)
        assert (status, out, err.count("\n")) == (2, "", 1)
        assert err.startswith("error: --out")
        assert message in err


def test_too_little_memory_is_one_line(cli, tasks, tmp_path, monkeypatch):
    from flex import __main__ as command

    def fail(*args, **kwargs):
        raise MemoryError("Unable to allocate 80 TiB")

    monkeypatch.setattr(command, "simulate", fail)
    status, _, err = cli("run", tasks, "--nodes", 10**9, "--ticks", 1, "--out", tmp_path / "o")
    assert status == 2
    expected = "error: more memory needed than there is: Unable to allocate 80 TiB"
    assert err.splitlines()[-1] == expected


def test_interruption_keeps_what_has_finished(cli, tasks, tmp_path, monkeypatch):
    from flex import __main__ as command

    whole = command.simulate

    def interrupted(workload, method, *rest, **options):
        if method == "Oversub":
            raise KeyboardInterrupt
        return whole(workload, method, *rest, **options)

    monkeypatch.setattr(command, "simulate", interrupted)
    status, _, err = cli("run", tasks, "--nodes", 5, "--ticks", 5, "--out", tmp_path / "o")
    assert status == 130
    assert "The methods that had finished are kept." in err
    assert [p.name for p in (tmp_path / "o").iterdir()] == ["LeastFit.npz"]
