"""The monitor thread: one thread a pipeline, that looks every 25 ms and does what no other thread is free to do.

It alone closes queues; it samples their sizes and which threads wait for them; it reports stalls; and it sees Ctrl-C
when the main thread cannot, because that waits inside TensorFlow::

    others ── wake() ──┐                                  ┌─▶ closings
    SIGINT ── signal.set_wakeup_fd ──▶ socket ──▶ monitor ─┼─▶ samples, stalls, trace
    25 ms ─────────────────────────────────────────────┘  └─▶ an interrupt that the main thread does not notice

Python runs signal handlers in the main thread, between two of its instructions: while it waits in TensorFlow, never.
The monitor thread sees the byte that the C handler writes to the wake-up descriptor, and frees the main thread by
cancelling the queues; the handler runs as soon as TensorFlow returns.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import threading
import time
import weakref
from collections.abc import Callable
from time import sleep

from tf1sessions.pipelines.coordinator import join_all

__all__ = ["TICK_SECS", "MonitorThread"]

#: How often the monitor thread looks. Arbitrary: a look costs about 0.1 ms.
TICK_SECS = 0.025
#: How long a thread may take to start. Arbitrary.
_START_SECS = 0.5

_WAKE = b"\0"  # signals have numbers from 1
_listening: weakref.WeakSet[MonitorThread] = weakref.WeakSet()


def _after_fork() -> None:
    for monitor in list(_listening):
        monitor.leave()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class MonitorThread:
    """Calls ``tend(interrupted)`` every 25 ms, and at once when it is woken, until it is ended.

    ``interrupted`` is None, or how many seconds ago a SIGINT came that ``tend`` has not seen to: it returns True when
    it has, or when the main thread has noticed the signal by itself.

    Thread-safety: wake() may be called from anywhere, signal handlers included.
    """

    def __init__(self, tend: Callable[[float | None], bool], name: str) -> None:
        self._tend = tend
        self._mine, self._others = socket.socketpair()
        self._others.setblocking(False)
        self._over = False
        self._before: int | None = None  # the wake-up descriptor that was there, as long as ours is in its place
        self._heir = -1  # the file that had asked for signals before: an asyncio loop, an outer pipeline
        self.thread = threading.Thread(target=self._keep, name=f"{name}/monitor", daemon=True)

    def start(self) -> None:
        """Starts the thread; called from the main thread, it sees signals, too."""
        if threading.current_thread() is threading.main_thread():
            self._before = self._heir = signal.set_wakeup_fd(self._others.fileno(), warn_on_full_buffer=False)
            _listening.add(self)
        self.thread.start()

    def leave(self) -> None:
        """Hears no more signals. In a forked child, whose signals are not the parent's, and at the end."""
        if self._before is not None:
            before, self._before = self._before, None
            _listening.discard(self)
            if (other := signal.set_wakeup_fd(before)) != self._others.fileno():
                signal.set_wakeup_fd(other)  # another's, which came later and is still there

    def wake(self) -> None:
        """Makes it look at once."""
        with contextlib.suppress(BlockingIOError, OSError):  # full: it will wake anyway; closed: it has ended
            self._others.send(_WAKE)

    def end(self, timeout: float) -> bool:
        """Ends the thread, by the thread that started it; returns whether it has ended."""
        self.leave()
        self._over = True
        self.wake()
        limit = time.monotonic() + min(timeout, _START_SECS)
        while self.thread.ident is None and time.monotonic() < limit:  # Ctrl-C came while it was started
            sleep(0.001)
        if self.thread.ident is not None and join_all([self.thread], time.monotonic() + timeout):
            return False
        self._mine.close()
        self._others.close()
        return True

    def _keep(self) -> None:
        signalled: float | None = None
        due = time.monotonic()
        while not self._over:
            if signal.SIGINT in self._hear(due - time.monotonic()):
                signalled = time.monotonic()
            if self._tend(None if signalled is None else time.monotonic() - signalled):
                signalled = None
            due = time.monotonic() + TICK_SECS
        self._tend(None)  # for what was asked for last
        while self._hear(0.0):  # and signals that came at the end are others'
            pass

    def _hear(self, secs: float) -> bytes:
        """Waits until it is woken, for a time; returns the numbers of signals that came, and hands them on."""
        self._mine.settimeout(max(0.0001, secs))
        try:
            received = self._mine.recv(4096)
        except TimeoutError:
            return b""
        numbers = received.replace(_WAKE, b"")
        if numbers and self._heir >= 0:
            with contextlib.suppress(OSError):  # it is full, or has been closed since
                os.write(self._heir, numbers)
        return numbers
