"""Classifies the expressions of graph code: objects that are created once, and tensors that each request computes.

Variables, layers and optimizers are created once. What depends on what is fed, or on the value of a variable, is
computed by each request. Constants may be either; so may random numbers, which are drawn once where they are the
initial value of a variable, and else by each request.
"""

from __future__ import annotations

import ast
import builtins
import enum
from collections.abc import Iterable, Mapping, Sequence

from ....source.uses import FileUses, bodies
from ..requests.graph_code import defaults, own_nodes

__all__ = [
    "CHANGING",
    "DRAWING",
    "ITERATORS",
    "Kind",
    "Kinds",
    "Scope",
    "base_names",
    "bound_names",
    "changes_object",
    "creates",
    "is_static_symbol",
    "names_read",
    "names_read_first",
    "sets_attribute",
]


class Kind(enum.IntEnum):
    """The kind of an expression; that of a larger expression is the greatest of its parts."""

    STATIC = 0  # a value of Python, or an object of TensorFlow that is no tensor
    VARIABLE = 1  # a variable, or a layer or an optimizer, which have some
    VARIABLES = 2  # a list or a dict of them
    CONSTANT = 3  # a tensor that depends on nothing
    RANDOM = 4  # one that depends on random numbers alone
    TENSOR = 5  # one that depends on what is fed, or on variables


#: Names of TensorFlow whose calls give no tensor.
_STATIC = (
    "tf.app.", "tf.flags.", "tf.logging.", "tf.gfile.", "tf.io.gfile.", "tf.io.TFRecord", "tf.io.tf_record",
    "tf.python_io.", "tf.errors.", "tf.compat.as_", "tf.compat.path", "tf.version", "tf.sysconfig.",
    "tf.keras.datasets",
    "tf.keras.utils.", "tf.train.latest_checkpoint", "tf.train.get_checkpoint_state", "tf.train.checkpoint_exists",
    "tf.train.list_variables", "tf.train.load_", "tf.train.Coordinator", "tf.train.Example", "tf.train.Feature",
    "tf.train.BytesList", "tf.train.Int64List", "tf.train.FloatList", "tf.TensorShape", "tf.Dimension", "tf.as_dtype",
    "tf.get_logger", "tf.name_scope", "tf.variable_scope", "tf.control_dependencies", "tf.device", "tf.ConfigProto",
    "tf.GPUOptions", "tf.set_random_seed", "tf.random.set_seed", "tf.GraphKeys", "tf.DType", "tf.initializers.",
    "tf.keras.initializers.", "tf.keras.regularizers.", "tf.disable_", "tf.enable_", "tf.executing_eagerly",
    "tf.feature_column.", "tf.TensorSpec", "tf.summary.", "tf.function", "tf.GradientTape", "tf.data.",
    "tf1sessions.",
)  # fmt: skip
_STATIC_ENDS = ("_initializer", "_regularizer")
_VARIABLE_MAKERS = frozenset(
    ["tf.Variable", "tf.get_variable", "tf.train.get_or_create_global_step", "tf.train.create_global_step"]
)
_METRICS = frozenset(["tf.metrics.accuracy", "tf.metrics.mean"])
_QUEUES = frozenset(["FIFOQueue", "PaddingFIFOQueue", "PriorityQueue", "RandomShuffleQueue"])
_ITERATORS = frozenset(
    "tf.data.make_one_shot_iterator tf.data.make_initializable_iterator tf.data.Iterator.from_structure".split()
)
_VARIABLE_LISTS = frozenset(["tf.trainable_variables", "tf.global_variables", "tf.all_variables"])
#: What each request makes anew: a tf.TensorArray of TensorFlow 2 stays in the tf.function that makes it.
_COMPUTED = frozenset(["tf.placeholder", "tf.gradients", "tf.TensorArray"])
#: How the names of operations begin that only draw.
DRAWING = ("tf.random.", "tf.random_", "tf.truncated_normal", "tf.multinomial", "tf.image.random_")
_RANDOM = (*DRAWING, "tf.nn.dropout", "tf.keras.backend.random")
_LAYERS = ("tf.layers.", "tf.keras.layers.", "tf1sessions.contrib.layers.")
_MAKES_TENSOR = frozenset(
    "assign assign_add assign_sub minimize apply_gradients compute_gradients read_value value eval initialized_value "
    "get_next enqueue dequeue enqueue_many dequeue_many dequeue_up_to size close zero_state".split()
)
#: Methods that add to a list or a dict.
CHANGING = frozenset(["append", "extend", "insert", "update"])
#: Methods that change a list, a dict, a set or an array in another way -> how many arguments they have at most:
#: functions of a module, as ``tf.reverse(x, [0])``, have more.
_REORDERING = {"sort": 0, "reverse": 0, "clear": 0, "popitem": 0, "fill": 1, "remove": 1, "discard": 1}
_REORDERING |= {"pop": 2, "setdefault": 2}
_SHAPES = frozenset(["shape", "get_shape", "dtype", "name", "op"])
#: Methods of data sets that make iterators.
ITERATORS = ("make_one_shot_iterator", "make_initializable_iterator")
Function = ast.FunctionDef | ast.AsyncFunctionDef
Scope = dict[str, Kind]


