"""Load balancing: hand-computed cases, the bounds, and optima against brute force."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flex.experiments import comparisons, step_table, worst_cases
from flex.theory import (
    fifo,
    fifo_bound,
    fifo_worst_case,
    largest_request_first,
    lrf_bound,
    lrf_worst_case,
    optimum,
    random_instance,
)

demands = st.lists(st.integers(1, 30), min_size=1, max_size=7)
nodes = st.integers(1, 4)


def brute_force(tasks, n):
    tasks = np.atleast_2d(np.asarray(tasks, float).T).T
    best = np.inf
    for assignment in product(range(n), repeat=len(tasks)):
        loads = np.zeros((n, tasks.shape[1]))
        np.add.at(loads, list(assignment), tasks)
        best = min(best, loads.max())
    return best


def test_fifo_by_hand():
    found = fifo([2, 3, 4, 1], 2)
    assert found.node.tolist() == [0, 1, 0, 1]
    assert found.loads[:, 0].tolist() == [6, 4]
    assert found.makespan == 6
    assert found.comparisons == 4


def test_largest_request_first_by_hand():
    found = largest_request_first([2, 3, 4, 1], [2, 3, 4, 1], 2)
    assert found.node.tolist() == [1, 1, 0, 0]
    assert found.makespan == 5
    # Requests decide the order, demands the loads; equal requests keep their order.
    assert largest_request_first([1, 1, 9], [5, 6, 1], 2).node.tolist() == [1, 0, 0]


def test_initial_loads_two_resources_and_stale_loads_by_hand():
    assert fifo([1, 1, 1], 2, initial=[2, 0]).node.tolist() == [1, 1, 0]
    both = fifo([[3, 1], [1, 2], [1, 2]], 2)
    assert both.node.tolist() == [0, 1, 1]
    assert both.makespan == 4
    assert fifo([1, 1, 1, 1], 2, refresh=2).node.tolist() == [0, 0, 1, 1]
    counted = fifo([1, 1, 1, 1], 2, refresh=2, requests=[1, 1, 1, 1])
    assert counted.node.tolist() == [0, 1, 0, 1]


def test_limiting_cases():
    assert fifo([], 3).makespan == 0
    assert fifo([1, 2, 3], 1).makespan == 6
    assert fifo([1, 2, 3], 3).makespan == 3
    assert optimum([], 2).makespan == 0
    assert optimum([1, 2, 3], 1).makespan == 6
    assert optimum([7], 4).makespan == 7


@settings(max_examples=60, deadline=None)
@given(demands, st.integers(1, 3))
def test_optimum_is_that_of_brute_force(tasks, n):
    found = optimum(tasks, n)
    assert found.makespan == pytest.approx(brute_force(tasks, n))
    assert found.bound == pytest.approx(found.makespan)


def test_optimum_with_two_resources_and_initial_loads():
    tasks = [[3, 1], [1, 3], [2, 2], [1, 1]]
    assert optimum(tasks, 2).makespan == pytest.approx(brute_force(tasks, 2))
    assert optimum([1, 1, 1], 2, initial=[3, 0]).makespan == pytest.approx(3)


@settings(max_examples=60, deadline=None)
@given(demands, nodes)
def test_every_task_is_placed_once_and_bounds_hold(tasks, n):
    best = optimum(tasks, n).makespan
    for found, bound in (
        (fifo(tasks, n), fifo_bound(n)),
        (largest_request_first(tasks, tasks, n), lrf_bound(n)),
    ):
        loads = np.bincount(found.node, weights=tasks, minlength=n)
        np.testing.assert_allclose(loads, found.loads[:, 0])
        assert found.makespan >= max(max(tasks), sum(tasks) / n) - 1e-9
        assert found.makespan <= bound * best + 1e-6


@settings(max_examples=40, deadline=None)
@given(demands, st.lists(st.integers(0, 30), min_size=7, max_size=7), nodes)
def test_any_order_keeps_the_bound_of_fifo(tasks, requests, n):
    found = largest_request_first(requests[: len(tasks)], tasks, n)
    assert found.makespan <= fifo_bound(n) * optimum(tasks, n).makespan + 1e-6


@pytest.mark.parametrize("n", [2, 3, 4, 6, 9])
def test_tight_families_reach_their_bounds(n):
    one, other = fifo_worst_case(n), lrf_worst_case(n)
    assert fifo(one, n).makespan == 2 * n - 1
    assert optimum(one, n).makespan == pytest.approx(n)
    assert largest_request_first(other, other, n).makespan == 4 * n - 1
    assert optimum(other, n).makespan == pytest.approx(3 * n)


def test_opposite_order_makes_lrf_as_bad_as_fifo():
    tasks = fifo_worst_case(3)
    assert largest_request_first(-tasks + 3, tasks, 3).makespan == 5


def test_random_instances_have_the_order_asked_for():
    for agreement, sign in ((1.0, 1), (-1.0, -1)):
        requests, tasks = random_instance(50, agreement, np.random.default_rng(1))
        assert (np.argsort(sign * requests) == np.argsort(tasks)).all()
    a, b = (random_instance(5, 0.3, np.random.default_rng(7)) for _ in range(2))
    np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: fifo([1, -1], 2), "demands must be finite and at least 0; got"),
        (lambda: fifo([1, float("nan")], 2), "demands must be finite"),
        (lambda: fifo([1], 0), "nodes must be at least 1; got 0"),
        (lambda: fifo([1], 2, refresh=0), "refresh must be at least 1; got 0"),
        (lambda: fifo([1], 2, initial=[1]), r"initial must have 2 rows; got shape \(1,\)"),
        (lambda: fifo([[[1]]], 2), "demands must have one or two dimensions"),
        (lambda: largest_request_first([1, 2], [1], 2), "requests must have 1 rows"),
        (lambda: random_instance(3, 2.0, np.random.default_rng(0)), "agreement must be between"),
        (lambda: lrf_bound(0), "nodes must be at least 1"),
    ],
)
def test_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_without_time_there_is_no_solution():
    with pytest.raises(RuntimeError, match="no solution within"):
        optimum(np.arange(1.0, 60), 7, time_limit=0.0)


def test_step_table_is_the_algorithms():
    steps = step_table()
    last = steps.groupby("algorithm")["highest"].max()
    assert last.to_dict() == {"FIFO": 17, "LRF": 11}
    for _, part in steps.groupby("algorithm"):
        assert sorted(part["task"]) == list(range(1, 13))


def test_worst_cases_and_comparisons():
    table = worst_cases(4)
    np.testing.assert_allclose(table["ratio"], table["bound"])
    counted = comparisons((8,), (4,))
    assert counted["FIFO"].iloc[0] == 24
    assert 8 <= counted["sorting"].iloc[0] <= 17  # of a merge sort of eight: 12 to 17
