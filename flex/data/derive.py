"""Derive the tables of this folder from the raw samples: ``python -m flex.data.derive``.

Not needed to use the package. The arguments are the folder of raw samples of the trace, that of
the tables measured on the whole job_events table and on the machines, and the folder to write to.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from flex.experiments import day
from flex.synthetic import LARGE, TIER_NAMES
from flex.synthetic_demand import SAMPLE, START, TIERS

__all__ = ["derive"]

Array = NDArray[np.float64]

COLUMNS = "time missing job index machine event user sclass priority cpu memory disk different"
SUBMIT, SCHEDULE, EVICT, FAIL, FINISH, KILL, LOST = range(7)
LAST_EVENT = 5611.0
"""End of part 0 of the task events, in seconds."""
SEEN = 4800.0
"""Running time up to which new tasks of part 0 are seen often enough."""
CELL = {"cpu": 6614.25, "mem": 5873.706}
"""Capacity of the cell in largest machines."""
RATIO_QUANTILES = np.array([0.001, 0.01, *np.arange(0.05, 1, 0.05).round(2), 0.99, 0.995])


def derive(samples: Path, facts: Path) -> dict[str, pd.DataFrame]:
    """Return every table of this folder, by the name of its file without the ending."""
    events = _task_events(samples / "task_events.part-00000-of-00500.csv.gz")
    tasks = _running_times(events)
    first_day = facts / "real-day"
    by_priority = pd.read_csv(first_day / "by_class_hourly.csv")
    tables = {
        "running_jobs": _kinds(tasks[tasks["origin"] == "running"]),
        "new_jobs": _kinds(tasks[tasks["origin"] == "new"]),
        "running_tasks_alive": _alive(tasks[tasks["origin"] == "running"]),
        "large_job_task_durations": _large_durations(tasks[tasks["origin"] == "new"]),
        "job_arrivals": _arrivals(facts / "job_arrivals_hourly_by_class.csv"),
        "job_durations": _durations(facts / "job_duration_quantiles_by_class.csv"),
        "usage_to_request": _usage_to_request(by_priority),
        "production_cpu_profile": _profile(facts / "tirmazi2020_2011_hourly.csv"),
        "cell_hourly": _cell(first_day / "cell.csv"),
    }
    return tables | {"statistics": _statistics(tables, tasks, samples)}


def _task_events(path: Path) -> pd.DataFrame:
    events = pd.read_csv(path, header=None, names=COLUMNS.split())
    events["seconds"] = events["time"].where(events["time"] > 0, START * 10**6) / 1e6
    return events


def _running_times(events: pd.DataFrame) -> pd.DataFrame:
    """Return one task a row: requests, seconds run in part 0, whether it ended, and its origin.

    An evicted task is not at its end: it is submitted again.
    """
    key = ["job", "index"]
    events = events.assign(order=events["event"].map({SUBMIT: 1, SCHEDULE: 2}).fillna(0))
    events = events.sort_values([*key, "seconds", "order"], kind="stable")
    runs = events[events["event"].between(SCHEDULE, LOST)].copy()
    runs["next"] = runs.groupby(key)["seconds"].shift(-1).fillna(LAST_EVENT)
    runs["run"] = runs["next"] - runs["seconds"]
    begin = events["seconds"] == events.groupby(key)["seconds"].transform("min")
    names = ["priority", "sclass", "cpu", "memory"]
    tasks = events[begin].groupby(key)[names].last()
    tasks["run"] = runs[runs["event"] == SCHEDULE].groupby(key)["run"].sum()
    tasks["ended"] = runs.groupby(key)["event"].last().isin([FAIL, FINISH, KILL])
    tasks["tier"] = [TIER_NAMES[t] for t in TIERS[tasks["priority"]].tolist()]
    tasks = tasks.reset_index()
    snapshot = events[events["time"] == 0]
    running = snapshot.loc[snapshot["event"] == SCHEDULE, key].apply(tuple, axis=1)
    known = tasks["job"].isin(snapshot["job"])
    tasks["origin"] = np.where(known, "old", "new")
    tasks.loc[tasks[key].apply(tuple, axis=1).isin(set(running)), "origin"] = "running"
    return tasks


def _kinds(tasks: pd.DataFrame) -> pd.DataFrame:
    """Return the number of jobs of each kind; the commonest request stands for a job."""
    jobs = tasks.groupby("job").agg(
        priority=("priority", "first"), sclass=("sclass", "first"), cpu=("cpu", _commonest),
        memory=("memory", _commonest), tasks=("job", "size"),
    )  # fmt: skip
    return jobs.groupby(jobs.columns.tolist()).size().rename("jobs").reset_index()


def _commonest(values: pd.Series[float]) -> float:
    modes = values.mode()
    return float(modes.iloc[0]) if len(modes) else 0.0


def _survival(tasks: pd.DataFrame) -> tuple[Array, Array]:
    """Return the Kaplan-Meier estimate: running times in order, and the part alive after each.

    Tasks that never ran are left out.
    """
    tasks = tasks[tasks["run"].notna()].sort_values("run", kind="stable")
    ended = tasks["ended"].to_numpy(float)
    left = len(tasks) - np.arange(len(tasks))
    return np.asarray(tasks["run"], float), np.asarray(np.cumprod(1 - ended / left), float)


def _alive(running: pd.DataFrame) -> pd.DataFrame:
    rows = []
    for tier in TIER_NAMES.values():
        mine = running[(running["tier"] == tier) & (running["priority"] != 11)]
        seconds, alive = _survival(mine)
        for at in (300, 600, 1200, 1800, 2700, 3600, 4500, 5000):
            rows.append((tier, at, alive[np.searchsorted(seconds, at, side="right") - 1]))
        rows.append((tier, 0, 1.0))
    frame = pd.DataFrame(rows, columns=["tier", "seconds", "alive"]).round({"alive": 4})
    return frame.sort_values(["tier", "seconds"], ignore_index=True)


def _large_durations(new: pd.DataFrame) -> pd.DataFrame:
    size = new.groupby("job")["job"].transform("size")
    rows: list[tuple[str, float, float]] = []
    for tier in ("free", "batch"):
        seconds, alive = _survival(new[(size > LARGE) & (new["tier"] == tier)])
        ended = 1 - alive[seconds <= SEEN]
        known = RATIO_QUANTILES[ended[-1] > RATIO_QUANTILES]
        found = seconds[np.searchsorted(ended, known)].round(1)
        rows += [(tier, q, s) for q, s in zip(known.tolist(), found.tolist(), strict=True)]
        rows.append((tier, round(float(ended[-1]), 4), SEEN))
    return pd.DataFrame(rows, columns=["tier", "q", "seconds"])


def _arrivals(path: Path) -> pd.DataFrame:
    table = pd.read_csv(path).rename(columns={"hr": "hour"})
    return table[table["hour"] < 24]


def _durations(path: Path) -> pd.DataFrame:
    table = pd.read_csv(path)
    return table.assign(seconds=table["seconds"].round(3).clip(lower=1))


def _usage_to_request(hourly: pd.DataFrame) -> pd.DataFrame:
    hosts = hourly[(hourly["basis"] == "hosts") & (hourly["priority"] != "all")]
    total = hosts.assign(priority=hosts["priority"].astype(int)).groupby("priority").sum()
    cpu, memory = (
        total["cpu_usage"] / total["cpu_request"],
        total["mem_usage"] / total["mem_request"],
    )
    return pd.DataFrame({"cpu": cpu.round(4), "memory": memory.round(4)}).reset_index()


def _profile(path: Path) -> pd.DataFrame:
    table = pd.read_csv(path).head(24)
    ratio = table["cpu_usage_prod"] / table["cpu_alloc_prod"]
    return pd.DataFrame({"hour": table["hour"], "factor": (ratio / ratio.mean()).round(4)})


def _cell(path: Path) -> pd.DataFrame:
    table = pd.read_csv(path)
    hour = ((table["t_start_s"] - START) // 3600).rename("hour")
    names = [f"{resource}_{kind}" for resource in CELL for kind in ("request", "usage")]
    mean = table.groupby(hour)[names].mean()
    scaled = mean * [CELL[name.split("_")[0]] for name in names]
    return scaled.round(1).rename(columns=lambda n: n.replace("mem_", "memory_")).reset_index()


def _statistics(
    tables: dict[str, pd.DataFrame], tasks: pd.DataFrame, samples: Path
) -> pd.DataFrame:
    rows = [*_job_rows(tables), *_time_rows(tables, tasks), *_variation_rows(tasks, samples)]
    table = pd.DataFrame(rows, columns=["statistic", "group", "real", "role", "source"])
    return table.assign(real=[float(f"{value:.4g}") for value in table["real"]])


Row = tuple[str, str, float, str, str]


def _rows(found: day.Statistics, role: str, source: str) -> list[Row]:
    return [(*key, value, role, source) for key, value in found.items()]


def _job_rows(tables: dict[str, pd.DataFrame]) -> list[Row]:
    rows = []
    for group, source in (
        ("running", "task_events part 0: tasks running at the start"),
        ("new", "task_events part 0: first 83 min (the whole day has fewer large jobs)"),
    ):
        kinds = tables[f"{group}_jobs"]
        jobs = kinds.loc[kinds.index.repeat(kinds["jobs"])]
        tier = [TIER_NAMES[t] for t in TIERS[jobs["priority"]].tolist()]
        rows += _rows(day.job_statistics(jobs.assign(tier=tier), group), "input", source)
    return rows


def _time_rows(tables: dict[str, pd.DataFrame], tasks: pd.DataFrame) -> list[Row]:
    hourly = tables["job_arrivals"].groupby("hour")["jobs"].sum().iloc[:23]
    found = {
        ("jobs an hour, mean", "new"): float(hourly.mean()),
        ("jobs an hour, largest/least", "new"): float(hourly.max() / hourly.min()),
    }
    rows = _rows(found, "input", "job_events, first day")
    source = "job_events, whole trace (3.4 in the first 83 min)"
    rows.append(("dispersion of jobs a minute", "new", 7.0, "fitted", source))
    seconds, alive = _survival(tasks[tasks["origin"] == "new"])
    at = {q: float(seconds[np.searchsorted(1 - alive, q)]) for q in (0.25, 0.5, 0.75, 0.9)}
    found = {(f"duration of tasks, {q:.0%} quantile", "new"): s for q, s in at.items()}
    rows += _rows(found, "check", "task_events part 0: first 83 min, Kaplan-Meier")
    known = tables["job_durations"].set_index(["sclass", "q"])["seconds"]
    for sclass, q in ((0, 0.5), (0, 0.9), (1, 0.5), (1, 0.9), (2, 0.5), (2, 0.9), (3, 0.5)):
        key = (f"duration of jobs, {q:.0%} quantile", f"class {sclass}")
        rows += _rows({key: float(known[sclass, q])}, "input", "job_events, whole trace")
    last = tables["running_tasks_alive"].groupby("tier")["alive"].last()
    found = {("alive after 83 min", f"running {t}"): float(v) for t, v in last.items()}
    rows += _rows(found, "input", "task_events part 0, Kaplan-Meier")
    ratios = tables["usage_to_request"].melt("priority")
    ratios = ratios[ratios["priority"].isin([0, 1, 2, 8, 9, 10, 11])]
    keys = zip(
        ratios["variable"] + " usage/request",
        "priority " + ratios["priority"].astype(str),
        strict=True,
    )
    found = dict(zip(keys, ratios["value"].tolist(), strict=True))
    return rows + _rows(found, "input", "per-priority series of the first day")


def _variation_rows(tasks: pd.DataFrame, samples: Path) -> list[Row]:
    rows = []
    sample = np.load(samples / "google2011_1000tasks.npz")
    names = pd.Series(sample["name"]).str.extract(r"_(?P<job>\d+)-(?P<index>\d+)").astype(int)
    priority = names.merge(tasks, on=["job", "index"], how="left")["priority"].to_numpy()
    job = names["job"].to_numpy()
    for group, chosen in (("old production", priority > 8), ("old free and batch", priority <= 8)):
        for resource, key in (("cpu", "cpu"), ("memory", "mem")):
            usage = _windows(sample, key)[chosen]
            found = day.variation_statistics(usage, job[chosen], f"{group} {resource}")
            source = f"{chosen.sum()} of 1000 tasks, first day"
            for name, value in found.items():
                fitted = group == "old production" or (resource == "memory" and "50%" in name[0])
                rows += _rows({name: value}, "fitted" if fitted else "check", source)
    machines = np.load(samples / "machine_sample.npz")
    usage = machines["series"][:, :, 0] / machines["capacity"][:, :1]
    for name, value in day.machine_statistics(usage).items():
        role = "fitted" if name[0].startswith("root") else "check"
        rows += _rows({name: value}, role, "300 machines, first day")
    return rows


def _windows(sample: np.lib.npyio.NpzFile, key: str) -> Array:
    """Return usage by task and 5-minute window, NaN where there is no record."""
    task = np.repeat(np.arange(len(sample["name"])), np.diff(sample["offset"]))
    window = np.rint((sample["start_s"] - START) / SAMPLE).astype(int)
    kept = (window >= 0) & (window < day.WINDOWS)
    usage = np.full((len(sample["name"]), day.WINDOWS), np.nan)
    usage[task[kept], window[kept]] = sample[key][kept]
    return usage


if __name__ == "__main__":
    source, measured, target = map(Path, sys.argv[1:])
    for name, frame in derive(source, measured).items():
        frame.to_csv(target / f"{name}.csv", index=False)
