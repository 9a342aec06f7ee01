"""How many jobs this machine can carry at once."""

from __future__ import annotations

from pathlib import Path

from tf1sessions.sessions.machine import available_memory, usable_cores

__all__ = ["JOB_MEMORY_BYTES", "available_memory", "default_parallel", "usable_cores"]

JOB_MEMORY_BYTES = 1_200_000_000
"""What one TensorFlow process with a small model needs; twice what a script of a few layers was seen to take."""


def default_parallel(jobs: int, root: Path = Path("/")) -> int:
    """How many of ``jobs`` to run at once when nobody said: what cores and memory allow, at least 1."""
    memory = available_memory(root)
    by_memory = jobs if memory is None else memory // JOB_MEMORY_BYTES
    return max(1, min(jobs, usable_cores(root), by_memory))
