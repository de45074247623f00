"""Figures 1 to 5 of Le and Liu (arXiv 2006.01354, Section 2.2) on the real first day.

They rest on aggregates that were derived from the Google cluster trace of May 2011 (see the
README of `flex.data`), not on the raw trace: usage and request per machine and window of five
minutes for the whole cell, and single tasks for a sample of 1000 only.
"""

from __future__ import annotations

from importlib.resources import files

import numpy as np
import pandas as pd
from numpy.typing import NDArray

__all__ = [
    "figure1", "figure2", "figure3", "figure4", "figure5_classes", "figure5_tasks",
    "trace_findings",
]  # fmt: skip

Array = NDArray[np.float64]

RESOURCES = {"cpu": "cpu", "mem": "memory"}
MEASURES = ("mean_over_request", "max_over_request", "std_over_mean")
CLASSES = {"batch_0_8": "batch", "production_9_10": "production"}


def _table(name: str) -> pd.DataFrame:
    with files("flex.data").joinpath(f"day_{name}.csv").open(encoding="utf-8") as stream:
        return pd.read_csv(stream)


def _long(parts: list[pd.DataFrame]) -> pd.DataFrame:
    return pd.concat(parts, ignore_index=True)


def figure1() -> pd.DataFrame:
    """Figure 1: usage and request of the whole cell over the first 24 hours.

    Returns
    -------
    DataFrame
        ``hours``; ``resource`` ("cpu", "memory"); ``what`` ("usage", "request"); ``rows``
        ("grid": each task counted once a window, "all": the naive reading of the published
        rows, in which some count twice); ``share`` of the capacity of all 12,498 machines.
    """
    table = _table("cell")
    parts = []
    for short, resource in RESOURCES.items():
        for what in ("usage", "request"):
            for rows, suffix in (("grid", ""), ("all", "_all_rows")):
                share = table[f"{short}_{what}{suffix}"]
                part = pd.DataFrame({"hours": table["hour"], "share": share})
                parts.append(part.assign(resource=resource, what=what, rows=rows))
    return _long(parts)[["hours", "resource", "what", "rows", "share"]]


def figure2() -> pd.DataFrame:
    """Figure 2: usage of four machines of the commonest shape.

    The paper does not say which machines. Machine 1 has much more CPU than memory in use,
    machine 2 little of both, machine 4 much more memory than CPU, as its text says of them;
    machine 3, of which it says nothing, is nearest to the medians.

    Returns
    -------
    DataFrame
        ``hours``, ``machine`` (1 to 4), ``resource``, ``share`` of the machine's capacity.
    """
    table = _table("machines")
    parts = [
        pd.DataFrame({"hours": table["hour"], "share": table[f"machine_{k}_{short}"]}).assign(
            machine=k, resource=resource
        )
        for k in range(1, 5)
        for short, resource in RESOURCES.items()
    ]
    return _long(parts)[["hours", "machine", "resource", "share"]]


def figure3() -> pd.DataFrame:
    """Figure 3: distribution of usage over capacity, and over request, of machines.

    Over 12,498 machines times 286 windows of five minutes.

    Returns
    -------
    DataFrame
        ``panel`` ("capacity", "request"), ``resource``, ``rows`` ("grid", or "unweighted":
        every published row counts once, as a reader of the files might), ``q`` (part of
        machine-windows at or below), ``ratio``.
    """
    parts = []
    for panel in ("capacity", "request"):
        table = _table(f"usage_to_{panel}")
        for short, resource in RESOURCES.items():
            for rows, suffix in (("grid", ""), ("unweighted", "_rows_unweighted")):
                part = pd.DataFrame({"q": table["q"], "ratio": table[f"{short}{suffix}"]})
                parts.append(part.assign(panel=panel, resource=resource, rows=rows))
    return _long(parts)[["panel", "resource", "rows", "q", "ratio"]]


def figure4() -> pd.DataFrame:
    """Figure 4: distribution of usage over request, and of variation, of 1000 tasks.

    The tasks are those with usage of the 127 oldest jobs: nearly all production, nearly all
    alive all day. They are not representative.

    Returns
    -------
    DataFrame
        ``measure`` ("mean_over_request", "max_over_request", of five-minute means, and
        "std_over_mean"), ``resource``, ``q`` (part of tasks at or below), ``ratio``.
    """
    table = _table("task_ratios")
    parts = [
        pd.DataFrame({"q": table["q"], "ratio": table[f"{short}_{measure}"]}).assign(
            measure=measure, resource=resource
        )
        for measure in MEASURES
        for short, resource in RESOURCES.items()
    ]
    return _long(parts)[["measure", "resource", "q", "ratio"]].dropna(ignore_index=True)


