"""Assignments in a request that trains or reads the variable: no order in TensorFlow 1, and one in TensorFlow 2."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from .statements import Item
from .unit import Unit

__all__ = ["COMMENT", "READ_COMMENT", "READ_UNORDERED", "UNORDERED", "note_unordered", "note_unordered_reads"]

#: What is said where a request assigns variables and trains.
UNORDERED = (
    "A request assigns this and trains, which TensorFlow 1 does in any order; here the assignment comes first: decide "
    "which one is meant."
)
COMMENT = "# TensorFlow 1 did this before or after the training step, by chance: decide which one is meant."
_ASSIGNMENTS = ("assign", "assign_add", "assign_sub")
#: What is said where a request assigns a variable and reads it.
READ_UNORDERED = (
    "A request assigns this and reads it besides, which TensorFlow 1 does in any order; here they come in the order of "
    "the text: decide which one is meant."
)
READ_COMMENT = "# TensorFlow 1 did this before or after the variable was read elsewhere, by chance."


def note_unordered(unit: Unit, plain: Sequence[Item], rest: Sequence[Item]) -> dict[Item, str]:
    """Note the statements of a request that assign variables which may be trained, in no order with its training.

    Args:
        unit: The graph, which notes them.
        plain: The statements that depend on no training step, in their order.
        rest: The training steps, and what depends on them.

    Returns:
        The statements, each with the comment at it.
    """
    steps = [item for item in rest if item in unit.steps and unit.steps[item].is_operation]
    read = set().union(*(item.reads for item in steps))  # by a step: what binds it comes first
    found: set[Item] = set()
    for item in reversed(plain if steps else ()):
        if item.binds & read:
            read |= item.reads
        elif any(_may_be_trained(unit, each) for each in _assigned(unit, item.statement)):
            found.add(item)
    unit.undecided |= {item.statement: UNORDERED for item in plain if item in found}
    return dict.fromkeys(found, COMMENT)


def note_unordered_reads(unit: Unit, items: Sequence[Item], fetched: Sequence[ast.expr]) -> dict[Item, str]:
    """Note the statements of a request that assign a variable which it also reads, where neither waits for the other.

    Args:
        unit: The graph, which notes them.
        items: The statements of the request, in their order.
        fetched: What it fetches.

    Returns:
        The statements, each with the comment at it.
    """
    assigning = {item: names for item in items if (names := _assigned_names(unit, item))}
    if not assigning:
        return {}
    waits_for = _dependencies(items)
    variables = {each.id for each in fetched if isinstance(each, ast.Name)}
    found: set[Item] = set()
    for one, names in assigning.items():
        others = [each for each in items if each is not one and each.reads & names and each not in assigning]
        is_unordered = any(one not in waits_for[each] and each not in waits_for[one] for each in others)
        if is_unordered or names & variables:
            found.add(one)
    unit.undecided |= {
        item.statement: READ_UNORDERED for item in items if item in found and item.statement not in unit.undecided
    }
    return dict.fromkeys(found, READ_COMMENT)


def _assigned_names(unit: Unit, item: Item) -> set[str]:
    return {
        each.id for each in _assigned(unit, item.statement) if isinstance(each, ast.Name) and unit.is_variable(each)
    }


def _dependencies(items: Sequence[Item]) -> dict[Item, set[Item]]:
    """The statements that each one needs, itself or by others."""
    found: dict[Item, set[Item]] = {}
    binders: dict[str, Item] = {}
    for item in items:
        direct = {binders[name] for name in item.reads if name in binders}
        found[item] = direct.union(*(found[each] for each in direct))
        binders |= dict.fromkeys(item.binds, item)
    return found


def _assigned(unit: Unit, statement: ast.stmt) -> Iterator[ast.expr]:
    """Yield the variables that the assignments in a statement set."""
    for call in ast.walk(statement):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in _ASSIGNMENTS:
            if unit.kinds.symbol(call.func) is None:
                yield call.func.value
            elif call.args:
                yield call.args[0]


def _may_be_trained(unit: Unit, variable: ast.expr) -> bool:
    """Whether an expression is not surely a variable that is made with ``trainable=False``."""
    made = [
        each.statement.value
        for each in unit.items
        if isinstance(variable, ast.Name) and variable.id in each.binds and isinstance(each.statement, ast.Assign)
    ]
    return not made or not all(map(_is_not_trained, made))


def _is_not_trained(made: ast.expr) -> bool:
    if not isinstance(made, ast.Call):
        return False
    name = made.func.attr if isinstance(made.func, ast.Attribute) else ""
    options = {each.arg: each.value for each in made.keywords}
    trainable = options.get("trainable")
    return name.endswith("global_step") or (isinstance(trainable, ast.Constant) and not trainable.value)
