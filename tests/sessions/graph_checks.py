"""GraphSession: who may change its graph, initialise, save, restore, close. Run by test_graphs.py in one process."""

from __future__ import annotations

import asyncio
import copy
import functools
import gc
import os
import pickle
import tempfile
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
from support import in_thread, raises

import tf1sessions
from tf1sessions import errors
from tf1sessions.sessions import graphs
from tf1sessions.sessions.late import LateSession

tf1sessions.enable_v1_behavior()
tf = tf1sessions.tf1

DEADLINE_SECS = 60.0


def _model() -> tuple[Any, dict[str, Callable[[], Any]]]:
    """A session with a small graph, and every way to change that graph which a thread could try."""
    gs = tf1sessions.GraphSession(name="the model")
    graph = gs.graph
    with gs.as_default():
        x = tf.placeholder(tf.float32, [2], name="x")
        variable = tf.Variable([1.0, 2.0], name="v")
        y = tf.multiply(x, variable, name="y")
        z = tf.identity(x, name="z")
    other = tf.Graph()
    with other.as_default():
        tf.constant(1.0, name="imported")
    definition = other.as_graph_def()

    def within(change: Callable[[], Any]) -> Callable[[], Any]:
        def run() -> Any:
            with graph.as_default():
                return change()

        return run

    def scope() -> None:
        with graph.name_scope("s"):
            pass

    def loop() -> Any:
        return tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0])

    changes = {
        "operation": within(lambda: y * 2.0),
        "constant": within(lambda: tf.constant(1.0)),
        "placeholder": within(lambda: tf.placeholder(tf.float32)),
        "overloaded operator": lambda: y + z,
        "variable": within(lambda: tf.Variable(1.0)),
        "resource variable": within(lambda: tf.Variable(1.0, use_resource=True)),
        "get_variable": within(lambda: tf.get_variable("g", [2])),
        "gradients": within(lambda: tf.gradients(y, variable)),
        "optimizer": within(lambda: tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(y))),
        "loop": within(loop),
        "branch": within(lambda: tf.cond(y[0] > 0.0, lambda: y, lambda: z)),
        "layer": within(lambda: tf.layers.dense(tf.reshape(x, [1, 2]), 2)),
        "saver": within(lambda: tf.train.Saver()),
        "initializer": within(lambda: tf.global_variables_initializer()),
        "import": within(lambda: tf.import_graph_def(definition, name="")),
        "import under a name": within(lambda: tf.import_graph_def(definition, name="there")),
        "name scope": scope,
        "variable scope": within(lambda: tf.variable_scope("vs").__enter__()),
        "unique name": lambda: graph.unique_name("x"),
        "collection": lambda: graph.add_to_collection("things", 1),
        "collections": lambda: graph.add_to_collections(["things", "more"], 1),
        "collection by reference": lambda: graph.get_collection_ref("things").append(1),
        "a collection's variable": lambda: graph.get_collection_ref(tf.GraphKeys.GLOBAL_VARIABLES).clear(),
        "clear_collection": lambda: graph.clear_collection(tf.GraphKeys.GLOBAL_VARIABLES),
        "control edge": lambda: z.op._add_control_input(y.op),
        "control edges": lambda: z.op._add_control_inputs([y.op]),
        "control edges away": lambda: z.op._remove_all_control_inputs(),
        "input": lambda: z.op._update_input(0, y),
        "attribute": lambda: z.op._set_attr("mine", tf.AttrValue(i=3)),
        "device": lambda: z.op._set_device("/cpu:0"),
        "seed": within(lambda: tf.random_normal([2])),
        "control dependencies": within(lambda: tf.group(y, z)),
        "summary": within(lambda: tf.summary.scalar("s", y[0])),
        "queue": within(lambda: tf.FIFOQueue(1, tf.float32)),
        "python function": within(lambda: tf.py_func(lambda: 1.0, [], tf.float64)),
    }
    return gs, changes


def _state(graph: Any) -> Any:
    collections = {str(name): [str(item) for item in graph.get_collection(name)] for name in graph.collections}
    names = sorted(graph._names_in_use)
    return graph.version, graph.as_graph_def().SerializeToString(deterministic=True), collections, names


