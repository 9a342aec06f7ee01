"""Assignments in a request that trains: TensorFlow 1 gives the two no order, and a function of TensorFlow 2 has one."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from .statements import Item
from .unit import Unit

__all__ = ["COMMENT", "UNORDERED", "note_unordered"]

#: What is said where a request assigns variables and trains.
UNORDERED = (
    "A request assigns this and trains, which TensorFlow 1 does in any order; here the assignment comes first: decide "
    "which one is meant."
)
COMMENT = "# TensorFlow 1 did this before or after the training step, by chance: decide which one is meant."
_ASSIGNMENTS = ("assign", "assign_add", "assign_sub")


def note_unordered(unit: Unit, plain: Sequence[Item], rest: Sequence[Item]) -> set[Item]:
    """Note the statements of a request that assign variables which may be trained, in no order with its training.

    Args:
        unit: The graph, which notes them.
        plain: The statements that depend on no training step, in their order.
        rest: The training steps, and what depends on them.

    Returns:
        The statements.
    """
    steps = [item for item in rest if item in unit.steps and unit.steps[item].is_operation]
    read = set().union(*(item.reads for item in steps))  # by a step: what binds it comes first
    found: set[Item] = set()
    for item in reversed(plain if steps else ()):
        if item.binds & read:
            read |= item.reads
        elif any(_may_be_trained(unit, each) for each in _assigned(unit, item.statement)):
            found.add(item)
    unit.undecided |= {item.statement: None for item in plain if item in found}
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
