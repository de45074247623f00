"""Sections 3 and 4.1: the motivating example, the dependency graph and the case study."""

from __future__ import annotations

from itertools import pairwise
from typing import get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sparkpart.dataflow import Dataflow, Edge, Vertex
from sparkpart.exact import optimum
from sparkpart.greedy import Greedy, greedy
from sparkpart.ils import ils
from sparkpart.instances import SIZES, TYPES, draw, shape

__all__ = [
    "case_study", "case_study_digits", "configurations", "figure5", "figure6", "figure7", "figure8",
    "first_steps",
]  # fmt: skip

Array = NDArray[np.float64]

CONFIGURATIONS = (
    ("conf-a", 96, 96, 75.8, 7275.0),
    ("conf-b", 96, 64, 76.8, 6598.0),
    ("conf-c", 96, 32, 87.4, 6163.0),
    ("64 throughout", 64, 64, 93.0, 5952.0),
)
"""Name, nodes of steps (i)-(iii) and (iv)-(v), running time and consumption as printed."""

STEPS = ("preparation", "model build", "recommendation", "clustering", "freq. itemsets")
CASE_DEGREES = (4, 6, 8, 10, 12, 14, 16)
CASE_SECONDS = (
    (19.2, 12.4, 8.0, 9.2, 10.0, 10.4, 10.76),
    (51.31, 33.14, 21.38, 24.59, 26.73, 27.79, 28.76),
    (31.2, 20.15, 13.0, 14.95, 16.25, 16.9, 17.48),
    (72.15, 44.4, 27.85, 24.98, 18.5, 19.98, 21.65),
    (90.6, 55.75, 35.7, 31.36, 23.23, 25.09, 27.35),
)
"""Constructed running time of each step at each degree."""
SLACKS = (0.01, 0.1, 0.2, 0.5, 1.0)


def figure5() -> pd.DataFrame:
    """Figure 5 and Section 3.1: the example of 920 s on 96 nodes.

    The text gives totals only; they are laid on two groups of stages, the one that stays on
    96 nodes and the one that moves to 32, and repartitioning costs nothing.

    Returns
    -------
    DataFrame
        ``plan``, ``group``, ``nodes``, ``seconds`` and, of the whole plan, ``running_time``
        (s), ``resource_consumption`` (node s), and how much of the first plan they are more
        (``slower``) and less (``saved``), in percent.
    """
    flow = Dataflow(
        [Vertex("stay", {96: 500.0}), Vertex("move", {96: 420.0, 32: 450.0})],
        [Edge("stay", "move")],
    )
    time, consumption = flow.running_time([96, 96]), flow.resource_consumption([96, 96])
    rows = []
    for name, plan in (("fixed", [96, 96]), ("repartitioned", [96, 32])):
        total = flow.running_time(plan), flow.resource_consumption(plan)
        seconds = flow.time[np.arange(2), flow.indices(plan)]
        for group, nodes, t in zip(flow.names, plan, seconds, strict=True):
            rows.append((name, group, nodes, t, *total))
    table = pd.DataFrame(
        rows,
        columns=["plan", "group", "nodes", "seconds", "running_time", "resource_consumption"],
    )
    return table.assign(
        slower=100 * (table["running_time"] / time - 1),
        saved=100 * (1 - table["resource_consumption"] / consumption),
    )


def configurations() -> pd.DataFrame:
    """Check the arithmetic of conf-a, conf-b and conf-c (Section 3.1).

    Returns
    -------
    DataFrame
        One row per ``configuration``: ``first`` and ``last``, the nodes of its two parts;
        ``running_time`` (s) and ``resource_consumption`` (node s) as printed; ``implied``,
        the seconds that the last part must have taken for both to hold, and ``rest``, those
        left for the first, which is the same in conf-a, conf-b and conf-c; ``uniform``, the
        product of time and nodes where there is one part only; ``slower`` and ``saved``
        against conf-a in percent, by the printed numbers.
    """
    columns = ["configuration", "first", "last", "running_time", "resource_consumption"]
    table = pd.DataFrame(CONFIGURATIONS, columns=columns)
    moved = table["first"] != table["last"]
    held = table["first"] * table["running_time"]
    fewer = (table["first"] - table["last"]).where(moved)
    base = table.iloc[0]
    implied = (held - table["resource_consumption"]) / fewer
    return table.assign(
        implied=implied,
        rest=table["running_time"] - implied,
        uniform=held.where(~moved),
        slower=100 * (table["running_time"] / base["running_time"] - 1),
        saved=100 * (1 - table["resource_consumption"] / base["resource_consumption"]),
    )


def figure6() -> pd.DataFrame:
    """Figure 6: a flow and its dependency graph, on a constructed example.

    Returns
    -------
    DataFrame
        One edge a row: ``graph`` ("flow" or "dependency"), ``parent``, ``child``.
    """
    pairs = ["ab", "ac", "ad", "be", "ce", "df", "dg"]
    flow = Dataflow([Vertex(name, {1: 1.0}) for name in "abcdefg"], [Edge(*p) for p in pairs])
    rows = [("flow", *edge) for edge in flow.ends.tolist()]
    rows += [("dependency", *edge) for edge in flow.dependencies.tolist()]
    table = pd.DataFrame(rows, columns=["graph", "parent", "child"])
    names = dict(enumerate(flow.names))
    return table.assign(parent=table["parent"].map(names), child=table["child"].map(names))


