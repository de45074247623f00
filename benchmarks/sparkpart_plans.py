"""Speed of choosing degrees: compiled searches beside plain Python, exact optima, growth, the grid.

Plain Python is the implementation in ``tests``, which sums every total anew and must give the
same plans.
"""

import time
from itertools import product

import numpy as np
from joblib import parallel_config

from sparkpart import Dataflow, Edge, Vertex, greedy, ils, kernels, optimum
from sparkpart.experiments import grid
from sparkpart.instances import Choices, draw
from tests import partitioning_reference as plain

TECHNIQUES = ("G-local", "G-ext", "G-full")


def timed(call, repeats=5):
    """Best of several, after one call that does not count."""
    call()
    best = np.inf
    for _ in range(repeats):
        start = time.perf_counter()
        result = call()
        best = min(best, time.perf_counter() - start)
    return best, result


def row(case, seconds, unit):
    return {"case": case, "seconds": seconds, "ratio": seconds / unit}


def flow_of(kind, size, seed=0):
    return draw(kind, size, rng=np.random.default_rng(seed)).flow()


def beside_plain_python():
    """A large (C), as in Section 4.3 of the paper: 0.2 s, 2.55 s and 8.18 s there."""
    flow = flow_of("C", "large")
    bound = flow.bound(0.1)
    start = dict(zip(flow.names, flow.initial.tolist(), strict=True))
    other = plain.Flow.of(flow)
    for how in TECHNIQUES:
        unit, found = timed(lambda h=how: greedy(flow, h, bound=bound), 50)
        yield row(f"large (C): {how}", unit, unit)
        seconds, plan = timed(lambda h=how: plain.greedy(other, start, bound, h), 1)
        assert found.plan.tolist() == list(plan.values())
        yield row(f"the same: {how}, plain Python", seconds, unit)
    unit, found = timed(lambda: ils(flow, bound=bound, seed=0), 20)
    yield row("large (C): ILS", unit, unit)
    rng = np.random.default_rng
    seconds, plan = timed(lambda: plain.ils(other, start, bound, rng(0)), 1)
    assert found.plan.tolist() == list(plan.values())
    yield row("the same: ILS, plain Python", seconds, unit)
    seconds, _ = timed(lambda: ils(flow, bound=bound, seed=0, iter1=300), 20)
    yield row("the same: ILS, 3 times the iterations", seconds, unit)


def optima():
    """Medians of ten flows: labels on trees, HiGHS on general graphs."""
    unit = None
    for kind in "ABCDE":
        flows = [flow_of(kind, "large", seed) for seed in range(10)]
        times = [timed(lambda f=f: optimum(f, bound=f.bound(0.1)), 1)[0] for f in flows]
        unit = unit or float(np.median(times))
        yield row(f"exact optimum of a large ({kind})", float(np.median(times)), unit)


def random_tree(n):
    """Profiles of random shape on a random tree with 12 degrees."""
    rng = np.random.default_rng(n)
    degrees = np.arange(8, 97, 8)
    vertices = []
    for i in range(n):
        work, rest, more = rng.uniform(100, 800), rng.uniform(5, 40), rng.uniform(0, 0.4)
        seconds = work / degrees + rest + more * degrees
        vertices.append(Vertex(f"v{i}", dict(zip(degrees.tolist(), seconds.tolist(), strict=True))))
    edges = [
        Edge(f"v{rng.integers(max(0, i - 10), i)}", f"v{i}", lambda s, r: 1 + 20 / s + 0.01 * r)
        for i in range(1, n)
    ]
    return Dataflow(vertices, edges)


def growth():
    for how, sizes in (("G-local", (10, 100, 1000)), ("G-ext", (10, 100, 1000)),
                       ("G-full", (10, 100, 1000))):  # fmt: skip
        unit = None
        for n in sizes:
            flow = random_tree(n)
            arrays, bound = kernels.arrays(flow), flow.bound(0.2)
            places = flow.indices(flow.initial)
            index = TECHNIQUES.index(how)
            call = lambda a=arrays, p=places, b=bound, h=index, n=n: kernels.greedy(  # noqa: E731
                a, p.copy(), b, h, n, 1e-6
            )
            seconds, _ = timed(call, 1 if n == 1000 else 5)
            unit = unit or seconds
            yield row(f"random tree, {n} vertices: {how}", seconds, unit)


def whole_grid():
    """Figures 9 to 11: 5 types, 3 sizes, 4 techniques, 3 bounds, 100 repeats, on two processes."""
    start = time.perf_counter()
    with parallel_config(backend="multiprocessing", n_jobs=2):
        table = grid.improvements("paper", 0, Choices())
    seconds = time.perf_counter() - start
    assert len(table) == len([*product("ABCDE", range(3), range(4), range(3), range(100))])
    yield row("the grid of Figures 9 to 11", seconds, seconds)


def run():
    """All cases; ``ratio`` is to the first case of each kind."""
    return [*beside_plain_python(), *optima(), *growth(), *whole_grid()]
