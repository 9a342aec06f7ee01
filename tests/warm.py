"""A process that has TensorFlow, and forks one for each program of a test: it need not be imported again.

Importing TensorFlow is most of what a small program costs. In folders whose conftest.py says so, the fixture
``run_python`` is the one made here. The program still gets an interpreter of its own; only its modules are there::

    pytest ── run_python of conftest.py ──> client (warm_client.py): sends the program, its arguments, folder,
                                            environment and standard files, and ends as the program does
    pytest ── Popen ──> server (serve): imports TensorFlow, runs nothing with it; ends with pytest
                            └── fork ──> the program, in a session of its own; killed when its client is
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import json
import os
import select
import signal
import socket
import subprocess
import sys
import textwrap
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from collector import collect_rarely
from rewriting import compile_program
from support import PythonRun

_CLIENT = """
import sys
sys.path.insert(0, {folder!r})
import warm_client
sys.exit(warm_client.ask({address!r}, {code!r}, report.__defaults__[0]))
"""


#: As ``tf1sessions.scripts.install()`` has it before TensorFlow is imported.
_FOR_SCRIPTS = {"TF_USE_LEGACY_KERAS": "1", "TF_ENABLE_ONEDNN_OPTS": os.environ.get("TF_ENABLE_ONEDNN_OPTS", "0")}


@contextlib.contextmanager
def _server(address: str, **environment: str) -> Iterator[str]:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        command = [sys.executable, __file__, str(listener.fileno())]
        server = subprocess.Popen(
            command, pass_fds=[listener.fileno()], stdin=subprocess.PIPE, env={**os.environ, **environment}
        )
    yield address
    server.kill()
    server.communicate()


@pytest.fixture(scope="session")
def warm_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The socket of the server, which starts now."""
    with _server(str(tmp_path_factory.mktemp("warm") / "socket")) as address:
        yield address


@pytest.fixture(scope="session")
def script_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The socket of another server, in whose programs ``tf1sessions.scripts.install()`` can be called."""
    with _server(str(tmp_path_factory.mktemp("warm") / "scripts"), **_FOR_SCRIPTS) as address:
        yield address


def starting_warm(run_python: Callable[..., PythonRun], address: str) -> Callable[..., PythonRun]:
    """``run_python`` of conftest.py with one more argument, ``fresh``.

    With ``fresh``, or an environment of its own, a program starts as an interpreter does; else it has TensorFlow.
    """

    def run(code: str, *args: str, fresh: bool = False, **settings: Any) -> PythonRun:
        if not fresh and not settings.get("env") and hasattr(os, "pidfd_open"):
            folder = str(Path(__file__).parent)
            code = _CLIENT.format(folder=folder, address=address, code=textwrap.dedent(code))
        return run_python(code, *args, **settings)

    return run


@pytest.fixture(scope="session", autouse=True)
def run_python(run_python: Callable[..., PythonRun], warm_address: str) -> Callable[..., PythonRun]:
    """:func:`starting_warm`."""
    return starting_warm(run_python, warm_address)


def serve(listener: socket.socket) -> None:
    """Forks a process for each client; returns in that process, when it has run its program, and when stdin ends."""
    from tf1sessions import tf1

    for attribute in ("layers", "nn", "train"):
        getattr(tf1, attribute)
    collect_rarely()
    while True:
        ready, _, _ = select.select([listener, sys.stdin], [], [])
        if sys.stdin in ready:  # pytest has been killed
            return
        client, _ = listener.accept()
        with client:
            try:
                _, files, _, _ = socket.recv_fds(client, 1, 3)
                with client.makefile(encoding="utf-8") as stream:
                    request = json.loads(stream.readline())
            except (OSError, json.JSONDecodeError):  # the client has been killed
                continue
            program = os.fork()
            if not program:
                listener.close()
                break
            for file in files:
                os.close(file)
            code = _wait(program, client)
            with contextlib.suppress(OSError):  # the same
                client.sendall(b"%d\n" % code)
    os.setsid()
    for target, file in enumerate(files):
        os.dup2(file, target)
        os.close(file)
    _run(**request)


def _wait(program: int, client: socket.socket) -> int:
    """Waits until the program has ended, and kills it when the client has."""
    ended = os.pidfd_open(program)
    try:
        ready, _, _ = select.select([ended, client], [], [])
        if ended not in ready:
            with contextlib.suppress(ProcessLookupError):  # it has just ended, or has no session of its own yet
                os.killpg(program, signal.SIGKILL)
            os.kill(program, signal.SIGKILL)
        return os.waitstatus_to_exitcode(os.waitpid(program, 0)[1])
    finally:
        os.close(ended)


def _run(argv: list[str], report: str, folder: str, environment: dict[str, str]) -> None:
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.argv[:] = argv
    sys.path[0] = ""

    def report_(**results: Any) -> None:
        with open(report, "a", encoding="utf-8") as file:
            file.write(json.dumps(results) + "\n")

    main = sys.modules["__main__"] = types.ModuleType("__main__")
    vars(main)["report"] = report_
    atexit.register(gc.freeze)
    exec(compile_program(Path(argv[0]).read_bytes(), argv[0]), vars(main))


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
