"""Figures 9 to 11 and Table 3 of Gounaris et al. (TPDS 2017), on synthetic flows.

Spread is given as standard errors over the repeats.
"""

from __future__ import annotations

from typing import get_args

import numpy as np
import pandas as pd

from sparkpart import published
from sparkpart.experiments.grid import TECHNIQUES, Scale, best_cells, improvements
from sparkpart.greedy import Greedy
from sparkpart.instances import Choices

__all__ = [
    "VARIANTS",
    "figure9",
    "figure10",
    "figure11",
    "observations_of_flows",
    "open_choices",
    "table3",
]

VARIANTS: dict[str, dict[str, str | float]] = {
    "as stated": {},
    "profiles of Eq. 4": {"equation": "eq4"},
    "Eq. 4 as printed": {"equation": "eq4", "version": "printed"},
    "one factor a vertex": {"factor": "vertex"},
    "sources cost nothing": {"sources": "free"},
    "times clipped at 1 s": {"nonpositive": "clip"},
    "repartitioning in the dependency graph": {"repartition": "dependencies"},
    "e of Eq. 6 is 7": {"pole": 7.0},
    "degrees as measured": {"degrees": "as measured"},
    "other shapes": {"shapes": "second"},
    "ILS tests the vertex alone": {"inner": "vertex"},
    "Eq. 4 as printed, clipped": {"equation": "eq4", "version": "printed", "nonpositive": "clip"},
}
"""Open choices, each changed by itself, and one combination."""


def _means(scale: Scale, seed: int, field: str) -> pd.DataFrame:
    """Average a field over the repeats, with its standard error."""
    table = improvements(scale, seed, Choices())
    groups = table.groupby(["eps", "dag_size", "dag_type", "technique"], sort=False)[field]
    result = groups.agg(["mean", "sem"]).reset_index()
    return result.rename(columns={"mean": field, "sem": "standard_error"})


def figure9(scale: Scale = "quick", seed: int = 0) -> pd.DataFrame:
    """Figure 9: by what factor resource consumption falls on average.

    Parameters
    ----------
    scale
        "paper" for 100 repeats, "quick" for 5.
    seed
        Seed of the instances.

    Returns
    -------
    DataFrame
        ``eps``, ``dag_size``, ``dag_type``, ``technique``, ``improvement`` (initial RC over
        the optimised), ``standard_error``.
    """
    return _means(scale, seed, "improvement")


def figure10(scale: Scale = "quick", seed: int = 0) -> pd.DataFrame:
    """Figure 10: the same for G-full alone, to compare sizes.

    Parameters
    ----------
    scale
        "paper" for 100 repeats, "quick" for 5.
    seed
        Seed of the instances.

    Returns
    -------
    DataFrame
        ``eps``, ``dag_size``, ``dag_type``, ``technique``, ``improvement`` (initial RC over
        the optimised), ``standard_error``.
    """
    table = figure9(scale, seed)
    return table[table["technique"] == "G-full"].reset_index(drop=True)


def figure11(scale: Scale = "quick", seed: int = 0) -> pd.DataFrame:
    """Figure 11: by what factor running time grows on average.

    Parameters
    ----------
    scale
        "paper" for 100 repeats, "quick" for 5.
    seed
        Seed of the instances.

    Returns
    -------
    DataFrame
        ``eps``, ``dag_size``, ``dag_type``, ``technique``, ``slowdown`` (optimised RT over
        the initial), ``standard_error``.
    """
    return _means(scale, seed, "slowdown")


def table3(
    scale: Scale = "quick",
    seed: int = 0,
    choices: tuple[tuple[str, str | float], ...] = (),
) -> pd.DataFrame:
    """Table 3, ours beside the paper's, cell by cell.

    Parameters
    ----------
    scale
        "paper" for 100 repeats, "quick" for 5.
    seed
        Seed of the instances.
    choices
        Names and values of `sparkpart.instances.Choices` that differ from the defaults.

    Returns
    -------
    DataFrame
        ``eps``, ``dag_size``, ``dag_type``; ``paper_average``, ``paper_stdev``,
        ``paper_technique``, ``paper_max``; ``average``, ``stdev``, ``standard_error``,
        ``technique``, ``max``, ``max_technique``; ``difference`` of the averages, ``z``, the
        difference over its standard error (both averages are of 100 repeats, ours of 5 at
        quick scale), and ``same_technique``; ``ratio``, ``stdev_ratio`` and ``max_ratio``,
        ours over the paper's.
    """
    ours = best_cells(improvements(scale, seed, Choices(**dict(choices))))  # type: ignore[arg-type]
    paper = published.table3()
    names = {"best_avg": "average", "stdev": "stdev", "best_avg_technique": "technique",
             "best_max": "max"}  # fmt: skip
    paper = paper.rename(columns={old: f"paper_{new}" for old, new in names.items()})
    table = paper.drop(columns="best_max_technique").merge(
        ours, on=["eps", "dag_size", "dag_type"], validate="one_to_one"
    )
    difference = table["average"] - table["paper_average"]
    error = np.hypot(table["standard_error"], table["paper_stdev"] / 10)
    same = table["technique"] == table["paper_technique"]
    return table.assign(
        difference=difference,
        z=difference / error,
        same_technique=same,
        ratio=table["average"] / table["paper_average"],
        stdev_ratio=table["stdev"] / table["paper_stdev"],
        max_ratio=table["max"] / table["paper_max"],
    )


