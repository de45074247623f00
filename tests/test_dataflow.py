"""Data flows: totals, the dependency graph, and everything that makes no sense refused."""

import numpy as np
import pytest
from flows import dags, random_flow
from hypothesis import given, settings
from hypothesis import strategies as st
from partitioning_reference import Flow

from sparkpart import Dataflow, DataflowError, Edge, Vertex

TWO = {8: 10.0, 16: 6.0}


def constant(seconds):
    return lambda s, r: np.full(np.shape(s), float(seconds))


def test_figure5_by_hand():
    flow = Dataflow(
        [Vertex("a", {96: 500.0}), Vertex("b", {96: 420.0, 32: 450.0})], [Edge("a", "b")]
    )
    assert flow.running_time([96, 96]) == 920
    assert flow.resource_consumption([96, 96]) == 88320
    assert flow.running_time([96, 32]) == 950
    assert flow.resource_consumption([96, 32]) == 62400


def test_repartitioning_occupies_the_larger_end_by_hand():
    edge = Edge("a", "b", lambda s, r: s + r / 100)
    flow = Dataflow([Vertex("a", TWO), Vertex("b", TWO)], [edge])
    assert flow.running_time([8, 16]) == pytest.approx(10 + 6 + 8.16)
    assert flow.resource_consumption([8, 16]) == pytest.approx(80 + 96 + 16 * 8.16)
    assert flow.running_time([16, 8]) == pytest.approx(6 + 10 + 16.08)
    assert flow.resource_consumption([16, 8]) == pytest.approx(96 + 80 + 16 * 16.08)


def test_no_edge_is_charged_between_equal_degrees_whatever_its_function_says():
    flow = Dataflow([Vertex("a", TWO), Vertex("b", TWO)], [Edge("a", "b", constant(5))])
    assert flow.running_time([8, 8]) == 20


@settings(max_examples=60, deadline=None)
@given(dags(), st.integers(0, 2**32 - 1))
def test_totals_and_dependency_graph_are_those_of_the_plain_implementation(shape, seed):
    flow = random_flow(*shape, seed)
    plain = Flow.of(flow)
    rng = np.random.default_rng(seed)
    plan = [int(rng.choice(flow.allowed(v))) for v in range(len(flow.names))]
    named = dict(zip(flow.names, plan, strict=True))
    assert flow.running_time(plan) == pytest.approx(plain.rt(named), rel=1e-12)
    assert flow.resource_consumption(plan) == pytest.approx(plain.rc(named), rel=1e-12)
    edges = [(flow.names[v], flow.names[w]) for v, w in flow.dependencies]
    assert edges == plain.dependency_graph()


@settings(max_examples=40, deadline=None)
@given(dags(), st.integers(0, 2**32 - 1))
def test_order_and_names_change_no_total(shape, seed):
    flow = random_flow(*shape, seed)
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(flow.names))
    vertices = [Vertex(f"other {flow.names[v]}", times(flow, v)) for v in order]
    edges = [
        Edge(f"other {flow.names[v]}", f"other {flow.names[w]}", table(flow, k))
        for k, (v, w) in enumerate(flow.ends)
    ]
    other = Dataflow(vertices, [edges[k] for k in rng.permutation(len(edges))])
    plan = {name: int(rng.choice(flow.allowed(v))) for v, name in enumerate(flow.names)}
    here = [plan[name] for name in flow.names]
    there = [plan[name.removeprefix("other ")] for name in other.names]
    assert other.running_time(there) == pytest.approx(flow.running_time(here), rel=1e-12)
    assert other.resource_consumption(there) == pytest.approx(
        flow.resource_consumption(here), rel=1e-12
    )


def times(flow, v):
    return {d: float(flow.time[v, np.searchsorted(flow.degrees, d)]) for d in flow.allowed(v)}


def table(flow, k):
    def seconds(s, r):
        return flow.repartition[
            k, np.searchsorted(flow.degrees, s), np.searchsorted(flow.degrees, r)
        ]

    return seconds


def test_dependency_graph_of_three_children_by_hand():
    flow = Dataflow([Vertex(n, TWO) for n in "abcd"], [Edge("a", n) for n in "bcd"])
    assert flow.dependencies.tolist() == [[0, 1], [1, 2], [2, 3]]
    assert flow.cached().ends.tolist() == [[0, 1], [1, 2], [2, 3]]
    assert flow.cached().dependencies.tolist() == flow.dependencies.tolist()


def test_cached_flow_pays_once_for_siblings_that_move_together():
    edges = [Edge("a", n, constant(2)) for n in "bc"]
    flow = Dataflow([Vertex(n, TWO) for n in "abc"], edges)
    assert flow.running_time([16, 8, 8]) == 6 + 10 + 10 + 2 * 2
    assert flow.cached().running_time([16, 8, 8]) == 6 + 10 + 10 + 2


