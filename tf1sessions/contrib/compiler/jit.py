"""``tf.contrib.compiler.jit``: operations that XLA compiles where it can."""

from __future__ import annotations

from typing import Any

from ...runtime import tf1 as _tf

__all__ = ["experimental_jit_scope"]

experimental_jit_scope: Any = _tf.xla.experimental.jit_scope
