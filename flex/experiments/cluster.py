"""Figures 6 to 11 of Le and Liu (arXiv 2006.01354)."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files

import numpy as np
import pandas as pd

from flex import metrics
from flex.experiments.runs import METHODS, Case, Scale, histories, summaries
from flex.rules import NAMED_RULES
from flex.schedulers import policy

__all__ = [
    "author_points", "figure6", "figure7_cdf", "figure7_violations", "figure8", "figure9",
    "figure9_order", "figure10", "figure11",
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
    cases = [Case(m, seed, rules=NAMED_RULES[rules]) for seed in seeds for m in METHODS]
    frames = []
    for case, whole in zip(cases, histories(cases, scale), strict=True):
        frame = whole.iloc[::every]
        hours = frame["time_s"] / 3600
        frames.append(
            frame[list(columns)].assign(
                method=policy(case.method).name, seed=case.seed, hours=hours
            )
        )
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
