"""What a worker process of a ProcessSessionPool does: builds once, then runs one job after another.

::

    the pool's thread                                 this process, forked from the warm server
      Setup ──────────────▶ Channel (it comes as stdin) ─▶ set up: plan, session, graph, model
      ◀── Reply ─────────────────────────────────────────── ready, or why not
      (function, args, kwargs, name) ───────────────────▶ unpickle, run, pickle
      ◀── Reply ─────────────────────────────────────────── result, or exception; whether this worker may go on
      close ────────────────────────────────────────────▶ end

Jobs run in the main thread. Whatever a job raises, ``SystemExit`` included, is its reply; what ends the process instead
is told by the end of the channel.
"""

from __future__ import annotations

import contextlib
import faulthandler
import importlib
import os
import socket
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tf1sessions.pools.arrays import Channel
from tf1sessions.pools.packing import pack, unpack

__all__ = ["Reply", "Setup", "preload", "preload_tf1", "preload_tf2", "work"]


@dataclass(frozen=True)
class Setup:
    """What a worker makes before its first job.

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


@dataclass(frozen=True)
class Reply:
    """The end of a job, or of the setup.

    Attributes:
        result: What the job returned.
        errors: What was raised, and its causes.
        traceback: Of all of them.
        place: In which step that was: ``"unpickle"``, ``"build"``, ``"run"``, ``"return"``.
        may_go_on: False when the job has left something behind, and the next one needs another process.
    """

    result: Any = None
    errors: tuple[BaseException, ...] = ()
    traceback: str = ""
    place: str = ""
    may_go_on: bool = True

    def parts(self) -> tuple[Any, ...]:
        """What is sent: a tuple takes a sixth of the time that an object of a class does."""
        return self.result, self.errors, self.traceback, self.place, self.may_go_on


def preload() -> None:
    """What every worker needs was imported with this module; TensorFlow was not."""


def preload_tf1() -> None:
    """Import TensorFlow and what graph sessions need. Makes no session and runs no operation."""
    importlib.import_module("tf1sessions.pools.threads")
    importlib.import_module("tf1sessions.models.model")


def preload_tf2() -> None:
    """Import TensorFlow and its Keras. Runs no operation."""
    runtime = importlib.import_module("tf1sessions.runtime")
    runtime.tf.keras.layers.Layer  # noqa: B018 - it is loaded when it is used first


def work(payload: Mapping[str, Any]) -> int:
    """A worker's life; the target of its :class:`~tf1sessions.pools.server.WorkerSpec`."""
    connection = socket.socket(fileno=os.dup(0))
    with open(os.devnull, "rb") as null:
        os.dup2(null.fileno(), 0)
    faulthandler.enable()  # the Python stack of a crash belongs to the error that it causes
    sys.path[:] = payload["path"]
    with Channel(connection, "the pool") as channel, contextlib.ExitStack() as stack:
        setup, reply = _receive(channel)
        jobs: _Jobs | None = None
        if not reply:
            try:
                jobs = _Jobs(payload["mode"], payload["v1"], setup, stack)
                reply = Reply()
            except BaseException as error:  # noqa: BLE001 - it is the first job's, whatever it is
                reply = _failure(error, "build")
        _send(channel, reply)
        while jobs is not None:
            reply = None  # its arrays, and the job's, must not outlive it
            channel.poll(None)
            job, reply = _receive(channel)
            if not reply:
                reply = jobs.run(*job)
            job = None
            _send(channel, reply)
            if not reply.may_go_on:
                return 0
    return 0


def _receive(channel: Channel) -> tuple[Any, Reply | None]:
    """The next message; or what unpickling it raised. Ends the process when the pool has gone."""
    try:
        return channel.recv(), None
    except BaseException as error:  # noqa: BLE001 - whatever a foreign __setstate__ raises
        if channel.closed:
            sys.exit(0)
        return None, _failure(error, "unpickle")


def _send(channel: Channel, reply: Reply) -> None:
    try:
        channel.send(reply.parts())
    except BaseException as error:  # noqa: BLE001 - whatever a foreign __reduce__ raises
        if channel.closed:
            sys.exit(0)
        channel.send(_failure(error, "return", reply.may_go_on).parts())


class _Jobs:
    """Runs jobs, with what was made once for all of them."""

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
        if setup.model is not None:
            load = importlib.import_module("tf1sessions.models.model").load
            self._first = (stack.enter_context(load(**setup.model)),)
        elif mode == "tf2" and setup.initializer is not None:
            self._first = (setup.initializer(*setup.initargs),)
        elif setup.initializer is not None:
            self._session = stack.enter_context(contextlib.closing(self._new_session("worker")))
            with self._session.as_default():
                self._session.built = setup.initializer(self._session, *setup.initargs)
                self._session.seal()

    def _new_session(self, name: str) -> Any:
        return importlib.import_module("tf1sessions.sessions.session").GraphSession(self._config, name=name)

    def run(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], name: str) -> Reply:
        """One job, to its end."""
        try:
            if self._graphs:
                return self._run_with_session(function, args, kwargs, name)
            return Reply(function(*self._first, *args, **kwargs))
        except BaseException as error:  # noqa: BLE001 - it becomes the Future's exception, whatever it is
            return _failure(error, "run")

    def _run_with_session(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], name: str
    ) -> Reply:
        leave = importlib.import_module("tf1sessions.pools.threads").leave
        session = self._session or self._new_session(name)
        defaults = session.as_default()
        defaults.__enter__()
        clean = False
        try:
            try:
                result = function(session, *args, **kwargs)
            finally:
                clean = leave(defaults)
        except BaseException as error:  # noqa: BLE001 - as above
            return _failure(error, "run", clean and not (self._session and session.closed))
        finally:
            if session is not self._session:
                session.close()
        return Reply(result, may_go_on=clean and not (self._session and session.closed))


def _failure(error: BaseException, place: str, may_go_on: bool = True) -> Reply:
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
    except BaseException:  # noqa: BLE001 - whatever a foreign __reduce__ or __init__ raises
        return RuntimeError(f"{type(error).__qualname__}: {error}")
    return (
        error if type(again).__name__ == type(error).__name__ else RuntimeError(f"{type(error).__qualname__}: {error}")
    )
