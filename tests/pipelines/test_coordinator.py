"""Coordinator: TensorFlow 1.15.5's contract, whose error is raised, and where threads are that do not end."""

from __future__ import annotations

import contextlib
import logging
import os
import queue
import re
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from support import wait_for

import tf1sessions as t1
from tf1sessions.errors import ClosedError
from tf1sessions.pipelines.coordinator import Coordinator, is_consequence, whereabouts
from tf1sessions.runtime import tf
from tf1sessions.sessions.watchdog import watchdog

DEADLINE = 30.0


@pytest.fixture
def started() -> Iterator[Callable[..., threading.Thread]]:
    """Returns start(function, *args, name=...); each thread must have ended with the test."""
    threads = []

    def start(function: Callable[..., Any], *args: Any, name: str | None = None) -> threading.Thread:
        thread = threading.Thread(target=function, args=args, name=name, daemon=True)
        threads.append(thread)
        thread.start()
        return thread

    yield start
    for thread in threads:
        thread.join(DEADLINE)
    assert [thread.name for thread in threads if thread.is_alive()] == []


def line_of(function: Callable[..., Any], text: str) -> str:
    """``file:line`` of the first line of a function that contains a text."""
    first = function.__code__.co_firstlineno
    with open(__file__, encoding="utf-8") as file:
        lines = file.read().splitlines()[first - 1 :]
    return f"{__file__}:{first + next(number for number, line in enumerate(lines) if text in line)}"


def report(coordinator: Any, error: BaseException, as_info: bool = False) -> None:
    """Reports an error from its ``except`` block, as programs do."""
    try:
        raise error
    except BaseException as raised:
        coordinator.request_stop(sys.exc_info() if as_info else raised)


# ----------------------------------------------------------------------------------------- the contract of 1.15.5


@pytest.mark.parametrize("as_info", [False, True])
def test_an_error_that_is_reported_is_raised_by_join_with_its_traceback(as_info: bool) -> None:
    coordinator = Coordinator()

    def inner() -> None:
        report(coordinator, KeyError("a"), as_info)

    assert not coordinator.should_stop() and not coordinator.joined
    inner()
    assert coordinator.should_stop()
    with pytest.raises(KeyError, match=r"^'a'$") as raised:
        coordinator.raise_requested_exception()
    with pytest.raises(KeyError) as raised:
        coordinator.join()
    assert traceback.extract_tb(raised.tb)[-1].name == "report"
    assert coordinator.joined


@pytest.mark.parametrize("as_info", [False, True])
def test_after_join_an_error_is_raised_where_it_is_reported(as_info: bool) -> None:
    coordinator = Coordinator()
    coordinator.join()
    with pytest.raises(KeyError, match="late"):
        report(coordinator, KeyError("late"), as_info)
    assert not coordinator.should_stop()
    report(coordinator, tf.errors.OutOfRangeError(None, None, "clean"))
    assert coordinator.should_stop()


def test_clear_stop_forgets_all() -> None:
    coordinator = Coordinator()
    report(coordinator, KeyError("a"))
    report(coordinator, KeyError("b"))
    with pytest.raises(KeyError):
        coordinator.join()
    coordinator.clear_stop()
    assert (coordinator.joined, coordinator.should_stop(), coordinator.others) == (False, False, ())
    coordinator.raise_requested_exception()
    coordinator.join()


@pytest.mark.parametrize(
    ("types", "error", "raised"),
    [
        (None, tf.errors.OutOfRangeError(None, None, "x"), False),
        ([], tf.errors.OutOfRangeError(None, None, "x"), True),
        ((StopIteration,), StopIteration("x"), False),
        ([StopIteration], StopIteration("x"), False),
        ((StopIteration,), tf.errors.OutOfRangeError(None, None, "x"), True),
        (None, tf.errors.CancelledError(None, None, "x"), True),
        (None, SystemExit(3), True),
    ],
)
@pytest.mark.parametrize("as_info", [False, True])
def test_types_of_a_clean_stop(types: Any, error: BaseException, raised: bool, as_info: bool) -> None:
    coordinator = Coordinator(types)
    report(coordinator, error, as_info)
    assert coordinator.should_stop()
    with pytest.raises(type(error)) if raised else contextlib.nullcontext():
        coordinator.join()