def _case_repartition(senders: Array, receivers: Array) -> Array:
    return 0.1 + 1.6 / senders + senders * receivers / 480


def _case_flow() -> Dataflow:
    """Return the constructed chain of the case study."""
    vertices = [
        Vertex(name, dict(zip(CASE_DEGREES, seconds, strict=True)))
        for name, seconds in zip(STEPS, CASE_SECONDS, strict=True)
    ]
    edges = [Edge(a, b, _case_repartition) for a, b in pairwise(STEPS)]
    return Dataflow(vertices, edges)


def figure7() -> pd.DataFrame:
    """Figure 7: profiles of the case study, constructed to give the totals of Section 4.1.

    The figure is an image that we do not have. These times give 106 s and 1696 node s on 16
    nodes, and 84.61 s and 845.8 node s at best; many others would.

    Returns
    -------
    DataFrame
        ``part`` (a step, or "repartitioning from 4", 8, 16 nodes), ``nodes`` (of the step, or
        receiving), ``seconds``.
    """
    flow = _case_flow()
    rows = [
        (name, int(nodes), seconds)
        for name, times in zip(flow.names, flow.time, strict=True)
        for nodes, seconds in zip(flow.degrees, times, strict=True)
    ]
    degrees = flow.degrees.astype(float)
    for senders in (4, 8, 16):
        times = _case_repartition(np.full_like(degrees, senders), degrees)
        name = f"repartitioning from {senders}"
        rows += [(name, n, t) for n, t in zip(flow.degrees.tolist(), times, strict=True)]
    return pd.DataFrame(rows, columns=["part", "nodes", "seconds"])


def case_study(seed: int = 0) -> pd.DataFrame:
    """Optimise the constructed flow of Figure 7 by every technique and bound (Section 4.1).

    Parameters
    ----------
    seed
        Seed of the iterated local search.

    Returns
    -------
    DataFrame
        ``slack``, ``technique`` ("initial", the paper's four, "optimum"), ``running_time``
        (s), ``resource_consumption`` (node s), ``plan`` (degrees), ``faster`` and ``saved``
        (percent of the initial).
    """
    flow = _case_flow()
    rows = []
    for slack in SLACKS:
        bound = flow.bound(slack)
        plans = {"initial": flow.initial}
        plans |= {how: greedy(flow, how, bound=bound).plan for how in get_args(Greedy)}
        plans["ILS"] = ils(flow, bound=bound, seed=seed).plan
        plans["optimum"] = optimum(flow, bound=bound).plan
        for name, plan in plans.items():
            total = flow.running_time(plan), flow.resource_consumption(plan)
            rows.append((slack, name, *total, ", ".join(map(str, plan))))
    table = pd.DataFrame(
        rows, columns=["slack", "technique", "running_time", "resource_consumption", "plan"]
    )
    time, consumption = rows[0][2:4]
    return table.assign(
        faster=100 * (1 - table["running_time"] / time),
        saved=100 * (1 - table["resource_consumption"] / consumption),
    )


def case_study_digits() -> pd.DataFrame:
    """Ask which degrees agree with the printed 84.61 s and 845.8 node s (Section 4.1).

    Returns
    -------
    DataFrame
        For each pair of degrees ``low`` < ``high``: ``at_low`` and ``at_high``, the seconds
        that must be spent at each (NaN where no mixture agrees). For one degree alone ``low``
        equals ``high``, and ``agrees`` tells whether it gives the digits.
    """
    least, most = 845.75 / 84.615, 845.85 / 84.605
    rows = []
    for k, low in enumerate(CASE_DEGREES):
        for high in CASE_DEGREES[k:]:
            agrees = low < most and high > least
            at_high = (845.8 - low * 84.61) / (high - low) if agrees and high > low else np.nan
            rows.append((low, high, 84.61 - at_high, at_high, agrees))
    return pd.DataFrame(rows, columns=["low", "high", "at_low", "at_high", "agrees"])


def first_steps(seed: int = 3) -> pd.DataFrame:
    """Follow Algorithm 1 round by round on one synthetic flow (Section 3.3.1).

    Parameters
    ----------
    seed
        Seed of the flow, a small one of type B; the slack is 20 %.

    Returns
    -------
    DataFrame
        ``technique``, ``round`` (0 is the initial plan), ``vertex`` and ``degree``, the
        change that the round chose, and after it ``running_time`` (s) and
        ``resource_consumption`` (node s).
    """
    flow = draw("B", "small", rng=np.random.default_rng(seed)).flow()
    parts = [
        greedy(flow, how, bound=flow.bound(0.2)).history.assign(technique=how)
        for how in get_args(Greedy)
    ]
    table = pd.concat(parts).rename_axis("round").reset_index()
    columns = ["technique", "round", "vertex", "degree", "running_time", "resource_consumption"]
    return table[columns]


def figure8() -> pd.DataFrame:
    """Figure 8: the shapes of the synthetic flows, as drawn here after the text.

    Returns
    -------
    DataFrame
        One edge a row: ``shapes`` ("first", "second"), ``dag_type``, ``dag_size``,
        ``parent``, ``child``.
    """
    rows = [
        (shapes, kind, size, *pair)
        for shapes in ("first", "second")
        for kind in TYPES
        for size, n in SIZES.items()
        for pair in shape(kind, n, shapes)
    ]
    return pd.DataFrame(rows, columns=["shapes", "dag_type", "dag_size", "parent", "child"])
