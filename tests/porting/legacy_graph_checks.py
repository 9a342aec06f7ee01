"""Checks of a LegacyGraph against sessions, in a ported program. Run by test_legacy_graph.py in one process."""

from __future__ import annotations

import collections
import concurrent.futures
import contextlib
import sys
import tempfile
import unittest.mock
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from tf1sessions import porting
from tf1sessions.errors import UsageError
from tf1sessions.porting.graphs.replay import GraphReplay

v1 = tf.compat.v1
v1.disable_v2_behavior()  # as a ported program has it
v1.enable_eager_execution()
X = np.linspace(-1.0, 1.0, 12).reshape(4, 3)


def in_session(build: Callable[[], Any], requests: Callable[[Any, Callable[..., Any]], Any]) -> Any:
    """What requests give in one session of the graph that ``build`` builds."""
    with tf.Graph().as_default():
        built = build()
        with v1.Session() as session:
            return requests(built, session.run)


def in_functions(build: Callable[[], Any], requests: Callable[[Any, Callable[..., Any]], Any]) -> Any:
    """What the same requests give as functions."""
    legacy = porting.LegacyGraph()
    with legacy:
        built = build()
    return requests(built, legacy.run)


def assert_same(build: Callable[[], Any], requests: Callable[[Any, Callable[..., Any]], Any]) -> None:
    expected, found = in_session(build, requests), in_functions(build, requests)
    tf.nest.assert_same_structure(expected, found)
    for one, other in zip(tf.nest.flatten(expected), tf.nest.flatten(found), strict=True):
        assert type(one) is type(other), (one, other)
        np.testing.assert_array_equal(one, other)


def check_random_operations_have_one_stream() -> None:
    """Several functions, with several shapes, draw what a session draws: in turn, from one stream of each operation."""

    def build() -> Any:
        v1.set_random_seed(3)
        size = v1.placeholder(tf.int32, [None])
        kinds = [
            v1.random_uniform(size),
            v1.random_normal(size, seed=4),
            v1.truncated_normal(size),
            v1.random_uniform(size, 3, 17, tf.int32),
            v1.random_uniform(size, dtype=tf.float64),
            v1.random_normal(size, dtype=tf.float16),
        ]
        return size, kinds

    def requests(built: Any, run: Any) -> Any:
        size, kinds = built
        found = []
        for shape in ([3], [2, 5], [], [0], [7, 1, 2]):
            found += [run(kinds, {size: shape}), run(kinds[:2], {size: shape}), run(kinds[3], {size: shape})]
        return found

    assert_same(build, requests)


@contextlib.contextmanager
def count_traces() -> Iterator[list[str]]:
    """Give a list that has an entry for each time that a graph is traced inside of the block."""
    traces: list[str] = []
    run = GraphReplay.run

    def counted(replay: GraphReplay, *given: Any, **options: Any) -> Any:
        traces.append(replay.__class__.__name__)
        return run(replay, *given, **options)

    with unittest.mock.patch.object(GraphReplay, "run", counted):
        yield traces


def check_functions_are_traced_once_where_no_shape_is_open() -> None:
    """What changes variables is traced for the shapes of its inputs; known ones are those of the first trace."""
    for dims, expected in (([2], 1), ([None], 2)):
        legacy = porting.LegacyGraph()
        with legacy, count_traces() as traces:
            x = v1.placeholder(tf.float32, dims)
            w = v1.get_variable("w", [], initializer=v1.zeros_initializer())
            train = w.assign_add(tf.reduce_sum(x))
            legacy.run(w.initializer)
            traces.clear()
            step = legacy.function(train.op, feeds=[x])
            step([1.0, 2.0]), step([3.0, 4.0])
        assert len(traces) == expected, (dims, traces)
        assert legacy[w].numpy() == 10.0


def check_functions_with_a_switch_are_traced_by_its_values() -> None:
    """What is fed as True or False decides what is traced; one for both would be traced for nothing."""
    with count_traces() as traces:
        legacy = porting.LegacyGraph()
        with legacy:
            x, flag = v1.placeholder(tf.float32, [2]), v1.placeholder(tf.bool, [])
            function = legacy.function(v1.cond(flag, lambda: x + 1.0, lambda: x * 2.0), feeds=[x, flag])
        assert not traces
        for value, expected in ((True, [2.0, 3.0]), (False, [2.0, 4.0]), (True, [2.0, 3.0])):
            np.testing.assert_array_equal(function([1.0, 2.0], value), expected)
        assert len(traces) == 2, traces
        np.testing.assert_array_equal(function([1.0, 2.0], tf.constant(False)), [2.0, 4.0])
        assert len(traces) == 3, traces


