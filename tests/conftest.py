"""Settings and fixtures of all tests."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parents[1]

settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.load_profile("repeatable")


@pytest.fixture(scope="session")
def samples() -> Path:
    """The folder of real data; it is not part of the repository."""
    folder = Path(os.environ.get("SAMPLES_DIR", ROOT.parent / "shared" / "samples"))
    if not folder.is_dir():
        pytest.skip(f"the samples folder {folder} is absent; SAMPLES_DIR can name another")
    return folder
