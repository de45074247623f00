"""The state of a simulated cluster: flat arrays, and the numbers of their rows.

All sums are exact integers, so no result depends on an order of summation.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["SLOT", "Cluster", "Compiled", "Now", "Queue", "Samples", "Tasks"]

Array = NDArray[Any]

SLOT = np.dtype(
    [("task", "i4"), ("node", "i4"), ("next", "i4"), ("previous", "i4"), ("start", "i4"),
     ("sample", "i4"), ("loaded", "i4"), ("last", "i4"), ("cpu", "i4"), ("memory", "i8"),
     ("cpu_request", "i8"), ("memory_request", "i8")], align=True
)  # fmt: skip
"""A running task: its node, its neighbours there, time of binding, sample and demand now."""

FIFO, SORTED, HEAP = 0, 1, 2
FREE, RUNNING, USED, ENDING, PLACED = 0, 1, 2, 3, 4
CPU_REQUEST, MEMORY_REQUEST, CPU_DEMAND, MEMORY_DEMAND, CPU_USAGE, MEMORY_USAGE = range(6)
TASKS, CPU_LOAD, MEMORY_LOAD, CPU_PEAK, MEMORY_PEAK = range(6, 11)
NONE, FINISHED = -1, -2
NEVER, ENDED = 2**31 - 1, 2**31 - 2
BLOCK = 64
"""Nodes whose best score is kept together."""
ROWS = 256
"""Jobs whose tasks per node are kept at hand."""
MOST = 2**42
"""Monitored loads above this, 32 nodes' memory, count as this, so that no product overflows."""
REFUSED = 64
"""Requests that fitted nowhere, kept for the rest of a tick."""


class Samples(NamedTuple):
    """Demand samples of the workload."""

    end: Array
    cpu: Array
    memory: Array


class Tasks(NamedTuple):
    """Arrays of the workload, and where each task is."""

    job: Array
    cpu_request: Array
    memory_request: Array
    first: Array
    last: Array
    begin: Array
    """First sample of any length, or last."""
    samples: Samples
    cpu_peak: Array
    memory_peak: Array
    priority: Array
    by_job: Array
    """Tasks in the order of their jobs."""
    job_offset: Array
    node: Array
    """Node of a running task; -1 before, -2 after."""
    bound: Array
    """Tick of binding, or -1."""


class Cluster(NamedTuple):
    """Arrays over nodes, slots and ticks."""

    capacity: Array
    """CPU and memory of a node."""
    nodes: Array
    """(11, nodes) sums over the tasks of a node; rows CPU_REQUEST to MEMORY_PEAK."""
    head: Array
    """First slot of a node."""
    slots: Array
    free: Array
    """Free slots, a stack; its height is counts[0]."""
    until: Array
    """Second at which the demand of a slot changes next."""
    counts: Array
    """Numbers of free slots, running tasks, slots ever used, tasks about to finish, and
    tasks placed in this tick."""
    placed: Array
    """Tasks placed in this tick."""
    rows: Array
    """Tasks per node of some jobs, (ROWS, nodes)."""
    row_job: Array
    sums: Array
    """(ticks, 10): sums over nodes of the first six rows, and four standard deviations."""
    scores: Array
    """Scores of the nodes for the last class of task."""
    block_best: Array


class Queue(NamedTuple):
    """Pending tasks."""

    tasks: Array
    failed: Array
    size: Array
    """One element: the number of pending tasks."""


class Compiled(NamedTuple):
    """What the kernels know of a policy."""

    queue: int
    monotone: bool
    reads_job: bool
    reads_demand: bool


class Now(NamedTuple):
    """What holds in one tick."""

    tick: int
    time: int
    first: int
    last: int
    """Tasks from first to last - 1 arrive."""
    weight: float
    percent: int
    """Penalty as a factor, and in whole percent (-1 if the rules do not cut it)."""
    fresh_weight: float
    fresh_percent: int
    """The same for tasks that have not been monitored yet."""
    monitored: int
    """Row of the nodes' table that is monitored as their load."""
    failures: int
    loaded_samples: int
    overflow: bool
