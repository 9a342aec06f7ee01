"""Ported graphs under MirroredStrategy on logical CPU devices, against one device. Run by test_distribute.py."""

from __future__ import annotations

import concurrent.futures
import functools
import sys
import tempfile
import threading
from collections.abc import Callable
from typing import Any

import distributed_graphs
import numpy as np
import tensorflow as tf
from distributed_graphs import SIZES, Program, assert_close, batch, small
from ported_models import compare
from ported_sources import record_of, training

from tf1sessions import porting
from tf1sessions.errors import ConversionError, UsageError

v1 = distributed_graphs.v1
tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 4
)
Mirrored = tf.distribute.MirroredStrategy


def two() -> Any:
    return Mirrored(["CPU:0", "CPU:1"])


def assert_mirrored(strategy: Any, variables: Any) -> None:
    """There is a copy on each device, and all are equal."""
    for variable in variables:
        copies = strategy.experimental_local_results(variable)
        assert len(copies) == strategy.num_replicas_in_sync, variable
        for each in copies[1:]:
            np.testing.assert_array_equal(each.numpy(), copies[0].numpy(), variable.name)


def refused(error: type[Exception], call: Callable[[], Any], *words: str) -> None:
    try:
        call()
    except error as caught:
        assert all(word in str(caught) for word in words), caught
        return
    raise AssertionError(f"nothing was raised where {words} should be reported")


# ------------------------------------------------------------------------------------------------------------ training


def learn(name: str) -> None:
    """Ten steps of a model on two devices, each with the loss that 1.15.5 had on one; the variables at the end."""
    record = record_of(name)
    strategy = two()
    module = porting.distribute(training(record), strategy)
    for batch_, losses in zip(record.batches, record.curve, strict=True):
        for index, loss in enumerate(losses):
            compare(module.steps[f"train_{index}"](batch_)[f"loss_{index}"], np.float32(loss), f"{name}: the losses")
    for name_, value in record.arrays("end").items():
        compare(module.by_name[name_], value, f"{name}: {name_} at the end")
    assert_mirrored(strategy, module.variables)


for _name in ("mlp", "lstm_resource", "gan", "partitioned", "words", "optimizer_averages"):
    setattr(sys.modules[__name__], f"check_{_name}", functools.partial(learn, _name))


def check_a_program_with_functions() -> None:
    """Functions that were made before; uneven batches; checkpoints of one device on two, and back."""
    alone, program = Program(), Program()
    strategy = two()
    assert porting.distribute(program.legacy, strategy) is program.legacy
    alone.initialize()
    program.initialize()
    assert_close(program.curve(), alone.curve())
    assert_close(program.values(), alone.values())
    assert_mirrored(strategy, program.legacy.variables.values())
    assert_close(program.predict(*batch(50, 5)), alone.predict(*batch(50, 5)))
    with tempfile.TemporaryDirectory() as folder:
        path = program.saver.save(program.legacy, f"{folder}/two", global_step=program.step_number)
        assert path.endswith(f"two-{len(SIZES)}")
        other = Program()
        other.saver.restore(other.legacy, path)
        assert_close(other.values(), program.values(), 0.0)
        one = alone.saver.save(alone.legacy, f"{folder}/one")
        program.initialize()
        assert_mirrored(strategy, program.legacy.variables.values())
        program.saver.restore(program.legacy, one)
        assert_close(program.curve([8, 7], 20), alone.curve([8, 7], 20))
        assert_mirrored(strategy, program.legacy.variables.values())
    for each in (program, alone):
        each.legacy.reset()
    refused(tf.errors.FailedPreconditionError, lambda: program.step(*batch(0, 8)), "uninitialized value")
    program.initialize()
    alone.initialize()
    assert_close(program.curve([8, 7]), alone.curve([8, 7]))
    porting.distribute(program.legacy, None)
    assert_close(program.curve([8, 7]), alone.curve([8, 7]))
    assert not hasattr(program.legacy["table"], "values")


