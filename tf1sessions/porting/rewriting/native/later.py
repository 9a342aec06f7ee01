"""Changes behind the code that builds a graph, by all the names that a value may have.

A value is known by keys: a name with the function that binds it (None for the module), or an attribute of whatever
object (``.gain``). What a container has in it is a key of its own, so that ``d[0]["a"] = 1`` changes what ``d`` was
made of and ``d[0] = 1`` does not. Where a key is changed is the line behind which that may be done: for the body of a
function the last one on which it may be called.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ..requests.graph_code import called_name, own_nodes
from . import foreign
from .kinds import changes_object
from .unit import Unit

__all__ = ["ANY", "Key", "Later"]

Function = ast.FunctionDef | ast.AsyncFunctionDef
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
#: Methods that change their object, besides those of ``changes_object()``.
_MUTATORS = frozenset(
    "add appendleft byteswap difference_update extendleft intersection_update itemset move_to_end partition popleft "
    "put resize rotate setfield subtract symmetric_difference_update __delitem__ __iadd__ __setitem__".split()
)
#: Methods that change their object, where they are not called at once: ``add = values.append``.
_KEPT = _MUTATORS | frozenset(
    "append clear discard extend fill insert pop popitem remove reverse setdefault sort update".split()
)
#: Functions that change their first argument.
_OF_ARGUMENT = frozenset(
    "copyto delitem fill_diagonal heapify heappop heappush heappushpop heapreplace iadd insort insort_left "
    "insort_right place put_along_axis putmask setitem shuffle".split()
)
#: Functions and methods that give the values that they are given, or of which they are.
_PASSING = frozenset(
    "asarray enumerate filter get items iter nditer ravel reshape reversed squeeze transpose values view zip".split()
)
#: Attributes of an array that are another form of it.
_PARTS = frozenset(["T", "flat", "real"])
#: Any attribute.
ANY = "*"


class Key(NamedTuple):
    """A name or an attribute.

    Attributes:
        scope: The function that binds the name; None for the module and for attributes.
        name: It; that of an attribute has a dot before it.
        is_inside: Whether it is what the value has in it.
    """

    scope: ast.AST | None
    name: str
    is_inside: bool = False


class Later:
    """The changes of a program behind the code of a graph.

    Args:
        unit: The graph.
        moved: The nodes of statements that requests compute, which change nothing by then.

    Attributes:
        bound: Key of a name or an attribute -> the lines on which it is bound.
        added: Key -> the last line on which something is added at the end of its value.
        changed: Key -> the last line on which its value is changed in place otherwise.
        handed: Key -> the last line on which code that is not known gets its value, and may change it.
        values: Key -> the expressions that it, or what it has in it, may be.
        functions: Name -> the functions of this name that are no methods.
        methods: Name -> the methods.
        classes: Name -> the classes.
    """

    def __init__(self, unit: Unit, moved: set[int]) -> None:
        self._unit, self._moved = unit, moved
        self._own: dict[ast.AST, set[str]] = {}
        self._returns: dict[Function, tuple[set[Key], set[Key]]] = {}
        self.functions: dict[str, list[Function]] = {}
        self.methods: dict[str, list[Function]] = {}
        self.classes: dict[str, list[ast.ClassDef]] = {}
        for node in ast.walk(unit.file.tree):
            if isinstance(node, ast.ClassDef):
                self.classes.setdefault(node.name, []).append(node)
            elif isinstance(node, Function):
                is_method = isinstance(unit.file.parents[node], ast.ClassDef)
                (self.methods if is_method else self.functions).setdefault(node.name, []).append(node)
        self.values: dict[Key, list[ast.expr]] = {}
        self._same: dict[Key, set[Key]] = {}
        self._given: dict[Key, set[Key]] = {}  # parameter -> what is given for it
        self._taken: dict[Key, set[Key]] = {}
        nodes = list(ast.walk(unit.file.tree))
        for node in sorted(nodes, key=lambda each: isinstance(each, ast.Call)):  # what may be called comes first
            self._link(node)
        self.bound: dict[Key, list[float]] = {}
        added: dict[Key, float] = {}
        changed: dict[Key, float] = {}
        handed: dict[Key, float] = {}
        for node, line in self._run():
            for key in self._bound_by(node):
                self.bound.setdefault(key, []).append(line)
            keys, adds = self._changed_by(node)
            last = math.inf if self._is_kept(node) else line
            for found, by in ((added if adds else changed, keys), (handed, self._handed_by(node))):
                found |= {key: max(last, found.get(key, last)) for key in by}
        self.added, self.changed, self.handed = map(self._everywhere, (added, changed, handed))

    def effects(self, code: ast.AST, node: ast.AST) -> set[Key]:
        """Values that a node changes, and that the function which it is in does not own."""
        found = {*self._bound_by(node), *self._changed_by(node)[0]}
        if isinstance(node, ast.Call) and called_name(node) == "next":
            found |= set().union(*map(self.keys, node.args[:1]))
        if getattr(code, "name", "") == "__init__":
            found = {key for key in found if not key.name.startswith(".")}
        return {key for key in found if key.scope is None or all(each is not key.scope for each in ast.walk(code))}

    # -- keys ------------------------------------------------------------------------------------------------------

    def key(self, node: ast.AST, name: str) -> Key:
        """The key of a name where a node is."""
        inner = node
        for each in self._unit.file.around(node):
            is_default = isinstance(inner, ast.arguments)  # which the code around a function computes
            if isinstance(each, (*_SCOPES, *_COMPREHENSIONS)) and not is_default and name in self._own_names(each):
                return Key(each, name)
            inner = each
        return Key(None, name)

    def _own_names(self, scope: ast.AST) -> set[str]:
        if scope not in self._own:
            if isinstance(scope, _COMPREHENSIONS):
                found = {name for each in scope.generators for name in _names(each.target)}
            else:
                nodes = list(own_nodes(scope))
                inner = [one for each in nodes for one in ast.iter_child_nodes(each)]
                found = {each.arg for each in nodes if isinstance(each, ast.arg)}
                found |= {name for each in inner for name in _binds(each) if not self._is_of_comprehension(each)}
                for each in nodes:
                    found -= {*each.names} if isinstance(each, ast.Global | ast.Nonlocal) else set()
            self._own[scope] = found
        return self._own[scope]

    def _is_of_comprehension(self, node: ast.AST) -> bool:
        for each in self._unit.file.around(node):
            if isinstance(each, ast.comprehension):
                return any(one is node for one in ast.walk(each.target))
            if isinstance(each, ast.stmt):
                return False
        return False

    def keys(self, node: ast.AST | None) -> set[Key]:
        """The keys of what may be the value of an expression."""
        if isinstance(node, ast.Name):
            return {self.key(node, node.id)}
        if isinstance(node, ast.Attribute):
            part = self.keys(node.value) if node.attr in _PARTS else set()
            return {Key(None, f".{node.attr}"), *part} if self._unit.kinds.symbol(node) is None else set()
        if isinstance(node, ast.Subscript):
            found = self.keys(node.value) | self._elements(node.value)
            return found if isinstance(node.slice, ast.Slice) else _inside(found)
        if isinstance(node, ast.Starred | ast.NamedExpr):
            return self.keys(node.value)
        if isinstance(node, ast.IfExp):
            return self.keys(node.body) | self.keys(node.orelse)
        if isinstance(node, ast.BoolOp):
            return set().union(*map(self.keys, node.values))
        if isinstance(node, ast.Call) and called_name(node) in _PASSING:
            passed = [*node.args, *([node.func.value] if isinstance(node.func, ast.Attribute) else [])]
            return set().union(*(self.keys(each) | self._elements(each) for each in passed))
        return set().union(*(keys for keys, _ in map(self._returned, self._called(node))))

    def _returned(self, function: Function) -> tuple[set[Key], set[Key]]:
        """The keys of what a function returns, and of what that has in it."""
        if function not in self._returns:
            self._returns[function] = set(), set()  # of a function that calls itself
            values = [each.value for each in own_nodes(function) if isinstance(each, ast.Return)]
            elements = set().union(*map(self._elements, values))
            self._returns[function] = set().union(*map(self.keys, values)), elements
        return self._returns[function]

    def _elements(self, node: ast.AST | None) -> set[Key]:
        """The keys of what a new container has in it."""
        given = _elements(node)
        if isinstance(node, ast.Call) and self._is_record(node.func):
            given = [*node.args, *(each.value for each in node.keywords)]
        found = set().union(*map(self.keys, given))
        return found.union(*(elements for _, elements in map(self._returned, self._called(node))))

    def _is_record(self, called: ast.expr) -> bool:
        """Whether an expression is a class whose objects have what they are made of: a namedtuple."""
        values = [value for key in self.keys(called) for value in self.values.get(key, ())]
        is_class = (
            isinstance(called, ast.Name) and called.id in self.classes and not self.special(called.id, "__init__")
        )
        return is_class or any(isinstance(each, ast.Call) and called_name(each) == "namedtuple" for each in values)

    # -- how values are handed on ----------------------------------------------------------------------------------

    def _link(self, node: ast.AST) -> None:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                self._assign(target, node.value)
        elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and node.value is not None:
            self._assign(node.target, node.value)
        elif isinstance(node, ast.For | ast.comprehension):
            self._iterate(node.target, node.iter)
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            self._assign(node.optional_vars, node.context_expr)
        elif isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute) and changes_object(node):
                for given in [*node.args, *(each.value for each in node.keywords)]:
                    self._flow(_inside(self.keys(node.func.value)), given, self._same, self._same)
            for function in [*self._called(node), *self._lambdas(node.func)]:
                self._give(function, node.args, node.keywords)
            for method in self.methods.get(node.func.attr, []) if isinstance(node.func, ast.Attribute) else []:
                own = [Key(method, each.arg) for each in method.args.args[:1]]
                self._flow(own, node.func.value, self._given, self._taken)  # type: ignore[attr-defined]
            if called_name(node) == "partial" and node.args and isinstance(node.args[0], ast.Name):
                for function in self.functions.get(node.args[0].id, []):
                    self._give(function, node.args[1:], node.keywords)
            else:
                self._hand_on(node)
        elif isinstance(node, (*_SCOPES,)):
            arguments = node.args
            defaults = [None] * (len(arguments.posonlyargs) + len(arguments.args) - len(arguments.defaults))
            pairs = [*zip([*arguments.posonlyargs, *arguments.args], [*defaults, *arguments.defaults], strict=True)]
            for argument, default in [*pairs, *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)]:
                if default is not None:
                    self._flow([Key(node, argument.arg)], default, self._given, self._taken)

    def _hand_on(self, call: ast.Call) -> None:
        """A call that is given a function, as ``map(f, values)``, may give that any of its arguments."""
        given = [*call.args, *(each.value for each in call.keywords)]
        for function in [one for each in given for one in self._functions_of(each)]:
            names = [each.arg for each in [*function.args.posonlyargs, *function.args.args]]
            for name in names:
                for value in [each for each in given if not isinstance(each, ast.Lambda)]:
                    keys = self.keys(value)
                    for other in keys | _inside(keys) | self._elements(value):
                        self._join(Key(function, name), other, self._given, self._taken)

    def _functions_of(self, node: ast.expr) -> list[Function | ast.Lambda]:
        if isinstance(node, ast.Lambda):
            return [node]
        if isinstance(node, ast.Name):
            return [*self.functions.get(node.id, [])]
        return [*self.methods.get(node.attr, [])] if isinstance(node, ast.Attribute) else []

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Tuple | ast.List):
            is_same = isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts)
            for number, each in enumerate(target.elts):
                if is_same:
                    self._assign(each, value.elts[number])  # type: ignore[attr-defined]
                else:
                    self._iterate(each, value)
            return
        target = target.value if isinstance(target, ast.Starred) else target
        self._flow(self.keys(target), value, self._same, self._same)

    def _iterate(self, target: ast.expr, value: ast.expr) -> None:
        """Bind a target to what a value has in it."""
        targets = [each for each in ast.walk(target) if isinstance(each, ast.Name | ast.Attribute)]
        for key in set().union(*map(self.keys, targets)):
            self.values.setdefault(key, []).append(value)
            for other in _inside(self.keys(value)) | self._elements(value):
                self._join(key, other, self._same, self._same)

    def _flow(
        self, keys: Iterable[Key], value: ast.expr, back: dict[Key, set[Key]], forth: dict[Key, set[Key]]
    ) -> None:
        """Note what a key may be: a change of one is a change of the other."""
        for key in keys:
            self.values.setdefault(key._replace(is_inside=False), []).append(value)
            for other in self.keys(value):
                self._join(key, other, back, forth)
                self._join(_of_inside(key), _of_inside(other), back, forth)
            for other in self._elements(value):
                self._join(_of_inside(key), other, back, forth)

    def _join(self, key: Key, other: Key, back: dict[Key, set[Key]], forth: dict[Key, set[Key]]) -> None:
        back.setdefault(key, set()).add(other)
        forth.setdefault(other, set()).add(key)

    def _called(self, call: ast.AST | None) -> list[Function]:
        """The functions of the program that a call may call."""
        if not isinstance(call, ast.Call) or self._unit.kinds.symbol(call.func) is not None:
            return []
        if isinstance(call.func, ast.Attribute):
            return self.methods.get(call.func.attr, [])
        name = call.func.id if isinstance(call.func, ast.Name) else ""
        return [*self.functions.get(name, []), *self.special(name, "__init__")]

    def special(self, name: str, *methods: str) -> list[Function]:
        """Methods of a class by their names; without names those of operators and calls, but not ``__init__()``."""
        classes = [*self.classes.get(name, [])]
        for each in classes:  # with those that it is made of
            bases = [one for base in each.bases for one in self.classes.get(getattr(base, "id", ""), [])]
            classes += [one for one in bases if one not in classes]
        found = [one for each in classes for one in each.body if isinstance(one, Function)]
        if methods:
            return [each for each in found if each.name in methods]
        return [each for each in found if each.name.startswith("__") and each.name != "__init__"]

    def _lambdas(self, node: ast.AST) -> list[ast.Lambda]:
        """The lambdas that a name, an attribute or a part of a container may be."""
        values = [each for key in self.keys(node) for each in self.values.get(key._replace(is_inside=False), ())]
        return [each for each in values if isinstance(each, ast.Lambda)]

    def _give(self, function: Function | ast.Lambda, args: list[ast.expr], keywords: list[ast.keyword]) -> None:
        names = [each.arg for each in [*function.args.posonlyargs, *function.args.args]]
        decorators = {ast.unparse(each) for each in getattr(function, "decorator_list", ())}
        if isinstance(self._unit.file.parents[function], ast.ClassDef) and "staticmethod" not in decorators:
            names = names[1:]
        starred = [each.value for each in args if isinstance(each, ast.Starred)]
        for value in [*starred, *(each.value for each in keywords if each.arg is None)]:
            for name in names:
                for other in _inside(self.keys(value)) | self._elements(value):
                    self._join(Key(function, name), other, self._given, self._taken)
        if function.args.vararg is not None:
            for value in args[len(names) :]:
                self._flow(_inside([Key(function, function.args.vararg.arg)]), value, self._given, self._taken)
        given = [*zip(names, args, strict=False), *((each.arg or "", each.value) for each in keywords)]
        for name, value in given:
            self._flow([Key(function, name)], value, self._given, self._taken)

    # -- when nodes run --------------------------------------------------------------------------------------------

    def _run(self) -> Iterator[tuple[ast.AST, float]]:
        """The nodes that run outside of requests, each with the last line on which it may run."""
        unit = self._unit
        found: dict[ast.AST, float] = {}
        stack: list[tuple[ast.AST, float]] = []
        nodes = _own(unit.file.tree if isinstance(unit.node, ast.If) else unit.node)
        stack += [(each, getattr(each, "lineno", 0)) for each in nodes]
        area = unit.file.parents.get(unit.node)
        if isinstance(area, ast.ClassDef):
            stack += self._run_with(area)
        stack.sort(key=lambda each: each[1])
        while stack:
            node, line = stack.pop()
            if id(node) in self._moved or found.get(node, -2.0) >= line:
                continue
            found[node] = line
            for function in self._mentioned(node):
                if function is not unit.node:
                    inner = [each for each in ast.walk(function) if each is not function]
                    is_generator = any(isinstance(each, ast.Yield | ast.YieldFrom) for each in inner)
                    stack += [(each, math.inf if is_generator else line) for each in inner]
        yield from found.items()

    def _mentioned(self, node: ast.AST) -> list[Function | ast.Lambda]:
        if isinstance(node, ast.Attribute):
            known = self._unit.kinds.symbol(node) is not None
            return [] if known else [*self.methods.get(node.attr, []), *self._lambdas(node)]
        if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
            return []
        special = [*self.special(node.id, "__init__"), *self.special(node.id)]
        return [*self.functions.get(node.id, []), *special, *self._lambdas(node)]

    def _run_with(self, area: ast.ClassDef) -> Iterator[tuple[ast.AST, float]]:
        """Code that runs once a class has made its object: behind the first place that may do so."""
        makers = {area.name}
        size = 0
        functions = [each for found in self.functions.values() for each in found]
        while size != (size := len(makers)):
            for each in functions:
                if each.name not in makers and makers & _names(each):
                    makers.add(each.name)
                    first = min(_line(one) for one in ast.walk(each) if isinstance(one, ast.Name) and one.id in makers)
                    yield from ((one, math.inf) for one in ast.walk(each) if _line(one) > first)
        own = _own(self._unit.file.tree)
        lines = [_line(each) for each in own if isinstance(each, ast.Name) and each.id in makers]
        first = min(lines, default=0)
        yield from ((each, math.inf if _line(each) > first else -1.0) for each in own)

    # -- what nodes change -----------------------------------------------------------------------------------------

    def _bound_by(self, node: ast.AST) -> Iterator[Key]:
        for name in _binds(node):
            if not self._is_of_comprehension(node):
                yield self.key(node, name)
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            yield Key(None, f".{node.attr}")
        elif isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
            yield from self._bound_in(node.value, [getattr(node.slice, "value", ANY)])
        elif isinstance(node, ast.Call):
            called = called_name(node)
            if called in ("setattr", "delattr", "__setattr__"):
                texts = [each.value for each in node.args if isinstance(each, ast.Constant)]
                yield Key(None, f".{next((each for each in texts if isinstance(each, str)), ANY)}")
            elif called == "update" and isinstance(node.func, ast.Attribute):
                names = [each.arg or ANY for each in node.keywords]
                yield from self._bound_in(node.func.value, [*names, *(ANY for _ in node.args)])

    def _bound_in(self, namespace: ast.expr, names: Iterable[object]) -> Iterator[Key]:
        """Names that are bound by the dict that has them: ``globals()``, ``vars(config)``, ``config.__dict__``."""
        called = called_name(namespace) if isinstance(namespace, ast.Call) else None
        is_object = isinstance(namespace, ast.Attribute) and namespace.attr == "__dict__"
        if called in ("globals", "vars", "locals") or is_object:
            is_module = isinstance(namespace, ast.Call) and not namespace.args
            yield from (Key(None, f"{'' if is_module else '.'}{name}") for name in names)

    def _changed_by(self, node: ast.AST) -> tuple[set[Key], bool]:
        """Values that a node changes in place, and whether it only adds at the end."""
        if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
            return self.keys(node.value), False
        if isinstance(node, ast.AugAssign) and not isinstance(node.target, ast.Subscript):
            return ({key for key in self.keys(node.target) if not self._is_number(key)}, False)
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            if isinstance(node.value, ast.Subscript) and self._unit.kinds.symbol(node.value.value) == "sys.modules":
                return {Key(None, node.attr)}, False
            return (self.keys(node.value) if node.attr in _PARTS else set()), False
        if isinstance(node, ast.Attribute) and self._unit.kinds.symbol(node) is None:
            call = self._unit.file.parents[node]
            is_called = isinstance(call, ast.Call) and call.func is node
            is_of_type = isinstance(node.value, ast.Name) and node.value.id in ("list", "dict", "set")
            if is_of_type and is_called and node.attr in _KEPT:
                return set().union(*map(self.keys, call.args[:1])), False  # type: ignore[attr-defined]
            if node.attr in _MUTATORS or (changes_object(call) if is_called else node.attr in _KEPT):  # type: ignore[arg-type]
                return self.keys(node.value), is_called and node.attr in ("append", "extend")
        if isinstance(node, ast.Call):
            given = node.args[:1] if called_name(node) in _OF_ARGUMENT or self._puts(node) else []
            symbol = self._unit.kinds.symbol(node.func) or ""
            given = given or (node.args[:1] if symbol.startswith("np.ndarray.") and called_name(node) in _KEPT else [])
            given = [*given, *foreign.changed_arguments(self._unit.kinds, node)]
            given = [*given, *(each.value for each in node.keywords if each.arg == "out")]
            return set().union(*(self.keys(each) | self._elements(each) for each in given)), False
        return set(), False

    def _is_kept(self, node: ast.AST) -> bool:
        """Whether a method that changes its object is kept, to be called at any time: ``add = values.append``."""
        if not isinstance(node, ast.Attribute) or node.attr not in _KEPT:
            return False
        return not isinstance(self._unit.file.parents[node], ast.Call | ast.Attribute)

    def _handed_by(self, node: ast.AST) -> set[Key]:
        """Values that a node gives to code of which nothing is known, or whose methods it calls."""
        if not isinstance(node, ast.Call) or self._called(node) or foreign.is_known(self._unit.kinds, node.func):
            return set()
        given = [*node.args, *(each.value for each in node.keywords)]
        if self._unit.kinds.symbol(node.func) is None:
            if isinstance(node.func, ast.Attribute):
                if not self._is_foreign(node.func.value):
                    return set()
                given.append(node.func.value)
            elif not isinstance(node.func, ast.Name) or not self._is_unknown(node.func):
                return set()
        given = [each.value if isinstance(each, ast.Starred) else each for each in given]
        parts = [each for each in given if not isinstance(each, ast.Call)]  # list(values) is another list
        return set().union(*map(self.keys, given), *map(self._elements, parts))

    def _is_foreign(self, node: ast.expr) -> bool:
        """Whether an object is of a library that is not known."""
        values = [value for key in self.keys(node) for value in self.values.get(key, ())]
        calls = [each.func for each in [node, *values] if isinstance(each, ast.Call)]
        return any(
            self._unit.kinds.symbol(each) is not None and not foreign.is_known(self._unit.kinds, each) for each in calls
        )

    def _is_unknown(self, name: ast.Name) -> bool:
        """Whether a name is bound to what a library that is not known gives, or by a star of an import."""
        if name.id in self.classes or name.id in self.functions or self._lambdas(name):
            return False
        return self._is_foreign(name) or (
            not self._unit.file.bound.get(name.id) and any(each.bound == "*" for each in self._unit.file.imports)
        )

    def may_change(self, key: Key, is_whole: bool) -> bool:
        """Whether code that gets a value may change what is read of it.

        Args:
            key: Of the value.
            is_whole: Whether the value itself is read, and not an attribute of it.
        """
        values = self.values.get(key._replace(is_inside=False), ())
        calls = [each.func for each in values if isinstance(each, ast.Call)]
        if any(isinstance(each, ast.Name) and each.id in self.classes for each in calls):
            return True
        return is_whole and any(map(self._is_container, values))

    def _is_container(self, value: ast.expr) -> bool:
        if isinstance(value, ast.Call):
            return not foreign.makes_constant(self._unit.kinds, value)
        if isinstance(value, ast.BinOp):
            return self._is_container(value.left) or self._is_container(value.right)
        return isinstance(value, ast.List | ast.Dict | ast.Set | ast.ListComp | ast.DictComp | ast.SetComp)

    def _puts(self, call: ast.Call) -> bool:
        return self._unit.kinds.symbol(call.func) == "np.put"

    def _is_number(self, key: Key) -> bool:
        return any(isinstance(each, ast.Constant) for each in self.values.get(key, ()))

    def _everywhere(self, changed: dict[Key, float]) -> dict[Key, float]:
        """Key -> the changes of it: first those of what functions were given, then of what else is given those."""
        for edges in (self._given, self._taken):
            stack = list(changed.items())
            while stack:
                key, line = stack.pop()
                others = self._same.get(key, set()) | edges.get(key, set())
                if key.is_inside:
                    others = others | {key._replace(is_inside=False)}
                for other in others:
                    if changed.get(other, -1.0) < line:
                        changed[other] = line
                        stack.append((other, line))
        return changed


def _own(node: ast.AST) -> list[ast.AST]:
    """The nodes of a module or function, with the functions, classes and lambdas in it but for their bodies."""
    found = list(own_nodes(node))
    inner = [one for each in found for one in ast.iter_child_nodes(each) if isinstance(one, (*_SCOPES, ast.ClassDef))]
    lambdas = [one for each in inner if isinstance(each, ast.Lambda) for one in ast.walk(each)]
    return [*found, *inner, *lambdas]


def _binds(node: ast.AST) -> Iterator[str]:
    """The names that a node itself binds."""
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    elif isinstance(node, Function | ast.ClassDef) or (isinstance(node, ast.ExceptHandler) and node.name):
        yield node.name  # type: ignore[misc]
    elif isinstance(node, ast.alias):
        yield (node.asname or node.name).partition(".")[0]


def _of_inside(key: Key) -> Key:
    return key._replace(is_inside=True)


def _inside(keys: Iterable[Key]) -> set[Key]:
    return set(map(_of_inside, keys))


def _elements(node: ast.AST | None) -> list[ast.expr]:
    """Contents of a new container, or of a function with arguments."""
    if isinstance(node, ast.Dict):
        return node.values
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return node.elts
    if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp):
        return [node.elt]
    if isinstance(node, ast.Call) and called_name(node) in ("partial", "dict", "list", "tuple"):
        return [*node.args, *(each.value for each in node.keywords)]
    return [node.value] if isinstance(node, ast.DictComp) else []


def _names(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def _line(node: ast.AST) -> int:
    return getattr(node, "lineno", 0)
