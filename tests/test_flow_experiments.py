"""Experiments of Sections 3 and 4 of the Spark paper: what each figure and table must show."""

import numpy as np
import pandas as pd
import pytest

from sparkpart import experiments, published
from sparkpart.experiments import grid
from sparkpart.instances import Choices


@pytest.fixture(scope="module")
def flows():
    return grid.improvements("quick", 0, Choices())


def test_figure5_gives_the_printed_totals():
    table = experiments.figure5().set_index("plan")
    assert table.loc["fixed", "resource_consumption"].unique().tolist() == [88320]
    assert table.loc["repartitioned", "resource_consumption"].unique().tolist() == [62400]
    assert table.loc["repartitioned", "running_time"].unique().tolist() == [950]
    moved = table[table["nodes"] == 32]
    assert moved["seconds"].tolist() == [450]
    assert moved["saved"].iloc[0] == pytest.approx(29.35, abs=0.005)  # printed: 29.9


def test_configurations_by_hand():
    table = experiments.configurations().set_index("configuration")
    assert table.loc["conf-a", "uniform"] == pytest.approx(75.8 * 96)  # printed: 7275
    assert table.loc["64 throughout", "uniform"] == 5952
    assert table.loc["conf-b", "rest"] == pytest.approx(table.loc["conf-c", "rest"], abs=0.1)
    assert table.loc["conf-b", "implied"] == pytest.approx((96 * 76.8 - 6598) / 32)
    part = table.loc["conf-c", "implied"]
    assert 96 * (87.4 - part) + 32 * part == pytest.approx(6163)


def test_figure6_moves_all_but_the_first_child_to_the_sibling_before():
    table = experiments.figure6()
    graphs = {
        name: list(zip(g["parent"], g["child"], strict=True)) for name, g in table.groupby("graph")
    }
    assert ("a", "c") in graphs["flow"]
    assert ("a", "c") not in graphs["dependency"]
    assert {("a", "b"), ("b", "c"), ("c", "d"), ("f", "g")} <= set(graphs["dependency"])
    assert len(graphs["flow"]) == len(graphs["dependency"])


def test_case_study_gives_the_printed_totals_by_every_technique_and_bound():
    table = experiments.case_study()
    initial = table[table["technique"] == "initial"]
    others = table[table["technique"] != "initial"]
    assert initial["running_time"].unique() == pytest.approx([106])
    assert initial["resource_consumption"].unique() == pytest.approx([1696])
    assert others["running_time"].to_numpy() == pytest.approx(84.61)
    assert others["resource_consumption"].to_numpy() == pytest.approx(845.8)
    assert set(others["technique"]) == {"G-local", "G-ext", "G-full", "ILS", "optimum"}


def test_digits_of_the_case_study_exclude_one_degree_alone():
    table = experiments.case_study_digits()
    alone = table[table["low"] == table["high"]]
    assert not alone["agrees"].any()
    mixed = table[table["agrees"]]
    assert ((mixed["low"] < 10) & (mixed["high"] >= 10)).all()
    total = mixed["low"] * mixed["at_low"] + mixed["high"] * mixed["at_high"]
    assert total.to_numpy() == pytest.approx(845.8)
    assert (mixed["at_low"] + mixed["at_high"]).to_numpy() == pytest.approx(84.61)


def test_steps_of_each_technique_lower_consumption_within_the_bound():
    table = experiments.first_steps()
    for _, rows in table.groupby("technique"):
        assert (np.diff(rows["resource_consumption"]) < 0).all()
        assert rows["running_time"].max() <= 1.2 * rows["running_time"].iloc[0]
        assert rows["round"].tolist() == list(range(len(rows)))


def test_grid_is_complete_and_keeps_its_bounds(flows):
    assert len(flows) == 5 * 3 * 3 * 5 * 4
    assert (flows["improvement"] >= 1 - 1e-9).all()
    assert (flows["slowdown"] <= flows["eps"] * (1 + 1e-9)).all()


def test_figures_are_means_of_the_grid(flows):
    nine, eleven = experiments.figure9(), experiments.figure11()
    cell = (flows["dag_type"] == "C") & (flows["dag_size"] == "large") & (flows["eps"] == 1.2)
    for technique in ("G-full", "ILS"):
        rows = flows[cell & (flows["technique"] == technique)]
        for table, field in ((nine, "improvement"), (eleven, "slowdown")):
            keys = {"dag_type": "C", "dag_size": "large", "eps": 1.2, "technique": technique}
            found = table.loc[(table[[*keys]] == pd.Series(keys)).all(axis=1)]
            assert found[field].item() == pytest.approx(rows[field].mean())
            error = rows[field].std() / np.sqrt(len(rows))
            assert found["standard_error"].item() == pytest.approx(error)
    assert experiments.figure10()["technique"].unique().tolist() == ["G-full"]


def test_looser_bounds_never_give_less_on_the_same_instances_to_the_optimum():
    table = experiments.optimality_gaps()
    wide = table.pivot_table(index=["dag_type", "dag_size"], columns="slack", values="improvement")
    assert (np.diff(wide.to_numpy(), axis=1) >= -1e-9).all()
    assert (table["gap"] >= -1e-9).all()
    assert (table["slowdown"] <= 1 + table["slack"] + 1e-9).all()
    assert table["proven"].all()
    assert table[table["dag_type"].isin(["D", "E"])]["repeats"].unique().tolist() == [1]


