"""``tf.contrib.tpu``: what 1.15.5 runs without a TPU, and the names of the rest.

The estimator and its configuration are those of ``tf.estimator.tpu``: with ``use_tpu=False`` they train, evaluate and
predict on this machine. The functions that build a graph for a TPU (:func:`rewrite`, :func:`shard`,
:func:`cross_replica_sum`, ...) build it; running it needs a TPU, as it did.

::

    async_checkpoint.py, error_handling.py, session_support.py, util.py    what estimators for TPUs use
    keras_support.py   Keras models
    tensor_tracer.py, tpu.py, tpu_feed.py    inner names of today's TensorFlow
    tpu_context.py     the context that a model function gets
    tpu_function.py    how many shards there are
    tpu_ops.py         operations of TPUs
    training_loop.py   while_loop and repeat
"""

from typing import Any

from ...estimator.tpu import (
    InputPipelineConfig,
    RunConfig,
    TPUConfig,
    TPUEstimator,
    TPUEstimatorSpec,
    export_estimator_savedmodel,
)
from ...runtime import private as _private
from ...runtime import tf1 as _tf
from ..cluster_resolver import TPUClusterResolver
from .async_checkpoint import AsyncCheckpointSaverHook
from .keras_support import TPUDistributionStrategy
from .keras_support import tpu_model as keras_to_tpu_model
from .tpu_ops import (
    cross_replica_sum,
    infeed_dequeue,
    infeed_dequeue_tuple,
    infeed_enqueue,
    infeed_enqueue_tuple,
    outfeed_dequeue,
    outfeed_dequeue_tuple,
    outfeed_enqueue,
    outfeed_enqueue_tuple,
)
from .training_loop import repeat, while_loop

CrossShardOptimizer: Any = _tf.tpu.CrossShardOptimizer
DeviceAssignment: Any = _tf.tpu.experimental.DeviceAssignment
InfeedQueue: Any = _private.tpu_feed.InfeedQueue
Topology: Any = _tf.tpu.experimental.Topology
batch_parallel: Any = _tf.tpu.batch_parallel
bfloat16_scope: Any = _tf.tpu.bfloat16_scope
core: Any = _tf.tpu.core
device_assignment: Any = _private.device_assignment.device_assignment
initialize_system: Any = _tf.tpu.initialize_system
outside_compilation: Any = _tf.tpu.outside_compilation
replicate: Any = _tf.tpu.replicate
rewrite: Any = _tf.tpu.rewrite
shard: Any = _tf.tpu.shard
shutdown_system: Any = _tf.tpu.shutdown_system

__all__ = [
    "AsyncCheckpointSaverHook",
    "CrossShardOptimizer",
    "DeviceAssignment",
    "InfeedQueue",
    "InputPipelineConfig",
    "RunConfig",
    "TPUClusterResolver",
    "TPUConfig",
    "TPUDistributionStrategy",
    "TPUEstimator",
    "TPUEstimatorSpec",
    "Topology",
    "batch_parallel",
    "bfloat16_scope",
    "core",
    "cross_replica_sum",
    "device_assignment",
    "export_estimator_savedmodel",
    "infeed_dequeue",
    "infeed_dequeue_tuple",
    "infeed_enqueue",
    "infeed_enqueue_tuple",
    "initialize_system",
    "keras_to_tpu_model",
    "outfeed_dequeue",
    "outfeed_dequeue_tuple",
    "outfeed_enqueue",
    "outfeed_enqueue_tuple",
    "outside_compilation",
    "repeat",
    "replicate",
    "rewrite",
    "shard",
    "shutdown_system",
    "while_loop",
]
