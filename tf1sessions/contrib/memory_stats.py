"""``tf.contrib.memory_stats``: how much memory of a GPU is in use.

As in 1.15, a run where there is no such GPU ends in an ``InvalidArgumentError``.
"""

from __future__ import annotations

import re
from typing import Any

from ..runtime import tf1 as tf

__all__ = ["BytesInUse", "MaxBytesInUse"]


def BytesInUse() -> Any:
    """An int64 scalar: the bytes in use on the GPU of the device scope, or on the first one."""
    return _memory("current", "BytesInUse")


def MaxBytesInUse() -> Any:
    """An int64 scalar: the most bytes that were in use on that GPU at once."""
    return _memory("peak", "MaxBytesInUse")


def _memory(kind: str, name: str) -> Any:
    device = re.search(r"/device:(\w+:\d+)", tf.no_op().device)
    asked = device.group(1) if device else "GPU:0"

    def read() -> int:
        found: int = tf.config.experimental.get_memory_info(asked)[kind]
        return found

    with tf.device("/cpu:0"):
        memory = tf.py_func(read, [], tf.int64, stateful=True, name=name)
        memory.set_shape([])
        return memory
