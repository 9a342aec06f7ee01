"""Loops that a TPU can compile. They run without one, too."""

from __future__ import annotations

from typing import Any

from ...runtime import private

__all__ = ["repeat", "while_loop"]

repeat: Any = private.training_loop.repeat
while_loop: Any = private.training_loop.while_loop
