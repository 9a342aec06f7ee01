"""Runs programs of the corpus under the race detector; see test_corpus.py."""

from __future__ import annotations

import importlib
import sys
import threading
import time
from pathlib import Path
from unittest import mock

import zoo_runs  # installs the TF1 face

from tf1sessions.testing import stalls
from tf1sessions.testing.races import graph_races

stalls._LOOK_SECS = 0.02

CORPUS = Path(__file__).with_name("corpus")
DEADLINE = 30.0


def programs(module: str) -> dict[str, object]:
    """The programs of a module of the corpus, by name."""
    sys.path.insert(0, str(CORPUS.parent))
    found = vars(importlib.import_module(f"corpus.{module}"))
    return {name: each for name, each in found.items() if type(each).__name__ == "Program"}


def found(program: object, timing: str) -> tuple[set[str], str]:
    """The kinds that are reported about a program, and the reports."""
    zoo_runs.tf.reset_default_graph()
    failed: list[object] = []
    with zoo_runs.timing(*zoo_runs.TIMINGS[timing]), mock.patch.object(threading, "excepthook", failed.append):
        with graph_races() as races:
            program.run()  # type: ignore[attr-defined]
    until = time.monotonic() + DEADLINE
    while any(not each.daemon for each in threading.enumerate()[1:]) and time.monotonic() < until:
        time.sleep(0.001)
    assert not failed or program.must, f"a thread of it failed: {failed[0].exc_value!r}"  # type: ignore[attr-defined]
    return {report.kind.value for report in races.reports}, str(races)


def wrong(program: object) -> list[str]:
    """What is reported about a program and may not be, or must be and is not, with each timing."""
    must, may = program.must, program.may  # type: ignore[attr-defined]
    said = []
    for timing in zoo_runs.TIMINGS:
        kinds, reports = found(program, timing)
        said += [f"{timing}: not found: {kind}" for kind in sorted(must - kinds)]
        said += [f"{timing}: not expected: {kind}\n{reports}" for kind in sorted(kinds - must - may)]
    return said
