"""Calls of TensorFlow 1's queue functions, with their arguments by name."""

from __future__ import annotations

import ast

__all__ = ["BATCHES", "PRODUCERS", "READERS", "UNKNOWN", "is_literal", "tensors_of"]

#: What makes a queue of elements -> its parameters.
PRODUCERS = {
    "tf.train.string_input_producer": ("string_tensor", "num_epochs", "shuffle", "seed"),
    "tf.train.slice_input_producer": ("tensor_list", "num_epochs", "shuffle", "seed"),
}
#: What makes batches of elements -> its parameters.
BATCHES = {
    "tf.train.batch": (
        "tensors", "batch_size", "num_threads", "capacity", "enqueue_many", "shapes", "dynamic_pad",
        "allow_smaller_final_batch",
    ),
    "tf.train.shuffle_batch": (
        "tensors", "batch_size", "capacity", "min_after_dequeue", "num_threads", "seed", "enqueue_many", "shapes",
        "allow_smaller_final_batch",
    ),
}  # fmt: skip
#: What reads files -> its parameters.
READERS = {
    "tf.TextLineReader": ("skip_header_lines",),
    "tf.TFRecordReader": ("name", "options"),
    "tf.WholeFileReader": (),
    "tf.FixedLengthRecordReader": ("record_bytes", "header_bytes", "footer_bytes", "hop_bytes"),
}
#: Queues that this step leaves, so that their threads have to be started.
UNKNOWN = (
    "tf.train.batch_join", "tf.train.shuffle_batch_join", "tf.train.maybe_", "tf.train.input_producer",
    "tf.train.range_input_producer", "tf.train.QueueRunner", "tf.train.add_queue_runner", "tf.train.queue_runner.",
    "tf.IdentityReader", "tf.LMDBReader", "tf.FIFOQueue", "tf.queue.", "tf.RandomShuffleQueue", "tf.PaddingFIFOQueue",
    "tf.contrib.training.", "tf1sessions.contrib.training.", "tf1sessions.contrib.slim.dataset",
)  # fmt: skip


def tensors_of(call: ast.Call) -> ast.expr | None:
    """Return what a call of tf.train.batch or the like makes batches of."""
    named = [each.value for each in call.keywords if each.arg in ("tensors", "tensor_list")]
    return next(iter([*named, *call.args]), None)


def is_literal(node: ast.expr | None, *values: object) -> bool:
    """Whether an argument is not given, where ``None`` is one of the values, or is one of them as it is written."""
    if node is None:
        return None in values
    return isinstance(node, ast.Constant) and any(node.value is value or node.value == value for value in values)
