"""Queues of a graph: made, recognised, read in blocks, closed.

``PipelineQueue`` is what users hold: TensorFlow's queue, and the operations that a pipeline needs to look at it and to
end it. ``queues_of`` says which queues an operation reads and writes, from the graph alone, so that a pipeline knows
which threads feed which queue by themselves: legacy code never says.
"""

from __future__ import annotations

import collections
import contextlib
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tf1sessions.errors import ConfigError
from tf1sessions.runtime import tf
from tf1sessions.sessions.operations import prune

__all__ = [
    "KINDS",
    "PipelineQueue",
    "QueueUse",
    "make_queue",
    "queue_from",
    "queue_of",
    "queues_of",
    "quiet_building",
    "short",
]

#: The names by which :meth:`QueuePipeline.queue` knows TensorFlow's queues.
KINDS = ("fifo", "padding", "shuffle", "priority")

_KIND_OF = {
    f"{name}{version}": kind
    for name, kind in (
        ("FIFOQueue", "fifo"),
        ("PaddingFIFOQueue", "padding"),
        ("RandomShuffleQueue", "shuffle"),
        ("PriorityQueue", "priority"),
    )
    for version in ("", "V2")
}
#: The types of the operations that are queues.
QUEUE_OPERATIONS = frozenset(_KIND_OF)
_READS = {
    f"{name}{version}": position
    for name, position in (
        ("QueueDequeue", 0),
        ("QueueDequeueMany", 0),
        ("QueueDequeueUpTo", 0),
        ("ReaderRead", 1),
        ("ReaderReadUpTo", 1),
    )
    for version in ("", "V2")
}
_WRITES = {f"{name}{version}": 0 for name in ("QueueEnqueue", "QueueEnqueueMany") for version in ("", "V2")}
#: The operations that a queue's handle passes through unchanged.
_PASSES = {"Identity", "RefIdentity", "Switch", "RefSwitch", "Merge", "RefMerge", "Enter", "RefEnter", "RefSelect"}
#: Operations that look at a queue, or end it, and neither read nor write it.
_LOOKS = {
    f"{name}{version}" for name in ("QueueSize", "QueueClose", "QueueIsClosed") for version in ("", "V2")
}  # fmt: skip


def quiet_building(graph: Any) -> Any:
    """A context for operations of our own: in ``graph``, whatever control dependencies, devices, scopes are around."""
    stack = contextlib.ExitStack()
    stack.enter_context(graph.as_default())
    stack.enter_context(tf.control_dependencies(None))
    stack.enter_context(tf.device(None))
    return stack


