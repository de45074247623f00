"""What the book and each of its notebooks depend on, as digests of file contents."""

import ast
import hashlib
import os
import sys
from collections.abc import Iterable, Iterator
from importlib.util import resolve_name
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = {"flex": "flex", "sparkpart": "sparkpart", "bookkit": "book/bookkit"}
CLAIMS = "book/claims*"
# These look up functions by name, so their imports do not tell what they use.
LOOK_UP = {"bookkit.claims", "bookkit.results"}
GENERATED = {"__pycache__", ".ipynb_checkpoints"}


def files_below(folder: Path) -> Iterator[Path]:
    """Yield the files of a folder, in a fixed order, without generated ones."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not GENERATED.intersection(path.parts):
            yield path


def digest(paths: Iterable[Path], root: Path = ROOT) -> str:
    """Return a digest of the names and contents of files and of the way they are run.

    Parameters
    ----------
    paths : iterable of Path
        The files; the locked packages are always among them.
    root : Path
        The folder of the repository.

    Returns
    -------
    str
        A digest that also depends on the Python version and the scale of the book.
    """
    running = (sys.version_info[:2], os.environ.get("BOOK_SCALE", "paper"))
    state = hashlib.sha256(repr(running).encode())
    for path in (root / "requirements.lock", *paths):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        state.update(f"{path.relative_to(root).as_posix()} {content}\n".encode())
    return state.hexdigest()


def book_digest(root: Path = ROOT) -> str:
    """Return the digest of all that the built book depends on."""
    folders = [root / "book", root / "flex", root / "sparkpart"]
    files = [path for folder in folders for path in files_below(folder)]
    address = [os.environ.get(name, "") for name in ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY")]
    built = digest([*files, root / "_config.yml", root / "pyproject.toml"], root)
    return hashlib.sha256(repr((built, address)).encode()).hexdigest()


def notebook_digest(code: str, root: Path = ROOT) -> str:
    """Return the digest of what the output of a notebook depends on, besides its own code.

    Parameters
    ----------
    code : str
        The Python code of the notebook.
    root : Path
        The folder of the repository.

    Returns
    -------
    str
        The digest of the local packages it imports, directly or not. A notebook that shows
        claims depends on their files too, and on all packages if it imports only `bookkit`.
    """
    modules = local_modules(code, root)
    used = {name.split(".")[0] for name in modules}
    claims = bool(modules & LOOK_UP)
    if claims and used == {"bookkit"}:
        used = set(PACKAGES)
    files = [path for name in sorted(used) for path in files_below(root / PACKAGES[name])]
    return digest([*files, *(sorted(root.glob(CLAIMS)) if claims else [])], root)


def local_modules(code: str, root: Path = ROOT) -> set[str]:
    """Return the modules of this repository that code imports, directly or not."""
    found: set[str] = set()
    waiting = imports(code)
    while waiting:
        name = waiting.pop()
        path = module_file(name, root)
        if path is None or name in found:
            continue
        found.add(name)
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        waiting |= imports(path.read_text(encoding="utf-8"), package)
    return found


def imports(code: str, package: str = "") -> set[str]:
    """Return the names that may be modules in the import statements of code.

    Parameters
    ----------
    code : str
        Python code.
    package : str
        The package the code is in, for relative imports.

    Returns
    -------
    set of str
        Full names, including those of the packages that contain the modules.
    """
    names: set[str] = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            source = "." * node.level + (node.module or "")
            base = resolve_name(source, package) if node.level else source
            names.update(f"{base}.{alias.name}" for alias in node.names)
    return names | {parent for name in names for parent in parents(name)}


def parents(name: str) -> list[str]:
    """Return the names of the packages that contain a module."""
    parts = name.split(".")
    return [".".join(parts[:count]) for count in range(1, len(parts))]


def module_file(name: str, root: Path = ROOT) -> Path | None:
    """Return the file of a module of this repository, None for any other name."""
    package, *rest = name.split(".")
    if package not in PACKAGES:
        return None
    base = root.joinpath(PACKAGES[package], *rest)
    candidates = (base / "__init__.py", base.with_suffix(".py"))
    return next((path for path in candidates if path.is_file()), None)
