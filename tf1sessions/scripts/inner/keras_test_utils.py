"""``keras.utils.test_utils`` of Keras 2: data and checks for tests of layers."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["get_test_data", "keras_test", "layer_test"]


def get_test_data(
    num_train: int = 1000,
    num_test: int = 500,
    input_shape: tuple[int, ...] = (10,),
    output_shape: tuple[int, ...] = (2,),
    classification: bool = True,
    num_classes: int = 2,
) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """Draw samples around numbers that are their classes or targets, from NumPy's generator.

    Args:
        num_train: The number of samples to train with.
        num_test: The number of samples to test with.
        input_shape: The shape of a sample.
        output_shape: The shape of a target, where there are no classes.
        classification: Whether targets are classes.
        num_classes: The number of classes.

    Returns:
        (x, y) to train with, and (x, y) to test with.
    """
    count = num_train + num_test
    x = np.zeros((count, *input_shape), np.float32)
    centers: Any = np.random.randint(0, num_classes, size=(count,)) if classification else np.random.random((count,))
    y = centers if classification else np.zeros((count, *output_shape), np.float32)
    for at, center in enumerate(centers):
        x[at] = np.random.normal(loc=center, scale=0.7, size=input_shape)
        if not classification:
            y[at] = np.random.normal(loc=center, scale=0.7, size=output_shape)
    return (x[:num_train], y[:num_train]), (x[num_train:], y[num_train:])


def layer_test(layer_cls: Any, kwargs: Any = None, *args: Any, fixed_batch_size: bool = False, **named: Any) -> Any:
    """Check a layer with one input and one output: its shapes, its configuration, a step of training.

    Args:
        layer_cls: The class of the layer.
        kwargs: Its arguments.
        args: ``input_shape``, ``input_dtype``, ``input_data``, ``expected_output``, ``expected_output_dtype``.
        fixed_batch_size: Does nothing: batches have any size.
        named: The same by their names.

    Returns:
        What the layer gives for the input.
    """
    inner: Any = importlib.import_module("tf_keras.src.testing_infra.test_utils")
    named.setdefault("custom_objects", {layer_cls.__name__: layer_cls})
    return inner.layer_test(layer_cls, kwargs or {}, *args, **named)


def keras_test(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the test with a fresh graph after it."""

    @functools.wraps(function)
    def tested(*args: Any, **named: Any) -> Any:
        result = function(*args, **named)
        importlib.import_module("tf_keras.api._v1.keras").backend.clear_session()
        return result

    return tested
