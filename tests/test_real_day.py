"""Figures 1 to 5 on aggregates of the real first day."""

import inspect

import numpy as np
import pandas as pd
import pytest

from flex import experiments
from flex.experiments import real_day

FIGURES = ("figure1", "figure2", "figure3", "figure4", "figure5_classes", "figure5_tasks")
FUNCTIONS = (*FIGURES, "trace_findings")


@pytest.fixture(scope="module")
def found():
    return experiments.trace_findings().set_index("finding")["value"]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_docstring_names_every_column_and_nothing_is_missing(name):
    function = getattr(experiments, name)
    table = function()
    doc = inspect.getdoc(function)
    assert [c for c in table if f"``{c}``" not in doc] == []
    assert len(table) > 0
    assert not table.isna().any(axis=None)


def test_figure1_covers_the_day_by_five_minutes():
    table = experiments.figure1()
    one = table[
        (table["resource"] == "cpu") & (table["what"] == "usage") & (table["rows"] == "grid")
    ]
    assert len(one) == 286  # 600 s to 86,400 s by 300 s
    assert np.diff(one["hours"]) == pytest.approx(1 / 12, abs=1e-4)
    wide = table.pivot_table(index="hours", columns=["resource", "what", "rows"], values="share")
    for resource in ("cpu", "memory"):
        for what in ("usage", "request"):
            assert wide[resource, what, "all"].mean() > wide[resource, what, "grid"].mean()


@pytest.mark.parametrize("name", ["figure3", "figure4", "figure5_tasks"])
def test_distributions_rise_from_0_to_1(name):
    table = getattr(experiments, name)()
    for _, part in table.groupby([c for c in table if c not in ("q", "ratio")]):
        assert (part["q"].iloc[0], part["q"].iloc[-1]) == (0, 1)
        assert part["q"].is_monotonic_increasing
        assert (np.diff(part["ratio"]) >= -1e-9).all()


def test_example_machines_are_as_the_paper_describes_them():
    mean = experiments.figure2().groupby(["machine", "resource"])["share"].mean()
    assert mean[1, "cpu"] > 2 * mean[1, "memory"]
    assert mean[4, "memory"] > 2 * mean[4, "cpu"]
    assert max(mean[2, "cpu"], mean[2, "memory"]) < 0.2


def test_parts_and_quantiles_by_hand():
    table = pd.DataFrame({"q": [0.0, 0.5, 1.0], "ratio": [0.0, 0.4, 1.4]})
    assert real_day._part_at(table, 0.2) == pytest.approx(0.25)
    assert real_day._part_at(table, 2.0) == 1
    assert real_day._at(table, 0.75) == pytest.approx(0.9)


def test_findings_follow_from_the_figures(found):
    cell = experiments.figure1()
    grid = cell[cell["rows"] == "grid"].groupby(["resource", "what"])["share"]
    assert found["average cpu request"] == pytest.approx(grid.mean()["cpu", "request"])
    assert found["greatest memory request"] == grid.max()["memory", "request"]
    assert found["average memory usage"] == pytest.approx(0.489, abs=0.001)
    three = experiments.figure3()
    part = three[
        (three["panel"] == "capacity") & (three["resource"] == "cpu") & (three["rows"] == "grid")
    ]
    inside = part[part["ratio"] <= 0.5]["q"].max()
    assert inside <= found["windows with less than half in use, cpu"] <= inside + 0.005


def test_naive_rows_explain_the_idle_half_no_better_than_half(found):
    """Why the sentence on resources that are not used at all is judged as it is."""
    assert found["windows with less than a hundredth in use, cpu"] < 0.01
    assert 0.2 < found["windows with less than a hundredth in use, cpu, naive rows"] < 0.5


def test_300_real_machines_have_the_same_distribution(samples):
    """An independent draw from the same machines: quantiles within two standard errors."""
    with np.load(samples / "google2011" / "machine_sample.npz") as sample:
        usage = sample["series"][:, :, 0] / sample["capacity"][:, None, 0]
    table = experiments.figure3()
    whole = table[
        (table["panel"] == "capacity") & (table["resource"] == "cpu") & (table["rows"] == "grid")
    ]
    for q in (0.25, 0.5, 0.75):
        spread = np.nanquantile(usage, q, axis=1).std() / np.sqrt(len(usage))
        assert np.nanquantile(usage, q) == pytest.approx(real_day._at(whole, q), abs=3 * spread)
