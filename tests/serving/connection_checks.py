"""Connections to `serve`: limits, slow clients, TLS, tokens, ports, the end; run by `http_checks.py`."""

from __future__ import annotations

import concurrent.futures
import contextlib
import gzip
import http.client
import importlib.util
import itertools
import json
import logging
import os
import socket
import ssl
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from served_models import ask, export, serving
from support import raises, wait_for

import tf1sessions as t1
from tf1sessions.serving.http_server import listen
from tf1sessions.serving.server import Server, ServerSettings
from tf1sessions.serving.settings import Limits, models_from

PREDICT = "/v1/models/half:predict"
TLS = Path(__file__).resolve().parent / "tls"  # of localhost, until 2126; "locked.pem" has a password


def half() -> dict[str, str]:
    if not os.path.exists("half"):
        export("half/123")
    return {"half": "half"}


def check_limits() -> None:
    limits = Limits(body_bytes=1000, decoded_bytes=400, rows=50, body_secs=0.5)
    with serving(half(), limits) as server:
        assert ask(server, PREDICT, {"instances": [1.0] * 51})[0] == 413
        assert ask(server, PREDICT, {"instances": [1.0] * 50})[0] == 200
        assert ask(server, PREDICT, b" " * 1001)[0] == 413
        assert ask(server, PREDICT, gzip.compress(b" " * 100_000), Content_Encoding="gzip")[0] == 413
        assert ask(server, PREDICT, gzip.compress(b'{"instances": [1]}'), Content_Encoding="gzip")[0] == 200
        assert ask(server, PREDICT, gzip.compress(b'{"instances": [1]}')[:-9], Content_Encoding="gzip")[0] == 400
        assert ask(server, PREDICT, b"x", Content_Encoding="br")[0] == 415
        with socket.create_connection(("127.0.0.1", server.port), 30) as slow:
            slow.sendall(b"POST /v1/models/half:predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")
            assert slow.recv(100).startswith(b"HTTP/1.1 408 ")
        with socket.create_connection(("127.0.0.1", server.port), 30) as chunked:
            chunked.sendall(
                b"POST /v1/models/half:predict HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
            )
            chunked.sendall(b"1000\r\n" + b" " * 4096 + b"\r\n")
            assert chunked.recv(100).startswith(b"HTTP/1.1 413 ")


def check_a_head_that_does_not_come() -> None:
    from tf1sessions.serving import http_server

    http_server._HEAD_SECS = 0.3
    try:
        with serving(half()) as server:
            with socket.create_connection(("127.0.0.1", server.port), 30) as slow:
                slow.sendall(b"POST /v1/models/half:predict HTTP/1.1\r\nHost:")
                assert slow.recv(100) == b"", "the connection is not closed"
            with socket.create_connection(("127.0.0.1", server.port), 30) as slow:
                slow.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
                found = b""
                while not found.endswith(b"{}"):
                    found += slow.recv(1000)
                slow.sendall(b"GET /healthz HT")
                assert slow.recv(100) == b"", "the connection is not closed after a part of its second head"
            assert ask(server, "/healthz")[0] == 200
        with (
            serving(half(), tls=(str(TLS / "cert.pem"), str(TLS / "key.pem"))) as server,
            socket.create_connection(("127.0.0.1", server.port), 30) as slow,
        ):
            assert slow.recv(100) == b"", "the connection is not closed before its TLS handshake"
    finally:
        http_server._HEAD_SECS = 10.0


def check_an_answer_that_is_not_taken() -> None:
    """The connection is cut, where a close would wait for the client."""
    from tf1sessions.serving import http_server

    body = json.dumps({"instances": [0.5] * 60_000}).encode()
    head = f"POST {PREDICT} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    before = http_server._READ_SECS
    http_server._READ_SECS = 0.3
    try:
        with serving(half()) as server:
            with socket.socket() as deaf:
                deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                deaf.settimeout(30)
                deaf.connect(("127.0.0.1", server.port))
                with contextlib.suppress(ConnectionResetError, BrokenPipeError):
                    deaf.sendall(30 * (head + body))
                wait_for(lambda: not server._http._server.server_state.connections, "the connection to be cut")
            assert ask(server, PREDICT, {"instances": [1.0]})[0] == 200
    finally:
        http_server._READ_SECS = before


