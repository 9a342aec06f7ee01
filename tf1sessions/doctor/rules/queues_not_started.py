"""Input queues whose threads nobody starts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...source.effects import is_session
from ..code import Code
from ..findings import Severity
from .init_after_restore import initializes
from .rule import Hit, Rule

_QUEUES = frozenset(
    ["tf.train.batch", "tf.train.shuffle_batch", "tf.train.string_input_producer", "tf.train.slice_input_producer",
     "tf.train.range_input_producer", "tf.train.input_producer", "tf.train.batch_join", "tf.train.shuffle_batch_join"]
)  # fmt: skip
_STARTERS = re.compile(
    r"start_queue_runners|create_threads|Supervisor|Monitored\w*Session|SingularMonitored|managed_session|estimator"
    r"|Estimator|slim\.(learning|evaluation)|slim\.train|QueuePipeline|contrib\.learn|learning\.train|QueueRunners"
    r"|tflearn|train_op_fun|evaluate_once|contrib\.training|graph_actions|enable_eager_execution"
)


def find(code: Code) -> Iterator[Hit]:
    if any(_STARTERS.search(line) for file in code.program.files for line in file.lines):
        return
    steps = code.order.main()
    queue = next((step for step in steps if step.path in _QUEUES), None)
    if queue is None or not any(is_session(step.path) for step in steps):
        return
    if any(unread for unread in code.program.unread):
        return  # what was not read may start them
    runs = [step.call for step in steps if code.is_run(step.node) and code.order.follows(step, queue)]
    if any(run is not None and not initializes(code, run) for run in runs):
        yield Hit(queue.node, f"the queues of {queue.path}() are never filled: nothing starts their threads")


RULE = Rule(
    name="queues-not-started",
    severity=Severity.ERROR,
    what="input queues without tf.train.start_queue_runners",
    why="Queues of tf.train are filled by threads that tf.train.start_queue_runners starts. Without them the first run "
    "that needs a batch waits for ever.",
    fix="After the initializers: coord = tf.train.Coordinator(); threads = tf.train.start_queue_runners(sess, coord); "
    "at the end coord.request_stop() and coord.join(threads).",
    find=find,
)
