"""Coordinators without threads: where no queue is left that threads fill, a loop needs none to end."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterable

from ....source.uses import FileUses

__all__ = ["Unneeded", "emptied", "unneeded"]

_COORDINATOR = "tf.train.Coordinator"


@dataclasses.dataclass(eq=False)
class Unneeded:
    """The parts of a file that are there for coordinators alone.

    Attributes:
        statements: Statements that go.
        conditions: Conditions of ``while`` that are always true then.
    """

    statements: list[ast.stmt] = dataclasses.field(default_factory=list)
    conditions: list[ast.expr] = dataclasses.field(default_factory=list)


def unneeded(file: FileUses, runners: Iterable[ast.Call]) -> Unneeded:
    """Return what can go with the calls that start queue runners.

    A coordinator stays if it is used in another way than to stop a loop and to wait for the threads of these calls.

    Args:
        file: The file, in which no queue is filled by threads.
        runners: The calls of ``tf.train.start_queue_runners()``.
    """
    found = Unneeded()
    started = [call for call in runners if isinstance(file.parents[call], ast.Assign | ast.Expr)]
    names = {_target(file.parents[call]) for call in started} - {""}
    for use in file.uses:
        if use.call is None or use.name != _COORDINATOR:
            continue
        made = file.parents[use.call]
        scope = next(each for each in file.around(made) if isinstance(each, ast.FunctionDef | ast.Module))
        one = _of_one(file, scope, made, names, started)
        if one is not None:
            found.statements += [made, *one.statements]  # type: ignore[list-item]
            found.conditions += one.conditions
    gone = set(found.statements)
    for call in started:
        statement = file.parents[call]
        name = _target(statement)
        scope = next(each for each in file.around(statement) if isinstance(each, ast.FunctionDef | ast.Module))
        if isinstance(statement, ast.Expr) or (name and not _is_used(file, scope, name, gone)):
            found.statements.append(statement)  # type: ignore[arg-type]
    return found


def _of_one(
    file: FileUses, scope: ast.AST, made: ast.AST, threads: set[str], started: list[ast.Call]
) -> Unneeded | None:
    """Return what is there for one coordinator alone; None if it has to stay."""
    name = _target(made)
    if not name or _stores(scope, name) != 1:
        return None
    found = Unneeded()
    for node in ast.walk(scope):
        if not (isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)):
            continue
        parent = file.parents[node]
        if isinstance(parent, ast.keyword):
            parent = file.parents[parent]
        if parent in started:
            continue
        call = file.parents[parent]
        if not (isinstance(parent, ast.Attribute) and isinstance(call, ast.Call) and call.func is parent):
            return None
        around = file.parents[call]
        if parent.attr == "should_stop":
            negation = around
            if not (isinstance(negation, ast.UnaryOp) and isinstance(negation.op, ast.Not)):
                if not (isinstance(around, ast.If) and _only_breaks(around)):
                    return None
                found.statements.append(around)
            elif isinstance(loop := file.parents[negation], ast.While) and loop.test is negation and not loop.orelse:
                found.conditions.append(negation)
            else:
                return None
        elif not isinstance(around, ast.Expr) or not _waits(parent.attr, call, threads):
            return None
        else:
            found.statements.append(around)
    return found


def _waits(method: str, call: ast.Call, threads: set[str]) -> bool:
    """Whether a call stops the threads, or waits for them."""
    if method == "request_stop":
        return not call.args and not call.keywords  # with an exception, join() raises it
    given = [*call.args, *(each.value for each in call.keywords if each.arg == "threads")]
    return method == "join" and all(isinstance(each, ast.Name) and each.id in threads for each in given)


def _only_breaks(statement: ast.If) -> bool:
    return not statement.orelse and len(statement.body) == 1 and isinstance(statement.body[0], ast.Break)


def _target(statement: ast.AST) -> str:
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
        return target.id if isinstance(target, ast.Name) else ""
    return ""


def _stores(scope: ast.AST, name: str) -> int:
    names = [each for each in ast.walk(scope) if isinstance(each, ast.Name) and each.id == name]
    return sum(not isinstance(each.ctx, ast.Load) for each in names)


def _is_used(file: FileUses, scope: ast.AST, name: str, gone: set[ast.stmt]) -> bool:
    return any(
        isinstance(node, ast.Name)
        and node.id == name
        and isinstance(node.ctx, ast.Load)
        and not any(each in gone for each in file.around(node))
        for node in ast.walk(scope)
    )


def emptied(file: FileUses, gone: Iterable[ast.stmt]) -> list[ast.Try]:
    """The ``try`` statements whose ``finally`` has nothing left."""
    without = set(gone)
    found = {
        parent: None
        for each in without
        if isinstance(parent := file.parents[each], ast.Try) and parent.finalbody and set(parent.finalbody) <= without
    }
    return list(found)
