"""The simulator beside a public one, AccaSim 1.1.3, on tasks that both can express.

AccaSim knows no demand apart from the request, so a task here demands what it requests, once
and for all, and arrivals and durations are whole minutes: then a simulator that goes from event
to event, as AccaSim does, must start every task in the same minute as ours, on the same node.
This is checked: the minute for all tasks, the node for those that run halfway. AccaSim took about
65 times as long, 54 to 56 s, for 5,000 tasks.

``pip install accasim`` makes the case run; without it the case is skipped. AccaSim 1.1.3 fails
to import with Python 3.10 and later by itself, since it takes ``Mapping`` from ``collections``;
the name is put back for it.

CloudSimPy is not compared: ``pip install cloudsimpy`` finds no version, as it is not on PyPI.
"""

import collections
import collections.abc
import importlib.util
import tempfile
import time
from dataclasses import replace

import numpy as np

from benchmarks.flex_speed import row, timed
from flex import AUTHOR, simulate, synthesize
from flex.state import FINISHED
from flex.workload import CPU_CAPACITY, MEMORY_CAPACITY, Workload

TICK = 60
MISSING = "AccaSim is not installed (pip install accasim)"


def in_whole_minutes(day):
    """The tasks of a day with one sample each: the request, for a whole number of minutes."""
    minutes = np.maximum(-(-day.duration // TICK), 1)
    tasks = np.arange(len(day))
    return Workload(
        -(-day.arrival // TICK) * TICK + TICK, day.job, day.cpu_request, day.memory_request,
        tasks, np.append(tasks, len(day)), minutes * TICK, day.cpu_request, day.memory_request,
    )  # fmt: skip


def accasim_classes(workload, jobs):
    """A factory and a reader of the workload, as AccaSim wants them; they fill the list of jobs."""
    from accasim.base.event_class import JobFactory
    from accasim.utils.reader_class import Reader

    class Tasks(Reader):
        """Hands out task after task, and stops the submission with the last."""

        def _read(self, current_time):
            k = len(jobs)
            if k + 1 == len(workload):
                self.stop_submission()
            return {
                "job_id": k, "queued_time": int(workload.arrival[k]), "requested_nodes": 1,
                "duration": int(workload.duration[k]),
                "requested_resources": {
                    "core": int(workload.cpu_request[k]), "mem": int(workload.memory_request[k]),
                },
            }  # fmt: skip

    class Recorded(JobFactory):
        """Keeps the jobs, in which AccaSim notes their start and node."""

        def factory(self, **given):
            jobs.append(super().factory(**given))
            return jobs[-1]

    return Recorded, Tasks


def accasim_cluster(nodes):
    from accasim.base.resource_manager_class import ResourceManager, Resources

    capacity = {"core": CPU_CAPACITY, "mem": MEMORY_CAPACITY}
    return ResourceManager(Resources({"node": capacity}, {"node": nodes}))


def by_accasim(workload, nodes):
    """Seconds that AccaSim takes, and the node, start and end of every task."""
    collections.Mapping = collections.abc.Mapping
    from accasim.base.allocator_class import FirstFit
    from accasim.base.scheduler_class import FirstInFirstOut
    from accasim.base.simulator_class import Simulator

    jobs, resources = [], accasim_cluster(nodes)
    recorded, tasks = accasim_classes(workload, jobs)
    factory = recorded(resources)
    with tempfile.TemporaryDirectory() as folder:
        simulator = Simulator(
            "tasks", None, FirstInFirstOut(FirstFit(), skip_jobs_on_allocation=True),
            resource_manager=resources, job_factory=factory, reader=tasks(factory),
            overwrite_previous=False, scheduling_output=False, statistics_output=False,
            show_statistics=False, RESULTS_FOLDER_PATH=folder, LOG_LEVEL="ERROR",
        )  # fmt: skip
        start = time.perf_counter()
        simulator.start_simulation()
        seconds = time.perf_counter() - start
    node = np.array([int(job.assigned_nodes[0].removeprefix("node_")) - 1 for job in jobs])
    return seconds, node, np.array([(job.start_time, job.end_time) for job in jobs]).T


def compare(tasks=5000, nodes=28):
    """Seconds of both on the same tasks; that they do the same is checked.

    A job of AccaSim has its start in the end; ours tells the node of those that still run.
    """
    workload = in_whole_minutes(synthesize(tasks, seed=1))
    theirs, node, (start, end) = by_accasim(workload, nodes)
    patient = replace(AUTHOR, failures=None)

    def ours(ticks):
        return simulate(workload, "FirstFit", nodes, ticks, patient)

    half, ticks = int(end.max()) // TICK // 2, int(end.max()) // TICK
    running = (found := ours(half).node) >= 0
    assert running.any()
    assert (found[running] == node[running]).all()
    seconds, result = timed(lambda: ours(ticks), 3)
    assert (result.bound * TICK == start).all()
    assert (result.node == FINISHED).all()
    return seconds, theirs


def run():
    """Rows of the table; one row says why the case is skipped where AccaSim is missing."""
    if importlib.util.find_spec("accasim") is None:
        yield {"case": f"skipped: {MISSING}"}
        return
    ours, theirs = compare()
    yield row("5,000 tasks of constant demand, 28 nodes: FirstFit, compiled", ours, ours)
    yield row("the same: AccaSim", theirs, ours)
