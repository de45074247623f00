"""Compiled kernels of the simulator: submission, scheduling, demand, throttling.

The state is a set of flat arrays. A running task has a slot of one cache line; slots of one node
are linked. All sums are exact integers, so no
result depends on an order of summation.
"""

# Numba infers the types of the kernels; annotations are for readers.
# mypy: disable-error-code="arg-type, assignment, no-any-return, return-value"
# mypy: disable-error-code="untyped-decorator, call-arg, no-untyped-call"

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
    "Samples",
    "Tasks",
    "compiled",
    "jit",
    "rank",
    "tick",
]

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


@njit(cache=True)
def _submit(queue: Queue, priority: Array, kind: int, first: int, last: int) -> None:
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


@njit(cache=True)
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


@njit(cache=True)
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


@njit(cache=True)
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
    return heap[n]


@lru_cache(maxsize=64)
def _compiled(policy: Policy, signature: Any) -> Any:  # noqa: ANN401  (types of Numba)
    fits, score = jit(policy.fits), jit(policy.score)

    def scan(c: Cluster, same: Array, task: Task, lo: int, hi: int) -> None:
        cpu, memory = c.capacity[0], c.capacity[1]
        x, scores = c.nodes, c.scores
        for i in range(lo, hi):
            node = Node(
                i, cpu, memory, x[CPU_REQUEST, i], x[MEMORY_REQUEST, i], x[CPU_LOAD, i],
                x[MEMORY_LOAD, i], x[CPU_DEMAND, i], x[MEMORY_DEMAND, i], x[CPU_PEAK, i],
                x[MEMORY_PEAK, i], x[TASKS, i], same[i],
            )  # fmt: skip
            scores[i] = float(score(node, task)) if fits(node, task) else -np.inf

    return njit(signature, error_model="numpy")(scan)


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
    return _compiled(policy, scan)


def jit(function: Callable[..., object]) -> Any:  # noqa: ANN401
    """Return a function compiled, unless it is already."""
    return function if hasattr(function, "py_func") else njit(function)


@njit(cache=True)
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


@njit(cache=True)
def _block(scores: Array, block_best: Array, b: int) -> None:
    """Find the best score of a block of nodes."""
    best = -np.inf
    for i in range(b * BLOCK, min((b + 1) * BLOCK, len(scores))):
        if scores[i] > best:
            best = scores[i]
    block_best[b] = best


@njit(cache=True)
def _best(scores: Array, block_best: Array) -> int:
    """Return the last node with the best score, or NONE."""
    best, block = -np.inf, NONE
    for b in range(len(block_best)):
        if block_best[b] > -np.inf and block_best[b] >= best:
            best, block = block_best[b], b
    if block == NONE:
        return NONE
    i = min((block + 1) * BLOCK, len(scores)) - 1
    while scores[i] != best:
        i -= 1
    return i


@njit(cache=True)
def _estimate(value: int, weight: float, percent: int) -> int:
    """Return a load times the penalty: in whole percent, or times weight if percent is -1."""
    return value * percent // 100 if percent >= 0 else np.int64(weight * value)


@njit(cache=True)
def _admit(c: Cluster, tasks: Tasks, job: int, j: int, node: int, now: Now) -> None:
    """Count a task on a node, as policies see it; it gets its slot when the tick is scheduled."""
    begin, nodes = tasks.begin[j], c.nodes
    c.placed[c.counts[PLACED]] = j
    c.counts[PLACED] += 1
    tasks.node[j], tasks.bound[j] = node, now.tick
    cpu, memory = tasks.cpu_request[j], tasks.memory_request[j]
    nodes[CPU_REQUEST, node] += cpu
    nodes[MEMORY_REQUEST, node] += memory
    nodes[CPU_LOAD, node] += _estimate(cpu, now.fresh_weight, now.fresh_percent)
    nodes[MEMORY_LOAD, node] += _estimate(memory, now.fresh_weight, now.fresh_percent)
    if begin < min(tasks.first[j] + now.loaded_samples, tasks.last[j]):
        nodes[CPU_DEMAND, node] += tasks.samples.cpu[begin]
        nodes[MEMORY_DEMAND, node] += tasks.samples.memory[begin]
    nodes[CPU_PEAK, node] += tasks.cpu_peak[j]
    nodes[MEMORY_PEAK, node] += tasks.memory_peak[j]
    nodes[TASKS, node] += 1
    if c.row_job[job % ROWS] == job:
        c.rows[job % ROWS, node] += 1


