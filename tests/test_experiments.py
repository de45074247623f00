"""Every figure and table: its columns, its purity, and what the paper says about it."""

import inspect

import numpy as np
import pandas as pd
import pytest

from sparkpart import experiments, fit, published, running_time
from sparkpart.experiments import tables
from sparkpart.runs import bell

EVERY = experiments.__all__
FEW = ("sort", "k-meansV", "shuffle")
LONG = ("attainable_times", "cell_scan")
SLOW = (*LONG, "doubtful_cells", "node_grids", "open_choices", "optimality_gaps", "search_times")


@pytest.fixture(scope="module")
def frame():
    """The frame of each function, computed once; the long searches for a few programs."""
    known = {}

    def frame(name):
        if name not in known:
            with pytest.MonkeyPatch.context() as patch:
                if name in (*LONG, "node_grids"):
                    patch.setattr(published, "PROGRAMS", FEW)
                quick = {"scale": "quick"} if name in LONG else {}
                known[name] = getattr(experiments, name)(**quick)
        return known[name]

    return frame


@pytest.mark.parametrize("name", EVERY)
def test_docstring_names_every_column(frame, name):
    doc = inspect.getdoc(getattr(experiments, name))
    if "as in `table1`" in doc:
        doc = inspect.getdoc(experiments.table1)
    table = frame(name)
    assert isinstance(table, pd.DataFrame)
    assert len(table) > 0
    assert [c for c in table if f"``{c}``" not in doc] == []
    assert table.index.equals(pd.RangeIndex(len(table)))


@pytest.mark.parametrize("name", [n for n in EVERY if n not in SLOW])
def test_second_call_gives_the_same_bits_and_no_shared_frame(frame, name):
    first, second = frame(name), getattr(experiments, name)()
    pd.testing.assert_frame_equal(first, second, check_exact=True)
    assert first is not second


@pytest.mark.parametrize("name", EVERY)
def test_rows_are_for_known_programs(frame, name):
    known = {*published.PROGRAMS, "grep", "SGD", "k-means", "repartitioning"}
    if "program" in frame(name):
        assert set(frame(name)["program"]) <= known


def test_figure_1_has_a_shuffle_exactly_where_the_stage_changes(frame):
    """Sort and an iteration of k-means are two stages each, with one shuffle between them."""
    table = frame("figure1")
    assert table.groupby("program")["shuffle"].sum().to_dict() == {"k-means": 1, "sort": 1}
    for _, edges in table.groupby("program"):
        stage_of = dict(zip(edges["target"], edges["stage"], strict=True))
        before = edges["source"].map(stage_of).fillna(1)
        assert ((edges["stage"] != before) == edges["shuffle"]).all()


def test_figure_2_is_table_2_between_8_and_96_nodes(frame):
    table = frame("figure2")
    assert table["nodes"].min() == 8
    assert table["nodes"].max() == 96
    for (program, model, version), rows in table.groupby(["program", "model", "version"]):
        coefficients = published.coefficients(program, model, version)
        expected = running_time(model, rows["nodes"], coefficients)
        np.testing.assert_array_equal(rows["seconds"], expected)
    assert len(table) == 9 * 2 * 2 * 177


def test_figure_2_versions_differ_only_where_a_coefficient_is_corrected(frame):
    wide = frame("figure2").pivot_table("seconds", ["program", "model", "nodes"], "version")
    different = wide[wide["printed"] != wide["corrected"]]
    pairs = different.reset_index()[["program", "model"]].drop_duplicates()
    assert sorted(pairs.to_numpy().tolist()) == [["k-meansV", "eq4"], ["naive Bayes", "eq4"]]


def test_observations_agree_with_curves_evaluated_by_hand(frame):
    """Sort by Eq. 4 with e = 0: 71.586 + 626.39/8 - 1.335*8 + 0.0076*64 = 139.69 s."""
    table = frame("observations").set_index(["program", "model"])
    sort = table.loc[("sort", "eq4")]
    assert sort["t8"] == pytest.approx(71.586 + 626.39 / 8 - 1.335 * 8 + 0.0076 * 64)
    assert sort["ratio_16_8"] == pytest.approx(sort["t16"] / sort["t8"])
    assert bool(sort["negative_c"])
    assert table.loc[("k-meansIII", "eq4"), "superlinear"]
    assert not table.loc[("sort", "eq4"), "superlinear"]
    assert table.loc["shuffle"]["t96"].isna().all()


