"""Exact optima: brute force, two methods against each other, limits and fronts."""

from functools import partial
from itertools import product

import numpy as np
import pytest
from flows import dags, random_flow, trees
from hypothesis import given, settings
from hypothesis import strategies as st

from sparkpart import Dataflow, DataflowError, Edge, Vertex, fastest, front, greedy, optimum
from sparkpart.exact import lower_limit
from sparkpart.fastest import TooWideError, costs_of, eliminate, is_forest
from sparkpart.instances import SIZES, Choices, draw

seeds = st.integers(0, 2**32 - 1)
slacks = st.sampled_from([0.0, 0.05, 0.3, 1.0, np.inf])
SMALL = (8, 32, 96)


def all_plans(flow):
    plans = list(product(*(flow.allowed(v) for v in range(len(flow.names)))))
    return np.array([(flow.running_time(p), flow.resource_consumption(p)) for p in plans])


def best_by_force(flow, bound):
    totals = all_plans(flow)
    return totals[totals[:, 0] <= bound * (1 + 1e-12), 1].min()


@settings(max_examples=40, deadline=None)
@given(trees(6), seeds, slacks)
def test_labels_equal_brute_force_on_forests(shape, seed, slack):
    flow = random_flow(*shape, seed, SMALL)
    bound = flow.bound(slack)
    found = optimum(flow, bound=bound, method="labels")
    assert found.resource_consumption == pytest.approx(best_by_force(flow, bound), rel=1e-9)
    assert found.running_time <= bound * (1 + 1e-9)


@settings(max_examples=25, deadline=None)
@given(dags(6), seeds, slacks)
def test_program_equals_brute_force_on_any_graph(shape, seed, slack):
    flow = random_flow(*shape, seed, SMALL)
    bound = flow.bound(slack)
    found = optimum(flow, bound=bound, method="milp")
    assert found.resource_consumption == pytest.approx(best_by_force(flow, bound), rel=1e-6)
    assert found.running_time <= bound * (1 + 1e-9)
    assert found.proven


@settings(max_examples=25, deadline=None)
@given(dags(6), seeds)
def test_elimination_finds_the_fastest_plan(shape, seed):
    flow = random_flow(*shape, seed, SMALL)
    assert flow.running_time(fastest(flow)) == pytest.approx(all_plans(flow)[:, 0].min())


@settings(max_examples=25, deadline=None)
@given(trees(6), seeds)
def test_front_equals_brute_force(shape, seed):
    flow = random_flow(*shape, seed, SMALL)
    totals = all_plans(flow)
    order = np.lexsort((totals[:, 1], totals[:, 0]))
    expected, least = [], np.inf
    for time, consumption in totals[order]:
        if consumption < least * (1 - 1e-9):
            expected.append((time, consumption))
            least = consumption
    found = front(flow)
    columns = ["running_time", "resource_consumption"]
    assert found[columns].to_numpy() == pytest.approx(np.array(expected), rel=1e-9)
    for row in found.itertuples():
        assert flow.running_time(row.plan) == pytest.approx(row.running_time)
        assert flow.resource_consumption(row.plan) == pytest.approx(row.resource_consumption)


@pytest.mark.parametrize("kind", ["A", "B", "C"])
@pytest.mark.parametrize("size", SIZES)
def test_labels_and_program_agree_on_synthetic_trees(kind, size):
    flow = draw(kind, size, rng=np.random.default_rng(7)).flow()
    bound = flow.bound(0.1)
    labels, program = (optimum(flow, bound=bound, method=m) for m in ("labels", "milp"))
    assert labels.resource_consumption == pytest.approx(program.resource_consumption, rel=1e-6)
    assert labels.proven
    assert program.proven


def test_optimum_is_no_worse_than_any_technique_and_no_better_than_the_limit():
    for seed, kind in enumerate("ABCDE"):
        flow = draw(kind, "small", rng=np.random.default_rng(seed)).flow()
        bound = flow.bound(0.1)
        best = optimum(flow, bound=bound)
        for how in ("G-local", "G-ext", "G-full"):
            assert (
                best.resource_consumption
                <= greedy(flow, how, bound=bound).resource_consumption + 1e-6
            )
        assert lower_limit(flow, bound=bound) <= best.resource_consumption * (1 + 1e-9)


def test_repartitioning_in_the_dependency_graph_keeps_trees_trees():
    choices = Choices(repartition="dependencies")
    flow = draw("B", "medium", rng=np.random.default_rng(0), choices=choices).flow()
    bound = flow.bound(0.1)
    labels, program = (optimum(flow, bound=bound, method=m) for m in ("labels", "milp"))
    assert labels.resource_consumption == pytest.approx(program.resource_consumption, rel=1e-6)


def test_no_slack_keeps_a_plan_and_infinite_slack_minimises_consumption():
    flow = draw("C", "medium", rng=np.random.default_rng(0)).flow()
    tight = optimum(flow, bound=flow.bound(0))
    assert tight.running_time <= flow.running_time(flow.initial) * (1 + 1e-9)
    assert tight.resource_consumption <= flow.resource_consumption(flow.initial)
    loose = optimum(flow, bound=np.inf)
    assert loose.method == "elimination"
    assert loose.resource_consumption == pytest.approx(front(flow)["resource_consumption"].min())


