"""Values that a statement reads in the functions that it may call, and that change behind it: see later.py.

These are functions of the program by their names, methods of any class by theirs, and lambdas and functions inside of
others that a name, an attribute or a container may have.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..requests.graph_code import called_name
from ..requests.request import NotPossible
from .foreign import reads_outside
from .later import ANY, Key, Later
from .purity import called_functions
from .statements import Item
from .unit import Unit

__all__ = ["check_reached"]

_Code = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_RANDOM = ("np.random.", "random.")
_TIME = ("time.", "datetime.")
_GENERATORS = frozenset(["np.random.RandomState", "np.random.default_rng", "random.Random"])
#: What is asked of an array and does not change with its values.
_FIXED = frozenset(["shape", "dtype", "ndim"])


def check_reached(unit: Unit, item: Item, later: Later, computed: set[str]) -> None:
    """Refuse a statement that would see a later value of what it was built with.

    Raises:
        NotPossible: It would, or a lambda or a method that it may call draws random numbers of Python or NumPy.
    """
    end = item.statement.end_lineno or 0
    plain = called_functions(unit, item.statement)  # see purity.py
    for code in [item.statement, *_reached(unit, item.statement, later)]:
        is_own = code is item.statement
        is_made_once = isinstance(code, ast.FunctionDef) and unit.modules.needs_class(code.name)
        for node in _body_nodes(code):
            if isinstance(node, ast.Call) and not is_own and not is_made_once and _draws(unit, node, later):
                what = "Random numbers of Python or NumPy are drawn while the graph is built, and are a part of it"
                raise NotPossible(node, what)
            if not is_made_once and reads_outside(unit.kinds, node):
                raise NotPossible(node, "A file or the environment is read while the graph is built")
            symbol = unit.kinds.symbol(node.func) if isinstance(node, ast.Call) else None
            if symbol is not None and symbol.startswith(_TIME):
                raise NotPossible(node, "The time is read while the graph is built")
            for key in later.effects(code, node) if not is_own and code not in plain else ():
                name = getattr(code, "name", "lambda")
                raise NotPossible(node, f"{name}() changes {_said(key)} while the graph is built")
            for key in _read(unit, later, node):
                is_outside = key.scope is None and isinstance(unit.file.parents.get(unit.node), ast.ClassDef)
                is_computed = key.name in computed and key.scope in (None, unit.node)
                is_made = is_computed and not isinstance(code, _Code)
                if not is_made and (not is_own or is_outside or "." in key.name) and _is_bound(unit, later, key, end):
                    raise NotPossible(
                        item.statement, f"{_said(key)} gets another value after the graph was built with it"
                    )
                if not is_computed and _is_changed(unit, later, node, key, end):
                    raise NotPossible(item.statement, f"{_said(key)} is changed after the graph was built with it")


def _body_nodes(code: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a statement, or of the body of a function."""
    body = code.body if isinstance(code, _Code) else code
    for each in body if isinstance(body, list) else [body]:
        yield from ast.walk(each)


def _said(key: Key) -> str:
    return repr(key.name.removeprefix("."))


def _read(unit: Unit, later: Later, node: ast.AST) -> set[Key]:
    is_read = isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load)
    if not is_read or unit.kinds.symbol(node) is not None:
        return set()
    parent = unit.file.parents[node]
    is_fixed = isinstance(parent, ast.Attribute) and parent.attr in _FIXED
    return set() if is_fixed else later.keys(node)


def _is_bound(unit: Unit, later: Later, key: Key, end: int) -> bool:
    lines = later.bound.get(key, [])
    if key.name.startswith("."):
        lines = [*lines, *(later.bound.get(Key(None, f".{ANY}"), []) if key in later.values else [])]
        return any(line > end for line in lines)
    if key.scope is None:
        lines = [*lines, *later.bound.get(Key(None, ANY), [])]
    is_elsewhere = key.scope is None and isinstance(unit.node, ast.FunctionDef)
    is_before = is_elsewhere or any(line <= end for line in lines)
    return is_before and any(line > end for line in lines)


