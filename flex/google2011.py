"""Reader of the Google cluster trace of May 2011 (clusterdata-2011-2).

``convert`` reads the six tables of a folder, headerless gzip CSV by the official schema, and
writes Parquet once, part by part: an interruption loses no finished part. What is odd in the
data is kept, flagged and counted in a report; what cannot be read is an error with file and
line. Everything runs inside DuckDB with bounded memory.

Columns have the names of the schema in snake case. Times are microseconds of the trace clock;
the trace starts at 600 s. In place of the marks 0 (before the trace) and 2^63 - 1 or 2^64 - 1
(after it), a time is missing and ``before_start`` or ``after_end`` is true.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import duckdb
import pandas as pd

__all__ = ["TABLES", "Column", "Part", "TraceError", "convert", "parts_of", "report_of"]

Kind = Literal["time", "integer", "float", "hash", "boolean"]

SQL_TYPES = {
    "time": "UBIGINT", "integer": "BIGINT", "float": "DOUBLE", "hash": "VARCHAR",
    "boolean": "BOOLEAN",
}  # fmt: skip
AFTER_END = 2**63 - 1
"""Times from here on mean that something happens after the end of the trace."""
FULL_WINDOW = 300_000_000
"""Microseconds of a usage window."""
PART = re.compile(r"part-(\d{5})-of-(\d{5})\.csv(\.gz)?")
MEMORY = "600MB"


class TraceError(ValueError):
    """The trace cannot be read; the message names file, line, column and value."""


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes
    ----------
    name
        In snake case.
    kind
        What it holds.
    mandatory
        Whether the schema says that it is never empty.
    """

    name: str
    kind: Kind
    mandatory: bool = False


def _columns(text: str) -> tuple[Column, ...]:
    """Parse ``name:kind`` with a star for mandatory ones; integers need no kind."""
    columns = []
    for word in text.split():
        name, _, kind = word.rstrip("*").partition(":")
        columns.append(Column(name, kind or "integer", word.endswith("*")))  # type: ignore[arg-type]
    return tuple(columns)


TABLES = {
    "machine_events": _columns(
        "time:time* machine_id* event_type* platform_id:hash cpus:float memory:float"
    ),
    "machine_attributes": _columns(
        "time:time* machine_id* attribute_name:hash* attribute_value:hash "
        "attribute_deleted:boolean*"
    ),
    "job_events": _columns(
        "time:time* missing_info job_id* event_type* user:hash scheduling_class job_name:hash "
        "logical_job_name:hash"
    ),
    "task_events": _columns(
        "time:time* missing_info job_id* task_index* machine_id event_type* user:hash "
        "scheduling_class priority* cpu_request:float memory_request:float "
        "disk_space_request:float different_machines:boolean"
    ),
    "task_constraints": _columns(
        "time:time* job_id* task_index* comparison_operator* attribute_name:hash* "
        "attribute_value:hash"
    ),
    "task_usage": _columns(
        "start_time:time* end_time:time* job_id* task_index* machine_id* cpu_rate:float "
        "canonical_memory:float assigned_memory:float unmapped_page_cache:float "
        "total_page_cache:float maximum_memory:float disk_io_time:float local_disk_space:float "
        "maximum_cpu_rate:float maximum_disk_io_time:float cycles_per_instruction:float "
        "memory_accesses_per_instruction:float sample_portion:float aggregation_type:boolean "
        "sampled_cpu:float"
    ),
}
"""Columns of each table, in the order of the official schema.csv."""

OPTIONAL = {"task_usage": 1}
"""Last columns that older versions of the trace lack: sampled_cpu came with version 2.1."""

