"""Assignments that wait for what may fail: at the end of a data set TensorFlow 1 did not make them.

A session runs what an operation depends on before it. In a function of TensorFlow 2 an assignment does not wait for
``next(iterator)`` unless it uses the element, so that it may be made although the end of the data is raised.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from ..requests.request import NotPossible, names_in
from .effects import ASSIGNMENTS
from .kinds import Kinds
from .statements import Item
from .texts import indented
from .unit import Unit

__all__ = ["is_ordered", "may_fail", "order_of", "step_lines"]

_ELEMENTS = frozenset(["get_next", "dequeue", "dequeue_many", "dequeue_up_to"])
_CHECKS = ("assert", "check_numerics", "verify_tensor")


def may_fail(kinds: Kinds, items: Sequence[Item]) -> bool:
    """Whether statements, or functions that they call, take the next element of something, or check a value."""
    stack: list[ast.AST] = [item.statement for item in items]
    seen = set(stack)
    while stack:
        for node in ast.walk(stack.pop()):
            if isinstance(node, ast.Call) and (_method(node) in _ELEMENTS or _checks(node)):
                return True
            called = kinds.functions.get(node.id) if isinstance(node, ast.Name) else None
            if called is not None and called not in seen:
                seen.add(called)
                stack.append(called)
    return False


def _method(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""


def _checks(call: ast.Call) -> bool:
    return _method(call).lower().startswith(_CHECKS)


def assigns(item: Item) -> bool:
    """Whether a statement assigns a variable."""
    return any(_method(each) in ASSIGNMENTS for each in ast.walk(item.statement) if isinstance(each, ast.Call))


def is_ordered(unit: Unit, item: Item) -> bool:
    """Whether a statement of a function that may fail waits for others: it assigns, or these check a value."""
    names = names_in(_given(unit, item))
    before = [each.statement for each in unit.items if each.binds & names]
    calls = [call for each in before for call in ast.walk(each) if isinstance(call, ast.Call)]
    return (assigns(item) and item not in unit.steps) or any(map(_checks, calls))


def order_of(unit: Unit, item: Item) -> str:
    """Return the ``with`` line by which a statement waits for what the scopes around it name; nothing if for nothing.

    Raises:
        NotPossible: It waits for an operation that has no name in a function.
    """
    found = [part for given in _given(unit, item) for part in _parts(unit, given)]
    if not found:
        return ""
    text = found[0][1:] if len(found) == 1 and found[0].startswith("*") else f"[{', '.join(dict.fromkeys(found))}]"
    return f"with {unit.texts.tensorflow}.control_dependencies({text}):"


def step_lines(unit: Unit, item: Item, items: Sequence[Item], waits: bool) -> list[str]:
    """The lines of a training step.

    Args:
        unit: The graph.
        item: The step.
        items: The statements of the function.
        waits: Whether the function has something that may fail.
    """
    step = unit.steps[item]
    if not waits or not step.is_operation:
        return [*step.lines, *step.counted]
    *before, applied = step.lines
    is_named = any(item.binds & names for each in items if is_ordered(unit, each) for names in [_waited(unit, each)])
    if not step.counted and not is_named:
        return step.lines
    name = _name(unit, item)
    lines = [*before, f"{name} = {applied}"]
    if step.counted:
        lines += [f"with {unit.texts.tensorflow}.control_dependencies([{name}]):", *indented(step.counted)]
    return lines


def _name(unit: Unit, item: Item) -> str:
    """The name of a training step in a function."""
    return min(item.binds, default="") or unit.local("trained")


def _given(unit: Unit, item: Item) -> Iterator[ast.expr]:
    """Yield what the scopes around a statement say that it waits for."""
    for block in item.context:
        for each in block.items:
            call = each.context_expr
            if isinstance(call, ast.Call) and unit.kinds.symbol(call.func) == "tf.control_dependencies":
                yield from [*call.args, *(one.value for one in call.keywords)]


def _parts(unit: Unit, given: ast.expr) -> Iterator[str]:
    """Yield the parts of a list of what is waited for, those that are lists themselves with a star."""
    if isinstance(given, ast.List | ast.Tuple):
        for each in given.elts:
            yield from _part(unit, each)
    elif isinstance(given, ast.BinOp):
        yield from _parts(unit, given.left)
        yield from _parts(unit, given.right)
    elif not (isinstance(given, ast.Constant) or (isinstance(given, ast.Name) and given.id in unit.updates)):
        yield f"*{unit.texts.of(given)}"


def _part(unit: Unit, given: ast.expr) -> Iterator[str]:
    if not isinstance(given, ast.Name) or given.id not in unit.operations:
        yield unit.texts.of(given)
        return
    item = next(each for each in unit.items if given.id in each.binds)
    if item in unit.steps:
        yield _name(unit, item)
        return
    call = getattr(item.statement, "value", None)
    if assigns(item):
        raise NotPossible(given, "An assignment waits for others that have no name, and for what may fail")
    if isinstance(call, ast.Call) and unit.is_operation(item):
        grouped = call.args if item not in unit.averaged else []
        for each in [*_given(unit, item), *grouped]:
            if isinstance(each, ast.Starred):
                yield from _starred(unit, each)
            else:
                yield from _parts(unit, each) if not isinstance(each, ast.Name) else _part(unit, each)


def _starred(unit: Unit, given: ast.Starred) -> Iterator[str]:
    """Yield the parts of a list that a group is given with a star."""
    if not isinstance(given.value, ast.Name | ast.List | ast.Tuple | ast.BinOp):
        raise NotPossible(given, "An assignment waits for others that have no name, and for what may fail")
    yield from _parts(unit, given.value)


def _waited(unit: Unit, item: Item) -> set[str]:
    """The names of operations that a statement waits for."""
    return {part for given in _given(unit, item) for part in _parts(unit, given)}
