"""A synthetic day of the Google 2011 trace, drawn from the trace's own statistics.

The input of the paper's simulation, 714,030 tasks of the first day, is not to be had. This one
is calibrated on statistics of the trace alone (tables in ``flex/data``), never on the paper's
results. Times are seconds of the trace clock: the trace starts at 600 s.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from flex.checks import number, whole
from flex.synthetic_demand import (
    BATCH,
    FREE,
    PRODUCTION,
    START,
    Day,
    Jobs,
    Series,
    Variation,
    demand,
    in_bytes,
    in_mcpu,
    table,
)
from flex.workload import Workload

__all__ = ["TASKS", "Day", "Variation", "day_jobs", "synthesize"]

Array = NDArray[np.float64]
Int64 = NDArray[np.int64]

TASKS = 714_030
"""Tasks of the first day (Section 5, Workload)."""
MOST_TASKS = 10**9
RUNNING = 132_982
"""Tasks that run when the trace starts (task_events, part 0)."""
MINUTE = 60
"""The author's converter cuts arrivals to whole minutes."""
LARGE = 10
"""A job of more tasks is large: its tasks last longer than the job of the same class."""
TIER_NAMES = {FREE: "free", BATCH: "batch", PRODUCTION: "production"}


def synthesize(
    n_tasks: int = TASKS, hours: float = 24.0, seed: int = 0, *, day: Day | None = None
) -> Workload:
    """Draw a day of n_tasks tasks.

    Parameters
    ----------
    n_tasks
        Number of tasks, exactly. A smaller day is a systematic sample of the tasks of a full
        one: a job of 1000 tasks keeps 10 in a hundredth. So the part of a job in the total, and
        the number of its tasks on a node of a cluster of a hundredth, are those of the full day;
        jobs of few tasks are kept or dropped by chance.
    hours
        End of the day on the trace clock, 0.5 to 24. Tasks that run longer are cut there.
    seed
        The same seed gives the same bits.
    day
        Parameters; by default those documented in `Day`.

    Returns
    -------
    Workload
        Tasks already running arrive at 600 s, the start of the trace, and arrivals are cut to
        whole minutes, both as in the author's input. Job j is row j of `day_jobs`.

    Raises
    ------
    ValueError
        If an argument is out of its range.
    """
    day, rng = _checked(n_tasks, hours, seed, day), _rng(seed)
    jobs, n_old = _draw_jobs(n_tasks, hours, day, rng)
    end = int(hours * 3600)
    series = _draw_series(jobs, n_old, end, day, rng)
    sample_end, cpu, memory = demand(jobs, series, day, rng)
    job = np.repeat(np.arange(len(jobs)), jobs.tasks)
    return Workload(
        jobs.arrival[job], job, in_mcpu(jobs.cpu)[job], in_bytes(jobs.memory)[job],
        _shared_rows(jobs, series), series.offset, sample_end, cpu, memory,
    )  # fmt: skip


def _shared_rows(jobs: Jobs, series: Series) -> Int64:
    """Return the series of each task; the tasks of a job take its series in turn."""
    copies = np.bincount(series.job, minlength=len(jobs))
    job = np.repeat(np.arange(len(jobs)), jobs.tasks)
    first_task: Int64 = np.cumsum(jobs.tasks) - jobs.tasks
    first_row: Int64 = np.cumsum(copies) - copies
    return first_row[job] + (np.arange(len(job)) - first_task[job]) % copies[job]


def day_jobs(
    n_tasks: int = TASKS, hours: float = 24.0, seed: int = 0, *, day: Day | None = None
) -> pd.DataFrame:
    """Return the jobs of the day that `synthesize` draws from the same arguments.

    Returns
    -------
    DataFrame
        Row j is job j: ``arrival``, ``priority``, ``sclass``, ``cpu``, ``memory`` (requests in
        units of the largest machine), ``tasks``, ``tier``, and ``running`` at the start.
    """
    jobs, n_old = _draw_jobs(n_tasks, hours, _checked(n_tasks, hours, seed, day), _rng(seed))
    tier = [TIER_NAMES[t] for t in jobs.tier.tolist()]
    frame = pd.DataFrame(vars(jobs)).drop(columns="large")
    return frame.assign(tier=tier, running=np.arange(len(jobs)) < n_old)


