"""Functions that initialise variables, and may be called more than once: TensorFlow 2 gives values once, at the start.

How often a function is called is read from its uses, in the file and in those that import it. Calls in different
branches of a condition count as one, and so does ``tf.app.run(main)``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ....source.uses import FileUses, bodies
from ..requests.request import NotPossible
from . import iterators
from .unit import Unit, UnitRequest

__all__ = ["check_called_once", "gives_variables_values", "is_restored_next"]

_REPEATING = (ast.For, ast.AsyncFor, ast.While)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_OTHERS = ("tf.tables_initializer", "tf.initialize_all_tables", "tf.initializers.tables_initializer")


def check_called_once(unit: Unit) -> None:
    """Refuse variables that a function initialises which may be called more than once.

    Raises:
        NotPossible: There is such a function, and it restores nothing right behind that.
    """
    calls = _Repetitions(unit)
    for request in unit.requests if unit.has_variables() else ():
        if not all(map(unit.is_initializer, request.leaves)) or not gives_variables_values(unit, request):
            continue
        for call in request.calls:
            if calls.may_repeat(unit.file, call) and not is_restored_next(unit, unit.file.statement(call)):
                raise NotPossible(call, "Variables are initialised in a function that may be called more than once")


def gives_variables_values(unit: Unit, request: UnitRequest) -> bool:
    """Whether a request of initializers runs one of variables that are not local."""
    for part in (part for leaf in request.leaves for part in iterators.parts(unit, leaf)):
        is_other = isinstance(part, ast.Call) and unit.kinds.symbol(part.func) in _OTHERS
        if not is_other and not iterators.is_local(unit, part) and iterators.iterator_of(unit, part) is None:
            return True
    return False


def is_restored_next(unit: Unit, statement: ast.stmt) -> bool:
    """Whether the values of variables are restored behind a statement, before a request reads them, in any case."""
    functions = {each.name for each in unit.requests if not all(map(unit.is_initializer, each.leaves))}
    body = next(each for each in bodies(unit.file.parents[statement]) if statement in each)
    for each in body[body.index(statement) + 1 :]:
        if isinstance(each, ast.If | ast.For | ast.While | ast.Try):
            return False
        for call in (node for node in ast.walk(each) if isinstance(node, ast.Call)):
            if isinstance(call.func, ast.Attribute) and call.func.attr == "restore":
                return any(isinstance(given, ast.Name) and given.id == unit.legacy for given in call.args)
            if isinstance(call.func, ast.Name) and call.func.id in functions:
                return False
    return False


class _Repetitions:
    """Counts how often the functions around calls are called.

    Args:
        unit: The graph; what stands in the module or function that makes it is executed once for each graph.
    """

    def __init__(self, unit: Unit) -> None:
        self._unit = unit
        self._entered: list[ast.AST] = []

    def may_repeat(self, file: FileUses, node: ast.AST) -> bool:
        """Whether a node of a file may be executed more than once for a graph."""
        inner = node
        for each in file.around(node):
            if each is self._unit.node:
                return False
            if isinstance(each, ast.Lambda) or _repeats(each, inner):
                return True
            if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef):
                return self._is_called_again(file, each)
            inner = each
        return False

    def _is_called_again(self, file: FileUses, function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
        if function in self._entered or function.decorator_list:
            return True
        self._entered.append(function)
        try:
            places = list(self._places(file, function))
            if any(not is_call or self.may_repeat(where, node) for where, node, is_call in places):
                return True
            pairs = [(one, other) for number, one in enumerate(places) for other in places[number + 1 :]]
            return any(one[0] is not other[0] or not _exclude(one[0], one[1], other[1]) for one, other in pairs)
        finally:
            self._entered.pop()

    def _places(
        self, file: FileUses, function: ast.FunctionDef | ast.AsyncFunctionDef
    ) -> Iterator[tuple[FileUses, ast.AST, bool]]:
        """The uses of a function: the file, the node, and whether it is a call."""
        name, parent = function.name, file.parents.get(function)
        is_method = isinstance(parent, ast.ClassDef)
        if isinstance(parent, ast.ClassDef) and name == "__init__":
            name, is_method = parent.name, False
        others = [each for each in file.siblings if each.module != file.module and _imports(each, file, name)]
        for where in [file, *others]:
            for node in ast.walk(where.tree):
                if _is_named(node, name, is_method or where is not file):
                    yield where, node, _is_call(where, node)
                elif isinstance(node, ast.Call) and name == "main" and where is file and _runs_main(where, node):
                    yield where, node, True


def _is_named(node: ast.AST, name: str, is_attribute: bool) -> bool:
    if isinstance(node, ast.Attribute):
        return is_attribute and node.attr == name
    return isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)


def _imports(file: FileUses, other: FileUses, name: str) -> bool:
    """Whether a file imports another one, or a name from it."""
    last = other.module.rpartition(".")[2]
    modules = [one for each in file.imports for one in (each.module, each.meaning)]
    return any(each.rpartition(".")[2] in (last, name) for each in modules)


def _is_call(file: FileUses, node: ast.AST) -> bool:
    """Whether a function is called where its name is, or is what ``app.run()`` calls once."""
    parent = file.parents[node]
    if isinstance(parent, ast.Call) and parent.func is node:
        return True
    parent = file.parents[parent] if isinstance(parent, ast.keyword) else parent
    return isinstance(parent, ast.Call) and ast.unparse(parent.func).endswith("app.run")


def _runs_main(file: FileUses, call: ast.Call) -> bool:
    """Whether a call is ``tf.app.run()``, which calls ``main``."""
    is_run = any(use.call is call and use.name == "tf.app.run" for use in file.uses)
    return is_run and not call.args and not any(each.arg == "main" for each in call.keywords)


def _repeats(node: ast.AST, part: ast.AST) -> bool:
    """Whether a node executes a part of it again and again: not what a loop goes over, nor what is behind it."""
    if isinstance(node, ast.For | ast.AsyncFor):
        return part is not node.iter and part not in node.orelse
    if isinstance(node, ast.While):
        return part not in node.orelse
    if isinstance(node, _COMPREHENSIONS):
        return part is not node.generators[0]
    if isinstance(node, ast.comprehension):  # of the first one, what it goes over is read once
        return part is not node.iter
    return False


def _exclude(file: FileUses, one: ast.AST, other: ast.AST) -> bool:
    """Whether two nodes are in different branches of a condition of the same function, and in no loop there."""
    branches: dict[ast.AST, ast.AST] = {}
    inner = one
    for each in file.around(one):
        branches[each] = inner
        if isinstance(each, _FUNCTIONS):
            break
        inner = each
    inner = other
    for each in file.around(other):
        if each in branches:
            part = branches[each]
            is_choice = isinstance(each, ast.If | ast.IfExp) and each.test not in (part, inner)
            return is_choice and (part in _body(each)) != (inner in _body(each))
        if isinstance(each, _FUNCTIONS):
            return False
        inner = each
    return False


def _body(node: ast.AST) -> list[ast.AST]:
    body = getattr(node, "body", [])
    return body if isinstance(body, list) else [body]
