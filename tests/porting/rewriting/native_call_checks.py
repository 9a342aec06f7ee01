"""Checks that calls compute the same in compat.v1 and in TensorFlow 2. Run by test_native_calls.py in one process."""

from __future__ import annotations

import ast
import contextlib
import os
from typing import Any

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import numpy as np
import tensorflow as tf

from tf1sessions.porting import ordered_inputs
from tf1sessions.porting.rewriting import native_run
from tf1sessions.porting.rewriting.native.calls import Native, NotNative, native_call
from tf1sessions.source.uses import canonical

v1 = tf.compat.v1
RNG = np.random.RandomState(0)
EXAMPLE = tf.train.Example()
EXAMPLE.features.feature["n"].int64_list.value.extend([3, 4])
#: What the calls are given.
GIVEN: dict[str, Any] = {
    "x": RNG.randn(4, 6).astype(np.float32),
    "image": RNG.randn(2, 6, 6, 3).astype(np.float32),
    "line": RNG.randn(2, 8, 3).astype(np.float32),
    "volume": RNG.randn(1, 4, 4, 4, 2).astype(np.float32),
    "y": RNG.rand(4, 6).astype(np.float32),
    "labels": np.array([1, 0, 3, 5]),
    "w": RNG.randn(6, 2).astype(np.float32),
    "b": RNG.randn(2).astype(np.float32),
    "step": np.int64(130),
    "table": RNG.randn(5, 2).astype(np.float32),
    "lines": np.array(["1,2.5", "3,4.5"]),
    "raw": np.array([b"\x01\x02\x03\x04", b"\x05\x06\x07\x08"]),
    "examples": np.array([EXAMPLE.SerializeToString()] * 2),
}
#: Calls of TensorFlow 1, by their names in compat.v1.
CALLS = """
layers.dense(x, 3)
layers.dense(x, 3, tf.nn.relu, use_bias=False)
layers.dense(inputs=x, units=3, activation=tf.nn.tanh, name='d')
layers.conv1d(line, 4, 3, padding='same')
layers.conv2d(image, 4, [3, 3], (2, 2), 'same', activation=tf.nn.relu)
layers.conv2d(image, filters=2, kernel_size=3, strides=2)
layers.conv3d(volume, 2, 2)
layers.conv2d_transpose(image, 2, 3, 2, 'same')
layers.max_pooling1d(line, 2, 2)
layers.max_pooling2d(image, [2, 2], 2, padding='same')
layers.max_pooling3d(volume, 2, 2)
layers.average_pooling1d(line, 2, 2)
layers.average_pooling2d(image, pool_size=2, strides=2)
layers.average_pooling3d(volume, 2, 2)
layers.flatten(image)
layers.batch_normalization(x, momentum=0.8, epsilon=1e-2)
layers.batch_normalization(x, training=True, scale=False)
layers.dropout(x, 0.4, training=True)
layers.dropout(x)
losses.mean_squared_error(y, x)
losses.mean_squared_error(labels=y, predictions=x)
losses.absolute_difference(y, x)
losses.softmax_cross_entropy(y, x)
losses.sparse_softmax_cross_entropy(labels, logits=x)
losses.sigmoid_cross_entropy(y, x)
train.exponential_decay(0.5, step, 100, 0.9)
train.exponential_decay(0.5, step, 100, 0.9, staircase=True)
train.inverse_time_decay(0.5, step, 100, 0.9)
train.polynomial_decay(0.5, step, 200)
train.polynomial_decay(0.5, step, decay_steps=200, end_learning_rate=0.1, power=2.0)
train.piecewise_constant(step, [100, 200], [1.0, 0.5, 0.1])
train.cosine_decay(0.5, step, 200, alpha=0.1)
constant([1.0, 2.0])
constant(3, tf.float32, [2, 2])
shape(x)
size(x, out_type=tf.int64)
ones_like(x)
ones_like(tensor=x, dtype=tf.int32)
norm(x, axis=1)
norm(x, ord=1)
scan(lambda a, b: a + b, x)
map_fn(lambda a: a * 2, x)
foldl(lambda a, b: a + b, x)
cond(tf.reduce_sum(x) > 0, lambda: x, lambda: y)
while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * 2), [0, x])
decode_csv(lines, [[0], [0.0]])
decode_raw(raw, tf.uint8)
decode_raw(raw, tf.int16, little_endian=False)
parse_single_example(examples[0], {"n": tf.io.FixedLenFeature([2], tf.int64)})
parse_example(examples, features={"n": tf.io.FixedLenFeature([2], tf.int64)})
nn.embedding_lookup(table, labels % 5)
nn.in_top_k(x, labels, 2)
nn.xw_plus_b(x, w, b)
nn.dropout(x, 0.7)
nn.dropout(x, keep_prob=0.7)
nn.moments(x, [0])
nn.moments(x, axes=[1], keep_dims=True)
nn.max_pool(image, [1, 2, 2, 1], [1, 2, 2, 1], 'SAME')
nn.max_pool(image, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding='VALID')
nn.avg_pool(image, [1, 2, 2, 1], [1, 1, 1, 1], padding='SAME')
nn.softmax_cross_entropy_with_logits_v2(labels=y, logits=x)
nn.softmax_cross_entropy_with_logits(logits=x, labels=y)
nn.weighted_cross_entropy_with_logits(y, x, 2.0)
nn.weighted_cross_entropy_with_logits(targets=y, logits=x, pos_weight=2.0)
gather(table, labels % 5)
gather(x, [2, 0], axis=1)
gather(x, indices=[[1], [0], [3], [2]], batch_dims=1)
where(x > 0)
convert_to_tensor(x)
convert_to_tensor(x, tf.float32, preferred_dtype=tf.float64)
to_float(labels)
to_int32(x)
to_int64(x)
random_normal([2, 3], stddev=2.0)
""".split("\n")[1:-1]
INITIALIZERS = """
zeros_initializer()
ones_initializer()
constant_initializer(0.3)
random_normal_initializer()
random_normal_initializer(1.0, stddev=0.2)
truncated_normal_initializer(stddev=0.1)
random_uniform_initializer(-0.2, 0.2)
random_uniform_initializer()
orthogonal_initializer()
glorot_uniform_initializer()
glorot_normal_initializer()
variance_scaling_initializer(2.0)
""".split("\n")[1:-1]
OPTIMIZERS = """
train.GradientDescentOptimizer(0.1)
train.MomentumOptimizer(0.1, 0.9)
train.MomentumOptimizer(learning_rate=0.1, momentum=0.9, use_nesterov=True)
train.AdamOptimizer()
train.AdamOptimizer(0.01, 0.8, beta2=0.99)
train.AdagradOptimizer(0.1)
train.AdadeltaOptimizer(0.5)
train.AdadeltaOptimizer(0.5, rho=0.9, epsilon=1e-6)
train.RMSPropOptimizer(0.01, decay=0.8, momentum=0.5)
train.FtrlOptimizer(0.1)
""".split("\n")[1:-1]


