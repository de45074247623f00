"""What Tables 1 and 2 print of a program, as conditions on its running times.

Every printed statistic confines the unpublished times. The conditions are almost linear: a
least-squares fit is a projection, so its coefficients are linear in the times, and the sums of
squares are quadratic. Only the pole e of Equation 4 makes a fit nonlinear; it is linearised, at
the printed curve or at given times.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sparkpart import published
from sparkpart.models import MODELS, running_time

__all__ = ["AT_BOUND", "FITTED", "HALF_UNIT", "System", "held_at_bound", "system_of", "tangent"]

Array = NDArray[np.float64]

STATISTIC_DECIMALS = 3
"""R^2 and SSE are taken as rounded to three decimals; the print mostly drops trailing zeros."""

HALF_UNIT = 0.5 * 10.0**-STATISTIC_DECIMALS
NEWTON_STEPS = 12
FITTED = ("eq2", "eq3", "eq4", "eq5")
AT_BOUND = " at bound"


@dataclass(frozen=True, eq=False)
class System:
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
        """Return the deviations of the statistics of times y (s) from the print, in half units."""
        sse = np.square(self.left @ y - self.shift).sum(axis=1)
        r2 = 1 - sse / np.square(y - y.mean()).sum()
        errors = np.concatenate([sse - self.sse, r2 - self.r2]) / HALF_UNIT
        return np.concatenate([self.rows @ y - self.offset, errors])

    def jacobian(self, y: Array) -> Array:
        """Return the derivatives of `deviation`, shape (conditions, times)."""
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


def _cells(
    table: pd.DataFrame, program: str, model: str, version: published.Version
) -> dict[str, str]:
    rows = table[(table["program"] == program) & (table["model"] == model)]
    printed = rows["printed"]
    values = printed if version == "printed" else rows["corrected"].fillna(printed)
    return dict(zip(rows["cell"], values, strict=True))


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


def _conditions(
    program: str, model: str, nodes: Array, times: Array | None, version: published.Version
) -> _Conditions:
    """Linearise at the times, or at the printed curve."""
    printed = _cells(published.table2(), program, model, version)
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
    texts = _cells(published.table1(), program, model, version)
    errors = {k: float(v) for k, v in texts.items()}
    return _Conditions(linear, at.left, at.left @ origin - at.residual, errors)


def system_of(
    program: str, times: Array | None = None, version: published.Version = "printed"
) -> System:
    """Return the conditions on a program's times.

    Parameters
    ----------
    program
        One of `sparkpart.published.PROGRAMS`.
    times
        Where Equation 4 is linearised, in seconds; by default at its printed curve.
    version
        "printed", or "corrected" to put in the values of `sparkpart.published.CORRECTIONS`.
    """
    nodes = np.array(published.NODE_GRIDS[program], dtype=float)
    parts = {m: _conditions(program, m, nodes, times, version) for m in FITTED}
    linear = [(m, k, *condition) for m, p in parts.items() for k, condition in p.linear.items()]
    return System(
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