def check_another_thread_may_not_change_the_graph() -> None:
    gs, changes = _model()
    before = _state(gs.graph)
    for what, change in changes.items():
        error = in_thread(change, "the stranger")
        assert isinstance(error, errors.ConcurrentGraphError), (what, error)
        for word in ("'the stranger'", "'MainThread'", "the model", __file__):
            assert word in str(error), (what, word, str(error))
        assert error.thread == "the stranger" and error.owner == "MainThread"
        assert _state(gs.graph) == before, f"{what} changed the graph all the same"
    gs.close()


def check_a_sealed_graph_does_not_change() -> None:
    gs, changes = _model()
    in_thread(lambda: None)
    gs.seal()
    gs.seal()
    assert gs.sealed
    before = _state(gs.graph)
    for what, change in changes.items():
        for error in (in_thread(change), _error(change)):
            assert isinstance(error, errors.ConcurrentGraphError), (what, error)
            assert "sealed by thread 'MainThread'" in str(error) and __file__ in str(error), (what, str(error))
        assert _state(gs.graph) == before, f"{what} changed the graph all the same"
    gs.initialize()
    assert in_thread(gs.initialize) is None
    with tempfile.TemporaryDirectory() as folder:
        path = in_thread(lambda: gs.save(f"{folder}/new/model"))
        assert isinstance(path, str), path
        assert in_thread(lambda: gs.restore(path)) is None
    assert _state(gs.graph) == before
    gs.close()


def _error(change: Callable[[], Any]) -> Any:
    try:
        return change()
    except Exception as error:
        return error


def check_seal_is_for_the_builder() -> None:
    gs, _ = _model()
    error = in_thread(gs.seal)
    assert isinstance(error, errors.ConcurrentGraphError) and not gs.sealed
    gs.close()
    assert isinstance(_error(gs.seal), errors.ClosedError)
    assert isinstance(_error(lambda: gs.building().__enter__()), errors.ClosedError)
    assert isinstance(_error(lambda: gs.__enter__()), errors.ClosedError)


def check_the_builder_may_do_everything() -> None:
    gs, changes = _model()
    with tf.Graph().as_default():
        pass
    for what, change in changes.items():
        if what in ("clear_collection", "a collection's variable", "input", "control edge", "control edges"):
            continue  # they would break the graph for the others
        result = _error(change)
        assert not isinstance(result, Exception), (what, result)
    gs.close()


def check_building_is_handed_over() -> None:
    gs, _ = _model()

    def build() -> Any:
        with gs.building() as inside:
            assert inside is gs and tf.get_default_graph() is gs.graph and tf.get_default_session() is gs.session
            with gs.building():
                tf.constant(1.0, name="by_the_stranger")
            tf.constant(1.0, name="still_by_the_stranger")
            error = in_thread(lambda: gs.graph.get_operation_by_name("y").outputs[0] * 2.0, "a third")
            assert isinstance(error, errors.ConcurrentGraphError) and "'the stranger'" in str(error), error
            return _error(lambda: tf.no_op())

    assert not isinstance(in_thread(build, "the stranger"), Exception)
    with gs.as_default():
        tf.constant(2.0, name="mine_again")
    names = {operation.name for operation in gs.graph.get_operations()}
    assert {"by_the_stranger", "still_by_the_stranger", "mine_again"} <= names

    def fails() -> Any:
        with gs.building():
            raise KeyError("inside")

    assert isinstance(in_thread(fails), KeyError)
    assert not isinstance(_error(lambda: gs.graph.unique_name("free")), Exception)
    gs.close()


def check_building_waits_for_its_turn() -> None:
    gs, _ = _model()
    inside, leave = threading.Event(), threading.Event()
    order: list[str] = []

    def first() -> None:
        with gs.building():
            inside.set()
            assert leave.wait(DEADLINE_SECS)
            order.append("first")

    def second() -> None:
        with gs.building():
            order.append("second")
            tf.constant(1.0)

    threads = [threading.Thread(target=work, daemon=True) for work in (first, second)]
    threads[0].start()
    assert inside.wait(DEADLINE_SECS)
    assert isinstance(_error(lambda: gs.graph.unique_name("taken")), errors.ConcurrentGraphError)
    threads[1].start()
    leave.set()
    for thread in threads:
        thread.join(DEADLINE_SECS)
        assert not thread.is_alive()
    assert order == ["first", "second"], order

    inside.clear()
    leave.clear()
    original, graphs.HANDOVER_SECS = graphs.HANDOVER_SECS, 0.05
    try:
        thread = threading.Thread(target=first, name="the slow one", daemon=True)
        thread.start()
        assert inside.wait(DEADLINE_SECS)
        error = in_thread(second)
        assert isinstance(error, errors.ConcurrentGraphError) and "'the slow one'" in str(error), error
    finally:
        graphs.HANDOVER_SECS = original
        leave.set()
        thread.join(DEADLINE_SECS)
    gs.close()


