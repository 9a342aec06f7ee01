"""Programs with sessions in every order of their threads; run by test_exploration_of_sessions.py in one process."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

import tf1sessions as t1
from tf1sessions.errors import ScheduleError
from tf1sessions.testing import explore, graph_races
from tf1sessions.testing.reports import Kind

t1.enable_v1_behavior()
tf: Any = t1.tf1


class Counter:
    """A graph with a variable that is assigned what it is fed."""

    def __init__(self, shared_name: str = "count") -> None:
        self.graph = tf.Graph()
        with self.graph.as_default():
            self.variable = tf.get_variable(shared_name, initializer=0.0, use_resource=True)
            self.value = tf.placeholder(tf.float32, [])
            self.assign, self.read = self.variable.assign(self.value), self.variable.read_value()
            self.add = self.variable.assign_add(1.0, read_value=False)
            self.init = self.variable.initializer
        self.graph.finalize()
        self.session = tf.Session(graph=self.graph)

    def increase(self) -> None:
        self.session.run(self.assign, {self.value: self.session.run(self.read) + 1.0})


def in_threads(*functions: Callable[[], object]) -> None:
    threads = [threading.Thread(target=each) for each in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def fails(*functions: Callable[..., Any], **options: Any) -> ScheduleError:
    try:
        explore(*functions, **options)
    except ScheduleError as error:
        return error
    raise AssertionError("nothing went wrong")


def check_a_session_that_the_setup_makes() -> None:
    """Two tasks assign a variable twice each: in all six orders."""
    seen = set()

    def body(name: str, given: tuple[Counter, list[str]]) -> None:
        for number in (1.0, 2.0):
            given[0].session.run(given[0].assign, {given[0].value: number})
            given[1].append(f"{name}{number:.0f}")

    def setup() -> tuple[Counter, list[str]]:
        counter = Counter()
        counter.session.run(counter.init)
        return counter, []

    def check(given: tuple[Counter, list[str]]) -> None:
        seen.add("".join(given[1]))
        given[0].session.close()

    bodies = [functools.partial(body, name) for name in "ab"]
    found = explore(*bodies, setup=setup, check=check, ignore=[Kind.VARIABLE])
    assert found.complete and len(seen) == 6, (found, seen)


def check_two_jobs_that_may_share_a_worker() -> None:
    """One run in which they do shows nothing; another order gives each a worker."""
    workers: list[set[int]] = []

    def body() -> None:
        graph, mine = tf.Graph(), set()
        workers.append(mine)

        def build() -> None:
            mine.add(threading.get_ident())
            with graph.as_default():
                tf.constant(1.0)

        with ThreadPoolExecutor(2) as pool:
            for job in [pool.submit(build) for _ in range(2)]:
                job.result()

    with graph_races() as races, ThreadPoolExecutor(1) as pool:
        graph = tf.Graph()

        def build() -> None:
            with graph.as_default():
                tf.constant(1.0)

        assert [job.result() for job in [pool.submit(build), pool.submit(build)]] == [None, None]
    assert races.reports == []
    error = fails(body)
    assert "concurrent construction" in str(error) and len(workers[-1]) == 2, error


def check_a_lost_update_between_runs() -> None:
    counter = Counter()

    def body() -> None:
        counter.session.run(counter.init)
        in_threads(counter.increase, counter.increase)
        assert counter.session.run(counter.read) == 2.0

    error: Any = fails(body)
    assert isinstance(error.__cause__, AssertionError)
    again: Any = fails(body, replay=error.schedule)
    assert again.schedule == error.schedule
    assert "runs a session at " in str(again) or "B starts" in str(again)


def check_runs_under_a_lock() -> None:
    counter = Counter()

    def body() -> float:
        lock = threading.Lock()

        def add() -> None:
            with lock:
                counter.increase()

        counter.session.run(counter.init)
        in_threads(add, add)
        return float(counter.session.run(counter.read))

    found = explore(body)
    assert found.complete and found.schedules == 2 * 2, found  # of the starts, and of the lock
    assert not found.outside and found.repeatable


def check_atomic_updates_and_results() -> None:
    counter = Counter()

    def body(read: Any) -> list[float]:
        seen: list[float] = []
        counter.session.run(counter.init)
        in_threads(
            lambda: counter.session.run(counter.add), lambda: seen.append(float(counter.session.run(counter.read)))
        )
        return seen if read else []

    assert explore(lambda: body(False)).complete
    error = fails(lambda: body(True))
    assert "the result is [" in str(error), error


def check_sessions_that_have_nothing_in_common() -> None:
    one, other = Counter(), Counter()

    def body() -> None:
        for each in (one, other):
            each.session.run(each.init)
        in_threads(one.increase, other.increase)

    found = explore(body)
    assert (found.schedules, found.complete) == (2, True), found  # orders of the starts alone


def check_a_graph_that_two_threads_build() -> None:
    def body() -> None:
        graph = tf.Graph()

        def build() -> None:
            with graph.as_default():
                tf.constant(1.0, name="c")

        in_threads(build, build)

    assert "concurrent construction" in str(fails(body))
    found = explore(body, ignore=[Kind.CONSTRUCTION], max_schedules=20)
    assert found.schedules and found.steps > 5, found


def check_check_then_build() -> None:
    """The model is built twice only if one thread comes between the other's look and its end."""

    def body() -> int:
        built: list[Any] = []
        lock = threading.Lock()

        def model() -> None:
            if not built:
                with lock, tf.Graph().as_default() as graph:
                    tf.constant(1.0)
                    built.append(graph)

        in_threads(model, model)
        return len(built)

    assert "the result is 2, and in the first order it was 1" in str(fails(body))


