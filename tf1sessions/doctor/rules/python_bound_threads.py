"""Threads that spend their time in Python, one at a time."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...source.names import FunctionNode
from ..code import Code
from ..findings import Severity
from .rule import Hit, Rule


def find(code: Code) -> Iterator[Hit]:
    for worker in code.workers:
        if worker.kind != "thread" or not worker.many or worker.target is None:
            continue
        target = worker.target
        functions = [target]
        if isinstance(target, ast.Lambda) and isinstance(target.body, ast.Call):
            called = code.names.function(code.path(target.body.func))
            functions += [called] if called is not None else []
        for function in functions:
            loop = next((node for node in ast.walk(function) if _is_heavy(code, node)), None)
            if loop is not None:
                yield Hit(loop, "a loop of Python around a session's runs, in several threads", (worker.maker,))
                break


def _is_heavy(code: Code, loop: ast.AST) -> bool:
    """A loop that runs a session, and computes with Python in a loop of its own."""
    if not isinstance(loop, ast.For | ast.While) or not _runs(code, loop):
        return False
    return any(
        isinstance(inner, ast.For | ast.While)
        and not any(_runs(code, node) for node in ast.walk(inner))
        and not any(isinstance(node, ast.Call) and _waits(node) for node in ast.walk(inner))
        for inner in ast.walk(loop)
        if inner is not loop
    )


def _runs(code: Code, node: ast.AST) -> bool:
    """Whether a session's run is in a node, or in a method that it calls."""
    for each in ast.walk(node):
        if code.is_run(each):
            return True
        if isinstance(each, ast.Call):
            function = code.names.function(code.path(each.func))
            if isinstance(function, FunctionNode) and any(code.is_run(inner) for inner in ast.walk(function)):
                return True
    return False


def _waits(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr in ("sleep", "wait", "get", "put", "recv", "join")


RULE = Rule(
    name="python-bound-threads",
    severity=Severity.NOTE,
    what="threads whose loops do more in Python than in sessions",
    why="Only one thread of a process runs Python at a time. A session's run lets the others go on, the Python around "
    "it does not: more threads do not make such a loop faster.",
    fix="Use processes: tf1sessions.ProcessSessionPool has the interface of ThreadSessionPool.",
    find=find,
)
