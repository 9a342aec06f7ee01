"""The expressions of a file that are surely integers, and those that surely are not."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator

from ....source.names import Scope
from ....source.uses import FileUses
from ..scopes import binding_scope, is_free, names_of

__all__ = ["Integers"]

_INTEGER_FUNCTIONS = frozenset(["len", "int", "long", "ord", "hash", "id"])
_OF_INTEGERS = frozenset(["abs", "min", "max", "sum"])
_RANGES = frozenset(["range", "xrange"])
_FLOAT_FUNCTIONS = frozenset(["float", "time.time", "time.clock", "math.sqrt", "math.exp", "math.log", "math.pi",
                              "math.ceil", "math.floor", "np.float32", "np.float64", "np.mean", "np.sqrt", "np.exp",
                              "np.log", "np.std", "np.pi", "random.random", "random.uniform"])  # fmt: skip
_SHAPES = frozenset(["shape"])
_SHAPE_METHODS = frozenset(["get_shape", "as_list"])
_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod, ast.LShift, ast.RShift, ast.BitAnd, ast.BitOr)
_DEFINERS = frozenset(["DEFINE_integer"])

Key = tuple[int, str]


@dataclasses.dataclass(frozen=True)
class _Binding:
    """A value that is assigned to a name: its expression, or whether it is an integer."""

    value: ast.expr | bool


class Integers:
    """The integers of a file. For one thread at a time."""

    def __init__(self, file: FileUses) -> None:
        self.file = file
        self._names = names_of(file)
        self._bound: dict[Key, list[_Binding]] = {}
        self._options: set[str] = set()
        self._floats: set[str] = set()
        self._asking: set[Key] = set()
        for node in ast.walk(file.tree):
            for target, value in _bindings(node):
                key = self._key(target)
                if key is not None:
                    self._bound.setdefault(key, []).append(_Binding(value))
            self._note_option(node)

    def are(self, *nodes: ast.expr) -> bool:
        """Whether all of these are surely integers."""
        return all(self._is(node) for node in nodes)

    def is_no_integer(self, node: ast.expr) -> bool:
        """Whether an expression surely is a float, or an array or tensor of them."""
        if isinstance(node, ast.Constant):
            return isinstance(node.value, float | complex | str | bytes)
        if isinstance(node, ast.UnaryOp):
            return self.is_no_integer(node.operand)
        if isinstance(node, ast.BinOp) and isinstance(node.op, (*_OPERATORS, ast.Pow, ast.Div)):
            return self.is_no_integer(node.left) or self.is_no_integer(node.right)
        path = self._names.path(node.func if isinstance(node, ast.Call) else node) or ""
        if path.removeprefix("builtins.") in _FLOAT_FUNCTIONS:
            return True
        if isinstance(node, ast.Call) and path.startswith("tf.") and path not in ("tf.shape", "tf.size", "tf.rank"):
            return not any(each in path for each in ("int", "arg", "range", "constant", "cast", "placeholder"))
        if isinstance(node, ast.Attribute) and node.attr in self._floats and self._is_options(node.value):
            return True
        return self._is_bound_to_floats(node)

    def _is_bound_to_floats(self, node: ast.expr) -> bool:
        key = self._key(node)
        if key is None or key in self._asking or not self._knows_all(node, key):
            return False
        self._asking.add(key)
        try:
            values = [binding.value for binding in self._bound[key]]
            return all(isinstance(value, ast.expr) and self.is_no_integer(value) for value in values)
        finally:
            self._asking.discard(key)

    # -- expressions --------------------------------------------------------------------------------------------------

    def _is(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Constant):
            return isinstance(node.value, int) and not isinstance(node.value, bool)
        if isinstance(node, ast.UnaryOp):
            return isinstance(node.op, ast.USub | ast.UAdd | ast.Invert) and self._is(node.operand)
        if isinstance(node, ast.BinOp):
            if isinstance(node.op, ast.Pow):
                return self._is(node.left) and isinstance(node.right, ast.Constant) and self._is(node.right)
            return isinstance(node.op, (*_OPERATORS, ast.Div)) and self.are(node.left, node.right)
        if isinstance(node, ast.IfExp):
            return self.are(node.body, node.orelse)
        if isinstance(node, ast.Call):
            return self._is_call(node)
        if isinstance(node, ast.Subscript):
            return not isinstance(node.slice, ast.Slice) and self._is_shape(node.value)
        if isinstance(node, ast.Attribute):
            if node.attr == "ndim" or (node.attr == "value" and self._is(node.value)):
                return True
            if node.attr in self._options and self._is_options(node.value):
                return True
        return self._is_bound_to_integers(node)

    def _is_call(self, node: ast.Call) -> bool:
        if isinstance(node.func, ast.Name) and is_free(self.file, node.func):
            if node.func.id in _INTEGER_FUNCTIONS:
                return True
            if node.func.id in _OF_INTEGERS and len(node.args) > 1:
                return self.are(*node.args)
            return node.func.id == "abs" and self.are(*node.args)
        return self._names.path(node.func) == "multiprocessing.cpu_count"

    def _is_shape(self, node: ast.expr) -> bool:
        """Whether an expression is the shape of an array or a tensor, whose elements are divided as integers are."""
        if isinstance(node, ast.Attribute):
            return node.attr in _SHAPES
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            return node.func.attr in _SHAPE_METHODS or self._names.path(node.func) in ("tf.shape", "np.shape")
        key = self._key(node)
        if key is None or not self._knows_all(node, key):
            return False
        values = [binding.value for binding in self._bound[key]]
        return all(
            isinstance(value, ast.expr) and value is not node and self._is_direct_shape(value) for value in values
        )

    def _is_direct_shape(self, node: ast.expr) -> bool:
        return not isinstance(node, ast.Name) and self._is_shape(node)

    def _is_bound_to_integers(self, node: ast.expr) -> bool:
        inner = self._in_comprehension(node)
        if inner is not None:
            return inner.value is True
        key = self._key(node)
        if key is None or not self._knows_all(node, key):
            return False
        if key in self._asking:  # a name that is made of itself is what else it is made of
            return True
        self._asking.add(key)
        try:
            values = [binding.value for binding in self._bound[key]]
            return all(value if isinstance(value, bool) else self._is(value) for value in values)
        finally:
            self._asking.discard(key)

    def _in_comprehension(self, node: ast.expr) -> _Binding | None:
        """Return the value that a comprehension around a name assigns to it; None where no comprehension does."""
        outer: ast.AST = node
        while isinstance(node, ast.Name) and (parent := self.file.parents.get(outer)) is not None:
            for each in getattr(parent, "generators", ()):
                for target, value in _loop_targets(each.target, each.iter):
                    if isinstance(target, ast.Name) and target.id == node.id and outer is not each:
                        return _Binding(value)
            outer = parent
        return None

    # -- names --------------------------------------------------------------------------------------------------------

    def _key(self, node: ast.expr) -> Key | None:
        """Names the variable that an expression is: of a name its scope, of an attribute of self its class."""
        if isinstance(node, ast.Name):
            scope = binding_scope(self.file, node)
            return None if scope is None else (id(scope), node.id)
        return self._names.home(node) if isinstance(node, ast.Attribute) else None

    def _knows_all(self, node: ast.expr, key: Key) -> bool:
        """Whether everything that binds a variable has been noted: no parameter, no import, no `global` elsewhere."""
        bound = self._bound.get(key)
        if not bound:
            return False
        if isinstance(node, ast.Name):
            scope = binding_scope(self.file, node)
            assert isinstance(scope, Scope)
            return len(scope.bindings[node.id]) == len(bound)
        return True

    # -- options ------------------------------------------------------------------------------------------------------

    def _note_option(self, node: ast.AST) -> None:
        """Note options that are integers: DEFINE_integer("size", 3, ""), add_argument("--size", type=int)."""
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or not node.args:
            return
        first = node.args[0]
        if not isinstance(first, ast.Constant) or not isinstance(first.value, str):
            return
        name = first.value.lstrip("-").replace("-", "_")
        if node.func.attr in _DEFINERS:
            self._options.add(name)
        elif node.func.attr == "DEFINE_float":
            self._floats.add(name)
        elif node.func.attr == "add_argument":
            kinds = [keyword.value for keyword in node.keywords if keyword.arg == "type"]
            named = kinds[0].id if kinds and isinstance(kinds[0], ast.Name) else ""
            defaults = [keyword.value for keyword in node.keywords if keyword.arg == "default"]
            if named == "int" and all(isinstance(each, ast.Constant) and type(each.value) is int for each in defaults):
                self._options.add(name)
            elif named == "float":
                self._floats.add(name)

    @staticmethod
    def _is_options(node: ast.expr) -> bool:
        name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
        return name.lower() in ("flags", "args", "opt", "opts", "options", "config", "hparams")


def _bindings(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr | bool]]:
    """Yield what a node binds, and the value; or whether that is an integer."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield from _targets(target, node.value)
    elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and node.value is not None:
        yield node.target, node.value
    elif isinstance(node, ast.AugAssign):
        yield node.target, ast.BinOp(_loaded(node.target), node.op, node.value)
    elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
        yield from _loop_targets(node.target, node.iter)
    elif isinstance(node, ast.withitem) and node.optional_vars is not None:
        yield from ((target, False) for target, _ in _targets(node.optional_vars, None))


