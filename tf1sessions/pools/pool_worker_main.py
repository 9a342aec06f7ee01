"""The program of a ProcessSessionPool's worker: builds once, then runs one job after another.

::

    the pool's dispatcher                             this process, a fork of the warm server
      the status page and Setup ─▶ Channel (it comes as stdin) ─▶ set up: plan, session, graph, model
      ◀── Reply ──────────────────────────────────────────────── ready, or why not
      message of jobs ─────────────────────────────────────────▶ each: note that it begins, unpickle, run, pickle
      ◀── Reply, on the page if it is small and not the last ─── result, or exception; whether this worker may go on
      ◀── message (no more, or the last reply) ───────────────── all that were to begin have ended
      close ───────────────────────────────────────────────────▶ end

Jobs run in the main thread. Whatever a job raises, ``SystemExit`` included, is its reply; where the process ends
instead, the pool sees the end of the channel, and on the status page which job that was.

A job may fork. Its child has the frames of this module below those of the job, but nothing here is its own: the channel
is closed in it at once, and it ends where the code of the job ends in it.
"""

from __future__ import annotations

import atexit
import contextlib
import faulthandler
import functools
import importlib
import os
import pickle
import socket
import struct
import sys
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from tf1sessions.pools.arrays import Channel
from tf1sessions.pools.function_pickles import FunctionReader
from tf1sessions.pools.hidden_modules import hides_standard_library
from tf1sessions.pools.job_serialization import ReceivedJob, is_plain, read_message
from tf1sessions.pools.packing import Packed, pack, unpack
from tf1sessions.pools.segments import identity_of
from tf1sessions.pools.shared_status import SharedStatus
from tf1sessions.texts import text_of

__all__ = [
    "REPLY_HEAD",
    "Reply",
    "SessionJobs",
    "Setup",
    "failure_here",
    "preload",
    "preload_tf1",
    "preload_tf2",
    "unpack_reply",
    "work",
    "worker_failure",
]

REPLY_HEAD = struct.Struct("=i??d")
"""What a message to the pool begins with: which of the jobs it is the reply of, or -1; whether it is the last; whether
it is the pickle of a plain result, and not of a whole Reply; the seconds that the job took."""


@dataclass(frozen=True)
class Setup:
    """The preparation of a worker before its first job.

    Attributes:
        config: Of its sessions.
        initializer, initargs: What builds its graph, or makes what eager jobs get.
        model: Arguments of :func:`tf1sessions.load`.
        plan: A MemoryPlan, and ``number`` says which of its workers this is.
    """

    config: Any
    initializer: Callable[..., Any] | None
    initargs: tuple[Any, ...]
    model: Mapping[str, Any] | None
    plan: Any
    number: int


@dataclass
class Reply:
    """The end of a job, or of the setup; not frozen, because that takes three times as long to make."""

    result: Any = None  # what the job returned
    errors: tuple[BaseException, ...] = ()  # what was raised, and its causes
    traceback: str = ""  # of all of them
    place: str = ""  # in which step that was: "unpickle", "build", "run", "return"
    may_go_on: bool = True  # false when the job has left something behind, and the next one needs another process
    seconds: float = 0.0  # that it took

    def parts(self) -> tuple[Any, ...]:
        """Return the parts to send: a tuple takes a sixth of the time that an object of a class does."""
        return self.result, self.errors, self.traceback, self.place, self.may_go_on, self.seconds


def failure_here(error: BaseException, place: str) -> Reply:
    """Make the reply for an exception in the pool's own process.

    Its traceback becomes text, because the frames that it refers to would keep other jobs and results.
    """
    text = "".join(traceback.format_exception(error)).rstrip()
    error.__traceback__ = error.__context__ = None
    return Reply(errors=(error,), traceback=f"In process {os.getpid()}, of the pool:\n\n{text}", place=place)


def unpack_reply(stream: Any, buffers: Any) -> Reply:
    """A reply that was sent.

    Raises:
        Exception: What unpickling raises.
    """
    return Reply(*unpack(stream, buffers))


def preload() -> None:
    """Import what every worker needs: that came with this module; TensorFlow did not."""


def preload_tf1() -> None:
    """Import TensorFlow and what graph sessions need. Makes no session and runs no operation."""
    importlib.import_module("tf1sessions.pools.threads")
    importlib.import_module("tf1sessions.models.model")


def preload_tf2() -> None:
    """Import TensorFlow and its Keras. Runs no operation."""
    runtime = importlib.import_module("tf1sessions.runtime")
    runtime.tf.keras.layers.Layer  # noqa: B018 - it is loaded when it is used first


class _PoolGone(BaseException):
    """The pool has closed its end of the channel: no job is left, and the process ends.

    Args:
        by_a_job: Or a job has closed this process's end.
    """

    def __init__(self, by_a_job: bool = False) -> None:
        super().__init__()
        self.by_a_job = by_a_job


def work(payload: Mapping[str, Any]) -> int:
    """A worker's life; the target of its :class:`~tf1sessions.pools.fork_server.WorkerSpec`."""
    stderr = identity_of(2)
    try:
        _serve(payload)
    except _PoolGone as gone:
        if gone.by_a_job and identity_of(2) == stderr:
            os.write(2, b"the job has closed all descriptors, and with them the connection to the pool\n")
    _end_process()


