"""Speed of the simulator: full scale, scaling, plain Python and numpy beside it, threads.

What bounds it, on two cores of a server (copy: 15 GB/s): with one try a tick, nearly all of the
time goes into updates of demand, at a sixth of the bandwidth of a copy, since they touch single
cache lines. Otherwise it is the scan of the nodes for each placement, 3 ns a node, which two
threads halve from 40,000 nodes on.

Other simulators are not beside it. AccaSim 1.1.3 does not import on Python 3.10 or newer
(``from collections import Mapping``), and its jobs have fixed requests and no demand over time;
CloudSimPy is not on the Python package index.
"""

import resource
import subprocess
import sys
import time
from dataclasses import replace

import numba as nb
import numpy as np

from flex import AUTHOR, simulate, synthesize
from flex.compiling import compiled_part
from flex.schedulers import FLEX_F, LEAST_FIT, Node, Task
from flex.workload import CPU_CAPACITY, MEMORY_CAPACITY, Workload
from tests import reference

METHODS = ("LeastFit", "Oversub", "FlexF", "FlexL")


def timed(call, repeats=1):
    best = np.inf
    for _ in range(repeats):
        start = time.perf_counter()
        result = call()
        best = min(best, time.perf_counter() - start)
    return best, result


def row(case, seconds, unit, memory=None, **more):
    return {
        "case": case, "seconds": seconds, "ratio": seconds / unit, "memory_mb": memory, **more,
    }  # fmt: skip


def enlarged(day, times):
    """A day repeated: as many tasks and jobs again for each time, in the order of arrival."""
    order = np.argsort(np.tile(day.arrival, times), kind="stable")
    jobs = day.job.max() + 1
    job = np.concatenate([day.job + k * jobs for k in range(times)])[order]
    columns = [np.tile(a, times)[order] for a in (day.cpu_request, day.memory_request, day.series)]
    return Workload(
        np.tile(day.arrival, times)[order], job, *columns, day.offset, day.sample_end,
        day.cpu_demand, day.memory_demand,
    )  # fmt: skip


def peak_memory():
    """Peak of a fresh process that draws the full day and runs FlexF on it, in MB."""
    code = (
        "import resource; from flex import simulate, synthesize; simulate(synthesize(), 'FlexF');"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)"
    )
    return int(subprocess.check_output([sys.executable, "-c", code], text=True))


def full_scale(day):
    for method in METHODS:
        simulate(day.first(100), method, 10, 10)
    unit, _ = timed(lambda: simulate(day, "FlexF", 4000, 1440), 2)
    yield row("714,030 tasks, 4000 nodes: FlexF", unit, unit, peak_memory())
    for method in ("LeastFit", "Oversub", "FlexL"):
        seconds, _ = timed(lambda m=method: simulate(day, m, 4000, 1440), 2)
        yield row(f"714,030 tasks, 4000 nodes: {method}", seconds, unit)
    for factor in (1.5,):
        heavy = day.scaled(factor)
        seconds, _ = timed(lambda w=heavy: simulate(w, "Oversub", 4000, 1440))
        yield row(f"the same, demand times {factor}: Oversub", seconds, unit)


def scaling(day):
    unit, _ = timed(lambda: simulate(day, "FlexF", 4000, 1440))
    for nodes in (1000, 4000, 12_500, 40_000):
        seconds, _ = timed(lambda n=nodes: simulate(day, "FlexF", n, 1440))
        yield row(f"714,030 tasks, {nodes:,} nodes: FlexF", seconds, unit)
    for tasks in (100_000, 300_000):
        part = synthesize(tasks)
        nodes = tasks * 4000 // 714_030
        seconds, _ = timed(lambda w=part, n=nodes: simulate(w, "FlexF", n, 1440))
        yield row(f"{tasks:,} tasks, {nodes:,} nodes: FlexF", seconds, unit)
    for times, nodes in ((2, 8000), (14, 56_000)):
        large = enlarged(day, times)
        seconds, _ = timed(lambda w=large, n=nodes: simulate(w, "FlexF", n, 1440))
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        yield row(f"{len(large):,} tasks, {nodes:,} nodes: FlexF", seconds, unit, memory)
    million = enlarged(day, 2).first(1_000_000)
    seconds, _ = timed(lambda: simulate(million, "FlexF", 12_500, 1440))
    yield row("1,000,000 tasks, 12,500 nodes: FlexF", seconds, unit)