def test_stop_on_exception_takes_every_exception() -> None:
    coordinator = Coordinator()
    with coordinator.stop_on_exception():
        raise SystemExit(3)
    with pytest.raises(SystemExit):
        coordinator.join()


def test_wait_for_stop() -> None:
    coordinator = Coordinator()
    assert coordinator.wait_for_stop(0.001) is False
    coordinator.request_stop()
    assert coordinator.wait_for_stop() is True


def test_join_takes_what_tensorflow_takes() -> None:
    coordinator = Coordinator()
    coordinator.join(iter([threading.Thread()]))  # one that was never started is not waited for
    coordinator.join([], 1, True)
    with pytest.raises(TypeError, match="'int' object is not iterable"):
        coordinator.join(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="'int' object is not iterable"):
        Coordinator(5)  # type: ignore[arg-type]


def test_join_waits_for_threads_without_a_stop_request(started: Any) -> None:
    coordinator, gate = Coordinator(), threading.Event()
    registered = started(gate.wait, DEADLINE)
    coordinator.register_thread(registered)
    joined = started(coordinator.join)
    wait_for(lambda: "waits for a stop" in whereabouts(joined), "join waits")
    gate.set()
    joined.join(DEADLINE)
    assert coordinator.joined and not coordinator.should_stop() and not registered.is_alive()


def test_threads_that_go_on_after_the_grace(started: Any) -> None:
    coordinator, gate = Coordinator(), threading.Event()
    thread = started(gate.wait, DEADLINE, name="sleeper")
    coordinator.register_thread(thread)
    coordinator.request_stop()
    text = "^Coordinator stopped with threads still running: sleeper\n  sleeper: at "
    with pytest.raises(RuntimeError, match=text) as raised:
        coordinator.join(stop_grace_period_secs=0.01)
    assert type(raised.value) is RuntimeError
    coordinator.join(stop_grace_period_secs=DEADLINE)  # registered threads are forgotten
    for grace in (0, -1):
        with pytest.raises(RuntimeError, match=text):
            coordinator.join([thread], stop_grace_period_secs=grace)
    gate.set()
    coordinator.join([thread])


def test_a_thread_that_joins_itself(started: Any) -> None:
    coordinator = Coordinator()
    coordinator.request_stop()
    with pytest.raises(RuntimeError, match=r"^Coordinator stopped with threads still running: MainThread\n"):
        coordinator.join([threading.main_thread()], stop_grace_period_secs=0.01)


def test_an_error_counts_more_than_threads_that_go_on(started: Any) -> None:
    coordinator, gate = Coordinator(), threading.Event()
    thread = started(gate.wait, DEADLINE)
    report(coordinator, KeyError("a"))
    with pytest.raises(KeyError):
        coordinator.join([thread], stop_grace_period_secs=0.01)
    gate.set()


