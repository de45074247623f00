"""The synthetic day beside the real one: marginals, and the load that it offers by the hour.

The functions named ``*_statistics`` measure real and synthetic data alike; real values are in
``flex/data/statistics.csv``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from flex.synthetic import TASKS, day_jobs, synthesize
from flex.synthetic_demand import SAMPLE, START, table
from flex.workload import CPU_CAPACITY, MEMORY_CAPACITY, Workload

__all__ = [
    "SCALES",
    "day_load",
    "day_marginals",
    "job_statistics",
    "machine_statistics",
    "variation_statistics",
]

Array = NDArray[np.float64]
Int64 = NDArray[np.int64]
Scale = Literal["paper", "quick"]
Statistics = dict[tuple[str, str], float]

SCALES: dict[str, int] = {"paper": TASKS, "quick": 7_140}
"""Number of tasks at each scale."""
NODES = 4000
"""Nodes of the paper's simulation at full scale (Section 5)."""
MACHINES, MEASURED = 12_498, 300
"""Machines of the real cell, and those of the published sample."""
WINDOWS = 286
"""5-minute windows of the trace's first day, which starts at 600 s."""
OLD_JOBS = 127
"""Jobs in the published sample of 1000 tasks."""
TIERS = ("free", "batch", "production")


def day_load(scale: Scale = "quick", seeds: Sequence[int] = (0, 1, 2)) -> pd.DataFrame:
    """Compare the offered load by the hour with the real cell, if every task runs at once.

    The real cell ran what it admitted, and its requests leave out tasks without a usage record
    (1.7 % of its CPU and 2.1 % of its memory capacity).

    Parameters
    ----------
    scale
        "paper" for 714,030 tasks or "quick" for 7,140.
    seeds
        Seeds of the synthetic days.

    Returns
    -------
    DataFrame
        ``seed``, ``hour`` (from 600 s on), ``quantity`` (cpu_request, cpu_usage,
        memory_request, memory_usage), ``synthetic`` and ``real``, as parts of the capacity of
        4000 nodes (scaled down with the tasks), and ``ratio`` of the two.
    """
    n_tasks = _tasks(scale)
    real = table("cell_hourly").melt("hour", var_name="quantity", value_name="real")
    real["real"] /= NODES
    parts = []
    for seed in seeds:
        offered = _offered(synthesize(n_tasks, seed=seed)) / (NODES * n_tasks / TASKS)
        offered = offered.rename_axis("hour").reset_index()
        part = offered.melt("hour", var_name="quantity", value_name="synthetic")
        parts.append(part.merge(real, on=["hour", "quantity"]).assign(seed=seed))
    load = pd.concat(parts, ignore_index=True)
    load["ratio"] = load["synthetic"] / load["real"]
    return load[["seed", "hour", "quantity", "synthetic", "real", "ratio"]]


def day_marginals(scale: Scale = "quick", seeds: Sequence[int] = (0, 1, 2)) -> pd.DataFrame:
    """Compare the marginals of synthetic days with the real ones.

    At the quick scale jobs are thinned: statistics of jobs (tasks per job, arrivals) then
    differ from the real ones by construction, those of tasks do not.

    Parameters
    ----------
    scale
        "paper" for 714,030 tasks or "quick" for 7,140.
    seeds
        Seeds of the synthetic days.

    Returns
    -------
    DataFrame
        ``statistic``, ``group``, ``real``; ``low``, ``mean`` and ``high`` over the seeds;
        ``role``: "input" if the day is drawn from the real values, "fitted" if a parameter was
        set by them, "check" if they were not used; ``source``.
    """
    days = pd.DataFrame([_day_statistics(_tasks(scale), seed) for seed in seeds]).T
    days.index = pd.MultiIndex.from_tuples(days.index, names=["statistic", "group"])
    seen = pd.DataFrame(
        {"low": days.min(axis=1), "mean": days.mean(axis=1), "high": days.max(axis=1)}
    )
    compared = table("statistics").merge(seen.reset_index(), on=["statistic", "group"], how="left")
    return compared[["statistic", "group", "real", "low", "mean", "high", "role", "source"]]


