"""Threads that pass points in an order that is given."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from tf1sessions.errors import ScheduleError, UsageError
from tf1sessions.testing.schedules import Schedule, point

DEADLINE = 30.0


def run(*functions: Callable[[], object]) -> list[BaseException]:
    raised: list[BaseException] = []

    def guarded(function: Callable[[], object]) -> None:
        try:
            function()
        except Exception as error:
            raised.append(error)

    threads = [threading.Thread(target=guarded, args=(function,)) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(DEADLINE)
        assert not thread.is_alive()
    return raised


def steps(log: list[str], *names: str) -> Callable[[], None]:
    def body() -> None:
        for name in names:
            point(name)
            log.append(name)

    return body


@pytest.mark.parametrize("order", ["A1 B1 A2 B2", "B1 B2 A1 A2", "A1 A2 B1 B2", "B1 A1 B2 A2"])
def test_points_are_passed_in_the_order(order: str) -> None:
    log: list[str] = []

    def one(name: str, number: str) -> None:
        point(name + number)
        log.append(name + number)
        point(f"{name}{number}-logged")

    # What is logged between two points is in order too when the points after it are named.
    names = [part for step in order.split() for part in (step, f"{step}-logged")]
    with Schedule(" ".join(names)):
        assert run(lambda: [one("A", n) for n in "12"], lambda: [one("B", n) for n in "12"]) == []
    assert log == order.split()


def test_points_that_are_not_named_and_points_without_a_schedule_are_passed() -> None:
    log: list[str] = []
    steps(log, "x", "y")()
    with Schedule("x"):
        steps(log, "x", "y", "x")()
    assert log == ["x", "y", "x", "y", "x"]


def test_a_point_may_be_passed_twice() -> None:
    log: list[str] = []
    with Schedule("a b a end"):
        assert run(steps(log, "a", "a", "end"), lambda: point("b")) == []
    assert log == ["a", "a", "end"]


def test_a_point_that_does_not_come() -> None:
    with pytest.raises(ScheduleError, match=r"'never' was never reached") as caught:
        with Schedule("never a", timeout_secs=0.05):
            (error,) = run(lambda: point("a"))
            assert isinstance(error, ScheduleError)
            assert "waited 0.05 s at the point 'a' for 'never', which did not come" in str(error)
    assert caught.value.schedule == "never a"


def test_who_waits_is_let_go_at_the_end_of_the_block() -> None:
    waits = threading.Thread(target=point, args=("second",))
    with pytest.raises(ZeroDivisionError), Schedule("first second", timeout_secs=DEADLINE):
        waits.start()
        raise ZeroDivisionError  # not hidden by what was not reached
    waits.join(DEADLINE)
    assert not waits.is_alive()


@pytest.mark.parametrize("order", ["", "  "])
def test_a_schedule_without_names(order: str) -> None:
    with pytest.raises(UsageError, match="Name points"):
        Schedule(order)