def check_half_closed_connections() -> None:
    with serving(half()) as server:
        for body, answer in ((b'{"instances": [1.0]}', b"HTTP/1.1 200 "), (b'{"instances": [1.', b"")):
            with socket.create_connection(("127.0.0.1", server.port), 30) as client:
                client.sendall(
                    f"POST {PREDICT} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 20\r\n\r\n".encode() + body
                )
                client.shutdown(socket.SHUT_WR)
                found = b""
                while piece := client.recv(1000):
                    found += piece
                assert found.startswith(answer) and bool(found) == bool(answer), (body, found)
        wait_for(lambda: not server._http._server.server_state.connections, "the connections to be closed")


def check_requests_before_what_is_none_are_answered() -> None:
    """One after the other, without an error that the client would take for the first one's answer."""
    requests = []
    for value in (b"1.0", b"2.0"):
        body = b'{"instances": [%s]}' % value
        head = b"POST /v1/models/half:predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(body)
        requests.append(head + body)
    chunked = b"POST /v1/models/half:predict HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n"
    with serving(half()) as server:
        for good, rest in itertools.product((0, 1, 2), (b"\0 no request\r\n\r\n", chunked + b"12345no", chunked)):
            with socket.create_connection(("127.0.0.1", server.port), timeout=30) as client:
                client.sendall(b"".join(requests[:good]) + rest)
                if rest == chunked:  # and no more of it
                    client.shutdown(socket.SHUT_WR)
                came = b"".join(iter(lambda client=client: client.recv(65536), b""))  # type: ignore[misc]
            assert came.count(b"HTTP/1.1 200 ") == good, (rest, came)
            assert came.count(b"HTTP/1.1 400 ") == (good == 0 and rest != chunked), (rest, came)
            assert [number for number in (b"2.5", b"3.0") if number in came] == [b"2.5", b"3.0"][:good], (rest, came)


def check_requests_that_ask_for_another_protocol() -> None:
    """As clients do that can speak HTTP/2: the answer is one of HTTP/1.1, also to what comes behind them."""
    asked = "Connection: keep-alive, Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n"
    requests = []
    for value, upgrade in (("1.0", asked), ("2.0", ""), ("3.0", asked.replace("h2c", "websocket"))):
        body = f'{{"instances": [{value}]}}'
        head = f"POST {PREDICT} HTTP/1.1\r\nHost: localhost\r\n{upgrade}Content-Length: {len(body)}\r\n\r\n"
        requests.append((head + body).encode())
    sent = b"".join(requests) + b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    with serving(half()) as server:
        for size in (1, 100, len(sent)):
            with socket.create_connection(("127.0.0.1", server.port), timeout=30) as client:
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                for start in range(0, len(sent), size):
                    client.sendall(sent[start : start + size])
                came = b"".join(iter(lambda client=client: client.recv(65536), b""))  # type: ignore[misc]
            assert came.count(b"HTTP/1.1 200 ") == 4 and b"HTTP/1.1 4" not in came, (size, came)
            assert [came.count(number) for number in (b"2.5", b"3.0", b"3.5")] == [1, 1, 1], (size, came)
        many = f"GET / HTTP/1.1\r\nHost: localhost\r\n{asked}\r\n".encode() * 500  # in one piece
        with socket.create_connection(("127.0.0.1", server.port), timeout=30) as client:
            client.sendall(many)
            client.shutdown(socket.SHUT_WR)
            came = b"".join(iter(lambda: client.recv(65536), b""))
        assert came.count(b"HTTP/1.1 200 ") == 500


def check_token() -> None:
    with serving(half(), token="secret-secret-secret") as server:
        assert ask(server, PREDICT, {"instances": [1.0]})[0] == 401
        assert ask(server, PREDICT, {"instances": [1.0]}, Authorization="Bearer secret-secret")[0] == 401
        assert ask(server, PREDICT, {"instances": [1.0]}, Authorization="Basic secret-secret-secret")[0] == 401
        assert ask(server, PREDICT, {"instances": [1.0]}, Authorization="Bearer secret-secret-secret")[0] == 200
        assert ask(server, "/metrics")[0] == 401
        assert ask(server, "/figures")[0] == 401
        assert ask(server, "/healthz")[0] == 200
        assert ask(server, "/")[0] == 200


