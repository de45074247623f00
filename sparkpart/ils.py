"""Algorithm 2 of Gounaris et al. (TPDS 2017): iterated local search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from sparkpart import kernels
from sparkpart.dataflow import Dataflow, DataflowError
from sparkpart.greedy import ROUNDING, Search, found, start_of

__all__ = ["ils"]

MOST_TRIALS = 10**9


def ils(
    flow: Dataflow,
    *,
    bound: float,
    seed: int | Sequence[int],
    start: ArrayLike | None = None,
    m: int = 3,
    iter1: int = 100,
    iter2: int = 300,
    inner: Literal["total", "vertex"] = "total",
    objective: Literal["resource consumption", "running time"] = "resource consumption",
) -> Search:
    """Search by repeated perturbation and random local improvement.

    Each outer iteration gives m different vertices another degree, then tries iter2 times a
    random degree at a random vertex and keeps what lowers running time. The outcome replaces
    the plan if RC is lower and RT stays below the bound (Algorithm 1 admits a plan at it).

    Parameters
    ----------
    flow
        The data flow.
    bound
        Running time in seconds that the plan must stay below.
    seed
        Seed of all random choices, or several numbers; the same seed gives the same plan.
    start
        Plan to start from; the initial plan by default.
    m, iter1, iter2
        Perturbed vertices, outer and inner iterations; the paper's values by default.
    inner
        What the inner loop lowers: RT of the whole flow, or the own time of the vertex
        without repartitioning; the paper says only "improves RT".
    objective
        What the outer loop lowers; running time is the variant of Section 4.2.2.

    Returns
    -------
    Search
        Never worse in the objective than the start; a history per outer iteration.

    Raises
    ------
    DataflowError
        If the start exceeds the bound, or a number of iterations makes no sense.
    """
    for name, value, smallest in (("m", m, 1), ("iter1", iter1, 0), ("iter2", iter2, 0)):
        if not (isinstance(value, int | np.integer) and smallest <= value <= MOST_TRIALS):
            raise DataflowError(
                f"{name} is {value!r}; a whole number from {smallest} to {MOST_TRIALS} is needed"
            )
    if inner not in ("total", "vertex"):
        raise DataflowError(f"unknown inner test {inner!r}; choose 'total' or 'vertex'")
    if objective not in ("resource consumption", "running time"):
        raise DataflowError(
            f"unknown objective {objective!r}; choose 'resource consumption' or 'running time'"
        )
    places = start_of(flow, start, bound)
    least = ROUNDING * flow.running_time(flow.degrees[places])
    iter1 = iter1 if flow.movable.any() else 0
    history = kernels.ils(
        kernels.arrays(flow), places, bound, m, iter1, iter2,
        inner == "total", objective == "running time", least, np.random.default_rng(seed),
    )  # fmt: skip
    return found(flow, places, history, iter1 * (m + iter2))
