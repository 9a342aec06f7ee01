"""The processes of a job, found and ended, whatever it has started. Standard library only.

They are known by their session, process group, descent, and the mark that each job has in its environment.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Iterable
from time import sleep
from typing import NamedTuple

__all__ = [
    "GIVE_UP_SECS",
    "MARK",
    "POLL_SECS",
    "SETTLE_SECS",
    "TERM_SECS",
    "ProcessEntry",
    "has_returned",
    "job_processes",
    "kill_marked",
    "new_token",
    "note_return",
    "process_table",
    "server_mark",
    "signal_processes",
]

MARK = "TF1SESSIONS_JOB"
"""The environment variable that every process of a job has; its value is the job's identity."""


SETTLE_SECS = 0.25  # what a job left may still end by itself, as multiprocessing's resource tracker does; arbitrary
TERM_SECS = 1.0  # between SIGTERM and SIGKILL; arbitrary
GIVE_UP_SECS = 10.0  # after SIGKILL: a process in an uninterruptible system call is left alone; arbitrary
_EXEC_SECS = 0.1  # a process that executes a program has no environment for some milliseconds; arbitrary
POLL_SECS = 0.05  # how often the processes of an ending job are looked up


_RETURNED = b"tf1sessions-end"  # the name, of 15 bytes at most, of a worker whose job has returned
_PF_KTHREAD = 0x00200000  # include/linux/sched.h


def new_token() -> str:
    """Return the identity of a new server."""
    return os.urandom(8).hex()


def server_mark(token: str, number: int) -> str:
    """Return the identity of a server's job; number 0 is the server's own.

    It is always of one length: a fork writes its own over that of the process that it is a fork of.
    """
    return f"{token}-{number:08d}"


def job_processes(mark: str, leader: int | None = None, parent: int | None = None) -> dict[int, str]:
    """Find the living processes of a job.

    Args:
        mark: The value of ``TF1SESSIONS_JOB``, or its beginning for all jobs of a server: this process, or one that it
            has started.
        leader: The job's main process; its session and process group count.
        parent: A process whose children count too.

    Returns:
        Command lines by process id, without the calling process. Where there is no ``/proc``, the leader's process
        group by its negative number, as ``os.kill()`` takes it.
    """
    table = process_table()
    if not table:
        return {-leader: "process group"} if leader is not None and _is_group(leader) else {}
    wanted = f"\0{MARK}={mark}".encode()
    here = table.get(os.getpid())  # None where /proc is that of another namespace
    since = 0 if here is None else here.began
    found = {
        pid
        for pid, each in table.items()
        if (leader is not None and leader in (pid, each.group, each.session))
        or (parent is not None and each.parent == parent)
        # What is older than this process has no job of it; most processes of a machine are.
        or (each.began >= since and wanted in b"\0" + _environment(pid))
    }
    while descendants := {pid for pid, each in table.items() if each.parent in found} - found:
        found |= descendants
    return {pid: _command(pid) for pid in sorted(found - {os.getpid()})}


def _is_group(number: int) -> bool:
    try:
        os.killpg(number, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True


class ProcessEntry(NamedTuple):
    """A process as the system describes it; ``began``: ticks since the system's start."""

    parent: int
    group: int
    session: int
    began: int


def process_table() -> dict[int, ProcessEntry]:
    """Return every living process; without zombies, and the kernel's own."""
    table = {}
    for name in os.listdir("/proc") if os.path.isdir("/proc") else ():
        if name.isdecimal():
            fields = _read(f"/proc/{name}/stat").rpartition(b")")[2].split()
            if fields and fields[0] not in b"ZX" and not int(fields[6]) & _PF_KTHREAD:
                table[int(name)] = ProcessEntry(int(fields[1]), int(fields[2]), int(fields[3]), int(fields[19]))
    return table


def _environment(pid: int) -> bytes:
    """The environment that a process began with; empty when it is not ours to look into."""
    deadline = time.monotonic() + _EXEC_SECS
    while True:
        environment = _read(f"/proc/{pid}/environ")
        if environment or time.monotonic() > deadline or not os.access(f"/proc/{pid}/environ", os.R_OK):
            return environment
        if _read(f"/proc/{pid}/cmdline"):
            return _read(f"/proc/{pid}/environ")
        sleep(0.001)  # in the midst of exec() both are empty


def _command(pid: int) -> str:
    text = (_read(f"/proc/{pid}/cmdline") or _read(f"/proc/{pid}/comm")).replace(b"\0", b" ").decode(errors="replace")
    return " ".join(text.split())[:200]


def _read(path: str) -> bytes:
    """A file of ``/proc``; empty when the process has ended or is not ours to look into."""
    try:
        with open(path, "rb", buffering=0) as file:
            return file.readall()
    except OSError:
        return b""


def signal_processes(pids: Iterable[int], signum: int) -> None:
    """Send a signal to those of the processes that are still there."""
    for pid in pids:
        try:
            os.kill(pid, signum)
        except (ProcessLookupError, PermissionError):  # it ended; or it changed its user, and is no longer ours to end
            continue


def kill_marked(mark: str) -> None:
    """Kill every process with this mark, or beginning of marks, and what it started."""
    given_up_at = time.monotonic() + GIVE_UP_SECS
    while (alive := job_processes(mark)) and time.monotonic() < given_up_at:
        signal_processes(alive, signal.SIGKILL)
        sleep(POLL_SECS)


def note_return() -> None:
    """Note in this process's name that its job has returned: what is left is the end of the interpreter.

    Not while that will wait for processes of :mod:`multiprocessing`: they are still at the job's work. Never an error:
    the job has ended well, and may have replaced what is called here, or forbidden it by an audit hook.
    """
    process = sys.modules.get("multiprocessing.process")
    if process is not None and process.active_children():
        return
    with contextlib.suppress(Exception):
        handle = os.open("/proc/self/comm", os.O_WRONLY | os.O_CLOEXEC)
        os.write(handle, _RETURNED)
        os.close(handle)


def has_returned(pid: int) -> bool:
    """Whether the job of a worker has returned, so that a signal would only change its exit code."""
    return _read(f"/proc/{pid}/comm").strip() == _RETURNED
