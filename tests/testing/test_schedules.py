"""Threads in an order that is given, and in every order."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from tf1sessions.errors import ScheduleError, UsageError
from tf1sessions.testing.schedules import Schedule, explore, point

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


# -- every order ------------------------------------------------------------------------------------------------------


def passing(name: str, *names: str) -> Callable[[list[str]], None]:
    def body(log: list[str]) -> None:
        for each in names:
            log.append(name + each)
            point(each)
        log.append(name + "end")

    return body


def test_every_order_is_run_once() -> None:
    seen: set[tuple[str, ...]] = set()
    done = explore(
        passing("A", "1", "2"), passing("B", "1"), setup=list, check=lambda log: seen.add(tuple(log)), patience_secs=9
    )
    assert done.complete
    assert done.schedules == len(seen) == 10  # 5! / (3! 2!)


def test_three_threads() -> None:
    seen: set[tuple[str, ...]] = set()
    done = explore(*(passing(name) for name in "ABC"), setup=list, check=lambda log: seen.add(tuple(log)))
    assert (done.schedules, done.complete, len(seen)) == (6, True, 6)


def test_too_many_orders_are_drawn_and_the_seed_decides_which() -> None:
    def drawn(seed: int) -> list[tuple[str, ...]]:
        seen: list[tuple[str, ...]] = []
        many = [str(number) for number in range(6)]
        done = explore(
            passing("A", *many),
            passing("B", *many),
            setup=list,
            check=lambda log: seen.append(tuple(log)),
            max_schedules=20,
            seed=seed,
            patience_secs=9,
        )
        assert not done.complete and len(set(seen)) >= 20
        return seen

    assert drawn(1) == drawn(1) != drawn(2)


def lost_update(box: list[int]) -> None:
    value = box[0]
    point("read")
    box[0] = value + 1


def is_two(box: list[int]) -> None:
    assert box[0] == 2


def test_the_order_that_breaks_is_named_and_can_be_replayed() -> None:
    with pytest.raises(ScheduleError) as caught:
        explore(lost_update, lost_update, setup=lambda: [0], check=is_two)
    assert isinstance(caught.value.__cause__, AssertionError)
    schedule = caught.value.schedule
    assert schedule == "A:start B:start A:read B:read"
    with pytest.raises(ScheduleError) as again:
        explore(lost_update, lost_update, setup=lambda: [0], check=is_two, replay=schedule)
    assert again.value.schedule == schedule
    explore(lost_update, lost_update, setup=lambda: [0], check=is_two, replay="A:start A:read B:start B:read")


def test_what_is_right_in_every_order() -> None:
    lock = threading.Lock()

    def update(box: list[int]) -> None:
        point("before")
        with lock:
            lost_update(box)

    done = explore(update, update, setup=lambda: [0], check=is_two, patience_secs=0.05)
    assert done.schedules > 1


def test_threads_that_wait_for_each_other() -> None:
    def crosswise(first: int, second: int) -> Callable[[list[threading.Lock]], None]:
        def body(locks: list[threading.Lock]) -> None:
            with locks[first]:
                point("holds one")
                if locks[second].acquire(timeout=2.0):
                    locks[second].release()
                else:
                    raise TimeoutError("stuck")

        return body

    with pytest.raises(ScheduleError, match="TimeoutError: stuck|wait for each other") as caught:
        explore(
            crosswise(0, 1),
            crosswise(1, 0),
            setup=lambda: [threading.Lock(), threading.Lock()],
            patience_secs=0.05,
            timeout_secs=0.5,
        )
    assert caught.value.schedule.startswith("A:start B:start")


@pytest.mark.parametrize("error", [ZeroDivisionError("x"), SystemExit(3), KeyboardInterrupt()])
def test_what_a_function_raises(error: BaseException) -> None:
    def fails() -> None:
        raise error

    with pytest.raises(ScheduleError) as caught:
        explore(fails, lambda: point("a"))
    assert caught.value.__cause__ is error


def test_wrong_calls() -> None:
    with pytest.raises(UsageError, match="0 functions"):
        explore()
    with pytest.raises(UsageError, match="at least one schedule"):
        explore(print, max_schedules=0)
    with pytest.raises(UsageError, match="thread 'C' should go on, and only A B can"):
        explore(lambda: None, lambda: None, replay="C:start")


def test_no_thread_is_left() -> None:
    before = threading.enumerate()
    with pytest.raises(ScheduleError):
        explore(lost_update, lost_update, setup=lambda: [0], check=is_two)
    assert [thread for thread in threading.enumerate() if thread not in before] == []