def check_building_blocks_that_cross() -> None:
    """Sealing inside a block, and a block of a thread while the owner runs, leave the owner what it was."""
    gs, _ = _model()

    def seal() -> Any:
        with gs.building():
            gs.seal()
        return gs.sealed

    assert in_thread(seal) is True
    assert isinstance(_error(lambda: gs.graph.unique_name("late")), errors.ConcurrentGraphError)
    assert isinstance(in_thread(lambda: _enter(gs)), errors.ConcurrentGraphError)
    gs.close()


def _enter(gs: Any) -> None:
    with gs.building():
        tf.constant(1.0)


def check_everything_builds_in_the_owner() -> None:
    with tf1sessions.GraphSession(tf1sessions.SessionConfig(seed=3)) as gs:
        x = tf.placeholder(tf.float32, [None, 4])
        hidden = tf.layers.batch_normalization(tf.layers.dense(x, 3, tf.nn.relu), training=True)
        cell = tf.nn.rnn_cell.BasicLSTMCell(2)
        outputs, _ = tf.nn.dynamic_rnn(cell, tf.reshape(hidden, [-1, 3, 1]), dtype=tf.float32)
        loss = tf.reduce_mean(outputs)
        step = tf.train.get_or_create_global_step()
        with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
            train = tf.train.AdamOptimizer().minimize(loss, step)
        total = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s + loss), [0, 0.0])
        gradient = tf.gradients(total[1], x)
        other = tf.Graph()
        with other.as_default():
            tf.identity(tf.placeholder(tf.float32, [2], name="a"), name="b")
        (imported,) = tf.import_graph_def(other.as_graph_def(), {"a:0": tf.constant([1.0, 2.0])}, ["b:0"])
        queue = tf.train.input_producer([1.0, 2.0])
        gs.initialize()
        value = np.ones((2, 4), np.float32)
        before = gs.run(loss, {x: value})
        for _ in range(3):
            gs.run([train, total, gradient], {x: value})
        assert gs.run(loss, {x: value}) != before and gs.run(step) == 3
        np.testing.assert_array_equal(gs.run(imported), [1.0, 2.0])
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(gs.session, coordinator)
        assert gs.run(queue.dequeue()) in (1.0, 2.0)
        coordinator.request_stop()
        gs.run(queue.close(cancel_pending_enqueues=True))
        coordinator.join(threads, stop_grace_period_secs=20)
        with tempfile.TemporaryDirectory() as folder:
            path = gs.save(f"{folder}/model", step)
            assert path.endswith("model-3"), path
            changed = gs.run(tf.trainable_variables()[0].assign_add(tf.ones_like(tf.trainable_variables()[0])))
            gs.restore(folder)
            assert not np.array_equal(gs.run(tf.trainable_variables()[0]), changed)
            graph = tf.train.export_meta_graph()
        gs.seal()
    with tf1sessions.GraphSession() as copy:
        tf.train.import_meta_graph(graph)
        copy.initialize()
        assert len(tf.trainable_variables()) == 6


def check_initialize_reaches_everything() -> None:
    with tf1sessions.GraphSession() as gs:
        gs.initialize()  # nothing yet
        ref = tf.Variable(1.0, use_resource=False)
        local = tf.Variable(2.0, collections=[tf.GraphKeys.LOCAL_VARIABLES])
        table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a"], [1]), -1)
        gs.initialize()
        assert gs.run([ref, local, table.lookup(tf.constant(["a"]))]) == [1.0, 2.0, [1]]
        later = tf.Variable(tf.identity(3.0))
        gs.initialize()
        assert gs.run(later) == 3.0
        size = len(gs.graph.get_operations())
        gs.initialize()
        assert len(gs.graph.get_operations()) == size, "initialize() makes new operations each time"


