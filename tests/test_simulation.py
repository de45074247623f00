"""The simulator: against the author's program, a plain second implementation, and invariants."""

from dataclasses import replace

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st

from flex.data import author_run, author_tasks
from flex.normalised import read_normalised
from flex.rules import AUTHOR, PAPER, Rules
from flex.schedulers import FLEX_F, FLEX_L, LEAST_FIT, OVERSUB, Node, Policy, Task
from flex.simulation import NODE_COLUMNS, QUEUE_COLUMNS, node_names, simulate
from flex.workload import CPU_CAPACITY, MEMORY_CAPACITY, Workload, WorkloadError

METHODS = ("FirstFit", "LeastFit", "Oversub", "FlexF", "FlexL")
C = np.array([CPU_CAPACITY, MEMORY_CAPACITY])


def day(*tasks):
    """A workload of (arrival, job, cpu, memory, samples)."""
    arrival, job, cpu, memory, samples = zip(*tasks, strict=True)
    return Workload.from_tasks(arrival, job, list(zip(cpu, memory, strict=True)), samples)


@st.composite
def workloads(draw, largest=24):
    """Tasks of all sizes on the coarse grid of the author's converter; some request nothing."""
    shares = st.sampled_from([0, 1, 3, 10, 32, 50, 64, 100])
    n = draw(st.integers(1, largest))
    arrival = sorted(draw(st.lists(st.integers(0, 900), min_size=n, max_size=n)))
    tasks = []
    for time in arrival:
        samples = draw(
            st.lists(
                st.tuples(st.sampled_from([0, 30, 60, 90, 300]), shares, shares),
                min_size=1, max_size=14,
            )
        )  # fmt: skip
        unit = CPU_CAPACITY // 100, MEMORY_CAPACITY // 100
        tasks.append(
            (time, draw(st.integers(0, 4)), draw(shares) * unit[0], draw(shares) * unit[1],
             [(s, cpu * unit[0], memory * unit[1]) for s, cpu, memory in samples])
        )  # fmt: skip
    return day(*tasks)


rules = st.builds(
    Rules,
    sharing=st.sampled_from(["intended", "overflow"]),
    load=st.sampled_from(["demand", "usage"]),
    fresh=st.sampled_from(["request", "penalised", "nothing"]),
    penalty_in_percent=st.booleans(),
    start_penalty=st.sampled_from([1.5, 1.2]),
    min_penalty=st.sampled_from([1.0, 1.1]),
    max_penalty=st.sampled_from([3.0, float("inf")]),
    base=st.sampled_from(["one", "minimum"]),
    raise_when=st.sampled_from(["falling", "onset", "always"]),
    failures=st.sampled_from([None, 0, 2]),
    queue=st.sampled_from(["heap", "stable"]),
    loaded_samples=st.sampled_from([None, 1, 2, 3, 10]),
    single_precision=st.booleans(),
)


@pytest.mark.parametrize("method", ["LeastFit", "Oversub", "FlexF", "FlexL"])
def test_equals_the_authors_program_bit_for_bit(method):
    recorded = author_run(method)
    result = simulate(author_tasks(), method, nodes=10, ticks=180, record_nodes=True)
    assert tuple(recorded["node_cols"]) == NODE_COLUMNS
    assert tuple(recorded["queue_cols"]) == QUEUE_COLUMNS
    assert list(recorded["nodes"]) == node_names(10)
    np.testing.assert_array_equal(result.nodes, recorded["node"])
    single = result.queue.astype(np.float32)
    np.testing.assert_array_equal(single, recorded["queue"].astype(np.float32))


def test_the_recorded_runs_depend_on_the_overflow():
    intended = replace(AUTHOR, sharing="intended")
    result = simulate(author_tasks(), "Oversub", 10, 180, intended, record_nodes=True)
    assert (result.nodes != author_run("Oversub")["node"]).any()