@njit(cache=True)
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


@njit(cache=True)
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


@njit(cache=True)
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


@njit(cache=True)
def _finish_ended(c: Cluster, tasks: Tasks) -> None:
    """Finish the tasks that have ended, and those of no length that were just bound."""
    if c.counts[ENDING]:
        for s in range(c.counts[USED]):
            if c.until[s] == ENDED:
                _finish(c, tasks, s)
        c.counts[ENDING] = 0


@njit(cache=True)
def _same_class(tasks: Tasks, a: int, b: int, policy: Compiled) -> bool:
    """Whether a policy cannot tell two tasks apart."""
    same = tasks.cpu_request[a] == tasks.cpu_request[b]
    same = same and tasks.memory_request[a] == tasks.memory_request[b]
    if policy.reads_job:
        same = same and tasks.job[a] == tasks.job[b]
    if policy.reads_demand:
        same = same and tasks.cpu_peak[a] == tasks.cpu_peak[b]
        same = same and tasks.memory_peak[a] == tasks.memory_peak[b]
        same = same and tasks.samples.cpu[tasks.begin[a]] == tasks.samples.cpu[tasks.begin[b]]
        same = same and tasks.samples.memory[tasks.begin[a]] == tasks.samples.memory[tasks.begin[b]]
    return same


@njit(cache=True)
def _task(tasks: Tasks, j: int) -> Task:
    """Return what a policy sees of a task."""
    k = min(tasks.begin[j], tasks.last[j] - 1)
    return Task(
        tasks.cpu_request[j], tasks.memory_request[j], np.int64(tasks.samples.cpu[k]),
        tasks.samples.memory[k], tasks.cpu_peak[j], tasks.memory_peak[j],
    )  # fmt: skip


@njit(cache=True)
def _hopeless(refused: Array, n: int, cpu: int, memory: int) -> bool:
    """Whether a request that fitted nowhere in this tick was no larger."""
    for k in range(n):  # noqa: SIM110  (Numba)
        if refused[k, 0] <= cpu and refused[k, 1] <= memory:
            return True
    return False


