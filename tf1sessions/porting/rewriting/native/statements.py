"""The statements that build the graph of a LegacyGraph, each with what it reads and binds."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator

from ..requests.request import NotPossible, names_in
from .kinds import Kind, Kinds, Scope, bound_names, creates, names_read_first
from .scopes import is_name_scope

__all__ = ["OPERATIONS", "Item", "flattened", "is_any_block", "is_block", "kind_of"]

#: Names of TensorFlow whose calls give an operation without a value.
OPERATIONS = frozenset(["tf.group", "tf.no_op"])


@dataclasses.dataclass(eq=False)
class Item:
    """A statement that builds a part of the graph.

    Attributes:
        statement: The statement.
        context: The ``with`` statements around it, the outermost first.
        kind: The greatest kind in it.
        reads: The names that it reads, those of its context included.
        binds: The names that it binds.
        makers: The calls in it that make a variable, a layer or an optimizer.
    """

    statement: ast.stmt
    context: tuple[ast.With, ...]
    kind: Kind
    reads: set[str]
    binds: set[str]
    makers: list[ast.Call]

    @property
    def is_expression(self) -> bool:
        """Whether nothing is kept of what it computes."""
        return isinstance(self.statement, ast.Expr)


def is_block(node: ast.AST, legacy: str) -> bool:
    """Whether a statement is ``with legacy:``."""
    return isinstance(node, ast.With) and is_any_block(node) and ast.unparse(node.items[0].context_expr) == legacy


def is_any_block(node: ast.With) -> bool:
    """Whether a statement is ``with`` of a plain name, as of a LegacyGraph."""
    return len(node.items) == 1 and isinstance(node.items[0].context_expr, ast.Name)


def flattened(kinds: Kinds, body: list[ast.stmt], scope: Scope, context: tuple[ast.With, ...] = ()) -> Iterator[Item]:
    """Yield the statements of a block, those in scopes of names one by one; bind their names in ``scope``.

    Raises:
        NotPossible: A statement that is repeated, or may not run, makes a variable or a layer.
    """
    for statement in body:
        if isinstance(statement, ast.With) and all(is_name_scope(kinds, item) for item in statement.items):
            for item in statement.items:
                if isinstance(item.optional_vars, ast.Name):
                    scope[item.optional_vars.id] = Kind.STATIC
            yield from flattened(kinds, statement.body, scope, (*context, statement))
            continue
        known = set(scope)
        kinds.run(statement, scope)
        makers = list(_makers(kinds, statement))
        kind = kind_of(kinds, statement, scope)
        if makers and kind >= Kind.CONSTANT and isinstance(statement, ast.For | ast.While | ast.If | ast.Try):
            raise NotPossible(makers[0], "A loop or a condition makes a variable or a layer")
        around = [item.context_expr for each in context for item in each.items if _is_dependency(kinds, item)]
        if around and kind is Kind.CONSTANT and _is_operation(kinds, statement):  # it runs what it depends on
            kind = Kind.TENSOR
            scope |= dict.fromkeys(bound_names(statement), kind)
        reads = names_read_first(statement) | names_in(around)
        if isinstance(statement, ast.For | ast.While | ast.If | ast.Try):  # it may leave what was bound before
            reads |= bound_names(statement) & known
        yield Item(statement, context, kind, reads, bound_names(statement), makers)


def _is_operation(kinds: Kinds, statement: ast.stmt) -> bool:
    value = getattr(statement, "value", None)
    return isinstance(value, ast.Call) and kinds.symbol(value.func) in OPERATIONS


def _is_dependency(kinds: Kinds, item: ast.withitem) -> bool:
    call = item.context_expr
    return isinstance(call, ast.Call) and kinds.symbol(call.func) == "tf.control_dependencies"


def _makers(kinds: Kinds, statement: ast.stmt) -> Iterator[ast.Call]:
    """The calls that make something, the inner ones first."""
    found = [each for each in ast.walk(statement) if isinstance(each, ast.Call) and creates(kinds.symbol(each.func))]
    yield from sorted(found, key=lambda call: (call.end_lineno or 0, call.end_col_offset or 0))


def kind_of(kinds: Kinds, statement: ast.stmt, scope: Scope) -> Kind:
    """The greatest kind of what a statement computes, without the values that variables are made of."""
    if isinstance(statement, ast.FunctionDef):
        return scope.get(statement.name, Kind.STATIC)
    expressions = list(_expressions(statement))
    found = [kinds.of(each, scope) for each in expressions]
    found += [scope[name] for name in bound_names(statement) if name in scope]
    return max(found, default=Kind.STATIC)


def _expressions(statement: ast.stmt) -> Iterator[ast.expr]:
    stack: list[ast.AST] = [statement]
    while stack:
        node = stack.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                if not isinstance(getattr(child, "ctx", None), ast.Store):
                    yield child
            elif not isinstance(child, ast.FunctionDef | ast.ClassDef):
                stack.append(child)
