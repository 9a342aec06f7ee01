"""Small graphs of the kinds that programs build, each with what a person would name: see `test_interface.py`.

A check builds a graph and returns the inputs and the outputs that the guess is to find, and the labels, if any.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

import tf1sessions as t1
from tf1sessions.models import interface
from tf1sessions.models.graph_index import GraphIndex

tf = t1.tf1

CHECKS: dict[str, Callable[[], Any]] = {}


def check(function: Callable[[], Any]) -> Callable[[], Any]:
    CHECKS[function.__name__] = function
    return function


def main(report: Callable[..., None]) -> None:
    tf.disable_control_flow_v2()
    for name, build in CHECKS.items():
        failures = []
        for choose in (tf.disable_resource_variables, tf.enable_resource_variables):
            choose()
            try:
                compare(build)
            except Exception:  # whatever it raises is the answer of this check, and the others go on
                failures.append(f"{choose.__name__}: {traceback.format_exc()}")
        report(**{name: "\n".join(failures)})


def compare(build: Callable[[], Any]) -> None:
    with tf.Graph().as_default() as graph:
        inputs, outputs, *labels = build()
    found = interface.guess(GraphIndex(graph.as_graph_def()))
    reported = [note.partition(": ")[2] for note in found.notes if note.startswith("taken for labels")]
    assert (list(found.inputs), list(found.outputs), reported) == (inputs, outputs, labels), (
        f"inputs {list(found.inputs)}, outputs {list(found.outputs)}, labels {reported}"
    )
    assert found.guessed


def placeholder(name: str, *shape: int | None, dtype: Any = tf.float32) -> Any:
    return tf.placeholder(dtype, shape, name=name)


def dense(x: Any, size: int, name: str, reuse: bool = False) -> Any:
    with tf.variable_scope(name, reuse=reuse):
        weights = tf.get_variable("w", [x.shape[-1], size])
        return tf.nn.bias_add(tf.matmul(x, weights), tf.get_variable("b", [size]))


def train(loss: Any, scope: str | None = None) -> Any:
    return tf.train.AdamOptimizer().minimize(loss, var_list=tf.trainable_variables(scope))


# ------------------------------------------------------------------------------------------------------- classifiers


@check
def scores_are_what_the_loss_starts_from() -> Any:
    x, y, keep = placeholder("x", None, 4), placeholder("y", None, 3), placeholder("keep")
    scores = dense(tf.nn.dropout(dense(x, 8, "hidden"), keep_prob=keep), 3, "scores")
    train(tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits_v2(labels=y, logits=scores)))
    hits = tf.equal(tf.argmax(scores, 1), tf.argmax(y, 1))
    tf.summary.scalar("accuracy", tf.reduce_mean(tf.cast(hits, tf.float32)))
    tf.train.Saver()
    return ["x", "keep"], ["scores/BiasAdd"], "y"


@check
def a_choice_with_a_name_and_what_it_chooses_from() -> Any:
    x, y = placeholder("x", None, 4), placeholder("y", None, dtype=tf.int64)
    scores = dense(x, 3, "scores")
    tf.reduce_mean(tf.cast(tf.equal(tf.argmax(scores, 1, name="predictions"), y), tf.float32))
    train(tf.losses.sparse_softmax_cross_entropy(y, scores))
    return ["x"], ["scores/BiasAdd", "predictions"], "y"


@check
def probabilities_go_before_scores() -> Any:
    x, y = placeholder("x", None, 4), placeholder("y", None, dtype=tf.int32)
    scores = dense(x, 3, "scores")
    tf.nn.softmax(scores, name="probs")
    train(tf.losses.sparse_softmax_cross_entropy(y, scores))
    return ["x"], ["probs"], "y"


@check
def a_loss_by_hand() -> Any:
    x, y = placeholder("x", None, 4), placeholder("y", None, 3)
    probs = tf.nn.softmax(dense(x, 3, "scores"))
    train(-tf.reduce_sum(y * tf.log(tf.clip_by_value(probs, 1e-9, 1.0))) + tf.nn.l2_loss(tf.trainable_variables()[0]))
    return ["x"], ["Softmax"], "y"


@check
def what_has_a_name_is_not_taken_for_the_loss() -> Any:
    x, y = placeholder("x", None, 4), placeholder("y", None)
    predicted = tf.squeeze(dense(x, 1, "out"), 1, name="predicted")
    train(tf.reduce_mean(tf.square(predicted - y)))
    return ["x"], ["predicted"], "y"


@check
def summaries_and_moving_averages_are_no_outputs() -> Any:
    x, y = placeholder("x", None, 4), placeholder("y", None, 2)
    training = placeholder("training", dtype=tf.bool)
    hidden = tf.layers.batch_normalization(dense(x, 8, "hidden"), training=training)
    tf.summary.scalar("alive", tf.reduce_mean(tf.cast(tf.greater(hidden, 0.0), tf.float32), name="alive"))
    out = dense(tf.nn.relu(hidden), 2, "out")
    tf.summary.histogram("out", out)
    loss = tf.losses.mean_squared_error(y, out)
    averages = tf.train.ExponentialMovingAverage(0.9)
    with tf.control_dependencies([averages.apply([loss]), *tf.get_collection(tf.GraphKeys.UPDATE_OPS)]):
        train(loss)
    return ["x", "training"], ["out/BiasAdd"], "y"


@check
def branches_and_loops_are_left_before_anybody_fetches() -> Any:
    x, y, training = placeholder("x", 5, 4), placeholder("y", 5, 3), placeholder("training", dtype=tf.bool)
    cell = tf.nn.rnn_cell.BasicRNNCell(3)
    steps, _ = tf.nn.dynamic_rnn(cell, tf.expand_dims(x, 0), dtype=tf.float32)
    last = tf.cond(training, lambda: tf.tanh(steps), lambda: steps)
    train(tf.losses.mean_squared_error(y, last[0]))
    return ["x", "training"], ["cond/Merge"], "y"


# ---------------------------------------------------------------------------------- losses without labels, and others


@check
def an_autoencoder() -> Any:
    x = placeholder("x", None, 4)
    train(tf.reduce_mean(tf.pow(x - tf.nn.sigmoid(dense(tf.nn.sigmoid(dense(x, 2, "code")), 4, "out")), 2)))
    return ["x"], ["Sigmoid_1"]


@check
def a_generator_and_its_critic() -> Any:
    x, z = placeholder("x", None, 4), placeholder("z", None, 2)
    made = tf.nn.tanh(dense(z, 4, "generator"), name="made")
    real, fake = (tf.nn.sigmoid(dense(each, 1, "critic", reuse=each is made)) for each in (x, made))
    train(-tf.reduce_mean(tf.log(real) + tf.log(1.0 - fake)), "critic")
    train(-tf.reduce_mean(tf.log(fake)), "generator")
    return ["x", "z"], ["made", "Sigmoid"]


@check
def a_gradient_within_a_loss() -> Any:
    x, z = placeholder("x", None, 4), placeholder("z", None, 2)
    made = tf.nn.tanh(dense(z, 4, "generator"), name="made")
    mixed = 0.5 * x + 0.5 * made
    real, fake, between = (dense(each, 1, "critic", each is not x) for each in (x, made, mixed))
    penalty = tf.reduce_mean(tf.square(tf.norm(tf.gradients(between, [mixed])[0], axis=1) - 1.0))
    train(tf.reduce_mean(fake) - tf.reduce_mean(real) + 10.0 * penalty, "critic")
    train(-tf.reduce_mean(fake), "generator")
    return ["x", "z"], ["made", "critic/BiasAdd"]


@check
def two_optimizers_for_one_loss_are_one_network() -> Any:
    x, y = placeholder("x", None, 4), placeholder("y", None, 1)
    loss = tf.losses.mean_squared_error(y, tf.nn.sigmoid(dense(x, 1, "wide") + dense(x, 1, "deep"), name="both"))
    train(loss, "wide")
    train(loss, "deep")
    return ["x"], ["both"], "y"


@check
def words_and_what_is_sampled_against_them() -> Any:
    words, context = placeholder("words", None, dtype=tf.int32), placeholder("context", None, 1, dtype=tf.int64)
    table = tf.get_variable("table", [20, 4])
    found = tf.nn.embedding_lookup(table, words, name="found")
    weights, biases = tf.get_variable("w", [20, 4]), tf.get_variable("b", [20])
    train(tf.reduce_mean(tf.nn.nce_loss(weights, biases, context, found, 3, 20)))
    return ["words"], ["found"], "context"


@check
def a_policy_and_its_reward() -> Any:
    state, action, reward = placeholder("state", None, 4), placeholder("action", None, 2), placeholder("reward", None)
    odds = tf.nn.softmax(dense(state, 2, "policy"), name="odds")
    train(-tf.reduce_mean(tf.log(tf.reduce_sum(odds * action, 1)) * reward))
    return ["state"], ["odds"], "action, reward"


@check
def a_policy_without_a_state() -> Any:
    action, reward = placeholder("action", 1, dtype=tf.int32), placeholder("reward", 1)
    odds = tf.nn.softmax(tf.get_variable("weights", [4]))
    tf.argmax(odds, 0, name="best")
    train(-tf.log(tf.slice(odds, action, [1])) * reward)
    return [], ["Softmax", "best"]


@check
def a_temperature_is_no_label() -> Any:
    x, y, temperature = placeholder("x", None, 4), placeholder("y", None, dtype=tf.int32), placeholder("temperature")
    scores = dense(x, 3, "scores")
    tf.nn.softmax(scores / temperature, name="odds")
    train(tf.losses.sparse_softmax_cross_entropy(y, scores))
    return ["x", "temperature"], ["odds"], "y"


@check
def a_choice_by_chance() -> Any:
    state, action, gain = (
        placeholder("state", None, 4),
        placeholder("action", None, dtype=tf.int32),
        placeholder("gain", None),
    )
    scores = dense(state, 3, "policy")
    tf.argmax(scores - tf.log(-tf.log(tf.random_uniform(tf.shape(scores)))), 1, name="step")
    train(tf.reduce_mean(gain * tf.nn.sparse_softmax_cross_entropy_with_logits(labels=action, logits=scores)))
    return ["state"], ["policy/BiasAdd", "step"], "action, gain"


@check
def a_branch_that_nothing_takes_is_an_output() -> Any:
    x, y, sure = placeholder("x", None, 4), placeholder("y", None, 2), placeholder("sure", dtype=tf.bool)
    scores = dense(x, 2, "scores")
    tf.cond(sure, lambda: tf.argmax(scores, 1), lambda: tf.argmin(scores, 1))
    train(tf.losses.mean_squared_error(y, scores))
    return ["x", "sure"], ["cond/Merge"], "y"


# --------------------------------------------------------------------------------------------- where data comes from


@check
def images_and_labels_of_an_iterator() -> Any:
    data = tf.data.Dataset.from_tensors(([[1.0, 2.0]], [1]))
    images, labels = tf.data.make_one_shot_iterator(data).get_next()
    train(tf.losses.sparse_softmax_cross_entropy(labels, dense(images, 2, "scores")))
    return ["IteratorGetNext"], ["scores/BiasAdd"], "IteratorGetNext:1"


@check
def a_queue_beside_a_placeholder() -> Any:
    queue = tf.FIFOQueue(2, [tf.float32], shapes=[[3, 4]], name="queue")
    queue.enqueue([placeholder("fill", 3, 4)])
    keep = tf.placeholder_with_default(1.0, [], name="keep")
    tf.identity(dense(queue.dequeue(name="taken") * keep, 2, "scores"), name="out")
    return ["keep", "taken"], ["out"]


@check
def a_default_that_comes_out_of_a_queue_is_not_needed() -> Any:
    queue = tf.FIFOQueue(2, [tf.float32], shapes=[[3, 4]], name="queue")
    tf.square(tf.placeholder_with_default(queue.dequeue(), [3, 4], name="x"), name="out")
    found = interface.guess(GraphIndex(tf.get_default_graph().as_graph_def()))
    assert not found.inputs["x"].optional
    return ["x"], ["out"]


# ---------------------------------------------------------------------------------------------- without any training


@check
def what_depends_on_a_shape_alone_is_no_output() -> Any:
    x, lengths = placeholder("x", None, 5, 4), placeholder("lengths", None, dtype=tf.int32)
    tf.nn.dynamic_rnn(tf.nn.rnn_cell.BasicRNNCell(3), x, sequence_length=lengths, dtype=tf.float32)
    tf.zeros([tf.shape(x)[0], 2], name="zeros")
    return ["x", "lengths"], ["rnn/while/Exit_3", "rnn/transpose_1"]


@check
def an_assertion_is_no_output() -> Any:
    x = placeholder("x", None)
    with tf.control_dependencies([tf.Assert(tf.reduce_all(tf.greater(x, 0.0)), [x])]):
        tf.sqrt(x, name="root")
    return ["x"], ["root"]


@check
def a_measure_that_was_asked_for_is_an_output() -> Any:
    x, y = placeholder("x", None), placeholder("y", None)
    tf.reduce_mean(tf.square(x - y), name="error")
    return ["x", "y"], ["error"]
