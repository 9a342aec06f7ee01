"""``tensorflow.python.tpu.tpu_embedding``: how tables of embeddings on a TPU are described; the tables need a TPU."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ...contrib._tpu_only import needs_tpu

__all__ = [
    "AdagradParameters",
    "AdamParameters",
    "EnqueueData",
    "FeatureConfig",
    "StochasticGradientDescentParameters",
    "TPUEmbedding",
    "TableConfig",
    "get_enqueue_datas_list_from_sparse_tensors_list",
]

TRAINING = 2
INFERENCE = 1

TPUEmbedding: Any = needs_tpu("TPUEmbedding", "tensorflow.python.tpu.tpu_embedding")


def __getattr__(name: str) -> Any:
    if name == "control_flow_ops":
        return importlib.import_module("tensorflow.python.ops.control_flow_ops")
    if name == "tpu_ops":
        return importlib.import_module("tensorflow.python.tpu.ops.tpu_ops")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class _Table(NamedTuple):
    vocabulary_size: int
    dimension: int
    initializer: Any
    combiner: str
    hot_id_replication: bool
    learning_rate: Any
    learning_rate_key: Any
    optimization_parameters: Any


class TableConfig(_Table):
    """A table of embeddings.

    Args:
        vocabulary_size: Its rows.
        dimension: Its columns.
        initializer: What makes its values; a truncated normal of deviation 1 / sqrt(dimension) by default.
        combiner: "mean", "sum", "sqrtn", or None for the last of a sequence.
        hot_id_replication: Whether frequent rows are kept several times.
        learning_rate: That of this table.
        learning_rate_key: The name of one that several tables have; not with ``learning_rate``.
        optimization_parameters: :class:`AdamParameters` or another one.

    Raises:
        ValueError: An argument is out of its range.
    """

    __slots__ = ()

    def __new__(
        cls,
        vocabulary_size: int,
        dimension: int,
        initializer: Callable[..., Any] | None = None,
        combiner: str = "mean",
        hot_id_replication: bool = False,
        learning_rate: Any = None,
        learning_rate_key: Any = None,
        optimization_parameters: Any = None,
    ) -> TableConfig:
        for name, value in (("vocabulary_size", vocabulary_size), ("dimension", dimension)):
            if not isinstance(value, int) or value < 1:
                raise ValueError(f"Invalid {name} {value}.")
        if initializer is not None and not callable(initializer):
            raise ValueError("initializer must be callable if specified.")
        if combiner not in ("mean", "sum", "sqrtn", None):
            raise ValueError(f"Invalid combiner {combiner}")
        if learning_rate is not None and learning_rate_key is not None:
            raise ValueError("At most one of learning_rate and learning_rate_key can be specified.")
        if initializer is None:
            initializer = sys.modules["tensorflow"].truncated_normal_initializer(0.0, dimension**-0.5)
        return super().__new__(
            cls,
            vocabulary_size,
            dimension,
            initializer,
            combiner,
            hot_id_replication,
            learning_rate,
            learning_rate_key,
            optimization_parameters,
        )


class FeatureConfig(NamedTuple):
    """A feature: the table of its embeddings, the length of its sequences (0 for none), the key of its weights."""

    table_id: str
    max_sequence_length: int = 0
    weight_key: str | None = None


class EnqueueData(NamedTuple):
    """Rows to look up: their numbers, the samples that they belong to, their weights."""

    embedding_indices: Any
    sample_indices: Any = None
    aggregation_weights: Any = None

    @staticmethod
    def from_sparse_tensor(sp_tensor: Any, weights: Any = None) -> EnqueueData:
        """The rows of a sparse matrix [samples, N]."""
        return EnqueueData(sp_tensor.values, sp_tensor.indices, weights)


class DeviceConfig(NamedTuple):
    """The place of the tables: hosts, cores, and the job of the TPU."""

    num_hosts: int
    num_cores: int
    job_name: str


def get_enqueue_datas_list_from_sparse_tensors_list(sp_tensors_list: Sequence[Any]) -> list[dict[str, EnqueueData]]:
    """Dicts of :class:`EnqueueData` from dicts of sparse matrices."""
    return [
        {feature: EnqueueData.from_sparse_tensor(tensor) for feature, tensor in sp_tensors.items()}
        for sp_tensors in sp_tensors_list
    ]


class _OptimizationParameters:
    """The common base of the optimizers of tables."""

    def __init__(
        self,
        learning_rate: float,
        use_gradient_accumulation: bool,
        clip_weight_min: float | None,
        clip_weight_max: float | None,
    ) -> None:
        self.learning_rate = learning_rate
        self.use_gradient_accumulation = use_gradient_accumulation
        self.clip_weight_min = clip_weight_min
        self.clip_weight_max = clip_weight_max


class AdagradParameters(_OptimizationParameters):
    """Adagrad for tables of embeddings; see ``tf.train.AdagradOptimizer``."""

    def __init__(
        self,
        learning_rate: float,
        initial_accumulator: float = 0.1,
        use_gradient_accumulation: bool = True,
        clip_weight_min: float | None = None,
        clip_weight_max: float | None = None,
    ) -> None:
        super().__init__(learning_rate, use_gradient_accumulation, clip_weight_min, clip_weight_max)
        if initial_accumulator <= 0:
            raise ValueError("Adagrad initial_accumulator must be positive")
        self.initial_accumulator = initial_accumulator


class AdamParameters(_OptimizationParameters):
    """Adam for tables of embeddings; see ``tf.train.AdamOptimizer``."""

    def __init__(
        self,
        learning_rate: float,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-08,
        lazy_adam: bool = True,
        sum_inside_sqrt: bool = True,
        use_gradient_accumulation: bool = True,
        clip_weight_min: float | None = None,
        clip_weight_max: float | None = None,
    ) -> None:
        super().__init__(learning_rate, use_gradient_accumulation, clip_weight_min, clip_weight_max)
        for name, value in (("beta1", beta1), ("beta2", beta2)):
            if not 0 <= value < 1:
                raise ValueError(f"{name} must be between 0. and 1; got {value}.")
        if epsilon <= 0:
            raise ValueError(f"epsilon must be positive; got {epsilon}.")
        if not use_gradient_accumulation and not lazy_adam:
            raise ValueError("When disabling Lazy Adam, gradient accumulation must be used.")
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon
        self.lazy_adam = lazy_adam
        self.sum_inside_sqrt = sum_inside_sqrt


class StochasticGradientDescentParameters(_OptimizationParameters):
    """Gradient descent for tables of embeddings; see ``tf.train.GradientDescentOptimizer``."""

    def __init__(
        self, learning_rate: float, clip_weight_min: float | None = None, clip_weight_max: float | None = None
    ) -> None:
        super().__init__(learning_rate, False, clip_weight_min, clip_weight_max)
