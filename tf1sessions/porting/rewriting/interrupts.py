"""Ctrl-C and the signals like it, kept until nothing is half done."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

__all__ = ["HeldInterrupts"]


class HeldInterrupts:
    """Keeps Ctrl-C, SIGTERM and SIGHUP until :meth:`check` is called, or the block ends.

    Only the main thread hears of them, so that elsewhere there is nothing to do. A signal without a handler of Python
    ends the process at once, as ever.
    """

    def __init__(self) -> None:
        self._handlers: dict[int, Callable[[int, FrameType | None], Any]] = {}
        self._came: int | None = None

    def __enter__(self) -> HeldInterrupts:
        if threading.current_thread() is threading.main_thread():
            for name in ("SIGINT", "SIGTERM", "SIGHUP"):
                signum = getattr(signal, name, None)
                handler = None if signum is None else signal.getsignal(signum)
                if signum is not None and callable(handler):
                    self._handlers[signum] = handler
                    signal.signal(signum, self._note)
        return self

    def _note(self, signum: int, frame: FrameType | None) -> None:
        self._came = self._came or signum

    def check(self) -> None:
        """Hand a signal that has come to its handler, which raises."""
        signum, self._came = self._came, None
        if signum is not None:
            self._handlers[signum](signum, None)

    def __exit__(self, *exception: object) -> None:
        for signum, handler in self._handlers.items():
            signal.signal(signum, handler)
        self.check()
