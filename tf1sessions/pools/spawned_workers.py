"""Workers as fresh interpreters, where there is no fork or none is wanted: ``method="spawn"``."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable
from pathlib import Path

from tf1sessions.errors import ClosedError, WorkerStartError
from tf1sessions.pools import job_processes
from tf1sessions.pools.cold_starts import INSPECT
from tf1sessions.pools.fork_server_main import BOOT, PACKAGE_PARENT
from tf1sessions.pools.job_processes import MARK, server_mark
from tf1sessions.pools.resource_limits import start_error
from tf1sessions.pools.workers import WorkerHandle, WorkerResult, WorkerSpec, request_of, result_of, standard_fds

__all__ = ["SpawnLink"]


class SpawnLink:
    """Workers as fresh interpreters, each with a thread that waits for it. There is no server process."""

    pid: int | None = None
    ended = False

    def __init__(self, python: str) -> None:
        self._python = python
        self._token = secrets.token_hex(8)
        # Protects what stands below it, and that no worker is started once it is closed.
        self._lock = threading.Lock()
        self._closed = False
        self._last_number = 0
        self._running: dict[int, _Spawned] = {}

    def wait_ready(self, timeout: float) -> None:
        """There is nothing to wait for."""

    def spawn(self, spec: WorkerSpec) -> WorkerHandle:
        with self._lock:
            if self._closed:
                raise ClosedError("The fork server was closed", next_step="Make a new WorkerServer.")
            self._last_number = number = self._last_number + 1
            handle = WorkerHandle(spec.name, number, self)
            handle.cold_reasons = ('method="spawn"',)
            failed, where = f"The worker {spec.name!r} does not start", f"{self._python} in {spec.cwd}"
            try:
                with standard_fds(spec) as fds:
                    job = _Spawned(self, handle, spec, fds)
            except OSError as error:
                raise start_error(failed, error, where) from error
            try:
                job.start()
                self._running[number] = job
                job.thread.start()
            except (OSError, RuntimeError) as error:  # a RuntimeError: the system has no more threads
                if self._running.pop(number, None):
                    job.process.kill()
                    job.process.wait()
                job.close()
                raise start_error(failed, error, where) from error
            except BaseException:
                job.close()
                raise
        return handle

    def signal(self, number: int, signum: int) -> None:
        with self._lock:
            if (job := self._running.get(number)) is None:
                return
            if signum not in (signal.SIGSTOP, signal.SIGCONT):
                if job_processes.has_returned(job.process.pid):  # as in the fork server
                    return
                job.stopped = True
            job.signal(signum)

    def pass_on(self, number: int, signum: int) -> None:
        with self._lock:
            job = self._running.get(number)
            if job is not None and not job.over and not job_processes.has_returned(job.process.pid):
                job.process.send_signal(signum)

    def kill(self, number: int) -> None:
        with self._lock:
            if (job := self._running.get(number)) is not None:
                job.stopped = True
                job.kill()

    def close(self) -> None:
        with self._lock:
            self._closed = True
            jobs = dict(self._running)
        for number in jobs:
            self.signal(number, signal.SIGTERM)
        deadline = time.monotonic() + job_processes.TERM_SECS
        for number, job in jobs.items():
            job.thread.join(max(0.0, deadline - time.monotonic()))
            self.kill(number)
        for job in jobs.values():
            job.thread.join()


class _Spawned:
    """A worker of a :class:`SpawnLink`: its process, and the thread that waits for it."""

    def __init__(self, link: SpawnLink, handle: WorkerHandle, spec: WorkerSpec, fds: Iterable[int]) -> None:
        self._link, self._handle, self._spec = link, handle, spec
        self._mark = server_mark(link._token, handle._number)
        self._folder = Path(tempfile.mkdtemp(prefix="tf1sessions-"))
        self._fds: list[int] = []
        try:
            self._fds += map(os.dup, fds)
        except OSError:
            self.close()
            raise
        self._request, self._report = self._folder / "request", self._folder / "report"
        self.stopped = False  # it was asked to end: a failed start is not tried again
        self.over = False  # its process id may be another's by now
        self.signalled = False
        self.process: subprocess.Popen[bytes]
        self.thread = threading.Thread(target=self._watch, name=f"tf1sessions-worker-{handle._number}", daemon=True)

    def start(self) -> None:
        request = request_of(self._spec, self._mark)
        request |= {"parent": os.getpid(), "folder": str(self._folder)}
        self._request.write_text(json.dumps(request))
        self._report.unlink(missing_ok=True)
        self._started_at = time.monotonic()
        stdin, stdout, stderr = self._fds
        self.process = subprocess.Popen(
            [
                self._link._python,
                "-c",
                BOOT,
                PACKAGE_PARENT,
                "work",
                str(self._request),
                str(self._report),
            ],
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            cwd=self._spec.cwd,
            env=dict(self._spec.env) | {MARK: self._mark, INSPECT: ""},
            start_new_session=True,
        )
        self._handle.pid = self.process.pid
        self._handle._accepted.set()

    def signal(self, signum: int) -> None:
        """Call this with the link's lock held, which keeps the process from being replaced by a second attempt."""
        if self.over:
            return
        self.signalled = True
        if hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError, PermissionError):  # it has ended
                os.killpg(self.process.pid, signum)
        else:
            self.process.send_signal(signum)

    def kill(self) -> None:
        """Call this with the link's lock held, too."""
        if self.over:
            return
        self.signalled = True
        if hasattr(os, "killpg"):  # Popen.kill() would reap the process, which is the waiting thread's to do
            job_processes.signal_processes(self.processes(), signal.SIGKILL)
            self.signal(signal.SIGKILL)
        else:
            self.process.kill()

    def processes(self) -> dict[int, str]:
        return job_processes.job_processes(self._mark, self.process.pid)

    def close(self) -> None:
        for fd in self._fds:
            os.close(fd)
        self._fds = []
        shutil.rmtree(self._folder)

    def _watch(self) -> None:
        result, error = None, None
        try:
            result = self._wait()
        except OSError as failure:
            error = WorkerStartError(f"The worker {self._spec.name!r} did not start, and could not again: {failure}")
        with self._link._lock:
            del self._link._running[self._handle._number]
        self.close()
        self._handle._end(result, error)

    def _wait(self) -> WorkerResult:
        returncode, peak_mb = _wait_for(self.process)
        with self._link._lock:
            again = not (self._read_report().startswith("+") or self.stopped or self._link._closed)
            if again:
                self.start()
            self.over = not again
        if again:
            returncode, peak_mb = _wait_for(self.process)
            with self._link._lock:
                self.over = True
        seconds = time.monotonic() - self._started_at
        leftovers = job_processes.end_processes(self.processes)
        report = self._read_report()
        started = report.startswith("+")
        return result_of(
            returncode, seconds, peak_mb, started, leftovers, "" if started else report[1:], self.signalled
        )

    def _read_report(self) -> str:
        return self._report.read_text(errors="replace") if self._report.exists() else ""


def _wait_for(process: subprocess.Popen[bytes]) -> tuple[int, float]:
    """Wait for a child: its return code, and its peak memory in MiB where the platform has a figure."""
    if not hasattr(os, "wait4"):
        return process.wait(), 0.0
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage.ru_maxrss / (1024 * 1024 if sys.platform == "darwin" else 1024)