def check_training_with_dropout() -> None:
    def build() -> Any:
        v1.set_random_seed(5)
        x, rate = v1.placeholder(tf.float32, [None, 3]), v1.placeholder_with_default(0.0, [])
        w = v1.get_variable("w", [3, 4], initializer=v1.truncated_normal_initializer())
        hidden = v1.nn.dropout(tf.nn.relu(tf.matmul(x, w)), rate=rate)
        loss = tf.reduce_mean(tf.square(hidden - 1.0))
        step = v1.train.get_or_create_global_step()
        train = v1.train.AdamOptimizer(0.1).minimize(loss, global_step=step)
        return x, rate, w, loss, step, train, v1.global_variables_initializer()

    def requests(built: Any, run: Any) -> Any:
        x, rate, w, loss, step, train, init = built
        run(init)
        found = []
        for _ in range(4):
            found += [run([train, loss], {x: X, rate: 0.5}), run({"loss": loss, "w": w}, {x: X}), run(step)]
        return found

    assert_same(build, requests)


def check_values_that_begin_with_other_values() -> None:
    """An initial value that asks whether another variable has one: it has none before its initializer has run."""

    def build() -> Any:
        w = v1.get_variable("w", [2], initializer=v1.constant_initializer(3.0), use_resource=False)
        average = tf.train.ExponentialMovingAverage(0.5)
        update = average.apply([w])
        return w, average.average(w), update, v1.is_variable_initialized(w), v1.global_variables_initializer()

    def requests(built: Any, run: Any) -> Any:
        w, average, update, known, init = built
        found = [run(known)]
        run(init)
        found += [run(known), run([average, w])]
        run(update)
        return [*found, run(average)]

    assert_same(build, requests)


def check_a_variable_without_a_value() -> None:
    legacy = porting.LegacyGraph()
    with legacy:
        w = v1.get_variable("w", [2])
    try:
        legacy.run(w)
    except tf.errors.FailedPreconditionError as error:
        assert "w" in str(error)
    else:
        raise AssertionError("nothing was raised")
    with legacy, tempfile.TemporaryDirectory() as folder:
        saver = porting.LegacySaver()
        try:
            saver.save(legacy, str(Path(folder, "a")))
        except tf.errors.FailedPreconditionError:
            assert not list(Path(folder).iterdir())
        else:
            raise AssertionError("nothing was raised")
    legacy[w].assign([1.0, 2.0])
    assert legacy.run(w).tolist() == [1.0, 2.0]
    assert legacy["w"] is legacy[w] is legacy.variables["w"]


def check_structures() -> None:
    """Fetches and feeds in tuples, dicts and lists; what is fed and fetched; a text; nothing for an operation."""
    Pair = collections.namedtuple("Pair", "a b")

    def build() -> Any:
        x, y = v1.placeholder(tf.float32, [2]), v1.placeholder(tf.float32, [])
        return x, y, x * y, tf.constant("text"), tf.no_op(), Pair(x, y)

    def requests(built: Any, run: Any) -> Any:
        x, y, product, text, nothing, pair = built
        feed = {x: [1, 2], y: 3}
        return [
            run(product, feed),
            run([product, nothing, text], feed),
            run((product, {"text": text, "list": [product.name, product]}), feed),
            run(Pair(product, (text,)), feed),
            run([x, y, product], feed),
            run(product, {pair: Pair(np.array([1.0, 2.0]), 4.0)}),
            run([], {}),
        ]

    assert_same(build, requests)


def check_sparse_tensors_and_gradients_of_some_rows() -> None:
    def build() -> Any:
        x = v1.placeholder(tf.float32, [2, 2])
        places = tf.where(tf.not_equal(x, 0))
        sparse = tf.SparseTensor(places, tf.gather_nd(x, places), [2, 2])
        rows = v1.get_variable("rows", initializer=np.arange(6, dtype=np.float32).reshape(3, 2))
        loss = tf.reduce_sum(tf.square(v1.nn.embedding_lookup(rows, [1, 1])))
        return x, sparse, v1.gradients(loss, [rows])[0], v1.global_variables_initializer()

    def requests(built: Any, run: Any) -> Any:
        x, sparse, slices, initialize = built
        run(initialize, {})
        found = [
            run(sparse, {x: [[0, 1], [2, 0]]}),
            run(slices, {}),
            run([slices, {"s": sparse}], {x: [[0, 1], [2, 0]]}),
        ]
        assert [type(each).__name__ for each in found] == ["SparseTensorValue", "IndexedSlicesValue", "list"]
        return found

    assert_same(build, requests)


