"""The simulated cluster: submit, schedule, measure and update the penalty, tick by tick."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from flex import engine, placement, state
from flex.checks import option, switch, whole
from flex.compiling import compiled_part
from flex.rules import AUTHOR, NAMED_RULES, Rules
from flex.schedulers import Policy
from flex.schedulers import policy as policy_named
from flex.workload import CPU_CAPACITY, LONGEST, MEMORY_CAPACITY, Workload

__all__ = ["NODE_COLUMNS", "QUEUE_COLUMNS", "Penalty", "Result", "node_names", "simulate"]

NODE_COLUMNS = ("req_mcpu", "req_bytes", "demand_mcpu", "demand_bytes", "alloc_mcpu",
                "alloc_bytes", "running")  # fmt: skip
"""Columns of `Result.nodes`, as in the recorded outputs of the author's program."""
QUEUE_COLUMNS = ("qos", "P", "pending", "satisfied", "pods")
"""Columns of `Result.queue`."""

LARGE = 10_000.0
"""Penalties above this are applied as this; the loads of all but empty nodes exceed them."""

SUMS = [f"{resource}_{sums}" for sums in ("request", "demand", "usage")
        for resource in ("cpu", "memory")]  # fmt: skip


def node_names(n: int) -> list[str]:
    """Return the names of n nodes in the order of the simulator: sorted as strings."""
    return sorted(f"node-{i}" for i in range(1, n + 1))


@dataclass
class Penalty:
    """The estimation penalty P and its update (Algorithm 3, PeriodicEstimationPenaltyUpdate).

    Parameters
    ----------
    rules
        Rules of the update.
    """

    rules: Rules

    def __post_init__(self) -> None:
        self._real = np.float32 if self.rules.single_precision else np.float64
        self.value = self._real(self.rules.start_penalty)
        top = float(np.finfo(self._real).max) / (2 + self.rules.beta)
        self._cap = self._real(min(self.rules.max_penalty, top))
        self._last_qos = self._real(1)
        self._good = False

    def update(self, satisfied: int, running: int) -> float:
        """Update P by the quality of service of a tick, which is returned.

        Parameters
        ----------
        satisfied, running
            Numbers of tasks; QoS is their ratio, and 1 if nothing runs.
        """
        rules, real = self.rules, self._real
        qos = real(satisfied) / real(running) if running else real(1)
        target = real(rules.target)
        if qos < target:
            if self._must_rise(qos, target):
                base = real(1 if rules.base == "one" else rules.min_penalty)
                value = self.value + real(rules.beta) * (self.value - base)
                self.value = min(value, self._cap)
                self._good = False
        elif qos > target:
            self.value = max(real(rules.alpha) * self.value, real(rules.min_penalty))
            self._good = True
        self._last_qos = qos
        return float(qos)

    def _must_rise(self, qos: Any, target: Any) -> bool:  # noqa: ANN401
        if self.rules.raise_when == "always":
            return True
        if self.rules.raise_when == "falling":
            return bool(qos < self._last_qos)
        return self._good or bool(qos < target * self._last_qos)


@dataclass(frozen=True, eq=False)
class Result:
    """What happened on the cluster, tick by tick.

    Parameters
    ----------
    history : one row a tick
        ``time_s``, ``qos``, ``penalty`` (before the update of the tick), ``submitted``,
        ``pending``, ``running``, ``satisfied``, ``finished`` (tasks), and for ``cpu`` and
        ``memory`` the cluster's ``_request``, ``_demand`` and ``_usage`` as a share of its
        capacity, and the standard deviation over nodes of demand and usage as a share of a
        node's capacity (``_demand_std``, ``_usage_std``).
    node : (tasks,)
        Node of a running task, -1 if it waits, -2 if it finished.
    bound : (tasks,) ticks
        Tick of binding, -1 if there was none.
    nodes : (ticks, nodes, 7), optional
        The columns `NODE_COLUMNS` of every node.
    """

    history: pd.DataFrame
    node: NDArray[np.int32]
    bound: NDArray[np.int32]
    nodes: NDArray[np.int64] | None = None

    @cached_property
    def queue(self) -> NDArray[np.float64]:
        """The columns `QUEUE_COLUMNS`, (ticks, 5)."""
        columns = ["qos", "penalty", "pending", "satisfied", "running"]
        return self.history[columns].to_numpy(np.float64)