def test_table3_stands_beside_every_cell_of_the_paper(flows):
    table = experiments.table3()
    assert len(table) == len(published.table3()) == 45
    row = table.iloc[0]
    cell = flows[
        (flows["eps"] == 1.1) & (flows["dag_type"] == "A") & (flows["dag_size"] == "small")
    ]
    means = cell.groupby("technique")["improvement"].mean()
    assert row["paper_average"] == 1.77
    assert row["average"] == pytest.approx(means.max())
    assert row["technique"] == means.idxmax()
    assert row["max"] == pytest.approx(cell["improvement"].max())


def test_table4_has_the_paper_s_cells_and_its_first_column_copies_table3():
    table = experiments.table4()
    assert len(table) == 18
    assert table["copied"].all()
    assert table["paper_saved"].iloc[0] == pytest.approx(100 * (1 - 1 / 1.24))


def test_minimising_running_time_never_slows_down():
    table = experiments.fastest_first()
    assert (table["rt_fall"] >= 0).all()
    assert (table["ils_excess"] >= -1e-9).all()


def test_wrong_profiles_break_bounds_that_the_plan_kept():
    table = experiments.inaccurate_profiles()
    assert table["broken"].between(0, 1).all()
    assert (table["slowdown"] <= table["eps"] + 1e-9).all()
    assert table["broken"].max() > 0
    assert ((table["broken"] > 0) == (table["worst"] > 1 + 1e-9)).all()


def test_ils_at_its_own_time_is_never_better_than_the_optimum():
    table = experiments.ils_at_its_time()
    assert (table["gap"] >= 0).all()
    assert (table["optimum"] >= table["improvement"] - 1e-9).all()


def test_techniques_lie_on_or_above_the_front():
    table = experiments.fronts()
    for _, rows in table.groupby("dag_type"):
        front = rows[rows["technique"] == "optimum"].sort_values("running_time")
        assert front["resource_consumption"].is_monotonic_decreasing
        if rows["dag_type"].iloc[0] in "ABC":
            for row in rows[rows["technique"] != "optimum"].itertuples():
                faster = front[front["running_time"] <= row.running_time * (1 + 1e-9)]
                assert row.resource_consumption >= faster["resource_consumption"].min() * (1 - 1e-9)


def test_figure12_falls_and_ends_at_the_whole_fall():
    table = experiments.figure12(iterations=40)
    for _, run in table.groupby(["dag_size", "run"]):
        assert run["resource_consumption"].is_monotonic_decreasing
        assert run["fall"].iloc[-1] == 1
    assert table.groupby(["dag_size", "run"]).ngroups == 10


def test_open_choices_begin_with_table3_and_each_changes_something():
    table = experiments.open_choices()
    stated = table[table["variant"] == "as stated"].drop(columns="variant").reset_index(drop=True)
    pd.testing.assert_frame_equal(stated, experiments.table3())
    for name, rows in table.groupby("variant"):
        if name not in ("as stated", "ILS tests the vertex alone"):
            assert rows["average"].tolist() != stated["average"].tolist(), name


def test_reductions_agree_with_direct_algorithms():
    table = experiments.hardness(instances=8)
    assert table["equal"].all()
    assert table["direct"].nunique() > 4


def test_work_of_the_greedy_techniques_on_a_chain_by_hand():
    """G-local changes one of n vertices a round and values 2 n each; no round comes after n."""
    table = experiments.searches_valued(sizes=(10, 20)).set_index(["technique", "vertices"])
    assert table.loc[("G-local", 10), "valued"] == 10 * 10 * 2
    assert (table["part"] <= 1).all()
    assert table.loc[("G-local", 20), "exponent"] == pytest.approx(2)


def test_exhaustive_search_of_five_vertices_by_hand():
    table = experiments.plans_counted().set_index("dag_size")
    assert table.loc["small", "plans"] == 248_832
    assert table.loc["large", "years"] > 400


def test_once_is_never_above_what_it_starts_from():
    table = experiments.one_shot_benefits()
    assert (table["worse"] + table["better"] <= 1).all()
    assert table["worse"].mean() > table["better"].mean()


def test_times_are_measured_for_every_technique():
    table = experiments.search_times(repeats=1).set_index("technique")
    assert (table["seconds"] > 0).all()
    assert table.loc["ILS, 3 times iter1", "valued"] == 3 * table.loc["ILS", "valued"]
    assert table.loc["ILS", "valued"] == 100 * 303
    assert table.loc["ILS", "ratio"] == 1


def test_observations_follow_from_the_figures():
    seen = experiments.observations_of_flows().set_index("statement")["value"]
    nine = experiments.figure9()
    best = nine[nine["eps"] == 1.1].groupby(["dag_size", "dag_type"])["improvement"].max()
    assert seen["least best average, eps 1.1"] == pytest.approx(best.min())
    assert seen["greatest best average, eps 1.1"] == pytest.approx(best.max())
    eleven = experiments.figure11()
    slowest = eleven[eleven["technique"] == "ILS"]["slowdown"].max()
    assert seen["greatest growth of RT by ILS"] == pytest.approx(slowest - 1)
