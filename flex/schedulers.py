"""Schedulers as policies: what a node must have free, how nodes are scored, the queue's order.

A policy is two or three plain Python functions, compiled by the simulator. A reader's own policy
has the form of the built-in ones and runs at their speed::

    def fits(node, task):
        cpu = node.cpu_request + task.cpu_request <= node.cpu_capacity
        return cpu and node.memory_request + task.memory_request <= node.memory_capacity

    def score(node, task):  # the fullest node that still fits
        return node.memory_request

    best_fit = Policy("BestFit", fits, score)

The functions may use arithmetic, comparisons, ``min``, ``max``, `percent_free` and the fields of
`Node` and `Task`. Of nodes with the highest score the last one is taken, as in the author's
program.
"""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import dis
import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable

from flex.checks import switch

__all__ = [
    "BEST_FIT",
    "FIRST_FIT",
    "FLEX_F",
    "FLEX_L",
    "LEAST_FIT",
    "ORACLE",
    "OVERSUB",
    "POLICIES",
    "Node",
    "Policy",
    "Task",
    "first_node",
    "largest_memory",
    "least_loaded",
    "least_peak",
    "least_requested",
    "load_fits",
    "most_requested",
    "peaks_fit",
    "percent_free",
    "policy",
    "requests_fit",
    "requests_fit_twice",
]


class Node(NamedTuple):
    """What a policy sees of a node: CPU in mCPU, memory in bytes.

    Tasks bound earlier in the same tick count in every field; in ``load`` by their request, until
    they are monitored (rule ``fresh``).
    """

    position: int
    """Place in the order of the nodes' names."""
    cpu_capacity: int
    memory_capacity: int
    cpu_request: int
    """Sum of the requests of the node's tasks."""
    memory_request: int
    cpu_load: int
    """Estimated load: the penalty P times the monitored load, and fresh tasks."""
    memory_load: int
    cpu_demand: int
    """True demand now, which no real scheduler knows."""
    memory_demand: int
    cpu_peak: int
    """Sum of the highest demands that the tasks will ever have."""
    memory_peak: int
    tasks: int
    same_job: int
    """Tasks of the job of the task to be placed."""


class Task(NamedTuple):
    """What a policy sees of the task to be placed: CPU in mCPU, memory in bytes."""

    cpu_request: int
    memory_request: int
    cpu_demand: int
    """Demand at the start, which no real scheduler knows."""
    memory_demand: int
    cpu_peak: int
    """Highest demand that the task will have."""
    memory_peak: int


@dataclass(frozen=True)
class Policy:
    """A scheduler.

    Parameters
    ----------
    name
        Name in tables and figures.
    fits : (Node, Task) -> bool
        Whether the node may take the task.
    score : (Node, Task) -> number
        Of the nodes that fit, one with the highest score is taken; a node with NaN never is.
    priority : (Task) -> int, optional
        The pending task with the highest value goes first; None is first in, first out.
    monotone
        Whether a task that fits nowhere stays so for the rest of the tick, along with every task
        that requests no less of both resources. True for filters that only compare requests or
        loads with a limit; it saves trying such tasks again and again.

    Raises
    ------
    ValueError
        If a function is not a plain one or takes other arguments.
    """

    name: str
    fits: Callable[[Node, Task], bool]
    score: Callable[[Node, Task], float]
    priority: Callable[[Task], int] | None = None
    monotone: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise ValueError(f"name must be a string; got {self.name!r}")
        arguments = {"fits": ["node", "task"], "score": ["node", "task"], "priority": ["task"]}
        for part, names in arguments.items():
            function = getattr(self, part)
            if function is not None or part != "priority":
                _require_function(f"policy {self.name}: {part}", function, names)
        switch(f"policy {self.name}: monotone", self.monotone)

    def constants(self) -> tuple[tuple[str, object], ...]:
        """Return the numbers that the functions take from outside, by name, as they are now."""
        found = [_constants(f) for f in (self.fits, self.score, self.priority) if f is not None]
        return tuple(item for one in found for item in one)

    def reads(self, fields: Iterable[str]) -> bool:
        """Return whether the filter or the score may depend on one of these fields."""
        used = _names(self.fits) | _names(self.score)
        return bool(used & set(fields)) or not used <= _KNOWN


def _require_function(what: str, function: object, arguments: list[str]) -> None:
    plain = getattr(function, "py_func", function)
    call = f"({', '.join(arguments)})"
    if not isinstance(plain, FunctionType):
        raise ValueError(f"{what} must be a plain function {call}; got {function!r}")
    try:
        inspect.signature(plain).bind(*arguments)
    except TypeError as error:
        raise ValueError(f"{what} must take {call}: {error}") from None


def _constants(function: Callable[..., object]) -> list[tuple[str, object]]:
    outside = inspect.getclosurevars(getattr(function, "py_func", function))
    values = {**outside.globals, **outside.nonlocals}.items()
    return [(k, v) for k, v in values if isinstance(v, int | float | str | np.generic)]


def _names(function: Callable[..., object]) -> set[str]:
    """Names that a function reads; "?" stands for what a closure or an index might bring."""
    plain = getattr(function, "py_func", function)
    closure = getattr(plain, "__closure__", None) or ()
    known = all(isinstance(cell.cell_contents, (int, float)) for cell in closure)
    code = plain.__code__
    inner = any(isinstance(constant, CodeType) for constant in code.co_consts)
    steps = {name for step in dis.get_instructions(code) for name in (step.opname, step.argrepr)}
    known = known and not inner and not steps & _UNNAMED
    return set(code.co_names) if known else {*code.co_names, "?"}