COUNTS: dict[str, dict[str, str]] = {
    "machine_events": {"capacity missing": "cpus IS NULL OR memory IS NULL"},
    "machine_attributes": {"attribute value missing": "attribute_value IS NULL"},
    "job_events": {"missing info given": "missing_info IS NOT NULL"},
    "task_events": {
        "missing info given": "missing_info IS NOT NULL",
        "machine missing": "machine_id IS NULL",
        "CPU request missing": "cpu_request IS NULL",
        "CPU request zero": "cpu_request = 0",
        "memory request missing": "memory_request IS NULL",
        "memory request zero": "memory_request = 0",
        "snapshot at the start": "before_start",
        "request updated": "event_type IN (7, 8)",
    },
    "task_constraints": {"attribute value missing": "attribute_value IS NULL"},
    "task_usage": {
        "window shorter than 300 s": f"end_time - start_time < {FULL_WINDOW}",
        "CPU and memory zero": "cpu_rate = 0 AND canonical_memory = 0",
        "CPU rate above 1": "cpu_rate > 1",
        "maximum CPU rate above 1": "maximum_cpu_rate > 1",
        "maximum CPU rate missing": "maximum_cpu_rate IS NULL",
        "maximum is a sum of sub-containers": "aggregation_type",
        "disk time missing": "disk_io_time IS NULL",
        "cycles or memory accesses per instruction missing":
            "cycles_per_instruction IS NULL OR memory_accesses_per_instruction IS NULL",
    },
}  # fmt: skip
"""What is counted in each table besides rows and times out of the trace."""


@dataclass(frozen=True)
class Part:
    """A file of the trace.

    Attributes
    ----------
    table
        Key of `TABLES`.
    number, of
        Its number and how many parts the table has.
    path
        The file.
    """

    table: str
    number: int
    of: int
    path: Path


def parts_of(folder: str | Path, tables: Iterable[str] = tuple(TABLES)) -> list[Part]:
    """Return the parts in a folder, by table and number; any subset of them may be there.

    Parameters
    ----------
    folder
        Holds a folder for each table, as the public bucket does.
    tables
        Which tables to look for.

    Raises
    ------
    TraceError
        If there is no such folder, no part in it, or the same part twice.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise TraceError(f"{folder}: there is no such folder")
    found = []
    for table in tables:
        for path in sorted((folder / table).glob("part-*")):
            if match := PART.fullmatch(path.name):
                found.append(Part(table, int(match[1]), int(match[2]), path))
    if not found:
        raise TraceError(
            f"{folder}: no part found; expected TABLE/part-?????-of-?????.csv.gz with TABLE one of "
            f"{', '.join(tables)}"
        )
    for before, part in pairwise(found):
        if (before.table, before.number) == (part.table, part.number):
            raise TraceError(f"{part.path}: the same part as {before.path.name}")
    return found


def _first_line(path: Path) -> str:
    """Return the first line of a part, compressed or not."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            return file.readline(100_000).decode("utf-8")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise TraceError(f"{path}: cannot be read: {error}") from error


def _columns_of(part: Part) -> tuple[Column, ...]:
    """Check the first line of a part and return the columns that it has."""
    line = _first_line(part.path).rstrip("\r\n")
    columns = TABLES[part.table]
    if not line:
        raise TraceError(f"{part.path}: line 1: the file is empty or begins with an empty line")
    if not line[0].isdigit():
        raise TraceError(
            f"{part.path}: line 1: {line[:40]!r} looks like a header; the trace has none"
        )
    count = line.count(",") + 1
    if not len(columns) - OPTIONAL.get(part.table, 0) <= count <= len(columns):
        raise TraceError(f"{part.path}: line 1: {count} columns; {part.table} has {len(columns)}")
    return columns[:count]


def _times(columns: Iterable[Column]) -> list[str]:
    return [column.name for column in columns if column.kind == "time"]