def figure5_classes() -> pd.DataFrame:
    """Figure 5 for all tasks, as sums: usage over request of each class, hour by hour.

    Batch is priority 0 to 8, production 9 and 10, system 11 (monitoring); the paper does not
    say where its classes begin. Sums over the tasks of a class, not single tasks.

    Returns
    -------
    DataFrame
        ``hours``, ``class``, ``resource``, ``ratio`` of summed usage to summed request.
    """
    table = _table("classes")
    table = table[(table["priority"] == "all") & (table["basis"] == "cell")]
    parts = [
        pd.DataFrame(
            {
                "hours": table["hour_end_s"] / 3600,
                "class": table["class"],
                "ratio": table[f"{short}_ratio"],
            }
        ).assign(resource=resource)
        for short, resource in RESOURCES.items()
    ]
    return _long(parts)[["hours", "class", "resource", "ratio"]]


def figure5_tasks() -> pd.DataFrame:
    """Figure 5 for single tasks of the sample: 71 batch and 929 production tasks, no system.

    Returns
    -------
    DataFrame
        ``class``, ``measure``, ``resource``, ``q``, ``ratio``, as in `figure4`.
    """
    table = _table("task_ratios_by_class")
    parts = [
        pd.DataFrame({"q": table["q"], "ratio": table[f"{key}_{short}_{measure}"]}).assign(
            **{"class": name, "measure": measure, "resource": resource}
        )
        for key, name in CLASSES.items()
        for measure in MEASURES
        for short, resource in RESOURCES.items()
    ]
    long = _long(parts)[["class", "measure", "resource", "q", "ratio"]]
    return long.dropna(ignore_index=True)


def _part_at(table: pd.DataFrame, level: float) -> float:
    """Return the part of a distribution at or below a level, between its quantiles."""
    return float(np.interp(level, table["ratio"].to_numpy(), table["q"].to_numpy()))


def _at(table: pd.DataFrame, q: float) -> float:
    return float(np.interp(q, table["q"].to_numpy(), table["ratio"].to_numpy()))


def trace_findings() -> pd.DataFrame:
    """Check what Section 2.2 reads off Figures 1 to 5.

    Returns
    -------
    DataFrame
        ``finding`` and ``value``; parts and ratios, not percent.
    """
    rows = {**_of_cell(), **_of_machines(), **_of_tasks(), **_of_classes()}
    return pd.DataFrame(rows.items(), columns=["finding", "value"])


def _of_cell() -> dict[str, float]:
    table = figure1()
    rows: dict[str, float] = {}
    for (resource, what, which), part in table.groupby(["resource", "what", "rows"]):
        name = f"{resource} {what}" + ("" if which == "grid" else ", naive rows")
        rows[f"average {name}"] = part["share"].mean()
        rows[f"greatest {name}"] = part["share"].max()
    machines = figure2().groupby(["machine", "resource"])["share"].mean()
    rows["machine 1 over machine 2, cpu"] = machines[1, "cpu"] / machines[2, "cpu"]
    rows["machine 1, cpu over memory"] = machines[1, "cpu"] / machines[1, "memory"]
    rows["machine 4, memory over cpu"] = machines[4, "memory"] / machines[4, "cpu"]
    return rows


def _of_machines() -> dict[str, float]:
    rows: dict[str, float] = {}
    for (panel, resource, which), part in figure3().groupby(["panel", "resource", "rows"]):
        name = f"{resource}" + ("" if which == "grid" else ", naive rows")
        if panel == "capacity":
            rows[f"windows with less than half in use, {name}"] = _part_at(part, 0.5)
            rows[f"windows with less than a hundredth in use, {name}"] = _part_at(part, 0.01)
            rows[f"in use in the median window, {name}"] = _at(part, 0.5)
        else:
            rows[f"windows with usage above request, {name}"] = 1 - _part_at(part, 1)
    return rows


def _of_tasks() -> dict[str, float]:
    rows: dict[str, float] = {}
    for (measure, resource), part in figure4().groupby(["measure", "resource"]):
        if measure == "std_over_mean":
            rows[f"median variation, {resource}"] = _at(part, 0.5)
        else:
            kind = str(measure).partition("_")[0]
            rows[f"tasks with {kind} usage above request, {resource}"] = 1 - _part_at(part, 1)
            rows[f"greatest {kind} usage over request, {resource}"] = part["ratio"].max()
    rows["median variation, cpu over memory"] = (
        rows["median variation, cpu"] / rows["median variation, memory"]
    )
    return rows


def _of_classes() -> dict[str, float]:
    rows: dict[str, float] = {}
    for (name, resource), part in figure5_classes().groupby(["class", "resource"]):
        rows[f"usage over request of {name}, {resource}"] = part["ratio"].mean()
    for (name, measure, resource), part in figure5_tasks().groupby(
        ["class", "measure", "resource"]
    ):
        if measure == "std_over_mean":
            rows[f"median variation of {name} tasks, {resource}"] = _at(part, 0.5)
        else:
            kind = str(measure).partition("_")[0]
            rows[f"median {kind} usage over request of {name} tasks, {resource}"] = _at(part, 0.5)
            part_below = _part_at(part, 1)
            rows[f"{name} tasks with {kind} usage below request, {resource}"] = part_below
    return rows
