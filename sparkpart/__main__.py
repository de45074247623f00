"""Command line: fit running times, choose degrees of partitioning."""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path

import pandas as pd
from tqdm import tqdm

from sparkpart.dataflow import Dataflow, DataflowError
from sparkpart.exact import front
from sparkpart.fastest import TooWideError, costs_of, is_forest
from sparkpart.flowfile import read_flow
from sparkpart.output import check_outputs, write
from sparkpart.planning import TECHNIQUES, Recommendation, recommend
from sparkpart.profiles import MODELS, Fit, FitError, compare
from sparkpart.runs import RunsError, read_runs

MOST_RESAMPLES = 100_000
FRONT_POINTS = 25
MOST_POINTS = 10_000
PLOT_FORMATS = (".png", ".svg", ".pdf")
ONE_VARIABLE = tuple(name for name, model in MODELS.items() if model.inputs == 1)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m sparkpart", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    fit = commands.add_parser(
        "fit",
        help="fit running-time models to a CSV file of node counts and times",
        description="Fit running-time models to a CSV file with a header, a column of node "
        "counts (nodes) and one of times (seconds or ms; time or runtime with --unit), and "
        "recommend the model that best predicts node counts left out of the fit.",
    )
    fit.add_argument("runs", type=_file, help="the CSV file; repeated node counts are repeats")
    fit.add_argument("--unit", choices=["s", "ms"], help="unit of the times, if the name lacks it")
    fit.add_argument(
        "--models", default=",".join(ONE_VARIABLE), help="comma-separated (default: %(default)s)"
    )
    fit.add_argument(
        "--bounds", choices=["stated", "none"], default="stated",
        help="sign bounds of the paper, or free signs (default: %(default)s)",
    )  # fmt: skip
    fit.add_argument("--resamples", type=int, default=1000, help="bootstrap refits (%(default)s)")
    fit.add_argument("--seed", type=int, default=0, help="seed of the bootstrap (%(default)s)")
    fit.add_argument("--csv", type=_file, metavar="FILE", help="write the table as CSV")
    fit.add_argument("--plot", type=_file, metavar="FILE", help="write the plot (png, svg, pdf)")
    fit.set_defaults(run=_fit)
    _add_optimize(commands)
    return parser


