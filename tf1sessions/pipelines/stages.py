"""Stages of a pipeline: threads that run one thing again and again, and what is known about them.

A stage knows which queues it reads and writes; the pipeline (pipeline.py) decides what follows when it ends or fails::

    Stage ── a StageThread for each thread ── loop(worker) ──▶ worker.run(call)    one run of the session
                                                           └─▶ stage.step, ran, excuse  counts, limits, skipped errors
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tf1sessions.errors import ConfigError
from tf1sessions.pipelines.blocks import BlockReader
from tf1sessions.pipelines.coordinator import is_consequence
from tf1sessions.pipelines.input_ends import may_end_input
from tf1sessions.pipelines.queues import PipelineQueue, short
from tf1sessions.runtime import tf
from tf1sessions.sessions.watchdog import raised_by_tensorflow

__all__ = ["ERRORS_IN_A_ROW", "UNSEEN", "Stage", "StageThread", "check_policy"]

#: So many errors, and no success between them, end a stage that skips errors. Arbitrary: a file of bad records is
#: skipped over, an iterator that can do nothing but raise is not asked for ever.
ERRORS_IN_A_ROW = 1000

_OutOfRange: Any = tf.errors.OutOfRangeError
#: In place of an item's value, where only a run of the session has it.
UNSEEN: Any = object()
Policy = str | Callable[[BaseException, Any], str]


def check_policy(value: Any, where: str) -> Policy:
    """Returns a valid ``on_error``.

    Raises:
        ConfigError: It is none.
    """
    if value in ("stop", "skip") or callable(value):
        return value  # type: ignore[no-any-return]
    raise ConfigError(
        f"on_error is {value!r}", where=where, next_step='Give "stop", "skip", or a function of (error, item).'
    )


class StageThread:
    """One thread of a stage. Written by that thread alone; read by the monitor thread and by statistics().

    Attributes:
        doing: "starts", "python", "run" (of the session), "items" (waits for some), "space" (waits for some), "ended".
        since: When that began.
        item: What it is at, for errors: its number or a word for it, and the value.
        adopted: Whether the thread is another's, which does not say when it ends.
        counts: Whether its time is the stage's; that of a helper is not.
        blocked: The queue that it waits for; set by the observer, as is ``stalled``, the call it has reported.
        run_end: The OutOfRangeError of its last run of the session.
    """

    __slots__ = (
        "adopted", "begun", "blocked", "counts", "doing", "ended", "item", "run_end", "since", "stage",
        "stalled", "thread",
    )  # fmt: skip

    def __init__(self, stage: Stage, thread: threading.Thread, *, adopted: bool = False, counts: bool = True) -> None:
        self.stage = stage
        self.thread = thread
        self.adopted = adopted
        self.counts = counts
        self.blocked: PipelineQueue | None = None
        self.stalled: Any = None
        self.doing = "starts"
        self.begun = self.since = time.monotonic()
        self.ended: float | None = None
        self.item: tuple[int | str, Any] | None = None
        self.run_end: BaseException | None = None

    def main(self, loop: Callable[[StageThread], None]) -> None:
        """Run the stage, in its thread."""
        self.begun = self.since = time.monotonic()
        self.doing = "python"
        try:
            loop(self)
        except BaseException as error:  # raised where the pipeline ends
            self.stage.pipeline.worker_failed(self, error)
        finally:
            self.ends()

    def ends(self) -> None:
        """Notes that the thread has no more to do."""
        self.ended = self.since = time.monotonic()
        self.doing = "ended"
        self.stage.pipeline.worker_ended(self)

    def run(self, call: Callable[..., Any], *values: Any) -> Any:
        """Runs the session, as ``call(*values)``."""
        begin = self.since = time.monotonic()
        self.doing = "run"
        try:
            return call(*values)
        except _OutOfRange as error:
            self.run_end = error
            raise
        finally:
            self.doing = "python"
            end = self.since = time.monotonic()
            trace = self.stage.pipeline.tracing
            if trace is not None:
                trace.span((self.stage.name, self.thread.name), "run", begin, end)

    def met_end(self, error: BaseException) -> bool:
        """Whether an error is the end of its input.

        That is an OutOfRangeError of its own run, of a session that its producer or an adopted thread runs, or of a
        queue that was closed; not one that a Python function of the program raises, or an operation that hands out
        nothing. An operation that calls Python ends a source, by StopIteration, and nothing that reads a queue.
        """
        if not may_end_input(error, self.stage.pipeline.session.graph):
            return False
        if error is self.run_end:
            return not self.stage.reads or error.op is None or "PyFunc" not in error.op.type  # type: ignore[attr-defined]
        if self.stage.kind in ("source", "thread"):
            return raised_by_tensorflow(error)
        return is_consequence(error)

    def at(self) -> str | None:
        """The item that it is at, in words."""
        if self.item is None:
            return None
        label, value = self.item
        if value is UNSEEN:
            return str(label)
        return f"item {label}, {short(value)}" if isinstance(label, int) else f"{label}, {short(value)}"

    def waits(self, what: str) -> None:
        """Notes that the thread waits, for "items" or for "space"; "python" ends that."""
        self.doing, self.since = what, time.monotonic()


class Stage:
    """A part of a pipeline that runs by itself: its threads, its queues, its counts.

    Attributes:
        reads: Queue -> how many items a run takes from it (0: only the run knows).
        writes: Queues.
        state: "declared", "running", "ended", "failed".
        runs, items, skipped: Runs of the session; items that went through; errors that were skipped.
        waiting: Queue's name -> seconds that its threads have waited for it, from samples.
    """

    def __init__(
        self,
        pipeline: Any,
        name: str,
        kind: str,
        *,
        reads: Mapping[PipelineQueue, int] | None = None,
        writes: Sequence[PipelineQueue] = (),
        on_error: Policy = "stop",
        steps: int | None = None,
    ) -> None:
        self.pipeline = pipeline
        self.name = name
        self.kind = kind
        self.reads = dict(reads or {})
        self.writes = tuple(writes)
        self.state = "declared"
        self.workers: list[StageThread] = []
        self.helpers: list[threading.Thread] = []  # threads that are there until the pipeline ends
        self.begun = 0.0
        self.waiting: dict[str, float] = {}
        self.operations: dict[str, PipelineQueue] = {}  # operations that may wait -> for which queue
        self.compile: Callable[[], None] = lambda: None
        self.cancel: Callable[[], None] = lambda: None  # lets threads go that wait in Python
        self.feeds = False  # an adopted thread that was seen to wait for space in a queue
        self.closes = True  # whether the pipeline is to close what it writes to, when it ends
        self._on_error = on_error
        self._lock = threading.Lock()
        self._steps = steps
        self._taken = 0
        self._begun_runs = 0
        self._in_a_row = 0
        self.runs = self.items = self.skipped = 0

    def add_worker(self, loop: Callable[[StageThread], None], suffix: str = "", *, counts: bool = True) -> None:
        """Adds a thread that calls ``loop(worker)`` once."""
        name = f"{self.pipeline.name}/{self.name}" + (f"-{suffix}" if suffix else "")
        thread = threading.Thread(target=lambda: worker.main(loop), name=name, daemon=True)
        worker = StageThread(self, thread, counts=counts)
        self.workers.append(worker)

    def repeat(
        self,
        call: Callable[[], Any],
        count: Callable[[Any], int],
        each: Callable[[Any], Any] | None,
        worker: StageThread,
    ) -> None:
        """Runs ``call`` until the stage's steps are taken or its input ends, and ``each`` on its results.

        ``count`` says how many items went through a run that has given a result.
        """
        while self.step():
            worker.item = (self._next_run(), UNSEEN)
            try:
                result = worker.run(call)
                if each is not None:
                    worker.item = ("the result", result)
                    each(result)
            except Exception as error:
                self.untaken()
                if not self.excuse(worker, error, None):
                    raise
            else:
                self.ran(count(result))

    def _next_run(self) -> str:
        """Return what the run that begins now is at, in words: items by their numbers from 0, where these are known."""
        taken = max(self.reads.values(), default=0)
        with self._lock:
            number, self._begun_runs = self._begun_runs, self._begun_runs + 1
        if taken == 0 or len(self.workers) > 1:  # which items it takes, only the run knows
            return f"run {number}"
        return f"item {number}" if taken == 1 else f"items {number * taken} to {(number + 1) * taken - 1}"

    def consume(self, reader: BlockReader, function: Callable[[Any], Any], worker: StageThread) -> None:
        """Calls ``function`` for each item that ``reader`` takes, until the input ends."""
        while self.step():
            worker.waits("items")
            with reader.lock:
                if self.pipeline.stopping:
                    return
                items = worker.run(reader.read)
            for item in items:
                worker.item = (self.items, item)
                try:
                    function(item)
                except Exception as error:
                    if not self.excuse(worker, error, item):
                        raise
                else:
                    self.ran(1, runs=0)
                if self.pipeline.stopping:
                    return

    @property
    def active(self) -> bool:
        """Whether it has not ended."""
        return any(worker.ended is None for worker in self.workers)

    @property
    def terminal(self) -> bool:
        """Whether the pipeline is there for this stage: nothing of it is read by others."""
        if self.kind == "thread":
            return not self.feeds
        return self.kind in ("work", "sink") and (not self.writes or self._steps is not None)

    def step(self) -> bool:
        """Takes one of its steps; False when there are no more, or the pipeline stops."""
        if self.pipeline.stopping:
            return False
        if self._steps is None:
            return True
        with self._lock:
            if self._taken >= self._steps:
                return False
            self._taken += 1
            return True

    def ran(self, items: int, runs: int = 1) -> None:
        """Counts runs that went well, and their items."""
        with self._lock:
            self.runs += runs
            self.items += items
            self._in_a_row = 0

    def untaken(self) -> None:
        """Gives a step back that came to nothing."""
        if self._steps is not None:
            with self._lock:
                self._taken -= 1

    def excuse(self, worker: StageThread, error: BaseException, item: Any) -> bool:
        """Whether an error of a worker is skipped, by the stage's ``on_error``; counts it then.

        The end of input and what follows from the pipeline's own end are never errors to skip.
        """
        if not isinstance(error, Exception) or worker.met_end(error) or is_consequence(error):
            return False
        policy = self._on_error
        answer = policy(error, item) if callable(policy) else policy
        if answer not in ("stop", "skip"):
            raise ConfigError(
                f"on_error returned {answer!r} for {type(error).__name__}",
                where=f"stage {self.name!r}",
                next_step='It is to return "skip" or "stop".',
            ) from error
        if answer == "stop":
            return False
        with self._lock:
            self._in_a_row += 1
            if self._in_a_row > ERRORS_IN_A_ROW:
                return False
            self.skipped += 1
        return True

    def __repr__(self) -> str:
        return f"<Stage {self.name!r}, {self.kind}, {self.state}>"
