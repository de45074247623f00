"""What the benchmarks count."""

from dataclasses import replace

import pytest

from benchmarks.flex_speed import demand_updates
from flex import AUTHOR, Workload, simulate, synthesize
from flex.schedulers import LEAST_FIT

RULES = replace(AUTHOR, failures=0, loaded_samples=None)


def updates_of_task(ends: list[int], ticks: int) -> int:
    """One by one: ticks after binding at which the sample of the last update has ended."""
    position, count = sum(end <= 0 for end in ends), 0
    for tick in range(1, ticks + 1):
        if position < len(ends) and ends[position] <= 60 * tick:
            count += 1
            position += sum(end <= 60 * tick for end in ends[position:])
    return count


@pytest.mark.parametrize("shorter", [1, 7])
def test_updates_of_demand_are_counted_as_one_by_one(shorter: int) -> None:
    day = synthesize(1500, seed=3)
    day = replace(day, sample_end=day.sample_end // shorter)
    bound = simulate(day, LEAST_FIT, 6, 300, RULES).bound
    assert (bound < 0).any()
    expected = 0
    for task, tick in enumerate(bound):
        first, last = day.offset[day.series[task]], day.offset[day.series[task] + 1]
        if tick >= 0:
            expected += updates_of_task(day.sample_end[first:last].tolist(), 300 - tick)
    assert demand_updates(day, bound, 300) == expected > 0


def test_samples_that_end_between_two_ticks_are_one_update() -> None:
    samples = [[[0, 1, 1], [10, 2, 2], [20, 3, 3], [90, 4, 4], [600, 5, 5]]]
    task = Workload.from_tasks([0], [0], [[1000, 1]], samples)
    bound = simulate(task, LEAST_FIT, 1, 5, RULES).bound
    assert bound.tolist() == [0]
    assert demand_updates(task, bound, 5) == 2
    assert demand_updates(task, bound, 20) == 3
