"""The HTTP interface: addresses, who may ask, how much, and what becomes of errors; an ASGI application.

::

    GET  /v1/models/NAME[/versions/N][/metadata]            status, metadata          tensorflow_rest.py
    POST /v1/models/NAME[/versions/N]:predict|classify|regress
    GET  /v2[/health/live|/health/ready|/models/NAME[/versions/N][/ready]]            kserve.py
    POST /v2/models/NAME[/versions/N]/infer
    GET  /healthz, /readyz, /metrics, /monitoring/prometheus/metrics
    GET  /, /figures                                        the page, its live figures     page.py

A handler gives an HttpAnswer or raises; one function makes responses of both.
"""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import json
import logging
import re
import time
import urllib.parse
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

from tf1sessions import __version__
from tf1sessions.errors import ClosedError
from tf1sessions.serving import kserve, page, tensorflow_rest
from tf1sessions.serving.answers import NotFound, RequestError, TooLarge, status_of
from tf1sessions.serving.deadlines import Deadlines
from tf1sessions.serving.metrics import CONTENT_TYPE
from tf1sessions.serving.service import Service

__all__ = ["application"]

access = logging.getLogger("tf1sessions.serving.access")
logger = logging.getLogger("tf1sessions.serving")

#: Addresses that need no token: whether the process is there is no secret, and the page asks for the token itself.
_OPEN = {"/", "/healthz", "/readyz", "/v2/health/live", "/v2/health/ready"}
_MODEL = re.compile(
    r"/v1/models/(?P<name>[^/:]+)(?:/versions/(?P<version>[0-9]{1,18}))?(?::(?P<method>\w+)|(?P<metadata>/metadata))?"
)
_JSON_LENGTH = kserve.HEADER.lower().encode("ascii")
_MODEL_V2 = re.compile(r"/v2/models/(?P<name>[^/]+)(?:/versions/(?P<version>[0-9]{1,18}))?(?P<what>/ready|/infer|)")


class HttpAnswer(NamedTuple):
    """The answer of a handler."""

    body: bytes
    status: int = 200
    content_type: str = "application/json"
    headers: Mapping[str, str] = MappingProxyType({})


@dataclass
class _HttpRequest:
    """A request, from ASGI's scope.

    Attributes:
        path: Unquoted.
        method: In capitals.
        headers: By their names in small letters; the last of a name.
        receive: ASGI's function for the body.
        server: The address of this server that it came to.
    """

    path: str
    method: str
    headers: dict[bytes, bytes]
    receive: Callable[[], Any]
    server: str

    def header(self, name: bytes) -> str | None:
        """A header's value, or None."""
        value = self.headers.get(name)
        return None if value is None else value.decode("latin-1")


class _ClientGone(Exception):
    """The client closed the connection before its request was here."""


class _Problem(RequestError):
    """A request that is refused before a handler sees it."""

    def __init__(self, message: str, status: int, headers: dict[str, str] | None = None) -> None:
        super().__init__(message)
        self.http = status
        self.headers = headers or {}


def application(service: Service, token: str | None = None) -> Any:
    """The application.

    Args:
        service: Where the models are.
        token: What clients have to show, as ``Authorization: Bearer TOKEN``; None when anybody may ask.
    """
    handlers = _Handlers(service, token)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        started = time.monotonic()
        path, sent_path = scope["path"], scope["raw_path"].decode("ascii", "backslashreplace")
        request = _HttpRequest(path, scope["method"], dict(scope["headers"]), receive, scope["server"][0])
        model = _MODEL.fullmatch(path) or _MODEL_V2.fullmatch(path)
        try:
            answer = await handlers.answer(request, model)
        except _ClientGone:
            answer = HttpAnswer(b"", 499)
        except asyncio.CancelledError:  # by uvicorn, when the time for requests to end is up
            answer = _of_error(ClosedError("the server stops", where=path, next_step="Ask another server."), sent_path)
        except Exception as error:
            answer = _of_error(error, sent_path)
        if model is not None:
            handlers.count(model, answer.status, started)
        if access.isEnabledFor(logging.INFO):
            client = scope["client"][0] if scope["client"] else "-"
            access.info(
                '%s "%s %s" %d %d %.1fms',
                *(client, request.method, sent_path, answer.status, len(answer.body)),
                1000 * (time.monotonic() - started),
            )
        await send({"type": "http.response.start", "status": answer.status, "headers": _raw_headers(answer)})
        await send({"type": "http.response.body", "body": answer.body})

    return app


