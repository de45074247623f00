"""Run all benchmarks: ``python -m benchmarks [--csv FILE]``."""

import argparse
import os
import platform
from pathlib import Path

import lmfit
import numpy as np
import pandas as pd
import scipy

from benchmarks import sparkpart_fits

SUITES = {"sparkpart": sparkpart_fits.run}


def machine():
    """Where the numbers come from; they are ratios within one run for a reason."""
    return (
        f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, "
        f"NumPy {np.__version__}, SciPy {scipy.__version__}, lmfit {lmfit.__version__}"
    )


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--csv", type=Path, metavar="FILE", help="write the table as CSV")
    args = parser.parse_args()
    parts = [pd.DataFrame(run()).assign(suite=suite) for suite, run in SUITES.items()]
    table = pd.concat(parts, ignore_index=True)
    table.insert(0, "suite", table.pop("suite"))
    print(machine())
    print(
        "time: of 20 starts (of one start for resamples) in units of ours; shares of starts, fits"
    )
    print(table.to_string(index=False, float_format="{:.3g}".format, na_rep=""))
    if args.csv:
        table.assign(machine=machine()).to_csv(args.csv, index=False)


if __name__ == "__main__":
    main()