def job_statistics(jobs: pd.DataFrame, group: str) -> Statistics:
    """Measure sizes and requests of jobs.

    Parameters
    ----------
    jobs
        One job a row: ``tasks``, ``tier``, ``cpu``, ``memory``.
    group
        Name of the group in the answer.
    """
    tasks, total = jobs["tasks"], jobs["tasks"].sum()
    found = {("jobs of one task", group): float((tasks == 1).mean())}
    for q in (0.75, 0.9, 0.95, 0.99):
        found[f"tasks per job, {q:.0%} quantile", group] = float(tasks.quantile(q))
    found["tasks per job, mean", group] = float(tasks.mean())
    for tier in TIERS:
        mine = jobs[jobs["tier"] == tier]
        found["share of tasks", f"{group} {tier}"] = float(mine["tasks"].sum() / total)
        for resource in ("cpu", "memory"):
            mean = (mine[resource] * mine["tasks"]).sum() / max(mine["tasks"].sum(), 1)
            found[f"mean {resource} request", f"{group} {tier}"] = float(mean)
    asked = jobs[(jobs["cpu"] > 0) & (jobs["memory"] > 0)]
    logs = np.log(asked[["cpu", "memory"]].to_numpy())
    covariance = np.cov(logs.T, fweights=asked["tasks"])
    scale = np.sqrt(covariance[0, 0] * covariance[1, 1])
    found["log correlation of requests", group] = float(covariance[0, 1] / scale)
    return found


def variation_statistics(usage: Array, job: Int64, group: str) -> Statistics:
    """Measure how usage varies over time and within jobs.

    Parameters
    ----------
    usage : (tasks, windows)
        NaN where there is no record.
    job : (tasks,)
    group
        Name of the group in the answer.
    """
    mean, std = np.nanmean(usage, axis=1), np.nanstd(usage, axis=1)
    moves = std > 0
    found = _quantiles("std/mean over time", group, std[moves] / mean[moves], (0.25, 0.5, 0.75))
    centred = (usage[moves] - mean[moves, None]) / std[moves, None]
    for lag in (1, 3, 12, 36):
        products = np.nanmean(centred[:, lag:] * centred[:, :-lag], axis=1)
        found[f"autocorrelation, {lag * 5} min", group] = float(np.median(products))
    level = _within_jobs(usage[moves], job[moves])
    change = _within_jobs(np.diff(usage[moves], axis=1), job[moves])
    return found | {
        ("correlation within jobs", group): level,
        ("correlation of changes within jobs", group): change,
    }


def machine_statistics(usage: Array) -> Statistics:
    """Measure how the CPU usage of machines varies over time, (machines, windows)."""
    usage = usage[np.nanmean(usage, axis=1) > 0]
    mean = np.nanmean(usage, axis=1)
    change = np.nanstd(np.diff(usage, axis=1), axis=1) / mean
    wanted = (0.25, 0.5, 0.75, 0.9)
    found = _quantiles("std/mean over time", "machine cpu", np.nanstd(usage, axis=1) / mean, wanted)
    found |= _quantiles("std/mean of changes", "machine cpu", change, wanted)
    square = np.nanmean((usage - mean[:, None]) ** 2)
    found["root mean square over time/mean", "machine cpu"] = float(np.sqrt(square) / mean.mean())
    return found


def _tasks(scale: str) -> int:
    if scale not in SCALES:
        raise ValueError(f"scale must be one of {', '.join(SCALES)}; got {scale!r}")
    return SCALES[scale]


def _quantiles(name: str, group: str, values: Array, wanted: Iterable[float]) -> Statistics:
    return {(f"{name}, {q:.0%} quantile", group): float(np.quantile(values, q)) for q in wanted}


def _within_jobs(usage: Array, job: Int64) -> float:
    """Return the mean over jobs of 3 tasks and more of the mean correlation of two tasks."""
    means = []
    for one in np.unique(job):
        rows = pd.DataFrame(usage[job == one].T)
        if rows.shape[1] >= 3:
            matrix = rows.corr(min_periods=100).to_numpy()
            means.append(np.nanmean(matrix[np.triu_indices(len(matrix), 1)]))
    return float(np.nanmean(means)) if means else float("nan")


def _day_statistics(n_tasks: int, seed: int) -> Statistics:
    jobs = day_jobs(n_tasks, seed=seed)
    day = synthesize(n_tasks, seed=seed)
    old, new = jobs[jobs["running"]], jobs[~jobs["running"]]
    found = job_statistics(old, "running") | job_statistics(new, "new")
    found |= _arrival_statistics(new) | _duration_statistics(day, jobs)
    return found | _usage_statistics(day, jobs, seed)