def equal_to_reference(workload, nodes, ticks, method, chosen):
    expected = reference.simulate(reference.tasks_of(workload), nodes, ticks, method, chosen)
    result = simulate(workload, method, nodes, ticks, chosen, record_nodes=True)
    np.testing.assert_array_equal(result.nodes, np.array(expected["node"]))
    for name in ("qos", "penalty", "pending", "satisfied", "running"):
        np.testing.assert_array_equal(result.history[name], expected[name], err_msg=name)
    placed = {t: (int(k), None) for t, k in enumerate(result.bound) if k >= 0}
    assert placed.keys() == expected["placed"].keys()
    assert all(expected["placed"][t][0] == tick for t, (tick, _) in placed.items())
    assert set(np.flatnonzero(result.node == -2)) == expected["finished"]


@settings(max_examples=100, deadline=None)
@given(workloads(), st.integers(1, 12), st.sampled_from(METHODS), rules)
def test_equals_a_plain_implementation_with_rules_at_random(workload, nodes, method, chosen):
    equal_to_reference(workload, nodes, 30, method, chosen)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("chosen", [AUTHOR, PAPER], ids=["author", "paper"])
def test_equals_a_plain_implementation_on_real_tasks(samples, method, chosen):
    workload, _ = read_normalised(samples / "google2011" / "google2011_1000tasks.npz")
    equal_to_reference(workload.first(400), 12, 60, method, chosen)


def test_26_of_1000_real_tasks_end_early_under_the_authors_loading_of_samples(samples):
    workload, _ = read_normalised(samples / "google2011" / "google2011_1000tasks.npz")
    ticks = int(workload.duration.max()) // 60 + 20
    ended = [
        simulate(workload, "Oversub", 1000, ticks, rule, record_nodes=True).nodes[..., 6].sum()
        for rule in (AUTHOR, replace(AUTHOR, loaded_samples=None))
    ]
    assert ended[0] < ended[1]
    last = simulate(workload, "Oversub", 1000, 1439, replace(AUTHOR, loaded_samples=None)).node
    early = simulate(workload, "Oversub", 1000, 1439, AUTHOR).node
    assert ((early == -2) & (last >= 0)).sum() <= 26


@settings(max_examples=40, deadline=None)
@given(workloads(), st.integers(1, 6), st.sampled_from(METHODS), st.sampled_from([AUTHOR, PAPER]))
def test_no_task_is_lost_or_doubled(workload, nodes, method, chosen):
    result = simulate(workload, method, nodes, 40, chosen, record_nodes=True)
    history = result.history
    assert (history.submitted == history.pending + history.running + history.finished).all()
    assert (result.nodes[..., 6].sum(axis=1) == history.running).all()
    assert (result.node >= 0).sum() == history.running.iloc[-1]
    assert ((result.bound >= 0) == (result.node != -1)).all()
    bound = result.bound >= 0
    assert (result.bound[bound] * 60 >= workload.arrival[bound]).all()


@settings(max_examples=40, deadline=None)
@given(workloads(), st.integers(1, 6), st.sampled_from(METHODS), st.booleans())
def test_paper_rules_allocate_at_most_demand_and_capacity(workload, nodes, method, overflow):
    """Under the overflow an allocation may be negative, but never above demand."""
    chosen = replace(PAPER, sharing="overflow" if overflow else "intended")
    seen = simulate(workload, method, nodes, 40, chosen, record_nodes=True).nodes
    demand, usage = seen[..., 2:4], seen[..., 4:6]
    assert (usage <= demand).all()
    if not overflow:
        assert (usage >= 0).all()
        assert (usage <= C).all()
        assert (usage[demand <= C] == demand[demand <= C]).all()
        # All of an overloaded node is given out, up to one unit a task lost to whole numbers.
        assert (usage[demand > C] > (np.broadcast_to(C, usage.shape) - 25)[demand > C]).all()


@settings(max_examples=40, deadline=None)
@given(workloads(), st.integers(1, 6), st.sampled_from(["FirstFit", "LeastFit"]))
def test_without_oversubscription_the_intended_sharing_never_violates(workload, nodes, method):
    result = simulate(workload, method, nodes, 40, PAPER, record_nodes=True)
    assert (result.nodes[..., :2] <= C).all()
    assert (result.history.qos == 1).all()


