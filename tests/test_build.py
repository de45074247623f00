"""What the build runs again, and what it reports."""

import os
from pathlib import Path
from types import SimpleNamespace

import pytest
from bookkit import dependencies, sphinxext
from bookkit.dependencies import book_digest, local_modules, notebook_digest
from bookkit.execute import execute_notebooks
from bookkit.sphinxext import pages_url, repository_url

HEADER = """---
jupytext:
  text_representation:
    extension: .md
    format_name: myst
kernelspec:
  display_name: Python 3
  language: python
  name: python3
---
"""


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def write_notebook(root: Path, *cells: str) -> None:
    body = "".join(f"\n```{{code-cell}} ipython3\n{cell}\n```\n" for cell in cells)
    write(root / "book/index.md", f"{HEADER}\n# Title\n{body}")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write(tmp_path / "requirements.lock", "")
    write(tmp_path / "pyproject.toml", "")
    write(
        tmp_path / "_config.yml",
        "execute: {timeout: 30}\nparse: {myst_enable_extensions: [colon_fence]}\n",
    )
    write(tmp_path / "flex/__init__.py", "from . import simulate\n")
    write(tmp_path / "flex/simulate.py", "")
    write(tmp_path / "sparkpart/__init__.py", "")
    write(tmp_path / "book/claims.yml", "")
    write(tmp_path / "book/bookkit/__init__.py", "")
    write(tmp_path / "book/bookkit/claims.py", "")
    write(tmp_path / "book/bookkit/show.py", "def f():\n    from flex import simulate\n")
    write(tmp_path / "book/_toc.yml", "format: jb-book\nroot: index.md\n")
    write_notebook(tmp_path, "x = 1")
    return tmp_path


def test_imports_are_followed_through_packages(root: Path) -> None:
    assert local_modules("import numpy, sparkpart", root) == {"sparkpart"}
    assert local_modules("from bookkit import show", root) == {
        "bookkit",
        "bookkit.show",
        "flex",
        "flex.simulate",
    }


@pytest.mark.parametrize(
    ("code", "changed", "again"),
    [
        ("import flex", "flex/simulate.py", True),
        ("import flex", "flex/table.csv", True),
        ("import flex", "sparkpart/__init__.py", False),
        ("import flex", "book/claims.yml", False),
        ("import flex", "requirements.lock", True),
        ("from bookkit.show import f", "flex/simulate.py", True),
        ("from bookkit import claims", "sparkpart/__init__.py", True),
        ("from bookkit import claims", "book/claims.yml", True),
        ("import numpy", "flex/simulate.py", False),
    ],
)
def test_notebook_runs_again_when_what_it_imports_changes(
    root: Path, code: str, changed: str, again: bool
) -> None:
    before = notebook_digest(code, root)
    write(root / changed, "x = 1\n")
    assert (notebook_digest(code, root) != before) is again


def test_a_touch_changes_no_digest_and_the_scale_changes_all(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = notebook_digest("import flex", root), book_digest(root)
    os.utime(root / "flex/simulate.py", (1, 1))
    write(root / "flex/__pycache__/simulate.pyc", "x")
    assert (notebook_digest("import flex", root), book_digest(root)) == before
    monkeypatch.setenv("BOOK_SCALE", "other")
    assert notebook_digest("import flex", root) != before[0]
    assert book_digest(root) != before[1]


@pytest.mark.parametrize("changed", ["book/index.md", "flex/simulate.py", "_config.yml"])
def test_the_book_is_built_again_when_its_files_change(root: Path, changed: str) -> None:
    before = book_digest(root)
    write(root / changed, "x = 1\n")
    assert book_digest(root) != before


def test_every_package_of_the_project_is_known() -> None:
    for folder in dependencies.PACKAGES.values():
        assert (dependencies.ROOT / folder / "__init__.py").is_file()


def test_only_notebooks_that_changed_are_run(root: Path, tmp_path: Path) -> None:
    count = tmp_path / "count"
    write_notebook(root, f"print(1, file=open({str(count)!r}, 'a'))\nimport flex")
    for _ in range(2):
        assert execute_notebooks(root) == []
    assert count.read_text().split() == ["1"]
    write(root / "flex/simulate.py", "x = 1\n")
    assert execute_notebooks(root) == []
    assert count.read_text().split() == ["1", "1"]


def test_a_failing_cell_is_reported_and_not_cached(root: Path) -> None:
    write_notebook(root, "x = 1", "raise ValueError('no such luck')")
    for _ in range(2):
        (report,) = execute_notebooks(root)
        assert "index.md failed" in report
        assert "raise ValueError('no such luck')" in report
        assert "Traceback" in report


def test_github_actions_gives_the_address_of_the_fork(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_REPOSITORY", raising=False)
    assert repository_url("https://github.com/A/book/") == "https://github.com/A/book"
    monkeypatch.setenv("GITHUB_SERVER_URL", "https://github.com")
    monkeypatch.setenv("GITHUB_REPOSITORY", "B/fork")
    assert repository_url("https://github.com/A/book") == "https://github.com/B/fork"


def test_pages_address_follows_from_the_repository() -> None:
    assert pages_url("https://github.com/Owner/book") == "https://owner.github.io/book/"
    assert pages_url("https://github.com/owner/owner.github.io") == "https://owner.github.io/"


@pytest.mark.parametrize(("chosen", "told"), [("quick", True), ("paper", False)])
def test_a_quick_book_says_so_on_every_page(monkeypatch, chosen, told):
    monkeypatch.setenv("BOOK_SCALE", chosen)
    config = SimpleNamespace(html_theme_options={})
    sphinxext.announce_scale(None, config)
    assert ("Quick scale" in config.html_theme_options.get("announcement", "")) is told
