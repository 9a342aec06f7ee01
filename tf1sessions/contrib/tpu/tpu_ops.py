"""Operations that only a TPU runs. Without one they can be part of a graph, and not be run."""

from __future__ import annotations

from typing import Any

from ...runtime import private
from ...runtime import tf1 as tf

__all__ = [
    "cross_replica_sum",
    "infeed_dequeue",
    "infeed_dequeue_tuple",
    "infeed_enqueue",
    "infeed_enqueue_tuple",
    "outfeed_dequeue",
    "outfeed_dequeue_tuple",
    "outfeed_enqueue",
    "outfeed_enqueue_tuple",
]

_ops: Any = private.tpu_ops

cross_replica_sum: Any = tf.tpu.cross_replica_sum
infeed_dequeue: Any = _ops.infeed_dequeue
infeed_dequeue_tuple: Any = _ops.infeed_dequeue_tuple
infeed_enqueue: Any = _ops.infeed_enqueue
infeed_enqueue_tuple: Any = _ops.infeed_enqueue_tuple
outfeed_dequeue: Any = _ops.outfeed_dequeue
outfeed_dequeue_tuple: Any = _ops.outfeed_dequeue_tuple
outfeed_enqueue: Any = _ops.outfeed_enqueue
outfeed_enqueue_tuple: Any = _ops.outfeed_enqueue_tuple
