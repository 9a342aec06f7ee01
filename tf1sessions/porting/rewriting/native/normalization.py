"""Batch normalisation: Keras updates its averages whenever it trains, TensorFlow 1 when a request runs the updates."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from ..requests.request import NotPossible, names_in
from . import slices, variables
from .call_sites import feed_name
from .kinds import Kinds
from .statements import Item
from .texts import INDENT
from .unit import Unit, UnitRequest

__all__ = ["find_frozen", "frozen_lines"]

_LAYER = "tf.layers.batch_normalization"


def find_frozen(unit: Unit, moved: Sequence[Item]) -> None:
    """Note the requests that run batch normalisation in training mode without its updates.

    Raises:
        NotPossible: The layers would not have their averages by then.
    """
    for request in unit.requests:
        if all(map(unit.is_initializer, request.leaves)):
            continue
        items = slices.needed(moved, names_in(request.leaves), request.feeds)
        _check_updates(unit, request, items, moved)
        if not _may_update(unit, request, items):
            continue
        unit.frozen.add(request)
        if unit.built is None:
            layers = [item for item in items if any(map(_may_train, _layers(unit.kinds, item.statement)))]
            place = unit.items[-1]
            if place in layers:
                where = request.statement if request.statement is not None else place.statement
                raise NotPossible(where, "A request may run batch normalisation in training mode without its updates")
            unit.built = place, layers


def _check_updates(unit: Unit, request: UnitRequest, items: Sequence[Item], moved: Sequence[Item]) -> None:
    """Refuse a request that runs other updates than those of the layers that it computes with.

    Raises:
        NotPossible: It runs those of layers that it does not need, or not all that it trains.
    """
    running = [item for item in items if _runs_updates(unit, item)]
    if not running:
        return
    lists = [
        each for item in unit.update_lists for each in ast.walk(item) if variables.is_update_list(unit.kinds, each)
    ]
    contexts = [block.items[0].context_expr for item in running for block in item.context]
    parts = [each for node in [*contexts, *(item.statement for item in running)] for each in ast.walk(node)]
    lists += [each for each in parts if variables.is_update_list(unit.kinds, each)]
    last = max(each.lineno for each in lists if isinstance(each, ast.Call))
    training = [item for item in moved if any(map(_may_train, _layers(unit.kinds, item.statement)))]
    where = request.statement if request.statement is not None else unit.made
    if any(item not in items and item.statement.lineno < last for item in training):
        raise NotPossible(where, "A request runs the updates of batch normalisation in layers that it does not need")
    if len(training) > 1 and any(
        isinstance(each, ast.Call) and len(each.args) + len(each.keywords) > 1 for each in lists
    ):
        raise NotPossible(where, "A request may not run all updates of the batch normalisation that it trains")


def frozen_lines(unit: Unit) -> tuple[list[str], list[str]]:
    """Lines before and behind what a request computes, by which batch normalisation has the averages that it had."""
    names = []
    for item, made in unit.objects.items():
        has_layers = any(_layers(unit.kinds, item.statement))
        is_own = {"layer": ".BatchNormalization(", "module": ""}
        names += [name for name, text, kind in made if has_layers and kind in is_own and is_own[kind] in text]
    averages, values = unit.local("averages"), unit.local("values")
    each, value = unit.local("average"), unit.local("value")
    listed = ", ".join(f"*{name}.variables" for name in names)
    listed = f"{names[0]}.variables" if len(names) == 1 else f"[{listed}]"
    before = [
        "# TensorFlow 1 did not update the averages of batch normalisation here.",
        f'{averages} = [{each} for {each} in {listed} if "moving_" in {each}.name]',
        f"{values} = [{each}.read_value() for {each} in {averages}]",
    ]
    return before, [f"for {each}, {value} in zip({averages}, {values}):", f"{INDENT}{each}.assign({value})"]


def _may_update(unit: Unit, request: UnitRequest, items: Sequence[Item]) -> bool:
    """Whether a request, which needs some statements, trains batch normalisation and does not run its updates."""
    layers = [call for item in items for call in _layers(unit.kinds, item.statement) if _may_train(call)]
    if not layers or any(_runs_updates(unit, item) for item in items):
        return False
    read = set().union(*(item.reads for item in items))
    flags = sorted(read & _flags(unit))
    return not flags or not all(_is_off(unit, request, flag) for flag in flags)


def _layers(kinds: Kinds, node: ast.AST) -> Iterator[ast.Call]:
    """The calls of batch normalisation in a statement and in the functions that it calls."""
    seen: set[ast.AST] = set()
    stack = [node]
    while stack:
        for each in ast.walk(stack.pop()):
            if not isinstance(each, ast.Call):
                continue
            if kinds.symbol(each.func) == _LAYER:
                yield each
            function = kinds.functions.get(each.func.id) if isinstance(each.func, ast.Name) else None
            if function is not None and function not in seen:
                seen.add(function)
                stack.append(function)


def _may_train(call: ast.Call) -> bool:
    training = [each.value for each in call.keywords if each.arg == "training"]
    return bool(training) and not (isinstance(training[0], ast.Constant) and not training[0].value)


def _runs_updates(unit: Unit, item: Item) -> bool:
    """Whether a statement runs the updates: it depends on their collection, or on a name for it."""
    contexts = [each.context_expr for block in item.context for each in block.items]
    for node in (each for one in [*contexts, item.statement] for each in ast.walk(one)):
        if isinstance(node, ast.Name) and node.id in unit.updates:
            return True
        if variables.is_update_list(unit.kinds, node):
            return True
    return False


def _flags(unit: Unit) -> set[str]:
    """The placeholders that are booleans."""
    found = set()
    for statement in ast.walk(unit.node):
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call):
            names = {target.id for target in statement.targets if isinstance(target, ast.Name)}
            if names & unit.kinds.placeholders and _is_boolean(unit.kinds, statement.value):
                found |= names
    return found


def _is_boolean(kinds: Kinds, call: ast.Call) -> bool:
    given = [*call.args[:1], *(each.value for each in call.keywords if each.arg in ("dtype", "input"))]
    return bool(given) and (
        kinds.symbol(given[0]) == "tf.bool"
        or (isinstance(given[0], ast.Constant) and (given[0].value == "bool" or isinstance(given[0].value, bool)))
    )


def _is_off(unit: Unit, request: UnitRequest, flag: str) -> bool:
    """Whether a request has a flag as False in each call."""
    if flag not in request.feeds:
        return _is_false(unit.specs.get(flag))
    return all(_is_false(_fed(unit, request, call, flag)) for call in request.calls)


def _is_false(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is False


def _fed(unit: Unit, request: UnitRequest, call: ast.Call, flag: str) -> ast.expr | None:
    """Return the argument that a call feeds to a placeholder; None where it is not written out."""
    if (name := feed_name(call)) is not None:
        dicts = [
            each.value
            for each in ast.walk(unit.node)
            if isinstance(each, ast.Assign)
            and any(isinstance(target, ast.Name) and target.id == name for target in each.targets)
        ]
        if len(dicts) != 1 or not isinstance(dicts[0], ast.Dict):
            return None
        pairs = zip(dicts[0].keys, dicts[0].values, strict=True)
        return next((value for key, value in pairs if isinstance(key, ast.Name) and key.id == flag), None)
    position = request.feeds.index(flag)
    return call.args[position] if position < len(call.args) else None
