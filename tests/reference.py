"""A plain second implementation of the simulated cluster, to test the fast engine against.

One class for each part, Python integers and floats throughout, and no thought for speed. Written
from the description of the author's simulator, not from the engine; every rule of
`flex.rules.Rules` is covered. With the rules AUTHOR it reproduces the logs of the author's
program exactly.
"""

import struct
from dataclasses import dataclass, field
from typing import Any

from flex.rules import Rules
from flex.workload import CPU_CAPACITY, MEMORY_CAPACITY, Workload

TICK = 60
CAPACITY = (CPU_CAPACITY, MEMORY_CAPACITY)
CPU, MEMORY = 0, 1
BOTH = (CPU, MEMORY)
METHODS = ("FirstFit", "LeastFit", "Oversub", "FlexF", "FlexL")


def tasks_of(workload: Workload) -> list[dict[str, Any]]:
    """The tasks of a workload as plain dicts."""
    tasks = []
    for i in range(len(workload)):
        start, stop = (int(workload.offset[workload.series[i] + k]) for k in (0, 1))
        ends = [int(end) for end in workload.sample_end[start:stop]]
        seconds = [end - before for before, end in zip([0, *ends], ends, strict=False)]
        cpu = [int(d) for d in workload.cpu_demand[start:stop]]
        memory = [int(d) for d in workload.memory_demand[start:stop]]
        tasks.append(
            {
                "arrival": int(workload.arrival[i]),
                "job": int(workload.job[i]),
                "name": workload.task_name(i),
                "cpu_request": int(workload.cpu_request[i]),
                "memory_request": int(workload.memory_request[i]),
                "samples": list(zip(seconds, cpu, memory, strict=True)),
            }
        )
    return tasks


def wrap(value: int) -> int:
    """An integer as a signed 64-bit register holds it."""
    return (value + 2**63) % 2**64 - 2**63


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
        self.samples = []  # (end in seconds after the binding, (mCPU, bytes))
        end = 0
        for seconds, cpu, memory in given["samples"]:
            end += seconds
            self.samples.append((end, (cpu, memory)))
        self.at_once = len(self.samples) if loaded_at_once is None else loaded_at_once
        self.loaded = min(self.at_once, len(self.samples))
        self.position = 0
        self.moves = 0
        self.bound_at = 0

    def runs(self, now: int) -> bool:
        """Whether the task, bound already, has not reached the end of its loaded samples."""
        return now - self.bound_at < self.samples[self.loaded - 1][0]

    def demand(self, now: int) -> tuple[int, int]:
        """The demand of a running task; a sample counts from its start until before its end.

        The author's program counts one move a tick even if the task has passed several short
        samples in it, and loads more only when the moves reach the last loaded sample. After
        such a tick it loads too late: the task ends at the last sample that it has loaded.
        """
        before = self.position
        while now - self.bound_at >= self.samples[self.position][0]:
            self.position += 1
        if self.position > before:
            self.moves += 1
        if self.moves >= self.loaded - 1:
            self.loaded = min(self.loaded + self.at_once, len(self.samples))
        return self.samples[self.position][1]