def test_what_is_logged(started: Any, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    logger = logging.getLogger("tensorflow")
    monkeypatch.setattr(logger, "propagate", True)
    gate = threading.Event()
    with caplog.at_level(logging.INFO, logger="tensorflow"):
        for as_info in (False, True):
            coordinator = Coordinator()
            report(coordinator, KeyError("b"), as_info)
        coordinator = Coordinator()
        coordinator.request_stop()
        coordinator.join([started(gate.wait, DEADLINE, name="sleeper")], 0.01, ignore_live_threads=True)
    gate.set()
    texts = [record.getMessage().splitlines()[0] for record in caplog.records]
    assert texts == [
        "Error reported to Coordinator: <class 'KeyError'>, 'b'",
        "Error reported to Coordinator: 'b'",
        "Coordinator stopped with threads still running: sleeper",
    ]
    assert [bool(record.exc_info) for record in caplog.records] == [False, True, False]


def test_it_is_tensorflows_for_those_who_ask() -> None:
    coordinator = Coordinator()
    assert isinstance(coordinator, tf.train.Coordinator)
    tf.train.LooperThread(coordinator, None)


# ------------------------------------------------------------------------------------------- whose error is raised


def cancelled() -> BaseException:
    return tf.errors.CancelledError(None, None, "FIFOQueue '_0_q' is closed.")  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("first", "second", "raised", "other"),
    [
        (cancelled(), KeyError("b"), "second", "first"),
        (ClosedError("the session is closed"), KeyError("b"), "second", "first"),
        (tf.errors.AbortedError(None, None, "a"), KeyError("b"), "second", "first"),
        (RuntimeError("Attempted to use a closed Session."), KeyError("b"), "second", "first"),
        (KeyError("a"), cancelled(), "first", "second"),
        (KeyError("a"), KeyError("b"), "first", "second"),
        (cancelled(), tf.errors.CancelledError(None, None, "b"), "first", "second"),
        # clean stops: without an error, and nothing comes after them
        (tf.errors.OutOfRangeError(None, None, "x"), KeyError("b"), None, "second"),
        (None, KeyError("b"), None, "second"),
        (KeyError("a"), tf.errors.OutOfRangeError(None, None, "x"), "first", None),
        (KeyError("a"), None, "first", None),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_the_first_that_is_no_consequence_is_raised(first: Any, second: Any, raised: str | None, other: Any) -> None:
    coordinator = Coordinator()
    names = {"first": first, "second": second, None: None}
    for error in (first, second):
        if error is None:
            coordinator.request_stop()
        else:
            report(coordinator, error)
    caught = None
    try:
        coordinator.join()
    except BaseException as error:
        caught = error
    assert caught is names[raised]
    assert coordinator.others == (() if other is None else (names[other],))


def test_an_error_that_is_reported_twice_is_one() -> None:
    coordinator = Coordinator()
    first, second = KeyError("a"), KeyError("b")
    for error in (first, second, second, first):
        report(coordinator, error)
    assert coordinator.others == (second,)


def test_errors_after_the_end_do_not_fill_the_memory() -> None:
    coordinator = Coordinator()
    for number in range(1000):
        report(coordinator, KeyError(number))
    assert [error.args for error in coordinator.others] == [(number,) for number in range(900, 1000)]


def test_the_error_that_is_given_is_the_one() -> None:
    """In another one's ``except`` block, and in none; TensorFlow takes the other one, or fails with a TypeError."""
    coordinator = Coordinator()
    try:
        raise KeyError("a")
    except KeyError:
        coordinator.request_stop(ValueError("given"))
    with pytest.raises(ValueError, match="given"):
        coordinator.join()
    coordinator.clear_stop()
    coordinator.request_stop(ValueError("outside"))
    assert coordinator.should_stop()
    with pytest.raises(ValueError, match="outside"):
        coordinator.join()


def test_of_threads_that_fail_at_once_the_cause_is_raised(started: Any) -> None:
    for _ in range(50):
        coordinator, barrier = Coordinator(), threading.Barrier(5)

        def work(number: int, coordinator: Any = coordinator, barrier: Any = barrier) -> None:
            barrier.wait(DEADLINE)
            report(coordinator, KeyError(number) if number == 3 else cancelled())

        threads = [started(work, number) for number in range(5)]
        with pytest.raises(KeyError):
            coordinator.join(threads)
        assert len(coordinator.others) == 4 and all(map(is_consequence, coordinator.others))


def test_consequences_as_tensorflow_words_them() -> None:
    """Of a closed queue, a closed session; and ends that are none."""
    found = {}
    with tf.Graph().as_default():
        items = tf.FIFOQueue(2, tf.float32, [[]])
        shuffled = tf.RandomShuffleQueue(2, 0, tf.float32, [[]])
        limit = tf.count_up_to(tf.get_variable("count", initializer=0), 0)
        number = tf.placeholder(tf.float32, [])
        failing = tf.py_func(lambda: 1 / 0, [], tf.float64, name="failing")
        checked = tf.check_numerics(number, "a bad number")
        with tf.Session() as session:
            session.run([items.close(), shuffled.close(), tf.global_variables_initializer()])
            for name, fetches, feeds in (
                ("dequeue", items.dequeue(), {}),
                ("dequeue_many", shuffled.dequeue_many(2), {}),
                ("enqueue", items.enqueue(1.0), {}),
                ("limit", limit, {}),
                ("python", failing, {}),
                ("check", checked, {number: float("nan")}),
            ):
                with pytest.raises(tf.errors.OpError) as raised:
                    session.run(fetches, feeds)
                found[name] = is_consequence(raised.value)
        with pytest.raises(RuntimeError) as closed:
            session.run(number)
        found["closed"] = is_consequence(closed.value)
    expected = {"dequeue", "dequeue_many", "enqueue", "closed"}
    assert {name for name, is_one in found.items() if is_one} == expected
    assert not is_consequence(None)
    assert not is_consequence(RuntimeError("Session"))
    assert not is_consequence(tf.errors.OutOfRangeError(None, None, "End of sequence"))


# ------------------------------------------------------------------------------------------------ where threads are


def test_where_threads_are(started: Any) -> None:
    gate, pending = threading.Event(), queue.Queue()  # type: ignore[var-annotated]
    coordinator = Coordinator()
    with t1.GraphSession() as gs:
        item = tf.FIFOQueue(1, tf.float32, [[]], name="empty").dequeue(name="take")

        def read() -> None:
            with pytest.raises(tf.errors.CancelledError):
                gs.run(item)

        def wait() -> None:
            gate.wait(DEADLINE)

        def get() -> None:
            pending.get(timeout=DEADLINE)

        def stop() -> None:
            coordinator.wait_for_stop()

        gs.seal()
        threads = {function.__name__: started(function) for function in (read, wait, get, stop)}
        wait_for(lambda: watchdog.call_of(threads["read"].ident), "the dequeue")
        wait_for(lambda: line_of(wait, "gate.wait") in whereabouts(threads["wait"]), "the event")
        wait_for(lambda: line_of(get, "pending.get") in whereabouts(threads["get"]), "the Python queue")
        wait_for(lambda: line_of(stop, "wait_for_stop") in whereabouts(threads["stop"]), "the stop")
        assert whereabouts(threads["stop"]).startswith("waits for a stop request, at ")
        assert whereabouts(threads["wait"]).startswith("at ")
        here = line_of(read, "gs.run(item)")
        seen = re.sub(r"\d+ s", "N s", whereabouts(threads["read"]))
        assert seen == f"waits in Session.run for N s, in 'take' (QueueDequeueV2), called at {here}"
    with pytest.raises(RuntimeError) as raised:
        coordinator.request_stop()
        coordinator.join(threads.values(), stop_grace_period_secs=0.01)
    assert {line.partition(": ")[2] for line in str(raised.value).splitlines()[1:]} == {
        f"at {line_of(wait, 'gate.wait')}",
        f"at {line_of(get, 'pending.get')}",
    }
    gate.set()
    pending.put(None)
    threads["wait"].join(DEADLINE)
    assert whereabouts(threads["wait"]) == "ended"
    assert whereabouts(threading.Thread()) == "not started"
    assert line_of(test_where_threads_are, "whereabouts(threading.current") in whereabouts(threading.current_thread())


def test_threads_without_a_line_of_the_program(started: Any) -> None:
    gate = threading.Event()
    thread = started(gate.wait, DEADLINE)
    wait_for(lambda: "threading.py:" in whereabouts(thread), "the event")
    assert os.path.dirname(os.__file__) in whereabouts(thread)
    gate.set()


def test_calls_in_flight(started: Any) -> None:
    """A call in a Python function of another one: both are there, each with its thread."""
    inside: list[int | None] = []
    with t1.GraphSession() as gs:
        items = tf.FIFOQueue(1, tf.float32, [[]], name="empty")
        item = items.dequeue(name="take")
        fill = items.enqueue(1.0)

        def function() -> Any:
            inside.append(threading.get_ident())
            return gs.run(item)

        outer = tf.py_func(function, [], tf.float32, name="outer")
        gs.seal()
        thread = started(gs.run, outer)
        wait_for(lambda: len(watchdog.calls()) == 2, "both calls")
        first, second = watchdog.calls()
        assert first.operations == (("outer", "PyFunc"),) and second.operations == (("take", "QueueDequeueV2"),)
        assert (first.thread, second.thread) == (thread.ident, inside[0])
        assert first.since <= second.since and first.session is gs.session
        assert watchdog.call_of(thread.ident) is first
        assert watchdog.call_of(threading.get_ident()) is None
        gs.run(fill)
        thread.join(DEADLINE)
        assert watchdog.calls() == []