def _is_changed(unit: Unit, later: Later, node: ast.AST, key: Key, end: int) -> bool:
    if later.changed.get(key, 0) > end:
        return True
    parent = unit.file.parents[node]
    is_whole = not isinstance(parent, ast.Attribute)
    if later.handed.get(key, 0) > end and later.may_change(key, is_whole):
        return True
    is_item = isinstance(parent, ast.Subscript) and parent.value is node and isinstance(parent.slice, ast.Constant)
    is_inside = later.added.get(key._replace(is_inside=True), 0) > end
    return (is_inside or not is_item) and later.added.get(key, 0) > end


# -- what is called ----------------------------------------------------------------------------------------------------


def _reached(unit: Unit, statement: ast.stmt, later: Later) -> list[_Code]:
    found: dict[_Code, None] = {}
    seen: set[Key] = set()
    stack: list[ast.AST] = [statement]
    while stack:
        for node in ast.walk(stack.pop()):
            for code in _code_of(unit, later, node, seen, is_read=True):
                if code is not unit.node and code not in found and not _asks(unit, code):
                    found[code] = None
                    stack.append(code)
    return list(found)


def _asks(unit: Unit, code: _Code) -> bool:
    """Whether a function makes requests: it does not build."""
    names = {each.name for each in unit.requests}
    return any(isinstance(each, ast.Name) and each.id in names for each in ast.walk(code))


def _code_of(unit: Unit, later: Later, node: ast.AST, seen: set[Key], *, is_read: bool) -> Iterator[_Code]:
    """The functions that may be the value of a name or an attribute, or that it or its class have in them."""
    if not isinstance(node, ast.Name | ast.Attribute) or not isinstance(node.ctx, ast.Load):
        return
    if unit.kinds.symbol(node) is not None:
        return
    if isinstance(node, ast.Attribute):
        yield from later.methods.get(node.attr, [])
    else:
        yield from later.functions.get(node.id, [])
        yield from later.special(node.id)
        yield from later.special(node.id, "__init__") if is_read else []
    for key in later.keys(node) - seen:
        seen.add(key)
        for value in later.values.get(key, ()):
            yield from _code_in(unit, later, value, seen)


def _code_in(unit: Unit, later: Later, value: ast.expr, seen: set[Key]) -> Iterator[_Code]:
    """The functions that an expression gives, not those that it calls."""
    if isinstance(value, ast.Lambda):
        yield value
    elif isinstance(value, ast.Name | ast.Attribute):
        yield from _code_of(unit, later, value, seen, is_read=False)
    elif isinstance(value, ast.Call) and unit.kinds.symbol(value.func) is None:
        name = called_name(value) or ""
        makers = [*later.functions.get(name, []), *later.methods.get(name, [])]
        yield from (one for each in makers for one in ast.walk(each) if one is not each and isinstance(one, _Code))
        yield from later.special(name)
    if isinstance(value, ast.Dict | ast.List | ast.Tuple | ast.Set | ast.IfExp | ast.BoolOp | ast.Subscript):
        for each in ast.iter_child_nodes(value):
            if isinstance(each, ast.expr):
                yield from _code_in(unit, later, each, seen)
    elif isinstance(value, ast.Call) and called_name(value) == "map":  # which calls the function itself
        inner = [one for each in value.args if isinstance(each, ast.Lambda) for one in ast.walk(each.body)]
        yield from (each for each in inner if isinstance(each, ast.Lambda))
    elif isinstance(value, ast.ListComp | ast.GeneratorExp):
        yield from _code_in(unit, later, value.elt, seen)
    elif isinstance(value, ast.DictComp):
        yield from _code_in(unit, later, value.value, seen)
    elif isinstance(value, ast.Call) and called_name(value) in ("partial", "dict", "list", "tuple", "zip", "enumerate"):
        for each in [*value.args, *(one.value for one in value.keywords)]:
            yield from _code_in(unit, later, each, seen)


def _draws(unit: Unit, call: ast.Call, later: Later) -> bool:
    symbol = unit.kinds.symbol(call.func)
    if symbol is not None:
        return symbol.startswith(_RANDOM) and symbol not in _GENERATORS
    if not isinstance(call.func, ast.Attribute):
        return False
    stack, seen = [call.func.value], set[Key]()
    while stack:
        value = stack.pop()
        if isinstance(value, ast.Call) and unit.kinds.symbol(value.func) in _GENERATORS:
            return True
        keys = later.keys(value) - seen
        seen |= keys
        stack += [each for key in keys for each in later.values.get(key, ())]
    return False
