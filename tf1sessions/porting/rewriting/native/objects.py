"""Calls of a graph as TensorFlow 2 has them: what has variables is made once, in place of the statement."""

from __future__ import annotations

import ast
import dataclasses
import re

from ..requests.arguments import arguments
from ..requests.request import NotPossible, names_in
from . import iterators, summaries
from .calls import Native, NotNative, is_kept, native_call, snake
from .kinds import Kind, creates
from .modules import named_layer
from .rest import calls_inner_first, is_again, is_repeated, method_call
from .separation import METRIC_VALUE
from .statements import OPERATIONS, Item
from .tensors import is_tensor
from .unit import INITIALIZERS, PLACEHOLDERS, Unit

__all__ = ["rewrite_calls"]

_ASSIGNMENTS = frozenset(["assign", "assign_add", "assign_sub"])
#: What the name of a training step says besides of what it is one.
_STEP_WORDS = frozenset("train training trainer op step minimize update run".split())
_MOMENTUM = "tf.train.MomentumOptimizer"
#: Optimizers of version 1, which read a learning rate that changes from a variable.
_OF_VERSION_1 = frozenset([_MOMENTUM, "tf.train.RMSPropOptimizer", "tf.train.FtrlOptimizer"])


def rewrite_calls(unit: Unit) -> None:
    for item in unit.items:
        _placeholder(unit, item)
        _rewrite(unit, item)
    datasets = [node for each in unit.iterators.values() for node in iterators.nodes(each)]
    for node in [*(request.fetches for request in unit.requests), *unit.unwrapped, *datasets]:
        for call in calls_inner_first(node):
            _rewrite_call(unit, call, None)
    _run_at_once(unit)


def _run_at_once(unit: Unit) -> None:
    """``legacy.run()`` of what is written out and depends on nothing that requests compute: it is executed eagerly."""
    computed = {name for item in unit.items if unit.is_moved(item) for name in item.binds}
    for node in ast.walk(unit.node):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr != "run":
            continue
        value = node.func.value
        if not isinstance(value, ast.Name) or value.id != unit.legacy:
            continue
        if len(node.args) != 1 or node.keywords or names_in(node.args) & (computed | unit.kinds.placeholders):
            raise NotPossible(node, "A request is put together while the program runs")
        if not _is_one_value(unit, node.args[0]):
            raise NotPossible(node, "A request is put together while the program runs")
        text = unit.texts.of(node.args[0])
        unit.texts.replace(node, text if isinstance(unit.file.parents[node], ast.Expr) else f"{text}.numpy()")


def _is_one_value(unit: Unit, node: ast.expr) -> bool:
    """Whether an expression is surely a variable, an assignment of one, or one tensor that a call computes."""
    if unit.is_variable(node):
        return True
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Attribute) and node.func.attr in _ASSIGNMENTS and unit.is_variable(node.func.value):
        return True
    return is_tensor(unit.kinds, node, [])


def _placeholder(unit: Unit, item: Item) -> None:
    statement = item.statement
    if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Call):
        return
    call, symbol = statement.value, unit.kinds.symbol(statement.value.func)
    if symbol not in PLACEHOLDERS:
        return
    assert isinstance(statement.targets[0], ast.Name)
    name = statement.targets[0].id
    given = arguments(call, ("dtype" if symbol == PLACEHOLDERS[0] else "input", "shape", "name"))
    base = unit.texts.tensorflow
    shape = unit.texts.of(given["shape"]) if "shape" in given else "None"
    if symbol == PLACEHOLDERS[1]:
        default = given["input"]
        unit.specs[name] = default
        dtype = f"{base}.convert_to_tensor({unit.texts.of(default)}).dtype"
    else:
        dtype = unit.texts.of(given["dtype"])
        if unit.kinds.symbol(given["dtype"]) == "tf.bool":
            unit.truth_values.add(name)
    unit.texts.replace(call, f'{base}.TensorSpec({shape}, {dtype}, name="{name}")')
    item.kind = Kind.STATIC


def _rewrite(unit: Unit, item: Item) -> None:
    for call in calls_inner_first(item.statement):
        _rewrite_call(unit, call, item)
    value = getattr(item.statement, "value", None)
    if isinstance(value, ast.Attribute) and value.attr == METRIC_VALUE and isinstance(value.value, ast.Name):
        name = value.value.id  # what it is the value of is updated by others
        before = unit.items[: unit.items.index(item)]
        update = next(each for each in reversed(before) if name in each.binds)
        item.reads.discard(name)
        unit.metric_values[item] = update
        unit.texts.replace(value, f"{unit.objects[update][-1][0]}.result()")


