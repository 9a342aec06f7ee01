"""Programs that use tf1sessions' own pools, pipelines and helpers, watched; run by test_own_races.py in one process.

Used as they are meant to be, they order what threads do, though the locks inside of them do not.
"""

from __future__ import annotations

import queue
import select
import threading
import time
from typing import Any
from unittest.mock import patch

import numpy as np

import tf1sessions as t1
from tf1sessions.pipelines.coordinator import Coordinator
from tf1sessions.testing import graph_races, tensorflow_hooks
from tf1sessions.testing.access_records import AccessRecord
from tf1sessions.testing.race_detector import RaceDetector
from tf1sessions.testing.reports import RaceKind

t1.enable_v1_behavior()
tf: Any = t1.tf1
DEADLINE = 60.0


def kinds(program: Any) -> list[tuple[RaceKind, str, str]]:
    with graph_races() as races:
        program()
    return [(report.kind, report.first.what, report.second.what) for report in races.reports]


def in_threads(*functions: Any) -> None:
    raised: list[BaseException] = []

    def guarded(function: Any) -> None:
        try:
            function()
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=guarded, args=(function,)) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(DEADLINE)
        assert not thread.is_alive()
    assert not raised, raised


# -- runs that a thread repeats ---------------------------------------------------------------------------------------


def check_runs_that_are_repeated() -> None:
    """Each is counted and compared, whichever way a session is run."""
    with t1.GraphSession() as gs:
        v = tf.get_variable("v", [], initializer=tf.zeros_initializer())
        x = tf.placeholder(tf.float32, [])
        call, y, z, step = gs.compile([x], x * v), x * v * 2.0, x * v * 3.0, v.assign(v + 1.0)
        gs.initialize()

        def asks(fetches: Any) -> Any:
            return gs.run(fetches, {x: 1.0})

        def assigns() -> None:
            gs.run(step)

        def changes() -> None:
            with gs.building():
                gs.graph.add_to_collection("mine", 1)

        ways: list[Any] = [
            lambda: call(1.0),
            lambda: gs.run(y, {x: 1.0}),
            lambda: gs.session.run(y, {x: 1.0}),
            lambda: asks(y) + asks(z),
        ]

        def program(other: Any, again: str, *turns: Any) -> None:
            """One thread runs seven times, and by an item lets the other go on, which does not know of "again"."""
            line: queue.Queue[None] = queue.Queue()
            ran, done = [again != "before"], [not again]

            def follows() -> None:
                line.get(timeout=DEADLINE)
                wait_for(ran)
                other()
                done[:] = [True]

            def runs() -> None:
                for number in range(8):
                    if number == 7:
                        line.put(None)
                        wait_for(done if again == "after" else [True])
                    if number < 7 or again:
                        for turn in turns:
                            turn()
                ran[:] = [True]

            in_threads(follows, runs)

        for turns in [*[(way,) for way in ways], (ways[0], ways[1]), (ways[1], ways[0], ways[2])]:
            assert kinds(lambda: program(assigns, "", *turns)) == []  # noqa: B023
            for other, kind in ((assigns, RaceKind.VARIABLE), (changes, RaceKind.MUTATION)):
                for again in ("before", "after"):
                    with graph_races() as races:
                        program(other, again, *turns)
                    (report,) = races.reports
                    times = {report.first.what: report.first.times, report.second.what: report.second.times}
                    expected = 16 if turns == (ways[3],) else 8
                    assert report.kind is kind and sorted(times.values()) == [1, expected], report


def wait_for(flag: list[bool]) -> None:
    """Orders nothing."""
    late = time.monotonic() + DEADLINE
    while not flag[0]:
        assert time.monotonic() < late
        select.select([], [], [], 0.001)  # not time.sleep(), which is watched


