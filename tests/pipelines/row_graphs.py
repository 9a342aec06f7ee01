"""Random graphs of operations that keep rows apart and of such that mix them, and a check of what was found of them."""

from __future__ import annotations

import dataclasses
import random
from typing import Any

import numpy as np

import tf1sessions as t1
from tf1sessions.pipelines.row_independence import RowStates
from tf1sessions.pipelines.row_states import RowsAlong

INNER = 6  # columns of the input


def keep(tf: Any, x: Any, rng: random.Random) -> Any:
    """An operation on [rows, 6] that keeps rows apart, in one of many ways."""
    constant = tf.constant(np.random.RandomState(rng.randrange(99)).uniform(-1, 1, [INNER, INNER]).astype("f"))
    rows = tf.shape(x)[0]
    return rng.choice(
        [
            lambda: tf.tanh(x) * 0.5 + 1.0,
            lambda: tf.matmul(x, constant),
            lambda: x - tf.reduce_mean(x, 1, keepdims=True),
            lambda: tf.nn.softmax(x),
            lambda: tf.cumsum(x, axis=1),
            lambda: tf.reverse(x, [1]),
            lambda: tf.nn.top_k(x, INNER).values,
            lambda: tf.transpose(tf.matmul(constant, x, transpose_b=True)),
            lambda: tf.reshape(tf.matmul(tf.reshape(x, [-1, 3]), constant[:3, :3]), [-1, INNER]),
            lambda: tf.reshape(tf.reshape(x, [rows, 2, 3])[:, ::-1], [-1, INNER]),
            lambda: tf.reshape(tf.transpose(tf.reshape(x, [rows, 2, 3]), [0, 2, 1]), [rows, INNER]),
            lambda: tf.concat([x[:, 2:], x[:, :2]], 1),
            lambda: tf.stack(tf.unstack(x, axis=1)[::-1], axis=1),
            lambda: x + tf.zeros([rows, 1]),
            lambda: tf.concat([tf.fill([rows, 2], 0.5), x[:, 2:]], axis=1),
            lambda: tf.einsum("ni,ij->nj", x, constant),
            lambda: tf.where(x > 0.0, x, tf.zeros_like(x)),
            lambda: tf.gather(x, [5, 4, 3, 2, 1, 0], axis=1),
            lambda: tf.gather(constant, tf.argmax(x, 1)),
            lambda: tf.one_hot(tf.argmax(x, 1), INNER) + x,
            lambda: (
                tf.squeeze(tf.matmul(tf.expand_dims(x, 1), tf.expand_dims(constant, 0) + tf.zeros([1, 1, 1])), [1])
                if rng.random() < 0.5
                else tf.reshape(
                    tf.matmul(tf.reshape(x, [rows, 3, 2]), tf.reshape(x, [rows, 2, 3]))[:, :2], [rows, INNER]
                )
            ),
            lambda: tf.reshape(
                tf.nn.conv2d(tf.reshape(x, [-1, 2, 3, 1]), tf.reshape(constant[:2, :2], [2, 2, 1, 1]), 1, "SAME"),
                [-1, INNER],
            ),
            lambda: tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, tf.tanh(tf.matmul(y, constant))), [0, x])[1],
            lambda: tf.cond(tf.constant(rng.random()) > 0.5, lambda: x * 2.0, lambda: tf.matmul(x, constant)),
            lambda: tf.transpose(
                tf.scan(lambda a, b: a * 0.5 + b, tf.transpose(tf.reshape(x, [rows, INNER])), initializer=x[:, 0])
            ),
        ]
    )()


def mix(tf: Any, x: Any, rng: random.Random) -> Any:
    """An operation on [rows, 6] that mixes rows, but keeps their number."""
    rows = tf.shape(x)[0]
    count = tf.cast(rows, tf.float32)
    return rng.choice(
        [
            lambda: tf.reverse(x, [0]),
            lambda: tf.sort(x, axis=0),
            lambda: tf.cumsum(x, axis=0),
            lambda: tf.nn.softmax(x, axis=0),
            lambda: x - tf.reduce_mean(x, 0),
            lambda: x / tf.reduce_sum(x * x),
            lambda: tf.random.shuffle(x) if rng.random() < 0.0 else tf.roll(x, 1, 0),
            lambda: tf.transpose(tf.reshape(tf.transpose(x), [INNER, rows])[::-1, ::-1]),
            lambda: tf.reshape(tf.transpose(x), [-1, INNER]),
            lambda: tf.reshape(tf.reverse(tf.reshape(x, [-1, 3]), [0]), [-1, INNER]),
            lambda: x * count,
            lambda: x + tf.cast(tf.expand_dims(tf.range(rows), 1), tf.float32),
            lambda: tf.nn.fused_batch_norm(tf.reshape(x, [-1, 1, 1, INNER]), tf.ones([INNER]), tf.zeros([INNER]))[0][
                :, 0, 0
            ],
            lambda: tf.matmul(tf.nn.softmax(tf.matmul(x, x, transpose_b=True)), x),
            lambda: tf.gather(x, tf.range(rows)[::-1]),
            lambda: tf.concat([x[1:], x[:1]], 0),
            lambda: tf.tile(x[:1], [rows, 1]),
            lambda: x[:, :1] * 0.0 + x[0],
            lambda: tf.while_loop(lambda i, y: i < rows, lambda i, y: (i + 1, y * 1.5), [0, x])[1],
            lambda: tf.cond(tf.reduce_sum(x) > 0.0, lambda: x, lambda: -x),
            lambda: tf.einsum("ni,mi->mi", x, x),
            lambda: x + tf.where(tf.reduce_max(x) > 1.0, tf.ones([INNER]), tf.zeros([INNER])),
        ]
    )()


@dataclasses.dataclass(frozen=True)
class Found:
    """What was found of a random graph.

    Attributes:
        operations: The types of the operations of the graph.
        passed: Whether the analysis takes its rows for independent.
        independent: Whether they are, computed alone, together and permuted.
    """

    operations: tuple[str, ...]
    passed: bool
    independent: bool


def look(seed: int) -> Found:
    """Makes a random graph, and computes rows alone, together and permuted."""
    tf, rng = t1.tf1, random.Random(seed)
    with t1.GraphSession() as gs:
        x = y = tf.placeholder(tf.float32, [None, INNER])
        for _ in range(rng.randrange(1, 6)):
            y = mix(tf, y, rng) if rng.random() < 0.12 else keep(tf, y, rng)
        passed = RowStates(gs.graph, [(x, RowsAlong(0))]).of(y) == RowsAlong(0)
        rows = np.random.RandomState(seed).uniform(-2, 2, [5, INNER]).astype("f")
        run = gs.compile(feeds=[x], fetches=y)
        order = [3, 0, 4, 2, 1]
        together = run(rows)
        alone = np.concatenate([run(rows[row : row + 1]) for row in range(5)])
        few, permuted = run(rows[1:3]), run(rows[order])
        same = (
            together.shape == alone.shape
            and np.allclose(together, alone, 1e-3, 1e-4, equal_nan=True)
            and np.allclose(together[1:3], few, 1e-3, 1e-4, equal_nan=True)
            and np.allclose(together[order], permuted, 1e-3, 1e-4, equal_nan=True)
        )
        return Found(tuple(sorted({operation.type for operation in gs.graph.get_operations()})), passed, bool(same))
