"""Runs programs of the zoo under the race detector, in one process and with several timings; see test_zoo.py."""

from __future__ import annotations

import ast
import contextlib
import re
import runpy
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import tf1sessions.scripts

tf1sessions.scripts.install()

import tensorflow as tf  # noqa: E402 - its TF1 face

from tf1sessions.testing.races import graph_races  # noqa: E402
from tf1sessions.testing.reports import Access, Report  # noqa: E402

ZOO = Path(__file__).with_name("zoo")
#: Seconds by which a thread is held up. What is reported must not depend on it.
STEP = 0.01
DEADLINE = 30.0
#: By how many steps the first, the second, ... thread of a program begins late; seconds after which threads take turns.
TIMINGS: dict[str, tuple[Callable[[int], int], float]] = {
    "as it comes": (lambda number: 0, 1e-6),
    "one after the other": (lambda number: number, 0.005),
    "last one first": (lambda number: max(3 - number, 0), 0.005),
}


def expected(path: Path) -> set[str]:
    """The reports that a program's docstring expects."""
    expected_text = (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").partition("Expected:")[2]
    lines = expected_text.replace("\n        ", " ").splitlines()  # what goes on in another line is indented once more
    return {line.strip() for line in lines if line.strip() not in ("", "nothing")}


def marks(path: Path) -> dict[int, str]:
    """The lines of a program that are named by a letter in a comment at their end."""
    lines = enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
    return {number: found[1] for number, line in lines if (found := re.search(r"# ([A-Z])$", line))}


def in_words(report: Report, path: Path) -> str:
    """A report as the docstrings write it: kind; graph; one side; the other, in the order of the alphabet."""
    graph = re.sub(r"^(graph|session) 0x[0-9a-f]+$", r"a \1", report.graph)
    graph = re.sub(r"thread '.*'$", "a thread", graph)
    return "; ".join([report.kind.value, graph, *sorted(_side(side, path) for side in (report.first, report.second))])


def _side(side: Access, path: Path) -> str:
    file, _, line = side.place.rpartition(":")
    place = marks(path).get(int(line), side.place) if file == str(path) else side.place
    names = sorted({re.sub(r"_\d+(?=/|$)", "", name) for name in side.names})
    return " ".join([place, side.what, *names])


@contextlib.contextmanager
def timing(late: Callable[[int], int], interval: float) -> Iterator[None]:
    """While this lasts, threads begin late, each by its number. It leaves no frame of ours on their stacks."""
    before, numbers = sys.getswitchinterval(), iter(range(sys.maxsize))

    def begin(*event: Any) -> None:
        sys.setprofile(None)
        time.sleep(late(next(numbers)) * STEP)

    threading.setprofile(begin)
    sys.setswitchinterval(interval)
    try:
        yield
    finally:
        threading.setprofile(None)  # type: ignore[arg-type]
        sys.setswitchinterval(before)


def found(path: Path, late: Callable[[int], int], interval: float) -> set[str]:
    """The reports about a program: about its function that the docstring names, or about all of it."""
    tf.reset_default_graph()
    text, failed = path.read_text(encoding="utf-8"), []
    with timing(late, interval), mock.patch.object(threading, "excepthook", failed.append):
        if "Watched: main()" in text:
            main = runpy.run_path(str(path))["main"]
            with graph_races() as races:
                main()
        else:
            with graph_races() as races:
                runpy.run_path(str(path), run_name="__main__")
    until = time.monotonic() + DEADLINE
    while (left := [each for each in threading.enumerate()[1:] if not each.daemon]) and time.monotonic() < until:
        time.sleep(0.001)
    assert not left, f"it left {left}"
    assert not failed or expected(path), f"a thread of it failed: {failed[0].exc_value!r}"  # a hazard may bite
    return {in_words(report, path) for report in races.reports}


def differences(name: str) -> list[str]:
    """What is reported about a program and not expected, or the other way round, with each timing."""
    path = ZOO / name
    wanted, wrong = expected(path), []
    for words, (late, interval) in TIMINGS.items():
        got = found(path, late, interval)
        wrong += [f"{words}: not found: {each}" for each in sorted(wanted - got)]
        wrong += [f"{words}: not expected: {each}" for each in sorted(got - wanted)]
    return wrong
