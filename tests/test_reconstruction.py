"""Times that the printed statistics allow: they meet the print, and the search is sound."""

from functools import cache

import numpy as np
import pytest

from sparkpart import fit, published, reconstruction, running_time
from sparkpart.conditions import AT_BOUND, _hessian, held_at_bound, system_of, tangent
from sparkpart.reconstruction import (
    _least_excess,
    _limits,
    _solve,
    attainable,
    contradiction,
    doubted_cells,
    reconstruct,
    smallest_sets,
)


@cache
def ranges_of(program):
    return attainable(program, starts=0)


every_program = pytest.mark.parametrize("program", published.PROGRAMS)


@every_program
def test_every_program_has_times_that_meet_all_printed_digits_but_misprints(program):
    times = reconstruct(program)
    assert times.exact
    assert times.nodes.tolist() == list(published.NODE_GRIDS[program])
    assert (times.seconds > 0).all()
    assert len(times.cells) == 18 - len(doubted_cells(program))


@every_program
def test_deviations_are_those_of_real_fits(program):
    """The linearised statistics of the times are within a twentieth of half a digit of `fit`'s."""
    times = reconstruct(program)
    cells = times.cells[~times.cells["cell"].str.endswith(AT_BOUND)]
    prints = {
        (m, c): (p, 3 if c in ("r2", "sse") else 0)
        for table in (published.table1(), published.table2())
        for pr, m, c, p in table[["program", "model", "cell", "printed"]].to_numpy()
        if pr == program
    }
    for model, rows in cells.groupby("model"):
        fits = [fit(times.nodes, times.seconds, model, bounds) for bounds in ("stated", "none")]
        off = []
        for fitted in fits:
            ours = fitted.coefficients | {"sse": fitted.sse, "r2": fitted.r2}
            half = [published.half_unit(*prints[model, c]) for c in rows["cell"]]
            print_ = [float(prints[model, c][0]) for c in rows["cell"]]
            real = (np.array([ours[c] for c in rows["cell"]]) - print_) / half
            off.append(np.abs(real - rows["deviation"]).max())
        assert min(off) < 0.05


@every_program
def test_times_stay_near_the_printed_curves(program):
    """Within the residuals that the printed SSE of Eq. 5 allows, and as much again."""
    times = reconstruct(program)
    curve = running_time("eq5", times.nodes, published.coefficients(program, "eq5"))
    cells = published.table1().set_index(["program", "model", "cell"])["printed"]
    norm = float(cells[program, "eq5", "sse"]) ** 0.5
    assert np.linalg.norm(times.seconds - curve) < 2 * norm


def test_same_seed_gives_the_same_bits():
    again = _solve.__wrapped__("shuffle", 0).times
    assert again.tobytes() == reconstruct("shuffle").seconds.tobytes()


def test_changing_an_answer_does_not_change_the_next_one():
    first = reconstruct("shuffle")
    kept = first.seconds.copy()
    first.seconds[:] = 0
    first.cells.loc[:, "deviation"] = 99.0
    assert reconstruct("shuffle").seconds.tolist() == kept.tolist()
    assert reconstruct("shuffle").exact


def test_one_wrong_digit_is_a_contradiction(monkeypatch):
    """Eq. 4 of aggregate has e = 0 and is Eq. 3, so their printed SSEs must be the same."""
    table = published.table1()
    row = (table["program"] == "aggregate") & (table["model"] == "eq4") & (table["cell"] == "sse")
    table.loc[row, "printed"] = "77.710"
    times = reconstruct("aggregate").seconds

    def least():
        system = system_of("aggregate", times)
        return _least_excess(system, _limits(system, frozenset()), times)[0]

    assert least() == pytest.approx(0, abs=1e-3)
    monkeypatch.setattr(published, "table1", lambda: table)
    assert least() > 1


@pytest.mark.parametrize("program", ["aggregate", "shuffle"])
def test_programs_with_compatible_times_have_no_contradiction(program):
    assert contradiction(program, frozenset()) == pytest.approx(0, abs=1e-3)


def test_ignoring_the_contradicting_cell_lowers_the_contradiction():
    doubted = doubted_cells("naive Bayes")
    assert doubted == {("eq4", "c"), ("eq3", "sse")}
    assert contradiction("naive Bayes", doubted) < 0.1
    assert contradiction("naive Bayes", frozenset()) > 50


@pytest.mark.parametrize("program", ["k-meansV", "naive Bayes"])
def test_corrected_values_contradict_nothing(program):
    assert contradiction(program, frozenset(), version="corrected") < 0.1


@pytest.mark.parametrize("value", ["2.512", "2.05", "2.25"])
def test_another_value_in_place_of_a_correction_is_a_contradiction(monkeypatch, value):
    """Of the SSE of Eq. 3 of naive Bayes only values near 2.114 agree with its R^2."""
    table = published.table1()
    row = (table["program"] == "naive Bayes") & (table["corrected"].notna())
    table.loc[row, "corrected"] = value
    monkeypatch.setattr(published, "table1", lambda: table)
    assert contradiction("naive Bayes", frozenset(), version="corrected") > 1


def test_scan_of_naive_bayes_finds_one_pair_among_all():
    """All 18 cells and 153 pairs are tried; the second-best pair leaves a large contradiction."""
    found = smallest_sets("naive Bayes")
    assert found.groupby("size").size().to_dict() == {0: 1, 1: 18, 2: 153}
    pairs = found[found["size"] == 2].reset_index(drop=True)
    assert pairs["cells"][0] == doubted_cells("naive Bayes")
    assert pairs["contradiction"][0] < 0.1
    assert pairs["contradiction"][1] > 10


