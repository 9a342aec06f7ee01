"""Programs with and without hazards, watched; run by test_graph_races.py in one process, as TensorFlow 1 behaves."""

from __future__ import annotations

import asyncio
import concurrent.futures
import multiprocessing.connection
import multiprocessing.queues
import multiprocessing.synchronize
import os
import queue
import select
import selectors
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

import tf1sessions as t1
from tf1sessions.testing import tensorflow_hooks
from tf1sessions.testing.races import graph_races
from tf1sessions.testing.reports import RaceKind, Report
from tf1sessions.testing.suppressions import Suppression, Suppressions

t1.enable_v1_behavior()
tf: Any = t1.tf1
DEADLINE = 60.0


def run(*functions: Callable[[], object]) -> None:
    """In a thread each; each begins when the one before it has ended, which no detector knows."""
    ended = [False] * len(functions)
    raised: list[BaseException] = []

    def body(number: int) -> None:
        late = time.monotonic() + DEADLINE
        while number and not ended[number - 1]:
            assert time.monotonic() < late
            select.select([], [], [], 0.001)  # not time.sleep(), which is watched
        try:
            functions[number]()
        except BaseException as error:
            raised.append(error)
        finally:
            ended[number] = True

    threads = [threading.Thread(target=body, args=(number,), name="abcd"[number]) for number in range(len(functions))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(DEADLINE)
    assert not raised, raised


def found(program: Callable[[], object], **options: Any) -> list[Report]:
    with graph_races(**options) as races:
        program()
    return races.reports


def kinds(program: Callable[[], object], **options: Any) -> list[RaceKind]:
    return [report.kind for report in found(program, **options)]


def adds(graph: Any) -> Callable[[], None]:
    def build() -> None:
        with graph.as_default():
            tf.constant(1.0)

    return build


def check_two_threads_add_to_one_graph() -> None:
    graph = tf.Graph()
    (report,) = found(lambda: run(adds(graph), adds(graph)))
    assert report.kind is RaceKind.CONSTRUCTION
    assert (report.first.thread, report.second.thread) == ("a", "b")
    for side in (report.first, report.second):
        assert side.place.rpartition(":")[0] == __file__
        assert side.stack[0].endswith("build") and "Const" in side.names[0]
    text = str(report)
    assert text.startswith("concurrent construction: graph 0x") and "why: " in text and "fix: " in text
    assert report.to_json()["first"]["thread"] == "a"


def check_reports_say_where_things_began_and_which_locks_were_held() -> None:
    graph, locks = tf.Graph(), []

    def build(number: int) -> None:
        with locks[number]:
            adds(graph)()

    def program() -> None:
        locks.extend(threading.Lock() for _ in range(2))
        nonlocal graph
        graph = tf.Graph()
        with tf.Session(graph=graph) as session:
            with graph.as_default():
                v = tf.Variable(0.0, use_resource=False)
                add, read = v.assign_add(1.0), v + 1.0
            session.run(v.initializer)
            run(lambda: build(0), lambda: build(1), lambda: session.run(add), lambda: session.run(read))

    reports = {report.kind: report for report in found(program)}
    report = reports[RaceKind.CONSTRUCTION]
    lines = [report.made, report.first.started, *report.first.locks, *report.second.locks]
    places = [int(line.partition(" in ")[0].rpartition(":")[2]) for line in lines]
    text = Path(__file__).read_text().splitlines()
    sources = ["graph = tf.Graph()", "thread.start()", *["locks.extend(threading.Lock() for _ in range(2))"] * 2]
    assert [text[place - 1].strip() for place in places] == sources, lines
    assert "build: tf.constant(1.0)" in str(report), str(report)
    assert f"it holds the lock made at {report.first.locks[0]}" in str(report)
    assert f"it was started at {report.second.started}: thread.start()" in str(report)
    session_report = reports[RaceKind.VARIABLE]
    assert ": with tf.Session(graph=graph) as session:" in str(session_report).splitlines()[0]
    assert "meant so? graph_races(ignore=[Kind.VARIABLE]" in str(session_report)
    assert Report.from_json(report.to_json()) == report


def check_under_one_lock() -> None:
    graph = tf.Graph()

    def program() -> None:
        lock = threading.Lock()

        def build() -> None:
            with lock:
                adds(graph)()

        run(build, build)

    assert kinds(program) == []


def check_what_is_suppressed_is_no_report_and_hides_no_other() -> None:
    graph = tf.Graph()
    with graph.as_default():
        v = tf.get_variable("agent/v", [])
        add, read = v.assign(1.0), v + 1.0

    def accepted() -> None:
        adds(graph)()

    with tf.Session(graph=graph) as session:
        session.run(v.initializer)

        def program() -> None:
            run(accepted, lambda: adds(graph)(), lambda: adds(graph)())
            run(lambda: session.run(add), lambda: session.run(read))

        rules = [
            Suppression("one", RaceKind.CONSTRUCTION.value, f"*/{os.path.basename(__file__)}", "*accepted"),
            Suppression("two", variable="agent/*"),
            Suppression("three", RaceKind.VARIABLE.value, variable="v"),
        ]
        suppressions = Suppressions(rules)
        reports = found(program, suppressions=suppressions)
    pairs = {(report.first.thread, report.second.thread) for report in reports}
    assert {report.kind for report in reports} == {RaceKind.CONSTRUCTION} and pairs == {("b", "c")}, reports
    assert suppressions.unused == [2]


def check_a_graph_for_each_thread() -> None:
    def build() -> None:
        with tf.Graph().as_default(), tf.Session() as session:
            v = tf.get_variable("v", [])
            session.run(tf.global_variables_initializer())
            session.run(v.assign_add(1.0))

    assert kinds(lambda: run(build, build)) == []


def check_built_before_the_threads_start() -> None:
    def program() -> None:
        with tf.Graph().as_default():
            y = tf.constant(1.0) + 1.0
            with tf.Session() as session, t1.GraphSession() as other:
                call = other.compile([], tf.constant(2.0))
                run(lambda: (session.run(y), call()), lambda: (session.run(y), call()))

    assert kinds(program) == []


def check_a_request_handler_that_makes_operations() -> None:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None])
        y = x * 2.0

    def program() -> None:
        requests: queue.Queue[Any] = queue.Queue()
        turns = [threading.Event() for _ in range(8)]
        session = tf.Session(graph=graph)

        def handle() -> None:
            for number in iter(requests.get, None):
                with graph.as_default():
                    session.run(y + tf.constant(1.0), {x: [1.0]})
                turns[number].set()

        threads = [threading.Thread(target=handle) for _ in range(2)]
        for thread in threads:
            thread.start()
        for number, turn in enumerate(turns):
            requests.put(number)
            assert turn.wait(DEADLINE)
        for _ in threads:
            requests.put(None)
        for thread in threads:
            thread.join(DEADLINE)
        session.close()

    reports = found(program)
    # Each request is answered before the next is put: only its growing is left of what is wrong.
    assert {report.kind for report in reports} == {RaceKind.GROWTH}, [report.kind for report in reports]
    report = reports[0]
    assert "handle" in report.first.stack[0] and "handle" in report.second.stack[0]
    assert report.first.what == "runs the graph" and report.second.what == "adds operations"