def check_a_stop_does_not_wait_for_an_idle_client_with_tls() -> None:
    """It answers TLS's end of a connection when it is used again, which may be never; asyncio waits for 30 seconds."""
    files = (str(TLS / "cert.pem"), str(TLS / "key.pem"))
    trusting = ssl.create_default_context(cafile=files[0])
    with serving(half(), tls=files) as server:
        client = trusting.wrap_socket(socket.create_connection(("localhost", server.port)), server_hostname="localhost")
        with socket.socket(fileno=client.detach()) as raw:  # nothing answers for TLS any more
            server.stop()
            raw.settimeout(20 if sys.version_info >= (3, 11) else 50)
            with contextlib.suppress(ConnectionResetError):
                while raw.recv(4096):
                    pass


def check_tls() -> None:
    """HTTP and gRPC with a certificate; who does not trust it, or speaks without TLS, gets no answer."""
    files = (str(TLS / "cert.pem"), str(TLS / "key.pem"))
    trusting = ssl.create_default_context(cafile=files[0])
    with serving(half(), tls=files, grpc_port=0) as server:

        def by_http(context: ssl.SSLContext) -> Any:
            connection = http.client.HTTPSConnection("localhost", server.port, timeout=60, context=context)
            with contextlib.closing(connection):
                connection.request("POST", PREDICT, b'{"instances": [1.0]}')
                return json.loads(connection.getresponse().read())

        assert by_http(trusting) == {"predictions": [2.5]}
        raises(ssl.SSLCertVerificationError, by_http, ssl.create_default_context())
        raises((OSError, http.client.HTTPException), ask, server, "/healthz")
        with socket.create_connection(("127.0.0.1", server.port), 30) as stranger:
            stranger.sendall(b"\x16\x03\x01\x00\x05hello")
            while stranger.recv(100):
                pass
        if importlib.util.find_spec("tensorflow_serving") is not None:
            _by_grpc_with_tls(server, Path(files[0]).read_bytes())
        assert by_http(trusting) == {"predictions": [2.5]}


def _by_grpc_with_tls(server: Server, certificate: bytes) -> None:
    import grpc
    from tensorflow_serving.apis import predict_pb2
    from tensorflow_serving.apis import prediction_service_pb2_grpc as prediction_grpc

    tf = t1.tf1
    request = predict_pb2.PredictRequest()
    request.model_spec.name = "half"
    request.inputs["x"].CopyFrom(tf.make_tensor_proto([1.0]))
    address = f"localhost:{server.grpc_port}"
    with grpc.secure_channel(address, grpc.ssl_channel_credentials(certificate)) as channel:
        answer = prediction_grpc.PredictionServiceStub(channel).Predict(request, 30)
        assert tf.make_ndarray(answer.outputs["y"]).tolist() == [2.5]
    with grpc.insecure_channel(address) as channel:
        error = raises(grpc.RpcError, prediction_grpc.PredictionServiceStub(channel).Predict, request, 30)
        assert error.code().name == "UNAVAILABLE"


def check_tls_files_that_cannot_be_used() -> None:
    """Said before a model is loaded, and without a question at the terminal."""
    certificate, key = TLS / "cert.pem", TLS / "key.pem"
    Path("garbage.pem").write_text("no certificate")
    os.mkfifo("pipe.pem")
    for cert, of in (
        (certificate, certificate), (key, key), (certificate, "garbage.pem"), ("garbage.pem", key), ("gone.pem", key),
        (certificate, TLS / "locked.pem"), (".", key),
        ("pipe.pem", key), (certificate, "pipe.pem"),
    ):  # fmt: skip
        settings = ServerSettings(port=0, tls=(str(cert), str(of)))
        error = raises(t1.errors.UsageError, Server, models_from("no_model.pb"), settings)
        assert str(of) in str(error) and "without a password" in str(error)


def check_pages_of_other_sites() -> None:
    with serving(half()) as server:
        assert ask(server, PREDICT, {"instances": [1.0]}, Origin="https://evil.example")[0] == 403
        own = f"http://127.0.0.1:{server.port}"
        assert ask(server, PREDICT, {"instances": [1.0]}, Origin=own)[0] == 200
        for host in (
            "evil.example",
            f"evil.example:{server.port}",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "[::1",
        ):
            status, answer = ask(server, PREDICT, {"instances": [1.0]}, Origin=f"http://{host}", Host=host)
            assert status == 403 and host in answer["error"], host
            assert ask(server, "/v1/models/half", Host=host)[0] == 403, host
        for host in ("localhost", "LOCALHOST:80", "a.localhost", "[::1]:8501", "192.168.0.7"):
            assert ask(server, PREDICT, {"instances": [1.0]}, Host=host)[0] == 200, host


