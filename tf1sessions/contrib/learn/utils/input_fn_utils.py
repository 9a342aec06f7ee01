"""Inputs of served models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ....runtime import tf1 as tf

__all__ = ["InputFnOps", "build_default_serving_input_fn", "build_parsing_serving_input_fn"]


class InputFnOps(NamedTuple):
    """Features and labels of a model, and the placeholders (by name) that they are made of."""

    features: Any
    labels: Any
    default_inputs: Any


def build_parsing_serving_input_fn(
    feature_spec: Mapping[str, Any], default_batch_size: int | None = None
) -> Callable[[], InputFnOps]:
    """An input of serialized ``tf.train.Example`` protos, parsed by ``feature_spec``.

    Args:
        feature_spec: What ``tf.parse_example`` takes.
        default_batch_size: The size of a batch; any without it.
    """

    def input_fn() -> InputFnOps:
        examples = tf.placeholder(tf.string, [default_batch_size], name="input_example_tensor")
        return InputFnOps(tf.parse_example(examples, dict(feature_spec)), None, {"examples": examples})

    return input_fn


def build_default_serving_input_fn(
    features: Mapping[str, Any], default_batch_size: int | None = None
) -> Callable[[], InputFnOps]:
    """An input of the features themselves.

    Args:
        features: Tensors by name, whose types and shapes [B, ...] count.
        default_batch_size: The size of a batch; any without it.
    """

    def input_fn() -> InputFnOps:
        placeholders = {
            name: tf.placeholder(
                tensor.dtype, tf.TensorShape([default_batch_size, *tensor.shape[1:]]), name=tensor.op.name
            )
            for name, tensor in features.items()
        }
        return InputFnOps(placeholders, None, placeholders)

    return input_fn
