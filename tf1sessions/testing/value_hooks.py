"""Watches, besides graphs and sessions: arrays that are fed, graphs that are written, Coordinators.

Data flow::

    tensorflow_hooks.py: a run ──▶ HeldArrays.hold(arrays): they cannot be written while it lasts
        the writer's line raises, in its thread ──▶ HeldArrays ──▶ RaceDetector.report()
        an error that the program catches ── raised_errors.py ─┘
        of a view, which others may write by its base: HeldArrays.release() compares a sample of it ──▶ "
    Graph.as_graph_def, Graph.finalize ──▶ RaceDetector.access()
    Coordinator.register_thread, join ──▶ RaceDetector.report(), if nobody joins until the end
"""

from __future__ import annotations

import _thread
import concurrent.futures
import sys
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from types import FrameType, ModuleType, TracebackType
from typing import Any

import numpy as np

from tf1sessions.pipelines.coordinator import Coordinator
from tf1sessions.runtime import tf
from tf1sessions.sessions.stacks import current_frames
from tf1sessions.testing.access_records import AccessRecord
from tf1sessions.testing.frames import in_package, program_frame, program_frames
from tf1sessions.testing.graph_accesses import GraphState
from tf1sessions.testing.locks import held_locks
from tf1sessions.testing.patching import Patch, hooked
from tf1sessions.testing.publications import Needs
from tf1sessions.testing.race_detector import RaceDetector
from tf1sessions.testing.raised_errors import handler_patches
from tf1sessions.testing.reports import RaceKind

__all__ = ["HeldArrays", "coordinator_patches", "export_patches", "sample_of", "single_access"]

#: From how many bytes on an array is guarded. Arbitrary: TensorFlow has copied smaller ones before anybody can write.
_LARGE = 1024
#: How many elements of a view are compared. Arbitrary: some microseconds, and every row of most batches.
_SAMPLED = 512
#: Up to how many items of a list or a dictionary are looked at for an array. Arbitrary: more than most rings have.
_ITEMS = 100


#: An array that a run uses; a sample of its values, if it is a view.
_Held = tuple[Any, bytes | None]


class HeldArrays:
    """Arrays that runs use now. What writes to one meanwhile gets NumPy's error, at its own line; views are compared.

    Args:
        detector: Gets a report for each such error that ends a thread or a job, or that a Coordinator is given; and for
            those that the program catches, as far as they can be seen.

    Thread-safety: any thread may call any method.
    """

    def __init__(self, detector: RaceDetector) -> None:
        self._detector = detector
        self._lock = _thread.allocate_lock()
        self._held: dict[int, list[Any]] = {}  # by identity: the array, how many runs, the thread that runs

    def hold(self, values: Iterable[Any]) -> list[_Held] | None:
        """Keep arrays that own their memory from being written until :meth:`release`, and take a sample of others."""
        held: list[_Held] | None = None
        for value in values:
            if type(value) is np.ndarray and value.nbytes >= _LARGE:
                if value.base is not None:
                    held = [*(held or ()), (value, sample_of(value))]
                elif self._hold(value):
                    held = [*(held or ()), (value, None)]
        return held

    def release(self, held: Iterable[_Held]) -> None:
        """Let the arrays be written again, unless another run uses them; report those that have changed."""
        for array, sample in held:
            if sample is None:
                self._release(array)
            elif sample != sample_of(array):
                self._report_change()

    def _report_change(self) -> None:
        run = single_access(self._detector.clocks.thread(), "runs a session that was fed the array", program_frame(3))
        race = self._detector.report(RaceKind.FEED, "a view of an array", run, run)
        if race is not None:
            race.note = "It had other values after the run than before; what wrote them was not seen."

    def _hold(self, array: Any) -> bool:
        with self._lock:
            known = self._held.get(id(array))
            if known is None:
                if not array.flags.writeable:
                    return False
                array.flags.writeable = False
                self._held[id(array)] = [array, 1, _thread.get_ident()]
            else:
                known[1] += 1
        return True

    def _release(self, array: Any) -> None:
        with self._lock:
            known = self._held[id(array)]
            known[1] -= 1
            if not known[1]:
                del self._held[id(array)]
                array.flags.writeable = True

    def patches(self) -> Iterator[Patch]:
        """Yield the hooks of what gets the errors of threads and jobs."""
        excepthook = threading.excepthook
        set_exception = concurrent.futures.Future.set_exception
        request_stop = tf.train.Coordinator.request_stop

        def new_excepthook(args: Any) -> None:
            self._look_at(args.exc_value)
            excepthook(args)

        def new_set_exception(future: Any, exception: Any) -> None:
            self._look_at(exception)
            set_exception(future, exception)

        def new_request_stop(coordinator: Any, ex: Any = None) -> Any:
            self._look_at(ex[1] if isinstance(ex, tuple) and len(ex) > 1 else ex)
            return request_stop(coordinator, ex)

        yield threading, "excepthook", new_excepthook
        yield concurrent.futures.Future, "set_exception", new_set_exception
        yield tf.train.Coordinator, "request_stop", new_request_stop

        yield from handler_patches(self.look_at_caught)

    def look_at_caught(self, error: Any) -> None:
        """Report an error that the program may catch, if the line that raised it has a name for an array in use."""
        if not self._held or not _is_refusal(error):
            return
        frame = _last(error.__traceback__).tb_frame if error.__traceback__ is not None else None
        if frame is not None and any(_owner(each) in self._held for each in _named_in(frame)):
            self._look_at(error)

    def _look_at(self, error: Any) -> None:
        if not _is_refusal(error):
            return
        looked_at = vars(error).setdefault("_tf1sessions_looked_at", set())
        if id(self) not in looked_at:
            looked_at.add(id(self))
            self._report(error.__traceback__)

    def _report(self, trace: TracebackType | None) -> None:
        with self._lock:
            runners = [thread for _, _, thread in self._held.values()]
        frames = current_frames()
        running = next((frames[each] for each in runners if each in frames), None)
        trace = trace and _last(trace)
        me = self._detector.clocks.thread()
        run = single_access(me, "runs a session that was fed the array", _program(running))
        run.thread = next((each for each in self._detector.clocks.threads() if each.ident in runners), me)
        write = single_access(me, "writes a fed array", trace and trace.tb_frame)
        self._detector.report(RaceKind.FEED, "an array", run, write)