def check_requests_at_two_places_of_a_function() -> None:
    """None is taken for another, whatever their numbers and the places are."""
    with t1.GraphSession() as gs:
        v = tf.get_variable("v", [], initializer=tf.zeros_initializer())
        read, writes = v + 0.0, [v.assign(v + 1.0) for _ in range(100)]
        gs.initialize()
        gs.run(read)
        for write in writes:
            gs.run(write)

        def program(write: Any) -> None:
            def both() -> None:
                gs.run(read)
                gs.run(write)

            for _ in range(2):
                both()

        def runs() -> None:
            for write in writes:
                program(write)

        def one() -> None:
            gs.run(writes[0])

        def two() -> None:
            gs.run(writes[0])

        with graph_races() as races:
            in_threads(lambda: [each() for each in (one, two, one, two)], lambda: gs.run(read))
        (report,) = races.reports
        assert report.others == 1 and {report.first.times, report.second.times} == {1, 2}, report
        with graph_races() as races:
            in_threads(runs, lambda: gs.run(read))
        assert sum(max(report.first.times, report.second.times) for report in races.reports) == 200, races


def check_requests_of_two_sessions() -> None:
    """They are not mixed up, though their compiled requests have the same numbers; nor are two lines that run one."""
    with t1.GraphSession() as one, t1.GraphSession() as other:
        calls = {}
        for gs in (one, other):
            with gs.building():
                x = tf.placeholder(tf.float32, [])
                calls[gs] = gs.compile([x], x * 2.0)

        def often(gs: Any) -> None:
            for _ in range(100):
                calls[gs](1.0)

        def again(gs: Any) -> None:
            calls[gs](1.0)

        def report_of(before: Any, changed: Any, after: Any = lambda: None) -> Any:
            """One thread runs, the other changes the graph of ``changed``, the first one runs again."""
            ran, has_changed = [False], [False]

            def runs() -> None:
                before()
                ran[:] = [True]
                wait_for(has_changed)
                after()

            def changes() -> None:
                wait_for(ran)
                with changed.building():
                    changed.graph.add_to_collection("mine", 1)
                has_changed[:] = [True]

            with graph_races() as races:
                in_threads(runs, changes)
            (report,) = races.reports
            assert report.kind is RaceKind.MUTATION and report.second.what == "changes a collection", report
            return report

        report = report_of(lambda: (often(one), [again(one) for _ in range(9)]), one)
        assert report.others == 1 and report.first.times == 100, report  # from two lines
        report = report_of(lambda: often(one), one, lambda: again(one))
        assert report.others == 1 and report.first.times == 100, report
        report = report_of(lambda: (often(one), again(other)), other)
        assert report.others == 0 and report.first.times == 1 and "again" in report.first.stack[0], report
        report = report_of(lambda: (often(one), again(other), often(one)), one)
        assert report.others == 0 and report.first.times == 200 and "often" in report.first.stack[0], report


def check_runs_of_tensorflow_s_own_session() -> None:
    """What is run at a line is not mixed up with what is run there besides; all are counted."""
    with tf.Graph().as_default(), tf.Session() as session:
        v, w = (tf.get_variable(name, [], initializer=tf.zeros_initializer()) for name in "vw")
        read_v, read_w, step_v, step_w = v + 0.0, w + 0.0, v.assign(v + 1.0), w.assign(w + 1.0)
        session.run(tf.global_variables_initializer())
        asked = [read_v, read_w]

        def one(fetches: Any) -> None:
            session.run(fetches)

        def two(fetches: Any) -> None:
            session.run(fetches)

        def deep(fetches: Any, depth: int) -> None:
            if depth:
                deep(fetches, depth - 1)
            else:
                session.run(fetches)

        def reports_of(first: Any, second: Any) -> list[tuple[tuple[str, ...], int, int, int]]:
            """The variables concerned, how often the threads ran, and how many other lines there are."""
            with graph_races() as races:
                in_threads(first, second)
            assert all(report.kind is RaceKind.VARIABLE for report in races.reports), races
            return [
                (report.first.names, *sorted((report.first.times, report.second.times)), report.others)
                for report in races.reports
            ]

        def exchanged() -> None:
            """A list that changes between runs, at one line."""
            for number in range(9):
                asked[:] = [read_w, read_w] if number else [read_w, step_v]
                one(asked)

        each = [read_v, [read_v], (read_v, read_v), {"v": read_v}, "add:0", read_v.op, [[read_v]]]
        for fetches in each:
            found = reports_of(lambda: [one(fetches) for _ in range(5)], lambda: one(step_v))  # noqa: B023
            assert found == [(("v",), 1, 5, 0)], (fetches, found)
        found = reports_of(lambda: [line(read_v) for line in (one, two, one, two)], lambda: two(step_v))
        assert found == [(("v",), 1, 2, 1)], found
        found = reports_of(lambda: [deep(read_v, depth) for depth in (3, 0, 3, 1)], lambda: two(step_v))
        assert found == [(("v",), 1, 4, 0)], found
        found = reports_of(exchanged, lambda: two(step_v))
        assert found == [(("v",), 1, 1, 0)], found
        found = reports_of(lambda: [one(which) for which in (read_w, read_v) * 3], lambda: two([step_v, step_w]))
        assert [times for _, *times in found] == [[1, 3, 0]], found

        with tf.Session() as other:
            ran = [False]

            def each_in_turn() -> None:
                for which in (session, session, other, session, other):
                    which.run(step_w)
                ran[:] = [True]

            def closes() -> None:
                wait_for(ran)
                other.close()

            other.run(tf.global_variables_initializer())
            with graph_races() as races:
                in_threads(each_in_turn, closes)
            (report,) = races.reports
            assert report.kind is RaceKind.CLOSED and {report.first.times, report.second.times} == {1, 2}, report


