"""State that Python functions in a graph change: what one run reads and writes again while another may do the same.

Data flow::

    a request's operations PyFunc, EagerPyFunc ──▶ functions_of() ──▶ the functions that TensorFlow has registered
    changed_state(function) ── its source ──▶ ("self.count", "total[...]"): what it reads and then writes

Only what is certain is named: a value that all calls share (a global name, a variable of an enclosing function, an
attribute of the method's own object) is read and assigned from itself, in a function that takes no lock. A single
assignment or ``append`` loses nothing, and so is none; nor is what is a ``threading.local``.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterable, Iterator
from threading import local
from typing import Any

from tf1sessions.runtime import private

__all__ = ["changed_state", "functions_of"]

_FUNCTIONS = ("PyFunc", "PyFuncStateless", "EagerPyFunc")
#: Calls by which a function may take a lock.
_LOCKS = frozenset(("acquire", "enter_context", "wait", "get", "put"))
#: The number of names of a function in a report. Arbitrary.
_SHOWN = 3


def functions_of(operations: Iterable[Any]) -> Iterator[Any]:
    """Yield the Python functions that operations call."""
    registry = private.script_ops and private.script_ops._py_funcs
    for operation in operations:
        if registry is not None and operation.type in _FUNCTIONS:
            function = registry.get(operation.get_attr("token").decode())
            function = getattr(function, "_func", function)  # of an EagerPyFunc
            function = inspect.unwrap(function) if callable(function) else None
            if function is not None:
                yield function


def changed_state(function: Any) -> tuple[str, ...]:
    """Return what all calls of a function share, and each reads and writes again; empty where that is not certain."""
    method = function if inspect.isroutine(function) else getattr(function, "__call__", None)  # noqa: B004
    plain, owner = getattr(method, "__func__", method), getattr(method, "__self__", None)
    if not inspect.isfunction(plain):
        return ()
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(plain))).body[0]
    except (OSError, SyntaxError, TypeError, IndexError):
        return ()
    if not isinstance(tree, ast.FunctionDef):
        return ()
    known = dict(inspect.getclosurevars(plain).nonlocals) | dict(inspect.getclosurevars(plain).globals)
    if owner is not None and plain.__code__.co_argcount:
        known[plain.__code__.co_varnames[0]] = owner
    if _takes_locks(tree, known):
        return ()
    assigned = {name for node in ast.walk(tree) if isinstance(node, (ast.Global, ast.Nonlocal)) for name in node.names}
    own = set(plain.__code__.co_varnames) - ({plain.__code__.co_varnames[0]} if owner is not None else set())
    found = [ast.unparse(target) for target in _updated(tree, known) if _is_shared(target, known, assigned, own)]
    return tuple(dict.fromkeys(found))[:_SHOWN]


def _takes_locks(tree: ast.FunctionDef, known: dict[str, Any]) -> bool:
    for node in ast.walk(tree):
        if isinstance(node, (ast.With, ast.Lambda)) or (node is not tree and isinstance(node, ast.FunctionDef)):
            return True
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _LOCKS:
            if _item_read(node, known) is None:
                return True
    return bool(tree.decorator_list)


def _updated(tree: ast.FunctionDef, known: dict[str, Any]) -> Iterator[ast.expr]:
    """Yield what is assigned from itself."""
    for node in ast.walk(tree):
        if isinstance(node, ast.AugAssign):
            yield node.target
        elif isinstance(node, ast.Assign):
            parts = [each for each in ast.walk(node.value) if isinstance(each, ast.expr)]
            read = {ast.unparse(_item_read(each, known) or each) for each in parts}
            yield from (target for target in node.targets if ast.unparse(target) in read)


def _item_read(node: ast.AST, known: dict[str, Any]) -> ast.expr | None:
    """Return ``counts[name]`` for ``counts.get(name, 0)`` of a dictionary; None for what is no such call."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get" and node.args:
        if isinstance(_value_of(node.func.value, known), dict):
            return ast.Subscript(node.func.value, node.args[0], ast.Load())
    return None


def _value_of(node: ast.expr, known: dict[str, Any]) -> Any:
    """Return what a name or its attribute is; None where that is not known. No property is called."""
    if isinstance(node, ast.Attribute):
        return getattr(_value_of(node.value, known), "__dict__", {}).get(node.attr)
    return known.get(node.id) if isinstance(node, ast.Name) else None


def _is_shared(target: ast.expr, known: dict[str, Any], assigned: set[str], own: set[str]) -> bool:
    """Say whether what is assigned belongs to all calls."""
    if isinstance(target, ast.Name):
        return target.id in assigned
    path: list[str] = []
    node: ast.expr = target
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        if isinstance(node, ast.Attribute):
            path.append(node.attr)
        else:
            path.clear()  # what an item is, is not looked at
        node = node.value
    if not isinstance(node, ast.Name) or node.id in own or node.id not in known:
        return False
    value = known[node.id]
    for name in ("", *reversed(path[1:])):
        value = getattr(value, "__dict__", {}).get(name) if name else value  # no property is called here
        if value is None or isinstance(value, local):
            return False
    return True
