"""The losses that a graph keeps, before the graphs of a file are read: their sum is written out."""

from __future__ import annotations

import ast

from ....source.edits import Edit
from ....source.uses import FileUses, Use
from .edited import edited
from .scopes import FLAT
from .statements import is_any_block

__all__ = ["with_listed_losses"]

_TOTAL, _LIST, _ADD = "tf.losses.get_total_loss", "tf.losses.get_losses", "tf.losses.add_loss"


def with_listed_losses(file: FileUses) -> FileUses:
    """Return a file that lists its losses where it asks the graph for them; the file itself where it does not.

    Nothing changes where a loss may be another one: one that a function or a loop makes, that has no name of its own,
    or that is of a layer's regularizer.
    """
    uses = [use for use in file.uses if use.name.startswith("tf.losses.") and use.name != "tf.losses.Reduction"]
    asking = [use for use in uses if use.name in (_TOTAL, _LIST)]
    others = any(".losses." in use.name and not use.name.startswith("tf.losses.") for use in file.uses)
    if not asking or others or "regularizer" in file.source.text or "loss_collection" in file.source.text:
        return file
    edits: list[Edit] = []
    losses: list[tuple[ast.stmt, str]] = []
    for use in uses:
        if use in asking or use.name.startswith("tf.losses.Reduction."):
            continue
        found = _loss(file, use)
        if found is None:
            return file
        losses.append(found[0])
        edits += found[1]
    for use in asking:
        call = use.call
        if call is None or call.args or any(each.arg != "name" for each in call.keywords) or not _is_built(file, call):
            return file
        names = [name for statement, name in losses if _block(file, statement) == _block(file, call)
                 and statement.lineno < call.lineno]  # fmt: skip
        if not names or len(names) != len([each for each in losses if each[0].lineno < call.lineno]):
            return file
        tensorflow = next(each.bound for each in file.imports if each.meaning == "tensorflow")
        listed = f"[{', '.join(names)}]"
        total = names[0] if len(names) == 1 else f"{tensorflow}.add_n({listed})"
        edits.append(file.positions.replace(call, listed if use.name == _LIST else total))
    return edited(file, edits)


def _loss(file: FileUses, use: Use) -> tuple[tuple[ast.stmt, str], list[Edit]] | None:
    """The statement that makes a loss and the loss's name, and the edits that give it one; None where it has none."""
    call = use.call
    if call is None or not _is_built(file, call):
        return None
    statement = file.parents[call]
    if use.name == _ADD and isinstance(statement, ast.Expr) and len(call.args) == 1 and not call.keywords:
        given = call.args[0]
        if isinstance(given, ast.Name):
            return (
                ((statement, given.id), [_without(file, statement)])
                if _stores(file, statement, given.id) == 1
                else None
            )
        name, number = "added_loss", 1
        while file.taken(name) or any(name == each for each in _added(file, statement)):
            number += 1
            name = f"added_loss_{number}"
        return (statement, name), [file.positions.replace(statement, f"{name} = {file.positions.source(given)}")]
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1 or use.name == _ADD:
        return None
    target = statement.targets[0]
    if not isinstance(target, ast.Name) or _stores(file, statement, target.id) != 1:
        return None
    return (statement, target.id), []


def _added(file: FileUses, statement: ast.stmt) -> list[str]:
    """The names that losses have got which are added before a statement."""
    number = sum(1 for use in file.uses if use.name == _ADD and use.node.lineno < statement.lineno)
    return ["added_loss", *(f"added_loss_{each}" for each in range(2, number + 1))][:number]


def _without(file: FileUses, statement: ast.stmt) -> Edit:
    end = file.positions.line_start((statement.end_lineno or 0) + 1)
    return Edit(file.positions.line_start(statement.lineno), end, "")


def _stores(file: FileUses, statement: ast.stmt, name: str) -> int:
    """Count the bindings of a name at a statement."""
    nodes = [each for each in ast.walk(_scope(file, statement)) if isinstance(each, ast.Name) and each.id == name]
    return sum(not isinstance(each.ctx, ast.Load) for each in nodes)


def _scope(file: FileUses, node: ast.AST) -> ast.AST:
    return next(each for each in file.around(node) if isinstance(each, ast.FunctionDef | ast.Module))


def _block(file: FileUses, node: ast.AST) -> tuple[ast.AST, str]:
    """The graph that a node is built in: where it is made, and its name."""
    blocks = [each for each in file.around(node) if isinstance(each, ast.With) and is_any_block(each)]
    return _scope(file, node), ast.unparse(blocks[-1].items[0].context_expr)


def _is_built(file: FileUses, node: ast.AST) -> bool:
    """Whether a node is in a statement of ``with legacy:``, or in a scope of names there."""
    symbols = {use.node: use.name for use in file.uses}
    statement = next(each for each in file.around(node) if isinstance(each, ast.stmt))
    for each in file.around(statement):
        if not isinstance(each, ast.With):
            return False
        if is_any_block(each):
            return True
        calls = [item.context_expr for item in each.items]
        if not all(isinstance(call, ast.Call) and symbols.get(call.func) in FLAT for call in calls):
            return False
    return False
