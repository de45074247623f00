"""Algorithm 1 of Gounaris et al. (TPDS 2017): greedy choice of the degrees of partitioning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from sparkpart import kernels
from sparkpart.dataflow import Dataflow, DataflowError, Plan

__all__ = ["Greedy", "Search", "found", "greedy", "start_of"]

Greedy = Literal["G-local", "G-ext", "G-full"]

ROUNDING = 1e-12
"""Part of a total that is taken for an error of rounding."""


@dataclass(frozen=True, eq=False)
class Search:
    """What a search found.

    Attributes
    ----------
    plan
        A degree per vertex.
    running_time
        RT of the plan in seconds.
    resource_consumption
        RC of the plan in node seconds.
    totals
        RT and RC at the start and after each round, shape (rounds + 1, 2).
    valued
        How many changes of the degree of one vertex were valued: the work of the search.
    steps
        Name of the vertex and degree that each round of `greedy` changed first.
    """

    plan: Plan
    running_time: float
    resource_consumption: float
    totals: NDArray[np.float64]
    valued: int
    steps: tuple[tuple[str, int], ...] = ()

    @property
    def history(self) -> pd.DataFrame:
        """The search round by round.

        Columns: ``running_time``, ``resource_consumption``, and after `greedy` ``vertex``
        and ``degree``; the first row is the start.
        """
        table = pd.DataFrame(self.totals, columns=["running_time", "resource_consumption"])
        if self.steps:
            table["vertex"] = [None, *(vertex for vertex, _ in self.steps)]
            table["degree"] = pd.array([pd.NA, *(d for _, d in self.steps)], dtype="Int64")
        return table


def greedy(
    flow: Dataflow,
    technique: Greedy = "G-full",
    *,
    bound: float,
    start: ArrayLike | None = None,
) -> Search:
    """Lower resource consumption by the most beneficial change of degree, round by round.

    The benefit of a change is by how much RC falls. G-local changes one vertex. G-ext goes
    on to its children in the dependency graph, and to theirs, as long as each lowers RC
    further. G-full changes all vertices downstream in the dependency graph too (but those
    that do not allow the degree). A change is admitted if RT stays within the bound. There
    are at most as many rounds as vertices, and none after a round that found no benefit. Of
    equal benefits the first counts, by vertex in the order of processing, then by degree.

    Parameters
    ----------
    flow
        The data flow.
    technique
        "G-local", "G-ext" or "G-full".
    bound
        Largest running time in seconds, as from `Dataflow.bound`; may be infinite.
    start
        Plan to start from; the initial plan by default.

    Returns
    -------
    Search
        Never with more RC than the start.

    Raises
    ------
    DataflowError
        If the technique is unknown, or the start exceeds the bound.
    """
    if technique not in get_args(Greedy):
        raise DataflowError(f"unknown technique {technique!r}; choose from {get_args(Greedy)}")
    places = start_of(flow, start, bound)
    least = ROUNDING * flow.resource_consumption(flow.degrees[places])
    how = (kernels.LOCAL, kernels.EXT, kernels.FULL)[get_args(Greedy).index(technique)]
    steps, history, valued = kernels.greedy(
        kernels.arrays(flow), places, bound * (1 + ROUNDING), how, len(places), least
    )
    return found(flow, places, history, valued, steps)


def start_of(flow: Dataflow, start: ArrayLike | None, bound: float) -> NDArray[np.int64]:
    """Return the places of a starting plan.

    Raises
    ------
    DataflowError
        If it exceeds the bound, or the bound is not a number.
    """
    plan = flow.initial if start is None else np.asarray(start)
    places = flow.indices(plan)
    time = flow.running_time(plan)
    if not time <= bound * (1 + ROUNDING):
        raise DataflowError(
            f"the plan to start from takes {time:g} s, above the bound of {bound:g} s"
        )
    return places


def found(
    flow: Dataflow,
    places: NDArray[np.int64],
    totals: NDArray[np.float64],
    valued: int,
    steps: NDArray[np.int64] | None = None,
) -> Search:
    """Return the result of a compiled search.

    Parameters
    ----------
    flow
        The flow.
    places
        The plan, as places in `Dataflow.degrees`.
    totals, valued
        As in `Search`.
    steps
        Vertex and place of the degree of each round.
    """
    named = () if steps is None else tuple((flow.names[v], int(flow.degrees[j])) for v, j in steps)
    time, consumption = totals[-1].tolist()
    return Search(flow.degrees[places], time, consumption, totals, valued, named)
