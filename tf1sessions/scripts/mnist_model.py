"""``tensorflow.examples.tutorials.mnist.mnist``: the network of the first tutorials, two hidden layers on 28x28 pixels.

B is the size of a batch.
"""

from __future__ import annotations

import math
import sys
from typing import Any

__all__ = ["IMAGE_PIXELS", "IMAGE_SIZE", "NUM_CLASSES", "evaluation", "inference", "loss", "training"]

NUM_CLASSES = 10
IMAGE_SIZE = 28
IMAGE_PIXELS = IMAGE_SIZE * IMAGE_SIZE


def _tf() -> Any:
    return sys.modules["tensorflow"]


def _linear(x: Any, inputs: int, outputs: int) -> Any:
    tf = _tf()
    initial = tf.truncated_normal([inputs, outputs], stddev=1.0 / math.sqrt(float(inputs)))
    weights = tf.Variable(initial, name="weights")
    biases = tf.Variable(tf.zeros([outputs]), name="biases")
    return tf.matmul(x, weights) + biases


def inference(images: Any, hidden1_units: int, hidden2_units: int) -> Any:
    """Logits [B, 10] of images [B, 784]."""
    tf = _tf()
    with tf.name_scope("hidden1"):
        hidden1 = tf.nn.relu(_linear(images, IMAGE_PIXELS, hidden1_units))
    with tf.name_scope("hidden2"):
        hidden2 = tf.nn.relu(_linear(hidden1, hidden1_units, hidden2_units))
    with tf.name_scope("softmax_linear"):
        return _linear(hidden2, hidden2_units, NUM_CLASSES)


def loss(logits: Any, labels: Any) -> Any:
    """The mean cross entropy of logits [B, 10] and labels [B]."""
    tf = _tf()
    return tf.losses.sparse_softmax_cross_entropy(labels=tf.cast(labels, tf.int64), logits=logits)


def training(loss: Any, learning_rate: float) -> Any:
    """An operation that takes a step of gradient descent and counts it."""
    tf = _tf()
    tf.summary.scalar("loss", loss)
    global_step = tf.Variable(0, name="global_step", trainable=False)
    return tf.train.GradientDescentOptimizer(learning_rate).minimize(loss, global_step=global_step)


def evaluation(logits: Any, labels: Any) -> Any:
    """Count the right predictions of the batch: int32."""
    tf = _tf()
    return tf.reduce_sum(tf.cast(tf.nn.in_top_k(logits, labels, 1), tf.int32))