@contextlib.contextmanager
def requests_wait() -> Iterator[tuple[threading.Semaphore, threading.Event]]:
    """Has runs of models wait for an event; a semaphore counts the requests that have begun."""
    from tf1sessions.pipelines.batching import Batcher

    began, go_on, enter, run = threading.Semaphore(0), threading.Event(), Batcher._enter, Batcher._run

    def entered(self: Any, *args: Any) -> bool:
        found = enter(self, *args)
        began.release()
        return found

    def late_run(self: Any, batch: Any) -> list[Any]:
        go_on.wait(30)
        return run(self, batch)

    with mock.patch.object(Batcher, "_enter", entered), mock.patch.object(Batcher, "_run", late_run):
        try:
            yield began, go_on
        finally:
            go_on.set()


def check_too_many_requests() -> None:
    """With room for two, a third is refused at once, and the two are answered."""
    with (
        requests_wait() as (began, go_on),
        serving(half(), Limits(waiting=2)) as server,
        concurrent.futures.ThreadPoolExecutor(2) as pool,
    ):
        two = [pool.submit(ask, server, PREDICT, {"instances": [1.0]}) for _ in range(2)]
        assert all(began.acquire(timeout=30) for _ in range(2))
        status, found = ask(server, PREDICT, {"instances": [1.0]})
        go_on.set()
        assert status == 429 and "2 requests" in found["error"], found
        assert [each.result()[0] for each in two] == [200, 200]
        assert ask(server, PREDICT, {"instances": [1.0]})[0] == 200


def check_a_stop_lets_requests_end() -> None:
    with (
        requests_wait() as (began, go_on),
        concurrent.futures.ThreadPoolExecutor(1) as pool,
        serving(half()) as server,
    ):
        asked = pool.submit(ask, server, PREDICT, {"instances": [1.0]})
        assert began.acquire(timeout=30)
        server.stop()

        def refused() -> bool:
            try:
                socket.create_connection(("127.0.0.1", server.port), 1).close()
            except OSError:
                return True
            return False

        wait_for(refused, "new connections to be refused")
        assert not asked.done()
        go_on.set()
        assert asked.result(30) == (200, {"predictions": [2.5]})


def check_a_stop_answers_what_has_been_sent() -> None:
    """Requests that are not read yet when the stop begins, on old connections and on one that was just accepted."""
    body = b'{"instances": [1.0]}'
    head = f"POST {PREDICT} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n".encode()

    def received(client: socket.socket) -> bytes:
        return b"".join(iter(lambda: client.recv(65536), b""))

    with serving(half()) as server, contextlib.ExitStack() as stack:
        address = ("127.0.0.1", server.port)
        one, several, new = (stack.enter_context(socket.create_connection(address, 30)) for _ in range(3))
        for client in (one, several):
            client.sendall(head + body)
            came = b""
            while b"2.5" not in came:
                came += client.recv(65536)
            assert b"connection: close" not in came
        connections = server._http._server.server_state.connections
        wait_for(lambda: len(connections) == 3, "the connections to be accepted")

        def stop() -> None:  # in the event loop, which reads nothing meanwhile
            one.sendall(head + body)
            several.sendall((head + body) * 3)
            new.sendall(head + body)
            server._http._stop()
            for connection in list(connections):  # as uvicorn does at the stop
                connection.shutdown()

        server._http._loop.call_soon_threadsafe(stop)
        for client, count in ((one, 1), (several, 3), (new, 1)):
            came = received(client)
            assert came.count(b"HTTP/1.1 200 ") == came.count(b"2.5") == count, came
            assert came.count(b"connection: close") == 1, came
    with serving(half()) as server, socket.socket() as client:
        server._http._protocol.stops = True  # as it is for what is accepted while the stop begins
        client.settimeout(30)
        client.connect(("127.0.0.1", server.port))
        client.sendall(head + body)
        assert received(client).count(b"connection: close") == 1


