"""The race detector in the process of a program: put in place before it runs; what it finds is written to a file.

Data flow::

    runs.py: find_races() ──▶ this process: execute(payload) ──▶ the program, between begin() and end()
    RaceDetector, when there is something new ──▶ findings.py ──▶ a file, written anew, complete at every moment

The reports are written whenever there is another one, so that they outlive a program that is killed. What a program has
replaced may keep the detector from that: then it is said that something was lost, and the program goes on.
"""

from __future__ import annotations

import _thread
import os
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

from tf1sessions.scripts import importer, program
from tf1sessions.testing import findings
from tf1sessions.testing.deadlocks import listening
from tf1sessions.testing.hangs import free
from tf1sessions.testing.race_detector import RaceDetector
from tf1sessions.testing.reports import RaceKind
from tf1sessions.testing.stalls import looking
from tf1sessions.testing.suppressions import Suppression, Suppressions
from tf1sessions.testing.synchronisation import watch
from tf1sessions.testing.vector_clocks import VectorClocks

__all__ = ["execute"]

_WAIT_SECS = 5.0  # at the end of the program, for a thread that is writing; arbitrary


def execute(payload: Mapping[str, Any]) -> int:
    """Run a program as :func:`tf1sessions.scripts.program.execute` does, with the race detector.

    Args:
        payload: ``notes`` is the file for the reports, ``ignore`` the values of the kinds that are not reported,
            ``suppressions`` the rules for what else is not.
    """
    program_watch = _ProgramWatch(payload["notes"], payload["ignore"], payload["suppressions"])
    return program.execute(payload, program_watch.begin, program_watch.end)


class _ProgramWatch:
    def __init__(self, notes: str, ignore: list[str], suppressions: list[dict[str, Any]]) -> None:
        self._notes = notes
        self._forked = False
        self._pid = os.getpid()
        self._writing = _thread.allocate_lock()  # held while the file is written; see _write()
        self._is_new = False  # something is not in the file yet
        self._suppressions = Suppressions(Suppression(**rule) for rule in suppressions)
        self._detector = RaceDetector(VectorClocks(), map(RaceKind, ignore), self._write, self._suppressions)
        self._watched = ExitStack()  # never left: threads may outlive the program's last line

    def begin(self) -> None:
        """Watch threads and locks from here on, TensorFlow as soon as the program imports it."""
        self._write()  # nothing, which is another answer than none
        self._watched.enter_context(watch(self._detector.clocks))
        self._watched.enter_context(listening(self._detector.report_deadlock))
        self._watched.enter_context(looking(free))
        os.register_at_fork(before=self._forks)
        # After install_fast_path(), which puts its own functions in the places of TensorFlow's.
        importer.after_import(lambda _: self._watch_tensorflow())

    def end(self, exit_code: int) -> None:
        """Write all again. The program's threads may go on; what they do is written when it is found."""
        if os.getpid() == self._pid:
            self._detector.is_over = True
            self._write(wait_secs=_WAIT_SECS)

    def _watch_tensorflow(self) -> None:
        from tf1sessions.testing.tensorflow_hooks import watch_graphs

        self._watched.enter_context(watch_graphs(self._detector))

    def _forks(self) -> None:
        if not self._forked:
            self._forked = True
            self._write()

    def _write(self, wait_secs: float = 0.0) -> None:
        """Write the reports, or leave that to the thread that writes them now, which then does it once more.

        A finalizer may find a race in the middle of this function, in the same thread: nothing may wait here but the
        end of the program, and that not for ever.
        """
        self._is_new = True
        while self._is_new and self._writing.acquire(wait_secs > 0, wait_secs or -1):
            try:
                self._is_new = False
                findings.write(self._notes, self._found())
            except Exception as error:  # in a thread of the program, which is to see nothing of it
                findings.lose(self._notes, error)
            finally:
                self._writing.release()

    def _found(self) -> dict[str, Any]:
        reports = [report.to_json() for report in self._detector.reports]
        return {"reports": reports, "forked": self._forked, "unused": self._suppressions.unused}
