"""GraphSession inside a TF2 and Keras 3 program, which goes on as it was. Run by test_programs.py in one process."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import tensorflow as tf2
from support import in_thread

import tf1sessions

tf = tf1sessions.tf1


def _the_program_is_unchanged() -> None:
    assert tf2.executing_eagerly()
    assert keras.__version__.startswith("3.")
    assert tf2.keras.layers.Dense is keras.layers.Dense
    assert not isinstance(tf2.Variable(1.0), type(None)) and tf2.Variable(1.0).numpy() == 1.0
    assert isinstance(tf2.TensorShape([2])[0], int)

    @tf2.function
    def double(value: Any) -> Any:
        return value * 2.0

    assert double(tf2.constant(3.0)).numpy() == 6.0
    with tf2.GradientTape() as tape:
        weight = tf2.Variable(2.0)
        loss = weight * weight
    assert tape.gradient(loss, weight).numpy() == 4.0


def _train_keras() -> float:
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3, activation="relu"), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    history = model.fit(np.ones((8, 4), np.float32), np.ones((8, 1), np.float32), epochs=2, verbose=0)
    return float(history.history["loss"][-1])


def check_a_graph_session_beside_eager_code() -> None:
    _the_program_is_unchanged()
    before = tf2.constant([1.0, 2.0]) * 2.0
    with tf1sessions.GraphSession() as gs:
        assert not tf2.executing_eagerly()
        x = tf.placeholder(tf.float32, [None, 4])
        out = tf.layers.dense(x, 2, tf.nn.relu, name="legacy")
        cell = tf.nn.rnn_cell.BasicLSTMCell(2)
        state, _ = cell(out, cell.zero_state(tf.shape(x)[0], tf.float32))
        loss = tf.reduce_mean(tf.square(out - 1.0)) + tf.reduce_mean(state)
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        gs.initialize()
        value = np.ones((3, 4), np.float32)
        losses = [gs.run([loss, train], {x: value})[0] for _ in range(5)]
        assert losses[-1] != losses[0]
        call = gs.compile([x], loss)
        gs.seal()
        assert isinstance(call(value), np.float32)
        assert [variable.name for variable in tf.trainable_variables()][:2] == ["legacy/kernel:0", "legacy/bias:0"]
    _the_program_is_unchanged()
    np.testing.assert_array_equal(before.numpy(), [2.0, 4.0])
    assert _train_keras() >= 0.0


def check_other_threads_call_what_this_one_built() -> None:
    """Tensors of a TF2 program are no dict keys outside their graph; a compiled call must not need that."""
    gs = tf1sessions.GraphSession()
    with gs.as_default():
        x = tf.placeholder(tf.float32, [None, 2])
        y = tf.reduce_sum(x)
        v = tf.Variable([1.0])
        gs.initialize()
    call = gs.compile([x], y)
    for work in (lambda: call([[1.0, 2.0]]), lambda: call(np.ones((1, 2))), lambda: call(np.ones((1, 2), np.float32))):
        result = in_thread(work)
        assert isinstance(result, np.float32), result
    error = in_thread(lambda: call([[1.0]]))
    assert isinstance(error, ValueError) and "Cannot feed value of shape" in str(error), repr(error)
    assert in_thread(lambda: gs.run({"v": v, "y": "Sum:0"}, {x.name: [[1.0, 2.0]]}))["y"] == 3.0
    assert in_thread(lambda: gs.run(v)).tolist() == [1.0]
    gs.close()


def check_loops_functions_and_datasets() -> None:
    with tf1sessions.GraphSession() as gs:
        x = tf.placeholder(tf.float32, [])
        total = tf.while_loop(lambda i, s: i < 5, lambda i, s: (i + 1, s + x), [0, 0.0])
        branch = tf.cond(x > 0.0, lambda: x, lambda: -x)

        @tf2.function
        def function(value: Any) -> Any:
            return tf2.reduce_sum(value) + total[1]

        dataset = tf2.data.Dataset.range(3).map(lambda i: i * 2)
        item = tf.data.make_one_shot_iterator(dataset).get_next()
        for _ in range(3):
            assert gs.run([total[1], branch, function(x)], {x: 2.0}) == [10.0, 2.0, 12.0]
        assert [gs.run(item) for _ in range(3)] == [0, 2, 4]
        try:
            gs.run(item)
        except tf.errors.OutOfRangeError:
            pass
        else:
            raise AssertionError("the dataset did not end")
        assert gs.compile([x], branch * 1.0).in_caller is False  # a StatelessIf runs functions
    _the_program_is_unchanged()


def check_enable_v1_behavior_comes_too_late() -> None:
    tf2.constant(1.0) + 1.0
    try:
        tf1sessions.enable_v1_behavior()
    except tf1sessions.errors.UnsupportedEnvironmentError as error:
        assert "eager" in str(error)
    else:
        raise AssertionError("it was taken")
    _the_program_is_unchanged()
