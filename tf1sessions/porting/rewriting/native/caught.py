"""Errors that a program catches, where TensorFlow 2 raises another one, or none.

A session refuses a wrong value that is fed by a ValueError, a ``tf.function`` by a TypeError; a variable has a value
once it is made; a checkpoint that is missing is a ValueError for a ``tf.train.Saver``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from ..requests.graph_code import called_name
from ..requests.request import NotPossible
from .unit import Unit

__all__ = ["check_caught"]

_ALL = frozenset(["Exception", "BaseException"])
#: What catches an error as well as its own name.
_BASES = {
    "ValueError": _ALL,
    "TypeError": _ALL,
    "NotFoundError": _ALL | {"OpError"},
    "FailedPreconditionError": _ALL | {"OpError"},
}
#: Calls that take the errors to be caught: ``contextlib.suppress(ValueError)``.
_CATCHING = frozenset(["suppress", "raises", "assertRaises", "assertRaisesRegex", "assertRaisesRegexp"])


def check_caught(unit: Unit) -> None:
    """Refuse a program that catches what TensorFlow 2 does not raise.

    Raises:
        NotPossible: It does, around a request, a restored checkpoint or the making of variables.
    """
    calls = [call for request in unit.requests for call in request.calls]
    feeding = _Calls(unit, [call for request in unit.requests if request.feeds for call in request.calls])
    running, restoring = _Calls(unit, calls), _Calls(unit, list(_restored(unit)))
    built = {id(item.statement) for item in unit.items}
    for node, body, handlers in _blocks(unit.file.tree):
        if feeding.are_in(body) and _handler(handlers, "ValueError") != _handler(handlers, "TypeError"):
            raise NotPossible(node, "An error of a request is caught that a tf.function raises as another one")
        if running.are_in(body) and any("FailedPreconditionError" in names for names in handlers):
            raise NotPossible(node, "It is caught that a variable has no value, and in TensorFlow 2 each has one")
        if restoring.are_in(body) and _handler(handlers, "ValueError") != _handler(handlers, "NotFoundError"):
            raise NotPossible(node, "It is caught that a checkpoint is missing, by another error than TensorFlow 2's")
        is_building = any(id(each) in built for each in [node, *_walk(body)])
        if is_building and any("ValueError" in names for names in handlers):
            raise NotPossible(node, "An error is caught that is raised while the graph is built")


def _blocks(tree: ast.AST) -> Iterator[tuple[ast.stmt, list[ast.stmt], list[set[str]]]]:
    """The statements that catch errors: (statement, body, the errors of each handler)."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Try):
            yield node, node.body, [_names(each.type) for each in node.handlers]
        elif isinstance(node, ast.With):
            given = [each.context_expr for each in node.items if isinstance(each.context_expr, ast.Call)]
            errors = [each.args for each in given if called_name(each) in _CATCHING]
            if errors:
                yield node, node.body, [set().union(*map(_names, each)) for each in errors]


def _names(node: ast.expr | None) -> set[str]:
    """The names of the errors that a handler is for; all where it names none."""
    if node is None:
        return set(_ALL)
    return {each.id if isinstance(each, ast.Name) else each.attr for each in ast.walk(node) if _is_error(each)}  # type: ignore[attr-defined]


def _is_error(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) or (isinstance(node, ast.Attribute) and node.attr != "errors")


def _handler(handlers: Sequence[set[str]], error: str) -> int | None:
    """The number of the handler that an error comes to."""
    names = {error, *_BASES[error]}
    return next((number for number, each in enumerate(handlers) if each & names), None)


def _restored(unit: Unit) -> Iterator[ast.Call]:
    for node in ast.walk(unit.file.tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "restore":
            if any(isinstance(each, ast.Name) and each.id == unit.legacy for each in node.args):
                yield node


def _walk(statements: Iterable[ast.AST]) -> Iterator[ast.AST]:
    for each in statements:
        yield from ast.walk(each)


class _Calls:
    """Some calls, and the functions of the program that make them, themselves or by others."""

    def __init__(self, unit: Unit, calls: Sequence[ast.Call]) -> None:
        self._calls = {id(each) for each in calls}
        self._functions: set[str] = set()
        functions = [each for each in ast.walk(unit.file.tree) if isinstance(each, ast.FunctionDef)]
        size = -1
        while size != (size := len(self._functions)):
            for each in functions:
                if each is not unit.node and self.are_in(each.body):
                    self._functions.add(each.name)

    def are_in(self, statements: Iterable[ast.stmt]) -> bool:
        """Whether statements make one of the calls."""
        return any(
            isinstance(each, ast.Call) and (id(each) in self._calls or called_name(each) in self._functions)
            for each in _walk(statements)
        )
