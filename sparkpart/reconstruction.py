"""Running times compatible with the printed statistics of a program.

The measured times behind Figure 2 were not published. Tables 1 and 2 print, for every program,
the coefficients of two models and the errors of four, and these confine the times: every
printed number is a condition on them. This module finds times that meet all the conditions to
the last printed digit where such times exist, and says how far each single time can move. Such
times are *compatible with the printed statistics*; they are not the measurements.

The conditions, of `sparkpart.conditions`, are linearised at the printed curves for a first solution
and then at the times found, until those no longer change.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import minimize

from sparkpart import published
from sparkpart.conditions import AT_BOUND, System, system_of

__all__ = [
    "Reconstruction",
    "attainable",
    "contradiction",
    "doubted_cells",
    "reconstruct",
    "smallest_sets",
]

Array = NDArray[np.float64]
Cell = tuple[str, str]

LIMIT = 0.95
"""Largest deviation sought, in half units; the rest is left for the error of linearisation."""

AGREED = 1.0
"""Cells whose contradiction is below this agree with each other, but for one rounding."""

MOST_CELLS = 4
STARTS = 6
PASSES = 3


@dataclass(frozen=True, eq=False)
class Reconstruction:
    """Times compatible with the printed statistics of a program.

    Attributes
    ----------
    program
        One of `sparkpart.published.PROGRAMS`.
    nodes, seconds
        The node counts, inferred, and the times, reconstructed.
    cells
        ``model``, ``cell`` and ``deviation``: the distance of the statistic of these times
        from the print, in half units of the last printed digit. At most 1 means that the
        statistic rounds to the printed digits. Cells that are doubted (`published.CORRECTIONS`)
        are not among them.
    """

    program: str
    nodes: Array
    seconds: Array
    cells: pd.DataFrame

    @property
    def exact(self) -> bool:
        """Whether all these statistics round to the print."""
        return bool((self.cells["deviation"].abs() <= 1).all())


def doubted_cells(program: str) -> frozenset[Cell]:
    """Return the cells of a program that `published.CORRECTIONS` lists."""
    rows = published.CORRECTIONS.query("program == @program")
    return frozenset(zip(rows["model"], rows["cell"], strict=True))


def _limits(system: System, ignored: frozenset[Cell]) -> tuple[Array, Array]:
    """Return the lower and upper limits of the deviations; ignored cells have none."""
    unbounded = np.array([label in ignored for label in system.labels])
    one_sided = np.array([cell.endswith(AT_BOUND) for _, cell in system.labels])
    lower = np.where(unbounded | one_sided, -np.inf, -LIMIT)
    upper = np.where(unbounded, np.inf, np.where(one_sided, 0.0, LIMIT))
    return lower, upper


def _minimise(
    system: System,
    start: Array,
    limits: tuple[Array, Array],
    weights: Array | None = None,
    target: Array | None = None,
) -> Array | None:
    """Minimise ``weights @ y``, or the relative distance to the target, within the limits."""
    lower, upper = limits
    has_lower, has_upper = np.isfinite(lower), np.isfinite(upper)

    def slack(y: Array) -> Array:
        d = system.deviation(y)
        return np.concatenate([(upper - d)[has_upper], (d - lower)[has_lower]])

    def slack_jacobian(y: Array) -> Array:
        jacobian = system.jacobian(y)
        return np.vstack([-jacobian[has_upper], jacobian[has_lower]])

    def objective(y: Array) -> tuple[float, Array]:
        if weights is not None:
            return float(weights @ y), weights
        assert target is not None
        relative = (y - target) / target
        return float(relative @ relative), 2 * relative / target

    constraint = {"type": "ineq", "fun": slack, "jac": slack_jacobian}
    options = {"maxiter": 300, "ftol": 1e-10}
    found = minimize(
        objective, start, jac=True, constraints=constraint, method="SLSQP", options=options
    )
    feasible = slack(found.x).min() > -1e-5
    return np.asarray(found.x) if feasible else None


def _least_excess(
    system: System, limits: tuple[Array, Array], start: Array
) -> tuple[float, Array, Array]:
    """Find times whose deviations exceed the limits by the least sum: (sum, excess, times)."""
    lower, upper = limits
    n, k = len(start), len(lower)
    has_lower, has_upper = np.isfinite(lower), np.isfinite(upper)

    def excess(y: Array) -> Array:
        d = system.deviation(y)
        return np.maximum(np.maximum(d - upper, lower - d), 0)

    def slack(x: Array) -> Array:
        d, s = system.deviation(x[:n]), x[n:]
        return np.concatenate([(upper - d + s)[has_upper], (d - lower + s)[has_lower], s])

    def slack_jacobian(x: Array) -> Array:
        jacobian, eye = system.jacobian(x[:n]), np.eye(k)
        up, low = np.hstack([-jacobian, eye]), np.hstack([jacobian, eye])
        return np.vstack([up[has_upper], low[has_lower], np.hstack([np.zeros((k, n)), eye])])

    cost = np.concatenate([np.zeros(n), np.ones(k)])
    found = minimize(
        lambda x: (float(cost @ x), cost), np.concatenate([start, excess(start)]), jac=True,
        constraints={"type": "ineq", "fun": slack, "jac": slack_jacobian},
        method="SLSQP", options={"maxiter": 500, "ftol": 1e-9},
    )  # fmt: skip
    y = found.x[:n]
    return float(excess(y).sum()), excess(y), y


def _starts(system: System, seed: int) -> list[Array]:
    """Curve of Equation 5 plus random residuals of the printed size."""
    rng = np.random.default_rng(seed)
    residuals = system.left[-1] @ rng.normal(size=(len(system.nodes), STARTS))
    residuals *= np.sqrt(system.sse[-1]) / np.linalg.norm(residuals, axis=0)
    return list((system.start[:, None] + residuals).T)


def _compatible(
    system: System, ignored: frozenset[Cell], starts: list[Array]
) -> tuple[tuple[Array, Array], list[Array]]:
    """Return the limits, widened where they contradict each other, and times within them."""
    lower, upper = _limits(system, ignored)
    found = [_least_excess(system, (lower, upper), start) for start in starts]
    least, excess, _ = min(found, key=lambda item: item[0])
    return (lower - excess, upper + excess), [y for sum_, _, y in found if sum_ <= least + 1e-3]


class _Solution(NamedTuple):
    system: System
    limits: tuple[Array, Array]
    starts: list[Array]
    times: Array


@cache
def _solve(program: str, seed: int) -> _Solution:
    """Find compatible times; linearise anew at what was found until that is exact."""
    if program not in published.PROGRAMS:
        known = ", ".join(published.PROGRAMS)
        raise KeyError(f"unknown program {program!r}; the programs are {known}")
    system, ignored = system_of(program), doubted_cells(program)
    starts = _starts(system, seed)
    for _ in range(PASSES):
        limits, starts = _compatible(system, ignored, starts)
        found = [_minimise(system, y, limits, target=system.start) for y in starts]
        within = [y for y in found if y is not None] or starts
        times = min(within, key=lambda y: float(np.square(y / system.start - 1).sum()))
        system = system_of(program, times)
    return _Solution(system, limits, starts, times)


def reconstruct(program: str, *, seed: int = 0) -> Reconstruction:
    """Find times compatible with all that Tables 1 and 2 print for a program.

    Where the printed numbers contradict each other, the sum of the excesses over their
    rounding is made least. Among the times that remain, those nearest to the curve of
    Equation 5 are taken, in the sum of squared relative distances.

    Parameters
    ----------
    program
        One of `sparkpart.published.PROGRAMS`.
    seed
        Seed of the starting points of the search.

    Returns
    -------
    Reconstruction
    """
    system, limits, _, times = _solve(program, seed)
    deviation = system.deviation(times)
    one_sided = ~np.isfinite(limits[0]) & np.isfinite(limits[1])
    deviation[one_sided] = np.maximum(deviation[one_sided], 0)
    cells = pd.DataFrame(system.labels, columns=["model", "cell"]).assign(deviation=deviation)
    shown = np.isfinite(limits[1])
    return Reconstruction(
        program, system.nodes.copy(), times.copy(), cells[shown].reset_index(drop=True)
    )


def contradiction(
    program: str,
    ignored: frozenset[Cell],
    *,
    version: published.Version = "printed",
    seed: int = 0,
) -> float:
    """Measure how far the printed numbers of a program contradict each other.

    Parameters
    ----------
    program
        One of `sparkpart.published.PROGRAMS`.
    ignored
        Cells (model, cell) that need not be met.
    version
        "printed", or "corrected" to put in the values of `published.CORRECTIONS`.
    seed
        Seed of the starting points of the search.

    Returns
    -------
    float
        The least sum, over all other cells, of the distances beyond their rounding, in half
        units of the last printed digit: 0 if some times are compatible with all of them.
    """
    times = _solve(program, seed).times
    system = system_of(program, times, version)
    limits = _limits(system, ignored)
    starts = [times, *_starts(system, seed)]
    return min(_least_excess(system, limits, start)[0] for start in starts)


def _extended(sets: list[frozenset[Cell]], cells: list[Cell]) -> list[frozenset[Cell]]:
    """Return the sets with one more cell, each once, in a fixed order."""
    more = (chosen | {cell} for chosen in sets for cell in cells if cell not in chosen)
    return list(dict.fromkeys(more))


def smallest_sets(program: str, *, seed: int = 0, beam: int = 20) -> pd.DataFrame:
    """Scan all printed cells for the smallest set without which the others agree.

    Every single cell is tried. While no set brings the contradiction below `AGREED`, the sets
    with the least contradiction are extended by every other cell.

    Parameters
    ----------
    program
        One of `sparkpart.published.PROGRAMS`.
    seed
        Seed of the reconstructed times that each search starts from.
    beam
        How many sets of a size are extended. With at least 18 all pairs are tried.

    Returns
    -------
    DataFrame
        ``size``, ``cells`` (a frozenset of (model, cell)) and ``contradiction`` without them,
        the least first within a size; the empty set comes first, and the last size is the
        first with a contradiction below `AGREED`.
    """
    times = _solve(program, seed).times
    system = system_of(program, times)
    sets: list[frozenset[Cell]] = [frozenset()]
    rows: list[tuple[int, frozenset[Cell], float]] = []
    while not rows or (rows[-1][0] < MOST_CELLS and min(left for *_, left in rows) >= AGREED):
        left = [_least_excess(system, _limits(system, chosen), times)[0] for chosen in sets]
        ranked = sorted(zip(left, range(len(sets)), strict=True))
        rows += [(len(sets[i]), sets[i], value) for value, i in ranked]
        sets = _extended([sets[i] for _, i in ranked[:beam]], system.labels)
    return pd.DataFrame(rows, columns=["size", "cells", "contradiction"])


def attainable(program: str, *, seed: int = 0, starts: int = 3) -> pd.DataFrame:
    """Find how far each time of a program can move while all printed statistics hold.

    The search is local, linearised at the times of `reconstruct`, and starts from several
    compatible sets of times, so the true range may be wider.

    Parameters
    ----------
    program
        One of `sparkpart.published.PROGRAMS`.
    seed
        Seed of the starting points of the search.
    starts
        How many compatible sets to start from, besides that of `reconstruct`.

    Returns
    -------
    DataFrame
        ``nodes``, ``low`` and ``high`` (seconds); NaN where the printed numbers contradict
        each other, because then no times are compatible with all of them.
    """
    system, limits, found, times = _solve(program, seed)
    if limits[1].max(where=np.isfinite(limits[1]), initial=0) > 1:
        return pd.DataFrame({"nodes": system.nodes, "low": np.nan, "high": np.nan})
    origins = [times, *found[:starts]]
    directions = [sign * axis for axis in np.eye(len(system.nodes)) for sign in (1, -1)]
    moved = [_minimise(system, y, limits, d) for y in origins for d in directions]
    reached = np.array([y for y in (*origins, *moved) if y is not None])
    ends = zip(system.nodes, reached.min(axis=0), reached.max(axis=0), strict=True)
    return pd.DataFrame(ends, columns=["nodes", "low", "high"])
