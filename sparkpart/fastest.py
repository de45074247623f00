"""The plan of least running time, or of any weighted sum of it and resource consumption.

Without a bound, the problem of Section 3.2 is a sum of terms in one or two vertices each.
Eliminating one vertex after the other solves it exactly: the dynamic program of Section 4.2.2
on chains and trees, and the same on every graph in which few vertices ever hang together.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparkpart.dataflow import Dataflow, Plan

__all__ = ["Costs", "TooWideError", "costs_of", "eliminate", "fastest", "is_forest"]

Array = NDArray[np.float64]

LARGEST = 20_000_000
"""Most entries of a table; 160 MB."""


class TooWideError(ValueError):
    """The graph is too interwoven for elimination."""


class Costs(NamedTuple):
    """Terms of a sum to be minimised.

    Attributes
    ----------
    choices
        The places in `Dataflow.degrees` that each vertex allows.
    vertices
        A cost for each of them.
    edges
        By the places of two vertices, in order: a cost for each pair of their choices.
    """

    choices: list[NDArray[np.int64]]
    vertices: list[Array]
    edges: dict[tuple[int, int], Array]


def costs_of(flow: Dataflow, time: float, consumption: float) -> Costs:
    """Return the terms of ``time * RT + consumption * RC``.

    Edges at a vertex with one degree only become part of the cost of their other end.
    """
    choices = [np.flatnonzero(row) for row in np.isfinite(flow.time)]
    rows = zip(flow.time, flow.consumption, choices, strict=True)
    vertices = [time * t[c] + consumption * rc[c] for t, rc, c in rows]
    edges: dict[tuple[int, int], Array] = {}
    moved = time * flow.repartition + consumption * flow.repartition_consumption
    for (v, w), table in zip(flow.ends.tolist(), moved, strict=True):
        part = table[np.ix_(choices[v], choices[w])]
        if len(choices[v]) == 1:
            vertices[w] = vertices[w] + part[0]
        elif len(choices[w]) == 1:
            vertices[v] = vertices[v] + part[:, 0]
        else:
            edges[v, w] = edges.get((v, w), 0.0) + part
    return Costs(choices, vertices, edges)


def _aligned(scope: tuple[int, ...], table: Array, onto: tuple[int, ...]) -> Array:
    """View a table over ascending vertices as one over more of them."""
    return table[tuple(slice(None) if v in scope else None for v in onto)]


def eliminate(costs: Costs, most: int = LARGEST) -> tuple[float, NDArray[np.int64]]:
    """Minimise a sum of costs exactly.

    Parameters
    ----------
    costs
        Its terms.
    most
        Most entries that a table may have.

    Returns
    -------
    tuple
        The least sum, and the place of the degree of each vertex; of equal sums the one with
        the lower places at the vertices that were eliminated later.

    Raises
    ------
    TooWideError
        If a table would need more entries.
    """
    tables: list[tuple[tuple[int, ...], Array]] = list(costs.edges.items())
    tables += [((v,), table) for v, table in enumerate(costs.vertices)]
    sizes = [len(choices) for choices in costs.choices]
    waiting, steps, total = set(range(len(sizes))), [], 0.0
    neighbours: dict[int, set[int]] = {v: set() for v in waiting}
    for v, w in costs.edges:
        neighbours[v].add(w)
        neighbours[w].add(v)
    while waiting:
        v = min(waiting, key=lambda v: (np.prod([float(sizes[w]) for w in neighbours[v]]), v))
        scope = tuple(sorted({v} | neighbours[v]))
        if np.prod([float(sizes[w]) for w in scope]) > most:
            raise TooWideError(f"{len(scope)} vertices hang together; the table exceeds {most}")
        joined = sum(_aligned(s, t, scope) for s, t in tables if v in s)
        tables = [(s, t) for s, t in tables if v not in s]
        axis = scope.index(v)
        steps.append((v, scope[:axis] + scope[axis + 1 :], np.argmin(joined, axis=axis)))
        rest = np.min(joined, axis=axis)
        if rest.ndim:
            tables.append((steps[-1][1], rest))
        else:
            total += float(rest)
        for w in neighbours.pop(v):
            neighbours[w] |= set(scope) - {w}
            neighbours[w].discard(v)
        waiting.remove(v)
    chosen = np.zeros(len(sizes), dtype=np.int64)
    for v, scope, best in reversed(steps):
        chosen[v] = best[tuple(chosen[list(scope)])]
    return total, np.array([c[k] for c, k in zip(costs.choices, chosen, strict=True)])


def fastest(flow: Dataflow) -> Plan:
    """Return the plan of least running time (the first step of Section 4.2.2), exactly.

    Parameters
    ----------
    flow
        The data flow.

    Returns
    -------
    ndarray
        A degree per vertex.

    Raises
    ------
    TooWideError
        If too many vertices hang together; `sparkpart.exact.optimum` has another method.
    """
    return flow.degrees[eliminate(costs_of(flow, 1.0, 0.0))[1]]


def is_forest(costs: Costs) -> bool:
    """Whether the vertices with a choice form trees, whatever the direction of the edges."""
    root = list(range(len(costs.vertices)))

    def find(v: int) -> int:
        while root[v] != v:
            v = root[v]
        return v

    for v, w in costs.edges:
        if find(v) == find(w):
            return False
        root[find(v)] = find(w)
    return True
