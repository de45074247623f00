"""Compiled kernels of the simulator: submission, scheduling, demand, throttling.

The state is a set of flat arrays. A running task has a slot of one cache line; slots of one node
are linked, and so are those whose demand changes in one tick. All sums are exact integers, so no
result depends on an order of summation.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numba as nb
import numpy as np
from numba import njit
from numpy.typing import NDArray

from flex.schedulers import Node, Policy, Task

__all__ = [
    "FIFO",
    "HEAP",
    "SLOT",
    "SORTED",
    "Cluster",
    "Compiled",
    "Now",
    "Queue",
    "Tasks",
    "advance",
    "compiled",
    "estimate",
    "measure",
    "schedule",
    "submit",
]

Array = NDArray[Any]

SLOT = np.dtype(
    [("task", "i4"), ("node", "i4"), ("next", "i4"), ("previous", "i4"), ("due", "i4"),
     ("tick", "i4"), ("sample", "i8"), ("cpu", "i8"), ("memory", "i8"), ("cpu_request", "i8"),
     ("memory_request", "i8")], align=True
)  # fmt: skip
"""A running task: 64 bytes."""

FIFO, SORTED, HEAP = 0, 1, 2
FREE, RUNNING = 0, 1
NONE, FINISHED = -1, -2
BLOCK = 64
"""Nodes whose best score is kept together."""
ROWS = 256
"""Jobs whose tasks per node are kept at hand."""
REFUSED = 64
"""Requests that fitted nowhere, kept for the rest of a tick."""


class Tasks(NamedTuple):
    """Arrays of the workload, and where each task is."""

    job: Array
    cpu_request: Array
    memory_request: Array
    first: Array
    last: Array
    sample_end: Array
    cpu_demand: Array
    memory_demand: Array
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
    request: Array
    """(2, nodes) sums of requests; so are demand, load, peak and usage."""
    demand: Array
    load: Array
    peak: Array
    usage: Array
    tasks: Array
    head: Array
    """First slot of a node."""
    slots: Array
    free: Array
    """Free slots, a stack; its height is counts[0]."""
    due: Array
    """First slot whose demand changes in a tick."""
    counts: Array
    """Height of the stack of free slots, and number of running tasks."""
    rows: Array
    """Tasks per node of some jobs, (ROWS, nodes)."""
    row_job: Array
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
    tick_s: int
    failures: int
    fresh_weight: float
    fresh_percent: int


@njit(cache=True)  # type: ignore[untyped-decorator]
def submit(queue: Queue, priority: Array, kind: int, first: int, last: int) -> None:
    """Put tasks first to last - 1 into the queue."""
    size = queue.size[0]
    for task in range(first, last):
        if kind == HEAP:
            _push(queue.tasks, size, task, priority)
        else:
            queue.tasks[size] = task
        size += 1
    if kind == SORTED and last > first:
        _merge(queue, priority, size, first, last)
    queue.size[0] = size


@njit(cache=True)  # type: ignore[untyped-decorator]
def _merge(queue: Queue, priority: Array, size: int, first: int, last: int) -> None:
    """Merge new tasks, sorted by falling priority, into the sorted queue from its back."""
    new = first + np.argsort(-priority[first:last], kind="mergesort")
    i, j = size - (last - first) - 1, len(new) - 1
    for k in range(size - 1, -1, -1):
        if j < 0:
            break
        if i >= 0 and priority[queue.tasks[i]] < priority[new[j]]:
            queue.tasks[k] = queue.tasks[i]
            i -= 1
        else:
            queue.tasks[k] = new[j]
            j -= 1


@njit(cache=True)  # type: ignore[untyped-decorator]
def _push(heap: Array, size: int, task: int, priority: Array) -> None:
    """Push as Go's container/heap does: append and sift up."""
    j = size
    heap[j] = task
    while j > 0:
        i = (j - 1) // 2
        if i == j or priority[heap[j]] <= priority[heap[i]]:
            break
        heap[i], heap[j] = heap[j], heap[i]
        j = i