def _is_refusal(error: Any) -> bool:
    """Say whether an error is that of a line which has written to an array that cannot be written."""
    return isinstance(error, (ValueError, TypeError)) and "read-only" in str(error)


def _last(trace: TracebackType) -> TracebackType:
    while trace.tb_next is not None:
        trace = trace.tb_next
    return trace


def _named_in(frame: FrameType) -> Iterator[Any]:
    """Yield the arrays that the code of a frame names: by variables, their attributes, and items of either."""
    names = frame.f_code.co_names
    things = [*frame.f_locals.values(), *(frame.f_globals.get(name) for name in names)]
    for own in [getattr(each, "__dict__", None) for each in things if not isinstance(each, (type, ModuleType))]:
        things += [own.get(name) for name in names] if isinstance(own, dict) else []
    for each in list(things):
        if isinstance(each, (list, tuple, dict)) and len(each) <= _ITEMS:
            things += each.values() if isinstance(each, dict) else each
    return (each for each in things if type(each) is np.ndarray or type(each) is memoryview)


def _owner(view: Any) -> int:
    """Return the identity of the array whose memory a view has."""
    while (base := view.obj if type(view) is memoryview else getattr(view, "base", None)) is not None:
        view = base
    return id(view)


def sample_of(array: Any) -> bytes:
    """Return some of an array's elements; an odd step, so that they are not of one column."""
    step = max(1, array.size // _SAMPLED) | 1
    elements = array.reshape(-1) if array.flags.c_contiguous else array.flat  # neither copies all
    sample: bytes = elements[::step].tobytes()
    return sample


def single_access(thread: Any, what: str, frame: FrameType | None) -> AccessRecord:
    """Return the record of something that a thread does once."""
    place = (id(frame.f_code), frame.f_lineno) if frame is not None else (0, 0)
    record = AccessRecord(thread, (thread.number, what, *place, held_locks()), what, frame)
    record.times = 1
    return record


def _program(frame: FrameType | None) -> FrameType | None:
    return next(iter(program_frames(frame)), None)


# -- graphs that are written or finalized -----------------------------------------------------------------------------


def export_patches(detector: RaceDetector, state_of: Callable[[Any], GraphState]) -> Iterator[Patch]:
    """Yield the hooks of what reads a graph as a whole, or ends its building."""

    def note(graph: Any, what: str) -> None:
        if in_package(sys._getframe(3)) or graph.building_function:
            return
        state = state_of(graph)
        needs = Needs(lambda: [state.maker] if state.maker is not None else [], state.is_final, {}, lambda by, user: 0)
        detector.access(program_frame(3), state.export(what), needs=needs)

    yield hooked(tf.Graph, "as_graph_def", before=lambda graph: note(graph, "writes the graph"))
    yield hooked(tf.Graph, "finalize", before=lambda graph: note(graph, "finalizes the graph"))


# -- Coordinators -----------------------------------------------------------------------------------------------------


def coordinator_patches(detector: RaceDetector) -> Iterator[Patch]:
    """Yield the hooks of Coordinators: one for which threads were started, and which nobody joins, is reported."""
    met: weakref.WeakSet[Any] = weakref.WeakSet()
    joined: set[int] = set()

    def registers(coordinator: Any) -> None:
        if coordinator in met:
            return
        met.add(coordinator)
        number = id(coordinator)
        joined.discard(number)
        me = detector.clocks.thread()
        first = single_access(me, "starts threads for the Coordinator", program_frame(2))
        second = single_access(me, "ends without joining it", None)
        holds = lambda: detector.is_over and number not in joined  # noqa: E731
        detector.report(RaceKind.COORDINATOR, "a Coordinator", first, second, holds)

    yield hooked(tf.train.Coordinator, "register_thread", before=registers)
    for kind in (tf.train.Coordinator, Coordinator):
        yield hooked(kind, "join", before=lambda self: joined.add(id(self)))
