"""Tables 1 and 2, and what they tell of the measurements behind them."""

from __future__ import annotations

from functools import cache
from typing import Literal

import numpy as np
import pandas as pd

from sparkpart import nodegrid, published, usl
from sparkpart.leastsquares import bounded_lstsq, pole_lstsq
from sparkpart.profiles import MODELS, Bounds, Fit, fit, running_time
from sparkpart.reconstruction import (
    AGREED,
    Reconstruction,
    attainable,
    contradiction,
    doubted_cells,
    reconstruct,
    smallest_sets,
)

Scale = Literal["quick", "paper"]

TABLE_MODELS = ("eq2", "eq3", "eq4", "eq5")


@cache
def _reconstruction(program: str, seed: int) -> Reconstruction:
    return reconstruct(program, seed=seed)


@cache
def _refit(program: str, model: str, bounds: Bounds, seed: int) -> Fit:
    times = _reconstruction(program, seed)
    return fit(times.nodes, times.seconds, model, bounds)


def reconstructed_times(seed: int = 0) -> pd.DataFrame:
    """Find times compatible with the printed statistics of each program; not measurements.

    Returns
    -------
    DataFrame
        ``program``, ``nodes``, ``seconds``, ``exact`` (whether every undoubted statistic
        rounds to the print).
    """
    parts = []
    for program in published.PROGRAMS:
        times = _reconstruction(program, seed)
        parts.append(
            pd.DataFrame({"nodes": times.nodes, "seconds": times.seconds}).assign(
                program=program, exact=times.exact
            )
        )
    return pd.concat(parts, ignore_index=True)[["program", "nodes", "seconds", "exact"]]


def attainable_times(seed: int = 0, scale: Scale = "paper") -> pd.DataFrame:
    """Find how far each reconstructed time can move while all printed statistics hold.

    Parameters
    ----------
    seed
        Seed of the search.
    scale
        "paper" searches from more starting points than "quick".

    Returns
    -------
    DataFrame
        ``program``, ``nodes``, ``low``, ``high``; NaN for the programs whose printed
        statistics contradict each other.
    """
    starts = 3 if scale == "paper" else 0
    parts = [
        attainable(program, seed=seed, starts=starts).assign(program=program)
        for program in published.PROGRAMS
    ]
    return pd.concat(parts, ignore_index=True)[["program", "nodes", "low", "high"]]


def _value(fitted: Fit, cell: str) -> float:
    return getattr(fitted, cell) if cell in ("r2", "sse") else fitted.coefficients[cell]


def _compare(cells: pd.DataFrame, decimals: int, seed: int) -> pd.DataFrame:
    """Refit under both settings of the bounds and keep the one that agrees in more cells."""
    both = []
    settings: tuple[Bounds, ...] = ("stated", "none")
    for bounds in settings:
        keys = cells[["program", "model", "cell"]].to_numpy().tolist()
        ours = [_value(_refit(p, m, bounds, seed), cell) for p, m, cell in keys]
        half = [published.half_unit(text, decimals) for text in cells["printed"]]
        off = np.abs(np.array(ours) - cells["printed"].astype(float))
        both.append(cells.assign(bounds=bounds, ours=ours, agrees=off <= np.array(half)))
    table = pd.concat(both)
    score = table.groupby(["program", "model", "bounds"])["agrees"].transform("sum")
    best = score.groupby([table["program"], table["model"]]).transform("max")
    kept = table[score == best].drop_duplicates(["program", "model", "cell"])
    return kept.sort_index().reset_index(drop=True)


def table1(seed: int = 0) -> pd.DataFrame:
    """Table 1: printed fitting errors beside those of refits to the reconstructed times.

    Returns
    -------
    DataFrame
        ``program``, ``model``, ``cell`` (r2 or sse), ``printed``, ``corrected`` (strings),
        ``bounds`` (the setting that gives back more cells), ``ours``, ``agrees`` (with the
        print to the last digit).
    """
    return _compare(published.table1(), 3, seed)


def table2(seed: int = 0) -> pd.DataFrame:
    """Table 2: printed coefficients beside those of refits; columns as in `table1`."""
    return _compare(published.table2(), 0, seed)