def _serve(payload: Mapping[str, Any]) -> None:
    connection = socket.socket(fileno=os.dup(0))
    with open(os.devnull, "rb") as null:
        os.dup2(null.fileno(), 0)
    faulthandler.enable()  # the Python stack of a crash belongs to the error that it causes
    _, descriptors, _, _ = socket.recv_fds(connection, 1, 1)
    if not descriptors:
        raise _PoolGone
    status = SharedStatus(descriptors[0])
    os.close(descriptors[0])
    with Channel(connection, "the pool") as channel, contextlib.ExitStack() as stack:
        # A child that outlives this process would keep the pool waiting for the channel's end.
        os.register_at_fork(after_in_child=functools.partial(_close_descriptor, connection))
        try:
            jobs = _set_up(channel, payload, stack)
            reply = Reply()
        except BaseException as error:  # noqa: BLE001 - it is the first job's, whatever it is
            jobs, reply = None, worker_failure(error, "build")
        _send(channel, pack(reply.parts(), channel.in_band))
        while jobs is not None and _work_on(channel, status, jobs):
            pass


def _end_process() -> NoReturn:
    """End this process as ``multiprocessing`` ends its children: exit handlers run, modules are not taken apart.

    That would take a third of a second where TensorFlow is imported, for which the pool's shutdown() would wait.
    """
    threading._shutdown()  # type: ignore[attr-defined]  # waits for threads, as the interpreter does at its end
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):  # it is full, gone or closed
            stream.flush()
    os._exit(0)


def _close_descriptor(connection: socket.socket) -> None:
    descriptor = connection.detach()
    if descriptor >= 0:
        os.close(descriptor)


