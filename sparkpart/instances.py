"""Synthetic flows as in Section 4.2 of Gounaris et al. (TPDS 2017): five shapes, random profiles.

The paper's Figure 8 is an image that we do not have, and its text leaves much open. The shapes
here are drawn after its description, and every open choice is a field of `Choices`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sparkpart import published
from sparkpart.dataflow import Dataflow, DataflowError, Edge, Vertex
from sparkpart.models import MODELS, running_time

__all__ = ["SIZES", "TYPES", "Choices", "Instance", "draw", "shape"]

Array = NDArray[np.float64]

TYPES = ("A", "B", "C", "D", "E")
"""Chain; tree with one source; tree with several; mesh; general graph that extends B."""
SIZES = {"small": 5, "medium": 10, "large": 15}
"""Vertices that are no sources."""
SPREAD = 0.3
"""Part by which parameters are perturbed at most."""
REDRAWS = 10_000
CLIP = 1.0
"""Least running time in seconds under "clip"."""
SOURCE_DEGREE = 96
FLEXIBLE = {
    "step of 8": tuple(range(8, 97, 8)),
    "as measured": published.NODE_GRIDS["sort"],
}


@dataclass(frozen=True)
class Choices:
    """What the paper leaves open; the defaults are its plainest reading.

    Attributes
    ----------
    equation
        The half of Table 2 that profiles come from.
    version
        Its rows as printed, or with the misprints corrected.
    factor
        Whether each parameter is perturbed by itself, or the whole profile by one factor.
    sources
        Whether sources take time like other vertices, or none (data that are there).
    nonpositive
        What is done when a perturbed profile has a time of 0 or less: draw its factors
        again, or clip times at 1 s (repartitioning at 0 s, poles below the least degree).
    repartition
        Edges on which repartitioning is paid: those of the flow, or of its dependency graph.
    pole
        Coefficient e of Equation 6, which is not printed.
    degrees
        8 to 96 nodes in steps of 8, or the ten counts that Tables 1 and 2 were fitted to.
    shapes
        One of two sets of shapes that fit the description.
    inner
        What the inner loop of `sparkpart.ils.ils` lowers.
    """

    equation: Literal["eq4", "eq5"] = "eq5"
    version: Literal["corrected", "printed"] = "corrected"
    factor: Literal["parameter", "vertex"] = "parameter"
    sources: Literal["costed", "free"] = "costed"
    nonpositive: Literal["redraw", "clip"] = "redraw"
    repartition: Literal["flow", "dependencies"] = "flow"
    pole: float = 0.0
    degrees: Literal["step of 8", "as measured"] = "step of 8"
    shapes: Literal["first", "second"] = "first"
    inner: Literal["total", "vertex"] = "total"


Coefficients = Mapping[str, float]
Pairs = list[tuple[str, str]]


def _heap(n: int) -> Pairs:
    return [(f"v{i // 2}", f"v{i}") for i in range(2, n + 1)]


def _chain(n: int) -> Pairs:
    return [("s1", "v1")] + [(f"v{i - 1}", f"v{i}") for i in range(2, n + 1)]


def _trunk(n: int) -> Pairs:
    """Return a chain of which every second vertex carries a leaf."""
    trunk = [i for i in range(1, n + 1) if i % 3 != 0]
    pairs = [(f"v{a}", f"v{b}") for a, b in pairwise(trunk)]
    return [("s1", "v1"), *pairs, *((f"v{i - 1}", f"v{i}") for i in range(3, n + 1, 3))]


def _joins(n: int) -> Pairs:
    """Return a binary tree upside down: every leaf has a source, the root is the only sink."""
    pairs = [(f"v{n + 1 - b}", f"v{n + 1 - a}") for a, b in _halves(n)]
    leaves = [i for i in range(1, n + 1) if f"v{i}" not in {child for _, child in pairs}]
    return [(f"s{k}", f"v{leaf}") for k, leaf in enumerate(leaves, 1)] + pairs


def _halves(n: int) -> list[tuple[int, int]]:
    return [(i // 2, i) for i in range(2, n + 1)]


def _joined_chain(n: int) -> Pairs:
    """Return a chain in which every second vertex takes a source of its own as well."""
    joins = enumerate(range(2, n + 1, 2), 2)
    return [*_chain(n), *((f"s{k}", f"v{i}") for k, i in joins)]


def _mesh(n: int, reach: int) -> Pairs:
    """Return layers of three; a vertex takes those of the layer before it within reach."""
    names = ["s1", "s2", "s3", *(f"v{i}" for i in range(1, n + 1))]
    return [
        (names[3 * (k // 3 - 1) + column], names[k])
        for k in range(3, n + 3)
        for column in range(3)
        if abs(column - k % 3) <= reach
    ]


def _crossed(tree: Pairs, n: int) -> Pairs:
    """Add to a tree an edge to every second vertex from the one before it."""
    extra = [(f"v{i - 1}", f"v{i}") for i in range(4, n + 1, 2)]
    return [*tree, *(pair for pair in extra if pair not in tree)]


def _branched(n: int) -> Pairs:
    return [("s1", "v1"), *_heap(n)]


SHAPES: dict[str, dict[str, Callable[[int], Pairs]]] = {
    "first": {
        "A": _chain, "B": _branched, "C": _joins, "D": lambda n: _mesh(n, 1),
        "E": lambda n: _crossed(_branched(n), n),
    },
    "second": {
        "A": _chain, "B": _trunk, "C": _joined_chain, "D": lambda n: _mesh(n, 2),
        "E": lambda n: _crossed(_trunk(n), n),
    },
}  # fmt: skip


def shape(kind: str, n: int, shapes: str = "first") -> list[tuple[str, str]]:
    """Return the edges of a shape of Figure 8 as drawn here.

    Parameters
    ----------
    kind
        One of `TYPES`.
    n
        Vertices that are no sources, named v1, v2, ... in the order of processing; the
        sources are s1, s2, ...
    shapes
        "first": B a binary tree, C the same upside down with a source at each leaf, D layers
        of three that take their neighbours, E the tree B with an edge to each second vertex
        from the one before. "second": B a trunk with leaves, C a chain in which every
        second vertex joins a source, D layers of three that take the whole layer before
        them, E the trunk B with the extra edges.

    Returns
    -------
    list of (parent, child)

    Raises
    ------
    DataflowError
        If the type or the set of shapes is unknown, or n is below 1.
    """
    if shapes not in SHAPES or kind not in TYPES:
        raise DataflowError(f"unknown shape {kind!r} of set {shapes!r}; types are {TYPES}")
    if n < 1:
        raise DataflowError(f"{n} vertices asked for; at least 1 is needed")
    return SHAPES[shapes][kind](n)


@dataclass(frozen=True)
class Instance:
    """A synthetic flow by its parameters.

    Attributes
    ----------
    programs
        For each vertex the program of Table 2 whose profile it has.
    profiles
        For each vertex the perturbed coefficients of that profile.
    repartition
        For each edge the perturbed coefficients of Equation 6.
    choices
        The open choices.
    """

    programs: dict[str, str]
    profiles: dict[str, Coefficients] = field(repr=False)
    repartition: dict[tuple[str, str], Coefficients] = field(repr=False)
    choices: Choices

    def flow(self) -> Dataflow:
        """Return the flow; sources are fixed at 96 nodes."""
        vertices = [Vertex(name, self._seconds(name)) for name in self.programs]
        edges = [
            Edge(parent, child, _repartition(coefficients, self.choices))
            for (parent, child), coefficients in self.repartition.items()
        ]
        flow = Dataflow(vertices, edges)
        return flow.cached() if self.choices.repartition == "dependencies" else flow

    def _seconds(self, name: str) -> dict[int, float]:
        source = name.startswith("s")
        degrees = (SOURCE_DEGREE,) if source else FLEXIBLE[self.choices.degrees]
        if source and self.choices.sources == "free":
            return {SOURCE_DEGREE: 0.0}
        times = _times(self.choices.equation, degrees, self.profiles[name], self.choices)
        return dict(zip(degrees, times.tolist(), strict=True))

    def perturbed(self, rng: np.random.Generator) -> Instance:
        """Return the flow with all parameters perturbed once more by up to 30 % (Sec. 4.2.3)."""
        return replace(
            self,
            profiles={k: _profile(v, self.choices, rng) for k, v in self.profiles.items()},
            repartition={k: _equation6(v, self.choices, rng) for k, v in self.repartition.items()},
        )


def draw(
    kind: str, size: str, *, rng: np.random.Generator, choices: Choices | None = None
) -> Instance:
    """Draw an instance: a row of Table 2 for each vertex, parameters perturbed by up to 30 %.

    Parameters
    ----------
    kind, size
        Of `TYPES` and `SIZES`.
    rng
        Source of all random choices.
    choices
        The open choices; their defaults if not given.

    Raises
    ------
    DataflowError
        If the type, the size or a choice is unknown, or no positive profile is found.
    """
    choices = choices or Choices()
    if size not in SIZES:
        raise DataflowError(f"unknown size {size!r}; choose from {', '.join(SIZES)}")
    edges = shape(kind, SIZES[size], choices.shapes)
    names = sorted({name for pair in edges for name in pair}, key=lambda s: (s[0], int(s[1:])))
    rows = {name: str(rng.choice(published.PROGRAMS)) for name in names}
    base = _coefficients(choices.equation, choices.version)
    return Instance(
        rows,
        {name: _profile(base[program], choices, rng) for name, program in rows.items()},
        {pair: _equation6(published.EQUATION_6 | {"e": choices.pole}, choices, rng)
         for pair in edges},
        choices,
    )  # fmt: skip


@cache
def _coefficients(equation: str, version: published.Version) -> dict[str, Coefficients]:
    return {p: published.coefficients(p, equation, version) for p in published.PROGRAMS}


def _times(model: str, degrees: tuple[int, ...], values: Coefficients, choices: Choices) -> Array:
    times = running_time(model, degrees, values)
    return np.maximum(times, CLIP) if choices.nonpositive == "clip" else times


def _factors(names: list[str], choices: Choices, rng: np.random.Generator) -> dict[str, float]:
    """Draw a factor for each coefficient, or one for all but the pole."""
    drawn = rng.uniform(1 - SPREAD, 1 + SPREAD, len(names))
    if choices.factor == "vertex":
        return {name: 1.0 if name == "e" else drawn[0] for name in names}
    return dict(zip(names, drawn.tolist(), strict=True))


def _perturbed(
    model: str, values: Coefficients, choices: Choices, rng: np.random.Generator, inputs: Array
) -> dict[str, float]:
    """Perturb coefficients; by "redraw" until all times at the inputs are positive."""
    names = [*values]
    least = min(FLEXIBLE[choices.degrees])
    for _ in range(REDRAWS):
        factors = _factors(names, choices, rng)
        new = {name: values[name] * factors[name] for name in names}
        if choices.nonpositive == "clip":
            return new | ({"e": min(new["e"], least - 1.0)} if "e" in new else {})
        if new.get("e", 0.0) < least and (running_time(model, inputs, new) > 0).all():
            return new
    raise DataflowError(f"no positive {MODELS[model].label} in {REDRAWS} draws around {values}")


def _profile(values: Coefficients, choices: Choices, rng: np.random.Generator) -> dict[str, float]:
    inputs = np.array(FLEXIBLE[choices.degrees], dtype=float)
    return _perturbed(choices.equation, values, choices, rng, inputs)


def _equation6(
    values: Coefficients, choices: Choices, rng: np.random.Generator
) -> dict[str, float]:
    degrees = np.array(FLEXIBLE[choices.degrees], dtype=float)
    pairs = np.stack(np.meshgrid(degrees, degrees), axis=-1).reshape(-1, 2)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    return _perturbed("eq6", values, choices, rng, pairs)


def _repartition(values: Coefficients, choices: Choices) -> Callable[[Array, Array], Array]:
    def seconds(senders: Array, receivers: Array) -> Array:
        times = running_time("eq6", np.stack([senders, receivers], axis=1), values)
        return np.maximum(times, 0.0) if choices.nonpositive == "clip" else times

    return seconds
