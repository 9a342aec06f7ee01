"""Functions that make variables or layers and are used as values: requests would make these each time they run.

A function that is called by its name becomes a class, whose object is made once. Of one that is an element of a list,
an argument, or a function that another one returns, nothing says which object a call is of.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from ..requests.request import NotPossible
from .kinds import Kind, creates
from .unit import Unit

__all__ = ["check_handed"]

_MADE = ("variable", "layer", "keras layer", "cell")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def check_handed(unit: Unit) -> None:
    """Refuse functions that make variables where requests call them as values. Called after all is written.

    Raises:
        NotPossible: There is one.
    """
    reached = _Reached(unit)
    for item in unit.items:
        if unit.is_moved(item):
            reached.code(item.statement)
    for request in unit.requests:
        reached.code(request.fetches)
    for function in unit.modules.functions:
        for statement in function.body:
            reached.code(statement)


class _Reached:
    """Goes through what requests execute, from name to name.

    Args:
        unit: The graph.
    """

    def __init__(self, unit: Unit) -> None:
        self._unit, self._file, self._kinds = unit, unit.file, unit.kinds
        self._seen: set[tuple[ast.AST, bool]] = set()

    def code(self, node: ast.AST) -> None:
        """Go through code that requests execute; what it makes itself is made elsewhere, once."""
        for name in self._names(node):
            call = self._file.parents[name]
            is_called = isinstance(call, ast.Call) and call.func is name
            if is_called and (self._unit.modules.is_made_once(call)):  # type: ignore[arg-type]
                continue
            for each in self._bound(name):
                self._follow(name, each)
        for part in ast.walk(node):
            symbol = self._kinds.symbol(part)
            parent = self._file.parents.get(part)
            is_used = isinstance(parent, ast.Call) and (parent.func is part or ast.unparse(parent.func) == "isinstance")
            if creates(symbol) == "variable" and not is_used and not isinstance(parent, ast.Attribute):
                raise NotPossible(part, f"{symbol} is handed about")

    def _names(self, node: ast.AST) -> Iterator[ast.Name]:
        for each in ast.walk(node):
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load) and self._kinds.symbol(each) is None:
                yield each

    def _bound(self, name: ast.Name) -> list[ast.AST]:
        """Find the nodes that bind a name in the scope in which it is read."""
        inside = [each for each in self._file.around(name) if isinstance(each, _FUNCTIONS)]
        for scope in [*inside, self._file.tree]:
            found = [each for each in self._file.bound.get(name.id, ()) if self._scope(each) is scope]
            if found:
                return found
        return []

    def _scope(self, node: ast.AST) -> ast.AST:
        return next((each for each in self._file.around(node) if isinstance(each, _FUNCTIONS)), self._file.tree)

    def _follow(self, name: ast.Name, binder: ast.AST) -> None:
        """Go through what a name is bound to: a function is called by requests, other values were made before."""
        if isinstance(binder, _Function):
            self._function(name, binder)
        elif self._scope(binder) not in (self._unit.node, self._file.tree) or (binder, False) in self._seen:
            return
        elif self._kinds.of(name, self._unit.scope) is Kind.STATIC or name.id not in self._unit.computed:
            self._seen.add((binder, False))
            for value in self._values(binder):
                self._built(name, value)

    def _values(self, binder: ast.AST) -> Iterable[ast.expr]:
        parent = self._file.parents[binder]
        if isinstance(parent, ast.Assign | ast.AnnAssign) and parent.value is not None:
            yield parent.value
        elif isinstance(parent, ast.For):
            yield parent.iter
        elif isinstance(binder, ast.arg):  # of the function that builds
            function = self._scope(binder)
            owner = self._file.parents[function]
            name = getattr(owner if isinstance(owner, ast.ClassDef) else function, "name", "")
            yield from getattr(function, "args", ast.arguments([], [], None, [], [], None, [])).defaults
            for call in (each for each in ast.walk(self._file.tree) if isinstance(each, ast.Call)):
                if getattr(call.func, "id", "") == name:
                    yield from [*call.args, *(each.value for each in call.keywords)]

    def _built(self, where: ast.Name, node: ast.AST) -> None:
        """Go through code that is executed once, where the graph is built: what it calls is not called by requests."""
        for each in self._names(node):
            call = self._file.parents[each]
            for binder in self._bound(each):
                is_called = isinstance(call, ast.Call) and (call.func is each or self._is_mapped(call))
                if isinstance(binder, _Function) and is_called:
                    self._called_once(where, binder)
                else:
                    self._follow(each, binder)

    def _is_mapped(self, call: ast.Call) -> bool:
        """Whether a call is ``map(function, values)`` in ``list()``, which calls the function at once."""
        outer = self._file.parents[call]
        is_list = isinstance(outer, ast.Call) and getattr(outer.func, "id", "") in ("list", "tuple")
        return is_list and getattr(call.func, "id", "") == "map"

    def _called_once(self, where: ast.Name, function: _Function) -> None:
        """Go through the functions that one which is called while the graph is built has inside: it may give them."""
        if (function, True) in self._seen:
            return
        self._seen.add((function, True))
        for each in ast.walk(function):
            if isinstance(each, _FUNCTIONS) and each is not function:
                self._check(where, function.name, each)
        for statement in function.body:
            self._built(where, statement)

    def _function(self, where: ast.Name, function: _Function) -> None:
        if (function, False) in self._seen:
            return
        self._seen.add((function, False))
        self._check(where, function.name, function)
        self.code(function)

    def _check(self, where: ast.Name, name: str, function: ast.AST) -> None:
        """Refuse a function that requests call if it makes something, itself or by what it calls."""
        modules = self._unit.modules
        calls = [each.func for each in ast.walk(function) if isinstance(each, ast.Call)]
        makes = any(creates(self._kinds.symbol(each)) in _MADE for each in calls)
        if makes or any(isinstance(each, ast.Name) and modules.needs_class(each.id) for each in calls):
            raise NotPossible(where, f"{name}() makes variables, and is used in a way that is not known")
