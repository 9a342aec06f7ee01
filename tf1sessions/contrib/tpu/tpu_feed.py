"""Queues that feed a TPU, with private names that programs use."""

from __future__ import annotations

from typing import Any

from ...runtime import private

__all__: list[str] = []


def __getattr__(name: str) -> Any:
    if not name.startswith("__"):
        for module in (private.tpu_feed,):
            if hasattr(module, name):
                return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
