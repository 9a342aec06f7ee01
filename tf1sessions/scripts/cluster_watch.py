"""Watch for the other tasks of a cluster that was started by hand; cluster_tasks.py reads its settings."""

from __future__ import annotations

import functools
import logging
import os
import threading
import time
from collections.abc import Mapping
from typing import Any

from . import importer, queue_threads
from .cluster_peers import answers, named, others
from .cluster_tasks import HandStarted, read

__all__ = ["PeerWatch", "begin"]

_LOOK_SECS = 1.0  # between two rounds of looks; arbitrary
_NAMED_SECS = 30.0  # after which tasks that have not come are named; arbitrary, as under launch

_log = logging.getLogger("tf1sessions")


def begin(environment: Mapping[str, str] = os.environ) -> None:
    """Check this task's versions, and watch for the others. Does nothing in a process that is no such task.

    Raises:
        ConfigError: The variable is malformed.
        UnsupportedEnvironmentError: The versions are not those of the cluster.
    """
    task = read(environment)
    if task is None:
        return
    task.check_versions()
    peers = others(environment.get("TF_CONFIG", ""))
    if peers:
        PeerWatch(peers, task).start()


class PeerWatch:
    """A thread that looks which tasks have come, names those that have not, and ends a program that waits too long.

    Args:
        peers: The other tasks: addresses by name.
        task: This one.
    """

    def __init__(self, peers: Mapping[str, str], task: HandStarted) -> None:
        self._missing = dict(peers)
        self._task = task
        self._has_run = threading.Event()  # a session on a server has run: all that it needs were there

    def start(self) -> None:
        """Watch from now on."""
        importer.after_import(self._watch_sessions)
        threading.Thread(target=self._watch, name="tf1sessions cluster", daemon=True).start()

    def _watch_sessions(self, face: Any) -> None:
        session = next(each for each in face.Session.__mro__ if each.__name__ == "BaseSession")
        original = session.run

        @functools.wraps(original)
        def run(self_: Any, *args: Any, **kwargs: Any) -> Any:
            result = original(self_, *args, **kwargs)
            if self_.sess_str:
                self._has_run.set()
                if session.run is run:
                    session.run = original
            return result

        session.run = run

    def _watch(self) -> None:
        began, is_named = time.monotonic(), False
        while not self._has_run.wait(_LOOK_SECS):
            self._missing = {name: where for name, where in self._missing.items() if not answers(where)}
            waited = time.monotonic() - began
            if not self._missing:
                return
            missing = named(self._missing)
            if waited > self._task.start_limit_secs and self._task.trains and not self._has_run.is_set():
                _log.error(
                    f"{missing} did not come within {self._task.start_limit_secs:g} s (--start-limit of launch): "
                    "sessions would wait for it for ever. Is it started, and does the network let this machine "
                    "reach it?"
                )
                queue_threads.end_process(1)
            if waited > min(_NAMED_SECS, self._task.start_limit_secs / 2) and not is_named:
                is_named = True
                _log.warning(f"{missing} has not come after {waited:.0f} s; sessions of this cluster wait for it")
