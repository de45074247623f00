"""Figure 12, Section 4.3 and the remarks of Gounaris et al. (TPDS 2017) on their searches."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from itertools import product
from typing import get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sparkpart.dataflow import Dataflow, Edge, Vertex
from sparkpart.exact import optimum
from sparkpart.experiments.grid import (
    EPSILONS,
    REPEATS,
    SHAPES,
    Scale,
    Shape,
    drawn,
    each_shape,
    improvements,
)  # fmt: skip
from sparkpart.fastest import costs_of, eliminate
from sparkpart.greedy import Greedy, greedy
from sparkpart.ils import ils
from sparkpart.instances import SIZES, Choices

Array = NDArray[np.float64]

__all__ = [
    "figure12",
    "hardness",
    "one_shot_benefits",
    "plans_counted",
    "search_times",
    "searches_valued",
]


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
