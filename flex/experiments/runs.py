"""Runs of the simulator that the experiments share: a synthetic day, a method, a set of rules.

Runs are independent: they go through joblib, on as many processes as the caller's
``joblib.parallel_config`` says (one by default), or on a Dask cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeVar

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy import stats

from flex import metrics
from flex.rules import AUTHOR, Rules
from flex.schedulers import Policy, policy
from flex.simulation import simulate
from flex.synthetic import synthesize
from flex.synthetic_demand import Day
from flex.workload import Workload

__all__ = [
    "METHODS",
    "SIZES",
    "Case",
    "Scale",
    "Size",
    "histories",
    "history",
    "summaries",
    "summary",
    "with_interval",
]

METHODS = ("LeastFit", "Oversub", "FlexF", "FlexL")
"""The four methods of the paper, in its order."""

Scale = Literal["paper", "quick"]
T = TypeVar("T")


@dataclass(frozen=True)
class Size:
    """Size of an experiment."""

    tasks: int
    nodes: int
    """Nodes that stand for the paper's 4000."""
    ticks: int


SIZES = {"paper": Size(714_030, 4000, 1439), "quick": Size(7_140, 40, 1439)}
"""Sizes by name: the paper's (Section 5), and a hundredth of it.

The last tick is at 23:59, since tasks of the synthetic day are cut at 24:00.
"""


@dataclass(frozen=True)
class Case:
    """One run of the simulator.

    Parameters
    ----------
    method
        A policy or its name.
    seed
        Seed of the synthetic day.
    nodes
        Nodes at the paper's scale; fewer at a smaller one.
    demand
        Factor of the demand (Figure 11).
    rules
        Rules of the simulation.
    day
        Parameters of the synthetic day.
    """

    method: str | Policy
    seed: int
    nodes: int = 4000
    demand: float = 1.0
    rules: Rules = AUTHOR
    day: Day | None = None


@lru_cache(maxsize=2)
def _day(tasks: int, seed: int, day: Day | None) -> Workload:
    return synthesize(tasks, seed=seed, day=day)


@lru_cache(maxsize=2)
def _demanding(tasks: int, seed: int, day: Day | None, factor: float) -> Workload:
    workload = _day(tasks, seed, day)
    return workload if factor == 1 else workload.scaled(factor)


def history(case: Case, scale: Scale) -> pd.DataFrame:
    """Return the history of a run, from the first tick after the warm-up on; do not change it.

    Parameters
    ----------
    case
        The run.
    scale
        "paper" or "quick".
    """
    size = SIZES[scale]
    workload = _demanding(size.tasks, case.seed, case.day, case.demand)
    nodes = case.nodes * size.nodes // SIZES["paper"].nodes
    result = simulate(workload, case.method, nodes, size.ticks, case.rules)
    return result.history.iloc[metrics.WARM_UP :]


def histories(cases: Sequence[Case], scale: Scale) -> list[pd.DataFrame]:
    """Return the histories of runs in their order; do not change them.

    Parameters
    ----------
    cases
        The runs.
    scale
        "paper" or "quick".
    """
    return _remembered(history, _HISTORIES, cases, scale)


def summary(case: Case, scale: Scale) -> dict[str, float]:
    """Return the measures of a run, in percent, over all ticks after the warm-up.

    Parameters
    ----------
    case
        The run.
    scale
        "paper" or "quick".
    """
    frame = _HISTORIES.get((case, scale))
    if frame is None:
        frame = history(case, scale)
    used = metrics.utilisation(frame, 0)
    return {
        **{str(name): 100 * float(value) for name, value in used.items()},
        "violated_tasks": 100 * metrics.violations_of_tasks(frame, 0),
        "violated_time": 100 * metrics.violations_over_time(frame, warm_up=0),
        "pending": float(frame["pending"].mean()),
        "imbalance": 100 * float(metrics.imbalance(frame, relative=False).mean()),
        "relative_imbalance": 100 * float(metrics.imbalance(frame, relative=True).mean()),
    }


def summaries(cases: Iterable[tuple[dict[str, object], Case]], scale: Scale) -> pd.DataFrame:
    """Run cases and return a row for each.

    Parameters
    ----------
    cases
        Labels of the row, and the run.
    scale
        "paper" or "quick".

    Returns
    -------
    DataFrame
        The labels, ``method``, ``seed``, and the measures of `summary`.
    """
    labelled = list(cases)
    measured = _remembered(summary, _SUMMARIES, [case for _, case in labelled], scale)
    return pd.DataFrame(
        {"method": policy(case.method).name, "seed": case.seed, **labels, **values}
        for (labels, case), values in zip(labelled, measured, strict=True)
    )


_HISTORIES: dict[tuple[Case, Scale], pd.DataFrame] = {}
_SUMMARIES: dict[tuple[Case, Scale], dict[str, float]] = {}


def _remembered(
    function: Callable[[Case, Scale], T],
    known: dict[tuple[Case, Scale], T],
    cases: Sequence[Case],
    scale: Scale,
) -> list[T]:
    """Apply a function to cases, computing in parallel those that this process has not seen."""
    missing = [case for case in dict.fromkeys(cases) if (case, scale) not in known]
    found = Parallel()(delayed(function)(case, scale) for case in missing)
    known.update({(case, scale): value for case, value in zip(missing, found, strict=True)})
    return [known[case, scale] for case in cases]


def with_interval(values: pd.Series, level: float = 0.95) -> dict[str, float]:
    """Return mean, and Student's interval of the mean, of a measure over seeds.

    Parameters
    ----------
    values
        One value a seed.
    level
        Level of the interval.
    """
    n, mean = len(values), float(values.mean())
    half = float(stats.t.ppf((1 + level) / 2, n - 1) * values.std() / np.sqrt(n)) if n > 1 else 0.0
    return {"mean": mean, "low": mean - half, "high": mean + half}
