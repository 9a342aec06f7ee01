"""A job's settings, put in place in its process and in those that it starts.

Data flow: :func:`apply` gives the settings to child processes too (children.py) and applies them as soon as TensorFlow
is imported: deprecation warnings (deprecations.py), threads and memory (limits.py), claims of folders (claims.py),
compiled calls under every session, the Coordinator (queue_threads.py), whose seeds operations get (seeds.py).
"""

from __future__ import annotations

import os
from types import ModuleType

from . import children, claims, deprecations, frames, importer, limits, queue_threads, seeds
from .payload import ProgramSettings

__all__ = ["apply"]


def apply(settings: ProgramSettings, job: str) -> None:
    """Apply a job's settings to every session of this process, and of its children, from now on. Once a process.

    Args:
        settings: The job's settings.
        job: The job's name, for warnings.
    """
    importer.install(fast_path=False)
    children.apply_in_children(settings, job)

    def to_sessions(face: ModuleType) -> None:
        frames.hide_from_operations()
        if settings.deprecations:
            deprecations.divert(settings.deprecations)
        limits.apply(limits.MachineShare.of(settings), face)
        if settings.claims_dir:
            mark = os.environ.get("TF1SESSIONS_JOB") or str(os.getpid())  # the server gives each job its own
            claims.apply(claims.Claims(settings.claims_dir, job, mark), face)
        if settings.fast_path:
            importer.install_fast_path()
        queue_threads.apply(settings.queue_grace, face)
        seeds.choose(settings.seeds, settings.seed_report)

    importer.after_import(to_sessions)
