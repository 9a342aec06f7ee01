"""A class whose ``__init__`` builds a graph, and whose methods run a session."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ....source.uses import FileUses
from ..requests.request import NotPossible
from .kinds import CHANGING
from .statements import is_any_block
from .unit import INITIALIZERS

__all__ = ["SELF", "GraphClass", "self_attribute", "without_docstring"]

SELF = "self"
_GRAPH = "tf1sessions.porting.LegacyGraph"


def self_attribute(node: ast.AST) -> str | None:
    """The name of an attribute of ``self``."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == SELF:
        return node.attr
    return None


class GraphClass:
    """A class that builds in ``__init__``.

    Attributes:
        node: It.
        init: ``__init__()``.
        methods: All of its methods, by name.
        inlined: Those that build for ``__init__``, which alone calls them.
        statements: Those of ``__init__``, with those of such methods in the place of the calls.
        attributes: The attributes that have a part of the graph.
        sessions: The attributes that have the session.
        requests: The requests of methods, in the order of the text.
        parameter: The parameter of ``__init__`` that is the session; None for one that it makes.
        symbols: What the names of libraries in the file stand for.
    """

    def __init__(self, file: FileUses, node: ast.ClassDef, init: ast.FunctionDef) -> None:
        self.file, self.node, self.init = file, node, init
        self.symbols = {use.node: use.name for use in file.uses}
        self.methods = {each.name: each for each in node.body if isinstance(each, ast.FunctionDef)}
        self.inlined: list[ast.FunctionDef] = []
        self.sessions: set[str] = set()
        self.parameter: str | None = None
        self._graphs = {
            target.id
            for each in ast.walk(file.tree)
            if isinstance(each, ast.Assign) and _is_graph(file, each.value)
            for target in each.targets
            if isinstance(target, ast.Name)
        }
        self._assigned: dict[str, list[ast.expr]] = {}  # by the text of the target
        for each in ast.walk(node):
            if isinstance(each, ast.Assign):
                for target in each.targets:
                    self._assigned.setdefault(ast.unparse(target), []).append(each.value)
        self.statements = list(self._flat(init.body))
        self.attributes = self._graph_attributes()
        self.requests = list(self._requests())

    # -- what __init__ does ----------------------------------------------------------------------------------------

    def _flat(self, body: list[ast.stmt]) -> Iterator[ast.stmt]:
        """The statements that build, without those that are about a session."""
        for statement in body:
            if (
                isinstance(statement, ast.With)
                and is_any_block(statement)
                and self._is_session(statement.items[0].context_expr)
            ):
                yield from self._flat(statement.body)
            elif isinstance(statement, ast.Assign) and _is_graph(self.file, statement.value):
                pass
            elif isinstance(statement, ast.Assign) and self._is_session(statement.value):
                self._note_session(statement)
            elif (call := _call_of(statement)) is not None and self._is_about_session(call):
                pass
            elif call is not None and (method := self._built_by(call)) is not None:
                self.inlined.append(method)
                yield from self._flat(without_docstring(method.body))
            else:
                yield statement

    def _is_session(self, node: ast.expr) -> bool:
        """Whether an expression is the LegacyGraph, or what stands for the session."""
        if isinstance(node, ast.Name):
            return node.id in self._graphs or node.id in ("sess", "session")
        return self_attribute(node) in self.sessions

    def _note_session(self, statement: ast.Assign) -> None:
        for target in statement.targets:
            name = self_attribute(target)
            if name is None:
                raise NotPossible(statement, "A session has a name of its own in a class")
            self.sessions.add(name)
        if isinstance(statement.value, ast.Name) and statement.value.id not in self._graphs:
            self.parameter = statement.value.id

    def _is_about_session(self, call: ast.Call) -> bool:
        """Whether a call makes a session anew, or initializes variables, which is done when they are made."""
        if not isinstance(call.func, ast.Attribute) or not self._is_session(call.func.value):
            return False
        if call.func.attr == "reset":
            return True
        if call.func.attr != "run" or len(call.args) != 1 or call.keywords:
            return False
        return self.is_initializer(call.args[0])

    def is_initializer(self, node: ast.expr) -> bool:
        """Whether an expression initializes variables, or has been assigned what does."""
        if isinstance(node, ast.Call):
            return self.symbols.get(node.func) in INITIALIZERS
        if isinstance(node, ast.List | ast.Tuple):
            return all(map(self.is_initializer, node.elts))
        values = self._assigned.get(ast.unparse(node), [])
        return bool(values) and all(isinstance(each, ast.Call) and self.is_initializer(each) for each in values)

    def _built_by(self, call: ast.Call) -> ast.FunctionDef | None:
        """The method that ``self.method()`` calls, if nothing else does, it takes nothing and gives nothing."""
        name = self_attribute(call.func)
        method = self.methods.get(name or "")
        if method is None or call.args or call.keywords or len(method.args.args) != 1 or method.decorator_list:
            return None
        uses = [each for each in ast.walk(self.file.tree) if isinstance(each, ast.Attribute) and each.attr == name]
        returns = any(isinstance(each, ast.Return | ast.Yield) for each in ast.walk(method))
        if len(uses) != 1 or returns or not any(each in self.symbols for each in ast.walk(method)):
            return None
        return method

    def _graph_attributes(self) -> set[str]:
        """The attributes that have a part of the graph: what is made by TensorFlow, and of such."""
        names: set[str] = set()
        attributes: set[str] = set()
        size = -1
        builders = _builders(self.file)
        nodes = [node for statement in self.statements for node in ast.walk(statement)]
        while size != (size := len(names) + len(attributes)):
            for values, targets in filter(None, map(_bindings, nodes)):
                if not any(self._has_graph(each, names, attributes, builders) for each in values):
                    continue
                bound = [node for one in targets for node in ast.walk(one)]
                names |= {node.id for node in bound if isinstance(node, ast.Name) and node.id != SELF}
                attributes |= {name for name in map(self_attribute, bound) if name is not None}
        return attributes

    def _has_graph(self, value: ast.expr, names: set[str], attributes: set[str], builders: set[str]) -> bool:
        for node in ast.walk(value):
            symbol = self.symbols.get(node) if isinstance(node, ast.expr) else None
            if symbol is not None and symbol.startswith("tf."):
                return True
            if isinstance(node, ast.Name) and node.id in names | builders:
                return True
            if self_attribute(node) in attributes:
                return True
        return False

    def _requests(self) -> Iterator[ast.Call]:
        for method in self.methods.values():
            if method is self.init or method in self.inlined:
                continue
            found = [
                call
                for call in ast.walk(method)
                if isinstance(call, ast.Call)
                and isinstance(call.func, ast.Attribute)
                and self_attribute(call.func.value) in self.sessions
            ]
            yield from sorted(found, key=lambda call: (call.lineno, call.col_offset))


