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
thread has done. A lock by itself orders nothing, as it may be luck which thread has it first. The thread that claims
the flag may give the lines to another one, which then releases it: to an executor, or to a thread that it starts.
"""

from __future__ import annotations

import ast
import functools
import linecache
from collections.abc import Iterable, Iterator
from types import CodeType

__all__ = ["Line", "claimed_flags"]

#: The parts of a statement that are blocks of statements.
_BLOCKS = ("body", "orelse", "finalbody")
_LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)

#: A code, and a line of it.
Line = tuple[CodeType, int]


def claimed_flags(lines: Iterable[Line], given_at: Iterable[Line] = ()) -> frozenset[str]:
    """Return the names of the flags that are claimed in front of lines, and released behind them.

    Args:
        lines: The lines that a thread is in, with the codes that they are of.
        given_at: Those that another thread was in when it gave this one its work.
    """
    lines = tuple(lines)
    released = {each for line in lines for each in _released_behind(*line)}
    return frozenset(
        name
        for line in (*lines, *given_at)
        for name, value in _claimed_before(*line)
        if not released.isdisjoint({(name, not value), (name, None)})
    )


@functools.lru_cache(maxsize=1000)
def _claimed_before(code: CodeType, line: int) -> frozenset[tuple[str, bool]]:
    before, _ = _around(code, line)
    return frozenset(claim for each in _withs(before) for claim in _claimed(each.body))


@functools.lru_cache(maxsize=1000)
def _released_behind(code: CodeType, line: int) -> frozenset[tuple[str, bool | None]]:
    _, after = _around(code, line)
    return frozenset(each for block in _withs(after) for each in _assigned(block.body))


@functools.lru_cache(maxsize=100)
def _tree(path: str) -> ast.Module:
    try:
        return ast.parse("".join(linecache.getlines(path)))
    except (SyntaxError, ValueError):
        return ast.Module([], [])


def _around(code: CodeType, line: int) -> tuple[list[ast.stmt], list[ast.stmt]]:
    """Return the statements of a function that have always run before one of its lines, and that always run after it.

    Of a block that the line is in, the part in front of it; being inside of an ``if`` is to have passed its test.
    """
    function, block = "<module>", _tree(code.co_filename).body
    before: list[ast.stmt] = []
    after: list[ast.stmt] = []
    inner = before
    while True:
        at = next((at for at, each in enumerate(block) if each.lineno <= line <= (each.end_lineno or 0)), None)
        if at is None:
            return (before, after) if function == code.co_name else ([], [])
        inner += block[:at]
        after = block[at + 1 :] + after
        statement = block[at]
        block = next((each for each in _blocks(statement) if _lines(each, line)), [])
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            function, before, after = statement.name, [], []
            inner = before
        elif isinstance(statement, ast.Try) and block is not statement.finalbody:
            after = statement.finalbody + after
        elif isinstance(statement, ast.With) and block:
            part = ast.With(statement.items, [])
            inner.append(part)
            inner = part.body
        elif isinstance(statement, ast.If) and block:
            is_passed = ast.UnaryOp(ast.Not(), statement.test) if block is statement.body else statement.test
            inner.append(ast.If(is_passed, [ast.Return()], []))


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


def _asked(test: ast.expr, wanted: bool = True) -> Iterator[tuple[str, bool]]:
    """Yield the flags of which one, with this value, is enough for a condition to be what is wanted."""
    match test:
        case ast.BoolOp(op=operator, values=values) if isinstance(operator, ast.Or) == wanted:
            for each in values:
                yield from _asked(each, wanted)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield from _asked(operand, not wanted)
        case ast.Compare(left=left, ops=[ast.Is() | ast.IsNot() as how], comparators=[ast.Constant(value=None)]):
            if (name := _name(left)) is not None:
                yield name, isinstance(how, ast.IsNot) == wanted
        case _:
            if (name := _name(test)) is not None:
                yield name, wanted


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
