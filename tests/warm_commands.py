"""The fixture ``warm_commands``, for tests of commands that are not about how these start. For ``pytest_plugins``.

Importing TensorFlow is most of what ``run`` or ``launch`` does with a small program. ``tf1sessions warm`` spares users
that, and it spares these tests as much; what a test sees of a command is the same (cli/test_warm_command.py).
"""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from plain_jobs import marked, python_path
from support import wait_for

IDLE_MINUTES = 60  # more than a run takes; should pytest be killed, the server ends after that
_MARK = "TF1SESSIONS_TEST_WARM"


class _WarmServer(NamedTuple):
    folder: Path
    mark: str  # in the environment of the server, and so in that of all its forks
    pids: set[int]


@pytest.fixture(scope="session")
def warm_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[_WarmServer]:
    """A server of this test session that has TensorFlow, and can run programs of TensorFlow 1."""
    folder, mark = tmp_path_factory.mktemp("warm_commands"), uuid.uuid4().hex
    environment = {**os.environ, "XDG_RUNTIME_DIR": str(folder), "TF1SESSIONS_WARM": "1", _MARK: mark}
    environment["PYTHONPATH"] = python_path()  # a server is for commands with an equal one
    command = [sys.executable, "-m", "tf1sessions", "warm"]
    start = [*command, "start", "--idle", str(IDLE_MINUTES)]
    # in another folder, as the tests' commands: this one may be a checkout, and the package is then that in it
    subprocess.run(start, cwd=folder, env=environment, check=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    yield _WarmServer(folder, mark, set(marked(mark)))
    subprocess.run([*command, "stop"], cwd=folder, env=environment, check=True, stdout=subprocess.PIPE)


@pytest.fixture
def warm_commands(warm_server: _WarmServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], dict[int, str]]]:
    """Lets the commands of a test use the server, and checks that no process that it made for them is left.

    Those have the environment in which the server was started, and not that of the test, by which its other processes
    are known. The fixture is a function that returns them: process ID -> command line.
    """
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(warm_server.folder))
    monkeypatch.setenv("TF1SESSIONS_WARM", "1")
    monkeypatch.setenv("PYTHONPATH", python_path())

    def made() -> dict[int, str]:
        return {pid: command for pid, command in marked(warm_server.mark).items() if pid not in warm_server.pids}

    yield made
    wait_for(lambda: not made(), lambda: f"the end of {made()}", 15.0)
