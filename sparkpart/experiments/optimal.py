"""The exact optimum beside the paper's techniques, and the paper's remarks in passing."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import lru_cache, partial
from itertools import product
from typing import get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sparkpart.dataflow import Dataflow, Edge, Vertex
from sparkpart.exact import front, optimum
from sparkpart.experiments.synthetic import (
    EPSILONS,
    REPEATS,
    SHAPES,
    Scale,
    Shape,
    drawn,
    each_shape,
    improvements,
    plans,
    table3,
)  # fmt: skip
from sparkpart.fastest import costs_of, eliminate
from sparkpart.greedy import Greedy, greedy
from sparkpart.ils import ils
from sparkpart.instances import SIZES, Choices

Array = NDArray[np.float64]

__all__ = [
    "figure12", "fronts", "hardness", "ils_at_its_time", "one_shot_benefits", "open_choices",
    "optimality_gaps", "plans_counted", "search_times", "searches_valued",
]  # fmt: skip

GENERAL = ("D", "E")
GENERAL_REPEATS = {"quick": 1, "paper": 20}
"""Repeats with a proved optimum on graphs that are no trees."""
SWEEP = 25
"""Points of a front by an epsilon-constraint sweep."""

VARIANTS: dict[str, dict[str, str | float]] = {
    "as stated": {},
    "profiles of Eq. 4": {"equation": "eq4"},
    "Eq. 4 as printed": {"equation": "eq4", "version": "printed"},
    "one factor a vertex": {"factor": "vertex"},
    "sources cost nothing": {"sources": "free"},
    "times clipped at 1 s": {"nonpositive": "clip"},
    "repartitioning in the dependency graph": {"repartition": "dependencies"},
    "e of Eq. 6 is 7": {"pole": 7.0},
    "degrees as measured": {"degrees": "as measured"},
    "other shapes": {"shapes": "second"},
    "ILS tests the vertex alone": {"inner": "vertex"},
    "Eq. 4 as printed, clipped": {"equation": "eq4", "version": "printed", "nonpositive": "clip"},
}
"""Open choices, each changed by itself, and one combination."""


def open_choices(scale: Scale = "quick", seed: int = 0) -> pd.DataFrame:
    """Compute Table 3 under each open choice of Section 4.2, changed one at a time.

    Parameters
    ----------
    scale
        "paper" for 100 repeats, "quick" for 5.
    seed
        Seed of the instances.

    Returns
    -------
    DataFrame
        For each ``variant`` and cell the columns of `sparkpart.experiments.table3`: ``eps``,
        ``dag_size``, ``dag_type``; ``paper_average``, ``paper_stdev``, ``paper_technique``,
        ``paper_max``; ``average``, ``stdev``, ``standard_error``, ``technique``, ``max``,
        ``max_technique``; ``difference``, ``z``, ``same_technique``, ``ratio``,
        ``stdev_ratio``, ``max_ratio``.
    """
    parts = [
        table3(scale, seed, tuple(changed.items())).assign(variant=name)
        for name, changed in VARIANTS.items()
    ]
    return pd.concat(parts, ignore_index=True)


def _gaps(
    shape: Shape, trees: int, general: int, seed: int, slacks: tuple[float, ...]
) -> pd.DataFrame:
    rows = []
    for repeat in range(general if shape.dag_type in GENERAL else trees):
        flow = drawn(shape, repeat, seed, Choices()).flow()
        rc = flow.resource_consumption(flow.initial)
        for slack in slacks:
            best = optimum(flow, bound=flow.bound(slack))
            searched = plans(flow, 1 + slack, repeat, Choices())
            used = best.running_time / flow.running_time(flow.initial)
            for name, plan in searched.items():
                gap = flow.resource_consumption(plan) / best.resource_consumption - 1
                rows.append(
                    (*shape, slack, repeat, name, gap, rc / best.resource_consumption, used,
                     best.method, best.proven)
                )  # fmt: skip
    columns = ["dag_type", "dag_size", "slack", "repeat", "technique", "gap", "improvement",
               "slowdown", "method", "proven"]  # fmt: skip
    return pd.DataFrame(rows, columns=columns)


@lru_cache(maxsize=2)
def _gap_runs(trees: int, general: int, seed: int) -> pd.DataFrame:
    slacks = (0.0, *(round(epsilon - 1, 6) for epsilon in EPSILONS))
    return each_shape(_gaps, SHAPES, trees, general, seed, slacks)


def optimality_gaps(
    scale: Scale = "quick", seed: int = 0, general_repeats: int | None = None
) -> pd.DataFrame:
    """Measure how far each technique is from the exact optimum under the same bound.

    Parameters
    ----------
    scale
        "paper" for 100 repeats on trees (A, B, C) and 20 on general graphs (D, E); "quick"
        for 5 and 1.
    seed
        Seed of the instances.
    general_repeats
        Repeats on general graphs, if others than these; about a second each for large ones.

    Returns
    -------
    DataFrame
        ``dag_type``, ``dag_size``, ``slack``, ``technique``; ``gap``, the average part by
        which RC is above the optimum, ``gap_error``, its standard error, ``worst`` the
        greatest; ``optimal``, the part of repeats that reach the optimum; ``improvement``
        and ``slowdown`` of the optimum itself; ``repeats``, and ``proven``, the part of them
        whose optimum is proved.
    """
    general = GENERAL_REPEATS[scale] if general_repeats is None else general_repeats
    table = _gap_runs(REPEATS[scale], general, seed)
    table = table.assign(optimal=table["gap"] < 1e-6)
    groups = table.groupby(["slack", "dag_size", "dag_type", "technique"], sort=False)
    fields = ["gap", "optimal", "improvement", "slowdown", "proven"]
    result = groups[fields].mean()
    gap = groups["gap"]
    result = result.assign(gap_error=gap.sem(), worst=gap.max(), repeats=groups.size())
    return result.reset_index()


def _ils_at(shape: Shape, repeats: int, seed: int) -> pd.DataFrame:
    rows = []
    for repeat in range(repeats):
        flow = drawn(shape, repeat, seed, Choices()).flow()
        found = ils(flow, bound=flow.bound(0.1), seed=repeat)
        rt, rc = flow.running_time(flow.initial), flow.resource_consumption(flow.initial)
        best = optimum(flow, bound=found.running_time)
        rows.append(
            (*shape, repeat, found.running_time / rt, rc / found.resource_consumption,
             rc / best.resource_consumption,
             found.resource_consumption / best.resource_consumption - 1)
        )  # fmt: skip
    columns = ["dag_type", "dag_size", "repeat", "slowdown", "improvement", "optimum", "gap"]
    return pd.DataFrame(rows, columns=columns)


def ils_at_its_time(scale: Scale = "quick", seed: int = 0) -> pd.DataFrame:
    """Judge the iterated local search at the running time that it ends with.

    It hardly uses the slack; so the optimum is taken under the RT of its plan as the bound.
    On trees only, at a slack of 10 %.

    Parameters
    ----------
    scale
        "paper" for 100 repeats, "quick" for 5.
    seed
        Seed of the instances.

    Returns
    -------
    DataFrame
        ``dag_type``, ``dag_size``; averages ``slowdown`` and ``improvement`` of the search,
        ``optimum``, the improvement possible in the same RT, and ``gap``, the part by which
        the search's RC is above it; ``gap_error``.
    """
    trees = [shape for shape in SHAPES if shape.dag_type not in GENERAL]
    parts = each_shape(_ils_at, trees, REPEATS[scale], seed)
    groups = parts.groupby(["dag_size", "dag_type"], sort=False)
    result = groups[["slowdown", "improvement", "optimum", "gap"]].mean()
    return result.assign(gap_error=groups["gap"].sem()).reset_index()


def _front_of(shape: Shape, seed: int) -> pd.DataFrame:
    flow = drawn(shape, 0, seed, Choices()).flow()
    rt, rc = flow.running_time(flow.initial), flow.resource_consumption(flow.initial)
    points = SWEEP if shape.dag_type in GENERAL else None
    table = front(flow, points=points)[["running_time", "resource_consumption"]]
    parts = [table.assign(technique="optimum", eps=np.nan)]
    for epsilon in EPSILONS:
        for name, plan in plans(flow, epsilon, 0, Choices()).items():
            row = {"running_time": [flow.running_time(plan)],
                   "resource_consumption": [flow.resource_consumption(plan)]}  # fmt: skip
            parts.append(pd.DataFrame(row).assign(technique=name, eps=epsilon))
    result = pd.concat(parts, ignore_index=True)
    return result.assign(
        dag_type=shape.dag_type, dag_size=shape.dag_size,
        slowdown=result["running_time"] / rt, consumption=result["resource_consumption"] / rc,
    )  # fmt: skip


def fronts(scale: Scale = "quick", seed: int = 0) -> pd.DataFrame:
    """Give the exact front of one instance of each type, with the techniques on it.

    Parameters
    ----------
    scale
        "paper" for large flows, "quick" for small ones.
    seed
        Seed of the instances.

    Returns
    -------
    DataFrame
        ``dag_type``, ``dag_size``, ``technique`` ("optimum" for points of the front), ``eps``
        (bound of a technique), ``running_time`` (s), ``resource_consumption`` (node s),
        ``slowdown`` and ``consumption``, both as parts of the initial plan's. Trees have
        their whole front, D and E an epsilon-constraint sweep of 25 points.
    """
    size = {"quick": "small", "paper": "large"}[scale]
    shapes = [shape for shape in SHAPES if shape.dag_size == size]
    return each_shape(_front_of, shapes, seed)


def figure12(iterations: int = 300, seed: int = 0) -> pd.DataFrame:
    """Figure 12: resource consumption along the outer iterations of the local search.

    Parameters
    ----------
    iterations
        Outer iterations; the paper's default is 100.
    seed
        Seed of the instances.

    Returns
    -------
    DataFrame
        ``dag_size`` and ``dag_type`` (small A and large C), ``run`` (five instances),
        ``iteration``, ``resource_consumption`` (node s), and ``fall``, the part of the whole
        fall that is reached.
    """
    parts = []
    for shape, run in product((Shape("A", "small"), Shape("C", "large")), range(5)):
        flow = drawn(shape, run, seed, Choices()).flow()
        found = ils(flow, bound=flow.bound(0.1), seed=run, iter1=iterations)
        rc = found.totals[:, 1]
        parts.append(
            pd.DataFrame(
                {
                    "dag_size": shape.dag_size,
                    "dag_type": shape.dag_type,
                    "run": run,
                    "iteration": np.arange(iterations + 1),
                    "resource_consumption": rc,
                    "fall": (rc[0] - rc) / (rc[0] - rc[-1]) if rc[0] > rc[-1] else 1.0,
                }
            )
        )
    return pd.concat(parts, ignore_index=True)


def _median_seconds(call: Callable[[], object], repeats: int) -> float:
    call()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return float(np.median(times))


def search_times(repeats: int = 15, seed: int = 0) -> pd.DataFrame:
    """Section 4.3: seconds to optimise a large flow of type C, measured where this runs.

    Parameters
    ----------
    repeats
        Measurements, after one that does not count; their median is given.
    seed
        Seed of the instance.

    Returns
    -------
    DataFrame
        ``technique``, ``seconds``, ``valued`` (changes of one vertex that were valued; none
        for the optimum), ``paper_seconds``, and ``ratio``, seconds over those of ILS.
    """
    flow = drawn(Shape("C", "large"), 0, seed, Choices()).flow()
    bound = flow.bound(0.1)
    calls: dict[str, Callable[[], object]] = {
        how: partial(greedy, flow, how, bound=bound) for how in get_args(Greedy)
    }
    calls["ILS"] = partial(ils, flow, bound=bound, seed=seed)
    calls["ILS, 3 times iter1"] = partial(ils, flow, bound=bound, seed=seed, iter1=300)
    calls["optimum"] = partial(optimum, flow, bound=bound)
    paper = dict.fromkeys(get_args(Greedy), 0.2) | {"ILS": 2.55, "ILS, 3 times iter1": 8.18}
    rows = [
        (name, _median_seconds(call, repeats), getattr(call(), "valued", None), paper.get(name))
        for name, call in calls.items()
    ]
    table = pd.DataFrame(rows, columns=["technique", "seconds", "valued", "paper_seconds"])
    base = table.loc[table["technique"] == "ILS", "seconds"].iloc[0]
    return table.assign(ratio=table["seconds"] / base)


def _growing(n: int) -> Dataflow:
    """Return a chain with two degrees, whose changes always pay by themselves."""
    vertices = [Vertex(f"v{i}", {1: 1.0, 2: 1.0 + 0.001 * (i + 1)}) for i in range(n)]
    return Dataflow(vertices, [Edge(f"v{i - 1}", f"v{i}") for i in range(1, n)])


def searches_valued(sizes: tuple[int, ...] = (25, 50, 100, 200)) -> pd.DataFrame:
    """Count how the work of each greedy technique grows with the vertices (Section 3.3.1).

    On chains whose every change pays: G-local needs as many rounds as there are vertices
    there, its worst case, G-ext and G-full one. A change of the degree of one vertex is
    valued by its edges alone.

    Parameters
    ----------
    sizes
        Numbers of vertices.

    Returns
    -------
    DataFrame
        ``technique``, ``vertices``, ``degrees``, ``valued`` (changes of one vertex),
        ``bound`` (the paper's order: |V|^2 |D| or |V|^3 |D|), ``part`` of it, and
        ``exponent``, by which the work has grown since the size before.
    """
    rows = []
    for how in get_args(Greedy):
        for n in sizes:
            flow = _growing(n)
            found = greedy(flow, how, bound=np.inf)
            order = n ** (2 if how == "G-local" else 3) * len(flow.degrees)
            rows.append((how, n, len(flow.degrees), found.valued, order))
    table = pd.DataFrame(rows, columns=["technique", "vertices", "degrees", "valued", "bound"])
    groups = table.groupby("technique", sort=False)
    grown = np.log(table["valued"]) - np.log(groups["valued"].shift())
    wider = np.log(table["vertices"]) - np.log(groups["vertices"].shift())
    return table.assign(part=table["valued"] / table["bound"], exponent=grown / wider)


def plans_counted(seconds_per_plan: float = 1e-6) -> pd.DataFrame:
    """Count how many plans an exhaustive search of a synthetic flow would value (Section 6).

    Parameters
    ----------
    seconds_per_plan
        Assumed time to value one plan.

    Returns
    -------
    DataFrame
        ``dag_size``, ``vertices``, ``plans`` (12 degrees each), ``years``, and ``eliminated``,
        the table entries that the dynamic program visits on a chain.
    """
    rows = [(size, n, 12.0**n, 144 * n) for size, n in SIZES.items()]
    table = pd.DataFrame(rows, columns=["dag_size", "vertices", "plans", "eliminated"])
    return table.assign(years=table["plans"] * seconds_per_plan / (365.25 * 86400))


def _one_shot(flow: Dataflow, bound: float) -> float:
    """Apply the benefits of G-local as computed once, highest first; return the RC."""
    plan, rc = flow.initial.copy(), flow.resource_consumption(flow.initial)
    benefits = []
    for v in np.flatnonzero(flow.movable).tolist():
        for degree in flow.allowed(v):
            other = plan.copy()
            other[v] = degree
            benefits.append((rc - flow.resource_consumption(other), v, degree))
    changed = set()
    for benefit, v, degree in sorted(benefits, reverse=True):
        other = plan.copy()
        other[v] = degree
        if benefit > 0 and v not in changed and flow.running_time(other) <= bound:
            plan[v] = degree
            changed.add(v)
    return flow.resource_consumption(plan)


def _once(shape: Shape, repeats: int, seed: int) -> pd.DataFrame:
    rows = []
    for repeat in range(repeats):
        flow = drawn(shape, repeat, seed, Choices()).flow()
        rc = flow.resource_consumption(flow.initial)
        for epsilon in EPSILONS:
            found = _one_shot(flow, flow.bound(epsilon - 1))
            rows.append((*shape, epsilon, repeat, rc / found))
    return pd.DataFrame(rows, columns=["dag_type", "dag_size", "eps", "repeat", "once"])


def one_shot_benefits(scale: Scale = "quick", seed: int = 0) -> pd.DataFrame:
    """Compare recalculated benefits with taking the highest of the first ones (footnote 3).

    Parameters
    ----------
    scale
        "paper" for 100 repeats, "quick" for 5.
    seed
        Seed of the instances.

    Returns
    -------
    DataFrame
        ``dag_type``, ``dag_size``, ``eps``; average improvements ``recalculated`` (G-local)
        and ``once``, and ``loss``, the part by which once falls short; ``worse`` and
        ``better``, the parts of the repeats in which once is worse and better.
    """
    parts = each_shape(_once, SHAPES, REPEATS[scale], seed)
    again = improvements(scale, seed, Choices())
    again = again[again["technique"] == "G-local"].rename(columns={"improvement": "recalculated"})
    table = parts.merge(again, on=["dag_type", "dag_size", "eps", "repeat"])
    difference = table["once"] / table["recalculated"] - 1
    table = table.assign(worse=difference < -1e-9, better=difference > 1e-9)
    groups = table.groupby(["dag_size", "dag_type", "eps"], sort=False)
    result = groups[["recalculated", "once", "worse", "better"]].mean().reset_index()
    return result.assign(loss=1 - result["once"] / result["recalculated"])


def _knapsack(weights: NDArray[np.int64], values: NDArray[np.int64], room: int) -> int:
    """Return the most value that fits."""
    best = np.zeros(room + 1, dtype=np.int64)
    for weight, value in zip(weights, values, strict=True):
        best[weight:] = np.maximum(best[weight:], best[: room + 1 - weight] + value)
    return int(best[-1])


def _cut(flow: Dataflow) -> float:
    """Return the least RT by trying every plan."""
    choices = [flow.allowed(v) for v in range(len(flow.names))]
    return min(flow.running_time(plan) for plan in product(*choices))


def hardness(instances: int = 20, seed: int = 0) -> pd.DataFrame:
    """Check two reductions that show where the problem is hard (Section 3.2.1).

    Vertices that save v node s by taking w s longer turn the bounded problem, without any
    edge, into a knapsack. Three degrees and equal repartitioning times turn the least running
    time on a general graph into a three-way cut.

    Parameters
    ----------
    instances
        Random instances of each.
    seed
        Seed of the instances.

    Returns
    -------
    DataFrame
        ``reduction`` ("knapsack", "multiway cut"), ``instance``, ``direct`` (answer of a
        direct algorithm), ``by_plan`` (that read off the optimal plan), ``equal``.
    """
    rng = np.random.default_rng(seed)
    rows = []
    for k in range(instances):
        rows.append(("knapsack", k, *_by_knapsack(rng)))
        rows.append(("multiway cut", k, *_by_cut(rng)))
    table = pd.DataFrame(rows, columns=["reduction", "instance", "direct", "by_plan"])
    return table.assign(equal=np.isclose(table["direct"], table["by_plan"]))


def _by_knapsack(rng: np.random.Generator) -> tuple[float, float]:
    """Take w s more on 1 node to save v node s against 2 nodes: times w + (w + v) and w + v."""
    weights, values = rng.integers(1, 20, size=(2, 10))
    room = int(weights.sum() // 2)
    fast = (weights + values).astype(float)
    vertices = [Vertex(f"v{i}", {1: fast[i] + weights[i], 2: fast[i]}) for i in range(len(weights))]
    flow = Dataflow(vertices)
    best = optimum(flow, bound=float(fast.sum() + room))
    saved = flow.resource_consumption(flow.initial) - best.resource_consumption
    return float(_knapsack(weights, values, room)), saved


def _one_second(senders: Array, receivers: Array) -> Array:
    return np.ones_like(senders)


def _by_cut(rng: np.random.Generator) -> tuple[float, float]:
    """Count cut edges of a random graph with three terminals, one fixed at each degree."""
    edges = [(i, j) for i in range(8) for j in range(i + 1, 8) if rng.random() < 0.5]
    vertices = [
        Vertex(f"v{i}", {i + 1: 1.0} if i < 3 else dict.fromkeys((1, 2, 3), 1.0)) for i in range(8)
    ]
    flow = Dataflow(vertices, [Edge(f"v{i}", f"v{j}", _one_second) for i, j in edges])
    return _cut(flow) - 8, eliminate(costs_of(flow, 1.0, 0.0))[0] - 8
