"""The models on real running times that other people measured and published."""

from __future__ import annotations

import numpy as np
import pandas as pd

from sparkpart.profiles import fit
from sparkpart.runs import bell

REAL_MODELS = ("eq2", "eq3", "eq4", "eq5", "ernest")


def real_runs(largest: int = 32, seed: int = 0, resamples: int = 1000) -> pd.DataFrame:
    """Measure how well each model predicts node counts that it has not seen, on real running times.

    Parameters
    ----------
    largest
        Largest node count that the extrapolation is fitted to.
    seed, resamples
        Of the bootstrap of the prediction at 60 nodes.

    Returns
    -------
    DataFrame
        ``program``, ``model``; ``sse`` (s^2) and ``r2`` of the fit to all counts;
        ``left_out`` (mean absolute percentage error of leave-one-out over the inner counts),
        ``first`` and ``last`` (percentage error at the least and largest count when left
        out), ``extrapolated`` (mean absolute percentage error beyond ``largest``), and
        ``low60``, ``high60``, the 95 % band of the full fit at 60 nodes (s).
    """
    rows = []
    for program, data in bell().groupby("program", sort=False):
        nodes, seconds = data["nodes"].to_numpy(), data["median_seconds"].to_numpy()
        for model in REAL_MODELS:
            fitted = fit(nodes, seconds, model)
            out = fitted.leave_one_out
            error = 100 * (out["predicted"] / out["seconds"] - 1).to_numpy()
            small = nodes <= largest
            ahead = fit(nodes[small], seconds[small], model).predict(nodes[~small])
            band = fitted.bootstrap(resamples, seed=seed).band([60.0]).iloc[0]
            rows.append(
                {
                    "program": program,
                    "model": model,
                    "sse": fitted.sse,
                    "r2": fitted.r2,
                    "left_out": np.abs(error[1:-1]).mean(),
                    "first": error[0],
                    "last": error[-1],
                    "extrapolated": 100 * np.abs(ahead / seconds[~small] - 1).mean(),
                    "low60": band["low"],
                    "high60": band["high"],
                }
            )
    return pd.DataFrame(rows)


def real_runs_curves(largest: int = 32, points: int = 113) -> pd.DataFrame:
    """Curves of the models fitted to all real times and to those up to ``largest`` nodes.

    Returns
    -------
    DataFrame
        ``program``, ``model``, ``fitted_to`` ("all" or "small"), ``nodes``, ``seconds``.
    """
    grid = np.linspace(4, 60, points)
    parts = []
    for program, data in bell().groupby("program", sort=False):
        for model in REAL_MODELS:
            for name, part in (("all", data), ("small", data[data["nodes"] <= largest])):
                curve = fit(part["nodes"], part["median_seconds"], model).predict(grid)
                parts.append(
                    pd.DataFrame({"nodes": grid, "seconds": curve}).assign(
                        program=program, model=model, fitted_to=name
                    )
                )
    columns = ["program", "model", "fitted_to", "nodes", "seconds"]
    return pd.concat(parts, ignore_index=True)[columns]


def real_runs_gains(largest: int = 32) -> pd.DataFrame:
    """Compare each model's prediction errors on the real running times with those of Eq. 2.

    Parameters
    ----------
    largest
        As in `real_runs`.

    Returns
    -------
    DataFrame
        ``program``, ``model``, ``measure`` ("left_out" or "extrapolated"), ``error`` (mean
        absolute percentage error), ``eq2`` (that of Equation 2), ``better``.
    """
    measures = ["left_out", "extrapolated"]
    errors = real_runs(largest, resamples=1)[["program", "model", *measures]]
    table = errors.melt(["program", "model"], var_name="measure", value_name="error")
    base = table[table["model"] == "eq2"].set_index(["program", "measure"])["error"]
    table = table.join(base.rename("eq2"), on=["program", "measure"])
    table = table[table["model"] != "eq2"].reset_index(drop=True)
    return table.assign(better=table["error"] < table["eq2"])
