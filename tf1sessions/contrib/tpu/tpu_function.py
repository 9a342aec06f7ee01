"""The number of shards that the graph is built for: None outside :func:`tpu_shard_context`."""

from __future__ import annotations

from typing import Any

from ...runtime import private

__all__ = ["get_tpu_context", "on_device_training_loop", "tpu_shard_context"]

get_tpu_context: Any = private.tpu_function.get_tpu_context
on_device_training_loop: Any = private.tpu_function.on_device_training_loop
tpu_shard_context: Any = private.tpu_function.tpu_shard_context
