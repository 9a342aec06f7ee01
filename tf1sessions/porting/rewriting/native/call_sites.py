"""Calls of the functions: their results are tensors, of which the program takes the arrays."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Sequence

from ..requests.graph_code import own_nodes
from ..requests.request import NotPossible, names_in
from . import iterators
from .statements import Item
from .tensors import is_tensor
from .unit import Unit, UnitRequest

__all__ = [
    "are_tensors",
    "check_nested",
    "drops_operations",
    "feed_name",
    "gives_nones",
    "is_eager",
    "read_variables",
    "run_eagerly",
    "write_calls",
    "write_feed",
]


def read_variables(unit: Unit, request: UnitRequest) -> None:
    """Variables, and lists of them, are read where they are fetched."""
    values = ", ".join(_read(unit, leaf) for leaf in request.leaves)
    if isinstance(request.fetches, ast.List):
        values = f"[{values}]"
    elif isinstance(request.fetches, ast.Tuple):
        values = f"({values},)" if len(request.leaves) == 1 else f"({values})"
    for call in request.calls:
        unit.texts.replace(call, values)
    if request.statement is not None:
        unit.replaced[request.statement] = []


def _read(unit: Unit, leaf: ast.expr) -> str:
    text = unit.texts.of(leaf)
    return f"{text}.numpy()" if unit.is_variable(leaf) else _numpy(unit, text)


def _numpy(unit: Unit, text: str) -> str:
    """The arrays of an expression that gives lists, tuples or dicts of tensors."""
    return f"{unit.texts.tensorflow}.nest.map_structure(lambda value: value.numpy(), {text})"


def is_eager(unit: Unit, request: UnitRequest, moved: Sequence[Item]) -> bool:
    """Whether a request computes one tensor, once, of nothing that others compute: ``sess.run(tf.argmax(a, 1))``."""
    if request.feeds or request.is_list or len(request.calls) != 1 or request.statement is None:
        return False
    (leaf,) = request.leaves
    around = itertools.takewhile(lambda each: each is not unit.node, unit.file.around(request.calls[0]))
    if any(isinstance(each, ast.For | ast.While | ast.Lambda | ast.comprehension) for each in around):
        return False
    computed = {name for item in moved for name in item.binds} | unit.kinds.placeholders
    is_call = isinstance(leaf, ast.Call) and (unit.kinds.symbol(leaf.func) or "").startswith("tf.")
    return is_call and not names_in([leaf]) & computed and is_tensor(unit.kinds, leaf, [])


def run_eagerly(unit: Unit, request: UnitRequest) -> None:
    text, call = unit.texts.of(request.leaves[0]), request.calls[0]
    unit.texts.replace(call, text if isinstance(unit.file.parents[call], ast.Expr) else f"{text}.numpy()")
    assert request.statement is not None
    unit.replaced[request.statement] = []


def drops_operations(unit: Unit, request: UnitRequest) -> bool:
    """Whether each call unpacks the results or takes one of them, and nothing reads what there is for an operation."""
    return all(
        _targets(unit, request, call) is not None
        or _chosen(unit, request, call) is not None
        or _takes_values(unit, request, call)
        for call in request.calls
    )


def gives_nones(unit: Unit, request: UnitRequest) -> bool:
    """Whether a request fetches several operations and nothing else, and the program does something with the list."""
    if not request.is_list or not all(map(unit.is_op, request.leaves)):
        return False
    return any(_targets(unit, request, call) is None and not _is_dropped(unit, call) for call in request.calls)


def _is_dropped(unit: Unit, call: ast.Call) -> bool:
    """Whether a result is bound to a name that nothing reads."""
    parent = unit.file.parents[call]
    target = parent.targets[0] if isinstance(parent, ast.Assign) and len(parent.targets) == 1 else None
    return isinstance(target, ast.Name) and not _is_read(unit, target.id)


def _chosen(unit: Unit, request: UnitRequest, call: ast.Call) -> int | None:
    """Return the values that a call takes, as ``sess.run([train, loss])[1]`` does; None where it takes all of them."""
    parent = unit.file.parents[call]
    index = parent.slice if isinstance(parent, ast.Subscript) and parent.value is call else None
    if not isinstance(index, ast.Constant) or type(index.value) is not int or index.value >= len(request.leaves):
        return None
    if unit.is_op(request.leaves[index.value]):
        return None
    return sum(not unit.is_op(leaf) for leaf in request.leaves[: index.value])


def _takes_a_value(unit: Unit, request: UnitRequest, index: ast.expr) -> bool:
    """Whether an index of the results takes one that is no operation."""
    try:
        number = ast.literal_eval(index)
        return type(number) is int and not unit.is_op(request.leaves[number])
    except (ValueError, IndexError):
        return False


def check_nested(unit: Unit, request: UnitRequest) -> None:
    """Refuse operations in lists or dicts inside of what a request fetches: a function would return them.

    Raises:
        NotPossible: There is one.
    """
    inner = [leaf for leaf in request.leaves if isinstance(leaf, ast.List | ast.Tuple | ast.Dict | ast.BinOp)]
    for part in (part for leaf in inner for part in ast.walk(leaf) if isinstance(part, ast.expr)):
        if unit.is_op(part) and not isinstance(unit.file.parents[part], ast.Attribute):
            raise NotPossible(part, "A request fetches operations in lists of lists")


def _takes_values(unit: Unit, request: UnitRequest, call: ast.Call) -> bool:
    """Whether a call takes all values and no operation, as ``sess.run([loss, accuracy, train])[:2]`` does."""
    parent = unit.file.parents[call]
    part = parent.slice if isinstance(parent, ast.Subscript) and parent.value is call else None
    if (
        not isinstance(part, ast.Slice)
        or not isinstance(request.fetches, ast.List)
        or part.lower
        or part.step
        or not isinstance(part.upper, ast.Constant)
    ):
        return False
    number = part.upper.value
    if not isinstance(number, int) or not 0 < number <= len(request.leaves):
        return False
    return all(unit.is_op(leaf) is (place >= number) for place, leaf in enumerate(request.leaves))


def _targets(unit: Unit, request: UnitRequest, call: ast.Call) -> list[ast.expr] | None:
    """The targets of the values among the results of a call; None where it does not unpack them."""
    parent = unit.file.parents[call]
    if isinstance(parent, ast.Expr):
        return []
    if not isinstance(parent, ast.Assign) or len(parent.targets) != 1:
        return None
    target = parent.targets[0]
    if not isinstance(target, ast.Tuple | ast.List) or len(target.elts) != len(request.leaves):
        return None
    kept = []
    for each, leaf in zip(target.elts, request.leaves, strict=True):
        if isinstance(each, ast.Starred):
            return None
        if not unit.is_op(leaf):
            kept.append(each)
        elif not isinstance(each, ast.Name) or _is_read(unit, each.id):
            return None
    return kept


def _is_read(unit: Unit, name: str) -> bool:
    return name in unit.own.read


def are_tensors(unit: Unit, request: UnitRequest, leaves: Sequence[ast.expr]) -> bool:
    """Whether each of what a request fetches is surely one tensor; summaries become a dict of several."""
    summaries = {name for item in unit.merges for name in item.binds}
    if any(isinstance(leaf, ast.Name) and leaf.id in summaries for leaf in leaves):
        return False
    line = unit.made.lineno if request.statement is None else request.statement.lineno
    before = [item.statement for item in unit.items if item.statement.lineno < line]
    return all(is_tensor(unit.kinds, leaf, before, in_order=True) for leaf in leaves)


def write_feed(unit: Unit, request: UnitRequest, call: ast.Call) -> None:
    """A dict of feeds has strings as its keys, and is given by name: ``run_loss(**feed)`` for ``*feed.values()``."""
    name = feed_name(call)
    if name is None or unit.kinds.classes:
        return
    scope = next(each for each in unit.file.around(call) if isinstance(each, ast.FunctionDef | ast.Module))
    dicts = [
        each.value
        for each in own_nodes(scope)
        if isinstance(each, ast.Assign) and any(isinstance(one, ast.Name) and one.id == name for one in each.targets)
    ]
    keys = [key for each in dicts if isinstance(each, ast.Dict) for key in each.keys]
    if keys and all(isinstance(key, ast.Name) and key.id in request.feeds for key in keys):
        unit.texts.replace(call.args[0], f"**{name}")
        for key in keys:
            assert isinstance(key, ast.Name)
            unit.texts.replace(key, f'"{key.id}"')


def feed_name(call: ast.Call) -> str | None:
    """The name of the dict that a call is given the values of: ``f(*feed.values())``."""
    values = call.args[0].value if len(call.args) == 1 and isinstance(call.args[0], ast.Starred) else None
    function = values.func if isinstance(values, ast.Call) else None
    is_name = isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name)
    return function.value.id if is_name else None  # type: ignore[union-attr]


def _write_truth(unit: Unit, request: UnitRequest, call: ast.Call) -> None:
    """A placeholder of truth values may be fed 1 or 0, which a tf.function does not take."""
    for name, value in zip(request.feeds, call.args, strict=False):
        if name in unit.truth_values and isinstance(value, ast.Constant) and type(value.value) is int:
            unit.texts.replace(value, str(bool(value.value)))


def write_calls(unit: Unit, request: UnitRequest) -> None:
    given = iterators.given(unit, request)
    for call in request.calls:
        for name in given:
            unit.texts.add_argument(call, name)
        _write_truth(unit, request, call)
        write_feed(unit, request, call)
    values = [leaf for leaf in request.leaves if not unit.is_op(leaf)]
    if not values:
        for call in () if gives_nones(unit, request) else request.calls:
            if isinstance(parent := unit.file.parents[call], ast.Assign) and _targets(unit, request, call) is not None:
                unit.texts.replace(parent, unit.texts.of(call))
        return
    drops = request.is_list and drops_operations(unit, request)
    for call in request.calls:
        text, parent = unit.texts.of(call), unit.file.parents[call]
        if isinstance(parent, ast.Expr):
            continue
        tensors = are_tensors(unit, request, values)
        numpy = _numpy(unit, text)
        if not tensors and not request.is_list:
            unit.texts.replace(call, numpy)
        elif not request.is_list:
            unit.texts.replace(call, f"{text}.numpy()")
        elif drops and isinstance(parent, ast.Assign):
            kept = _targets(unit, request, call)
            assert kept is not None
            target = ", ".join(map(unit.texts.of, kept))
            new = f"{text}.numpy()" if len(kept) == 1 else f"[value.numpy() for value in {text}]"
            new = new if tensors else numpy
            unit.texts.replace(parent, f"{target} = {new}")
        elif drops and (index := _chosen(unit, request, call)) is not None:
            value = text if len(values) == 1 else f"{text}[{index}]"
            unit.texts.replace(parent, f"{value}.numpy()" if tensors else _numpy(unit, value))
        elif drops and tensors and _takes_values(unit, request, call):
            is_one = len(values) == 1
            unit.texts.replace(parent, f"[{text}.numpy()]" if is_one else f"[value.numpy() for value in {text}]")
        elif isinstance(parent, ast.Subscript) and _takes_a_value(unit, request, parent.slice) and tensors:
            unit.texts.replace(parent, f"{text}[{unit.texts.of(parent.slice)}].numpy()")
        elif len(values) == len(request.leaves) and not tensors:
            unit.texts.replace(call, numpy)
        elif len(values) == len(request.leaves):
            unit.texts.replace(call, _arrays(request, parent, f"value.numpy() for value in {text}"))
        elif not tensors:
            raise NotPossible(call, "A request fetches operations and lists of tensors together")
        else:
            found = f"value if value is None else value.numpy() for value in {text}"
            unit.texts.replace(call, _arrays(request, parent, found))


def _arrays(request: UnitRequest, parent: ast.AST, values: str) -> str:
    """A list, or where the program fetches a tuple and does more than unpack it, a tuple of arrays."""
    is_unpacked = isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Tuple | ast.List)
    return f"tuple({values})" if isinstance(request.fetches, ast.Tuple) and not is_unpacked else f"[{values}]"
