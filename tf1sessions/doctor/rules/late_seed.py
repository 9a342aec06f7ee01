"""A graph's seed set after operations that it was meant for."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..code import Code
from ..findings import Severity
from ..order import ProgramStep
from .rule import Hit, Rule

_SEEDS = frozenset(["tf.set_random_seed", "tf.random.set_random_seed"])
_RANDOM = re.compile(
    r"tf\.(random\.)?(random_normal|random_uniform|truncated_normal|random_shuffle|normal|uniform|shuffle|multinomial)"
    r"|tf\.nn\.dropout|tf\.get_variable|tf\.layers\.(dense|conv\w+|dropout)"
    r"|tf\.contrib\.layers\.(fully_connected|conv2d|dropout)"
)


def find(code: Code) -> Iterator[Hit]:
    for steps in code.order.sequences():
        for step in steps:
            if step.path not in _SEEDS or any(frame.kind == "loop" for frame in step.frames):
                continue
            before = [other for other in steps if code.order.follows(step, other)]
            if any(other.path in _SEEDS or other.path == "tf.reset_default_graph" for other in before):
                continue
            first = next((other for other in before if _is_random(other) and _alike(other, step)), None)
            if first is not None and first.path is not None:
                yield Hit(step.node, f"the seed is set after {first.path}(), which does not get it", (first.node,))


def _is_random(step: ProgramStep) -> bool:
    if step.path is None or step.call is None or not _RANDOM.fullmatch(step.path):
        return False
    arguments = {keyword.arg for keyword in step.call.keywords}
    return not arguments & {"seed", "initializer", "kernel_initializer", "weights_initializer"}


def _alike(one: ProgramStep, other: ProgramStep) -> bool:
    """Whether both are for the same graph, as far as ``with`` blocks show."""
    return [f.node for f in one.frames if f.kind == "with"] == [f.node for f in other.frames if f.kind == "with"]


RULE = Rule(
    name="late-seed",
    severity=Severity.WARNING,
    what="tf.set_random_seed after random operations were made",
    why="An operation takes its seed from the graph when it is made. What was made before set_random_seed has a "
    "seed of its own in every run, and the results cannot be repeated.",
    fix="Call tf.set_random_seed right after the graph is made or reset, before the first layer or variable.",
    find=find,
)
