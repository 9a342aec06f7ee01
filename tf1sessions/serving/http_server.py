"""HttpServer: the application on a port, by uvicorn, with an end that lets requests finish.

A connection that sends no complete head of a request in time, or takes no answer, is closed, so that slow clients hold
no places and no memory.
"""

from __future__ import annotations

import asyncio
import errno
import functools
import logging
import signal
import socket
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any

from tf1sessions.errors import UnsupportedEnvironmentError, UsageError
from tf1sessions.serving.deadlines import Deadlines

__all__ = ["HttpServer", "listen"]

logger = logging.getLogger("tf1sessions.serving")

_HEAD_SECS = 10.0  # for a TLS handshake, the head of a request, and the next head of a connection; arbitrary
_READ_SECS, _READ_BYTES = 30.0, 16 << 10  # of an answer that waits, so much must be taken in so long; arbitrary
_USED_UP = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)  # for which asyncio waits
_RETRY_SECS = 1.0  # so long; but first it tries as often as connections may wait, and reports each time
_LAST_SECS = 0.05  # at the stop, for requests on their way to a connection without one; uvicorn waits twice as long
_TLS_END_SECS = 1.0  # for a client to confirm the end of a connection; an idle one in a pool does not; arbitrary
_CONNECTIONS = 2_000  # at once, beyond which a request is answered with 503; arbitrary


def listen(host: str, port: int, option: str = "--port") -> socket.socket:
    """A socket that listens.

    Args:
        host: The address.
        port: 0 for one that is free.
        option: Which gave the port, for messages.

    Raises:
        UsageError: The port is taken, or the address is not this machine's.
    """
    try:
        family, _, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        # asyncio turns Nagle's algorithm off, which costs 40 ms a request, where the protocol is known to be TCP
        listener = socket.socket(family, socket.SOCK_STREAM, protocol)
    except OSError as error:
        raise UsageError(
            f"the host {host!r} is not known: {error}", where="--host", next_step="Give an address."
        ) from error
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(1024)
    except OSError as error:
        listener.close()
        taken = error.errno == errno.EADDRINUSE
        raise UsageError(
            f"{host}:{port} cannot be listened on: {error.strerror or error}",
            where=option,
            next_step="Another server has it: give another port, or end that one." if taken else "Give another port.",
        ) from error
    return listener


