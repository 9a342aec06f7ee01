"""Reports of things that a program has left behind."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tf1sessions.errors import UsageError
from tf1sessions.texts import printable

__all__ = ["FIX", "KINDS", "Leak", "LeakKind", "kinds_of"]


class LeakKind(str, enum.Enum):
    """Kind of thing that was left. The value is the name that users see; ``LeakKind.THREAD == "threads"``."""

    THREAD = "threads"
    PROCESS = "processes"
    SESSION = "sessions"
    QUEUE_RUNNER = "queue runners"
    MEMORY = "shared memory"
    DEFAULT = "defaults"
    OPERATIONS = "operations"
    GROWTH = "growth"


#: The names of all kinds.
KINDS: tuple[str, ...] = tuple(kind.value for kind in LeakKind)

FIX = {
    LeakKind.THREAD: "Let it end, and join() it; use pools and executors in a `with`, or shut them down.",
    LeakKind.PROCESS: "Wait for it, after terminate() if it does not end by itself; use pools in a `with`.",
    LeakKind.SESSION: "Use it in a `with`, or call its close(). Else it is closed when nothing refers to it, and "
    "that may be at any time.",
    LeakKind.QUEUE_RUNNER: "Before the session is closed: coord.request_stop(), then coord.join(threads).",
    LeakKind.MEMORY: "Call close() in each process that has it, and unlink() in one of them.",
    LeakKind.DEFAULT: "Enter it by `with`, which leaves it again; close() an InteractiveSession.",
    LeakKind.OPERATIONS: "Build in a graph of your own, `with tf.Graph().as_default():` or t1.GraphSession(), or "
    "begin with tf.reset_default_graph().",
    LeakKind.GROWTH: "Make the operation once, before the loop, and feed what changes.",
}


@dataclass(frozen=True)
class Leak:
    """Something that was made and is still there.

    Attributes:
        kind: Which kind of thing.
        what: The thing, in words.
        where: The place in the program that made it: ``file:line in function``.
        fix: What ends it.
    """

    kind: LeakKind
    what: str
    where: str
    fix: str

    def __str__(self) -> str:
        what, where, fix = map(printable, (self.what, self.where, self.fix))
        return f"{self.kind.value}: {what}\n  made at {where}\n  fix: {fix}"


def kinds_of(names: Iterable[LeakKind | str], where: str) -> frozenset[LeakKind]:
    """Return the kinds that a user has named, as values or as their names.

    Raises:
        UsageError: There is no such kind.
    """
    return frozenset(_kind_of(name, where) for name in ([names] if isinstance(names, str) else names))


def _kind_of(name: Any, where: str) -> LeakKind:
    try:
        return LeakKind(name)
    except ValueError:
        pass
    raise UsageError(
        f"{name!r} is no kind of leak", where=where, next_step=f"The kinds are {', '.join(map(repr, KINDS))}."
    )