def _select(part: Part, columns: tuple[Column, ...]) -> str:
    """Return the query that reads a part, with marks of time made into flags."""
    types = ", ".join(f"'{c.name}': '{SQL_TYPES[c.kind]}'" for c in columns)
    source = str(part.path).replace("'", "''")
    fields = []
    for column in columns:
        name = column.name
        if column.kind == "time":
            inside = f"{name} > 0 AND {name} < {AFTER_END}"
            fields.append(f"CASE WHEN {inside} THEN CAST({name} AS BIGINT) END AS {name}")
        else:
            fields.append(name)
    for column in TABLES[part.table][len(columns) :]:
        fields.append(f"CAST(NULL AS {SQL_TYPES[column.kind]}) AS {column.name}")
    times = _times(columns)
    fields.append(f"{' OR '.join(f'{t} = 0' for t in times)} AS before_start")
    fields.append(f"{' OR '.join(f'{t} >= {AFTER_END}' for t in times)} AS after_end")
    return (
        f"SELECT {', '.join(fields)} FROM read_csv('{source}', auto_detect = false, "
        "header = false, quote = '', escape = '', delim = ',', nullstr = '', strict_mode = true, "
        f"columns = {{{types}}})"
    )


def _connect(memory: str) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.execute(f"SET memory_limit = '{memory}'")
    connection.execute("SET enable_progress_bar = false")
    return connection


def _sidecar(target: Path) -> Path:
    return target.with_suffix(".json")


def _stamp(path: Path) -> list[int]:
    """Return what tells whether a source is the one that was converted."""
    status = path.stat()
    return [status.st_size, status.st_mtime_ns]


