"""Command line: ``python -m sparkpart fit RUNS.csv``."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pandas as pd

from sparkpart.profiles import MODELS, Fit, FitError, compare
from sparkpart.runs import RunsError, read_runs

MOST_RESAMPLES = 100_000
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
    fit.add_argument("runs", type=Path, help="the CSV file; repeated node counts are repeats")
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
    fit.add_argument("--csv", type=Path, metavar="FILE", help="write the table as CSV")
    fit.add_argument("--plot", type=Path, metavar="FILE", help="write the plot (png, svg, pdf)")
    return parser


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


def _check_output(option: str, path: Path, others: dict[str, Path]) -> None:
    """Refuse a file that cannot be written, or that would replace one that is used here."""
    real = path.resolve()
    if not real.parent.is_dir():
        raise FileNotFoundError(f"{option}: {path}: there is no folder {path.parent}")
    if real.is_dir():
        raise IsADirectoryError(f"{option}: {path} is a folder; the name of a file is needed")
    if real.exists() and not real.is_file():
        raise FileExistsError(f"{option}: {path} is not a regular file and is not replaced")
    if not os.access(real.parent, os.W_OK):
        raise PermissionError(f"{option}: {path}: the folder {path.parent} is not writable")
    for name, other in others.items():
        if real == other.resolve() or (real.exists() and other.exists() and real.samefile(other)):
            raise FileExistsError(f"{option}: {path} is also {name}")


def _check_outputs(args: argparse.Namespace) -> None:
    used = {"the input": args.runs}
    for option, path in (("--csv", args.csv), ("--plot", args.plot)):
        if path is not None:
            _check_output(option, path, used)
            used[f"the file of {option}"] = path


def _write(path: Path, write: Callable[[Path], object]) -> None:
    """Write aside, then rename, so that no half-written file is left; links stay links."""
    real = path.resolve()
    aside = real.parent / f".{real.name}.{os.getpid()}{real.suffix}"
    try:
        write(aside)
        aside.replace(real)
    except OSError as error:
        raise OSError(f"{path}: {error.strerror or error}") from error
    finally:
        aside.unlink(missing_ok=True)


def _plot(path: Path, fits: dict[str, Fit], best: str, args: argparse.Namespace) -> None:
    from matplotlib.figure import Figure

    from sparkpart.plots import profile_plot

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    ax = figure.subplots()
    profile_plot(ax, fits, band=best, resamples=args.resamples, seed=args.seed)
    _write(path, figure.savefig)


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
        _write(args.csv, lambda aside: table.to_csv(aside, index=False))
    if args.plot:
        _plot(args.plot, fits, best, args)


def main(argv: list[str] | None = None) -> int:
    """Run the command line; errors of the user's input are one line on stderr, status 2."""
    args = _parser().parse_args(argv)
    try:
        _fit(args)
    except (RunsError, FitError, OSError, ImportError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
