"""Flags by which one thread at a time goes on: which of them a thread claims, or gives back, while it holds a lock.

::

    with lock:
        if self.busy:
            return
        self.busy = True        # the claim
    pool.submit(work)           # whatever way the work takes
    ...
    with lock:
        self.busy = False       # the end of the claim

A lock by itself orders nothing, as it may be luck which thread has it first. But a thread that claims such a flag has
found it cleared, and would have left the block otherwise: what follows comes after what has cleared it. Which lines
claim is read from the source, and whether they were run from the value of the flag when the lock is acquired and when
it is released. So it is with items of lists: a thread that takes one out comes after the one that has put it in.

Thread-safety: may be called from any thread.
"""

from __future__ import annotations

import ast
import dis
import enum
import functools
import inspect
import linecache
from collections import deque
from collections.abc import Hashable, Iterable, Iterator
from types import CodeType, FrameType, MemberDescriptorType
from typing import Any, NamedTuple

from tf1sessions.testing.frames import is_library

__all__ = ["FlagChange", "FlagsUnderLock"]

#: The parts of a statement that are blocks of statements.
_BLOCKS = ("body", "orelse", "finalbody")
_LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)
#: What assigns something that another thread may see.
_STORES = frozenset(("STORE_ATTR", "STORE_DEREF", "STORE_GLOBAL", "STORE_NAME", "STORE_SUBSCR", "DELETE_SUBSCR"))
#: Methods of sets and dictionaries.
_ADDS, _REMOVES = frozenset(("add",)), frozenset(("discard", "pop", "remove"))
#: Methods by which lists and deques get and lose items.
_OF_LISTS = frozenset(("append", "appendleft", "insert", "pop", "popleft", "remove"))
#: Up to how many items a list is looked at. Arbitrary: more than pools have.
_LONG = 100
_PLAIN = (bool, int, float, str, bytes, list, tuple, dict, set, frozenset)
_MISSING = object()
#: How many places where locks are acquired are remembered. Arbitrary: more than programs have.
_MOST = 10_000


#: A variable, and the attributes and keys that lead from it to something.
Path = tuple[str, ...]


class FlagName(NamedTuple):
    """Name of a flag: something that is true or not, or with a key, whether a set or dictionary has that."""

    path: Path
    key: Path | str | int | None = None


class Flag(NamedTuple):
    """A flag that a block under a lock changes.

    Attributes:
        name: How the block calls it.
        claims: The values that it has when the block has claimed it.
    """

    name: FlagName
    claims: frozenset[bool]


class FlagChange(enum.Enum):
    """Change of a flag by a block under a lock."""

    CLAIMED = "found it cleared, and set it"
    CLEARED = "changed it otherwise"
    LEFT = "left it as it was, and might have claimed it"


class FlagsUnderLock:
    """The flags that a thread may change while it holds a lock, as they were when it has acquired it.

    Attributes:
        free: Those that it may claim.
        lists: The lists and deques that it may change besides, each with its items then; no long ones.
    """

    def __init__(self, changes: _Changes, frame: FrameType) -> None:
        self._code = frame.f_code
        self._flags = changes.flags
        self._values = _values(changes.flags, frame)
        self.free = [key for key, (flag, value) in self._values.items() if (not value) in flag.claims]
        found = [_find(path, frame)[0] for path in changes.lists]
        self.lists = [(each, list(each)) for each in found if isinstance(each, (list, deque)) and len(each) <= _LONG]

    @classmethod
    def of(cls, frame: FrameType) -> FlagsUnderLock | None:
        """Return those of the block in front of which a frame is; None where it changes none."""
        changes = _changes_at(frame)
        return cls(changes, frame) if changes.flags or changes.lists else None

    def changes(self, frame: FrameType) -> Iterator[tuple[Hashable, FlagChange]]:
        """Yield what has become of them, for a frame behind the block."""
        after = _values(self._flags, frame) if frame.f_code is self._code else self._values
        for key, (flag, before) in self._values.items():
            _, value = after.get(key, (flag, before))
            if value != before:
                yield key, FlagChange.CLAIMED if value in flag.claims else FlagChange.CLEARED
            elif key in self.free:
                yield key, FlagChange.LEFT


class _Changes(NamedTuple):
    """Names of the flags and lists that a block under a lock may change."""

    flags: tuple[Flag, ...] = ()
    lists: tuple[Path, ...] = ()


