"""A plain second implementation of the simulated cluster, to test the fast engine against.

Python integers and floats throughout, no thought for speed, every rule of `flex.rules.Rules`.
Written from the description of the author's simulator, not from the engine. With the rules
AUTHOR it reproduces the logs of the author's program exactly.
"""

import struct
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Any

from flex.rules import Rules
from flex.workload import CPU_CAPACITY, MEMORY_CAPACITY, Workload

TICK = 60
CAPACITY = (CPU_CAPACITY, MEMORY_CAPACITY)
BOTH = CPU, MEMORY = 0, 1
INTEGERS = ("arrival", "job", "cpu_request", "memory_request")
FLEX = ("FlexF", "FlexL")
METHODS = ("FirstFit", "LeastFit", "Oversub", *FLEX)


def tasks_of(workload: Workload) -> list[dict[str, Any]]:
    """The tasks of a workload as plain dicts."""
    tasks = []
    for i in range(len(workload)):
        start, stop = (int(workload.offset[workload.series[i] + k]) for k in (0, 1))
        ends = [0, *workload.sample_end[start:stop].tolist()]
        cpu = workload.cpu_demand[start:stop].tolist()
        memory = workload.memory_demand[start:stop].tolist()
        seconds = [end - before for before, end in pairwise(ends)]
        samples = list(zip(seconds, cpu, memory, strict=True))
        task = {key: int(getattr(workload, key)[i]) for key in INTEGERS}
        tasks.append(task | {"name": workload.task_name(i), "samples": samples})
    return tasks


