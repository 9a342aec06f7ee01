"""Flags by which one thread at a time goes on: which lines of a program run only while such a flag is set.

::

    with lock:
        if self.busy:
            return
        self.busy = True        # the claim
    session.run(step)           # these lines
    with lock:
        self.busy = False       # the release

A thread that comes to such lines after another one has found the flag cleared, under the lock: it comes after what that
thread has done. A lock by itself orders nothing, as it may be luck which thread has it first.
"""

from __future__ import annotations

import ast
import functools
import linecache
from collections.abc import Iterable, Iterator
from types import CodeType

__all__ = ["claimed_flags"]

#: The parts of a statement that are blocks of statements.
_BLOCKS = ("body", "orelse", "finalbody")
_LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)


@functools.lru_cache(maxsize=1000)
def claimed_flags(code: CodeType, line: int) -> frozenset[str]:
    """Return the names of the flags that are claimed in front of a line of a code, and released behind it."""
    function, before, after = _around(_tree(code.co_filename), line)
    if function != code.co_name:
        return frozenset()
    released = {claim for each in _withs(after) for claim in _assigned(each.body)}
    return frozenset(
        name
        for each in _withs(before)
        for name, value in _claimed(each.body)
        if not released.isdisjoint({(name, not value), (name, None)})
    )


@functools.lru_cache(maxsize=100)
def _tree(path: str) -> ast.Module:
    try:
        return ast.parse("".join(linecache.getlines(path)))
    except (SyntaxError, ValueError):
        return ast.Module([], [])


def _around(tree: ast.Module, line: int) -> tuple[str, list[ast.stmt], list[ast.stmt]]:
    """Return the name of the function around a line, and the statements that always run before and after the line."""
    function, block = "<module>", tree.body
    before: list[ast.stmt] = []
    after: list[ast.stmt] = []
    while True:
        at = next((at for at, each in enumerate(block) if each.lineno <= line <= (each.end_lineno or 0)), None)
        if at is None:
            return function, before, after
        before, after = before + block[:at], block[at + 1 :] + after
        statement = block[at]
        block = next((each for each in _blocks(statement) if _lines(each, line)), [])
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            function, before, after = statement.name, [], []
        elif isinstance(statement, ast.Try) and block is not statement.finalbody:
            after = statement.finalbody + after


def _blocks(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    for name in _BLOCKS:
        yield getattr(statement, name, [])
    for each in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        yield each.body


def _lines(block: list[ast.stmt], line: int) -> bool:
    return bool(block) and block[0].lineno <= line <= (block[-1].end_lineno or 0)


def _withs(statements: Iterable[ast.stmt]) -> Iterator[ast.With]:
    return (each for each in statements if isinstance(each, ast.With))


def _claimed(block: list[ast.stmt]) -> Iterator[tuple[str, bool]]:
    """Yield the flags that a block finds cleared, or else leaves by, and then sets; with what they are set to."""
    for at, statement in enumerate(block):
        is_wait = isinstance(statement, ast.While) and not any(isinstance(each, ast.Break) for each in statement.body)
        if is_wait or (isinstance(statement, ast.If) and isinstance(statement.body[-1], _LEAVES)):
            assigned = set(_assigned(block[at + 1 :]))
            for name, value in _asked(statement.test):  # type: ignore[attr-defined]
                if not assigned.isdisjoint({(name, value), (name, None)}):
                    yield name, value


def _asked(test: ast.expr) -> Iterator[tuple[str, bool]]:
    """Yield the flags of which one, with this value, is enough for a condition to be true."""
    match test:
        case ast.BoolOp(op=ast.Or(), values=values):
            for each in values:
                yield from _asked(each)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield from ((name, not value) for name, value in _asked_plain(operand))
        case ast.Compare(left=left, ops=[ast.Is() | ast.IsNot() as how], comparators=[ast.Constant(value=None)]):
            yield from ((name, isinstance(how, ast.IsNot)) for name, _ in _asked_plain(left))
        case _:
            yield from _asked_plain(test)


def _asked_plain(node: ast.expr) -> Iterator[tuple[str, bool]]:
    if (name := _name(node)) is not None:
        yield name, True


def _assigned(block: Iterable[ast.stmt]) -> Iterator[tuple[str, bool | None]]:
    """Yield what a block sets, and to what: whether that is true, or None where it is not a constant."""
    for statement in block:
        if isinstance(statement, ast.Assign):
            value = bool(statement.value.value) if isinstance(statement.value, ast.Constant) else None
            yield from ((name, value) for each in statement.targets if (name := _name(each)) is not None)


def _name(node: ast.expr) -> str | None:
    """Return the last name of a variable, an attribute or an item."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.Subscript(slice=ast.Constant(value=str(name))):
            return name
    return None
