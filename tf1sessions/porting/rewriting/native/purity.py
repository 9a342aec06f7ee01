"""Effects of graph code besides tensors: in TensorFlow 1 they happen once, in a tf.function at each trace."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from ..requests.graph_code import own_nodes
from ..requests.request import NotPossible
from .kinds import CHANGING, ITERATORS, Kind, Kinds, Scope, base_names, changes_object, names_read, sets_attribute
from .own_nodes import changed_in_place
from .statements import Item, kind_of
from .training import METHODS
from .unit import PLACEHOLDERS, Unit

__all__ = ["check_effects", "free_names", "is_changed_later"]

_RANDOM = ("np.random.", "random.")
_GENERATORS = frozenset(["np.random.RandomState", "np.random.default_rng", "random.Random"])
#: Decorators that keep what a function gives: a tensor, which another function of TensorFlow 2 cannot use.
_CACHES = frozenset(["functools.cache", "functools.lru_cache"])


def check_effects(unit: Unit, moved: Sequence[Item]) -> None:
    """Refuse what would not be done once.

    Raises:
        NotPossible: A statement of the graph, or a function that it calls, draws random numbers of Python or NumPy, or
            a function changes what it does not own.
    """
    generators = set(_generators(unit.kinds))
    for item in moved:
        functions = called_functions(unit, item.statement)
        plain = [each for each in functions if not unit.modules.needs_class(each.name)]
        for node in [item.statement, *plain]:
            for call in ast.walk(node):
                if isinstance(call, ast.Call) and _draws(unit.kinds, call, generators):
                    what = "Random numbers of Python or NumPy are drawn while the graph is built, and are a part of it"
                    raise NotPossible(call, what)
        for function in functions:
            _check_calls(unit, function)
            for each in function.decorator_list:
                if unit.kinds.symbol(each.func if isinstance(each, ast.Call) else each) in _CACHES:
                    raise NotPossible(each, f"{function.name}() keeps what it gives, which is a part of the graph")
            for changed, name in _changes(function):
                raise NotPossible(changed, f"{function.name}() changes {name!r} while the graph is built")
    _check_kept(unit)


def _check_kept(unit: Unit) -> None:
    """Refuse functions that put a part of the graph into something that is not theirs: into a list of the module."""
    names = (each for each in ast.walk(unit.file.tree) if isinstance(each, ast.Name | ast.Attribute))
    read = {each.id if isinstance(each, ast.Name) else each.attr for each in names if isinstance(each.ctx, ast.Load)}
    for function in ast.walk(unit.file.tree):
        if not isinstance(function, ast.FunctionDef) or function.name not in read or _makes_graph(unit, function):
            continue
        scope = dict(unit.scope) | dict.fromkeys(_parameters(function), Kind.STATIC)
        for _ in range(2):  # what a loop binds may be read above
            for statement in function.body:
                unit.kinds.run(statement, scope)
        for changed in [node for node, _ in _changes(function)] + list(_calls_that_keep(unit, function)):
            if max(_kinds_put(unit, changed, scope), default=Kind.STATIC) >= Kind.VARIABLE:
                what = f"{function.name}() puts a part of the graph somewhere, and does not return it"
                raise NotPossible(changed, what)


def _calls_that_keep(unit: Unit, function: ast.FunctionDef) -> Iterator[ast.Call]:
    """Yield the calls of functions that put something into what is neither theirs nor given to them."""
    for node in own_nodes(function):
        called = unit.kinds.functions.get(node.func.id) if _is_plain_call(node) else None  # type: ignore[attr-defined]
        if isinstance(called, ast.FunctionDef) and {name for _, name in _changes(called)} - _parameters(called):
            yield node  # type: ignore[misc]


def _is_plain_call(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name)


def _parameters(function: ast.FunctionDef) -> set[str]:
    return {each.arg for each in ast.walk(function.args) if isinstance(each, ast.arg)}


def _kinds_put(unit: Unit, changed: ast.AST, scope: Scope) -> Iterator[Kind]:
    """The kinds of the values that a node of :func:`_changes` puts somewhere."""
    if isinstance(changed, ast.Global | ast.Nonlocal):
        yield from (scope.get(name, Kind.STATIC) for name in changed.names)
    elif isinstance(changed, ast.Call):
        yield from (unit.kinds.of(each, scope) for each in [*changed.args, *(one.value for one in changed.keywords)])
    else:
        while not isinstance(changed, ast.stmt):
            changed = unit.file.parents[changed]
        yield kind_of(unit.kinds, changed, scope)


def _makes_graph(unit: Unit, function: ast.FunctionDef) -> bool:
    """Whether a function has a LegacyGraph of its own."""
    made = [use.call for use in unit.file.uses if use.symbol == "tf1sessions.porting.LegacyGraph"]
    return any(function in unit.file.around(each) for each in made if each is not None)


def _check_calls(unit: Unit, function: ast.FunctionDef) -> None:
    """Refuse what has a form in the function of a request alone: see inlining.py for functions that are called once."""
    for call in ast.walk(function):
        if isinstance(call, ast.Call):
            is_step = isinstance(call.func, ast.Attribute) and call.func.attr in (*METHODS, *ITERATORS)
            if (is_step and unit.kinds.symbol(call.func) is None) or unit.kinds.symbol(call.func) in PLACEHOLDERS:
                made = "a placeholder, an iterator or a training step"
                what = f"{function.name}() makes {made}, and is no function that is called once"
                raise NotPossible(call, what)


def called_functions(unit: Unit, statement: ast.stmt) -> list[ast.FunctionDef]:
    """The functions of the program that a statement calls, itself or by others."""
    found: dict[ast.FunctionDef, None] = {}
    stack: list[ast.AST] = [statement]
    while stack:
        for node in ast.walk(stack.pop()):
            function = unit.kinds.functions.get(node.id) if isinstance(node, ast.Name) else None
            if isinstance(function, ast.FunctionDef) and function not in found and function is not unit.node:
                found[function] = None
                stack.append(function)
    return list(found)


def free_names(unit: Unit, statement: ast.stmt) -> set[str]:
    """The names of the module that the functions read which a statement calls."""
    return set().union(*map(names_read, called_functions(unit, statement)))


def _draws(kinds: Kinds, call: ast.Call, generators: set[str]) -> bool:
    symbol = kinds.symbol(call.func)
    if symbol is not None:
        return symbol.startswith(_RANDOM) and symbol not in _GENERATORS
    return isinstance(call.func, ast.Attribute) and bool(base_names(call.func) & generators)


def _generators(kinds: Kinds) -> Iterator[str]:
    """The names of random generators of Python and NumPy."""
    for node in ast.walk(kinds.file.tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            if kinds.symbol(node.value.func) in _GENERATORS:
                yield from (each.id for each in node.targets if isinstance(each, ast.Name))


def _changes(function: ast.FunctionDef) -> Iterator[tuple[ast.AST, str]]:
    """Yield the places at which a function changes values that it did not make: (node, name)."""
    nodes = list(own_nodes(function))
    own = {each.id for each in nodes if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    for node in nodes:
        if isinstance(node, ast.Global | ast.Nonlocal):
            yield node, node.names[0]
        elif isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            yield from ((node, name) for name in sorted(base_names(node) - own - {"self"}))
        elif isinstance(node, ast.Call) and (sets_attribute(node) or changes_object(node)):
            target = node.args[0] if sets_attribute(node) else node.func
            yield from ((node, name) for name in sorted(_first_name(target) - own - {"self"}))
        else:
            yield from ((node, name) for name in sorted(changed_in_place(node) - own))


def _first_name(node: ast.expr) -> set[str]:
    """The name that ``name.setdefault(key, []).append`` begins with."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return {node.id} if isinstance(node, ast.Name) else set()


def is_changed_later(unit: Unit, item: Item, name: str, moved: Sequence[Item]) -> bool:
    """Whether a value that a statement of the graph reads is changed in place behind it, by what requests do not do."""
    end = item.statement.end_lineno or 0
    changes = [node for node in unit.own.changes.get(name, ()) if getattr(node, "lineno", 0) > end]
    if changes:
        requested = {id(node) for each in moved for node in ast.walk(each.statement)}
        changes = [node for node in changes if id(node) not in requested]
    if all(_adds(node) for node in changes):  # what is added does not matter to item 0
        reads = [n for n in ast.walk(item.statement) if isinstance(n, ast.Name) and n.id == name]
        return bool(changes) and not all(_reads_one(unit, node) for node in reads)
    return True


def _adds(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CHANGING


def _reads_one(unit: Unit, node: ast.Name) -> bool:
    parent = unit.file.parents[node]
    if not isinstance(parent, ast.Subscript) or parent.value is not node:
        return False
    return isinstance(parent.slice, ast.Name) or (
        isinstance(parent.slice, ast.Constant) and isinstance(parent.slice.value, int | str)
    )
