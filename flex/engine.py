"""Compiled kernels of a tick: demand over time, binding, and the tick as a whole.

A running task has a slot of one cache line; the slots of a node are linked.
"""

# Numba infers the types of the kernels; annotations are for readers.
# mypy: disable-error-code="arg-type, assignment, no-any-return, return-value"
# mypy: disable-error-code="untyped-decorator, call-arg, no-untyped-call"

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numba as nb
import numpy as np
from numba import njit

from flex.placement import estimate, scan_of, schedule, submit
from flex.schedulers import Policy, Task
from flex.sharing import measure
from flex.state import (
    CPU_DEMAND,
    CPU_LOAD,
    CPU_PEAK,
    CPU_REQUEST,
    ENDED,
    ENDING,
    FIFO,
    FINISHED,
    FREE,
    MEMORY_DEMAND,
    MEMORY_PEAK,
    MEMORY_REQUEST,
    MOST,
    NEVER,
    NONE,
    PLACED,
    ROWS,
    RUNNING,
    TASKS,
    USED,
    Cluster,
    Compiled,
    Now,
    Queue,
    Tasks,
)

__all__ = ["compiled", "tick"]


def compiled(policy: Policy, c: Cluster, tasks: Tasks, queue: Queue) -> Any:  # noqa: ANN401
    """Return the compiled scan of a policy: it scores nodes lo to hi - 1 for one task.

    The scheduler is compiled once for all policies, and calls the scan by its address.
    """
    task = nb.typeof(Task(*range(len(Task._fields))))
    scan = nb.void(nb.typeof(c), nb.typeof(c.rows[0]), task, nb.int64, nb.int64)
    if not tick.signatures:
        facts = Compiled(FIFO, True, True, True), Now(0, 0, 0, 0, 1.0, -1, 1.0, -1, 0, 0, 1, True)
        types = [nb.typeof(x) for x in (c, tasks, queue, *facts)]
        tick.compile((*types[:3], nb.types.FunctionType(scan), *types[3:]))
        tick.disable_compile()
    return scan_of(policy, scan)


@njit
def _bind(c: Cluster, tasks: Tasks, now: Now) -> None:
    """Give the tasks that were placed in this tick a slot, linked to their node."""
    slots, free, until, head, placed = c.slots, c.free, c.until, c.head, c.placed
    nodes, begins, first, last = tasks.node, tasks.begin, tasks.first, tasks.last
    cpu_request, memory_request = tasks.cpu_request, tasks.memory_request
    end, cpus, memories = tasks.samples
    height, used = c.counts[FREE], c.counts[USED]
    for k in range(c.counts[PLACED]):
        j, height = placed[k], height - 1
        s, node, sample = free[height], nodes[j], begins[j]
        slot, used = slots[s], max(used, s + 1)
        slot.task, slot.node, slot.start, slot.last = j, node, now.time, last[j]
        slot.cpu_request, slot.memory_request = cpu_request[j], memory_request[j]
        slot.previous, slot.next = NONE, head[node]
        if slot.next != NONE:
            slots[slot.next].previous = s
        head[node] = s
        slot.loaded = min(first[j] + now.loaded_samples, slot.last)
        if sample >= slot.loaded:
            slot.cpu, slot.memory, until[s] = 0, 0, ENDED
            c.counts[ENDING] += 1
            continue
        if sample == slot.loaded - 1:
            slot.loaded = min(slot.loaded + now.loaded_samples, slot.last)
        slot.sample, slot.cpu, slot.memory = sample, cpus[sample], memories[sample]
        until[s] = now.time + end[sample]
    c.counts[RUNNING] += c.counts[PLACED]
    c.counts[FREE], c.counts[USED], c.counts[PLACED] = height, used, 0
    _finish_ended(c, tasks)


