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
    "tpu_replicated_input",
    "tpu_replicated_output",
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


def tpu_replicated_input(inputs: Any, is_mirrored_variable: bool = False, index: int = -1, name: Any = None) -> Any:
    """One tensor that stands for the tensor of each replica, inside of :func:`tf.tpu.replicate`."""
    return tf.raw_ops.TPUReplicatedInput(
        inputs=inputs, is_mirrored_variable=is_mirrored_variable, index=index, name=name
    )


def tpu_replicated_output(input: Any, num_replicas: int, name: Any = None) -> Any:
    """The tensors of the replicas that one tensor inside of :func:`tf.tpu.replicate` stands for."""
    return tf.raw_ops.TPUReplicatedOutput(input=input, num_replicas=num_replicas, name=name)
