"""Compiled kernels of an overloaded node: how its tasks share CPU and memory."""

# Numba infers the types of the kernels; annotations are for readers.
# mypy: disable-error-code="arg-type, assignment, no-any-return, return-value"
# mypy: disable-error-code="untyped-decorator, call-arg, no-untyped-call"

from __future__ import annotations

import numpy as np
from numba import njit

from flex.state import (
    CPU_DEMAND,
    CPU_USAGE,
    MEMORY_DEMAND,
    MEMORY_USAGE,
    NONE,
    TASKS,
    Array,
    Cluster,
)

__all__ = ["measure"]


@njit
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


@njit
def _wrapped_part(capacity: int, weight: int, total: int) -> int:
    """Return the wrapped product capacity * weight over total, cut toward zero."""
    product = capacity * weight
    part = product // total
    return part + 1 if product < 0 and part * total != product else part


@njit
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


@njit
def _gather(slots: Array, s: int, demand: Array, request: Array) -> int:
    """Copy demand and request of the tasks of a node, from its first slot; return their number."""
    n = 0
    while s != NONE:
        slot = slots[s]
        demand[0, n], demand[1, n] = slot.cpu, slot.memory
        request[0, n], request[1, n] = slot.cpu_request, slot.memory_request
        s, n = slot.next, n + 1
    return n


@njit
def measure(c: Cluster, overflow: bool) -> int:
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