def check_python_that_comes_into_a_graph_later() -> None:
    """What was run before it came is watched as it was."""
    for make, named in ((tf.Session, False), (tf.Session, True), (t1.Session, False)):
        with tf.Graph().as_default() as graph, make() as session:
            v = tf.get_variable("v", [], initializer=tf.zeros_initializer())
            read, step = v + 0.0, v.assign(v + 1.0)
            session.run(tf.global_variables_initializer())
            line: queue.Queue[None] = queue.Queue()
            ran = [False]

            def repeats() -> None:
                for number in range(9):
                    session.run({"v": step} if named else step)  # noqa: B023
                    if number == 2:
                        with graph.as_default():
                            tf.py_func(lambda: np.float32(1.0), [], tf.float32)
                    if number == 6:
                        line.put(None)  # noqa: B023
                ran[:] = [True]  # noqa: B023

            def follows() -> None:
                line.get(timeout=DEADLINE)  # noqa: B023
                wait_for(ran)  # noqa: B023
                session.run(read)  # noqa: B023

            assert [kind for kind, *_ in kinds(lambda: in_threads(repeats, follows))] == [RaceKind.VARIABLE]


class Odd:
    """A value that TensorFlow's own way of running must look at."""

    def __array__(self, *args: Any, **named: Any) -> Any:
        return np.float32(2.0).__array__(*args)


def check_runs_that_go_the_slow_way() -> None:
    """By TensorFlow's function and then by one of ours: they count once."""
    with tf.Graph().as_default(), t1.Session() as session:
        x, v = tf.placeholder(tf.float32, []), tf.get_variable("v", [], initializer=tf.zeros_initializer())
        y, step = x * v, v.assign(v + 1.0)
        session.run(tf.global_variables_initializer())
        with graph_races() as races:
            in_threads(lambda: [session.run(y, {x: Odd()}) for _ in range(5)], lambda: session.run(step))
        (report,) = races.reports
        assert report.kind is RaceKind.VARIABLE and {report.first.times, report.second.times} == {1, 5}, report


def check_requests_that_are_many() -> None:
    """From one line: all are counted, and what is kept of them does not pile up."""
    with t1.GraphSession() as gs:
        v = tf.get_variable("v", [], initializer=tf.zeros_initializer())
        steps = [v.assign(v + 1.0).op for _ in range(200)]
        in_python = tf.py_func(lambda x: x, [v.read_value()], tf.float32)
        gs.initialize()

        def first() -> None:
            for step in steps:
                gs.run(step)

        def second() -> None:
            for _ in range(50):
                gs.run(in_python)

        made: list[AccessRecord] = []
        look = RaceDetector.run

        def run(self: Any, *args: Any) -> AccessRecord:
            made.append(look(self, *args))
            return made[-1]

        with patch.object(RaceDetector, "run", run), graph_races() as found:
            in_threads(first, second)
            (hooks,) = tensorflow_hooks._installed
            assert len(hooks._graph(gs.graph).location.records) <= 64
        (report,) = [report for report in found.reports if report.kind is RaceKind.VARIABLE]
        assert {report.first.times, report.second.times} == {200, 50}, report
        runs = {id(record): record for record in made if record.what == "runs the graph"}.values()
        assert sorted(record.times for record in runs) == [50, 200]


