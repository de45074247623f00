"""The numbers printed in Gounaris et al. (TPDS 2017), and corrections of misprints.

Every number is kept as it is printed, because its digits tell how far it was rounded. A
corrected value stands beside the printed one and never replaces it.
"""

from __future__ import annotations

from importlib.resources import files
from typing import Literal

import pandas as pd

__all__ = [
    "CORRECTIONS",
    "EQUATION_6",
    "NODE_GRIDS",
    "PROGRAMS",
    "coefficients",
    "half_unit",
    "table1",
    "table2",
    "table3",
    "table4",
]

PROGRAMS = (
    "k-meansI",
    "k-meansII",
    "k-meansIII",
    "k-meansIV",
    "k-meansV",
    "naive Bayes",
    "sort",
    "aggregate",
    "shuffle",
)

EQUATION_6 = {"a": -2.377, "b": 260.6, "cs": -0.0001, "cr": -0.0001, "d": 0.001132}
"""Coefficients of Equation 6 as printed in Section 2.4; e is not printed. R^2 is 0.9553."""

_MOST = (8, 16, 24, 32, 40, 48, 56, 64, 80, 96)
NODE_GRIDS = {p: _MOST[:8] if p == "shuffle" else _MOST for p in PROGRAMS}
"""Node counts at which each program was measured. Not printed: inferred from Tables 1 and 2."""

CORRECTIONS = pd.DataFrame(
    [
        ("Table 2", "k-meansV", "eq4", "c", "-0.545", "-0.0545"),
        ("Table 1", "k-meansV", "eq2", "r2", "0.999", "0.997"),
        ("Table 1", "k-meansV", "eq5", "sse", "21.06", "21.598"),
        ("Table 2", "naive Bayes", "eq4", "c", "0.001", "0.0105"),
        ("Table 1", "naive Bayes", "eq3", "sse", "2.512", "2.114"),
    ],
    columns=["table", "program", "model", "cell", "printed", "corrected"],
)
"""Cells that other printed cells exclude, with the value that these imply (ours)."""

Version = Literal["printed", "corrected"]


def _read(name: str, **kwargs: object) -> pd.DataFrame:
    with files("sparkpart.data").joinpath(name).open(encoding="utf-8") as stream:
        return pd.read_csv(stream, **kwargs)  # type: ignore[call-overload, no-any-return]


def _cells(name: str, table: str) -> pd.DataFrame:
    wide = _read(name, dtype=str)
    long = wide.melt(["program", "model"], var_name="cell", value_name="printed").dropna()
    order = {program: rank for rank, program in enumerate(PROGRAMS)}
    long = long.sort_values(
        ["program", "model"], key=lambda s: s.map(order).fillna(0), kind="stable"
    )
    fixes = CORRECTIONS[CORRECTIONS["table"] == table].drop(columns=["table", "printed"])
    return long.merge(fixes, how="left", on=["program", "model", "cell"]).reset_index(drop=True)


def table1() -> pd.DataFrame:
    """Table 1, fitting errors.

    Columns: ``program``, ``model`` (eq2 stands for Eq. 1 and 2), ``cell`` ("r2" or "sse", the
    latter in s^2), ``printed`` and ``corrected`` as strings; ``corrected`` is missing where
    the print is not doubted.
    """
    return _cells("table1.csv", "Table 1")


def table2() -> pd.DataFrame:
    """Table 2, coefficients of Equations 4 and 5; ``b2`` is b'. Columns as in `table1`."""
    return _cells("table2.csv", "Table 2")


def table3() -> pd.DataFrame:
    """Table 3: factors by which resource consumption falls.

    Columns: ``eps``, ``dag_size``, ``dag_type``, ``best_avg``, ``stdev``,
    ``best_avg_technique``, ``best_max``, ``best_max_technique``.
    """
    return _read("table3.csv")


def table4() -> pd.DataFrame:
    """Table 4: the same factors against the initial and the fastest partitioning.

    Columns: ``eps``, ``dag_size``, ``dag_type``, ``best_avg_vs_initial``,
    ``best_avg_vs_best_rt``, ``best_max_vs_initial``, ``best_max_vs_best_rt``.
    """
    return _read("table4.csv")


def coefficients(program: str, model: str, version: Version = "corrected") -> dict[str, float]:
    """Return the coefficients of a row of Table 2 as numbers.

    Parameters
    ----------
    program
        One of `PROGRAMS`.
    model
        "eq4" or "eq5".
    version
        "printed", or "corrected" to replace the cells listed in `CORRECTIONS`.

    Raises
    ------
    KeyError
        If Table 2 has no such row.
    """
    table = table2()
    row = table[(table["program"] == program) & (table["model"] == model)]
    if row.empty:
        raise KeyError(f"Table 2 has no row {program!r}, {model!r}")
    values = row["printed"] if version == "printed" else row["corrected"].fillna(row["printed"])
    return dict(zip(row["cell"], values.astype(float), strict=True))


def half_unit(printed: str, decimals: int = 0) -> float:
    """Return half a unit of the last printed digit, taking at least the given decimals."""
    shown = len(printed.partition(".")[2])
    return 0.5 * 10.0 ** -max(shown, decimals)
