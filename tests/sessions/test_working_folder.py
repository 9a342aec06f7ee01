"""A path in full, and the working directory that was deleted."""

from __future__ import annotations

from pathlib import Path

import pytest

from tf1sessions.errors import UsageError
from tf1sessions.sessions.working_folder import absolute, current_folder


def test_a_working_directory_that_was_deleted_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert (current_folder("here"), absolute("a/../b", "here")) == (str(tmp_path), str(tmp_path / "b"))
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert absolute("/a/../b", "here") == "/b"  # which needs none
    for ask in (lambda: current_folder("here"), lambda: absolute("b", "here")):
        with pytest.raises(UsageError, match=r"the current folder was deleted \(from here\)\. Change to one"):
            ask()
