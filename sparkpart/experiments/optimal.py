"""The exact optimum beside the techniques of Gounaris et al. (TPDS 2017)."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pandas as pd

from sparkpart.exact import front, optimum
from sparkpart.experiments.grid import (
    EPSILONS,
    REPEATS,
    SHAPES,
    Scale,
    Shape,
    drawn,
    each_shape,
    plans,
)  # fmt: skip
from sparkpart.ils import ils
from sparkpart.instances import Choices

__all__ = [
    "fronts",
    "ils_at_its_time",
    "optimality_gaps",
]

GENERAL = ("D", "E")
GENERAL_REPEATS = {"quick": 1, "paper": 20}
"""Repeats with a proved optimum on graphs that are no trees."""
SWEEP = 25
"""Points of a front by an epsilon-constraint sweep."""


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
