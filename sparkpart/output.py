"""Files that commands write: checked before any work, written aside and renamed."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

__all__ = ["check_outputs", "write"]


def _check_output(option: str, path: Path, others: Mapping[str, Path]) -> None:
    """Refuse a file that cannot be written, or that would replace one that is used here."""
    real = path.resolve()
    if not real.parent.is_dir():
        raise FileNotFoundError(f"{option}: {path}: there is no folder {path.parent}")
    if real.is_dir():
        raise IsADirectoryError(f"{option}: {path} is a folder; the name of a file is needed")
    if real.exists() and not real.is_file():
        raise FileExistsError(f"{option}: {path} is not a regular file and is not replaced")
    if not os.access(real.parent, os.W_OK):
        raise PermissionError(f"{option}: {path}: the folder {path.parent} is not writable")
    for name, other in others.items():
        if real == other.resolve() or (real.exists() and other.exists() and real.samefile(other)):
            raise FileExistsError(f"{option}: {path} is also {name}")


def check_outputs(outputs: Mapping[str, Path | None], source: Path) -> None:
    """Refuse files that cannot be written, or that would replace the input or each other.

    Parameters
    ----------
    outputs
        Option of the command line and the file it names, or None.
    source
        The input.

    Raises
    ------
    OSError
        With the option and the reason.
    """
    used = {"the input": source}
    for option, path in outputs.items():
        if path is not None:
            _check_output(option, path, used)
            used[f"the file of {option}"] = path


def write(path: Path, write_to: Callable[[Path], object]) -> None:
    """Write aside, then rename, so that no half-written file is left; links stay links.

    Parameters
    ----------
    path
        The file.
    write_to
        Writes to the path that it is given.

    Raises
    ------
    OSError
        With the name of the file.
    """
    real = path.resolve()
    aside = real.parent / f".{real.name}.{os.getpid()}{real.suffix}"
    try:
        write_to(aside)
        aside.replace(real)
    except OSError as error:
        raise OSError(f"{path}: {error.strerror or error}") from error
    finally:
        aside.unlink(missing_ok=True)
