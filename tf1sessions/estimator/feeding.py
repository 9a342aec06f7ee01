"""Arrays that threads feed to a queue.

Data flow: each thread of a :class:`FeedingQueueRunner` asks its batches for the next feed and enqueues it, until they
end; then it closes the queue. A session that is asked to stop cancels what waits.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..runtime import tf1 as tf
from .util import log

__all__ = ["FeedingQueueRunner", "batches", "enqueue"]


def batches(arrays: Sequence[Any], size: int, num_epochs: int | None, rng: random.Random | None) -> Iterator[list[Any]]:
    """Batches of rows, each with the rows' numbers first; the last one is shorter if the rows do not suffice.

    Args:
        arrays: Arrays of one length.
        size: How many rows.
        num_epochs: How often each row comes; None for ever.
        rng: Chooses the first row; None starts with row 0.

    Example:
        >>> import numpy as np
        >>> [batch[1].tolist() for batch in batches([np.array([10, 11, 12])], 2, 2, None)]
        [[10, 11], [12, 10], [11, 12]]
    """
    length = len(arrays[0])
    start = rng.randrange(length) if rng and length else 0
    done = 0
    while length and (num_epochs is None or done < num_epochs * length):
        rows = size if num_epochs is None else min(size, num_epochs * length - done)
        numbers = (start + done + np.arange(rows)) % length
        yield [numbers, *(array[numbers] for array in arrays)]
        done += rows


class FeedingQueueRunner(tf.train.QueueRunner):  # type: ignore[misc]
    """Fills a queue with what is fed to its ops, a thread for each op.

    Args:
        queue: The queue.
        enqueue_ops: An op for each thread.
        feeds: For each thread a function that begins its feeds: dicts.
    """

    def __init__(
        self, queue: Any, enqueue_ops: Sequence[Any], feeds: Sequence[Callable[[], Iterator[dict[Any, Any]]]]
    ) -> None:
        super().__init__(
            queue, enqueue_ops, queue_closed_exception_types=(tf.errors.OutOfRangeError, tf.errors.CancelledError)
        )
        self._feeds = feeds
        self._lock = threading.Lock()  # protects _running: a thread changes it only while it holds the lock
        self._running: dict[Any, int] = {}

    def create_threads(self, sess: Any, coord: Any = None, daemon: bool = False, start: bool = False) -> list[Any]:
        """The threads that fill the queue in ``sess``; none if they run already.

        Args:
            sess: A session.
            coord: A ``tf.train.Coordinator`` that stops them.
            daemon: Whether they end with the process.
            start: Whether they are started.
        """
        with self._lock:
            if self._running.get(sess, 0) > 0:
                return []
            self._running[sess] = len(self.enqueue_ops)
        threads = [
            threading.Thread(target=self._fill, args=(sess, op, feeds(), coord), daemon=daemon)
            for op, feeds in zip(self.enqueue_ops, self._feeds, strict=True)
        ]
        if coord:
            threads.append(threading.Thread(target=self._cancel, args=(sess, coord), daemon=daemon))
        for thread in threads:
            if coord:
                coord.register_thread(thread)
            if start:
                thread.start()
        return threads

    def _fill(self, sess: Any, op: Any, feeds: Iterator[dict[Any, Any]], coord: Any) -> None:
        try:
            for feed in feeds:
                if coord and coord.should_stop():
                    return
                sess.run(op, feed_dict=feed)
        except (tf.errors.OutOfRangeError, tf.errors.CancelledError):
            pass  # someone closed the queue
        except Exception as error:
            if coord is None:
                raise
            coord.request_stop(error)
        finally:
            self._finished(sess, coord)

    def _finished(self, sess: Any, coord: Any) -> None:
        """Closes the queue after the last of the session's threads, unless it was cancelled."""
        with self._lock:
            self._running[sess] -= 1
            last = self._running[sess] == 0
            if last:
                del self._running[sess]
        if last and not (coord and coord.should_stop()):
            try:
                sess.run(self.close_op)
            except (RuntimeError, tf.errors.CancelledError) as error:  # the session is closed
                log.debug("Ignored exception: %s", type(error).__name__)

    def _cancel(self, sess: Any, coord: Any) -> None:
        coord.wait_for_stop()
        try:
            sess.run(self.cancel_op)
        except (RuntimeError, tf.errors.CancelledError) as error:  # the session is closed
            log.debug("Ignored exception: %s", type(error).__name__)


def enqueue(
    arrays: Sequence[Any],
    capacity: int,
    shuffle: bool,
    num_threads: int,
    enqueue_size: int,
    num_epochs: int | None,
) -> Any:
    """A queue of the arrays' rows, each with its number first, that a session's queue runners fill.

    Args:
        arrays: Arrays of one length.
        capacity: How many rows the queue has room for.
        shuffle: Whether rows come out in random order.
        num_threads: How many threads fill it; each enqueues all the epochs.
        enqueue_size: How many rows are enqueued at once.
        num_epochs: How often each row comes; None for ever.
    """
    dtypes = [tf.int64, *(tf.as_dtype(array.dtype) for array in arrays)]
    shapes = [(), *(array.shape[1:] for array in arrays)]
    with tf.name_scope("enqueue_input"):
        least = capacity // 4 if shuffle else 0
        if shuffle:
            queue = tf.RandomShuffleQueue(capacity, least, dtypes=dtypes, shapes=shapes, seed=None)
        else:
            queue = tf.FIFOQueue(capacity, dtypes=dtypes, shapes=shapes)
        if num_threads > 1 and num_epochs:
            log.warning(
                "enqueue_data was called with num_epochs and num_threads > 1. num_epochs is applied per thread, so "
                "this will produce more epochs than you probably intend. If you want to limit epochs, use one thread."
            )
        if num_threads > 1 and not shuffle:
            log.warning(
                "enqueue_data was called with shuffle=False and num_threads > 1. This will create multiple threads, "
                "all reading the array/dataframe in order. If you want examples read in order, use one thread; if you "
                "want multiple threads, enable shuffling."
            )
        ops, feeds = [], []
        for _ in range(num_threads):
            placeholders = [tf.placeholder(dtype) for dtype in dtypes]
            ops.append(queue.enqueue_many(placeholders))
            feeds.append(_feeds(placeholders, arrays, enqueue_size, num_epochs, random.Random() if shuffle else None))
        tf.train.add_queue_runner(FeedingQueueRunner(queue, ops, feeds))
        waiting = tf.cast(tf.maximum(0, queue.size() - least), tf.float32) * (1.0 / (capacity - least))
        tf.summary.scalar(f"queue/{queue.name}fraction_over_{least}_of_{capacity - least}_full", waiting)
    return queue


def _feeds(
    placeholders: list[Any], arrays: Sequence[Any], size: int, num_epochs: int | None, rng: random.Random | None
) -> Callable[[], Iterator[dict[Any, Any]]]:
    def begin() -> Iterator[dict[Any, Any]]:
        for batch in batches(arrays, size, num_epochs, rng):
            yield dict(zip(placeholders, batch, strict=True))

    return begin
