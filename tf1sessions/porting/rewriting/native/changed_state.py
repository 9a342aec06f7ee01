"""Values of Python that the code of a graph reads, and that change: a graph has those of the time when it was built."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from ..requests.graph_code import own_nodes
from ..requests.request import NotPossible
from .kinds import Kind, base_names
from .later import Later
from .own_nodes import changed_in_place
from .purity import called_functions
from .reached import check_reached
from .statements import Item
from .unit import Unit

__all__ = ["check_identity", "check_state"]

_INNER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
#: Functions that give an iterator.
_ITERATORS = frozenset(["map", "zip", "filter", "iter", "enumerate", "reversed"])
#: What is asked of a tensor and is no tensor.
_ABOUT = frozenset(["shape", "get_shape", "name", "dtype", "op", "graph", "device", "ndims"])


def check_state(unit: Unit, moved: Sequence[Item]) -> None:
    """Refuse statements of requests that would see a later value, or change one each time they are traced.

    Raises:
        NotPossible: An attribute or a global name that one reads is set later, an object or an iterator of Python gives
            something else each time, or a name means something else by then.
    """
    stores = list(_attribute_stores(unit))
    stateful = set(_stateful_methods(unit))
    computed = {name for item in moved for name in item.binds}
    in_requests = {id(node) for item in moved for node in ast.walk(item.statement)}
    later = Later(unit, in_requests)
    for item in moved:
        functions = called_functions(unit, item.statement)
        inside = [node for each in [item.statement, *functions] for node in ast.walk(each)]
        _check_attributes(unit, item, inside, stores)
        _check_calls(unit, item, inside, stateful)
        check_reached(unit, item, later, computed)
        names = item.reads | {each.id for each in inside if isinstance(each, ast.Name)}
        for name in sorted(names - computed):
            if _is_defined_anew(unit, item, name):
                raise NotPossible(item.statement, f"{name!r} gets another value after the graph was built with it")
            if name in item.reads and (made := _iterator(unit, name, in_requests)) is not None:
                raise NotPossible(made, "An iterator of Python is advanced while the graph is built")
            if any(function.name in _called_behind(unit, item) for function in _setters(unit, name)):
                raise NotPossible(item.statement, f"{name!r} is changed after the graph was built with it")
        for name in sorted(item.reads & computed):
            before = [each for each in unit.own.binders.get(name, ()) if each.lineno < item.statement.lineno]
            if before and id(max(before, key=lambda each: (each.lineno, each.col_offset))) not in in_requests:
                raise NotPossible(item.statement, f"{name!r} means different things where the graph is built")


def _is_defined_anew(unit: Unit, item: Item, name: str) -> bool:
    """Whether a function, a class or an import takes a name behind a statement of the graph that reads it."""
    end = item.statement.end_lineno or 0
    found = sorted(unit.own.definitions.get(name, ()), key=_line)
    before = [each for each in found if _line(each) <= end]
    later = [each for each in found if _line(each) > end]
    if not before and not any(each.lineno <= end for each in unit.own.binders.get(name, ())):
        return False
    return any(not before or ast.dump(each) != ast.dump(before[-1]) for each in later)


def _line(node: ast.AST) -> int:
    return getattr(node, "lineno", 0)


def _iterator(unit: Unit, name: str, in_requests: set[int]) -> ast.AST | None:
    """The statement that makes an iterator of Python once, which what runs first reads to its end."""
    for each in unit.own.binders.get(name, ()):
        statement = unit.file.statement(each)
        value = statement.value if isinstance(statement, ast.Assign) and id(statement) not in in_requests else None
        called = value.func if isinstance(value, ast.Call) else None
        is_builtin = isinstance(called, ast.Name) and called.id in _ITERATORS
        if (
            isinstance(value, ast.GeneratorExp)
            or is_builtin
            or (called is not None and (unit.kinds.symbol(called) or "").startswith("itertools."))
        ):
            return statement
        function = unit.kinds.functions.get(called.id) if isinstance(called, ast.Name) else None
        if function is not None and any(isinstance(one, ast.Yield | ast.YieldFrom) for one in own_nodes(function)):
            return statement
    return None


def _attribute_stores(unit: Unit) -> Iterator[tuple[str, ast.AST]]:
    for node in ast.walk(unit.file.tree):
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            yield node.attr, node
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "setattr":
            if len(node.args) > 1 and isinstance(node.args[1], ast.Constant):
                yield str(node.args[1].value), node


def _check_attributes(unit: Unit, item: Item, inside: Sequence[ast.AST], stores: Sequence[tuple[str, ast.AST]]) -> None:
    for each in inside:
        if not isinstance(each, ast.Attribute) or not isinstance(each.ctx, ast.Load) or not base_names(each):
            continue
        if unit.kinds.symbol(each) is None and any(
            attr == each.attr and _is_behind(unit, item, node) for attr, node in stores
        ):
            raise NotPossible(each, f"{each.attr!r} is set anew after the graph was built with it")


def _is_behind(unit: Unit, item: Item, node: ast.AST) -> bool:
    """Whether code may run after a statement of the graph."""
    function = next((each for each in unit.file.around(node) if isinstance(each, _INNER)), None)
    is_method = isinstance(unit.file.parents.get(unit.node), ast.ClassDef)
    if function is unit.node or (function is None and not isinstance(unit.node, ast.FunctionDef)):
        return getattr(node, "lineno", 0) > (item.statement.end_lineno or 0)
    if function is None:
        return is_method  # what the module does with an object of the class
    return getattr(function, "name", "") != "__init__"


def _stateful_methods(unit: Unit) -> Iterator[str]:
    """The methods of the program that change their object."""
    classes = [each for each in unit.file.tree.body if isinstance(each, ast.ClassDef)]
    for node in [one for each in classes if each.name not in unit.kinds.classes for one in each.body]:
        if isinstance(node, ast.FunctionDef) and node.name != "__init__" and node.args.args:
            own = node.args.args[0].arg
            if any(own in _set_or_changed(each) for each in own_nodes(node)):
                yield node.name


def _set_or_changed(node: ast.AST) -> set[str]:
    """The names of objects of which a node sets an attribute, or changes the value."""
    is_set = isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load)
    return base_names(node) if is_set else changed_in_place(node)  # type: ignore[arg-type]


def _check_calls(unit: Unit, item: Item, inside: Sequence[ast.AST], stateful: set[str]) -> None:
    names = [each for each in ast.walk(item.statement) if isinstance(each, ast.Name)]
    bound = {each.id for each in names if not isinstance(each.ctx, ast.Load)}
    for each in inside:
        symbol = unit.kinds.symbol(each.func) if isinstance(each, ast.Call) else None
        if symbol is not None and symbol.startswith(("time.", "datetime.")):
            raise NotPossible(each, "The time is read while the graph is built")
        if not isinstance(each, ast.Call) or symbol is not None:
            continue
        if isinstance(each.func, ast.Name) and each.func.id == "next" and changed_in_place(each) - bound:
            raise NotPossible(each, "An iterator of Python is advanced while the graph is built")
        name = each.func.attr if isinstance(each.func, ast.Attribute) else "__call__"
        is_object = isinstance(each.func, ast.Attribute) or (
            isinstance(each.func, ast.Name) and each.func.id not in unit.kinds.functions
        )
        if is_object and (name in stateful or _counts(unit, each.func)) and base_names(each.func):
            raise NotPossible(each, f"{ast.unparse(each.func)}() changes its object while the graph is built")


def _counts(unit: Unit, called: ast.expr) -> bool:
    """Whether a name is bound to a function inside of another one, which changes what that keeps for it."""
    for each in unit.own.binders.get(called.id, ()) if isinstance(called, ast.Name) else ():
        value = getattr(unit.file.statement(each), "value", None)
        function = value.func if isinstance(value, ast.Call) else None
        maker = unit.kinds.functions.get(function.id) if isinstance(function, ast.Name) else None
        for inner in ast.walk(maker) if maker is not None else ():
            if isinstance(inner, ast.FunctionDef) and inner is not maker:
                nodes = list(own_nodes(inner))
                own = {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
                if any(isinstance(node, ast.Nonlocal) or changed_in_place(node) - own for node in nodes):
                    return True
    return False


def _setters(unit: Unit, name: str) -> Iterator[ast.FunctionDef]:
    """The functions that bind a name of the module."""
    for function in unit.kinds.functions.values():
        nodes = list(own_nodes(function)) if function is not unit.node else []
        if any(isinstance(each, ast.Global) and name in each.names for each in nodes):
            if isinstance(function, ast.FunctionDef):
                yield function


def _called_behind(unit: Unit, item: Item) -> set[str]:
    """The names of functions that may be called after a statement of the graph."""
    end = item.statement.end_lineno or 0
    is_method = isinstance(unit.file.parents.get(unit.node), ast.ClassDef)
    stack: list[ast.AST] = [unit.file.tree if is_method else unit.area]
    found: set[str] = set()
    while stack:
        node = stack.pop()
        for each in ast.walk(node):
            is_known = isinstance(each, ast.Name) and each.id in unit.kinds.functions and each.id not in found
            if is_known and (is_method or node is not unit.area or each.lineno > end):  # type: ignore[attr-defined]
                found.add(each.id)  # type: ignore[attr-defined]
                stack.append(unit.kinds.functions[each.id])  # type: ignore[attr-defined]
    return found


def check_identity(unit: Unit) -> None:
    """Refuse what asks whether tensors are the same: TensorFlow 2 compares their values, and has no hashes of them.

    Raises:
        NotPossible: A statement of the graph does.
    """
    for node in [one for item in unit.items for one in ast.walk(item.statement)]:
        if isinstance(node, ast.Compare) and _compares_tensors(unit, node):
            raise NotPossible(node, "Tensors are compared by == or in")
        keys = node.keys if isinstance(node, ast.Dict) else node.elts if isinstance(node, ast.Set) else []
        keys = [node.slice] if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) else keys
        keys = [each for each in keys if each is not None and not unit.kinds.is_placeholder(each)]
        if any(_is_of_graph(unit, each) and not _is_unpacked(unit, each) for each in keys):
            raise NotPossible(node, "Tensors are the keys of a dict")


def _compares_tensors(unit: Unit, node: ast.Compare) -> bool:
    sides = [node.left, *node.comparators]
    if not any(isinstance(each, ast.Eq | ast.NotEq | ast.In | ast.NotIn) for each in node.ops):
        return False
    is_none = any(isinstance(each, ast.Constant) and each.value is None for each in sides)
    return not is_none and any(_is_of_graph(unit, each) for each in sides)


def _is_unpacked(unit: Unit, node: ast.expr) -> bool:
    """Whether a name is one of several that a loop binds, of which the kind is not known: ``for name, variable in``."""
    binders = unit.own.binders.get(node.id, ()) if isinstance(node, ast.Name) else ()
    return any(isinstance(unit.file.parents[each], ast.Tuple) for each in binders)


def _is_of_graph(unit: Unit, node: ast.expr) -> bool:
    about = any(isinstance(each, ast.Attribute) and each.attr in _ABOUT for each in ast.walk(node))
    return not about and unit.kinds.of(node, unit.scope) >= Kind.VARIABLE
