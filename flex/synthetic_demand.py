"""Parameters of the synthetic day, and the demand of its jobs over time.

A demand sample is the request times a mean ratio of the job times factors over time: a part
that all tasks of the job share, a part of the task itself, and the daily cycle of production.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from flex.checks import number, whole
from flex.workload import CPU_CAPACITY

__all__ = ["Day", "Jobs", "Series", "Variation", "demand", "in_bytes", "in_mcpu", "table"]

Array = NDArray[np.float64]
Int64 = NDArray[np.int64]

START, SAMPLE = 600, 300
"""Start of the trace on its clock and length of a usage sample, in seconds."""
MEMORY_UNIT = 131_072
"""MiB of the largest machine, to which the trace normalises memory (Section 5)."""
FREE, BATCH, PRODUCTION = 0, 1, 2
TIERS = np.array([FREE] * 2 + [BATCH] * 7 + [PRODUCTION] * 3)
"""Tier of each priority (Tirmazi et al. 2020); monitoring, 11, counts as production here."""
LARGEST_MEMORY_RATIO = 1.28
"""Largest memory usage/request in 5 minutes of 1000 real tasks."""


def _require(key: str, value: float, low: float, high: float) -> None:
    number(key, value, f"from {low:g} to {high:g}", low, high)


@dataclass(frozen=True)
class Variation:
    """How the demand of a resource varies over time: lognormal noise of mean 1.

    Attributes
    ----------
    median, spread
        Median and log-std over jobs of the log-std over time, for the free, batch and
        production tiers.
    largest
        Largest log-std over time that is drawn, so that no single job rules the day.
    shares
        Parts of the variance: shared by the job and slow, shared and quick, of the task alone.
    slow, own
        Autocorrelation at 5 minutes of the first and the last of these parts.
    """

    median: tuple[float, float, float]
    spread: tuple[float, float, float]
    largest: float
    shares: tuple[float, float, float]
    slow: float
    own: float

    def __post_init__(self) -> None:
        for key in ("median", "spread", "shares"):
            if np.shape(getattr(self, key)) != (3,):
                raise ValueError(f"{key} must be three numbers; got {getattr(self, key)!r}")
            for value in getattr(self, key):
                _require(key, value, 0, 10)
        _require("largest", self.largest, 0, 10)
        _require("slow", self.slow, 0, 1)
        _require("own", self.own, 0, 1)
        if abs(sum(self.shares) - 1) > 1e-9:
            raise ValueError(f"shares must add up to 1; got {self.shares}")


@dataclass(frozen=True)
class Day:
    """Parameters of the day.

    "1000 tasks" are those of the published sample, nearly all old production tasks.

    Attributes
    ----------
    large_jobs
        Weight of new jobs of more than 10 tasks against those of the first 83 minutes. With it
        the 19,628 new jobs of the day get its 581,048 new tasks: the one scaling of counts.
    turnover
        Part of the running free and batch tasks alive after 83 minutes that end evenly over the
        rest of the day. Not measured anywhere: chosen so that the requested CPU stays level, as
        it does in the real cell. The one scaling of the load.
    burst
        Mean number of jobs that arrive in the same minute: from the index of dispersion of
        arrivals a minute (7.0 over the trace, 3.4 in its first 83 minutes).
    within_duration
        Log-std of the duration over tasks of a new job: mean of 120 real jobs.
    ratio_cv
        Std/mean over jobs of the CPU usage/request ratio, Gamma distributed: 1000 tasks.
    ratio_concentration
        a + b of the Beta distribution over jobs of the memory ratio: 1000 tasks.
    within_cpu, within_memory
        Log-std of the mean usage over tasks of a job: medians of 18 jobs among the 1000 tasks.
    cycle_cv
        Std/mean over production jobs of the exponent by which their CPU follows the daily cycle
        of the trace's first day, Gamma distributed with mean 1: 1000 tasks.
    cpu
        Variation of CPU besides the daily cycle. Production: 1000 tasks, allowing for what a
        day hides of slow changes. Free and batch are free choices: with these medians, machines
        of randomly placed tasks vary over time by 0.30 of the mean (root mean square), 300 real
        ones by 0.37; but 58 old free and batch tasks have a std/mean of only 0.16. That
        their jobs move together as those of production do is a free choice too.
    memory
        Variation of memory: 1000 tasks; medians of free and batch from 58 of them.
    shared
        Most demand series of a job. Further tasks repeat them, which keeps the day small. The
        tasks of a large job then average out no further than ``shared`` tasks would; as 0.77 of
        the variance is common to the job anyway, 12 leave its total 2.5 % more variance.
    """

    large_jobs: float = 0.464
    turnover: float = 0.1
    burst: float = 3.0
    within_duration: float = 0.14
    ratio_cv: float = 0.87
    ratio_concentration: float = 4.1
    within_cpu: float = 0.10
    within_memory: float = 0.03
    cycle_cv: float = 0.73
    cpu: Variation = Variation(
        (0.9, 0.9, 0.10), (0.4, 0.4, 0.6), 1.5, (0.70, 0.07, 0.23), 0.98, 0.4
    )
    memory: Variation = Variation(
        (0.02, 0.02, 0.012), (2.0, 2.0, 1.5), 0.5, (0.88, 0.01, 0.11), 0.995, 0.7
    )
    shared: int = 12

    def __post_init__(self) -> None:
        for key in ("large_jobs", "ratio_cv", "ratio_concentration", "cycle_cv"):
            _require(key, getattr(self, key), 1e-6, 1e6)
        for key in ("within_duration", "within_cpu", "within_memory"):
            _require(key, getattr(self, key), 0, 10)
        _require("turnover", self.turnover, 0, 1)
        _require("burst", self.burst, 1, 1e6)
        whole("shared", self.shared, 1, 1_000_000)
        for key in ("cpu", "memory"):
            if not isinstance(getattr(self, key), Variation):
                raise ValueError(f"{key} must be a Variation; got {getattr(self, key)!r}")


@dataclass(frozen=True, eq=False)
class Jobs:
    """Jobs of a day, one value each; requests in units of the largest machine.

    ``large`` tells whether a job has many tasks at full scale.
    """

    arrival: Int64
    priority: Int64
    sclass: Int64
    cpu: Array
    memory: Array
    tasks: Int64
    large: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.tasks)

    @property
    def tier(self) -> Int64:
        """Tier of each job: 0 free, 1 batch, 2 production."""
        return TIERS[self.priority]


@dataclass(frozen=True, eq=False)
class Series:
    """Demand series of a day: the job that owns each, and the seconds that it lasts."""

    job: Int64
    seconds: Int64

    @property
    def sizes(self) -> Int64:
        """Samples of each series."""
        return -(-self.seconds // SAMPLE)

    @property
    def offset(self) -> Int64:
        """Samples before each series, and those of all."""
        return np.concatenate([[0], np.cumsum(self.sizes)])


@cache
def table(name: str) -> pd.DataFrame:
    """Return a table of ``flex/data``; callers must not change it."""
    with files("flex.data").joinpath(f"{name}.csv").open(encoding="utf-8") as stream:
        return pd.read_csv(stream)


def in_mcpu(units: Array) -> Int64:
    """Return mCPU, cut as the author's converter does."""
    return np.trunc(units * CPU_CAPACITY).astype(np.int64)


