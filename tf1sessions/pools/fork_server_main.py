"""The main program of the fork server, and of the workers that it makes. Standard library only.

Data flow::

    caller's process                server's process                         a worker's process
    WorkerServer ──spawn + 3 fds──▶ _ForkServer.serve(), a thread ─fork─▶ _become_worker(), function(payload)
                 ──signal, kill───▶   │        └─────────── fork + exec ──▶ the same in a fresh interpreter ("cold")
    reader thread ◀─ready, forked,──  ├─ report pipe ◀──"+", or why not──── just before function(payload) is called
                    ended             └─ SIGCHLD ◀───────────────────────── ended, or an orphan of it (subreaper)

The server, step by step: run the preload functions; send "ready"; then wait in one ``select`` for requests, reports and
ends of children. A request is queued and forked at the top of the loop, so that the child returns from
:meth:`_ForkServer.serve` and runs its job in :func:`main`, a few frames above it, and ends as an interpreter ends:
threads joined, ``atexit`` run, streams flushed. When a job's main process has ended, what it left behind (found by
session, process group, descent and the mark ``TF1SESSIONS_JOB`` in its environment) has a moment to end by itself, then
gets SIGTERM, then SIGKILL; only then "ended" is sent. When the control socket closes, or the caller's process is gone,
every job is ended the same way. Signals that would end the server are ignored: any job can send them to its parent
process.

A fork of the user's server is asked for before its caller knows the first job. So it forks the first worker at once
(:meth:`_ForkServer._fork_ahead`), which copies the memory that it will write to (written_pages.py) and waits for its
request.

A message is a 4-byte length and JSON; a spawn request carries three file descriptors with its first byte, or four: the
last one is kept open until the job is over.
Attention: nothing here is thread-safe; the server's process has one thread.
"""

from __future__ import annotations

import ctypes
import errno
import gc
import importlib
import io
import json
import os
import select
import selectors
import signal
import socket
import sys
import tempfile
import time
import traceback
import warnings
from array import array
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, NoReturn

from tf1sessions.pools.boot import BOOT
from tf1sessions.pools.cold_starts import INSPECT, cold_start_reasons, given_environment
from tf1sessions.pools.hidden_modules import forget_hidden, hides_standard_library, preloaded
from tf1sessions.pools.interpreter_end import ServerModules
from tf1sessions.pools.job_processes import (
    GIVE_UP_SECS,
    MARK,
    POLL_SECS,
    SETTLE_SECS,
    TERM_SECS,
    has_returned,
    job_processes,
    note_return,
    process_table,
    signal_processes,
)
from tf1sessions.pools.messages import receive, send
from tf1sessions.pools.written_pages import copy_pages

__all__ = ["main"]

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36  # linux/prctl.h
# Signals that the server keeps as they are: those that cannot be caught, and those of a crash, which is to be one.
_NOT_IGNORED = frozenset({
    signal.SIGKILL, signal.SIGSTOP, signal.SIGCONT, signal.SIGCHLD, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE,
    signal.SIGILL, signal.SIGSEGV, signal.SIGSYS, signal.SIGTRAP,
})  # fmt: skip


# -- the server -------------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class _WorkerRequest:
    number: int
    request: dict[str, Any]
    fds: list[int]  # of the worker's stdin, stdout and stderr; closed once it has started
    held: list[int]  # of the caller's, which is no worker's; closed when all of the job's processes have ended
    cold: tuple[str, ...]
    attempts: int = 0
    pid: int = 0
    report: int = -1  # the reading end of the pipe on which the worker writes "+", or why it cannot start
    reported: bytes = b""
    forked_at: float = 0.0
    ended: tuple[int, float, float] | None = None  # return code, seconds, peak MB of the main process
    stopped: bool = False  # it was asked to end: a failed start is not tried again
    signalled: bool = False  # that was before its main process had ended
    next_signal: int = signal.SIGTERM
    next_at: float | None = None  # when that is sent to all of its processes; None: not ending
    given_up_at: float = float("inf")
    leftovers: dict[int, str] = field(default_factory=dict)

    @property
    def started(self) -> bool:
        return self.reported.startswith(b"+")


@dataclass(eq=False)
class _WorkerAhead:
    """A worker that was forked before its request; it waits for that."""

    pid: int
    requests: socket.socket
    report: int  # as that of a request


