"""Dynamic programming over labels: every pair of totals of a tree that nothing else beats."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparkpart.fastest import Costs, TooWideError

__all__ = ["Labels", "Limit", "tree_labels"]

Array = NDArray[np.float64]

MOST = 20_000_000
"""Most labels that are compared at once."""
ROUNDING = 1e-12
"""Part of a total by which labels must differ to be kept beside each other."""


class Limit(NamedTuple):
    """Only plans with ``time * RT + consumption * RC <= most`` are of interest."""

    time: float
    consumption: float
    most: float


class Labels(NamedTuple):
    """Partial plans that do not dominate each other, by ascending time.

    Attributes
    ----------
    time, consumption
        Their RT (s) and RC (node s), shape (labels,).
    plan
        For each vertex of the part the number of its choice, shape (labels, vertices).
    """

    time: Array
    consumption: Array
    plan: NDArray[np.uint16]

    def take(self, rows: NDArray[np.intp]) -> Labels:
        """Return some of the labels."""
        return Labels(self.time[rows], self.consumption[rows], self.plan[rows])


class _Tree(NamedTuple):
    """A rooted tree: vertices parents first, children, and costs with the parent's choice first."""

    order: list[int]
    children: list[list[int]]
    own: tuple[list[Array], list[Array]]
    edges: tuple[dict[tuple[int, int], Array], dict[tuple[int, int], Array]]


class _Rest(NamedTuple):
    """A limit, and the least that the rest of the tree adds to a part of it.

    ``whole[v][j]`` is the least total with v at choice j, ``child[w][j]`` that of the subtree
    of w and the edge to its parent at choice j.
    """

    limit: Limit
    own: list[Array]
    whole: list[Array]
    child: dict[int, Array]


def tree_labels(time: Costs, consumption: Costs, limits: list[Limit]) -> Labels:
    """Return the Pareto front of a forest within limits.

    Parameters
    ----------
    time, consumption
        Terms of RT and RC; the edges must form a forest.
    limits
        What a plan must keep, up to rounding; each prunes the labels early.

    Returns
    -------
    Labels
        One per point of the front; none if no plan keeps the limits.

    Raises
    ------
    TooWideError
        If too many labels would have to be compared.
    """
    tree = _rooted(time, consumption)
    rests = [_rest_of(tree, limit) for limit in limits]
    done: dict[int, list[Labels]] = {}
    for v in reversed(tree.order):
        done[v] = [_folded(tree, rests, done, v, j) for j in range(len(tree.own[0][v]))]
        for w in tree.children[v]:
            del done[w]
    root = done[tree.order[0]][0]
    return root._replace(plan=root.plan[:, :-1])


def _rooted(time: Costs, consumption: Costs) -> _Tree:
    """Hang every tree of a forest, by its vertex with most neighbours, on one new vertex."""
    count = len(time.vertices)
    near: list[list[int]] = [[] for _ in range(count + 1)]
    for v, w in time.edges:
        near[v].append(w)
        near[w].append(v)
    order, children, seen = [count], [[] for _ in near], {count}  # type: ignore[var-annotated]
    for root in sorted(range(count), key=lambda v: -len(near[v])):
        if root in seen:
            continue
        children[count].append(root)
        seen.add(root)
        stack = [root]
        while stack:
            order.append(v := stack.pop())
            children[v] = [w for w in near[v] if w not in seen]
            seen.update(children[v])
            stack += children[v]
    edges = tuple(_oriented(costs, children) for costs in (time, consumption))
    own = tuple([*costs.vertices, np.zeros(1)] for costs in (time, consumption))
    return _Tree(order, children, own, edges)  # type: ignore[arg-type]


def _oriented(costs: Costs, children: list[list[int]]) -> dict[tuple[int, int], Array]:
    """Return the cost of every edge of a rooted tree, with the parent's choice first."""
    root = len(children) - 1
    tables = {(root, w): np.zeros((1, len(costs.vertices[w]))) for w in children[root]}
    for v in range(root):
        for w in children[v]:
            tables[v, w] = costs.edges[v, w] if (v, w) in costs.edges else costs.edges[w, v].T
    return tables


