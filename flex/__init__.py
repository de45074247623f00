"""Scheduling tasks on a cluster by what they use: Flex, and the schedulers it is compared with.

A reproduction of Le and Liu, "Flex: Closing the Gaps between Usage and Allocation" (arXiv
2006.01354), that is useful on its own tasks and schedulers too:

>>> from flex import simulate, synthesize
>>> day = synthesize(n_tasks=7140, seed=1)
>>> result = simulate(day, "FlexF", nodes=40, ticks=60)
>>> len(result.history), bool(result.history["cpu_request"].iloc[-1] > 1)
(60, True)

Modules: `workload` (tasks as flat arrays), `formats` and `normalised` (files of
tasks), `synthetic` and
`synthetic_demand` (a day calibrated on the Google trace), `schedulers` (policies, and how to
write one), `rules` (the author's and the paper's), `simulation` (the cluster) with its compiled
kernels `state`, `placement`, `sharing` and `engine`, `metrics`, `theory` (load balancing of
Section 3), `experiments` (a function for each figure), `data` (recorded runs and tables),
`checks` and `compiling` (of arguments and policies), `google2011` (reader of the real trace) and
`trace_commands`. On the command line: ``python -m flex run TASKS`` and
``python -m flex convert TRACE``.
"""

from flex.formats import load, read_tasks, read_workload, save
from flex.rules import AUTHOR, PAPER, Rules
from flex.schedulers import POLICIES, Node, Policy, Task, percent_free
from flex.simulation import Result, simulate
from flex.synthetic import synthesize
from flex.synthetic_demand import Day
from flex.workload import Workload, WorkloadError

__all__ = [
    "AUTHOR",
    "PAPER",
    "POLICIES",
    "Day",
    "Node",
    "Policy",
    "Result",
    "Rules",
    "Task",
    "Workload",
    "WorkloadError",
    "load",
    "percent_free",
    "read_tasks",
    "read_workload",
    "save",
    "simulate",
    "synthesize",
]

__version__ = "0.1.0"
