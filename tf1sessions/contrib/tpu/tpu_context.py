"""The context that a model function for a TPU gets in ``params["context"]``."""

from __future__ import annotations

from typing import Any

from .._tpu_only import needs_tpu

__all__ = ["TPUContext"]

TPUContext: Any = needs_tpu("TPUContext", "tf.contrib.tpu.python.tpu.tpu_context")


def _get_tpu_context(config: Any, *sizes: Any, **settings: Any) -> Any:
    """Refuse to describe a TPU, of which there is none."""
    return TPUContext(config, *sizes, **settings)
