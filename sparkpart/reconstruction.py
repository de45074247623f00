"""Running times compatible with the printed statistics of a program.

The measured times behind Figure 2 were not published. Tables 1 and 2 print, for every program,
the coefficients of two models and the errors of four, and these confine the times: every
printed number is a condition on them. This module finds times that meet all the conditions to
the last printed digit where such times exist, and says how far each single time can move. Such
times are *compatible with the printed statistics*; they are not the measurements.

The conditions are almost linear. A least-squares fit is a projection, so its coefficients are
linear in the times; for the pole e of Equation 4 the fit is linearised at the printed b and e,
which is exact to second order in their rounding. The sums of squares are quadratic.
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
from sparkpart.profiles import MODELS, running_time

__all__ = ["Reconstruction", "attainable", "contradiction", "doubted_cells", "reconstruct"]

Array = NDArray[np.float64]
Cell = tuple[str, str]

STATISTIC_DECIMALS = 3
"""R^2 and SSE are taken as rounded to three decimals; trailing zeros are dropped in print."""

HALF_UNIT = 0.5 * 10.0**-STATISTIC_DECIMALS
LIMIT = 0.95
"""Largest deviation sought, in half units; the rest is left for the error of linearisation."""

STARTS = 6
PASSES = 3
NEWTON_STEPS = 12
FITTED = ("eq2", "eq3", "eq4", "eq5")
AT_BOUND = " at bound"


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


@dataclass(frozen=True, eq=False)
class _System:
    """The conditions on the times of one program: ``lower <= deviation(times) <= upper``.

    First the linear ones, ``rows @ times - offset``; then SSE and R^2 of each model, whose
    residuals are ``left[model] @ times - shift[model]``.
    """

    nodes: Array
    start: Array
    labels: list[tuple[str, str]]
    rows: Array
    offset: Array
    left: Array
    shift: Array
    sse: Array
    r2: Array

    def deviation(self, y: Array) -> Array:
        sse = np.square(self.left @ y - self.shift).sum(axis=1)
        r2 = 1 - sse / np.square(y - y.mean()).sum()
        errors = np.concatenate([sse - self.sse, r2 - self.r2]) / HALF_UNIT
        return np.concatenate([self.rows @ y - self.offset, errors])

    def jacobian(self, y: Array) -> Array:
        residual, centred = self.left @ y - self.shift, y - y.mean()
        total, slope = centred @ centred, 2 * residual
        sse = np.square(residual).sum(axis=1, keepdims=True)
        r2 = (2 * sse / total * centred - slope) / total
        return np.vstack([self.rows, slope / HALF_UNIT, r2 / HALF_UNIT])


def tangent(model: str, nodes: Array, values: dict[str, float]) -> dict[str, Array]:
    """Return the derivatives of the running time by each coefficient at the given values."""
    spec = MODELS[model]
    columns = dict(zip(spec.linear, spec.design(nodes[:, None]).T, strict=True))
    if spec.pole:
        pole = 1 / (nodes - values["e"])
        columns |= {"b": pole, "e": values["b"] * pole**2}
    return columns


def held_at_bound(model: str, name: str, value: float, e_max: float) -> bool:
    """Whether the printed fit held a coefficient at a bound."""
    at_end = name == "e" and value in (0.0, e_max)
    return at_end or (value == 0 and name in MODELS[model].nonnegative)


def _cells(table: pd.DataFrame, program: str, model: str) -> dict[str, str]:
    rows = table[(table["program"] == program) & (table["model"] == model)]
    return dict(zip(rows["cell"], rows["printed"], strict=True))


class _Conditions(NamedTuple):
    """What is printed of one model, linearised: conditions by name (row, offset); residuals."""

    linear: dict[str, tuple[Array, float]]
    left: Array
    shift: Array
    errors: dict[str, float]


def _hessian(jacobian: Array, free: list[str], columns: dict[str, Array], r: Array) -> Array:
    """Half the Hessian of the sum of squares by the free coefficients; r are the residuals."""
    half = jacobian.T @ jacobian
    if "e" in free:
        b, e = free.index("b"), free.index("e")
        half[b, e] -= r @ columns["b"] ** 2
        half[e, b] = half[b, e]
        half[e, e] -= 2 * r @ (columns["e"] * columns["b"])
    return half


class _Centre(NamedTuple):
    """A model fitted to times, and the projection that it is linearised to."""

    fitted: dict[str, float]
    columns: dict[str, Array]
    inverse: Array
    left: Array
    residual: Array


def _centre(
    model: str, values: dict[str, float], free: list[str], nodes: Array, times: Array | None
) -> _Centre:
    """Fit the free coefficients to times by Newton's method; without times, keep the values."""
    values = dict(values)
    for _ in range(NEWTON_STEPS if times is not None else 1):
        columns = tangent(model, nodes, values)
        jacobian = np.stack([columns[k] for k in free], axis=1)
        residual = np.zeros_like(nodes)
        if times is not None:
            residual = times - running_time(model, nodes, values)
        scale = np.linalg.norm(jacobian, axis=0)
        scaled = _hessian(jacobian, free, columns, residual) / np.outer(scale, scale)
        inverse = np.linalg.solve(scaled, (jacobian / scale).T) / scale[:, None]
        if times is not None:
            for k, step in zip(free, inverse @ residual, strict=True):
                values[k] += float(step)
    return _Centre(values, columns, inverse, np.eye(len(nodes)) - jacobian @ inverse, residual)