def check_save_and_restore_complain() -> None:
    with tempfile.TemporaryDirectory() as folder, tf1sessions.GraphSession() as gs:
        for call in (lambda: gs.save(f"{folder}/model"), lambda: gs.restore(f"{folder}/model")):
            assert "ConfigError" in type(raises(errors.ConfigError, call)).__name__
        assert repr(folder) in str(raises(errors.ConfigError, gs.restore, folder))
        variable = tf.Variable(1.0, name="one")
        gs.initialize()
        path = gs.save(f"{folder}/model")
        new = tf.Variable(1.0, name="two")
        raises(tf.errors.NotFoundError, gs.restore, path)
        raises(errors.ConfigError, gs.restore, f"{folder}/other")
        gs.run(new.initializer)
        second = gs.save(os.path.join(folder, "sub", "folder", "model"), global_step=7)
        assert second.endswith("model-7")
        gs.run(variable.assign(5.0))
        gs.restore(second)
        assert gs.run([variable, new]) == [1.0, 1.0]


def check_a_session_is_not_copied() -> None:
    """The end of a copy freed what TensorFlow had for the session, and the next call of it was a segmentation fault."""
    gs = tf1sessions.GraphSession()
    with gs.as_default():
        x = tf.placeholder(tf.float32, [])
        call = gs.compile([x], x + 1.0)
    for way in (copy.copy, copy.deepcopy, pickle.dumps):
        assert "neither be copied nor pickled" in str(raises(TypeError, way, gs.session)), way
    assert call(1.0) == 2.0
    gs.close()


def check_close_and_with() -> None:
    gs = tf1sessions.GraphSession(name="mine")
    assert "mine" in repr(gs) and "open" in repr(gs)
    with gs:
        x = tf.constant(1.0)
        with gs:
            assert gs.run(x) == 1.0
        assert gs.run(x) == 1.0, "the inner block closed it"
        assert not gs.closed
    assert gs.closed and "closed" in repr(gs)
    gs.close()
    assert "closed Session" in str(raises(RuntimeError, gs.run, x))
    assert "closed" in str(raises(RuntimeError, gs.compile, None, x))
    assert tf.get_default_session() is None
    error = raises(KeyError, _leave_by_error)
    assert "out" in str(error)
    dead = tf1sessions.GraphSession()
    with dead.graph.as_default():
        dead.run(tf.constant(1.0))
    del dead
    gc.collect()


def check_with_blocks_that_cross() -> None:
    """Of threads and of coroutines. The error says so, and the defaults are what they were."""
    before = tf.get_default_graph()
    one, two = tf1sessions.GraphSession(name="one"), tf1sessions.GraphSession(name="two")

    async def work(gs: Any, turns: int) -> None:
        with gs, gs:
            for _ in range(turns):
                await asyncio.sleep(0)

    async def in_turns() -> list[Any]:
        return await asyncio.gather(work(one, 1), work(two, 3), return_exceptions=True)

    error, none = asyncio.run(in_turns())
    assert isinstance(error, errors.ConcurrentGraphError) and none is None
    assert "`with` block of one ends before another" in str(error) and "await" in str(error)
    assert one.closed and two.closed
    assert tf.get_default_graph() is before and tf.get_default_session() is None

    def steps() -> Any:
        with tf1sessions.GraphSession(name="three") as gs:
            yield gs

    started: list[Any] = []

    def begin() -> None:
        started.append(steps())
        started.append(next(started[0]))

    in_thread(begin)
    started[0].close()  # the error is GeneratorExit, and stays that
    assert started[1].closed
    entered = tf1sessions.GraphSession(name="four")
    in_thread(entered.__enter__)
    error = raises(errors.ConcurrentGraphError, entered.__exit__, None, None, None)
    assert "block of four ends in MainThread" in str(error) and entered.closed


def _leave_by_error() -> None:
    with tf1sessions.GraphSession() as gs:
        try:
            raise KeyError("out")
        finally:
            assert not gs.closed


