"""Run all benchmarks: ``python -m benchmarks [--suite SUITE] [--csv FILE]``."""

import argparse
import os
import platform
from pathlib import Path

import lmfit
import numpy as np
import pandas as pd
import scipy

from benchmarks import flex_peers, flex_speed, sparkpart_fits, sparkpart_plans

SUITES = {
    "flex": lambda: [*flex_speed.run(), *flex_peers.run()],
    "sparkpart": sparkpart_fits.run,
    "plans": sparkpart_plans.run,
}


NOTES = {
    "flex": "seconds of the best run, and the ratio to the first case of its kind",
    "sparkpart": "time of 20 starts (of one start for resamples) in units of ours; shares of "
    "starts, fits",
    "plans": "seconds of the best run, and the ratio to the first case of its kind",
}


def machine():
    """Where the numbers come from; they are ratios within one run for a reason."""
    return (
        f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, "
        f"NumPy {np.__version__}, SciPy {scipy.__version__}, lmfit {lmfit.__version__}"
    )


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--csv", type=Path, metavar="FILE", help="write the table as CSV")
    parser.add_argument("--suite", choices=list(SUITES), help="run one suite only")
    args = parser.parse_args()
    print(machine())
    tables = []
    for suite in [args.suite] if args.suite else SUITES:
        table = pd.DataFrame(SUITES[suite]()).assign(suite=suite)
        tables.append(table)
        print(f"\n{suite}: {NOTES[suite]}")
        print(
            table.drop(columns="suite").to_string(
                index=False, float_format="{:.3g}".format, na_rep=""
            )
        )
    if args.csv:
        pd.concat(tables).assign(machine=machine()).to_csv(args.csv, index=False)


if __name__ == "__main__":
    main()
