"""Tests that use the pytest plugin's fixtures and marker; run by test_plugin.py.

How each ends is in its name: ``..._fails``, ``..._is_error`` (of its teardown), ``..._is_skipped``, or else it passes.
"""

from __future__ import annotations

import os
import random
import sys
import threading
import unittest
from typing import Any

import numpy as np
import pytest

import tf1sessions as t1
from tf1sessions.testing import Kind, assert_isolated, point

tf: Any = t1.tf1

_lock = threading.Lock()
seen: dict[str, list[Any]] = {}
kept: list[Any] = []


def note(name: str, *values: Any) -> None:
    with _lock:
        seen.setdefault(name, []).append(values[0] if len(values) == 1 else values)


def count_up() -> Any:
    return tf.get_variable("count", [], initializer=tf.zeros_initializer()).assign_add(1.0)


# -- fixtures ---------------------------------------------------------------------------------------------------------


def test_session(tf1_session: Any, tf1_graph: Any) -> None:
    assert isinstance(tf1_session, t1.GraphSession) and not tf1_session.closed
    assert tf.get_default_session() is tf1_session.session
    assert tf.get_default_graph() is tf1_graph is tf1_session.graph
    note("session", tf1_session)


def test_session_is_closed_afterwards(tf1_graph: Any) -> None:
    assert seen["session"][0].closed
    assert type(tf1_graph) is tf.Graph and tf.get_default_graph() is tf1_graph
    assert tf.get_default_session() is None


def test_nothing_is_default_without_a_fixture() -> None:
    assert not tf.get_default_graph().building_function and tf.get_default_session() is None
    assert not t1.runtime.private.ops._default_graph_stack.stack


@pytest.mark.tf1(config={"intra_op_threads": 2}, seed=5)
def test_sessions(tf1_sessions: Any) -> None:
    one, other = tf1_sessions(), tf1_sessions(t1.SessionConfig(intra_op_threads=1), seed=7)
    assert_isolated(one, other)
    assert (one.config.intra_op_threads, other.config.intra_op_threads) == (2, 1)
    assert (one.graph.seed, other.graph.seed) == (5, 7)
    note("sessions", one, other)


def test_sessions_are_closed_afterwards() -> None:
    assert all(session.closed for session in seen["sessions"][0])


def add(session: Any, a: float) -> tuple[float, int]:
    return float(session.run(tf.constant(a) + 1.0)), os.getpid()


@pytest.mark.tf1(config={"intra_op_threads": 2})
def test_pool(tf1_pool: Any) -> None:
    assert isinstance(tf1_pool, t1.ThreadSessionPool)
    assert list(tf1_pool.map(add, [1.0, 2.0])) == [(2.0, os.getpid()), (3.0, os.getpid())]
    assert tf1_pool.submit(lambda session: session.config.intra_op_threads).result() == 2


@pytest.mark.parametrize(
    "tf1_pool", ["threads", "processes", {"kind": "threads", "max_workers": 1}], indirect=True, ids=["t", "p", "one"]
)
def test_kinds_of_pools(tf1_pool: Any, request: pytest.FixtureRequest) -> None:
    number, pid = tf1_pool.submit(add, 1.0).result()
    assert number == 2.0
    assert (pid != os.getpid()) == (request.node.callspec.id == "p")
    if request.node.callspec.id == "one":
        assert tf1_pool._most_workers == 1


@pytest.fixture
def model(tf1_session: Any) -> tuple[Any, Any]:
    x = tf.placeholder(tf.float32, [])
    return x, 2.0 * x


def test_fixture_that_builds(tf1_session: Any, model: tuple[Any, Any]) -> None:
    assert tf1_session.run(model[1], {model[0]: 3.0}) == 6.0


@pytest.mark.usefixtures("tf1_session")
class TestUnittest(unittest.TestCase):
    @pytest.mark.tf1(seed=3)
    def test_unittest(self) -> None:
        assert tf.get_default_graph().seed == 3
        assert tf.get_default_session().run(tf.constant(1.0)) == 1.0


def test_default_left_on_the_stack_is_error(tf1_graph: Any) -> None:
    kept.append(tf.Graph().as_default())
    kept[-1].__enter__()


def test_stack_is_as_before() -> None:
    assert not t1.runtime.private.ops._default_graph_stack.stack


# -- the marker -------------------------------------------------------------------------------------------------------


def draw() -> tuple[float, float, float]:
    session = tf.get_default_session()
    return float(session.run(tf.random_uniform([]))), random.random(), float(np.random.random())


