"""The step ``native``: a request that fetches what has no array stays, and one that fetches a dense tensor does not."""

from __future__ import annotations

import pytest
from porting_support import after, remarks

HEAD = """import tensorflow as tf
x = tf.placeholder(tf.float32, [2, 2])
w = tf.Variable([[1.0], [2.0]])
sp = tf.SparseTensor(indices=[[0, 1], [1, 0]], values=[1., 2.], dense_shape=[2, 2])
def double(t):
    return t * 2.0
"""
EMBEDDING = """import tensorflow as tf
x = tf.placeholder(tf.int32, [None])
emb = tf.Variable([[1.0], [2.0]])
w = tf.Variable(2.0)
loss = tf.reduce_sum(tf.nn.embedding_lookup(emb, x)) * w
optimizer = tf.train.GradientDescentOptimizer(0.1)
"""
RUN = """
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run(FETCHED, {x: [[0., 1.], [2., 0.]]}))
"""
CTC = "d, p = tf.nn.ctc_greedy_decoder(tf.reshape(x, [2, 1, 2]), [2])"
SPARSE = [
    ("", "sp"),
    ("", "[x, sp]"),
    ("y = sp * 2.0", "y"),
    ("y = tf.cast(tf.identity(sp), tf.int32)", "y"),
    ("y = double(sp)", "y"),
    ("y = [x, sp]", "y"),
    ("y = tf.sparse_transpose(sp)", "y"),
    ("y = tf.sparse_add(sp, sp)", "y"),
    ("y = tf.sparse_split(sp_input=sp, num_split=2, axis=0)", "y[0]"),
    ("y = tf.string_split(['a b'])", "[x, y]"),
    (CTC, "[d, p]"),
    (CTC, "d[0]"),
    (CTC.replace("d, p", "y"), "y[0][0]"),
    ("y = []\nfor i in range(2):\n    y.append(sp)", "y"),
    ("y = {'a': sp, 'b': x}", "y"),
]
DENSE = [
    ("", "x"),
    ("y = tf.sparse_tensor_dense_matmul(sp, w)", "y"),
    ("y = tf.sparse_tensor_to_dense(sp)", "y"),
    ("", "[sp.values, sp.indices]"),
    ("y = tf.sparse_add(sp, x)", "y"),
    ("y = tf.sparse_reduce_sum(sp)", "y"),
    ("y = double(x)", "y"),
    ("y = sp\ny = tf.sparse_tensor_to_dense(y)", "y"),
    (CTC, "p"),
    (f"{CTC}\ny = tf.sparse_tensor_to_dense(d[0])", "y"),
]
SLICES = [
    ("g = tf.gradients(loss, [emb])[0]", "g"),
    ("g, h = tf.gradients(loss, [emb, w])", "[loss, g]"),
    ("g = tf.gradients(loss, tf.trainable_variables())", "g"),
    ("vs = [emb, w]\ng = tf.gradients(loss, vs)", "g"),
    ("g, n = tf.clip_by_global_norm(tf.gradients(loss, [emb]), 1.0)", "g"),
]
DENSE_GRADIENTS = [
    ("g = tf.gradients(loss, [w])[0]", "g"),
    ("g = tf.gradients(loss, [emb])\ng = tf.convert_to_tensor(g[0])", "g"),
    ("g = tf.gradients(loss, [emb])[0] * 2.0", "g"),
    ("g, n = tf.clip_by_global_norm(tf.gradients(loss, [emb]), 1.0)", "n"),
    ("train = optimizer.minimize(loss)", "[train, loss]"),
]


def program(head: str, build: str, fetched: str) -> str:
    run = RUN if head is HEAD else RUN.replace("[[0., 1.], [2., 0.]]", "[1, 1]")
    return f"{head}{build}{run.replace('FETCHED', fetched)}"


@pytest.mark.parametrize(("build", "fetched"), SPARSE)
def test_a_sparse_tensor_that_is_fetched_stays(build: str, fetched: str):
    (remark,) = remarks(program(HEAD, build, fetched), "native")
    assert "A request may fetch a sparse tensor" in remark


@pytest.mark.parametrize(("build", "fetched"), SLICES)
def test_a_gradient_of_some_rows_that_is_fetched_stays(build: str, fetched: str):
    (remark,) = remarks(program(EMBEDDING, build, fetched), "native")
    assert "A request may fetch the gradient of an embedding" in remark


@pytest.mark.parametrize(("build", "fetched"), DENSE)
def test_a_dense_tensor_of_sparse_ones_is_fetched(build: str, fetched: str):
    assert "LegacyGraph" not in after(program(HEAD, build, fetched), "native")


@pytest.mark.parametrize(("build", "fetched"), DENSE_GRADIENTS)
def test_a_gradient_that_has_all_rows_is_fetched(build: str, fetched: str):
    assert "LegacyGraph" not in after(program(EMBEDDING, build, fetched), "native")
