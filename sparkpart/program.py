"""The bounded problem as a mixed-integer program, solved by HiGHS."""

from __future__ import annotations

from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array

from sparkpart.fastest import Costs

__all__ = ["Solution", "solve", "unit_of"]

Array = NDArray[np.float64]


class Solution(NamedTuple):
    """Places of the degrees, or None if no plan was found, and a lower limit of RC."""

    places: NDArray[np.int64] | None
    limit: float


def solve(
    time: Costs, consumption: Costs, bound: float, *, most: float = np.inf, seconds: float = 60.0
) -> Solution:
    """Minimise RC under a bound on RT.

    A binary variable says that a vertex has a degree, a continuous one that an edge has a
    pair of them; the variables of an edge add up to those of its ends (the local polytope,
    which has integer corners on trees as long as nothing bounds RT).

    Parameters
    ----------
    time, consumption
        Terms of RT and RC over the same choices.
    bound
        Largest RT in seconds; may be infinite.
    most
        Largest RC of interest, which cuts the search.
    seconds
        Time limit of HiGHS.
    """
    matrix, right = _sums(time)
    cost, used = (_flat(costs) for costs in (consumption, time))
    scale = float(np.abs(cost).max()) or 1.0
    unit = unit_of(bound)
    constraints = [LinearConstraint(matrix, right, right)]
    constraints += [LinearConstraint(used[None, :] / unit, -np.inf, bound / unit)] * bool(
        np.isfinite(bound)
    )
    constraints += [LinearConstraint(cost[None, :] / scale, -np.inf, most / scale)] * bool(
        np.isfinite(most)
    )
    first = sum(map(len, time.vertices))
    result = milp(
        cost / scale,
        integrality=np.arange(len(cost)) < first,
        bounds=Bounds(0, 1),
        constraints=constraints,
        options={"time_limit": seconds, "mip_rel_gap": 1e-9},
    )
    limit = -np.inf if result.mip_dual_bound is None else scale * result.mip_dual_bound
    if result.x is None:
        return Solution(None, np.inf if result.status == 2 else limit)
    parts = np.split(result.x[:first], np.cumsum([len(v) for v in time.vertices])[:-1])
    places = [c[part.argmax()] for c, part in zip(time.choices, parts, strict=True)]
    return Solution(np.array(places, dtype=np.int64), limit)


def unit_of(bound: float) -> float:
    """Return the seconds in which a bound is stated to HiGHS, whose tolerance is absolute."""
    return bound if 0 < bound < 1 else 1.0


def _flat(costs: Costs) -> Array:
    """Return the cost of every variable: vertices first, then edges row by row."""
    return np.concatenate([*costs.vertices, *(table.ravel() for table in costs.edges.values())])


def _sums(costs: Costs) -> tuple[coo_array, Array]:
    """Return the equations: one degree per vertex, and every edge agrees with its ends."""
    sizes = [len(v) for v in costs.vertices]
    starts = np.cumsum([0, *sizes])
    entries = [(v, starts[v] + np.arange(size), 1.0) for v, size in enumerate(sizes)]
    row, column = len(sizes), int(starts[-1])
    for (v, w), table in costs.edges.items():
        places = column + np.arange(table.size).reshape(table.shape)
        column += table.size
        for end, lines in ((v, places), (w, places.T)):
            for k, line in enumerate(lines):
                entries += [(row, line, 1.0), (row, starts[end] + k + np.arange(1), -1.0)]
                row += 1
    rows = np.concatenate([np.full(len(columns), r) for r, columns, _ in entries])
    values = np.concatenate([np.full(len(columns), x) for _, columns, x in entries])
    columns = np.fromiter(chain.from_iterable(c for _, c, _ in entries), dtype=np.int64)
    right = np.where(np.arange(row) < len(sizes), 1.0, 0.0)
    return coo_array((values, (rows, columns)), shape=(row, column)).tocsr(), right
