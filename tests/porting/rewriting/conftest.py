"""A project of three files, for the tests of what is written."""

from __future__ import annotations

from pathlib import Path

import pytest
from porting_support import NAMES


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with a file of each of NAMES."""
    folder = tmp_path / "project"
    folder.mkdir()
    for name in NAMES:
        (folder / name).write_text(f"print('old {name}')\n")
    return folder
