"""Load balancing of Section 3: tasks on equal nodes, so that the highest load is least.

The load of a node is the sum of the demands of its tasks and does not change. FIFO
(Algorithm 1) takes tasks as they come; LRF (Algorithm 2) takes those with the largest request
first. Both put each task on the node with the least load, the first of equals. FIFO is Graham's
list scheduling, LRF with requests in the order of demands his longest processing time rule.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array

__all__ = [
    "Balance",
    "Optimum",
    "fifo",
    "fifo_bound",
    "fifo_worst_case",
    "largest_request_first",
    "lrf_bound",
    "lrf_worst_case",
    "optimum",
    "random_instance",
]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Balance:
    """An assignment of tasks to nodes.

    Parameters
    ----------
    node : (tasks,)
        Node of each task, in the order in which the tasks were given.
    loads : (nodes, resources)
        Load of each node in the end.
    comparisons
        Comparisons of loads, and of requests in sorting, that the algorithm made.
    """

    node: NDArray[np.int64]
    loads: Array
    comparisons: int

    @property
    def makespan(self) -> float:
        """Highest load of a node, in its scarcest resource."""
        return float(self.loads.max())


@dataclass(frozen=True)
class Optimum:
    """The least possible highest load.

    Parameters
    ----------
    makespan
        Of the best assignment found.
    bound
        No assignment is better than this; equal to the makespan if it is proven optimal.
    """

    makespan: float
    bound: float


def _matrix(name: str, values: ArrayLike, rows: int | None = None) -> Array:
    array = np.asarray(values, dtype=np.float64)
    array = array[:, np.newaxis] if array.ndim == 1 else array
    if array.ndim != 2 or (rows is not None and len(array) != rows):
        expected = "one or two dimensions" if rows is None else f"{rows} rows"
        raise ValueError(f"{name} must have {expected}; got shape {np.shape(values)}")
    if not (np.isfinite(array) & (array >= 0)).all():
        raise ValueError(f"{name} must be finite and at least 0; got {array.min()!r}")
    return array


def _nodes(nodes: int) -> int:
    if nodes < 1:
        raise ValueError(f"nodes must be at least 1; got {nodes!r}")
    return nodes


def fifo(
    demands: ArrayLike,
    nodes: int,
    *,
    initial: ArrayLike | None = None,
    refresh: int = 1,
    requests: ArrayLike | None = None,
) -> Balance:
    """Balance tasks in the order in which they come (Algorithm 1).

    Parameters
    ----------
    demands : (tasks,) or (tasks, resources)
        The load that each task adds. With more than one resource, the load of a node is that of
        its scarcest one.
    nodes
        Number of nodes.
    initial : (nodes,) or (nodes, resources), optional
        Load of each node at the start; none by default.
    refresh
        The scheduler sees the true loads only before every refresh-th task.
    requests : as demands, optional
        What a task counts until the loads are seen again; by default nothing, so a scheduler
        with stale loads repeats its choice.

    Raises
    ------
    ValueError
        If a number is negative or not finite, shapes differ, or there is no node.

    References
    ----------
    Le and Liu, arXiv 2006.01354, Section 4.1.
    """
    demand = _matrix("demands", demands)
    loads = np.zeros((_nodes(nodes), demand.shape[1]))
    if initial is not None:
        loads += _matrix("initial", initial, nodes)
    if refresh < 1:
        raise ValueError(f"refresh must be at least 1; got {refresh!r}")
    counted = (
        np.zeros_like(demand) if requests is None else _matrix("requests", requests, len(demand))
    )
    seen = loads.copy()
    chosen = np.empty(len(demand), dtype=np.int64)
    for j in range(len(demand)):
        if j % refresh == 0:
            seen = loads.copy()
        i = int(seen.max(axis=1).argmin())
        chosen[j] = i
        loads[i] += demand[j]
        seen[i] += counted[j]
    return Balance(chosen, loads, len(demand) * (nodes - 1))


def largest_request_first(
    requests: ArrayLike,
    demands: ArrayLike,
    nodes: int,
    *,
    initial: ArrayLike | None = None,
) -> Balance:
    """Balance tasks from the largest to the smallest request (Algorithm 2).

    Parameters
    ----------
    requests : (tasks,)
        What the tasks are ordered by; tasks with equal requests keep their order.
    demands, nodes, initial
        As for `fifo`.

    Raises
    ------
    ValueError
        As for `fifo`.

    References
    ----------
    Le and Liu, arXiv 2006.01354, Section 4.1.
    """
    demand = _matrix("demands", demands)
    request = _matrix("requests", requests, len(demand))[:, 0]
    order, comparisons = _merge_sort(list(-request))
    balance = fifo(demand[order], nodes, initial=initial)
    node = np.empty_like(balance.node)
    node[order] = balance.node
    return Balance(node, balance.loads, balance.comparisons + comparisons)


def _merge_sort(keys: list[float]) -> tuple[list[int], int]:
    """Return the stable order of the keys and the number of comparisons of a merge sort."""
    runs, count = [[k] for k in range(len(keys))], 0
    while len(runs) > 1:
        merged = []
        for left, right in zip(runs[::2], runs[1::2], strict=False):
            row, i, j = [], 0, 0
            while i < len(left) and j < len(right):
                count += 1
                if keys[right[j]] < keys[left[i]]:
                    row.append(right[j])
                    j += 1
                else:
                    row.append(left[i])
                    i += 1
            merged.append(row + left[i:] + right[j:])
        runs = merged + ([runs[-1]] if len(runs) % 2 else [])
    return (runs[0] if runs else []), count


def optimum(
    demands: ArrayLike,
    nodes: int,
    *,
    initial: ArrayLike | None = None,
    time_limit: float = 60.0,
) -> Optimum:
    """Find the least possible highest load by mixed-integer programming (HiGHS).

    Parameters
    ----------
    demands, nodes, initial
        As for `fifo`.
    time_limit
        Seconds after which the best solution so far is returned with its bound.

    Raises
    ------
    ValueError
        As for `fifo`.
    RuntimeError
        If no solution was found within the time limit.
    """
    demand = _matrix("demands", demands)
    start = np.zeros((_nodes(nodes), demand.shape[1]))
    if initial is not None:
        start += _matrix("initial", initial, nodes)
    n_tasks = len(demand)
    if not n_tasks:
        return Optimum(float(start.max()), float(start.max()))
    constraints = [_placed_once(n_tasks, nodes), *_below_makespan(demand, start)]
    cost = np.zeros(n_tasks * nodes + 1)
    cost[-1] = 1
    integer = np.ones_like(cost)
    integer[-1] = 0
    upper = np.ones_like(cost)
    upper[-1] = np.inf
    if initial is None:
        # Nodes are equal: the first task may as well be on the first.
        upper[1:nodes] = 0
    lower = np.zeros_like(cost)
    lower[-1] = max(float(demand.max()), float(start.max()))
    found = milp(cost, integrality=integer, bounds=Bounds(lower, upper), constraints=constraints,
                 options={"time_limit": time_limit, "mip_rel_gap": 0})  # fmt: skip
    if found.x is None:
        raise RuntimeError(f"no solution within {time_limit} s: {found.message}")
    return Optimum(float(found.fun), float(found.mip_dual_bound))


def _placed_once(n_tasks: int, nodes: int) -> LinearConstraint:
    """Constrain each task to one node; variable j * nodes + i puts task j on node i."""
    columns = np.arange(n_tasks * nodes)
    shape = (n_tasks, n_tasks * nodes + 1)
    rows = coo_array((np.ones(len(columns)), (columns // nodes, columns)), shape=shape)
    return LinearConstraint(rows.tocsr(), 1, 1)


def _below_makespan(demand: Array, start: Array) -> list[LinearConstraint]:
    """Constrain the load of each node in each resource to the last variable."""
    n_tasks, nodes = len(demand), len(start)
    columns = np.arange(n_tasks * nodes)
    shape = (nodes, n_tasks * nodes + 1)
    constraints = []
    for r in range(demand.shape[1]):
        values = np.concatenate([demand[columns // nodes, r], -np.ones(nodes)])
        rows = np.concatenate([columns % nodes, np.arange(nodes)])
        placed = np.concatenate([columns, np.full(nodes, n_tasks * nodes)])
        matrix = coo_array((values, (rows, placed)), shape=shape).tocsr()
        constraints.append(LinearConstraint(matrix, -np.inf, -start[:, r]))
    return constraints


def fifo_bound(nodes: int) -> float:
    """Return 2 - 1/N, the worst ratio of FIFO to the optimum (Graham 1966; Theorem 4.1 says 2)."""
    return 2 - 1 / _nodes(nodes)


def lrf_bound(nodes: int) -> float:
    """Return 4/3 - 1/(3N), the worst ratio of LRF (Graham 1969; Theorem 4.2 says 4/3).

    It holds if requests have the order of demands, for empty nodes and one resource.
    """
    return 4 / 3 - 1 / (3 * _nodes(nodes))


def fifo_worst_case(nodes: int) -> Array:
    """Return demands for which FIFO reaches 2 - 1/N: N (N - 1) ones, then one task of N."""
    return np.array([1.0] * (nodes * (_nodes(nodes) - 1)) + [float(nodes)])


def lrf_worst_case(nodes: int) -> Array:
    """Return demands for which LRF reaches 4/3 - 1/(3N).

    Two tasks of each of 2N - 1, 2N - 2, ..., N + 1, and three of N.
    """
    twice = np.repeat(np.arange(2 * _nodes(nodes) - 1, nodes, -1), 2)
    return np.concatenate([twice, np.full(3, nodes)]).astype(np.float64)


def random_instance(
    tasks: int, agreement: float, rng: np.random.Generator, *, spread: float = 1.0
) -> tuple[Array, Array]:
    """Draw requests and lognormal demands whose logarithms correlate as asked.

    Parameters
    ----------
    tasks
        Number of tasks.
    agreement
        Correlation of the logarithms: 1 for the same order, -1 for the opposite one.
    rng
        Source of randomness.
    spread
        Standard deviation of the logarithms.

    Returns
    -------
    requests, demands : (tasks,)

    Raises
    ------
    ValueError
        If the agreement is not between -1 and 1.
    """
    if not -1 <= agreement <= 1:
        raise ValueError(f"agreement must be between -1 and 1; got {agreement!r}")
    common, other = rng.standard_normal((2, tasks))
    mixed = agreement * common + np.sqrt(1 - agreement**2) * other
    return np.exp(spread * mixed), np.exp(spread * common)
