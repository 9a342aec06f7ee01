"""The fork server of a run, as the run sees it: what makes the processes of its jobs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from tf1sessions.pools.fork_server import WorkerResult, WorkerServer, WorkerSpec
from tf1sessions.pools.user_servers import PRELOADS, UserCall
from tf1sessions.scripts import early_calls
from tf1sessions.scripts.early_calls import base_environment

__all__ = ["EarlyServer", "Handle", "Server", "bare_server", "base_environment", "script_server"]


class Handle(Protocol):
    """The part of :class:`~tf1sessions.pools.fork_server.WorkerHandle` that a run needs."""

    @property
    def pid(self) -> int: ...

    @property
    def cold_reasons(self) -> tuple[str, ...]: ...

    def wait(self, timeout: float | None = None) -> WorkerResult | None: ...

    def signal(self, signum: int) -> None: ...

    def pass_on(self, signum: int) -> None: ...

    def kill(self) -> None: ...


class Server(Protocol):
    """The part of :class:`~tf1sessions.pools.fork_server.WorkerServer` that a run needs."""

    on_note: Callable[[str], None]

    def start(self) -> None: ...

    def wait_ready(self, timeout: float) -> None: ...

    def spawn(self, spec: WorkerSpec) -> Handle: ...

    def close(self) -> None: ...


def script_server(env: Mapping[str, str], call: UserCall | None = None) -> Server:
    """The server that TF1 scripts run under, with TensorFlow preloaded; the user's where that is warm.

    Args:
        env: Of the server.
        call: The user's server, where it was called already with that environment.
    """
    return WorkerServer(PRELOADS["scripts"], env, users=True, call=call)


class EarlyServer:
    """A :func:`script_server` that has started before its run is made, which goes on meanwhile. Use it in ``with``.

    Call it as :func:`script_server` is called.

    Args:
        fast_kernels: As for :func:`base_environment`.
    """

    def __init__(self, fast_kernels: bool) -> None:
        self._env = base_environment(fast_kernels)
        self._server = script_server(self._env, early_calls.take(self._env))
        self._server.start()

    def __call__(self, env: Mapping[str, str]) -> Server:
        return self._server if env == self._env else script_server(env)

    def __enter__(self) -> EarlyServer:
        return self

    def __exit__(self, *exc: object) -> None:
        self._server.close()


def bare_server(env: Mapping[str, str]) -> Server:
    """A server that has nothing preloaded: its jobs are programs that import what they want, as they want it."""
    return WorkerServer((), env)
