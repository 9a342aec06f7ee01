"""contrib.slim as programs use it: a network that trains, resumes, restores in part and is evaluated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

PROGRAM = """
import os
import numpy as np
import tf1sessions.scripts
tf1sessions.scripts.install()
import tensorflow as tf
import tensorflow.contrib.slim as slim
from tensorflow.contrib.slim.python.slim import learning
from tensorflow.contrib.layers.python.layers import initializers, utils
from tensorflow.contrib.layers.python.layers.layers import conv2d, batch_norm
from tensorflow.contrib.framework.python.ops import variables as contrib_variables

report(addresses=[
    learning.train is slim.learning.train, initializers.xavier_initializer is slim.xavier_initializer,
    conv2d is slim.conv2d is slim.layers.conv2d is tf.contrib.layers.conv2d, batch_norm is slim.batch_norm,
    utils.convert_collection_to_dict is slim.utils.convert_collection_to_dict,
    contrib_variables.model_variable is slim.model_variable,
])

rng = np.random.RandomState(0)
images, labels = rng.rand(64, 8, 8, 1).astype("float32"), rng.randint(0, 2, 64)
images[labels == 1, :, :4] += 1.0

def network(x, is_training):
    with slim.arg_scope([slim.conv2d, slim.fully_connected], weights_regularizer=slim.l2_regularizer(1e-3),
                        outputs_collections="ends"):
        with slim.arg_scope([slim.batch_norm], is_training=is_training, decay=0.9):
            with slim.arg_scope([slim.conv2d], normalizer_fn=slim.batch_norm):
                with tf.variable_scope("net"):
                    x = slim.repeat(x, 2, slim.conv2d, 4, [3, 3], scope="conv")
                    x = slim.max_pool2d(x, [2, 2], scope="pool", outputs_collections="ends")
                    x = slim.fully_connected(slim.flatten(x), 2, activation_fn=None, scope="logits")
    return x, slim.utils.convert_collection_to_dict("ends")

def train(steps, **more):
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        logits, ends = network(tf.constant(images), True)
        slim.losses.sparse_softmax_cross_entropy(logits, labels)
        loss = slim.losses.get_total_loss()
        tf.summary.scalar("loss", loss)
        train_op = slim.learning.create_train_op(loss, tf.train.AdamOptimizer(0.05), clip_gradient_norm=5.0)
        last = slim.learning.train(train_op, "model", number_of_steps=steps, log_every_n_steps=10,
                                   save_summaries_secs=1000, save_interval_secs=1000, **more)
        return float(last), list(ends), [v.op.name for v in slim.get_model_variables()]

first, ends, model_variables = train(3)
second, _, _ = train(40, trace_every_n_steps=20)
report(first=first, second=second, ends=ends, model_variables=model_variables,
       latest=os.path.basename(tf.train.latest_checkpoint("model")),
       written=sorted(name.partition(".")[0] for name in os.listdir("model") if "tf_trace" in name or "events" in name))

def evaluate(call):
    with tf.Graph().as_default():
        logits, _ = network(tf.constant(images), False)
        predictions = tf.argmax(logits, 1)
        values, updates = slim.metrics.aggregate_metric_map({
            "accuracy": slim.metrics.streaming_accuracy(predictions, labels),
            "recall": slim.metrics.streaming_recall(predictions, labels),
        })
        tf.train.get_or_create_global_step()
        slim.summaries.add_scalar_summary(values["accuracy"], "accuracy", "eval")
        done = call(eval_op=list(updates.values()), final_op=values)
        return {name: float(value) for name, value in done.items()}

report(
    once=evaluate(lambda **a: slim.evaluation.evaluate_once("", tf.train.latest_checkpoint("model"), "eval", 2, **a)),
    loop=evaluate(lambda **a: slim.evaluation.evaluation_loop(
        "", "model", "eval", 1, max_number_of_evaluations=1, eval_interval_secs=0, **a)),
)

