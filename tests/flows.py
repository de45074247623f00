"""Random data flows for the tests."""

import numpy as np
from hypothesis import strategies as st

from sparkpart import Dataflow, Edge, Vertex

DEGREES = (8, 16, 32, 64, 96)


@st.composite
def dags(draw, most=7):
    """Draw a number of vertices and the edges of an acyclic graph of them."""
    n = draw(st.integers(1, most))
    pairs = [(i, j) for j in range(n) for i in range(j)]
    return n, draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []


@st.composite
def trees(draw, most=7):
    """Draw a number of vertices and the edges of a forest, in any direction downwards."""
    n = draw(st.integers(1, most))
    edges = []
    for j in range(1, n):
        i = draw(st.integers(-1, j - 1))
        if i >= 0:
            edges.append((i, j))
    return n, edges


def random_flow(n, edges, seed, degrees=DEGREES):
    """Return a flow with random times, some vertices fixed, some degrees not allowed."""
    rng = np.random.default_rng(seed)
    vertices = []
    for i in range(n):
        count = 1 if rng.random() < 0.2 else int(rng.integers(2, len(degrees) + 1))
        allowed = rng.choice(degrees, size=count, replace=False)
        work, rest = rng.uniform(50, 800), rng.uniform(1, 40)
        times = {int(d): float(work / d + rest + 0.3 * d * rng.random()) for d in allowed}
        vertices.append(Vertex(f"v{i}", times))
    return Dataflow(vertices, [Edge(f"v{i}", f"v{j}", _seconds(rng)) for i, j in edges])


def _seconds(rng):
    a, b, c = rng.uniform(0, 3), rng.uniform(0, 40), rng.uniform(0, 0.05)
    return lambda s, r: a + b / s + c * r
