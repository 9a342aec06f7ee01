"""Calls that may build, or may be requests, as the program runs: ``def show(t): print(t.eval())``.

And the first call that needs the LegacyGraph of a module.
"""

from __future__ import annotations

import ast

from ....source.nodes import is_main_guard
from ....source.uses import FileUses
from .graph_code import GraphCode, called_name, own_nodes
from .request import NotPossible

__all__ = ["check_known", "is_map", "refuse_built", "user_before"]


def check_known(code: GraphCode, file: FileUses) -> None:
    """Refuse a file with calls of ``eval()`` or ``run()`` that may be those of a tensor or an operation.

    Raises:
        NotPossible: There is one.
    """
    makers = [other for other in code.files for node in ast.walk(other.tree) if code.makes_session(other, node)]
    if not makers:
        return
    defined = {node.name for other in code.files for node in ast.walk(other.tree) if isinstance(node, ast.FunctionDef)}
    imported = {each.bound for each in file.imports}
    for node in ast.walk(file.tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        name, base = node.func.attr, node.func.value
        if name in defined or code.is_request(file, node) or code.symbol(file, node.func) is not None:
            continue
        if isinstance(base, ast.Name) and base.id in imported:
            continue
        if _may_be_request(node) and (name == "eval" or (name == "run" and _may_be_operation(file, code, base))):
            raise NotPossible(node, "A function runs a session that it is not given")


def _may_be_request(call: ast.Call) -> bool:
    """Whether a call has no other arguments than a request to the default session has."""
    is_fed = all(isinstance(each, ast.Dict | ast.Name) for each in call.args) and len(call.args) <= 1
    return is_fed and {each.arg for each in call.keywords} <= {"feed_dict", "session"}


def _may_be_operation(file: FileUses, code: GraphCode, node: ast.expr) -> bool:
    """Whether an expression may be an operation: ``v.op``, a part of something, or what a function or loop is given."""
    if isinstance(node, ast.Attribute):
        return node.attr in ("op", "initializer")
    if isinstance(node, ast.Subscript):
        return True
    if not isinstance(node, ast.Name) or node.id in code.monitored:
        return False
    parts = ast.walk(code.scope_of(node))
    given = [each for each in parts if isinstance(each, ast.arg | ast.For | ast.comprehension)]
    targets = [each.target for each in given if not isinstance(each, ast.arg)]
    names = {each.arg for each in given if isinstance(each, ast.arg)}
    names |= {each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)}
    return node.id in names


def refuse_built(code: GraphCode, file: FileUses, statement: ast.With) -> None:
    """Refuse a ``with`` that gives what it calls a new part of the graph, where no graph is entered.

    Raises:
        NotPossible: It does.
    """
    for item in statement.items:
        call = item.context_expr
        given = [*call.args, *(each.value for each in call.keywords)] if isinstance(call, ast.Call) else []
        if any(code.asks_graph(file, each) for each in given):
            raise NotPossible(call, "What decides about a block adds to the graph")


def is_map(node: ast.AST) -> bool:
    """Whether it calls a function for each element: ``map(train, rates)``."""
    return isinstance(node, ast.Call) and called_name(node) in ("map", "starmap")


def user_before(code: GraphCode, file: FileUses, statement: ast.stmt) -> ast.stmt | None:
    """Return the statement of a module, before another one, that calls what needs a LegacyGraph first, if there is one.

    The functions and classes of the program know the LegacyGraph by the name that the other statement binds.
    """
    inside = [each for each in file.tree.body if not isinstance(each, ast.FunctionDef | ast.ClassDef)]
    nodes = [each for one in inside for each in own_nodes(one) if isinstance(each, ast.Call)]
    calls = [each for each in nodes if called_name(each) in code.requesters]
    first = min(calls, key=lambda each: each.lineno, default=None)
    if first is None or first.lineno > statement.lineno:
        return None
    around = [each for each in file.around(first) if isinstance(each, ast.stmt)]
    outer = [each for each in around if not (isinstance(each, ast.If) and is_main_guard(each.test))]
    return outer[-1]