def open_choices(scale: Scale = "quick", seed: int = 0) -> pd.DataFrame:
    """Compute Table 3 under each open choice of Section 4.2, changed one at a time.

    Parameters
    ----------
    scale
        "paper" for 100 repeats, "quick" for 5.
    seed
        Seed of the instances.

    Returns
    -------
    DataFrame
        For each ``variant`` and cell the columns of `sparkpart.experiments.table3`: ``eps``,
        ``dag_size``, ``dag_type``; ``paper_average``, ``paper_stdev``, ``paper_technique``,
        ``paper_max``; ``average``, ``stdev``, ``standard_error``, ``technique``, ``max``,
        ``max_technique``; ``difference``, ``z``, ``same_technique``, ``ratio``,
        ``stdev_ratio``, ``max_ratio``.
    """
    parts = [
        table3(scale, seed, tuple(changed.items())).assign(variant=name)
        for name, changed in VARIANTS.items()
    ]
    return pd.concat(parts, ignore_index=True)


def observations_of_flows(scale: Scale = "quick", seed: int = 0) -> pd.DataFrame:
    """Check what Section 4.2 reads off Figures 9 to 11.

    Parameters
    ----------
    scale
        "paper" for 100 repeats, "quick" for 5.
    seed
        Seed of the instances.

    Returns
    -------
    DataFrame
        ``statement`` and ``value``: factors and parts, not percent.
    """
    rows = _observed_gains(_wide(figure9(scale, seed), "improvement"))
    rows |= _observed_slowdowns(_wide(figure11(scale, seed), "slowdown"))
    rows["greatest single improvement"] = improvements(scale, seed, Choices())["improvement"].max()
    return pd.DataFrame(rows.items(), columns=["statement", "value"])


def _wide(table: pd.DataFrame, field: str) -> pd.DataFrame:
    keys = ["eps", "dag_size", "dag_type"]
    return table.pivot_table(index=keys, columns="technique", values=field).reset_index()


def _observed_gains(gain: pd.DataFrame) -> dict[str, float]:
    best = gain[list(TECHNIQUES)].max(axis=1)
    lead = gain["G-full"] - gain["G-ext"]
    others = gain[["ILS", "G-local"]].max(axis=1)
    large_cd = (gain["dag_size"] == "large") & gain["dag_type"].isin(["C", "D"])
    by_bound = gain.pivot_table(index=["dag_size", "dag_type"], columns="eps", values="ILS")
    return {
        "least best average, eps 1.1": best[gain["eps"] == 1.1].min(),
        "greatest best average, eps 1.1": best[gain["eps"] == 1.1].max(),
        "greatest best average, eps 1.5": best[gain["eps"] == 1.5].max(),
        "cells with G-full above ILS and G-local": (gain["G-full"] > others).mean(),
        "cells with G-ext above ILS and G-local": (gain["G-ext"] > others).mean(),
        "mean of G-full minus G-ext": lead.mean(),
        "cells with G-full above G-ext": (lead > 0).mean(),
        "greatest G-full minus G-ext in large C and D": lead[large_cd].max(),
        "mean margin of G-full where ahead": lead[lead > 0].mean(),
        "mean margin of G-ext where ahead": -lead[lead <= 0].mean(),
        "margin of G-full over that of G-ext": -lead[lead > 0].mean() / lead[lead <= 0].mean(),
        "mean spread of G-full over sizes": _spread(gain, "dag_type", "dag_size"),
        "mean spread of G-full over types": _spread(gain, "dag_size", "dag_type"),
        "spread over sizes, part of that over types": (
            _spread(gain, "dag_type", "dag_size") / _spread(gain, "dag_size", "dag_type")
        ),
        "least part of RC saved by ILS": 1 - 1 / gain["ILS"].min(),
        "mean part of RC saved by ILS": (1 - 1 / gain["ILS"]).mean(),
        "least improvement by ILS": gain["ILS"].min(),
        "mean improvement by ILS": gain["ILS"].mean(),
        "greatest change of ILS between bounds": (
            by_bound.max(axis=1) / by_bound.min(axis=1) - 1
        ).max(),
    }


def _spread(gain: pd.DataFrame, kept: str, over: str) -> float:
    """Return the mean range of G-full over types or sizes, the other and the bound kept."""
    wide = gain.pivot_table(index=["eps", kept], columns=over, values="G-full")
    return float((wide.max(axis=1) - wide.min(axis=1)).mean())


def _observed_slowdowns(slow: pd.DataFrame) -> dict[str, float]:
    size, kind = slow["dag_size"], slow["dag_type"]
    small_c, medium_d = (size == "small") & (kind == "C"), (size == "medium") & (kind == "D")
    large_e = (kind == "E") & size.isin(["medium", "large"])
    greedy_slow = slow[list(get_args(Greedy))]
    used = greedy_slow.mean(axis=1).sub(1).div(slow["eps"] - 1)
    return {
        "greatest growth of RT by ILS": slow["ILS"].max() - 1,
        "greatest growth of RT by ILS, medium and large E": slow.loc[large_e, "ILS"].max() - 1,
        "cells with more growth of RT by ILS than medium and large E": (
            slow["ILS"] > slow.loc[large_e, "ILS"].max()
        ).mean(),
        "greatest RT of ILS, small C": slow.loc[small_c, "ILS"].max(),
        "greatest RT of ILS, medium D": slow.loc[medium_d, "ILS"].max(),
        "least part of the slack used by greedy": used.min(),
        "mean part of the slack used by greedy": used.mean(),
        "greatest RT of greedy, small C": greedy_slow[small_c].max(axis=None),
    }
