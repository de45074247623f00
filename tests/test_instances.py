"""Synthetic flows: the declared shapes and the random profiles with their open choices."""

from collections import Counter

import numpy as np
import pytest

from sparkpart import DataflowError, published
from sparkpart.fastest import costs_of, is_forest
from sparkpart.instances import SIZES, TYPES, Choices, draw, shape


def rng(seed=0):
    return np.random.default_rng(seed)


def degrees_in(pairs):
    return Counter(child for _, child in pairs)


def degrees_out(pairs):
    return Counter(parent for parent, _ in pairs)


@pytest.mark.parametrize("shapes", ["first", "second"])
@pytest.mark.parametrize("n", SIZES.values())
class TestShapes:
    """What the paper says of each type."""

    def names(self, pairs):
        return {name for pair in pairs for name in pair}

    @pytest.mark.parametrize("kind", TYPES)
    def test_size_counts_what_is_no_source_and_edges_lead_onwards(self, shapes, n, kind):
        pairs = shape(kind, n, shapes)
        assert len(pairs) == len(set(pairs))
        roots = self.names(pairs) - set(degrees_in(pairs))
        assert roots == {name for name in self.names(pairs) if name.startswith("s")}
        assert self.names(pairs) - roots == {f"v{i}" for i in range(1, n + 1)}
        assert all(a.startswith("s") or int(a[1:]) < int(b[1:]) for a, b in pairs)

    def test_a_is_a_chain(self, shapes, n):
        pairs = shape("A", n, shapes)
        assert set(degrees_in(pairs).values()) == set(degrees_out(pairs).values()) == {1}

    def test_b_has_one_source_several_sinks_and_unary_vertices(self, shapes, n):
        pairs = shape("B", n, shapes)
        assert set(degrees_in(pairs).values()) == {1}
        assert len(self.names(pairs) - set(degrees_in(pairs))) == 1
        assert len(self.names(pairs) - set(degrees_out(pairs))) > 1

    def test_c_is_a_tree_with_several_sources_one_sink_and_binary_vertices(self, shapes, n):
        pairs = shape("C", n, shapes)
        assert set(degrees_out(pairs).values()) == {1}
        assert max(degrees_in(pairs).values()) == 2
        assert len(self.names(pairs) - set(degrees_out(pairs))) == 1
        assert len(self.names(pairs) - set(degrees_in(pairs))) > 1
        assert len(pairs) == len(self.names(pairs)) - 1

    def test_d_has_vertices_with_three_inputs_and_is_no_tree(self, shapes, n):
        pairs = shape("D", n, shapes)
        assert max(degrees_in(pairs).values()) == 3
        assert len(pairs) > len(self.names(pairs)) - 1

    def test_e_extends_b_to_no_tree(self, shapes, n):
        tree, pairs = shape("B", n, shapes), shape("E", n, shapes)
        assert set(tree) < set(pairs)


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("size", SIZES)
def test_flow_has_the_size_and_its_sources_are_fixed_at_96(kind, size):
    flow = draw(kind, size, rng=rng()).flow()
    assert len(flow.names) - len(flow.sources) == SIZES[size]
    assert flow.movable.sum() == SIZES[size]
    assert all(flow.allowed(v) == [96] for v in flow.sources)
    assert flow.initial.tolist() == [96] * len(flow.names)
    assert flow.degrees.tolist() == list(range(8, 97, 8))
    assert is_forest(costs_of(flow, 1.0, 0.0)) == (kind in "ABC")


@pytest.mark.parametrize("equation", ["eq4", "eq5"])
def test_every_parameter_stays_within_30_percent_and_differs(equation):
    instance = draw("D", "large", rng=rng(), choices=Choices(equation=equation))
    for name, program in instance.programs.items():
        base = published.coefficients(program, equation)
        ratios = [instance.profiles[name][k] / base[k] for k in base if base[k] != 0]
        assert all(0.7 <= ratio <= 1.3 for ratio in ratios)
        assert len({round(ratio, 9) for ratio in ratios}) == len(ratios)
    for values in instance.repartition.values():
        base = published.EQUATION_6
        assert all(0.7 <= values[k] / base[k] <= 1.3 for k in base)


def test_one_factor_per_vertex_scales_the_profile_alone():
    instance = draw("A", "small", rng=rng(), choices=Choices(factor="vertex", equation="eq4"))
    for name, program in instance.programs.items():
        base = published.coefficients(program, "eq4")
        ratios = {
            round(instance.profiles[name][k] / base[k], 9) for k in base if base[k] and k != "e"
        }
        assert len(ratios) == 1
        assert instance.profiles[name]["e"] == base["e"]


def test_all_programs_are_drawn_about_equally_often():
    drawn = Counter(p for k in range(60) for p in draw("C", "large", rng=rng(k)).programs.values())
    assert set(drawn) == set(published.PROGRAMS)
    share = np.array([*drawn.values()]) / drawn.total()
    assert abs(share - 1 / 9).max() < 0.04  # 1380 draws: one standard error is 0.008


def test_same_seed_gives_the_same_instance():
    assert draw("E", "medium", rng=rng(4)) == draw("E", "medium", rng=rng(4))
    assert draw("E", "medium", rng=rng(4)) != draw("E", "medium", rng=rng(5))


def test_free_sources_take_no_time():
    flow = draw("C", "small", rng=rng(), choices=Choices(sources="free")).flow()
    assert flow.time[flow.sources].min() == 0


def test_redrawn_times_are_positive_and_clipped_ones_at_least_a_second():
    for k in range(20):
        flow = draw("A", "large", rng=rng(k)).flow()
        assert (flow.time > 0).all()
        choices = Choices(nonpositive="clip", equation="eq4")
        assert draw("A", "large", rng=rng(k), choices=choices).flow().time.min() >= 1


def test_perturbing_without_redrawing_would_give_nonpositive_times():
    """Why the choice matters: some clipped profiles are at the least time."""
    choices = Choices(nonpositive="clip")
    flows = [draw("A", "large", rng=rng(k), choices=choices).flow() for k in range(20)]
    assert any((flow.time == 1.0).any() for flow in flows)


def test_measured_degrees_are_the_ten_of_the_tables():
    flow = draw("A", "small", rng=rng(), choices=Choices(degrees="as measured")).flow()
    assert flow.degrees.tolist() == [8, 16, 24, 32, 40, 48, 56, 64, 80, 96]


def test_repartitioning_in_the_dependency_graph_leaves_times_and_moves_edges():
    first = draw("B", "medium", rng=rng()).flow()
    other = draw("B", "medium", rng=rng(), choices=Choices(repartition="dependencies")).flow()
    assert other.time.tolist() == first.time.tolist()
    assert other.ends.tolist() == first.dependencies.tolist() != first.ends.tolist()


def test_perturbed_instance_keeps_programs_and_moves_every_parameter_by_at_most_30_percent():
    instance = draw("C", "small", rng=rng())
    other = instance.perturbed(rng(1))
    assert other.programs == instance.programs
    for name, values in instance.profiles.items():
        ratios = [other.profiles[name][k] / values[k] for k in values if values[k]]
        assert all(0.7 <= ratio <= 1.3 for ratio in ratios)
        assert ratios != [1.0] * len(ratios)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: draw("F", "small", rng=rng()), "unknown shape 'F'"),
        (lambda: draw("A", "tiny", rng=rng()), "unknown size 'tiny'"),
        (lambda: shape("A", 0), "0 vertices"),
        (lambda: shape("A", 5, "third"), "'third'"),
    ],
)
def test_unknown_names_are_refused(call, message):
    with pytest.raises(DataflowError, match=message):
        call()
