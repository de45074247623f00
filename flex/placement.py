"""Compiled kernels of scheduling: the queue, the scan over nodes, the choice of a node."""

# Numba infers the types of the kernels; annotations are for readers.
# mypy: disable-error-code="arg-type, assignment, no-any-return, return-value"
# mypy: disable-error-code="untyped-decorator, call-arg, no-untyped-call"

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numba import njit

from flex.compiling import compiled_part
from flex.schedulers import Node, Policy, Task
from flex.state import (
    BLOCK,
    CPU_DEMAND,
    CPU_LOAD,
    CPU_PEAK,
    CPU_REQUEST,
    FIFO,
    HEAP,
    MEMORY_DEMAND,
    MEMORY_LOAD,
    MEMORY_PEAK,
    MEMORY_REQUEST,
    NONE,
    PLACED,
    REFUSED,
    ROWS,
    SORTED,
    TASKS,
    Array,
    Cluster,
    Compiled,
    Now,
    Queue,
    Tasks,
)

__all__ = ["estimate", "rank", "scan_of", "schedule", "submit"]


@njit
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


@njit
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


@njit
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


@njit
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


def scan_of(policy: Policy, signature: Any) -> Any:  # noqa: ANN401  (types of Numba)
    """Return the compiled scan of a policy: it scores nodes lo to hi - 1 for one task.

    It is compiled again when a number that the policy takes from outside has changed.
    """
    return _scan_of(policy, signature, policy.constants())


@lru_cache(maxsize=64)
def _scan_of(policy: Policy, signature: Any, constants: object) -> Any:  # noqa: ANN401
    fits, score = compiled_part(policy, "fits"), compiled_part(policy, "score")

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


@njit
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


@njit
def _block(scores: Array, block_best: Array, b: int) -> None:
    """Find the best score of a block of nodes."""
    best = -np.inf
    for i in range(b * BLOCK, min((b + 1) * BLOCK, len(scores))):
        if scores[i] > best:
            best = scores[i]
    block_best[b] = best


@njit
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


@njit
def estimate(value: int, weight: float, percent: int) -> int:
    """Return a load times the penalty: in whole percent, or times weight if percent is -1."""
    return value * percent // 100 if percent >= 0 else np.int64(weight * value)


@njit
def _admit(c: Cluster, tasks: Tasks, job: int, j: int, node: int, now: Now) -> None:
    """Count a task on a node, as policies see it; it gets its slot when the tick is scheduled."""
    begin, nodes = tasks.begin[j], c.nodes
    c.placed[c.counts[PLACED]] = j
    c.counts[PLACED] += 1
    tasks.node[j], tasks.bound[j] = node, now.tick
    cpu, memory = tasks.cpu_request[j], tasks.memory_request[j]
    nodes[CPU_REQUEST, node] += cpu
    nodes[MEMORY_REQUEST, node] += memory
    nodes[CPU_LOAD, node] += estimate(cpu, now.fresh_weight, now.fresh_percent)
    nodes[MEMORY_LOAD, node] += estimate(memory, now.fresh_weight, now.fresh_percent)
    if begin < min(tasks.first[j] + now.loaded_samples, tasks.last[j]):
        nodes[CPU_DEMAND, node] += tasks.samples.cpu[begin]
        nodes[MEMORY_DEMAND, node] += tasks.samples.memory[begin]
    nodes[CPU_PEAK, node] += tasks.cpu_peak[j]
    nodes[MEMORY_PEAK, node] += tasks.memory_peak[j]
    nodes[TASKS, node] += 1
    if c.row_job[job % ROWS] == job:
        c.rows[job % ROWS, node] += 1


@njit
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


@njit
def _task(tasks: Tasks, j: int) -> Task:
    """Return what a policy sees of a task."""
    k = min(tasks.begin[j], tasks.last[j] - 1)
    return Task(
        tasks.cpu_request[j], tasks.memory_request[j], np.int64(tasks.samples.cpu[k]),
        tasks.samples.memory[k], tasks.cpu_peak[j], tasks.memory_peak[j],
    )  # fmt: skip


@njit
def _hopeless(refused: Array, n: int, cpu: int, memory: int) -> bool:
    """Whether a request that fitted nowhere in this tick was no larger."""
    for k in range(n):  # noqa: SIM110  (Numba)
        if refused[k, 0] <= cpu and refused[k, 1] <= memory:
            return True
    return False


@njit
def schedule(
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


@njit
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


@njit
def rank(priority: Any, tasks: Tasks) -> None:  # noqa: ANN401
    """Set the priority of all tasks by a compiled function."""
    for j in range(len(tasks.priority)):
        tasks.priority[j] = priority(_task(tasks, j))