class HttpServer:
    """Runs an application until it is stopped.

    Args:
        app: The ASGI application.
        listeners: Sockets that listen.
        drain_secs: How long requests that have begun may go on after the stop.
        tls: The files of the certificate and of its key, or None.

    Raises:
        UnsupportedEnvironmentError: uvicorn or httptools is not installed.
        OSError: The TLS files cannot be used.
    """

    def __init__(
        self,
        app: Any,
        listeners: Sequence[socket.socket],
        *,
        drain_secs: float = 30.0,
        tls: tuple[str, str] | None = None,
    ) -> None:
        try:
            import uvicorn
        except ImportError as error:
            raise UnsupportedEnvironmentError(
                f"the server needs {error.name}", where="serve", next_step="pip install 'tf1sessions[serve]'"
            ) from error
        self._protocol = _protocol()
        config = uvicorn.Config(
            app,
            http=self._protocol,
            ws="none",
            loop="asyncio",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_keep_alive=75,
            timeout_graceful_shutdown=max(1, round(drain_secs)),
            limit_concurrency=_CONNECTIONS,
            ssl_certfile=tls[0] if tls else None,
            ssl_keyfile=tls[1] if tls else None,
        )
        config.load()
        self._listeners, self._tls = list(listeners), tls is not None
        self._server = uvicorn.Server(config)
        self._loop: asyncio.AbstractEventLoop | None = None  # while it runs
        self._quiet_until = 0.0  # for reports that no connection can be taken, on the loop's clock
        self._loop_lock = threading.Lock()  # so that no stop reaches a loop that has just been closed

    def run(self, stopping: Callable[[], None] = lambda: None, *, signals: bool = False) -> None:
        """Serve until :meth:`stop`, or with ``signals`` until SIGTERM, SIGINT or SIGHUP.

        Args:
            stopping: Called when the stop begins, in the event loop.
            signals: Whether these signals stop it, if they are not ignored; in the main thread only.
        """
        asyncio.run(self._serve(stopping, signals))

    async def _serve(self, stopping: Callable[[], None], signals: bool) -> None:
        self._loop = asyncio.get_running_loop()
        if self._tls:  # asyncio gives a handshake a minute, and the end half of one; uvicorn has no settings for that
            limits = {"ssl_handshake_timeout": _HEAD_SECS}
            if sys.version_info >= (3, 11):
                limits["ssl_shutdown_timeout"] = _TLS_END_SECS
            create: Any = functools.partial(self._loop.create_server, **limits)
            self._loop.create_server = create  # type: ignore[method-assign]

        def stop() -> None:
            if self._server.should_exit:
                self._server.force_exit = True  # asked a second time
            else:
                stopping()
            self._protocol.stops = True
            self._server.should_exit = True

        def hang_up() -> None:
            if not self._server.should_exit:  # a closed terminal sends several
                stop()

        self._stop = stop
        self._loop.set_exception_handler(self._on_loop_error)
        for signum, end in {signal.SIGTERM: stop, signal.SIGINT: stop, signal.SIGHUP: hang_up}.items():
            if signals and signal.getsignal(signum) is not signal.SIG_IGN:
                self._loop.add_signal_handler(signum, end)
        try:
            await self._server._serve(self._listeners)
        finally:
            with self._loop_lock:
                self._loop = None
            for listener in self._listeners:
                listener.close()

    def _on_loop_error(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Say in a line a second that no connection can be taken; asyncio shows tracebacks, thousands of them."""
        error = context.get("exception")
        if isinstance(error, OSError) and error.errno in _USED_UP:
            if loop.time() >= self._quiet_until:
                self._quiet_until = loop.time() + _RETRY_SECS
                why = error.strerror
                logger.error("no connection can be taken: %s (it is tried again; `ulimit -n` is the limit)", why)
        elif not (self._server.should_exit and isinstance(error, ValueError)):  # as such a try after the end raises
            loop.default_exception_handler(context)

    def stop(self) -> None:
        """Take no new connections, let requests end, and return from :meth:`run`; afterwards it does nothing.

        From any thread.
        """
        with self._loop_lock:
            if self._loop is not None:
                self._loop.call_soon_threadsafe(self._stop)

    @property
    def started(self) -> bool:
        """Whether it answers."""
        return bool(self._server.started)


def _protocol() -> Any:
    """uvicorn's protocol with :class:`_TimeLimits` and :class:`_Requests`."""
    import httptools
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

    class Parser(httptools.HttpRequestParser):
        """httptools' parser, which ends behind the head of a request that asks for another protocol."""

        def __init__(self, protocol: _Requests) -> None:
            super().__init__(protocol)
            self.set_dangerous_leniencies(lenient_data_after_close=True)  # as uvicorn has it
            self._protocol = protocol

        def feed_data(self, data: Any) -> None:
            parser = self
            while True:
                try:
                    return httptools.HttpRequestParser.feed_data(parser, data)
                except httptools.HttpParserUpgrade as upgrade:
                    if not self._protocol.asks_for_upgrade():
                        raise
                    data = self._protocol.without_upgrade(data[upgrade.args[0] :])
                    parser = self._protocol.parser

    return type(
        "_TimedProtocol", (_TimeLimits, _Requests, HttpToolsProtocol), {"heads": Deadlines(_HEAD_SECS), "made": Parser}
    )


class _Requests(asyncio.Protocol):
    """Requests as they come on a connection, and which of them are answered; stands before uvicorn's class.

    ``Upgrade: h2c``, which clients send that can speak HTTP/2, is left out of a request: it is answered in HTTP/1.1, as
    RFC 9110 (section 7.8) lets a server do. Of the requests on a connection that do not wait for answers, all that came
    whole are answered, though a later one does not, or is none. When the server stops, so are those that clients
    had sent before they could know, and each answer says that it is the connection's last.
    """

    made: Any  # the class of the parser
    parser: Any
    transport: Any
    headers: list[tuple[bytes, bytes]]
    url: bytes
    cycle: Any  # the newest request
    pipeline: Any  # those that wait, the newest first
    loop: asyncio.AbstractEventLoop
    stops = False  # whether the server, or this connection, ends
    _running: Any = None  # the one that is being answered

    def connection_made(self, transport: Any) -> None:
        self.parser = self.made(self)
        super().connection_made(transport)
        if self.stops:  # it was accepted before
            self.shutdown()

    def asks_for_upgrade(self) -> bool:
        """Whether the request that is being parsed asks for another protocol; a CONNECT can be nothing else."""
        return bool(self.parser.should_upgrade()) and self.parser.get_method() != b"CONNECT"

    def without_upgrade(self, rest: bytes) -> bytes:
        """Return the request that has come up to its body, as one that asks for no other protocol; for a new parser."""
        words = (self.parser.get_method(), self.url, b"HTTP/" + self.parser.get_http_version().encode())
        lines = [b"%s %s %s" % words, *(b"%s: %s" % each for each in self.headers if each[0] != b"upgrade"), b"", rest]
        self.parser = self.made(self)
        return b"\r\n".join(lines)

    def on_headers_complete(self) -> None:
        if self.asks_for_upgrade():
            return
        before = self.cycle if self.answering() else None
        super().on_headers_complete()  # type: ignore[misc]
        if self.stops:
            if before is not None and not before.response_started:
                before.keep_alive = True  # it is the last no more
            self.cycle.keep_alive = False

    def on_message_complete(self) -> None:
        if not self.asks_for_upgrade():
            super().on_message_complete()  # type: ignore[misc]

    def _start_asgi_task(self, cycle: Any, app: Any) -> None:
        self._running = cycle
        super()._start_asgi_task(cycle, app)  # type: ignore[misc]

    def shutdown(self) -> None:
        """End the connection behind what is asked; what has been sent, and is not read yet, is read before."""
        self.stops = True
        if self.answering():
            super().shutdown()  # type: ignore[misc]
        else:
            self.loop.call_later(_LAST_SECS, super().shutdown)  # type: ignore[misc]

    def eof_received(self) -> bool:
        """A client that has sent all of its request, and says so, gets its answer; with TLS that cannot be."""
        if self.transport.get_extra_info("ssl_object") is None:
            return self._only_whole_ones()
        return False

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no request; those that came whole before are answered, and then the connection is closed."""
        if not self._only_whole_ones():
            super().send_400_response(msg)  # type: ignore[misc]

    def _only_whole_ones(self) -> bool:
        """Whether requests have come whole that are not answered yet; the connection ends behind the last of them."""
        if self.pipeline and self.cycle.more_body:
            self.pipeline.popleft()
            self.cycle = self.pipeline[0][0] if self.pipeline else self._running
        if not self.answering() or self.cycle.more_body:
            return False
        self.cycle.keep_alive = False
        return True

    def answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete


class _TimeLimits(asyncio.Protocol):
    """Limits on the time for a request's head, and for taking an answer; stands before :class:`_Requests`."""

    loop: asyncio.AbstractEventLoop
    transport: Any
    answering: Callable[[], bool]
    heads: Deadlines  # of all connections
    _waits = False  # for the head of a request
    _reader: asyncio.TimerHandle | None = None  # while an answer waits to be taken
    _left = 0  # bytes of it, when the timer was set

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._wait_for_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if not self._waits and not self.answering():  # a part of a head has come; most come whole
            self._wait_for_head()

    def on_headers_complete(self) -> None:
        self._came()
        super().on_headers_complete()  # type: ignore[misc]

    def pause_writing(self) -> None:
        super().pause_writing()
        self._wait_for_reader()

    def resume_writing(self) -> None:
        self._stop_waiting_for_reader()
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        self._came()
        self._stop_waiting_for_reader()
        super().connection_lost(exc)

    def _wait_for_head(self) -> None:
        self._waits = True
        self.heads.start(self._close_late)

    def _came(self) -> None:
        if self._waits:
            self._waits = False
            self.heads.stop(self._close_late)

    def _wait_for_reader(self) -> None:
        self._left = self.transport.get_write_buffer_size()
        self._reader = self.loop.call_later(_READ_SECS, self._check_reader)

    def _stop_waiting_for_reader(self) -> None:
        if self._reader is not None:
            self._reader.cancel()
            self._reader = None

    def _check_reader(self) -> None:
        if self._left - self.transport.get_write_buffer_size() < _READ_BYTES:
            self.transport.abort()  # close() would wait for the client
        else:
            self._wait_for_reader()

    def _close_late(self) -> None:
        self._waits = False
        if self.transport is not None and not self.transport.is_closing():
            self.transport.close()