def _conditions(program: str, model: str, nodes: Array, times: Array | None) -> _Conditions:
    """Linearise at the times, or at the printed curve."""
    printed = _cells(published.table2(), program, model)
    names = MODELS[model].coefficients
    start = published.coefficients(program, model) if printed else dict.fromkeys(names, 0.0)
    held = [k for k in names if printed and held_at_bound(model, k, start[k], nodes[0] - 1)]
    free = [k for k in names if k not in held]
    at = _centre(model, start, free, nodes, times)
    origin = running_time(model, nodes, at.fitted) if times is None else times
    linear = {}
    if printed:
        for k, row in zip(free, at.inverse, strict=True):
            half = published.half_unit(printed[k])
            linear[k] = (row / half, float(row @ origin - at.fitted[k] + float(printed[k])) / half)
    for k in held:
        slope = at.left @ at.columns[k] * (-1 if k == "e" and start["e"] > 0 else 1)
        slope = slope / np.linalg.norm(slope)
        linear[k + AT_BOUND] = (slope, float(slope @ (origin - at.residual)))
    errors = {k: float(v) for k, v in _cells(published.table1(), program, model).items()}
    return _Conditions(linear, at.left, at.left @ origin - at.residual, errors)


def _system(program: str, times: Array | None = None) -> _System:
    nodes = np.array(published.NODE_GRIDS[program], dtype=float)
    parts = {m: _conditions(program, m, nodes, times) for m in FITTED}
    linear = [(m, k, *condition) for m, p in parts.items() for k, condition in p.linear.items()]
    return _System(
        nodes,
        running_time("eq5", nodes, published.coefficients(program, "eq5")),
        [(m, k) for m, k, _, _ in linear] + [(m, cell) for cell in ("sse", "r2") for m in FITTED],
        np.array([row for *_, row, _ in linear]),
        np.array([offset for *_, offset in linear]),
        np.stack([p.left for p in parts.values()]),
        np.stack([p.shift for p in parts.values()]),
        np.array([p.errors["sse"] for p in parts.values()]),
        np.array([p.errors["r2"] for p in parts.values()]),
    )


def doubted_cells(program: str) -> frozenset[Cell]:
    """Return the cells of a program that `published.CORRECTIONS` lists."""
    rows = published.CORRECTIONS.query("program == @program")
    return frozenset(zip(rows["model"], rows["cell"], strict=True))


def _limits(system: _System, ignored: frozenset[Cell]) -> tuple[Array, Array]:
    """Return the lower and upper limits of the deviations; ignored cells have none."""
    unbounded = np.array([label in ignored for label in system.labels])
    one_sided = np.array([cell.endswith(AT_BOUND) for _, cell in system.labels])
    lower = np.where(unbounded | one_sided, -np.inf, -LIMIT)
    upper = np.where(unbounded, np.inf, np.where(one_sided, 0.0, LIMIT))
    return lower, upper


def _minimise(
    system: _System,
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
    system: _System, limits: tuple[Array, Array], start: Array
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


def _starts(system: _System, seed: int) -> list[Array]:
    """Curve of Equation 5 plus random residuals of the printed size."""
    rng = np.random.default_rng(seed)
    residuals = system.left[-1] @ rng.normal(size=(len(system.nodes), STARTS))
    residuals *= np.sqrt(system.sse[-1]) / np.linalg.norm(residuals, axis=0)
    return list((system.start[:, None] + residuals).T)


def _compatible(
    system: _System, ignored: frozenset[Cell], starts: list[Array]
) -> tuple[tuple[Array, Array], list[Array]]:
    """Return the limits, widened where they contradict each other, and times within them."""
    lower, upper = _limits(system, ignored)
    found = [_least_excess(system, (lower, upper), start) for start in starts]
    least, excess, _ = min(found, key=lambda item: item[0])
    return (lower - excess, upper + excess), [y for sum_, _, y in found if sum_ <= least + 1e-3]


class _Solution(NamedTuple):
    system: _System
    limits: tuple[Array, Array]
    starts: list[Array]
    times: Array


@cache
def _solve(program: str, seed: int) -> _Solution:
    """Find compatible times; linearise anew at what was found until that is exact."""
    system, ignored = _system(program), doubted_cells(program)
    starts = _starts(system, seed)
    for _ in range(PASSES):
        limits, starts = _compatible(system, ignored, starts)
        found = [_minimise(system, y, limits, target=system.start) for y in starts]
        within = [y for y in found if y is not None] or starts
        times = min(within, key=lambda y: float(np.square(y / system.start - 1).sum()))
        system = _system(program, times)
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


def contradiction(program: str, ignored: frozenset[Cell], *, seed: int = 0) -> float:
    """Measure how far the printed numbers of a program contradict each other.

    Parameters
    ----------
    program
        One of `sparkpart.published.PROGRAMS`.
    ignored
        Cells (model, cell) that need not be met.
    seed
        Seed of the starting points of the search.

    Returns
    -------
    float
        The least sum, over all other cells, of the distances beyond their rounding, in half
        units of the last printed digit: 0 if some times are compatible with all of them.
    """
    system = _system(program, _solve(program, seed).times)
    limits = _limits(system, ignored)
    return min(_least_excess(system, limits, start)[0] for start in _starts(system, seed))


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
    ends = []
    for i, nodes in enumerate(system.nodes):
        axis = np.eye(len(system.nodes))[i]
        moved = [_minimise(system, y, limits, s * axis) for y in origins for s in (1, -1)]
        reached = [float(y[i]) for y in (*origins, *moved) if y is not None]
        ends.append((nodes, min(reached), max(reached)))
    return pd.DataFrame(ends, columns=["nodes", "low", "high"])
