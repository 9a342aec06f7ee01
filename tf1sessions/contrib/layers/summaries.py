"""Summaries of tensors, of activations, and of all that is in a collection."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from ...runtime import tf1 as tf

__all__ = [
    "summarize_activation",
    "summarize_activations",
    "summarize_biases",
    "summarize_collection",
    "summarize_tensor",
    "summarize_tensors",
    "summarize_variables",
    "summarize_weights",
]


def summarize_tensor(tensor: Any, tag: str | None = None) -> Any:
    """A scalar summary of a scalar, else a histogram, named ``tag`` or after the tensor's operation."""
    name = tag or f"{tensor.op.name}_summary"
    return tf.summary.scalar(name, tensor) if tensor.shape.rank == 0 else tf.summary.histogram(name, tensor)


def summarize_activation(op: Any) -> Any:
    """A histogram of the tensor ``op``; of a rectifier's output also how much of it is at its limits."""
    kind, name = op.op.type, op.op.name
    if kind in ("Relu", "Softplus", "Relu6"):
        zeros = tf.reduce_mean(tf.cast(tf.less(op, tf.cast(1e-8, op.dtype)), tf.float32))
        tf.summary.scalar(f"{name}/zeros", zeros)
    if kind == "Relu6":
        sixes = tf.reduce_mean(tf.cast(tf.greater(op, tf.cast(6 - 1e-8, op.dtype)), tf.float32))
        tf.summary.scalar(f"{name}/sixes", sixes)
    return tf.summary.histogram(f"{name}/activation", op)


def summarize_tensors(tensors: Iterable[Any], summarizer: Callable[[Any], Any] = summarize_tensor) -> list[Any]:
    """The summaries that ``summarizer`` gives of ``tensors``."""
    return [summarizer(tensor) for tensor in tensors]


def summarize_collection(
    collection: str, name_filter: str | None = None, summarizer: Callable[[Any], Any] = summarize_tensor
) -> list[Any]:
    """The summaries of a collection's tensors whose operation's name starts with the regular expression given."""
    chosen = [
        tensor
        for tensor in tf.get_collection(collection)
        if name_filter is None or re.match(name_filter, tensor.op.name)
    ]
    return summarize_tensors(chosen, summarizer)


def summarize_activations(
    name_filter: str | None = None, summarizer: Callable[[Any], Any] = summarize_activation
) -> list[Any]:
    """:func:`summarize_collection` of ACTIVATIONS."""
    return summarize_collection(tf.GraphKeys.ACTIVATIONS, name_filter, summarizer)


def summarize_biases(name_filter: str | None = None, summarizer: Callable[[Any], Any] = summarize_tensor) -> list[Any]:
    """:func:`summarize_collection` of BIASES."""
    return summarize_collection(tf.GraphKeys.BIASES, name_filter, summarizer)


def summarize_variables(
    name_filter: str | None = None, summarizer: Callable[[Any], Any] = summarize_tensor
) -> list[Any]:
    """:func:`summarize_collection` of GLOBAL_VARIABLES."""
    return summarize_collection(tf.GraphKeys.GLOBAL_VARIABLES, name_filter, summarizer)


def summarize_weights(name_filter: str | None = None, summarizer: Callable[[Any], Any] = summarize_tensor) -> list[Any]:
    """:func:`summarize_collection` of WEIGHTS."""
    return summarize_collection(tf.GraphKeys.WEIGHTS, name_filter, summarizer)
