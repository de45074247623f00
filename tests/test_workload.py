"""Workloads: checks on load, files, conversion of the trace's units."""

import gzip
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flex import Workload, WorkloadError, load, read_tasks, read_workload, save, synthesize
from flex.data import author_tasks
from flex.normalised import read_normalised
from flex.workload import ARRAYS, CPU_CAPACITY, MEMORY_CAPACITY

GOOD = {
    "arrival": [0, 60, 60], "job": [0, 0, 1], "cpu_request": [1000, 0, 64_000],
    "memory_request": [2**30, 0, 2**37], "series": [0, 1, 1], "offset": [0, 2, 3],
    "sample_end": [300, 600, 60], "cpu_demand": [500, 700, 10], "memory_demand": [2**29, 2**30, 1],
    "name": ["pod-a-0", "pod-a-1", "pod-b-0"],
}  # fmt: skip


def same(one, other):
    assert all(np.array_equal(getattr(one, k), getattr(other, k)) for k in (*ARRAYS, "name"))


def test_by_hand():
    workload = Workload(**GOOD)
    assert len(workload) == 3
    assert workload.duration.tolist() == [600, 60, 60]
    assert workload.task_name(1) == "pod-a-1"
    assert Workload(**(GOOD | {"name": None})).task_name(1) == "task 1"


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("arrival", [0, 60, 59], r"pod-b-0: arrival must be .* not before .*; got 59"),
        ("arrival", [-1, 60, 60], r"pod-a-0: arrival must be at least 0"),
        ("arrival", [0, 60], "job has 3 values for 2 tasks"),
        ("arrival", [0, 60, float("nan")], r"arrival\[2\] must be a whole number .*; got nan"),
        ("arrival", [0, 60, 60.5], r"arrival\[2\] must be a whole number .*; got 60.5"),
        ("arrival", ["a", "b", "c"], "arrival must be numbers; got <U1"),
        ("arrival", [[0, 60, 60]], r"arrival must be one-dimensional; got shape \(1, 3\)"),
        ("job", [0, 0, -1], "pod-b-0: job must be at least 0; got -1"),
        ("cpu_request", [1000, -1, 0], "pod-a-1: cpu_request must be at least 0; got -1"),
        ("memory_request", [-5, 0, 0], "pod-a-0: memory_request must be at least 0; got -5"),
        ("series", [0, 1, 2], "pod-b-0: series must be below 2, the number of series; got 2"),
        ("offset", [0, 0, 3], "pod-a-0: samples must be at least one; got none"),
        ("offset", [1, 2, 3], "offset must start with 0"),
        ("offset", [0, 2, 4], "sample_end has 3 values; offset ends at 4"),
        ("sample_end", [300, 200, 60], "pod-a-0: sample 2: sample_end must be not before"),
        ("sample_end", [300, 600, -1], "pod-a-1: sample 1: sample_end must be not before"),
        ("cpu_demand", [500, -700, 10], "pod-a-0: sample 2: cpu_demand must be at least 0"),
        ("cpu_demand", [500, 2**31, 10], r"cpu_demand\[1\] must be a whole number of at most"),
        ("memory_demand", [1, 1, -2], "pod-a-1: sample 1: memory_demand must be at least 0"),
        ("job", np.full(3, 2.0**63), r"job\[0\] must be a whole number of at most 922337203685"),
        ("job", [[1], [1, 2], [3]], "job must be an array; its rows have different lengths"),
        ("name", [["x", "y", "z"]], r"name must be one-dimensional; got shape \(1, 3\)"),
        ("sample_end", [300, 10**9 + 1, 60], "pod-a-0: sample 2: sample_end must be at most 10000"),
        ("memory_demand", [1, 2**61, 1], "pod-a-0: sample 2: memory_demand must be at most 76861"),
        ("name", ["x", "y", "x"], "name x belongs to more than one task"),
    ],
)
def test_says_which_task_and_field_is_wrong(field, value, message):
    with pytest.raises(WorkloadError, match=message):
        Workload(**(GOOD | {field: value}))