@njit(cache=True)  # type: ignore[untyped-decorator]
def _pop(heap: Array, size: int, priority: Array) -> int:
    """Pop as Go's container/heap does: swap the ends and sift down."""
    n = size - 1
    heap[0], heap[n] = heap[n], heap[0]
    i = 0
    while 2 * i + 1 < n:
        j = 2 * i + 1
        if j + 1 < n and priority[heap[j + 1]] > priority[heap[j]]:
            j += 1
        if priority[heap[j]] <= priority[heap[i]]:
            break
        heap[i], heap[j] = heap[j], heap[i]
        i = j
    return heap[n]  # type: ignore[no-any-return]


@lru_cache(maxsize=64)
def _compiled(policy: Policy, signature: Any) -> Any:  # noqa: ANN401  (types of Numba)
    fits, score = _jit(policy.fits), _jit(policy.score)

    def scan(c: Cluster, same: Array, task: Task, lo: int, hi: int) -> None:
        cpu, memory = c.capacity[0], c.capacity[1]
        for i in range(lo, hi):
            node = Node(
                i, cpu, memory, c.request[0, i], c.request[1, i], c.load[0, i], c.load[1, i],
                c.demand[0, i], c.demand[1, i], c.peak[0, i], c.peak[1, i], c.tasks[i], same[i],
            )  # fmt: skip
            value = float(score(node, task))
            c.scores[i] = value if fits(node, task) and value == value else -np.inf

    return njit(signature)(scan)


def compiled(policy: Policy, c: Cluster, tasks: Tasks, queue: Queue) -> Any:  # noqa: ANN401
    """Return the compiled scan of a policy: it scores nodes lo to hi - 1 for one task.

    The scheduler is compiled once for all policies, and calls the scan by its address.
    """
    task = nb.typeof(Task(*range(len(Task._fields))))
    scan = nb.void(nb.typeof(c), nb.typeof(c.rows[0]), task, nb.int64, nb.int64)
    if not schedule.signatures:
        facts = Compiled(FIFO, True, True, True), Now(0, 1, 0, 1.0, -1)
        types = [nb.typeof(x) for x in (c, tasks, queue, *facts)]
        schedule.compile((*types[:3], nb.types.FunctionType(scan), *types[3:]))
        schedule.disable_compile()
    return _compiled(policy, scan)


def _jit(function: Callable[..., object]) -> Any:  # noqa: ANN401
    return function if hasattr(function, "py_func") else njit(function)


@njit(cache=True)  # type: ignore[untyped-decorator]
def _same_job(c: Cluster, tasks: Tasks, job: int) -> Array:
    """Return the number of running tasks of a job on every node."""
    row = job % ROWS
    counts = c.rows[row]
    if c.row_job[row] != job:
        counts[:] = 0
        for k in range(tasks.job_offset[job], tasks.job_offset[job + 1]):
            node = tasks.node[tasks.by_job[k]]
            if node >= 0:
                counts[node] += 1
        c.row_job[row] = job
    return counts


@njit(cache=True)  # type: ignore[untyped-decorator]
def _block(c: Cluster, b: int) -> None:
    """Find the best score of a block of nodes."""
    best = -np.inf
    for i in range(b * BLOCK, min((b + 1) * BLOCK, len(c.scores))):
        best = max(best, c.scores[i])
    c.block_best[b] = best


@njit(cache=True)  # type: ignore[untyped-decorator]
def _best(c: Cluster) -> int:
    """Return the last node with the best score, or NONE."""
    best, block = -np.inf, NONE
    for b in range(len(c.block_best)):
        if c.block_best[b] > -np.inf and c.block_best[b] >= best:
            best, block = c.block_best[b], b
    if block == NONE:
        return NONE
    i = min((block + 1) * BLOCK, len(c.scores)) - 1
    while c.scores[i] != best:
        i -= 1
    return i


