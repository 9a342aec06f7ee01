"""Errors of the threads that feed and drain a TPU, raised in the one that trains."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from typing import Any

from ..runtime import tf1 as tf
from .util import log

__all__ = ["ErrorRendezvous"]


class ErrorRendezvous:
    """Collects the errors of several threads. It is safe to use from all of them.

    Args:
        num_sources: How many threads there are.
    """

    def __init__(self, num_sources: int) -> None:
        self._num_sources = num_sources
        self._errors: dict[str, Any] = {}

    def record_error(self, source: str, exc_info: Any, session: Any = None) -> None:
        """Notes the error of a thread; one that says that its machine is gone is not.

        Args:
            source: What the thread is called.
            exc_info: What ``sys.exc_info()`` returned.
            session: Its session, which is closed.
        """
        _, error, _ = exc_info
        if isinstance(error, (tf.errors.AbortedError, tf.errors.UnavailableError)):
            return
        log.error("Error recorded from %s: %s", source, error)
        self._errors[source] = exc_info
        if session is not None:
            session.close()

    def record_done(self, source: str) -> None:
        """Notes that a thread has ended well."""
        log.info("%s marked as finished", source)
        self._errors.setdefault(source, None)

    @contextlib.contextmanager
    def catch_errors(self, source: str, session: Any = None) -> Iterator[None]:
        """A context whose error is noted, and not raised."""
        try:
            yield
        except Exception:
            self.record_error(source, sys.exc_info(), session)

    def raise_errors(self, timeout_sec: int = 0) -> None:
        """Waits at most ``timeout_sec`` seconds for all threads, then raises the first error, if there is one."""
        for _ in range(timeout_sec):
            if len(self._errors) == self._num_sources:
                break
            time.sleep(1)
        for found in self._errors.values():
            if found is not None:
                raise found[1].with_traceback(found[2])
