"""Measures of a simulated day, from its history: utilisation, quality of service, balance."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "WARM_UP",
    "cdf",
    "imbalance",
    "utilisation",
    "violations_of_tasks",
    "violations_over_time",
]

WARM_UP = 10
"""Recorded ticks left out of means, as in the author's plots."""


def utilisation(history: pd.DataFrame, warm_up: int = WARM_UP) -> pd.Series:
    """Return means over time of request, demand and usage as shares of the cluster's capacity.

    Parameters
    ----------
    history
        `Result.history`.
    warm_up
        Ticks left out at the start.
    """
    columns = [f"{r}_{m}" for r in ("cpu", "memory") for m in ("request", "demand", "usage")]
    means: pd.Series = history[columns].iloc[warm_up:].mean()
    return means


def violations_over_time(
    history: pd.DataFrame, target: float = 0.99, warm_up: int = WARM_UP
) -> float:
    """Return the share of ticks whose QoS, rounded to two places, is below the target.

    Parameters
    ----------
    history
        `Result.history`.
    target
        QoS target (0.99 in the paper).
    warm_up
        Ticks left out at the start.
    """
    return float((history["qos"].iloc[warm_up:].round(2) < target).mean())


def violations_of_tasks(history: pd.DataFrame, warm_up: int = WARM_UP) -> float:
    """Return the share of running tasks, summed over ticks, whose QoS is violated.

    Parameters
    ----------
    history
        `Result.history`.
    warm_up
        Ticks left out at the start.
    """
    kept = history.iloc[warm_up:]
    running = kept["running"].sum()
    return float(1 - kept["satisfied"].sum() / running) if running else 0.0


def imbalance(
    history: pd.DataFrame, resource: str = "memory", *, relative: bool
) -> NDArray[np.float64]:
    """Return the standard deviation of demand over nodes at each tick, (ticks,).

    Parameters
    ----------
    history
        `Result.history`.
    resource
        "cpu" or "memory".
    relative
        Divide by the mean, as the paper says; the author's plot of Figure 9 does not, and shows
        a share of a node's capacity. A tick without any demand gives 0.
    """
    spread = history[f"{resource}_demand_std"].to_numpy(np.float64)
    if not relative:
        return spread
    mean = history[f"{resource}_demand"].to_numpy(np.float64)
    share: NDArray[np.float64] = spread / np.where(mean > 0, mean, np.inf)
    return share


def cdf(values: ArrayLike) -> pd.DataFrame:
    """Return the empirical distribution: columns ``value`` and ``share`` of values up to it.

    Parameters
    ----------
    values
        Numbers, in any order.
    """
    value, count = np.unique(np.asarray(values, dtype=np.float64), return_counts=True)
    return pd.DataFrame({"value": value, "share": np.cumsum(count) / max(count.sum(), 1)})
