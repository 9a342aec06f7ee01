"""SIGTERM and SIGHUP in the commands that have no handlers of their own."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

BEGIN = """
import ctypes, fcntl, os, signal, sys, termios, time
from tf1sessions.cli import signals
signals.end_by_signals()
def ready():
    print("ready", os.getpid(), flush=True)
"""


@contextlib.contextmanager
def ready(code: str, hangup: signal.Handlers = signal.SIG_DFL) -> Iterator[subprocess.Popen[str]]:
    """A process that runs the code, once that has called ``ready()``."""
    process = subprocess.Popen(
        [sys.executable, "-c", BEGIN + code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, hangup),
    )
    try:
        assert process.stdout is not None and process.stdout.readline() == f"ready {process.pid}\n"
        yield process
        process.communicate(timeout=60)
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_is_an_error_that_cleaning_up_survives(signum: signal.Signals) -> None:
    code = """
try:
    ready()
    while True:
        time.sleep(0.02)
except signals.Terminated as error:
    os.kill(os.getpid(), signal.SIGTERM)  # as a terminal that is closed sends more than one
    os.kill(os.getpid(), signal.SIGHUP)
    sys.exit(error.signum)
"""
    with ready(code) as process:
        process.send_signal(signum)
    assert process.returncode == signum


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_that_comes_into_a_finalizer_is_not_lost(signum: signal.Signals) -> None:
    """Python drops what a finalizer raises, with a traceback on stderr."""
    code = f"""
class Finalized:
    def __del__(self):
        os.kill(os.getpid(), {int(signum)})
        time.sleep(60)
try:
    ready()
    Finalized()
    while True:
        time.sleep(0.02)
except KeyboardInterrupt as error:
    sys.exit(getattr(error, "signum", signal.SIGINT))
"""
    with ready(code) as process:
        _, err = process.communicate(timeout=60)
    assert process.returncode == signum and not err


def test_other_errors_of_finalizers_are_shown() -> None:
    code = """
class Finalized:
    def __del__(self):
        raise ValueError("shown")
ready()
Finalized()
"""
    with ready(code) as process:
        _, err = process.communicate(timeout=60)
    assert process.returncode == 0 and "ValueError: shown" in err


def test_a_main_thread_that_is_not_in_python_is_ended() -> None:
    code = """
signals._GRACE_SECS = 0.01
mutex = ctypes.create_string_buffer(64)  # of zeros, which is one that is free
def hang():
    for _ in range(2):
        ctypes.CDLL(None).pthread_mutex_lock(mutex)
try:
    ready()
    hang()
except signals.Terminated:  # it came before that
    hang()
"""
    with ready(code) as process:
        process.send_signal(signal.SIGTERM)
    assert process.returncode == 128 + signal.SIGTERM


def test_signals_that_the_command_has_handlers_for_are_left_to_them() -> None:
    """Nor does a signal to a forked child end its parent."""
    code = """
signals._GRACE_SECS = 0.01
child = os.fork()
if not child:
    os.kill(os.getpid(), signal.SIGTERM)
assert os.waitpid(child, 0)[1] == signal.SIGTERM
before = signal.signal(signal.SIGTERM, lambda *_: None)
ready()
os.kill(os.getpid(), signal.SIGTERM)
pipe = signal.set_wakeup_fd(-1)
os.write(pipe, bytes([signal.SIGCHLD]))
while fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)) != bytes(4):  # until the thread has judged what came before
    pass
signal.signal(signal.SIGTERM, before)
sys.exit(7)
"""
    with ready(code) as process:
        pass
    assert process.returncode == 7


def test_what_nohup_ignores_stays_ignored() -> None:
    with ready("ready(); os.kill(os.getpid(), signal.SIGHUP); sys.exit(7)", signal.SIG_IGN) as process:
        pass
    assert process.returncode == 7


@pytest.mark.parametrize(
    "module", ["tf1sessions.scripts.early_calls", "click", "tf1sessions.cli.main", "tf1sessions.cli.doctor"]
)
def test_ctrl_c_while_a_command_imports_ends_it_quietly(module: str) -> None:
    code = f"""
import os, signal, sys

class Interrupts:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupts())
sys.argv = ["tf1sessions", "doctor", "--help"]
from tf1sessions.cli.entry import main
main()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")
