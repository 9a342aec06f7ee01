"""A Future that costs a third of the standard one, until somebody has to wait for it.

``concurrent.futures.Future`` makes a condition, its lock and two lists at once, and takes that lock for each change and
each look. Most futures of small jobs have ended before anybody looks at them: those of this class get no condition. It
is made when the base class first asks for it, which is what waiting, ``as_completed``, callbacks and ``cancel`` do.
"""

from __future__ import annotations

import concurrent.futures
import threading
from typing import Any

__all__ = ["LateFuture"]

_PENDING, _CANCELLED, _FINISHED = "PENDING", "CANCELLED", "FINISHED"  # states of the base class

# Held while a future without a condition gets one, or ends: whoever waits finds it either in time. Nothing else is ever
# taken, and nothing of the caller's runs, while it is held.
_changing = threading.Lock()


class LateFuture(concurrent.futures.Future[Any]):
    """A Future that can be cancelled until it has ended, and is ended by :meth:`settle` alone.

    It is safe to call its methods simultaneously from multiple threads.

    Example:
        >>> future = LateFuture()
        >>> future.settle(result=3)
        True
        >>> future.result(), future.cancel()
        (3, False)
    """

    _state = _PENDING
    _result: Any = None
    _exception: BaseException | None = None
    _made: threading.Condition | None = None

    def __init__(self) -> None:
        """Makes nothing; what the base class would make is made by ``_condition``."""

    @property
    def _condition(self) -> threading.Condition:  # type: ignore[override]
        made = self._made
        if made is None:
            new = threading.Condition()
            with _changing:
                if self._made is None:
                    self._waiters: list[Any] = []
                    self._done_callbacks: list[Any] = []
                    self._made = new
                made = self._made
        return made

    def settle(self, result: Any = None, error: BaseException | None = None) -> bool:
        """Ends it, unless it was cancelled; then those who wait learn that. Returns whether it took the result.

        After it, the caller calls :meth:`call_back`, without any lock.
        """
        if self._made is None:
            with _changing:
                if self._made is None:
                    self._result, self._exception = result, error
                    self._state = _FINISHED
                    return True
        with self._condition:
            if self._state == _CANCELLED:
                self.set_running_or_notify_cancel()
            if self._state != _PENDING:
                return False
            self._result, self._exception = result, error
            self._state = _FINISHED
            for waiter in self._waiters:
                (waiter.add_exception if error is not None else waiter.add_result)(self)
            self._condition.notify_all()
            return True

    @property
    def is_watched(self) -> bool:
        """Whether somebody may have left a callback."""
        return self._made is not None

    def call_back(self) -> None:
        """Calls the callbacks of a future that has been settled."""
        if self._made is not None:
            self._invoke_callbacks()  # type: ignore[attr-defined]

    def done(self) -> bool:
        """As the base class."""
        return self._state != _PENDING

    def cancelled(self) -> bool:
        """As the base class."""
        return self._state not in (_PENDING, _FINISHED)

    def result(self, timeout: float | None = None) -> Any:
        """As the base class."""
        if self._state == _FINISHED and self._exception is None:
            return self._result
        return super().result(timeout)
