"""``tf.estimator.tpu.experimental``: embeddings on a TPU."""

from __future__ import annotations

from typing import Any

from ..errors import UnsupportedEnvironmentError

__all__ = ["EmbeddingConfigSpec"]


class EmbeddingConfigSpec:
    """The specification by which a :class:`TPUEstimator` keeps embeddings on a TPU.

    Raises:
        UnsupportedEnvironmentError: Always: there is no TPU.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise UnsupportedEnvironmentError(
            "EmbeddingConfigSpec needs a TPU, and there is none",
            where="tf.estimator.tpu.experimental",
            next_step="Leave embedding_config_spec out, and use tf.feature_column.embedding_column.",
        )