class Fifo:
    """First in, first out."""

    def __init__(self) -> None:
        self.tasks: list[Task] = []

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

    def swap(self, i: int, j: int) -> None:
        self.tasks[i], self.tasks[j] = self.tasks[j], self.tasks[i]

    def push(self, task: Task) -> None:
        self.tasks.append(task)
        child = len(self.tasks) - 1
        while child > 0 and self.less(child, (child - 1) // 2):
            self.swap(child, (child - 1) // 2)
            child = (child - 1) // 2

    def pop(self) -> Task:
        size = len(self.tasks) - 1
        self.swap(0, size)
        parent = 0
        while 2 * parent + 1 < size:
            child = 2 * parent + 1
            if child + 1 < size and self.less(child + 1, child):
                child += 1
            if not self.less(child, parent):
                break
            self.swap(parent, child)
            parent = child
        return self.tasks.pop()


def share(
    capacity: int, demands: list[int], requests: list[int], resource: int, overflow: bool
) -> list[int]:
    """What each task of a node is allocated of one resource."""
    if sum(demands) <= capacity:
        return list(demands)
    total = sum(requests)
    granted = []
    for d, r in zip(demands, requests, strict=True):
        product = wrap(capacity * r) if overflow else capacity * r
        granted.append(min(d, r, quotient(product, total)) if total else 0)
    left = capacity - sum(granted)
    unmet = sum(demands) - sum(granted)
    allocated = []
    for d, g in zip(demands, granted, strict=True):
        extra = max(d - g, 0)
        if left <= 0 or unmet <= 0:
            part = 0
        elif overflow and resource == MEMORY:
            part = int(float(left) * float(extra) / float(unmet))
        else:
            part = left * extra // unmet
        allocated.append(g + min(extra, part))
    return allocated


@dataclass
class Node:
    """One node: its tasks, and its load as the scheduler believes it to be."""

    tasks: list[Task] = field(default_factory=list)
    estimate: list[int] = field(default_factory=lambda: [0, 0])

    def requested(self, resource: int) -> int:
        return sum(task.request[resource] for task in self.tasks)

    def same_job(self, job: int) -> int:
        return sum(task.job == job for task in self.tasks)

    def measure(self, now: int, rules: Rules) -> tuple[list[int], int]:
        """The seven columns of the node at this tick, and its number of satisfied tasks."""
        demands = [task.demand(now) for task in self.tasks]
        overflow = rules.sharing == "overflow"
        columns: list[list[int]] = []
        satisfied = [True] * len(self.tasks)
        for k in BOTH:
            demanded = [demand[k] for demand in demands]
            requested = [task.request[k] for task in self.tasks]
            allocated = share(CAPACITY[k], demanded, requested, k, overflow)
            for i, (a, d, r) in enumerate(zip(allocated, demanded, requested, strict=True)):
                satisfied[i] = satisfied[i] and (d <= a or a >= r)
            columns.append([sum(requested), sum(demanded), sum(allocated)])
        interleaved = [value for pair in zip(*columns, strict=True) for value in pair]
        return [*interleaved, len(self.tasks)], sum(satisfied)


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
        target = rnd(rules.target)
        if qos < target:
            if rules.raise_when == "falling":
                rises = qos < self.previous_qos
            elif rules.raise_when == "onset":
                rises = self.good_before or qos < rnd(target * self.previous_qos)
            else:
                rises = True
            if rises:
                base = 1.0 if rules.base == "one" else rnd(rules.min_penalty)
                step = rnd(rnd(rules.beta) * rnd(self.value - base))
                self.value = min(rnd(self.value + step), rnd(rules.max_penalty))
                self.good_before = False
        elif qos > target:
            self.value = max(rnd(rnd(rules.alpha) * self.value), rnd(rules.min_penalty))
            self.good_before = True
        self.previous_qos = qos


class Scheduler:
    """The choice of a node for one task."""

    def __init__(self, method: str, nodes: list[Node], penalty: Penalty, fresh: str) -> None:
        if method not in METHODS:
            raise ValueError(f"method must be one of {METHODS}; got {method!r}")
        self.method = method
        self.nodes = nodes
        self.penalty = penalty
        self.fresh = fresh
        self.by_load = method in ("FlexF", "FlexL")
        self.factor = 2 if method == "Oversub" else 1

    def fits(self, task: Task, node: Node) -> bool:
        if self.by_load:
            return all(CAPACITY[k] - node.estimate[k] - task.request[k] >= 0 for k in BOTH)
        return all(
            node.requested(k) + task.request[k] <= self.factor * CAPACITY[k] for k in BOTH
        )

    def score(self, task: Task, node: Node) -> int:
        if self.by_load:
            free = [CAPACITY[k] - node.estimate[k] for k in BOTH]
        else:
            free = [CAPACITY[k] - node.requested(k) - task.request[k] for k in BOTH]
        scores = [quotient(100 * free[k], CAPACITY[k]) for k in BOTH]
        if self.by_load:
            return min(scores) + 100 - node.same_job(task.job)
        return quotient(sum(scores), 2)

    def place(self, task: Task, now: int) -> int | None:
        """Bind the task to a node and return its position; None if it fits nowhere."""
        feasible = [i for i, node in enumerate(self.nodes) if self.fits(task, node)]
        if not feasible:
            return None
        chosen = feasible[0]
        if self.method != "FirstFit":
            scores = {i: self.score(task, self.nodes[i]) for i in feasible}
            chosen = max(i for i in feasible if scores[i] == max(scores.values()))
        node = self.nodes[chosen]
        task.bound_at = now
        node.tasks.append(task)
        for k in BOTH:
            if self.fresh == "request":
                node.estimate[k] += task.request[k]
            elif self.fresh == "penalised":
                node.estimate[k] += self.penalty.applied(task.request[k])
        return chosen


def simulate(
    tasks: list[dict[str, Any]], nodes: int, ticks: int, method: str, rules: Rules
) -> dict[str, Any]:
    """Run the ticks at 0, 60, ..., 60 * ticks seconds; all but the first are logged."""
    waiting = [Task(i, given, rules.loaded_samples) for i, given in enumerate(tasks)]
    cluster = [Node() for _ in range(nodes)]
    penalty = Penalty(rules)
    scheduler = Scheduler(method, cluster, penalty, rules.fresh)
    queue = Fifo()
    if method == "FlexL":
        queue = GoHeap() if rules.queue == "heap" else Stable()
    logged = ("node", "qos", "penalty", "pending", "satisfied", "running")
    log: dict[str, Any] = {key: [] for key in logged} | {"placed": {}, "finished": set()}

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
            chosen = scheduler.place(task, now)
            if chosen is None:
                failed.append(task)
            else:
                log["placed"][task.index] = (tick, chosen)
        for task in failed:
            queue.push(task)

        remove_finished(now)  # tasks of no length
        measured = [node.measure(now, rules) for node in cluster]
        columns = [row for row, _ in measured]
        satisfied = sum(count for _, count in measured)
        running = sum(row[6] for row in columns)
        qos = penalty.round(satisfied / running) if running else 1.0
        row = (columns, qos, penalty.value, len(queue.tasks), satisfied, running)
        if tick > 0:
            for key, value in zip(logged, row, strict=True):
                log[key].append(value)

        penalty.update(qos)
        load = 2 if rules.load == "demand" else 4  # first of the two columns
        for node, column in zip(cluster, columns, strict=True):
            node.estimate = [penalty.applied(column[load + k]) for k in BOTH]
    return log