def usl_coefficients(seed: int = 0) -> pd.DataFrame:
    """Equation 1 for each program, in the printed form and in Gunther's.

    Returns
    -------
    DataFrame
        ``program``, ``form``, ``t1`` (s), ``sigma``, ``kappa``, ``speedup_at_1`` (which must
        be 1), ``max_difference`` (largest relative difference between the law and Eq. 2 over
        the node counts), ``superlinear`` (whether sigma < 0). Programs whose time scale would
        not be positive are left out: in both forms shuffle, whose Eq. 2 has b < 0.
    """
    rows = []
    forms: tuple[usl.Form, ...] = ("printed", "gunther")
    for program in published.PROGRAMS:
        c = _refit(program, "eq2", "none", seed).coefficients
        nodes = np.array(published.NODE_GRIDS[program], dtype=float)
        for form in forms:
            if c["b"] <= 0:
                continue
            law = usl.from_linear(**c, form=form)
            by_law = law.t1 / usl.speedup(nodes, law, form)
            off = float(np.abs(by_law / running_time("eq2", nodes, c) - 1).max())
            at_1 = float(usl.speedup(1, law, form))
            rows.append((program, form, *law, at_1, off, law.sigma < 0))
    names = ["program", "form", "t1", "sigma", "kappa", "speedup_at_1", "max_difference"]
    return pd.DataFrame(rows, columns=[*names, "superlinear"])


def node_grids() -> pd.DataFrame:
    """Find which sets of node counts the printed statistics of each program allow.

    Returns
    -------
    DataFrame
        ``program``; ``candidates`` (sets of at least six counts of the figure's axis with
        8), ``compatible`` (those not excluded), ``inferred`` and ``full_axis`` (whether the
        set that we use and the full axis are compatible), ``only`` (the compatible set
        where there is just one).
    """
    grids = nodegrid.candidates()
    rows = []
    for program in published.PROGRAMS:
        excluded = nodegrid.excluded_by(program, grids)
        left = [grid for grid, why in zip(grids, excluded, strict=True) if not why]
        rows.append(
            {
                "program": program,
                "candidates": len(grids),
                "compatible": len(left),
                "inferred": published.NODE_GRIDS[program] in left,
                "full_axis": nodegrid.AXIS in left,
                "only": " ".join(map(str, left[0])) if len(left) == 1 else "",
            }
        )
    return pd.DataFrame(rows)


def doubtful_cells(seed: int = 0) -> pd.DataFrame:
    """List the printed cells that other printed cells exclude, with the evidence.

    Returns
    -------
    DataFrame
        ``table``, ``program``, ``model``, ``cell``, ``printed``, ``corrected`` (strings);
        ``ours``, the value for the reconstructed times, which ignore all doubted cells;
        ``with_cell`` and ``without_cell``, the contradiction among all cells of the program
        with the doubted one and without it, in half units of the last printed digit, other
        doubted cells being ignored in both; ``all_corrected``, the contradiction of all cells
        with the corrected values put in; ``contradicted``, whether the cell adds to it.
    """
    rows = []
    refits = pd.concat([table1(seed), table2(seed)])
    programs = published.CORRECTIONS["program"].unique()
    dropped = {p: contradiction(p, doubted_cells(p), seed=seed) for p in programs}
    mended = {p: contradiction(p, frozenset(), version="corrected", seed=seed) for p in programs}
    for fix in published.CORRECTIONS.to_dict("records"):
        program, cell = str(fix["program"]), (str(fix["model"]), str(fix["cell"]))
        at = (refits["program"] == program) & (refits["model"] == cell[0])
        ours = refits.loc[at & (refits["cell"] == cell[1]), "ours"].iloc[0]
        kept = contradiction(program, doubted_cells(program) - {cell}, seed=seed)
        adds = kept > dropped[program] + AGREED
        rows.append((ours, kept, dropped[program], mended[program], adds))
    extra = ["ours", "with_cell", "without_cell", "all_corrected", "contradicted"]
    return published.CORRECTIONS.join(pd.DataFrame(rows, columns=extra))


def cell_scan(seed: int = 0, scale: Scale = "paper") -> pd.DataFrame:
    """Scan the printed cells of every program for those that the others exclude.

    Parameters
    ----------
    seed
        Seed of the search.
    scale
        "paper" extends more sets of cells than "quick".

    Returns
    -------
    DataFrame
        ``program``, ``size`` and ``cells`` (a set of cells, as text), ``contradiction`` of all
        other cells without them, ``agree`` (whether that is below one half unit) and
        ``doubted`` (whether these are the cells of `published.CORRECTIONS`). Sets of a size
        are there only if no smaller set makes the others agree.
    """
    parts = []
    for program in published.PROGRAMS:
        found = smallest_sets(program, seed=seed, beam=20 if scale == "paper" else 2)
        doubted = [chosen == doubted_cells(program) for chosen in found["cells"]]
        names = [" + ".join(f"{MODELS[m].label} {c}" for m, c in sorted(s)) for s in found["cells"]]
        agree = found["contradiction"] < AGREED
        parts.append(found.assign(program=program, cells=names, agree=agree, doubted=doubted))
    columns = ["program", "size", "cells", "contradiction", "agree", "doubted"]
    return pd.concat(parts, ignore_index=True)[columns]


