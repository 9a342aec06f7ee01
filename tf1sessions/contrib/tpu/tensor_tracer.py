"""The tracer of tensors on a TPU."""

from __future__ import annotations

from typing import Any

from ...runtime import private

__all__: list[str] = []


def __getattr__(name: str) -> Any:
    if not name.startswith("__"):
        for module in (private.tensor_tracer,):
            if hasattr(module, name):
                return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
