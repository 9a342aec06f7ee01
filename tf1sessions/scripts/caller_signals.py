"""Signals to the process of a run: those that end the run, those that are for the jobs, and those of its terminal."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from types import FrameType

__all__ = ["handlers"]

#: End a process by default, and are raised by what it does itself; a handler in Python cannot help it.
_CRASHES = {"SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGTRAP", "SIGSYS", "SIGKILL"}
#: Stop or continue a process by default, or do nothing.
_HARMLESS = {"SIGSTOP", "SIGTSTP", "SIGTTIN", "SIGTTOU", "SIGCONT", "SIGCHLD", "SIGURG", "SIGWINCH"}
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def handlers(
    interrupt: Callable[[int], None],
    pass_on: Callable[[int], None],
    suspend: Callable[[], None],
    resize: Callable[[], None],
) -> Iterator[None]:
    """Call functions instead of what signals do to this process, while this lasts; one that is ignored stays ignored.

    Does nothing outside of the main thread, which alone can ask for signals.

    Args:
        interrupt: For SIGINT, SIGTERM and SIGHUP.
        pass_on: For the others by which a process ends that has no handler for them (SIGUSR1, SIGALRM, SIGQUIT, …).
            Where this process has one, it stays.
        suspend: For Ctrl-Z.
        resize: For a terminal that has another size.
    """
    if current_thread() is not main_thread():
        yield
        return
    wanted: dict[int, Callable[[int, FrameType | None], None]] = {}
    for ending in _ENDING:
        if signal.getsignal(ending) != signal.SIG_IGN:
            wanted[ending] = lambda signum, frame: interrupt(signum)
    for passed_on in _passed_on():
        wanted[passed_on] = lambda signum, frame: pass_on(signum)
    if signal.getsignal(signal.SIGTSTP) != signal.SIG_IGN:
        wanted[signal.SIGTSTP] = lambda signum, frame: suspend()
    wanted[signal.SIGWINCH] = lambda signum, frame: resize()
    before = {signum: signal.signal(signum, handler) for signum, handler in wanted.items()}
    try:
        yield
    finally:
        for replaced, previous in before.items():
            signal.signal(replaced, previous)


def _passed_on() -> Iterator[int]:
    for signum in signal.valid_signals() - set(_ENDING):
        name = signum.name if isinstance(signum, signal.Signals) else ""
        if name not in _CRASHES | _HARMLESS and signal.getsignal(signum) == signal.SIG_DFL:
            yield signum