def test_figure_3_is_the_printed_equation_6(frame):
    """By hand with e = 0: -2.377 + 260.6/16 - 0.0001*16 - 0.0001*96 + 0.001132*16*96."""
    table = frame("figure3").set_index(["e", "senders", "receivers"])["seconds"]
    by_hand = -2.377 + 260.6 / 16 - 0.0016 - 0.0096 + 0.001132 * 16 * 96
    assert table[0.0, 16, 96.0] == pytest.approx(by_hand)
    assert table[7.0, 8, 8.0] - table[0.0, 8, 8.0] == pytest.approx(260.6 * (1 - 1 / 8))


def test_equation_6_levels_are_the_ends_of_figure_3(frame):
    table = frame("equation6_levels")
    curves = frame("figure3").set_index(["e", "senders", "receivers"])["seconds"]
    for row in table.itertuples():
        assert row.at_8 == pytest.approx(curves[row.e, row.senders, 8.0])
        assert row.at_96 == pytest.approx(curves[row.e, row.senders, 96.0])
        assert row.growth == pytest.approx(row.at_96 / row.at_8)
    first = table[table["senders"] == 8].set_index("e")["at_8"]
    assert first.to_dict() == pytest.approx({0: 30, 7: 258}, abs=0.5)


def test_figure_4_levels_do_not_depend_on_the_reducers(frame):
    table = frame("figure4")
    level = table.groupby("senders")["seconds"].first()
    assert (table["seconds"] == table["senders"].map(level)).all()
    assert level[16] == pytest.approx(1.335 + 716.4 / 16 - 0.048 * 16 + 0.0009 * 256)
    assert level.is_monotonic_decreasing


def test_figure_13_without_logarithm_is_the_scaled_sample(frame):
    """b, c and d of k-meansII twice: 20.896 + 2 (192.12/(8 - 1.664) - 0.097*8 + 0.0018*64)."""
    table = frame("figure13")
    row = table.query("reading == 'n (no logarithm)' and not scaled_a and size == 2 and nodes == 8")
    by_hand = 20.896 + 2 * (192.12 / (8 - 1.664) - 0.097 * 8 + 0.0018 * 64)
    assert row["estimated"].tolist() == pytest.approx([by_hand])
    assert row["actual"].tolist() == pytest.approx([100.175], abs=0.001)
    np.testing.assert_allclose(table["ratio"], table["estimated"] / table["actual"])
    assert len(table) == 2 * 4 * 2 * 10


def test_figure_13_deviations_summarise_its_ratios(frame):
    ratio = frame("figure13").groupby(["reading", "scaled_a"])["ratio"]
    table = frame("figure13_deviations").set_index(["reading", "scaled_a"])
    worst = ratio.agg(lambda r: max(r.max(), 1 / r.min()))
    mean = ratio.agg(lambda r: 100 * np.mean(np.abs(r - 1)))
    np.testing.assert_allclose(table["worst_factor"], worst[table.index])
    np.testing.assert_allclose(table["mean_error"], mean[table.index])
    assert table.loc["n (no logarithm)", "to_linear"].tolist() == [1, 1]


def test_reconstructed_times_are_exact_for_every_program(frame):
    exact = frame("reconstructed_times").groupby("program")["exact"].agg(["all", "size"])
    assert exact["all"].all()
    assert exact["size"].to_dict() == {p: len(g) for p, g in published.NODE_GRIDS.items()}


def test_another_seed_finds_other_times_that_are_as_exact():
    first, second = (tables.reconstruct("shuffle", seed=s) for s in (0, 1))
    assert second.exact
    np.testing.assert_allclose(first.seconds, second.seconds, rtol=0.5)


