"""What several tests use, beside the fixtures of conftest.py."""

from __future__ import annotations

import dataclasses
import os
import sys
import threading
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import tf1sessions

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = Path(tf1sessions.__file__).resolve().parent


@dataclasses.dataclass(frozen=True)
class PythonRun:
    """What a process started by ``run_python`` did."""

    results: dict[str, Any]
    stdout: str
    stderr: str
    returncode: int
    seconds: float


def child_processes() -> dict[int, str]:
    """Returns the command line of each child of this process, zombies included; empty where there is no /proc."""
    children = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            stat = (folder / "stat").read_text()
            command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
        except (FileNotFoundError, ProcessLookupError):  # it ended while we looked
            continue
        name, _, rest = stat.partition(" (")[2].rpartition(") ")
        state, parent = rest.split()[:2]
        if int(parent) == os.getpid():
            children[int(folder.name)] = command or f"[{name}] in state {state}"
    return children


# The standard library keeps this helper for as long as the process lives; pytest-timeout watches the current test.
NOT_OURS = ("multiprocessing.resource_tracker", "pytest_timeout ")


def leftovers(processes: Mapping[int, str], threads: Sequence[threading.Thread]) -> list[str]:
    """Names what is alive now and is neither in ``processes`` nor in ``threads``."""
    found = [
        f"process {pid}: {command[:200]}"
        for pid, command in child_processes().items()
        if pid not in processes and not any(name in command for name in NOT_OURS)
    ]
    frames = sys._current_frames()
    for thread in threading.enumerate():
        if thread.daemon or thread in threads or thread.name.startswith(NOT_OURS):
            continue
        frame = frames.get(thread.ident or 0)
        where = traceback.extract_stack(frame)[-1] if frame else None
        found.append(f"thread {thread.name!r}" + (f" at {where.filename}:{where.lineno}" if where else ""))
    return found
