"""In the process of a program that is watched for races: puts the detector in place, and writes down what it finds.

The reports are written anew whenever there is another one, so that they outlive a program that is killed. The file is
complete at every moment.
"""

from __future__ import annotations

import _thread
import json
import os
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

from tf1sessions.scripts import importer, program
from tf1sessions.testing.order import Order
from tf1sessions.testing.races import Judge
from tf1sessions.testing.reports import Kind
from tf1sessions.testing.synchronisation import watch

__all__ = ["execute"]


def execute(payload: Mapping[str, Any]) -> int:
    """As :func:`tf1sessions.scripts.program.execute`.

    Args:
        payload: ``notes`` is the file for the reports, ``ignore`` the values of the kinds that are not reported.
    """
    detector = _Detector(payload["notes"], payload["ignore"])
    return program.execute(payload, detector.begin, detector.end)


class _Detector:
    def __init__(self, notes: str, ignore: list[str]) -> None:
        self._notes = notes
        self._forked = False
        self._pid = os.getpid()
        self._writing = _thread.allocate_lock()
        self._judge = Judge(Order(), map(Kind, ignore), self._write)
        self._watched = ExitStack()  # never left: threads may outlive the program's last line

    def begin(self) -> None:
        """Threads and locks are watched from here on, TensorFlow as soon as the program imports it."""
        self._watched.enter_context(watch(self._judge.order))
        os.register_at_fork(before=self._forks)
        importer.after_import(self._after_tensorflow)

    def end(self, exit_code: int) -> None:
        """Its threads may go on; what they do is written when it is found."""
        if os.getpid() == self._pid:
            self._write()

    def _after_tensorflow(self, face: Any) -> None:
        # As install_fast_path(), which must come first: it puts its own functions in the places of TensorFlow's.
        waiting = getattr(sys.modules.get("tf1sessions.runtime"), "when_complete", None)
        if waiting is not None:
            waiting.append(self._watch_tensorflow)
        else:
            self._watch_tensorflow()

    def _watch_tensorflow(self) -> None:
        from tf1sessions.testing.watching import watch_graphs

        self._watched.enter_context(watch_graphs(self._judge))

    def _forks(self) -> None:
        if not self._forked:
            self._forked = True
            self._write()

    def _write(self) -> None:
        beside = f"{self._notes}.new"
        with self._writing, open(beside, "w", encoding="utf-8") as file:
            reports = [report.to_json() for report in self._judge.reports]
            json.dump({"reports": reports, "forked": self._forked}, file)
            file.flush()
            os.replace(beside, self._notes)
