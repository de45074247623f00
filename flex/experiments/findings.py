"""What the figures of the cluster say of the paper's statements: ratios, recovery, distances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import files
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from flex.experiments.cluster import (
    FEWER_SEEDS,
    SEEDS,
    author_points,
    figure7_violations,
    figure10,
    figure11,
)
from flex.experiments.runs import METHODS, Case, Scale, histories, summaries, with_interval
from flex.rules import AUTHOR, NAMED_RULES

__all__ = [
    "figure_errors", "headlines", "overflow_effect", "recovery", "request_variation",
    "sensitivity",
]  # fmt: skip


def figure_errors(
    rules: str = "author", scale: Scale = "quick", seeds: Sequence[int] = FEWER_SEEDS
) -> pd.DataFrame:
    """Measure how far Figures 10 and 11 are from the author's numbers.

    Parameters
    ----------
    rules, scale, seeds
        As in `figure6`.

    Returns
    -------
    DataFrame
        ``figure``, ``metric``, ``method``, ``mean`` difference (ours, averaged over seeds, minus
        the author's), ``least``, ``most``, and ``correlation`` over the figure's points (NaN if
        the author's do not vary), in percentage points.
    """
    ours = pd.concat(
        [
            runs.melt(["method", parameter], ["violated_tasks", "cpu_request", "memory_usage"],
                      "metric").rename(columns={parameter: "setting"}).assign(parameter=parameter)
            for runs, parameter in ((figure10(rules, scale, seeds), "nodes"),
                                    (figure11(rules, scale, seeds), "demand"))
        ]
    )  # fmt: skip
    keys = ["parameter", "setting", "method", "metric"]
    mean = ours.groupby(keys, as_index=False)["value"].mean()
    both = author_points().rename(columns={"value": "setting"}).merge(mean, on=keys)
    both["difference"] = both["value"] - both["percent"]
    rows = []
    for (figure, metric, method), part in both.groupby(["figure", "metric", "method"]):
        varies = bool((part[["percent", "value"]].std() > 0).all())
        rows.append(
            {
                "figure": figure, "metric": metric, "method": method,
                "mean": part["difference"].mean(), "least": part["difference"].min(),
                "most": part["difference"].max(),
                "correlation": part["percent"].corr(part["value"]) if varies else np.nan,
            }
        )  # fmt: skip
    return pd.DataFrame(rows)


def headlines(
    rules: str = "author", scale: Scale = "quick", seeds: Sequence[int] = SEEDS
) -> pd.DataFrame:
    """Ratios behind the headline claims, each with its interval over seeds.

    The requests and the usage of each method over LeastFit's, Flex's CPU request over Oversub's,
    and Oversub's violations over Flex's.

    Parameters
    ----------
    rules, scale, seeds
        As in `figure6`.

    Returns
    -------
    DataFrame
        ``ratio``, ``method``, ``mean``, and the 95 % interval ``low`` to ``high`` of the
        geometric mean (from Student's t of the logarithms over seeds), and ``least`` and
        ``most`` over the seeds.
    """
    runs = figure7_violations(rules, scale, seeds).set_index(["method", "seed"])
    rows = []
    for method in METHODS[1:]:
        for column in ("cpu_request", "memory_request", "cpu_usage", "memory_usage"):
            ratio = runs[column][method] / runs[column]["LeastFit"]
            rows.append({"ratio": column, "method": method, **_geometric(ratio)})
    for method in ("FlexF", "FlexL"):
        ratio = runs["cpu_request"][method] / runs["cpu_request"]["Oversub"]
        rows.append({"ratio": "cpu_request_to_oversub", "method": method, **_geometric(ratio)})
        for column in ("violated_tasks", "violated_time"):
            ratio = runs[column]["Oversub"] / runs[column][method]
            rows.append({"ratio": column, "method": method, **_geometric(ratio)})
    return pd.DataFrame(rows)


def _geometric(ratio: pd.Series) -> dict[str, float]:
    """Return geometric mean, its interval, and the range of a ratio; NaN where it has none."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs: Any = np.log(ratio)
    interval = {k: float(np.exp(v)) for k, v in with_interval(logs).items()}
    return {**interval, "least": float(ratio.min()), "most": float(ratio.max())}


def recovery(
    rules: str = "author", scale: Scale = "quick", seeds: Sequence[int] = SEEDS
) -> pd.DataFrame:
    """Look at the spells of violation: what P does at their onset, and how long they last.

    Parameters
    ----------
    rules, scale, seeds
        As in `figure6`.

    Returns
    -------
    DataFrame
        ``method`` (without LeastFit), ``seed``, ``spells`` (runs of minutes with QoS below
        0.99), ``first`` (hours), ``mean`` and ``longest`` (minutes), ``to_oversub`` (mean over
        Oversub's), and ``raised``: the share of onsets after which P is higher a minute later,
        or at the cap of 3.
    """
    cases = [Case(m, seed, rules=NAMED_RULES[rules]) for seed in seeds for m in METHODS]
    found = dict(zip(cases, histories(cases, scale), strict=True))
    rows = []
    for seed in seeds:
        for method in METHODS[1:]:
            frame = found[Case(method, seed, rules=NAMED_RULES[rules])]
            bad = (frame["qos"] < 0.99).to_numpy()
            onset = np.flatnonzero(bad & ~np.concatenate([[False], bad[:-1]]))
            length = bad.sum() / max(len(onset), 1)
            penalty = frame["penalty"].to_numpy()
            after = np.minimum(onset + 1, len(penalty) - 1)
            raised = (penalty[after] > penalty[onset]) | (penalty[onset] >= 3)
            rows.append(
                {
                    "method": method, "seed": seed, "spells": len(onset),
                    "first": frame["time_s"].to_numpy()[onset[:1]].sum() / 3600,
                    "mean": length, "longest": _longest(bad),
                    "raised": raised[onset < len(penalty) - 1].mean() if len(onset) else np.nan,
                }
            )  # fmt: skip
    table = pd.DataFrame(rows)
    oversub = table[table["method"] == "Oversub"].set_index("seed")["mean"]
    table["to_oversub"] = table["mean"] / table["seed"].map(oversub)
    return table


def _longest(bad: NDArray[np.bool_]) -> int:
    """Return the length of the longest run of true values."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], bad.astype(int), [0]])))
    return int(np.diff(edges)[::2].max(initial=0))


def sensitivity(
    rules: str = "author", scale: Scale = "quick", seeds: Sequence[int] = FEWER_SEEDS
) -> pd.DataFrame:
    """Summarise Figures 10 and 11 in the terms of the paper's text: means over days.

    Parameters
    ----------
    rules, scale, seeds
        As in `figure6`.

    Returns
    -------
    DataFrame
        One row per ``figure``, ``setting`` (nodes or factor) and ``method``: ``violated_tasks``,
        ``to_oversub`` (violations over Oversub's), ``usage_to_oversub`` (memory usage),
        ``growth`` (violations over those at 4000 nodes or factor 1), ``request_change`` (CPU
        request over that at 4000 nodes or factor 1), and ``flexf_to_flexl`` (violations of FlexF
        over FlexL's at the setting).
    """
    tables = []
    for figure, runs, parameter, base in (
        (10, figure10(rules, scale, seeds), "nodes", 4000),
        (11, figure11(rules, scale, seeds), "demand", 1.0),
    ):
        columns = ["violated_tasks", "memory_usage", "cpu_request"]
        mean = runs.groupby(["method", parameter])[columns].mean()
        for method in METHODS[1:]:
            part, oversub = mean.loc[method], mean.loc["Oversub"]
            violated = mean["violated_tasks"]
            with np.errstate(divide="ignore", invalid="ignore"):
                tables.append(
                    pd.DataFrame(
                        {
                            "violated_tasks": part["violated_tasks"],
                            "to_oversub": part["violated_tasks"] / oversub["violated_tasks"],
                            "usage_to_oversub": part["memory_usage"] / oversub["memory_usage"],
                            "growth": part["violated_tasks"] / part["violated_tasks"][base],
                            "request_change": part["cpu_request"] / part["cpu_request"][base],
                            "flexf_to_flexl": violated["FlexF"] / violated["FlexL"],
                        }
                    )
                    .rename_axis("setting")
                    .reset_index()
                    .assign(figure=figure, method=method)
                )
    return pd.concat(tables, ignore_index=True)


def request_variation() -> pd.DataFrame:
    """Correlate the variation of demand with the memory request, over 125 real jobs.

    Returns
    -------
    DataFrame
        ``resource`` ("cpu" or "memory"), ``jobs``, ``correlation`` (Spearman's, between a job's
        memory request and the std/mean of its tasks' usage over the day) and ``p_value``.

    References
    ----------
    Google clusterdata-2011-2 (CC BY 4.0); the 1000 tasks of the published sample, nearly all of
    production, medians by job.
    """
    with (files("flex.data") / "request_variation.csv").open(encoding="utf-8") as file:
        jobs = pd.read_csv(file)
    rows = []
    for resource in ("cpu", "memory"):
        found = stats.spearmanr(jobs["memory_request"], jobs[f"{resource}_std_over_mean"])
        rows.append((resource, len(jobs), float(found.statistic), float(found.pvalue)))
    return pd.DataFrame(rows, columns=["resource", "jobs", "correlation", "p_value"])


def overflow_effect(scale: Scale = "quick", seeds: Sequence[int] = FEWER_SEEDS) -> pd.DataFrame:
    """Violations and usage with the overflow of the author's program, and as intended.

    Parameters
    ----------
    scale, seeds
        As in `figure6`.

    Returns
    -------
    DataFrame
        ``method``, ``seed``, ``sharing`` ("overflow" or "intended") and the measures of
        `flex.experiments.runs.summary` in percent.
    """
    sharings = {s: replace(AUTHOR, sharing=s) for s in ("overflow", "intended")}
    return summaries(
        [
            ({"sharing": name}, Case(m, s, rules=rules))
            for s in seeds
            for name, rules in sharings.items()
            for m in METHODS
        ],
        scale,
    )
