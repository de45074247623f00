"""Find at which node counts the running times were measured.

The axis of Figure 2 has twelve node counts, 8 to 96 in steps of 8, but the paper does not say
at which of them each program ran. Tables 1 and 2 tell: a least-squares fit splits the total
sum of squares into that of the curve and that of the errors, and nested models differ by the
part of the curve that the smaller one cannot follow. Both depend on the node counts, and all
other terms are printed. A set of counts is excluded when no coefficients and errors within
their rounding satisfy these identities.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sparkpart import published
from sparkpart.conditions import HALF_UNIT, held_at_bound, tangent
from sparkpart.models import running_time

__all__ = ["AXIS", "candidates", "excluded_by"]

Array = NDArray[np.float64]
Range = tuple[float, float]

AXIS = tuple(range(8, 97, 8))


def candidates(least: int = 6) -> list[tuple[int, ...]]:
    """Return the subsets of the axis that contain 8, its smallest count, and enough others."""
    sizes = range(least - 1, len(AXIS))
    return [(AXIS[0], *rest) for size in sizes for rest in combinations(AXIS[1:], size)]


def _overlap(first: Range, second: Range) -> bool:
    return max(first[0], second[0]) <= min(first[1], second[1])


def _square(values: Range) -> Range:
    low, high = sorted(v**2 for v in values)
    return (0.0 if values[0] < 0 < values[1] else low), high


class _Row:
    """What Tables 1 and 2 print of one program and one of equations 4 and 5."""

    def __init__(self, program: str, model: str) -> None:
        table = published.table2().query("program == @program and model == @model")
        self.model = model
        self.values = published.coefficients(program, model)
        corrected = dict(zip(table["cell"], table["corrected"].notna(), strict=True))
        self.halves = {
            name: published.half_unit(text)
            for name, text in zip(table["cell"], table["printed"], strict=True)
        }
        self.doubtful = any(corrected.values())
        self.held = [k for k in self.values if held_at_bound(model, k, self.values[k], AXIS[0] - 1)]

    def along(self, nodes: Array, direction: Array) -> Range:
        """Range of the curve's component along a direction, over the rounding."""
        centre = float(direction @ running_time(self.model, nodes, self.values))
        columns = tangent(self.model, nodes, self.values)
        spread = float(sum(abs(direction @ columns[k]) * self.halves[k] for k in self.halves))
        return centre - spread, centre + spread

    def total(self, nodes: Array) -> Range:
        """Bound the curve's sum of squares about its mean, over the rounding."""
        curve = running_time(self.model, nodes, self.values)
        curve = curve - curve.mean()
        columns = tangent(self.model, nodes, self.values)
        moves = [(columns[k] - columns[k].mean()) * self.halves[k] for k in self.halves]
        linear = 2 * sum(abs(float(curve @ m)) for m in moves)
        quadratic = sum(float(np.linalg.norm(m)) for m in moves) ** 2
        square = float(curve @ curve)
        return float(square - linear), float(square + linear + quadratic)


def _new_direction(nodes: Array, old: tuple[str, ...], new: str) -> Array:
    """Return the unit vector along what a column of Equation 5 adds to the span of others."""
    columns = tangent("eq5", nodes, {})
    basis, _ = np.linalg.qr(np.stack([columns[k] for k in old], axis=1))
    part = columns[new] - basis @ (basis.T @ columns[new])
    return np.asarray(part / np.linalg.norm(part))


def _errors(program: str) -> tuple[dict[str, float], Range]:
    """Return the printed SSEs and the total sum of squares that all SSEs and R^2 allow."""
    table = published.table1().query("program == @program")
    table = table.assign(value=table["printed"].astype(float)).set_index("model")
    parts = {cell: rows["value"] for cell, rows in table.groupby("cell")}
    trusted = pd.DataFrame(parts).drop(table.index[table["corrected"].notna()])
    least = (trusted["sse"] - HALF_UNIT) / (1 - trusted["r2"] + HALF_UNIT)
    unexplained = 1 - trusted["r2"] - HALF_UNIT
    most = ((trusted["sse"] + HALF_UNIT) / unexplained).where(unexplained > 0, np.inf)
    sse = {str(model): float(value) for model, value in parts["sse"].items()}
    return sse, (float(least.max()), float(most.min()))


def excluded_by(program: str, grids: list[tuple[int, ...]]) -> pd.Series:
    """Say for each set of node counts which identity excludes it.

    Parameters
    ----------
    program
        One of `sparkpart.published.PROGRAMS`.
    grids
        Sets of node counts.

    Returns
    -------
    Series, index as the grids
        "" for a compatible set, else the identity: "total" for that of the total sum of
        squares, "d" for the difference of Eq. 2 and 3, "b2" for that of Eq. 3 and 5.
    """
    rows = {m: _Row(program, m) for m in ("eq4", "eq5")}
    sse, total = _errors(program)
    verdicts = [_verdict(rows, sse, total, np.array(g, dtype=float)) for g in grids]
    return pd.Series(verdicts, index=pd.Index(grids, tupleize_cols=False), dtype=str)


def _verdict(rows: dict[str, _Row], sse: dict[str, float], total: Range, nodes: Array) -> str:
    for model, row in rows.items():
        low, high = row.total(nodes)
        sums = (low + sse[model] - HALF_UNIT, high + sse[model] + HALF_UNIT)
        if not row.doubtful and not _overlap(sums, total):
            return "total"
    eq5 = rows["eq5"]
    steps = [("d", ("a", "b", "c"), "eq2", "eq3"), ("b2", ("a", "b", "c", "d"), "eq3", "eq5")]
    for new, old, small, large in steps:
        if set(eq5.held) & {*old, new}:
            continue
        gain = _square(eq5.along(nodes, _new_direction(nodes, old, new)))
        fall = sse[small] - sse[large]
        if not _overlap(gain, (fall - 2 * HALF_UNIT, fall + 2 * HALF_UNIT)):
            return new
    return ""
