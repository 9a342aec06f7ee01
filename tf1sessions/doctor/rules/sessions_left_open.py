"""Sessions made in a loop and never closed."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...source.names import FunctionNode
from ..code import Code
from ..findings import Severity
from .rule import Hit, Rule


def find(code: Code) -> Iterator[Hit]:
    for session in code.sessions():
        parent = next(code.names.parents(session), None)
        if not isinstance(parent, ast.Assign) or len(parent.targets) != 1:
            continue
        target = parent.targets[0]
        if not isinstance(target, ast.Name):
            continue
        loop = _loop(code, session)
        if loop is None:
            continue
        if isinstance(loop, ast.For) and (code.length(loop.iter) or 100) <= 2:
            continue
        if not _is_closed(code, loop, target.id):
            yield Hit(
                session, f"a session is made in each step of the loop in line {loop.lineno}, and never closed", (loop,)
            )


def _loop(code: Code, node: ast.AST) -> ast.For | ast.While | None:
    for parent in code.names.parents(node):
        if isinstance(parent, FunctionNode):
            return None
        if isinstance(parent, ast.For | ast.While):
            return parent
    return None


def _is_closed(code: Code, loop: ast.For | ast.While, name: str) -> bool:
    """Whether the loop closes the session, uses it as a context manager, keeps it or hands it on."""
    if isinstance(loop.body[-1], ast.Break | ast.Return):
        return True
    for node in ast.walk(loop):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == name:
            if node.attr in ("close", "__exit__", "__enter__"):
                return True
        elif isinstance(node, ast.withitem):
            if ast.unparse(node.context_expr) == name:
                return True
        elif isinstance(node, ast.Return | ast.Yield | ast.Break):
            return True
        elif isinstance(node, ast.Call):
            arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
            if any(isinstance(each, ast.Name) and each.id == name for each in arguments):
                return True  # what it is handed to may close it
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and node.value.id == name:
            return True
        elif isinstance(node, ast.List | ast.Tuple | ast.Dict) and isinstance(
            getattr(node, "ctx", ast.Load()), ast.Load
        ):
            parts = node.values if isinstance(node, ast.Dict) else node.elts
            if any(isinstance(each, ast.Name) and each.id == name for each in parts):
                return True
    return False


RULE = Rule(
    name="sessions-left-open",
    severity=Severity.WARNING,
    what="sessions made in a loop and never closed",
    why="A session keeps its variables, its copy of the graph and its threads until it is closed; the last reference "
    "to it is often in a cycle that is collected much later.",
    fix="Write `with tf.Session() as sess:`, or call sess.close() at the end of each step.",
    find=find,
)