def _rest_of(tree: _Tree, limit: Limit) -> _Rest:
    """Pass least sums up and down the tree."""

    def weighted(pair: tuple[Array, Array]) -> Array:
        return limit.time * pair[0] + limit.consumption * pair[1]

    own = [weighted(pair) for pair in zip(*tree.own, strict=True)]
    edges = {key: weighted((tree.edges[0][key], tree.edges[1][key])) for key in tree.edges[0]}
    below, child = [values.copy() for values in own], {}
    for v in reversed(tree.order):
        for w in tree.children[v]:
            child[w] = (edges[v, w] + below[w]).min(axis=1)
            below[v] += child[w]
    whole = below
    for v in tree.order:
        for w in tree.children[v]:
            above = (edges[v, w] + (whole[v] - child[w])[:, None]).min(axis=0)
            whole[w] = whole[w] + above
    return _Rest(limit, own, whole, child)


def _folded(
    tree: _Tree, rests: list[_Rest], done: dict[int, list[Labels]], v: int, j: int
) -> Labels:
    """Return the labels of the subtree of v at choice j."""
    plan = np.zeros((1, len(tree.own[0])), np.uint16)
    plan[0, v] = j
    labels = Labels(tree.own[0][v][j : j + 1], tree.own[1][v][j : j + 1], plan)
    least = [rest.own[v][j] for rest in rests]
    for w in tree.children[v]:
        child_least = [rest.child[w][j] for rest in rests]
        child = _child_labels(tree, rests, done, v, w, j)
        least = [a + b for a, b in zip(least, child_least, strict=True)]
        room = [r.whole[v][j] - part for r, part in zip(rests, least, strict=True)]
        labels = _joined(labels, child, rests, room)
    return labels


def _child_labels(
    tree: _Tree, rests: list[_Rest], done: dict[int, list[Labels]], v: int, w: int, j: int
) -> Labels:
    """Return the labels of the subtree of w with its edge to v at choice j."""
    shifts = [table[v, w][j] for table in tree.edges]
    parts = [
        Labels(part.time + t, part.consumption + c, part.plan)
        for part, t, c in zip(done[w], *shifts, strict=True)
    ]
    labels = Labels(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
    room = [rest.whole[v][j] - rest.child[w][j] for rest in rests]
    return labels.take(_kept(labels.time, labels.consumption, rests, room))


def _joined(a: Labels, b: Labels, rests: list[_Rest], room: list[float]) -> Labels:
    """Return all sums of a label of each that nothing beats."""
    if len(a.time) * len(b.time) > MOST:
        raise TooWideError(f"{len(a.time)} times {len(b.time)} labels; at most {MOST} are compared")
    time = np.add.outer(a.time, b.time).ravel()
    consumption = np.add.outer(a.consumption, b.consumption).ravel()
    rows = _kept(time, consumption, rests, room)
    i, k = np.divmod(rows, max(len(b.time), 1))
    return Labels(time[rows], consumption[rows], a.plan[i] + b.plan[k])


def _kept(
    time: Array, consumption: Array, rests: list[_Rest], room: list[float]
) -> NDArray[np.intp]:
    """Return the rows that keep the limits and that no other row beats, by ascending time."""
    inside = np.ones(len(time), dtype=bool)
    for rest, added in zip(rests, room, strict=True):
        total = rest.limit.time * time + rest.limit.consumption * consumption + added
        inside &= total <= rest.limit.most + ROUNDING * abs(rest.limit.most)
    rows = np.flatnonzero(inside)
    rows = rows[np.lexsort((consumption[rows], time[rows]))]
    if len(rows) > 1:
        before = np.minimum.accumulate(consumption[rows])[:-1]
        better = consumption[rows[1:]] < before * (1 - ROUNDING)
        rows = rows[np.concatenate(([True], better))]
    return rows