def simulate(
    workload: Workload,
    policy: str | Policy,
    nodes: int = 4000,
    ticks: int = 1440,
    rules: str | Rules = AUTHOR,
    *,
    tick_s: int = 60,
    record_nodes: bool = False,
    on_tick: Callable[[int], object] | None = None,
) -> Result:
    """Simulate a cluster of equal nodes of 64 cores and 128 GiB.

    A tick at time 0 comes first and is not recorded, as in the author's program; recorded are
    the ticks at tick_s, 2 * tick_s, ..., ticks * tick_s.

    Parameters
    ----------
    workload
        Tasks in the order of submission.
    policy
        Name of a built-in policy, or a `Policy`.
    nodes, ticks
        Numbers of nodes and of recorded ticks.
    rules
        "author", "paper", or `Rules`.
    tick_s
        Seconds between two ticks: also the periods of monitoring and of the penalty's update.
    record_nodes
        Whether to keep every node's state at every tick (56 bytes each).
    on_tick
        Called with the number of each tick when it is done, for a progress bar.

    Raises
    ------
    ValueError
        If there is no such policy or set of rules, a policy cannot be compiled, a number is not
        whole or below 1, or the last tick is after LONGEST seconds (31 years).
    WorkloadError
        If a task is larger than a node.

    References
    ----------
    Le and Liu, arXiv 2006.01354, Section 4.3 and 5.
    """
    if not isinstance(workload, Workload):
        raise ValueError(f"workload must be a Workload; got {type(workload).__name__}")
    nodes, ticks = whole("nodes", nodes, 1), whole("ticks", ticks, 1)
    tick_s = whole("tick_s", tick_s, 1)
    if ticks * tick_s > LONGEST:
        raise ValueError(f"ticks times tick_s must be at most {LONGEST} s; got {ticks * tick_s}")
    workload.require_fits()
    return _Run(workload, policy_named(policy), nodes, ticks, _rules(rules), tick_s).run(
        switch("record_nodes", record_nodes), on_tick
    )


def _rules(which: str | Rules) -> Rules:
    if isinstance(which, Rules):
        return which
    return NAMED_RULES[option("rules", which, list(NAMED_RULES))]


class _Run:
    """The state of one simulation."""

    def __init__(
        self, workload: Workload, policy: Policy, nodes: int, ticks: int, rules: Rules, tick_s: int
    ) -> None:
        self.rules, self.ticks, self.tick_s = rules, ticks, tick_s
        ordered = {"heap": state.HEAP, "stable": state.SORTED}[rules.queue]
        self.policy = state.Compiled(
            state.FIFO if policy.priority is None else ordered,
            policy.monotone,
            policy.reads(["same_job"]),
            policy.reads(["cpu_demand", "memory_demand", "cpu_peak", "memory_peak"]),
        )
        self.tasks = _tasks(workload, policy)
        self.cluster = _cluster(nodes, len(workload), ticks)
        n = len(workload)
        self.queue = state.Queue(np.empty(n, np.int64), np.empty(n, np.int64), np.zeros(1, int))
        # Tasks that arrive between two ticks are submitted at the later one.
        clock = np.arange(ticks + 1) * tick_s
        self.submitted = np.searchsorted(workload.arrival, clock, side="right")
        self.scan = engine.compiled(policy, self.cluster, self.tasks, self.queue)
        self.penalty = Penalty(rules)
        self.loaded_samples = rules.loaded_samples or len(workload.sample_end)

    def run(self, record_nodes: bool, on_tick: Callable[[int], object] | None) -> Result:
        """Run all ticks."""
        c, rows = self.cluster, []
        nodes = np.empty((self.ticks, len(c.head), 7), np.int64) if record_nodes else None
        for tick in range(self.ticks + 1):
            rows.append(self._tick(tick))
            if tick and nodes is not None:
                nodes[tick - 1] = c.nodes[: len(NODE_COLUMNS)].T
            if on_tick is not None:
                on_tick(tick)
        return Result(self._history(rows), self.tasks.node, self.tasks.bound, nodes)

    def _tick(self, tick: int) -> tuple[float, ...]:
        c, penalty = self.cluster, float(self.penalty.value)
        satisfied = engine.tick(c, self.tasks, self.queue, self.scan, self.policy, self._now(tick))
        running, pending = int(c.counts[state.RUNNING]), int(self.queue.size[0])
        qos = self.penalty.update(satisfied, running)
        return qos, penalty, int(self.submitted[tick]), pending, running, satisfied

    def _now(self, tick: int) -> state.Now:
        rules, penalised = self.rules, self._weights()
        fresh = {"request": (1.0, -1), "nothing": (0.0, -1), "penalised": penalised}[rules.fresh]
        return state.Now(
            tick, tick * self.tick_s, self.submitted[tick - 1] if tick else 0,
            self.submitted[tick], *penalised, *fresh,
            state.CPU_DEMAND if rules.load == "demand" else state.CPU_USAGE,
            len(self.queue.tasks) if rules.failures is None else rules.failures,
            self.loaded_samples, rules.sharing == "overflow",
        )  # fmt: skip

    def _weights(self) -> tuple[float, int]:
        """Return the penalty as a factor, and in whole percent (-1 if the rules do not cut it)."""
        value = min(self.penalty.value, type(self.penalty.value)(LARGE))
        percent = int(np.floor(type(value)(100) * value)) if self.rules.penalty_in_percent else -1
        return float(value), percent

    def _history(self, rows: list[tuple[float, ...]]) -> pd.DataFrame:
        columns = ["qos", "penalty", "submitted", "pending", "running", "satisfied"]
        history = pd.DataFrame(rows, columns=columns)
        history.insert(0, "time_s", np.arange(len(rows)) * self.tick_s)
        left = history["submitted"] - history["pending"] - history["running"]
        history.insert(6, "finished", left)
        c = self.cluster
        for k, name in enumerate(SUMS):
            history[name] = c.sums[:, k] / (len(c.head) * c.capacity[k % 2])
        for k, name in enumerate(SUMS[2:], start=len(SUMS)):
            history[f"{name}_std"] = c.sums[:, k] / c.capacity[k % 2]
        return history.iloc[1:].reset_index(drop=True)


