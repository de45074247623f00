"""From a flow to a plan: all techniques, the optimum and the front, as tables and text."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import get_args

import numpy as np
import pandas as pd

from sparkpart.dataflow import Dataflow, DataflowError, Plan
from sparkpart.exact import Optimum, optimum
from sparkpart.greedy import Greedy, greedy
from sparkpart.ils import ils

__all__ = ["TECHNIQUES", "Recommendation", "recommend"]

TECHNIQUES = ("optimum", *get_args(Greedy), "ILS")


@dataclass(frozen=True, eq=False)
class Recommendation:
    """A plan for a flow, and what it is compared with.

    Attributes
    ----------
    flow
        The flow.
    slack
        Part by which running time may exceed that of the initial plan.
    technique
        Whose plan it is: one of `TECHNIQUES`.
    plan
        A degree per vertex.
    optimum
        The exact optimum, or the best plan found in time with its limit.
    techniques
        One row each for "initial", the optimum and the paper's techniques: ``technique``,
        ``running_time`` (s), ``resource_consumption`` (node s), ``slower`` and ``saved``
        (percent of the initial plan), ``above`` (percent above the optimum's RC).
    """

    flow: Dataflow
    slack: float
    technique: str
    plan: Plan
    optimum: Optimum
    techniques: pd.DataFrame

    @property
    def table(self) -> pd.DataFrame:
        """The plan by vertex.

        Columns: ``vertex``; ``before`` and ``after`` (nodes); ``seconds_before`` and
        ``seconds_after``, the running times there without repartitioning.
        """
        at = np.arange(len(self.plan))
        times = [self.flow.time[at, self.flow.indices(p)] for p in (self.flow.initial, self.plan)]
        return pd.DataFrame(
            {
                "vertex": self.flow.names,
                "before": self.flow.initial,
                "after": self.plan,
                "seconds_before": times[0],
                "seconds_after": times[1],
            }
        )

    def as_json(self) -> str:
        """Return the plan and the comparison as JSON; null stands for what is infinite."""
        content = {
            "slack": self.slack if np.isfinite(self.slack) else None,
            "technique": self.technique,
            "plan": self.table.to_dict("records"),
            "techniques": [
                {k: None if v in (np.inf, -np.inf) else v for k, v in row.items()}
                for row in self.techniques.to_dict("records")
            ],
            "optimum_limit": self.optimum.limit,
            "optimum_gap": self.optimum.gap,
            "optimum_proven": self.optimum.proven,
        }
        return json.dumps(content, indent=2, allow_nan=False)

    def report(self) -> str:
        """Return the plan and the comparison as text."""
        plan = self.table.rename(columns={"seconds_before": "s before", "seconds_after": "s after"})
        bound = self.flow.bound(self.slack)
        best = self.optimum
        proof = (
            "proved optimal" if best.proven else f"at most {100 * best.gap:.2g} % above the optimum"
        )
        header = {
            "running_time": "RT (s)", "resource_consumption": "RC (node s)",
            "slower": "slower (%)", "saved": "saved (%)", "above": "above optimum (%)",
        }  # fmt: skip
        return "\n\n".join(
            [
                f"{len(self.flow.names)} vertices, {len(self.flow.ends)} edges; "
                f"running time at most {bound:.4g} s (slack {100 * self.slack:g} %)",
                f"plan by {self.technique}\n"
                + plan.to_string(index=False, float_format=lambda x: f"{x:.4g}"),
                self.techniques.rename(columns=header).to_string(
                    index=False, float_format=lambda x: f"{x:.4g}"
                ),
                f"The plan called optimum is {proof}.",
            ]
        )


def recommend(
    flow: Dataflow,
    *,
    slack: float,
    technique: str = "optimum",
    seed: int = 0,
    time_limit: float = 60.0,
) -> Recommendation:
    """Choose the degrees of a flow and compare the choice with those of other techniques.

    Parameters
    ----------
    flow
        The flow.
    slack
        Part by which running time may exceed that of the initial plan: 0.1 is 10 %.
    technique
        Whose plan to take: one of `TECHNIQUES`.
    seed
        Seed of the iterated local search.
    time_limit
        Seconds for the exact search.

    Raises
    ------
    DataflowError
        If the slack is negative or the technique unknown.
    """
    if technique not in TECHNIQUES:
        raise DataflowError(f"unknown technique {technique!r}; choose from {TECHNIQUES}")
    bound = flow.bound(slack)
    best = optimum(flow, bound=bound, time_limit=time_limit)
    plans = {"initial": flow.initial, "optimum": best.plan}
    plans |= {how: greedy(flow, how, bound=bound).plan for how in get_args(Greedy)}
    plans["ILS"] = ils(flow, bound=bound, seed=seed).plan
    return Recommendation(flow, slack, technique, plans[technique], best, _compared(flow, plans))


def _compared(flow: Dataflow, plans: dict[str, Plan]) -> pd.DataFrame:
    rows = [
        (name, flow.running_time(plan), flow.resource_consumption(plan))
        for name, plan in plans.items()
    ]
    table = pd.DataFrame(rows, columns=["technique", "running_time", "resource_consumption"])
    time, rc = table["running_time"], table["resource_consumption"]
    return table.assign(
        slower=100 * (time / time[0] - 1),
        saved=100 * (1 - rc / rc[0]),
        above=100 * (rc / rc[1] - 1).clip(lower=0),
    ).fillna(0.0)