def normalized() -> tuple[Any, dict[str, Any]]:
    """A LegacyGraph with batch normalization, and its functions."""
    legacy = porting.LegacyGraph()
    with legacy:
        x, y, training_ = v1.placeholder(tf.float32, [None, 3]), v1.placeholder(tf.float32, [None, 3]), True
        training_ = v1.placeholder_with_default(False, [], name="training")
        h = x * v1.get_variable("w", [3], initializer=v1.ones_initializer())
        mean, variance = tf.nn.moments(h, [0])
        kept_mean = v1.get_variable("kept_mean", [3], initializer=v1.zeros_initializer(), trainable=False)
        kept = v1.get_variable("kept_variance", [3], initializer=v1.ones_initializer(), trainable=False)

        def update() -> Any:
            one = kept_mean.assign_sub(0.1 * (kept_mean - mean))
            with tf.control_dependencies([one, kept.assign_sub(0.1 * (kept - variance))]):
                return tf.identity(mean), tf.identity(variance)

        used = tf.cond(training_, update, lambda: (tf.identity(kept_mean), tf.identity(kept)))
        loss = tf.reduce_mean(((h - used[0]) / tf.sqrt(used[1] + 1e-3) - y) ** 2)
        step = v1.train.GradientDescentOptimizer(0.1).minimize(loss)
        feeds = [x, y, training_]
        functions = {
            "initialize": legacy.function(v1.global_variables_initializer()),
            "step": legacy.function([step, loss], feeds),
            "loss": legacy.function(loss, feeds[:2]),
        }
    return legacy, functions


def check_batch_normalization() -> None:
    """Each replica normalizes by its own rows; statistics are the mean of theirs."""
    strategy = two()
    legacy, functions = normalized()
    alone, by_hand = normalized()
    porting.distribute(legacy, strategy)
    functions["initialize"]()
    by_hand["initialize"]()
    random = np.random.RandomState(0)
    rows, labels = random.randn(10, 3).astype(np.float32) + 2, random.randn(10, 3).astype(np.float32)
    halves = []
    for half in (slice(0, 5), slice(5, 10)):
        by_hand["initialize"]()
        loss = by_hand["step"](rows[half], labels[half], True)[1]
        halves.append({**alone.values(["w", "kept_mean", "kept_variance"]), "loss": loss})
    expected = {name: (halves[0][name] + halves[1][name]) / 2 for name in halves[0]}
    loss = functions["step"](rows, labels, True)[1]
    assert_close({**legacy.values(["w", "kept_mean", "kept_variance"]), "loss": loss}, expected)
    np.testing.assert_allclose(expected["kept_mean"], 0.1 * rows.mean(0), rtol=1e-5)
    assert_mirrored(strategy, legacy.variables.values())
    functions["step"](rows, labels, np.array(True))
    refused(ConversionError, lambda: functions["step"](rows, labels, tf.constant(True)), "Python's True or False")


def check_random_numbers_differ() -> None:
    legacy = porting.LegacyGraph()
    with legacy:
        x = v1.placeholder(tf.float32, [None])
        w = v1.get_variable("w", [], initializer=v1.ones_initializer())
        noise = tf.random.uniform(tf.shape(x), seed=3) + 0.0 * x
        step = v1.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_mean(w * noise))
        run = legacy.function([step, noise], [x])
        initialize = legacy.function(v1.global_variables_initializer())
    initialize()
    one = run(np.zeros(3))[1]
    legacy.reset()
    porting.distribute(legacy, two())
    initialize()
    first, second = (run(np.zeros(6))[1] for _ in range(2))
    np.testing.assert_array_equal(first[:3], one)
    assert len({*first, *second}) == 12


# ---------------------------------------------------------------------------------------------------- what is reported


