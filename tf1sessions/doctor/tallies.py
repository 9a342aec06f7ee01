"""The counts of the probes: threads, graphs, lines. Plain records; probes.py fills them.

Each :class:`Tally` and :class:`ThreadClock` is written by its own thread alone. The other records are changed by single
operations on dicts, which are atomic; counts that two threads add to may miss one now and then.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from typing import Any

from tf1sessions.sessions.watchdog import is_program

__all__ = [
    "Builder",
    "ConvertedFeeds",
    "FedConstant",
    "GraphRecord",
    "Local",
    "Promotion",
    "Site",
    "Spot",
    "Tally",
    "ThreadClock",
    "clock",
    "cpu_clock",
    "in_library",
    "spot_of_program",
]

clock = time.perf_counter
cpu_clock = time.thread_time

#: A file, as Python knows it, and a line.
Spot = tuple[str, int]

# -- places -----------------------------------------------------------------------------------------------------------

_kinds: dict[str, int] = {}  # file -> 2 of the program, 1 of a library that it uses, 0 neither


def _kind(path: str) -> int:
    if not is_program(path) or path.startswith("<"):
        kind = 0
    else:
        kind = 1 if f"{os.sep}site-packages{os.sep}" in path or f"{os.sep}dist-packages{os.sep}" in path else 2
    _kinds[path] = kind
    return kind


def in_library() -> bool:
    """Whether a library that the program uses, and not the program itself, calls TensorFlow on this thread's stack."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        path = frame.f_code.co_filename
        kind = _kinds.get(path)
        if kind is None:
            kind = _kind(path)
        if kind:
            return kind == 1
        frame = frame.f_back
    return False


def spot_of_program() -> Spot | None:
    """The innermost line of the program's own files on this thread's stack; else of a library that it uses."""
    frame: Any = sys._getframe(1)
    library = None
    while frame is not None:
        path = frame.f_code.co_filename
        kind = _kinds.get(path)
        if kind is None:
            kind = _kind(path)
        if kind == 2:
            return path, frame.f_lineno
        if kind == 1 and library is None:
            library = path, frame.f_lineno
        frame = frame.f_back
    return library


# -- records ----------------------------------------------------------------------------------------------------------


class ThreadClock:
    """A thread that ran a session or built a graph. Written by that thread."""

    def __init__(self) -> None:
        self.ident = threading.get_ident()
        thread = threading._active.get(self.ident)  # type: ignore[attr-defined]  # current_thread() would add one
        self.name = "a thread of TensorFlow" if thread is None else thread.name
        self.since = self.wall = clock()
        self.cpu_since = self.cpu = cpu_clock()
        self.waited_since = self.waited = _run_queue_secs()

    def sample(self) -> float:
        """Reads its clocks; the time until now counts."""
        self.cpu, self.wall = cpu_clock(), clock()
        self.waited = _run_queue_secs()
        return self.wall


def _run_queue_secs() -> float:
    """Return how long this thread was ready while no core was free for it; 0 where the kernel does not say."""
    try:
        with open("/proc/thread-self/schedstat", encoding="ascii") as file:
            return int(file.read().split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0


class Tally:
    """The runs of one thread in the sessions of one graph. Seconds; written by that thread alone."""

    __slots__ = ("due", "inside", "last", "running", "runs", "sampled_cpu", "sampled_wall", "thread")

    def __init__(self, thread: ThreadClock) -> None:
        self.thread = thread
        self.runs = 0
        self.running = False
        self.inside = 0.0  # in Session.run
        self.last = 0.0  # when the last run ended
        self.due = 0.0  # when a run is measured more closely again
        self.sampled_wall = self.sampled_cpu = 0.0  # of the runs that were


class Site:
    """A line that made operations between runs of the same thread on the same graph."""

    __slots__ = ("episodes", "first", "in_library", "operations", "runs")

    def __init__(self, first: str, in_library: bool) -> None:
        self.first = first  # type of its first operation
        self.in_library = in_library
        self.operations = 0
        self.episodes = 0
        self.runs = -1


class Builder:
    """The operations of a graph that one thread built."""

    __slots__ = ("last", "operations", "rounds", "spot", "turns")

    def __init__(self, spot: Spot | None) -> None:
        self.spot = spot  # of its first operation
        self.operations = 0
        self.turns = 0  # how often it went on after another thread
        self.last = 0.0
        self.rounds: dict[ThreadClock, int] = {}  # how often another thread had run the graph since its last operation


class GraphRecord:
    """One graph: which thread built it and which run it."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.operations = 0
        self.builders: dict[ThreadClock, Builder] = {}
        self.tallies: dict[ThreadClock, Tally] = {}
        self.turn: ThreadClock | None = None  # the thread that made the last operation
        self.sites: dict[Spot, Site] = {}
        self.reported = False


class ConvertedFeeds:
    """Values that were converted for one placeholder at one line."""

    __slots__ = ("count", "given", "nbytes", "seconds", "spot", "taken", "tensor")

    def __init__(self, spot: Spot | None, tensor: str, given: str, taken: str) -> None:
        self.spot, self.tensor, self.given, self.taken = spot, tensor, given, taken
        self.count = self.nbytes = 0
        self.seconds = 0.0


class FedConstant:
    __slots__ = ("name", "nbytes", "runs", "spot")

    def __init__(self, spot: Spot | None, name: str, nbytes: int) -> None:
        self.spot, self.name, self.nbytes = spot, name, nbytes
        self.runs = 0


class Promotion:
    """Operands that NumPy 1 and NumPy 2 reckon with otherwise."""

    __slots__ = ("count", "operands", "result", "spot")

    def __init__(self, spot: Spot | None, operands: str, result: str) -> None:
        self.spot, self.operands, self.result = spot, operands, result
        self.count = 0


class Local(threading.local):
    """The state of the calling thread."""

    def __init__(self) -> None:
        self.thread = ThreadClock()
        self.tallies: dict[GraphRecord, Tally] = {}
