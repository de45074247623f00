"""Drawings of data flows."""

from __future__ import annotations

from collections.abc import Iterable

import networkx as nx
from matplotlib.axes import Axes

from bookkit.style import INK

SOURCE = "#D5E8F3"


def flow_graph(ax: Axes, edges: Iterable[tuple[str, str]], *, size: float = 9) -> None:
    """Draw a data flow from left to right; vertices whose name begins with s are sources.

    Parameters
    ----------
    ax
        Where to draw; its axes are hidden.
    edges
        Pairs of parent and child.
    size
        Of the letters, in points.
    """
    graph = nx.DiGraph(list(edges))
    place = {}
    for depth, layer in enumerate(nx.topological_generations(graph)):
        ordered = sorted(layer, key=lambda name: (len(name), name))
        for row, name in enumerate(ordered):
            place[name] = (float(depth), (len(ordered) - 1) / 2 - row)
    for parent, child in graph.edges:
        bend = 0.25 if place[parent][1] == place[child][1] and _between(place, parent, child) else 0
        style = {"arrowstyle": "-|>", "color": INK, "shrinkA": 1.2 * size, "shrinkB": 1.2 * size,
                 "linewidth": 0.8, "connectionstyle": f"arc3,rad={bend}"}  # fmt: skip
        ax.annotate("", place[child], place[parent], arrowprops=style)
    for name, (x, y) in place.items():
        colour = SOURCE if name.startswith("s") else "white"
        ax.scatter(
            x, y, s=(2.4 * size) ** 2, facecolor=colour, edgecolor=INK, linewidth=0.8, zorder=3
        )
        ax.text(x, y, name, ha="center", va="center", fontsize=size, zorder=4)
    columns, rows = zip(*place.values(), strict=True)
    ax.set(xlim=(-0.6, max(columns) + 0.6), ylim=(min(rows) - 0.7, max(rows) + 0.7))
    ax.axis("off")


def _between(place: dict[str, tuple[float, float]], parent: str, child: str) -> bool:
    """Whether another vertex lies on the straight line between two in one row."""
    (first, row), (last, _) = place[parent], place[child]
    return any(first < x < last and y == row for x, y in place.values())
