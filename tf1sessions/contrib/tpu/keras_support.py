"""Keras models on a TPU."""

from __future__ import annotations

from typing import Any

from .._tpu_only import needs_tpu

__all__ = ["TPUDistributionStrategy", "tpu_model"]

TPUDistributionStrategy: Any = needs_tpu("TPUDistributionStrategy", "tf.contrib.tpu")


def tpu_model(model: Any, strategy: Any = None) -> Any:
    """A copy of ``model`` for a TPU; it needs one.

    Args:
        model: A model of ``tf.keras``.
        strategy: A :class:`TPUDistributionStrategy`.

    Raises:
        UnsupportedEnvironmentError: There is no TPU.
    """
    del model
    return strategy or TPUDistributionStrategy()