_known: dict[tuple[int, int], tuple[CodeType, _Changes]] = {}


def _changes_at(frame: FrameType) -> _Changes:
    code = frame.f_code
    key = id(code), frame.f_lasti
    found = _known.get(key)
    if found is None:
        if len(_known) > _MOST:
            _known.clear()
        found = _known[key] = code, _changes(code, frame.f_lineno)  # with the code, so that its id stays its own
    return found[1]


def _values(flags: Iterable[Flag], frame: FrameType) -> dict[Hashable, tuple[Flag, bool]]:
    """Return which flags are true, by what makes each the same in other places; runs nothing of the program's."""
    found: dict[Hashable, tuple[Flag, bool]] = {}
    for flag in flags:
        path, key = flag.name
        thing, owner = _find(path, frame)
        if key is not None:
            key = _find(key, frame)[0] if isinstance(key, tuple) else key
            kind = next((each for each in (set, dict) if isinstance(thing, each)), None)
            if kind is not None and type(key) in (str, int, bytes):
                found[id(thing), key, kind] = flag, kind.__contains__(thing, key)
        elif thing is not _MISSING:
            found[owner, path[-1]] = flag, bool(thing) if type(thing) in _PLAIN else thing is not None
    return found


def _find(path: Path, frame: FrameType) -> tuple[Any, int]:
    """Return what a path leads to, and the identity of that of which it is a part; 0 for variables of functions."""
    own: Any = frame.f_locals
    thing, owner = own.get(path[0], _MISSING), 0
    if thing is _MISSING or own is frame.f_globals:
        thing, owner = frame.f_globals.get(path[0], _MISSING), id(frame.f_globals)
    for part in path[1:]:
        thing, owner = _part(thing, part), id(thing)
    return thing, owner


def _part(thing: Any, name: str) -> Any:
    if thing is _MISSING:
        return thing
    if isinstance(thing, dict):
        return dict.get(thing, name, _MISSING)
    found = inspect.getattr_static(thing, name, _MISSING)
    if type(found) is MemberDescriptorType:
        try:
            return found.__get__(thing)
        except AttributeError:
            return _MISSING
    return found


# -- the source -------------------------------------------------------------------------------------------------------

#: A flag, and a value of it.
_State = tuple[FlagName, bool]


def _changes(code: CodeType, line: int) -> _Changes:
    """Return what is changed under a lock that a line of a code acquires."""
    if is_library(code.co_filename) or not any(map(_may_change, dis.get_instructions(code))):
        return _Changes()
    local = set(code.co_varnames) - set(code.co_cellvars) - set(code.co_freevars)
    block = _block(_tree(code.co_filename), code, line)
    claimed = frozenset(_claimed(block, frozenset()))
    names = dict.fromkeys(name for each in block for node in ast.walk(each) for name, _ in _changed(node))
    flags = tuple(
        Flag(name, frozenset(value for claim, value in claimed if claim == name))
        for name in names
        if name.key is not None or len(name.path) > 1 or name.path[0] not in local
    )
    return _Changes(flags, tuple(dict.fromkeys(path for each in block for path in _lists(each))))


def _may_change(instruction: dis.Instruction) -> bool:
    value = instruction.argval
    return instruction.opname in _STORES or (isinstance(value, str) and value in _ADDS | _REMOVES | _OF_LISTS)


@functools.lru_cache(maxsize=100)
def _tree(path: str) -> ast.Module:
    try:
        return ast.parse("".join(linecache.getlines(path)))
    except (SyntaxError, ValueError):
        return ast.Module([], [])


def _block(tree: ast.Module, code: CodeType, line: int) -> list[ast.stmt]:
    """Return what is run under a lock that a line acquires: the block of its ``with``, or else the function."""
    found: list[ast.stmt] = tree.body if code.co_name == "<module>" else []
    for node in ast.walk(tree):  # an inner one after the outer
        if isinstance(node, ast.With):
            if node.lineno <= line <= max(each.context_expr.end_lineno or 0 for each in node.items):
                return node.body
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            if node.name == code.co_name and node.lineno <= line <= (node.end_lineno or 0):
                found = node.body
    return found


