"""Arrays that runs have returned: which thread has written to them since, while orders of threads are explored.

Data flow::

    tensorflow_hooks.py: the end of a run ──▶ ResultArrays.hold(result): a sample of each array
    Scheduler: a task stops ───────────┐
    VectorClocks: it releases something┴──▶ look(): another sample ── differs ──▶ RaceDetector.access()

NumPy has no event for a write to an array. But under the scheduler one thread goes at a time, so what has changed
when it stops is its work. What it has written is noted before it releases anything, with the locks that it still holds;
but for locks that are not watched, as they were made before: so it is a warning.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np

from tf1sessions.testing.access_records import AccessKind, Conflict, Location
from tf1sessions.testing.frames import format_frame, program_frame
from tf1sessions.testing.race_detector import RaceDetector
from tf1sessions.testing.reports import RaceKind
from tf1sessions.testing.scheduler import Scheduler
from tf1sessions.testing.tasks import current_task
from tf1sessions.testing.value_hooks import sample_of

__all__ = ["ResultArrays"]

#: How many arrays are compared at each stop, the latest ones. Arbitrary.
_COMPARED = 100


def _conflict(earlier: str, later: str) -> Conflict:
    return Conflict(RaceKind.RESULT)


class ResultArrays:
    """Arrays that runs have returned in the order that is explored.

    Args:
        detector: Gets the accesses of the threads that write to them.
        scheduler: That of the order.

    Thread-safety: for tasks of one scheduler, of which one goes at a time.
    """

    def __init__(self, detector: RaceDetector, scheduler: Scheduler) -> None:
        self._detector = detector
        scheduler.on_stop = detector.clocks.before_release = self.look
        self._known: dict[int, tuple[weakref.ref[Any], bytes, AccessKind]] = {}  # by the arrays' identities

    def hold(self, result: Any) -> None:
        """Compare the arrays in the result of a run from now on."""
        for array in _arrays(result):
            number = id(array)
            frame = program_frame(3)
            location = Location("an array", _conflict, "" if frame is None else format_frame(frame))
            gone = weakref.ref(array, lambda _, number=number: self._known.pop(number, None))  # type: ignore[misc]
            kind = AccessKind(location, "write", "writes to the array, here or before")
            self._known[number] = gone, sample_of(array), kind
            if len(self._known) > _COMPARED:
                self._known.pop(next(iter(self._known)))

    def look(self) -> None:
        """Note what the calling thread has written since the last look."""
        if not self._known or current_task() is None:
            return
        for number, (reference, before, kind) in list(self._known.items()):
            array = reference()
            if array is not None and (now := sample_of(array)) != before:
                self._known[number] = reference, now, kind
                self._detector.access(program_frame(), kind)


def _arrays(result: Any) -> Iterator[Any]:
    """Yield the arrays of a result, which has the structure of what was fetched."""
    if type(result) is np.ndarray:
        if result.flags.writeable:
            yield result
    elif isinstance(result, list | tuple | dict):
        for each in result.values() if isinstance(result, dict) else result:
            yield from _arrays(each)
