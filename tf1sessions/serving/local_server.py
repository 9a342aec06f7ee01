"""LocalServer: answers SessionClients on a Unix socket, a thread for each connection.

::

    accept ──▶ let_in() (local_handshake.py) ──▶ Channel ──▶ one message ──▶ a model, or a named request ──▶ answer
                                                             one thread runs the named requests ──┘

A client waits for each answer before it sends the next message on that connection; a client with several threads has
several connections. What becomes of a client costs its own connection only. A named request that still runs at its
deadline is answered then, and goes on: no function can be ended from outside.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import logging
import os
import queue
import socket
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from time import sleep
from typing import Any

from tf1sessions.errors import ClosedError, DeadlineError, Tf1SessionsError, WorkError
from tf1sessions.pools.arrays import Channel
from tf1sessions.pools.messages import socket_address
from tf1sessions.serving.answers import NotFound, RequestError, status_of
from tf1sessions.serving.local_format import LocalFormatError, as_array, decode, send
from tf1sessions.serving.local_handshake import SOCKET, let_in
from tf1sessions.serving.service import Service

__all__ = ["LocalServer"]

logger = logging.getLogger("tf1sessions.serving")

_HEADER_BYTES = 1 << 20  # what a message may have beside its arrays; arbitrary
_CONNECTIONS = 1024  # at once; more are closed. Arbitrary


class LocalServer:
    """Serves models and named requests to the processes of this user.

    Args:
        service: Where the models are.
        folder: Where its socket is to be; only its user may enter it.
        key: What clients have to know.
        requests: Name -> a function of the seconds that are left and of arrays by name, which gives an array, a dict of
            arrays, or None. One call at a time, of all of them, in the order in which they come.

    Thread-safety: :meth:`close` may be called from any thread.
    """

    def __init__(
        self, service: Service, folder: str, key: bytes, requests: Mapping[str, Callable[..., Any]] | None = None
    ) -> None:
        self._service = service
        self._key = key
        self._requests = dict(requests or {})
        self._named: queue.SimpleQueue[_NamedRequest | None] = queue.SimpleQueue()
        self._runs: _NamedRequest | None = None  # which of them
        self._path = os.path.join(folder, SOCKET)
        self._lock = threading.Lock()  # protects what stands below it
        self._idle = threading.Condition(self._lock)
        self._channels: set[Channel] = set()
        self._threads: set[threading.Thread] = set()
        self._busy = 0
        self._closed = False
        self._listener = socket.socket(socket.AF_UNIX)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._path)  # of a server that was killed
        with socket_address(self._path) as address:
            self._listener.bind(address)
        self._listener.listen(_CONNECTIONS)
        self._accepting = threading.Thread(target=self._accept, name="tf1sessions-accept", daemon=True)
        self._running = threading.Thread(target=self._run_named, name="tf1sessions-requests", daemon=True)
        self._running.start()
        self._accepting.start()

    def close(self, drain_secs: float = 30.0) -> None:
        """Take no more requests, let those that have begun end, and close all connections."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._path)
        with self._lock:
            self._closed = True
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # wakes accept()
        self._listener.close()
        self._accepting.join()
        until = time.monotonic() + drain_secs
        with self._lock:
            while self._busy and (left := until - time.monotonic()) > 0:
                self._idle.wait(left)
            channels, threads = list(self._channels), list(self._threads)
        for channel in channels:
            channel._shut_down()
        self._named.put(None)
        for thread in (*threads, self._running):
            thread.join(max(0.1, until - time.monotonic()))

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError as error:
                if self._closed:
                    return
                logger.error("a local client cannot be let in: %s", error)
                sleep(0.1)  # no descriptors are left, for example
                continue
            thread = threading.Thread(target=self._serve, args=(connection,), name="tf1sessions-client", daemon=True)
            with self._lock:
                if self._closed or len(self._threads) >= _CONNECTIONS:
                    connection.close()
                    continue
                self._threads.add(thread)
            thread.start()

    def _serve(self, connection: socket.socket) -> None:
        """A connection's thread."""
        try:
            most_bytes = self._service.limits.decoded_bytes + _HEADER_BYTES
            if not let_in(connection, self._key, most_bytes):
                logger.warning("a local client does not know the key")
                connection.close()
                return
            with Channel(connection, "the client", most_bytes=most_bytes) as channel:
                with self._lock:
                    self._channels.add(channel)
                try:
                    while not self._closed:
                        self._answer(channel)
                finally:
                    with self._lock:
                        self._channels.discard(channel)
        except (OSError, EOFError, ClosedError, WorkError, ValueError, MemoryError, LookupError, TypeError) as error:
            logger.debug("a local client has gone: %s", error)  # or sent what is no message
        finally:
            connection.close()
            with self._lock:
                self._threads.discard(threading.current_thread())

    def _answer(self, channel: Channel) -> None:
        """Receives a request, and answers it."""
        message = channel.recv_packed()
        started = time.monotonic()
        with self._lock:
            if self._closed:
                raise ClosedError("the server stops")
            self._busy += 1
        name, status = "", 200
        try:
            try:
                header, arrays = decode(*message)
                name = str(header.get("model", ""))
                answer, found = self._result(header, arrays)
                del message, arrays  # the client can have its shared memory for its next request
                send(channel, answer, found, repeated="form" in answer)
            except (LocalFormatError, Exception) as error:
                if isinstance(error, (EOFError, ConnectionError)) or channel.closed:
                    raise
                status = status_of(error)[0]
                send(channel, _described(error), {})
        finally:
            with self._lock:
                self._busy -= 1
                if not self._busy:
                    self._idle.notify_all()
            if name:
                self._service.note(name, "local", status, started)

    def _result(self, header: dict[str, Any], arrays: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        what = header.get("what")
        secs = header.get("deadline_secs")
        if secs is not None and (isinstance(secs, bool) or not isinstance(secs, (int, float)) or not 0 < secs < 1e9):
            raise RequestError(f"deadline_secs is {secs!r}")
        if what == "hello":
            return {"models": self._service.repository.names, "requests": list(self._requests)}, {}
        if what == "request":
            return self._run(header.get("name"), arrays, secs)
        if what != "call":
            raise LocalFormatError(f"what is asked is {what!r:.100}")
        model, version, signature = header.get("model"), header.get("version"), header.get("signature")
        if (
            not isinstance(model, str)
            or not isinstance(signature, (str, type(None)))
            or not isinstance(version, (int, type(None)))
        ):
            raise LocalFormatError("the model, version or signature is of another type")
        order = header.get("order")
        if order:
            arrays = self._by_name(model, version, signature, arrays)
        return {"form": "dict"}, self._service.infer_here(model, version, signature, arrays, secs)

    def _by_name(self, model: Any, version: Any, signature: Any, arrays: dict[str, Any]) -> dict[str, Any]:
        """The arrays of a call in order, by the names of the inputs."""
        with self._service.repository.using(model, version) as served:
            return dict(served.signature(signature)._by_name(tuple(arrays.values()), {}))

    def _run(self, name: Any, arrays: dict[str, Any], secs: float | None) -> tuple[dict[str, Any], dict[str, Any]]:
        """The result of a named request."""
        if not isinstance(name, str) or name not in self._requests:
            raise NotFound(f"there is no request {name!r:.100}; there are {', '.join(self._requests) or 'none'}")
        request = _NamedRequest(name, arrays, secs or self._service.limits.deadline_secs)
        self._named.put(request)
        with contextlib.suppress(concurrent.futures.TimeoutError):
            request.future.exception(request.secs)
        if request.future.cancel():
            other = self._runs
            behind = f"{other.name!r}, which has run for {other.ran():.0f} s" if other is not None else "others"
            raise DeadlineError(f"the request {name!r} waited for {behind}, and was not run", where="deadline_secs")
        if not request.future.done():
            request.late = True
            logger.warning("the request %r goes on after its %g s, and others wait for it", name, request.secs)
            raise DeadlineError(
                f"the request {name!r} did not end within {request.secs:g} s, and goes on", where="deadline_secs"
            )
        result = request.future.result()
        if result is None:
            return {"form": "none"}, {}
        if isinstance(result, Mapping):
            return {"form": "dict"}, _listed(result.items())
        if isinstance(result, (tuple, list)):
            return {"form": "list", "length": len(result)}, _listed(enumerate(result))
        return {"form": "one"}, {"": as_array(result)}

    def _run_named(self) -> None:
        """The thread of the named requests."""
        while (request := self._named.get()) is not None:
            if not request.future.set_running_or_notify_cancel():
                continue
            self._runs = request
            request.run(self._requests[request.name])
            self._runs = None
            if request.late:
                logger.warning("the request %r has ended after %.0f s", request.name, request.ran())


class _NamedRequest:
    """A call of a named request. ``late``: it was answered before it ended."""

    def __init__(self, name: str, arrays: Mapping[str, Any], secs: float) -> None:
        self.name = name
        self.arrays = arrays
        self.secs = secs
        self.until = time.monotonic() + secs
        self.begun = self.until
        self.future: concurrent.futures.Future[Any] = concurrent.futures.Future()
        self.late = False

    def run(self, function: Callable[..., Any]) -> None:
        """Give the future what the function gives or raises."""
        self.begun = time.monotonic()
        arrays, self.arrays = self.arrays, {}
        try:
            result = function(max(0.001, self.until - self.begun), **arrays)
        except Exception as error:
            self.future.set_exception(error)
        except BaseException as error:  # which would end a thread of the server
            text = f"{type(error).__name__}: {error}"
            self.future.set_exception(WorkError(text, where=f"the request {self.name!r}"))
        else:
            del arrays  # the client can have its shared memory for its next request
            self.future.set_result(result)

    def ran(self) -> float:
        """For how long, in seconds."""
        return time.monotonic() - self.begun


def _listed(values: Iterable[tuple[Any, Any]]) -> dict[str, Any]:
    return {str(name): as_array(value) for name, value in values if value is not None}


def _described(error: BaseException) -> dict[str, Any]:
    """An error, for the client to raise."""
    kind = type(error).__name__
    message = str(getattr(error, "message", None) or error)
    if isinstance(error, Tf1SessionsError):
        return {"error": kind, "message": message}
    if isinstance(error, RequestError):
        return {"error": "UsageError", "message": message}
    if status_of(error)[0] == 504:  # TensorFlow's own
        return {"error": "DeadlineError", "message": f"the run was ended, as it took too long: {message}"}
    known = (
        "ValueError" if isinstance(error, ValueError) else "TypeError" if isinstance(error, TypeError) else "WorkError"
    )
    return {"error": known, "message": message if known != "WorkError" else f"{kind}: {message}"}
