"""Server: models, HTTP and gRPC of `tf1sessions serve`, started and ended together."""

from __future__ import annotations

import contextlib
import gc
import logging
import os
import re
import ssl
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tf1sessions.errors import UnsupportedEnvironmentError, UsageError
from tf1sessions.files import read_whole
from tf1sessions.garbage import settle
from tf1sessions.serving.settings import Limits, ModelSettings

__all__ = ["Server", "ServerSettings", "read_token"]

logger = logging.getLogger("tf1sessions.serving")


@dataclass(frozen=True)
class ServerSettings:
    """The addresses of a server, and the settings of its end.

    Attributes:
        host: The address that is listened on.
        port: For HTTP; 0 for one that is free.
        grpc_port: For gRPC; None for no gRPC.
        token: What clients have to show; None when anybody may ask.
        tls: The files of the certificate and its key, or None.
        poll_secs: How often the folders of models are looked at; 0 for never.
        drain_secs: How long requests that have begun may go on after the stop.
        lanes: Into how many logical devices the GPU is split, each with a hard limit of memory; models have ``lane``.
        memory_mb: What of the GPU's memory the process takes, in MiB.
    """

    host: str = "127.0.0.1"
    port: int = 8501
    grpc_port: int | None = None
    token: str | None = None
    tls: tuple[str, str] | None = None
    poll_secs: float = 2.0
    drain_secs: float = 30.0
    lanes: int = 1
    memory_mb: float | None = None

    def __post_init__(self) -> None:
        for name in ("poll_secs", "drain_secs"):
            if not 0 <= getattr(self, name) <= 1e6:
                next_step = "Give seconds up to a million."
                raise UsageError(f"{name} is {getattr(self, name)!r}", where="ServerSettings", next_step=next_step)


def read_token(path: str) -> str:
    """The token in a file: its first line.

    Raises:
        UsageError: The file cannot be read, others may read it, or it has no token of 16 or more characters.
    """
    where = f"--token-file {path}"
    try:
        lines = read_whole(path, 1 << 16).decode("ascii").splitlines()
        mode = os.stat(path).st_mode
    except (OSError, ValueError) as error:
        raise UsageError(
            f"the token cannot be read: {error}", where=where, next_step="Give a file of ASCII."
        ) from error
    if mode & 0o077:
        raise UsageError(
            f"others may read the token: the mode is {mode & 0o777:o}", where=where, next_step=f"chmod 600 {path}"
        )
    token = lines[0].strip() if lines else ""
    if not re.fullmatch(r"[!-~]{16,}", token):
        raise UsageError(
            "the first line is no token of 16 or more characters without spaces",
            where=where,
            next_step=f"Make one: openssl rand -hex 32 > {path}",
        )
    return token


#: What the threads of requests are called: of HTTP, and of gRPC.
_POOLS = ("tf1sessions-serving", "tf1sessions-grpc")


