"""SIGTERM and SIGHUP end a command as Ctrl-C does: what it has begun to write is removed.

A signal raises :class:`Terminated` in the main thread, whose ``with`` and ``finally`` clean up. A main thread that is
inside of TensorFlow does not get there; then a thread, which hears of the signal too, ends the process after a moment::

    signal ──▶ Python's C handler ─┬─▶ _Ender.raise_error(), once the main thread is back in Python
                                   └─▶ the wake-up descriptor ──▶ _Ender.end_late(), in a thread: os._exit()

Python drops an exception that a finalizer (``__del__``) raises, and these two may come to be in one; they are raised
again after it.

``tf1sessions run`` and what runs programs as it does have handlers of their own while they do
(:meth:`tf1sessions.scripts.runner.Run.heeding_signals`). Forked children have Python's handlers.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

__all__ = ["Terminated", "end_by_signals"]

_GRACE_SECS = 5.0  # for the main thread to clean up; arbitrary, that of ``tf1sessions run --grace``
_AGAIN_SECS = 0.02  # until a signal that fell into a finalizer is sent again: most are over by then, if not, once more


class Terminated(KeyboardInterrupt):
    """The signal ``signum`` came."""

    def __init__(self, signum: int) -> None:
        super().__init__(signal.Signals(signum).name)
        self.signum = signum


def end_by_signals() -> None:
    """Make SIGTERM and SIGHUP raise :class:`Terminated` from now on; one that is ignored (nohup) stays ignored.

    Neither these nor Ctrl-C are lost in a finalizer any more.

    To be called once, by the main thread. Does nothing where the signals do not exist.
    """
    if not hasattr(os, "register_at_fork"):  # nor are there these signals
        return
    signums = [signum for signum in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(signum) == signal.SIG_DFL]
    ender = _Ender(signums)
    for signum in signums:
        signal.signal(signum, ender.raise_error)
    signal.set_wakeup_fd(ender.writing, warn_on_full_buffer=False)
    sys.unraisablehook = ender.raise_again
    os.register_at_fork(after_in_child=ender.forget)
    with contextlib.suppress(RuntimeError):  # no more threads: what the command itself needs of them is its error
        threading.Thread(target=ender.end_late, name="tf1sessions-end", daemon=True).start()


class _Ender:
    def __init__(self, signums: list[signal.Signals]) -> None:
        self._signums = signums
        self._begun = False
        self._hook = sys.unraisablehook
        self._reading, self.writing = os.pipe()
        os.set_blocking(self.writing, False)

    def raise_error(self, signum: int, frame: FrameType | None) -> None:
        if not self._begun:  # a closed terminal sends several, and the first one's cleaning up is not to be disturbed
            self._begun = True
            raise Terminated(signum)

    def raise_again(self, unraisable: UnraisableHookArgs) -> None:
        """The hook of exceptions that Python drops: has the signal of one that came into a finalizer sent again."""
        error = unraisable.exc_value
        if not isinstance(error, KeyboardInterrupt):
            self._hook(unraisable)
            return
        self._begun = False
        signum = error.signum if isinstance(error, Terminated) else signal.SIGINT
        # later, by a thread: if it came at once, it would come into this hook, which drops exceptions as well
        later = threading.Timer(_AGAIN_SECS, os.kill, (os.getpid(), signum))
        later.daemon = True
        later.start()

    def end_late(self) -> None:
        signum = None
        while signum is None:
            received = os.read(self._reading, 1)[0]  # also signals that have other handlers
            if received in self._signums and signal.getsignal(received) == self.raise_error:
                signum = received
        time.sleep(_GRACE_SECS)
        os._exit(128 + signum)

    def forget(self) -> None:
        """In a forked child: its signals are not the parent's."""
        signal.set_wakeup_fd(-1)
        if sys.unraisablehook == self.raise_again:
            sys.unraisablehook = self._hook
        for signum in self._signums:
            if signal.getsignal(signum) == self.raise_error:
                signal.signal(signum, signal.SIG_DFL)
