"""The look of a pipeline from outside: sizes, waiting threads, stalls; by samples that the monitor thread takes.

A run of the session takes from a queue, computes and puts into another one, all inside TensorFlow: which of these it is
at, nothing says. So at each look a thread that is in a run is said to wait for a queue if that has not the items, or
not the space, that the run needs; otherwise it is at work.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from tf1sessions import forks
from tf1sessions.errors import StallError
from tf1sessions.pipelines.queues import PipelineQueue
from tf1sessions.pipelines.stages import Stage, StageThread
from tf1sessions.pipelines.statistics import PipelineStatistics, QueueStatistics, StageStatistics
from tf1sessions.runtime import tf
from tf1sessions.sessions.stacks import current_frames
from tf1sessions.sessions.watchdog import ActiveCall, place

__all__ = ["Observer"]

logger = logging.getLogger("tf1sessions")

#: A stage that was busy for less of its time than this holds nobody up.
_BUSY = 0.5
#: Less than this was too short to say which side holds the other up.
_SHORTEST_SECS = 0.25


class _QueueSamples:
    """The sums of the samples of one queue."""

    def __init__(self) -> None:
        self.samples = self.full = self.empty = 0
        self.sizes = 0


class Observer:
    """Samples a pipeline. :meth:`look` is called by the monitor thread alone; :meth:`statistics` by any thread."""

    def __init__(self, flow: Any, stall_secs: float, *, stop: bool) -> None:
        self._flow = flow
        self._stall_secs = stall_secs
        self._stop = stop
        self._seen: dict[str, _QueueSamples] = {}
        self._sizes: tuple[tuple[PipelineQueue, ...], Any] | None = None
        # Guards the stages' waits and the moment up to which they are counted: a wait would count twice, or not.
        self._lock = threading.Lock()
        self._looked = 0.0
        self._last: PipelineStatistics | None = None

    def look(self, calls: Mapping[int, ActiveCall]) -> None:
        """Takes a sample. ``calls``: those of the session that are in flight and may wait, by thread."""
        now = time.monotonic()
        sizes = self._measure()
        if sizes is None:
            return
        for name, size in sizes.items():
            self._note_size(name, size)
        trace = self._flow.tracing
        if trace is not None:
            for name, size in sizes.items():
                trace.counter(f"queue {name}", {"items": size}, now)
        with self._lock:
            stalled = self._note_waits(calls, sizes, now)
        for worker, queue, secs in stalled:
            self._report_stall(worker, queue, sizes[queue.name], secs)

    def _note_waits(
        self, calls: Mapping[int, ActiveCall], sizes: Mapping[str, int], now: float
    ) -> list[tuple[StageThread, PipelineQueue, float]]:
        """Counts waits up to now; returns those that are stalls: the thread, the queue, and the seconds so far."""
        stalled = []
        for stage in list(self._flow.stages.values()):
            for worker in stage.workers:
                call = calls.get(worker.thread.ident or 0)
                worker.blocked = self._waits_for(worker, call, sizes)
                if worker.blocked is None:
                    continue
                if worker.counts:
                    _add_wait(stage.waiting, worker.blocked, max(self._looked, worker.since), now)
                if call is not None and now - call.since >= self._stall_secs and worker.stalled is not call:
                    worker.stalled = call
                    stalled.append((worker, worker.blocked, now - call.since))
        self._looked = now
        return stalled

    def last_look(self) -> None:
        """Keeps the statistics of the end: there may be no session later on."""
        self._last = self.statistics()

    def _measure(self) -> dict[str, int] | None:
        """The sizes of all queues, or None: the session is closed."""
        flow = self._flow
        queues = tuple(flow.queues.values())
        if not queues:
            return {}
        if forks.forked():  # a lock may be held for ever
            raise forks.error(flow.name)
        try:
            if self._sizes is None or self._sizes[0] != queues:
                self._sizes = (queues, flow.compile_call(None, [queue.size_now for queue in queues], None))
            return {queue.name: int(size) for queue, size in zip(queues, self._sizes[1](), strict=True)}
        except (RuntimeError, tf.errors.CancelledError):
            if not flow.session._closed:
                raise
            return None

    def _note_size(self, name: str, size: int) -> None:
        seen = self._seen.setdefault(name, _QueueSamples())
        seen.samples += 1
        seen.sizes += size
        seen.empty += size == 0
        seen.full += 0 < self._flow.queues[name].capacity <= size

    @staticmethod
    def _waits_for(worker: StageThread, call: ActiveCall | None, sizes: Mapping[str, int]) -> PipelineQueue | None:
        """The queue that a thread waits for; None when it is at work."""
        stage = worker.stage
        if worker.doing == "space":
            return stage.writes[0]
        if worker.doing == "items":
            return next(iter(stage.reads), None)
        if call is None:
            return None
        used = [stage.operations.get(name) for name, _ in call.operations]
        for queue in used:
            if queue in stage.reads and sizes.get(queue.name, 0) < max(1, stage.reads[queue]):
                return queue
        for queue in used:
            if queue is not None and queue in stage.writes and 0 < queue.capacity <= sizes.get(queue.name, 0):
                return queue
        return None

    # -- stalls ----------------------------------------------------------------------------------------------------

    def _report_stall(self, worker: StageThread, queue: PipelineQueue, size: int, secs: float) -> None:
        """Reports a stage that has waited too long."""
        stage = worker.stage
        stages = self._flow.stages.values()
        if queue in stage.reads:
            needed = stage.reads[queue] or 1
            others = [other for other in stages if queue in other.writes]
            held = " besides those that this run has taken" if needed > 1 else ""
            what = f"{needed} item{'s' * (needed != 1)} of queue {queue.name!r}, which has {size}{held}"
            action = "writes to it"
        else:
            others = [other for other in stages if queue in other.reads]
            what = f"space in queue {queue.name!r}, which is full with {size} items"
            action = "reads from it"
        active = [other.name for other in others if other.active]
        if active:
            reason = f"{', '.join(map(repr, active))} {action}"
        elif others:
            reason = f"{', '.join(repr(other.name) for other in others)} {action} no more"
        else:
            reason = f"no stage of the pipeline {action}"
        waited = f"{secs:.{0 if secs >= 10 else 1}f} s"
        text = f"{self._flow.name}: stage {stage.name!r} has waited {waited} for {what}; {reason}"
        statistics = self.statistics()
        if self._stop:
            self._flow.failed(worker, StallError(f"{text}.\n{statistics}", statistics=statistics))
        else:
            logger.warning("%s.\n%s", text, statistics)

    # -- statistics ------------------------------------------------------------------------------------------------

    def statistics(self) -> PipelineStatistics:
        """The state of all queues and stages."""
        if self._last is not None:
            return self._last
        flow = self._flow
        sizes = self._measure() if flow.started else {}
        stages = list(flow.stages.values())
        queues = {
            name: self._of_queue(queue, None if sizes is None else sizes.get(name, 0), stages)
            for name, queue in list(flow.queues.items())
        }
        with self._lock:
            by_stage = {stage.name: self._of_stage(stage) for stage in stages}
        return PipelineStatistics(MappingProxyType(queues), MappingProxyType(by_stage), _bottleneck(by_stage))

    def _of_queue(self, queue: PipelineQueue, size: int | None, stages: list[Stage]) -> QueueStatistics:
        seen = self._seen.get(queue.name) or _QueueSamples()
        samples = max(1, seen.samples)
        return QueueStatistics(
            kind=queue.kind,
            capacity=queue.capacity,
            size=size,
            mean_size=seen.sizes / samples,
            full=seen.full / samples,
            empty=seen.empty / samples,
            # Of a queue that was read to its end, the end of the pipeline has cancelled nothing.
            state="ended" if queue.state == "cancelled" and queue.input_ended and size == 0 else queue.state,
            writers=tuple(stage.name for stage in stages if queue in stage.writes),
            readers=(
                *(stage.name for stage in stages if queue in stage.reads),
                *(["items()"] if queue.iterated else []),
            ),
        )

    def _of_stage(self, stage: Stage) -> StageStatistics:
        now = time.monotonic()
        workers = [worker for worker in stage.workers if worker.counts]
        ends = [worker.ended or now for worker in workers]
        secs = sum(end - max(worker.begun, stage.begun) for worker, end in zip(workers, ends, strict=True))
        secs = max(0.0, secs) if stage.begun else 0.0
        lasted = max(ends, default=now) - stage.begun if stage.begun else 0.0
        waiting = dict(stage.waiting)
        for worker in workers:
            if worker.blocked is not None and worker.ended is None:
                _add_wait(waiting, worker.blocked, max(self._looked, worker.since), now)
        return StageStatistics(
            kind=stage.kind,
            state=stage.state,
            threads=sum(worker.thread.is_alive() for worker in workers),
            runs=stage.runs,
            items=stage.items,
            skipped=stage.skipped,
            secs=secs,
            waiting_secs=MappingProxyType(waiting),
            busy=max(0.0, 1.0 - sum(waiting.values()) / secs) if secs else 0.0,
            items_per_sec=stage.items / lasted if lasted > 0 else 0.0,
            doing=tuple(_doing(worker) for worker in workers if worker.ended is None and worker.thread.is_alive()),
        )


def _add_wait(waiting: dict[str, float], queue: PipelineQueue, begin: float, end: float) -> None:
    """Adds a wait for a queue to the seconds by queue."""
    waiting[queue.name] = waiting.get(queue.name, 0.0) + max(0.0, end - begin)


def _doing(worker: StageThread) -> str:
    queue = worker.blocked
    if queue is not None:
        return f"waits for {'items of' if queue in worker.stage.reads else 'space in'} {queue.name!r}"
    if worker.doing != "python":
        return {"run": "runs"}.get(worker.doing, worker.doing)
    return f"is at {place(current_frames().get(worker.thread.ident or 0))}"


def _bottleneck(stages: Mapping[str, StageStatistics]) -> str | None:
    seen = sorted((stage.busy, name) for name, stage in stages.items() if stage.secs >= _SHORTEST_SECS)
    if len(seen) < 2 or seen[-1][0] < _BUSY or seen[-1][0] == seen[-2][0]:
        return None
    return seen[-1][1]
