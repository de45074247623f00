"""Results of experiments, kept on disk by function, arguments and code.

``python -m bookkit.results`` computes all that the book reads; a chapter asks for one with
``cached(experiments.table1)()``. A result is computed anew when its arguments, the code or data
of its package, or the numerical libraries change.
"""

from __future__ import annotations

import hashlib
import inspect
import os
import sys
from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

import pandas as pd
from joblib import Memory, Parallel, delayed, parallel_config
from tqdm import tqdm

from bookkit.dependencies import ROOT, files_below

PACKAGES = ("flex", "sparkpart")
SPREAD = (
    "flex.experiments.cluster",
    "flex.experiments.findings",
    "flex.experiments.choices",
    "sparkpart.experiments.synthetic",
    "sparkpart.experiments.optimal",
    "sparkpart.experiments.robustness",
    "sparkpart.experiments.searches",
)
"""Modules whose experiments spread their runs over processes themselves."""
LIBRARIES = ("numba", "numpy", "pandas", "scipy")

Experiment = Callable[..., pd.DataFrame]
Task = tuple[str, tuple[tuple[str, Any], ...]]


def scale() -> str:
    """Return the scale of the book: "paper", or "quick" for small sizes."""
    return os.environ.get("BOOK_SCALE", "paper")


def store() -> Path:
    """Return the folder of the results: in the repository, else the user's cache."""
    at_home = (ROOT / "pyproject.toml").is_file()
    return ROOT / ".results" if at_home else Path.home() / ".cache" / "two-papers-reproduced"


@cache
def code_digest(package: str) -> str:
    """Return a digest of the files of an installed package and the libraries' versions."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError(f"package {package!r} is not installed")
    folder = Path(spec.submodule_search_locations[0])
    state = hashlib.sha256(repr([version(name) for name in LIBRARIES]).encode())
    for path in files_below(folder):
        state.update(path.relative_to(folder).as_posix().encode() + path.read_bytes())
    return state.hexdigest()[:16]


def cached(experiment: Experiment) -> Experiment:
    """Return the experiment with its results kept on disk.

    The scale of the book is passed on if the experiment takes a ``scale`` that is not given.

    Parameters
    ----------
    experiment
        A function of an installed package that returns a DataFrame.
    """
    package = experiment.__module__.partition(".")[0]
    memory = Memory(store() / f"{package}-{code_digest(package)}", verbose=0)
    kept = memory.cache(experiment)
    takes_scale = "scale" in inspect.signature(experiment).parameters

    def call(**arguments: object) -> pd.DataFrame:
        if takes_scale:
            arguments.setdefault("scale", scale())
        result: pd.DataFrame = kept(**arguments)
        return result

    return call


def find(name: str) -> Experiment:
    """Return the experiment with a full name, such as "sparkpart.experiments.table1"."""
    module, _, function = name.rpartition(".")
    found: Experiment = getattr(import_module(module), function)
    return found


def run(task: Task) -> Task:
    """Compute a result, or find it on disk."""
    name, arguments = task
    cached(find(name))(**dict(arguments))
    return task


def default_tasks() -> list[Task]:
    """Return every public experiment of the packages, with its default arguments."""
    names = [f"{package}.experiments" for package in PACKAGES]
    modules = [import_module(name) for name in names if find_spec(name)]
    return [(f"{m.__name__}.{name}", ()) for m in modules for name in m.__all__]


def compute(tasks: Iterable[Task], workers: int) -> None:
    """Compute results in parallel with a progress bar; those finished survive an interruption."""
    waiting = list(dict.fromkeys(tasks))
    spread = [task for task in waiting if find(task[0]).__module__ in SPREAD]
    whole = [task for task in waiting if task not in spread]
    tqdm.monitor_interval = 0  # no thread: the processes of "multiprocessing" are forks
    with tqdm(total=len(waiting), desc="results", unit="result", file=sys.stdout) as bar:
        with parallel_config(backend="multiprocessing", n_jobs=workers):
            _follow(map(run, spread), bar)
        jobs = Parallel(n_jobs=workers, return_as="generator_unordered")(
            delayed(run)(task) for task in whole
        )
        _follow(jobs, bar)


def _follow(done: Iterable[Task], bar: tqdm[NoReturn]) -> None:
    for name, _ in done:
        bar.set_postfix_str(name.rpartition(".")[2])
        bar.update()


def main() -> int:
    """Compute all results that the book reads; return the exit status."""
    from bookkit.claims import load, tasks_of

    try:
        compute([*default_tasks(), *tasks_of(load())], workers=os.cpu_count() or 1)
    except KeyboardInterrupt:
        print("\nInterrupted. The results that had finished are kept.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    # The workers find the functions by the name of the module, which is not "__main__".
    from bookkit import results

    sys.exit(results.main())
