"""Running-time models of a Spark application as a function of the nodes it uses.

The models are those of Section 2 of Gounaris et al. (TPDS 2017), with the numbers of their
equations, and Ernest's model (Venkataraman et al., NSDI 2016) as an outside competitor.

========  =====================================  =======================
model     running time                           not negative ("stated")
========  =====================================  =======================
eq2       a + b/n + c n                          none stated
eq3       a + b/n + c n + d n^2                  a, b, d
eq4       a + b/(n-e) + c n + d n^2              a, b, d; 0 <= e <= e_max
eq5       a + b/n + b2/n^2 + c n + d n^2         a, b, b2, d
eq6       a + b/(s-e) + cs s + cr r + d s r      a, b, d; 0 <= e <= e_max
ernest    t0 + t1/n + t2 log(n) + t3 n           t0, t1, t2, t3
========  =====================================  =======================

``n`` counts nodes; in eq6, ``s`` and ``r`` count the sending and the receiving nodes of a
repartitioning. Times are in seconds. Equation 1, the USL, is eq2 with other names for its
coefficients: see `sparkpart.usl`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "MODELS",
    "FitError",
    "Model",
    "as_inputs",
    "as_numbers",
    "determined",
    "running_time",
    "spec_of",
]

Array = NDArray[np.float64]


class FitError(ValueError):
    """The running times cannot be fitted as asked; the message says why."""


@dataclass(frozen=True)
class Model:
    """A running-time model that is linear in its coefficients, except for the pole e.

    Attributes
    ----------
    name
        Key in `MODELS`.
    label
        Name for people.
    linear
        The linear coefficients, in the order of the columns of `design`.
    nonnegative
        The coefficients that must not be negative under the stated bounds.
    pole
        Whether the model has the term ``b / (n - e)``.
    inputs
        1 for a function of the node count, 2 for one of senders and receivers.
    design
        Maps node counts, shape (k, inputs), to the columns, shape (k, len(linear)).
    """

    name: str
    label: str
    linear: tuple[str, ...]
    nonnegative: frozenset[str]
    pole: bool
    inputs: int
    design: Callable[[Array], Array] = field(repr=False)

    @property
    def coefficients(self) -> tuple[str, ...]:
        """Names of all coefficients."""
        first, *rest = self.linear
        return (first, "b", *rest, "e") if self.pole else self.linear


def _columns(*terms: Callable[[Array], Array]) -> Callable[[Array], Array]:
    return lambda nodes: np.stack([term(nodes[:, 0]) for term in terms], axis=1)


def _eq6_columns(nodes: Array) -> Array:
    s, r = nodes.T
    return np.stack([np.ones_like(s), s, r, s * r], axis=1)


def _one(n: Array) -> Array:
    return np.ones_like(n)


def _same(n: Array) -> Array:
    return n


def _inverse(n: Array) -> Array:
    return 1 / n


_ABD = frozenset("abd")
_THETA = ("t0", "t1", "t2", "t3")

MODELS: Mapping[str, Model] = {
    model.name: model
    for model in (
        Model("eq2", "Eq. 1, 2", ("a", "b", "c"), frozenset(), False, 1,
              _columns(_one, _inverse, _same)),
        Model("eq3", "Eq. 3", ("a", "b", "c", "d"), _ABD, False, 1,
              _columns(_one, _inverse, _same, np.square)),
        Model("eq4", "Eq. 4", ("a", "c", "d"), _ABD, True, 1,
              _columns(_one, _same, np.square)),
        Model("eq5", "Eq. 5", ("a", "b", "b2", "c", "d"), _ABD | {"b2"}, False, 1,
              _columns(_one, _inverse, lambda n: n**-2, _same, np.square)),
        Model("eq6", "Eq. 6", ("a", "cs", "cr", "d"), _ABD, True, 2, _eq6_columns),
        Model("ernest", "Ernest", _THETA, frozenset(_THETA), False, 1,
              _columns(_one, _inverse, np.log, _same)),
    )
}  # fmt: skip


def running_time(model: str, nodes: ArrayLike, coefficients: Mapping[str, float]) -> Array:
    """Evaluate a model.

    Parameters
    ----------
    model
        Key of `MODELS`.
    nodes
        Node counts, shape (k,), or (k, 2) as senders and receivers for eq6.
    coefficients
        A value for every coefficient of the model.

    Returns
    -------
    ndarray, shape (k,)
        Running times in seconds.

    Raises
    ------
    FitError
        If a node count is not above the pole e, or above 0 where there is none, or is not a
        number, a coefficient is missing, or the shape does not suit the model.
    """
    spec = spec_of(model)
    x = as_inputs(spec, nodes)
    if missing := [name for name in spec.coefficients if name not in coefficients]:
        raise FitError(f"{spec.label} needs coefficient {missing[0]!r}; given: {[*coefficients]}")
    _check_counts(spec, x)
    e = coefficients["e"] if spec.pole else 0.0
    if (x[:, 0] <= e).any():
        raise FitError(f"{spec.label} has no value at {x[:, 0].min():g} nodes, only above {e:g}")
    total = spec.design(x) @ np.array([coefficients[name] for name in spec.linear])
    if spec.pole:
        total = total + coefficients["b"] / (x[:, 0] - e)
    return np.asarray(total)


def _check_counts(spec: Model, x: Array) -> None:
    """Refuse node counts that are not numbers, and receivers that are not positive."""
    for name, column in zip(("node count", "receiver count"), x.T, strict=False):
        wrong = ~np.isfinite(column) | ((column <= 0) & (name == "receiver count"))
        if wrong.any():
            row = int(wrong.argmax())
            raise FitError(f"{spec.label}: {name} at row {row} is {column[row]:g}; not allowed")


def spec_of(model: str) -> Model:
    """Return a model by its name.

    Raises
    ------
    FitError
        If there is no such model.
    """
    if model not in MODELS:
        raise FitError(f"unknown model {model!r}; the models are {', '.join(MODELS)}")
    return MODELS[model]


def as_numbers(name: str, values: ArrayLike) -> Array:
    """Return values as an array of their own.

    Raises
    ------
    FitError
        If they are not numbers.
    """
    try:
        if np.asarray(values).dtype.kind in "biuf":
            return np.array(values, dtype=float)
    except ValueError:
        pass
    raise FitError(f"{name} must be numbers, in rows of one length")


def as_inputs(spec: Model, nodes: ArrayLike) -> Array:
    """Return node counts as an array of shape (k, inputs).

    Raises
    ------
    FitError
        If the counts are not numbers or the shape does not suit the model.
    """
    x = as_numbers("node counts", nodes)
    x = x[:, None] if x.ndim == 1 else x
    if x.ndim != 2 or x.shape[1] != spec.inputs:
        wanted = "(k,)" if spec.inputs == 1 else "(k, 2)"
        raise FitError(f"{spec.label} takes node counts of shape {wanted}, not {np.shape(nodes)}")
    return x


def determined(spec: Model, nodes: Array) -> bool:
    """Whether the distinct node counts determine every coefficient."""
    distinct = np.unique(nodes, axis=0)
    if len(distinct) < len(spec.coefficients):
        return False
    columns = spec.design(distinct)
    if spec.pole:
        inverse = 1 / distinct[:, :1]
        columns = np.hstack([columns, inverse, inverse**2])
    return bool(
        np.linalg.matrix_rank(columns / np.linalg.norm(columns, axis=0)) == columns.shape[1]
    )
