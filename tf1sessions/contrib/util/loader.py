"""``tf.contrib.util.loader``: operations that come as a library."""

from __future__ import annotations

from typing import Any

from ...runtime import tf1 as tf

__all__ = ["load_op_library"]


def load_op_library(path: str) -> Any:
    """The module of the operations in a shared library, which is loaded: ``tf.load_op_library``.

    Args:
        path: The library.

    Raises:
        NotFoundError: It is not there, or cannot be loaded.
    """
    return tf.load_op_library(path)
