"""Moving averages of variables: ``tf.train.ExponentialMovingAverage`` makes them where it is applied first.

TensorFlow 1 makes an average with the graph, and it begins as its variable does. So it is applied once before any
request is: that makes the averages, and changes none.
"""

from __future__ import annotations

import ast

from ..requests.request import NotPossible
from .checkpoints import is_saver
from .kinds import Kind
from .queues import is_apply
from .refusals import calls_of_program, is_print
from .unit import Unit

__all__ = ["check_averages", "find_restored", "write_averages"]

_METHODS = frozenset(["apply", "average", "average_name"])


def find_restored(unit: Unit) -> None:
    """Note where averages are restored into their variables, from a file that the program has just saved.

    In TensorFlow 1 a saver of ``variables_to_restore()`` does so, whatever the file is. Here the averages are a part of
    the program's own checkpoints.

    Raises:
        NotPossible: They are restored in another way.
    """
    for node in ast.walk(unit.area):
        if not _is_listing(unit, node):
            continue
        assert isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        statement = unit.file.parents[node]
        uses: list[ast.AST] = [node]
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            name = statement.targets[0].id
            names = [each for each in ast.walk(unit.area) if isinstance(each, ast.Name) and each.id == name]
            uses = [each for each in names if isinstance(each.ctx, ast.Load)]
            if len(uses) != len(names) - 1:
                raise NotPossible(statement, "Averages of variables are restored in a way that is not known")
            unit.replaced[statement] = []
        for each in uses:
            _note_use(unit, ast.unparse(node.func.value), each)


def _is_listing(unit: Unit, node: ast.AST) -> bool:
    """Whether an expression is ``averages.variables_to_restore()``."""
    function = node.func if isinstance(node, ast.Call) and not node.args and not node.keywords else None
    if not isinstance(function, ast.Attribute) or not isinstance(function.value, ast.Name):
        return False
    return function.attr == "variables_to_restore" and function.value.id in unit.kinds.averages


def _note_use(unit: Unit, average: str, node: ast.AST) -> None:
    """Note a use of what ``variables_to_restore()`` gives: a saver has it, or it is printed."""
    statement = next(each for each in unit.file.around(node) if isinstance(each, ast.stmt))
    if is_print(statement) and not calls_of_program(unit.kinds, statement):
        if statement not in unit.replaced:
            unit.replaced[statement] = []
            unit.dropped.append(statement)
        return
    call = statement.value if isinstance(statement, ast.Expr) else None
    function = call.func if isinstance(call, ast.Call) else None
    made = function.value if isinstance(function, ast.Attribute) and function.attr == "restore" else None
    if (
        isinstance(call, ast.Call)
        and is_saver(unit.kinds, made)
        and unit.file.parents[node] is made
        and len(call.args) == 2
    ):
        saver = _saver_of(unit, call.args[1])
        if saver is not None:
            unit.restored[statement] = average, saver
            return
    raise NotPossible(node, "Averages of variables are restored from a file that may be of TensorFlow 1")


def _saver_of(unit: Unit, path: ast.expr) -> str | None:
    """The name of the saver that saved a file, if its path is known by what that gave."""
    if not isinstance(path, ast.Name):
        return None
    stores = [each for each in ast.walk(unit.area) if isinstance(each, ast.Name) and each.id == path.id]
    made = [unit.file.parents[each] for each in stores if not isinstance(each.ctx, ast.Load)]
    value = made[0].value if len(made) == 1 and isinstance(made[0], ast.Assign) else None
    function = value.func if isinstance(value, ast.Call) else None
    if not isinstance(function, ast.Attribute) or function.attr != "save" or not isinstance(function.value, ast.Name):
        return None
    return function.value.id


def check_averages(unit: Unit) -> None:
    """Refuse averages of what is no variable, and uses of them that are not known.

    Raises:
        NotPossible: There is one.
    """
    for node in ast.walk(unit.area):
        if not isinstance(node, ast.Name) or node.id not in unit.kinds.averages or not isinstance(node.ctx, ast.Load):
            continue
        parent = unit.file.parents[node]
        if not isinstance(parent, ast.Attribute) or parent.attr not in (*_METHODS, "variables_to_restore"):
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