_UNNAMED = {"BINARY_SUBSCR", "BINARY_SLICE", "UNPACK_SEQUENCE", "UNPACK_EX", "GET_ITER", "[]"}
"""Instructions that may read a field without its name."""


@register_jitable  # type: ignore[untyped-decorator]
def percent_free(taken: float, capacity: float) -> float:
    """Return the free share of a capacity in whole percent, cut toward zero (may be negative)."""
    share: float = np.trunc(100 * (capacity - taken) / capacity)
    return share


def requests_fit(node: Node, task: Task) -> bool:
    """Whether the requests of a node's tasks stay within its capacity."""
    cpu = node.cpu_request + task.cpu_request <= node.cpu_capacity
    return cpu and node.memory_request + task.memory_request <= node.memory_capacity


def requests_fit_twice(node: Node, task: Task) -> bool:
    """Whether the requests of a node's tasks stay within twice its capacity."""
    cpu = node.cpu_request + task.cpu_request <= 2 * node.cpu_capacity
    return cpu and node.memory_request + task.memory_request <= 2 * node.memory_capacity


def load_fits(node: Node, task: Task) -> bool:
    """Whether the estimated load and the task's request stay within the capacity (Alg. 3)."""
    cpu = node.cpu_load + task.cpu_request <= node.cpu_capacity
    return cpu and node.memory_load + task.memory_request <= node.memory_capacity


def peaks_fit(node: Node, task: Task) -> bool:
    """Whether the highest demands of a node's tasks stay within its capacity together."""
    cpu = node.cpu_peak + task.cpu_peak <= node.cpu_capacity
    return cpu and node.memory_peak + task.memory_peak <= node.memory_capacity


def first_node(node: Node, task: Task) -> float:
    """Prefer the first node."""
    return -node.position


def least_requested(node: Node, task: Task) -> float:
    """Prefer the node with the least requested; mean of CPU and memory, in whole percent."""
    cpu = percent_free(node.cpu_request + task.cpu_request, node.cpu_capacity)
    memory = percent_free(node.memory_request + task.memory_request, node.memory_capacity)
    mean: float = np.trunc((cpu + memory) / 2)
    return mean


def most_requested(node: Node, task: Task) -> float:
    """Prefer the node with the most requested, by the scarcer of CPU and memory."""
    cpu = percent_free(node.cpu_request + task.cpu_request, node.cpu_capacity)
    memory = percent_free(node.memory_request + task.memory_request, node.memory_capacity)
    return -min(cpu, memory)


def least_loaded(node: Node, task: Task) -> float:
    """Prefer the node with the least load and the fewest tasks of the same job (Alg. 3)."""
    cpu = percent_free(node.cpu_load, node.cpu_capacity)
    memory = percent_free(node.memory_load, node.memory_capacity)
    return min(cpu, memory) + 100 - node.same_job


def least_peak(node: Node, task: Task) -> float:
    """Prefer the node whose tasks have the lowest highest demands together."""
    cpu = percent_free(node.cpu_peak, node.cpu_capacity)
    return min(cpu, percent_free(node.memory_peak, node.memory_capacity))


def largest_memory(task: Task) -> int:
    """Largest memory request first."""
    return task.memory_request


FIRST_FIT = Policy("FirstFit", requests_fit, first_node, monotone=True)
"""The first node whose requests fit (Section 2.3)."""
LEAST_FIT = Policy("LeastFit", requests_fit, least_requested, monotone=True)
"""The node with the least requested (Section 5, Methods)."""
OVERSUB = Policy("Oversub", requests_fit_twice, least_requested, monotone=True)
"""LeastFit with the capacity counted twice (Section 5, Methods)."""
FLEX_F = Policy("FlexF", load_fits, least_loaded, monotone=True)
"""Flex, first in, first out (Algorithm 3)."""
FLEX_L = Policy("FlexL", load_fits, least_loaded, largest_memory, monotone=True)
"""Flex, largest memory request first (Algorithm 3)."""
BEST_FIT = Policy("BestFit", requests_fit, most_requested, monotone=True)
"""The fullest node whose requests fit: an example beyond the paper."""
ORACLE = Policy("Oracle", peaks_fit, least_peak)
"""Knows the highest demand of every task: an example beyond the paper."""

POLICIES = {p.name: p for p in (FIRST_FIT, LEAST_FIT, OVERSUB, FLEX_F, FLEX_L, BEST_FIT, ORACLE)}
"""The built-in policies by name."""

_KNOWN = {*Node._fields, *Task._fields, "min", "max", "abs", "float", "int", "np", "trunc",
          "floor", "percent_free"}  # fmt: skip


def policy(which: str | Policy) -> Policy:
    """Return a built-in policy by name; a policy is returned as it is.

    Raises
    ------
    ValueError
        If there is no such policy.
    """
    if isinstance(which, Policy):
        return which
    if which not in POLICIES:
        raise ValueError(f"policy must be one of {', '.join(POLICIES)}; got {which!r}")
    return POLICIES[which]
