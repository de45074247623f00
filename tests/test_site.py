"""The check of the built site."""

from pathlib import Path

import pytest
from bookkit.site import find_problems


def page(body: str) -> str:
    return f"<!doctype html><html><body>{body}</body></html>"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / "part").mkdir()
    (tmp_path / "a figure.png").touch()
    (tmp_path / "index.html").write_text(
        page(
            '<a href="part/">part</a> <a href="part/index.html#end">end</a> <a href="#">top</a>'
            '<a href="https://example.org/x#y">away</a> <a href="mailto:a@example.org">mail</a>'
            '<img src="a%20figure.png" alt="Run time against partitions">'
        )
    )
    (tmp_path / "part/index.html").write_text(
        page('<p id="end"><a href="../index.html">up</a></p>')
    )
    return tmp_path


def test_a_sound_site_has_no_problems(site: Path) -> None:
    assert find_problems(site) == []


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ('<a href="gone.html">x</a>', "broken link gone.html"),
        ('<a href="../index.html#gone">x</a>', "no such anchor ../index.html#gone"),
        ('<a href="#gone">x</a>', "no such anchor #gone"),
        ('<img src="gone.png" alt="A figure">', "broken link gone.png"),
        ('<img src="../a%20figure.png">', "image without a description ../a%20figure.png"),
        (
            '<img src="../a%20figure.png" alt="../_images/0a1b.png">',
            "image without a description ../a%20figure.png",
        ),
    ],
)
def test_problems_are_found(site: Path, body: str, problem: str) -> None:
    (site / "part/other.html").write_text(page(body))
    assert find_problems(site) == [f"part/other.html: {problem}"]


def test_an_empty_site_is_a_problem(tmp_path: Path) -> None:
    assert find_problems(tmp_path) == [f"{tmp_path} has no pages"]