def test_demand_is_scaled_and_cut():
    scaled = Workload(**GOOD).scaled(1.1)
    assert scaled.cpu_demand.tolist() == [550, 770, 11]
    assert scaled.memory_demand.tolist() == [int(2**29 * 1.1), int(2**30 * 1.1), 1]
    assert scaled.cpu_request.tolist() == GOOD["cpu_request"]
    with pytest.raises(WorkloadError, match=r"demand times 1e\+300: cpu_demand\[0\] must be"):
        Workload(**GOOD).scaled(1e300)
    for factor in (-1, float("nan"), float("inf"), "2", None):
        with pytest.raises(WorkloadError, match="factor must be a number of at least 0"):
            Workload(**GOOD).scaled(factor)


def test_first_tasks_keep_their_samples():
    workload = author_tasks().first(50)
    again = workload.first(20)
    assert len(again) == 20
    whole = author_tasks()
    for task in range(20):
        a, b = (w.offset[w.series[task]] for w in (again, whole))
        n = again.offset[again.series[task] + 1] - a
        assert np.array_equal(again.cpu_demand[a : a + n], whole.cpu_demand[b : b + n])


@pytest.mark.parametrize("n", [-1, 2.5, "3"])
def test_first_needs_a_count(n):
    with pytest.raises(ValueError, match="n must be a whole number of at least 0; got"):
        Workload(**GOOD).first(n)
    assert len(Workload(**GOOD).first(10)) == 3


@pytest.mark.parametrize(
    ("requests", "samples", "message"),
    [
        ([[1, 1]], [[1.7, 2, 3]], r"samples of task 0 must have shape \(n, 3\); got \(3,\)"),
        ([[1, 1]], [[[1, 2]]], r"samples of task 0 must have shape \(n, 3\); got \(1, 2\)"),
        ([[1, 1]], [[[60, 2.5, 3]]], r"samples of task 0\[1\] must be a whole number .*; got 2.5"),
        ([[1, 1]], [[[60, float("nan"), 3]]], "samples of task 0.* got nan"),
        ([1, 1], [[[60, 2, 3]]], r"requests must have shape \(n, 2\); got \(2,\)"),
        ([[1.5, 1]], [[[60, 2, 3]]], r"requests\[0\] must be a whole number .*; got 1.5"),
        ([[1, 1]], [[]], "task 0: samples must be at least one; got none"),
    ],
)
def test_tasks_are_not_cut_or_reshaped(requests, samples, message):
    with pytest.raises(WorkloadError, match=message):
        Workload.from_tasks([0], [0], requests, samples)


def test_a_task_larger_than_a_node_is_named():
    big = Workload(**(GOOD | {"memory_request": [1, 2, MEMORY_CAPACITY + 1]}))
    with pytest.raises(WorkloadError, match=r"pod-b-0: memory_request must be at most \d+ bytes"):
        big.require_fits()


def test_saved_and_loaded_is_the_same(tmp_path):
    for workload in (author_tasks(), synthesize(500, seed=3)):
        save(workload, tmp_path / "w.npz")
        same(load(tmp_path / "w.npz"), workload)
        same(read_workload(tmp_path / "w.npz"), workload)
    assert [p.name for p in tmp_path.iterdir()] == ["w.npz"]