def is_static_symbol(symbol: str) -> bool:
    """Whether a call of a name of TensorFlow gives no tensor.

    Example:
        >>> is_static_symbol("tf.zeros_initializer"), is_static_symbol("tf.zeros")
        (True, False)
    """
    if symbol.startswith("tf1sessions.contrib.seq2seq."):
        return False
    return symbol.startswith(_STATIC) or symbol.endswith(_STATIC_ENDS)


def is_optimizer(symbol: str) -> bool:
    """Whether a call of a name makes an optimizer."""
    return symbol.startswith(("tf.train.", "tf.keras.optimizers.")) and symbol.endswith("Optimizer")


def creates(symbol: str | None) -> str | None:
    """Return the stateful object that a call creates; None if it creates none.

    It is one of variable, layer (which is called at once), keras layer, cell, optimizer, iterator, queue, metric and
    average.
    """
    if symbol is None:
        return None
    if symbol in _VARIABLE_MAKERS:
        return "variable"
    if is_optimizer(symbol):
        return "optimizer"
    if symbol in _ITERATORS:
        return "iterator"
    if symbol == "tf.train.ExponentialMovingAverage":
        return "average"
    if symbol in _METRICS:
        return "metric"
    if symbol.removeprefix("tf.queue.").removeprefix("tf.") in _QUEUES:
        return "queue"
    if symbol.startswith("tf.nn.rnn_cell.") and symbol.endswith("Cell"):
        return "cell"
    if symbol in ("tf.feature_column.input_layer", "tf.feature_column.linear_model"):
        return "layer"
    last = symbol.rpartition(".")[2]
    if symbol.startswith(("tf.keras.layers.", "tf.layers.")) and last[:1].isupper() and not last.startswith("Input"):
        return "keras layer"
    if symbol in ("tf.keras.Sequential", "tf.keras.models.Sequential"):
        return "keras layer"
    if symbol.startswith(_LAYERS) and last[:1].islower() and not symbol.endswith(_STATIC_ENDS):
        return "layer"
    return None


