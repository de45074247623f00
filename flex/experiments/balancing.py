"""Algorithms 1 and 2 and Theorems 4.1 and 4.2 of Le and Liu (arXiv 2006.01354)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from flex.experiments.runs import Scale
from flex.theory import (
    Balance,
    fifo,
    fifo_bound,
    fifo_worst_case,
    largest_request_first,
    lrf_bound,
    lrf_worst_case,
    optimum,
    random_instance,
)

__all__ = [
    "beyond_the_theorems", "comparisons", "order_disagreement", "ratios", "step_table",
    "worst_cases",
]  # fmt: skip

Array = NDArray[np.float64]
INSTANCES = {"paper": 200, "quick": 6}
"""Random instances of a kind."""
SHAPES = ((2, 8), (3, 12), (4, 12), (5, 15))
"""Numbers of nodes and tasks of random instances; the optimum is proven for each."""
STEP_DEMANDS = (2, 9, 4, 7, 3, 8, 5, 6, 1, 4, 3, 10)
"""Demands of the tasks of the step table, chosen so that the two algorithms differ."""


def step_table(nodes: int = 6) -> pd.DataFrame:
    """Follow FIFO and LRF task by task on twelve tasks that request what they demand.

    Parameters
    ----------
    nodes
        Number of nodes.

    Returns
    -------
    DataFrame
        ``algorithm``, ``step``, ``task`` (from 1), ``demand``, ``node`` (from 1), ``load`` of
        that node afterwards, and ``highest`` load so far.
    """
    demands = np.array(STEP_DEMANDS, dtype=np.float64)
    rows = []
    orders = {"FIFO": np.arange(len(demands)), "LRF": np.argsort(-demands, kind="stable")}
    for algorithm, order in orders.items():
        node, loads = fifo(demands[order], nodes).node, np.zeros(nodes)
        for step, (task, i) in enumerate(zip(order, node, strict=True), start=1):
            loads[i] += demands[task]
            rows.append((algorithm, step, task + 1, demands[task], i + 1, loads[i], loads.max()))
    columns = ["algorithm", "step", "task", "demand", "node", "load", "highest"]
    return pd.DataFrame(rows, columns=columns)


def worst_cases(most: int = 8) -> pd.DataFrame:
    """Run both algorithms on the instances for which their bounds are reached.

    Parameters
    ----------
    most
        Largest number of nodes.

    Returns
    -------
    DataFrame
        ``algorithm``, ``nodes``, ``tasks``, ``makespan``, ``optimum`` (proven), ``ratio``,
        ``bound``, ``stated`` (the paper's 2 and 4/3) and ``share`` of the optimal utilisation,
        1/ratio.
    """
    rows = []
    for nodes in range(2, most + 1):
        for algorithm, demands, bound, stated in (
            ("FIFO", fifo_worst_case(nodes), fifo_bound(nodes), 2.0),
            ("LRF", lrf_worst_case(nodes), lrf_bound(nodes), 4 / 3),
        ):
            run = fifo if algorithm == "FIFO" else _lrf
            found, best = run(demands, nodes).makespan, optimum(demands, nodes)
            rows.append(
                {
                    "algorithm": algorithm, "nodes": nodes, "tasks": len(demands),
                    "makespan": found, "optimum": _proven(best.makespan, best.bound),
                    "ratio": found / best.makespan, "bound": bound, "stated": stated,
                    "share": best.makespan / found,
                }
            )  # fmt: skip
    return pd.DataFrame(rows)


def ratios(scale: Scale = "quick", seed: int = 0) -> pd.DataFrame:
    """Ratios of both algorithms to the proven optimum on random instances, equal order.

    Parameters
    ----------
    scale
        "paper" for 200 instances of each kind, "quick" for 6.
    seed
        Seed of the instances.

    Returns
    -------
    DataFrame
        ``nodes``, ``tasks``, ``instance``, ``algorithm``, ``ratio`` and ``bound``.
    """
    rows = []
    for nodes, tasks in SHAPES:
        rng = np.random.default_rng([seed, nodes])
        for instance in range(INSTANCES[scale]):
            requests, demands = random_instance(tasks, 1.0, rng)
            best = _best(demands, nodes)
            for algorithm, found, bound in (
                ("FIFO", fifo(demands, nodes), fifo_bound(nodes)),
                ("LRF", largest_request_first(requests, demands, nodes), lrf_bound(nodes)),
            ):
                rows.append((nodes, tasks, instance, algorithm, found.makespan / best, bound))
    columns = ["nodes", "tasks", "instance", "algorithm", "ratio", "bound"]
    return pd.DataFrame(rows, columns=columns)


def order_disagreement(
    scale: Scale = "quick",
    seed: int = 0,
    agreements: Sequence[float] = (1.0, 0.9, 0.68, 0.5, 0.0, -0.5, -1.0),
) -> pd.DataFrame:
    """Ratios of LRF when the orders of request and demand agree less and less.

    Parameters
    ----------
    scale, seed
        As in `ratios`.
    agreements
        Correlations of the logarithms; 0.68 is that of CPU and memory requests of the tasks
        running at the start of the trace, for scale.

    Returns
    -------
    DataFrame
        ``agreement``, ``instance``, ``rank_correlation`` (Kendall's tau of the instance),
        ``nodes``, ``LRF`` and ``FIFO`` (ratios on the same instance), ``above`` (whether LRF is
        above 4/3 - 1/(3N)).
    """
    rows = []
    nodes, tasks = 4, 12
    for agreement in agreements:
        rng = np.random.default_rng([seed, int(1000 * (agreement + 1))])
        for instance in range(INSTANCES[scale]):
            requests, demands = random_instance(tasks, agreement, rng)
            best = _best(demands, nodes)
            lrf = largest_request_first(requests, demands, nodes).makespan / best
            tau = float(stats.kendalltau(requests, demands).statistic)
            ratio = fifo(demands, nodes).makespan / best
            above = lrf > lrf_bound(nodes) + 1e-9
            rows.append((agreement, instance, tau, nodes, lrf, ratio, above))
    columns = ["agreement", "instance", "rank_correlation", "nodes", "LRF", "FIFO", "above"]
    return pd.DataFrame(rows, columns=columns)


def beyond_the_theorems(scale: Scale = "quick", seed: int = 0) -> pd.DataFrame:
    """Ratios where the theorems say nothing, against the proven optimum of the same problem.

    Parameters
    ----------
    scale, seed
        As in `ratios`.

    Returns
    -------
    DataFrame
        ``setting``, ``algorithm``, ``instances``, ``mean`` and ``worst`` ratio over random
        instances on 3 nodes, ``constructed`` (ratio of an instance made to be bad, if there is
        one) and ``bound`` of the theorem.
    """
    rows = []
    for setting, (draw, constructed) in _settings().items():
        for algorithm, bound in (("FIFO", fifo_bound(NODES)), ("LRF", lrf_bound(NODES))):
            rng = np.random.default_rng(seed)
            found = [draw(rng)[algorithm] for _ in range(INSTANCES[scale])]
            rows.append(
                {
                    "setting": setting, "algorithm": algorithm, "instances": len(found),
                    "mean": float(np.mean(found)), "worst": float(np.max(found)),
                    "constructed": constructed.get(algorithm, np.nan), "bound": bound,
                }
            )  # fmt: skip
    return pd.DataFrame(rows)


def comparisons(
    tasks: Sequence[int] = (100, 1000, 10_000), nodes: Sequence[int] = (10, 100, 1000)
) -> pd.DataFrame:
    """Count the comparisons that both algorithms make.

    Parameters
    ----------
    tasks, nodes
        Sizes.

    Returns
    -------
    DataFrame
        ``tasks``, ``nodes``, ``FIFO`` and ``LRF`` (comparisons), ``scan`` (J (N - 1)),
        ``sorting`` (LRF's for its order), ``sort_bound`` (J log2 J), ``fifo_per_scan`` (FIFO over
        J (N - 1)), ``sort_only`` (LRF over
        J log2 J) and ``scan_only`` (LRF over J N): neither of the paper's terms alone bounds it.
    """
    rows = []
    rng = np.random.default_rng(0)
    for J in tasks:
        requests, demands = random_instance(J, 1.0, rng)
        for N in nodes:
            first = fifo(demands, N).comparisons
            lrf = largest_request_first(requests, demands, N).comparisons
            rows.append(
                {
                    "tasks": J, "nodes": N, "FIFO": first, "LRF": lrf, "scan": J * (N - 1),
                    "sorting": lrf - first, "sort_bound": J * np.log2(J),
                    "fifo_per_scan": first / (J * (N - 1)),
                    "sort_only": lrf / (J * np.log2(J)), "scan_only": lrf / (J * N),
                }
            )  # fmt: skip
    return pd.DataFrame(rows)


NODES = 3
Draw = Callable[[np.random.Generator], dict[str, float]]


def _lrf(demands: Array, nodes: int) -> Balance:
    return largest_request_first(demands, demands, nodes)


def _proven(makespan: float, bound: float) -> float:
    if makespan - bound > 1e-6 * makespan:
        raise RuntimeError(f"the optimum is between {bound} and {makespan}: not proven")
    return makespan


def _best(demands: Array, nodes: int, initial: Array | None = None) -> float:
    best = optimum(demands, nodes, initial=initial)
    return _proven(best.makespan, best.bound)


def _settings() -> dict[str, tuple[Draw, dict[str, float]]]:
    """Return, for each setting, how a random instance is run, and constructed ratios."""
    opposite = fifo_worst_case(NODES)
    reached = largest_request_first(-opposite + NODES, opposite, NODES).makespan
    return {
        "as in the theorems": (_plain, {}),
        "opposite orders": (_opposite, {"LRF": reached / _best(opposite, NODES)}),
        "initial loads": (_initial, {}),
        "two resources": (_two, {}),
        "loads seen every third task": (
            _stale, {a: _stale_ratios(np.ones(NODES), np.ones(NODES))[a] for a in ("FIFO", "LRF")},
        ),
        "the same, requests counted": (_counted, {}),
    }  # fmt: skip


def _plain(rng: np.random.Generator) -> dict[str, float]:
    _, demands = random_instance(9, 1.0, rng)
    best = _best(demands, NODES)
    return {"FIFO": fifo(demands, NODES).makespan / best,
            "LRF": _lrf(demands, NODES).makespan / best}  # fmt: skip


def _opposite(rng: np.random.Generator) -> dict[str, float]:
    requests, demands = random_instance(9, -1.0, rng)
    best = _best(demands, NODES)
    lrf = largest_request_first(requests, demands, NODES)
    return {"FIFO": fifo(demands, NODES).makespan / best, "LRF": lrf.makespan / best}


def _initial(rng: np.random.Generator) -> dict[str, float]:
    _, demands = random_instance(6, 1.0, rng)
    start = rng.exponential(2.0, NODES)
    best = _best(demands, NODES, start)
    lrf = largest_request_first(demands, demands, NODES, initial=start)
    return {"FIFO": fifo(demands, NODES, initial=start).makespan / best,
            "LRF": lrf.makespan / best}  # fmt: skip


def _two(rng: np.random.Generator) -> dict[str, float]:
    demands = np.column_stack([random_instance(9, 1.0, rng)[1] for _ in range(2)])
    best = _best(demands, NODES)
    # FlexL orders by memory, the second resource here.
    lrf = largest_request_first(demands[:, 1], demands, NODES)
    return {"FIFO": fifo(demands, NODES).makespan / best, "LRF": lrf.makespan / best}


def _stale(rng: np.random.Generator) -> dict[str, float]:
    return _stale_ratios(*random_instance(9, 1.0, rng))


def _stale_ratios(requests: Array, demands: Array) -> dict[str, float]:
    best = _best(demands, NODES)
    order = np.argsort(-requests, kind="stable")
    return {"FIFO": fifo(demands, NODES, refresh=3).makespan / best,
            "LRF": fifo(demands[order], NODES, refresh=3).makespan / best}  # fmt: skip


def _counted(rng: np.random.Generator) -> dict[str, float]:
    requests, demands = random_instance(9, 0.5, rng)
    best = _best(demands, NODES)
    order = np.argsort(-requests, kind="stable")
    lrf = fifo(demands[order], NODES, refresh=3, requests=requests[order])
    return {"FIFO": fifo(demands, NODES, refresh=3, requests=requests).makespan / best,
            "LRF": lrf.makespan / best}  # fmt: skip
