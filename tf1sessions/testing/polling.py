"""Loops that wait for something that another thread changes: which lines of a program are such a loop.

``while not ready: time.sleep(0.1)`` waits for another thread, and so does a loop without a condition that is left by
``break`` or ``return``. A loop whose condition asks only what is seen anyway, as ``event.is_set()`` does, waits for
nothing else; nor does one that is left by nothing.
"""

from __future__ import annotations

import ast
import functools
import linecache
from collections.abc import Iterator
from types import CodeType
from typing import NamedTuple

__all__ = ["PollingLoop", "passed_loop", "waiting_loop"]

#: Questions whose answers synchronisation.py sees.
_SEEN = ("is_set", "isSet", "is_alive", "done", "empty", "full", "qsize", "locked")


class PollingLoop(NamedTuple):
    """Lines of a program.

    Attributes:
        code: Whose lines they are.
        first, last: From here to there, both included.
    """

    code: CodeType
    first: int
    last: int

    def __str__(self) -> str:
        return f"the loop at {self.code.co_filename}:{self.first}"


@functools.lru_cache(maxsize=1000)
def waiting_loop(code: CodeType, line: int) -> PollingLoop | None:
    """Return the innermost loop around a line of a code, if it is one that waits; None without the source."""
    around = [loop for loop in _loops(code.co_filename) if loop.lineno <= line <= (loop.end_lineno or 0)]
    if not around or around[-1].lineno < code.co_firstlineno:
        return None
    loop = around[-1]
    return PollingLoop(code, loop.lineno, loop.end_lineno or 0) if _waits(loop) else None


@functools.lru_cache(maxsize=1000)
def passed_loop(code: CodeType, line: int) -> PollingLoop | None:
    """Return the last loop of a function in front of a line that would have slept, had it had to wait."""
    lines = {number for _, _, number in code.co_lines() if number is not None}
    for loop in reversed(_loops(code.co_filename)):
        if loop.lineno in lines and (loop.end_lineno or 0) < line and _waits(loop) and _sleeps(loop):
            return PollingLoop(code, loop.lineno, loop.end_lineno or 0)
    return None


def _sleeps(loop: ast.While | ast.For) -> bool:
    calls = (node.func for each in loop.body for node in ast.walk(each) if isinstance(node, ast.Call))
    return any(getattr(each, "attr", getattr(each, "id", "")) == "sleep" for each in calls)


@functools.lru_cache(maxsize=100)
def _loops(path: str) -> list[ast.While | ast.For]:
    """Return the loops of a file, an inner one after the outer."""
    try:
        tree = ast.parse("".join(linecache.getlines(path)))
    except (SyntaxError, ValueError):
        return []
    found = [node for node in ast.walk(tree) if isinstance(node, (ast.While, ast.For))]
    return sorted(found, key=lambda node: (node.lineno, node.col_offset))


def _waits(loop: ast.While | ast.For) -> bool:
    if isinstance(loop, ast.While) and any(_asks(loop.test)):
        return True
    return any(isinstance(node, (ast.Break, ast.Return)) for each in loop.body for node in ast.walk(each))


def _asks(node: ast.AST) -> Iterator[str]:
    """Yield the names that a condition depends on, without those that are only asked what is seen."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _SEEN:
        return
    if isinstance(node, (ast.Name, ast.Attribute)):
        yield node.id if isinstance(node, ast.Name) else node.attr
    for child in ast.iter_child_nodes(node):
        yield from _asks(child)
