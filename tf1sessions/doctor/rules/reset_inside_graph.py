"""``tf.reset_default_graph()`` inside a ``with`` block of a graph or session."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..code import Code
from ..findings import Severity
from .rule import Hit, Rule


def find(code: Code) -> Iterator[Hit]:
    for steps in code.order.sequences():
        for step in steps:
            if step.path != "tf.reset_default_graph":
                continue
            for frame in step.frames:
                if frame.kind != "with" or not isinstance(frame.node, ast.With):
                    continue
                item = next((each for each in frame.node.items if _enters_graph(code, each.context_expr)), None)
                if item is not None:
                    title = f"tf.reset_default_graph() inside `with {ast.unparse(item.context_expr)}:`"
                    yield Hit(step.node, title, (frame.node,))
                    break


def _enters_graph(code: Code, node: ast.expr) -> bool:
    if not isinstance(node, ast.Call):
        return False
    path = code.path(node) or ""
    if path == "tf.Graph()":
        return isinstance(node.func, ast.Attribute) and node.func.attr == "as_default"
    return path == "tf.Session()"


RULE = Rule(
    name="reset-inside-graph",
    severity=Severity.ERROR,
    what="tf.reset_default_graph() inside `with tf.Session()` or `with graph.as_default()`",
    why="It raises AssertionError there: only the outermost default graph can be reset.",
    fix="Call it before the `with` block, or make a new graph: `with tf.Graph().as_default():`.",
    find=find,
)
