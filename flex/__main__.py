"""Command line: simulate a cluster on your own tasks, or write a synthetic day."""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from tqdm import tqdm

from flex import metrics
from flex.checks import number
from flex.formats import read_workload, save, write_arrays
from flex.rules import NAMED_RULES, Rules
from flex.schedulers import POLICIES
from flex.simulation import NODE_COLUMNS, QUEUE_COLUMNS, Result, node_names, simulate
from flex.synthetic import synthesize
from flex.trace_commands import add_commands
from flex.workload import Workload, WorkloadError

METHODS = "LeastFit,Oversub,FlexF,FlexL"
MOST = 10**9
"""Largest number of nodes, ticks or tasks that is tried."""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m flex", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser(
        "run",
        help="simulate a cluster on a file of tasks",
        description="Simulate a cluster of equal nodes (64 cores, 128 GiB) on a file of tasks. "
        "Writes METHOD.npz for each method: node_cols, node[T, N, 7], queue_cols, queue[T, 5], "
        "nodes and time_s; row k is the state after the tick at 60 * (k + 1) seconds. "
        "Prints a summary.",
    )
    run.add_argument(
        "tasks", type=_path, metavar="TASKS",
        help="a saved workload (.npz), or JSON (.json, .json.gz): a list of objects with "
        "arrival_s, name (pod-<job>-<index>), req_mcpu, req_bytes and phases, a list of "
        "[seconds, mCPU, bytes]",
    )  # fmt: skip
    run.add_argument("--nodes", type=_count, required=True, metavar="N", help="number of nodes")
    run.add_argument("--ticks", type=_count, required=True, metavar="T", help="ticks of a minute")
    run.add_argument(
        "--methods", type=_methods, default=METHODS.split(","), metavar="A,B",
        help=f"of {', '.join(POLICIES)} (default: {METHODS})",
    )  # fmt: skip
    run.add_argument(
        "--rules", choices=list(NAMED_RULES), default="author",
        help="the author's program, or the paper as written (default: %(default)s)",
    )  # fmt: skip
    names = ", ".join(field.name for field in fields(Rules))
    run.add_argument(
        "--set", action="append", default=[], metavar="RULE=VALUE", dest="changes",
        help=f"change one rule, may be repeated; rules: {names}",
    )  # fmt: skip
    run.add_argument("--scale", type=_factor, default=1.0, help="factor of demand (%(default)s)")
    run.add_argument("--no-nodes", action="store_true", help="leave the nodes' arrays out")
    run.add_argument("--out", type=_path, required=True, metavar="DIR", help="folder to write to")
    day = commands.add_parser(
        "synthesize",
        help="write a synthetic day calibrated on the Google 2011 trace",
        description="Write a synthetic workload calibrated on the Google 2011 trace.",
    )
    day.add_argument("--tasks", type=_count, default=714_030, metavar="N", help="(%(default)s)")
    day.add_argument("--hours", type=float, default=24.0, help="(%(default)s)")
    day.add_argument("--seed", type=_seed, default=0, help="(%(default)s)")
    day.add_argument("--out", type=_path, required=True, metavar="FILE", help="file to write, .npz")
    run.set_defaults(run=_run, kept="The methods that had finished are kept.")
    day.set_defaults(run=_synthesize, kept="Nothing was written.")
    add_commands(commands)
    return parser


def _count(text: str) -> int:
    if not text.isdecimal() or len(text) > len(str(MOST)) or not 1 <= int(text) <= MOST:
        raise argparse.ArgumentTypeError(f"must be a whole number from 1 to {MOST}; got {text!r}")
    return int(text)


def _seed(text: str) -> int:
    if not text.isdecimal() or len(text) > 18:
        raise argparse.ArgumentTypeError(
            f"must be a whole number of at least 0 and 18 digits at most; got {text!r}"
        )
    return int(text)


def _factor(text: str) -> float:
    try:
        return number("it", float(text), "", 0, sys.float_info.max)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a number of at least 0; got {text!r}") from None


def _path(text: str) -> Path:
    if not text or "\0" in text:
        raise argparse.ArgumentTypeError(f"must be the name of a file or folder; got {text!r}")
    return Path(text)


def _methods(text: str) -> list[str]:
    names = list(dict.fromkeys(name.strip() for name in text.split(",")))
    for name in names:
        if name not in POLICIES:
            raise argparse.ArgumentTypeError(f"{name!r} is not one of {', '.join(POLICIES)}")
    return names


def _rules(name: str, changes: list[str]) -> Rules:
    """Return named rules with single rules changed, each given as "rule=value"."""
    values: dict[str, Any] = {}
    for change in changes:
        key, equals, text = change.partition("=")
        if not equals or key not in {field.name for field in fields(Rules)}:
            raise ValueError(f"--set {change}: must be RULE=VALUE with a rule named in --help")
        if key in values:
            raise ValueError(f"--set {change}: {key} is set more than once")
        values[key] = _value(change, key, text)
    try:
        return replace(NAMED_RULES[name], **values)
    except ValueError as error:
        raise ValueError(f"--set {' '.join(changes)}: {error}") from error