def _checked(n_tasks: int, hours: float, seed: int, day: Day | None) -> Day:
    """Return the parameters of a day, once all arguments are found to be in their range."""
    whole("n_tasks", n_tasks, 1, MOST_TASKS)
    number("hours", hours, "from 0.5 to 24", 0.5, 24)
    whole("seed", seed, 0)
    if not isinstance(day, Day | None):
        raise ValueError(f"day must be a Day; got {day!r}")
    return day or Day()


def _rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(int(seed))


def _draw_jobs(n_tasks: int, hours: float, day: Day, rng: np.random.Generator) -> tuple[Jobs, int]:
    """Return the jobs, those running at the start first, and the number of these."""
    counts = _arrivals(hours)
    new_share = (TASKS - RUNNING) * counts.sum() / _arrivals(24).sum()
    n_running = round(n_tasks * RUNNING / (RUNNING + new_share))
    known = table("running_jobs")
    known = known.loc[known.index.repeat(known["jobs"])]
    old = _thinned(_jobs(known, np.full(len(known), START)), n_running, rng)
    drawn = _new_jobs(counts, int(hours * 3600), day, rng)
    new = _thinned(drawn, int(n_tasks) - n_running, rng)
    columns = zip(vars(old).values(), vars(new).values(), strict=True)
    return Jobs(*(np.concatenate(pair) for pair in columns)), len(old)


def _jobs(rows: pd.DataFrame, arrival: Int64) -> Jobs:
    names = ("priority", "sclass", "cpu", "memory", "tasks")
    columns = [rows[name].to_numpy() for name in names]
    return Jobs(arrival, *columns, *[columns[-1] > LARGE])


def _arrivals(hours: float) -> Int64:
    """Return the number of new jobs by hour of the trace and scheduling class, (24, 4)."""
    counts = table("job_arrivals").pivot_table("jobs", "hour", "sclass", fill_value=0).to_numpy()
    part = np.clip(hours - START / 3600 - np.arange(24), 0, 1)
    rounded: Int64 = np.rint(counts * part[:, None]).astype(np.int64)
    return rounded


def _new_jobs(counts: Int64, end: int, day: Day, rng: np.random.Generator) -> Jobs:
    known = table("new_jobs")
    weight = (known["jobs"] * np.where(known["tasks"] > LARGE, day.large_jobs, 1)).to_numpy()
    chosen = []
    for sclass, count in enumerate(counts.sum(axis=0)):
        rows = np.flatnonzero(known["sclass"] == sclass)
        drawn = np.repeat(rows, _systematic(weight[rows], count, rng))
        chosen.append(rng.permutation(drawn))
    hour = np.concatenate([np.repeat(np.arange(24), column) for column in counts.T])
    arrival = _burst_times(hour, end, day.burst, rng)
    order = np.argsort(arrival, kind="stable")
    return _jobs(known.iloc[np.concatenate(chosen)[order]], arrival[order])


def _burst_times(hour: Int64, end: int, burst: float, rng: np.random.Generator) -> Int64:
    """Return whole minutes: jobs of a burst together, bursts evenly at random in their hour."""
    order = np.lexsort((rng.random(len(hour)), hour))
    opens = rng.random(len(hour)) < 1 / burst
    opens |= np.diff(hour[order], prepend=-1) > 0
    begin = START + 3600 * hour[order]
    moment = begin + rng.random(len(hour)) * np.minimum(end - begin, 3600)
    times = np.empty(len(hour), np.int64)
    times[order] = moment[opens][np.cumsum(opens) - 1] // MINUTE * MINUTE
    return times