def check_queues_iterators_and_tables() -> None:
    """They live as long as the graph, and all functions share them."""

    def build() -> Any:
        queue = v1.FIFOQueue(10, [tf.float32])
        data = v1.data.Dataset.range(4).map(lambda x: x * 3)
        once = v1.data.make_one_shot_iterator(data)
        again = v1.data.make_initializable_iterator(data.batch(2))
        keys, values = tf.constant(["a", "b"]), tf.constant([1, 2], tf.int64)
        table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(keys, values), -1)
        value = v1.placeholder(tf.float32, [])
        return (
            (value, queue.enqueue(value), queue.dequeue(), queue.size(), queue.close()),
            (once.get_next(), again.get_next(), again.initializer),
            (table.lookup(tf.constant(["b", "c"])), v1.tables_initializer()),
        )

    def requests(built: Any, run: Any) -> Any:
        (value, enqueue, dequeue, size, close), (one, batch, restart), (looked_up, fill) = built
        found = []
        for number in (1.0, 2.0, 3.0):
            run(enqueue, {value: number})
        found += [run(size), run([dequeue, one]), run(dequeue), run(one)]
        for _ in range(2):
            run(restart)
            found += [run(batch), run(batch), ended(run, batch)]
        run(fill)
        found += [run(looked_up), run(one), run(one), ended(run, one)]
        run(close)
        return [*found, run(dequeue), ended(run, dequeue)]

    def ended(run: Any, fetch: Any) -> str:
        try:
            return str(run(fetch))
        except tf.errors.OutOfRangeError:
            return "ended"

    assert_same(build, requests)


def check_reset() -> None:
    """After it a graph is as a new session finds it; functions, savers and what they share go on."""
    legacy = porting.LegacyGraph()
    with legacy:
        w = v1.get_variable("w", [], initializer=v1.random_normal_initializer(seed=3))
        more = v1.random_uniform([], seed=1)
        queue = v1.FIFOQueue(3, [tf.float32])
        init, add, size = v1.global_variables_initializer(), queue.enqueue(w), queue.size()
        saver = porting.LegacySaver()
    draw = legacy.function([w, more, size])
    found = []
    for _ in range(2):
        legacy.run(init)
        legacy.run(add)
        found.append([draw(), draw()])
        legacy.reset()
    assert found[0] == found[1] and found[0][0] != found[0][1], found
    with tempfile.TemporaryDirectory() as folder:
        legacy.run(init)
        path = saver.save(legacy, str(Path(folder, "a")))
        before = legacy.run(w)
        legacy.reset()
        try:
            draw()
        except tf.errors.FailedPreconditionError:
            pass
        else:
            raise AssertionError("w had a value")
        saver.restore(legacy, path)
        assert draw()[0] == before


def check_the_graph_that_files_share() -> None:
    """One file builds, and another one goes on in the same graph."""
    with porting.LegacyGraph.default():
        x = v1.placeholder(tf.float32)
        y = tf.square(x)
    legacy = porting.LegacyGraph.default()
    with legacy:
        z = y + 1.0
    assert legacy.run(z, {x: 3.0}) == 10.0
    assert porting.LegacyGraph().graph is not legacy.graph


