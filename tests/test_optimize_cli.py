"""``python -m sparkpart optimize``: the plan, the front, and one line for everything wrong."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
import yaml

from sparkpart import front, optimum, read_flow, recommend, write_flow
from sparkpart.__main__ import main
from sparkpart.flowfile import flow_from
from sparkpart.instances import draw

ROOT = Path(__file__).parents[1]
FLOW = """
degrees: [8, 32, 96]
repartition: 1
vertices:
  load: {degree: 96, times: {96: 40}}
  clean: {times: {8: 90, 32: 40, 96: 30}}
  train: {times: {8: 210, 32: 95, 96: 96}}
edges: [{from: load, to: clean}, {from: clean, to: train}]
"""


@pytest.fixture
def flow(tmp_path):
    path = tmp_path / "flow.yaml"
    path.write_text(FLOW)
    return path


@pytest.fixture
def cli(capsys):
    def run(*args):
        status = main(["optimize", *map(str, args)])
        out, err = capsys.readouterr()
        return status, out, err.splitlines()

    return run


def refused(result, message):
    status, _, err = result
    assert status == 2
    assert len(err) == 1
    assert err[0].startswith("error: ")
    assert message in err[0]


def test_plan_by_hand(cli, flow):
    """At most 182.6 s: 8 nodes anywhere are too slow, so 32 and 32 with 1 s to get there."""
    status, out, err = cli(flow, "--slack", "0.1")
    assert (status, err) == (0, [])
    assert "3 vertices, 2 edges; running time at most 182.6 s (slack 10 %)" in out
    plan = [
        line.split() for line in out.splitlines() if line.strip().startswith(("clean", "train"))
    ]
    assert plan == [["clean", "96", "32", "30", "40"], ["train", "96", "32", "96", "95"]]
    assert "The plan called optimum is proved optimal." in out


def test_json_agrees_with_the_package(cli, flow):
    found = json.loads(cli(flow, "--json", "--slack", "0.1")[1])
    best = optimum(read_flow(flow), bound=read_flow(flow).bound(0.1))
    assert [row["after"] for row in found["plan"]] == best.plan.tolist()
    assert found["optimum_proven"] is True
    rows = {row["technique"]: row for row in found["techniques"]}
    assert set(rows) == {"initial", "optimum", "G-local", "G-ext", "G-full", "ILS"}
    assert rows["optimum"]["resource_consumption"] == best.resource_consumption
    assert rows["initial"]["saved"] == 0
    assert all(row["above"] >= 0 for row in rows.values())


def test_infinite_slack_is_json_too(cli, flow):
    assert json.loads(cli(flow, "--json", "--slack", "inf")[1])["slack"] is None


@pytest.mark.parametrize("times", ["{8: 0}", "{8: 0, 16: 1}"])
def test_flow_that_takes_no_time_is_no_error(cli, tmp_path, times):
    path = tmp_path / "flow.yaml"
    path.write_text(
        f"vertices: {{a: {{degrees: [8, 16], times: {times}}}}}".replace(
            "[8, 16]", "[8]" if times == "{8: 0}" else "[8, 16]"
        )
    )
    status, out, _ = cli(path, "--json")
    assert status == 0
    assert json.loads(out)["optimum_proven"] is True


def test_plan_of_another_technique(cli, flow):
    out = cli(flow, "--technique", "ILS", "--json")[1]
    assert json.loads(out)["technique"] == "ILS"


def test_csv_of_plan_and_front(cli, flow, tmp_path):
    plan, file = tmp_path / "plan.csv", tmp_path / "front.csv"
    status, *_ = cli(flow, "--csv", plan, "--front", file)
    assert status == 0
    assert pd.read_csv(plan)["vertex"].tolist() == ["load", "clean", "train"]
    table = pd.read_csv(file)
    expected = front(read_flow(flow))
    assert table["running_time"].tolist() == expected["running_time"].tolist()
    assert [tuple(row) for row in table[["load", "clean", "train"]].to_numpy()] == [
        *expected["plan"]
    ]


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_picture_of_the_front(cli, flow, tmp_path, suffix):
    file = tmp_path / f"front.{suffix}"
    assert cli(flow, "--front", file)[0] == 0
    assert file.stat().st_size > 1000


def test_front_of_a_graph_that_is_no_tree_is_swept(cli, tmp_path):
    path, file = tmp_path / "mesh.json", tmp_path / "front.csv"
    import numpy as np

    mesh = draw("D", "small", rng=np.random.default_rng(0)).flow()
    write_flow(mesh, path)
    assert cli(path, "--front", file, "--points", "4")[0] == 0
    assert 2 <= len(pd.read_csv(file)) <= 4


def test_front_of_a_tree_with_too_many_labels_is_swept(cli, flow, tmp_path, monkeypatch):
    monkeypatch.setattr("sparkpart.labels.MOST", 1)
    status, _, err = cli(flow, "--front", tmp_path / "front.csv")
    assert (status, err) == (0, ["note: the whole front is too large; it has 25 points"])
    assert len(pd.read_csv(tmp_path / "front.csv")) >= 2


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--slack", "-1"], "--slack is -1.0; at least 0"),
        (["--slack", "nan"], "--slack is nan"),
        (["--time-limit", "0"], "--time-limit is 0.0"),
        (["--seed", "-1"], "--seed is -1"),
        (["--points", "1", "--front", "f.csv"], "--points is 1"),
        (["--points", "99999999", "--front", "f.csv"], "--points is 99999999; at most 10000"),
        (["--points", "5"], "--points needs --front"),
        (["--front", "front.txt"], "--front is front.txt; its name must end in .csv"),
        (["--csv", "no/such/folder.csv"], "--csv: no/such/folder.csv: there is no folder"),
    ],
)
def test_bad_options_are_refused(cli, flow, args, message):
    refused(cli(flow, *args), message)


def test_input_is_never_overwritten(cli, flow):
    refused(cli(flow, "--csv", flow), "is also the input")
    assert flow.read_text() == FLOW


def test_empty_name_is_refused(flow, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["optimize", str(flow), "--csv", ""])
    assert stop.value.code == 2
    assert "the name of a file is empty" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("vertices: {}", "vertices"),
        (FLOW.replace("to: train", "to: clean"), "a vertex cannot be its own parent"),
        (FLOW.replace("96: 30", "96: -30"), "vertex clean: the running time at degree 96 is -30"),
    ],
)
def test_bad_flows_are_one_line_with_the_name_of_the_file(cli, flow, text, message):
    flow.write_text(text)
    result = cli(flow)
    refused(result, str(flow))


def test_missing_file_and_folder_are_refused(cli, tmp_path):
    refused(cli(tmp_path / "none.yaml"), "none.yaml")
    refused(cli(tmp_path), "directory")


def test_closed_pipe_or_terminal_makes_no_traceback(flow):
    command = [sys.executable, "-m", "sparkpart", "optimize", str(flow)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=dict(os.environ))
    assert done.returncode == 0
    assert done.stderr == ""


def test_example_of_the_readme_runs():
    """The flow in the README is the one that it shows the output of."""
    text = (ROOT / "README.md").read_text()
    block = next(b for b in text.split("```") if b.startswith("yaml\n") and "vertices:" in b)
    flow = flow_from(yaml.safe_load(block.removeprefix("yaml\n")))
    found = recommend(flow, slack=0.1)
    for line in found.report().splitlines():
        assert line.rstrip() in text


def test_interruption_is_no_traceback(cli, flow, monkeypatch):
    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("sparkpart.__main__.recommend", interrupted)
    assert cli(flow) == (130, "", ["interrupted"])
