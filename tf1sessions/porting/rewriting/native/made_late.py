"""Layers and optimizers have their variables by the time that a checkpoint is written, as in TensorFlow 1.

They make them when the function of a request that uses them is traced: with the first step, or before a checkpoint
that is written first.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ..requests.request import NotPossible, names_in
from . import iterators, outputs, slices
from .kinds import creates
from .unit import Unit, UnitRequest

__all__ = ["build_before_saving"]

_MAKING = frozenset(["cell", "keras layer", "layer", "optimizer"])


def build_before_saving(unit: Unit, requests: Sequence[UnitRequest]) -> None:
    """Trace the functions of requests before a checkpoint is written that they may not have been called before.

    Args:
        unit: The graph.
        requests: Those that become functions, in their order.

    Raises:
        NotPossible: Such a function is not known where the checkpoint is written, or is given an iterator that may be
            of several data sets.
    """
    making = {each: names for each in requests if each.statement is not None and (names := _late_names(unit, each))}
    for call, (surely, perhaps) in unit.run_before.items():
        statement = unit.file.statement(call)
        lines: list[str] = []
        for request, names in sorted(making.items(), key=lambda each: len(each[1]), reverse=True):
            if names <= surely:
                continue
            surely |= names
            line = _tracing(unit, request, statement)
            if line is None and not names <= perhaps:
                raise NotPossible(call, "A checkpoint is written before layers or optimizers have their variables")
            lines += [line] if line is not None else []
        if lines:
            lines[0] += "  # now layers and optimizers have their variables"
            unit.texts.put_before(statement, lines)


def _tracing(unit: Unit, request: UnitRequest, statement: ast.stmt) -> str | None:
    """The call that traces the function of a request before a statement; None where it cannot be written there."""
    if not _is_known(unit, request, statement):
        return None
    try:
        specs = [
            iterators.signature(unit, request, each, unit.texts.tensorflow) for each in iterators.given(unit, request)
        ]
    except NotPossible:
        return None
    return f"{request.name}.get_concrete_function({'' if request.feeds else ', '.join(specs)})"


def _late_names(unit: Unit, request: UnitRequest) -> frozenset[str]:
    """The names of layers and optimizers that a request uses, or of what they compute."""
    static = {
        name
        for item in unit.items
        if not unit.is_moved(item) and any(creates(unit.kinds.symbol(each.func)) in _MAKING for each in item.makers)
        for name in item.binds
    }
    moved = [item for item in unit.items if unit.is_moved(item)]
    found: set[str] = set()
    for item in slices.needed(moved, names_in(request.leaves), request.feeds):
        found |= item.reads & static
        if any(outputs.is_saved(unit, name, kind) for name, _, kind in unit.objects.get(item, [])):
            found |= item.binds
    return frozenset(found)


def _is_known(unit: Unit, request: UnitRequest, statement: ast.stmt) -> bool:
    """Whether the function of a request has been made where a statement is executed."""
    made = request.statement
    assert made is not None
    around = next(each for each in unit.file.around(made) if isinstance(each, ast.FunctionDef | ast.Module))
    inner = next(each for each in unit.file.around(statement) if isinstance(each, ast.FunctionDef | ast.Module))
    return around in unit.file.around(statement) and (around is not inner or made.lineno < statement.lineno)
