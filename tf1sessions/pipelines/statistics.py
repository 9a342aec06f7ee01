"""Counts of a pipeline so far, and what it waits for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tf1sessions.texts import figures

__all__ = ["PipelineStatistics", "QueueStatistics", "StageStatistics"]


@dataclass(frozen=True)
class QueueStatistics:
    """One queue.

    Attributes:
        kind: "fifo", "padding", "shuffle" or "priority".
        capacity: The most items that it holds; -1 without a bound.
        size: Items in it now; None when the session is closed.
        mean_size: Of samples taken every 25 ms; 0.0 before the first.
        full, empty: The share of the samples, 0.0 to 1.0.
        state: "open"; "ended": no more goes in, what is in it can still be read; "cancelled": what was in it, or was to
            go in, is lost, since the pipeline has ended or its readers have.
        writers, readers: Names of the stages that do; "items()" for :meth:`QueuePipeline.items`.
    """

    kind: str
    capacity: int
    size: int | None
    mean_size: float
    full: float
    empty: float
    state: str
    writers: tuple[str, ...]
    readers: tuple[str, ...]


@dataclass(frozen=True)
class StageStatistics:
    """One stage.

    Attributes:
        kind: "source", "work", "stage", "sink", "runner" (a QueueRunner) or "thread".
        state: "declared", "running", "ended" or "failed".
        threads: Threads that are alive.
        runs: Runs of the session that went well. Of a thread that was adopted, nothing is known: 0.
        items: Items that went through them: written by a source, taken by the others, as far as the graph shows.
        skipped: Errors that were skipped, by ``on_error``.
        secs: Since the start, or how long it ran; of all its threads together.
        waiting_secs: Of ``secs``, how long it waited for which queue: for items of those that it reads, for space in
            those that it writes. From samples taken every 25 ms.
        busy: The share of ``secs`` that it did not wait, 0.0 to 1.0.
        items_per_sec: Of the time from its start until now, or its end.
        doing: What each thread does now.
    """

    kind: str
    state: str
    threads: int
    runs: int
    items: int
    skipped: int
    secs: float
    waiting_secs: Mapping[str, float]
    busy: float
    items_per_sec: float
    doing: tuple[str, ...]


@dataclass(frozen=True)
class PipelineStatistics:
    """A pipeline at one moment. ``str()`` of it is a table.

    Attributes:
        queues: By the names of their operations.
        stages: By name.
        bottleneck: The stage that all wait for: the one that waits least itself, if it is busy for more than half of
            its time and others wait more than it does. None when there is no such stage, or too little was seen.
    """

    queues: Mapping[str, QueueStatistics]
    stages: Mapping[str, StageStatistics]
    bottleneck: str | None

    def __str__(self) -> str:
        queues = [
            [
                name,
                queue.size,
                "any" if queue.capacity < 0 else f"{queue.capacity:,}",
                queue.state,
                f"{queue.full:.0%}",
                f"{queue.empty:.0%}",
                _named(queue.writers),
                _named(queue.readers),
            ]
            for name, queue in self.queues.items()
        ]
        stages = [
            [
                name,
                stage.kind,
                stage.state,
                stage.items,
                stage.skipped,
                f"{stage.items_per_sec:,.0f}",
                f"{stage.busy:.0%}",
                ", ".join(f"{secs:.1f} s for {queue}" for queue, secs in stage.waiting_secs.items() if secs >= 0.05),
                ", ".join(dict.fromkeys(stage.doing)),
            ]
            for name, stage in self.stages.items()
        ]
        lines = [
            *figures(["queue", "items", "of", "state", "full", "empty", "from", "to"], queues),
            "",
            *figures(["stage", "kind", "state", "items", "skipped", "per s", "busy", "waited", "doing"], stages),
        ]
        if self.bottleneck is not None:
            lines += ["", f"bottleneck: {self.bottleneck}"]
        return "\n".join(lines)


def _named(names: tuple[str, ...]) -> str:
    return ", ".join(names) if names else "no stage"
