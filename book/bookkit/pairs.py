"""Keep an .ipynb beside each .md notebook, for Binder and Colab.

``python -m bookkit.pairs --write`` makes them from the .md files, ``--check`` tells which differ
from what ``--write`` would make. An .ipynb is a function of its .md, down to the cell ids, and
has no outputs.
"""

import argparse
import hashlib
import sys
from collections import Counter
from pathlib import Path

import jupytext
import nbformat
from myst_nb.core.read import is_myst_markdown_notebook
from nbformat import NotebookNode

from bookkit.dependencies import GENERATED, ROOT

BOOK = ROOT / "book"
FIX = "edit the .md and run 'make notebooks'"


def notebook_sources(book: Path) -> list[Path]:
    """Return the .md files of a folder that are notebooks."""
    return [
        path
        for path in sorted(book.rglob("*.md"))
        if not GENERATED.intersection(path.parts)
        and is_myst_markdown_notebook(path.read_text(encoding="utf-8"))
    ]


def set_cell_ids(notebook: NotebookNode) -> None:
    """Give each cell an id that depends on its content only.

    The cells that an edit leaves alone so keep their ids.
    """
    seen: Counter[str] = Counter()
    for cell in notebook.cells:
        content = f"{cell.cell_type}\n{cell.source}"
        numbered = f"{content}\n{seen[content]}"
        seen[content] += 1
        cell.id = hashlib.sha256(numbered.encode()).hexdigest()[:12]


def paired_text(source: Path) -> str:
    """Return the text of the .ipynb that belongs to an .md notebook."""
    notebook = jupytext.reads(source.read_text(encoding="utf-8"), fmt="md:myst")
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    notebook.metadata.pop("jupytext", None)
    set_cell_ids(notebook)
    nbformat.validate(notebook)
    text: str = nbformat.writes(notebook, indent=1)  # type: ignore[no-untyped-call]
    return text.rstrip("\n") + "\n"


def write_pairs(book: Path) -> list[Path]:
    """Write the .ipynb files that differ from their .md, and return them."""
    written = []
    for source in notebook_sources(book):
        target, text = source.with_suffix(".ipynb"), paired_text(source)
        if not target.is_file() or target.read_text(encoding="utf-8") != text:
            target.write_text(text, encoding="utf-8")
            written.append(target)
    return written


def find_problems(book: Path) -> list[str]:
    """Return one line for each .ipynb that is missing, differs from its .md or has none."""
    problems = []
    sources = notebook_sources(book)
    for source in sources:
        target = source.with_suffix(".ipynb")
        if not target.is_file():
            problems.append(f"{target} is missing: run 'make notebooks'")
        elif target.read_text(encoding="utf-8") != paired_text(source):
            problems.append(f"{target} differs from {source.name}: {FIX}")
    expected = {source.with_suffix(".ipynb") for source in sources}
    for path in sorted(book.rglob("*.ipynb")):
        if path not in expected and not GENERATED.intersection(path.parts):
            problems.append(f"{path} has no .md notebook beside it: delete it")
    return problems


def main() -> int:
    """Write or check the pairs; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m bookkit.pairs", description=__doc__)
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--write", action="store_true", help="write the .ipynb files")
    action.add_argument("--check", action="store_true", help="only tell which differ")
    if parser.parse_args().write:
        for path in write_pairs(BOOK):
            print(f"Wrote {path.relative_to(ROOT)}")
        return 0
    problems = find_problems(BOOK)
    print("\n".join(problems) or "Each .ipynb matches its .md.")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
