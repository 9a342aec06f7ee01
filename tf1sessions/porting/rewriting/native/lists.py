"""Lists of variables: written out, or what a tape has seen; layers have their variables by then."""

from __future__ import annotations

import ast

from ..requests.request import NotPossible, names_in
from . import slices, variables
from .kinds import Kind
from .queues import is_operation_call
from .rest import calls_inner_first, is_repeated
from .statements import Item
from .training import differentiates
from .unit import Unit, UnitRequest

__all__ = ["building_request", "list_variables"]


def list_variables(unit: Unit) -> None:
    """``tf.trainable_variables()``: by a step that differentiates, what its tape has seen; else it is written out."""
    for number, item in enumerate(unit.items):
        for call in calls_inner_first(item.statement):
            found = variables.variable_list(unit.kinds, call)
            by_name = variables.variable_name(unit.kinds, call)
            if by_name is not None and not unit.is_moved(item):
                found = variables.VariableList(call, False, None)
            if found is None:
                continue
            statement = item.statement
            is_name = isinstance(statement, ast.Assign) and statement.value is call
            readers = [each for each in unit.items[number + 1 :] if each.reads & item.binds]
            is_for_steps = unit.is_moved(item) or (is_name and readers and all(map(unit.is_moved, readers)))
            have_tape = _behind_gradients(unit, [item] if unit.is_moved(item) else readers)
            have_tape &= not any(
                is_operation_call(unit.kinds, getattr(each.statement, "value", None)) for each in [item, *readers]
            )
            is_fetched = any(item.binds & names_in([each.fetches]) for each in unit.requests)
            if is_for_steps and have_tape and not is_fetched and found.trainable and found.scope is None:
                unit.texts.replace(call, f"{unit.local('tape')}.watched_variables()")
                item.kind = Kind.TENSOR
                unit.tape_lists.add(item)
                continue
            before = unit.items[:number]
            if unit.is_moved(item) and is_repeated(unit.file, call, statement):
                raise NotPossible(call, "A training step lists variables in a loop")
            objects = {each: [(name, kind) for name, _, kind in made] for each, made in unit.objects.items()}
            text = variables.written_out(unit.kinds, unit.texts, found, before, objects, unit.scope)
            if by_name is not None:
                text = f"next(each for each in {text} if each.name == {by_name!r})"
            if unit.is_moved(item):
                name = unit.new_name("variables")
                unit.objects.setdefault(item, []).append((name, text, "list"))
                text = name
            unit.texts.replace(call, text)
            layers = [each for each in before if any(kind in ("layer", "module") for _, kind in objects.get(each, []))]
            named = set().union(*(each.binds for each in before if variables.has_layers(unit.kinds, each)))
            layers += [each for each in before if each not in layers and unit.is_moved(each) and each.reads & named]
            if layers and unit.built is None:
                unit.built = item, layers
    _rename_variables(unit)


def _behind_gradients(unit: Unit, items: list[Item]) -> bool:
    """Whether all of these statements take gradients, or need what does: a function that has them has a tape."""
    names: set[str] = set()
    found: list[Item] = []
    for item in unit.items:
        if differentiates(unit.kinds, item.statement, unit.scope) or item.reads & names:
            names |= item.binds
            found.append(item)
    return all(item in found for item in items)


def _rename_variables(unit: Unit) -> None:
    """``v.op.name`` is the name of a variable without its ``:0``."""
    for node in ast.walk(unit.node):
        if isinstance(node, ast.Attribute) and node.attr == "name" and isinstance(node.value, ast.Attribute):
            if node.value.attr == "op" and isinstance(node.value.value, ast.Name):
                unit.texts.replace(node, f'{node.value.value.id}.name.split(":")[0]')


def building_request(unit: Unit, where: Item, layers: list[Item]) -> UnitRequest:
    """A function whose making has layers make their variables, which a statement lists."""
    moved = [item for item in unit.items if unit.is_moved(item)]
    names = {name for item in layers for name in item.binds}
    read = set().union(*(item.reads for item in slices.needed(moved, names, [])))
    feeds = [name for name in unit.feed_order if name in read and name not in unit.specs]
    fetches = ast.parse(f"[{', '.join(sorted(names))}]", mode="eval").body
    assert isinstance(fetches, ast.List)
    return UnitRequest(None, unit.new_name("make_variables"), fetches, list(fetches.elts), True, feeds, [])