def _is_graph(file: FileUses, node: ast.expr) -> bool:
    """Whether an expression is ``porting.LegacyGraph()``."""
    return any(use.call is node and use.symbol == _GRAPH for use in file.uses)


def _builders(file: FileUses) -> set[str]:
    """The names of the functions of a file that use TensorFlow."""
    tensorflow = {use.node for use in file.uses if use.name.startswith("tf.")}
    functions = [each for each in file.tree.body if isinstance(each, ast.FunctionDef)]
    return {each.name for each in functions if any(node in tensorflow for node in ast.walk(each))}


def _bindings(node: ast.AST) -> tuple[list[ast.expr], list[ast.expr]] | None:
    """The values and the targets of an assignment, and of a call that adds to a list or a dict; None for others."""
    if isinstance(node, ast.Assign):
        return [node.value], node.targets
    if isinstance(node, ast.AugAssign | ast.AnnAssign) and node.value is not None:
        return [node.value], [node.target]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CHANGING:
        return [*node.args, *(each.value for each in node.keywords)], [node.func.value]
    return None


def _call_of(statement: ast.stmt) -> ast.Call | None:
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        return statement.value
    return None


def without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    """The statements of a function without the docstring, unless that is all."""
    value = body[0].value if body and isinstance(body[0], ast.Expr) else None
    is_text = isinstance(value, ast.Constant) and isinstance(value.value, str)
    return body[1:] if is_text and len(body) > 1 else body