def _rewrite_call(unit: Unit, call: ast.Call, item: Item | None) -> None:
    symbol = unit.kinds.symbol(call.func)
    if symbol is None and (text := method_call(unit.texts, call)) is not None:
        if text.startswith("iter(") and item is not None and unit.is_moved(item):
            text = _made_before(unit, call, item, Native("iterator", text, "{made}", "iterator"))
        unit.texts.replace(call, text)
        return
    if unit.modules.of(call) is not None:
        _module(unit, call, item)
        return
    if item is not None and unit.is_moved(item) and (variable := unit.modules.variable_of(call)) is not None:
        if isinstance(item.statement, ast.For | ast.While | ast.If | ast.Try):
            raise NotPossible(call, "A loop or a condition makes a variable or a layer")
        unit.texts.replace(call, _made_before(unit, call, item, variable))
        return
    if symbol is None or not symbol.startswith(("tf.", "tf1sessions.contrib.")) or symbol in PLACEHOLDERS:
        return
    if symbol in INITIALIZERS or symbol in OPERATIONS or summaries.is_merge(unit.kinds, call):
        return
    if symbol in summaries.SUMMARIES or symbol.startswith("tf1sessions.porting."):
        return
    rate = _rate(unit, call, symbol)
    native = native_call(call, symbol, unit.texts.of, unit.texts.tensorflow, kept=is_kept(unit.file, call))
    if rate is not None and symbol == _MOMENTUM:  # Keras counts it into the momentum otherwise
        native = Native("optimizer", unit.texts.of(call), "{made}", "optimizer")
    if isinstance(native, NotNative):
        raise NotPossible(call, native.reason)
    if native is None:
        if creates(symbol) is not None:
            raise NotPossible(call, f"{symbol} has no form in TensorFlow 2 that is known here")
        return
    if native.made is None:
        unit.texts.replace(call, _without_stops(unit, call, native.used))
        return
    if item is None:
        raise NotPossible(call, "A request makes a variable or a layer")
    if not unit.is_moved(item):
        unit.texts.replace(call, native.used.replace("{made}", native.made))
        if rate is not None and rate.computed is not None:
            if not isinstance(item.statement, ast.Assign) or item.statement.value is not call:
                raise NotPossible(call, "An optimizer whose learning rate is computed has no name")
            unit.rates |= {name: (rate.computed, rate.variable or f"{name}.learning_rate") for name in item.binds}
            unit.before.setdefault(item, []).extend(_rate_variable(unit, rate))
            item.reads -= names_in([rate.computed])
        return
    if rate is not None and rate.variable is not None:
        unit.before.setdefault(item, []).extend(_rate_variable(unit, rate))
    name = _object(unit, call, item, native)
    if rate is not None and rate.computed is not None:
        unit.rates[name] = rate.computed, rate.variable or f"{name}.learning_rate"
    place: ast.AST = call
    if native.kind == "metric":
        place = unit.file.parents[call]
        if not (isinstance(place, ast.Subscript) and isinstance(place.slice, ast.Constant) and place.slice.value == 1):
            raise NotPossible(call, "The value and the update of a metric are used apart")
    unit.texts.replace(place, native.used.replace("{made}", name))


def _without_stops(unit: Unit, call: ast.Call, text: str) -> str:
    """Leave out a stop of gradients at labels that depend on no variable."""
    for value in [*call.args, *(each.value for each in call.keywords)]:
        written = unit.texts.of(value)
        stop = f"labels={unit.texts.tensorflow}.stop_gradient({written})"
        if stop in text and _is_fed(unit, value, len(unit.items)):
            return text.replace(stop, f"labels={written}")
    return text


def _is_fed(unit: Unit, node: ast.expr, number: int) -> bool:
    """Whether an expression, behind so many statements, depends on what is fed and on values of Python alone."""
    for each in ast.walk(node):
        if isinstance(each, ast.Call) and not (unit.kinds.symbol(each.func) or "").startswith("tf."):
            return False
        if not isinstance(each, ast.Name) or unit.kinds.symbol(each) is not None or each.id == unit.texts.tensorflow:
            continue
        binders = [place for place, item in enumerate(unit.items) if each.id in item.binds]
        if each.id in unit.kinds.placeholders and len(binders) == 1:
            continue
        value = getattr(unit.items[binders[0]].statement, "value", None) if len(binders) == 1 else None
        if value is None or binders[0] >= number or unit.items[binders[0]].makers:
            return False
        if not _is_fed(unit, value, binders[0]):
            return False
    return True


def _object(unit: Unit, call: ast.Call, item: Item, native: Native) -> str:
    """Return the object that a call uses: a new one, or with ``reuse=True`` that of an earlier call of its name.

    Raises:
        NotPossible: There is no earlier one in this scope of names, or a new one cannot be made.
    """
    given = {each.arg: each.value for each in call.keywords}
    scopes = [unit.texts.of(each.context_expr) for block in item.context for each in block.items]
    key = "/".join(scopes), ast.unparse(given["name"]) if "name" in given else ""
    if is_again(call, given.get("reuse")):
        if key not in unit.named_layers:
            raise NotPossible(call, "A layer is used again that is made elsewhere")
        return unit.named_layers[key]
    named = _scopes_in_names(unit, item)
    if isinstance(unit.area, ast.ClassDef) and _has_own_scope(named):  # Keras counts over all objects
        scope = "/".join(map(unit.texts.of, named))
        native = dataclasses.replace(native, made=named_layer(native, call, unit.layer_counts, (scope, native.name)))
    name = _made_before(unit, call, item, native)
    if native.kind == "layer" and "name" in given:
        unit.named_layers[key] = name
    return name


