"""Tests for claimed_flags.py: what a block under a lock has done with its flags."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from tf1sessions.testing.claimed_flags import FlagChange, FlagsUnderLock

CLAIMED, CLEARED, LEFT = FlagChange.CLAIMED, FlagChange.CLEARED, FlagChange.LEFT


class Block:
    """Stands for a lock: looks at the flags of its block when that begins and when it ends."""

    def __init__(self) -> None:
        self.found: list[FlagChange] = []

    def __enter__(self) -> None:
        self.flags = FlagsUnderLock.of(sys._getframe(1))

    def __exit__(self, *error: Any) -> None:
        flags = self.flags
        self.found = [change for _, change in flags.changes(sys._getframe(1))] if flags is not None else []


def returns_if_it_is_set(block: Block, it: Any) -> None:
    with block:
        if it.busy:
            return
        it.busy = True


def returns_if_there_is_one(block: Block, it: Any) -> None:
    with block:
        if it.owner is not None or it.closed:
            return
        it.owner = "me"


def goes_on_inside_of_an_if(block: Block, it: Any) -> None:
    with block:
        if not it.closed and it.free:
            it.free = False


def continues_a_loop(block: Block, it: Any) -> None:
    for _ in range(1):
        with block:
            if "v" in it.running:
                continue
            it.running.add("v")


def puts_into_a_dictionary(block: Block, it: Any, name: str = "v") -> None:
    with block:
        if name not in it.jobs:
            it.jobs[name] = 1


def keeps_what_it_was(block: Block, it: Any) -> None:
    with block:
        was, it.busy = it.busy, True
    print(was)


def item_of_a_dictionary(block: Block, it: Any) -> None:
    with block:
        if it.state["busy"]:
            return
        it.state["busy"] = True


def clears(block: Block, it: Any) -> None:
    with block:
        it.busy, it.owner, it.free = False, None, True
        it.running.discard("v")
        it.jobs.pop("v", None)
        it.state["busy"] = False


def sets_it_anyway(block: Block, it: Any) -> None:
    with block:
        if it.busy:
            print("twice")
        it.busy = True


def counts(block: Block, it: Any) -> None:
    with block:
        if it.count > 5:
            return
        it.count += 1


def asks_another_one(block: Block, it: Any) -> None:
    with block:
        if it.closed:
            return
        it.busy = True


def things(**named: Any) -> Any:
    plain = {"busy": False, "owner": None, "closed": False, "free": True, "count": 0}
    return SimpleNamespace(**plain | {"running": set(), "jobs": {}, "state": {"busy": False}} | named)


CLAIMS = (
    returns_if_it_is_set,
    returns_if_there_is_one,
    goes_on_inside_of_an_if,
    continues_a_loop,
    puts_into_a_dictionary,
    keeps_what_it_was,
    item_of_a_dictionary,
)


@pytest.mark.parametrize("claim", CLAIMS)
def test_claims(claim: Callable[[Block, Any], None]) -> None:
    it, block = things(), Block()
    claim(block, it)
    assert block.found == [CLAIMED]
    claim(block, it)
    assert block.found == []  # it was set already
    clears(block, it)
    assert block.found == [CLEARED]


def test_left_as_it_was() -> None:
    block = Block()
    returns_if_there_is_one(block, things(closed=True))
    assert block.found == [LEFT]


@pytest.mark.parametrize("block_of", [sets_it_anyway, asks_another_one])
def test_no_claims(block_of: Callable[[Block, Any], None]) -> None:
    block = Block()
    block_of(block, things())
    assert block.found == [CLEARED]


def test_counts() -> None:
    block = Block()
    counts(block, things())
    assert block.found == []


def test_nothing_of_the_program_is_run() -> None:
    class Things:
        asked = 0
        running = None

        @property
        def busy(self) -> bool:
            self.asked += 1
            return False

        @busy.setter
        def busy(self, value: bool) -> None: ...

        def __getattr__(self, name: str) -> Any:
            raise AssertionError(name)

    it, block = Things(), Block()
    returns_if_it_is_set(block, it)
    assert it.asked == 1 and not block.found


def takes_out(block: Block, it: Any) -> None:
    with block:
        if it.free:
            it.free.pop()


def test_lists() -> None:
    block, it = Block(), things(free=[1, 2])
    takes_out(block, it)
    flags = block.flags
    assert flags is not None and [(each is it.free, items) for each, items in flags.lists] == [(True, [1, 2])]
    takes_out(block, things(free=[0] * 101))
    assert block.flags is not None and block.flags.lists == []