class _ForkServer:
    """Serves one process, its caller.

    Args:
        control: The socket to the caller.
        modules: Those that this process has loaded.
        caller_pid: The caller.
        preload_children: Processes that the preload has started here, which are no job's.
        written: If the first worker is to be forked before it is asked for: the memory that it will write to.
    """

    def __init__(
        self,
        control: socket.socket,
        modules: ServerModules,
        caller_pid: int,
        preload_children: Collection[int],
        written: array[int] | None = None,
    ) -> None:
        self.environment = given_environment()
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.libc.getenv.restype = ctypes.c_void_p
        # The kernel shows a process's first environment block in /proc/<pid>/environ. A fork writes its mark into it.
        self.mark_at: int = self.libc.getenv(MARK.encode())
        self.control = control
        self.modules = modules
        self.preload_children = frozenset(preload_children)
        self.unknown: set[int] = set()  # orphans of one of several jobs: ended with the last, and named by none
        self.jobs: dict[int, _WorkerRequest] = {}
        self.to_fork: deque[_WorkerRequest] = deque()
        self.closing = False
        self.selector = selectors.DefaultSelector()
        self.wake_in, self.wake_out = socket.socketpair()
        self.caller_pid = caller_pid
        self.caller = -1  # a descriptor of it
        self.handlers: dict[int, Any] = {}
        self.written = written
        self.ahead: _WorkerAhead | None = None

    def serve(self) -> _WorkerRequest | None:
        """Serve until asked to end. Returns None then, and the job in each forked child."""
        self._prepare()
        send(self.control, {"event": "ready", "pid": os.getpid()})
        if self.written is not None and not _has_message(self.control):
            first = self._fork_ahead(self.written)
            if first is not None:
                return first
        while True:
            while self.to_fork:
                job = self.to_fork.popleft()
                if job.ended and job.stopped:  # asked to end after a failed start
                    job.next_at = time.monotonic()
                elif self._fork(job):
                    return job
            timeout = self._end_jobs()
            if self.closing and not self.jobs:
                self._end_ahead()
                return None
            for key, _ in self.selector.select(timeout):
                if self.selector.get_map().get(key.fileobj) is key:  # not ended by what came before it
                    key.data()

    def _prepare(self) -> None:
        _prctl(self.libc, _PR_SET_CHILD_SUBREAPER, 1)
        # A job may have stopped this process when the caller is killed, which then sees nothing of that.
        _prctl(self.libc, _PR_SET_PDEATHSIG, signal.SIGCONT)
        self.wake_in.setblocking(False)
        self.wake_out.setblocking(False)
        signal.set_wakeup_fd(self.wake_out.fileno(), warn_on_full_buffer=False)
        self._ignore_signals()
        self.selector.register(self.wake_in, selectors.EVENT_READ, self._on_signal)
        self.selector.register(self.control, selectors.EVENT_READ, self._on_message)
        if hasattr(os, "pidfd_open"):  # a fork of the caller may keep the control socket open when the caller has ended
            try:
                self.caller = os.pidfd_open(self.caller_pid)
                self.selector.register(self.caller, selectors.EVENT_READ, self._close)
            except OSError:  # an old kernel; or it has gone already, and the control socket says so
                self.caller = -1
        sys.stdout.flush()
        sys.stderr.flush()
        gc.freeze()  # with the little garbage of the imports, which would take longer to find than it is worth

    def _ignore_signals(self) -> None:
        """Ignore what would end this process: a signal of one job to its parent would cost the others.

        By handlers, which a fresh interpreter that a worker executes does not inherit.
        """
        for signum in {signal.SIGCHLD} | signal.valid_signals() - _NOT_IGNORED:
            if signum == signal.SIGCHLD or signal.getsignal(signum) in (signal.SIG_DFL, signal.default_int_handler):
                self.handlers[signum] = signal.signal(signum, lambda *_: None)

    # -- what happens --

    def _on_message(self) -> None:
        message, fds = receive(self.control)
        if message is None:
            self.selector.unregister(self.control)
            self._close()
            return
        job = self.jobs.get(message.get("job", -1))
        match message["do"]:
            case "spawn" if self.closing:
                _close_all(fds)
            case "spawn" if len(fds) != 3 + message["holds"]:
                _close_all(fds)
                error = "its descriptors did not arrive; too many files are open in the fork server"
                self._send_event({"event": "refused", "job": message["job"], "error": error})
            case "spawn":
                payload, env = message["payload"], message["env"]
                cold = tuple(message["cold"])
                cold = cold or cold_start_reasons(self.environment, env, self.modules.hideable, payload.get("path0"))
                job = self.jobs[message["job"]] = _WorkerRequest(message["job"], message, fds[:3], fds[3:], cold)
                self.to_fork.append(job)
            case "signal" if job is not None:
                if message["signum"] not in (signal.SIGSTOP, signal.SIGCONT):
                    if job.pid and has_returned(job.pid):  # it ends by itself, with the exit code that it has earned
                        return
                    job.stopped = True
                    job.signalled = job.signalled or not job.ended
                self._signal(job, message["signum"])
            case "pass on" if job is not None:
                if job.pid and not job.ended and not has_returned(job.pid):
                    os.kill(job.pid, message["signum"])
            case "kill" if job is not None:
                job.stopped = True
                job.signalled = job.signalled or not job.ended
                job.next_signal, job.next_at = signal.SIGKILL, time.monotonic()
            case "close":
                self._close()

    def _signal(self, job: _WorkerRequest, signum: int) -> None:
        if job.ended:  # its process id may be another's by now
            return
        for deliver in (os.killpg, os.kill):  # a worker that was just forked has no process group yet
            try:
                return deliver(job.pid, signum)
            except (ProcessLookupError, PermissionError):
                continue

    def _on_signal(self) -> None:
        self.wake_in.recv(4096)
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if self.ahead is not None and self.ahead.pid == pid:
                self._end_ahead()
            for job in self.jobs.values():
                if job.pid == pid and job.ended is None:
                    self._main_ended(job, os.waitstatus_to_exitcode(status), usage.ru_maxrss / 1024)
                    break

    def _close(self) -> None:
        if self.closing:
            return
        self.closing = True
        if self.caller >= 0:
            self.selector.unregister(self.caller)
        for job in self.jobs.values():
            job.stopped = True
            if job.next_at is None:
                job.next_at = time.monotonic()

    def _send_event(self, message: Mapping[str, Any]) -> None:
        try:
            send(self.control, message)
        except OSError:  # the caller is gone
            self._close()

    # -- a job's life --

    def _fork(self, job: _WorkerRequest) -> bool:
        """Fork the worker; True in the child."""
        job.attempts += 1
        job.reported, job.ended = b"", None
        job.forked_at = time.monotonic()
        if not self._give_to_ahead(job):
            try:
                job.pid, job.report = _fork_with_report()
            except OSError as error:
                self._fork_failed(job, error)
                return False
            if job.pid == 0:
                self._leave(job)
                return True
        os.set_blocking(job.report, False)
        self.selector.register(job.report, selectors.EVENT_READ, lambda: self._on_report(job))
        self._send_event({"event": "forked", "job": job.number, "pid": job.pid, "cold": job.cold})
        return False

    def _fork_ahead(self, written: array[int]) -> _WorkerRequest | None:
        """Fork the first worker; in the child, return its request when it has come."""
        ours, theirs = socket.socketpair()
        try:
            pid, report = _fork_with_report()
        except OSError:  # the next one may be forked
            ours.close()
            theirs.close()
            return None
        if pid:
            theirs.close()
            self.ahead = _WorkerAhead(pid, ours, report)
            return None
        ours.close()
        self._leave()
        copy_pages(written, lambda: _has_message(theirs))
        message, fds = receive(theirs)
        theirs.close()
        if message is None:  # there is none
            os._exit(0)
        request = message["request"]
        return _WorkerRequest(request["job"], request, fds, [], tuple(message["cold"]), report=report)

    def _give_to_ahead(self, job: _WorkerRequest) -> bool:
        """Give the job to the worker that was forked ahead, where there is one."""
        ahead, self.ahead = self.ahead, None
        if ahead is None:
            return False
        job.pid, job.report = ahead.pid, ahead.report
        with ahead.requests:
            try:
                send(ahead.requests, {"request": job.request, "cold": job.cold}, job.fds)
            except OSError:  # it was killed
                os.close(job.report)
                return False
        return True

    def _end_ahead(self) -> None:
        """Take leave of the worker that was forked ahead, and is not needed or was killed."""
        if self.ahead is not None:
            self.ahead.requests.close()
            os.close(self.ahead.report)
            self.ahead = None

    def _fork_failed(self, job: _WorkerRequest, error: OSError) -> None:
        if job.attempts < 2 and not self.closing:
            self.to_fork.append(job)
        else:
            _close_all([*job.fds, *job.held])
            del self.jobs[job.number]
            self._send_event({"event": "refused", "job": job.number, "error": str(error)})

    def _leave(self, job: _WorkerRequest | None = None) -> None:
        """In the child, of this job: drop what is the server's."""
        signal.set_wakeup_fd(-1)
        for signum, handler in self.handlers.items():
            signal.signal(signum, handler)
        for other in self.jobs.values():
            _close_all(other.held)
            if other is not job:
                _close_all(other.fds)
                if other.report >= 0:
                    os.close(other.report)
        self.selector.close()
        for end in (self.control, self.wake_in, self.wake_out):
            end.close()
        if self.caller >= 0:
            os.close(self.caller)
        gc.enable()  # what was frozen stays so: a collection that touched it would copy hundreds of MB

    def _on_report(self, job: _WorkerRequest, last: bool = False) -> None:
        try:
            chunk = os.read(job.report, 65536)
        except BlockingIOError:
            chunk = b""
            if not last:
                return
        job.reported += chunk
        if job.started or not chunk:
            self.selector.unregister(job.report)
            os.close(job.report)
            job.report = -1
        if job.started:
            _close_all(job.fds)
            job.fds = []

    def _main_ended(self, job: _WorkerRequest, returncode: int, peak_mb: float) -> None:
        while job.report >= 0:
            self._on_report(job, last=True)
        job.ended = returncode, time.monotonic() - job.forked_at, peak_mb
        if not job.started and job.attempts < 2 and not job.stopped:
            self.to_fork.append(job)
        elif job.next_at is None:
            job.next_at = time.monotonic() + SETTLE_SECS

    def _end_jobs(self) -> float | None:
        """Take the jobs that are ending one step on. Returns the seconds until the next look, None when none is."""
        for job in [job for job in self.jobs.values() if job.next_at is not None and job.pid]:
            # With no other job, an orphan that hides its origin can only be this one's (or an earlier one's).
            adopted = os.getpid() if len(self.jobs) == 1 else None
            try:
                found = job_processes(job.request["mark"], job.pid, adopted)
            except OSError as error:
                if error.errno != errno.EMFILE:
                    raise
                continue  # soon other jobs have started, and need fewer
            alive = {pid: command for pid, command in found.items() if pid not in self.preload_children}
            if not job.ended:
                alive[job.pid] = ""
            now = time.monotonic()
            if job.ended and (not alive or now > job.given_up_at):
                self._finish(job)
            elif job.next_at is not None and now >= job.next_at:
                signal_processes(alive, job.next_signal)
                if job.ended:
                    job.leftovers |= {pid: command for pid, command in alive.items() if pid not in self.unknown}
                if job.next_signal == signal.SIGTERM:
                    job.next_signal, job.next_at = signal.SIGKILL, now + TERM_SECS
                else:
                    job.next_at = now + 2 * POLL_SECS
                    job.given_up_at = min(job.given_up_at, now + GIVE_UP_SECS)
        return POLL_SECS if any(job.next_at is not None for job in self.jobs.values()) else None

    def _finish(self, job: _WorkerRequest) -> None:
        assert job.ended is not None
        _close_all([*job.fds, *job.held])
        del self.jobs[job.number]
        self.unknown = self._orphans() if self.jobs else set()
        returncode, seconds, peak_mb = job.ended
        self._send_event({
            "event": "ended",
            "job": job.number,
            "returncode": returncode,
            "seconds": seconds,
            "peak_memory_mb": peak_mb,
            "started": job.started,
            "start_error": "" if job.started else job.reported[1:].decode(errors="replace"),
            "leftovers": [f"{pid} {command}" for pid, command in job.leftovers.items()],
            "signalled": job.signalled,
        })  # fmt: skip

    def _orphans(self) -> set[int]:
        """Processes that this one has adopted, and that may be any running job's."""
        adopted = {pid for pid, entry in process_table().items() if entry.parent == os.getpid()} - self.preload_children
        for job in self.jobs.values():
            adopted -= {job.pid, *job_processes(job.request["mark"], job.pid)}
        return adopted


