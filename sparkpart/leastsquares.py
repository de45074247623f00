"""Least squares with sign bounds, solved exactly for many right-hand sides at once.

A running-time model has at most four coefficients that must not be negative. With so few, the
bounded optimum is found by trying every set of coefficients held at zero: each set leaves an
ordinary least-squares problem, and the best feasible one is the global optimum because the
problem is convex. One factorisation serves all right-hand sides, which makes bootstraps cheap.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["bounded_lstsq", "pole_lstsq"]

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

GRID = 129
ZOOM = 33
RESOLUTION = 1e-10


def _kept_columns(nonnegative: Flags) -> Iterator[list[int]]:
    """Yield the columns left when each subset of the bounded ones is held at zero."""
    bounded = np.flatnonzero(nonnegative)
    for size in range(len(bounded) + 1):
        for dropped in combinations(bounded, size):
            yield [j for j in range(len(nonnegative)) if j not in dropped]


def _factor(columns: Array) -> tuple[Array, Array]:
    """Return an orthonormal basis Q of the columns and the map from Q'y to coefficients."""
    scale = np.linalg.norm(columns, axis=0)
    q, r = np.linalg.qr(columns / scale)
    return q, np.linalg.solve(r, np.eye(len(scale))) / scale[:, None]


def bounded_lstsq(design: Array, targets: Array, nonnegative: Flags) -> tuple[Array, Array]:
    """Minimise ``|targets - design @ coefficients|**2`` with some coefficients >= 0.

    Parameters
    ----------
    design
        Shape (n, k), full column rank.
    targets
        Shape (n, m): one problem per column.
    nonnegative
        Shape (k,), true for the coefficients that must not be negative.

    Returns
    -------
    coefficients : ndarray, shape (k, m)
    sse : ndarray, shape (m,)
        Sum of squared residuals at the optimum.
    """
    k, m = design.shape[1], targets.shape[1]
    best, sse = np.zeros((k, m)), np.full(m, np.inf)
    for kept in _kept_columns(nonnegative):
        q, back = _factor(design[:, kept])
        inner = q.T @ targets
        coefficients = back @ inner
        error = np.square(targets - q @ inner).sum(axis=0)
        better = (coefficients[nonnegative[kept]] >= 0).all(axis=0) & (error < sse)
        update = np.zeros((k, int(better.sum())))
        update[kept] = coefficients[:, better]
        best[:, better], sse[better] = update, error[better]
        if len(kept) == k and better.all():
            break
    return best, sse


class _Reduced(NamedTuple):
    """The problem with the kept base columns projected out of the targets."""

    kept: list[int]
    signs: Flags
    q: Array
    back: Array
    inner: Array
    rest: Array


def _reduce(base: Array, targets: Array, nonnegative: Flags) -> list[_Reduced]:
    problems = []
    for kept in _kept_columns(nonnegative):
        q, back = _factor(base[:, kept])
        inner = q.T @ targets
        problems.append(_Reduced(kept, nonnegative[kept], q, back, inner, targets - q @ inner))
    return problems


def _solve_at(
    problems: list[_Reduced], pole: Array, k: int, pole_nonnegative: bool
) -> tuple[Array, Array]:
    """Solve at given poles: ``pole`` has shape (n, m, L) or (n, 1, L).

    Returns the coefficients (k + 1, m, L), that of the pole last, and the SSE (m, L).
    """
    shape = (problems[0].rest.shape[1], pole.shape[2])
    best, sse = np.zeros((k + 1, *shape)), np.full(shape, np.inf)
    for p in problems:
        inner = np.tensordot(p.q.T, pole, 1)
        own = pole - np.tensordot(p.q, inner, 1)
        along = np.einsum("nml,nm->ml", np.broadcast_to(own, (len(own), *shape)), p.rest)
        free = along / np.square(own).sum(axis=0)
        for b in (free, np.zeros(shape)) if pole_nonnegative else (free,):
            theta = np.tensordot(p.back, p.inner[:, :, None] - inner * b, 1)
            error = np.square(p.rest).sum(axis=0)[:, None] - along * b
            better = (theta[p.signs] >= 0).all(axis=0) & (error < sse)
            if pole_nonnegative:
                better &= b >= 0
            update = np.zeros((k + 1, int(better.sum())))
            update[p.kept], update[k] = theta[:, better], b[better]
            best[:, better], sse[better] = update, error[better]
            if len(p.kept) == k and b is free and better.all():
                return best, sse
    return best, sse


def pole_lstsq(
    base: Array,
    x: Array,
    targets: Array,
    nonnegative: Flags,
    *,
    pole_nonnegative: bool,
    pole_max: float,
) -> tuple[Array, Array, Array]:
    """Minimise ``|targets - base @ theta - b / (x - e)|**2`` over theta, b and the pole e.

    For a fixed e the problem is linear; e itself is searched on a grid over [0, pole_max],
    then by zooming in around the best grid point.

    Parameters
    ----------
    base
        Shape (n, k): the columns that do not depend on e.
    x
        Shape (n,), every value above pole_max.
    targets
        Shape (n, m): one problem per column.
    nonnegative
        Shape (k,), true for the base coefficients that must not be negative.
    pole_nonnegative
        Whether b must not be negative.
    pole_max
        Largest e allowed.

    Returns
    -------
    coefficients : ndarray, shape (k + 1, m)
        Theta, then b.
    e : ndarray, shape (m,)
    sse : ndarray, shape (m,)
        Sum of squared residuals at the optimum.
    """
    k, m = base.shape[1], targets.shape[1]
    problems = _reduce(base, targets, nonnegative)
    grid, every = np.linspace(0.0, pole_max, GRID)[None], np.arange(m)
    low, high = np.zeros(m), np.full(m, pole_max)
    while True:
        solved, errors = _solve_at(problems, 1 / (x[:, None, None] - grid), k, pole_nonnegative)
        best = errors.argmin(axis=1)
        e = np.broadcast_to(grid, errors.shape)[every, best]
        step = (high - low) / (grid.shape[1] - 1)
        if step.max() <= RESOLUTION:
            coefficients = solved[:, every, best]
            fitted = base @ coefficients[:-1] + coefficients[-1] / (x[:, None] - e)
            return coefficients, e, np.square(targets - fitted).sum(axis=0)
        low, high = np.maximum(e - step, 0.0), np.minimum(e + step, pole_max)
        grid = np.linspace(low, high, ZOOM, axis=1)