def test_nothing_half_written_is_left(tmp_path, monkeypatch):
    save(author_tasks(), tmp_path / "w.npz")
    before = (tmp_path / "w.npz").read_bytes()

    def fail(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez_compressed", fail)
    with pytest.raises(OSError, match="No space"):
        save(author_tasks(), tmp_path / "w.npz")
    assert [p.name for p in tmp_path.iterdir()] == ["w.npz"]
    assert (tmp_path / "w.npz").read_bytes() == before
    with pytest.raises(WorkloadError, match=r"the name must end in \.npz"):
        save(author_tasks(), tmp_path / "w.json")


def fault(path):
    """The message of the error in a file, or None; any other error is passed on."""
    try:
        load(path)
    except WorkloadError as error:
        return str(error)
    return None


def test_damaged_bytes_are_one_line(tmp_path):
    path = tmp_path / "w.npz"
    save(author_tasks().first(5), path)
    data, rng = path.read_bytes(), np.random.default_rng(0)
    for _ in range(200):
        damaged = bytearray(data)
        damaged[rng.integers(len(data))] ^= int(rng.integers(1, 256))
        path.write_bytes(damaged)
        if error := fault(path):
            assert error.startswith(str(path))
            assert "\n" not in error


def test_truncated_and_foreign_files(tmp_path):
    path = tmp_path / "w.npz"
    save(author_tasks(), path)
    data = path.read_bytes()
    for content in (data[: len(data) // 2], b"", b"hello"):
        path.write_bytes(content)
        with pytest.raises(WorkloadError, match=r"w\.npz: not a readable npz file"):
            load(path)
    with pytest.raises(WorkloadError, match=r"not a readable npz file: .*No such file"):
        load(tmp_path / "none.npz")
    np.savez(path, arrival=np.zeros(1, int))
    with pytest.raises(WorkloadError, match=r"w\.npz: missing array job"):
        load(path)
    np.savez(path, **{k: np.array(v) for k, v in (GOOD | {"job": [0, 0, -1]}).items()})
    with pytest.raises(WorkloadError, match=r"w\.npz: pod-b-0: job must be at least 0; got -1"):
        load(path)


TASK = {"arrival_s": 0, "name": "pod-7-0", "req_mcpu": 5, "req_bytes": 6, "phases": [[60, 1, 2]]}


def written(tmp_path, tasks):
    path = tmp_path / "tasks.json"
    path.write_text(tasks if isinstance(tasks, str) else json.dumps(tasks), encoding="utf-8")
    return path


def test_tasks_by_hand(tmp_path):
    other = TASK | {"name": "pod-x-1-12", "phases": [[60, 1, 2], [0, 9, 9], [30.0, 3, 4]]}
    workload = read_tasks(written(tmp_path, [TASK, other]))
    assert workload.job.tolist() == [0, 1]
    assert workload.sample_end.tolist() == [60, 60, 60, 90]
    assert workload.memory_demand.tolist() == [2, 2, 9, 4]
    assert workload.name.tolist() == ["pod-7-0", "pod-x-1-12"]
    gz = tmp_path / "tasks.json.gz"
    gz.write_bytes(gzip.compress((tmp_path / "tasks.json").read_bytes()))
    same(read_workload(gz), workload)
    assert len(read_tasks(written(tmp_path, []))) == 0


@pytest.mark.parametrize(
    ("tasks", "message"),
    [
        ("[1, 2", "not valid JSON"),
        ("\udcff", "not valid JSON"),
        ({"a": 1}, "must be a list of tasks; got dict"),
        ([3], "task 1: must be an object; got 3"),
        ([TASK, {k: v for k, v in TASK.items() if k != "req_mcpu"}], "task 2: field req_mcpu is m"),
        ([TASK | {"name": "web"}], "task 1: name must be \"pod-<job>-<index>\"; got 'web'"),
        ([TASK | {"name": 5}], "task 1: name must be"),
        (
            [TASK | {"req_mcpu": -1}],
            "pod-7-0: req_mcpu must be a whole number .*; got -1",
        ),
        ([TASK | {"req_mcpu": "5"}], "pod-7-0: req_mcpu must be a whole number .*; got '5'"),
        ([TASK | {"req_bytes": float("nan")}], "pod-7-0: req_bytes must be .*; got nan"),
        ([TASK | {"req_bytes": True}], "pod-7-0: req_bytes must be .*; got True"),
        ([TASK | {"req_bytes": 2**70}], "pod-7-0: req_bytes must be"),
        ([TASK | {"arrival_s": 1.5}], "pod-7-0: arrival_s must be .*; got 1.5"),
        ([TASK | {"phases": []}], r"pod-7-0: phases must be a list of at least one; got \[\]"),
        ([TASK | {"phases": [[60, 1]]}], r"pod-7-0: phase 1 must be \[seconds, mCPU, bytes\]"),
        ([TASK | {"phases": [[60, 1, 2], [60, -1, 2]]}], "pod-7-0: phase 2 mCPU must be"),
        ('[{"name": "a", "name": "b"}]', "field 'name' stands more than once in one object"),
        ([TASK | {"phases": [[10**9 + 1, 1, 2]]}], "pod-7-0: phase 1 seconds must be .* to 1000"),
        ([TASK | {"phases": [[60, 2**31, 2]]}], "pod-7-0: phase 1 mCPU must be .* to 2147483647"),
        ([TASK | {"phases": [[10**9, 1, 2]] * 2}], "pod-7-0: phases must last at most 1000000000"),
        (["y" * 1000], "task 1: must be an object; got 'yyy"),
        ([TASK, TASK], "name pod-7-0 belongs to more than one task"),
        ([TASK | {"arrival_s": 9}, TASK | {"name": "pod-7-1"}], "pod-7-1: arrival must be"),
    ],
)
def test_bad_tasks_name_file_task_and_field(tmp_path, tasks, message):
    path = tmp_path / "tasks.json"
    if isinstance(tasks, str):
        path.write_bytes(tasks.encode("utf-8", "surrogateescape"))
    else:
        written(tmp_path, tasks)
    with pytest.raises(WorkloadError, match=message) as caught:
        read_tasks(path)
    assert str(caught.value).startswith(str(path))
    assert len(str(caught.value)) < 300
    assert "\n" not in str(caught.value)


def test_cut_gzip(tmp_path):
    path = tmp_path / "tasks.json.gz"
    path.write_bytes(gzip.compress(json.dumps([TASK] * 100).encode())[:-20])
    with pytest.raises(WorkloadError, match=r"tasks\.json\.gz: cannot be read"):
        read_tasks(path)


def normalised(path, **changes):
    fields = {
        "name": np.array(["600000000_5-0", "661000000_5-1"]),
        "req": np.array([[0.5, 0.25], [0.0, 0.00001]]),
        "offset": np.array([0, 4, 5]),
        "start_s": np.array([600, 900, 1200, 1800, 600]),
        "end_s": np.array([900, 1200, 1500, 2100, 700]),
        "cpu": np.array([0.1, 0.1, 1.5, 0.2, 0.0]),
        "mem": np.array([0.2, 0.2, 0.2, 0.2, 0.0]),
    } | changes
    np.savez(path, **fields)
    return path


def test_normalised_tasks_by_hand(tmp_path):
    workload, counts = read_normalised(normalised(tmp_path / "n.npz"))
    assert workload.arrival.tolist() == [600, 660]
    assert workload.cpu_request.tolist() == [32_000, 0]
    assert workload.memory_request.tolist() == [2**35, 2**20]
    # The third sample, above 1, repeats the second; equal ones are merged; the gap vanishes.
    assert workload.sample_end.tolist() == [900, 1200, 100]
    assert workload.cpu_demand.tolist() == [6400, 12_800, 0]
    assert workload.memory_demand.tolist() == [26_214 * 2**20] * 2 + [0]
    assert counts == {
        "samples above 1 replaced": 1, "samples merged": 2, "gaps closed": 1,
        "overlaps laid end to end": 0, "tasks with a zero request": 1,
    }  # fmt: skip


def test_a_kept_sample_is_scaled_twice_as_in_the_authors_converter(tmp_path):
    workload, _ = read_normalised(normalised(tmp_path / "n.npz"), scale=2.0)
    assert workload.cpu_demand[:2].tolist() == [12_800, 25_600]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"offset": np.array([0, 4, 4])}, "offset must rise from 0 and have 3 values"),
        ({"offset": np.array([1, 4, 5])}, "offset must rise from 0 and have 3 values"),
        ({"offset": np.array([0, 5])}, "offset must rise from 0 and have 3 values"),
        ({"offset": np.array([0.0, 4, 5])}, "offset must be whole numbers; got float64"),
        ({"offset": np.array([0, 4, 6])}, r"start_s must have shape \(6,\); got \(5,\)"),
        ({"offset": np.array([0, 2, 4])}, r"start_s must have shape \(4,\); got \(5,\)"),
        ({"cpu": np.zeros(4)}, r"cpu must have shape \(5,\); got \(4,\)"),
        ({"cpu": np.array(list("abcde"))}, "cpu must be numbers; got <U1"),
        ({"req": np.zeros(2)}, r"req must have shape \(2, 2\); got \(2,\)"),
        ({"req": np.zeros((3, 2))}, r"req must have shape \(2, 2\); got \(3, 2\)"),
        ({"end_s": np.array([900.5, 1200, 1500, 2100, 700])}, "5-0: end_s must be whole seconds"),
        ({"name": np.array(["600000000_5", "x"])}, "name must be .*; got '600000000_5'"),
        ({"name": np.array([1, 2])}, "name must be text; got int64"),
        ({"name": np.array(["661000000_5-0", "600000000_5-1"])}, "600000000_5-1: arrival must be"),
        ({"cpu": np.array([0.1, np.nan, 0, 0, 0])}, "600000000_5-0: cpu and mem must be numbers"),
        ({"mem": np.array([0.1, 0, 0, 0, -1])}, "661000000_5-1: cpu and mem must be numbers"),
        ({"req": np.array([[0.5, 0.25], [2.0, 0]])}, "661000000_5-1: req must be between 0 and 1"),
        ({"end_s": np.array([900, 1200, 1500, 1700, 700])}, "600000000_5-0: end_s must be at le"),
    ],
)
def test_bad_normalised_tasks(tmp_path, changes, message):
    with pytest.raises(WorkloadError, match=rf"n\.npz: .*{message}"):
        read_normalised(normalised(tmp_path / "n.npz", **changes))


