"""``tf.contrib.distribute``: the strategies of ``tf.distribute`` with the arguments that they had here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..runtime import private
from ..runtime import tf1 as tf
from .cluster_resolver import TFConfigClusterResolver

__all__ = [
    "AllReduceCrossDeviceOps",
    "CollectiveAllReduceStrategy",
    "CrossDeviceOps",
    "DistributeConfig",
    "DistributionStrategy",
    "MirroredStrategy",
    "OneDeviceStrategy",
    "ParameterServerStrategy",
    "ReplicaContext",
    "StandardInputStep",
    "StandardSingleLossStep",
    "Step",
    "TPUStrategy",
    "get_cross_replica_context",
    "get_distribution_strategy",
    "get_loss_reduction",
    "get_replica_context",
    "get_strategy",
    "has_distribution_strategy",
    "has_strategy",
    "in_cross_replica_context",
    "initialize_tpu_system",
    "require_replica_context",
    "run_standard_tensorflow_server",
]

CrossDeviceOps: Any = tf.distribute.CrossDeviceOps
DistributeConfig: Any = private.distribute_config.DistributeConfig
DistributionStrategy: Any = tf.distribute.Strategy
OneDeviceStrategy: Any = tf.distribute.OneDeviceStrategy
ReplicaContext: Any = tf.distribute.ReplicaContext
StandardInputStep: Any = private.step_fn.StandardInputStep
StandardSingleLossStep: Any = private.step_fn.StandardSingleLossStep
Step: Any = private.step_fn.Step
TPUStrategy: Any = tf.distribute.experimental.TPUStrategy
get_cross_replica_context: Any = private.distribute_lib.get_cross_replica_context
get_distribution_strategy: Any = tf.distribute.get_strategy
get_loss_reduction: Any = tf.distribute.get_loss_reduction
get_replica_context: Any = tf.distribute.get_replica_context
get_strategy: Any = tf.distribute.get_strategy
has_distribution_strategy: Any = tf.distribute.has_strategy
has_strategy: Any = tf.distribute.has_strategy
in_cross_replica_context: Any = tf.distribute.in_cross_replica_context
initialize_tpu_system: Any = tf.tpu.experimental.initialize_tpu_system
require_replica_context: Any = private.distribute_lib.require_replica_context
run_standard_tensorflow_server: Any = private.distribute_coordinator.run_standard_tensorflow_server


class AllReduceCrossDeviceOps(private.cross_device_ops.AllReduceCrossDeviceOps):  # type: ignore[misc,name-defined]
    """Adds the gradients of several GPUs up.

    Args:
        all_reduce_alg: "nccl" or "hierarchical_copy".
        num_packs: In how many parts they are sent.
        agg_small_grads_max_bytes: Of no effect: small ones are put together by ``num_packs``.
        agg_small_grads_max_group: Of no effect.
    """

    def __init__(
        self,
        all_reduce_alg: str = "nccl",
        num_packs: int = 1,
        agg_small_grads_max_bytes: int = 0,
        agg_small_grads_max_group: int = 10,
    ) -> None:
        del agg_small_grads_max_bytes, agg_small_grads_max_group
        super().__init__(all_reduce_alg, num_packs)


class MirroredStrategy(tf.distribute.MirroredStrategy):  # type: ignore[misc]
    """``tf.distribute.MirroredStrategy``: the same variables on several GPUs.

    Args:
        devices: The devices; or
        num_gpus: how many GPUs of this machine; all of them if neither is given; or
        num_gpus_per_worker: the same.
        cross_device_ops: How gradients are added up.
        auto_shard_dataset: Of no effect on one machine.
        cross_tower_ops: The earlier name of ``cross_device_ops``.

    Raises:
        ValueError: Both of two arguments are given that exclude each other.
    """

    def __init__(
        self,
        devices: Sequence[str] | None = None,
        num_gpus: int | None = None,
        num_gpus_per_worker: int | None = None,
        cross_device_ops: Any = None,
        auto_shard_dataset: bool = False,
        cross_tower_ops: Any = None,
    ) -> None:
        del auto_shard_dataset
        if cross_device_ops and cross_tower_ops:
            raise ValueError("Must only pass one of cross_device_ops and cross_tower_ops.")
        if num_gpus is not None and num_gpus_per_worker is not None:
            raise ValueError("Must only pass one of num_gpus and num_gpus_per_worker.")
        number = num_gpus_per_worker if num_gpus is None else num_gpus
        if number is not None and devices is not None:
            raise ValueError("Must only specify one of num_gpus and devices.")
        if number is not None:
            devices = [f"/device:GPU:{i}" for i in range(number)] or ["/device:CPU:0"]
        super().__init__(devices, cross_device_ops or cross_tower_ops)


class CollectiveAllReduceStrategy(tf.distribute.experimental.MultiWorkerMirroredStrategy):  # type: ignore[misc]
    """``tf.distribute.experimental.MultiWorkerMirroredStrategy``: the same variables on the machines of TF_CONFIG.

    Args:
        num_gpus_per_worker: How many GPUs of each machine; without them it is the CPU.
        communication: How the machines talk.
    """

    def __init__(self, num_gpus_per_worker: int = 0, communication: Any = None) -> None:
        kind = tf.distribute.experimental.CollectiveCommunication
        super().__init__(communication or kind.AUTO, _cluster_with(num_gpus_per_worker))


class ParameterServerStrategy(tf.distribute.experimental.ParameterServerStrategy):  # type: ignore[misc]
    """``tf.distribute.experimental.ParameterServerStrategy``, with the cluster of TF_CONFIG.

    Args:
        num_gpus_per_worker: How many GPUs of each machine; without them it is the CPU.
    """

    def __init__(self, num_gpus_per_worker: int = 0) -> None:
        super().__init__(_cluster_with(num_gpus_per_worker))


def _cluster_with(gpus: int) -> Any:
    """The cluster of TF_CONFIG, of machines with so many GPUs; TensorFlow itself would take all that there are."""
    found = TFConfigClusterResolver()
    return tf.distribute.cluster_resolver.SimpleClusterResolver(
        found.cluster_spec(),
        task_type=found.task_type,
        task_id=found.task_id,
        num_accelerators={"GPU": gpus},
        rpc_layer=found.rpc_layer,
    )
