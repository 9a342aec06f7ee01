"""HttpServer without models: a server that has no descriptors left. Needs no TensorFlow."""

from __future__ import annotations

import contextlib
import http.client
import signal
import socket
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from support import wait_for

PROGRAM = """
import logging, os, resource
from tf1sessions.serving.http_server import HttpServer, listen

async def app(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})

listener = listen("127.0.0.1", 0)
server = HttpServer(app, [listener])
logging.basicConfig()
most = max(map(int, os.listdir("/proc/self/fd"))) + 8  # the event loop has some
resource.setrlimit(resource.RLIMIT_NOFILE, (most, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
print(listener.getsockname()[1], flush=True)
server.run(signals=True)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
@pytest.mark.timeout(120)
def test_connections_for_which_there_are_no_descriptors(tmp_path: Path) -> None:
    pytest.importorskip("uvicorn")
    errors = tmp_path / "errors"
    command = [sys.executable, "-c", textwrap.dedent(PROGRAM)]
    with errors.open("w") as file, subprocess.Popen(command, stdout=subprocess.PIPE, stderr=file) as process:
        assert process.stdout is not None
        port = int(process.stdout.readline())
        with contextlib.ExitStack() as stack:
            for _ in range(20):
                stack.enter_context(socket.create_connection(("127.0.0.1", port), 30))
            said = "no connection can be taken: Too many open files"
            wait_for(lambda: said in errors.read_text(), "the server to say that it has no descriptors")
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        connection.request("GET", "/")
        assert connection.getresponse().read() == b"ok"
        connection.close()
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
    assert "Traceback" not in errors.read_text()
    assert errors.read_text().count(said) < 200  # one a second; asyncio reports it 2,048 times at once
