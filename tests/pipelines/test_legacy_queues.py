"""Queues, queue runners, coordinators, input pipelines and readers do what they did on TensorFlow 1.15.5.

The cases and what was recorded of them are in tests/golden/cases/queues_*; they run in four ways (legacy_queues.py): by
TensorFlow's own start_queue_runners in our sessions, with our Coordinator, and adopted by a QueuePipeline.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from legacy_queues import WAYS  # this folder is on the path; pytest puts it there
from support import ROOT

COMPARE = Path(__file__).with_name("legacy_queues.py")

#: What TensorFlow itself has changed since: texts of errors. The types of the errors are the same.
OTHER_TEXTS = {
    **{f"named {kind}": {"missing", "other"} for kind in ("fifo", "padding", "shuffle")},
    **{f"wrong_values {kind}": {"negative"} for kind in ("fifo", "padding", "priority", "shuffle")},
    "wrong_queues": {"names", "shapes"},
    "damaged_records": {"error"},
}

#: What a graph that is built in a TensorFlow 2 program does otherwise: its variables are resource variables.
RESOURCE_VARIABLES = {
    "producer_without_variables": {"ended": "does not exist"},  # FailedPreconditionError before
    "empty_producer": {"failed": "symbolic `tf.Tensor` as a Python `bool`"},  # `if not files` of TensorFlow's own
}

#: What our Coordinator does otherwise, and TF1 answered with a TypeError: it takes an error outside of `except`, too.
OUTSIDE = {f"{name} outside" for name in ("aborted", "cancelled", "exception", "exit", "interrupt")}


@pytest.fixture(scope="module")
def differences() -> Callable[[str], dict[str, Any]]:
    """A function that says what differs in a way; a process is started when one of its ways is asked for."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3"}
    known: dict[str, dict[str, Any]] = {}

    def found(way: str) -> dict[str, Any]:
        if way not in known:
            ways = next(ways for ways in WAYS if way in ways)
            command = [sys.executable, str(COMPARE), *ways]
            done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=170)
            assert done.returncode == 0, done.stderr[-4000:]
            known.update(zip(ways, map(json.loads, done.stdout.splitlines()[-len(ways) :]), strict=True))
        return known[way]

    return found


def kinds(found: Any) -> Any:
    """Types of errors, without what they say."""
    return found["error"][0] if isinstance(found, dict) else found[0]


@pytest.mark.slow
@pytest.mark.parametrize("way", [way for ways in WAYS for way in ways])
def test_does_what_1_15_did(differences: Callable[[str], dict[str, Any]], way: str) -> None:
    found = differences(way)
    for name, keys in OTHER_TEXTS.items():
        if way.startswith("adopted") and name != "damaged_records":  # these start no queue runners
            continue
        differ = found.pop(name)
        assert set(differ) == keys
        assert all(kinds(before) == kinds(now) for before, now in differ.values())
    if way in ("library", "adopted"):
        for name, texts in RESOURCE_VARIABLES.items():
            differ = found.pop(name)
            assert all(text in str(differ[key][1]) for key, text in texts.items())
    if way == "coordinator":
        differ = found.pop("coordinator_errors")
        assert set(differ) == OUTSIDE
        assert all(before[0][0] == "TypeError" and now[1:] == [True, True] for before, now in differ.values())
    assert found == {}
