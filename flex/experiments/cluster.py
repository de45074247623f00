"""Figures 6 to 11 of Le and Liu (arXiv 2006.01354), and what the headline figures rest on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import files
from typing import Any

import numpy as np
import pandas as pd

from flex import metrics
from flex.experiments.runs import METHODS, Case, Scale, history, summaries, with_interval
from flex.rules import AUTHOR, NAMED_RULES

__all__ = [
    "author_points", "figure6", "figure7_cdf", "figure7_violations", "figure8", "figure9",
    "figure9_order", "figure10", "figure11", "figure_errors", "headlines", "overflow_effect",
]  # fmt: skip

SEEDS = (0, 1, 2, 3, 4)
FEWER_SEEDS = (0, 1, 2)
NODES = (3000, 3500, 3600, 3700, 3800, 4000)
"""Sizes of the cluster in Figure 10."""
DEMANDS = (0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5)
"""Factors of the demand in Figure 11."""


def _over_time(
    columns: Sequence[str], rules: str, scale: Scale, seeds: Sequence[int], every: int = 1
) -> pd.DataFrame:
    frames = []
    for seed in seeds:
        for method in METHODS:
            frame = history(Case(method, seed, rules=NAMED_RULES[rules]), scale).iloc[::every]
            hours = frame["time_s"] / 3600
            frames.append(frame[list(columns)].assign(method=method, seed=seed, hours=hours))
    result = pd.concat(frames, ignore_index=True)
    return result[["method", "seed", "hours", *columns]]


def figure6(
    rules: str = "author", scale: Scale = "quick", seeds: Sequence[int] = FEWER_SEEDS
) -> pd.DataFrame:
    """Request and usage of the cluster over time under the four methods.

    Parameters
    ----------
    rules
        "author" or "paper".
    scale
        "paper" for 714,030 tasks on 4000 nodes, "quick" for a hundredth.
    seeds
        Seeds of the synthetic days.

    Returns
    -------
    DataFrame
        ``method``, ``seed``, ``hours``, and ``cpu_request``, ``memory_request``, ``cpu_usage``,
        ``memory_usage`` as shares of the capacity, every 5 minutes.
    """
    columns = ["cpu_request", "memory_request", "cpu_usage", "memory_usage"]
    return _over_time(columns, rules, scale, seeds, every=5)


def figure7_cdf(
    rules: str = "author", scale: Scale = "quick", seeds: Sequence[int] = FEWER_SEEDS
) -> pd.DataFrame:
    """Distribution of QoS over the ticks of all seeds.

    Parameters
    ----------
    rules, scale, seeds
        As in `figure6`.

    Returns
    -------
    DataFrame
        ``method``, ``qos`` and ``share`` of the ticks with at most this QoS, at 200 quantiles.
    """
    qos = _over_time(["qos"], rules, scale, seeds)
    share = np.linspace(0, 1, 201)
    frames = [
        pd.DataFrame({"method": m, "qos": np.quantile(qos.loc[qos["method"] == m, "qos"], share)})
        for m in METHODS
    ]
    return pd.concat([f.assign(share=share) for f in frames], ignore_index=True)


def figure7_violations(
    rules: str = "author", scale: Scale = "quick", seeds: Sequence[int] = SEEDS
) -> pd.DataFrame:
    """Violations of QoS: the share of ticks below the target, and of running tasks.

    Parameters
    ----------
    rules, scale, seeds
        As in `figure6`.

    Returns
    -------
    DataFrame
        One row per method and seed with the measures of `flex.experiments.runs.summary`, in
        percent; violations are ``violated_time`` and ``violated_tasks``.
    """
    chosen = NAMED_RULES[rules]
    cases: list[tuple[dict[str, object], Case]] = [
        ({}, Case(m, s, rules=chosen)) for s in seeds for m in METHODS
    ]
    return summaries(cases, scale)


def figure8(
    rules: str = "author", scale: Scale = "quick", seeds: Sequence[int] = (0,)
) -> pd.DataFrame:
    """QoS and the estimation penalty over time.

    Parameters
    ----------
    rules, scale, seeds
        As in `figure6`.

    Returns
    -------
    DataFrame
        ``method``, ``seed``, ``hours``, ``qos`` and ``penalty`` at every tick. LeastFit and
        Oversub do not use the penalty.
    """
    return _over_time(["qos", "penalty"], rules, scale, seeds)


def figure9(
    rules: str = "author", scale: Scale = "quick", seeds: Sequence[int] = FEWER_SEEDS
) -> pd.DataFrame:
    """Balance of memory over the nodes: the standard deviation of their demand.

    Parameters
    ----------
    rules, scale, seeds
        As in `figure6`.

    Returns
    -------
    DataFrame
        ``method``, ``seed``, ``hours``, ``spread`` (standard deviation as a share of a node's
        capacity, as the author plots it) and ``relative`` (divided by the mean, as the paper
        says), every 5 minutes.
    """
    frame = _over_time(["memory_demand_std", "memory_demand"], rules, scale, seeds, every=5)
    spread = metrics.imbalance(frame, relative=False)
    relative = metrics.imbalance(frame, relative=True)
    return frame[["method", "seed", "hours"]].assign(spread=spread, relative=relative)


def figure9_order(
    rules: str = "author", scale: Scale = "quick", seeds: Sequence[int] = SEEDS
) -> pd.DataFrame:
    """Rank the methods by imbalance in each seed, with both measures.

    Parameters
    ----------
    rules, scale, seeds
        As in `figure6`.

    Returns
    -------
    DataFrame
        ``measure`` ("imbalance" or "relative_imbalance"), ``seed``, ``method``, ``percent`` and
        ``rank`` (1 is the best balanced).
    """
    runs = figure7_violations(rules, scale, seeds)
    long = runs.melt(["seed", "method"], ["imbalance", "relative_imbalance"], "measure", "percent")
    long["rank"] = long.groupby(["measure", "seed"])["percent"].rank().astype(int)
    return long[["measure", "seed", "method", "percent", "rank"]]


def figure10(
    rules: str = "author", scale: Scale = "quick", seeds: Sequence[int] = FEWER_SEEDS
) -> pd.DataFrame:
    """Sensitivity to the size of the cluster: 3000 to 4000 nodes.

    Parameters
    ----------
    rules, scale, seeds
        As in `figure6`.

    Returns
    -------
    DataFrame
        ``method``, ``seed``, ``nodes`` (of the paper's cluster), and the measures of
        `flex.experiments.runs.summary` in percent.
    """
    chosen = NAMED_RULES[rules]
    return summaries(
        [
            ({"nodes": n}, Case(m, s, nodes=n, rules=chosen))
            for s in seeds
            for n in NODES
            for m in METHODS
        ],
        scale,
    )


def figure11(
    rules: str = "author", scale: Scale = "quick", seeds: Sequence[int] = FEWER_SEEDS
) -> pd.DataFrame:
    """Sensitivity to the ratio of demand to request: demand times 0.7 to 1.5.

    Parameters
    ----------
    rules, scale, seeds
        As in `figure6`.

    Returns
    -------
    DataFrame
        ``method``, ``seed``, ``demand``, and the measures of `flex.experiments.runs.summary` in
        percent.
    """
    chosen = NAMED_RULES[rules]
    return summaries(
        [
            ({"demand": d}, Case(m, s, demand=d, rules=chosen))
            for s in seeds
            for d in DEMANDS
            for m in METHODS
        ],
        scale,
    )


def author_points() -> pd.DataFrame:
    """Return the author's numbers behind Figures 10 and 11.

    Returns
    -------
    DataFrame
        ``figure``, ``parameter`` ("nodes" or "demand"), ``value``, ``method``, ``metric``
        (named as in `flex.experiments.runs.summary`) and ``percent``.
    """
    with (files("flex.data") / "figures_10_11.csv").open(encoding="utf-8") as file:
        return pd.read_csv(file)


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

    The requests and the memory usage of each method over LeastFit's, and Oversub's violations
    over each Flex method's.

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
        for column in ("violated_tasks", "violated_time"):
            ratio = runs[column]["Oversub"] / runs[column][method]
            rows.append({"ratio": column, "method": method, **_geometric(ratio)})
    return pd.DataFrame(rows)


def _geometric(ratio: pd.Series[float]) -> dict[str, float]:
    """Return geometric mean, its interval, and the range of a ratio; NaN where it has none."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs: Any = np.log(ratio)
    interval = {k: float(np.exp(v)) for k, v in with_interval(logs).items()}
    return {**interval, "least": float(ratio.min()), "most": float(ratio.max())}


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
