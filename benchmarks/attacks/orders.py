"""Attacks on `explore()`: tiny programs whose orders are counted one by one, by a model of what threads use."""

from __future__ import annotations

import functools
import queue
import random
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from attacks.trial import Trial

DEADLOCK = "deadlock"
Thread = tuple[tuple[str, int], ...]  # what it does, and with which of two things


class Given:
    """What the threads of an order use, and what they have noted."""

    def __init__(self) -> None:
        self.locks = [threading.Lock() for _ in range(2)]
        self.events = [threading.Event() for _ in range(2)]
        self.line: queue.Queue[int] = queue.Queue()
        self.log: list[str] = []


def taken(given: Given, **how: Any) -> bool:
    try:
        given.line.get(**how)
    except queue.Empty:
        return False
    return True


#: What threads do: returns whether it was got, which is noted; None is not.
DOES: dict[str, Callable[[Given, int], bool | None]] = {
    "lock": lambda given, number: given.locks[number].acquire(),
    "try lock": lambda given, number: given.locks[number].acquire(blocking=False),
    "timed lock": lambda given, number: given.locks[number].acquire(timeout=0.5),
    "set": lambda given, number: given.events[number].set(),
    "wait": lambda given, number: given.events[number].wait(),
    "timed wait": lambda given, number: given.events[number].wait(0.5),
    "put": lambda given, number: given.line.put(number),
    "get": lambda given, number: taken(given),
    "look for an item": lambda given, number: taken(given, block=False),
    "timed get": lambda given, number: taken(given, timeout=0.5),
    "sleep": lambda given, number: time.sleep(0.01) is None,
}


def runs(thread: Thread, name: str, given: Given) -> None:
    from tf1sessions.testing import point

    for kind, number in thread:
        got = DOES[kind](given, number)
        if got is None:
            continue
        point("notes")
        given.log.append(f"{name}{got:d}")
        if got and "lock" in kind:
            point("releases")
            given.locks[number].release()


class State(NamedTuple):
    """Of the model: where the threads are, what is held, set and waits in the queue, and what was noted."""

    places: tuple[tuple[int, str, bool], ...]  # which of its doings, the part of it, whether it was got
    held: frozenset[int] = frozenset()
    set: frozenset[int] = frozenset()
    items: int = 0
    log: tuple[str, ...] = ()


def begun(state: State, kind: str, number: int) -> tuple[State, bool | None] | None:
    """The state after a thread has begun a doing, and whether it was got; None where it has to wait."""
    if kind == "set":
        return state._replace(set=state.set | {number}), None
    if kind == "put":
        return state._replace(items=state.items + 1), None
    if kind == "sleep":
        return state, True
    if "lock" in kind:
        is_there, after = number not in state.held, state._replace(held=state.held | {number})
    elif "wait" in kind:
        is_there, after = number in state.set, state
    else:
        is_there, after = state.items > 0, state._replace(items=state.items - 1)
    if not is_there:
        return None if kind in ("lock", "wait", "get") else (state, False)
    return after, True


def following(threads: tuple[Thread, ...], state: State) -> Iterator[State]:
    for index, (at, part, got) in enumerate(state.places):
        if at == len(threads[index]):
            continue
        kind, number = threads[index][at]
        after, place = state, (at + 1, "begins", False)
        if part == "begins":
            found = begun(state, kind, number)
            if found is None:
                continue
            after, is_got = found
            if is_got is not None:
                place = (at, "notes", is_got)
        elif part == "notes":
            after = state._replace(log=(*state.log, f"{'abc'[index]}{got:d}"))
            if got and "lock" in kind:
                place = (at, "releases", got)
        else:
            after = state._replace(held=state.held - {number})
        yield after._replace(places=(*state.places[:index], place, *state.places[index + 1 :]))


def counted(threads: tuple[Thread, ...]) -> set[Any]:
    """What may come of a program: what was noted, or a deadlock."""
    first = State(tuple((0, "begins", False) for _ in threads))
    seen, left, found = {first}, [first], set()
    while left:
        state = left.pop()
        after = set(following(threads, state))
        if not after:
            is_over = all(at == len(thread) for thread, (at, _, _) in zip(threads, state.places, strict=True))
            found.add(state.log if is_over else DEADLOCK)
        left += after - seen
        seen |= after
    return found


def explored(folder: Path, rng: random.Random) -> str:
    from tf1sessions import errors
    from tf1sessions.testing import explore

    kinds = rng.sample(list(DOES), rng.choice([2, 3, 4]))
    count = rng.choice([2, 2, 3])
    threads = tuple(
        tuple((rng.choice(kinds), rng.randrange(2)) for _ in range(rng.randint(1, 5 - count))) for _ in range(count)
    )
    expected, seen = counted(threads), set()
    bodies = [functools.partial(runs, thread, name) for thread, name in zip(threads, "abc", strict=False)]
    look = functools.partial(explore, *bodies, setup=Given, check=lambda given: seen.add(tuple(given.log)))
    try:
        found = look(max_schedules=300)
    except errors.ScheduleError as error:
        again = []
        for _ in range(3):
            try:
                look(replay=error.schedule)
            except errors.ScheduleError as other:
                again.append(other.schedule)
        is_right = DEADLOCK in expected and "none can go on" in str(error) and again == [error.schedule] * 3
        return "as by counting" if is_right else f"{threads}: {error}; replayed {again}"
    if not seen <= expected or (found.complete and seen != expected):
        return f"{threads}: {found}; not seen {expected - seen}, cannot be {seen - expected}"
    return "as by counting"


TRIALS = [Trial("programs whose orders are counted", "as by counting", explored, times=100)]
