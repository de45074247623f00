"""Data of the package: recorded runs of the author's program, and tables of the real trace."""

from importlib.resources import as_file, files

import numpy as np
from numpy.typing import NDArray

from flex.formats import read_tasks
from flex.workload import Workload

__all__ = ["author_run", "author_tasks"]

RUNS = {"LeastFit": "worstfit", "Oversub": "oversub", "FlexF": "flexf", "FlexL": "flexl"}


def author_tasks() -> Workload:
    """Return the 600 tasks that the author's program was run on."""
    with as_file(files(__name__) / "g600x10_tasks.json.gz") as path:
        return read_tasks(path)


def author_run(method: str) -> dict[str, NDArray[np.generic]]:
    """Return the recorded output of the author's program on these tasks: 10 nodes, 180 ticks.

    Parameters
    ----------
    method
        "LeastFit", "Oversub", "FlexF" or "FlexL".

    Raises
    ------
    KeyError
        If the method was not recorded.
    """
    with as_file(files(__name__) / f"g600x10_{RUNS[method]}.npz") as path, np.load(path) as file:
        return {key: file[key] for key in file.files}