@pytest.mark.parametrize("scale", [-1, float("nan"), float("inf"), "2"])
def test_scale_of_normalised_tasks(tmp_path, scale):
    with pytest.raises(ValueError, match="scale must be from 0 to 1000; got"):
        read_normalised(normalised(tmp_path / "n.npz"), scale)


def test_overlaps_are_counted(tmp_path):
    starts = np.array([600, 800, 1200, 1800, 600])
    _, counts = read_normalised(normalised(tmp_path / "n.npz", start_s=starts))
    assert counts["overlaps laid end to end"] == 1


def test_1000_real_tasks(samples):
    workload, counts = read_normalised(samples / "google2011" / "google2011_1000tasks.npz")
    assert len(workload) == 1000
    assert len(np.unique(workload.job)) == 127
    assert (workload.arrival == 600).all()
    assert workload.cpu_request.max() <= CPU_CAPACITY
    assert counts["overlaps laid end to end"] == 4


@settings(max_examples=50, deadline=None)
@given(st.lists(st.lists(st.integers(0, 500), min_size=1, max_size=5), min_size=1, max_size=6))
def test_samples_end_where_their_lengths_add_up(lengths):
    n = len(lengths)
    workload = Workload.from_tasks(
        [0] * n, range(n), [(1, 1)] * n, [[(s, 1, 1) for s in row] for row in lengths]
    )
    assert workload.duration.tolist() == [sum(row) for row in lengths]
