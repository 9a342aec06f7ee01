"""Requests behind the end of their session, which TensorFlow 1 refuses: a LegacyGraph has no end."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ....source.uses import FileUses, bodies
from .graph_code import GraphCode, called_name, own_nodes
from .request import NotPossible

__all__ = ["check_closed"]

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_ENDS = (*_FUNCTIONS, ast.ClassDef, ast.Module)
_LOOPS = (ast.For, ast.While, ast.AsyncFor)
_EXITS = frozenset(["exit", "quit", "_exit"])


def check_closed(code: GraphCode, file: FileUses) -> None:
    """Refuse a file with a request that may be run after its session was closed.

    Raises:
        NotPossible: There is one behind ``close()``, or behind the ``with`` of the session.
    """
    anew = {name for node in ast.walk(file.tree) if isinstance(node, ast.Global) for name in node.names}
    for statement in ast.walk(file.tree):
        for session in _closed_by(code, file, statement) if isinstance(statement, ast.stmt) else ():
            for each in _behind(file, statement, session) if session not in anew else ():  # type: ignore[arg-type]
                if (call := _request(code, file, each, session)) is not None:
                    raise NotPossible(call, "A request may be run after its session was closed")


def _closed_by(code: GraphCode, file: FileUses, statement: ast.stmt) -> Iterator[str]:
    """The sessions that a statement closes, as they are written."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "close":
        if code.is_session(call.func.value):
            yield ast.unparse(call.func.value)
    for item in statement.items if isinstance(statement, ast.With) else ():
        if code.makes_session(file, item.context_expr) and item.optional_vars is not None:
            yield ast.unparse(item.optional_vars)
        elif isinstance(item.context_expr, ast.Name) and code.is_session(item.context_expr):
            yield ast.unparse(item.context_expr)


def _behind(file: FileUses, statement: ast.stmt, session: str) -> Iterator[ast.stmt]:
    """Yield the statements of a function or module that may run behind one, until the session is made anew."""
    node: ast.AST = statement
    jump: type[ast.stmt] | None = None  # out of the loop around it, or to its next turn
    while not isinstance(node, _ENDS):
        parent = file.parents[node]
        body = next((each for each in bodies(parent) if node in each), [])
        after = body[body.index(node) + 1 :] if isinstance(node, ast.stmt) and body else []
        for each in [*after, *_last_part(parent, body)] if jump is None else ():
            if _binds(each, session):
                return
            yield each
        jump = jump or next((type(each) for each in after if isinstance(each, ast.Break | ast.Continue)), None)
        if any(map(_leaves, after)):
            return
        if isinstance(parent, _LOOPS):
            if jump is not ast.Break and body is parent.body:
                if _binds(parent, session):
                    turn: list[ast.stmt] = []
                else:
                    turn = body[: body.index(node) + 1] if isinstance(node, ast.stmt) else []
                yield from turn
            jump = None
        node = parent


def _last_part(parent: ast.AST, body: list[ast.stmt]) -> list[ast.stmt]:
    """The part of a ``try`` that runs behind another one of it."""
    if not isinstance(parent, ast.Try) or body is parent.finalbody:
        return []
    return [*(parent.orelse if body is parent.body else []), *parent.finalbody]


def _leaves(statement: ast.stmt) -> bool:
    call = statement.value if isinstance(statement, ast.Expr) else None
    is_exit = isinstance(call, ast.Call) and called_name(call) in _EXITS
    return is_exit or isinstance(statement, ast.Return | ast.Raise)


def _binds(statement: ast.AST, session: str) -> bool:
    return any(
        isinstance(each, ast.Name | ast.Attribute)
        and not isinstance(each.ctx, ast.Load)
        and ast.unparse(each) == session
        for each in own_nodes(statement)
    )


def _request(code: GraphCode, file: FileUses, statement: ast.stmt, session: str) -> ast.Call | None:
    """A request to a session in a statement, or a call of a function that makes one."""
    if isinstance(statement, (*_FUNCTIONS, ast.ClassDef)):
        return None
    for call in own_nodes(statement):
        if not isinstance(call, ast.Call):
            continue
        given = [ast.unparse(each) for each in [*call.args, *(each.value for each in call.keywords)]]
        if code.is_request(file, call) and session in (*given, _base(call)):
            return call
        if called_name(call) in code.requesters and (session in given or _asks(code, file, call, session)):
            return call
    return None


def _base(call: ast.Call) -> str:
    return ast.unparse(call.func.value) if isinstance(call.func, ast.Attribute) else ""


def _asks(code: GraphCode, file: FileUses, call: ast.Call, session: str) -> bool:
    """Whether a function of the module makes a request to a session that is a name of the module."""
    for function in file.tree.body:
        if isinstance(function, _FUNCTIONS) and function.name == called_name(call):
            own = {each.arg for each in ast.walk(function.args) if isinstance(each, ast.arg)}
            nodes = [node for each in function.body for node in own_nodes(each)]
            if session not in own and not any(_binds(each, session) for each in function.body):
                calls = [each for each in nodes if isinstance(each, ast.Call) and code.is_request(file, each)]
                return any(_base(each) == session for each in calls)
    return False