def test_sweep_lies_on_the_front():
    flow = draw("C", "small", rng=np.random.default_rng(0)).flow()
    whole, swept = front(flow), front(flow, points=8)
    assert set(swept["plan"]) <= set(whole["plan"])
    assert swept["plan"].iloc[0] == whole["plan"].iloc[0]
    assert swept["plan"].iloc[-1] == whole["plan"].iloc[-1]
    followed = []
    front(flow, points=3, progress=lambda bounds: followed.extend(bounds) or bounds)
    assert len(followed) == 3


def test_infeasible_bound_is_refused_by_both_methods():
    flow = draw("C", "small", rng=np.random.default_rng(0)).flow()
    least = flow.running_time(fastest(flow))
    for method in ("auto", "labels", "milp"):
        with pytest.raises(DataflowError, match="no plan keeps the bound"):
            optimum(flow, bound=0.99 * least, method=method)
    assert optimum(flow, bound=least).running_time == pytest.approx(least)


def clique(n):
    return random_flow(n, [(i, j) for j in range(n) for i in range(j)], 5, (8, 96))


def test_a_graph_too_wide_for_elimination_is_solved_by_the_program(monkeypatch):
    flow = clique(8)
    expected = optimum(flow, bound=flow.bound(0.2))
    monkeypatch.setattr("sparkpart.exact.eliminate", lambda costs: eliminate(costs, most=2))
    monkeypatch.setattr(
        "sparkpart.exact.fastest", lambda flow: eliminate(costs_of(flow, 1, 0), most=2)
    )
    with pytest.raises(TooWideError):
        lower_limit(flow, bound=flow.bound(0.2))
    found = optimum(flow, bound=flow.bound(0.2))
    assert found.method == "milp"
    assert found.resource_consumption == pytest.approx(expected.resource_consumption, rel=1e-6)
    assert len(front(flow, points=3)) >= 1
    with pytest.raises(DataflowError, match="no plan keeps the bound"):
        optimum(flow, bound=0.01)


def test_no_time_leaves_the_best_plan_known_with_its_gap():
    flow = draw("D", "large", rng=np.random.default_rng(0)).flow()
    bound = flow.bound(0.1)
    found = optimum(flow, bound=bound, time_limit=1e-3)
    assert found.running_time <= bound
    assert found.gap >= 0
    assert found.limit <= optimum(flow, bound=bound).resource_consumption * (1 + 1e-9)


def test_forest_ignores_direction_and_vertices_without_choice():
    flow = random_flow(4, [(0, 2), (1, 2), (2, 3)], 0)
    assert is_forest(costs_of(flow, 1.0, 0.0))
    triangle = [Edge(*pair) for pair in ("ab", "bc", "ac")]
    cycle = Dataflow([Vertex(n, {1: 1.0, 2: 1.0}) for n in "abc"], triangle)
    assert not is_forest(costs_of(cycle, 1.0, 0.0))
    with pytest.raises(DataflowError, match="trees only"):
        optimum(cycle, bound=9.0, method="labels")
    with pytest.raises(DataflowError, match="trees only"):
        front(cycle)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [({"bound": np.nan}, "not a number"), ({"bound": 9.0, "method": "x"}, "unknown method 'x'")],
)
def test_bad_arguments_are_refused(arguments, message):
    with pytest.raises(DataflowError, match=message):
        optimum(Dataflow([Vertex("a", {1: 1.0})]), **arguments)


def test_too_few_points_are_refused():
    with pytest.raises(DataflowError, match="points is 1"):
        front(Dataflow([Vertex("a", {1: 1.0})]), points=1)


def scaled(flow, factor):
    """Return a flow with all times multiplied."""
    vertices = [
        Vertex(name, {d: factor * row[list(flow.degrees).index(d)] for d in flow.allowed(v)})
        for v, (name, row) in enumerate(zip(flow.names, flow.time, strict=True))
    ]
    edges = []
    for (v, w), table in zip(flow.ends, factor * flow.repartition, strict=True):
        at = partial(np.searchsorted, flow.degrees)
        edges.append(
            Edge(flow.names[v], flow.names[w], lambda s, r, t=table, at=at: t[at(s), at(r)])
        )
    return Dataflow(vertices, edges)


@pytest.mark.parametrize("factor", [1e-8, 1e6])
def test_program_is_exact_for_microseconds_and_years(factor):
    edges = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 4), (3, 4)]
    for seed in range(20):
        flow = scaled(random_flow(5, edges, seed, SMALL), factor)
        bound = flow.bound(0.05)
        found = optimum(flow, bound=bound, method="milp")
        assert found.resource_consumption == pytest.approx(best_by_force(flow, bound), rel=1e-6)


def test_points_of_a_sweep_do_not_beat_each_other():
    """All plans consume 12 node s; only the fastest belongs to the front."""
    vertices = [Vertex("a", {1: 6.0, 3: 2.0, 6: 1.0}), Vertex("b", {1: 6.0, 3: 2.0})]
    table = front(Dataflow(vertices), points=9)
    assert (np.diff(table["running_time"]) > 0).all()
    assert (np.diff(table["resource_consumption"]) < 0).all()
