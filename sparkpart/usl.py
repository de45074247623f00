"""Equation 1, the Universal Scalability Law, and its map to the coefficients of Equation 2.

The paper prints ``T(1)/T(n) = n / (1 + sigma n + kappa n (n-1))``. At n = 1 that gives
``1/(1 + sigma)`` instead of 1: the law of Gunther et al. (Commun. ACM 58(4), 2015), which the
paper cites, has ``sigma (n-1)``. Both forms are a + b/n + c n; only the map differs.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["USL", "from_linear", "speedup", "to_linear"]

Form = Literal["printed", "gunther"]


class USL(NamedTuple):
    """Coefficients of the law.

    Attributes
    ----------
    t1
        The time scale T(1) in seconds.
    sigma
        Contention.
    kappa
        Incoherency.
    """

    t1: float
    sigma: float
    kappa: float


def _check(form: str) -> None:
    if form not in get_args(Form):
        raise ValueError(f"form is {form!r}; the forms are {', '.join(get_args(Form))}")


def to_linear(usl: USL, form: Form = "printed") -> dict[str, float]:
    """Return a, b and c of Equation 2 (s, s nodes, s per node) for the law's coefficients."""
    _check(form)
    t1, sigma, kappa = usl
    b = t1 if form == "printed" else t1 * (1 - sigma)
    return {"a": t1 * (sigma - kappa), "b": b, "c": t1 * kappa}


def from_linear(a: float, b: float, c: float, form: Form = "printed") -> USL:
    """Return the law's coefficients for those of Equation 2.

    Raises
    ------
    ValueError
        If the form is unknown, or the time scale, b in the printed form and a + b + c in
        Gunther's, is not positive.
    """
    _check(form)
    t1 = b if form == "printed" else a + b + c
    if not t1 > 0:
        raise ValueError(f"the time scale T(1) is {t1:g} s; the law needs it positive")
    kappa = c / t1
    return USL(t1, a / t1 + kappa, kappa)


def speedup(nodes: ArrayLike, usl: USL, form: Form = "printed") -> NDArray[np.float64]:
    """Return T(1)/T(n) at the node counts."""
    _check(form)
    n = np.asarray(nodes, dtype=float)
    contention = usl.sigma * (n if form == "printed" else n - 1)
    return np.asarray(n / (1 + contention + usl.kappa * n * (n - 1)))
