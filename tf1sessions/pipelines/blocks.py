"""Items of Python in blocks: several in one run of the session, where their shapes allow it.

``BlockWriter`` enqueues items that there are already; ``BlockReader`` takes as many as are there, and waits for one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tf1sessions.pipelines.queues import PipelineQueue, quiet_building
from tf1sessions.runtime import tf

__all__ = ["BlockReader", "BlockWriter", "ItemError"]

Compile = Callable[[Any, Any, Any], Callable[..., Any]]


class ItemError(Exception):
    """Not raised to users: which of the items in hand could not be enqueued, and why."""

    def __init__(self, position: int, cause: Exception) -> None:
        super().__init__(position)
        self.position = position
        self.cause = cause


class BlockWriter:
    """Enqueues lists of items: as blocks where their shapes allow it, in their order.

    Made by the thread that builds the graph; ``compile`` and then ``write`` may be called by any, one at a time.
    """

    def __init__(self, queue: PipelineQueue) -> None:
        self._queue = queue
        with quiet_building(queue.queue.queue_ref.graph), tf.name_scope(f"{queue.name}_source/"):
            one = [tf.placeholder(dtype, shape) for dtype, shape in zip(queue.dtypes, queue.shapes, strict=True)]
            many = [
                tf.placeholder(dtype, tf.TensorShape([None]).concatenate(shape))
                for dtype, shape in zip(queue.dtypes, queue.shapes, strict=True)
            ]
            self._one = (one, queue.enqueue(queue.item(one)))
            self._many = (many, queue.enqueue_many(queue.item(many)))
        self._dtypes = [tf.as_dtype(dtype).as_numpy_dtype for dtype in queue.dtypes]
        self.operations = (self._one[1], self._many[1])

    def compile(self, compile_call: Compile) -> None:
        """Compiles its two requests with ``compile_call(feeds, fetches, targets)``."""
        self._enqueue = compile_call(self._one[0], None, [self._one[1]])
        self._enqueue_many = compile_call(self._many[0], None, [self._many[1]])

    def write(self, items: Sequence[Any], wrote: Callable[[int], None]) -> None:
        """Enqueues items.

        Args:
            items: At least one.
            wrote: Called with how many items have gone, after each run.

        Raises:
            ItemError: An item does not fit the queue. Those before it have gone, those after it have not.
            tf.errors.OpError: TensorFlow's own; the queue was closed, for example.
        """
        block = self._stack(items) if len(items) > 1 else None
        if block is not None:
            self._enqueue_many(*block)
            wrote(len(items))
            return
        # One by one, in runs of equal shapes: an item may be wrong, or sizes may differ.
        run: list[list[Any]] = []
        for position, item in enumerate(items):
            try:
                values = self._arrays(item)
            except Exception as error:
                self._flush(run, wrote)
                raise ItemError(position, error) from error
            if run and [value.shape for value in values] != [value.shape for value in run[0]]:
                self._flush(run, wrote)
            run.append(values)
        self._flush(run, wrote)

    def _flush(self, run: list[list[Any]], wrote: Callable[[int], None]) -> None:
        if len(run) == 1:
            self._enqueue(*run[0])
        elif run and all(value.size for value in run[0]):
            self._enqueue_many(*map(np.stack, zip(*run, strict=True)))
        else:  # TensorFlow 2.21 dies of items without elements in enqueue_many
            for values in run:
                self._enqueue(*values)
        if run:
            wrote(len(run))
            run.clear()

    def _stack(self, items: Sequence[Any]) -> list[Any] | None:
        """The items as one array a component, or None: they differ, or one of them is wrong."""
        queue = self._queue
        try:
            if queue.names is None and len(self._dtypes) == 1 and type(items[0]) is not tuple:
                columns: Any = [items]
            else:
                columns = [*zip(*map(queue.components, items), strict=True)]
            blocks = []
            for column, dtype, shape in zip(columns, self._dtypes, queue.shapes, strict=True):
                block = _array(column, dtype)
                if shape.rank is None or block.ndim != shape.rank + 1 or not shape.is_compatible_with(block.shape[1:]):
                    return None
                blocks.append(block)
                if block.size == 0:
                    return None
        except Exception:  # whatever an item raises: found again, and reported, one by one
            return None
        return blocks

    def _arrays(self, item: Any) -> list[Any]:
        """An item's components as arrays."""
        arrays = []
        queue = self._queue
        parts = zip(queue.components(item), self._dtypes, queue.shapes, strict=True)
        for position, (value, dtype, shape) in enumerate(parts):
            array = _array(value, dtype)
            if not shape.is_compatible_with(array.shape):
                what = (
                    f"component {queue.names[position] if queue.names else position} of "
                    if len(self._dtypes) > 1
                    else ""
                )
                raise ValueError(f"{what}the item has shape {array.shape}, and queue {queue.name!r} takes {shape}")
            arrays.append(array)
        return arrays


def _array(value: Any, dtype: Any) -> Any:
    """Return a value as an array of a queue's type."""
    array = np.asarray(value, dtype)
    if array.dtype == object and any(isinstance(element, np.ndarray) for element in array.flat):
        # NumPy leaves arrays of one string inside; TensorFlow takes the strings only.
        strings = [element.item() if isinstance(element, np.ndarray) else element for element in array.flat]
        array = np.array(strings, object).reshape(array.shape)
    return array


class BlockReader:
    """Takes items out of a queue: waits for one, and takes those that are there besides, up to ``most``.

    Made by the thread that builds the graph; ``compile`` and then ``read`` may be called by any. The readers of a queue
    take turns: two at once could each count on the same items, and wait for more.
    """

    def __init__(self, queue: PipelineQueue, most: int) -> None:
        self._queue = queue
        one = not queue.stackable or most == 1
        with quiet_building(queue.queue.queue_ref.graph), tf.name_scope(f"{queue.name}_reader/"):
            if one:
                dequeued = queue.dequeue()
            else:
                kept = queue.queue.queue_ref.op.get_attr("min_after_dequeue") if queue.kind == "shuffle" else 0
                count = tf.minimum(tf.maximum(queue.size() - kept, 1), most)
                # Not up_to: it loses the rest of a priority queue. With turns, the items that were counted are there.
                dequeued = queue.dequeue_many(count) if queue.kind == "priority" else queue.dequeue_up_to(count)
            self._fetches = queue.tensors(dequeued)
        self._one = one
        self.operation = self._fetches[0].op
        self.lock = queue.reading

    def compile(self, compile_call: Compile) -> None:
        """Compiles its request with ``compile_call(feeds, fetches, targets)``."""
        self._dequeue = compile_call(None, self._fetches, None)

    def read(self) -> list[Any]:
        """Takes at least one item.

        Raises:
            tf.errors.OutOfRangeError: The queue was closed, and is empty.
        """
        values = self._dequeue()
        if self._one:
            return [self._queue.item(values)]
        if len(values) == 1 and self._queue.names is None:
            return list(values[0])
        return [self._queue.item(each) for each in zip(*values, strict=True)]