def test_attainable_times_hold_the_reconstructed_ones(frame):
    ranges = frame("attainable_times").set_index(["program", "nodes"])
    times = frame("reconstructed_times").set_index(["program", "nodes"])["seconds"]
    assert ranges.index.get_level_values(0).unique().tolist() == list(FEW)
    assert (ranges["low"] <= times[ranges.index]).all()
    assert (times[ranges.index] <= ranges["high"]).all()


def test_agreement_is_rounding_to_the_print(frame):
    """Formatting our value with the printed number of decimals gives the printed string."""
    for name, least in (("table1", 3), ("table2", 0)):
        rows = frame(name)
        for row in rows.itertuples():
            shown = max(len(row.printed.partition(".")[2]), least)
            same = round(row.ours, shown) == pytest.approx(float(row.printed), abs=1e-9)
            assert same == row.agrees


def test_doubtful_cells_are_all_contradicted_and_corrected_towards_ours(frame):
    table = frame("doubtful_cells")
    assert table[list(published.CORRECTIONS)].equals(published.CORRECTIONS)
    assert table["contradicted"].all()
    assert (table["with_cell"] > table["without_cell"] + 1).all()
    assert (table[["without_cell", "all_corrected"]] < 0.1).all(axis=None)
    near = (table["ours"] - table["corrected"].astype(float)).abs()
    assert (near < 0.05 * (table["ours"] - table["printed"].astype(float)).abs()).all()


def test_cell_scan_doubts_cells_of_one_program_among_these(frame):
    table = frame("cell_scan")
    assert table.query("program != 'k-meansV'")["cells"].tolist() == ["", ""]
    ours = table.query("program == 'k-meansV'")
    assert ours.loc[ours["doubted"], "agree"].tolist() == [True]
    assert ours.loc[ours["agree"], "size"].unique().tolist() == [3]
    assert (ours["agree"] == (ours["contradiction"] < 1)).all()


def test_node_grids_count_what_the_identities_leave(frame):
    table = frame("node_grids").set_index("program")
    assert (table["candidates"] == 1486).all()
    assert table["inferred"].all()
    assert table["compatible"].to_dict() == {"sort": 1, "k-meansV": 1486, "shuffle": 1}
    assert table["only"].to_dict() == {
        "sort": "8 16 24 32 40 48 56 64 80 96", "k-meansV": "", "shuffle": "8 16 24 32 40 48 56 64",
    }  # fmt: skip
    assert table["full_axis"].to_dict() == {"sort": False, "k-meansV": True, "shuffle": False}


def test_usl_is_equation_2_and_only_gunthers_form_is_1_at_one_node(frame):
    table = frame("usl_coefficients")
    assert table["max_difference"].max() < 1e-12
    at_1 = table.set_index("form")["speedup_at_1"]
    np.testing.assert_allclose(at_1["gunther"], 1)
    np.testing.assert_allclose(
        at_1["printed"], 1 / (1 + table.set_index("form")["sigma"]["printed"])
    )
    assert set(published.PROGRAMS) - set(table["program"]) == {"shuffle"}
    assert (table["superlinear"] == (table["sigma"] < 0)).all()


def test_model_gains_are_ratios_of_the_printed_errors(frame):
    """K-meansI: Eq. 4 leaves 2.399 of the 6.501 s^2 of Eq. 3."""
    table = frame("model_gains").set_index(["program", "model"])
    assert table.loc[("k-meansI", "eq4"), "to_eq3"] == pytest.approx(2.399 / 6.501)
    assert table.loc[("k-meansI", "eq4"), "to_eq2"] == pytest.approx(2.399 / 6.967)
    assert (table.xs("eq3", level="model")["to_eq3"] == 1).all()
    assert (table["to_eq2"] <= 1).all()


def test_r2_gaps_of_naive_bayes_by_hand(frame):
    """Printed R^2: 0.964 (Eq. 3), 0.995 (Eq. 4), 0.973 (Eq. 5)."""
    row = frame("r2_gaps").set_index("program").loc["naive Bayes"]
    assert (row["between"], row["gain"], bool(row["smaller"])) == (0.022, 0.009, False)