def counting() -> tuple[Any, dict[str, Any]]:
    legacy = porting.LegacyGraph()
    with legacy:
        x = v1.placeholder(tf.float32, [None], name="x")
        scale = v1.placeholder_with_default([1.0, 2.0], [2], name="scale")
        w = v1.get_variable("w", [], initializer=v1.zeros_initializer())
        seen = v1.get_variable("seen", [], tf.int32, initializer=v1.zeros_initializer(), trainable=False)
        mean, update = v1.metrics.mean(x, name="metric")
        loss = tf.reduce_sum((x - w) ** 2)
        step = v1.train.GradientDescentOptimizer(0.01).minimize(loss)
        positive = tf.reduce_sum(tf.cast(x > 0, tf.int32), name="positive")
        per_row = tf.gradients(loss, w)[0] / tf.cast(tf.shape(x)[0], tf.float32)
        made = {
            "initialize": [v1.global_variables_initializer(), v1.local_variables_initializer()],
            "step": [step, loss],
            "metric": [step, update],
            "count": [step, seen.assign_add(tf.shape(x)[0])],
            "positive": [step, positive],
            "divided": v1.train.GradientDescentOptimizer(0.01).apply_gradients([(per_row, w)]),
            "unfed": step,
            "scaled": [step, x * scale[0], scale],
            "text": [step, v1.summary.scalar("loss", loss)],
        }
        functions = {
            name: legacy.function(fetches, [] if name in ("initialize", "unfed") else [x])
            for name, fetches in made.items()
            if name != "unfed"
        }
        functions["mean"] = legacy.function(mean)
        constant = v1.placeholder_with_default([1.0, 3.0], [2])
        functions["unfed"] = legacy.function(
            v1.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_mean((constant - w) ** 2)), [constant]
        )
    return legacy, functions


def check_what_else_is_combined() -> None:
    rows = np.array([1.0, 2.0, -3.0, 4.0, 6.0], np.float32)
    legacy, functions = counting()
    porting.distribute(legacy, two(), gradients="sum", combine={"seen": "sum", "positive": "sum"})
    functions["initialize"]()
    functions["step"](rows)
    np.testing.assert_allclose(legacy["w"].numpy(), 0.02 * rows.sum(), rtol=1e-6)
    functions["metric"](rows)
    functions["metric"](rows[:2])
    np.testing.assert_allclose(functions["mean"](), np.concatenate([rows, rows[:2]]).mean(), rtol=1e-6)
    functions["count"](rows)
    assert legacy["seen"].numpy() == 5
    assert functions["positive"](rows)[1] == 4
    assert b"loss" in functions["text"](rows)[1]
    _, scaled, scale = functions["scaled"](rows)
    np.testing.assert_array_equal(scaled, rows)
    assert scale.tolist() == [1.0, 2.0]


def check_what_is_refused() -> None:
    legacy, functions = counting()
    porting.distribute(legacy, two())
    functions["initialize"]()
    rows = np.ones(5, np.float32)
    refused(UsageError, lambda: functions["step"](rows[:1]), "cannot be split over 2 replicas", "feed_0 1")
    refused(ConversionError, lambda: functions["count"](rows), "'seen'", "combine={'seen': 'sum'}")
    refused(UsageError, lambda: functions["positive"](rows), "'positive:0' is int32 ()", "combine=")
    refused(ConversionError, lambda: functions["divided"](rows), "depends on the batch by more than its gradients")
    refused(UsageError, lambda: functions["unfed"]([1.0, 3.0]), "none of its inputs has rows to split")
    at = threading.current_thread().name
    for arguments, words in (
        ({"gradients": "average"}, "'average'"),
        ({"split": {"x": -1}}, "split['x'] is -1"),
        ({"combine": {"x": "median"}}, "'median'"),
        ({"limit_secs": 0}, "limit_secs is 0"),
        ({"split": {"rows": 0}}, "split= names 'rows'"),
        ({"combine": {"w:1": "sum"}}, "combine= names 'w:1'"),
    ):
        refused(UsageError, lambda arguments=arguments: porting.distribute(legacy, two(), **arguments), words)
    refused(UsageError, lambda: porting.distribute(len, two()), "built-in function len")
    refused(UsageError, lambda: porting.distribute(legacy, at), at)
    program = Program()
    program.initialize()
    porting.distribute(program.legacy, two())
    x, y, words = batch(0, 8)
    refused(UsageError, lambda: program.step(x, y[:6], words), "feed_1 6")
    porting.distribute(program.legacy, two(), split={"words": 5})
    refused(UsageError, lambda: program.step(x, y, words), "split['words'] is 5", "(?, 3)")