def _fork_with_report() -> tuple[int, int]:
    """Fork, with all signals blocked in the child until it has its own handlers.

    Returns:
        As :func:`os.fork`, and this side's end of a pipe: the parent reads from it, the child writes to it.
    """
    pid = -1
    ours, report = os.pipe()
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    try:
        with warnings.catch_warnings():
            # Python warns where libraries have threads; OpenBLAS's and TensorFlow's are fork-safe.
            warnings.simplefilter("ignore", DeprecationWarning)
            pid = os.fork()
    finally:
        if pid != 0:
            os.close(report)
            signal.pthread_sigmask(signal.SIG_SETMASK, ())
        if pid <= 0:
            os.close(ours)
    return (pid, ours) if pid else (0, report)


def _has_message(control: socket.socket) -> bool:
    return bool(select.select([control], [], [], 0)[0])


def _prctl(libc: ctypes.CDLL, option: int, value: int) -> None:
    """Call Linux's ``prctl()``; on other platforms do nothing."""
    if sys.platform.startswith("linux"):
        libc.prctl(option, value, 0, 0, 0)


def _close_all(fds: Iterable[int]) -> None:
    for fd in fds:
        os.close(fd)


# -- a worker ---------------------------------------------------------------------------------------------------------


def main(argv: list[str], at_start: Collection[str]) -> int:
    """Be what the arguments say.

    ``serve FD PRELOAD...``: the fork server of the process that started this one. ``stay SOCKET IDLE PRELOAD...``: a
    server of the user's, each of whose forks serves one process (user_server_main.py). ``work REQUEST REPORT``: a cold
    worker; a descriptor each.
    """
    if argv[0] == "work":
        request_from, report_to = map(int, argv[1:])
        os.set_inheritable(report_to, False)
        with open(request_from, "rb") as file:
            request = json.load(file)
        return _work(request, report_to, lambda: _start_cold(request, at_start))

    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    modules = ServerModules(at_start)
    written: array[int] | None = None
    preload_children: Collection[int] = ()  # a fork of the user's server has no children, nor has anything its mark
    if argv[0] == "serve":
        preload = argv[2:]
        control, caller_pid = socket.socket(fileno=int(argv[1])), os.getppid()
        _preload(preload, modules)
        preload_children = job_processes(given_environment()[MARK], parent=os.getpid())
    else:
        from tf1sessions.pools.user_server_main import UserServerProcess  # for Linux only

        preload = argv[3:]
        caller = UserServerProcess(argv[1], float(argv[2])).serve(lambda: _preload(preload, modules))
        if caller is None:
            return 0
        control, caller_pid, written = caller
    server_pid = os.getpid()
    server = _ForkServer(control, modules, caller_pid, preload_children, written)
    job = server.serve()
    if job is None:
        if argv[0] == "stay":
            control.close()  # the caller hears of the end now, and not when the kernel has taken the memory apart
            os._exit(0)  # what ends with an interpreter is the server's, of which this is a fork
        return 0
    mark_at, libc, python_argv = server.mark_at, server.libc, [sys.executable, "-c", BOOT, sys.argv[1]]
    job.request["preload"] = preload
    del server
    code = _work(job.request, job.report, lambda: _become_worker(job, server_pid, libc, mark_at, python_argv, modules))
    modules.exit_code = code
    return code