@njit(cache=True)  # type: ignore[untyped-decorator]
def estimate(value: int, weight: float, percent: int) -> int:
    """Return a load times the penalty: in whole percent if that is at least 0, else times weight."""
    return value * percent // 100 if percent >= 0 else np.int64(weight * value)


@njit(cache=True)  # type: ignore[untyped-decorator]
def _bind(c: Cluster, tasks: Tasks, task: int, node: int, now: Now) -> None:
    """Put a task on a node."""
    c.counts[FREE] -= 1
    s = c.free[c.counts[FREE]]
    slot = c.slots[s]
    slot.task, slot.node, slot.tick, slot.sample = task, node, now.tick, tasks.first[task]
    slot.cpu, slot.memory = 0, 0
    slot.cpu_request, slot.memory_request = tasks.cpu_request[task], tasks.memory_request[task]
    slot.previous, slot.next = NONE, c.head[node]
    if slot.next != NONE:
        c.slots[slot.next].previous = s
    c.head[node] = s
    _count(c, tasks, slot, 1)
    c.load[0, node] += estimate(slot.cpu_request, now.fresh_weight, now.fresh_percent)
    c.load[1, node] += estimate(slot.memory_request, now.fresh_weight, now.fresh_percent)
    tasks.node[task], tasks.bound[task] = node, now.tick
    _follow(c, tasks, s, 0, now)


@njit(cache=True)  # type: ignore[untyped-decorator]
def _count(c: Cluster, tasks: Tasks, slot: Any, sign: int) -> None:  # noqa: ANN401
    """Add a task to the sums of its node, or take it away."""
    node = slot.node
    c.counts[RUNNING] += sign
    c.tasks[node] += sign
    c.request[0, node] += sign * slot.cpu_request
    c.request[1, node] += sign * slot.memory_request
    c.peak[0, node] += sign * tasks.cpu_peak[slot.task]
    c.peak[1, node] += sign * tasks.memory_peak[slot.task]
    job = tasks.job[slot.task]
    if c.row_job[job % ROWS] == job:
        c.rows[job % ROWS, node] += sign


@njit(cache=True)  # type: ignore[untyped-decorator]
def _follow(c: Cluster, tasks: Tasks, s: int, elapsed: int, now: Now) -> None:
    """Bring the demand of a slot up to date, or finish its task."""
    slot = c.slots[s]
    sample, last = slot.sample, tasks.last[slot.task]
    while sample < last and tasks.sample_end[sample] <= elapsed:
        sample += 1
    cpu, memory = np.int64(0), np.int64(0)
    if sample < last:
        cpu, memory = np.int64(tasks.cpu_demand[sample]), tasks.memory_demand[sample]
    c.demand[0, slot.node] += cpu - slot.cpu
    c.demand[1, slot.node] += memory - slot.memory
    slot.cpu, slot.memory, slot.sample = cpu, memory, sample
    if sample == last:
        _finish(c, tasks, s)
        return
    tick = slot.tick + (tasks.sample_end[sample] + now.tick_s - 1) // now.tick_s
    if tick < len(c.due):
        slot.due = c.due[tick]
        c.due[tick] = s


@njit(cache=True)  # type: ignore[untyped-decorator]
def _finish(c: Cluster, tasks: Tasks, s: int) -> None:
    """Take a finished task from its node and free its slot."""
    slot = c.slots[s]
    if slot.previous == NONE:
        c.head[slot.node] = slot.next
    else:
        c.slots[slot.previous].next = slot.next
    if slot.next != NONE:
        c.slots[slot.next].previous = slot.previous
    _count(c, tasks, slot, -1)
    tasks.node[slot.task] = FINISHED
    c.free[c.counts[FREE]] = s
    c.counts[FREE] += 1