# -- ThreadSessionPool ------------------------------------------------------------------------------------------------


def square(session: Any, value: float) -> float:
    return float(session.run(tf.constant(value) ** 2))


def check_jobs_of_a_pool() -> None:
    def program() -> None:
        with t1.ThreadSessionPool(3) as pool:
            assert sorted(pool.map(square, [1.0, 2.0, 3.0, 4.0])) == [1.0, 4.0, 9.0, 16.0]

    assert kinds(program) == []


def check_a_pool_whose_graphs_are_built_once() -> None:
    def build(session: Any) -> Any:
        x = tf.placeholder(tf.float32, [])
        return session.compile([x], x * 2.0)

    def program() -> None:
        with t1.ThreadSessionPool(2, initializer=build) as pool:
            jobs = [pool.submit(lambda session, value: session.built(value), value) for value in range(6)]
            assert [job.result(DEADLINE) for job in jobs] == [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]

    assert kinds(program) == []


def check_a_graph_that_goes_to_a_job_and_back() -> None:
    """What is submitted is ordered after what was before, and before what follows its result."""

    def add(session: Any, graph: Any) -> Any:
        with graph.as_default():
            return tf.constant(1.0)

    def program() -> None:
        graph = tf.Graph()
        with t1.ThreadSessionPool(2) as pool:
            for _ in range(3):
                add(None, graph)
                pool.submit(add, graph).result(DEADLINE)
        with tf.Session(graph=graph) as session:
            session.run(graph.get_operations()[-1].outputs[0])

    assert kinds(program) == []


def check_two_jobs_that_add_to_one_graph() -> None:
    def program() -> None:
        graph = tf.Graph()
        meet = threading.Barrier(2)

        def add(session: Any) -> None:
            meet.wait(DEADLINE)  # in two workers
            with graph.as_default():
                tf.constant(1.0)

        with t1.ThreadSessionPool(2) as pool:
            for job in [pool.submit(add) for _ in range(2)]:
                job.result(DEADLINE)

    assert kinds(program) == [(RaceKind.CONSTRUCTION, "adds operations", "adds operations")]


# -- GraphSession -----------------------------------------------------------------------------------------------------


def check_a_session_that_threads_share() -> None:
    def program() -> None:
        with t1.GraphSession() as gs:
            x = tf.placeholder(tf.float32, [])
            y = x * 2.0
            gs.seal()
            call = gs.compile([x], y)
            in_threads(*[lambda: (call(1.0), gs.run(y, {x: 2.0}))] * 4)

    assert kinds(program) == []


def check_a_session_that_is_handed_on() -> None:
    """By a queue, with the right to build."""

    def program() -> None:
        line: queue.Queue[Any] = queue.Queue()

        def work() -> None:
            gs = line.get(timeout=DEADLINE)
            with gs.building():
                y = tf.constant(2.0)
            gs.run(y)
            gs.close()

        def make() -> None:
            gs = t1.GraphSession()
            with gs.as_default():
                gs.run(tf.constant(1.0))
            line.put(gs)

        in_threads(make, work)

    assert kinds(program) == []


def check_threads_that_build_in_turns() -> None:
    def program() -> None:
        gs = t1.GraphSession()

        def build() -> None:
            with gs.building():
                tf.constant(1.0)

        in_threads(build, build, build)
        gs.close()

    assert kinds(program) == []


def check_a_thread_that_builds_while_another_runs() -> None:
    def program() -> None:
        gs = t1.GraphSession()
        with gs.as_default():
            y = tf.constant(1.0)

        def build() -> None:
            with gs.building():
                tf.constant(2.0)

        in_threads(lambda: gs.run(y), build)
        gs.close()

    ((kind, *what),) = kinds(program)
    assert kind is RaceKind.MUTATION and sorted(what) == ["adds operations", "runs the graph"]


