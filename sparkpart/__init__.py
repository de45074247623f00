"""Running-time profiles of Spark applications and their degree of partitioning.

A reproduction of Gounaris et al., "Dynamic Configuration of Partitioning in Spark
Applications" (IEEE TPDS 2017), that is useful on its own numbers too:

>>> from sparkpart import fit
>>> nodes, seconds = [4, 8, 16, 24, 32, 48], [61.0, 35.5, 21.9, 18.1, 16.6, 16.1]
>>> profile = fit(nodes, seconds, "eq3")
>>> profile.predict([12, 40]).round(1).tolist()
[26.6, 15.9]

Modules: `models`, `leastsquares` and `profiles` (models and their fits), `usl` (Equation 1),
`runs` (CSV files of running times), `sampling` (profiles from a sample), `published` (the paper's
numbers), `nodegrid`, `conditions` and `reconstruction` (what they tell of the unpublished
measurements), `experiments` (a function for each figure and table), `plots`. On the command line:
``python -m sparkpart fit RUNS.csv``.
"""

from sparkpart.models import MODELS, FitError, Model, running_time
from sparkpart.profiles import Bootstrap, Fit, compare, fit
from sparkpart.runs import RunsError, read_runs
from sparkpart.usl import USL

__all__ = [
    "MODELS",
    "USL",
    "Bootstrap",
    "Fit",
    "FitError",
    "Model",
    "RunsError",
    "compare",
    "fit",
    "read_runs",
    "running_time",
]

__version__ = "0.1.0"