def written(text: str) -> Native:
    """A call as it becomes; with what makes an object in place of that."""
    call = ast.parse(f"tf.compat.v1.{text}", mode="eval").body
    assert isinstance(call, ast.Call)
    symbol = canonical(f"tensorflow{ast.unparse(call.func)[2:]}")
    found = native_call(call, symbol, ast.unparse, "tf", kept=False)
    assert isinstance(found, Native), (text, found.reason if isinstance(found, NotNative) else found)
    assert ".compat.v1." not in found.used
    return found


def evaluated(text: str, **names: Any) -> Any:
    return eval(text, {"tf": tf, **names})


def in_session(text: str) -> tuple[list[Any], dict[str, Any]]:
    """The values of a call in a session, and of the variables that it makes: by their names, in their order."""
    with tf.Graph().as_default():
        fed = {name: v1.placeholder_with_default(value, np.shape(value)) for name, value in GIVEN.items()}
        result = tf.nest.flatten(evaluated(f"tf.compat.v1.{text}", **fed))
        updates = v1.get_collection(v1.GraphKeys.UPDATE_OPS)
        variables = v1.global_variables()
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            before = dict(zip([v.op.name for v in variables], session.run(variables), strict=True))
            values = session.run(result)
            session.run(updates)
            return [*values, *session.run(variables)], before


