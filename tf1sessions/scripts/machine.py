"""The capacity of this machine: the number of jobs at once, and the share of its GPUs that each may take."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tf1sessions.errors import MemoryPlanError
from tf1sessions.scripts.jobs import Job
from tf1sessions.sessions.machine import available_memory, usable_cores

if TYPE_CHECKING:  # a run of a single job asks for no GPUs, and starts sooner
    from tf1sessions.sessions import gpus

__all__ = [
    "JOB_MEMORY_BYTES",
    "available_memory",
    "default_parallel",
    "default_share",
    "may_use_gpus",
    "mps_share",
    "usable_cores",
]

JOB_MEMORY_BYTES = 1_200_000_000
"""Memory for one TensorFlow process with a small model; twice what a script of a few layers was seen to take."""


def default_parallel(jobs: int, root: Path = Path("/")) -> int:
    """Return the number of ``jobs`` to run at once without -j: what cores and memory allow, at least 1."""
    if jobs <= 1:
        return 1
    memory = available_memory(root)
    by_memory = jobs if memory is None else memory // JOB_MEMORY_BYTES
    return max(1, min(jobs, usable_cores(root), by_memory))


def default_share(jobs: int, machine: gpus.Machine) -> float:
    """The share of a GPU's memory for each of ``jobs`` by default: equal parts of what is free, as a plan has it.

    Any job may use any GPU, so the fullest one decides. Where there is no GPU, or too little is free on it for so many
    jobs, it is 1 / jobs: TensorFlow will say what it lacks.
    """
    from tf1sessions.sessions.division import divide

    try:
        plans = [divide(machine, jobs, gpus=(gpu.index,), environ={}) for gpu in machine.gpus]
    except MemoryPlanError:
        return 1 / jobs
    return min((plan.shares[0].fraction or 0.0 for plan in plans), default=1 / jobs)


def may_use_gpus(job: Job) -> bool:
    """Whether the settings and the environment of a job leave it any GPU; those of parameter servers do not."""
    return dict(job.env).get("CUDA_VISIBLE_DEVICES", job.settings.visible_devices) not in ("", "-1")


def mps_share(jobs: int, machine: gpus.Machine, fraction: float | None, limit_mb: float | None) -> dict[str, str]:
    """Environment variables that make the share of a job a hard cap; empty where MPS is off.

    Args:
        jobs: How many run at once.
        machine: The GPUs; the job may use any.
        fraction: Its share of a GPU's memory.
        limit_mb: The same in MiB, which comes first.
    """
    if not machine.mps or not machine.gpus:
        return {}
    from tf1sessions.sessions.division import CONTEXT_MB, mps_environment

    sizes = {gpu: gpu.total_mb * fraction if fraction else 0.0 for gpu in machine.gpus}
    if limit_mb:
        sizes = dict.fromkeys(machine.gpus, float(limit_mb))
    return mps_environment(max(1, 100 // jobs), {gpu: size + CONTEXT_MB for gpu, size in sizes.items() if size})
