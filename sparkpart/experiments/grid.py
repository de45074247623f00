"""The grid of synthetic flows that the experiments of Section 4.2 share.

The instances of a repeat are the same under every bound, so that bounds can be compared; the
paper drew new ones for each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from itertools import product
from typing import Literal, NamedTuple, get_args

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from sparkpart.dataflow import Dataflow, Plan
from sparkpart.greedy import Greedy, greedy
from sparkpart.ils import ils
from sparkpart.instances import SIZES, TYPES, Choices, Instance, draw

__all__ = [
    "EPSILONS",
    "REPEATS",
    "SHAPES",
    "TECHNIQUES",
    "Scale",
    "Shape",
    "best_cells",
    "drawn",
    "each_shape",
    "improvements",
    "place_of",
    "plans",
]

Scale = Literal["quick", "paper"]
REPEATS = {"quick": 5, "paper": 100}
EPSILONS = (1.1, 1.2, 1.5)
"""Bounds as factors on running time, as the paper writes its epsilon."""
TECHNIQUES = ("G-local", "G-ext", "G-full", "ILS")


class Shape(NamedTuple):
    """Type and size of a flow."""

    dag_type: str
    dag_size: str


SHAPES = tuple(Shape(kind, size) for size, kind in product(SIZES, TYPES))


def place_of(shape: Shape) -> tuple[int, int]:
    """Return the places of type and size in their lists, for seeds."""
    return TYPES.index(shape.dag_type), [*SIZES].index(shape.dag_size)


def drawn(shape: Shape, repeat: int, seed: int, choices: Choices) -> Instance:
    """Draw the instance of a repeat.

    Parameters
    ----------
    shape
        Type and size.
    repeat, seed
        Together with the shape they determine the instance.
    choices
        The open choices.
    """
    rng = np.random.default_rng([seed, *place_of(shape), repeat])
    return draw(shape.dag_type, shape.dag_size, rng=rng, choices=choices)


def plans(
    flow: Dataflow, epsilon: float, seed: int, choices: Choices, start: Plan | None = None
) -> dict[str, Plan]:
    """Optimise a flow by the paper's four techniques.

    Parameters
    ----------
    flow
        The flow.
    epsilon
        Bound as a factor on the running time of the start.
    seed
        Seed of the iterated local search.
    choices
        Where the inner test of the iterated local search stands.
    start
        Plan to start from; the initial one by default.
    """
    bound = flow.bound(epsilon - 1, start)
    found = {how: greedy(flow, how, bound=bound, start=start).plan for how in get_args(Greedy)}
    return found | {"ILS": ils(flow, bound=bound, seed=seed, start=start, inner=choices.inner).plan}


def each_shape(
    function: Callable[..., pd.DataFrame], shapes: Iterable[Shape], *arguments: object
) -> pd.DataFrame:
    """Call a function for every shape, on the processes of the caller's ``parallel_config``.

    Parameters
    ----------
    function
        Takes a shape and the arguments.
    shapes
        Their results are joined in this order.
    arguments
        The same for all.
    """
    parts: list[pd.DataFrame] = Parallel()(delayed(function)(shape, *arguments) for shape in shapes)
    return pd.concat(parts, ignore_index=True)


def _improved(shape: Shape, repeats: int, seed: int, choices: Choices) -> pd.DataFrame:
    rows = []
    for repeat in range(repeats):
        flow = drawn(shape, repeat, seed, choices).flow()
        rt, rc = flow.running_time(flow.initial), flow.resource_consumption(flow.initial)
        for epsilon in EPSILONS:
            for name, plan in plans(flow, epsilon, repeat, choices).items():
                ratio = rc / flow.resource_consumption(plan), flow.running_time(plan) / rt
                rows.append((*shape, epsilon, repeat, name, *ratio))
    columns = ["dag_type", "dag_size", "eps", "repeat", "technique", "improvement", "slowdown"]
    return pd.DataFrame(rows, columns=columns)


@lru_cache(maxsize=16)
def improvements(scale: Scale, seed: int, choices: Choices) -> pd.DataFrame:
    """Optimise all synthetic flows under all bounds; do not change the frame.

    Parameters
    ----------
    scale
        "paper" for 100 repeats, "quick" for 5.
    seed
        Seed of the instances.
    choices
        The open choices.

    Returns
    -------
    DataFrame
        ``dag_type``, ``dag_size``, ``eps`` (factor on RT), ``repeat``, ``technique``,
        ``improvement`` (initial RC over that of the plan), ``slowdown`` (RT of the plan over
        the initial).
    """
    return each_shape(_improved, SHAPES, REPEATS[scale], seed, choices)


def best_cells(table: pd.DataFrame) -> pd.DataFrame:
    """Summarise improvements as Table 3 does: the best technique of each cell.

    Parameters
    ----------
    table
        A frame like that of `improvements`.

    Returns
    -------
    DataFrame
        ``eps``, ``dag_size``, ``dag_type``; ``technique`` of the best average, its
        ``average``, ``stdev`` and ``standard_error``; ``max`` and ``max_technique`` of the
        best single repeat.
    """
    keys = ["eps", "dag_size", "dag_type"]
    groups = table.groupby([*keys, "technique"], sort=False)["improvement"]
    cells = groups.agg(["mean", "std", "sem", "max"]).reset_index("technique")
    by_mean = cells.sort_values("mean", kind="stable").groupby(keys, sort=False).tail(1)
    by_max = cells.sort_values("max", kind="stable").groupby(keys, sort=False).tail(1)
    names = {"mean": "average", "std": "stdev", "sem": "standard_error"}
    average = by_mean.drop(columns="max").rename(columns=names)
    most = by_max[["technique", "max"]].rename(columns={"technique": "max_technique"})
    return average.join(most).reset_index()