with tf.Graph().as_default():
    logits, _ = network(tf.constant(images), False)
    to_restore = slim.get_variables_to_restore(exclude=["net/logits"])
    restore = slim.assign_from_checkpoint_fn(tf.train.latest_checkpoint("model"), to_restore)
    new = slim.variable("new", [2], initializer=tf.zeros_initializer())
    ignoring = slim.assign_from_checkpoint_fn(
        tf.train.latest_checkpoint("model"), slim.get_variables_to_restore(), ignore_missing_vars=True)
    assign, feeds = slim.assign_from_values({"new": [5.0, 6.0]})
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        before = session.run(slim.get_unique_variable("net/logits/weights"))
        restore(session)
        middle = session.run(slim.get_unique_variable("net/logits/weights"))
        weights = session.run(slim.get_unique_variable("net/conv/conv_1/weights"))
        saved = tf.contrib.framework.load_variable("model", "net/conv/conv_1/weights")
        ignoring(session)
        session.run(assign, feeds)
        after = session.run(tf.argmax(logits, 1))
        report(restored=[v.op.name for v in to_restore], kept=bool((before == middle).all()),
               equal=bool((weights == saved).all()), right=float((after == labels).mean()),
               new=session.run(new).tolist())

def error(call):
    try:
        call()
    except Exception as error:
        return type(error).__name__

with tf.Graph().as_default(), tf.Session() as session:
    zeros = slim.zero_initializer(tf.get_variable("zeros", [2]))
    report(zeros=session.run(zeros).tolist(), zeros_again=error(lambda: session.run(zeros)))

with tf.Graph().as_default():
    x = tf.get_variable("x", [])
    report(errors=[
        error(lambda: slim.learning.train(None, "model")),
        error(lambda: slim.learning.train(x, "model", number_of_steps=0)),
        error(lambda: slim.learning.train(x, None, saver=tf.train.Saver())),
        error(lambda: slim.learning.train(x, None, trace_every_n_steps=1)),
        error(lambda: slim.assign_from_checkpoint_fn("model", [])),
        error(lambda: slim.get_unique_variable("y")),
        error(lambda: slim.get_variables_to_restore(include="x")),
        error(lambda: slim.assign_from_checkpoint(tf.train.latest_checkpoint("model"), [x])),
        error(lambda: slim.nets_that_are_not_there),
    ])
"""


@pytest.fixture(scope="module")
def program(run_python: Callable[..., Any]) -> dict[str, Any]:
    found: dict[str, Any] = run_python(PROGRAM, fresh=True).results
    return found


def test_old_addresses_give_the_same_functions(program):
    assert program["addresses"] == [True] * 6


def test_trains_and_resumes(program):
    assert program["second"] < 0.1 < program["first"]
    assert program["latest"] == "model.ckpt-40"
    assert "events" in program["written"]
    # the step is read while the train operation counts it, as on 1.15
    assert {"tf_trace-20", "tf_trace-21"} & set(program["written"])


def test_end_points_and_variables_have_their_names(program):
    assert program["ends"] == ["net/conv/conv_1", "net/conv/conv_2", "net/pool", "net/logits"]
    assert program["model_variables"] == [
        *(f"net/conv/conv_1/{name}" for name in ("weights", "BatchNorm/beta")),
        *(f"net/conv/conv_1/BatchNorm/moving_{name}" for name in ("mean", "variance")),
        *(f"net/conv/conv_2/{name}" for name in ("weights", "BatchNorm/beta")),
        *(f"net/conv/conv_2/BatchNorm/moving_{name}" for name in ("mean", "variance")),
        "net/logits/weights",
        "net/logits/biases",
    ]


def test_evaluates(program):
    assert program["once"]["accuracy"] > 0.9 and program["once"]["recall"] > 0.9
    assert program["loop"] == program["once"]


def test_restores_in_part(program):
    assert "net/logits/weights" not in program["restored"] and "net/conv/conv_1/weights" in program["restored"]
    assert program["kept"] and program["equal"]
    assert program["right"] > 0.9
    assert program["new"] == [5.0, 6.0]


def test_zero_initializer_is_for_the_first_time(program):
    assert (program["zeros"], program["zeros_again"]) == ([0.0, 0.0], "InvalidArgumentError")


def test_wrong_calls(program):
    assert program["errors"] == [
        "ValueError",
        "ValueError",
        "ValueError",
        "ValueError",
        "ValueError",
        "ValueError",
        "TypeError",
        "ValueError",
        "MissingSymbolError",
    ]