def check_the_calling_thread_runs_what_is_small_and_does_not_wait() -> None:
    """A step that takes the next elements of a data set, up to their end; but none that waits for a queue."""
    legacy = porting.LegacyGraph()
    with legacy:
        data = v1.data.Dataset.from_tensor_slices(X.astype(np.float32)).batch(2)
        iterator = v1.data.make_initializable_iterator(data)
        w = v1.get_variable("w", [3, 1])
        loss = tf.reduce_mean(tf.square(tf.matmul(iterator.get_next(), w) - 1.0))
        train = v1.train.GradientDescentOptimizer(0.1).minimize(loss)
        queue = v1.FIFOQueue(3, [tf.float32], shapes=[[]])
        begin = legacy.function([v1.global_variables_initializer(), iterator.initializer])
        step = legacy.function([train, loss])
        put, take = legacy.function(queue.enqueue(1.0)), legacy.function(queue.dequeue())
    begin()
    put()
    before = legacy[w].numpy()
    assert take() == 1.0
    for rows in (X[:2], X[2:]):
        gap = rows.astype(np.float32) @ legacy[w].numpy() - 1.0
        np.testing.assert_allclose(step()[1], np.mean(np.square(gap)), rtol=1e-5)
    assert (legacy[w].numpy() != before).all()
    with contextlib.suppress(tf.errors.OutOfRangeError):
        raise AssertionError(step())
    threads = [call._function.one_thread for each in (step, put, take) for call in each._call_with(())._calls.values()]
    assert threads == [True, False, False]


def check_queue_runners() -> None:
    legacy = porting.LegacyGraph()
    with legacy:
        (number,) = [v1.train.range_input_producer(3, num_epochs=2, shuffle=False).dequeue()]
        start = v1.local_variables_initializer()
    legacy.run(start)
    coordinator = tf.train.Coordinator()
    threads = legacy.start_queue_runners(coord=coordinator)
    assert threads
    found = []
    try:
        while True:
            found.append(int(legacy.run(number)))
    except tf.errors.OutOfRangeError:
        coordinator.request_stop()
    coordinator.join(threads, stop_grace_period_secs=30)
    assert found == [0, 1, 2] * 2, found


def check_savers_files() -> None:
    """What a LegacySaver writes a session's Saver reads, and the other way round."""
    with tempfile.TemporaryDirectory() as folder:
        legacy = porting.LegacyGraph()
        with legacy:
            w = v1.get_variable("scope/w", [2], initializer=v1.ones_initializer())
            v1.get_variable("local", [], collections=[v1.GraphKeys.LOCAL_VARIABLES])
            step = v1.train.get_or_create_global_step()
            saver = porting.LegacySaver(max_to_keep=1)
            init, more = v1.global_variables_initializer(), [v1.assign_add(step, 7), v1.assign(w, [3.0, 4.0])]
        legacy.run(init)
        saver.save(legacy, str(Path(folder, "a")), global_step=step)
        legacy.run(more)
        path = saver.save(None, str(Path(folder, "a")), global_step=step)
        assert path.endswith("a-7") and tf.train.latest_checkpoint(folder) == path
        assert not list(Path(folder).glob("a-0.*"))
        assert sorted(name for name, _ in tf.train.list_variables(path)) == ["global_step", "scope/w"]
        with tf.Graph().as_default(), v1.Session() as session:
            restored = v1.get_variable("scope/w", [2])
            theirs = v1.train.Saver()
            theirs.restore(session, path)
            assert session.run(restored).tolist() == [3.0, 4.0]
            session.run(restored.assign([5.0, 6.0]))
            theirs.save(session, str(Path(folder, "b")), write_meta_graph=False)
        with legacy:
            one = porting.LegacySaver([w])
        one.restore(legacy, str(Path(folder, "b")))
        assert legacy[w].numpy().tolist() == [5.0, 6.0]


def check_monitored_sessions() -> None:
    """Hooks run, checkpoints and summaries are written, and a later one goes on from them: as with TensorFlow's own."""
    train = v1.train

    class StepLog(train.SessionRunHook):
        def __init__(self, step: Any) -> None:
            self.step, self.steps = step, []

        def after_create_session(self, session: Any, coord: Any) -> None:
            self.steps.append(int(session.run(self.step)))

        def before_run(self, context: Any) -> Any:
            return train.SessionRunArgs(self.step)

        def after_run(self, context: Any, values: Any) -> None:
            self.steps.append(int(values.results))

    def found(make: Callable[..., Any], folder: str, last: int) -> tuple[list[int], list[str], list[str]]:
        w = v1.get_variable("w", [], initializer=v1.zeros_initializer())
        step = train.get_or_create_global_step()
        read, summary = tf.cast(step, tf.int32), v1.summary.scalar("w", w)  # a cast has a buffer of its own
        reported = StepLog(read)
        hooks = [reported, train.StopAtStepHook(last_step=last)]
        with tf.control_dependencies([read, summary]):  # else it is chance whether they see the change
            one = tf.group(v1.assign_add(w, 2.0), v1.assign_add(step, 1))
        with make(checkpoint_dir=folder, hooks=hooks, save_checkpoint_steps=2, save_summaries_steps=1) as session:
            while not session.should_stop():
                session.run(one)
        events = sorted(Path(folder).glob("events*"))[-1]
        values = [
            f"{event.step} {value.tag} {value.simple_value:g}"
            for event in train.summary_iterator(str(events))
            for value in event.summary.value
            if value.tag == "w"
        ]
        return reported.steps, values, sorted(path.name for path in Path(folder).glob("model.ckpt*"))

    with tempfile.TemporaryDirectory() as theirs, tempfile.TemporaryDirectory() as ours:
        for last in (3, 5):
            with tf.Graph().as_default():
                expected = found(train.MonitoredTrainingSession, theirs, last)
            legacy = porting.LegacyGraph()
            with legacy:
                got = found(porting.monitored_training_session, ours, last)
            assert got[:2] == expected[:2], (got, expected)
            assert got[2] == [name for name in expected[2] if not name.endswith(".meta")], (got, expected)
            assert legacy["w"].numpy() == 2.0 * last
    try:
        porting.monitored_training_session()
    except UsageError as error:
        assert "with legacy:" in str(error)
    else:
        raise AssertionError("nothing was raised")


