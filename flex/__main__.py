"""Command line: simulate a cluster on your own tasks, or write a synthetic day."""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pandas as pd
from tqdm import tqdm

from flex import metrics
from flex.formats import read_workload, save
from flex.rules import NAMED_RULES, Rules
from flex.schedulers import POLICIES
from flex.simulation import NODE_COLUMNS, QUEUE_COLUMNS, Result, node_names, simulate
from flex.synthetic import synthesize
from flex.workload import Workload, WorkloadError

METHODS = "LeastFit,Oversub,FlexF,FlexL"


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
        "tasks", type=Path, metavar="TASKS",
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
    run.add_argument("--scale", type=float, default=1.0, help="factor of the demand (%(default)s)")
    run.add_argument("--no-nodes", action="store_true", help="leave the nodes' arrays out")
    run.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder to write to")
    day = commands.add_parser(
        "synthesize",
        help="write a synthetic day calibrated on the Google 2011 trace",
        description="Write a synthetic workload calibrated on the Google 2011 trace.",
    )
    day.add_argument("--tasks", type=_count, default=714_030, metavar="N", help="(%(default)s)")
    day.add_argument("--hours", type=float, default=24.0, help="(%(default)s)")
    day.add_argument("--seed", type=int, default=0, help="(%(default)s)")
    day.add_argument("--out", type=Path, required=True, metavar="FILE", help="file to write, .npz")
    return parser


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 1; got {text!r}")
    return int(text)


def _methods(text: str) -> list[str]:
    names = list(dict.fromkeys(text.split(",")))
    for name in names:
        if name not in POLICIES:
            raise argparse.ArgumentTypeError(f"{name!r} is not one of {', '.join(POLICIES)}")
    return names


def _rules(name: str, changes: list[str]) -> Rules:
    """Return named rules with single rules changed, each given as "rule=value"."""
    rules = NAMED_RULES[name]
    for change in changes:
        key, equals, text = change.partition("=")
        if not equals or key not in {field.name for field in fields(Rules)}:
            raise ValueError(f"--set {change}: must be RULE=VALUE with a rule named in --help")
        try:
            rules = replace(rules, **{key: _value(key, text)})  # type: ignore[arg-type]
        except ValueError as error:
            raise ValueError(f"--set {change}: {error}") from error
    return rules


def _value(key: str, text: str) -> object:
    kind = {field.name: str(field.type) for field in fields(Rules)}[key]
    if kind == "bool":
        if text not in ("True", "False"):
            raise ValueError(f"must be True or False; got {text!r}")
        return text == "True"
    if kind == "int | None":
        return None if text == "None" else int(text)
    return float(text) if kind == "float" else text


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
    aside = path.with_name(path.name + ".part")
    try:
        with aside.open("wb") as file:
            np.savez_compressed(file, allow_pickle=False, **arrays)
        os.replace(aside, path)
    finally:
        aside.unlink(missing_ok=True)


def _run(args: argparse.Namespace) -> None:
    rules = _rules(args.rules, args.changes)
    workload = read_workload(args.tasks)
    workload.require_fits()
    if args.scale != 1:
        workload = workload.scaled(args.scale)
    args.out.mkdir(parents=True, exist_ok=True)
    rows = []
    for method in args.methods:
        rows.append(_summary(method, _simulate(args, workload, method, rules)))
    with pd.option_context("display.width", 200):
        print(pd.DataFrame(rows).set_index("method").T.to_string(float_format="{:.2f}".format))


def _simulate(args: argparse.Namespace, workload: Workload, method: str, rules: Rules) -> Result:
    with tqdm(total=args.ticks + 1, desc=method, unit="tick", file=sys.stderr) as bar:
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
        if args.command == "run":
            _run(args)
        else:
            save(synthesize(args.tasks, args.hours, args.seed), args.out)
    except (WorkloadError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"error: {error.filename or args.out}: {error.strerror}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("Interrupted. The methods that had finished are kept.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