def check_a_loop_that_builds_first_does_not_grow() -> None:
    def program() -> None:
        with tf.Graph().as_default(), tf.Session() as session:
            layers = [tf.constant(float(number)) for number in range(9)]
            for _ in range(9):
                session.run(layers)

    assert kinds(program) == []


def check_a_change_while_another_thread_runs() -> None:
    with tf.Graph().as_default() as graph, tf.Session() as session:
        y = tf.constant(1.0)
        (report,) = found(lambda: run(lambda: session.run(y), adds(graph)))
        assert report.kind is RaceKind.MUTATION
        assert (report.first.what, report.second.what) == ("runs the graph", "adds operations")


def check_other_changes() -> None:
    """What changes a graph besides new operations; none of it makes any."""
    with tf.Graph().as_default() as graph:
        a, b = tf.constant(1.0), tf.constant(2.0)
    changes = {
        "changes a collection": lambda: graph.add_to_collection("mine", 1),
        "sets the seed": lambda: setattr(graph, "seed", 3),
        "changes control inputs": lambda: b.op._add_control_inputs([a.op]),
        "enters a device scope": lambda: graph.device("/cpu:0").__enter__(),
        "enters a name scope": lambda: graph.name_scope("inner").__enter__(),
        "enters a colocation scope": lambda: graph.colocate_with(a.op).__enter__(),
        "overrides gradients": lambda: graph.gradient_override_map({"Add": "Add"}).__enter__(),
        "enters control dependencies": lambda: graph.control_dependencies(None).__enter__(),
    }
    for what, change in changes.items():
        (report,) = found(lambda change=change: run(adds(graph), change))
        assert (report.kind, report.second.what) == (RaceKind.CONSTRUCTION, what), report


