"""A graph that trains, as old programs have it, for checks of porting.distribute: alone, and under strategies."""

from __future__ import annotations

import os
from typing import Any

os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")

import numpy as np
import tensorflow as tf

from tf1sessions import porting

v1 = tf.compat.v1
v1.disable_v2_behavior()  # as a ported program has it
v1.enable_eager_execution()

#: The last batches do not divide by two.
SIZES = [8] * 5 + [7] * 3


class Program:
    """What ``port --to functions`` makes of a program: a graph, and functions of its requests.

    A sparse gradient, gradients that are clipped by their norm, a rate that decays, averages after the step.
    """

    def __init__(self) -> None:
        self.legacy = porting.LegacyGraph()
        with self.legacy:
            self.x, self.y = v1.placeholder(tf.float32, [None, 8]), v1.placeholder(tf.float32, [None, 1])
            self.words = v1.placeholder(tf.int32, [None, 3], name="words")
            table = v1.get_variable("table", [20, 4], initializer=v1.truncated_normal_initializer(seed=1))
            value = v1.placeholder(tf.float32, [])
            self.fill = self.legacy.function(table.assign(tf.fill([20, 4], value)), [value])
            known = tf.reduce_mean(tf.nn.embedding_lookup(table, self.words), 1)
            hidden = self._dense("hidden", tf.concat([self.x, known], 1), 16)
            self.out = self._dense("out", tf.nn.relu(hidden), 1)
            self.loss = tf.reduce_mean((self.out - self.y) ** 2) + 1e-3 * tf.nn.l2_loss(table)
            self.step_number = v1.train.get_or_create_global_step()
            optimizer = v1.train.AdamOptimizer(v1.train.exponential_decay(0.05, self.step_number, 3, 0.9))
            gradients, variables = zip(*optimizer.compute_gradients(self.loss), strict=True)
            gradients, self.norm = tf.clip_by_global_norm(gradients, 0.5)
            applied = optimizer.apply_gradients(zip(gradients, variables, strict=True), self.step_number)
            with tf.control_dependencies([applied]):
                self.train_op = v1.train.ExponentialMovingAverage(0.9).apply(v1.trainable_variables())
            self.saver = porting.LegacySaver()
            self.initialize = self.legacy.function(v1.global_variables_initializer())
            feeds = [self.x, self.y, self.words]
            self.step = self.legacy.function([self.train_op, self.loss, self.norm, self.out], feeds)
            self.predict = self.legacy.function([self.out, self.loss], feeds)

    @staticmethod
    def _dense(name: str, x: Any, units: int) -> Any:
        shape = [x.shape.as_list()[1], units]
        kernel = v1.get_variable(f"{name}/kernel", shape, initializer=v1.truncated_normal_initializer(0, 0.3, seed=2))
        return tf.matmul(x, kernel) + v1.get_variable(f"{name}/bias", [units], initializer=v1.zeros_initializer())

    def curve(self, sizes: list[int] = SIZES, first: int = 0) -> list[Any]:
        """Train, and give losses, norms and rows of each step."""
        found = []
        for number, size in enumerate(sizes, first):
            _, loss, norm, rows = self.step(*batch(number, size))
            assert rows.shape == (size, 1)
            found.append(np.concatenate([[loss, norm], rows[:, 0]]))
        return found

    def values(self) -> dict[str, Any]:
        return self.legacy.values(self.legacy.variables)


def small() -> porting.GraphModule:
    """A module with a train step."""

    def build(x: Any) -> Any:
        w = v1.get_variable("w", [2], initializer=v1.ones_initializer())
        loss = tf.reduce_mean((tf.reduce_sum(x * w, 1) - 1.0) ** 2)
        v1.train.AdamOptimizer(0.1).minimize(loss)
        return {"loss": loss}

    return porting.function(build, inputs={"x": tf.TensorSpec([None, 2], tf.float32)}, train=True)


def batch(number: int, size: int) -> tuple[Any, ...]:
    random = np.random.RandomState(number)
    x = random.randn(size, 8).astype(np.float32)
    return x, x[:, :1] * x[:, 1:2], random.randint(0, 20, (size, 3))


def assert_close(found: Any, expected: Any, tolerance: float = 2e-6) -> None:
    """The same structure of numbers, but for the order in which sums are made."""
    tf.nest.map_structure(
        lambda one, other: np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance), found, expected
    )