def check_rows_that_are_not_open() -> None:
    """A batch whose size the graph has fixed, and one with the time first."""
    legacy, alone = porting.LegacyGraph(), porting.LegacyGraph()
    runs = []
    for graph, rows in ((alone, 6), (legacy, 3)):
        with graph:
            x = v1.placeholder(tf.float32, [rows, 2], name="x")
            times = v1.placeholder(tf.float32, [4, None], name="times")
            w = v1.get_variable("w", [2, 1], initializer=v1.ones_initializer())
            y = tf.matmul(x, w)
            train = v1.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_mean((y - 1.0) ** 2))
            late = tf.reduce_mean((times * w[0] - 1.0) ** 2)
            train_late = v1.train.GradientDescentOptimizer(0.1).minimize(late)
            graph.function(v1.global_variables_initializer())()
            functions = graph.function([train, y], [x]), graph.function([train_late, late], [times])
            runs.append((*functions, graph.function([train_late, times * 2.0], [times])))
    refused(UsageError, lambda: (porting.distribute(legacy, two()), runs[1][0](np.ones([6, 2])))[1], "split={'x': 0}")
    porting.distribute(legacy, two(), split={"x": 0, "times": 1})
    given = np.arange(12, dtype=np.float32).reshape(6, 2)
    assert_close([runs[1][0](given)[1] for _ in range(2)], [runs[0][0](given)[1] for _ in range(2)])
    refused(ValueError, lambda: runs[1][0](given[:4]), "[6, 2]", "[4, 2]")
    given = np.arange(20, dtype=np.float32).reshape(4, 5) / 20
    assert_close([runs[1][1](given)[1] for _ in range(2)], [runs[0][1](given)[1] for _ in range(2)])
    refused(UsageError, lambda: runs[1][2](given), "which dimension has its rows is not known")


def of_the_graph(rows: int | None, most: int) -> tuple[Any, list[Any]]:
    """A LegacyGraph whose steps take batches from an iterator and a table, and from a queue; some rows, or at most."""
    legacy = porting.LegacyGraph()
    with legacy:
        data = tf.data.Dataset.range(20).map(lambda i: (tf.cast(i, tf.float32) / 20, i % 4))
        data = data.batch(rows or most, drop_remainder=rows is not None)
        x, kind = v1.data.make_one_shot_iterator(data).get_next()
        entries = v1.lookup.KeyValueTensorInitializer([0, 1, 2], [1.0, 2.0, 3.0], tf.int64)
        table = v1.lookup.StaticHashTable(entries, -1.0)
        queue, rate = v1.FIFOQueue(20, [tf.float32], [[]]), v1.placeholder(tf.float32, [])
        w = v1.get_variable("w", [], initializer=v1.zeros_initializer())
        drawn = queue.dequeue_many(rows) if rows else queue.dequeue_up_to(most)
        losses_ = [tf.reduce_mean((x * w - table.lookup(kind)) ** 2), tf.reduce_mean((drawn - w) ** 2)]
        optimizer = v1.train.GradientDescentOptimizer(rate)
        steps = [
            legacy.function([optimizer.minimize(loss), loss, batch_], [rate])
            for loss, batch_ in zip(losses_, (x, drawn), strict=True)
        ]
        start = [v1.global_variables_initializer(), v1.tables_initializer(), queue.enqueue_many([tf.range(16.0)])]
        initialize = legacy.function(start)
    return legacy, [initialize, *steps]


def check_batches_that_the_graph_brings() -> None:
    """One batch is split; where its size is fixed, each replica has one. Both end when there is no more."""
    _, alone = of_the_graph(None, 8)
    expected = (alone[0](), [step(0.1)[1:] for _ in range(2) for step in alone[1:]])[1]
    for rows in (None, 4):
        legacy, functions = of_the_graph(rows, 8)
        porting.distribute(legacy, two())
        functions[0]()
        assert_close([step(0.1)[1:] for _ in range(2) for step in functions[1:]], expected)
        assert len(expected[0][1]) == 8
        if rows is None:
            functions[1](0.1)  # the last four
        refused(tf.errors.OutOfRangeError, lambda run=functions[1]: run(0.1), "End of sequence")