def _loaded(node: ast.expr) -> ast.expr:
    return ast.Constant(0) if not isinstance(node, ast.Name | ast.Attribute) else node


def _targets(target: ast.expr, value: ast.expr | None) -> Iterator[tuple[ast.expr, ast.expr | bool]]:
    if isinstance(target, ast.Tuple | ast.List):
        parts = value.elts if isinstance(value, ast.Tuple | ast.List) else []
        shape = isinstance(value, ast.Attribute) and value.attr in _SHAPES
        for number, each in enumerate(target.elts):
            same = len(parts) == len(target.elts)
            if same:
                yield from _targets(each, parts[number])
            else:
                inner = each.value if isinstance(each, ast.Starred) else each
                yield from ((one, shape) for one, _ in _targets(inner, None))
    else:
        yield target, value if value is not None else False


def _loop_targets(target: ast.expr, iterated: ast.expr) -> Iterator[tuple[ast.expr, ast.expr | bool]]:
    name = iterated.func.id if isinstance(iterated, ast.Call) and isinstance(iterated.func, ast.Name) else ""
    if name in _RANGES and isinstance(target, ast.Name):
        yield target, True
        return
    if name == "enumerate" and isinstance(target, ast.Tuple) and len(target.elts) == 2:
        yield target.elts[0], True
        yield from ((one, False) for one, _ in _targets(target.elts[1], None))
        return
    yield from ((one, False) for one, _ in _targets(target, None))
