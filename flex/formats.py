"""Workloads in files: the tasks of the author's sample (JSON), and saved workloads (npz).

Both are read with checks; a fault is one `WorkloadError` that names file, task and field.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import zipfile
import zlib
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flex.workload import ARRAYS, CPU_CAPACITY, Workload, WorkloadError

__all__ = ["load", "read_normalised", "read_tasks", "read_workload", "save", "write_arrays"]

FIELDS = ("arrival_s", "name", "req_mcpu", "req_bytes", "phases")
NAME = re.compile(r"(?:pod-)?(?P<job>.+)-\d+")
MIB = 2**20
MIB_OF_NODE = 131_072
NORMALISED = ("name", "req", "offset", "start_s", "end_s", "cpu", "mem")


def read_workload(path: str | Path) -> Workload:
    """Read a workload: a saved one (.npz), else tasks in JSON (.json or .json.gz).

    Raises
    ------
    WorkloadError
        If the file cannot be read or breaks a rule.
    """
    return load(path) if Path(path).suffix == ".npz" else read_tasks(path)


def save(workload: Workload, path: str | Path) -> None:
    """Save a workload as npz; the file appears when it is complete.

    Parameters
    ----------
    workload
        What to save.
    path
        Name of the file, with the suffix .npz.

    Raises
    ------
    WorkloadError
        If the suffix is another one.
    OSError
        If the file cannot be written.
    """
    path = Path(path)
    if path.suffix != ".npz":
        raise WorkloadError(f"{path}: the name must end in .npz")
    arrays = {key: getattr(workload, key) for key in ARRAYS}
    if workload.name is not None:
        arrays["name"] = workload.name
    write_arrays(path, arrays)


def write_arrays(path: Path, arrays: dict[str, NDArray[Any]]) -> None:
    """Write arrays aside as npz, then rename: the file is whole or absent; links stay links.

    Raises
    ------
    OSError
        If the file cannot be written; the message names it.
    """
    real = path.resolve()
    aside = real.parent / f".{real.name}.{os.getpid()}.part"
    try:
        with aside.open("wb") as file:
            np.savez_compressed(file, allow_pickle=False, **arrays)
        os.replace(aside, real)
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error
    finally:
        aside.unlink(missing_ok=True)


def load(path: str | Path) -> Workload:
    """Load a workload that `save` wrote.

    Raises
    ------
    WorkloadError
        If the file cannot be read, lacks an array, or breaks a rule of `Workload`.
    """
    found = _arrays(path)
    missing = [key for key in ARRAYS if key not in found]
    if missing:
        raise WorkloadError(f"{path}: missing array {missing[0]}; a workload has {list(ARRAYS)}")
    try:
        return Workload(**{key: found[key] for key in (*ARRAYS, "name") if key in found})
    except WorkloadError as error:
        raise WorkloadError(f"{path}: {error}") from error


def read_tasks(path: str | Path) -> Workload:
    """Read tasks from JSON, gzipped or not: a list of objects in the order of submission.

    Each has ``arrival_s``, ``name`` ("pod-<job>-<index>"), ``req_mcpu``, ``req_bytes`` and
    ``phases``, a list of [seconds, mCPU, bytes].

    Raises
    ------
    WorkloadError
        If the file cannot be read, or a task breaks a rule.
    """
    tasks = _json(Path(path))
    if not isinstance(tasks, list):
        raise WorkloadError(f"{path}: must be a list of tasks; got {type(tasks).__name__}")
    try:
        rows = [_task(number, task) for number, task in enumerate(tasks, start=1)]
        jobs = {job: number for number, job in enumerate(dict.fromkeys(row[1] for row in rows))}
        return Workload.from_tasks(
            [row[0] for row in rows],
            [jobs[row[1]] for row in rows],
            np.array([row[2] for row in rows]).reshape(-1, 2),
            [row[3] for row in rows],
            [row[4] for row in rows],
        )
    except WorkloadError as error:
        raise WorkloadError(f"{path}: {error}") from error


def read_normalised(path: str | Path, scale: float = 1.0) -> tuple[Workload, dict[str, int]]:
    """Read normalised tasks of the Google trace, converted as the author's converter does.

    Requests and usage are cut to whole milli-cores and MiB; usage is taken as demand. A sample
    above 1 is replaced by the value before it (scaled a second time, as in the author's program).
    Equal neighbours are merged; each sample keeps its length, so gaps between samples vanish and
    overlapping ones (a few in the real trace) are laid end to end.

    Parameters
    ----------
    path
        An npz file with ``name`` ("<arrival in microseconds>_<job>-<index>"), ``req`` (tasks, 2)
        as shares of the largest machine, ``offset`` (tasks + 1,), and for each sample
        ``start_s``, ``end_s``, ``cpu`` and ``mem``.
    scale
        Factor of the demand (Figure 11).

    Returns
    -------
    Workload
    dict
        Counts of what was changed: samples above 1 replaced, samples merged, gaps closed,
        overlaps laid end to end; and of tasks that request nothing of one resource.

    Raises
    ------
    WorkloadError
        If the file cannot be read, or a value is negative or not a number.
    """
    found = _arrays(path)
    missing = [key for key in NORMALISED if key not in found]
    if missing:
        raise WorkloadError(f"{path}: missing array {missing[0]}; needed are {list(NORMALISED)}")
    names, offset = found["name"], found["offset"]
    usage = np.column_stack([found["cpu"], found["mem"]]).astype(np.float64)
    _check_normalised(path, found, usage)
    jobs, arrival = [], []
    for name in names.tolist():
        time, _, rest = name.partition("_")
        jobs.append(rest.rpartition("-")[0])
        arrival.append(int(time) // 60_000_000 * 60)
    requests = np.trunc(found["req"].astype(np.float64) * [CPU_CAPACITY, MIB_OF_NODE]) * [1, MIB]
    bounds = list(pairwise(offset.tolist()))
    length = found["end_s"] - found["start_s"]
    rows = [_convert(length[a:b], usage[a:b], scale) for a, b in bounds]
    between = found["start_s"][1:] - found["end_s"][:-1]
    between[offset[1:-1] - 1] = 0
    counts = {
        "samples above 1 replaced": int((usage > 1).any(axis=1).sum()),
        "samples merged": len(usage) - sum(map(len, rows)),
        "gaps closed": int((between > 0).sum()),
        "overlaps laid end to end": int((between < 0).sum()),
        "tasks with a zero request": int((requests == 0).any(axis=1).sum()),
    }
    job = np.unique(jobs, return_inverse=True)[1]
    return Workload.from_tasks(arrival, job, requests, rows, names), counts


def _check_normalised(
    path: str | Path, found: dict[str, NDArray[Any]], usage: NDArray[np.float64]
) -> None:
    """Refuse NaN and negative samples, and requests above the largest machine."""
    names, offset = found["name"], found["offset"]

    def refuse(good: NDArray[Any] | np.bool_, field: str, allowed: str, per_sample: bool) -> None:
        if not good.all():
            row = int(np.argmin(good))
            task = int(np.searchsorted(offset, row, side="right")) - 1 if per_sample else row
            raise WorkloadError(f"{path}: {names[task]}: {field} must be {allowed}")

    request = found["req"]
    refuse(((request >= 0) & (request <= 1)).all(axis=1), "req", "between 0 and 1", False)
    refuse((usage >= 0).all(axis=1), "cpu and mem", "numbers of at least 0", True)
    refuse(found["end_s"] >= found["start_s"], "end_s", "at least start_s", True)


def _convert(seconds: NDArray[Any], usage: NDArray[np.float64], scale: float) -> NDArray[np.int64]:
    """Return the samples of one task: seconds, mCPU, bytes."""
    values = usage * scale
    for k, r in zip(*np.nonzero(usage > 1), strict=True):
        values[k, r] = values[k - 1, r] * scale if k else 0
    units = np.trunc(values * [CPU_CAPACITY, MIB_OF_NODE]).astype(np.int64)
    new = np.ones(len(units), dtype=bool)
    new[1:] = (units[1:] != units[:-1]).any(axis=1)
    lengths = np.add.reduceat(seconds.astype(np.int64), np.flatnonzero(new))
    return np.column_stack([lengths, units[new] * [1, MIB]])


def _arrays(path: str | Path) -> dict[str, NDArray[Any]]:
    """Return all arrays of an npz file."""
    try:
        with Path(path).open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            return {key: file[key] for key in file.files}
    except (OSError, ValueError, EOFError, TypeError, AttributeError, zipfile.BadZipFile,
            zlib.error) as error:  # fmt: skip
        reason = getattr(error, "strerror", None) or str(error)
        raise WorkloadError(f"{path}: not a readable npz file: {reason}") from error


def _json(path: Path) -> Any:  # noqa: ANN401  (whatever the file holds)
    try:
        data = path.read_bytes()
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
        return json.loads(data)
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise WorkloadError(f"{path}: cannot be read: {reason}") from error
    except (ValueError, RecursionError) as error:
        raise WorkloadError(f"{path}: not valid JSON: {error}") from error


def _task(number: int, task: Any) -> tuple[int, str, tuple[int, int], NDArray[Any], str]:  # noqa: ANN401
    """Return arrival, job, requests, samples and name of one task of the file."""
    if not isinstance(task, dict):
        raise WorkloadError(f"task {number}: must be an object; got {task!r}")
    missing = [field for field in FIELDS if field not in task]
    if missing:
        raise WorkloadError(f"task {number}: field {missing[0]} is missing")
    name = task["name"]
    match = NAME.fullmatch(name) if isinstance(name, str) else None
    if match is None:
        raise WorkloadError(f'task {number}: name must be "pod-<job>-<index>"; got {name!r}')
    numbers = [_whole(name, key, task[key]) for key in ("arrival_s", "req_mcpu", "req_bytes")]
    phases = task["phases"]
    if not isinstance(phases, list) or not phases:
        raise WorkloadError(f"{name}: phases must be a list of at least one; got {phases!r}")
    samples = [_phase(name, k, phase) for k, phase in enumerate(phases, start=1)]
    return numbers[0], match["job"], (numbers[1], numbers[2]), np.array(samples), name


def _phase(name: str, number: int, phase: Any) -> list[int]:  # noqa: ANN401
    if not isinstance(phase, list) or len(phase) != 3:
        raise WorkloadError(f"{name}: phase {number} must be [seconds, mCPU, bytes]; got {phase!r}")
    keys = ("seconds", "mCPU", "bytes")
    return [
        _whole(name, f"phase {number} {key}", value) for key, value in zip(keys, phase, strict=True)
    ]


def _whole(name: str, key: str, value: Any) -> int:  # noqa: ANN401
    """Return a whole number of at least 0 that fits into 62 bits."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    whole = whole or (isinstance(value, float) and value.is_integer())
    if not whole or not 0 <= value < 2**62:
        raise WorkloadError(f"{name}: {key} must be a whole number of at least 0; got {value!r}")
    return int(value)
