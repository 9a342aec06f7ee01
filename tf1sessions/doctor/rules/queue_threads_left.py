"""Threads of queues that are never asked to stop."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..code import Code
from ..findings import Severity
from .queues_not_stopped import starts_threads
from .rule import Hit, Rule

_STOPS = re.compile(r"request_stop|stop_on_exception|clear_stop|coord\w*\.join\(|\.join\(\w*threads", re.IGNORECASE)


def find(code: Code) -> Iterator[Hit]:
    if code.program.unread or any(_STOPS.search(line) for file in code.program.files for line in file.lines):
        return
    first = next((step for step in code.order.main() if starts_threads(code, step.node)), None)
    if first is not None:
        yield Hit(first.node, "the threads of the queues that are started here are never asked to stop")


RULE = Rule(
    name="queue-threads-left",
    severity=Severity.NOTE,
    what="tf.train.start_queue_runners, and nothing that stops the threads",
    why="At the end of the program they are cut off in the midst of a run, and errors about cancelled operations are "
    "printed; in a notebook, or a program that goes on, they stay.",
    fix="coord = tf.train.Coordinator(); tf.train.start_queue_runners(sess, coord); at the end "
    "coord.request_stop() and coord.join(threads). Or tf1sessions.QueuePipeline, which ends by itself.",
    find=find,
)