def in_bytes(units: Array) -> Int64:
    """Return bytes, cut to whole MiB as the author's converter does."""
    return np.trunc(units * MEMORY_UNIT).astype(np.int64) * 2**20


def demand(
    jobs: Jobs, series: Series, day: Day, rng: np.random.Generator
) -> tuple[NDArray[np.int32], NDArray[np.int32], Int64]:
    """Return the ends of the samples in seconds, and their demand in mCPU and bytes.

    The totals of each priority have the usage/request of the real day. No sample exceeds a
    machine; the author's converter drops those that do.
    """
    sizes = series.sizes
    start = np.arange(0, series.offset[-1] * SAMPLE, SAMPLE)
    start -= np.repeat(series.offset[:-1] * SAMPLE, sizes)
    ends = np.minimum(start + SAMPLE, np.repeat(series.seconds, sizes))
    owner = np.repeat(series.job, sizes)
    weight = (ends - start) * _followers(jobs, series)[owner]
    cpu_ratio, memory_ratio = _ratios(jobs, series, day, rng)
    cpu = _varied(jobs, series, day.cpu, rng)
    cpu *= np.repeat(cpu_ratio, sizes)
    production = (jobs.tier == PRODUCTION)[owner]
    exponent = rng.gamma(day.cycle_cv**-2, day.cycle_cv**2, len(jobs))[owner[production]]
    cpu[production] *= _cycle((start + jobs.arrival[owner])[production]) ** exponent
    cpu *= _levels(cpu, weight, jobs, owner, "cpu")[owner]
    mcpu = in_mcpu(np.minimum(cpu, 1, out=cpu)).astype(np.int32)
    memory = _varied(jobs, series, day.memory, rng)
    memory *= np.repeat(memory_ratio, sizes)
    factor = _levels(memory, weight, jobs, owner, "memory")
    most = LARGEST_MEMORY_RATIO * jobs.memory
    memory = np.minimum(memory * factor[owner], np.minimum(most, 1)[owner])
    return ends.astype(np.int32), mcpu, in_bytes(memory)


