"""Check a built site: ``python -m bookkit.site _build/html``.

Every link and image inside the site must lead somewhere, and every image needs a description.
"""

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

FILE_NAME = re.compile(r"\S+\.(png|svg|jpe?g|gif|webp|pdf)", re.IGNORECASE)


@dataclass
class Page(HTMLParser):
    """What a page links to and what in it can be linked to.

    Attributes
    ----------
    anchors : set of str
        The names that links can lead to.
    links : list of str
        The addresses of links, images, scripts and style sheets.
    images : list of tuple of str
        Address and description of each image.
    """

    anchors: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    images: list[tuple[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Start the parser."""
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the anchors, links and images of a tag."""
        values = {name: value or "" for name, value in attrs}
        self.anchors.update(values[name] for name in ("id", "name") if name in values)
        self.links.extend(values[name] for name in ("href", "src") if name in values)
        if tag == "img":
            self.images.append((values.get("src", ""), values.get("alt", "").strip()))


def read_page(path: Path) -> Page:
    """Return the links and anchors of an HTML file."""
    page = Page()
    page.feed(path.read_text(encoding="utf-8"))
    page.close()
    return page


def read_pages(site: Path) -> dict[Path, Page]:
    """Return the pages of a site by file, without those the theme brings along."""
    files = [path for path in sorted(site.rglob("*.html")) if "_static" not in path.parts]
    return {path.resolve(): read_page(path) for path in files}


def broken_links(path: Path, pages: dict[Path, Page]) -> Iterator[str]:
    """Yield what is wrong with the links of a page."""
    for link in pages[path].links:
        address = urlsplit(link)
        if address.scheme or address.netloc:
            continue
        target = (path.parent / unquote(address.path)).resolve() if address.path else path
        target = target / "index.html" if target.is_dir() else target
        anchor = unquote(address.fragment)
        if not target.is_file():
            yield f"broken link {link}"
        elif anchor and target in pages and anchor not in pages[target].anchors:
            yield f"no such anchor {link}"


def undescribed_images(page: Page) -> Iterator[str]:
    """Yield the images of a page without a description."""
    for source, description in page.images:
        if not description or FILE_NAME.fullmatch(description):
            yield f"image without a description {source}"


def find_problems(site: Path) -> list[str]:
    """Return one line for each broken link and each image without a description.

    Parameters
    ----------
    site : Path
        The folder of the site.

    Returns
    -------
    list of str
        The problems, page by page.
    """
    pages = read_pages(site)
    if not pages:
        return [f"{site} has no pages"]
    return [
        f"{path.relative_to(site.resolve())}: {problem}"
        for path, page in pages.items()
        for problem in (*broken_links(path, pages), *undescribed_images(page))
    ]


def main() -> int:
    """Check the site named on the command line; return the exit status."""
    if len(sys.argv) != 2:
        print("usage: python -m bookkit.site SITE", file=sys.stderr)
        return 2
    problems = find_problems(Path(sys.argv[1]))
    print("\n".join(problems) or "All links lead somewhere and all images are described.")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
