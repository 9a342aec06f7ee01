"""``tf.contrib.memory_stats``: how much memory of a GPU is in use.

As in 1.15, a run that asks for what is in use where there is no such GPU ends in an ``InvalidArgumentError``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from ..runtime import private
from ..runtime import tf1 as tf

__all__ = ["BytesInUse", "BytesLimit", "MaxBytesInUse"]


def BytesInUse() -> Any:
    """An int64 scalar: the bytes in use on the GPU of the device scope, or on the first one."""
    return _memory(lambda device: _in_use(device)["current"], "BytesInUse")


def MaxBytesInUse() -> Any:
    """An int64 scalar: the most bytes that were in use on that GPU at once."""
    return _memory(lambda device: _in_use(device)["peak"], "MaxBytesInUse")


def BytesLimit() -> Any:
    """An int64 scalar: the bytes that there are for tensors on that GPU; -1 if there is none."""

    def limit(device: str) -> int:
        limits = {found.name: found.memory_limit for found in private.device_lib.list_local_devices()}
        return limits.get(f"/device:{device}", -1) if device.startswith("GPU") else -1

    return _memory(limit, "BytesLimit")


def _memory(read: Callable[[str], int], name: str) -> Any:
    """Return what ``read`` gives for a device such as "GPU:0", when the operation is run."""
    device = re.search(r"/device:(\w+:\d+)", tf.no_op().device)
    asked = device.group(1) if device else "GPU:0"
    with tf.device("/cpu:0"):
        memory = tf.py_func(lambda: read(asked), [], tf.int64, stateful=True, name=name)
        memory.set_shape([])
        return memory


def _in_use(device: str) -> dict[str, int]:
    found: dict[str, int] = tf.config.experimental.get_memory_info(device)
    return found
