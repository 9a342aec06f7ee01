"""The optimizers that canned estimators take by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...runtime import tf1 as tf

__all__ = ["optimizer_instance"]

_CLASSES: dict[str, Callable[[float], Any]] = {
    "Adagrad": lambda rate: tf.train.AdagradOptimizer(rate),
    "Adam": lambda rate: tf.train.AdamOptimizer(rate),
    "Ftrl": lambda rate: tf.train.FtrlOptimizer(rate),
    "RMSProp": lambda rate: tf.train.RMSPropOptimizer(rate),
    "SGD": lambda rate: tf.train.GradientDescentOptimizer(rate),
}


def optimizer_instance(optimizer: Any, learning_rate: float | None = None) -> Any:
    """The optimizer that the argument of a canned estimator stands for.

    Args:
        optimizer: A ``tf.train.Optimizer``, a function that returns one, or "Adagrad", "Adam", "Ftrl", "RMSProp",
            "SGD".
        learning_rate: That of an optimizer given by name.

    Raises:
        ValueError: It is none of those.
    """
    if isinstance(optimizer, str):
        if optimizer not in _CLASSES:
            raise ValueError(f"Unsupported optimizer name: {optimizer}. Supported names are: {tuple(_CLASSES)}")
        if learning_rate is None:
            raise ValueError("learning_rate must be specified when opt is string.")
        return _CLASSES[optimizer](learning_rate)
    if callable(optimizer):
        optimizer = optimizer()
    if not isinstance(optimizer, tf.train.Optimizer):
        raise ValueError(f"The given object is not an Optimizer instance. Given: {optimizer}")
    return optimizer
