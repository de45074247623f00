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
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flex.checks import shown, whole
from flex.workload import ARRAYS, LONGEST, Workload, WorkloadError

__all__ = ["load", "read_arrays", "read_tasks", "read_workload", "save", "write_arrays"]

FIELDS = ("arrival_s", "name", "req_mcpu", "req_bytes", "phases")
MOST = 2**61
"""Largest number in a file."""
NAME = re.compile(r"(?:pod-)?(?P<job>.+)-\d+")


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
    found = read_arrays(path)
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
    ``phases``, a list of [seconds, mCPU, bytes]. Other fields are not read.

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


def read_arrays(path: str | Path) -> dict[str, NDArray[Any]]:
    """Return all arrays of an npz file.

    Raises
    ------
    WorkloadError
        If the file cannot be read.
    """
    try:
        with Path(path).open("rb") as stream:
            if not zipfile.is_zipfile(stream):
                raise WorkloadError(f"{path}: not a readable npz file: it is no zip archive")
            with np.load(stream, allow_pickle=False) as file:
                return {key: file[key] for key in file.files}
    except WorkloadError:
        raise
    except Exception as error:  # a damaged archive may raise almost anything
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        reason = " ".join(reason.split())
        raise WorkloadError(f"{path}: not a readable npz file: {reason}") from error


def _json(path: Path) -> Any:  # noqa: ANN401  (whatever the file holds)
    try:
        data = path.read_bytes()
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
        return json.loads(data, object_pairs_hook=_object)
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise WorkloadError(f"{path}: cannot be read: {reason}") from error
    except (ValueError, RecursionError) as error:
        raise WorkloadError(f"{path}: not valid JSON: {error}") from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON; of a field that stands twice one value would be lost."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"field {twice!r} stands more than once in one object")
    return found


def _task(number: int, task: Any) -> tuple[int, str, tuple[int, int], NDArray[Any], str]:  # noqa: ANN401
    """Return arrival, job, requests, samples and name of one task of the file."""
    if not isinstance(task, dict):
        raise WorkloadError(f"task {number}: must be an object; got {shown(task)}")
    missing = [field for field in FIELDS if field not in task]
    if missing:
        raise WorkloadError(f"task {number}: field {missing[0]} is missing")
    name = task["name"]
    match = NAME.fullmatch(name) if isinstance(name, str) else None
    if match is None:
        raise WorkloadError(f'task {number}: name must be "pod-<job>-<index>"; got {shown(name)}')
    numbers = [_whole(name, key, task[key]) for key in ("arrival_s", "req_mcpu", "req_bytes")]
    phases = task["phases"]
    if not isinstance(phases, list) or not phases:
        raise WorkloadError(f"{name}: phases must be a list of at least one; got {shown(phases)}")
    samples = [_phase(name, k, phase) for k, phase in enumerate(phases, start=1)]
    if (seconds := sum(sample[0] for sample in samples)) > LONGEST:
        raise WorkloadError(f"{name}: phases must last at most {LONGEST} s; got {seconds}")
    return numbers[0], match["job"], (numbers[1], numbers[2]), np.array(samples), name


def _phase(name: str, number: int, phase: Any) -> list[int]:  # noqa: ANN401
    if not isinstance(phase, list) or len(phase) != 3:
        raise WorkloadError(
            f"{name}: phase {number} must be [seconds, mCPU, bytes]; got {shown(phase)}"
        )
    limits = zip(("seconds", "mCPU", "bytes"), phase, (LONGEST, 2**31 - 1, MOST), strict=True)
    return [_whole(name, f"phase {number} {key}", value, most) for key, value, most in limits]


def _whole(name: str, key: str, value: Any, most: int = MOST) -> int:  # noqa: ANN401
    try:
        return whole(key, value, 0, most)
    except ValueError as error:
        raise WorkloadError(f"{name}: {error}") from None
