"""The fixture ``plain``, and the check that no process of the test outlives it. For ``pytest_plugins``."""

from __future__ import annotations

import os
import signal
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from plain_jobs import MARK, Plain, python_path
from support import wait_for


@pytest.fixture
def plain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Plain]:
    mark = uuid.uuid4().hex
    monkeypatch.setenv(MARK, mark)
    monkeypatch.setenv("PYTHONPATH", python_path())
    monkeypatch.chdir(tmp_path)
    made = Plain(tmp_path, mark)
    yield made
    try:
        wait_for(lambda: not made.strays(), "the end of every process of the test", 15.0)
    except AssertionError:
        strays = made.strays()
        for pid in strays:
            os.kill(pid, signal.SIGKILL)
        pytest.fail(f"left behind: {strays}", pytrace=False)
