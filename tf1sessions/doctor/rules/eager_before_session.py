"""Operations that run at once, in a program that then makes sessions."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...source.effects import EAGER_SWITCHES, is_session, makes_operations
from ..code import Code
from ..findings import Severity
from ..order import ProgramStep
from .rule import Hit, Rule

_ON = frozenset(["tf.enable_eager_execution", "tf.enable_v2_behavior"])


def find(code: Code) -> Iterator[Hit]:
    for steps in code.order.sequences()[:1]:
        switches = [step for step in steps if step.path in EAGER_SWITCHES]
        for session in steps:
            if not is_session(session.path) or has_graph(session):
                continue
            before = [step for step in switches if code.order.follows(session, step)]
            if before and before[-1].path in _ON and session.path != "t1.GraphSession":
                title = f"{session.path} after {before[-1].path}()"
                why = (
                    "With eager execution nothing is added to the session's graph, and run() fails with an empty graph."
                )
                fix = "Leave the switch out, or build and run inside `with tf.Graph().as_default():`."
                yield Hit(session.node, title, (before[-1].node,), Severity.ERROR, fix, why)
            elif not switches and _spelled_for_two(session):
                eager = [step for step in steps if makes_operations(step.path) and not has_graph(step)]
                first = next((step for step in eager if code.order.follows(session, step)), None)
                if first is not None and first.path is not None:
                    title = f"{first.path.replace('()', '')}() runs at once, before the session is made"
                    yield Hit(first.node, title, (session.node,))
                    return


def has_graph(step: ProgramStep) -> bool:
    """Whether a step is inside a graph, or in a function that TensorFlow traces."""
    for frame in step.frames:
        if frame.kind == "with" and isinstance(frame.node, ast.With):
            if any(
                "as_default" in ast.unparse(item) or "graph" in ast.unparse(item).lower() for item in frame.node.items
            ):
                return True
    return step.call is not None and any(keyword.arg == "graph" for keyword in step.call.keywords)


def _spelled_for_two(session: ProgramStep) -> bool:
    """``tf.compat.v1.Session``: written for TensorFlow 2, where operations run at once."""
    return session.call is not None and ".compat.v1." in ast.unparse(session.call.func)


RULE = Rule(
    name="eager-before-session",
    severity=Severity.WARNING,
    what="eager operations before, or instead of, a session's graph",
    why="On TensorFlow 2 operations run at once unless that is switched off: a session cannot fetch their results, and "
    "the GPU's memory is given out before the session's options are seen. (`tf1sessions run` switches it off.)",
    fix="Call tf.compat.v1.disable_v2_behavior() right after the import, or build inside "
    "`with tf.Graph().as_default():`.",
    find=find,
)
