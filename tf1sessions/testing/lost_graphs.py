"""Threads that lost their starter's default graph: what they make goes to a graph of their own, or runs eagerly.

Data flow::

    tensorflow_hooks.py ── starts(thread), adds(graph) ──▶ LostGraphs ──▶ RaceDetector.report()
    TensorFlow's eager operations ── computes() ──────────▶   "

The first thing that such a thread makes is reported, whatever it is. With TensorFlow 2's behaviour no graph
is made at all: the thread computes at once, without an error, and what its starter builds does not know of it.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Iterator
from threading import Thread
from typing import Any

from tf1sessions.runtime import private
from tf1sessions.testing.access_records import AccessRecord
from tf1sessions.testing.frames import program_frame
from tf1sessions.testing.graph_accesses import GraphState
from tf1sessions.testing.patching import Patch
from tf1sessions.testing.race_detector import RaceDetector
from tf1sessions.testing.reports import RaceKind
from tf1sessions.testing.value_hooks import single_access
from tf1sessions.testing.vector_clocks import python_thread

__all__ = ["LostGraphs", "own_graph"]

#: Where TensorFlow runs an operation at once: the module, and the function of it.
_EAGER = (
    ("tensorflow.python.pywrap_tfe", "TFE_Py_FastPathExecute"),
    ("tensorflow.python.pywrap_tfe", "TFE_Py_Execute"),
    ("tensorflow.python.framework.constant_op", "convert_to_eager_tensor"),
)


def own_graph() -> Any:
    """Return the default graph of the calling thread where it has entered none; None until it is used."""
    return private.ops._default_graph_stack._global_default_graph


class LostGraphs:
    """The threads that were started inside another graph's block, until their first operation.

    Args:
        detector: Gets the reports.
        state_of: Gives a graph's state.
    """

    def __init__(self, detector: RaceDetector, state_of: Callable[[Any], GraphState]) -> None:
        self._detector = detector
        self._state_of = state_of
        self._starters: weakref.WeakKeyDictionary[Thread, AccessRecord] = weakref.WeakKeyDictionary()

    def starts(self, thread: Any) -> None:
        """Note where a thread was started, if its starter has another default graph than the thread will have."""
        stack, own = private.ops._default_graph_stack.stack, own_graph()
        if own is not None:
            self._state_of(own)  # named here: other threads do not know whose it is
        if any(graph is not own for graph in stack[-1:]) or (own is not None and own.get_operations()):
            what = "starts a thread with another default graph"
            self._starters[thread] = single_access(self._detector.clocks.thread(), what, program_frame())

    def adds(self, graph: Any, state: GraphState, record: AccessRecord) -> None:
        """Report the first operation that a thread adds to a default graph of its own, and not to its starter's.

        TensorFlow itself enters that graph, while it makes most operations.
        """
        if not self._starters or graph is not own_graph():
            return
        if any(entered is not graph for entered in private.ops._default_graph_stack.stack):
            return
        thread = python_thread()
        starter = None if thread is None else self._starters.pop(thread, None)
        if starter is not None:
            race = self._detector.report(RaceKind.LEAK, state.location.name, starter, record)
            if race is not None:
                state.leak = record.thread.number, race

    def computes(self, name: str) -> None:
        """Report the first operation that a thread runs at once, though its starter builds a graph."""
        thread = python_thread()
        if thread is None or thread not in self._starters or private.ops._default_graph_stack.stack:
            return
        frame = program_frame(2)
        if frame is None:
            return
        starter = self._starters.pop(thread)
        me = self._detector.clocks.thread()
        record = single_access(me, "computes at once, in no graph", frame)
        record.names = [name] * bool(name)
        self._detector.report(RaceKind.LEAK, f"no graph: thread {me.name!r} has none", starter, record)

    def patches(self) -> Iterator[Patch]:
        """Yield the hooks of what runs operations at once."""
        for module_name, name in _EAGER:
            module = sys.modules.get(module_name)
            if module is not None and hasattr(module, name):
                yield module, name, self._noted(getattr(module, name))

    def _noted(self, function: Callable[..., Any]) -> Callable[..., Any]:
        starters = self._starters

        def new_function(*args: Any, **named: Any) -> Any:
            if starters:
                name = next((each for each in args[:3] if isinstance(each, str) and not each.startswith("/")), "")
                self.computes(name)
            return function(*args, **named)

        return new_function