def _done(part: Part, target: Path) -> bool:
    """Whether a part was converted from the same file before."""
    try:
        known = json.loads(_sidecar(target).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return target.is_file() and known.get("source") == _stamp(part.path)


def _explained(part: Part, error: Exception) -> TraceError:
    """Make one line of an error of DuckDB, with the line of the file if it tells one."""
    text = str(error)
    line = re.search(r"Line:?\s+(\d+)", text, re.I)
    column = re.search(r"column(?: name)?:?\s+\"?(\w+)", text, re.I)
    value = re.search(r"Could not convert string \"(.*?)\" to '(\w+)'", text)
    where = f"{part.path}:" + (f" line {line[1]}:" if line else "")
    if value:
        name = f"column {column[1]}: " if column else ""
        return TraceError(f"{where} {name}{value[1]!r} is no {value[2]}")
    return TraceError(f"{where} {' '.join(text.split())[:300]}")


def _convert_part(connection: duckdb.DuckDBPyConnection, part: Part, target: Path) -> None:
    """Write one part as Parquet and its counts beside it; aside first, then renamed."""
    columns = _columns_of(part)
    target.parent.mkdir(parents=True, exist_ok=True)
    aside = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        query = _select(part, columns)
        out = str(aside).replace("'", "''")
        connection.execute(f"COPY ({query}) TO '{out}' (FORMAT parquet, COMPRESSION zstd)")
        counts = _count(connection, part.table, aside, part)
        os.replace(aside, target)
    except duckdb.Error as error:
        raise _explained(part, error) from error
    finally:
        aside.unlink(missing_ok=True)
    _write_json(_sidecar(target), {"source": _stamp(part.path), "counts": counts})


def _count(
    connection: duckdb.DuckDBPyConnection, table: str, path: Path, part: Part
) -> dict[str, int]:
    """Count rows and oddities of a converted part; refuse an empty mandatory field."""
    conditions = {"before the trace": "before_start", "after the trace": "after_end"}
    conditions |= COUNTS[table]
    for column in TABLES[table]:
        if column.mandatory and column.kind != "time":
            conditions[f"empty {column.name}"] = f"{column.name} IS NULL"
    sums = ", ".join(f"count(*) FILTER ({c})" for c in conditions.values())
    file = str(path).replace("'", "''")
    row = connection.execute(f"SELECT count(*), {sums} FROM read_parquet('{file}')").fetchone()
    assert row is not None
    counts = dict(zip(["rows", *conditions], row, strict=True))
    for column in TABLES[table]:
        if counts.pop(f"empty {column.name}", 0):
            raise TraceError(f"{part.path}: {column.name} is empty in a row, but is mandatory")
    return counts


def _write_json(path: Path, content: object) -> None:
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        aside.write_text(json.dumps(content), encoding="utf-8")
        os.replace(aside, path)
    finally:
        aside.unlink(missing_ok=True)


def convert(
    folder: str | Path,
    out: str | Path,
    *,
    tables: Iterable[str] = tuple(TABLES),
    memory: str = MEMORY,
    progress: Callable[[list[Part]], Iterable[Part]] = list,
) -> pd.DataFrame:
    """Convert a trace to Parquet; parts that were converted before are kept.

    Parameters
    ----------
    folder
        Holds TABLE/part-?????-of-?????.csv.gz for any of the six tables, any subset of parts.
    out
        Folder for TABLE/part-?????.parquet.
    tables
        Which tables to convert.
    memory
        Limit of DuckDB's memory.
    progress
        Wraps the parts while it goes through them, as tqdm does.

    Returns
    -------
    DataFrame
        The report: ``table``, ``what``, ``count``; see `report_of`.

    Raises
    ------
    TraceError
        If a part cannot be read; parts before it are kept, nothing is left half-written.
    OSError
        If something cannot be written.
    """
    out = Path(out)
    parts = parts_of(folder, tables)
    with _connect(memory) as connection:
        for part in progress(parts):
            target = out / part.table / f"part-{part.number:05d}.parquet"
            if not _done(part, target):
                _convert_part(connection, part, target)
    _write_json(out / "parts.json", {part.table: part.of for part in parts})
    return report_of(out, memory=memory)


def report_of(out: str | Path, *, memory: str = MEMORY) -> pd.DataFrame:
    """Report what a converted trace holds and what is odd in it.

    Parameters
    ----------
    out
        The folder of `convert`.
    memory
        Limit of DuckDB's memory.

    Returns
    -------
    DataFrame
        ``table``, ``what`` and ``count``: parts, parts missing between the first and the
        last, rows, and for each table what `COUNTS` names; across tables, machines of tasks
        and usage that machine_events does not have.
    """
    out = Path(out)
    rows: list[tuple[str, str, int]] = []
    for table in TABLES:
        files = sorted((out / table).glob("part-*.parquet"))
        if files:
            numbers = [int(file.stem[5:]) for file in files]
            missing = max(numbers) - min(numbers) + 1 - len(files)
            rows += [(table, "parts", len(files)), (table, "parts missing between", missing)]
            rows += [(table, what, n) for what, n in _summed(files).items()]
    rows += _unknown_machines(out, memory)
    return pd.DataFrame(rows, columns=["table", "what", "count"])


def _summed(files: Iterable[Path]) -> dict[str, int]:
    total: dict[str, int] = {}
    for file in files:
        counts: dict[str, Any] = json.loads(_sidecar(file).read_text(encoding="utf-8"))["counts"]
        for what, count in counts.items():
            total[what] = total.get(what, 0) + count
    return total


def _unknown_machines(out: Path, memory: str) -> list[tuple[str, str, int]]:
    """Count machines that occur in a table of tasks and not in machine_events."""
    known = out / "machine_events"
    if not any(known.glob("*.parquet")):
        return []
    rows = []
    with _connect(memory) as connection:
        for table in ("task_events", "task_usage"):
            if any((out / table).glob("*.parquet")):
                query = (
                    "SELECT count(DISTINCT machine_id) "
                    f"FROM read_parquet('{out / table}/*.parquet') WHERE machine_id IS NOT NULL "
                    "AND machine_id NOT IN "
                    f"(SELECT machine_id FROM read_parquet('{known}/*.parquet'))"
                )
                found = connection.execute(query).fetchone()
                count = int(found[0]) if found else 0
                rows.append((table, "machines not in machine_events", count))
    return rows
