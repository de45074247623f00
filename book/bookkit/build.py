"""Build the book: ``python -m bookkit.build``.

Runs the notebooks whose code or packages have changed, then Jupyter Book, with every warning
an error. Does nothing when nothing has changed since the last good build.
"""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from bookkit.dependencies import ROOT, book_digest

BUILD = ROOT / "_build"
HTML = BUILD / "html"
LAST_GOOD = BUILD / "last-good-build"
COMMAND = [
    str(Path(sys.executable).with_name("jupyter-book")),
    *("build", "book", "--config", "_config.yml", "--path-output", "."),
    # Without --all a second build would hide the warnings of the first.
    *("--all", "-n", "-W", "--keep-going"),
]
# Settings nobody reads, and hints on how to look at the book: ours come last and are shorter.
NOISE = (
    *("MdParserConfig(", "NbParserConfig(", "======", "Finished generating HTML"),
    *("HTML pages are", "You can look at your book", "Or paste this line"),
)
HINTS = ("_build/html/", "file://", "Source Folder:", "Config Path:", "Output Path:")


def is_up_to_date(digest: str) -> bool:
    """Tell whether the last good build was of the book as it is now."""
    good = LAST_GOOD.is_file() and (HTML / "index.html").is_file()
    return good and LAST_GOOD.read_text(encoding="utf-8") == digest


def run_notebooks() -> bool:
    """Run the notebooks that have changed, print what failed, and tell whether all went well."""
    from bookkit.execute import execute_notebooks  # Slow to import, and often not needed.

    failures = execute_notebooks()
    for failure in failures:
        print(f"\n{failure}", file=sys.stderr)
    return not failures


def is_noise(line: str) -> bool:
    """Tell whether a line of the output of Jupyter Book is of no use to anybody."""
    return line.strip().startswith(HINTS) or any(words in line for words in NOISE)


def run_jupyter_book() -> bool:
    """Make the pages and tell whether all went well."""
    # Pages that are no longer in the book would stay.
    shutil.rmtree(HTML, ignore_errors=True)
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        COMMAND,
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
    ) as process:
        for line in process.stdout or ():
            if not is_noise(line):
                print(line, end="", flush=True)
    return process.returncode == 0


def build(digest: str) -> bool:
    """Build the book and tell whether all went well."""
    LAST_GOOD.unlink(missing_ok=True)
    if not (run_notebooks() and run_jupyter_book()):
        return False
    # GitHub Pages would leave out the folders whose names begin with an underscore.
    (HTML / ".nojekyll").touch()
    LAST_GOOD.write_text(digest, encoding="utf-8")
    return True


def main() -> int:
    """Build the book if it has changed; return the exit status."""
    start = time.monotonic()
    digest = book_digest()
    page = (HTML / "index.html").relative_to(ROOT)
    if is_up_to_date(digest):
        print(f"The book is up to date. Open {page}, or run 'make serve'.")
        return 0
    try:
        built = build(digest)
    except KeyboardInterrupt:
        print("\nInterrupted. The notebooks that had finished are kept.", file=sys.stderr)
        return 130
    seconds = time.monotonic() - start
    if built:
        print(f"Built the book in {seconds:.0f} s. Open {page}, or run 'make serve'.")
    else:
        print(f"The book was not built: see above ({seconds:.0f} s).", file=sys.stderr)
    return 0 if built else 1


if __name__ == "__main__":
    sys.exit(main())
