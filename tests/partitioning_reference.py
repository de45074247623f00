"""A second, plain implementation of Section 3 of the Spark paper; every total from scratch.

Written from the paper alone, over dictionaries, to be compared with `sparkpart`.
"""


class Flow:
    """Vertices by name with a dict of times; edges by pair with a function of two degrees."""

    def __init__(self, times, edges):
        self.times, self.edges = times, edges

    @classmethod
    def of(cls, flow):
        """Take the numbers of a `sparkpart.Dataflow` apart."""
        times = {
            name: {d: float(flow.time[v, list(flow.degrees).index(d)]) for d in flow.allowed(v)}
            for v, name in enumerate(flow.names)
        }
        place = {int(d): i for i, d in enumerate(flow.degrees)}
        edges = {}
        for (v, w), table in zip(flow.ends.tolist(), flow.repartition, strict=True):
            key = flow.names[v], flow.names[w]
            edges[key] = lambda a, b, table=table: float(table[place[a], place[b]])
        return cls(times, edges)

    def rt(self, plan):
        moved = sum(cost(plan[v], plan[w]) for (v, w), cost in self.edges.items())
        return sum(self.times[v][plan[v]] for v in plan) + moved

    def rc(self, plan):
        moved = sum(
            max(plan[v], plan[w]) * cost(plan[v], plan[w]) for (v, w), cost in self.edges.items()
        )
        return sum(plan[v] * self.times[v][plan[v]] for v in plan) + moved

    def dependency_graph(self):
        """Edges as in Figure 6; vertices are processed in the order of ``times``."""
        order = list(self.times)
        edges = []
        for child in order:
            for parent in (v for v in order if (v, child) in self.edges):
                earlier = [w for w in order[: order.index(child)] if (parent, w) in self.edges]
                edges.append((earlier[-1] if earlier else parent, child))
        return edges

    def children(self, vertex):
        return list(dict.fromkeys(w for v, w in self.dependency_graph() if v == vertex))

    def below(self, vertex):
        found, stack = set(), [vertex]
        while stack:
            for child in self.children(stack.pop()):
                if child not in found:
                    found.add(child)
                    stack.append(child)
        return found


def spread(flow, plan, vertex, degree, technique):
    """Return the plan after a change of one vertex, as far as the technique carries it."""
    new = dict(plan)
    if technique == "G-full":
        for v in {vertex} | flow.below(vertex):
            if degree in flow.times[v]:
                new[v] = degree
        return new
    queue = [vertex]
    while queue:
        v = queue.pop(0)
        if new[v] == degree or degree not in flow.times[v]:
            continue
        tried = new | {v: degree}
        if technique == "G-local":
            return tried
        if flow.rc(tried) < flow.rc(new):
            new = tried
            queue += flow.children(v)
    return new


def greedy(flow, plan, bound, technique):
    """Algorithm 1; benefits below rounding count as none."""
    least = 1e-12 * flow.rc(plan)
    for _ in flow.times:
        most, best = least, None
        for v in flow.times:
            for degree in flow.times[v] if len(flow.times[v]) > 1 else ():
                new = spread(flow, plan, v, degree, technique)
                benefit = flow.rc(plan) - flow.rc(new)
                if benefit > most + least and flow.rt(new) <= bound * (1 + 1e-12):
                    most, best = benefit, new
        if best is None:
            break
        plan = best
    return plan


def ils(flow, plan, bound, rng, m=3, iter1=100, iter2=300):
    """Algorithm 2, with the running time of the whole flow in the inner test."""
    movable = [v for v in flow.times if len(flow.times[v]) > 1]
    order = list(movable)
    least = 1e-12 * flow.rt(plan)

    def degree_of(v):
        return list(flow.times[v])[int(rng.random() * len(flow.times[v]))]

    for _ in range(iter1):
        trial = dict(plan)
        for i in range(min(m, len(order))):
            k = i + int(rng.random() * (len(order) - i))
            order[i], order[k] = order[k], order[i]
            degree = degree_of(order[i])
            while degree == plan[order[i]]:
                degree = degree_of(order[i])
            trial[order[i]] = degree
        for _ in range(iter2):
            v = movable[int(rng.random() * len(movable))]
            changed = trial | {v: degree_of(v)}
            if flow.rt(changed) - flow.rt(trial) < -least:
                trial = changed
        if flow.rc(trial) < flow.rc(plan) and flow.rt(trial) < bound:
            plan = trial
    return plan
