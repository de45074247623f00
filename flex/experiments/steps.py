"""Algorithm 3 step by step, and the author's program beside ours."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from flex.data import author_run, author_tasks
from flex.experiments.runs import METHODS
from flex.rules import AUTHOR, PAPER, Rules
from flex.simulation import NODE_COLUMNS, Penalty, Result, node_names, simulate
from flex.workload import MEMORY_CAPACITY, Workload

__all__ = ["author_match", "author_node", "overflow_by_request", "penalty_paths", "six_nodes"]

SIX_TASKS = (
    # minute of arrival, job, request, demand, demand from minute 6 on (GiB)
    (0, 0, 60, 50, 50), (0, 0, 60, 50, 50), (0, 0, 60, 50, 50), (0, 1, 40, 10, 40),
    (0, 1, 40, 10, 40), (0, 2, 90, 90, 90), (1, 3, 70, 20, 70), (1, 3, 70, 20, 70),
    (2, 4, 30, 30, 30), (2, 4, 30, 30, 30), (3, 5, 50, 40, 40), (4, 6, 50, 40, 40),
    (8, 7, 30, 20, 20),
)  # fmt: skip
"""A constructed workload of thirteen tasks; every task requests 4 cores and demands 2."""
CHANGE = 6
"""Minute in which the demand of some tasks rises."""


def six_nodes(method: str = "FlexF", ticks: int = 12) -> pd.DataFrame:
    """Follow a method on thirteen constructed tasks and six nodes, for Algorithm 3 step by step.

    Parameters
    ----------
    method
        Name of a policy.
    ticks
        Number of minutes.

    Returns
    -------
    DataFrame
        ``minute``, ``node``, ``memory_request`` and ``memory_demand`` (shares of the node's
        capacity), ``tasks``, ``placed`` (numbers of the tasks bound to the node in this minute),
        ``qos`` and ``penalty`` of the minute.
    """
    rows = [
        (60 * m, job, (4000, r << 30),
         [(60 * (CHANGE - m), 2000, d << 30), (3600, 2000, later << 30)])
        for m, job, r, d, later in SIX_TASKS if m < CHANGE
    ]  # fmt: skip
    rows += [
        (60 * m, job, (4000, r << 30), [(3600, 2000, later << 30)])
        for m, job, r, _, later in SIX_TASKS if m >= CHANGE
    ]  # fmt: skip
    # Minute 0 is not recorded, so the day starts a minute later.
    arrival, job, requests, samples = zip(*rows, strict=True)
    workload = Workload.from_tasks(np.array(arrival) + 60, job, requests, samples)
    result = simulate(workload, method, 6, ticks, record_nodes=True)
    assert result.nodes is not None
    table = []
    for tick in range(ticks):
        for i, name in enumerate(node_names(6)):
            here = np.flatnonzero((result.bound == tick + 1) & (np.abs(result.node) == i))
            table.append(
                {
                    "minute": tick, "node": name,
                    "memory_request": result.nodes[tick, i, 1] / MEMORY_CAPACITY,
                    "memory_demand": result.nodes[tick, i, 3] / MEMORY_CAPACITY,
                    "tasks": int(result.nodes[tick, i, 6]),
                    "placed": ", ".join(str(t + 1) for t in here),
                    "qos": result.history["qos"][tick],
                    "penalty": result.history["penalty"][tick],
                }
            )  # fmt: skip
    return pd.DataFrame(table)


def penalty_paths(minutes: int = 130) -> pd.DataFrame:
    """Follow P under each rule of the two sources, for one course of the quality of service.

    P starts at 1.2. QoS is 1 but for three bad spells: at minute 20 it is 0.98 once; from minute
    60 it falls by 0.004 a minute for six minutes and then stays, until minute 75; at minute 100
    it is 0.98 once.

    Parameters
    ----------
    minutes
        Length of the course.

    Returns
    -------
    DataFrame
        ``rule``, ``minute``, ``qos`` and ``penalty`` after the update of the minute.
    """
    qos = np.ones(minutes)
    qos[60:66] = 0.99 - 0.004 * np.arange(1, 7)
    qos[66:75] = qos[65]
    qos[[20, 100]] = 0.98
    rules = {
        "Section 4.3, P_min = 1": replace(PAPER, start_penalty=1.2),
        "Section 4.3, P_min = 1.1": replace(PAPER, start_penalty=1.2, min_penalty=1.1),
        "Section 4.2, P_min = 1.1": replace(
            PAPER, start_penalty=1.2, min_penalty=1.1, base="minimum"
        ),
        "author's program": replace(AUTHOR, start_penalty=1.2),
    }
    rows = []
    for name, chosen in rules.items():
        penalty = Penalty(chosen)
        for minute, quality in enumerate(qos):
            penalty.update(round(100_000 * quality), 100_000)
            rows.append((name, minute, quality, float(penalty.value)))
    return pd.DataFrame(rows, columns=["rule", "minute", "qos", "penalty"])


def author_match() -> pd.DataFrame:
    """Compare every recorded number of the author's program with ours.

    Returns
    -------
    DataFrame
        ``method``, ``rules`` (the author's, or with one rule as the paper has it), ``values``
        compared (all nodes, minutes and columns, and the queue's) and ``mismatches``.
    """
    variants = {
        "author's": AUTHOR,
        "intended sharing": replace(AUTHOR, sharing="intended"),
        "P_min = 1": replace(AUTHOR, min_penalty=1.0),
    }
    rows = []
    for method in METHODS:
        recorded = author_run(method)
        for name, rules in variants.items():
            result = _repeated(method, rules)
            nodes = np.asarray(result.nodes) != recorded["node"]
            queue = result.queue.astype(np.float32) != recorded["queue"].astype(np.float32)
            wrong = int(nodes.sum() + queue.sum())
            rows.append((method, name, nodes.size + queue.size, wrong))
    return pd.DataFrame(rows, columns=["method", "rules", "values", "mismatches"])


def _repeated(method: str, rules: Rules = AUTHOR) -> Result:
    return simulate(author_tasks(), method, 10, 180, rules, record_nodes=True)


def author_node(method: str = "Oversub", node: str = "node-1") -> pd.DataFrame:
    """Return one node of the recorded run beside ours.

    Parameters
    ----------
    method, node
        Which.

    Returns
    -------
    DataFrame
        ``minute``, ``column`` (memory request, demand or allocation), ``author`` and ``ours`` as
        shares of the node's memory.
    """
    i = node_names(10).index(node)
    recorded, ours = author_run(method)["node"], np.asarray(_repeated(method).nodes)
    frames = []
    for column, title in (("req_bytes", "request"), ("demand_bytes", "demand"),
                          ("alloc_bytes", "allocation")):  # fmt: skip
        k = NODE_COLUMNS.index(column)
        frames.append(
            pd.DataFrame(
                {
                    "minute": np.arange(1, 181), "column": title,
                    "author": np.asarray(recorded[:, i, k], float) / MEMORY_CAPACITY,
                    "ours": ours[:, i, k] / MEMORY_CAPACITY,
                }
            )
        )  # fmt: skip
    return pd.concat(frames, ignore_index=True)


def overflow_by_request(total: float = 1.5, most: int = 512) -> pd.DataFrame:
    """Compute the memory guaranteed to a task on an overloaded node, as intended and overflowed.

    Parameters
    ----------
    total
        Sum of the requests of the node's tasks over its capacity.
    most
        Largest request, in MiB.

    Returns
    -------
    DataFrame
        ``request``, ``intended`` and ``overflow`` in MiB: the capacity times the request over all
        requests, exactly, and with the product wrapped at 64 bits.
    """
    request = np.arange(1, most + 1) * 2**20
    requests = int(total * MEMORY_CAPACITY)
    with np.errstate(over="ignore"):
        wrapped = np.int64(MEMORY_CAPACITY) * request
    return pd.DataFrame(
        {
            "request": request / 2**20,
            "intended": request * (MEMORY_CAPACITY / requests) / 2**20,
            "overflow": np.trunc(wrapped / requests) / 2**20,
        }
    )
