"""SessionClient: calls the models and named requests of a SessionServer, from any process of its user.

::

    call ──▶ a connection that is free, or a new one ──▶ send ──▶ wait for the answer ──▶ the connection is free again

Needs neither TensorFlow nor the packages of a web server.
"""

from __future__ import annotations

import asyncio
import builtins
import concurrent.futures
import os
import socket
import threading
import time
from collections import deque
from collections.abc import Mapping
from time import sleep
from typing import Any

import numpy as np

from tf1sessions import errors
from tf1sessions.errors import ClosedError, DeadlineError, PeerGoneError, Tf1SessionsError, UsageError, WorkError
from tf1sessions.pools.arrays import Channel
from tf1sessions.pools.messages import socket_address
from tf1sessions.serving.descriptors import socket_above_streams
from tf1sessions.serving.local_format import decode, send
from tf1sessions.serving.local_handshake import SOCKET, greet, read_key

__all__ = ["RESTARTS", "RemoteCall", "SessionClient"]

#: A file in the folder of a server that is started again when it ends.
RESTARTS = "restarts"
_KEPT = 64  # connections that are kept when nobody uses them, and threads of submit(); arbitrary
_LATE_SECS = 1.0  # how long after a deadline the server's own word for it is waited for; arbitrary


class RemoteCall:
    """A model, or a named request, of a server; called as the model is.

    ``call(x=batch)`` and ``call(batch)`` give a dict of arrays; :meth:`submit` a Future; :meth:`acall` is for asyncio.

    Thread-safety: safe to use from any number of threads.
    """

    def __init__(self, client: SessionClient, header: Mapping[str, Any], shown: str) -> None:
        self._client = client
        self._header = dict(header)
        self._shown = shown

    def __call__(self, /, *values: Any, deadline_secs: float | None = None, **named: Any) -> Any:
        """Asks the server, and waits for its answer.

        Args:
            *values: Inputs in their order, or one dict of them by name.
            deadline_secs: How long, from now; the client's ``timeout_secs`` by default.
            **named: Inputs by name.

        Returns:
            Output -> array; of a named request what its function gave.

        Raises:
            UsageError, ValueError, TypeError: The inputs are wrong.
            Overloaded: So many requests wait there already.
            DeadlineError: There was no answer in time.
            PeerGoneError: The server has gone; whether the request was run is not known.
            WorkError: Another error in the server, with its words.
        """
        return self._client._ask(self._header, values, named, deadline_secs)

    def submit(
        self, /, *values: Any, deadline_secs: float | None = None, **named: Any
    ) -> concurrent.futures.Future[Any]:
        """Submit a call in the background. ``cancel()`` works until the request is sent.

        Arrays and lists are copied: their owner may fill them again.
        """
        values, named = _copied(values), _copied(named)
        return self._client._threads().submit(self, *values, deadline_secs=deadline_secs, **named)

    async def acall(self, /, *values: Any, deadline_secs: float | None = None, **named: Any) -> Any:
        """Call without blocking the event loop. Arrays and lists are copied."""
        return await asyncio.wrap_future(self.submit(*values, deadline_secs=deadline_secs, **named))

    def __repr__(self) -> str:
        return f"<RemoteCall of {self._shown} at {self._client.address}>"