def _writable(array: NDArray[Any]) -> NDArray[Any]:
    """Return the array, or a copy if it may not be written: the kernels have one signature."""
    return np.require(array, requirements=["C", "W"])


def _tasks(workload: Workload, policy: Policy) -> state.Tasks:
    first, last = workload.offset[workload.series], workload.offset[workload.series + 1]
    starts = workload.offset[:-1]
    cpu_peak = np.maximum.reduceat(workload.cpu_demand, starts).astype(np.int64)
    memory_peak = np.maximum.reduceat(workload.memory_demand, starts)
    jobs, job = np.unique(workload.job, return_inverse=True)
    by_job = np.argsort(job, kind="stable")
    n = len(workload)
    timed = np.add.reduceat(workload.sample_end <= 0, starts)
    begin = first + timed[workload.series]
    samples = state.Samples(
        *map(_writable, (workload.sample_end, workload.cpu_demand, workload.memory_demand))
    )
    tasks = state.Tasks(
        _writable(job), _writable(workload.cpu_request), _writable(workload.memory_request),
        first, last, begin, samples, cpu_peak[workload.series], memory_peak[workload.series],
        np.zeros(n, np.int64), by_job, np.searchsorted(job[by_job], np.arange(len(jobs) + 1)),
        np.full(n, -1, np.int32), np.full(n, -1, np.int32),
    )  # fmt: skip
    if policy.priority is not None:
        placement.rank(compiled_part(policy, "priority"), tasks)
    return tasks


def _cluster(nodes: int, n_tasks: int, ticks: int) -> state.Cluster:
    blocks = -(-nodes // state.BLOCK)
    return state.Cluster(
        np.array([CPU_CAPACITY, MEMORY_CAPACITY], np.int64), np.zeros((11, nodes), np.int64),
        np.full(nodes, -1, np.int32), np.empty(n_tasks, state.SLOT),
        np.arange(n_tasks - 1, -1, -1, dtype=np.int32), np.full(n_tasks, state.NEVER, np.int32),
        np.array([n_tasks, 0, 0, 0, 0], np.int64), np.empty(n_tasks, np.int32),
        np.zeros((state.ROWS, nodes), np.int32), np.full(state.ROWS, -1, np.int64),
        np.empty((ticks + 1, 10)), np.empty(nodes), np.empty(blocks),
    )  # fmt: skip
