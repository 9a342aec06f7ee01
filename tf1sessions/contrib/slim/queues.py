"""slim.queues: queue runners that run while a block does."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

from ...runtime import tf1 as tf

__all__ = ["NestedQueueRunnerError", "QueueRunners"]

_STOP_SECS = 120  # as in 1.15
_inside = threading.local()


class NestedQueueRunnerError(Exception):
    """:func:`QueueRunners` is used within itself."""


@contextlib.contextmanager
def QueueRunners(session: Any) -> Iterator[None]:
    """Runs the queue runners of the session's graph within the block; afterwards, their threads have ended.

    Args:
        session: The session.

    Raises:
        NestedQueueRunnerError: This thread is in such a block.

    It is safe to use it in several threads at a time, each with a session of its own.
    """
    if getattr(_inside, "block", False):
        raise NestedQueueRunnerError("QueueRunners cannot be nested")
    _inside.block = True
    coordinator = tf.train.Coordinator()
    threads: list[Any] = []
    try:
        with session.graph.as_default():
            for runner in tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS):
                threads.extend(runner.create_threads(session, coord=coordinator, daemon=True, start=True))
        yield
    finally:
        coordinator.request_stop()
        try:
            coordinator.join(threads, stop_grace_period_secs=_STOP_SECS)
        finally:
            _inside.block = False
