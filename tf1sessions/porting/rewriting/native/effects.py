"""Effects of a request besides what it fetches: a session runs single operations, a function whole statements."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..requests.request import NotPossible
from .kinds import CHANGING, Kinds, base_names
from .statements import Item
from .unit import Unit, UnitRequest

__all__ = ["ASSIGNMENTS", "check_fetched_effects", "is_effect"]

#: Functions of TensorFlow, and methods of variables, that assign a value.
ASSIGNMENTS = frozenset(["assign", "assign_add", "assign_sub", "count_up_to"])
_EFFECTS = ASSIGNMENTS | frozenset(
    "get_next minimize apply_gradients enqueue enqueue_many dequeue dequeue_many dequeue_up_to "
    "py_func numpy_function py_function write_file".split()
)
_TURNS = 2  # of a loop of unknown length: enough to tell an operation of each turn from that of the last
_MOST = 20  # parameters of a function that get the parts of a list
_DEPTH = 8  # of functions that call functions
_Scopes = Iterable[ast.withitem]


@dataclasses.dataclass(frozen=True)
class _Value:
    """The effects that a value has in a session, as numbers.

    Attributes:
        whole: Those of all of it.
        parts: Of a list, a tuple or a dict those of each part, by its index or key; None for a tensor.
        is_known: Whether the parts are all there are, in their places.
    """

    whole: frozenset[int] = frozenset()
    parts: tuple[tuple[object, _Value], ...] | None = None
    is_known: bool = True

    @property
    def values(self) -> list[_Value]:
        return [value for _, value in self.parts or ()]

    def surely(self) -> _Value:
        """Any one part: what all of them have."""
        if self.parts is None:
            return self
        return _Value(frozenset.intersection(*(each.whole for each in self.values)) if self.parts else frozenset())

    def part(self, key: object) -> _Value:
        found = [value for each, value in self.parts or () if each == key and type(each) is type(key)]
        return found[-1] if self.parts is not None and self.is_known and found else self.surely()

    def turn(self, number: int) -> _Value:
        """Return what a loop over it gives in one of its turns."""
        return self.values[number] if number < len(self.values) else self.surely()

    def with_effects(self, effects: frozenset[int]) -> _Value:
        if not effects:
            return self
        parts = self.parts and tuple((key, value.with_effects(effects)) for key, value in self.parts)
        return _Value(self.whole | effects, parts, self.is_known)


def _container(parts: Iterable[tuple[object, _Value]], is_known: bool = True) -> _Value:
    parts = tuple(parts)
    return _Value(frozenset().union(*(value.whole for _, value in parts)), parts, is_known)


def is_effect(name: str) -> bool:
    """Whether a function of TensorFlow, or a method of what it makes, has an effect besides its value."""
    return name in _EFFECTS or name.startswith("scatter_")


def _either(one: _Value, other: _Value) -> _Value:
    return one if one == other else _Value(one.whole | other.whole)


def check_fetched_effects(unit: Unit, request: UnitRequest, items: Sequence[Item]) -> None:
    """Refuse a request whose function would assign, draw the next element or train where a session does not.

    Args:
        unit: The graph.
        request: The request.
        items: The statements that its function has.

    Raises:
        NotPossible: It fetches a part of what a statement makes, and another part has an effect.
    """
    found = _Effects(unit.kinds)
    for item in items:
        scopes = [each for block in item.context for each in block.items]
        for each in scopes:
            made = len(found.calls)
            found.of(each.context_expr)
            if len(found.calls) > made:  # one that separation.py could not give a line of its own
                raise NotPossible(found.calls[-1], "A scope has an operation in its first line")
        found.statement(item.statement, scopes)
    fetched = frozenset().union(*(found.of(leaf).whole for leaf in request.leaves))
    for number, call in enumerate(found.calls):
        if number not in fetched:
            raise NotPossible(call, "A request fetches a part of a statement, and a function would do this besides")


class _Effects:
    """Goes through statements as TensorFlow 1 builds them, and notes which value has which effect.

    Args:
        kinds: Of the file.

    Attributes:
        calls: The calls that have an effect, each time one is made; their places are the numbers of the effects.
    """

    def __init__(self, kinds: Kinds) -> None:
        self.calls: list[ast.Call] = []
        self._kinds = kinds
        self._names: dict[str, _Value] = {}
        self._functions: dict[str, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda] = dict(kinds.functions)
        self._given: list[_Value] = []  # what the function that is gone through returns
        self._entered: list[ast.AST] = []  # the functions that call it, the outermost first

    # -- statements ------------------------------------------------------------------------------------------------

    def statement(self, node: ast.stmt, scopes: _Scopes = (), waits: frozenset[int] = frozenset()) -> None:
        """Go through a statement that is in scopes, and waits for effects."""
        waits = self._waits(scopes, waits)
        if isinstance(node, ast.FunctionDef):
            self._functions[node.name] = node
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            value = self._waiting(node.value, waits) if node.value is not None else _Value()
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                self._bind(target, value)
        elif isinstance(node, ast.AugAssign):
            self._bind(node.target, self._sum(self.of(node.target), self._waiting(node.value, waits)))
        elif isinstance(node, ast.Return):
            self._given.append(self._waiting(node.value, waits) if node.value is not None else _Value())
        elif isinstance(node, ast.For | ast.While):
            self._loop(node, waits)
        elif isinstance(node, ast.If):
            self._condition(node, waits)
        elif isinstance(node, ast.With):
            self._body(node.body, node.items, waits)
        elif isinstance(node, ast.Try):
            for body in (node.body, *(each.body for each in node.handlers), node.orelse, node.finalbody):
                self._body(body, (), waits)
        elif isinstance(node, ast.Expr):
            self._expression(node.value, waits)

    def _body(self, body: Iterable[ast.stmt], scopes: _Scopes, waits: frozenset[int]) -> None:
        waits = self._waits(scopes, waits)
        for each in body:
            self.statement(each, (), waits)

    def _waits(self, scopes: _Scopes, waits: frozenset[int]) -> frozenset[int]:
        for each in scopes:
            call = each.context_expr
            value = self.of(call)
            if isinstance(call, ast.Call) and self._kinds.symbol(call.func) == "tf.control_dependencies":
                is_none = bool(call.args) and isinstance(call.args[0], ast.Constant)
                waits = frozenset() if is_none else waits | value.whole
        return waits

    def _waiting(self, node: ast.expr, waits: frozenset[int]) -> _Value:
        """The value of an expression; only what makes operations waits."""
        value = self.of(node)
        makes = any(isinstance(each, ast.Call | ast.BinOp | ast.UnaryOp | ast.Compare) for each in ast.walk(node))
        return value.with_effects(waits) if makes else value

    def _loop(self, node: ast.For | ast.While, waits: frozenset[int]) -> None:
        values = self.of(node.iter) if isinstance(node, ast.For) else self.of(node.test)
        turns = len(values.values) if values.parts is not None and values.is_known else _TURNS
        for number in range(turns):
            if isinstance(node, ast.For):
                self._bind(node.target, values.turn(number))
            self._body(node.body, (), waits)
        self._body(node.orelse, (), waits)
        if values.parts is None or not values.is_known:  # how many parts its lists have is not known
            for name in {each.id for each in ast.walk(node) if isinstance(each, ast.Name)} & set(self._names):
                if self._names[name].parts is not None:
                    self._names[name] = dataclasses.replace(self._names[name], is_known=False)

    def _condition(self, node: ast.If, waits: frozenset[int]) -> None:
        before = dict(self._names)
        self._body(node.body, (), waits)
        after, self._names = self._names, before
        self._body(node.orelse, (), waits)
        for name, value in after.items():
            self._names[name] = _either(self._names.get(name, value), value)

    def _expression(self, node: ast.expr, waits: frozenset[int]) -> None:
        function = node.func if isinstance(node, ast.Call) else None
        if not isinstance(node, ast.Call) or not isinstance(function, ast.Attribute) or function.attr not in CHANGING:
            self._waiting(node, waits)
            return
        new = self._waiting(node.args[-1], waits) if node.args else _Value()
        for name in base_names(function.value):
            old = self._names.get(name, _Value())
            if function.attr == "append" and old.parts is not None:
                self._names[name] = _container([*old.parts, (len(old.parts), new)], old.is_known)
            else:
                self._names[name] = _container([*(old.parts or [(None, old)]), (None, new)], is_known=False)

    def _bind(self, target: ast.expr, value: _Value) -> None:
        if isinstance(target, ast.Name):
            self._names[target.id] = value
        elif isinstance(target, ast.Tuple | ast.List):
            self._unpack(target.elts, value)
        elif isinstance(target, ast.Subscript):
            for name in base_names(target):
                old = self._names.get(name, _Value())
                key = target.slice.value if isinstance(target.slice, ast.Constant) else target
                is_known = old.parts is not None and old.is_known and isinstance(target.slice, ast.Constant)
                self._names[name] = _container([*(old.parts or ()), (key, value)], is_known)
        else:
            for name in base_names(target):
                self._names[name] = self._names.get(name, _Value()).with_effects(value.whole)

    def _unpack(self, targets: Sequence[ast.expr], value: _Value) -> None:
        stars = [number for number, each in enumerate(targets) if isinstance(each, ast.Starred)]
        is_known = value.parts is not None and value.is_known and (bool(stars) or len(value.parts) == len(targets))
        for number, each in enumerate(targets):
            if not isinstance(each, ast.Starred):
                place = number - len(targets) if stars and number > stars[0] else number
                found = value.values[place] if is_known and -len(value.values) <= place < len(value.values) else None
                self._bind(each, found if found is not None else value.surely())
            else:
                end = len(value.values) - (len(targets) - number - 1)
                rest = value.values[number:end] if is_known else []
                self._bind(each.value, _container(enumerate(rest)) if is_known else value)

    # -- expressions -----------------------------------------------------------------------------------------------

    def of(self, node: ast.AST) -> _Value:
        """The effects of an expression's value; notes those that are made in it."""
        if isinstance(node, ast.Name):
            if node.id in self._names or node.id not in self._functions:
                return self._names.get(node.id, _Value())
            return self._all_of(node.id)
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, ast.List | ast.Tuple | ast.Set):
            is_known = not any(isinstance(each, ast.Starred) for each in node.elts)
            return _container(enumerate([self.of(each) for each in node.elts]), is_known)
        if isinstance(node, ast.Dict):
            keys = [each.value if isinstance(each, ast.Constant) else each for each in node.keys]
            is_known = all(isinstance(each, ast.Constant) for each in node.keys)
            return _container(zip(keys, [self.of(each) for each in node.values], strict=True), is_known)
        if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp):
            return self._comprehension(node)
        if isinstance(node, ast.Subscript):
            return self._part(node)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return self._sum(self.of(node.left), self.of(node.right))
        if isinstance(node, ast.IfExp):
            return _either(self.of(node.body), self.of(node.orelse)).with_effects(self.of(node.test).whole)
        if isinstance(node, ast.Lambda):
            return self.of(node.body)
        return _Value(frozenset().union(*(self.of(each).whole for each in ast.iter_child_nodes(node))))

    def _sum(self, one: _Value, other: _Value) -> _Value:
        if one.parts is None or other.parts is None:
            return _Value(one.whole | other.whole)
        return _container(enumerate([*one.values, *other.values]), one.is_known and other.is_known)

    def _part(self, node: ast.Subscript) -> _Value:
        value = self.of(node.value)
        key = node.slice
        if isinstance(key, ast.UnaryOp) and isinstance(key.op, ast.USub) and isinstance(key.operand, ast.Constant):
            number = key.operand.value
            if isinstance(number, int) and value.is_known and 0 < number <= len(value.values):
                return value.values[-number]
        if isinstance(key, ast.Constant):
            return value.part(key.value)
        effects = self.of(key).whole
        if isinstance(key, ast.Slice) and value.parts is not None and value.is_known:
            bounds = [getattr(each, "value", each) for each in (key.lower, key.upper, key.step)]
            numbers: list[Any] = [each for each in bounds if each is None or isinstance(each, int)]
            if len(numbers) == len(bounds):
                return _container(enumerate(value.values[slice(*numbers)]))
        return value.surely().with_effects(effects)

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> _Value:
        before = dict(self._names)
        first = node.generators[0]
        values = self.of(first.iter)
        is_known = values.parts is not None and values.is_known and len(node.generators) == 1 and not first.ifs
        parts: list[tuple[object, _Value]] = []
        for number in range(len(values.values) if is_known else _TURNS):
            self._bind(first.target, values.turn(number))
            for each in node.generators[1:]:
                self._bind(each.target, self.of(each.iter).turn(number))
            element = node.value if isinstance(node, ast.DictComp) else node.elt
            parts.append((number, self.of(element)))
        self._names = before
        return _container(parts, is_known and not isinstance(node, ast.DictComp))

    # -- calls -----------------------------------------------------------------------------------------------------

    def _call(self, node: ast.Call) -> _Value:
        given = [self.of(each.value if isinstance(each, ast.Starred) else each) for each in node.args]
        named = {each.arg: self.of(each.value) for each in node.keywords}
        symbol = self._kinds.symbol(node.func)
        if isinstance(node.func, ast.Name) and symbol is None:
            function = self._functions.get(node.func.id)
            if function is not None and self._may_enter(function):
                return self._called(function, _spread(node.args, given), named)
            if node.func.id in _BUILTINS and given:
                return self._builtin(node, given)
        effects = frozenset().union(*(each.whole for each in [*given, *named.values()]))
        name = symbol.rpartition(".")[2] if symbol else getattr(node.func, "attr", "")
        if symbol is None and isinstance(node.func, ast.Attribute):
            effects |= self.of(node.func.value).whole
        if is_effect(name):
            self.calls.append(node)
            effects |= {len(self.calls) - 1}
        return _Value(effects)

    def _builtin(self, node: ast.Call, given: list[_Value]) -> _Value:
        """The value of a function of Python that gives the parts of others."""
        name = getattr(node.func, "id", "")
        if name in ("list", "tuple"):
            return given[0]
        if name == "map":
            again = [self.of(node.args[0]) for _ in range(_TURNS - 1)]
            return _container(enumerate([given[0], *again]), is_known=False).with_effects(
                frozenset().union(*(each.surely().whole for each in given[1:]))
            )
        known = [each for each in given if each.parts is not None]
        turns = len(known[0].values) if known and all(each.is_known for each in known) else _TURNS
        rows = [[each.turn(number) for each in given] for number in range(turns)]
        rows = [[_Value(), *row] for row in rows] if name == "enumerate" else rows
        parts = [_container(enumerate(row)) for row in rows]
        if name == "reversed":
            parts = [row.values[0] for row in parts]
        return _container(enumerate(parts), name != "reversed" and len(known) == len(given))

    def _may_enter(self, function: ast.AST) -> bool:
        return function not in self._entered and len(self._entered) < _DEPTH

    def _all_of(self, name: str) -> _Value:
        """A function that TensorFlow calls, for a condition or a loop: all that it does is done by what calls it."""
        start = len(self.calls)
        if self._may_enter(self._functions[name]):
            self._called(self._functions[name], [], {})
        return _Value(frozenset(range(start, len(self.calls))))

    def _called(
        self,
        function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda,
        given: Sequence[_Value],
        named: Mapping[str | None, _Value],
    ) -> _Value:
        names, outer = self._names, self._given
        self._names = {**names, **dict(_arguments(function.args, given, named))}
        self._given = []
        self._entered.append(function)
        try:
            if isinstance(function, ast.Lambda):
                return self.of(function.body)
            self._body(function.body, (), frozenset())
            found = self._given or [_Value()]
            value = found[0]
            for each in found[1:]:
                value = _either(value, each)
            return value
        finally:
            self._names, self._given = names, outer
            self._entered.pop()


def _spread(nodes: Sequence[ast.expr], given: Sequence[_Value]) -> list[_Value]:
    """Return the values that parameters get: of a list with a star its parts, of which an unknown one may be any."""
    found: list[_Value] = []
    for node, value in zip(nodes, given, strict=True):
        if not isinstance(node, ast.Starred):
            found.append(value)
        elif value.parts is not None and value.is_known:
            found += value.values
        else:
            found += [value.surely()] * _MOST
    return found


_BUILTINS = frozenset(["list", "tuple", "map", "zip", "enumerate", "reversed"])


def _arguments(
    given_names: ast.arguments, given: Sequence[_Value], named: Mapping[str | None, _Value]
) -> Iterator[tuple[str, _Value]]:
    names = [each.arg for each in (*given_names.posonlyargs, *given_names.args)]
    yield from ((name, _Value()) for name in (*names, *(each.arg for each in given_names.kwonlyargs)))
    yield from zip(names, given, strict=False)
    if given_names.vararg is not None:
        yield given_names.vararg.arg, _container(enumerate(given[len(names) :]))
    yield from ((name, value) for name, value in named.items() if name is not None)