def beside_others():
    """The same small workload in plain Python, with a scan in numpy, and compiled."""
    small = synthesize(2000, seed=1)
    tasks = reference.tasks_of(small)
    for method in ("LeastFit", "FlexF"):
        unit, ours = timed(lambda m=method: simulate(small, m, 11, 200, record_nodes=True), 3)
        yield row(f"2,000 tasks, 11 nodes, 200 ticks: {method}, compiled", unit, unit)
        seconds, plain = timed(lambda m=method: reference.simulate(tasks, 11, 200, m, AUTHOR))
        assert (ours.nodes == np.array(plain["node"])).all()
        yield row(f"the same: {method}, plain Python", seconds, unit)


FITS, SCORE = compiled_part(FLEX_F, "fits"), compiled_part(FLEX_F, "score")


@nb.njit(error_model="numpy")
def scan(load, task, scores, lo, hi):
    for i in range(lo, hi):
        node = Node(i, CPU_CAPACITY, MEMORY_CAPACITY, 0, 0, load[0, i], load[1, i],
                    0, 0, 0, 0, 0, 0)  # fmt: skip
        scores[i] = float(SCORE(node, task)) if FITS(node, task) else -np.inf


@nb.njit(parallel=True, error_model="numpy")
def scan_in_threads(load, task, scores, parts):
    size = scores.size // parts
    for k in nb.prange(parts):
        scan(load, task, scores, k * size, (k + 1) * size)


def scan_in_numpy(load, task, scores):
    cpu, memory = load
    fit = cpu + task.cpu_request <= CPU_CAPACITY
    fit &= memory + task.memory_request <= MEMORY_CAPACITY
    free = np.minimum(100 * (CPU_CAPACITY - cpu) // CPU_CAPACITY,
                      100 * (MEMORY_CAPACITY - memory) // MEMORY_CAPACITY)  # fmt: skip
    scores[:] = np.where(fit, free + 100, -np.inf)


def one_placement():
    """One placement among N nodes: a compiled scan, numpy, and a scan in two threads."""
    nb.set_num_threads(min(2, nb.config.NUMBA_NUM_THREADS))
    for nodes in (4000, 40_000, 400_000):
        yield from placements(nodes)


def placements(nodes):
    rng = np.random.default_rng(0)
    load = np.vstack([rng.integers(0, most, nodes) for most in (CPU_CAPACITY, MEMORY_CAPACITY)])
    scores, task = np.empty(nodes), Task(4000, 2**33, 1, 1, 1, 1)
    calls = {
        "compiled scan": lambda: scan(load, task, scores, 0, nodes),
        "numpy": lambda: scan_in_numpy(load, task, scores),
        "compiled scan, 2 threads": lambda: scan_in_threads(load, task, scores, 2),
    }
    unit = None
    for name, call in calls.items():
        call()
        seconds = timed(lambda c=call: [c() for _ in range(200)], 5)[0] / 200
        unit = unit or seconds
        yield row(f"one placement, {nodes:,} nodes: {name}", seconds, unit)


SAMPLE = 300
"""Seconds of a sample of the synthetic day."""


def demand_updates(result):
    """How often the demand of a running task changed: the tasks' seconds over those of a sample."""
    return 60 * result.history["running"].sum() / SAMPLE


def memory_bound(day):
    """How near the updates of demand are to copying memory."""
    source = np.zeros(2**26)
    copy, _ = timed(lambda: source.copy(), 5)
    bandwidth = 2 * source.nbytes / copy
    rules = replace(AUTHOR, failures=0)
    quiet, result = timed(lambda: simulate(day, LEAST_FIT, 4000, 1440, rules), 2)
    bytes_moved = demand_updates(result) * (64 + 16 + 32)
    yield row(
        "LeastFit with one try a tick: nearly all demand updates", quiet, quiet,
        gigabytes_per_second=bytes_moved / quiet / 1e9, copy_gigabytes_per_second=bandwidth / 1e9,
    )  # fmt: skip


def run():
    """All cases; ``ratio`` is to the first case of each kind."""
    day = synthesize()
    return [
        *full_scale(day), *scaling(day), *beside_others(), *one_placement(), *memory_bound(day),
    ]  # fmt: skip