def _add_optimize(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    optimize = commands.add_parser(
        "optimize",
        help="choose the degree of partitioning of every stage of a data flow",
        description="Choose the degree of partitioning (nodes) of every vertex of a data flow "
        "so that resource consumption is least while running time grows by the slack at most; "
        "compare with the techniques of the paper and show the front of what is possible.",
    )
    optimize.add_argument("flow", type=_file, help="the flow, YAML or JSON")
    optimize.add_argument(
        "--slack", type=float, default=0.1,
        help="part by which running time may grow, 0.1 for 10 %% (default: %(default)s)",
    )  # fmt: skip
    optimize.add_argument(
        "--technique", choices=TECHNIQUES, default="optimum",
        help="whose plan to give (default: %(default)s)",
    )  # fmt: skip
    optimize.add_argument("--seed", type=int, default=0, help="seed of ILS (%(default)s)")
    optimize.add_argument(
        "--time-limit", type=float, default=60.0, metavar="SECONDS",
        help="for each exact search on a graph that is no tree (%(default)s)",
    )  # fmt: skip
    optimize.add_argument("--json", action="store_true", help="print JSON in place of text")
    optimize.add_argument("--csv", type=_file, metavar="FILE", help="write the plan as CSV")
    optimize.add_argument(
        "--front", type=_file, metavar="FILE",
        help="write the front of running time and consumption: csv, or a picture (png, svg, pdf)",
    )  # fmt: skip
    optimize.add_argument(
        "--points", type=int, metavar="N",
        help="points of the front (default: all on trees, else 25)",
    )  # fmt: skip
    optimize.set_defaults(run=_optimize)


def _file(text: str) -> Path:
    if not text:
        raise argparse.ArgumentTypeError("the name of a file is empty")
    return Path(text)


def _table(fits: dict[str, Fit], resamples: int, seed: int) -> pd.DataFrame:
    """One row per coefficient; the model's errors are repeated on each of its rows."""
    rows = []
    for model, fitted in fits.items():
        interval = fitted.bootstrap(resamples, seed=seed).interval()
        if not _spread(fitted):
            interval = interval * float("nan")
        for name, value in fitted.coefficients.items():
            rows.append(
                {
                    "model": model,
                    "coefficient": name,
                    "value": value,
                    "low": interval.loc[name, "low"],
                    "high": interval.loc[name, "high"],
                    "at_bound": name in fitted.active,
                    "r2": fitted.r2,
                    "sse": fitted.sse,
                    "loo_rmse": fitted.loo_rmse,
                }
            )
    return pd.DataFrame(rows)


def _spread(fitted: Fit) -> bool:
    """Whether there are more runs than coefficients, so that a bootstrap says something."""
    return len(fitted.seconds) > len(fitted.coefficients)


def _tested(fitted: Fit) -> bool:
    """Whether every node count could be predicted from the others."""
    return fitted.loo_rmse == fitted.loo_rmse


def _report(fits: dict[str, Fit], table: pd.DataFrame) -> str:
    lines = []
    for model, rows in table.groupby("model", sort=False):
        fitted = fits[str(model)]
        error = f"{fitted.loo_rmse:.4g} s (RMSE)" if _tested(fitted) else "undefined"
        r2 = "undefined" if fitted.r2 != fitted.r2 else f"{fitted.r2:.4f}"
        lines.append(
            f"{MODELS[str(model)].label:9s} R² {r2}   SSE {fitted.sse:.6g} s²   "
            f"error at left-out node counts {error}"
        )
        for row in rows.itertuples():
            note = "   at its bound" if row.at_bound else ""
            interval = f"95 % [{row.low:.6g}, {row.high:.6g}]"
            if not _spread(fitted):
                interval = "no interval: not more runs than coefficients"
            lines.append(f"    {row.coefficient:3s} {row.value:>12.6g}   {interval}{note}")
    return "\n".join(lines)


def _check_outputs(args: argparse.Namespace) -> None:
    check_outputs({"--csv": args.csv, "--plot": args.plot}, args.runs)


def _plot(path: Path, fits: dict[str, Fit], best: str, args: argparse.Namespace) -> None:
    from matplotlib.figure import Figure

    from sparkpart.plots import profile_plot

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    ax = figure.subplots()
    profile_plot(ax, fits, band=best, resamples=args.resamples, seed=args.seed)
    write(path, figure.savefig)


def _check_options(args: argparse.Namespace, models: tuple[str, ...]) -> None:
    if unknown := [m for m in models if m not in ONE_VARIABLE]:
        raise FitError(f"unknown model {unknown[0]!r}; choose from {', '.join(ONE_VARIABLE)}")
    if args.resamples < 1:
        raise FitError(f"--resamples is {args.resamples}; at least 1 is needed")
    if args.resamples > MOST_RESAMPLES:
        raise FitError(f"--resamples is {args.resamples}; at most {MOST_RESAMPLES} are allowed")
    if args.seed < 0:
        raise FitError(f"--seed is {args.seed}; at least 0 is needed")
    if args.plot and args.plot.suffix.lower() not in PLOT_FORMATS:
        raise FitError(f"--plot is {args.plot}; its name must end in {', '.join(PLOT_FORMATS)}")
    _check_outputs(args)


def _notes(runs: pd.DataFrame, models: tuple[str, ...], fits: dict[str, Fit]) -> list[str]:
    """Say which columns and models were left out, and why."""
    notes = [f"column {name!r} is not used" for name in runs.attrs["ignored"]]
    counts = runs["nodes"].nunique()
    for model in models:
        if model not in fits:
            needed = len(MODELS[model].coefficients)
            close = "too close together" if counts >= needed else f"{needed} needed"
            notes.append(f"{model} left out: {counts} node counts, {close}")
    return notes


def _fit(args: argparse.Namespace) -> None:
    runs = read_runs(args.runs, args.unit)
    models = tuple(name.strip() for name in args.models.split(","))
    _check_options(args, models)
    try:
        fits = compare(runs["nodes"], runs["seconds"], models, args.bounds)
    except FitError as error:
        raise FitError(f"{args.runs}: {error}") from error
    first, last = runs["nodes"].min(), runs["nodes"].max()
    print(f"{len(runs)} runs at {runs['nodes'].nunique()} node counts, {first} to {last}")
    for note in _notes(runs, models, fits):
        print(f"note: {note}", file=sys.stderr)
    table = _table(fits, args.resamples, args.seed)
    print(_report(fits, table))
    best = next(iter(fits))
    tested = _tested(fits[best])
    reason = "least error at left-out node counts" if tested else "too few node counts to test it"
    print(f"recommended: {MODELS[best].label} ({best}), {reason}")
    if args.csv:
        write(args.csv, lambda aside: table.to_csv(aside, index=False))
    if args.plot:
        _plot(args.plot, fits, best, args)


def _check_optimize(args: argparse.Namespace) -> None:
    if not args.slack >= 0:
        raise DataflowError(f"--slack is {args.slack}; at least 0 is needed (0.1 is 10 %)")
    if not args.time_limit > 0:
        raise DataflowError(f"--time-limit is {args.time_limit}; more than 0 s is needed")
    if args.seed < 0:
        raise DataflowError(f"--seed is {args.seed}; at least 0 is needed")
    if args.points is not None and args.points < 2:
        raise DataflowError(f"--points is {args.points}; at least 2 are needed")
    if args.points is not None and args.points > MOST_POINTS:
        raise DataflowError(f"--points is {args.points}; at most {MOST_POINTS} are allowed")
    if args.points is not None and not args.front:
        raise DataflowError("--points needs --front, the file for the points")
    formats = (".csv", *PLOT_FORMATS)
    if args.front and args.front.suffix.lower() not in formats:
        raise DataflowError(f"--front is {args.front}; its name must end in {', '.join(formats)}")
    check_outputs({"--csv": args.csv, "--front": args.front}, args.flow)


def _optimize(args: argparse.Namespace) -> None:
    flow = read_flow(args.flow)
    _check_optimize(args)
    found = recommend(
        flow, slack=args.slack, technique=args.technique, seed=args.seed,
        time_limit=args.time_limit,
    )  # fmt: skip
    print(found.as_json() if args.json else found.report())
    if args.csv:
        write(args.csv, lambda aside: found.table.to_csv(aside, index=False))
    if args.front:
        _front(args, found)


def _front(args: argparse.Namespace, found: Recommendation) -> None:
    table = _front_table(args, found.flow)
    if args.front.suffix.lower() == ".csv":
        degrees = pd.DataFrame(table.pop("plan").tolist(), columns=found.flow.names)
        joined = pd.concat([table, degrees], axis=1)
        write(args.front, lambda aside: joined.to_csv(aside, index=False))
        return
    from matplotlib.figure import Figure

    from sparkpart.plots import front_plot

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    front_plot(figure.subplots(), table, found.techniques)
    write(args.front, figure.savefig)


def _front_table(args: argparse.Namespace, flow: Dataflow) -> pd.DataFrame:
    """Return the whole front if that is possible and no number of points is asked for."""
    if args.points is None and is_forest(costs_of(flow, 1.0, 0.0)):
        try:
            return front(flow)
        except TooWideError:
            print(f"note: the whole front is too large; it has {FRONT_POINTS} points",
                  file=sys.stderr)  # fmt: skip
    follow = partial(tqdm, desc="front", leave=False, disable=not sys.stderr.isatty())
    points = args.points or FRONT_POINTS
    return front(flow, points=points, time_limit=args.time_limit, progress=follow)


def main(argv: list[str] | None = None) -> int:
    """Run the command line; errors of the user's input are one line on stderr, status 2."""
    args = _parser().parse_args(argv)
    try:
        args.run(args)
    except (RunsError, FitError, DataflowError, OSError, ImportError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
