"""Experiments on the cluster, at quick scale: shape, seeds, and what must hold by construction."""

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config

from flex.experiments import choices, cluster, findings, runs
from flex.rules import AUTHOR, PAPER

SEED = (1,)


def test_figures_have_every_method_and_minute():
    request = cluster.figure6(seeds=SEED)
    assert set(request["method"]) == set(runs.METHODS)
    assert len(request) == 4 * 286
    assert request["hours"].between(0.1, 24).all()
    assert request["cpu_request"].between(0, 2.6).all()
    minutes = cluster.figure8(seeds=SEED)
    assert len(minutes) == 4 * (1439 - 10)
    assert minutes["qos"].between(0, 1).all()
    cdf = cluster.figure7_cdf(seeds=SEED)
    assert cdf.groupby("method")["qos"].apply(lambda q: q.is_monotonic_increasing).all()


def test_same_seed_same_numbers_and_other_seed_others():
    runs._SUMMARIES.clear()
    one = cluster.figure7_violations(seeds=(1, 2))
    runs._SUMMARIES.clear()
    again = cluster.figure7_violations(seeds=(1, 2))
    pd.testing.assert_frame_equal(one, again)
    assert one["cpu_usage"].nunique() == len(one)


def test_runs_in_processes_give_the_same(tmp_path):
    runs._SUMMARIES.clear()
    alone = cluster.figure7_violations(seeds=(3,))
    runs._SUMMARIES.clear()
    with parallel_config(n_jobs=2):
        together = cluster.figure7_violations(seeds=(3,))
    pd.testing.assert_frame_equal(alone, together)


def test_summary_is_the_mean_of_the_history():
    case = runs.Case("FlexF", 1)
    frame, measured = runs.history(case, "quick"), runs.summary(case, "quick")
    assert measured["cpu_request"] == pytest.approx(100 * frame["cpu_request"].mean())
    violated = 100 * (1 - frame["satisfied"].sum() / frame["running"].sum())
    assert measured["violated_tasks"] == pytest.approx(violated)


def test_cases_reach_the_simulator():
    base = runs.summary(runs.Case("Oversub", 1), "quick")
    fewer = runs.summary(runs.Case("Oversub", 1, nodes=3000), "quick")
    more = runs.summary(runs.Case("Oversub", 1, demand=1.5), "quick")
    assert fewer["cpu_request"] > base["cpu_request"]
    assert more["violated_tasks"] > base["violated_tasks"]
    assert more["cpu_request"] == base["cpu_request"]


def test_headlines_by_hand():
    ratio = pd.Series([2.0, 8.0])
    found = findings._geometric(ratio)
    assert found["mean"] == pytest.approx(4)
    assert (found["least"], found["most"]) == (2, 8)
    assert found["low"] < 2 < 8 < found["high"]
    interval = runs.with_interval(pd.Series([1.0, 2.0, 3.0]))
    assert interval["mean"] == 2
    assert interval["high"] == pytest.approx(2 + 4.302652729 / np.sqrt(3))


def test_longest_spell_by_hand():
    assert findings._longest(np.array([0, 1, 1, 0, 1, 1, 1, 0, 1], bool)) == 3
    assert findings._longest(np.zeros(4, bool)) == 0


def test_recovery_and_balance():
    spells = findings.recovery(seeds=SEED)
    assert (spells["longest"] >= spells["mean"] - 1e-9).all()
    assert spells.query("method == 'Oversub'")["to_oversub"].eq(1).all()
    order = cluster.figure9_order(seeds=SEED)
    for _, part in order.groupby(["measure", "seed"]):
        assert sorted(part["rank"]) == [1, 2, 3, 4]


def test_sensitivity_is_relative_to_oversub_and_the_base():
    table = findings.sensitivity(seeds=SEED)
    assert table.query("method == 'Oversub'")["usage_to_oversub"].eq(1).all()
    base = table.query("(figure == 10 and setting == 4000) or (figure == 11 and setting == 1)")
    assert base["growth"].eq(1).all()
    errors = findings.figure_errors(seeds=SEED)
    assert set(errors["figure"]) == {10, 11}
    assert (errors["least"] <= errors["most"]).all()


def test_variants_change_one_thing():
    assert choices.VARIANTS["FlexF"][1] == AUTHOR
    assert choices.RULE_CHANGES["paper"] == PAPER
    changed = [
        sum(getattr(rules, f) != getattr(AUTHOR, f) for f in rules.__dataclass_fields__)
        for rules in choices.RULE_CHANGES.values()
    ]
    assert changed[0] == 0
    assert all(1 <= n <= 2 for n in changed[1:-1])
    days = list(choices.DAYS.values())
    assert len(set(days)) == len(days)


def test_a_constant_penalty_stays():
    case = runs.Case("FlexF", 1, rules=choices.VARIANTS["constant P = 1.2"][1])
    assert np.allclose(runs.history(case, "quick")["penalty"], 1.2)


def test_flex_on_requests_admits_what_least_fit_admits():
    how, rules = choices.VARIANTS["requests, not load"]
    frame = runs.history(runs.Case(how, 1, rules=rules), "quick")
    assert (frame["cpu_request"] <= 1).all()


def test_runs_on_a_dask_cluster_give_the_same():
    distributed = pytest.importorskip("distributed", reason="needs the extra 'cluster'")
    runs._SUMMARIES.clear()
    alone = cluster.figure7_violations(seeds=(3,))
    runs._SUMMARIES.clear()
    workers = distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
    )
    with workers, distributed.Client(workers), parallel_config(backend="dask"):
        spread = cluster.figure7_violations(seeds=(3,))
    pd.testing.assert_frame_equal(alone, spread)