def _followers(jobs: Jobs, series: Series) -> Array:
    """Return the tasks that follow each series of a job, on average."""
    copies = np.bincount(series.job, minlength=len(jobs))
    return np.asarray(jobs.tasks / copies)


def _levels(ratio: Array, weight: Array, jobs: Jobs, owner: Int64, resource: str) -> Array:
    """Return the factors, by job, that turn ratios into demand in units of the largest machine.

    They hold the request, and scale the total of each priority to that of the real day.
    """
    means = table("usage_to_request").set_index("priority")[resource].reindex(range(12))
    request = np.asarray(vars(jobs)[resource])
    seconds = np.bincount(owner, weight, len(jobs)) * request
    requested = np.bincount(jobs.priority, seconds, 12)
    used = np.bincount(owner, weight * ratio, len(jobs)) * request
    used = np.bincount(jobs.priority, used, 12)
    wanted = requested * means.fillna(0).to_numpy()
    factor: Array = np.divide(wanted, used, out=np.ones(12), where=used > 0)
    return np.asarray(factor[jobs.priority] * request)


def _cycle(time: Int64) -> Array:
    """Return the daily factor of production CPU in the middle of samples that start at a time."""
    profile = table("production_cpu_profile")
    hour = (time + SAMPLE / 2 - START) / 3600
    return np.asarray(np.interp(hour, profile["hour"] + 0.5, profile["factor"]))


def _ratios(jobs: Jobs, series: Series, day: Day, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return the mean usage/request of each series, CPU (up to a factor) and memory."""
    means = table("usage_to_request").set_index("priority")["memory"].reindex(range(12))
    mean = means.to_numpy()[jobs.priority]
    shape, total = 1 / day.ratio_cv**2, day.ratio_concentration
    cpu = rng.gamma(shape, 1 / shape, len(jobs))[series.job]
    memory = rng.beta(mean * total, (1 - mean) * total)[series.job]
    cpu *= np.exp(day.within_cpu * rng.standard_normal(len(cpu)))
    memory *= np.exp(day.within_memory * rng.standard_normal(len(memory)))
    return cpu, memory


def _varied(jobs: Jobs, series: Series, how: Variation, rng: np.random.Generator) -> Array:
    """Return a lognormal factor of mean 1 for each sample."""
    spread = np.take(how.spread, jobs.tier) * rng.standard_normal(len(jobs))
    sd = np.minimum(np.take(how.median, jobs.tier) * np.exp(spread), how.largest)[series.job]
    noise = _noise(series, len(jobs), how, rng)
    noise *= np.repeat(sd, series.sizes)
    noise -= np.repeat(sd**2 / 2, series.sizes)
    return np.exp(noise, out=noise)


def _noise(series: Series, n_jobs: int, how: Variation, rng: np.random.Generator) -> Array:
    """Return standard normal noise for each sample; all tasks of a job start together."""
    out = np.empty(series.offset[-1])
    order = np.argsort(-series.sizes, kind="stable")
    starts, job = series.offset[order], series.job[order]
    longer = np.searchsorted(-series.sizes[order], -np.arange(series.sizes.max(initial=0)))
    slow, own = rng.standard_normal(n_jobs), rng.standard_normal(len(job))
    weights = np.sqrt(how.shares)
    for step, n in enumerate(longer):
        if step:
            slow = _next(slow, how.slow, rng)
            own = _next(own[:n], how.own, rng)
        job_part = weights[0] * slow + weights[1] * rng.standard_normal(n_jobs)
        out[starts[:n] + step] = job_part[job[:n]] + weights[2] * own
    return out


def _next(state: Array, memory: float, rng: np.random.Generator) -> Array:
    """Return the next state of a stationary AR(1) process of variance 1."""
    step: Array = np.sqrt(1 - memory**2) * rng.standard_normal(len(state))
    return memory * state + step