def _scopes_in_names(unit: Unit, item: Item) -> list[ast.Call]:
    """The scopes around a statement that are in the names of the variables of layers, the outermost first."""
    calls = [each.context_expr for block in item.context for each in block.items]
    return [each for each in calls if isinstance(each, ast.Call) and unit.kinds.symbol(each.func) != "tf.name_scope"]


def _has_own_scope(scopes: list[ast.Call]) -> bool:
    """Whether one of some scopes has a name that is computed, so that each object has another one."""
    names = [each.args[0] for each in scopes if each.args]
    return not all(isinstance(each, ast.Constant) for each in names)


def _made_before(unit: Unit, call: ast.Call, item: Item, native: Native) -> str:
    """Make an object, once, in place of a statement that requests compute; return its name.

    Raises:
        NotPossible: It would not be made once, or is made of what requests compute.
    """
    assert native.made is not None
    if is_repeated(unit.file, call, item.statement):
        raise NotPossible(call, "A loop inside of an expression makes variables or layers")
    if names_in([ast.parse(native.made, mode="eval").body]) & unit.computed:
        raise NotPossible(call, "What makes a variable, a layer or an iterator depends on what requests compute")
    name = unit.new_name(_optimizer_name(unit, item) if native.kind == "optimizer" else native.name)
    unit.objects.setdefault(item, []).append((name, native.made, native.kind))
    return name


def _optimizer_name(unit: Unit, item: Item) -> str:
    """A name for the optimizer of a step: ``G_opt`` and ``train_G`` are of ``G_opt`` and ``G_optimizer``."""
    targets = [each.id for each in getattr(item.statement, "targets", []) if isinstance(each, ast.Name)]
    if len(targets) != 1:
        return "optimizer"
    if re.search(r"(opt|optim|optimi[sz]er|solver)(_?\d+)?$", targets[0], re.IGNORECASE):
        return targets[0]
    makers = [each for one in unit.items for each in one.makers if creates(unit.kinds.symbol(each.func)) == "optimizer"]
    words = [each for each in targets[0].split("_") if each.lower() not in _STEP_WORDS]
    return "_".join([*words, "optimizer"]) if len(makers) > 1 else "optimizer"


@dataclasses.dataclass(frozen=True)
class _Rate:
    """The learning rate of an optimizer, if that changes.

    Attributes:
        computed: The expression that requests compute; None for a variable of the program.
        variable: The variable that each step sets, for an optimizer of version 1, and where a checkpoint is read; else
            the optimizer has one.
    """

    computed: ast.expr | None
    variable: str | None


def _rate(unit: Unit, call: ast.Call, symbol: str) -> _Rate | None:
    """The learning rate of an optimizer, if it changes: each step sets the one that requests compute."""
    if creates(symbol) != "optimizer":
        return None
    named = [each.value for each in call.keywords if each.arg == "learning_rate"]
    found = [*named, *call.args][:1]
    kind = unit.kinds.of(found[0], unit.scope) if found else Kind.STATIC
    if kind < Kind.CONSTANT:
        return None if kind is Kind.STATIC else _Rate(None, None)
    is_given = symbol in _OF_VERSION_1 or _restores(unit)
    variable = unit.new_name("learning_rate") if is_given else None
    unit.rate_texts[found[0]] = unit.texts.of(found[0])
    given = "0.0" if variable is None else variable if symbol in _OF_VERSION_1 else f"lambda: {variable}"
    unit.texts.replace(found[0], given)
    return _Rate(found[0], variable)


def _restores(unit: Unit) -> bool:
    """Whether the program reads a checkpoint: one of TensorFlow 1 has nothing for an optimizer's own learning rate."""
    calls = (each.func for each in ast.walk(unit.node) if isinstance(each, ast.Call))
    return any(isinstance(each, ast.Attribute) and each.attr == "restore" for each in calls)


def _rate_variable(unit: Unit, rate: _Rate) -> list[str]:
    if rate.variable is None:
        return []
    return [f'{rate.variable} = {unit.texts.tensorflow}.Variable(0.0, trainable=False, name="learning_rate")']


def _module(unit: Unit, call: ast.Call, item: Item | None) -> None:
    """A call of a function that became a class: of an object that is made once."""
    assert isinstance(call.func, ast.Name)
    made, used, shares = unit.modules.split(call)
    key = call.func.id, made
    name = unit.shared.get(key) if shares else None
    if name is None:
        if item is None or is_repeated(unit.file, call, item.statement):
            raise NotPossible(call, "A request or a loop makes a variable or a layer")
        is_class = call.func.id == unit.modules.class_name(call)
        name = unit.shared[key] = unit.new_name(snake(call.func.id) if is_class else call.func.id)
        unit.objects.setdefault(item, []).append((name, made, "module"))
    unit.texts.replace(call, used.replace("{made}", name))