# -- pipelines --------------------------------------------------------------------------------------------------------


def check_a_pipeline() -> None:
    def program() -> None:
        with t1.GraphSession() as gs:
            with t1.QueuePipeline(gs) as pipe:
                numbers = pipe.queue("numbers", capacity=4, dtypes=[tf.float32], shapes=[()])
                pipe.source(numbers, range(20), threads=2)
                doubled = pipe.stage("double", lambda number: number * 2.0, numbers, threads=2)
                sums = pipe.stage("python", lambda number: tf.py_func(lambda x: x, [number], tf.float32), doubled)
                got = [float(each) for each in pipe.items(sums)]
            assert sorted(got) == [2.0 * number for number in range(20)]
            gs.run(tf.constant(1.0))

    assert kinds(program) == []


def check_a_pipeline_that_is_measured() -> None:
    """The keeper, which measures queues, was there before they were declared."""

    def program() -> None:
        with t1.GraphSession() as gs, t1.QueuePipeline(gs) as pipe:
            numbers = pipe.queue("numbers", capacity=4, dtypes=[tf.float32], shapes=[()])
            pipe.source(numbers, range(20))
            late = time.monotonic() + DEADLINE
            for _ in pipe.items(numbers):
                while not pipe._flow.observer._seen:  # until the keeper has measured
                    assert time.monotonic() < late
                    select.select([], [], [], 0.001)  # not time.sleep(), which is watched

    assert kinds(program) == []


def check_a_batcher() -> None:
    def program() -> None:
        with t1.GraphSession() as gs:
            x = tf.placeholder(tf.float32, [None, 2])
            y = tf.reduce_sum(x, axis=1)
            with t1.Batcher(gs, {"x": x}, {"y": y}) as batcher:
                row = np.ones((1, 2), np.float32)
                in_threads(*[lambda: [batcher(x=row) for _ in range(5)]] * 4)
                batcher.submit(x=row).result(DEADLINE)
            gs.run(tf.constant(1.0))  # nothing runs any more

    assert kinds(program) == []


def check_a_work_queue() -> None:
    def program() -> None:
        with t1.GraphSession() as gs:
            x = tf.placeholder(tf.float32, [])
            y = x * 2.0
            with t1.WorkQueue(gs, workers=3) as work:
                items = [work.submit(y, {x: float(number)}) for number in range(12)]
                assert [float(item.result(DEADLINE)) for item in items] == [2.0 * number for number in range(12)]
            gs.run(tf.constant(1.0))

    assert kinds(program) == []


def check_results_of_a_work_queue() -> None:
    """Each run is over when its result is there, also while the queue is open."""

    def program() -> None:
        with t1.GraphSession() as gs, t1.WorkQueue(gs, workers=2) as work:
            for number in range(3):
                work.submit(tf.constant(float(number), name=f"number{number}")).result(DEADLINE)

    assert [kind for kind, *_ in kinds(program) if kind is not RaceKind.GROWTH] == []


def check_a_coordinator() -> None:
    def program() -> None:
        with tf.Graph().as_default(), t1.Session() as session:
            line = tf.FIFOQueue(8, [tf.float32], shapes=[()])
            runner = tf.train.QueueRunner(line, [line.enqueue(1.0)] * 2)
            item = line.dequeue()
            coordinator = Coordinator()
            threads = runner.create_threads(session, coordinator, start=True)
            for _ in range(10):
                session.run(item)
            coordinator.request_stop()
            session.run(runner.cancel_op)
            coordinator.join(threads)
            session.run(tf.constant(1.0))  # nothing runs any more

    assert kinds(program) == []


def check_a_model_that_requests_share() -> None:
    def program() -> None:
        with t1.GraphSession() as gs:
            x = tf.placeholder(tf.float32, [None])
            y = x + 1.0
            gs.seal()
            call = gs.compile([x], y)
            with t1.ThreadSessionPool(2) as pool:  # whose jobs use another session than their own
                jobs = [pool.submit(lambda session: call([1.0])) for _ in range(4)]
                assert [job.result(DEADLINE).tolist() for job in jobs] == [[2.0]] * 4

    assert kinds(program) == []