def test_scan_of_kmeans_v_needs_three_cells_and_finds_the_doubted_ones():
    found = smallest_sets("k-meansV", beam=2)
    least = found.groupby("size")["contradiction"].min()
    assert least.index.tolist() == [0, 1, 2, 3]
    assert (least[:2] > 1).all()
    agreeing = found[found["contradiction"] < 1]
    assert doubted_cells("k-meansV") in set(agreeing["cells"])
    assert all(("eq5", "sse") in chosen for chosen in agreeing["cells"])


def test_scan_of_a_consistent_program_ends_with_the_empty_set():
    found = smallest_sets("sort")
    assert found["cells"].tolist() == [frozenset()]
    assert found["contradiction"].tolist() == pytest.approx([0], abs=1e-3)


@pytest.mark.parametrize("program", ["sort", "aggregate", "shuffle", "naive Bayes"])
def test_attainable_ranges_hold_the_reconstructed_times(program):
    times, ranges = reconstruct(program), ranges_of(program)
    assert ranges["nodes"].tolist() == times.nodes.tolist()
    assert (ranges["low"] <= times.seconds).all()
    assert (ranges["high"] >= times.seconds).all()
    assert ((ranges["high"] - ranges["low"]) > 0).sum() > len(ranges) - 2


def test_range_is_a_few_seconds_where_the_print_is_coarse_and_hundredths_where_it_is_sharp():
    """Sort has an SSE of 387 s^2, shuffle's Eq. 4 and its pole at 7 fix the time at 8 nodes."""
    width = {p: ranges_of(p)["high"] - ranges_of(p)["low"] for p in ("sort", "shuffle")}
    assert width["sort"].min() > 1
    assert width["shuffle"].iloc[0] < 0.05


def test_programs_whose_print_contradicts_itself_have_no_attainable_times(monkeypatch):
    monkeypatch.setattr(reconstruction, "doubted_cells", lambda program: frozenset())
    monkeypatch.setattr(reconstruction, "_solve", _solve.__wrapped__)
    ranges = attainable("naive Bayes")
    assert ranges["nodes"].tolist() == list(published.NODE_GRIDS["naive Bayes"])
    assert ranges[["low", "high"]].isna().all(axis=None)


@pytest.mark.parametrize(("program", "model"), [("k-meansI", "eq4"), ("k-meansI", "eq5")])
def test_tangent_is_the_derivative_by_differences(program, model):
    nodes = np.array(published.NODE_GRIDS[program], dtype=float)
    values = published.coefficients(program, model)
    for name, column in tangent(model, nodes, values).items():
        h = 1e-5 * max(abs(values[name]), 1e-3)
        ends = [running_time(model, nodes, values | {name: values[name] + s * h}) for s in (1, -1)]
        np.testing.assert_allclose(column, (ends[0] - ends[1]) / (2 * h), rtol=1e-5)


def test_hessian_of_the_squared_error_is_the_derivative_by_differences():
    """Half the gradient is -J'r; residuals are large here, so that every term counts."""
    nodes = np.array(published.NODE_GRIDS["k-meansI"], dtype=float)
    values, free = published.coefficients("k-meansI", "eq4"), list("abcde")
    times = running_time("eq4", nodes, values) + 20 * np.cos(nodes)

    def slope(changed):
        columns = tangent("eq4", nodes, changed)
        jacobian = np.stack([columns[k] for k in free], axis=1)
        residual = times - running_time("eq4", nodes, changed)
        return -jacobian.T @ residual, jacobian, columns, residual

    _, jacobian, columns, residual = slope(values)
    exact = _hessian(jacobian, free, columns, residual)
    for k, row in zip(free, exact, strict=True):
        h = 1e-5 * max(abs(values[k]), 1e-3)
        ends = [slope(values | {k: values[k] + s * h})[0] for s in (1, -1)]
        np.testing.assert_allclose(row, (ends[0] - ends[1]) / (2 * h), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("program", ["k-meansII", "naive Bayes", "sort", "shuffle"])
def test_jacobian_of_the_conditions_is_the_derivative_by_differences(program):
    system = system_of(program)
    y = system.start * (1 + 0.01 * np.sin(np.arange(len(system.start))))
    step = 1e-4 * np.eye(len(y))
    numeric = [(system.deviation(y + h) - system.deviation(y - h)) / 2e-4 for h in step]
    exact = system.jacobian(y)
    np.testing.assert_allclose(
        exact, np.transpose(numeric), rtol=1e-4, atol=1e-6 * abs(exact).max()
    )


@pytest.mark.parametrize(
    ("model", "name", "value", "held"),
    [("eq4", "e", 0.0, True), ("eq4", "e", 7.0, True), ("eq4", "e", 3.0, False),
     ("eq5", "b", 0.0, True), ("eq5", "c", 0.0, False), ("eq2", "a", 0.0, False)],
)  # fmt: skip
def test_coefficients_printed_at_a_bound(model, name, value, held):
    assert held_at_bound(model, name, value, 7) == held


@pytest.mark.parametrize("call", [reconstruct, attainable])
def test_unknown_program_is_refused(call):
    with pytest.raises(KeyError, match="wordcount"):
        call("wordcount")