def _preload(names: list[str], modules: ServerModules) -> list[Callable[[], None]]:
    """Call the preload functions, and return what they return: functions that do what jobs will do."""
    # Imports make objects that stay: looking through them again and again takes a tenth of TensorFlow's import. Later a
    # collection would touch, and so copy, every page that the children share.
    gc.disable()
    returned = [_resolve(name)() for name in names]
    modules.note()
    return [rehearse for rehearse in returned if rehearse is not None]


def _work(request: dict[str, Any], report_to: int, start: Callable[[], None]) -> int:
    """Run the job of this process. Returns its exit code; an exception of the job goes up to the interpreter."""
    with open(report_to, "wb", buffering=0) as report:
        try:
            start()
            function = _resolve(request["target"])
        except KeyboardInterrupt:
            report.write(b"-interrupted\n")
            _raise_unseen()
        except BaseException as error:
            said = f"{error}\n" if isinstance(error, _FolderGone) else traceback.format_exc()
            report.write(b"-" + said.encode(errors="replace")[-32000:])
            return 1
        report.write(b"+")
    try:
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
    except KeyboardInterrupt:
        _raise_unseen()
    code = int(function(request["payload"]) or 0)
    note_return()
    return code


def _raise_unseen() -> NoReturn:
    """Raise the KeyboardInterrupt that came before the job's first line: a traceback would show lines of ours only."""
    sys.excepthook = lambda *error: None
    raise  # the one that is handled where this is called