@pytest.mark.tf1(seed=11)
@pytest.mark.parametrize("turn", [0, 1])
def test_seed(tf1_session: Any, turn: int) -> None:
    note("drawn", draw())
    assert seen["drawn"][0] == seen["drawn"][-1]


@pytest.mark.tf1(seed=12)
def test_other_seed(tf1_session: Any) -> None:
    assert all(a != b for a, b in zip(draw(), seen["drawn"][0], strict=True))


def test_random_state_is_put_back() -> None:
    note("state", random.getstate()[1][:3], np.random.get_state()[1][:3].tolist())


@pytest.mark.tf1(seed=1)
def test_random_state_is_another(tf1_graph: Any) -> None:
    assert tf1_graph.seed == 1
    assert random.getstate()[1][:3] != seen["state"][0][0]


def test_random_state_was_put_back() -> None:
    assert seen["state"][0] == (random.getstate()[1][:3], np.random.get_state()[1][:3].tolist())


@pytest.mark.tf1(config=tf.ConfigProto(intra_op_parallelism_threads=3))
class TestConfig:
    def test_proto(self, tf1_session: Any) -> None:
        assert tf1_session.config.intra_op_threads == 3

    @pytest.mark.tf1(config=t1.SessionConfig(intra_op_threads=1))
    def test_nearer_marker_wins(self, tf1_session: Any) -> None:
        assert tf1_session.config.intra_op_threads == 1

    @pytest.mark.tf1(threads=2, iterations=2, share="graph")
    def test_in_threads(self, tf1_graph: Any, tf1_session: Any) -> None:
        assert tf1_session._config.intra_op_parallelism_threads == 3


# -- threads ----------------------------------------------------------------------------------------------------------


@pytest.mark.tf1(threads=4, iterations=3, seed=2)
def test_own(tf1_session: Any, tf1_graph: Any, tf1_thread: Any, tmp_path: Any) -> None:
    assert tf.get_default_graph() is tf1_graph is tf1_session.graph
    assert tf.get_default_session() is tf1_session.session
    step = count_up()
    tf1_session.initialize()
    assert tf1_session.run(step) == 1.0
    assert tf1_thread.threads == 4
    (tmp_path / "here").mkdir()
    note("own", tf1_thread.number, tf1_thread.iteration, threading.current_thread(), tf1_session, tmp_path)


def test_own_were_twelve() -> None:
    numbers, iterations, threads, sessions, folders = zip(*seen["own"], strict=True)
    assert sorted(zip(numbers, iterations, strict=True)) == [(n, m) for n in range(4) for m in range(3)]
    assert len(set(threads)) == 4 and threading.main_thread() not in threads
    assert len(set(sessions)) == len(set(folders)) == 12
    assert all(session.closed for session in sessions)


@pytest.mark.tf1(threads=3)
def test_threads_run_at_once() -> None:
    meet.wait()


meet = threading.Barrier(3, timeout=60.0)
before = sys.getswitchinterval()


@pytest.mark.tf1(threads=2)
def test_switch_interval() -> None:
    assert sys.getswitchinterval() < before / 10


def test_switch_interval_is_put_back() -> None:
    assert sys.getswitchinterval() == before


@pytest.mark.tf1(threads=4, iterations=2, share="session")
def test_shared_session(tf1_session: Any, tf1_graph: Any, model: tuple[Any, Any]) -> None:
    assert tf.get_default_session() is tf1_session.session and tf.get_default_graph() is tf1_graph
    assert tf1_session.run(model[1], {model[0]: 3.0}) == 6.0
    note("shared session", tf1_session)


@pytest.mark.tf1(threads=2, share="session")
def test_building_in_a_shared_session_fails(tf1_session: Any) -> None:
    tf.constant(1.0)


@pytest.fixture
def step(tf1_graph: Any) -> Any:
    return count_up()


@pytest.mark.tf1(threads=3, share="graph")
def test_shared_graph(tf1_graph: Any, tf1_session: Any, step: Any) -> None:
    assert tf.get_default_graph() is tf1_graph is tf1_session.graph
    assert tf.get_default_session() is tf1_session
    tf1_session.run(step.graph.get_operation_by_name("count/Assign"))
    assert tf1_session.run(step) == 1.0  # a variable of its own
    note("shared graph", tf1_graph, tf1_session)


def test_what_was_shared() -> None:
    assert len(seen["shared session"]) == 8 and len(set(seen["shared session"])) == 1
    graphs, sessions = zip(*seen["shared graph"], strict=True)
    assert len(set(graphs)) == 1 and len(set(sessions)) == 3


@pytest.mark.tf1(iterations=3)
def test_iterations_alone(tf1_session: Any) -> None:
    assert threading.current_thread() is threading.main_thread()
    count_up()
    note("iterations", tf1_session)