class Server:
    """Serves models by HTTP, and gRPC where it is asked for.

    Args:
        models: The models.
        settings: How it is reached.
        limits: On requests.

    Attributes:
        port, grpc_port: Those that are listened on, once it is started.

    Raises:
        UsageError: The certificate or its key cannot be used.

    Thread-safety: :meth:`stop` may be called from any thread.
    """

    def __init__(
        self, models: Sequence[ModelSettings], settings: ServerSettings | None = None, limits: Limits | None = None
    ) -> None:
        self._models = models
        self._settings = settings or ServerSettings()
        self._limits = limits or Limits()
        self.port = 0
        self.grpc_port: int | None = None
        self._http: Any = None
        self._until = 0.0  # when requests that go on after the stop are ended, on the monotonic clock
        _check_packages(self._settings.grpc_port is not None)
        if self._settings.tls is not None:
            _check_tls(*self._settings.tls)

    def run(
        self, started: Callable[[], None] = lambda: None, *, signals: bool = False, own_process: bool = False
    ) -> None:
        """Load the models, and serve until the stop.

        Args:
            started: Called when requests can be answered.
            signals: Whether SIGTERM, SIGINT and SIGHUP stop it, if they are not ignored; in the main thread only.
            own_process: Whether there is nothing else in this process, whose garbage may be collected as is good for
                requests: :func:`~tf1sessions.garbage.settle`.

        Raises:
            Tf1SessionsError, OSError: A model cannot be loaded, or a port is taken.
        """
        from tf1sessions.serving.http_app import application
        from tf1sessions.serving.http_server import HttpServer, listen
        from tf1sessions.serving.repository import ModelRepository
        from tf1sessions.serving.service import Service

        settings = self._settings
        with contextlib.ExitStack() as stack:
            listener = stack.enter_context(contextlib.closing(listen(settings.host, settings.port)))
            self.port = listener.getsockname()[1]
            if settings.grpc_port:
                listen(settings.host, settings.grpc_port, "--grpc-port").close()  # before models are loaded
            repository = ModelRepository(
                self._models,
                self._limits,
                config_of=self._configure(),
                poll_secs=settings.poll_secs,
                drain_secs=settings.drain_secs,
                collect=settle if own_process else gc.collect,
            )
            service = Service(repository)
            pools = stack.enter_context(contextlib.ExitStack())  # end last: closing the models ends what they run
            pools.callback(service.close)
            repository.start()
            stack.callback(lambda: repository.close(self._left()))
            grpc_server = self._start_grpc(service, stack, pools)
            app = application(service, settings.token)
            self._http = HttpServer(app, [listener], drain_secs=settings.drain_secs, tls=settings.tls)

            def stopping() -> None:
                logger.info("the server stops: requests that have begun may go on for %g s", settings.drain_secs)
                self._until = time.monotonic() + settings.drain_secs
                if grpc_server is not None:
                    grpc_server.refuse(settings.drain_secs)

            if own_process:
                settle()
            started()
            self._http.run(stopping, signals=signals)

    def stop(self) -> None:
        """End it gracefully; :meth:`run` returns when requests have ended, or the deadline has passed."""
        if self._http is not None:
            self._http.stop()

    @staticmethod
    def unfinished() -> list[str]:
        """The threads that still run requests; after :meth:`run`, those that could not be ended."""
        return [each.name for each in threading.enumerate() if each.name.startswith(_POOLS)]

    def _left(self) -> float:
        """The seconds for which requests may go on."""
        return max(0.0, self._until - time.monotonic())

    def _start_grpc(self, service: Any, stack: contextlib.ExitStack, pools: contextlib.ExitStack) -> Any:
        settings = self._settings
        if settings.grpc_port is None:
            return None
        from tf1sessions.serving.grpc_server import GrpcServer

        server = GrpcServer(service, settings.host, settings.grpc_port, token=settings.token, tls=settings.tls)
        self.grpc_port = server.port
        pools.callback(server.close)
        stack.callback(lambda: server.stop(self._left()))
        server.start()
        return server

    def _configure(self) -> Callable[[ModelSettings], Any]:
        """Gives this process its share of the GPU; returns what gives a model its lane."""
        settings = self._settings
        for model in self._models:
            if model.lane is not None and (settings.lanes == 1 or model.lane >= settings.lanes):
                raise UsageError(
                    f"lane is {model.lane}, and the server has {settings.lanes}, which count from 0",
                    where=f"model {model.name}",
                    next_step=f"Give --lanes {max(2, model.lane + 1)} or more.",
                )
        if settings.lanes == 1 and settings.memory_mb is None:
            return lambda model: None
        from tf1sessions.sessions.memory import MemoryPlan

        plan = MemoryPlan(workers=1, limit_mb=settings.memory_mb, lanes=settings.lanes)
        plan.apply(0)

        def config_of(model: ModelSettings) -> Any:
            more: dict[str, Any] = {"soft_placement": True}
            if model.threads is not None and plan.share(0).inter_op_threads is None:
                more |= {"inter_op_threads": model.threads, "per_session_threads": True}
            return plan.config(0, lane=(model.lane or 0) if settings.lanes > 1 else None, **more)

        return config_of


def _check_tls(certificate: str, key: str) -> None:
    """Raises UsageError when the files cannot be used; before models are loaded, which may take minutes."""
    try:
        for path in (certificate, key):
            read_whole(path, 1 << 20)  # a pipe, which OpenSSL would wait for
        # an empty password, as OpenSSL would ask for it at the terminal
        ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(certificate, key, password="")
    except (OSError, ValueError) as error:  # an SSLError is an OSError
        raise UsageError(
            f"the certificate {certificate} and the key {key} cannot be used: {error}",
            where="--tls-cert and --tls-key",
            next_step="Give a certificate and its own key, in PEM and without a password.",
        ) from error


def _check_packages(grpc: bool) -> None:
    """Raises UnsupportedEnvironmentError when a package of the extra is missing; imports none of them."""
    import importlib.util

    names = ["uvicorn", "httptools", "prometheus_client"] + ["grpc", "tensorflow_serving"] * grpc
    for name in names:
        if importlib.util.find_spec(name) is None:
            raise UnsupportedEnvironmentError(
                f"the server needs the package {name}", where="serve", next_step="pip install 'tf1sessions[serve]'"
            )