class SessionClient:
    """Calls what a :class:`~tf1sessions.SessionServer` on this machine serves.

    Args:
        address: The server's: ``server.address``, or the folder that it was given.
        timeout_secs: How long a call may take that does not say so itself.
        connect_secs: How long a server is waited for that starts, or is started again.
        busy_poll_secs: How long a call looks for its answer again and again, which takes a core, before it sleeps. A
            thread that sleeps on an idle machine takes 0.1 ms to wake up: 0.0003 halves a small call there.

    ``client(x=batch)`` calls the server's model, where it has one; what else it has are ``client.model("name")`` and
    ``client.request("step")``. Arrays of 64 KiB and more go both ways through shared memory.

    Raises:
        UsageError: There is no server's folder at the address.

    Thread-safety: everything is safe from any thread. A forked child may use the client of its parent: it makes
    connections of its own.

    Example:
        >>> import tf1sessions as t1
        >>> tf = t1.tf1
        >>> with tf.Graph().as_default() as graph:
        ...     doubled = tf.multiply(tf.placeholder(tf.float32, [None], name="x"), 2.0, name="doubled")
        >>> _ = tf.train.write_graph(graph, ".", "doubling_served.pb", as_text=False)
        >>> with t1.SessionServer("doubling_served.pb") as server, t1.SessionClient(server.address) as client:
        ...     client(x=[1.0, 4.0])["doubled"].tolist()
        [2.0, 8.0]
    """

    def __init__(
        self,
        address: str | os.PathLike[str],
        *,
        timeout_secs: float = 60.0,
        connect_secs: float = 30.0,
        busy_poll_secs: float = 0.0,
    ) -> None:
        try:
            self.address = os.path.abspath(os.fspath(address))
        except TypeError:
            next_step = "Give that of a SessionServer, server.address."
            raise UsageError(f"the address is {address!r}", where="SessionClient", next_step=next_step) from None
        self._timeout_secs = timeout_secs
        self._connect_secs = connect_secs
        self._busy_poll_secs = busy_poll_secs
        self._closed = False
        self._forget()
        read_key(self.address)

    def _forget(self) -> None:
        """Begins anew, in a forked child too, where the connections are the parent's."""
        self._pid = os.getpid()
        self._lock = threading.Lock()  # protects what stands below it
        self._free: deque[Channel] = deque()
        self._used: set[Channel] = set()
        self._executor: concurrent.futures.ThreadPoolExecutor | None = None
        self._only: str | None = None
        self._most_bytes = 0  # of a message, as the server says

    # -- calls

    def __call__(self, /, *values: Any, deadline_secs: float | None = None, **named: Any) -> Any:
        """Calls the server's model: as :class:`RemoteCall`.

        Raises:
            UsageError: It has none, or several.
        """
        return self.model()(*values, deadline_secs=deadline_secs, **named)

    def submit(self, /, *values: Any, deadline_secs: float | None = None, **named: Any) -> Any:
        """Submit a call in the background: returns a Future. Arrays and lists are copied."""
        return self.model().submit(*values, deadline_secs=deadline_secs, **named)

    def model(self, name: str | None = None, *, version: Any = None, signature: str | None = None) -> RemoteCall:
        """A model of the server, to be called.

        Args:
            name: Its name; may be left out where there is one.
            version: The number of its version; the latest by default.
            signature: Its signature; the model's own by default.
        """
        name = name or self._only_model()
        if not isinstance(version, (int, type(None))):
            next_step = "Give its number, or nothing for the latest."
            raise UsageError(f"version is {version!r:.200}", where="SessionClient.model", next_step=next_step)
        header = {"what": "call", "model": name, "version": version, "signature": signature}
        return RemoteCall(self, header, f"the model {name!r}")

    def request(self, name: str) -> RemoteCall:
        """A named request of the server, to be called; inputs by name."""
        return RemoteCall(self, {"what": "request", "name": name}, f"the request {name!r}")

    def names(self) -> dict[str, list[str]]:
        """Return the names that the server has: ``{"models": [...], "requests": [...]}``."""
        found = self._ask({"what": "hello"}, (), {}, None)
        return {"models": list(found["models"]), "requests": list(found["requests"])}

    def _only_model(self) -> str:
        if self._only is None:
            models = self.names()["models"]
            if len(models) != 1:
                raise UsageError(
                    f"the server has {len(models)} models: {', '.join(models)}",
                    where="SessionClient",
                    next_step="Name one: client.model(name)(...).",
                )
            self._only = models[0]
        return self._only

    def _ask(
        self, header: Mapping[str, Any], values: tuple[Any, ...], named: Mapping[str, Any], secs: float | None
    ) -> Any:
        secs = self._timeout_secs if secs is None else secs
        if isinstance(secs, bool) or not isinstance(secs, (int, float)) or not 0 < secs < 1e6:
            next_step = "Give seconds above 0 and below a million."
            raise UsageError(f"deadline_secs is {secs!r}", where="SessionClient", next_step=next_step)
        arrays, in_order = _arrays(values, named)
        if in_order and header["what"] == "request":
            raise TypeError("a named request takes its inputs by name: request(x=...)")
        until = time.monotonic() + secs
        channel = self._send({**header, "deadline_secs": secs, "order": in_order}, arrays, until)
        try:
            sleeps_at = time.monotonic() + self._busy_poll_secs
            while time.monotonic() < sleeps_at and not channel.poll():
                pass
            left = max(0.001, until + _LATE_SECS - time.monotonic())
            if not channel.poll(left):
                raise TimeoutError
            answer, found = decode(*channel.recv_packed(left))
        except BaseException as error:
            self._drop(channel)
            if isinstance(error, TimeoutError):
                raise DeadlineError(
                    f"the server did not answer within {secs:g} s", where=self.address, next_step="Give it more time."
                ) from None
            if isinstance(error, PeerGoneError):
                raise PeerGoneError(
                    "the server has gone while a request waited; whether it was run is not known",
                    where=self.address,
                    next_step="Ask again where that does no harm; its own output says why it has gone.",
                ) from error
            if isinstance(error, OSError):
                raise PeerGoneError(
                    f"the connection was given up, as the answer could not be taken in: {error}",
                    where=self.address,
                    next_step="Look at the limits of this process: its memory, and its open files.",
                ) from error
            raise
        self._give_back(channel)
        return _result(answer, found, is_model=header["what"] == "call")

    def _send(self, header: Mapping[str, Any], arrays: Mapping[str, Any], until: float) -> Channel:
        """Sends a request; returns the connection that its answer will come on."""
        channel, is_new = self._connection(until)
        while True:
            try:
                send(channel, header, arrays, repeated=True, most_bytes=self._most_bytes)
                return channel
            except PeerGoneError:  # it has not got the whole request, and runs none of it
                self._drop(channel)
                if is_new:
                    raise
                self._drop_free()  # they were to the same server
                channel, is_new = self._connection(until)
            except (TypeError, UsageError):  # nothing was sent
                self._give_back(channel)
                raise
            except BaseException:
                self._drop(channel)
                raise

    # -- connections

    def _connection(self, until: float) -> tuple[Channel, bool]:
        """A connection, and whether it is a new one."""
        if self._pid != os.getpid():
            self._forget()
        with self._lock:
            if self._closed:
                raise ClosedError("the client is closed", where=self.address, next_step="Make a new one.")
            if self._free:
                channel = self._free.pop()
                self._used.add(channel)
                return channel, False
        channel = self._connect(until)
        with self._lock:
            self._used.add(channel)
        return channel, True

    def _connect(self, until: float) -> Channel:
        """A new connection; a server that is started again is waited for."""
        give_up = min(until, time.monotonic() + self._connect_secs)
        while True:
            connection = socket_above_streams(socket.socket(socket.AF_UNIX))
            try:
                connection.settimeout(max(0.001, give_up - time.monotonic()))
                with socket_address(os.path.join(self.address, SOCKET)) as path:
                    connection.connect(path)
                self._most_bytes = greet(connection, read_key(self.address), max(0.001, give_up - time.monotonic()))
                return Channel(connection, "the server")
            except (OSError, PeerGoneError, UsageError) as error:
                connection.close()
                is_busy = isinstance(error, (TimeoutError, BlockingIOError))  # or so many wait to be let in
                restarts = os.path.exists(os.path.join(self.address, RESTARTS))
                if not (is_busy or restarts) or time.monotonic() >= give_up:
                    if is_busy:
                        raise DeadlineError(
                            "the server did not let this client in in time",
                            where=self.address,
                            next_step="Give it more time, by connect_secs= and the deadline.",
                        ) from error
                    raise PeerGoneError(
                        f"the server cannot be reached: {error}",
                        where=self.address,
                        next_step="It may be starting again: give it longer, by connect_secs= and the deadline."
                        if restarts
                        else "Start it. With restart=True it starts again, until it ends soon after three starts.",
                    ) from error
            except BaseException:
                connection.close()
                raise
            sleep(0.02)

    def _give_back(self, channel: Channel) -> None:
        with self._lock:
            self._used.discard(channel)
            if not self._closed and len(self._free) < _KEPT:
                self._free.append(channel)
                return
        channel.close()

    def _drop(self, channel: Channel) -> None:
        with self._lock:
            self._used.discard(channel)
        channel.close()

    def _drop_free(self) -> None:
        with self._lock:
            free = list(self._free)
            self._free.clear()
        for channel in free:
            channel.close()

    def _threads(self) -> concurrent.futures.ThreadPoolExecutor:
        if self._pid != os.getpid():
            self._forget()
        with self._lock:
            if self._closed:
                raise ClosedError("the client is closed", where=self.address, next_step="Make a new one.")
            if self._executor is None:
                self._executor = concurrent.futures.ThreadPoolExecutor(_KEPT, thread_name_prefix="tf1sessions-client")
            return self._executor

    # -- the end

    def close(self) -> None:
        """Closes the connections. Calls that wait get an error. Closing again does nothing."""
        if self._pid != os.getpid():
            self._closed = True
            return
        with self._lock:
            self._closed = True
            free, used, executor = list(self._free), list(self._used), self._executor
            self._free.clear()
        for channel in free:
            channel.close()
        for channel in used:
            channel._shut_down()
        if executor is not None:
            executor.shutdown(wait=True, cancel_futures=True)

    def __enter__(self) -> SessionClient:
        return self

    def __exit__(self, *ended: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<SessionClient of {self.address}{', closed' if self._closed else ''}>"


def _arrays(values: tuple[Any, ...], named: Mapping[str, Any]) -> tuple[dict[str, Any], bool]:
    """The arrays of a call by name, or by their places."""
    if len(values) == 1 and isinstance(values[0], Mapping):
        return {**values[0], **named}, False
    if values and named:
        raise TypeError(f"{len(values)} values were given in order, and {len(named)} by name: give all by name")
    return ({str(place): value for place, value in enumerate(values)}, True) if values else (dict(named), False)


def _copied(value: Any) -> Any:
    """Arrays, and what is in lists and dicts, as they are now."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, Mapping):
        return {name: _copied(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return tuple(map(_copied, value)) if isinstance(value, tuple) else list(map(_copied, value))
    return value


def _result(answer: Mapping[str, Any], found: dict[str, np.ndarray[Any, Any]], is_model: bool) -> Any:
    if "error" in answer:
        raise _error(str(answer["error"]), str(answer.get("message", "")))
    if "models" in answer:
        return answer
    if is_model:  # a single string is bytes, as the model itself gives it
        return {name: array if array.shape or array.dtype != object else array.item() for name, array in found.items()}
    form = answer.get("form")
    if form == "one":
        return found[""]
    if form == "list":
        return [found.get(str(place)) for place in range(int(answer["length"]))]
    return None if form == "none" else found


def _error(kind: str, message: str) -> Exception:
    """An error of the server, as one of this package or of Python."""
    known = getattr(errors, kind, None) or getattr(builtins, kind, None)
    if isinstance(known, type) and issubclass(known, (Tf1SessionsError, ValueError, TypeError)):
        try:
            return known(message)
        except TypeError:
            pass
    return WorkError(f"{kind}: {message}")
