"""Fit running-time models: global least squares, left-out errors, bootstrap intervals.

The models are those of `sparkpart.models`. A fit is the global least-squares optimum under the
bounds stated in Section 2.3 of Gounaris et al. (TPDS 2017), or with free signs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from sparkpart.leastsquares import bounded_lstsq, pole_lstsq
from sparkpart.models import (
    MODELS,
    FitError,
    Model,
    as_inputs,
    as_numbers,
    determined,
    running_time,
    spec_of,
)

__all__ = [
    "MODELS",
    "Bootstrap",
    "Bounds",
    "Fit",
    "FitError",
    "Model",
    "compare",
    "fit",
    "running_time",
]

Array = NDArray[np.float64]
Bounds = Literal["stated", "none"]

SMALLEST, LARGEST = 1e-30, 1e30
"""Range of node counts and times, so that no square overflows or vanishes."""

NOISE = 1e-10
"""Prediction errors below this part of the largest time are rounding."""


@dataclass(frozen=True, eq=False)
class Bootstrap:
    """Coefficients refitted to resampled residuals, one column per resample.

    Attributes
    ----------
    model
        Key of `MODELS`.
    coefficients
        One row per resample, one column per coefficient.
    """

    model: str
    coefficients: pd.DataFrame

    def interval(self, level: float = 0.95) -> pd.DataFrame:
        """Return the percentile interval of each coefficient: columns ``low`` and ``high``."""
        tail = _tail(level)
        bounds = self.coefficients.quantile([tail, 1 - tail]).T
        return bounds.set_axis(["low", "high"], axis=1)

    def band(self, nodes: ArrayLike, level: float = 0.95) -> pd.DataFrame:
        """Return the pointwise percentile band of the running time in seconds at the nodes."""
        tail = _tail(level)
        names = MODELS[self.model].coefficients
        rows = self.coefficients.to_numpy()
        curves = [running_time(self.model, nodes, dict(zip(names, r, strict=True))) for r in rows]
        low, high = np.quantile(curves, [tail, 1 - tail], axis=0)
        return _frame(as_inputs(MODELS[self.model], nodes)).assign(low=low, high=high)


@dataclass(frozen=True, eq=False)
class Fit:
    """A model fitted to running times.

    Attributes
    ----------
    model
        Key of `MODELS`.
    bounds
        "stated" or "none".
    nodes, seconds
        The data: shapes (k, inputs) and (k,).
    coefficients
        The global least-squares optimum.
    sse
        Sum of squared errors, in s^2.
    r2
        Coefficient of determination; NaN if all times are equal.
    active
        Coefficients that lie on a bound.
    e_max
        Largest pole e that was allowed.
    """

    model: str
    bounds: Bounds
    nodes: Array
    seconds: Array
    coefficients: dict[str, float]
    sse: float
    r2: float
    active: tuple[str, ...]
    e_max: float

    def predict(self, nodes: ArrayLike) -> Array:
        """Return the running times in seconds at the node counts."""
        return running_time(self.model, nodes, self.coefficients)

    @cached_property
    def leave_one_out(self) -> pd.DataFrame:
        """Each time as predicted without any run at its node count.

        Columns: ``nodes`` (and ``receivers`` for eq6), ``seconds``, ``predicted``. The
        prediction is NaN where the rest does not determine the model.
        """
        _, group = np.unique(self.nodes, axis=0, return_inverse=True)
        predicted = np.full(len(self.seconds), np.nan)
        for left_out in range(group.max() + 1):
            test = group == left_out
            if determined(MODELS[self.model], self.nodes[~test]):
                rest = _solve(self._restricted(~test), self.seconds[~test, None])
                names = MODELS[self.model].coefficients
                coefficients = dict(zip(names, rest[0][:, 0], strict=True))
                predicted[test] = running_time(self.model, self.nodes[test], coefficients)
        return _frame(self.nodes).assign(seconds=self.seconds, predicted=predicted)

    @property
    def loo_rmse(self) -> float:
        """Root mean square error of `leave_one_out` in seconds; NaN if any is missing."""
        table = self.leave_one_out
        error = (table["predicted"] - table["seconds"]).to_numpy()
        return float(np.sqrt(np.mean(np.square(error))))

    def bootstrap(self, resamples: int = 1000, *, seed: int) -> Bootstrap:
        """Refit to the fitted curve plus resampled residuals.

        The residuals are centred and scaled by ``sqrt(k / (k - p))`` for k times and p
        coefficients, to undo their shrinkage by the fit; with k = p they are zero.

        Parameters
        ----------
        resamples
            Number of refits.
        seed
            Seed of the resampling; the same seed gives the same bits.

        Raises
        ------
        FitError
            If there are no resamples, or the seed is negative.
        """
        if resamples < 1:
            raise FitError(f"resamples is {resamples}; at least 1 is needed")
        if seed < 0:
            raise FitError(f"seed is {seed}; at least 0 is needed")
        k, p = len(self.seconds), len(MODELS[self.model].coefficients)
        curve = self.predict(self.nodes)
        residuals = self.seconds - curve
        residuals = (residuals - residuals.mean()) * np.sqrt(k / max(k - p, 1))
        draws = np.random.default_rng(seed).choice(residuals, size=(k, resamples))
        solved, _ = _solve(self._restricted(slice(None)), curve[:, None] + draws)
        names = list(MODELS[self.model].coefficients)
        return Bootstrap(self.model, pd.DataFrame(solved.T, columns=names))

    def _restricted(self, rows: slice | NDArray[np.bool_]) -> _Problem:
        return _Problem(MODELS[self.model], self.nodes[rows], self.bounds, self.e_max)


@dataclass(frozen=True, eq=False)
class _Problem:
    """What a fit depends on besides the times."""

    spec: Model
    nodes: Array
    bounds: Bounds
    e_max: float


def _solve(problem: _Problem, targets: Array) -> tuple[Array, Array]:
    """Return the coefficients, in the order of `Model.coefficients`, and the SSE."""
    spec = problem.spec
    base = spec.design(problem.nodes)
    bounded = spec.nonnegative if problem.bounds == "stated" else frozenset()
    signs = np.array([name in bounded for name in spec.linear])
    if not spec.pole:
        return bounded_lstsq(base, targets, signs)
    theta, e, sse = pole_lstsq(
        base, problem.nodes[:, 0], targets, signs,
        pole_nonnegative="b" in bounded, pole_max=problem.e_max,
    )  # fmt: skip
    return np.vstack([theta[:1], theta[-1:], theta[1:-1], e]), sse


def _tail(level: float) -> float:
    if not 0 < level < 1:
        raise FitError(f"level is {level}; it must lie between 0 and 1")
    return (1 - level) / 2


def _frame(nodes: Array) -> pd.DataFrame:
    return pd.DataFrame(nodes, columns=["nodes", "receivers"][: nodes.shape[1]])


def _check_values(name: str, values: Array) -> None:
    wrong = ~((values >= SMALLEST) & (values <= LARGEST))
    if wrong.any():
        row = int(np.argwhere(wrong)[0][0])
        raise FitError(
            f"{name} at row {row} is {values[wrong][0]}; "
            f"it must be > 0, within {SMALLEST:g} and {LARGEST:g}"
        )


def _checked(spec: Model, nodes: ArrayLike, seconds: ArrayLike) -> tuple[Array, Array]:
    x, y = as_inputs(spec, nodes), as_numbers("running times", seconds)
    if y.shape != x.shape[:1]:
        raise FitError(f"{len(x)} node counts but running times of shape {y.shape}")
    _check_values("node count", x)
    _check_values("running time", y)
    if not determined(spec, x):
        count = len(np.unique(x, axis=0))
        few = count < len(spec.coefficients) or spec.inputs > 1
        why = "do not" if few else "are too close together to"
        raise FitError(
            f"{spec.label} has {len(spec.coefficients)} coefficients; "
            f"{count} distinct node counts {why} determine them"
        )
    return x, y


def fit(
    nodes: ArrayLike,
    seconds: ArrayLike,
    model: str,
    bounds: Bounds = "stated",
    *,
    e_max: float | None = None,
) -> Fit:
    """Fit a running-time model by least squares; the optimum is global.

    Parameters
    ----------
    nodes
        Node counts, shape (k,), or (k, 2) as senders and receivers for eq6. Repeated counts
        are repeated runs, each with the same weight.
    seconds
        Running times, shape (k,), positive.
    model
        Key of `MODELS`.
    bounds
        "stated": the sign bounds of Section 2.3; "none": signs are free. The range of e
        holds in both cases, because a pole inside the data has no meaning.
    e_max
        Upper bound of e in eq4 and eq6; by default the least node count minus one, as the
        paper has it. It must lie below the least node count.

    Returns
    -------
    Fit

    Raises
    ------
    FitError
        If the model is unknown, a value is not allowed, or there are fewer
        distinct node counts than coefficients.
    """
    spec = spec_of(model)
    if bounds not in ("stated", "none"):
        raise FitError(f"bounds are 'stated' or 'none', not {bounds!r}")
    x, y = _checked(spec, nodes, seconds)
    limit = float(max(x[:, 0].min() - 1, 0) if e_max is None else e_max)
    if not 0 <= limit < x[:, 0].min():
        raise FitError(f"e_max is {limit:g}; it must lie in [0, {x[:, 0].min():g})")
    solved, sse = _solve(_Problem(spec, x, bounds, limit), y[:, None])
    coefficients = dict(zip(spec.coefficients, solved[:, 0].tolist(), strict=True))
    total = float(np.square(y - y.mean()).sum())
    r2 = 1 - float(sse[0]) / total if np.ptp(y) > 0 else float("nan")
    active = _active(spec, coefficients, bounds, limit)
    return Fit(model, bounds, x, y, coefficients, float(sse[0]), r2, active, limit)


def _active(
    spec: Model, coefficients: Mapping[str, float], bounds: Bounds, e_max: float
) -> tuple[str, ...]:
    bounded = spec.nonnegative if bounds == "stated" else frozenset()
    zero = [name for name in spec.coefficients if name in bounded and coefficients[name] == 0]
    at_end = spec.pole and min(coefficients["e"], e_max - coefficients["e"]) < 1e-9
    return (*zero, "e") if at_end else tuple(zero)


def compare(
    nodes: ArrayLike,
    seconds: ArrayLike,
    models: tuple[str, ...] = ("eq2", "eq3", "eq4", "eq5", "ernest"),
    bounds: Bounds = "stated",
) -> dict[str, Fit]:
    """Fit several models, the one that best predicts left-out node counts first.

    Models that the data do not determine are left out of the answer; those whose
    leave-one-out error is undefined come last. Errors that are rounding count as zero, and
    models with equal errors keep their order.

    Raises
    ------
    FitError
        If no model is given, a model is unknown, a value is not allowed, or no model can be
        fitted.
    """
    if not models:
        raise FitError(f"no model is given; the models are {', '.join(MODELS)}")
    inputs = {m: as_inputs(spec_of(m), nodes) for m in models}
    for x in inputs.values():
        _check_values("node count", x)
    usable = [m for m, x in inputs.items() if determined(spec_of(m), x)]
    fits = {m: fit(nodes, seconds, m, bounds) for m in usable or models}
    noise = NOISE * float(np.max(np.asarray(seconds, dtype=float)))

    def error(item: tuple[str, Fit]) -> float:
        rmse = item[1].loo_rmse
        return float("inf") if np.isnan(rmse) else rmse * (rmse > noise)

    return dict(sorted(fits.items(), key=error))