class PipelineQueue:
    """A queue of a :class:`~tf1sessions.QueuePipeline`: TensorFlow's operations on it, and what the pipeline knows.

    Made by :meth:`QueuePipeline.queue`. ``dequeue``, ``dequeue_many``, ``dequeue_up_to``, ``enqueue``,
    ``enqueue_many``, ``size``, ``is_closed`` and ``close`` make operations, as the methods of a ``tf.FIFOQueue`` do.

    Attributes:
        queue: TensorFlow's own object, a ``tf.QueueBase``.
        name: The name of its operation.
        kind: "fifo", "padding", "shuffle" or "priority".
        capacity: The most items that it holds; -1 for a queue without a bound.
        dtypes, shapes: Of an item's components; those of a priority queue begin with the priority.
        names: Of the components, or None.

    Thread-safety: operations are made by the thread that builds the graph; the attributes may be read by any.
    """

    def __init__(self, queue: Any) -> None:
        self.queue = queue
        operation = queue.queue_ref.op
        self.name: str = operation.name
        self.kind = _KIND_OF[operation.type]
        self.capacity = int(operation.get_attr("capacity"))
        self.dtypes: tuple[Any, ...] = tuple(queue.dtypes)
        self.shapes: tuple[Any, ...] = tuple(queue.shapes)
        self.names: tuple[str, ...] | None = tuple(queue.names) if queue.names else None
        with quiet_building(queue.queue_ref.graph):
            self.size_now = queue.size()
            self.closed_now = queue.is_closed()
            self.end_now = queue.close()
            self.cancel_now = queue.close(cancel_pending_enqueues=True)
        #: Held by the thread that reads a block.
        self.reading = threading.Lock()
        #: What the pipeline wants it to be, and what it is: "open", "ended" (no more goes in) or "cancelled" (nobody
        #: a thread that puts something in waits any more, either).
        self.wanted = self.state = "open"
        #: Whether all stages that write to it have ended, before the pipeline did.
        self.input_ended = False
        #: Whether the program reads it by items().
        self.iterated = False
        #: Items that an iterator of items() had taken, and not given when it was ended; added to by any thread.
        self.returned: collections.deque[Any] = collections.deque()
        #: Whether the program has closed it, before the threads that write to it had ended.
        self.closed_by_others = False

    def take_returned(self) -> list[Any]:
        """Takes the items that iterators have left; with ``reading`` held."""
        return [self.returned.popleft() for _ in range(len(self.returned))]

    @property
    def stackable(self) -> bool:
        """Whether several items can be joined to one array a component: all of their shapes are known."""
        return all(shape.is_fully_defined() for shape in self.shapes)

    def dequeue(self, name: str | None = None) -> Any:
        """As ``tf.QueueBase.dequeue``."""
        return self.queue.dequeue(name=name)

    def dequeue_many(self, n: Any, name: str | None = None) -> Any:
        """As ``tf.QueueBase.dequeue_many``: at the end of input, fewer than ``n`` items are left in the queue."""
        return self.queue.dequeue_many(n, name=name)

    def dequeue_up_to(self, n: Any, name: str | None = None) -> Any:
        """As ``tf.QueueBase.dequeue_up_to``: ``n`` items, and at the end of input those that are left.

        TensorFlow's PriorityQueue loses them there; use :meth:`QueuePipeline.sink` or ``items`` for the rest of one.
        """
        return self.queue.dequeue_up_to(n, name=name)

    def enqueue(self, vals: Any, name: str | None = None) -> Any:
        """As ``tf.QueueBase.enqueue``."""
        return self.queue.enqueue(vals, name=name)

    def enqueue_many(self, vals: Any, name: str | None = None) -> Any:
        """As ``tf.QueueBase.enqueue_many``."""
        return self.queue.enqueue_many(vals, name=name)

    def size(self, name: str | None = None) -> Any:
        """As ``tf.QueueBase.size``."""
        return self.queue.size(name=name)

    def is_closed(self, name: str | None = None) -> Any:
        """As ``tf.QueueBase.is_closed``."""
        return self.queue.is_closed(name=name)

    def close(self, cancel_pending_enqueues: bool = False, name: str | None = None) -> Any:
        """As ``tf.QueueBase.close``. The pipeline closes its queues by itself."""
        return self.queue.close(cancel_pending_enqueues=cancel_pending_enqueues, name=name)

    def __repr__(self) -> str:
        return f"<PipelineQueue {self.name!r}, {self.kind}, capacity {self.capacity}>"

    # -- items as Python knows them --------------------------------------------------------------------------------

    def components(self, item: Any) -> Sequence[Any]:
        """The values of an item's components, in order.

        Raises:
            ConfigError: The item has not the queue's components.
        """
        if self.names is not None:
            if isinstance(item, dict) and item.keys() == set(self.names):
                return [item[name] for name in self.names]
            raise ConfigError(
                f"an item for queue {self.name!r} is {short(item)}",
                next_step=f"Its items are dicts with the keys {list(self.names)}.",
            )
        if len(self.dtypes) == 1:
            return item if isinstance(item, tuple) and len(item) == 1 else (item,)
        if isinstance(item, (tuple, list)) and len(item) == len(self.dtypes):
            return item
        raise ConfigError(
            f"an item for queue {self.name!r} is {short(item)}",
            next_step=f"Its items are tuples of {len(self.dtypes)} values"
            f"{', the priority first' if self.kind == 'priority' else ''}.",
        )

    def item(self, values: Sequence[Any]) -> Any:
        """An item of its components' values: what ``dequeue`` gives, one value, a tuple, or a dict."""
        if self.names is not None:
            return dict(zip(self.names, values, strict=True))
        return values[0] if len(values) == 1 else tuple(values)

    def tensors(self, dequeued: Any) -> list[Any]:
        """The tensors, in order, of what ``dequeue`` returned."""
        if self.names is not None:
            return [dequeued[name] for name in self.names]
        return list(dequeued) if isinstance(dequeued, (list, tuple)) else [dequeued]


def short(value: Any) -> str:
    """A value in a few words: an array by its dtype and shape."""
    if isinstance(value, np.ndarray) and value.size > 4:
        return f"an array of {value.dtype} {value.shape}"
    if isinstance(value, (tuple, list)) and type(value) in (tuple, list):
        inner = ", ".join(short(each) for each in value[:4]) + (", …" if len(value) > 4 else "")
        return f"({inner})" if isinstance(value, tuple) else f"[{inner}]"
    try:
        text = repr(value)
    except Exception as error:  # the value is part of a message about another error
        text = f"a {type(value).__name__} whose repr() raises {type(error).__name__}"
    return text if len(text) <= 80 else text[:77] + "…"