def quotient(a: int, b: int) -> int:
    """a / b truncated toward zero, as in Go and C."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def single(value: float) -> float:
    """The nearest 32-bit float."""
    return struct.unpack("f", struct.pack("f", value))[0]


class Task:
    """One task: its requests, and how far it has got in its samples."""

    def __init__(self, index: int, given: dict[str, Any], loaded_at_once: int | None) -> None:
        self.index = index
        self.job = given["job"]
        self.arrival = given["arrival"]
        self.request = (given["cpu_request"], given["memory_request"])
        ends = accumulate(seconds for seconds, _, _ in given["samples"])  # since the binding
        self.samples = [(end, row[1:]) for end, row in zip(ends, given["samples"], strict=True)]
        self.at_once = len(self.samples) if loaded_at_once is None else loaded_at_once
        self.loaded = min(self.at_once, len(self.samples))
        self.position = self.bound_at = 0

    def runs(self, now: int) -> bool:
        """Whether the task, bound already, has not reached the end of its loaded samples."""
        return now - self.bound_at < self.samples[self.loaded - 1][0]

    def demand(self, now: int) -> tuple[int, int]:
        """The demand of a running task; a sample counts from its start until before its end.

        The author's program loads more samples in the tick in which a task is in the last one
        loaded. A last one shorter than a tick can be jumped over, and then the task has ended.
        """
        while now - self.bound_at >= self.samples[self.position][0]:
            self.position += 1
        if self.position >= self.loaded - 1:
            self.loaded = min(self.loaded + self.at_once, len(self.samples))
        return self.samples[self.position][1]


@dataclass
class Fifo:
    """First in, first out."""

    tasks: list[Task] = field(default_factory=list)

    def push(self, task: Task) -> None:
        self.tasks.append(task)

    def pop(self) -> Task:
        return self.tasks.pop(0)


class Stable(Fifo):
    """Largest memory request first, then the one submitted first."""

    def pop(self) -> Task:
        first = min(self.tasks, key=lambda task: (-task.request[MEMORY], task.index))
        self.tasks.remove(first)
        return first


class GoHeap(Fifo):
    """Go's container/heap, in which the larger memory request is the lesser element."""

    def less(self, i: int, j: int) -> bool:
        return self.tasks[i].request[MEMORY] > self.tasks[j].request[MEMORY]

    def push(self, task: Task) -> None:
        self.tasks.append(task)
        child = len(self.tasks) - 1
        while child > 0 and self.less(child, parent := (child - 1) // 2):
            self.tasks[child], self.tasks[parent] = (
                self.tasks[parent],
                self.tasks[child],
            )
            child = parent

    def pop(self) -> Task:
        last = self.tasks.pop()
        if not self.tasks:
            return last
        first, self.tasks[0] = self.tasks[0], last
        parent = 0
        while (child := 2 * parent + 1) < len(self.tasks):
            if child + 1 < len(self.tasks) and self.less(child + 1, child):
                child += 1
            if not self.less(child, parent):
                break
            self.tasks[child], self.tasks[parent] = (
                self.tasks[parent],
                self.tasks[child],
            )
            parent = child
        return first


def share(resource: int, demands: list[int], requests: list[int], overflow: bool) -> list[int]:
    """What each task of a node is allocated of one resource."""
    capacity = CAPACITY[resource]
    if sum(demands) <= capacity:
        return list(demands)
    total = sum(requests)
    granted = []
    for d, r in zip(demands, requests, strict=True):
        product = capacity * r
        if overflow:  # as a signed 64-bit register holds it
            product = (product + 2**63) % 2**64 - 2**63
        granted.append(min(d, r, quotient(product, total)) if total else 0)
    left, unmet = capacity - sum(granted), sum(demands) - sum(granted)
    allocated = []
    for d, g in zip(demands, granted, strict=True):
        extra, part = max(d - g, 0), 0
        if left > 0 and unmet > 0:
            as_float = overflow and resource == MEMORY
            part = int(float(left) * float(extra) / unmet) if as_float else left * extra // unmet
        allocated.append(g + min(extra, part))
    return allocated


@dataclass
class Node:
    """One node: its tasks, and its load as the scheduler believes it to be."""

    tasks: list[Task] = field(default_factory=list)
    estimate: list[int] = field(default_factory=lambda: [0, 0])

    def requested(self, resource: int) -> int:
        return sum(task.request[resource] for task in self.tasks)

    def measure(self, now: int, rules: Rules) -> tuple[list[int], int]:
        """The seven columns of the node at this tick, and its number of satisfied tasks."""
        demands = [task.demand(now) for task in self.tasks]
        columns = [0] * 6 + [len(self.tasks)]
        satisfied = [True] * len(self.tasks)
        for k in BOTH:
            demanded = [demand[k] for demand in demands]
            requested = [task.request[k] for task in self.tasks]
            allocated = share(k, demanded, requested, rules.sharing == "overflow")
            for i, (a, d, r) in enumerate(zip(allocated, demanded, requested, strict=True)):
                satisfied[i] = satisfied[i] and (d <= a or a >= r)
            columns[k:6:2] = sum(requested), sum(demanded), sum(allocated)
        return columns, sum(satisfied)


class Penalty:
    """The estimation penalty P and its updates."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.round = single if rules.single_precision else float
        self.value = self.round(rules.start_penalty)
        self.previous_qos = 1.0
        self.good_before = False

    def applied(self, load: int) -> int:
        if self.rules.penalty_in_percent:
            return load * int(self.round(self.value * 100)) // 100
        return int(self.value * load)

    def update(self, qos: float) -> None:
        rules, rnd = self.rules, self.round
        if qos < (target := rnd(rules.target)):
            rises = {
                "falling": qos < self.previous_qos,
                "onset": self.good_before or qos < rnd(target * self.previous_qos),
                "always": True,
            }
            if rises[rules.raise_when]:
                base = 1.0 if rules.base == "one" else rnd(rules.min_penalty)
                step = rnd(rnd(rules.beta) * rnd(self.value - base))
                self.value = min(rnd(self.value + step), rnd(rules.max_penalty))
                self.good_before = False
        elif qos > target:
            self.value = max(rnd(rnd(rules.alpha) * self.value), rnd(rules.min_penalty))
            self.good_before = True
        self.previous_qos = qos


@dataclass
class Scheduler:
    """The choice of a node for one task."""

    method: str
    nodes: list[Node]
    penalty: Penalty

    def fits(self, task: Task, node: Node) -> bool:
        if self.method in FLEX:
            return all(CAPACITY[k] - node.estimate[k] - task.request[k] >= 0 for k in BOTH)
        factor = 2 if self.method == "Oversub" else 1
        return all(node.requested(k) + task.request[k] <= factor * CAPACITY[k] for k in BOTH)

    def score(self, task: Task, node: Node) -> int:
        if self.method in FLEX:
            scores = [100 * (c - u) // c for c, u in zip(CAPACITY, node.estimate, strict=True)]
            return min(scores) + 100 - sum(other.job == task.job for other in node.tasks)
        free = [CAPACITY[k] - node.requested(k) - task.request[k] for k in BOTH]
        return quotient(sum(quotient(100 * free[k], CAPACITY[k]) for k in BOTH), 2)

    def place(self, task: Task, now: int) -> int | None:
        """Bind the task to a node and return its position; None if it fits nowhere."""
        feasible = [i for i, node in enumerate(self.nodes) if self.fits(task, node)]
        if not feasible:
            return None
        chosen = feasible[0]
        if self.method != "FirstFit":  # the best score; the last of equals
            chosen = max(feasible, key=lambda i: (self.score(task, self.nodes[i]), i))
        node = self.nodes[chosen]
        task.bound_at = now
        node.tasks.append(task)
        for k in BOTH:
            plain, penalised = task.request[k], self.penalty.applied(task.request[k])
            added = {"request": plain, "penalised": penalised, "nothing": 0}
            node.estimate[k] += added[self.penalty.rules.fresh]
        return chosen


def simulate(
    tasks: list[dict[str, Any]], nodes: int, ticks: int, method: str, rules: Rules
) -> dict[str, Any]:
    """Run the ticks at 0, 60, ..., 60 * ticks seconds; all but the first are logged."""
    assert method in METHODS
    waiting = [Task(i, given, rules.loaded_samples) for i, given in enumerate(tasks)]
    cluster = [Node() for _ in range(nodes)]
    penalty = Penalty(rules)
    scheduler = Scheduler(method, cluster, penalty)
    largest_first = GoHeap if rules.queue == "heap" else Stable
    queue = largest_first() if method == "FlexL" else Fifo()
    logged = ("node", "qos", "penalty", "pending", "satisfied", "running")
    log: dict[str, Any] = {key: [] for key in logged} | {
        "placed": {},
        "finished": set(),
    }

    def remove_finished(now: int) -> None:
        for node in cluster:
            log["finished"] |= {task.index for task in node.tasks if not task.runs(now)}
            node.tasks = [task for task in node.tasks if task.runs(now)]

    for tick in range(ticks + 1):
        now = tick * TICK
        remove_finished(now)
        while waiting and waiting[0].arrival <= now:
            queue.push(waiting.pop(0))
        failed: list[Task] = []
        while queue.tasks and (rules.failures is None or len(failed) <= rules.failures):
            task = queue.pop()
            if (chosen := scheduler.place(task, now)) is None:
                failed.append(task)
            else:
                log["placed"][task.index] = (tick, chosen)
        for task in failed:
            queue.push(task)
        remove_finished(now)  # tasks of no length
        columns, counts = zip(*(node.measure(now, rules) for node in cluster), strict=True)
        satisfied, running = sum(counts), sum(row[6] for row in columns)
        qos = penalty.round(satisfied / running) if running else 1.0
        row = (list(columns), qos, penalty.value, len(queue.tasks), satisfied, running)
        if tick > 0:
            for key, value in zip(logged, row, strict=True):
                log[key].append(value)

        penalty.update(qos)
        load = 2 if rules.load == "demand" else 4  # first of the two columns
        for node, column in zip(cluster, columns, strict=True):
            node.estimate = [penalty.applied(column[load + k]) for k in BOTH]
    return log
