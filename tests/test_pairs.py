"""The .ipynb beside each .md notebook."""

from pathlib import Path

import nbformat
import pytest
from bookkit import pairs

NOTEBOOK = """---
jupytext:
  text_representation:
    extension: .md
    format_name: myst
kernelspec:
  display_name: Python 3
  language: python
  name: python3
---

# Title

```{code-cell} ipython3
:tags: [hide-input]

x = 1
```

Words.

```{code-cell} ipython3
x + 1
```
"""


@pytest.fixture
def book(tmp_path: Path) -> Path:
    (tmp_path / "chapter.md").write_text(NOTEBOOK, encoding="utf-8")
    (tmp_path / "page.md").write_text("# No code here\n", encoding="utf-8")
    pairs.write_pairs(tmp_path)
    return tmp_path


def read(book: Path) -> nbformat.NotebookNode:
    return nbformat.read(book / "chapter.ipynb", as_version=nbformat.NO_CONVERT)


def test_pairs_of_the_book_are_in_sync() -> None:
    assert pairs.find_problems(pairs.BOOK) == []


def test_written_pairs_are_in_sync_and_only_for_notebooks(book: Path) -> None:
    assert pairs.find_problems(book) == []
    assert [path.name for path in book.glob("*.ipynb")] == ["chapter.ipynb"]
    assert pairs.write_pairs(book) == []


def test_pair_keeps_tags_and_has_no_outputs_or_machine_metadata(book: Path) -> None:
    notebook = read(book)
    assert set(notebook.metadata) == {"kernelspec"}
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert code[0].metadata == {"tags": ["hide-input"]}
    assert all(cell.outputs == [] and cell.execution_count is None for cell in code)


def test_an_edit_changes_only_the_id_of_the_edited_cell(book: Path) -> None:
    before = [cell.id for cell in read(book).cells]
    source = book / "chapter.md"
    source.write_text(NOTEBOOK.replace("Words.", "Other words."), encoding="utf-8")
    pairs.write_pairs(book)
    after = [cell.id for cell in read(book).cells]
    assert [old == new for old, new in zip(before, after, strict=True)] == [True, True, False, True]


def test_an_edited_source_is_reported(book: Path) -> None:
    (book / "chapter.md").write_text(NOTEBOOK + "\nMore.\n", encoding="utf-8")
    assert "chapter.ipynb differs from chapter.md" in pairs.find_problems(book)[0]


def test_outputs_are_reported(book: Path) -> None:
    notebook = read(book)
    notebook.cells[1].outputs = [nbformat.v4.new_output("stream", text="1")]
    nbformat.write(notebook, book / "chapter.ipynb")
    assert len(pairs.find_problems(book)) == 1


def test_missing_and_orphaned_pairs_are_reported(book: Path) -> None:
    (book / "chapter.ipynb").rename(book / "old.ipynb")
    missing, orphan = pairs.find_problems(book)
    assert "chapter.ipynb is missing" in missing
    assert "old.ipynb has no .md" in orphan