def check_seeds_and_configs() -> None:
    def first(config: Any) -> Any:
        with tf1sessions.GraphSession(config) as gs:
            return gs.run(tf.random_uniform([3]))

    one, two, three = (first(tf1sessions.SessionConfig(seed=seed)) for seed in (1, 1, 2))
    assert np.array_equal(one, two) and not np.array_equal(one, three)
    with tf1sessions.GraphSession(tf.ConfigProto(intra_op_parallelism_threads=1)) as gs:
        assert gs.config.intra_op_threads == 1 and gs.run(tf.constant(1.0)) == 1.0
    raises(errors.ConfigError, tf1sessions.GraphSession, "config")
    raises(errors.ConfigError, tf1sessions.GraphSession, {"memory_fraction": 1})
    for target in ("x", "localhost:2222", None, 3, b"grpc://localhost:2222"):
        for late in (False, True):
            make = functools.partial(tf1sessions.GraphSession, target=target, late=late)
            error = raises(errors.ConfigError, make)
            assert f"target is {target!r}" in str(error) and '"grpc://host:2222"' in str(error), error
    with tf1sessions.GraphSession(tf1sessions.SessionConfig(execution="caller")) as gs:
        raises(errors.ExecutionModeError, gs.run, tf.py_func(lambda: 1.0, [], tf.float64))


def check_any_thread_runs() -> None:
    with tf1sessions.GraphSession() as gs:
        x = tf.placeholder(tf.float32, [])
        y = x * 2.0
        call = gs.compile([x], y)
        raises(TypeError, call)
        for work in (lambda: gs.run(y, {x: 2.0}), lambda: call(2.0), lambda: gs.compile(x, [y])(2.0)[0]):
            assert in_thread(work) == 4.0
        assert isinstance(in_thread(lambda: call([1.0])), ValueError)
        assert isinstance(in_thread(lambda: gs.run("nope:0")), ValueError)


def check_late_sessions() -> None:
    made: list[Any] = []
    original = tf1sessions.Session.__init__

    def note(self: Any, *args: Any, **kwargs: Any) -> None:
        made.append(self)
        original(self, *args, **kwargs)

    def gs_of(**config: Any) -> Any:
        return tf1sessions.GraphSession(tf1sessions.SessionConfig(**config), late=True)

    tf1sessions.Session.__init__ = note
    try:
        with gs_of() as unused:
            assert tf.get_default_session() is unused.session and isinstance(unused.session, tf1sessions.Session)
            assert unused.session.graph is unused.graph is tf.get_default_graph()
            total = tf.constant(1.0) + 2.0
            assert not hasattr(unused.session, "__array__")
        unused.session.close()
        assert not made
        raises(RuntimeError, unused.run, total)
        assert made.pop() is unused.session

        uses = {
            "run": lambda gs, x: gs.run(x),
            "session.run": lambda gs, x: gs.session.run(x),
            "eval": lambda gs, x: x.eval(session=gs.session),
            "compile": lambda gs, x: gs.compile(fetches=x)(),
            "make_callable": lambda gs, x: gs.session.make_callable(x)(),
            "partial_run": lambda gs, x: gs.session.partial_run(gs.session.partial_run_setup([x], []), x),
            "list_devices": lambda gs, x: gs.session.list_devices() and gs.run(x),
        }
        for name, use in uses.items():
            with gs_of(execution="pool") as gs:
                assert use(gs, tf.constant(2.0) * 3.0) == 6.0, name
                assert made == [gs.session] and type(gs.session) is tf1sessions.Session, name
                call = gs.compile(fetches=tf.constant(1.0))
                assert call() == 1.0 and not call.in_caller, name  # what its config says is kept
            assert gs.session._closed
            made.clear()

        gs = gs_of()
        with gs.as_default():
            x = tf.constant(5.0)
        threads = [threading.Thread(target=lambda: results.append(gs.run(x))) for _ in range(8)]
        results: list[Any] = []
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(DEADLINE_SECS)
        assert results == [5.0] * 8 and made == [gs.session]
        gs.close()
        made.clear()

        refused = LateSession("nobody://", tf.Graph())
        for _ in range(2):
            raises(tf.errors.NotFoundError, refused.run, [])
        refused.close()
    finally:
        tf1sessions.Session.__init__ = original
