"""What the programs that leave things behind have in common."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from typing import Any

from tf1sessions.testing.leaks import Leak, LeakWatch

#: Each leak that is found costs it.
GRACE_SECS = 0.05
#: ... and it is not waited for where none is.
DEADLINE = 60.0
#: What ends what a program has left behind; called after each.
endings: list[Callable[[], object]] = []


def end_all() -> None:
    while endings:
        endings.pop(0)()


def found(program: Callable[[], object], grace_secs: float = GRACE_SECS, **options: Any) -> list[Leak]:
    watch = LeakWatch(grace_secs=grace_secs, **options)
    watch.begin()
    try:
        program()
    finally:
        leaks = watch.end()
        end_all()
    return leaks


def kinds(program: Callable[[], object], **options: Any) -> list[str]:
    return [leak.kind.value for leak in found(program, **options)]


def clean(program: Callable[[], object]) -> None:
    """Nothing is left, once all that is ending has ended."""
    assert found(program, grace_secs=DEADLINE) == []


def source_of(leak: Leak) -> str:
    """The line that has made it."""
    path, _, number = leak.where.partition(" in ")[0].rpartition(":")
    return linecache.getline(path, int(number))


def one(program: Callable[[], object], kind: str, line: str, function: str) -> Leak:
    """The only leak of a program: of this kind, made by this line of this function."""
    (leak,) = found(program)
    assert leak.kind == kind, leak
    place, _, name = leak.where.partition(" in ")
    assert name.rpartition(".")[2] == function, leak
    assert line in source_of(leak), leak
    text = str(leak)
    assert text.startswith(f"{kind}: ") and f"made at {place} in " in text and "fix: " in text
    return leak