def as_native(native: Native, variables: dict[str, Any]) -> list[Any]:
    """The same, of what the call becomes."""
    v1.keras.backend.clear_session()
    values = native_run.GivenValues(variables)
    with contextlib.ExitStack() as stack:
        values.watch(stack)
        made = evaluated(native.made) if native.made is not None else None
        names = {name: tf.constant(value) for name, value in GIVEN.items()}
        result = tf.function(lambda: evaluated(native.used.replace("{made}", "made"), made=made, **names))()
    last = values.last()
    assert last.keys() == variables.keys(), (last.keys(), variables.keys())
    return [*(each.numpy() for each in tf.nest.flatten(result)), *(last[name] for name in variables)]


def same(text: str, one: list[Any], other: list[Any]) -> str:
    if len(one) != len(other):
        return f"{text}: {len(one)} values and {len(other)}"
    for a, b in zip(one, other, strict=True):
        if np.shape(a) != np.shape(b) or not np.allclose(a, b, rtol=1e-5, atol=1e-6):
            return f"{text}: {a} is not {b}"
    return ""


def check_calls() -> None:
    with contextlib.ExitStack() as stack:
        ordered_inputs.draw_by_shape(stack)
        failed = []
        for text in CALLS:
            before, variables = in_session(text)
            failed.append(same(text, before, as_native(written(text), variables)))
    assert not any(failed), "\n".join(filter(None, failed))


def check_initializers() -> None:
    """By which numbers are drawn is compared where the shape decides them: else by what they are drawn from."""
    with contextlib.ExitStack() as stack:
        ordered_inputs.draw_by_shape(stack)
        failed = []
        for text in INITIALIZERS:
            with tf.Graph().as_default(), v1.Session() as session:
                before = session.run(evaluated(f"tf.compat.v1.{text}")([40, 30], dtype=tf.float32))
            after = evaluated(written(text).used)([40, 30]).numpy()
            if not np.allclose([before.mean(), before.std()], [after.mean(), after.std()], rtol=0.02, atol=2e-3):
                failed.append(f"{text}: {before.mean(), before.std()} is not {after.mean(), after.std()}")
            if not np.allclose([before.min(), before.max()], [after.min(), after.max()], rtol=0.1, atol=2e-3):
                failed.append(f"{text}: {before.min(), before.max()} is not {after.min(), after.max()}")
    assert not failed, "\n".join(failed)


def check_optimizers() -> None:
    start, target = RNG.randn(5).astype(np.float32), RNG.randn(5).astype(np.float32)
    failed = []
    for text in OPTIMIZERS:
        with tf.Graph().as_default():
            w = v1.Variable(start)
            train = evaluated(f"tf.compat.v1.{text}").minimize(tf.reduce_sum(tf.square(w - target)))
            with v1.Session() as session:
                session.run(v1.global_variables_initializer())
                for _ in range(6):
                    session.run(train)
                before = session.run(w)
        call = ast.parse(f"tf.compat.v1.{text}", mode="eval").body
        assert isinstance(call, ast.Call)
        found = native_call(call, canonical(f"tensorflow{ast.unparse(call.func)[2:]}"), ast.unparse, "tf", kept=False)
        assert isinstance(found, Native) and found.made is not None
        variable, optimizer = tf.Variable(start), evaluated(found.made)
        for _ in range(6):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(tf.square(variable - target))
            optimizer.apply_gradients([(tape.gradient(loss, variable), variable)])
        failed.append(same(text, [before], [variable.numpy()]))
    assert not any(failed), "\n".join(filter(None, failed))