def _of_this_process(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Calls a function of the user's; a child that it forks, and that comes back from it, ends here.

    Such a child ends as one of ``multiprocessing`` does: its buffers are written, exit handlers are not called, an
    exception is printed and its exit code is 1.
    """
    worker = os.getpid()
    try:
        return function(*args, **kwargs)
    finally:
        if os.getpid() != worker:
            _end_child(sys.exc_info()[1])


def _end_child(error: BaseException | None) -> NoReturn:
    code = 0
    try:
        if isinstance(error, SystemExit):
            code = error.code if isinstance(error.code, int) else 0 if error.code is None else 1
            if code == 1 and not isinstance(error.code, int):
                print(error.code, file=sys.stderr)
        elif error is not None:
            code = 1
            traceback.print_exception(error)
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
    finally:
        os._exit(code & 0xFF)


def _set_up(channel: Channel, payload: Mapping[str, Any], stack: contextlib.ExitStack) -> SessionJobs:
    is_hidden = any(hides_standard_library(sys.modules, entry) for entry in payload["path"][:1])
    if payload["prepare"]:
        _of_this_process(exec, payload["prepare"], {})
    elif payload["mode"] == "tf1":  # sessions that jobs make themselves cost what ours do
        importlib.import_module("tf1sessions.sessions.calls").install_fast_path()
    if is_hidden:
        importlib.import_module("tf1sessions.runtime")  # while no file of the program's is in TensorFlow's way
    sys.path[:] = payload["path"]
    stream, buffers = _receive(channel)
    setup: Setup = unpack(stream, buffers)
    return SessionJobs(payload["mode"], payload["v1"], setup, stack)


def _work_on(channel: Channel, status: SharedStatus, jobs: SessionJobs) -> bool:
    """Runs the jobs of the next message; nothing of them outlives it. False when no other job may be run here."""
    stream, buffers = _receive(channel)
    go_on, has_sent_last = True, False
    received = deque(read_message(stream))
    index = 0
    while received and status.begin(index):
        start = time.monotonic()
        reply = jobs.run_received(received.popleft(), buffers)
        go_on = reply.may_go_on
        if not go_on:
            received.clear()
        if not received:
            del stream, buffers  # so that the pool may use the memory of arrays for what it sends next
        reply.seconds = time.monotonic() - start
        has_sent_last = _answer(channel, status, index, reply, is_last=not received)
        index += 1
    if not has_sent_last:
        _send(channel, Packed([REPLY_HEAD.pack(-1, True, False, 0.0)]))
    return go_on


def _answer(channel: Channel, status: SharedStatus, index: int, reply: Reply, is_last: bool) -> bool:
    """Gives a reply, another one if it cannot be sent. Returns whether the pool knows that it is the last."""
    try:
        if not reply.errors and reply.may_go_on and is_plain(reply.result, channel.in_band):
            pickled = pickle.dumps(reply.result, 5)
            if is_last:  # a message is due, anyway
                _send(channel, Packed([REPLY_HEAD.pack(index, True, True, reply.seconds), pickled]))
                return True
            if status.post(index, True, pickled, reply.seconds):
                return False
        packed = pack(reply.parts(), channel.in_band)
        if not packed.buffers and status.post(index, False, b"".join(packed.stream), reply.seconds):
            return False
        packed.stream.insert(0, REPLY_HEAD.pack(index, is_last, False, reply.seconds))
        _send(channel, packed)
        return is_last
    except BaseException as error:  # whatever a foreign __reduce__ raises, and what is too long
        if channel.closed or reply.place == "return":
            raise
        return _answer(channel, status, index, worker_failure(error, "return", reply.may_go_on), is_last)


def _receive(channel: Channel) -> tuple[Any, Any]:
    """The next message.

    Raises:
        _PoolGone: There will be none.
    """
    try:
        return channel.recv_packed()
    except BaseException:
        if channel.closed:
            raise _PoolGone(channel.has_lost_descriptor) from None
        raise


def _send(channel: Channel, packed: Packed) -> None:
    try:
        channel.send_packed(packed)
    except BaseException:
        if channel.closed:
            raise _PoolGone(channel.has_lost_descriptor) from None
        raise


class SessionJobs:
    """Runs jobs, with what was made once for all of them. For the worker's main thread; also in workers on Ray.

    Args:
        mode, v1: Of the pool, and whether TensorFlow behaves as version 1.
        setup: What is made.
        stack: Closes it.
    """

    def __init__(self, mode: str, v1: bool, setup: Setup, stack: contextlib.ExitStack) -> None:
        if mode == "tf1" and v1:
            importlib.import_module("tf1sessions.runtime").enable_v1_behavior()
        if setup.plan is not None:
            setup.plan.wait_for_memory(setup.number)
            setup.plan.apply(setup.number)
        self._config = setup.config
        self._first: tuple[Any, ...] = ()
        self._graphs = mode == "tf1" and setup.model is None
        self._session: Any = None
        self._functions = FunctionReader()
        if setup.model is not None:
            load = importlib.import_module("tf1sessions.models.model").load
            self._first = (stack.enter_context(load(**setup.model)),)
        elif mode == "tf2" and setup.initializer is not None:
            self._first = (_of_this_process(setup.initializer, *setup.initargs),)
        elif setup.initializer is not None:
            self._session = stack.enter_context(contextlib.closing(self._new_session("worker")))
            with self._session.as_default():
                self._session.built = _of_this_process(setup.initializer, self._session, *setup.initargs)
                self._session.seal()

    def _new_session(self, name: str, late: bool = False) -> Any:
        return importlib.import_module("tf1sessions.sessions.session").GraphSession(self._config, name=name, late=late)

    def run_received(self, job: ReceivedJob, buffers: list[Any]) -> Reply:
        """Read one job, and run it to its end."""
        try:
            function, args, kwargs, name = _of_this_process(job.call, buffers, self._functions)
        except BaseException as error:  # noqa: BLE001 - whatever a foreign __setstate__ raises
            return worker_failure(error, "unpickle")
        return self.run(function, args, kwargs, name)

    def run(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], name: str) -> Reply:
        """One job, to its end."""
        try:
            if self._graphs:
                return self._run_with_session(function, args, kwargs, name)
            return Reply(_of_this_process(function, *self._first, *args, **kwargs))
        except BaseException as error:  # noqa: BLE001 - it becomes the Future's exception, whatever it is
            return worker_failure(error, "run")

    def _run_with_session(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], name: str
    ) -> Reply:
        leave = importlib.import_module("tf1sessions.pools.threads").leave
        # Late, because a job may make sessions of its own: the first settles the threads of all.
        session = self._session or self._new_session(name, late=True)
        defaults = session.as_default()
        defaults.__enter__()
        clean = False
        try:
            try:
                result = _of_this_process(function, session, *args, **kwargs)
            finally:
                clean = leave(defaults)
        except BaseException as error:  # noqa: BLE001 - as above
            return worker_failure(error, "run", clean and not (self._session and session.closed))
        finally:
            if session is not self._session:
                session.close()
        return Reply(result, may_go_on=clean and not (self._session and session.closed))


def worker_failure(error: BaseException, place: str, may_go_on: bool = True) -> Reply:
    """Make the reply for an exception in a worker."""
    text = "".join(traceback.format_exception(error)).rstrip()
    chain = [error]
    while (cause := chain[-1].__cause__) is not None and all(cause is not one for one in chain):
        chain.append(cause)
    return Reply(
        errors=tuple(map(_portable, chain)),
        traceback=f"In worker process {os.getpid()}:\n\n{text}",
        place=place,
        may_go_on=may_go_on,
    )


def _portable(error: BaseException) -> BaseException:
    """An exception that survives the way to the pool: itself if it does."""
    runtime = sys.modules.get("tf1sessions.runtime")
    if runtime is not None and isinstance(error, runtime.tf.errors.OpError):
        error = type(error)(error.node_def, None, error.message)  # its operation has a graph, which stays here
    try:
        packed = pack(error, float("inf"))
        again: BaseException = unpack(b"".join(packed.stream), ())
        if type(again).__name__ == type(error).__name__:
            return error
    except BaseException:  # noqa: BLE001 - whatever a foreign __reduce__ or __init__ raises
        pass
    return RuntimeError(f"{type(error).__qualname__}: {text_of(error)}")