def test_least_fit_can_violate_under_the_overflow():
    half = MEMORY_CAPACITY // 2
    # 64 GiB times 128 GiB is a multiple of 2**64: the guarantee of the first task vanishes.
    workload = day((0, 0, 0, half, [(600, 0, half)]), (0, 1, 0, 2**20, [(600, 0, MEMORY_CAPACITY)]))
    qos = {s: simulate(workload, "LeastFit", 1, 5, replace(PAPER, sharing=s)).history.qos.min()
           for s in ("overflow", "intended")}  # fmt: skip
    assert qos == {"overflow": 0.5, "intended": 1.0}


def test_throttled_node_by_hand():
    """C = 64,000; R = 80,000: guarantees 0.8 of each request, the rest by unmet demand."""
    workload = day(
        (0, 0, 40_000, 0, [(600, 50_000, 0)]),
        (0, 1, 30_000, 0, [(600, 30_000, 0)]),
        (0, 2, 10_000, 0, [(600, 1_000, 0)]),
    )
    result = simulate(workload, "Oversub", 1, 1, PAPER, record_nodes=True)
    # Guaranteed 32,000 + 24,000 + 1,000; 7,000 left for unmet 18,000 and 6,000: 5,250 and 1,750.
    np.testing.assert_array_equal(result.nodes[0, 0, :6], [80_000, 0, 81_000, 0, 64_000, 0])
    assert result.history.satisfied.iloc[0] == 1  # only the third


def test_same_bits_again_and_in_parallel():
    from joblib import Parallel, delayed

    runs = [simulate(author_tasks(), "FlexL", 10, 60, record_nodes=True) for _ in range(2)]
    runs += Parallel(n_jobs=2)(
        delayed(simulate)(author_tasks(), "FlexL", 10, 60, record_nodes=True) for _ in range(2)
    )
    for other in runs[1:]:
        np.testing.assert_array_equal(other.nodes, runs[0].nodes)
        assert other.history.equals(runs[0].history)


def test_order_of_equal_tasks_changes_no_sum():
    workload = author_tasks()
    same = np.lexsort((workload.cpu_request, workload.arrival))
    swapped = Workload(
        workload.arrival[same], workload.job[same], workload.cpu_request[same],
        workload.memory_request[same], workload.series[same], workload.offset,
        workload.sample_end, workload.cpu_demand, workload.memory_demand,
    )  # fmt: skip
    columns = ["submitted", "running", "cpu_request", "memory_request", "cpu_demand"]
    one, other = (simulate(w, "Oversub", 600, 120).history[columns] for w in (workload, swapped))
    assert one.equals(other)


