"""Running-time profiles of Spark applications and their degree of partitioning.

A reproduction of Gounaris et al., "Dynamic Configuration of Partitioning in Spark
Applications" (IEEE TPDS 2017), that is useful on its own numbers too:

>>> from sparkpart import fit
>>> nodes, seconds = [4, 8, 16, 24, 32, 48], [61.0, 35.5, 21.9, 18.1, 16.6, 16.1]
>>> profile = fit(nodes, seconds, "eq3")
>>> profile.predict([12, 40]).round(1).tolist()
[26.6, 15.9]

and chooses the degrees of a data flow:

>>> from sparkpart import Dataflow, Edge, Vertex, optimum
>>> flow = Dataflow(
...     [Vertex("load", {96: 500.0}), Vertex("sort", {32: 450.0, 96: 420.0})],
...     [Edge("load", "sort")],
... )
>>> best = optimum(flow, bound=flow.bound(slack=0.05))
>>> best.plan.tolist(), best.resource_consumption
([96, 32], 62400.0)

Modules: `models`, `leastsquares` and `profiles` (models and their fits), `usl` (Equation 1),
`runs` (CSV files of running times), `sampling` (profiles from a sample), `published` (the paper's
numbers), `nodegrid`, `conditions` and `reconstruction` (what they tell of the unpublished
measurements), `dataflow` and `flowfile` (data flows), `greedy`, `ils`, `fastest` and `exact`
(plans for them; `kernels`, `labels` and `program` do the work), `planning` (all of these at
once), `instances` (synthetic flows), `experiments` (a function for each figure and table),
`plots`, `output` (files that commands write). On the command line:
``python -m sparkpart fit RUNS.csv`` and ``python -m sparkpart optimize FLOW.yaml``.
"""

from sparkpart.dataflow import Dataflow, DataflowError, Edge, Vertex
from sparkpart.exact import Optimum, front, optimum
from sparkpart.fastest import fastest
from sparkpart.flowfile import read_flow, write_flow
from sparkpart.greedy import Search, greedy
from sparkpart.ils import ils
from sparkpart.models import MODELS, FitError, Model, running_time
from sparkpart.planning import Recommendation, recommend
from sparkpart.profiles import Bootstrap, Fit, compare, fit
from sparkpart.runs import RunsError, read_runs
from sparkpart.usl import USL

__all__ = [
    "MODELS",
    "USL",
    "Bootstrap",
    "Dataflow",
    "DataflowError",
    "Edge",
    "Fit",
    "FitError",
    "Model",
    "Optimum",
    "Recommendation",
    "RunsError",
    "Search",
    "Vertex",
    "compare",
    "fastest",
    "fit",
    "front",
    "greedy",
    "ils",
    "optimum",
    "read_flow",
    "read_runs",
    "recommend",
    "running_time",
    "write_flow",
]

__version__ = "0.1.0"