def test_cached_flow_pays_between_siblings_of_a_fixed_parent():
    vertices = [Vertex("a", {96: 1}), Vertex("b", {8: 1, 96: 1}), Vertex("c", {8: 1, 16: 1})]
    edges = [Edge("a", "b", constant(2)), Edge("a", "c", lambda s, r: 10 + s / r)]
    flow = Dataflow(vertices, edges)
    assert flow.running_time([96, 8, 16]) == 3 + 2 + 10 + 96 / 16
    assert flow.cached().running_time([96, 8, 16]) == 3 + 2 + 10 + 8 / 16


def test_a_vertex_listed_before_its_parent_is_processed_after_it():
    flow = Dataflow([Vertex("b", TWO), Vertex("a", TWO)], [Edge("a", "b")])
    assert flow.names == ("a", "b")


def test_initial_plan_is_the_largest_degree_or_what_is_asked():
    flow = Dataflow([Vertex("a", TWO), Vertex("b", TWO, initial=8)])
    assert flow.initial.tolist() == [16, 8]


def test_bound_of_no_and_of_infinite_slack():
    flow = Dataflow([Vertex("a", TWO)])
    assert flow.bound(0) == 6
    assert flow.bound(np.inf) == np.inf


@pytest.mark.parametrize("slack", [-0.1, np.nan])
def test_bad_slack_is_refused(slack):
    with pytest.raises(DataflowError, match="slack"):
        Dataflow([Vertex("a", TWO)]).bound(slack)


def v(name="a", seconds=None, **more):
    return Vertex(name, TWO if seconds is None else seconds, **more)


@pytest.mark.parametrize(
    ("vertices", "edges", "message"),
    [
        ([], [], "a data flow needs at least one vertex"),
        ([v(), v()], [], "vertex a is listed twice"),
        ([v("a", {})], [], "vertex a: no degree"),
        ([v("a", {0: 1.0})], [], "vertex a: degree 0 is not a whole number from 1"),
        ([v("a", {8.5: 1.0})], [], "vertex a: degree 8.5 is not"),
        ([v("a", {True: 1.0})], [], "vertex a: degree True is not"),
        ([v("a", {10**20: 1.0})], [], "vertex a: degree 100000000000000000000 is not"),
        ([v("a", {8: 1e300})], [], "vertex a: the running time at degree 8 is 1e.300 s"),
        ([v("")], [], "vertex '': a name"),
        ([v("a\nb")], [], r"vertex 'a\\nb': a name"),
        ([v(7)], [], "vertex 7: a name"),
        ([v("a", {8: float("nan")})], [], "vertex a: the running time at degree 8 is nan"),
        ([v("a", {8: float("inf")})], [], "vertex a: the running time at degree 8 is inf"),
        ([v("a", {8: -1.0})], [], "vertex a: the running time at degree 8 is -1"),
        ([v("a"), v("b", {8: 0.0})], [("a", "b")], "vertex b: the running time at degree 8 is 0"),
        ([v("a", initial=9)], [], "vertex a: the initial degree 9 is not among"),
        ([v("a")], [("a", "x")], "edge a -> x: there is no vertex x"),
        ([v("a")], [("x", "a")], "edge x -> a: there is no vertex x"),
        ([v("a")], [("a", "a")], "edge a -> a: a vertex cannot be its own parent"),
        ([v("a"), v("b")], [("a", "b"), ("a", "b")], "edge a -> b is listed twice"),
        ([v("a"), v("b"), v("c")], [("a", "b"), ("b", "c"), ("c", "a")],
         "the edges form a cycle: a -> b -> c -> a"),
    ],
)  # fmt: skip
def test_bad_flows_are_refused_by_name(vertices, edges, message):
    with pytest.raises(DataflowError, match=f"^{message}"):
        Dataflow(vertices, [Edge(*pair) for pair in edges])


@pytest.mark.parametrize("seconds", [-1, np.nan, np.inf])
def test_bad_repartitioning_times_are_refused_by_edge_and_degrees(seconds):
    with pytest.raises(DataflowError, match="edge a -> b: repartitioning from 8 to 16 nodes"):
        Dataflow([v("a"), v("b")], [Edge("a", "b", constant(seconds))])


def test_repartitioning_is_asked_only_for_allowed_and_different_degrees():
    asked = []

    def seconds(s, r):
        asked.extend(zip(s.tolist(), r.tolist(), strict=True))
        return np.ones_like(s)

    Dataflow([v("a", {96: 1.0}), v("b", {8: 1.0, 96: 1.0})], [Edge("a", "b", seconds)])
    assert asked == [(96, 8)]


def test_a_source_may_take_no_time():
    flow = Dataflow([v("a", {8: 0.0}), v("b")], [Edge("a", "b")])
    assert flow.running_time([8, 8]) == 10


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        ([8], "needs 2 degrees"),
        ([8, 12], "vertex b: degree 12"),
        ([200, 8], "vertex a: degree 200"),
    ],
)
def test_bad_plans_are_refused(plan, message):
    flow = Dataflow([v("a"), v("b")])
    with pytest.raises(DataflowError, match=message):
        flow.running_time(plan)
