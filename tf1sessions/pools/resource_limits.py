"""Name the limit of the system that kept a process from being started. Standard library only.

RLIMIT_AS, RLIMIT_NOFILE and RLIMIT_NPROC are a process's own; what it starts has them, too.
"""

from __future__ import annotations

import sys

from tf1sessions.errors import WorkerStartError

if sys.platform != "win32":  # at once: when a limit is reached, its file may not be opened any more
    import resource

__all__ = ["check_address_space", "limit_step", "limit_text", "start_error"]

_LEAST_BYTES = 512 << 20  # of address space; NumPy's and TensorFlow's libraries take three times that

# By limit: its command, its unit, how many of that are shown as one, and what those write that it stops.
_LIMITS = {
    "RLIMIT_NOFILE": ("ulimit -n", "open files a process", 1, ("Too many open files",)),
    "RLIMIT_NPROC": (
        "ulimit -u",
        "processes and threads of a user",
        1,
        ("Resource temporarily unavailable", "can't start new thread", "pthread_create failed", "Thread creation"),
    ),
    "RLIMIT_AS": (
        "ulimit -v",
        "MiB of address space a process",
        2**20,
        ("MemoryError", "Cannot allocate memory", "bad_alloc", "failed to map segment", "Unable to allocate"),
    ),
}


def check_address_space() -> None:
    """Raise MemoryError where TensorFlow cannot be loaded: with little enough, a library would end the process."""
    if sys.platform != "win32":
        soft, _ = resource.getrlimit(getattr(resource, "RLIMIT_AS", resource.RLIMIT_DATA))
        if soft != resource.RLIM_INFINITY and soft < _LEAST_BYTES:
            raise MemoryError


def limit_step(text: str) -> str | None:
    """Return what to do about the limit that keeps workers from starting, by what was written; None if it is none."""
    limit = limit_text(text)
    return None if limit is None else f"{limit}, or ask for fewer workers at once."


def limit_text(text: str) -> str | None:
    """Return which limit an error or a process's output is about, and how it is raised; None if it is about none."""
    if sys.platform == "win32":
        return None
    for name, (command, unit, size, signs) in _LIMITS.items():
        soft, _ = resource.getrlimit(getattr(resource, name, resource.RLIMIT_DATA))
        if soft != resource.RLIM_INFINITY and any(sign in text for sign in signs):
            return f"{name} allows {soft // size:,} {unit}: raise it ({command})"
    return None


def start_error(message: str, error: BaseException, where: str | None = None) -> WorkerStartError:
    """Return the error for what could not be started, with the limit that is too low, where it is one."""
    text = f"{type(error).__name__}: {error}" if isinstance(error, MemoryError) else str(error)
    return WorkerStartError(f"{message}: {text}", where=where, next_step=limit_step(text))
