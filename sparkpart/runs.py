"""Read running times against node counts from a CSV file.

The file has a header and, in any order, one column of node counts and one of times. The name
of the time column states its unit (``seconds``, ``s``, ``milliseconds``, ``ms``); a column
named ``time`` or ``runtime`` needs the unit given. Repeated node counts are repeated runs.
"""

from __future__ import annotations

import csv
import math
import re
from os import PathLike
from pathlib import Path
from typing import Literal

import pandas as pd

from sparkpart.profiles import LARGEST, SMALLEST

__all__ = ["RunsError", "bell", "read_runs"]

Unit = Literal["s", "ms"]

NODE_NAMES = ("nodes", "machines", "node_count", "n")
UNIT_OF_NAME: dict[str, Unit | None] = {
    "seconds": "s",
    "s": "s",
    "milliseconds": "ms",
    "ms": "ms",
    "time": None,
    "runtime": None,
    "running_time": None,
    "duration": None,
}
SECONDS = {"s": 1.0, "ms": 1e-3}
MOST_NODES = 10**9
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


class RunsError(ValueError):
    """A file of running times is not as it must be; the message names line and field."""


def _normal(name: str) -> str:
    return name.strip().lower().replace(" ", "_").replace("-", "_")


def _column(path: Path, header: list[str], names: tuple[str, ...], what: str) -> int:
    found = [i for i, name in enumerate(header) if _normal(name) in names]
    if len(found) != 1:
        problem = "no column" if not found else f"{len(found)} columns"
        other = len(header) == 1 and re.search(r"[;\t]", header[0])
        hint = "; fields must be separated by commas" if other else ""
        raise RunsError(
            f"{path}, line 1: {problem} of {what}; the header is {','.join(header)!r}, "
            f"exactly one of {', '.join(names)} is needed{hint}"
        )
    return found[0]


def _number(path: Path, line: int, field: str, text: str, scale: float | None = None) -> float:
    """Return a time in seconds, or a node count where there is no scale."""
    allowed, low, high = f"a whole number >= 1 and <= {MOST_NODES}", 1.0, float(MOST_NODES)
    if scale:
        low, high = SMALLEST / scale, LARGEST / scale
        allowed = f"a finite number > 0, within {low:g} and {high:g}"
    value = float(text) if NUMBER.fullmatch(text.strip()) else math.nan
    good = low <= value <= high and (scale is not None or value == int(value))
    if not good:
        raise RunsError(f"{path}, line {line}, field {field!r}: {text!r} is not {allowed}")
    return value * (scale or 1.0)


def _unit(path: Path, field: str, stated: Unit | None) -> Unit:
    if stated is not None and stated not in SECONDS:
        raise RunsError(f"the unit given is {stated!r}; it must be s or ms")
    named = UNIT_OF_NAME[_normal(field)]
    if named and stated and named != stated:
        raise RunsError(
            f"{path}, line 1: column {field!r} is in {named}, but the unit given is {stated}"
        )
    if not (named or stated):
        raise RunsError(
            f"{path}, line 1: column {field!r} states no unit; give s or ms as the unit"
        )
    return named or stated or "s"


def read_runs(path: str | PathLike[str], unit: Unit | None = None) -> pd.DataFrame:
    """Read a CSV file of running times.

    Parameters
    ----------
    path
        The file, UTF-8, with a header.
    unit
        Unit of the times, needed when the column's name does not state it.

    Returns
    -------
    DataFrame
        ``nodes`` (int) and ``seconds`` (float), in the order of the file. The names of
        columns that were not used are in ``attrs["ignored"]``.

    Raises
    ------
    RunsError
        If the file is empty or not text, a column is missing, or a value or unit is wrong;
        the message names file, line, field, the value and what is allowed.
    OSError
        If the file cannot be read.
    """
    path = Path(path)
    try:
        with path.open(newline="", encoding="utf-8-sig") as stream:
            lines = [(reader.line_num, row) for reader in [csv.reader(stream)] for row in reader]
    except (UnicodeDecodeError, csv.Error) as error:
        raise RunsError(f"{path}: not a CSV file in UTF-8 ({error})") from error
    lines = [(number, row) for number, row in lines if any(cell.strip() for cell in row)]
    if not lines:
        raise RunsError(f"{path}: the file is empty; a header and one run a line are needed")
    (_, header), *rows = lines
    n = _column(path, header, NODE_NAMES, "node counts")
    t = _column(path, header, tuple(UNIT_OF_NAME), "times")
    scale = SECONDS[_unit(path, header[t], unit)]
    records = []
    for number, row in rows:
        if len(row) != len(header):
            raise RunsError(
                f"{path}, line {number}: {len(row)} fields; the header has {len(header)}"
            )
        nodes = int(_number(path, number, header[n], row[n]))
        records.append((nodes, _number(path, number, header[t], row[t], scale)))
    if not records:
        raise RunsError(f"{path}: a header but no runs")
    table = pd.DataFrame(records, columns=["nodes", "seconds"])
    table.attrs["ignored"] = [h for i, h in enumerate(header) if i not in (n, t)]
    return table


def bell() -> pd.DataFrame:
    """Return real running times of two Spark jobs, the medians of 7 runs at each node count.

    Columns: ``program`` (grep, SGD), ``nodes``, ``median_seconds``, ``min_seconds``,
    ``max_seconds``, ``runs``. Derived from the data of Thamsen et al. (IPCCC 2016).
    """
    with (Path(__file__).parent / "data" / "bell_medians.csv").open(encoding="utf-8") as stream:
        return pd.read_csv(stream)
