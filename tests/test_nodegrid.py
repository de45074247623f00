"""The search for the node counts that the paper does not print."""

from math import comb

import pytest

from sparkpart import published
from sparkpart.nodegrid import AXIS, candidates, excluded_by

GRIDS = candidates()
TEN = (8, 16, 24, 32, 40, 48, 56, 64, 80, 96)


def test_axis_is_that_of_figure_2():
    assert list(AXIS) == [8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 96]


def test_candidates_are_all_sets_with_8_and_at_least_six_counts():
    assert len(GRIDS) == len(set(GRIDS)) == sum(comb(11, k) for k in range(5, 12))
    assert all(grid[0] == 8 and len(grid) >= 6 and set(grid) <= set(AXIS) for grid in GRIDS)
    assert candidates(12) == [AXIS]


@pytest.mark.parametrize(
    ("program", "only"), [("k-meansI", TEN), ("sort", TEN), ("shuffle", TEN[:8])]
)
def test_one_set_of_node_counts_is_left(program, only):
    why = excluded_by(program, GRIDS)
    assert why.index[why == ""].tolist() == [only]


@pytest.mark.parametrize("program", published.PROGRAMS)
def test_the_set_in_use_is_never_excluded(program):
    assert excluded_by(program, [published.NODE_GRIDS[program]]).tolist() == [""]


def test_full_axis_is_excluded_where_the_print_is_sharp_enough():
    out = [p for p in published.PROGRAMS if excluded_by(p, [AXIS]).iloc[0]]
    assert out == ["k-meansI", "k-meansII", "k-meansIV", "sort", "aggregate", "shuffle"]


def test_each_identity_excludes_some_set_and_names_itself():
    reasons = set().union(*(set(excluded_by(p, GRIDS[::25])) for p in published.PROGRAMS))
    assert reasons == {"", "total", "d", "b2"}


def test_wrong_print_is_caught(monkeypatch):
    """With the SSE of Eq. 5 of k-meansI enlarged, no set of node counts is left."""
    table = published.table1()
    row = (table["program"] == "k-meansI") & (table["model"] == "eq5") & (table["cell"] == "sse")
    table.loc[row, "printed"] = "6.490"
    monkeypatch.setattr(published, "table1", lambda: table)
    assert (excluded_by("k-meansI", GRIDS) != "").all()