def check_a_dequeue_that_waits_in_tensorflow() -> None:
    with tf.Graph().as_default() as graph:
        queue = tf.FIFOQueue(1, [tf.float32], [[]])
        value = tf.placeholder(tf.float32, [])
        put, get = queue.enqueue(value), queue.dequeue()
    session = tf.Session(graph=graph)

    def body() -> list[float]:
        thread = threading.Thread(target=lambda: [session.run(put, {value: number}) for number in range(2)])
        thread.start()
        found = [float(session.run(get)) for _ in range(2)]
        thread.join()
        return found

    found = explore(body, max_schedules=5, patience_secs=0.1, timeout_secs=30.0)
    assert any("exploration_checks.py" in place for place in found.outside), found


def check_a_warning_goes_wrong_if_asked_for() -> None:
    counter = Counter()

    def body() -> None:
        counter.session.run(counter.init)
        in_threads(
            lambda: counter.session.run(counter.assign, {counter.value: 2.0}),
            lambda: counter.session.run(counter.read),
        )

    assert explore(body).complete
    error = fails(body, fail_on="warnings")
    assert "variable read while assigned" in str(error) and "explore(ignore=[Kind.VARIABLE]" in str(error), error
    again = fails(body, fail_on="notes", replay=error.schedule)
    assert again.schedule == error.schedule
    assert explore(body, fail_on="warnings", ignore=[Kind.VARIABLE]).complete


def check_a_session_that_is_closed_under_its_user() -> None:
    counter = Counter()

    def body() -> None:
        session = tf.Session(graph=counter.graph)
        session.run(counter.init)
        thread = threading.Thread(target=lambda: session.run(counter.read))
        thread.start()
        session.close()
        thread.join()

    error = fails(body)
    assert "run after close" in str(error) or isinstance(error.__cause__, RuntimeError), error


def check_a_graph_session_that_threads_build_in_turns() -> None:
    def body() -> int:
        with t1.GraphSession() as session:

            def build() -> None:
                with session.building():
                    tf.constant(1.0)

            in_threads(build, build)
            return len(session.graph.get_operations())

    found = explore(body, max_schedules=10)
    assert found.schedules and not found.outside, found


def _result() -> Any:
    with tf.Graph().as_default(), tf.Session() as session:
        return session.run({"zeros": [tf.zeros([2, 300]), tf.constant(1.0)]})["zeros"][0]


def _add_to_last(array: Any) -> None:
    array[-1, -1] += 1.0


def check_a_result_that_two_threads_change() -> None:
    for change in (_add_to_last, lambda array: np.add(array, 1.0, out=array)):
        error: Any = fails(change, change, setup=_result, fail_on="warnings")
        text = str(error)
        assert "result array written by two threads: an array, made at" in text and "in _result" in text, text
        assert text.count("writes to the array, here or before") == 2, text


def check_results_that_threads_change_in_order() -> None:
    def with_a_lock() -> tuple[Any, Any]:
        return _result(), threading.Lock()

    def under_a_lock(given: tuple[Any, Any]) -> None:
        array, lock = given
        with lock:
            _add_to_last(array)

    def read(array: Any) -> float:
        return float(array.sum())

    def one_after_the_other() -> None:
        array = _result()
        in_threads(lambda: _add_to_last(array))
        in_threads(lambda: _add_to_last(array))
        _add_to_last(array)

    def handed_over() -> None:
        array, event = _result(), threading.Event()

        def first() -> None:
            _add_to_last(array)
            event.set()

        def second() -> None:
            event.wait()
            _add_to_last(array)

        in_threads(first, second)

    assert explore(under_a_lock, under_a_lock, setup=with_a_lock, fail_on="warnings").complete
    assert explore(_add_to_last, read, setup=_result, fail_on="warnings").complete  # what reads is not seen
    assert explore(*[lambda array: _add_to_last(array.copy())] * 2, setup=_result, fail_on="warnings").complete
    for body in (one_after_the_other, handed_over):
        explore(body, max_schedules=20, fail_on="warnings")
