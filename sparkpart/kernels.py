"""Compiled searches over plans; `sparkpart.greedy` and `sparkpart.ils` call them.

A plan here holds places in `Dataflow.degrees`. A change of one vertex is valued by the edges
that touch it alone.
"""

# Numba infers the types of the kernels; annotations are for readers.
# mypy: disable-error-code="untyped-decorator, no-any-return"

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from sparkpart.dataflow import Dataflow

__all__ = ["EXT", "FULL", "LOCAL", "Arrays", "arrays", "greedy", "ils"]

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

LOCAL, EXT, FULL = range(3)
"""How far a change of degree spreads downstream in `greedy`."""


class Arrays(NamedTuple):
    """A data flow as flat arrays.

    Lists are rows of one array: those of vertex v are ``rows[starts[v]:starts[v + 1]]``.
    """

    time: Array
    consumption: Array
    ends: Ints
    repartition: Array
    repartition_consumption: Array
    touching: Ints
    touching_starts: Ints
    children: Ints
    children_starts: Ints
    below: Ints
    below_starts: Ints
    movable: Ints
    choices: Ints
    choices_starts: Ints


def _rows(lists: list[list[int]]) -> tuple[Ints, Ints]:
    starts = np.cumsum([0, *map(len, lists)]).astype(np.int64)
    return np.array([x for row in lists for x in row], dtype=np.int64), starts


def _below(children: list[list[int]]) -> list[list[int]]:
    """Return all vertices downstream of each; edges lead to higher places only."""
    below: list[set[int]] = [set() for _ in children]
    for v in reversed(range(len(children))):
        for child in children[v]:
            below[v] |= {child} | below[child]
    return [sorted(s) for s in below]


def arrays(flow: Dataflow) -> Arrays:
    """Flatten a data flow; ``children`` and ``below`` are those of the dependency graph."""
    count = len(flow.names)
    touching: list[list[int]] = [[] for _ in range(count)]
    for edge, ends in enumerate(flow.ends.tolist()):
        for end in ends:
            touching[end].append(edge)
    children: list[list[int]] = [[] for _ in range(count)]
    for parent, child in dict.fromkeys(map(tuple, flow.dependencies.tolist())):
        children[parent].append(child)
    choices = [np.flatnonzero(row).tolist() for row in np.isfinite(flow.time)]
    return Arrays(
        flow.time, flow.consumption, flow.ends, flow.repartition, flow.repartition_consumption,
        *_rows(touching), *_rows(children), *_rows(_below(children)),
        np.flatnonzero(flow.movable), *_rows(choices),
    )  # fmt: skip


@njit(cache=True)
def _change(f: Arrays, plan: Ints, v: int, j: int) -> tuple[float, float]:
    """Return by how much RT and RC grow when vertex v goes to the degree at place j."""
    i = plan[v]
    time = f.time[v, j] - f.time[v, i]
    consumption = f.consumption[v, j] - f.consumption[v, i]
    for k in range(f.touching_starts[v], f.touching_starts[v + 1]):
        e = f.touching[k]
        if f.ends[e, 0] == v:
            other = plan[f.ends[e, 1]]
            time += f.repartition[e, j, other] - f.repartition[e, i, other]
            consumption += f.repartition_consumption[e, j, other]
            consumption -= f.repartition_consumption[e, i, other]
        else:
            other = plan[f.ends[e, 0]]
            time += f.repartition[e, other, j] - f.repartition[e, other, i]
            consumption += f.repartition_consumption[e, other, j]
            consumption -= f.repartition_consumption[e, other, i]
    return time, consumption


@njit(cache=True)
def _totals(f: Arrays, plan: Ints) -> tuple[float, float]:
    """Return RT and RC."""
    time = consumption = 0.0
    for v, j in enumerate(plan):
        time += f.time[v, j]
        consumption += f.consumption[v, j]
    for e in range(len(f.ends)):
        i, j = plan[f.ends[e, 0]], plan[f.ends[e, 1]]
        time += f.repartition[e, i, j]
        consumption += f.repartition_consumption[e, i, j]
    return time, consumption


@njit(cache=True)
def _extend(f: Arrays, trial: Ints, v: int, j: int, queue: Ints) -> tuple[float, float, int]:
    """Move v to j, then its children in turn as long as each lowers RC (G-ext)."""
    grown = fallen = 0.0
    queue[0], head, tail, valued = v, 0, 1, 0
    while head < tail:
        v = queue[head]
        head += 1
        if trial[v] == j or not np.isfinite(f.time[v, j]):
            continue
        time, consumption = _change(f, trial, v, j)
        valued += 1
        if consumption < 0:
            trial[v] = j
            grown += time
            fallen -= consumption
            for k in range(f.children_starts[v], f.children_starts[v + 1]):
                queue[tail] = f.children[k]
                tail += 1
    return grown, fallen, valued


