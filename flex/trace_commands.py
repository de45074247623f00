"""Commands on the Google trace: ``python -m flex convert``."""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path
from typing import Any

from tqdm import tqdm

__all__ = ["add_commands"]


def add_commands(commands: Any) -> None:  # noqa: ANN401
    """Add the commands to a parser; each sets ``run`` to what it does.

    Parameters
    ----------
    commands
        What ``add_subparsers`` of the parser returned.
    """
    convert = commands.add_parser(
        "convert",
        help="convert a folder of the Google trace of 2011 to Parquet",
        description="Convert tables of clusterdata-2011-2, TABLE/part-?????-of-?????.csv.gz in a "
        "folder, to Parquet, and report what is odd in them. Parts that were converted before are "
        "kept, so an interrupted conversion can be resumed.",
    )
    convert.add_argument("trace", type=Path, metavar="TRACE_DIR", help="folder of the trace")
    convert.add_argument("--out", type=Path, required=True, metavar="PARQUET_DIR")
    convert.add_argument(
        "--tables", metavar="A,B", help="which tables (default: all that are there)"
    )
    convert.add_argument("--json", action="store_true", help="print the report as JSON")
    convert.set_defaults(run=_convert, kept="The parts that had finished are kept.")


def _convert(args: argparse.Namespace) -> None:
    try:
        from flex import google2011
    except ImportError as error:
        raise ValueError(f"convert needs DuckDB (the extra 'trace'): {error}") from error
    tables = args.tables.split(",") if args.tables else list(google2011.TABLES)
    if unknown := [name for name in tables if name not in google2011.TABLES]:
        raise ValueError(f"--tables: {unknown[0]!r} is not one of {', '.join(google2011.TABLES)}")
    if args.out.resolve() == args.trace.resolve():
        raise ValueError(f"--out {args.out} is the folder of the trace")
    often = 0.1 if sys.stderr.isatty() else 60
    follow = partial(tqdm, desc="convert", unit="part", file=sys.stderr, mininterval=often)
    report = google2011.convert(args.trace, args.out, tables=tables, progress=follow)
    print(report.to_json(orient="records") if args.json else report.to_string(index=False))
