"""``tf.enable_eager_execution()`` when a graph exists."""

from __future__ import annotations

from collections.abc import Iterator

from ...source.effects import is_session, makes_operations
from ..code import Code
from ..findings import Severity
from .eager_before_session import has_graph
from .rule import Hit, Rule


def find(code: Code) -> Iterator[Hit]:
    steps = code.order.main()
    made = [step for step in steps if (makes_operations(step.path) or is_session(step.path)) and not has_graph(step)]
    for step in steps:
        if step.path == "tf.enable_eager_execution":
            first = next((each for each in made if code.order.follows(step, each)), None)
            if first is not None and first.path is not None:
                yield Hit(
                    step.node, f"tf.enable_eager_execution() after {first.path.replace('()', '')}()", (first.node,)
                )


RULE = Rule(
    name="late-eager-switch",
    severity=Severity.ERROR,
    what="tf.enable_eager_execution() after operations were made",
    why="It must be called at program startup: once the default graph exists it raises ValueError.",
    fix="Call it right after the import of TensorFlow. In a notebook, restart the kernel first.",
    find=find,
)