def test_iterations_were_three() -> None:
    assert len(set(seen["iterations"])) == 3


@pytest.mark.usefixtures("tf1_session")
@pytest.mark.tf1(threads=2)
def test_usefixtures() -> None:
    count_up()
    tf.get_default_session().run(tf.global_variables_initializer())


@pytest.mark.tf1(threads=2)
@pytest.mark.parametrize("number", [1, 2])
class TestMethods:
    def test_method(self, tf1_session: Any, number: int) -> None:
        assert tf1_session.run(tf.constant(number)) == number


def test_marked_later(tf1_thread: Any) -> None:
    assert tf1_thread.threads == 3


@pytest.mark.tf1(threads=3)
def test_sessions_in_threads(tf1_sessions: Any) -> None:
    with tf1_sessions() as session:
        assert session.run(tf.constant(1.0)) == 1.0


@pytest.mark.tf1(threads=2)
def test_pool_in_threads(tf1_pool: Any) -> None:
    note("pool", tf1_pool)
    assert tf1_pool._most_workers == 2 and tf1_pool.submit(add, 1.0).result()[0] == 2.0


# -- what threads raise -----------------------------------------------------------------------------------------------


@pytest.mark.tf1(threads=4)
def test_all_errors_are_shown_fails(tf1_thread: Any) -> None:
    number = tf1_thread.number
    everybody.wait()
    if number == 0:
        raise ValueError("of thread 0")
    if number == 1:
        raise SystemExit("of thread 1")
    if number == 2:
        pytest.fail("of thread 2")


everybody = threading.Barrier(4, timeout=60.0)


@pytest.mark.tf1(threads=3, iterations=5)
def test_same_errors_are_shown_once_fails(tf1_thread: Any) -> None:
    assert len("same") == 5, "the same"


@pytest.mark.tf1(iterations=5)
def test_fails_in_its_third_iteration_fails(tf1_thread: Any) -> None:
    assert tf1_thread.iteration < 2
    note("third", tf1_thread.iteration)


def test_no_iteration_after_an_error() -> None:
    assert seen["third"] == [0, 1]


@pytest.mark.tf1(threads=2, iterations=3)
def test_one_thread_fails(tf1_thread: Any) -> None:
    note("runs", tf1_thread.number, tf1_thread.iteration)
    if tf1_thread.number == 0:
        threads_of_0.append(threading.current_thread())
        both.wait()
        raise ValueError("in the first iteration")
    both.wait()
    threads_of_0[0].join(60.0)


both = threading.Barrier(2, timeout=60.0)
threads_of_0: list[threading.Thread] = []


def test_no_thread_went_on_then() -> None:
    assert sorted(seen["runs"]) == [(0, 0), (1, 0)]


@pytest.mark.tf1(threads=2)
def test_skip_in_threads_is_skipped(tf1_thread: Any) -> None:
    pytest.skip("not here")


@pytest.mark.tf1(threads=2)
def test_errors_win_over_skips_fails(tf1_thread: Any) -> None:
    if tf1_thread.number:
        pytest.skip("not here")
    raise ValueError("but here")


@pytest.mark.tf1(threads=2)
def test_xfail_in_threads_is_skipped() -> None:
    pytest.xfail("known")


@pytest.mark.xfail(raises=ZeroDivisionError, strict=True)
@pytest.mark.tf1(threads=2)
def test_marked_xfail_is_skipped() -> None:
    raise ZeroDivisionError


@pytest.mark.tf1(iterations=2)
def test_argument_asked_for_late_fails(late: Any) -> None:
    late("tf1_session")


@pytest.fixture
def late(request: pytest.FixtureRequest) -> Any:
    return request.getfixturevalue


# -- races ------------------------------------------------------------------------------------------------------------

_builders = threading.Lock()


@pytest.mark.tf1(threads=2, share="graph")
def test_race_fails(graph_races: Any, tf1_graph: Any) -> None:
    tf.constant(1.0)


@pytest.mark.tf1(threads=2, share="graph")
def test_allowed_race(graph_races: Any, tf1_graph: Any) -> None:
    graph_races.allow("concurrent construction")
    tf.constant(1.0)


@pytest.mark.tf1(threads=2, share="graph")
def test_other_kind_allowed_fails(graph_races: Any, tf1_graph: Any) -> None:
    graph_races.allow(Kind.GROWTH)
    tf.constant(1.0)