@njit(cache=True)
def _schedule(
    c: Cluster,
    tasks: Tasks,
    queue: Queue,
    scan: Any,  # noqa: ANN401
    policy: Compiled,
    now: Now,
) -> None:
    """Try the pending tasks in their order; bind each to its best node."""
    size = left = queue.size[0]
    failed, known, previous = 0, 0, NONE
    same, scores, block_best = c.rows[0], c.scores, c.block_best
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
                scan(c, same, task, 0, len(scores))
                for b in range(len(block_best)):
                    _block(scores, block_best, b)
                previous = j
            node = _best(scores, block_best)
            if node != NONE:
                _admit(c, tasks, tasks.job[j], j, node, now)
                scan(c, same, task, node, node + 1)
                _block(scores, block_best, node // BLOCK)
            elif policy.monotone and known < REFUSED:
                refused[known, 0], refused[known, 1] = cpu, memory
                known += 1
        if node == NONE:
            queue.failed[failed] = j
            failed += 1
    _requeue(queue, tasks.priority, policy.queue, left, failed)


@njit(cache=True)
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


@njit(cache=True)
def _part(capacity: int, weight: int, total: int) -> int:
    """Return capacity * weight / total, cut toward zero, though the product may not fit.

    The product wraps at 64 bits, but its distance from a good guess times the total is exact.
    """
    guess = np.int64(float(capacity) * float(weight) / float(total))
    rest = capacity * weight - guess * total
    while rest < 0:
        guess, rest = guess - 1, rest + total
    while rest >= total:
        guess, rest = guess + 1, rest - total
    return guess


@njit(cache=True)
def _wrapped_part(capacity: int, weight: int, total: int) -> int:
    """Return the wrapped product capacity * weight over total, cut toward zero."""
    product = capacity * weight
    part = product // total
    return part + 1 if product < 0 and part * total != product else part


@njit(cache=True)
def _share(
    demand: Array, request: Array, given: Array, n: int, capacity: int, as_author: bool
) -> int:
    """Allocate one resource among the n tasks of a node; return the sum.

    As the author's program does it for memory, products wrap and the rest is shared in floats.
    """
    total, requests = demand[:n].sum(), request[:n].sum()
    given[:n] = demand[:n]
    if total <= capacity:
        return total
    sum_given = np.int64(0)
    for j in range(n):
        part = min(demand[j], request[j])
        if as_author and requests > 0:
            part = min(part, _wrapped_part(capacity, request[j], requests))
        elif requests > capacity:
            part = min(part, _part(capacity, request[j], requests))
        given[j] = part
        sum_given += part
    left, wanted = capacity - sum_given, total - sum_given
    if left <= 0 or wanted <= 0:
        return sum_given
    for j in range(n):
        unmet = demand[j] - given[j]
        if unmet > 0:
            if as_author:
                part = np.int64(float(left) * float(unmet) / float(wanted))
            else:
                part = _part(left, unmet, wanted)
            part = min(unmet, part)
            given[j] += part
            sum_given += part
    return sum_given


@njit(cache=True)
def _gather(slots: Array, s: int, demand: Array, request: Array) -> int:
    """Copy demand and request of the tasks of a node, from its first slot; return their number."""
    n = 0
    while s != NONE:
        slot = slots[s]
        demand[0, n], demand[1, n] = slot.cpu, slot.memory
        request[0, n], request[1, n] = slot.cpu_request, slot.memory_request
        s, n = slot.next, n + 1
    return n


@njit(cache=True)
def _measure(c: Cluster, overflow: bool) -> int:
    """Set the usage of every node; return the number of satisfied tasks."""
    slots, head, nodes = c.slots, c.head, c.nodes
    capacity, satisfied = c.capacity, 0
    demand = np.empty((2, nodes[TASKS].max()), np.int64)
    request, given = np.empty_like(demand), np.empty_like(demand)
    for i in range(len(head)):
        cpu, memory = nodes[CPU_DEMAND, i], nodes[MEMORY_DEMAND, i]
        if cpu <= capacity[0] and memory <= capacity[1]:
            nodes[CPU_USAGE, i], nodes[MEMORY_USAGE, i] = cpu, memory
            satisfied += nodes[TASKS, i]
            continue
        n = _gather(slots, head[i], demand, request)
        nodes[CPU_USAGE, i] = _share(demand[0], request[0], given[0], n, capacity[0], False)
        nodes[MEMORY_USAGE, i] = _share(demand[1], request[1], given[1], n, capacity[1], overflow)
        for j in range(n):
            met = given[0, j] >= demand[0, j] or given[0, j] >= request[0, j]
            met = met and (given[1, j] >= demand[1, j] or given[1, j] >= request[1, j])
            satisfied += met
    return satisfied


@njit(cache=True)
def _monitor(c: Cluster, now: Now) -> None:
    """Set the estimated loads: what was monitored at the last tick, times the penalty."""
    nodes = c.nodes
    for r in range(2):
        for i in range(len(c.head)):
            monitored = min(nodes[now.monitored + r, i], MOST)
            nodes[CPU_LOAD + r, i] = _estimate(monitored, now.weight, now.percent)


@njit(cache=True)
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


@njit(cache=True)
def tick(
    c: Cluster,
    tasks: Tasks,
    queue: Queue,
    scan: Any,  # noqa: ANN401
    policy: Compiled,
    now: Now,
) -> int:
    """Run one tick; return the number of satisfied tasks."""
    _submit(queue, tasks.priority, policy.queue, now.first, now.last)
    _monitor(c, now)
    _advance(c, tasks, now)
    _schedule(c, tasks, queue, scan, policy, now)
    _bind(c, tasks, now)
    satisfied = _measure(c, now.overflow)
    _total(c, now)
    return satisfied


@njit
def rank(priority: Any, tasks: Tasks) -> None:  # noqa: ANN401
    """Set the priority of all tasks by a compiled function."""
    for j in range(len(tasks.priority)):
        tasks.priority[j] = priority(_task(tasks, j))