def make_queue(
    graph: Any,
    name: str,
    *,
    capacity: int,
    dtypes: Any,
    shapes: Any,
    kind: str,
    names: Sequence[str] | None,
    min_after_dequeue: int | None,
    seed: int | None,
    shared_name: str | None,
) -> PipelineQueue:
    """Makes a queue's operation in ``graph``; see :meth:`QueuePipeline.queue` for the arguments and errors."""
    where = f"QueuePipeline.queue({name!r})"
    if kind not in KINDS:
        raise ConfigError(f"kind is {kind!r}", where=where, next_step=f"Give one of {', '.join(map(repr, KINDS))}.")
    if not isinstance(capacity, int) or isinstance(capacity, bool) or not (1 <= capacity < 2**31 or capacity == -1):
        raise ConfigError(
            f"capacity is {capacity!r:.60}", where=where, next_step="Give a number of items, or -1 for no bound."
        )
    if dtypes is None:
        raise ConfigError("dtypes is missing", where=where, next_step="Give a dtype for each component of an item.")
    if kind != "shuffle":
        for key, value in (("min_after_dequeue", min_after_dequeue), ("seed", seed)):
            if value is not None:
                raise ConfigError(
                    f"{key} is {value!r}, which a {kind} queue does not have",
                    where=where,
                    next_step='It is for kind="shuffle".',
                )
    if kind in ("padding", "priority") and shapes is None:
        raise ConfigError(
            "shapes is missing",
            where=where,
            next_step=f"A {kind} queue needs a shape for each component"
            f"{', None where sizes differ.' if kind == 'padding' else '.'}",
        )
    common = {"names": names, "shared_name": shared_name, "name": name}
    with graph.as_default():
        if kind == "fifo":
            queue = tf.FIFOQueue(capacity, dtypes, shapes, **common)
        elif kind == "padding":
            queue = tf.PaddingFIFOQueue(capacity, dtypes, shapes, **common)
        elif kind == "priority":
            queue = tf.PriorityQueue(capacity, dtypes, shapes, **common)
        else:
            if min_after_dequeue is None:
                min_after_dequeue = max(capacity, 0) // 2
            queue = tf.RandomShuffleQueue(capacity, min_after_dequeue, dtypes, shapes, seed=seed, **common)
    return PipelineQueue(queue)


def queue_from(operation: Any) -> PipelineQueue:
    """The queue that an operation of a graph is, legacy code's or an imported graph's."""
    dtypes = [tf.as_dtype(each) for each in operation.get_attr("component_types")]
    shapes = [tf.TensorShape(each) for each in operation.get_attr("shapes")] or [tf.TensorShape(None)] * len(dtypes)
    if _KIND_OF[operation.type] == "priority":
        dtypes, shapes = [tf.int64, *dtypes], [tf.TensorShape([]), *shapes]
    return PipelineQueue(tf.QueueBase(dtypes, shapes, None, operation.outputs[0]))


@dataclass
class QueueUse:
    """The queues that a request reads and writes: the operations that are queues, each once.

    Attributes:
        reads: Queue operation -> how many items a run takes from it; 0 where only the run knows.
        writes: Queue operations.
        operations: Name of each operation that may wait -> the queue operation that it waits for.
    """

    reads: dict[Any, int] = field(default_factory=dict)
    writes: list[Any] = field(default_factory=list)
    operations: dict[str, Any] = field(default_factory=dict)


def queues_of(fetches: Iterable[Any], targets: Iterable[Any] = (), feeds: Iterable[Any] = ()) -> QueueUse:
    """Return the queues that a request reads and writes.

    A function of the graph that is given a queue (a v2 ``cond`` or ``while_loop``) counts as a reader: what it does
    with it is not looked into.
    """
    use = QueueUse()
    writes: dict[str, Any] = {}
    reads: dict[str, tuple[Any, int]] = {}
    for operation in dict.fromkeys(prune(fetches, targets, feeds)):  # two outputs of one are fetched by one
        if operation.type in _LOOKS or operation.type in _KIND_OF or operation.type in _PASSES:
            continue
        position = _WRITES.get(operation.type)
        if position is not None:
            queue = _queue_behind(operation.inputs[position])
            if queue is not None:
                writes[queue.name] = use.operations[operation.name] = queue
            continue
        position = _READS.get(operation.type)
        # of an operation that is not known to do anything with queues: whatever handles it is given
        handles = operation.inputs if position is None else operation.inputs[position : position + 1]
        for tensor in handles:
            if position is None and tensor.dtype.base_dtype != tf.resource:
                continue
            queue = _queue_behind(tensor)
            if queue is None:
                continue
            use.operations[operation.name] = queue
            taken = _items_taken(operation)
            before = reads.get(queue.name)
            reads[queue.name] = (queue, taken + before[1] if before else taken)
    use.reads = dict(reads[name] for name in sorted(reads))
    use.writes = [writes[name] for name in sorted(writes)]
    return use


def _queue_behind(tensor: Any) -> Any:
    """The queue operation that a handle comes from, or None: fed, or made by something else."""
    seen = set()
    while tensor.op.type in _PASSES and tensor.op.name not in seen:
        seen.add(tensor.op.name)
        tensor = tensor.op.inputs[0]
    return tensor.op if tensor.op.type in _KIND_OF else None


def queue_of(operation: Any) -> Any:
    """The queue operation that an operation reads or writes, or None."""
    position = _READS.get(operation.type, _WRITES.get(operation.type))
    return None if position is None else _queue_behind(operation.inputs[position])


def _items_taken(operation: Any) -> int:
    if "UpTo" not in operation.type and "Many" not in operation.type:
        return 1
    n = tf.get_static_value(operation.inputs[-1])
    return 0 if n is None else int(n)