def check_wrong_use_is_refused() -> None:
    legacy = porting.LegacyGraph()
    with legacy:
        x = v1.placeholder(tf.float32, [2], name="x")
        y = tf.square(x)
    with tf.Graph().as_default():
        other = tf.constant(1.0)
    double = legacy.function(y, feeds=[x])
    for call, error, text in (
        (lambda: double(), TypeError, "takes x:0, and 0 values"),
        (lambda: double([1.0, 2.0, 3.0]), ValueError, "[2]"),
        (lambda: legacy.function(other), UsageError, "nothing of this graph"),
        (lambda: legacy.function("nothing:0"), UsageError, "nothing of this graph"),
        (lambda: legacy["none"], UsageError, "no variable 'none'"),
        (lambda: porting.LegacySaver(), UsageError, "with legacy:"),
        (lambda: legacy.run(y, {x: [1, 2]}, v1.RunOptions(timeout_in_ms=5)), UsageError, "timeout_in_ms: 5"),
    ):
        try:
            call()
        except error as raised:
            assert text in str(raised), raised
        else:
            raise AssertionError(text)


def check_what_is_not_fed_is_an_error_of_a_call() -> None:
    legacy = porting.LegacyGraph()
    with legacy:
        x = v1.placeholder(tf.float32, [], name="x")
        w = v1.get_variable("w", [], initializer=v1.ones_initializer())
        y = x * w
        legacy.run(v1.global_variables_initializer())
    unfed = legacy.function(y)
    for call in (unfed, unfed, lambda: legacy.run(y), lambda: legacy.run([w, y])):
        try:
            call()
        except tf.errors.InvalidArgumentError as raised:
            assert raised.message == "You must feed a value for placeholder tensor 'x' with dtype float", raised
            assert raised.op is x.op
        else:
            raise AssertionError("nothing was raised")
    assert legacy.function(y, feeds=[x])(3.0) == 3.0
    assert legacy.run(y, {x: 2.0}) == 2.0


def check_first_calls_in_threads() -> None:
    sys.setswitchinterval(1e-6)
    for _ in range(20):
        legacy = porting.LegacyGraph()
        with legacy:
            variables = [v1.get_variable(f"w{number}", [], initializer=v1.ones_initializer()) for number in range(20)]
            total = legacy.function(tf.add_n(variables))
            legacy.run(v1.global_variables_initializer())
        with concurrent.futures.ThreadPoolExecutor(8) as threads:
            assert [each.result(60) for each in [threads.submit(total) for _ in range(8)]] == [20.0] * 8


def check_calls_inside_and_outside_of_the_block() -> None:
    legacy = porting.LegacyGraph()
    with legacy:
        w = v1.get_variable("w", [], initializer=v1.ones_initializer())
        init, add = v1.global_variables_initializer(), v1.assign_add(w, 1.0)
        legacy.run(init)
        assert legacy.run(add) == 2.0
        assert v1.get_default_graph() is legacy.graph and not tf.executing_eagerly()
    assert tf.executing_eagerly() and legacy.run(add) == 3.0
    with legacy, legacy:
        again = w * 2.0
    assert legacy.run(again) == 6.0
