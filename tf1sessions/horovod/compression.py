"""``horovod.tensorflow.compression``: how gradients travel."""

from __future__ import annotations

from typing import Any

from ..runtime import tf1 as tf

__all__ = ["Compression"]


class _Nothing:
    """Tensors as they are."""

    @staticmethod
    def compress(tensor: Any) -> tuple[Any, Any]:
        """Return the tensor that travels, and what :meth:`decompress` needs."""
        return tensor, None

    @staticmethod
    def decompress(tensor: Any, context: Any) -> Any:
        """Return the tensor as it was, with the values that came."""
        return tensor


class _Half(_Nothing):
    """Tensors as float16, if they are of a wider type of floating point."""

    @staticmethod
    def compress(tensor: Any) -> tuple[Any, Any]:
        return (tf.cast(tensor, tf.float16), tensor.dtype) if tensor.dtype.is_floating else (tensor, None)

    @staticmethod
    def decompress(tensor: Any, context: Any) -> Any:
        return tensor if context is None else tf.cast(tensor, context)


class Compression:
    """The ways in which gradients can travel."""

    none = _Nothing
    fp16 = _Half
