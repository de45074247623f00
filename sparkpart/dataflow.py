"""A data flow: stages with a running time per degree of partitioning, and repartitioning between.

The problem of Section 3.2 of Gounaris et al. (TPDS 2017): vertices are sets of stages that run
with one degree of partitioning (whole nodes) and are executed one after the other; an edge
costs nothing while both its ends have the same degree, and a repartitioning otherwise.

>>> flow = Dataflow(
...     [Vertex("load", {96: 320.0}), Vertex("sort", {96: 600.0, 32: 630.0})],
...     [Edge("load", "sort")],
... )
>>> flow.running_time(flow.initial), flow.resource_consumption(flow.initial)
(920.0, 88320.0)
>>> flow.resource_consumption([96, 32])
50880.0
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Dataflow", "DataflowError", "Edge", "Plan", "Vertex", "free"]

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Plan = NDArray[np.int64]
RepartitionTime = Callable[[Array, Array], Array]


class DataflowError(ValueError):
    """The data flow, plan or bound makes no sense; the message names what and where."""


MOST_NODES, MOST_SECONDS = 10**9, 1e12
"""Limits of degrees and times, so that no sum of node seconds overflows."""


def free(senders: Array, receivers: Array) -> Array:
    """Return the time of a repartitioning that costs nothing: zeros."""
    return np.zeros(np.broadcast_shapes(np.shape(senders), np.shape(receivers)))


@dataclass(frozen=True)
class Vertex:
    """A set of stages that run with one degree of partitioning.

    Attributes
    ----------
    name
        How edges and messages call it.
    seconds
        Running time at every allowed degree (nodes); one degree alone is a fixed one.
    initial
        Degree in the initial plan; the largest that is allowed if not given.
    """

    name: str
    seconds: Mapping[int, float]
    initial: int | None = None


@dataclass(frozen=True)
class Edge:
    """Data that a child takes from a parent.

    Attributes
    ----------
    parent, child
        Names of vertices.
    seconds
        Repartitioning time by arrays of sending and receiving nodes (`free` by default). It
        is not asked where both are equal: nothing is repartitioned there.
    """

    parent: str
    child: str
    seconds: RepartitionTime = free


class Dataflow:
    """A directed acyclic graph of vertices, ready for evaluation and optimisation.

    Parameters
    ----------
    vertices
        In the order of their processing, as far as the edges allow: a vertex that comes
        before one of its parents is moved behind it.
    edges
        At most one between two vertices.

    Attributes
    ----------
    names
        Names of the vertices, in the order of processing.
    degrees
        All degrees that any vertex allows, ascending, shape (k,).
    time
        Running time in seconds, shape (vertices, k); infinite where a degree is not allowed.
    ends
        Places of parent and child of each edge, shape (edges, 2).
    repartition
        Repartitioning time in seconds by degree of parent and child, shape (edges, k, k).
    initial
        The initial plan: a degree per vertex.

    Raises
    ------
    DataflowError
        If a name is missing, doubled or unknown, a degree or a time makes no sense, an edge
        is doubled, or the edges form a cycle.
    """

    names: tuple[str, ...]
    degrees: Ints
    time: Array
    ends: Ints
    repartition: Array
    initial: Plan

    def __init__(self, vertices: Iterable[Vertex], edges: Iterable[Edge] = ()) -> None:
        vertices, edges = list(vertices), list(edges)
        _check(vertices, edges)
        vertices = _in_order(vertices, edges)
        place = {vertex.name: i for i, vertex in enumerate(vertices)}
        self.names = tuple(place)
        self.degrees = np.unique([d for vertex in vertices for d in vertex.seconds])
        self.time = np.full((len(vertices), len(self.degrees)), np.inf)
        for row, vertex in zip(self.time, vertices, strict=True):
            row[np.searchsorted(self.degrees, list(vertex.seconds))] = list(vertex.seconds.values())
        edges.sort(key=lambda e: (place[e.child], place[e.parent]))
        self.ends = np.array(
            [(place[e.parent], place[e.child]) for e in edges], dtype=np.int64
        ).reshape(-1, 2)
        self._edges = tuple(edges)
        self.repartition = self._repartitions()
        self.initial = np.array([_initial(vertex) for vertex in vertices])

    def _repartitions(self) -> Array:
        """Return the repartitioning times of all edges between their `ends`."""
        tables = [self._repartition(*pair) for pair in zip(self._edges, self.ends, strict=True)]
        return np.array(tables).reshape(-1, len(self.degrees), len(self.degrees))

    def _repartition(self, edge: Edge, ends: Ints) -> Array:
        """Return the repartitioning times of an edge; zero at degrees its ends do not allow."""
        senders, receivers = np.meshgrid(self.degrees, self.degrees, indexing="ij")
        asked = np.logical_and.outer(*np.isfinite(self.time[ends])) & (senders != receivers)
        table = np.zeros(asked.shape)
        table[asked] = edge.seconds(senders[asked].astype(float), receivers[asked].astype(float))
        wrong = ~(table >= 0) | (table > MOST_SECONDS)
        if wrong.any():
            i, j = np.argwhere(wrong)[0]
            raise DataflowError(
                f"edge {edge.parent} -> {edge.child}: repartitioning from {senders[i, j]} to "
                f"{receivers[i, j]} nodes takes {table[i, j]:g} s; allowed is 0 to {MOST_SECONDS:g}"
            )
        return table

    @property
    def sources(self) -> Ints:
        """Places of the vertices without parent."""
        return np.setdiff1d(np.arange(len(self.names)), self.ends[:, 1])

    @property
    def movable(self) -> NDArray[np.bool_]:
        """Whether a vertex allows more than one degree, shape (vertices,)."""
        return np.asarray(np.isfinite(self.time).sum(axis=1) > 1)

    @property
    def consumption(self) -> Array:
        """Node seconds of each vertex by degree, shape (vertices, k): first sum of Eq. 8."""
        return self.time * self.degrees

    @property
    def repartition_consumption(self) -> Array:
        """Node seconds of each edge, shape (edges, k, k): the larger end is occupied (Eq. 8)."""
        return self.repartition * np.maximum.outer(self.degrees, self.degrees)

    def indices(self, plan: ArrayLike) -> Ints:
        """Return the place in `degrees` of every degree of a plan.

        Raises
        ------
        DataflowError
            If the plan has the wrong length or a degree that its vertex does not allow.
        """
        plan = np.asarray(plan)
        if plan.shape != self.initial.shape:
            raise DataflowError(f"a plan needs {len(self.names)} degrees, not {plan.shape}")
        places = np.searchsorted(self.degrees, plan).clip(max=len(self.degrees) - 1)
        for v, (name, degree) in enumerate(zip(self.names, plan, strict=True)):
            if self.degrees[places[v]] != degree or np.isinf(self.time[v, places[v]]):
                raise DataflowError(
                    f"vertex {name}: degree {degree} is not allowed; allowed are {self.allowed(v)}"
                )
        return places.astype(np.int64)

    def allowed(self, vertex: int) -> list[int]:
        """Return the degrees that a vertex allows, ascending."""
        return [int(d) for d in self.degrees[np.isfinite(self.time[vertex])]]

    def running_time(self, plan: ArrayLike) -> float:
        """Return the running time RT of a plan in seconds (Eq. 7)."""
        return self._total(plan, self.time, self.repartition)

    def resource_consumption(self, plan: ArrayLike) -> float:
        """Return the resource consumption RC of a plan in node seconds (Eq. 8)."""
        return self._total(plan, self.consumption, self.repartition_consumption)

    def _total(self, plan: ArrayLike, vertices: Array, edges: Array) -> float:
        at = self.indices(plan)
        parent, child = at[self.ends].T
        moved = edges[np.arange(len(self.ends)), parent, child].sum()
        return float(vertices[np.arange(len(at)), at].sum() + moved)

    def bound(self, slack: float, plan: ArrayLike | None = None) -> float:
        """Return the largest running time allowed: (1 + slack) times that of a plan.

        Parameters
        ----------
        slack
            The paper's epsilon, a part: 0.1 allows 10 % more time.
        plan
            The initial plan by default.

        Raises
        ------
        DataflowError
            If the slack is not a number of at least 0 (infinity is one).
        """
        if not slack >= 0:
            raise DataflowError(f"the slack is {slack}; at least 0 is needed (0.1 is 10 %)")
        return (1 + slack) * self.running_time(self.initial if plan is None else plan)

    @cached_property
    def dependencies(self) -> Ints:
        """Edges of the dependency graph, shape (edges, 2), in the order of `ends` (Fig. 6).

        A child with a sibling that was processed earlier depends on the last such sibling
        in place of the parent; so for each of its parents.
        """
        last: dict[int, int] = {}
        rows = []
        for parent, child in self.ends.tolist():
            rows.append((last.get(parent, parent), child))
            last[parent] = child
        return np.array(rows, dtype=np.int64).reshape(-1, 2)

    def cached(self) -> Dataflow:
        """Return the flow that pays for repartitioning on the edges of the dependency graph.

        With every data set cached by its latest partitioning (Section 3.3), a child takes
        the parent's data as its last processed sibling left it. Two parents that a child
        shares with one sibling are then two edges between the same vertices. An edge keeps
        its times, but they are asked at the degrees that the sibling allows.

        Raises
        ------
        DataflowError
            If an edge has no times of at least 0 at the degrees of the sibling.
        """
        other = object.__new__(Dataflow)
        vars(other).update(vars(self) | {"ends": self.dependencies})
        other.repartition = other._repartitions()
        return other


def _initial(vertex: Vertex) -> int:
    return max(vertex.seconds) if vertex.initial is None else vertex.initial


def _check(vertices: Sequence[Vertex], edges: Sequence[Edge]) -> None:
    if not vertices:
        raise DataflowError("a data flow needs at least one vertex")
    names = [vertex.name for vertex in vertices]
    children = {edge.child for edge in edges}
    for i, vertex in enumerate(vertices):
        if vertex.name in names[:i]:
            raise DataflowError(f"vertex {vertex.name} is listed twice")
        _check_vertex(vertex, source=vertex.name not in children)
    seen = set()
    for edge in edges:
        name = f"edge {edge.parent} -> {edge.child}"
        for end in (edge.parent, edge.child):
            if end not in names:
                raise DataflowError(f"{name}: there is no vertex {end}")
        if edge.parent == edge.child:
            raise DataflowError(f"{name}: a vertex cannot be its own parent")
        if (edge.parent, edge.child) in seen:
            raise DataflowError(f"{name} is listed twice")
        seen.add((edge.parent, edge.child))


def _check_vertex(vertex: Vertex, *, source: bool) -> None:
    """Check the degrees and times of a vertex; only a source may take no time."""
    if not isinstance(vertex.name, str) or not vertex.name.strip() or not vertex.name.isprintable():
        raise DataflowError(f"vertex {vertex.name!r}: a name of one printable line is needed")
    name = f"vertex {vertex.name}"
    if not vertex.seconds:
        raise DataflowError(f"{name}: no degree is allowed; at least one is needed")
    for degree, seconds in vertex.seconds.items():
        whole = isinstance(degree, int | np.integer) and not isinstance(degree, bool)
        if not (whole and 0 < degree <= MOST_NODES):
            raise DataflowError(
                f"{name}: degree {degree!r} is not a whole number from 1 to {MOST_NODES}"
            )
        if not 0 <= seconds <= MOST_SECONDS or (seconds == 0 and not source):
            raise DataflowError(
                f"{name}: the running time at degree {degree} is {seconds} s; it must be above 0 "
                f"and at most {MOST_SECONDS:g}"
            )
    if _initial(vertex) not in vertex.seconds:
        raise DataflowError(
            f"{name}: the initial degree {vertex.initial} is not among the allowed "
            f"{sorted(vertex.seconds)}"
        )


def _in_order(vertices: Sequence[Vertex], edges: Sequence[Edge]) -> list[Vertex]:
    """Return the vertices, the first in their list whose parents are all done each time."""
    parents: dict[str, set[str]] = {vertex.name: set() for vertex in vertices}
    for edge in edges:
        parents[edge.child].add(edge.parent)
    ordered: list[Vertex] = []
    waiting = list(vertices)
    done: set[str] = set()
    while waiting:
        ready = next((v for v in waiting if parents[v.name] <= done), None)
        if ready is None:
            cycle = _cycle(parents, done)
            raise DataflowError(f"the edges form a cycle: {' -> '.join(cycle)}")
        waiting.remove(ready)
        ordered.append(ready)
        done.add(ready.name)
    return ordered


def _cycle(parents: Mapping[str, set[str]], done: set[str]) -> list[str]:
    """Follow parents that are not done until one comes again."""
    path = [next(name for name in parents if name not in done)]
    while True:
        parent = min(parents[path[-1]] - done)
        if parent in path:
            return [parent, *reversed(path[path.index(parent) :])]
        path.append(parent)
