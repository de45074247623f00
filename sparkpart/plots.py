"""Plots of running times, their models and stage graphs; they need matplotlib and networkx."""

from __future__ import annotations

from collections.abc import Mapping

import networkx as nx
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from sparkpart.profiles import MODELS, Fit

__all__ = ["front_plot", "profile_plot", "stage_graph"]


def profile_plot(
    ax: Axes,
    fits: Mapping[str, Fit],
    *,
    band: str | None = None,
    resamples: int = 1000,
    seed: int = 0,
    colours: Mapping[str, str] | None = None,
    level: float = 0.95,
) -> None:
    """Draw running times, fitted curves, and the bootstrap band of one of them.

    Parameters
    ----------
    ax
        Where to draw.
    fits
        Fits of one-variable models to the same times, by model.
    band
        Model whose band is drawn.
    resamples, seed, level
        Of the bootstrap.
    colours
        A colour for each model; matplotlib's cycle by default.
    """
    first = next(iter(fits.values()))
    nodes = first.nodes[:, 0]
    grid = np.linspace(nodes.min(), nodes.max(), 200)
    for model, fitted in fits.items():
        colour = colours[model] if colours else None
        (line,) = ax.plot(grid, fitted.predict(grid), label=MODELS[model].label, color=colour)
        if model == band:
            edge = fitted.bootstrap(resamples, seed=seed).band(grid, level)
            label = f"{level:.0%} band, {MODELS[model].label}"
            shade = line.get_color()
            ax.fill_between(
                grid, edge["low"], edge["high"], color=shade, alpha=0.2, linewidth=0, label=label
            )
    ax.scatter(nodes, first.seconds, color="black", s=18, zorder=3, label="running times")
    ax.set(xlabel="nodes", ylabel="running time (s)", ylim=(0, None))
    ax.legend(frameon=False)


def front_plot(
    ax: Axes,
    front: pd.DataFrame,
    techniques: pd.DataFrame,
    *,
    colours: Mapping[str, str] | None = None,
    markers: Mapping[str, str] | None = None,
) -> None:
    """Draw a front of running time and resource consumption, and plans beside it.

    Parameters
    ----------
    ax
        Where to draw.
    front
        ``running_time`` (s) and ``resource_consumption`` (node s), by ascending time.
    techniques
        The same of single plans, and their name in ``technique``.
    colours, markers
        For each technique; matplotlib's cycle by default.
    """
    ax.step(
        front["running_time"], front["resource_consumption"], where="post", color="#555555",
        linewidth=1, marker=".", markersize=4, label="optimal plans",
    )  # fmt: skip
    shapes = markers or dict(zip(techniques["technique"], "sPD^vXo*", strict=False))
    columns = [
        techniques[c].tolist() for c in ("technique", "running_time", "resource_consumption")
    ]
    for name, x, y in zip(*columns, strict=True):
        colour = colours[name] if colours else None
        ax.plot(x, y, shapes[name], markersize=7, color=colour, label=name)
    ax.set(xlabel="running time (s)", ylabel="resource consumption (node s)")
    ax.legend(frameon=False)


def stage_graph(ax: Axes, edges: pd.DataFrame) -> None:
    """Draw the operations of a program from top to bottom, framed by stage.

    Parameters
    ----------
    ax
        Where to draw; its axes are hidden.
    edges
        A row for each edge of an acyclic graph: ``source``, ``target``, ``stage`` (of the
        target) and ``shuffle`` (drawn dashed).
    """
    graph = nx.from_pandas_edgelist(edges, edge_attr="shuffle", create_using=nx.DiGraph)
    stage = dict(zip(edges["target"], edges["stage"], strict=True))
    place = {}
    for depth, layer in enumerate(nx.topological_generations(graph)):
        for column, operation in enumerate(sorted(layer)):
            place[operation] = (column - (len(layer) - 1) / 2, -float(depth))
            stage.setdefault(operation, int(edges["stage"].min()))
    for number in sorted(set(stage.values())):
        _frame(ax, number, [place[operation] for operation in place if stage[operation] == number])
    for source, target, shuffle in graph.edges(data="shuffle"):
        style = {"arrowstyle": "-|>", "color": "#222222", "shrinkA": 12, "shrinkB": 12}
        style["linestyle"] = "--" if shuffle else "-"
        ax.annotate("", place[target], place[source], arrowprops=style)
    box = {"boxstyle": "round,pad=0.35", "facecolor": "white", "edgecolor": "#222222"}
    for operation, (x, y) in place.items():
        ax.text(x, y, operation, ha="center", va="center", fontsize=10, bbox=box)
    depths = [y for _, y in place.values()]
    ax.set(xlim=(-0.8, 0.8), ylim=(min(depths) - 0.6, 0.6))
    ax.axis("off")


def _frame(ax: Axes, number: int, places: list[tuple[float, float]]) -> None:
    """Frame and label a stage."""
    bottom, top = min(y for _, y in places) - 0.38, max(y for _, y in places) + 0.38
    frame = Rectangle((-0.72, bottom), 1.44, top - bottom, facecolor="#EEF4F9", edgecolor="#0173B2")
    ax.add_patch(frame)
    ax.text(-0.68, top - 0.07, f"stage {number}", ha="left", va="top", fontsize=9, color="#0173B2")
