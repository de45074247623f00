"""Run the notebooks that are not in the cache, several at a time.

Jupyter Book finds the outputs in its cache. It would run one notebook after the other, and its
cache knows the code of a notebook, but not the packages the notebook imports.
"""

import asyncio
import os
import time
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import yaml
from IPython.core.inputtransformer2 import TransformerManager
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn, JupyterCacheAbstract
from myst_nb.core.read import is_myst_markdown_notebook, read_myst_markdown_notebook
from myst_parser.config.main import MdParserConfig
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode
from sphinx_external_toc.parsing import parse_toc_yaml
from tqdm import tqdm

from bookkit.dependencies import ROOT, notebook_digest

Result = TypeVar("Result")

# The kernels share the cores, so none of them may take all for itself.
START = 300
"""Seconds that a kernel may take to start; a busy machine needs more than the usual minute."""
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


@dataclass(frozen=True)
class Task:
    """A notebook to run.

    Attributes
    ----------
    path : Path
        The file of the notebook.
    notebook : NotebookNode
        Its content, as the build of the book reads it.
    dependencies : str
        The digest of what its output depends on besides its code.
    """

    path: Path
    notebook: NotebookNode
    dependencies: str


def read_config(root: Path = ROOT) -> dict[str, Any]:
    """Return the configuration of the book."""
    config: dict[str, Any] = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))
    return config


def read_tasks(root: Path = ROOT) -> list[Task]:
    """Return the notebooks in the table of contents, in its order."""
    extensions = read_config(root)["parse"]["myst_enable_extensions"]
    markdown = MdParserConfig(enable_extensions=set(extensions))
    tasks = []
    for name in parse_toc_yaml(root / "book/_toc.yml"):
        path = (root / "book" / name).with_suffix(".md")
        text = path.read_text(encoding="utf-8")
        if is_myst_markdown_notebook(text):
            notebook = read_myst_markdown_notebook(text, config=markdown, path=path)
            tasks.append(Task(path, notebook, notebook_digest(python_code(notebook), root)))
    return tasks


def python_code(notebook: NotebookNode) -> str:
    """Return the code of a notebook as Python, with magic commands turned into calls."""
    transform = TransformerManager().transform_cell  # type: ignore[no-untyped-call]
    return "\n".join(transform(cell.source) for cell in notebook.cells if cell.cell_type == "code")


def is_cached(cache: JupyterCacheAbstract, task: Task) -> bool:
    """Tell whether the cache has the output that a notebook would produce now."""
    try:
        record = cache.match_cache_notebook(task.notebook)
        cache.get_cache_bundle(record.pk)
    except KeyError:
        return False
    return bool(record.data.get("dependencies") == task.dependencies)


async def run_kernel(task: Task, timeout: int) -> None:
    """Run a notebook in a kernel of its own, in the folder of the notebook."""
    client = NotebookClient(
        task.notebook,
        timeout=timeout,
        startup_timeout=START,
        # Times in the cells would change the key of the notebook in the cache.
        record_timing=False,
        resources={"metadata": {"path": str(task.path.parent)}},
        # The kernel warns that its local connection is not encrypted.
        extra_arguments=["--log-level=ERROR"],
    )
    await client.async_execute(env={**os.environ, **ONE_THREAD})


async def run(task: Task, cache: JupyterCacheAbstract, timeout: int) -> str | None:
    """Run a notebook and cache it at once.

    Returns
    -------
    str or None
        What went wrong, None when nothing did.
    """
    start = time.perf_counter()
    try:
        await run_kernel(task, timeout)
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
        return f"{os.path.relpath(task.path)} failed:\n{error}"
    data = {
        "execution_seconds": time.perf_counter() - start,
        "dependencies": task.dependencies,
    }
    bundle = CacheBundleIn(task.notebook, str(task.path), data=data)
    cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)
    return None


async def run_all(tasks: list[Task], cache: JupyterCacheAbstract, timeout: int) -> list[str]:
    """Run notebooks, as many at a time as there are cores, and return the failures."""
    cores = asyncio.Semaphore(os.cpu_count() or 1)
    progress = tqdm(total=len(tasks), desc="Running notebooks", unit="notebook")

    async def run_when_free(task: Task) -> str | None:
        async with cores:
            failure = await run(task, cache, timeout)
        progress.set_postfix_str(task.path.stem, refresh=False)
        progress.update()
        return failure

    with progress:
        failures = await asyncio.gather(*map(run_when_free, tasks))
    return [failure for failure in failures if failure]


async def run_to_the_end(work: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine, then cancel what nbclient started and did not wait for."""
    try:
        return await work
    finally:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)


def run_interruptible(work: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine in a thread of its own, and cancel it on Ctrl-C.

    In the main thread nbclient would take over Ctrl-C, and stop only the newest kernel.
    """
    loop = asyncio.new_event_loop()
    task = loop.create_task(run_to_the_end(work))
    with closing(loop), ThreadPoolExecutor(max_workers=1) as thread:
        running = thread.submit(loop.run_until_complete, task)
        try:
            return running.result()
        except KeyboardInterrupt:
            loop.call_soon_threadsafe(task.cancel)
            raise


def execute_notebooks(root: Path = ROOT) -> list[str]:
    """Run the notebooks whose output is not in the cache, and cache it.

    Returns
    -------
    list of str
        One report for each notebook that failed.
    """
    cache = get_cache(str(root / "_build/.jupyter_cache"))
    try:
        tasks = [task for task in read_tasks(root) if not is_cached(cache, task)]
        timeout = read_config(root)["execute"]["timeout"]
        return run_interruptible(run_all(tasks, cache, timeout)) if tasks else []
    finally:
        cache.db.dispose()
