"""What each part of Flex buys, and how far each choice moves the headline figures."""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from flex.experiments.runs import Case, Scale, summaries
from flex.rules import AUTHOR, PAPER, Rules
from flex.schedulers import (
    BEST_FIT,
    FLEX_F,
    FLEX_L,
    LEAST_FIT,
    ORACLE,
    OVERSUB,
    Node,
    Policy,
    Task,
    load_fits,
    percent_free,
    requests_fit,
)
from flex.synthetic_demand import Day

__all__ = [
    "DAYS", "RULE_CHANGES", "VARIANTS", "ablation", "own_policies", "rule_choices",
    "workload_choices",
]  # fmt: skip

SEEDS = (0, 1, 2)


def _load_only(node: Node, task: Task) -> float:
    """Prefer the node with the least load, whatever job its tasks belong to."""
    cpu = percent_free(node.cpu_load, node.cpu_capacity)
    return min(cpu, percent_free(node.memory_load, node.memory_capacity))


def _requests_and_job(node: Node, task: Task) -> float:
    """Score as Flex does, with requests in place of the load."""
    cpu = percent_free(node.cpu_request, node.cpu_capacity)
    memory = percent_free(node.memory_request, node.memory_capacity)
    return min(cpu, memory) + 100 - node.same_job


def _constant(penalty: float) -> Rules:
    return replace(AUTHOR, start_penalty=penalty, min_penalty=penalty, max_penalty=penalty)


VARIANTS: dict[str, tuple[Policy, Rules]] = {
    "FlexF": (FLEX_F, AUTHOR),
    "requests, not load": (
        Policy("FlexF on requests", requests_fit, _requests_and_job, monotone=True), AUTHOR,
    ),
    "constant P = 1": (FLEX_F, _constant(1.0)),
    "constant P = 1.2": (FLEX_F, _constant(1.2)),
    "constant P = 1.5": (FLEX_F, _constant(1.5)),
    "no same-job term": (
        Policy("FlexF without jobs", load_fits, _load_only, monotone=True), AUTHOR,
    ),
    "largest request first (FlexL)": (FLEX_L, AUTHOR),
    "FlexF, whole queue tried": (FLEX_F, replace(AUTHOR, failures=None)),
    "FlexL, whole queue tried": (FLEX_L, replace(AUTHOR, failures=None, queue="stable")),
}  # fmt: skip
"""Flex, and Flex with one part replaced."""

RULE_CHANGES: dict[str, Rules] = {
    "author": AUTHOR,
    "intended sharing": replace(AUTHOR, sharing="intended"),
    "load is usage": replace(AUTHOR, load="usage"),
    "fresh tasks inside P": replace(AUTHOR, fresh="penalised"),
    "fresh tasks ignored": replace(AUTHOR, fresh="nothing"),
    "P not cut to percent": replace(AUTHOR, penalty_in_percent=False),
    "P_min = 1": replace(AUTHOR, min_penalty=1.0),
    "no cap on P": replace(AUTHOR, max_penalty=float("inf")),
    "P rises while QoS falls": replace(AUTHOR, raise_when="falling"),
    "P rises in every bad tick": replace(AUTHOR, raise_when="always"),
    "whole queue tried": replace(AUTHOR, failures=None, queue="stable"),
    "stable order": replace(AUTHOR, queue="stable"),
    "paper": PAPER,
}
"""The author's rules, each changed alone, and all the paper's."""

_BATCH = Day().cpu
DAYS: dict[str, Day] = {
    "default": Day(),
    "steadier free and batch CPU": Day(cpu=replace(_BATCH, median=(0.3, 0.3, 0.10))),
    "CPU of a job's tasks independent": Day(cpu=replace(_BATCH, shares=(0.0, 0.0, 1.0))),
    "CPU of a job's tasks as one": Day(cpu=replace(_BATCH, shares=(0.9, 0.1, 0.0))),
    "no turnover of running tasks": Day(turnover=0.0),
    "twice the turnover": Day(turnover=0.2),
    "jobs alike in usage/request": Day(ratio_cv=0.4, ratio_concentration=20.0),
}
"""Synthetic days with one free choice changed."""


def ablation(
    scale: Scale = "quick", seeds: Sequence[int] = SEEDS, nodes: Sequence[int] = (4000, 3000)
) -> pd.DataFrame:
    """Run Flex with one part replaced at a time, at low and at high load.

    Parameters
    ----------
    scale
        "paper" for 714,030 tasks, "quick" for a hundredth.
    seeds
        Seeds of the synthetic days.
    nodes
        Nodes at the paper's scale.

    Returns
    -------
    DataFrame
        ``variant``, ``nodes``, ``method``, ``seed`` and the measures of
        `flex.experiments.runs.summary` in percent.
    """
    return summaries(
        [
            ({"variant": name, "nodes": n}, Case(how, s, nodes=n, rules=rules))
            for n in nodes
            for s in seeds
            for name, (how, rules) in VARIANTS.items()
        ],
        scale,
    )


def rule_choices(scale: Scale = "quick", seeds: Sequence[int] = SEEDS) -> pd.DataFrame:
    """Change the author's rules one at a time, for FlexF and FlexL.

    Parameters
    ----------
    scale, seeds
        As in `ablation`.

    Returns
    -------
    DataFrame
        ``change``, ``method``, ``seed`` and the measures of `flex.experiments.runs.summary`.
    """
    return summaries(
        [
            ({"change": name}, Case(method, s, rules=rules))
            for s in seeds
            for name, rules in RULE_CHANGES.items()
            for method in ("FlexF", "FlexL")
        ],
        scale,
    )


def workload_choices(scale: Scale = "quick", seeds: Sequence[int] = SEEDS) -> pd.DataFrame:
    """Change the free choices of the synthetic day one at a time.

    Parameters
    ----------
    scale, seeds
        As in `ablation`.

    Returns
    -------
    DataFrame
        ``day``, ``method`` (LeastFit, Oversub or FlexF), ``seed`` and the measures of
        `flex.experiments.runs.summary`.
    """
    return summaries(
        [
            ({"day": name}, Case(method, s, day=day))
            for s in seeds
            for name, day in DAYS.items()
            for method in ("LeastFit", "Oversub", "FlexF")
        ],
        scale,
    )


def own_policies(scale: Scale = "quick", seeds: Sequence[int] = SEEDS) -> pd.DataFrame:
    """Run two policies beyond the paper beside its own: BestFit, and an oracle of the demand.

    Parameters
    ----------
    scale, seeds
        As in `ablation`.

    Returns
    -------
    DataFrame
        ``method``, ``seed`` and the measures of `flex.experiments.runs.summary`.
    """
    methods = (LEAST_FIT, OVERSUB, FLEX_F, FLEX_L, BEST_FIT, ORACLE)
    return summaries([({}, Case(method, s)) for s in seeds for method in methods], scale)
