"""Moving averages of variables: ``tf.train.ExponentialMovingAverage`` makes them where it is applied first.

TensorFlow 1 makes an average with the graph, and it begins as its variable does. So it is applied once before any
request is: that makes the averages, and changes none.
"""

from __future__ import annotations

import ast

from ..requests.request import NotPossible
from .kinds import Kind
from .queues import is_apply
from .unit import Unit

__all__ = ["check_averages", "write_averages"]

_METHODS = frozenset(["apply", "average", "average_name"])


def check_averages(unit: Unit) -> None:
    """Refuse averages of what is no variable, and uses of them that are not known.

    Raises:
        NotPossible: There is one.
    """
    for node in ast.walk(unit.area):
        if not isinstance(node, ast.Name) or node.id not in unit.kinds.averages or not isinstance(node.ctx, ast.Load):
            continue
        parent = unit.file.parents[node]
        if not isinstance(parent, ast.Attribute) or parent.attr not in _METHODS:
            raise NotPossible(node, "A moving average of variables is used in a way that is not known")
    for item in unit.items:
        for call in ast.walk(item.statement):
            if not is_apply(unit.kinds, call):
                continue
            assert isinstance(call, ast.Call)
            listed = call.args[0] if len(call.args) == 1 and not call.keywords else None
            if listed is None or unit.kinds.of(listed, unit.scope) is not Kind.VARIABLES:
                raise NotPossible(call, "A moving average of what is not a list of variables")
            if getattr(item.statement, "value", None) is not call or not isinstance(item.statement, ast.Assign):
                raise NotPossible(call, "A moving average is updated in a part of another expression")


def write_averages(unit: Unit) -> None:
    """Note what makes the averages, once."""
    for item in unit.items:
        call = getattr(item.statement, "value", None)
        if not is_apply(unit.kinds, call):
            continue
        assert isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)
        (listed,) = call.args
        text = unit.texts.of(listed)
        if not text.isidentifier():
            name = unit.new_name("averaged")
            unit.objects.setdefault(item, []).append((name, text, "list"))
            unit.texts.replace(listed, name)
            text = name
        average = unit.texts.of(call.func.value)
        unit.averaged[item] = average, text
        unit.after[item] = [f"{average}.apply({text})  # makes the averages, which begin as the variables do"]
