"""Speed of the simulator: full scale, scaling, plain Python and numpy beside it, threads.

What bounds the speed, as measured once on two cores that other programs shared, so that times are
upper bounds and a repetition may differ by a factor of two (`memory_bound`):

Updates of demand wait for memory, but not for its bandwidth. LeastFit makes 26 million of them
beyond those of constant demand, in 37 ns each. They move 4.8 GB/s, where copying moves 12. To read
one sample at random takes 42 ns, and 6 ns in order: the 4 million samples of a full day, 64 MB, are
more than the caches hold, and tasks are at different places in them.

At 4000 nodes FlexF takes 6.1 s: 1.4 s are updates, 0.7 s is what each tick does for every node even
if nothing runs, and 3.9 s are scheduling, binding and sharing. At 40,000 nodes it takes 18 s: 1.4,
2.3 and 14.2 s. A scan of the nodes for one class of task takes 12 microseconds at 4000 nodes and
0.2 ms at 40,000, and the day has 20,000 changes of class in the order of arrival: the scans take
some 0.2 s at 4000 nodes, more if pending tasks are tried again, and 4.5 s at 40,000.

Ten million tasks on 56,000 nodes took 169 s and 1.8 GB, a million on 12,500 nodes 5.7 s.
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
from flex.state import SLOT
from flex.workload import CPU_CAPACITY, MEMORY_CAPACITY, Workload
from tests import reference

METHODS = ("LeastFit", "Oversub", "FlexF", "FlexL")
LARGE = ((2, 1_000_000, 12_500), (2, 1_428_060, 8000), (14, 9_996_420, 56_000))
"""How often the day is repeated, tasks kept of it, and nodes."""


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


def alone(times, tasks, nodes):
    """Seconds of FlexF in a fresh process that draws the day, repeats it and keeps the first
    tasks, and the peak of its memory in MB."""
    code = f"from benchmarks import flex_speed as f; f.report({times}, {tasks}, {nodes})"
    output = subprocess.check_output([sys.executable, "-c", code], text=True)
    seconds, memory = output.split()
    return float(seconds), int(memory)


def report(times, tasks, nodes):
    """Print what `alone` returns; the compilation is not counted."""
    workload = enlarged(synthesize(), times)
    if tasks < len(workload):
        workload = workload.first(tasks)
    simulate(workload.first(100), "FlexF", 10, 10)
    seconds, _ = timed(lambda: simulate(workload, "FlexF", nodes, 1440))
    print(seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)


def full_scale(day):
    for method in METHODS:
        simulate(day.first(100), method, 10, 10)
    unit, _ = timed(lambda: simulate(day, "FlexF", 4000, 1440), 2)
    yield row("714,030 tasks, 4000 nodes: FlexF", unit, unit, alone(1, len(day), 4000)[1])
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
    for times, tasks, nodes in LARGE:
        seconds, memory = alone(times, tasks, nodes)
        yield row(f"{tasks:,} tasks, {nodes:,} nodes: FlexF", seconds, unit, memory)


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


def demand_updates(workload, bound, ticks, tick_s=60):
    """How often a running task was brought to its next sample, or to its end, in a run.

    bound: tick of binding of every task, -1 if there was none. Samples that end between the same
    two ticks are one update. Exact if all samples are loaded at once.
    """
    series = np.repeat(np.arange(len(workload.offset) - 1), np.diff(workload.offset))
    span = ticks + 1  # later ends are never reached
    after = np.minimum(-(-workload.sample_end.astype(np.int64) // tick_s), span)
    keys = np.unique((series * (span + 1) + after)[after > 0])
    placed = bound >= 0
    start = workload.series[placed] * (span + 1)
    reached = np.searchsorted(keys, start + ticks - bound[placed], side="right")
    return int((reached - np.searchsorted(keys, start)).sum())


SLOT_BYTES, SAMPLE_BYTES, NODE_BYTES = 2 * SLOT.itemsize, 4 + 4 + 8, 2 * 2 * 8
"""What an update of demand moves: a task's slot and two sums of its node, both read and written,
and the end, CPU and memory of a sample."""


def copy_bandwidth():
    """Bytes per second, read and written, of copying half a gigabyte."""
    source = np.ones(2**26)
    target = np.zeros_like(source)
    seconds, _ = timed(lambda: np.copyto(target, source), 5)
    return 2 * source.nbytes / seconds


@nb.njit
def read_samples(order, end, cpu, memory):
    total = 0
    for k in order:
        total += end[k] + cpu[k] + memory[k]
    return total


def sample_reads(day):
    """Seconds to read a sample of the day, in random order and in theirs."""
    samples = day.sample_end, day.cpu_demand, day.memory_demand
    n = len(day.sample_end)
    for order in (np.random.default_rng(0).permutation(n), np.arange(n)):
        read_samples(order, *samples)
        yield timed(lambda o=order: read_samples(o, *samples), 5)[0] / n


def constant_demand(day):
    """The day with one sample a series: the last."""
    last = day.offset[1:] - 1
    return replace(
        day, offset=np.arange(len(day.offset)), sample_end=day.sample_end[last],
        cpu_demand=day.cpu_demand[last], memory_demand=day.memory_demand[last],
    )  # fmt: skip


def memory_bound(day):
    """Updates of demand beside copying memory, and beside reading samples.

    Updates cost what LeastFit takes longer than with constant demand, which it does not look at:
    it places the same tasks on the same nodes. One try a tick leaves little else to do.
    """
    rules = replace(AUTHOR, failures=0, loaded_samples=None)
    constant = constant_demand(day)
    still, same = timed(lambda: simulate(constant, LEAST_FIT, 4000, 1440, rules), 3)
    seconds, result = timed(lambda: simulate(day, LEAST_FIT, 4000, 1440, rules), 3)
    assert (result.bound == same.bound).all()
    updates = demand_updates(day, result.bound, 1440)
    updates -= demand_updates(constant, result.bound, 1440)
    one = (seconds - still) / updates
    moved = SLOT_BYTES + SAMPLE_BYTES + NODE_BYTES
    yield row("LeastFit, one try a tick, demand constant", still, still)
    yield row("the same: demand as it is", seconds, still, updates=updates)
    yield row(
        "one update of demand", one, one, gigabytes_per_second=moved / one / 1e9,
        copy_gigabytes_per_second=copy_bandwidth() / 1e9,
    )  # fmt: skip
    for order, read in zip(("at random", "in order"), sample_reads(day), strict=True):
        yield row(f"one sample read {order}", read, one)
    yield from parts_of_flexf(day, one)


def parts_of_flexf(day, update):
    """FlexF in parts: sweeps over all nodes in every tick, updates of demand, and the rest.

    The rest is scheduling (scans of the nodes above all), binding and sharing.
    """
    for nodes in (4000, 40_000):
        whole, result = timed(lambda n=nodes: simulate(day, "FlexF", n, 1440), 2)
        sweeps, _ = timed(lambda n=nodes: simulate(day.first(1), "FlexF", n, 1440), 2)
        updates = demand_updates(day, result.bound, 1440)
        name = f"{nodes:,} nodes, FlexF"
        yield row(f"{name}: all", whole, whole)
        yield row(f"{name}: sweeps over the nodes", sweeps, whole)
        yield row(f"{name}: updates of demand", updates * update, whole, updates=updates)
        yield row(f"{name}: the rest", whole - sweeps - updates * update, whole)


def run():
    """All cases; ``ratio`` is to the first case of each kind."""
    day = synthesize()
    return [
        *full_scale(day), *scaling(day), *beside_others(), *one_placement(), *memory_bound(day),
    ]  # fmt: skip
