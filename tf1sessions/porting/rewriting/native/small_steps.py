"""Loops that call a training step each time: where steps are small, the loop belongs into a function as well."""

from __future__ import annotations

import ast

from .unit import Unit

__all__ = ["SMALL_STEPS", "training_loop"]

#: What is said at the first such loop.
SMALL_STEPS = (
    "Each turn calls a tf.function that trains: 0.1 to 0.5 milliseconds more than a request of a session. Where steps "
    'are as small as that, loop inside of a function, or call several from one: "Small steps" in '
    "migration_notes/port-native.md has the code."
)
_LOOPS = (ast.For, ast.While)


def training_loop(unit: Unit) -> ast.stmt | None:
    """Return the first innermost loop that calls the function of a request which trains; None if there is none."""
    trained = {name for item, step in unit.steps.items() if step.is_operation for name in item.binds}
    for item in unit.items:  # a group of operations that has a step in it
        if item.reads & trained and unit.is_operation(item):
            trained |= item.binds
    calls = [call for each in unit.requests for call in each.calls if _trains(each.leaves, trained)]
    loops = [next((each for each in unit.file.around(call) if isinstance(each, _LOOPS)), None) for call in calls]
    return min((each for each in loops if each is not None), key=lambda each: each.lineno, default=None)


def _trains(leaves: list[ast.expr], trained: set[str]) -> bool:
    return any(isinstance(each, ast.Name) and each.id in trained for each in leaves)
