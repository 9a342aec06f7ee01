"""Initializers that overwrite what was just restored."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..code import Code
from ..findings import Severity
from ..order import ProgramStep
from .rule import Hit, Rule

_INITIALIZERS = frozenset(["tf.global_variables_initializer", "tf.initialize_all_variables"])


def find(code: Code) -> Iterator[Hit]:
    for steps in code.order.sequences():
        restores = [step for step in steps if _is_restore(step)]
        if not restores:
            continue
        for step in steps:
            if not code.is_run(step.node) or step.call is None or not initializes(code, step.call):
                continue
            first = next((one for one in restores if _same(code, one, step)), None)
            if first is not None:
                yield Hit(
                    step.node, "the initializer runs after restore(), and overwrites what was restored", (first.node,)
                )


def _is_restore(step: ProgramStep) -> bool:
    return step.path == "tf.train.Saver().restore" and step.call is not None and len(step.call.args) >= 1


def initializes(code: Code, call: ast.Call) -> bool:
    """Whether a run's fetches are initializers of variables, or have one among them."""
    fetches = code.argument(call, 0, "fetches")
    if fetches is None:
        return False
    parts = fetches.elts if isinstance(fetches, ast.List | ast.Tuple) else [fetches]
    for part in parts:
        maker = code.made_by(part)
        if maker is not None and code.path(maker.func) in _INITIALIZERS:
            return True
    return False


def _same(code: Code, restore: ProgramStep, run: ProgramStep) -> bool:
    """Whether both are for one session, in one pass of every loop, and nothing is restored again after the run."""
    if not code.order.follows(run, restore) or restore.call is None or run.call is None:
        return False
    assert isinstance(run.call.func, ast.Attribute)
    ours, theirs = restore.call.args[0], run.call.func.value
    if code.names.home(ours) is None or code.names.home(ours) != code.names.home(theirs):
        return False
    if not code.names.is_bound_once(ours):
        return False  # a name for several sessions
    return _conditions(restore) == _conditions(run)


def _conditions(step: ProgramStep) -> list[object]:
    return [(frame.node, frame.branch) for frame in step.frames if frame.kind in ("branch", "loop")]


RULE = Rule(
    name="init-after-restore",
    severity=Severity.ERROR,
    what="global_variables_initializer run after Saver.restore",
    why="The initializer gives every variable its first value again: the model that was just loaded is lost, without "
    "a word.",
    fix="Run the initializer before restore(), or leave it out.",
    find=find,
)