def model_gains() -> pd.DataFrame:
    """Compare the printed SSEs of Table 1 with those of Equations 2 and 3.

    Returns
    -------
    DataFrame
        ``program``, ``model``, ``sse`` (printed, s^2), ``to_eq2`` and ``to_eq3`` (relative to
        these equations).
    """
    cells = published.table1().query("cell == 'sse'")
    table = cells[["program", "model"]].assign(sse=cells["printed"].astype(float))
    for base in ("eq2", "eq3"):
        of_base = table[table["model"] == base].set_index("program")["sse"]
        table[f"to_{base}"] = table["sse"] / table["program"].map(of_base)
    return table.reset_index(drop=True)


def r2_gaps() -> pd.DataFrame:
    """Compare the difference between Eq. 4 and 5 in printed R^2 with their gain on Eq. 3.

    Returns
    -------
    DataFrame
        ``program``, ``between`` (|R^2 of Eq. 4 - R^2 of Eq. 5|), ``gain`` (of the worse of
        the two on Eq. 3), ``smaller`` (whether ``between`` is less than ``gain``).
    """
    rows = []
    for program, cells in published.table1().query("cell == 'r2'").groupby("program", sort=False):
        r2 = cells.set_index("model")["printed"].astype(float)
        between = round(abs(r2["eq4"] - r2["eq5"]), 3)
        gain = round(min(r2["eq4"], r2["eq5"]) - r2["eq3"], 3)
        rows.append((program, between, gain, between < gain))
    return pd.DataFrame(rows, columns=["program", "between", "gain", "smaller"])


def bounds_kept() -> pd.DataFrame:
    """Check the printed coefficients against the bounds that the text states for them.

    Returns
    -------
    DataFrame
        A row for each bounded cell of Table 2: ``program``, ``model``, ``cell``, ``value``,
        ``kept``.
    """
    cells = published.table2()[["program", "model", "cell", "printed"]]
    cells = cells.assign(value=cells.pop("printed").astype(float))
    keys = cells[["model", "cell"]].to_numpy().tolist()
    bounded = [cell == "e" or cell in MODELS[model].nonnegative for model, cell in keys]
    cells = cells[bounded].reset_index(drop=True)
    upper = np.where(cells["cell"] == "e", 7.0, np.inf)
    return cells.assign(kept=(cells["value"] >= 0) & (cells["value"] <= upper))


def equation3_signs(seed: int = 0) -> pd.DataFrame:
    """Fit Equation 3 to the reconstructed times with free signs and under the stated bounds.

    Returns
    -------
    DataFrame
        ``program``; ``a``, ``b``, ``c``, ``d`` with free signs; ``free`` and ``stated`` (SSE
        in s^2); ``printed`` (SSE); ``needed``, whether only free signs give the printed SSE.
    """
    printed = published.table1().query("model == 'eq3' and cell == 'sse'")
    rows = []
    for program, text in zip(printed["program"], printed["printed"], strict=True):
        free = _refit(program, "eq3", "none", seed)
        stated = _refit(program, "eq3", "stated", seed)
        needed = stated.sse > free.sse * 1.001
        rows.append((program, *free.coefficients.values(), free.sse, stated.sse, text, needed))
    columns = ["program", "a", "b", "c", "d", "free", "stated", "printed", "needed"]
    return pd.DataFrame(rows, columns=columns)


def _sse_with_free_b_and_d(program: str, model: str, seed: int) -> float:
    """Return the SSE when b and d may be negative, all other bounds holding (Section 2.6)."""
    times, spec = _reconstruction(program, seed), MODELS[model]
    base, targets = spec.design(times.nodes[:, None]), times.seconds[:, None]
    signs = np.array([name in spec.nonnegative - {"b", "d"} for name in spec.linear])
    if not spec.pole:
        return float(bounded_lstsq(base, targets, signs)[1][0])
    pole_max = float(times.nodes.min() - 1)
    solved = pole_lstsq(
        base, times.nodes, targets, signs, pole_nonnegative=False, pole_max=pole_max
    )
    return float(solved[2][0])


def free_signs(seed: int = 0) -> pd.DataFrame:
    """Compare the printed errors with those of fits whose b and d are free (Section 2.6).

    Returns
    -------
    DataFrame
        ``program``, ``model`` (eq3, eq4, eq5), ``printed`` (SSE in s^2, corrected where it is
        doubted), ``free`` (SSE on the reconstructed times with b and d free, the other bounds
        holding), ``reduction`` (1 - free/printed), ``reduced`` (by more than 0.1 %).
    """
    cells = published.table1().query("cell == 'sse' and model != 'eq2'")
    values = cells["corrected"].fillna(cells["printed"]).astype(float)
    keys = cells[["program", "model"]].to_numpy().tolist()
    free = np.array([_sse_with_free_b_and_d(program, model, seed) for program, model in keys])
    table = cells[["program", "model"]].assign(printed=values, free=free)
    table["reduction"] = 1 - table["free"] / table["printed"]
    return table.assign(reduced=table["reduction"] > 0.001).reset_index(drop=True)