def _claimed(block: Iterable[ast.stmt], passed: frozenset[_State]) -> Iterator[_State]:
    """Yield the flags that a block sets where it has found that they are not, and what they are set to.

    Args:
        block: The block.
        passed: Flags with values that they do not have, or the block would not be run.
    """
    for statement in block:
        passed |= frozenset(_looked_at(statement))
        for name, value in _changed(statement):
            yield from ((name, each) for each in (True, False) if (name, each) in passed and value in (each, None))
        if isinstance(statement, ast.If):
            is_true, is_false = frozenset(_asked(statement.test)), frozenset(_asked(statement.test, False))
            yield from _claimed(statement.body, passed | is_false)
            yield from _claimed(statement.orelse, passed | is_true)
            if isinstance(statement.body[-1], _LEAVES):
                passed |= is_true
        elif isinstance(statement, ast.While):
            if not any(isinstance(each, ast.Break) for each in statement.body):
                passed |= frozenset(_asked(statement.test))
        elif not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            for each in _blocks(statement):
                yield from _claimed(each, passed)


def _blocks(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    for name in _BLOCKS:
        yield getattr(statement, name, [])
    for each in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        yield each.body


def _asked(test: ast.expr, wanted: bool = True) -> Iterator[_State]:
    """Yield the flags of which one, with this value, is enough for a condition to be what is wanted."""
    match test:
        case ast.BoolOp(op=operator, values=values) if isinstance(operator, ast.Or) == wanted:
            for each in values:
                yield from _asked(each, wanted)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield from _asked(operand, not wanted)
        case ast.Compare(left=left, ops=[ast.Is() | ast.IsNot() as how], comparators=[ast.Constant(value=None)]):
            yield from ((FlagName(path), isinstance(how, ast.IsNot) == wanted) for path in _paths(left))
        case ast.Compare(left=left, ops=[ast.In() | ast.NotIn() as how], comparators=[container]):
            yield from ((name, isinstance(how, ast.In) == wanted) for name in _member(left, container))
        case _:
            yield from ((FlagName(path), wanted) for path in _paths(test))


def _looked_at(statement: ast.stmt) -> Iterator[_State]:
    """Yield the flags whose values an assignment keeps for later; of these, both values."""
    if isinstance(statement, ast.Assign):
        for target, value in _pairs(statement):
            if isinstance(target, ast.Name) and value is not None:
                for name, _ in _asked(value):
                    yield from ((name, True), (name, False))


def _changed(node: ast.AST) -> Iterator[tuple[FlagName, bool | None]]:
    """Yield what a statement sets, and to what: whether that is true, or None where it is not a constant."""
    match node:
        case ast.Assign():
            for target, value in _pairs(node):
                is_true = bool(value.value) if isinstance(value, ast.Constant) else None
                yield from ((FlagName(path), is_true) for path in _paths(target))
                if isinstance(target, ast.Subscript):
                    yield from ((name, True) for name in _member(target.slice, target.value))
        case ast.Delete(targets=targets):
            for target in targets:
                if isinstance(target, ast.Subscript):
                    yield from ((name, False) for name in _member(target.slice, target.value))
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=container, attr=method), args=[key, *_])):
            if method in _ADDS or method in _REMOVES:
                yield from ((name, method in _ADDS) for name in _member(key, container))


def _lists(statement: ast.stmt) -> Iterator[Path]:
    """Yield what a statement calls a method of by which lists and deques get and lose items."""
    for node in ast.walk(statement):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _OF_LISTS:
            yield from _paths(node.func.value)


def _pairs(statement: ast.Assign) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """Yield the targets of an assignment, each with its value, or None where the source does not show which."""
    value = statement.value
    for target in statement.targets:
        if not isinstance(target, ast.Tuple):
            yield target, value
        elif isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts):
            yield from zip(target.elts, value.elts, strict=True)
        else:
            yield from ((each, None) for each in target.elts)


def _member(key: ast.expr, container: ast.expr) -> Iterator[FlagName]:
    """Yield the name of what is true when a container has a key."""
    keys = [key.value] if isinstance(key, ast.Constant) and isinstance(key.value, (str, int)) else _paths(key)
    yield from (FlagName(path, key) for path in _paths(container) for key in keys)


def _paths(node: ast.expr) -> list[Path]:
    """Return the path that an expression is, if it is one: variables, attributes, and constant keys."""
    match node:
        case ast.Name(id=name):
            return [(name,)]
        case ast.Attribute(value=inner, attr=name) | ast.Subscript(value=inner, slice=ast.Constant(value=str(name))):
            return [(*each, name) for each in _paths(inner)]
    return []
