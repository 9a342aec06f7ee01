"""A graph that one thread builds and that can be sealed.

Adding to one ``tf.Graph`` from two threads is the classic TF1 race: names, scopes, collections and the C graph are
changed together under no common lock. :class:`OwnedGraph` asks before each change whether this thread may make it::

    create_op, add_to_collection(s), import ──▶ _check_not_finalized / name_scope / _mutation_lock ─┐
    Operation._add_control_input(s), _set_attr…, _update_input ──▶ OwnedOperation ──────────────────┼─▶ Ownership.check
    get_collection_ref()  ──▶ the list itself for the owner, a guarded copy for others ─────────────┘

The check comes before TensorFlow changes anything, so the graph is left as it was.
"""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import threading
from collections.abc import Iterator
from typing import Any

from tf1sessions.errors import ConcurrentGraphError
from tf1sessions.runtime import private, tf
from tf1sessions.sessions.logical_devices import on_lane, place

__all__ = ["OwnedGraph", "Ownership"]

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_TENSORFLOW = tuple(f"{os.sep}{name}{os.sep}" for name in ("tensorflow", "tf_keras", "keras"))

#: Seconds that ``building()`` waits for another thread's ``building()`` block to end.
HANDOVER_SECS = 60.0


def caller_place() -> str:
    """``file:line`` of the innermost frame that is neither ours nor TensorFlow's nor contextlib's."""
    frame = sys._getframe(1)
    while frame is not None:
        path = frame.f_code.co_filename
        if not (
            path.startswith(_PACKAGE)
            or path == contextlib.__file__
            or any(name in path and "site-packages" in path for name in _TENSORFLOW)
        ):
            return f"{path}:{frame.f_lineno}"
        if frame.f_back is None:
            break
        frame = frame.f_back
    return "an unknown place"


class Ownership:
    """The thread that may change a graph.

    ``_lock`` is held by the thread inside a ``building()`` block, and by nobody else; it is re-entrant. The other
    attributes are written by that thread or by the owner, and read by any.
    """

    def __init__(self, what: str) -> None:
        self.what = what
        self._owner = threading.current_thread()
        self._home = self._owner
        self._made_at = caller_place()
        self._sealed_at: str | None = None
        self._lock = threading.RLock()
        self._depth = 0

    @property
    def sealed(self) -> bool:
        return self._sealed_at is not None

    def seal(self) -> None:
        self.check("seal it")
        self._sealed_at = f"thread {threading.current_thread().name!r} at {caller_place()}"

    def allows(self) -> bool:
        """Whether this thread may change the graph now."""
        return self._owner is threading.current_thread() and self._sealed_at is None

    def check(self, change: str) -> None:
        """Raises :class:`ConcurrentGraphError` unless this thread may change the graph now."""
        if self.allows():
            return
        thread = threading.current_thread().name
        if self._sealed_at is not None:
            raise ConcurrentGraphError(
                f"thread {thread!r} tried to {change}, and the graph of {self.what} was sealed by {self._sealed_at}",
                where=caller_place(),
                next_step="Build everything before seal(); look operations up by name or keep them in Python.",
                thread=thread,
                owner=None,
            )
        raise ConcurrentGraphError(
            f"thread {thread!r} tried to {change}, and the graph of {self.what} is being built by thread "
            f"{self._owner.name!r} (which got it at {self._made_at})",
            where=caller_place(),
            next_step="Build in one thread, or hand building over: `with session.building(): ...`.",
            thread=thread,
            owner=self._owner.name,
        )

    @contextlib.contextmanager
    def building(self) -> Iterator[None]:
        """Hands building to this thread for a block; waits while another thread is in such a block."""
        if not self._lock.acquire(timeout=HANDOVER_SECS):
            raise ConcurrentGraphError(
                f"thread {threading.current_thread().name!r} waited {HANDOVER_SECS:.0f} s to build the graph of "
                f"{self.what}, which thread {self._owner.name!r} is still building (since {self._made_at})",
                where=caller_place(),
                next_step="End the other thread's building() block.",
            )
        try:
            before, made_at = self._owner, self._made_at
            self._owner, self._made_at = threading.current_thread(), caller_place()
            try:
                yield
            finally:
                self._owner, self._made_at = before, made_at
        finally:
            self._lock.release()


class _ForeignCollection(list):  # type: ignore[type-arg]
    """A collection for threads that may not change the graph: the entries, and errors on change."""

    def __init__(self, entries: list[Any], ownership: Ownership, name: Any) -> None:
        super().__init__(entries)
        self._ownership = ownership
        self._name = name

    def _refuse(self, *args: Any, **kwargs: Any) -> Any:
        self._ownership.check(f"change the collection {self._name!r}")
        raise ConcurrentGraphError(
            f"the list of collection {self._name!r} was got when this thread was not allowed to change it",
            where=caller_place(),
            next_step="Call get_collection_ref() again.",
        )

    append = extend = insert = remove = pop = clear = sort = reverse = _refuse
    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse


class OwnedOperation(tf.Operation):  # type: ignore[misc]
    """An operation of an :class:`OwnedGraph`: its control edges, inputs and attributes change as the graph allows."""

    __slots__ = ()

    def _add_control_inputs(self, operations: Any) -> Any:
        self.graph.ownership.check(f"add control edges to operation {self.name!r}")
        return super()._add_control_inputs(operations)

    def _add_control_input(self, operation: Any) -> Any:
        self.graph.ownership.check(f"add a control edge to operation {self.name!r}")
        return super()._add_control_input(operation)

    def _remove_all_control_inputs(self) -> Any:
        self.graph.ownership.check(f"remove the control edges of operation {self.name!r}")
        return super()._remove_all_control_inputs()

    def _update_input(self, index: int, tensor: Any) -> Any:
        self.graph.ownership.check(f"change an input of operation {self.name!r}")
        return super()._update_input(index, tensor)

    def _set_attr(self, attribute: str, value: Any) -> Any:
        self.graph.ownership.check(f"set attribute {attribute!r} of operation {self.name!r}")
        return super()._set_attr(attribute, value)

    def _set_device(self, device: Any) -> Any:
        self.graph.ownership.check(f"place operation {self.name!r}")
        return super()._set_device(device)


class OwnedGraph(tf.Graph):  # type: ignore[misc]
    """A ``tf.Graph`` that only its owner may change.

    Args:
        what: What the graph belongs to, for messages.
        lane: The logical device that each of its operations is put on; see logical_devices.py.
    """

    def __init__(self, what: str = "a graph", lane: str | None = None) -> None:
        self.ownership = Ownership(what)
        self.lane = lane
        super().__init__()
        if lane is not None:
            _place_imports()
            # Functions that are traced in this graph take over its device functions.
            self._add_device_to_stack(lambda op: on_lane(op.device, lane))

    def _check_not_finalized(self) -> None:
        self.ownership.check("change it (an operation, a function or a collection entry)")
        super()._check_not_finalized()

    def _mutation_lock(self) -> Any:
        self.ownership.check("add or import operations")
        return super()._mutation_lock()

    @contextlib.contextmanager
    def name_scope(self, name: Any) -> Iterator[Any]:
        # The stack of scopes is the graph's, not the thread's; an import opens one before it touches the C graph.
        # The check is in __enter__, because tf.variable_scope hides what is raised before it.
        self.ownership.check(f"open the name scope {name!r}")
        with super().name_scope(name) as scope:
            yield scope

    def unique_name(self, name: str, mark_as_used: bool = True) -> Any:
        if mark_as_used:
            self.ownership.check(f"take the name {name!r}")
        return super().unique_name(name, mark_as_used)

    def get_collection_ref(self, name: Any) -> list[Any]:
        if self.ownership.allows():
            return super().get_collection_ref(name)  # type: ignore[no-any-return]
        return _ForeignCollection(self.get_collection(name), self.ownership, name)

    def clear_collection(self, name: Any) -> None:
        self.ownership.check(f"clear the collection {name!r}")
        super().clear_collection(name)

    def _create_op_helper(self, op: Any, *args: Any, **kwargs: Any) -> Any:
        op.__class__ = OwnedOperation
        return super()._create_op_helper(op, *args, **kwargs)

    def _apply_device_functions(self, op: Any) -> None:
        super()._apply_device_functions(op)  # those of `with tf.device(...)`; imported operations come here, too
        if self.lane is not None:
            op._set_device_from_string(on_lane(op.device, self.lane))

    def finalize(self) -> None:
        """As ``tf.Graph.finalize``, and sealed."""
        if not self.ownership.sealed:
            self.ownership.seal()
        super().finalize()


_placing = threading.Lock()  # guards what follows
_imports_are_placed = False


def _place_imports() -> None:
    """From now on a GraphDef that is imported into a graph on a lane is rewritten, the bodies of functions included.

    Its own nodes go through the graph's device functions; its functions TensorFlow takes over as they are.
    """
    global _imports_are_placed
    with _placing:
        original = getattr(private.importer, "_ProcessGraphDefParam", None)
        if original is None or _imports_are_placed:
            return

        @functools.wraps(original)
        def process(graph_def: Any) -> Any:
            graph_def = original(graph_def)
            lane = getattr(tf.get_default_graph(), "lane", None)
            return graph_def if lane is None else place(graph_def, lane)

        private.importer._ProcessGraphDefParam = process
        _imports_are_placed = True
