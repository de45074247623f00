"""Sphinx extension: what follows from the address of the repository and the scale of the book.

The address is ``repository.url`` in ``_config.yml``. On GitHub Actions the address of the
repository being built takes its place, so that the site of a fork links to the fork.
"""

import os
from urllib.parse import urlsplit

from sphinx.application import Sphinx
from sphinx.config import Config

from bookkit.results import scale

QUICK = (
    "Quick scale: figures, tables and verdicts here are computed with a hundredth of the tasks and "
    "nodes. The text describes the book at the paper's scale."
)


def repository_url(configured: str) -> str:
    """Return the address of the repository, without a slash at its end.

    Parameters
    ----------
    configured : str
        The address in the configuration.

    Returns
    -------
    str
        The address GitHub Actions gives, or else the configured one.
    """
    server, name = os.environ.get("GITHUB_SERVER_URL"), os.environ.get("GITHUB_REPOSITORY")
    url = f"{server}/{name}" if server and name else configured
    return url.rstrip("/")


def pages_url(repository: str) -> str:
    """Return the GitHub Pages address of a repository.

    Parameters
    ----------
    repository : str
        The address of the repository.

    Returns
    -------
    str
        The address of its site, ending in a slash.
    """
    owner, name = urlsplit(repository).path.strip("/").split("/")
    site = f"https://{owner.lower()}.github.io/"
    return site if name.lower() == f"{owner.lower()}.github.io" else f"{site}{name}/"


def set_addresses(_app: Sphinx, config: Config) -> None:
    """Set the repository of the buttons and the base address of the pages."""
    repository = repository_url(config.html_theme_options["repository_url"])
    config.html_theme_options["repository_url"] = repository
    config.html_baseurl = config.html_baseurl or pages_url(repository)


def announce_scale(_app: Sphinx, config: Config) -> None:
    """Say on every page of a quick book that its figures are not those of the text."""
    if scale() == "quick":
        config.html_theme_options["announcement"] = QUICK


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension with Sphinx."""
    # Before the theme and its extensions, which read the address at the default priority.
    app.connect("config-inited", set_addresses, priority=100)
    app.connect("config-inited", announce_scale, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