def check_what_a_graph_keeps_on_one_device_is_refused() -> None:
    legacy = porting.LegacyGraph()
    with legacy:
        x = v1.placeholder(tf.float32, [None])
        queue = v1.FIFOQueue(3, [tf.float32], [[]])
        w = v1.get_variable("w", [], initializer=v1.zeros_initializer())
        steps = [
            legacy.function(v1.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_mean((x - w - other) ** 2)), [x])
            for other in (queue.dequeue(), tf.cast(queue.size(), tf.float32))
        ]
        initialize = legacy.function(v1.global_variables_initializer())
    porting.distribute(legacy, two())
    initialize()
    for step in steps:
        refused(ConversionError, functools.partial(step, [1.0, 2.0]), "fifo_queue", "keeps its data on one device")


# ----------------------------------------------------------------------------------------------------------- strategies


def losses(devices: list[str] | None, steps: int = 15) -> list[float]:
    module = small()
    if devices:
        porting.distribute(module, Mirrored(devices))
    rows = np.random.RandomState(1).randn(12, 2).astype(np.float32)
    return [float(module.train(x=rows)["loss"]) for _ in range(steps)]


def check_several_strategies() -> None:
    """One after another, and beside one another in threads, on the same devices, on others, on some of both."""
    expected = losses(None)
    groups = [["CPU:0", "CPU:1"], ["CPU:1", "CPU:2", "CPU:3"], ["CPU:0", "CPU:1"], ["CPU:2", "CPU:3"]]
    for group in groups[:2]:
        assert_close(losses(group, 5), expected[:5], 1e-5)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for found in pool.map(losses, groups, timeout=120):
            assert_close(found, expected, 1e-5)


def check_threads_share_a_strategy() -> None:
    """Their steps come one after another, on all devices in one order."""
    module = porting.distribute(small(), two())
    rows = np.ones([4, 2], np.float32)
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        found = list(pool.map(lambda _: float(module.train(x=rows)["loss"]), range(60), timeout=120))
    assert min(found) < 0.5 * found[0]
    assert_mirrored(two(), module.variables)


def check_calls_inside_of_the_strategy() -> None:
    """A GradientTape in a replica sees the module; its own steps are for outside."""
    module, strategy = small(), two()
    with tf.GradientTape() as tape:
        loss = module(x=np.ones([3, 2]))["loss"]
    expected = tape.gradient(loss, module.trainable_variables)
    porting.distribute(module, strategy)

    @tf.function(autograph=False)
    def gradients(call: Any) -> Any:
        def replica() -> Any:
            with tf.GradientTape() as inner:
                loss = call(x=tf.ones([3, 2]))["loss"]
            return inner.gradient(loss, module.trainable_variables)

        return strategy.run(replica)

    for found, value in zip(gradients(module), expected, strict=True):
        for copy in strategy.experimental_local_results(found):
            np.testing.assert_allclose(copy, value, rtol=1e-6)
    refused(UsageError, lambda: gradients(module.train), "inside of strategy.run")
    refused(UsageError, lambda: strategy.run(lambda: module(x=tf.ones([3, 2]))), "@tf.function")


def check_checkpoints_of_objects() -> None:
    module, strategy = porting.distribute(small(), two()), two()
    module.train(x=np.ones([3, 2]))
    with tempfile.TemporaryDirectory() as folder:
        path = tf.train.Checkpoint(module=module).save(f"{folder}/two")
        alone = small()
        tf.train.Checkpoint(module=alone).restore(path).assert_consumed()
        assert_close(alone.by_name["w/Adam"].numpy(), module.by_name["w/Adam"].numpy(), 0.0)
        alone.train(x=np.ones([3, 2]))
        path = tf.train.Checkpoint(module=alone).save(f"{folder}/one")
        tf.train.Checkpoint(module=module).restore(path).assert_consumed()
    assert_mirrored(strategy, module.variables)
    with tempfile.TemporaryDirectory() as folder:
        refused(UsageError, lambda: tf.saved_model.save(module, folder), "porting.distribute(module, None)")
    assert_close(module.train(x=np.ones([3, 2]))["loss"], alone.train(x=np.ones([3, 2]))["loss"])
    porting.distribute(module, None)
    assert_close(module.train(x=np.ones([3, 2]))["loss"], alone.train(x=np.ones([3, 2]))["loss"])
