"""The least resource consumption under a bound on running time, proved, and the whole front.

Trees are solved by dynamic programming over labels: all pairs (RT, RC) of a subtree that
nothing else beats. Other graphs are solved as mixed-integer programs by HiGHS. The Lagrangian
relaxation of the bound, solved exactly by `sparkpart.fastest`, gives a lower limit in
milliseconds, and prunes the labels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sparkpart.dataflow import Dataflow, DataflowError, Plan
from sparkpart.fastest import TooWideError, costs_of, eliminate, fastest, is_forest
from sparkpart.greedy import ROUNDING, Greedy, greedy
from sparkpart.labels import Limit, tree_labels
from sparkpart.program import solve, unit_of

__all__ = ["Optimum", "front", "lower_limit", "optimum"]

Array = NDArray[np.float64]

TOLERANCE = 1e-6
"""Part of the unit of time (a second, or a bound below it) by which HiGHS may exceed a bound."""


@dataclass(frozen=True, eq=False)
class Optimum:
    """A plan and how far from the optimum it can be at most.

    Attributes
    ----------
    plan
        A degree per vertex.
    running_time
        RT in seconds.
    resource_consumption
        RC in node seconds.
    limit
        No plan within the bound has a lower RC than this.
    method
        "elimination" (the bound does not bind), "labels" (dynamic programming on trees) or
        "milp" (HiGHS).
    """

    plan: Plan
    running_time: float
    resource_consumption: float
    limit: float
    method: str

    @property
    def gap(self) -> float:
        """By which part of RC the limit is lower; 0 up to rounding is a proof of optimality."""
        if self.resource_consumption == 0:
            return 0.0
        return max(0.0, 1 - self.limit / self.resource_consumption)

    @property
    def proven(self) -> bool:
        """Whether the plan is proved to be optimal, to a millionth of its RC."""
        return self.gap < 1e-6


def optimum(
    flow: Dataflow,
    *,
    bound: float,
    method: Literal["auto", "labels", "milp"] = "auto",
    time_limit: float = 60.0,
) -> Optimum:
    """Return the plan of least resource consumption within a bound on running time.

    Parameters
    ----------
    flow
        The data flow.
    bound
        Largest running time in seconds, as from `Dataflow.bound`; may be infinite.
    method
        "labels" for flows whose vertices with a choice form trees, "milp" for any; "auto"
        takes the fastest that suits.
    time_limit
        Seconds that HiGHS may take; the best plan by then is returned with its gap.

    Raises
    ------
    DataflowError
        If no plan keeps the bound, none was found in time, or labels are asked for on a
        graph that is no forest.
    """
    if method not in ("auto", "labels", "milp"):
        raise DataflowError(f"unknown method {method!r}; choose 'auto', 'labels' or 'milp'")
    relaxed = _relaxed(flow, bound)
    if method == "auto" and relaxed.plan is not None and relaxed.multiplier == 0:
        return _optimum(flow, relaxed.plan, relaxed.limit, "elimination")
    tree = is_forest(costs_of(flow, 1.0, 0.0))
    if method == "labels" and not tree:
        raise DataflowError("labels solve trees only; this graph needs method 'milp'")
    if tree and method != "milp":
        try:
            return _by_labels(flow, bound, relaxed)
        except TooWideError:
            if method == "labels":
                raise
    return _by_program(flow, bound, relaxed, time_limit)


def lower_limit(flow: Dataflow, *, bound: float) -> float:
    """Return an RC in node seconds that no plan within the bound can fall below.

    The Lagrangian relaxation of the bound; in milliseconds even where `optimum` takes long.

    Raises
    ------
    DataflowError
        If no plan keeps the bound.
    TooWideError
        If too many vertices hang together.
    """
    relaxed = _relaxed(flow, bound)
    if relaxed.plan is None:
        eliminate(costs_of(flow, 1.0, 0.0))
    return relaxed.limit


class _Relaxed(NamedTuple):
    """The best plan known, the limit of the Lagrangian, and its multiplier (nodes)."""

    plan: Plan | None
    limit: float
    multiplier: float


def _relaxed(flow: Dataflow, bound: float) -> _Relaxed:
    """Solve the Lagrangian relaxation; without a plan where the graph is too wide for it."""
    if np.isnan(bound):
        raise DataflowError("the bound is not a number")
    try:
        fast, cheap = fastest(flow), flow.degrees[eliminate(costs_of(flow, 0.0, 1.0))[1]]
    except TooWideError:
        return _Relaxed(None, -np.inf, 0.0)
    if flow.running_time(fast) > bound * (1 + ROUNDING):
        least = flow.running_time(fast)
        raise DataflowError(
            f"no plan keeps the bound of {bound:g} s: the fastest takes {least:g} s"
        )
    if flow.running_time(cheap) <= bound:
        return _Relaxed(cheap, flow.resource_consumption(cheap), 0.0)
    inside, limit, multiplier = _multiplier(flow, bound, fast, cheap)
    return _Relaxed(_best_known(flow, bound, inside), limit, multiplier)


def _multiplier(flow: Dataflow, bound: float, fast: Plan, cheap: Plan) -> tuple[Plan, float, float]:
    """Find the corner of the lower convex hull of the front at the bound.

    ``fast`` keeps the bound and ``cheap`` does not; the plan that is least along the line
    between them replaces one of them until none lies below the line.
    """
    inside, outside = _totals(flow, fast), _totals(flow, cheap)
    while True:
        multiplier = (inside[1] - outside[1]) / (outside[0] - inside[0])
        least, places = eliminate(costs_of(flow, multiplier, 1.0))
        plan = flow.degrees[places]
        new = _totals(flow, plan)
        if least >= (inside[1] + multiplier * inside[0]) * (1 - ROUNDING):
            return fast, least - multiplier * bound, multiplier
        if new[0] <= bound:
            fast, inside = plan, new
        else:
            outside = new


def _totals(flow: Dataflow, plan: Plan) -> tuple[float, float]:
    return flow.running_time(plan), flow.resource_consumption(plan)


def _best_known(flow: Dataflow, bound: float, plan: Plan) -> Plan:
    """Improve a plan within the bound by every greedy technique; return the best."""
    tried = [greedy(flow, how, bound=bound, start=plan) for how in get_args(Greedy)]
    if flow.running_time(flow.initial) <= bound:
        tried += [greedy(flow, how, bound=bound) for how in get_args(Greedy)]
    return min(tried, key=lambda search: search.resource_consumption).plan


def _optimum(flow: Dataflow, plan: Plan, limit: float, method: str) -> Optimum:
    time, consumption = _totals(flow, plan)
    return Optimum(plan, time, consumption, min(limit, consumption), method)


def _by_labels(flow: Dataflow, bound: float, relaxed: _Relaxed) -> Optimum:
    time, consumption = costs_of(flow, 1.0, 0.0), costs_of(flow, 0.0, 1.0)
    limits = [Limit(1.0, 0.0, bound)] if np.isfinite(bound) else []
    if relaxed.plan is not None:
        most = flow.resource_consumption(relaxed.plan)
        if np.isfinite(bound):
            most += relaxed.multiplier * bound
        limits.append(Limit(relaxed.multiplier, 1.0, most))
    last = tree_labels(time, consumption, limits).plan[-1]
    places = [choices[k] for choices, k in zip(time.choices, last, strict=True)]
    plan = flow.degrees[places]
    return _optimum(flow, plan, flow.resource_consumption(plan), "labels")


def _by_program(flow: Dataflow, bound: float, relaxed: _Relaxed, seconds: float) -> Optimum:
    """Solve by HiGHS; keep the best plan known if it finds none better in time."""
    time, consumption = costs_of(flow, 1.0, 0.0), costs_of(flow, 0.0, 1.0)
    plans, most = [], np.inf
    if relaxed.plan is not None:
        plans, most = [relaxed.plan], flow.resource_consumption(relaxed.plan) * (1 + TOLERANCE)
    solution = solve(time, consumption, bound, most=most, seconds=seconds)
    if solution.places is not None and not _keeps(flow, flow.degrees[solution.places], bound):
        tight = bound - 2 * TOLERANCE * unit_of(bound)
        tighter = solve(time, consumption, tight, most=most, seconds=seconds)
        solution = solution._replace(places=tighter.places)
    if solution.places is not None and _keeps(flow, flow.degrees[solution.places], bound):
        plans.append(flow.degrees[solution.places])
    if not plans:
        known = "no plan keeps" if solution.limit == np.inf else "no plan was found in time for"
        raise DataflowError(f"{known} the bound of {bound:g} s")
    plan = min(plans, key=flow.resource_consumption)
    return _optimum(flow, plan, max(solution.limit, relaxed.limit), "milp")


def _keeps(flow: Dataflow, plan: Plan, bound: float) -> bool:
    return flow.running_time(plan) <= bound * (1 + ROUNDING)


def front(
    flow: Dataflow,
    *,
    points: int | None = None,
    time_limit: float = 60.0,
    progress: Callable[[list[float]], Iterable[float]] = list,
) -> pd.DataFrame:
    """Return the Pareto front: plans of which no other has less RT and no more RC.

    Parameters
    ----------
    flow
        The data flow.
    points
        Without it the whole front, by labels, for flows whose vertices with a choice form
        trees. With it, an epsilon-constraint sweep for any flow: the optimum at so many
        bounds, evenly spread from the least RT to the RT of the least RC. There may be
        others between them, and of plans with equal RC not always the one of least RT.
    time_limit
        Seconds for each point of a sweep that HiGHS solves.
    progress
        Wraps the bounds of a sweep while it goes through them, as tqdm does.

    Returns
    -------
    DataFrame
        ``running_time`` ascending (s), ``resource_consumption`` (node s), ``gap`` (0 for
        labels), and ``plan``, a tuple with a degree per vertex.

    Raises
    ------
    DataflowError
        If the whole front is asked for on a graph that is no forest.
    TooWideError
        If the whole front needs too many labels; a sweep does not.
    """
    if points is not None:
        return _sweep(flow, points, time_limit, progress)
    time, consumption = costs_of(flow, 1.0, 0.0), costs_of(flow, 0.0, 1.0)
    if not is_forest(time):
        raise DataflowError("the whole front is for trees only; give a number of points")
    ends = flow.degrees[eliminate(consumption)[1]], fastest(flow)
    limits = [
        Limit(1.0, 0.0, flow.running_time(ends[0])),
        Limit(0.0, 1.0, flow.resource_consumption(ends[1])),
    ]
    labels = tree_labels(time, consumption, limits)
    choices = zip(time.choices, labels.plan.T, strict=True)
    plans = np.array([flow.degrees[c[column]] for c, column in choices]).T
    return pd.DataFrame(
        {
            "running_time": labels.time,
            "resource_consumption": labels.consumption,
            "gap": 0.0,
            "plan": [tuple(plan) for plan in plans.tolist()],
        }
    )


def _fastest(flow: Dataflow, time_limit: float) -> Plan:
    """Return the fastest plan; by HiGHS where too many vertices hang together."""
    try:
        return fastest(flow)
    except TooWideError:
        time = costs_of(flow, 1.0, 0.0)
        places = solve(time, time, np.inf, seconds=time_limit).places
        return flow.initial if places is None else flow.degrees[places]


def _sweep(
    flow: Dataflow,
    points: int,
    time_limit: float,
    progress: Callable[[list[float]], Iterable[float]],
) -> pd.DataFrame:
    if points < 2:
        raise DataflowError(f"points is {points}; at least 2 are needed")
    cheap = optimum(flow, bound=np.inf, time_limit=time_limit)
    least = flow.running_time(_fastest(flow, time_limit))
    bounds = np.linspace(least, max(least, cheap.running_time), points).tolist()
    rows = [optimum(flow, bound=bound, time_limit=time_limit) for bound in progress(bounds)]
    table = pd.DataFrame(
        {
            "running_time": [row.running_time for row in rows],
            "resource_consumption": [row.resource_consumption for row in rows],
            "gap": [row.gap for row in rows],
            "plan": [tuple(row.plan.tolist()) for row in rows],
        }
    )
    table = table.sort_values(["running_time", "resource_consumption"], kind="stable")
    before = table["resource_consumption"].cummin().shift(fill_value=np.inf)
    cheaper = table["resource_consumption"] < before * (1 - ROUNDING)
    return table[cheaper].reset_index(drop=True)