def _value(change: str, key: str, text: str) -> object:
    kind = {field.name: str(field.type) for field in fields(Rules)}[key]
    if kind == "bool" and text in ("True", "False"):
        return text == "True"
    if kind == "int | None" and text == "None":
        return None
    allowed = {"bool": "True or False", "int | None": "a whole number or None", "float": "a number"}
    read = {"int | None": int, "float": float}
    try:
        return read[kind](text) if kind in allowed else text
    except (KeyError, ValueError):
        raise ValueError(f"--set {change}: must be {allowed[kind]}; got {text!r}") from None


def _summary(method: str, result: Result) -> dict[str, object]:
    last, used = result.history.iloc[-1], metrics.utilisation(result.history, 0)
    return {
        "method": method,
        "finished": int(last["finished"]),
        "running": int(last["running"]),
        "pending": int(last["pending"]),
        "CPU request %": 100 * used["cpu_request"],
        "memory request %": 100 * used["memory_request"],
        "CPU usage %": 100 * used["cpu_usage"],
        "memory usage %": 100 * used["memory_usage"],
        "violated tasks %": 100 * metrics.violations_of_tasks(result.history, warm_up=0),
        "violated time %": 100 * metrics.violations_over_time(result.history, warm_up=0),
    }


def _write(result: Result, nodes: int, path: Path) -> None:
    """Write the arrays of one method; the file appears when it is complete."""
    arrays = {
        "time_s": result.history["time_s"].to_numpy(),
        "queue_cols": np.array(QUEUE_COLUMNS),
        "queue": result.queue,
    }
    if result.nodes is not None:
        arrays |= {
            "nodes": np.array(node_names(nodes)),
            "node_cols": np.array(NODE_COLUMNS),
            "node": result.nodes,
        }
    write_arrays(path, arrays)


def _check_folder(folder: Path) -> None:
    """Refuse a folder that cannot be made or written to."""
    path = folder.absolute()
    nearest = next(p for p in (path, *path.parents) if p.exists())
    if not nearest.is_dir():
        raise ValueError(f"--out {folder}: {nearest} is not a folder")
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise ValueError(f"--out {folder}: the folder {nearest} is not writable")


def _check_file(path: Path, source: Path | None = None) -> None:
    """Refuse a file that cannot be written, or that is the file of tasks."""
    if path.is_dir():
        raise ValueError(f"--out: {path} is a folder; the name of a file is needed")
    if path.exists() and not path.is_file():
        raise ValueError(f"--out: {path} is not a regular file and is not replaced")
    if source is not None and path.exists() and source.exists() and path.samefile(source):
        raise ValueError(f"--out: {path} is the file of tasks and is not replaced")


def _run(args: argparse.Namespace) -> None:
    rules = _rules(args.rules, args.changes)
    _check_folder(args.out)
    for method in args.methods:
        _check_file(args.out / f"{method}.npz", args.tasks)
    workload = read_workload(args.tasks)
    try:
        workload.require_fits()
    except WorkloadError as error:
        raise WorkloadError(f"{args.tasks}: {error}") from error
    if args.scale != 1:
        workload = workload.scaled(args.scale)
    args.out.mkdir(parents=True, exist_ok=True)
    rows = []
    for method in args.methods:
        rows.append(_summary(method, _simulate(args, workload, method, rules)))
    with pd.option_context("display.width", 200):
        table = pd.DataFrame(rows).set_index("method").T
        print(table.to_string(float_format="{:.2f}".format), flush=True)


def _simulate(args: argparse.Namespace, workload: Workload, method: str, rules: Rules) -> Result:
    often = 0.1 if sys.stderr.isatty() else 60
    with tqdm(
        total=args.ticks + 1, desc=method, unit="tick", file=sys.stderr, mininterval=often
    ) as bar:
        result = simulate(
            workload, method, args.nodes, args.ticks, rules,
            record_nodes=not args.no_nodes, on_tick=lambda _: bar.update(),
        )  # fmt: skip
    _write(result, args.nodes, args.out / f"{method}.npz")
    return result


def main(arguments: list[str] | None = None) -> int:
    """Run a command; return 0, 2 for an error in the input, or 130 if interrupted."""
    args = _parser().parse_args(arguments)
    try:
        args.run(args)
    except BrokenPipeError:  # whoever reads the summary has stopped; the files are written
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        print(f"Interrupted. {args.kept}", file=sys.stderr)
        return 130
    except (ValueError, OSError, MemoryError) as error:
        print(f"error: {_message(error)}", file=sys.stderr)
        return 2
    return 0


def _synthesize(args: argparse.Namespace) -> None:
    if args.out.suffix != ".npz":
        raise ValueError(f"--out {args.out}: the name must end in .npz")
    if not args.out.parent.is_dir():
        raise ValueError(f"--out {args.out}: there is no folder {args.out.parent}")
    _check_folder(args.out.parent)
    _check_file(args.out)
    save(synthesize(args.tasks, args.hours, args.seed), args.out)


def _message(error: Exception) -> str:
    """Return one line about an error."""
    if isinstance(error, MemoryError):
        return f"more memory needed than there is: {error or 'try smaller numbers'}"
    if isinstance(error, OSError):
        return f"{error.filename or 'standard output'}: {error.strerror or error}"
    return str(error)


if __name__ == "__main__":
    sys.exit(main())
