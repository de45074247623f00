"""Normalised tasks of the Google trace, converted as the author's converter does."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flex.checks import number
from flex.formats import read_arrays
from flex.workload import CPU_CAPACITY, LONGEST, Workload, WorkloadError

__all__ = ["read_normalised"]

MIB = 2**20
MIB_OF_NODE = 131_072
FIELDS = ("name", "req", "offset", "start_s", "end_s", "cpu", "mem")
NAME = re.compile(r"(?P<time>[0-9]{1,18})_(?P<job>.+)-[0-9]+")

Arrays = dict[str, NDArray[Any]]


def read_normalised(path: str | Path, scale: float = 1.0) -> tuple[Workload, dict[str, int]]:
    """Read normalised tasks of the Google trace, converted as the author's converter does.

    Requests and usage are cut to whole milli-cores and MiB; usage is taken as demand. A sample
    above 1 is replaced by the value before it (scaled a second time, as in the author's program),
    or by 0 if it is the first. Equal neighbours are merged; each sample keeps its length, so gaps
    between samples vanish and overlapping ones (a few in the real trace) are laid end to end.

    Parameters
    ----------
    path
        An npz file with ``name`` ("<arrival in microseconds>_<job>-<index>"), ``req`` (tasks, 2)
        as shares of the largest machine, ``offset`` (tasks + 1,), and for each sample
        ``start_s``, ``end_s`` (whole seconds), ``cpu`` and ``mem``.
    scale
        Factor of the demand (Figure 11), 0 to 1000.

    Returns
    -------
    Workload
    dict
        Counts of what was changed: samples above 1 replaced, samples merged, gaps closed,
        overlaps laid end to end; and of tasks that request nothing of one resource.

    Raises
    ------
    WorkloadError
        If the file cannot be read, arrays do not belong together, or a value is negative or not
        a number.
    ValueError
        If the scale is out of its range.
    """
    scale = number("scale", scale, "from 0 to 1000", 0, 1000)
    found = read_arrays(path)
    try:
        _check_shapes(found)
        _check_values(found)
        return _converted(found, scale)
    except WorkloadError as error:
        raise WorkloadError(f"{path}: {error}") from error


def _converted(found: Arrays, scale: float) -> tuple[Workload, dict[str, int]]:
    names, offset = found["name"], found["offset"]
    usage = np.column_stack([found["cpu"], found["mem"]]).astype(np.float64)
    matches = [_name(name) for name in names.tolist()]
    arrival = [int(match["time"]) // 60_000_000 * 60 for match in matches]
    job = np.unique([match["job"] for match in matches], return_inverse=True)[1]
    requests = np.trunc(found["req"].astype(np.float64) * [CPU_CAPACITY, MIB_OF_NODE]) * [1, MIB]
    length = found["end_s"] - found["start_s"]
    rows = [_convert(length[a:b], usage[a:b], scale) for a, b in pairwise(offset.tolist())]
    between = found["start_s"][1:] - found["end_s"][:-1]
    between[offset[1:-1] - 1] = 0
    counts = {
        "samples above 1 replaced": int((usage > 1).any(axis=1).sum()),
        "samples merged": len(usage) - sum(map(len, rows)),
        "gaps closed": int((between > 0).sum()),
        "overlaps laid end to end": int((between < 0).sum()),
        "tasks with a zero request": int((requests == 0).any(axis=1).sum()),
    }
    return Workload.from_tasks(arrival, job, requests, rows, names), counts


def _name(name: str) -> re.Match[str]:
    match = NAME.fullmatch(name)
    if match is None:
        raise WorkloadError(f'name must be "<microseconds>_<job>-<index>"; got {name!r}')
    return match


def _check_shapes(found: Arrays) -> None:
    """Refuse arrays that are missing, of another kind, or do not belong together."""
    for key in FIELDS:
        if key not in found:
            raise WorkloadError(f"missing array {key}; needed are {list(FIELDS)}")
        kinds = {"name": "U", "offset": "iu"}.get(key, "iuf")
        if found[key].dtype.kind not in kinds and found[key].size:
            wanted = {"name": "text", "offset": "whole numbers"}.get(key, "numbers")
            raise WorkloadError(f"{key} must be {wanted}; got {found[key].dtype}")
    tasks, offset = found["name"].size, found["offset"]
    if offset.shape != (tasks + 1,) or offset[0] != 0 or (np.diff(offset.astype(int)) < 1).any():
        raise WorkloadError(f"offset must rise from 0 and have {tasks + 1} values, one a task more")
    shapes = {"name": (tasks,), "req": (tasks, 2)}
    for key in FIELDS:
        wanted_shape = shapes.get(key, (int(offset[-1]),))
        if key != "offset" and found[key].shape != wanted_shape:
            raise WorkloadError(f"{key} must have shape {wanted_shape}; got {found[key].shape}")


def _check_values(found: Arrays) -> None:
    """Refuse what is not a number or out of its range; infinity counts as above 1."""
    request, start, end = found["req"], found["start_s"], found["end_s"]
    refuse = _refusal(found)
    refuse(((request >= 0) & (request <= 1)).all(axis=1), "req", "between 0 and 1", False)
    for key in ("cpu", "mem"):
        refuse(found[key] >= 0, "cpu and mem", "numbers of at least 0", True)
    refuse(end >= start, "end_s", "at least start_s", True)
    for key in ("start_s", "end_s"):
        whole = (found[key] % 1 == 0) & (np.abs(found[key]) <= LONGEST)
        refuse(whole, key, f"whole seconds of at most {LONGEST}", True)


def _refusal(found: Arrays) -> Callable[[NDArray[Any] | np.bool_, str, str, bool], None]:
    def refuse(good: NDArray[Any] | np.bool_, field: str, allowed: str, per_sample: bool) -> None:
        if not good.all():
            row = int(np.argmin(good))
            offset = found["offset"]
            task = int(np.searchsorted(offset, row, side="right")) - 1 if per_sample else row
            raise WorkloadError(f"{found['name'][task]}: {field} must be {allowed}")

    return refuse


def _convert(seconds: NDArray[Any], usage: NDArray[np.float64], scale: float) -> NDArray[np.int64]:
    """Return the samples of one task: seconds, mCPU, bytes."""
    values = np.where(usage > 1, 0, usage) * scale
    for k, r in zip(*np.nonzero(usage > 1), strict=True):
        values[k, r] = values[k - 1, r] * scale if k else 0
    units = np.trunc(values * [CPU_CAPACITY, MIB_OF_NODE]).astype(np.int64)
    new = np.ones(len(units), dtype=bool)
    new[1:] = (units[1:] != units[:-1]).any(axis=1)
    lengths = np.add.reduceat(seconds.astype(np.int64), np.flatnonzero(new))
    return np.column_stack([lengths, units[new] * [1, MIB]])