def _systematic(weight: NDArray[Any], n: int, rng: np.random.Generator) -> Int64:
    """Return n draws spread evenly over the weights, as counts."""
    edges = np.cumsum(weight)
    ends: Int64 = np.floor(edges * n / edges[-1:] + rng.random()).astype(np.int64)
    return np.diff(ends, prepend=0)


def _thinned(jobs: Jobs, n: int, rng: np.random.Generator) -> Jobs:
    """Return the jobs with n tasks in all: a systematic sample by priority and request."""
    order = np.lexsort((rng.random(len(jobs)), jobs.cpu, jobs.priority))
    tasks = np.zeros(len(jobs), np.int64)
    tasks[order] = _systematic(jobs.tasks[order], n, rng)
    kept = np.flatnonzero(tasks)
    columns = vars(jobs) | {"tasks": tasks}
    return Jobs(*(column[kept] for column in columns.values()))


def _draw_series(jobs: Jobs, n_old: int, end: int, day: Day, rng: np.random.Generator) -> Series:
    """Return at most ``day.shared`` series a job, with their lengths."""
    owner = np.repeat(np.arange(len(jobs)), np.minimum(jobs.tasks, day.shared))
    old = owner < n_old
    seconds = np.concatenate(
        [_remaining(jobs, owner[old], end, day, rng), _durations(jobs, owner[~old], day, rng)]
    )
    return Series(owner, np.clip(seconds, 1, end - jobs.arrival[owner]).astype(np.int64))


def _remaining(jobs: Jobs, owner: Int64, end: int, day: Day, rng: np.random.Generator) -> Array:
    """Return the seconds that series of running tasks last; the tasks of a job end apart."""
    u = rng.random(len(owner))
    seconds = np.empty(len(owner))
    for tier, name in TIER_NAMES.items():
        alive = table("running_tasks_alive")
        rows = alive[alive["tier"] == name]
        late = day.turnover if tier != PRODUCTION else 0.0
        left = rows["alive"].iloc[-1] * (1 - late)
        ended = np.append(1 - rows["alive"], [1 - left, 1])
        at = np.append(rows["seconds"], [24 * 3600, 24 * 3600]).astype(float)
        mine = jobs.tier[owner] == tier
        seconds[mine] = np.interp(u[mine], ended, at)
    return seconds


def _durations(jobs: Jobs, owner: Int64, day: Day, rng: np.random.Generator) -> Array:
    """Return the seconds that series of new tasks last."""
    u = rng.random(len(jobs))
    base = np.empty(len(jobs))
    for sclass in range(4):
        mine = jobs.sclass == sclass
        base[mine] = _class_quantile(sclass, u[mine])
        for tier in (FREE, BATCH):
            mine = jobs.large & (jobs.sclass == sclass) & (jobs.tier == tier)
            base[mine] = _large_quantile(TIER_NAMES[tier], sclass, u[mine])
    return base[owner] * np.exp(day.within_duration * rng.standard_normal(len(owner)))


def _class_quantile(sclass: int, u: Array) -> Array:
    known = table("job_durations")
    rows = known[known["sclass"] == sclass]
    return np.asarray(np.exp(np.interp(u, rows["q"], np.log(rows["seconds"]))))


def _large_quantile(tier: str, sclass: int, u: Array) -> Array:
    """Return quantiles of tasks of large jobs; past the 80 minutes seen, those of the class."""
    known = table("large_job_task_durations")
    rows = known[known["tier"] == tier]
    q, seconds = rows["q"].to_numpy(), rows["seconds"].to_numpy()
    grid = np.linspace(0, 1, 10_001)
    passed = grid[np.searchsorted(_class_quantile(sclass, grid), seconds[-1])]
    beyond = passed + (u - q[-1]) / (1 - q[-1]) * (1 - passed)
    seen = np.exp(np.interp(u, q[:-1], np.log(seconds[:-1])))
    return np.where(u < q[-1], seen, _class_quantile(sclass, beyond))
