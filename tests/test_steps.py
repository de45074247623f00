"""Algorithm 3 step by step: the constructed example and the course of the penalty, by hand."""

import numpy as np
import pytest

from flex.experiments import (
    author_match,
    author_node,
    author_points,
    overflow_by_request,
    penalty_paths,
    request_variation,
    six_nodes,
)


def test_six_nodes_by_hand():
    steps = six_nodes()
    placed = {(row.minute, row.node): row.placed for row in steps.itertuples() if row.placed}
    assert placed == {
        (0, "node-1"): "6", (0, "node-2"): "5", (0, "node-3"): "4", (0, "node-4"): "3",
        (0, "node-5"): "2", (0, "node-6"): "1", (1, "node-2"): "8", (1, "node-3"): "7",
        (2, "node-2"): "10", (2, "node-3"): "9", (3, "node-6"): "11", (4, "node-5"): "12",
        (8, "node-4"): "13",
    }  # fmt: skip
    late = steps[steps["minute"] == 6]
    assert late.set_index("node")["memory_demand"]["node-2"] == 140 / 128
    # Six of twelve tasks, those of two nodes, get less than they request and demand.
    assert late["qos"].iloc[0] == 0.5
    by_minute = steps.groupby("minute")["penalty"].first()
    assert by_minute[7] == pytest.approx(by_minute[6] + by_minute[6] - 1, rel=1e-6)


def test_other_methods_place_by_requests():
    steps = six_nodes("LeastFit")
    assert (steps["memory_request"] <= 1).all()


def test_penalty_paths_by_hand():
    table = penalty_paths().pivot(index="minute", columns="rule", values="penalty")
    assert table["Section 4.3, P_min = 1"].iloc[19:].eq(1).all()
    assert table["Section 4.2, P_min = 1.1"].iloc[19:].eq(1.1).all()
    free = table["Section 4.3, P_min = 1.1"]
    assert [round(p, 9) for p in free[60:66]] == [1.2, 1.4, 1.8, 2.6, 4.2, 7.4]
    assert free[66] == pytest.approx(7.4)  # low, but not falling
    author = table["author's program"]
    assert author[[60, 61, 65]].round(5).tolist() == [1.2, 1.2, 1.2]


def test_author_match():
    table = author_match().set_index(["rules", "method"])
    assert (table["values"] == 180 * (10 * 7 + 5)).all()
    assert (table.loc["author's", "mismatches"] == 0).all()
    assert table.loc["intended sharing", "mismatches"]["Oversub"] > 0
    assert (table.loc["P_min = 1", "mismatches"] > 0).all()


def test_author_node_is_the_same_twice():
    node = author_node()
    np.testing.assert_array_equal(node["author"], node["ours"])
    assert len(node) == 3 * 180


def test_overflow_by_hand():
    table = overflow_by_request(total=1.5).set_index("request")
    assert table["intended"][300] == pytest.approx(200)
    # 2**37 * 32 MiB fits; 2**37 * 64 MiB is 2**63, which wraps to -2**63.
    assert table["overflow"][32] == pytest.approx(32 / 1.5)
    assert table["overflow"][64] == pytest.approx(-64 / 1.5)
    assert table["overflow"][128] == 0
    assert table["overflow"][130] == pytest.approx(2 / 1.5)


def test_published_points_and_real_variation():
    points = author_points()
    assert len(points) == 144
    at = points.query("figure == 10 and value == 4000 and metric == 'violated_tasks'")
    assert at.set_index("method")["percent"].to_dict() == {
        "LeastFit": 0, "Oversub": 2.5, "FlexF": 0.7, "FlexL": 0.7,
    }  # fmt: skip
    found = request_variation().set_index("resource")
    assert found["correlation"]["cpu"] > 0.2
    assert found["correlation"]["memory"] < -0.5
    assert (found["jobs"] == 125).all()
