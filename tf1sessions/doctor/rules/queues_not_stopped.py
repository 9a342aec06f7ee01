"""Threads of queues that are waited for without being asked to stop."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..code import Code
from ..findings import Severity
from .rule import Hit, Rule


def find(code: Code) -> Iterator[Hit]:
    if any("request_stop" in line or "stop_on_exception" in line for file in code.program.files for line in file.lines):
        return
    steps = code.order.main()
    starts = [step for step in steps if starts_threads(code, step.node)]
    for step in steps:
        if step.path == "tf.train.Coordinator().join":
            first = next((start for start in starts if code.order.follows(step, start)), None)
            if first is not None and not _limited(code):
                yield Hit(step.node, "Coordinator.join() without request_stop() waits for ever", (first.node,))
                return


def starts_threads(code: Code, node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and code.path(node.func) == "tf.train.start_queue_runners"


def _limited(code: Code) -> bool:
    """Whether an input ends by itself, which stops the threads."""
    return any(
        code.argument(call, None, "num_epochs") is not None
        and getattr(code.argument(call, None, "num_epochs"), "value", 1) is not None
        for call in code.calls
    )


RULE = Rule(
    name="queues-not-stopped",
    severity=Severity.WARNING,
    what="threads of queues without Coordinator.request_stop",
    why="join() waits until the queues' threads end, and they end when they are asked to, or when the input does. "
    "An input without num_epochs never ends.",
    fix="Call coord.request_stop() before coord.join(threads), in a finally block.",
    find=find,
)