@njit(cache=True)  # type: ignore[untyped-decorator]
def advance(c: Cluster, tasks: Tasks, now: Now) -> None:
    """Bring the demand of all tasks whose sample ended up to date."""
    s = c.due[now.tick]
    while s != NONE:
        following = c.slots[s].due
        _follow(c, tasks, s, (now.tick - c.slots[s].tick) * now.tick_s, now)
        s = following


@njit(cache=True)  # type: ignore[untyped-decorator]
def _same_class(tasks: Tasks, a: int, b: int, policy: Compiled) -> bool:
    """Whether a policy cannot tell two tasks apart."""
    same = tasks.cpu_request[a] == tasks.cpu_request[b]
    same = same and tasks.memory_request[a] == tasks.memory_request[b]
    if policy.reads_job:
        same = same and tasks.job[a] == tasks.job[b]
    if policy.reads_demand:
        same = same and tasks.cpu_peak[a] == tasks.cpu_peak[b]
        same = same and tasks.memory_peak[a] == tasks.memory_peak[b]
        same = same and tasks.cpu_demand[tasks.first[a]] == tasks.cpu_demand[tasks.first[b]]
        same = same and tasks.memory_demand[tasks.first[a]] == tasks.memory_demand[tasks.first[b]]
    return same  # type: ignore[no-any-return]


@njit(cache=True)  # type: ignore[untyped-decorator]
def _task(tasks: Tasks, j: int) -> Task:
    """Return what a policy sees of a task."""
    k = tasks.first[j]
    return Task(
        tasks.cpu_request[j], tasks.memory_request[j], np.int64(tasks.cpu_demand[k]),
        tasks.memory_demand[k], tasks.cpu_peak[j], tasks.memory_peak[j],
    )  # fmt: skip


@njit(cache=True)  # type: ignore[untyped-decorator]
def _hopeless(refused: Array, n: int, cpu: int, memory: int) -> bool:
    """Whether a request that fitted nowhere in this tick was no larger."""
    for k in range(n):
        if refused[k, 0] <= cpu and refused[k, 1] <= memory:
            return True
    return False


