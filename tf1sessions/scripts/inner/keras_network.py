"""``tensorflow.python.keras.engine.network``: the base class that models had."""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["Network"]

Network: Any = importlib.import_module("tf_keras.src.engine.training").Model
