"""A workload: tasks with their arrivals, requests and demand over time, as flat arrays.

CPU is counted in integer milli-cores (mCPU), memory in integer bytes, time in whole seconds.
Tasks may share one series of demand samples, so a synthetic day at full size stays small.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from sys import float_info
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flex.checks import number, whole

__all__ = ["CPU_CAPACITY", "LONGEST", "MEMORY_CAPACITY", "Workload", "WorkloadError"]

CPU_CAPACITY = 64_000
"""CPU of one node in mCPU: 64 cores (Section 5, Configuration)."""
MEMORY_CAPACITY = 128 * 2**30
"""Memory of one node in bytes: 128 GiB (Section 5, Configuration)."""
LONGEST = 10**9
"""Most seconds that a task or a simulation lasts, so that its sums with the clock fit."""
MOST_MEMORY = 2**61
"""Most bytes that all tasks may demand together, so that sums over nodes fit."""

Int64 = NDArray[np.int64]


class WorkloadError(ValueError):
    """A workload that breaks a rule; the message names the task and the field."""


@dataclass(frozen=True, eq=False)
class Workload:
    """Tasks in the order of their submission.

    Parameters
    ----------
    arrival : (tasks,) seconds
        Time of submission, never decreasing.
    job : (tasks,)
        Number of the job that a task belongs to: its source, in the paper's words.
    cpu_request, memory_request : (tasks,) mCPU and bytes
        Zero is legal: a best-effort task.
    series : (tasks,)
        Row of the demand series that a task follows from the moment when it is bound.
    offset : (series + 1,)
        Samples of series s are ``offset[s]`` to ``offset[s + 1]`` (compressed sparse rows).
    sample_end : (samples,) seconds
        End of a sample counted from the binding of the task; never decreasing within a series,
        and at most LONGEST (31 years). A task finishes at the end of its last sample.
    cpu_demand, memory_demand : (samples,) mCPU and bytes
        At least 0, and so low that the memory of all tasks together is at most 2**61 bytes.
    name : (tasks,), optional
        Names of the tasks, unique; "job-number" if not given.

    Raises
    ------
    WorkloadError
        If an array has the wrong length or type, or a value breaks one of the rules above.
    """

    arrival: Int64
    job: Int64
    cpu_request: Int64
    memory_request: Int64
    series: Int64
    offset: Int64
    sample_end: NDArray[np.signedinteger]
    cpu_demand: NDArray[np.signedinteger]
    memory_demand: Int64
    name: NDArray[np.str_] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for key, dtype in ARRAYS.items():
            object.__setattr__(self, key, _integers(key, getattr(self, key), dtype))
        if self.name is not None:
            object.__setattr__(self, "name", np.asarray(self.name, dtype=np.str_))
        self._check_shape()
        self._check_tasks()
        self._check_samples()

    def __len__(self) -> int:
        return len(self.arrival)

    @property
    def duration(self) -> Int64:
        """Seconds from binding to finish, (tasks,)."""
        return self.sample_end[self.offset[self.series + 1] - 1].astype(np.int64)

    def task_name(self, task: int) -> str:
        """Return the name of a task, for messages and tables."""
        return str(self.name[task]) if self.name is not None else f"task {task}"

    def scaled(self, factor: float) -> Workload:
        """Return the workload with every demand multiplied and cut to an integer (Fig. 11).

        Raises
        ------
        WorkloadError
            If the factor is not a finite number of at least 0, or a demand gets too large.
        """
        try:
            factor = number("factor", factor, "a number of at least 0", 0, float_info.max)
        except ValueError as error:
            raise WorkloadError(str(error)) from None
        with np.errstate(over="ignore"):
            cpu = np.trunc(self.cpu_demand * factor)
            memory = np.trunc(self.memory_demand * factor)
        try:
            return replace(self, cpu_demand=cpu, memory_demand=memory)
        except WorkloadError as error:
            raise WorkloadError(f"demand times {factor:g}: {error}") from None

    def first(self, n: int) -> Workload:
        """Return the first n tasks, or all if there are fewer, with the samples that they use.

        Raises
        ------
        ValueError
            If n is not a whole number of at least 0.
        """
        n = whole("n", n, 0)
        kept, series = np.unique(self.series[:n], return_inverse=True)
        sizes = np.diff(self.offset)[kept]
        offset = np.concatenate([[0], np.cumsum(sizes)])
        samples = np.repeat(self.offset[kept] - offset[:-1], sizes) + np.arange(offset[-1])
        return Workload(
            self.arrival[:n], self.job[:n], self.cpu_request[:n], self.memory_request[:n],
            series, offset, self.sample_end[samples], self.cpu_demand[samples],
            self.memory_demand[samples], None if self.name is None else self.name[:n],
        )  # fmt: skip

    def require_fits(self, cpu: int = CPU_CAPACITY, memory: int = MEMORY_CAPACITY) -> None:
        """Refuse a task that no empty node could take.

        Raises
        ------
        WorkloadError
            If a request is larger than the capacity of a node.
        """
        self._all_tasks("cpu_request", self.cpu_request <= cpu, f"at most {cpu} mCPU, a node")
        self._all_tasks(
            "memory_request", self.memory_request <= memory, f"at most {memory} bytes, a node"
        )

    @classmethod
    def from_tasks(
        cls,
        arrival: ArrayLike,
        job: ArrayLike,
        requests: ArrayLike,
        samples: Sequence[ArrayLike],
        name: ArrayLike | None = None,
    ) -> Workload:
        """Build a workload in which every task has samples of its own.

        Parameters
        ----------
        arrival, job : (tasks,)
        requests : (tasks, 2) mCPU and bytes
        samples : one (n, 3) array a task: seconds that the sample lasts, mCPU, bytes
        name : (tasks,), optional

        Raises
        ------
        WorkloadError
            If a task has no samples, or a value breaks a rule of `Workload`.
        """
        rows = [_rows(f"samples of task {k}", s, 3) for k, s in enumerate(samples)]
        sizes = np.array([len(r) for r in rows], dtype=np.int64)
        table = np.concatenate(rows) if rows else np.empty((0, 3), np.int64)
        offset = np.concatenate([[0], np.cumsum(sizes)])
        ends = [np.cumsum(r[:, 0]) for r in rows]
        requests = _rows("requests", requests, 2)
        return cls(
            np.asarray(arrival), np.asarray(job), requests[:, 0], requests[:, 1],
            np.arange(len(rows)), offset, np.concatenate(ends) if ends else table[:, 0],
            table[:, 1], table[:, 2], None if name is None else np.asarray(name),
        )  # fmt: skip

    def _check_shape(self) -> None:
        for key in ("job", "cpu_request", "memory_request", "series", "name"):
            array = getattr(self, key)
            if array is not None and array.ndim != 1:
                raise WorkloadError(f"{key} must be one-dimensional; got shape {array.shape}")
            if array is not None and len(array) != len(self):
                raise WorkloadError(f"{key} has {array.size} values for {len(self)} tasks")
        if not len(self.offset) or self.offset[0] != 0:
            raise WorkloadError("offset must start with 0")
        empty = np.flatnonzero(np.diff(self.offset) <= 0)
        if empty.size:
            users = np.flatnonzero(self.series == empty[0])
            owner = self.task_name(int(users[0])) if users.size else f"series {empty[0]}"
            raise WorkloadError(f"{owner}: samples must be at least one; got none")
        if self.offset[-1] >= 2**31:
            raise WorkloadError(f"samples must be fewer than 2**31; got {self.offset[-1]}")
        for key in ("sample_end", "cpu_demand", "memory_demand"):
            if len(getattr(self, key)) != self.offset[-1]:
                raise WorkloadError(
                    f"{key} has {len(getattr(self, key))} values; offset ends at {self.offset[-1]}"
                )

    def _check_tasks(self) -> None:
        later = np.diff(self.arrival, prepend=0) >= 0
        self._all_tasks("arrival", later, "at least 0 and not before that of the task above it")
        for key in ("job", "cpu_request", "memory_request"):
            self._all_tasks(key, getattr(self, key) >= 0, "at least 0")
        known = (self.series >= 0) & (self.series < len(self.offset) - 1)
        self._all_tasks("series", known, f"below {len(self.offset) - 1}, the number of series")
        if self.name is not None and len(np.unique(self.name)) < len(self):
            values, counts = np.unique(self.name, return_counts=True)
            raise WorkloadError(f"name {values[counts > 1][0]!s} belongs to more than one task")

    def _check_samples(self) -> None:
        steps = np.diff(self.sample_end.astype(np.int64), prepend=0)
        starts = self.offset[:-1]
        steps[starts] = self.sample_end[starts]
        self._all_samples("sample_end", steps >= 0, "not before the end of the sample above it")
        self._all_samples("sample_end", self.sample_end <= LONGEST, f"at most {LONGEST} s")
        for key in ("cpu_demand", "memory_demand"):
            self._all_samples(key, getattr(self, key) >= 0, "at least 0")
        most = MOST_MEMORY // max(len(self), 1)
        allowed = f"at most {most} bytes, so that sums over all tasks fit"
        self._all_samples("memory_demand", self.memory_demand <= most, allowed)

    def _all_tasks(self, key: str, kept: NDArray[np.bool_], allowed: str) -> None:
        if not kept.all():
            task = int(np.argmin(kept))
            value = getattr(self, key)[task].item()
            raise WorkloadError(f"{self.task_name(task)}: {key} must be {allowed}; got {value}")

    def _all_samples(self, key: str, kept: NDArray[np.bool_], allowed: str) -> None:
        if not kept.all():
            sample = int(np.argmin(kept))
            series = int(np.searchsorted(self.offset, sample, side="right")) - 1
            users = np.flatnonzero(self.series == series)
            owner = self.task_name(int(users[0])) if users.size else f"series {series}"
            raise WorkloadError(
                f"{owner}: sample {sample - self.offset[series] + 1}: {key} must be {allowed}; "
                f"got {getattr(self, key)[sample]}"
            )


ARRAYS: dict[str, type[np.signedinteger]] = {
    "arrival": np.int64, "job": np.int64, "cpu_request": np.int64, "memory_request": np.int64,
    "series": np.int64, "offset": np.int64, "sample_end": np.int32, "cpu_demand": np.int32,
    "memory_demand": np.int64,
}  # fmt: skip
"""Arrays of a workload and their types, in the order of the constructor."""


def _integers(
    key: str, values: ArrayLike, dtype: type[np.signedinteger]
) -> NDArray[np.signedinteger]:
    """Return a one-dimensional array as integers, refusing fractions, NaN and overflow."""
    array = _array(key, values)
    if array.ndim != 1:
        raise WorkloadError(f"{key} must be one-dimensional; got shape {array.shape}")
    if array.dtype == dtype:
        return np.ascontiguousarray(array)
    if array.size and array.dtype.kind not in "iuf":
        raise WorkloadError(f"{key} must be numbers; got {array.dtype}")
    limit = np.iinfo(dtype)
    with np.errstate(invalid="ignore"):
        good = (array >= limit.min) & (array < limit.max + 1) & (array == np.trunc(array))
    if not good.all():
        row = int(np.argmin(good))
        raise WorkloadError(
            f"{key}[{row}] must be a whole number of at most {limit.max}; got {array[row]}"
        )
    return array.astype(dtype)


def _array(key: str, values: ArrayLike) -> NDArray[Any]:
    try:
        return np.asarray(values)
    except ValueError:
        raise WorkloadError(f"{key} must be an array; its rows have different lengths") from None


def _rows(key: str, values: ArrayLike, columns: int) -> Int64:
    """Return a table of whole numbers with these columns; nothing is cut or reshaped."""
    array = _array(key, values)
    if array.size and (array.ndim != 2 or array.shape[1] != columns):
        raise WorkloadError(f"{key} must have shape (n, {columns}); got {array.shape}")
    return _integers(key, array.reshape(-1), np.int64).reshape(-1, columns)