def test_large_cluster_admits_everything_at_once():
    workload = author_tasks()
    for method in METHODS:
        result = simulate(workload, method, 600, 200, PAPER)
        assert (result.history.pending == 0).all()
        np.testing.assert_array_equal(result.bound, -(-workload.arrival // 60))


def test_blocks_of_nodes_do_not_change_the_choice(monkeypatch):
    """More nodes than one block, all equal: the last one in the order of names is taken."""
    workload = day(*[(0, j, 1000, 2**30, [(600, 1000, 2**30)]) for j in range(3)])
    result = simulate(workload, "LeastFit", 200, 1)
    assert result.node.tolist() == [199, 198, 197]


def fullest(node: Node, task: Task) -> float:
    return node.memory_request


def fits(node: Node, task: Task) -> bool:
    return node.memory_request + task.memory_request <= node.memory_capacity


def test_own_policy_in_a_few_lines():
    gib = 2**30
    workload = day(*[(0, j, 0, s * gib, [(600, 0, gib)]) for j, s in enumerate([60, 80, 40, 60])])
    result = simulate(workload, Policy("Mine", fits, fullest, monotone=True), 3, 1)
    assert result.node.tolist() == [2, 1, 1, 2]


def test_own_order_of_the_queue():
    gib = 2**30
    smallest = Policy("Small", fits, fullest, priority=lambda task: -task.memory_request)
    workload = day(*[(0, j, 0, s * gib, [(600, 0, gib)]) for j, s in enumerate([90, 60, 30])])
    result = simulate(workload, smallest, 1, 1)
    assert result.node.tolist() == [-1, 0, 0]


def test_policy_that_reads_demand_sees_every_task_apart():
    """Two tasks of one job with the same requests but other peaks are no longer one class."""
    light, heavy = [(600, 1000, 2**30)], [(300, 1000, 2**30), (300, 60_000, 2**30)]
    workload = day((0, 0, 1, 1, heavy), (0, 0, 1, 1, light), (0, 0, 1, 1, heavy))
    result = simulate(workload, "Oracle", 2, 1)
    assert result.node[0] != result.node[2]
    assert simulate(workload, "Oracle", 1, 1).history.pending.iloc[0] == 1


@settings(max_examples=60, deadline=None)
@given(workloads(), st.integers(1, 6))
def test_oracle_never_violates(workload, nodes):
    assert (simulate(workload, "Oracle", nodes, 40, AUTHOR).history.qos == 1).all()


@settings(max_examples=50, deadline=None)
@given(workloads(), st.integers(1, 6), st.sampled_from([LEAST_FIT, OVERSUB, FLEX_F, FLEX_L]), rules)
def test_remembering_failures_changes_nothing(workload, nodes, policy, chosen):
    if chosen.fresh == "nothing":
        chosen = replace(chosen, fresh="request")
    results = [
        simulate(workload, replace(policy, monotone=m), nodes, 30, chosen, record_nodes=True)
        for m in (True, False)
    ]
    np.testing.assert_array_equal(results[0].nodes, results[1].nodes)


def test_nodes_with_a_score_of_nan_are_left_out():
    def no_number(node: Node, task: Task) -> float:
        return float("nan") if node.position > 0 else 1.0

    workload = day((0, 0, 1, 1, [(600, 1, 1)]))
    assert simulate(workload, Policy("NaN", fits, no_number), 5, 1).node.tolist() == [0]


def test_rejects_what_it_cannot_run():
    workload = day((0, 0, CPU_CAPACITY + 1, 0, [(60, 1, 1)]))
    with pytest.raises(WorkloadError, match="task 0: cpu_request must be at most 64000"):
        simulate(workload, "FlexF", 1, 1)
    fine = day((0, 0, 1, 1, [(60, 1, 1)]))
    with pytest.raises(ValueError, match="policy must be one of FirstFit"):
        simulate(fine, "Flex", 1, 1)
    with pytest.raises(ValueError, match="rules must be one of 'author', 'paper'; got 'x'"):
        simulate(fine, "FlexF", 1, 1, rules="x")
    for name in ("nodes", "ticks", "tick_s"):
        with pytest.raises(ValueError, match=f"{name} must be a whole number of at least 1; got 0"):
            simulate(fine, "FlexF", **{"nodes": 1, "ticks": 1, name: 0})
        with pytest.raises(ValueError, match=f"{name} must be a whole number of at least 1; got"):
            simulate(fine, "FlexF", **{"nodes": 1, "ticks": 1, name: 1.5})
    with pytest.raises(ValueError, match="workload must be a Workload; got str"):
        simulate("tasks.json", "FlexF", 1, 1)
    with pytest.raises(ValueError, match="record_nodes must be True or False; got 'no'"):
        simulate(fine, "FlexF", 1, 1, record_nodes="no")


def test_clock_ends_before_its_numbers_do():
    longest = day((0, 0, 1, 1, [(10**9, 1, 1)]))
    result = simulate(longest, "FlexF", 1, 10, tick_s=10**8)
    assert result.history["running"].tolist() == [1] * 9 + [0]
    with pytest.raises(ValueError, match="ticks times tick_s must be at most 1000000000 s; got"):
        simulate(longest, "FlexF", 1, 3, tick_s=10**9)


def test_largest_demand_is_summed_exactly():
    large = day(*[(0, k, 1, 1, [(600, 1, 2**58)]) for k in range(8)])
    history = simulate(large, "LeastFit", 1, 1, PAPER).history
    assert history["memory_demand"].tolist() == [2**61 / MEMORY_CAPACITY]
    assert history["memory_usage"].tolist() == [1.0]


def test_progress_is_told():
    seen = []
    simulate(author_tasks(), "FlexF", 10, 20, on_tick=seen.append)
    assert seen == list(range(21))