@njit(cache=True)
def _force(f: Arrays, trial: Ints, v: int, j: int) -> tuple[float, float, int]:
    """Move v and all below it to j, but vertices that do not allow it (G-full)."""
    grown, consumption = _change(f, trial, v, j)
    trial[v] = j
    valued = 1
    for k in range(f.below_starts[v], f.below_starts[v + 1]):
        w = f.below[k]
        if np.isfinite(f.time[w, j]):
            time, change = _change(f, trial, w, j)
            trial[w] = j
            grown += time
            consumption += change
            valued += 1
    return grown, -consumption, valued


@njit(cache=True)
def _spread(
    f: Arrays, trial: Ints, v: int, j: int, how: int, queue: Ints
) -> tuple[float, float, int]:
    """Change a trial plan from vertex v on.

    Returns the growth of RT, the fall of RC, and how many changes of a vertex were valued.
    """
    if how == EXT:
        return _extend(f, trial, v, j, queue)
    if how == FULL:
        return _force(f, trial, v, j)
    grown, consumption = _change(f, trial, v, j)
    trial[v] = j
    return grown, -consumption, 1


@njit(cache=True)
def greedy(
    f: Arrays, plan: Ints, bound: float, how: int, rounds: int, least: float
) -> tuple[Ints, Array, int]:
    """Change the plan in place by Algorithm 1.

    Returns the vertex and the degree that each round changed first, RT and RC after each
    round, the first row being those of the start, and how many changes of a vertex were
    valued. A benefit counts above ``least``.
    """
    time, consumption = _totals(f, plan)
    steps = np.empty((rounds, 2), np.int64)
    history = np.empty((rounds + 1, 2))
    history[0] = time, consumption
    trial, queue = plan.copy(), np.empty(len(f.children) + 1, np.int64)
    valued = 0
    for k in range(rounds):
        best = least
        for v in range(len(plan)):
            for c in range(f.choices_starts[v], f.choices_starts[v + 1]):
                trial[:] = plan
                grown, benefit, count = _spread(f, trial, v, f.choices[c], how, queue)
                valued += count
                if benefit > best and time + grown <= bound:
                    best = benefit
                    steps[k] = v, f.choices[c]
        if best == least:
            return steps[:k], history[: k + 1], valued
        _spread(f, plan, steps[k, 0], steps[k, 1], how, queue)
        time, consumption = _totals(f, plan)
        history[k + 1] = time, consumption
    return steps, history, valued


@njit(cache=True)
def _draw(f: Arrays, v: int, rng: np.random.Generator) -> int:
    """Draw one of the degrees that v allows."""
    count = f.choices_starts[v + 1] - f.choices_starts[v]
    return f.choices[f.choices_starts[v] + int(rng.random() * count)]


@njit(cache=True)
def _perturb(f: Arrays, plan: Ints, m: int, order: Ints, rng: np.random.Generator) -> None:
    """Give m different vertices another degree."""
    for i in range(min(m, len(order))):
        k = i + int(rng.random() * (len(order) - i))
        order[i], order[k] = order[k], order[i]
        v = order[i]
        j = _draw(f, v, rng)
        while j == plan[v]:
            j = _draw(f, v, rng)
        plan[v] = j


@njit(cache=True)
def _improve(
    f: Arrays, plan: Ints, inner: int, total: bool, least: float, rng: np.random.Generator
) -> None:
    """Try random changes of one vertex; keep those that lower RT by more than ``least``."""
    for _ in range(inner):
        v = f.movable[int(rng.random() * len(f.movable))]
        j = _draw(f, v, rng)
        if total:
            time, _consumption = _change(f, plan, v, j)
        else:
            time = f.time[v, j] - f.time[v, plan[v]]
        if time < -least:
            plan[v] = j


@njit(cache=True)
def ils(
    f: Arrays, plan: Ints, bound: float, m: int, outer: int, inner: int,
    total: bool, by_time: bool, least: float, rng: np.random.Generator,
) -> Array:  # fmt: skip
    """Change the plan in place by Algorithm 2; return RT and RC after each outer iteration.

    ``total`` tests the flow's RT in the inner loop, otherwise the vertex's own time; with
    ``by_time`` the outer loop lowers RT in place of RC. Differences up to ``least`` seconds
    are none.
    """
    history = np.empty((outer + 1, 2))
    time, consumption = _totals(f, plan)
    history[0] = time, consumption
    order = f.movable.copy()
    trial = plan.copy()
    for i in range(outer):
        trial[:] = plan
        _perturb(f, trial, m, order, rng)
        _improve(f, trial, inner, total, least, rng)
        new_time, new_consumption = _totals(f, trial)
        better = new_time < time if by_time else new_consumption < consumption
        if better and new_time < bound:
            plan[:] = trial
            time, consumption = new_time, new_consumption
        history[i + 1] = time, consumption
    return history