def test_race_that_the_test_looks_at(graph_races: Any) -> None:
    graph = tf.Graph()

    def build() -> None:
        with graph.as_default():
            tf.constant(1.0)

    threads = [threading.Thread(target=build) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [report.kind for report in graph_races.reports] == [Kind.CONSTRUCTION]


@pytest.mark.tf1(threads=2, share="graph")
def test_lock_made_before_the_test(graph_races: Any, tf1_graph: Any) -> None:
    with _builders:
        tf.constant(1.0)


@pytest.mark.tf1(threads=2, share="session")
def test_warning_kinds_do_not_fail(graph_races: Any, assigned: Any, tf1_session: Any) -> None:
    tf1_session.run(assigned)


@pytest.fixture
def assigned(tf1_session: Any) -> Any:
    count = tf.get_variable("count", [], initializer=tf.zeros_initializer())
    tf1_session.initialize()
    return count.assign(count + 1.0)


def test_unknown_kind_of_race(graph_races: Any) -> None:
    with pytest.raises(t1.errors.UsageError, match="'no such kind' is not a valid"):
        graph_races.allow("no such kind")


# -- leaks ------------------------------------------------------------------------------------------------------------


def test_leak_is_error(tf1_graph: Any) -> None:
    kept.append(tf.Session())


@pytest.mark.tf1_leaks(allow=["sessions"], reason="kept by this test's neighbours")
def test_allowed_leak(tf1_graph: Any) -> None:
    kept.append(tf.Session())


@pytest.mark.tf1_leaks(allow="threads", reason="of another kind")
def test_leak_of_another_kind_is_error(tf1_graph: Any) -> None:
    kept.append(tf.Session())


@pytest.mark.tf1_leaks(reason="whatever it is")
def test_all_leaks_allowed(tf1_graph: Any) -> None:
    kept.append(tf.Session())


def test_leak_of_a_test_that_does_not_use_the_plugin() -> None:
    with tf.Graph().as_default():
        kept.append(tf.Session())


@pytest.mark.tf1
def test_marker_alone_is_use_is_error() -> None:
    with tf.Graph().as_default():
        kept.append(tf.Session())


def test_leak_of_a_failed_test_is_not_reported_fails(tf1_graph: Any) -> None:
    kept.append(tf.Session())
    raise ValueError("what matters")


@pytest.fixture(scope="module")
def server() -> Any:
    with t1.GraphSession() as session:
        session.built = tf.constant(1.0)
    session = t1.GraphSession()
    with session.as_default():
        session.built = tf.constant(1.0)
    yield session
    session.close()


@pytest.mark.tf1
def test_fixture_of_the_module_is_no_leak(server: Any) -> None:
    assert server.run(server.built) == 1.0


@pytest.mark.tf1(threads=2)
def test_fixture_of_the_module_in_threads(server: Any) -> None:
    assert server.run(server.built) == 1.0


@pytest.fixture(scope="module")
def late_server() -> Any:
    session = t1.GraphSession()
    yield session
    session.close()


def test_fixture_of_the_module_asked_for_late_is_no_leak(tf1_graph: Any, request: pytest.FixtureRequest) -> None:
    request.getfixturevalue("late_server")


def test_nothing_ends_a_module_fixture_before_this() -> None:
    pass


# -- orders of threads ------------------------------------------------------------------------------------------------

box = [0]


def lose_an_update() -> None:
    value = box[0]
    point("read")
    assert box[0] == value
    box[0] = value + 1


@pytest.mark.tf1(explore=20, threads=2)
def test_an_order_goes_wrong_fails() -> None:
    lose_an_update()


@pytest.mark.tf1(explore="A1 B", threads=2)
def test_order_that_is_given_fails() -> None:
    lose_an_update()


@pytest.mark.tf1(explore=20)
def test_each_order_has_its_own(tf1_session: Any, tf1_thread: Any, tmp_path: Any) -> None:
    assert not tf1_session.graph.get_operations() and not list(tmp_path.iterdir())
    (tmp_path / "file").touch()
    seen.setdefault("each", []).append((tf1_thread.iteration, tf1_session))
    count = tf.get_variable("count", initializer=0.0, use_resource=True)
    add = count.assign_add(1.0, read_value=False)
    tf1_session.initialize()
    threads = [threading.Thread(target=tf1_session.run, args=(add,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert tf1_session.run(count.read_value()) == 2.0


def test_each_order_had_its_own() -> None:
    iterations, sessions = zip(*seen["each"], strict=True)
    assert iterations == tuple(range(len(iterations))) and len(iterations) > 2
    assert len(set(map(id, sessions))) == len(sessions)


@pytest.mark.tf1(explore=20)
def test_skip_in_an_order_is_skipped() -> None:
    pytest.skip("not in this order")