@njit
def _finish(c: Cluster, tasks: Tasks, s: int) -> None:
    """Take a finished task from its node and free its slot."""
    slot, nodes = c.slots[s], c.nodes
    j, node, job = slot.task, slot.node, tasks.job[slot.task]
    if slot.previous == NONE:
        c.head[node] = slot.next
    else:
        c.slots[slot.previous].next = slot.next
    if slot.next != NONE:
        c.slots[slot.next].previous = slot.previous
    nodes[CPU_REQUEST, node] -= slot.cpu_request
    nodes[MEMORY_REQUEST, node] -= slot.memory_request
    nodes[CPU_DEMAND, node] -= slot.cpu
    nodes[MEMORY_DEMAND, node] -= slot.memory
    nodes[CPU_PEAK, node] -= tasks.cpu_peak[j]
    nodes[MEMORY_PEAK, node] -= tasks.memory_peak[j]
    nodes[TASKS, node] -= 1
    if c.row_job[job % ROWS] == job:
        c.rows[job % ROWS, node] -= 1
    tasks.node[j], c.until[s], c.free[c.counts[FREE]] = FINISHED, NEVER, s
    c.counts[FREE] += 1
    c.counts[RUNNING] -= 1


@njit
def _finish_ended(c: Cluster, tasks: Tasks) -> None:
    """Finish the tasks that have ended, and those of no length that were just bound."""
    if c.counts[ENDING]:
        for s in range(c.counts[USED]):
            if c.until[s] == ENDED:
                _finish(c, tasks, s)
        c.counts[ENDING] = 0


@njit
def _advance(c: Cluster, tasks: Tasks, now: Now) -> None:
    """Bring the demand of all tasks whose sample ended up to date."""
    # Arrays are taken out of the tuples before the loop, and nothing is called in it: either
    # would cost more than the update of a task.
    slots, until, nodes = c.slots, c.until, c.nodes
    end, cpus, memories = tasks.samples
    for s in range(c.counts[USED]):
        if until[s] > now.time:
            continue
        slot = slots[s]
        sample, elapsed = slot.sample, now.time - slot.start
        while sample < slot.loaded and end[sample] <= elapsed:
            sample += 1
        if sample == slot.loaded:
            until[s] = ENDED
            c.counts[ENDING] += 1
            continue
        if sample == slot.loaded - 1:
            slot.loaded = min(slot.loaded + now.loaded_samples, slot.last)
        nodes[CPU_DEMAND, slot.node] += cpus[sample] - slot.cpu
        nodes[MEMORY_DEMAND, slot.node] += memories[sample] - slot.memory
        slot.cpu, slot.memory, slot.sample = cpus[sample], memories[sample], sample
        until[s] = slot.start + end[sample]
    _finish_ended(c, tasks)


@njit
def _monitor(c: Cluster, now: Now) -> None:
    """Set the estimated loads: what was monitored at the last tick, times the penalty."""
    nodes = c.nodes
    for r in range(2):
        for i in range(len(c.head)):
            monitored = min(nodes[now.monitored + r, i], MOST)
            nodes[CPU_LOAD + r, i] = estimate(monitored, now.weight, now.percent)


@njit
def _total(c: Cluster, now: Now) -> None:
    """Record the sums over nodes, and standard deviations of demand and usage."""
    nodes, sums, n = c.nodes, c.sums, len(c.head)
    for k in range(TASKS):
        total = np.int64(0)
        for i in range(n):
            total += nodes[k, i]
        sums[now.tick, k] = total
        if k >= CPU_DEMAND:
            squares = 0.0
            for i in range(n):
                squares += (nodes[k, i] - total / n) ** 2
            sums[now.tick, TASKS + k - CPU_DEMAND] = np.sqrt(squares / n)


def _sources() -> str:
    """Return a digest of the kernels' source files."""
    folder = Path(__file__).parent
    names = ("state", "schedulers", "compiling", "placement", "sharing", "engine")
    code = b"".join((folder / f"{name}.py").read_bytes() for name in names)
    return hashlib.sha256(code).hexdigest()


def _define_tick(sources: str) -> Any:  # noqa: ANN401  (a function of Numba)
    """Compile the tick; Numba keeps it on disk by its closure, which is the digest of all kernels.

    Numba by itself notices changes of this file alone.
    """

    @njit(cache=True)
    def tick(
        c: Cluster,
        tasks: Tasks,
        queue: Queue,
        scan: Any,  # noqa: ANN401
        policy: Compiled,
        now: Now,
    ) -> int:
        submit(queue, tasks.priority, policy.queue, now.first, now.last)
        _monitor(c, now)
        _advance(c, tasks, now)
        schedule(c, tasks, queue, scan, policy, now)
        _bind(c, tasks, now)
        satisfied = measure(c, now.overflow)
        _total(c, now)
        return satisfied if sources else 0

    return tick


tick = _define_tick(_sources())
"""Run one tick: submit, schedule, bind, measure; returns the number of satisfied tasks."""
