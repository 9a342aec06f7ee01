"""Commands that need TensorFlow in their own process, run in a fork of the user's server where that is warm.

The fork has the command's arguments, environment, folder and standard streams; this process waits for it, passes
signals on, and ends with its exit code.
"""

from __future__ import annotations

import importlib
import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tf1sessions.pools.fork_server import WorkerHandle

__all__ = ["preload", "run"]

_COMMANDS = ("convert", "inspect", "verify")
_LOOK_SECS = 0.5  # how often a signal is looked for that has not woken the main thread; arbitrary


def preload() -> None:
    """Import TensorFlow and what the commands need. Makes no session and runs no operation."""
    for name in (
        "tf1sessions.cli.convert",
        "tf1sessions.cli.report",
        "tf1sessions.cli.verify",
        "tf1sessions.models.model",
        "tf1sessions.porting.export",
        "tf1sessions.porting.parity.html_report",
        "tf1sessions.porting.parity.verifying",
    ):
        importlib.import_module(name)


def run(arguments: Sequence[str]) -> int | None:
    """Run a command in a fork of the user's server, where the user wishes that.

    Returns:
        Its exit code as a shell gives it; None where it is to be run in this process.
    """
    if not arguments or arguments[0] not in _COMMANDS or not sys.platform.startswith("linux"):
        return None
    if any(word.endswith(".npz") for word in arguments):  # of a recording, which chooses other kernels
        return None
    from tf1sessions.pools import user_servers
    from tf1sessions.pools.fork_server import WorkerServer, WorkerSpec

    preload = user_servers.PRELOADS["commands"]
    if user_servers.find(preload) is None:
        return None
    env = {"TF_CPP_MIN_LOG_LEVEL": "2"} | os.environ
    payload = {"arguments": list(arguments)}
    spec = WorkerSpec(arguments[0], "tf1sessions.cli.main:execute", payload, env, os.getcwd(), 0, 1, 2)
    with WorkerServer(preload, env, users=True) as server:
        server.on_note = lambda text: print(f"tf1sessions: {text}", file=sys.stderr)
        handle = server.spawn(spec)
        _pass_signals_on(handle)
        while (result := handle.wait(_LOOK_SECS)) is None:
            pass
    if not result.started:
        sys.stderr.write(result.start_error)
    return result.returncode if result.returncode >= 0 else 128 - result.returncode


def _pass_signals_on(handle: WorkerHandle) -> None:
    def pass_on(signum: int, frame: FrameType | None) -> None:
        handle.signal(signum)

    def suspend(signum: int, frame: FrameType | None) -> None:
        handle.signal(signal.SIGSTOP)
        os.kill(os.getpid(), signal.SIGSTOP)
        handle.signal(signal.SIGCONT)

    for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(signum) != signal.SIG_IGN:
            signal.signal(signum, pass_on)
    if signal.getsignal(signal.SIGTSTP) != signal.SIG_IGN:
        signal.signal(signal.SIGTSTP, suspend)
