"""Functions that are given an element and make batches of it: they are given a data set instead."""

from __future__ import annotations

import ast
import dataclasses

from ....source.uses import FileUses
from .calls import BATCHES, PRODUCERS, READERS, tensors_of

__all__ = ["BatchFunction", "batchers", "queue_functions"]


@dataclasses.dataclass(frozen=True, eq=False)
class BatchFunction:
    """A function that makes batches.

    Attributes:
        function: The function.
        parts: Its parameters that are the parts of an element, in the order of a batch; none where it does something
            else with them.
        calls: The calls that make batches.
    """

    function: ast.FunctionDef
    parts: tuple[str, ...]
    calls: tuple[ast.Call, ...]


def batchers(file: FileUses) -> dict[str, BatchFunction]:
    """Return the functions of a file that make batches of what they are given, by name."""
    symbols = {use.call: use.name for use in file.uses if use.call}
    found = {}
    for function in file.tree.body:
        if not isinstance(function, ast.FunctionDef):
            continue
        nodes = list(ast.walk(function))
        calls = tuple(each for each in nodes if isinstance(each, ast.Call) and symbols.get(each) in BATCHES)
        makes_queue = any(
            isinstance(each, ast.Call) and (symbols.get(each) in PRODUCERS or symbols.get(each) in READERS)
            for each in nodes
        )
        if calls and not makes_queue:
            found[function.name] = BatchFunction(function, _parts(function, calls), calls)
    return found


def _parts(function: ast.FunctionDef, calls: tuple[ast.Call, ...]) -> tuple[str, ...]:
    tensors = [tensors_of(call) for call in calls]
    names = {
        tuple(each.id if isinstance(each, ast.Name) else "" for each in getattr(given, "elts", [None]))
        for given in tensors
    }
    parts = names.pop()
    parameters = function.args
    plain = [each.arg for each in parameters.args][: len(parameters.args) - len(parameters.defaults)]
    uses = [each for each in ast.walk(function) if isinstance(each, ast.Name) and each.id in parts]
    is_plain = not (names or parameters.posonlyargs or parameters.vararg or parameters.kwarg)
    return parts if is_plain and set(parts) <= set(plain) and len(uses) == len(parts) * len(calls) else ()


def queue_functions(file: FileUses) -> set[str]:
    """Return the functions of the other files of a program that have to do with queues: ``"data.read"``."""
    found = set()
    for other in file.connected:
        if other is file:
            continue
        calls = {use.call for use in other.uses if use.name in BATCHES or use.name in PRODUCERS or use.name in READERS}
        for function in other.tree.body:
            if isinstance(function, ast.FunctionDef) and any(each in calls for each in ast.walk(function)):
                found.add(f"{other.source.path.stem}.{function.name}")
    return found