def check_a_graph_that_is_finalized_just_before_it_refuses() -> None:
    """Finalized after the change has begun, and before TensorFlow looks: refused, and no less a hazard."""
    graph, begun, finalized = tf.Graph(), [False], [False]
    original = tf.Graph._check_not_finalized

    def wait(for_: list[bool]) -> None:
        late = time.monotonic() + DEADLINE
        while not for_[0]:
            assert time.monotonic() < late
            select.select([], [], [], 0.001)  # not time.sleep(), which is watched

    def check(self: Any) -> None:
        begun[0] = True
        wait(finalized)
        original(self)

    def finalizes() -> None:
        wait(begun)
        graph.finalize()
        finalized[0] = True

    def is_refused() -> None:
        with pytest.raises(RuntimeError, match="finalized"):
            adds(graph)()

    def program() -> None:
        threads = [threading.Thread(target=is_refused), threading.Thread(target=finalizes)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(DEADLINE)

    with mock.patch.object(tf.Graph, "_check_not_finalized", check):
        assert kinds(program) == [RaceKind.EXPORT]


def check_operations_that_are_imported() -> None:
    with tf.Graph().as_default() as other:
        tf.constant(1.0, name="one")
    graph = tf.Graph()

    def load() -> None:
        with graph.as_default():
            tf.import_graph_def(other.as_graph_def(), name="in")

    (report,) = found(lambda: run(adds(graph), load))
    assert report.kind is RaceKind.CONSTRUCTION and report.second.names == ("in/one",), report


def check_a_function_that_builds_at_several_places_is_no_loop() -> None:
    def program(again: bool) -> None:
        with tf.Graph().as_default(), tf.Session() as session:

            def two() -> Any:
                return tf.constant(2.0)

            session.run(two())
            session.run(two())
            session.run(two())
            session.run(two())
            session.run(two())
            for _ in range(5 * again):
                session.run(two())

    assert kinds(lambda: program(again=False)) == []
    assert kinds(lambda: program(again=True)) == [RaceKind.GROWTH]


def check_lines_of_one_loop_are_one_report() -> None:
    def program() -> None:
        with tf.Graph().as_default(), tf.Session() as session:
            for _ in range(5):
                a = tf.constant(1.0)
                b = tf.constant(2.0)
                session.run([a, b])

    (report,) = found(program)
    assert (report.kind, report.others) == (RaceKind.GROWTH, 1)


def check_callables_are_runs() -> None:
    for make in (tf.Session, t1.Session):
        with tf.Graph().as_default() as graph, make() as session:
            y = tf.constant(1.0)
            with graph_races() as races:
                call = session.make_callable(y)
                run(call, adds(graph))
            (report,) = races.reports
            assert (report.kind, report.first.what) == (RaceKind.MUTATION, "runs the graph")
            assert "body" in report.first.stack[0] and call() == 1.0


def check_threads_without_a_program_are_shown_by_where_they_were_started() -> None:
    with tf.Graph().as_default() as graph, tf.Session() as session:
        y = tf.constant(1.0)

        def program() -> None:
            thread = threading.Thread(target=session.run, args=(y,), name="bare")
            thread.start()
            adds(graph)()
            thread.join(DEADLINE)

        (report,) = found(program)
    (side,) = (side for side in (report.first, report.second) if side.thread == "bare")
    assert side.stack[0].endswith("program, which started it") and side.place.rpartition(":")[0] == __file__


def check_python_in_a_graph() -> None:
    with tf.Graph().as_default() as inner, tf.Session() as inner_session:
        x = inner.get_tensor_by_name(tf.placeholder(tf.float32, []).name)
        doubled = x * 2.0
    inner_session = tf.Session(graph=inner)
    with tf.Graph().as_default(), tf.Session() as session:
        y = tf.py_func(lambda value: inner_session.run(doubled, {x: value}), [tf.constant(3.0)], tf.float32)

        def program() -> None:
            adds(inner)()
            assert session.run(y) == 6.0
            adds(inner)()
            inner_session.close()

        assert kinds(program) == []


def check_a_model_built_at_the_first_request() -> None:
    def program(locked: bool) -> None:
        lock, model = threading.Lock(), {}
        graph = tf.Graph()

        def handle() -> None:
            with lock:
                if not model:
                    with graph.as_default():
                        model.update(y=tf.constant(1.0), session=tf.Session())
            if not locked:
                adds(graph)()
            model["session"].run(model["y"])

        run(handle, handle)
        model["session"].close()

    assert kinds(lambda: program(locked=True)) == []
    assert set(kinds(lambda: program(locked=False))) == {RaceKind.CONSTRUCTION, RaceKind.MUTATION}


def check_many_threads_are_reported_once_and_forgotten() -> None:
    graph = tf.Graph()
    with graph_races() as races:
        for _ in range(12):
            threads = [threading.Thread(target=adds(graph)) for _ in range(5)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(DEADLINE)
        (hooks,) = tensorflow_hooks._installed
        records = hooks._graph(graph).location.records
    (report,) = races.reports
    assert report.kind is RaceKind.CONSTRUCTION and report.others == 0
    assert len(records) <= 33, records


def check_sessions_that_are_collected() -> None:
    """Nothing refers to them any more that could run them."""

    def program() -> None:
        def work() -> None:
            with tf.Graph().as_default():
                y = tf.constant(1.0)
                local.append(tf.Session())
                local[0].run(y)

        local: list[Any] = []
        run(work)
        threading.Thread(target=local.clear).start()

    assert kinds(program) == []


def check_a_forked_child_is_not_watched() -> None:
    before = tf.Graph.device
    with graph_races() as races:
        assert tf.Graph.device is not before
        pid = os.fork()
        if not pid:
            with threading.Lock():
                os._exit(7 if tf.Graph.device is before else 1)
        assert os.waitpid(pid, 0)[1] == 7 << 8
    assert races.reports == []


def check_a_session_closed_while_another_thread_runs_it() -> None:
    def program(joined: bool) -> None:
        with tf.Graph().as_default():
            y = tf.constant(1.0)
            session = tf.Session()
        thread = threading.Thread(target=session.run, args=(y,))
        thread.start()
        if joined:
            thread.join(DEADLINE)
        else:
            while thread.ident in threading._active:
                select.select([], [], [], 0.001)  # not time.sleep(), which is watched
        session.close()
        thread.join(DEADLINE)

    assert kinds(lambda: program(joined=True)) == []
    assert kinds(lambda: program(joined=False)) == [RaceKind.CLOSED]


def check_a_variable_that_is_assigned_and_read() -> None:
    for resource in (False, True):
        with tf.Graph().as_default(), tf.Session() as session:
            v = tf.get_variable("v", [], use_resource=resource)
            other = tf.get_variable("other", [], use_resource=resource)
            step, read, unrelated = v.assign(v + 1.0), v + 1.0, other + 1.0
            session.run(tf.global_variables_initializer())
            (report,) = found(lambda: run(lambda: session.run(step), lambda: session.run(read)))  # noqa: B023
            assert report.kind is RaceKind.VARIABLE and report.first.names == ("v",), report
            for itself in (lambda: session.run(v), lambda: session.run([v]), lambda: v.eval(session)):  # noqa: B023
                assert kinds(lambda: run(lambda: session.run(step), itself)) == [RaceKind.VARIABLE]  # noqa: B023
                assert kinds(lambda: run(itself, itself)) == []  # noqa: B023
            assert kinds(lambda: run(lambda: session.run(step), lambda: session.run(unrelated))) == []  # noqa: B023
            assert kinds(lambda: run(lambda: session.run(read), lambda: session.run(read))) == []  # noqa: B023
            asked = {"ignore": [RaceKind.VARIABLE]}
            assert kinds(lambda: run(lambda: session.run(step), lambda: session.run(step)), **asked) == []  # noqa: B023


def check_a_thread_that_lost_its_default_graph() -> None:
    def program() -> None:
        with tf.Graph().as_default():
            run(lambda: tf.constant(1.0))

    (report,) = found(program)
    assert report.kind is RaceKind.LEAK and report.graph == "the default graph of thread 'a'"
    assert (report.first.thread, report.second.thread) == ("MainThread", "a")


def check_nothing_stays_watched() -> None:
    session = t1.runtime.private.session.BaseSession
    owners = (
        *(tf.Graph, tf.Operation, t1.Session, t1.sessions.plans, session),
        *(threading, threading.Thread, threading.Event, threading.Condition, threading.Semaphore, threading.Barrier),
        *(queue, queue.Queue, concurrent.futures, concurrent.futures.Future, asyncio.Handle),
        *(multiprocessing.queues.Queue, multiprocessing.connection, multiprocessing.connection.Connection),
        *(multiprocessing.synchronize.Event, multiprocessing.synchronize.Semaphore),
        *(os, select, selectors.DefaultSelector, socket, socket.socket, time),
    )
    before = [dict(vars(owner)) for owner in owners]
    with graph_races() as races, graph_races():
        same = [owner for owner, was in zip(owners, before, strict=True) if dict(vars(owner)) == was]
        assert same == [], same
    assert [dict(vars(owner)) for owner in owners] == before
    assert str(races) == "no races"
