"""``tf.contrib.framework.nest``: nested structures of tensors, flattened, mapped and packed again.

It is TensorFlow's own ``nest`` with the name that one of its functions had; ``tf.nest`` where TensorFlow hides it.
"""

from __future__ import annotations

from typing import Any

from ...runtime import private
from ...runtime import tf1 as tf

_nest: Any = private.nest or tf.nest

is_sequence: Any = _nest.is_nested


def __getattr__(name: str) -> Any:
    return getattr(_nest, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *dir(_nest)})