def test_bounds_are_broken_only_by_shuffle(frame):
    broken = frame("bounds_kept").query("not kept")[["program", "model", "cell"]]
    assert {tuple(row) for row in broken.to_numpy()} == {
        ("shuffle", "eq4", "b"),
        ("shuffle", "eq5", "a"),
        ("shuffle", "eq5", "b2"),
        ("shuffle", "eq5", "d"),
    }


def test_freeing_b_and_d_alone_lowers_the_error_of_equation_5_but_not_of_every_fit(frame):
    table = frame("free_signs").set_index(["program", "model"])
    np.testing.assert_allclose(table["reduction"], 1 - table["free"] / table["printed"])
    assert table["reduced"].any()
    assert not table.loc["k-meansI", "reduced"].any()
    sse = {m: table.xs(m, level="model")["free"] for m in ("eq3", "eq4", "eq5")}
    assert (sse["eq5"] <= sse["eq3"] * (1 + 1e-9)).all()
    assert (sse["eq4"] <= sse["eq3"] * (1 + 1e-9)).all()


def test_free_signs_of_b_and_d_lie_between_the_stated_and_the_free_fit(frame):
    for row in frame("free_signs").itertuples():
        times = tables.reconstruct(row.program)
        both = [fit(times.nodes, times.seconds, row.model, b).sse for b in ("none", "stated")]
        assert both[0] * (1 - 1e-9) <= row.free <= both[1] * (1 + 1e-9)


def test_equation_3_needs_free_signs_for_four_programs(frame):
    """Shuffle breaks the bound of b, the others those of a and d."""
    table = frame("equation3_signs").set_index("program")
    needed = table[table["needed"]]
    assert list(needed.index) == ["k-meansIII", "k-meansV", "naive Bayes", "shuffle"]
    others = needed.drop("shuffle")
    assert (others[["a", "d"]] < 0).all(axis=None)
    assert (others["b"] > 0).all()
    assert needed.loc["shuffle", "b"] < 0 < needed.loc["shuffle", "d"]


def test_setting_checks_are_consistent(frame):
    checks = frame("setting_checks").set_index("check")["value"]
    assert checks["cores per machine, 8 machines"] == checks["cores per machine, 96 machines"] == 16
    assert (checks[checks.index.str.startswith("bytes per value")] == 10).all()


def test_real_runs_are_direct_fits_to_the_medians(frame):
    """Eq. 3 on grep: fitted up to 32 nodes it is scored beyond them."""
    data = bell().query("program == 'grep'")
    x, y = data["nodes"].to_numpy(), data["median_seconds"].to_numpy()
    row = frame("real_runs").set_index(["program", "model"]).loc[("grep", "eq3")]
    fitted = fit(x, y, "eq3")
    assert row["sse"] == fitted.sse
    ahead = fit(x[:8], y[:8], "eq3").predict(x[8:])
    assert row["extrapolated"] == pytest.approx(100 * np.mean(np.abs(ahead / y[8:] - 1)))
    out = fit(x[1:], y[1:], "eq3").predict(x[:1])[0]
    assert row["first"] == pytest.approx(100 * (out / y[0] - 1))
    assert row["low60"] < fitted.predict([60])[0] < row["high60"]


def test_real_runs_gains_compare_with_equation_2(frame):
    runs = frame("real_runs").set_index(["program", "model"])
    for row in frame("real_runs_gains").itertuples():
        assert row.error == pytest.approx(runs.loc[(row.program, row.model), row.measure])
        assert row.eq2 == pytest.approx(runs.loc[(row.program, "eq2"), row.measure])
        assert row.better == (row.error < row.eq2)


def test_real_runs_curves_pass_through_the_predictions(frame):
    table = frame("real_runs_curves")
    data = bell().query("program == 'SGD' and nodes <= 32")
    rows = table.query("program == 'SGD' and model == 'eq4' and fitted_to == 'small'")
    expected = fit(data["nodes"], data["median_seconds"], "eq4").predict(rows["nodes"])
    np.testing.assert_allclose(rows["seconds"], expected)