def check_lines_of_the_log_are_the_server_s() -> None:
    """A path with line ends and codes of terminals in it is written as it was sent."""
    lines: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: lines.append(record.getMessage())  # type: ignore[method-assign]
    access = logging.getLogger("tf1sessions.serving.access")
    with serving(half()) as server, mock.patch.multiple(access, handlers=[handler], level=logging.INFO, _cache={}):
        assert ask(server, "/v1/models/half%0A1.1.1.1%0d%1b[2J", {"instances": []})[0] == 405
        assert ask(server, "/v1/models/half/versions/%D9%A1")[0] == 400  # a digit, of another script
    assert len(lines) == 2 and '"POST /v1/models/half%0A1.1.1.1%0d%1b[2J" 405' in lines[0], lines


def check_a_request_that_outlasts_the_stop() -> None:
    """Its answer says that the server stops; no traceback is in the log."""
    lines: list[logging.LogRecord] = []
    handler = logging.Handler()
    handler.emit = lines.append  # type: ignore[assignment]
    logging.getLogger("uvicorn.error").addHandler(handler)
    with (
        requests_wait() as (began, go_on),
        concurrent.futures.ThreadPoolExecutor(1) as pool,
        serving(half(), drain_secs=1.0) as server,
    ):
        asked = pool.submit(ask, server, PREDICT, {"instances": [1.0]})
        assert began.acquire(timeout=30)
        server.stop()
        try:
            status, found = asked.result(60)
        finally:
            go_on.set()
    server.stop()  # once more, which does nothing
    logging.getLogger("uvicorn.error").removeHandler(handler)
    assert status == 503 and "the server stops" in found["error"], (status, found)
    assert not any(line.exc_info for line in lines), lines


def check_answers_are_not_held_back() -> None:
    """asyncio turns Nagle's algorithm off only where a listener's protocol is known, and it costs 40 ms a request."""
    with contextlib.closing(listen("127.0.0.1", 0)) as listener:
        assert listener.proto == socket.IPPROTO_TCP


def check_a_deadline_for_the_answer() -> None:
    def active() -> int:
        return int(ask(server, "/figures")[1]["models"][0]["versions"][0]["active"])

    with requests_wait() as (_, go_on), serving(half(), Limits(deadline_secs=0.2)) as server:
        for while_it in ("runs", "waits"):
            status, found = ask(server, PREDICT, {"instances": [1.0]})
            assert status == 504 and "0.2 s" in found["error"], (while_it, found)
            assert active() == 1, "the one that runs is not over, and the one that waited is"
        go_on.set()
        wait_for(lambda: active() == 0, "it to be let go")


def check_bodies_without_end() -> None:
    """A body of a gigabyte is refused by its head; one that goes on after that is read for a while, and then cut."""
    from tf1sessions.serving import http_server

    before = http_server._HEAD_SECS
    http_server._HEAD_SECS = 0.3
    try:
        with serving(half(), Limits(body_bytes=1 << 20)) as server:
            for framing in (b"Content-Length: 1073741824\r\n\r\n", b"Transfer-Encoding: chunked\r\n\r\n"):
                with socket.create_connection(("127.0.0.1", server.port), 30) as client:
                    client.sendall(f"POST {PREDICT} HTTP/1.1\r\nHost: localhost\r\n".encode() + framing)
                    if framing.startswith(b"Content"):
                        assert client.recv(100).startswith(b"HTTP/1.1 413 "), "it is not refused by its head"
                    with contextlib.suppress(ConnectionResetError, BrokenPipeError):
                        while True:
                            client.sendall(b"10000\r\n" + b" " * 0x10000 + b"\r\n")
            assert ask(server, PREDICT, {"instances": [1.0]})[0] == 200
    finally:
        http_server._HEAD_SECS = before


def check_two_servers_on_a_port() -> None:
    """Each port is one server's, gRPC's too, which would else be shared among them. Said before a model is loaded."""
    with serving(half(), grpc_port=0) as server:
        for settings, option in (
            (ServerSettings(port=server.port), "--port"),
            (ServerSettings(port=0, grpc_port=server.grpc_port), "--grpc-port"),
        ):
            error = raises(t1.errors.UsageError, Server(models_from("no_model.pb"), settings).run)
            assert "cannot be listened on" in str(error) and option in str(error), error
            assert "give another port, or end that one" in str(error), error
        assert ask(server, PREDICT, {"instances": [1.0]})[0] == 200