@njit(cache=True)  # type: ignore[untyped-decorator]
def schedule(
    c: Cluster, tasks: Tasks, queue: Queue, scan: Any, policy: Compiled, now: Now  # noqa: ANN401
) -> None:
    """Try the pending tasks in their order; bind each to its best node."""
    size = left = queue.size[0]
    failed, known, previous = 0, 0, NONE
    same = c.rows[0]
    refused = np.empty((REFUSED, 2), np.int64)
    while left and failed <= now.failures:
        if policy.queue == HEAP:
            j = _pop(queue.tasks, left, tasks.priority)
        else:
            j = queue.tasks[size - left]
        left -= 1
        cpu, memory = tasks.cpu_request[j], tasks.memory_request[j]
        node = NONE
        if not (policy.monotone and _hopeless(refused, known, cpu, memory)):
            task = _task(tasks, j)
            if previous == NONE or not _same_class(tasks, previous, j, policy):
                same = _same_job(c, tasks, tasks.job[j])
                scan(c, same, task, 0, len(c.tasks))
                for b in range(len(c.block_best)):
                    _block(c, b)
                previous = j
            node = _best(c)
            if node != NONE:
                _bind(c, tasks, j, node, now)
                scan(c, same, task, node, node + 1)
                _block(c, node // BLOCK)
            elif policy.monotone and known < REFUSED:
                refused[known, 0], refused[known, 1] = cpu, memory
                known += 1
        if node == NONE:
            queue.failed[failed] = j
            failed += 1
    _requeue(queue, tasks.priority, policy.queue, left, failed)


@njit(cache=True)  # type: ignore[untyped-decorator]
def _requeue(queue: Queue, priority: Array, kind: int, left: int, failed: int) -> None:
    """Put failed tasks back: behind the rest (first in, first out), or where they belong."""
    size = queue.size[0]
    if kind == HEAP:
        for k in range(failed):
            _push(queue.tasks, left + k, queue.failed[k], priority)
    elif kind == FIFO:
        queue.tasks[:left] = queue.tasks[size - left : size].copy()
        queue.tasks[left : left + failed] = queue.failed[:failed]
    else:
        queue.tasks[failed : failed + left] = queue.tasks[size - left : size].copy()
        queue.tasks[:failed] = queue.failed[:failed]
    queue.size[0] = left + failed


@njit(cache=True)  # type: ignore[untyped-decorator]
def _guarantee(capacity: int, request: int, requests: int, overflow: bool) -> int:
    """Return capacity * request / requests, cut toward zero; exact, or wrapped at 64 bits."""
    product = capacity * request
    if overflow:
        quotient = product // requests
        return quotient + 1 if product < 0 and quotient * requests != product else quotient
    # The true product may wrap, but its distance from a good guess times the divisor is exact.
    quotient = np.int64(float(capacity) * float(request) / float(requests))
    rest = product - quotient * requests
    while rest < 0:
        quotient, rest = quotient - 1, rest + requests
    while rest >= requests:
        quotient, rest = quotient + 1, rest - requests
    return quotient  # type: ignore[no-any-return]


@njit(cache=True)  # type: ignore[untyped-decorator]
def _share(demand: Array, request: Array, capacity: int, memory: bool, overflow: bool) -> Array:
    """Return the allocation of the tasks of one node in one resource."""
    total, requests = demand.sum(), request.sum()
    if total <= capacity:
        return demand.copy()
    given = np.zeros_like(demand)
    for j in range(len(demand)):
        if requests > 0:
            part = _guarantee(capacity, request[j], requests, overflow and memory)
            given[j] = min(demand[j], request[j], part)
    left, wanted = capacity - given.sum(), total - given.sum()
    if left > 0 and wanted > 0:
        for j in range(len(demand)):
            unmet = max(demand[j] - given[j], 0)
            if overflow and memory:
                part = np.int64(float(left) * float(unmet) / float(wanted))
            else:
                part = _guarantee(left, unmet, wanted, False)
            given[j] += min(unmet, part)
    return given


@njit(cache=True)  # type: ignore[untyped-decorator]
def _throttle(c: Cluster, node: int, overflow: bool) -> int:
    """Allocate the resources of an overloaded node; return the number of satisfied tasks."""
    demand = np.empty((2, c.tasks[node]), np.int64)
    request = np.empty_like(demand)
    s, n = c.head[node], 0
    while s != NONE:
        slot = c.slots[s]
        demand[0, n], demand[1, n] = slot.cpu, slot.memory
        request[0, n], request[1, n] = slot.cpu_request, slot.memory_request
        s, n = slot.next, n + 1
    cpu = _share(demand[0], request[0], c.capacity[0], False, overflow)
    memory = _share(demand[1], request[1], c.capacity[1], True, overflow)
    c.usage[0, node], c.usage[1, node] = cpu.sum(), memory.sum()
    satisfied = 0
    for j in range(n):
        if (cpu[j] >= demand[0, j] or cpu[j] >= request[0, j]) and (
            memory[j] >= demand[1, j] or memory[j] >= request[1, j]
        ):
            satisfied += 1
    return satisfied


@njit(cache=True)  # type: ignore[untyped-decorator]
def measure(c: Cluster, overflow: bool) -> int:
    """Set the usage of every node; return the number of satisfied tasks."""
    satisfied = 0
    for i in range(len(c.tasks)):
        c.usage[0, i], c.usage[1, i] = c.demand[0, i], c.demand[1, i]
        if c.demand[0, i] <= c.capacity[0] and c.demand[1, i] <= c.capacity[1]:
            satisfied += c.tasks[i]
        else:
            satisfied += _throttle(c, i, overflow)
    return satisfied
