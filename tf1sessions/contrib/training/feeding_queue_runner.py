"""A queue runner whose enqueue operations are fed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...runtime import tf1 as tf

__all__ = ["FeedingQueueRunner"]


class FeedingQueueRunner(tf.train.QueueRunner):  # type: ignore[misc]
    """A queue runner that feeds arrays to its enqueue operations.

    A thread ends when its function raises ``tf.errors.OutOfRangeError`` or the queue is closed; the last one closes it.

    Args:
        queue: The queue.
        enqueue_ops: Operations, a thread each.
        close_op: What closes the queue; its ``close()`` unless given.
        cancel_op: What closes it and cancels pending operations.
        feed_fns: Functions without arguments, one for each operation, that return its ``feed_dict``.
        queue_closed_exception_types: What ends a thread without being an error.

    Raises:
        ValueError: There are more or fewer functions than operations.
    """

    def __init__(
        self,
        queue: Any = None,
        enqueue_ops: Sequence[Any] | None = None,
        close_op: Any = None,
        cancel_op: Any = None,
        feed_fns: Sequence[Callable[[], Mapping[Any, Any]] | None] | None = None,
        queue_closed_exception_types: Any = None,
    ) -> None:
        operations = list(enqueue_ops or [])
        if feed_fns is not None and len(feed_fns) != len(operations):
            raise ValueError("If feed_fns is not None, it must have the same length as enqueue_ops.")
        super().__init__(
            queue, operations, close_op, cancel_op, queue_closed_exception_types=queue_closed_exception_types
        )
        self._feed_fns = list(feed_fns) if feed_fns is not None else [None] * len(operations)

    def create_threads(
        self, sess: Any, coord: Any = None, daemon: bool = False, start: bool = False
    ) -> list[threading.Thread]:
        """The threads, one for each operation, and one that cancels the queue when ``coord`` stops.

        Args:
            sess: Where the operations run.
            coord: Stops the threads, and gets their errors.
            daemon: Whether the threads are daemons.
            start: Whether they are started.
        """
        self._left = len(self.enqueue_ops)
        self._counted = threading.Lock()  # protects _left and the list of exceptions; held for no call of TensorFlow
        threads = [
            threading.Thread(target=self._feed, args=(sess, operation, feed, coord), daemon=daemon)
            for operation, feed in zip(self.enqueue_ops, self._feed_fns, strict=True)
        ]
        if coord is not None:
            threads.append(threading.Thread(target=self._cancel, args=(sess, coord), daemon=daemon))
            for thread in threads:
                coord.register_thread(thread)
        if start:
            for thread in threads:
                thread.start()
        return threads

    def _feed(self, sess: Any, operation: Any, feed: Callable[[], Mapping[Any, Any]] | None, coord: Any) -> None:
        try:
            while coord is None or not coord.should_stop():
                sess.run(operation, feed_dict=None if feed is None else dict(feed()))
        except tuple(self.queue_closed_exception_types):
            pass
        except Exception as error:
            if coord is not None:
                coord.request_stop(error)
                return
            with self._counted:
                self._exceptions_raised.append(error)
            raise
        finally:
            with self._counted:
                self._left -= 1
                last = self._left == 0
            if last:
                self._run_unless_closed(sess, self.close_op)

    def _cancel(self, sess: Any, coord: Any) -> None:
        coord.wait_for_stop()
        self._run_unless_closed(sess, self.cancel_op)

    @staticmethod
    def _run_unless_closed(sess: Any, operation: Any) -> None:
        try:
            sess.run(operation)
        except (RuntimeError, tf.errors.OpError) as error:
            tf.logging.vlog(1, "Ignored exception: %s", error)  # the session was closed before, too

    def to_proto(self, export_scope: str | None = None) -> Any:
        raise NotImplementedError(f"{type(self).__name__} does not support serialization to proto.")