def _is_local(host: str) -> bool:
    """Whether a Host header has an IP address, or a name that always means this machine."""
    try:
        name = urllib.parse.urlsplit(f"//{host}").hostname or "localhost"
        return name == "localhost" or name.endswith(".localhost") or bool(ipaddress.ip_address(name))
    except ValueError:
        return False


def _raw_headers(answer: HttpAnswer) -> list[tuple[bytes, bytes]]:
    found = [(b"content-length", b"%d" % len(answer.body)), (b"content-type", answer.content_type.encode("latin-1"))]
    found += [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in answer.headers.items()]
    return found


def _of_error(error: Exception, sent_path: str) -> HttpAnswer:
    """The answer for an error. The path is the quoted one: a client could write lines of the log with the other."""
    status, _ = status_of(error)
    if status >= 500 and status not in (501, 503, 504):
        logger.error("%s: %s: %s", sent_path, type(error).__name__, error, exc_info=not hasattr(error, "error_code"))
    message = str(getattr(error, "message", None) or error) or type(error).__name__
    headers = dict(getattr(error, "headers", {}))
    if status in (429, 503):
        headers["Retry-After"] = "1"
    return HttpAnswer(json.dumps({"error": message}).encode("utf-8"), status, headers=headers)


class _Handlers:
    def __init__(self, service: Service, token: str | None) -> None:
        self._service = service
        self._token = None if token is None else token.encode("utf-8")
        self._bodies = Deadlines(service.limits.body_secs)  # for their arrival

    def count(self, model: re.Match[str], status: int, started: float) -> None:
        """Count a request for a model, if it is one that runs it."""
        protocol, runs = ("rest", model["method"]) if model.re is _MODEL else ("v2", model["what"] == "/infer")
        if runs:
            self._service.note(model["name"], protocol, status, started)

    async def answer(self, request: _HttpRequest, model: re.Match[str] | None) -> HttpAnswer:
        """Answer a request; ``model`` is what its address says of a model."""
        path = request.path
        self._check_site(request)
        if self._token is not None and path not in _OPEN:
            self._check_token(request)
        if model is not None:
            handle = self._rest if model.re is _MODEL else self._v2
            return await handle(request, model, None if model["version"] is None else int(model["version"]))
        if path.startswith("/v1/"):
            raise RequestError(f"Malformed request: {request.method} {path}")
        return self._other(request, path)

    # -- the two interfaces

    async def _rest(self, request: _HttpRequest, found: re.Match[str], version: int | None) -> HttpAnswer:
        method, name = found["method"], found["name"]
        if method is not None:
            if method not in tensorflow_rest.METHODS or request.method != "POST":
                raise RequestError(f"Malformed request: {request.method} {request.path}")
            body = await self._body(request)
            return HttpAnswer(await tensorflow_rest.answer(self._service, name, version, method, body))
        _check_get(request)
        repository = self._service.repository
        if found["metadata"]:
            return HttpAnswer(tensorflow_rest.metadata(repository.find(name, version)))
        return HttpAnswer(tensorflow_rest.status(repository.statuses(name, version)))

    async def _v2(self, request: _HttpRequest, found: re.Match[str], version: int | None) -> HttpAnswer:
        name, repository = found["name"], self._service.repository
        if found["what"] == "/infer":
            if request.method != "POST":
                raise _Problem(f"{request.method} is not allowed here", 405, {"Allow": "POST"})
            body = await self._body(request)
            given = await kserve.infer(self._service, name, version, body, request.header(_JSON_LENGTH))
            if given.json_bytes is None:
                return HttpAnswer(given.body)
            headers = {kserve.HEADER: str(given.json_bytes)}
            return HttpAnswer(given.body, content_type="application/octet-stream", headers=headers)
        _check_get(request)
        served = repository.find(name, version)
        if found["what"] == "/ready":
            return HttpAnswer(b"{}")
        versions = [each.version for each in repository.loaded() if each.name == name]
        return HttpAnswer(kserve.model_metadata(served, versions))

    def _other(self, request: _HttpRequest, path: str) -> HttpAnswer:
        plain: dict[str, Callable[[], HttpAnswer]] = {
            "/": lambda: HttpAnswer(page.html(), content_type="text/html; charset=utf-8", headers=page.HEADERS),
            "/figures": lambda: HttpAnswer(page.figures(self._service)),
            "/healthz": lambda: HttpAnswer(b"{}"),
            "/readyz": self._ready,
            "/metrics": self._metrics,
            "/monitoring/prometheus/metrics": self._metrics,
            "/v2": lambda: HttpAnswer(kserve.server_metadata(__version__)),
            "/v2/health/live": lambda: HttpAnswer(b"{}"),
            "/v2/health/ready": self._ready,
        }
        if path not in plain:
            raise NotFound(f"there is no {path}")
        _check_get(request)
        return plain[path]()

    def _ready(self) -> HttpAnswer:
        return HttpAnswer(b"{}", 200 if self._service.repository.ready else 503)

    def _metrics(self) -> HttpAnswer:
        return HttpAnswer(self._service.metrics.text(self._service.repository), content_type=CONTENT_TYPE)

    # -- what a request has to be like

    def _check_token(self, request: _HttpRequest) -> None:
        given = request.header(b"authorization") or ""
        scheme, _, shown = given.partition(" ")
        assert self._token is not None
        if not hmac.compare_digest(shown.strip().encode("utf-8"), self._token) or scheme.lower() != "bearer":
            raise _Problem("the token is missing or wrong", 401, {"WWW-Authenticate": "Bearer"})

    def _check_site(self, request: _HttpRequest) -> None:
        """Refuses what a page of another site makes a browser send.

        Such a page may have the system of names say that its site is this machine (DNS rebinding): what comes by
        loopback without a token has to name the server as only a program of this machine can.
        """
        origin, host = request.header(b"origin"), request.header(b"host") or ""
        if origin is not None and origin.partition("://")[2] != host:
            raise _Problem(f"requests from pages of {origin} are refused", 403)
        if self._token is None and ipaddress.ip_address(request.server).is_loopback and not _is_local(host):
            raise _Problem(
                f"requests to the host {host} are refused: ask for localhost, have a proxy send that as Host, "
                "or start the server with --token-file",
                403,
            )

    async def _body(self, request: _HttpRequest) -> bytes:
        """The body of a request, decompressed, within the limits of size and time."""
        limits = self._service.limits
        length = request.headers.get(b"content-length", b"0")
        if length.isdigit() and int(length[:18]) > limits.body_bytes:
            raise TooLarge(f"the body has {length.decode()} bytes, and may have {limits.body_bytes}")
        body = await self._received(request)
        encoding = (request.header(b"content-encoding") or "identity").lower()
        if encoding == "identity":
            return body
        if encoding not in ("gzip", "deflate"):
            raise _Problem(f"the content encoding {encoding!r} is not known", 415)
        return _decompressed(body, limits.body_bytes)

    async def _received(self, request: _HttpRequest) -> bytes:
        limits = self._service.limits
        pieces, total = [], 0
        task = asyncio.current_task()
        assert task is not None
        self._bodies.start(task.cancel)
        try:
            more = True
            while more:
                message = await request.receive()
                if message["type"] != "http.request":
                    raise _ClientGone
                piece = message.get("body", b"")
                pieces.append(piece)
                total += len(piece)
                if total > limits.body_bytes:
                    raise TooLarge(f"the body has more than {limits.body_bytes} bytes")
                more = message.get("more_body", False)
        except asyncio.CancelledError:
            if self._bodies.stop(task.cancel):
                raise
            if hasattr(task, "uncancel"):  # new in Python 3.11
                task.uncancel()
            secs = limits.body_secs
            raise _Problem(f"the body did not come within {secs:g} s", 408, {"Connection": "close"}) from None
        finally:
            self._bodies.stop(task.cancel)
        return b"".join(pieces)


def _decompressed(body: bytes, most: int) -> bytes:
    decoder = zlib.decompressobj(47)  # gzip or zlib, by its first bytes
    try:
        data = decoder.decompress(body, most + 1)
    except zlib.error as error:
        raise RequestError(f"the body cannot be decompressed: {error}") from None
    if len(data) > most:
        raise TooLarge(f"the decompressed body has more than {most} bytes")
    if not decoder.eof:
        raise RequestError("the compressed body is cut off")
    return data


def _check_get(request: _HttpRequest) -> None:
    if request.method not in ("GET", "HEAD"):
        raise _Problem(f"{request.method} is not allowed here", 405, {"Allow": "GET, HEAD"})
