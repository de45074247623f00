"""The files around the book agree with each other."""

import re
import subprocess
import tomllib
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
import yaml
from bookkit.pairs import notebook_sources
from jupytext import reads
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from sphinx_external_toc.parsing import parse_toc_yaml

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = notebook_sources(ROOT / "book")


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


@cache
def config() -> dict[str, Any]:
    return yaml.safe_load(read("_config.yml"))


def test_make_help_lists_every_target_with_a_description() -> None:
    phony = re.search(r"^\.PHONY: (.*)$", read("Makefile"), re.MULTILINE)
    assert phony is not None
    output = subprocess.run(
        ["make", "--no-print-directory"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    described = dict(re.findall(r"^  (\w+) +(\S.*)$", output, re.MULTILINE))
    assert set(described) == set(phony[1].split())


def test_make_rejects_an_unknown_scale() -> None:
    made = subprocess.run(
        ["make", "SCALE=huge", "help"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert made.returncode != 0
    assert "SCALE must be quick or paper" in made.stderr


def test_binder_uses_the_python_and_the_lock_of_the_project() -> None:
    dependencies = yaml.safe_load(read("environment.yml"))["dependencies"]
    oldest = tomllib.loads(read("pyproject.toml"))["project"]["requires-python"].removeprefix(">=")
    assert f"python={oldest}" in dependencies
    assert {"pip": ["-r requirements.lock"]} in dependencies
    assert (ROOT / "postBuild").stat().st_mode & 0o111


def locked_versions() -> set[str]:
    return set(re.findall(r"^([\w.-]+)==", read("requirements.lock"), re.MULTILINE))


def test_the_lock_covers_every_dependency_of_the_project() -> None:
    project = tomllib.loads(read("pyproject.toml"))["project"]
    wanted = chain(project["dependencies"], *project["optional-dependencies"].values())
    names = {canonicalize_name(Requirement(requirement).name) for requirement in wanted}
    assert names <= {canonicalize_name(name) for name in locked_versions()}


def test_the_lock_has_hashes_and_no_addresses() -> None:
    lock = read("requirements.lock")
    assert "://" not in lock
    for entry in re.split(r"\n(?=[a-z])", lock.strip()):
        assert "--hash=sha256:" in entry, entry


def test_the_address_of_the_repository_is_in_one_file() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if listed.returncode:
        pytest.skip("not a git repository")
    files = [ROOT / name for name in listed.stdout.decode().split("\0") if name]
    address = config()["repository"]["url"].encode()
    assert [f.name for f in files if f.is_file() and address in f.read_bytes()] == ["_config.yml"]


def test_every_page_is_in_the_table_of_contents() -> None:
    book = ROOT / "book"
    listed = {(book / name).with_suffix(".md") for name in parse_toc_yaml(book / "_toc.yml")}
    assert set(book.rglob("*.md")) == listed


def test_citation_names_the_book_and_its_version() -> None:
    citation = yaml.safe_load(read("CITATION.cff"))
    assert citation["title"] == config()["title"]
    assert citation["version"] == tomllib.loads(read("pyproject.toml"))["project"]["version"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_figures_have_caption_name_description_and_a_mention(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for cell in reads(text, fmt="md:myst").cells:
        figure = cell.metadata.get("mystnb", {}).get("figure")
        if figure is None:
            continue
        assert figure["caption"].strip()
        assert cell.metadata["mystnb"]["image"]["alt"].strip()
        assert re.search(rf"\{{numref\}}`[^`]*\b{figure['name']}\b", text), figure["name"]


def test_no_folder_of_chapters_hides_a_package():
    """A notebook runs in its folder, where a folder of that name would be imported instead."""
    folders = {path.name for path in (ROOT / "book").rglob("*") if path.is_dir()} - {"bookkit"}
    assert not folders & {"flex", "sparkpart", "bookkit", "tests", "benchmarks"}