def names_read(node: ast.AST) -> set[str]:
    """The names that a node reads, those of functions and comprehensions inside included if these do not bind them."""
    found: set[str] = set()
    bound: set[str] = set()
    for each in ast.walk(node):
        if isinstance(each, ast.arg):
            bound.add(each.arg)
        else:
            found |= _read_name(each)
    if isinstance(node, ast.FunctionDef | ast.Lambda):
        bound |= {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
        return found - bound
    inner = [each for each in ast.walk(node) if isinstance(each, ast.FunctionDef | ast.Lambda) and each is not node]
    only_inside = set.union(set(), *(_all_names(each) - names_read(each) for each in inner))
    outside = set().union(*map(_read_name, own_nodes(node)))
    return ((found - only_inside) | outside) - _only_of_comprehensions(node)


def _only_of_comprehensions(node: ast.AST) -> set[str]:
    """The names that comprehensions in a node bind, and that nothing else in it reads."""
    bound: set[str] = set()
    beside: set[str] = set()
    stack: list[tuple[ast.AST, frozenset[str]]] = [(node, frozenset())]
    while stack:
        each, own = stack.pop()
        if isinstance(each, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            first = each.generators[0]  # what it iterates over is computed outside of the comprehension
            targets = [one for part in each.generators for one in ast.walk(part.target) if isinstance(one, ast.Name)]
            inside = own | {one.id for one in targets if isinstance(one.ctx, ast.Store)}
            bound |= inside - own
            others = [child for child in ast.iter_child_nodes(each) if child is not first]
            stack += [(first.iter, own), *((part, inside) for part in (*others, first.target, *first.ifs))]
            continue
        if each_name := _read_name(each):
            beside |= each_name - own
        stack += [(child, own) for child in ast.iter_child_nodes(each)]
    return bound - beside


def names_read_first(statement: ast.stmt) -> set[str]:
    """The names that a statement reads before it has bound them itself: not the variable of a loop in its body."""
    return _first_reads([statement], set())


def _first_reads(statements: Iterable[ast.stmt], bound: set[str]) -> set[str]:
    """Return the first reads of several statements; ``bound`` gets the names that they surely bind."""
    found: set[str] = set()
    for each in statements:
        if not isinstance(each, ast.For | ast.While | ast.If | ast.With):
            found |= names_read(each) - bound
            bound |= set() if isinstance(each, ast.Try) else bound_names(each)
            continue
        inner = [getattr(each, field) for field in ("iter", "test", "items") if hasattr(each, field)]
        for node in [one for part in inner for one in (part if isinstance(part, list) else [part])]:
            found |= names_read(node) - bound
        own = set(bound)
        for target in [each.target] if isinstance(each, ast.For) else []:
            own |= _all_names(target)
        found |= _first_reads(each.body, bound if isinstance(each, ast.With) else own)
        found |= _first_reads(getattr(each, "orelse", []), set(bound))
    return found


def _read_name(node: ast.AST) -> set[str]:
    """The name that a node reads: it is that, or adds to it by ``name += ...``."""
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        return {node.target.id}
    return {node.id} if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) else set()


def _all_names(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def bound_names(node: ast.AST) -> set[str]:
    """The names that a statement binds or changes in place: by assignment, definition, import, or ``name.append()``."""
    found: set[str] = set()
    for each in own_nodes(node):
        if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load):
            found.add(each.id)
        elif isinstance(each, ast.alias):
            found.add((each.asname or each.name).partition(".")[0])
        elif isinstance(each, ast.Subscript | ast.Attribute) and not isinstance(each.ctx, ast.Load):
            found |= base_names(each)
        elif isinstance(each, ast.Call) and changes_object(each):
            found |= base_names(each.func)
        elif isinstance(each, ast.Call) and sets_attribute(each):
            found |= base_names(each.args[0])
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    for child in ast.walk(node):
        if isinstance(child, ast.FunctionDef | ast.ClassDef) and child is not node:
            found.add(child.name)
    return found - _comprehension_names(node)


def changes_object(call: ast.Call) -> bool:
    """Whether a call is a method that changes a list, a dict, a set or an array."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    return name in CHANGING or len(call.args) <= _REORDERING.get(name, -1)


def sets_attribute(call: ast.Call) -> bool:
    """Whether it is ``setattr(model, "weights", w)``."""
    return isinstance(call.func, ast.Name) and call.func.id == "setattr" and len(call.args) > 1


def _comprehension_names(node: ast.AST) -> set[str]:
    targets = [each.target for each in ast.walk(node) if isinstance(each, ast.comprehension)]
    return set.union(set(), *map(_all_names, targets))


def base_names(node: ast.expr) -> set[str]:
    """The name that ``name.a[0].b`` begins with; none for what begins with no name."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return {node.id} if isinstance(node, ast.Name) else set()


#: Functions that compute with what they are given, or with its parts: builtin ones, and those of other libraries.
_READING = frozenset(["abs", "divmod", "max", "min", "pow", "round", "sum"])
_COMPUTING = ("functools.reduce", "itertools.accumulate", "math.", "numpy.", "operator.")
#: Methods of texts, which variables and lists do not have.
_OF_TEXTS = frozenset(["endswith", "format", "join", "lower", "replace", "split", "startswith", "strip"])
#: Methods of moving averages.
_AVERAGES = {"average": Kind.VARIABLE, "average_name": Kind.STATIC, "variables_to_restore": Kind.VARIABLES}


class Kinds:
    """The kinds of the expressions of a file.

    Args:
        file: The file.

    Attributes:
        functions: The functions at the top level of the file, by name.
        placeholders: The names that are bound to placeholders, whose shapes are known before anything is fed.
        graphs: The names of LegacyGraphs, whose requests give arrays.
        queues: The names that are bound to queues, and the calls that make these.
        averages: The names that are bound to moving averages of variables.
        requests: The names of functions of a LegacyGraph, which give arrays.
        classes: The names of the classes that have a LegacyGraph of their own.
    """

    def __init__(self, file: FileUses) -> None:
        self.file = file
        self._bound: dict[ast.stmt, set[str]] = {}
        self._symbols = {use.node: use.name for use in file.uses}
        self.functions: dict[str, Function] = {
            each.name: each for each in file.tree.body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)
        }
        self.placeholders: set[str] = set()
        self.graphs: set[str] = set()
        self.queues: dict[str, ast.Call] = {}
        self.averages: set[str] = set()
        self.requests: set[str] = set()
        self.classes: frozenset[str] = frozenset()
        self._calls: dict[tuple[Function, tuple[tuple[str, Kind], ...]], Kind] = {}
        self._lambdas: dict[tuple[ast.Lambda, tuple[tuple[str, Kind | None], ...]], Kind] = {}
        self._readers: set[str] = set()  # names of functions inside of others, or of a graph, that read variables
        self._giving: set[str] = set()  # those of them that give tensors
        self.module: Scope = {}

    def symbol(self, node: ast.AST | None) -> str | None:
        """The name in a library that an expression is: ``"tf.matmul"``."""
        return self._symbols.get(node)  # type: ignore[call-overload, no-any-return]

    def bound(self, statement: ast.stmt) -> set[str]:
        """The names that a statement binds or changes in place, found once."""
        if statement not in self._bound:
            self._bound[statement] = bound_names(statement)
        return self._bound[statement]

    # -- expressions -----------------------------------------------------------------------------------------------

    def of(self, node: ast.AST | None, scope: Mapping[str, Kind]) -> Kind:
        """The kind of an expression, with the kinds of the names around it."""
        if node is None or isinstance(node, ast.Constant):
            return Kind.STATIC
        if isinstance(node, ast.Name):
            return max(scope.get(node.id, self.module.get(node.id, Kind.STATIC)), self._function(node.id, scope))
        if self.symbol(node) is not None:
            return Kind.STATIC
        if isinstance(node, ast.Call):
            return self._call(node, scope)
        if isinstance(node, ast.Attribute):
            return self._attribute(node, scope)
        if isinstance(node, ast.Subscript):
            value = self.of(node.value, scope)
            inner = {Kind.VARIABLE: Kind.TENSOR, Kind.VARIABLES: Kind.VARIABLE}.get(value, value)
            return max(inner, self.of(node.slice, scope))
        if isinstance(node, ast.BinOp | ast.UnaryOp | ast.Compare | ast.BoolOp):
            kind = self._computed(ast.iter_child_nodes(node), scope)
            return Kind.TENSOR if kind is Kind.VARIABLES and not self._keeps_list(node, scope) else kind
        if isinstance(node, ast.Dict):  # its keys may be placeholders
            return _container(self._join(node.values, scope))
        if isinstance(node, ast.List | ast.Tuple | ast.Set):
            return _container(self._join(node.elts, scope))
        if isinstance(node, ast.ListComp | ast.GeneratorExp | ast.SetComp | ast.DictComp):
            return self._comprehension(node, scope)
        if isinstance(node, ast.Lambda):
            return self._lambda(node, {**scope, **{each.arg: Kind.STATIC for each in node.args.args}})
        return self._join(ast.iter_child_nodes(node), scope)

    def _function(self, name: str, scope: Mapping[str, Kind]) -> Kind:
        """A tensor where a name is that of a function that reads variables, which may be called by another name."""
        if name in self._giving:
            return Kind.TENSOR
        function = None if name in scope else self.functions.get(name)
        if function is None:
            return Kind.STATIC
        names = [each.arg for each in ast.walk(function.args) if isinstance(each, ast.arg)]
        is_tensor = self.called(function, (), dict.fromkeys(names, Kind.STATIC)) is Kind.TENSOR
        return Kind.TENSOR if is_tensor else Kind.STATIC

    def _join(self, nodes: Iterable[ast.AST], scope: Mapping[str, Kind]) -> Kind:
        found = {self.of(each, scope) for each in nodes if isinstance(each, ast.expr)}
        greatest = max(found, default=Kind.STATIC)
        has_variable = bool(found & {Kind.VARIABLE, Kind.VARIABLES})
        return Kind.TENSOR if has_variable and greatest >= Kind.CONSTANT else greatest

    def _lambda(self, node: ast.Lambda, inside: Mapping[str, Kind]) -> Kind:
        """A tensor where a lambda has one anywhere. Kept, else lambdas within lambdas are read again and again."""
        names = sorted({each.id for each in ast.walk(node.body) if isinstance(each, ast.Name)})
        key = (node, tuple((name, inside.get(name, self.module.get(name))) for name in names))
        if key not in self._lambdas:
            has_tensor = self._join(ast.walk(node.body), inside) is Kind.TENSOR
            self._lambdas[key] = Kind.TENSOR if has_tensor else Kind.STATIC
        return self._lambdas[key]

    def _computed(self, nodes: Iterable[ast.AST], scope: Mapping[str, Kind]) -> Kind:
        """Return the kind of an operation on values: that of a variable is read."""
        kind = self._join(nodes, scope)
        return Kind.TENSOR if kind is Kind.VARIABLE else kind

    def _keeps_list(self, node: ast.expr, scope: Mapping[str, Kind]) -> bool:
        """Whether an operator on lists of variables reads none: ``params.w``, an attribute, may be a variable."""
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mod):
            parts = [node.left, node.right]
            has_list = any(isinstance(each, ast.List | ast.Tuple | ast.ListComp) for each in parts)
            has_list |= all(self.of(each, scope) and not isinstance(each, ast.Attribute) for each in parts)
            has_text = any(isinstance(each, ast.Constant) and isinstance(each.value, str) for each in parts)
            return has_text or (has_list and isinstance(node.op, ast.Add))
        if isinstance(node, ast.BinOp | ast.UnaryOp):
            return isinstance(node.op, ast.Not)
        return not (isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Lt | ast.LtE | ast.Gt | ast.GtE))

    def _attribute(self, node: ast.Attribute, scope: Mapping[str, Kind]) -> Kind:
        value = self.of(node.value, scope)
        if node.attr in _SHAPES and (value < Kind.CONSTANT or self.is_placeholder(node.value)):
            return Kind.STATIC
        return value

    def is_placeholder(self, node: ast.AST) -> bool:
        """Whether an expression is the name of a placeholder, and not of a parameter that is called like one."""
        if not isinstance(node, ast.Name) or node.id not in self.placeholders:
            return False
        around = [each for each in self.file.around(node) if isinstance(each, Function)]
        return not any(
            node.id == each.arg for function in around for each in ast.walk(function.args) if isinstance(each, ast.arg)
        )

    def _comprehension(
        self, node: ast.ListComp | ast.GeneratorExp | ast.SetComp | ast.DictComp, scope: Mapping[str, Kind]
    ) -> Kind:
        inside = dict(scope)
        for each in node.generators:
            kind = self.of(each.iter, inside)
            self.bind(each.target, _element(kind), inside)
        elements = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        tests = [test for each in node.generators for test in each.ifs]
        return max(_container(self._join(elements, inside)), self._join(tests, inside))

    def _call(self, node: ast.Call, scope: Mapping[str, Kind]) -> Kind:
        arguments = [*node.args, *(each.value for each in node.keywords)]
        symbol = self.symbol(node.func)
        if symbol is not None and symbol.startswith(("tf.", "tf1sessions.contrib.")):
            return self._operation(symbol, arguments, scope)
        if symbol is not None:
            kind = self._computed(arguments, scope)
            return Kind.TENSOR if kind is Kind.VARIABLES and symbol.startswith(_COMPUTING) else kind
        if isinstance(node.func, ast.Name) and node.func.id in self.requests:
            return Kind.STATIC
        if isinstance(node.func, ast.Name):
            function = self.functions.get(node.func.id)
            if function is not None:
                named = {each.arg: self._given(each.value, scope) for each in node.keywords if each.arg}
                if len(named) < len(node.keywords) or any(isinstance(each, ast.Starred) for each in node.args):
                    kind = _element(self._join(arguments, scope))  # any parameter may get it
                    names = [each for each in ast.walk(function.args) if isinstance(each, ast.arg)]
                    return self.called(function, [kind] * len(names), {each.arg: kind for each in names})
                return self.called(function, [self._given(each, scope) for each in node.args], named)
            if node.func.id in self._giving:
                return Kind.TENSOR
            if not hasattr(builtins, node.func.id):  # a lambda, or a function inside of this one
                return self._computed([node.func, *arguments], scope)
            kind = max(self._join([node.func, *arguments], scope), self._mapped(arguments, scope))
            if kind in (Kind.VARIABLE, Kind.VARIABLES) and node.func.id in _READING:
                return Kind.TENSOR
            return Kind.STATIC if kind is Kind.VARIABLES and node.func.id == "len" else kind
        if isinstance(node.func, ast.Attribute):
            return self._method(node.func, arguments, scope)
        return self._computed([node.func, *arguments], scope)

    def _given(self, node: ast.expr, scope: Mapping[str, Kind]) -> Kind:
        """The kind of an argument: a function of the program that is given by its name is called."""
        name = node.id if isinstance(node, ast.Name) else ""
        if name in self._readers:
            return Kind.TENSOR
        if name in scope or name not in self.functions:
            return self.of(node, scope)
        function = self.functions[name]
        names = [each.arg for each in ast.walk(function.args) if isinstance(each, ast.arg)]
        kind = self.called(function, (), dict.fromkeys(names, Kind.STATIC))
        return Kind.STATIC if kind is Kind.CONSTANT else kind

    def _mapped(self, arguments: list[ast.expr], scope: Mapping[str, Kind]) -> Kind:
        """Return what a lambda gives for parts of the other arguments: ``map(lambda v: v.assign(x), variables)``."""
        lambdas = [each for each in arguments if isinstance(each, ast.Lambda)]
        if not lambdas:
            return Kind.STATIC
        parts = self._join([each for each in arguments if each not in lambdas], scope)
        part = Kind.VARIABLE if parts is Kind.VARIABLES else parts
        inside = [{**scope, **{name.arg: part for name in each.args.args}} for each in lambdas]
        return _container(max(self.of(each.body, names) for each, names in zip(lambdas, inside, strict=True)))

    def _method(self, function: ast.Attribute, arguments: list[ast.expr], scope: Mapping[str, Kind]) -> Kind:
        if function.attr == "run" and isinstance(function.value, ast.Name) and function.value.id in self.graphs:
            return Kind.STATIC
        if isinstance(function.value, ast.Name) and function.value.id in self.averages:
            return _AVERAGES.get(function.attr, Kind.TENSOR)
        value = self.of(function.value, scope)
        if function.attr == "sample" and value is Kind.CONSTANT:  # of a distribution
            return max(Kind.RANDOM, self._join(arguments, scope))
        if function.attr == "numpy" and not arguments:  # an array, see values.py
            return Kind.STATIC
        if function.attr == "get_tensor_by_name":  # of a variable: see refusals.py
            return Kind.VARIABLE
        if function.attr in ITERATORS:
            return Kind.VARIABLE
        if function.attr in _OF_TEXTS and value < Kind.CONSTANT:
            return Kind.STATIC
        if function.attr in _MAKES_TENSOR and value >= Kind.VARIABLE:
            return Kind.TENSOR
        if function.attr in _SHAPES and (value < Kind.CONSTANT or self.is_placeholder(function.value)):
            return Kind.STATIC
        return max(value, self._join(arguments, scope))

    def _operation(self, symbol: str, arguments: list[ast.expr], scope: Mapping[str, Kind]) -> Kind:
        made = creates(symbol)
        if made in ("cell", "keras layer") and self._join(arguments, scope) >= Kind.CONSTANT:
            return Kind.TENSOR
        if made in ("layer", "metric"):
            return Kind.TENSOR
        if made is not None:
            return Kind.VARIABLE
        if symbol in _VARIABLE_LISTS or symbol == "tf.get_collection":
            return Kind.VARIABLES
        if is_static_symbol(symbol):
            return Kind.STATIC
        kind = max(self._join(arguments, scope), *(self._given(each, scope) for each in arguments), Kind.STATIC)
        if kind in (Kind.VARIABLE, Kind.VARIABLES, Kind.TENSOR) or symbol in _COMPUTED:
            return Kind.TENSOR
        if symbol.startswith(_RANDOM) or kind is Kind.RANDOM:
            return Kind.RANDOM
        return Kind.CONSTANT

    # -- functions of the program ----------------------------------------------------------------------------------

    def called(
        self, function: Function, arguments: Sequence[Kind] = (), named: Mapping[str, Kind] | None = None
    ) -> Kind:
        """Return the kind of the result of a function of the program.

        Args:
            function: The function.
            arguments, named: The kinds of the arguments of a call, by position and by name.
        """
        names = [each.arg for each in [*function.args.posonlyargs, *function.args.args]]
        scope = self._defaults(function, self.module)
        scope |= dict(zip(names, arguments, strict=False)) | dict(named or {})
        if function.args.vararg is not None:
            scope[function.args.vararg.arg] = _container(max(arguments[len(names) :], default=Kind.STATIC))
        if function.args.kwarg is not None:
            names += [each.arg for each in function.args.kwonlyargs]
            rest = [kind for name, kind in (named or {}).items() if name not in names]
            scope[function.args.kwarg.arg] = _container(max(rest, default=Kind.STATIC))
        key = function, tuple(sorted(scope.items()))
        if key not in self._calls:
            self._calls[key] = max(scope.values(), default=Kind.STATIC)  # of a function that calls itself
            result = self._join(function.decorator_list, self.module)
            for _ in range(2):  # twice: what a loop binds may be read above
                for statement in function.body:
                    result = max(result, self.run(statement, scope))
            self._calls[key] = result
        return self._calls[key]

    def _defaults(self, function: Function, scope: Mapping[str, Kind]) -> Scope:
        """The kinds of the parameters that are given nothing: those of their defaults."""
        return {parameter.arg: self.of(default, scope) for parameter, default in defaults(function.args)}

    def run(self, statement: ast.stmt, scope: Scope) -> Kind:
        """Bind the names of a statement; give the kind of what it returns."""
        result = Kind.STATIC
        if isinstance(statement, ast.Assign):
            for target in statement.targets:
                self._assign(target, statement.value, scope)
        elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
            self._assign(statement.target, statement.value, scope)
        elif isinstance(statement, ast.AugAssign):
            self.bind(statement.target, self._computed([statement.target, statement.value], scope), scope)
        elif isinstance(statement, ast.Return):
            return self.of(statement.value, scope)
        elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Yield | ast.YieldFrom):
            return _container(self.of(statement.value.value, scope))
        elif isinstance(statement, ast.For):
            self.bind(statement.target, _element(self.of(statement.iter, scope)), scope)
        elif isinstance(statement, ast.With):
            for item in statement.items:
                if item.optional_vars is not None:
                    self.bind(item.optional_vars, self.of(item.context_expr, scope), scope)
        elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            self._change(statement.value, scope)
        elif isinstance(statement, ast.FunctionDef):
            names = names_read(statement)
            reads = max((scope.get(each, self.module.get(each, Kind.STATIC)) for each in names), default=Kind.STATIC)
            scope[statement.name] = Kind.TENSOR if reads >= Kind.CONSTANT else Kind.STATIC
            if reads in (Kind.VARIABLE, Kind.VARIABLES) or names & self._readers:
                self._readers.add(statement.name)
                parameters = [each.arg for each in ast.walk(statement.args) if isinstance(each, ast.arg)]
                inside = {**scope, **dict.fromkeys(parameters, Kind.STATIC), **self._defaults(statement, scope)}
                kinds = [self.run(each, inside) for each in statement.body]
                if Kind.TENSOR in (*kinds, self._join(statement.decorator_list, scope)):
                    self._giving.add(statement.name)
            return Kind.STATIC
        for body in bodies(statement):
            for each in body:
                result = max(result, self.run(each, scope))
        return result

    def _change(self, call: ast.Call, scope: Scope) -> None:
        """``layers.append(x)`` makes the list one of what is appended."""
        if isinstance(call.func, ast.Attribute) and call.func.attr in CHANGING:
            kind = _container(self._join([*call.args, *(each.value for each in call.keywords)], scope))
            for name in base_names(call.func):
                scope[name] = max(scope.get(name, Kind.STATIC), kind)
        elif sets_attribute(call):
            for name in base_names(call.args[0]):
                scope[name] = max(scope.get(name, Kind.STATIC), _container(self._join(call.args, scope)))

    def _assign(self, target: ast.expr, value: ast.expr, scope: Scope) -> None:
        if isinstance(target, ast.Tuple | ast.List) and isinstance(value, ast.Tuple | ast.List):
            if len(target.elts) == len(value.elts):
                for one, other in zip(target.elts, value.elts, strict=True):
                    self.bind(one, self.of(other, scope), scope)
                return
        self.bind(target, self.of(value, scope), scope)

    def bind(self, target: ast.expr, kind: Kind, scope: Scope) -> None:
        """Give a target of an assignment a kind."""
        if isinstance(target, ast.Name):
            scope[target.id] = kind
        elif isinstance(target, ast.Starred):
            self.bind(target.value, _container(kind), scope)
        elif isinstance(target, ast.Tuple | ast.List):
            for each in target.elts:
                self.bind(each, _element(kind), scope)
        elif isinstance(target, ast.Subscript | ast.Attribute):
            for name in base_names(target):
                scope[name] = max(scope.get(name, Kind.STATIC), _container(kind))


def _container(kind: Kind) -> Kind:
    return Kind.VARIABLES if kind is Kind.VARIABLE else kind


def _element(kind: Kind) -> Kind:
    return Kind.VARIABLE if kind is Kind.VARIABLES else kind