class _FolderGone(Exception):
    """The worker's folder was there when it was asked for, and is not any more; the message is for the user."""


def _become_worker(
    job: _WorkerRequest,
    server_pid: int,
    libc: ctypes.CDLL,
    mark_at: int,
    python_argv: list[str],
    modules: ServerModules,
) -> None:
    """Make this fork of the server a process of its own, with the job's descriptors, folder and environment."""
    os.setsid()
    _prctl(libc, _PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != server_pid:  # it died before the line above
        os._exit(1)
    for target, fd in enumerate(job.fds):
        os.dup2(fd, target)
    _close_all(job.fds)
    try:
        os.chdir(job.request["cwd"])
    except OSError as error:
        raise _FolderGone(f"its working directory cannot be entered: {error}") from error
    signal.signal(signal.SIGINT, signal.default_int_handler)  # even where this was started with it ignored
    environment = job.request["env"] | {MARK: job.request["mark"]}
    if job.cold:
        _become_cold(job, environment, python_argv)
    os.environ.clear()
    os.environ.update(environment)
    mark = job.request["mark"].encode()
    ctypes.memmove(mark_at, mark, len(mark))
    time.tzset()
    sys.stdin = sys.__stdin__ = _text_stream(0, "r", sys.__stdin__)  # type: ignore[misc]
    sys.stdout = sys.__stdout__ = _text_stream(1, "w", sys.__stdout__)  # type: ignore[misc]
    sys.stderr = sys.__stderr__ = _text_stream(2, "w", sys.__stderr__)  # type: ignore[misc]
    tempfile.tempdir = None  # it may have been found with the server's TMPDIR
    _forget_shared_randomness(sys.modules)
    _resolve(job.request["target"])
    forget_hidden(modules.hideable, job.request["payload"].get("path0"))
    modules.leave_alone()


def _become_cold(job: _WorkerRequest, environment: dict[str, str], python_argv: list[str]) -> None:
    """Replace this process by a fresh interpreter that runs the job."""
    with tempfile.TemporaryFile() as file:
        file.write(json.dumps(job.request).encode())
        file.flush()
        file.seek(0)
        os.set_inheritable(file.fileno(), True)
        os.set_inheritable(job.report, True)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        os.execve(
            python_argv[0],
            [*python_argv, "work", str(file.fileno()), str(job.report)],
            environment | {INSPECT: ""},  # which is as if it were not there
        )


def _start_cold(request: dict[str, Any], at_start: Collection[str]) -> None:
    """Make a fresh interpreter ready; what the job's folder hides is hidden, as under ``python SCRIPT``.

    Nothing but the target is imported: to preload would save nothing, and the job may do without what is preloaded, or
    have modules of its own that are in its way. But where the folder has a namesake of the standard library, such as a
    module ``html.py``, all is imported first: TensorFlow and we need the module that it hides.
    """
    os.environ.pop(INSPECT, None)
    os.environ.update({name: value for name, value in request["env"].items() if name == INSPECT})
    signal.signal(signal.SIGINT, signal.default_int_handler)  # even where this was started with it ignored
    path0 = request["payload"].get("path0")
    if not hides_standard_library(at_start, path0):
        forget_hidden(preloaded(at_start), path0)
        sys.path[:0] = [path0] if path0 else []
        _resolve(request["target"])
        del sys.path[: 1 if path0 else 0]
        return
    for name in request["preload"]:
        _resolve(name)()
    _resolve(request["target"])
    forget_hidden(preloaded(at_start), path0)


def _text_stream(fd: int, mode: str, like: Any) -> io.TextIOWrapper:
    """A standard stream as an interpreter that starts with this descriptor makes it."""
    raw = io.FileIO(fd, mode, closefd=False)
    raw.name = like.name
    buffer: Any = raw if like.write_through else io.BufferedReader(raw) if mode == "r" else io.BufferedWriter(raw)
    stream = io.TextIOWrapper(
        buffer,
        encoding=like.encoding,
        errors=like.errors,
        newline="\n",
        line_buffering=raw.isatty() or fd == 2,
        write_through=like.write_through,  # python -u
    )
    vars(stream)["mode"] = mode
    return stream


def _forget_shared_randomness(modules: Mapping[str, ModuleType]) -> None:
    """Give this fork random states of its own; Python's ``random`` does that by itself."""
    if "numpy.random" in modules:
        modules["numpy.random"].seed()
    if "multiprocessing.process" in modules:
        modules["multiprocessing.process"].current_process().authkey = os.urandom(32)


def _resolve(name: str) -> Callable[..., Any]:
    module, _, attribute = name.partition(":")
    function: Callable[..., Any] = getattr(importlib.import_module(module), attribute)
    return function