def _arrival_statistics(new: pd.DataFrame) -> Statistics:
    seconds = new["arrival"].to_numpy() - START
    hours = np.bincount(seconds // 3600, minlength=24)[:23]
    minutes = np.bincount(seconds // 60, minlength=1430)
    return {
        ("jobs an hour, mean", "new"): float(hours.mean()),
        ("jobs an hour, largest/least", "new"): float(hours.max() / max(hours.min(), 1)),
        ("dispersion of jobs a minute", "new"): float(minutes.var() / minutes.mean()),
    }


def _duration_statistics(day: Workload, jobs: pd.DataFrame) -> Statistics:
    frame = pd.DataFrame({"job": day.job, "seconds": day.duration})
    frame = frame.join(jobs[["running", "sclass", "tier"]], on="job")
    new = frame[~frame["running"]]
    found = _quantiles(
        "duration of tasks", "new", new["seconds"].to_numpy(), (0.25, 0.5, 0.75, 0.9)
    )
    longest = new.groupby("job").agg(seconds=("seconds", "max"), sclass=("sclass", "first"))
    for sclass, mine in longest.groupby("sclass")["seconds"]:
        found |= _quantiles("duration of jobs", f"class {sclass}", mine.to_numpy(), (0.5, 0.9))
    for tier, mine in frame[frame["running"]].groupby("tier")["seconds"]:
        found["alive after 83 min", f"running {tier}"] = float((mine > 5000).mean())
    return found


def _usage_statistics(day: Workload, jobs: pd.DataFrame, seed: int) -> Statistics:
    rng = np.random.default_rng(seed)
    long = np.flatnonzero(np.diff(day.offset) == WINDOWS)
    owner = _of_series(day, day.job)[long]
    production = jobs["tier"].to_numpy()[owner] == "production"
    found = _ratio_statistics(day, jobs)
    for chosen, group in ((production, "old production"), (~production, "old free and batch")):
        some = rng.permutation(np.unique(owner[chosen]))[:OLD_JOBS]
        kept = chosen & np.isin(owner, some)
        rows = day.offset[long[kept], None] + np.arange(WINDOWS)
        for resource, samples in (("cpu", day.cpu_demand), ("memory", day.memory_demand)):
            usage = samples[rows].astype(float)
            found |= variation_statistics(usage, owner[kept], f"{group} {resource}")
    return found | machine_statistics(_machines(day, rng))


def _ratio_statistics(day: Workload, jobs: pd.DataFrame) -> Statistics:
    """Return usage/request by priority, weighted by time."""
    seconds, followers = _seconds(day), np.bincount(day.series, minlength=len(day.offset) - 1)
    row = np.repeat(np.arange(len(followers)), np.diff(day.offset))
    priority = jobs["priority"].to_numpy()[_of_series(day, day.job)][row]
    weight = seconds * followers[row]
    found = {}
    for resource in ("cpu", "memory"):
        request = _of_series(day, getattr(day, f"{resource}_request"))[row]
        used = np.bincount(priority, weight * getattr(day, f"{resource}_demand"))
        asked = np.bincount(priority, weight * request)
        for p in np.flatnonzero(asked):
            found[f"{resource} usage/request", f"priority {p}"] = float(used[p] / asked[p])
    return found


def _of_series(day: Workload, values: Int64) -> Int64:
    """Return the value that the tasks of each series have in common."""
    out = np.zeros(len(day.offset) - 1, np.int64)
    out[day.series] = values
    return out


def _seconds(day: Workload) -> Int64:
    """Return the length of each sample."""
    seconds = day.sample_end.astype(np.int64)
    seconds[1:] -= day.sample_end[:-1]
    seconds[day.offset[:-1]] = day.sample_end[day.offset[:-1]]
    return seconds


def _offered(day: Workload) -> pd.DataFrame:
    """Return the load by the hour in nodes, if every task runs when it arrives."""
    seconds, followers = _seconds(day), np.bincount(day.series, minlength=len(day.offset) - 1)
    row = np.repeat(np.arange(len(followers)), np.diff(day.offset))
    begin = _of_series(day, day.arrival)[row] + day.sample_end - seconds - START
    hour, weight = begin // 3600, seconds * followers[row]
    in_hour = np.minimum(3600, WINDOWS * SAMPLE - 3600 * np.arange(24))
    columns = {
        "cpu_request": _of_series(day, day.cpu_request)[row] / CPU_CAPACITY,
        "cpu_usage": day.cpu_demand / CPU_CAPACITY,
        "memory_request": _of_series(day, day.memory_request)[row] / MEMORY_CAPACITY,
        "memory_usage": day.memory_demand / MEMORY_CAPACITY,
    }
    totals = {k: np.bincount(hour, weight * v, 24) / in_hour for k, v in columns.items()}
    return pd.DataFrame(totals)


def _machines(day: Workload, rng: np.random.Generator) -> Array:
    """Return the CPU usage of some machines, tasks placed at random and running at arrival."""
    machines = max(1, round(MACHINES * len(day) / TASKS))
    machine = rng.integers(machines, size=len(day))
    tasks = np.flatnonzero(machine < MEASURED)
    sizes = np.diff(day.offset)[day.series[tasks]]
    owner = np.repeat(tasks, sizes)
    step = np.arange(len(owner)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    sample = day.offset[day.series[owner]] + step
    window = (day.arrival[owner] - START) // SAMPLE + step
    used = day.cpu_demand[sample] * (_seconds(day)[sample] / SAMPLE)
    cell = machine[owner] * WINDOWS + np.minimum(window, WINDOWS - 1)
    kept = min(machines, MEASURED)
    return np.asarray(np.bincount(cell, used, kept * WINDOWS).reshape(kept, WINDOWS), float)
