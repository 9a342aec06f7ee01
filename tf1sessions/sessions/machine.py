"""The cores and the memory that this process may use, containers' limits included.

Only files under ``/proc`` and ``/sys/fs/cgroup`` are read, each time anew. Where they are missing (not Linux) the
cores are :func:`os.cpu_count` and the memory is unknown. Everything here may be called from any thread.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

__all__ = ["available_memory", "resident_mb", "usable_cores"]


def usable_cores(root: Path = Path("/")) -> int:
    """The number of cores that this process may keep busy: its CPU affinity, or less by a container's quota."""
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else os.cpu_count() or 1
    for folder in _cgroups(root, "cpu"):
        words = _read(folder / "cpu.max").split()  # version 2: "200000 100000", or "max 100000"
        if not words:
            words = [_read(folder / "cpu.cfs_quota_us"), _read(folder / "cpu.cfs_period_us")]
        if len(words) == 2 and words[0].isdigit() and words[1].isdigit() and int(words[1]):
            cores = min(cores, -(-int(words[0]) // int(words[1])))
    return max(1, cores)


def available_memory(root: Path = Path("/")) -> int | None:
    """Bytes that can be used without swapping, or None where that cannot be determined."""
    free: list[int] = []
    for line in _read(root / "proc/meminfo").splitlines():
        if line.startswith("MemAvailable:"):
            free.append(int(line.split()[1]) * 1024)
    for folder in _cgroups(root, "memory"):
        for limit_name, usage_name, cache_name in (
            ("memory.max", "memory.current", "inactive_file"),
            ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
        ):
            limit, usage = _read(folder / limit_name), _read(folder / usage_name)
            if limit.isdigit() and usage.isdigit():
                stat = dict(line.split()[:2] for line in _read(folder / "memory.stat").splitlines() if " " in line)
                cache = int(stat.get(cache_name, 0))  # file pages that the kernel gives back when asked
                free.append(max(0, int(limit) - int(usage) + cache))
    return min(free) if free else None


def resident_mb(pid: int) -> float:
    """Return the resident memory of a process in MiB; 0.0 where the platform has no figure."""
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
    except OSError:
        return 0.0


def _cgroups(root: Path, controller: str) -> Iterator[Path]:
    """Folders of the control groups that limit this process, innermost first, of either version."""
    for line in _read(root / "proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers == "":
            base = root / "sys/fs/cgroup"
        elif controller in controllers.split(","):
            base = root / "sys/fs/cgroup" / controller
        else:
            continue
        inner = base / path.lstrip("/")
        yield inner
        while inner != base:  # inside a container the path may be the host's: then only the base exists
            inner = inner.parent
            yield inner


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace").strip()
    except OSError:  # no such controller here
        return ""
