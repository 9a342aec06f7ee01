"""SessionServer and SessionClient, in processes of their own: see `test_local.py`."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import gc
import hashlib
import hmac
import json
import logging
import os
import random
import resource
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from served_models import export
from support import in_thread, raises, wait_for
from wrong_requests import fuzz_local

import tf1sessions as t1
from tf1sessions.errors import DeadlineError, PeerGoneError, UsageError, WorkError
from tf1sessions.pools.arrays import Channel
from tf1sessions.pools.messages import socket_address
from tf1sessions.serving.local_format import LocalFormatError, decode, send
from tf1sessions.serving.local_handshake import make_key
from tf1sessions.serving.settings import Limits

_SERVERS: dict[str, Any] = {}


class Notes(logging.Handler):
    """Keeps what is logged."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(record.getMessage())


def all_requests(gs: Any) -> dict[str, Any]:
    tf = t1.tf1
    x, w = tf.placeholder(tf.float32, [None], name="x"), tf.get_variable("w", initializer=4.0)
    loss = tf.reduce_mean(tf.square(w * x))
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    gs.initialize()
    go_on, notes = threading.Event(), Notes()
    logging.getLogger("tf1sessions.serving").addHandler(notes)
    file_size = resource.RLIMIT_FSIZE

    def wait() -> None:
        Path("waiting").touch()
        go_on.wait(60)

    def fail(kind: Any) -> None:
        kinds = {
            b"value": ValueError, b"key": KeyError, b"exit": SystemExit, b"interrupt": KeyboardInterrupt,
            b"cancelled": asyncio.CancelledError,
        }  # fmt: skip
        raise kinds[kind.item()]("as asked")

    return {
        "step": ({"x": x}, {"loss": loss, "train": train}),
        "weight": lambda: gs.run(w),
        "train_and_loss": ({"x": x}, [train, loss]),
        "texts": lambda: [b"zero\0", ["two\0\0"]],
        "echo": lambda **arrays: arrays,
        "pair": lambda: (np.float32(1), np.arange(3)),
        "nothing": lambda: None,
        "left_out": lambda: np.array([gc.get_freeze_count(), len(gc.get_objects())]),
        "wait": wait,
        "fail": fail,
        "die": lambda: os.kill(os.getpid(), signal.SIGKILL),
        "go_on": go_on.set,
        "limit": lambda: resource.setrlimit(file_size, (1 << 16, resource.getrlimit(file_size)[1])),
        "notes": lambda: np.array(notes.texts),
    }


def _server() -> Any:  # closed by the last check
    """One server for the checks that leave it as it was."""
    if "server" not in _SERVERS:
        if not os.path.exists("half"):
            export("half/1")
        _SERVERS["server"] = t1.SessionServer({"half": "half"}, requests=all_requests)
    return _SERVERS["server"]


@contextmanager
def _client(**options: Any) -> Iterator[Any]:
    with t1.SessionClient(_server().address, **options) as client:
        yield client


def check_called_as_the_model_is() -> None:
    with _client() as client, t1.load("half/1") as model:
        for values in ([1.0, 2.0], [], [0.25] * 1000):
            if values:
                assert client(x=values)["y"].tolist() == model(x=values)["y"].tolist()
                assert client(values)["y"].tolist() == model(values)["y"].tolist()
                assert client({"x": values})["y"].tolist() == model({"x": values})["y"].tolist()
        assert client.names()["models"] == ["half"]
        assert client.submit(x=[1.0]).result(30)["y"].tolist() == [2.5]
        assert asyncio.run(client.model("half", version=1).acall(x=[1.0]))["y"].tolist() == [2.5]
        example = t1.tf1.train.Example()
        example.features.feature["x"].float_list.value.append(2.0)
        found = client.model("half", signature="classify_x")(inputs=[example.SerializeToString()])
        assert found["classes"].tolist() == [[b"only"]] and found["scores"].tolist() == [[3.0]]


def check_large_arrays_go_through_shared_memory() -> None:
    with _client() as client:
        large = np.arange(1 << 20, dtype=np.float32)
        first = client(x=large)["y"]
        second = client(x=large * 2)["y"]
        assert np.array_equal(first, large / 2 + 2) and np.array_equal(second, large + 2)
        first[:] = 0  # they are the caller's own
        assert np.array_equal(second, large + 2)
        (channel,) = client._free
        assert channel.statistics().segment_bytes >= large.nbytes


def check_without_shared_memory() -> None:
    """Where no segment can be made, arrays go through the socket, and a warning says so: here and in the server."""
    program = """
import logging, resource, sys, numpy as np, tf1sessions as t1
notes = []
class Noting(logging.Handler):
    def emit(self, record): notes.append(record.getMessage())
logging.getLogger("tf1sessions.serving").addHandler(Noting())
large = np.arange(1 << 20, dtype=np.float32)
with t1.SessionClient(sys.argv[1]) as client:
    assert np.array_equal(client(x=large)["y"], large / 2 + 2) and not notes
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
    for size in (20, 21, 20):
        large = np.arange(1 << size, dtype=np.float32)
        assert np.array_equal(client(x=large)["y"], large / 2 + 2)
assert sum("go through the socket" in note for note in notes) == 1, notes
print("as before")
"""
    run = [sys.executable, "-c", program, _server().address]
    assert subprocess.run(run, stdout=subprocess.PIPE, check=False, timeout=60).stdout == b"as before\n"


def check_an_answer_that_cannot_be_taken_in() -> None:
    program = """if True:
    import os, resource, sys
    import numpy as np, tf1sessions as t1
    from tf1sessions.errors import PeerGoneError
    large = np.arange(1 << 20, dtype=np.float32)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with t1.SessionClient(sys.argv[1]) as client:
        client(x=[1.0])
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(map(int, os.listdir("/proc/self/fd"))), hard))
        try:
            client(x=large)
        except PeerGoneError as error:
            assert "could not be taken in" in str(error) and "too many files" in str(error), error
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        assert np.array_equal(client(x=large)["y"], large / 2 + 2)
    print("goes on")
    """
    run = [sys.executable, "-c", program, _server().address]
    assert subprocess.run(run, stdout=subprocess.PIPE, check=False, timeout=60).stdout == b"goes on\n"


def check_every_kind_of_array_arrives() -> None:
    with _client() as client:
        echo = client.request("echo")
        for dtype in ("bool", "uint8", "int64", "float16", "float64", "complex128"):
            for shape in ((), (0,), (3, 0), (2, 3), (1, 1, 1), (300, 300)):
                given = np.ones(shape, dtype)
                found = echo(a=given)["a"]
                assert found.dtype == given.dtype and found.shape == given.shape and np.array_equal(found, given)
        given = np.arange(100_000, dtype=np.float64).reshape(100, 1000)
        for view in (given.T, given[::2], given[:, ::3], given.astype(">f8")):
            assert np.array_equal(echo(a=view)["a"], view)
        assert echo(a=np.array(["ä", ""]), b=np.array([[b"\0", b"x" * 100_000]], object))["b"].tolist() == [
            [b"\0", b"x" * 100_000]
        ]
        pair = client.request("pair")()
        assert [each.tolist() for each in pair] == [1.0, [0, 1, 2]]
        assert client.request("nothing")() is None
        assert client.request("weight")().shape == ()


def check_collections_do_not_look_at_tensorflow() -> None:
    """In a server's process: one takes 0.2 s, in which no request is answered."""
    with _client() as client:
        left_out, looked_at = client.request("left_out")()
        assert left_out > 100_000 > looked_at, (left_out, looked_at)


def check_requests_that_are_too_large() -> None:
    """They are refused before their arrays are copied into shared memory, and the connection stays."""
    with t1.SessionServer({"half": "half"}, limits=Limits(decoded_bytes=1 << 20, rows=1 << 40)) as server:
        with server.client() as client:
            client(x=[1.0])
            (channel,) = client._free
            error = raises(UsageError, lambda: client(x=np.zeros((1 << 18) + 1, np.float32)))  # the server's word
            assert "have 1048580 bytes" in str(error), error

            def sent() -> tuple[int, int, int]:  # what is lent is given back at any time
                found = channel.statistics()
                return found.sent, found.bytes_sent, found.segment_bytes

            before = sent()
            for size in (1 << 20, 1 << 28):
                error = raises(UsageError, lambda: client(x=np.zeros(size, np.float32)))  # noqa: B023 - called at once
                assert "a request at most 2097152" in str(error) and "decoded_bytes" in str(error), error
            assert "a request at most" in str(raises(UsageError, lambda: client(x=[b"x" * (2 << 20)])))
            assert sent() == before and list(client._free) == [channel]
            assert client(x=[1.0])["y"].tolist() == [2.5]


def check_a_segment_is_free_for_the_next_request() -> None:
    """The server gives it back before it answers: two in turn need twice the processor's cache."""
    with _client() as client:
        large = np.zeros(1 << 18, np.float32)
        for _ in range(5):
            client(x=large)
        (channel,) = client._free
        assert channel.statistics().segments == 1


def check_wrong_calls() -> None:
    with _client() as client:
        for call in (
            lambda: client(z=[1.0]), lambda: client(), lambda: client(x=[[1.0]]), lambda: client(x=["a"]),
            lambda: client(x=object()), lambda: client([1.0], [2.0]), lambda: client([1.0], x=[1.0]),
            lambda: client.model("no")(x=[1.0]), lambda: client.model("half", version=9)(x=[1.0]),
            lambda: client.model("half", version=[1]),
            lambda: client.model("half", signature="no")(x=[1.0]), lambda: client.request("no")(),
            lambda: client.request("step")(), lambda: client.request("step")(z=[1.0]),
            lambda: client.request("step")([1.0]), lambda: client(x=[1.0], deadline_secs=0),
            lambda: client.request("fail")(kind=b"value"),
        ):  # fmt: skip
            error = raises(Exception, call)
            assert isinstance(error, (UsageError, TypeError, ValueError)), repr(error)
        for kind, text in (
            (b"key", "KeyError: 'as asked'"), (b"exit", "SystemExit"), (b"interrupt", "Interrupt"),
            (b"cancelled", "CancelledError"),
        ):  # fmt: skip
            assert text in str(raises(WorkError, lambda kind=kind: client.request("fail")(kind=kind)))
        assert client(x=[1.0])["y"].tolist() == [2.5]
        assert "no server" in str(raises(UsageError, t1.SessionClient, "nowhere"))


def check_strings_keep_the_zeros_at_their_ends() -> None:
    """NumPy's own strings lose them."""
    with _client() as client:
        for given in (
            b"zero\0", [b"a", b"\0"], [["long" * 50_000 + "\0"]], np.array([b"two\0\0"], object), ["a", b"\xff"],
            [np.str_("one\0")],
        ):  # fmt: skip
            found = client.request("echo")(given=given)["given"]
            wanted = np.array(given, object)
            assert found.shape == wanted.shape
            assert [str.encode(each) if isinstance(each, str) else each for each in wanted.flat] == list(found.flat)
        assert [each.item() for each in client.request("texts")()] == [b"zero\0", b"two\0\0"]


def check_training_steps() -> None:
    def training(gs: Any) -> dict[str, Any]:
        return {name: each for name, each in all_requests(gs).items() if name in ("step", "weight", "train_and_loss")}

    with t1.SessionServer(requests=training) as server, server.client() as client:
        losses = [round(float(client.request("step")(x=[1.0])["loss"]), 3) for _ in range(3)]
        assert losses == [16.0, 10.24, 6.554]
        assert round(float(client.request("weight")()), 3) == 2.048
        nothing, loss = client.request("train_and_loss")(x=[1.0])  # what its fetches give, each in its place
        assert nothing is None and loss.shape == ()
        assert "0 models" in str(raises(UsageError, lambda: client(x=[1.0])))


def check_many_threads_and_processes() -> None:
    program = (
        "import sys, tf1sessions as t1\n"
        "with t1.SessionClient(sys.argv[1]) as client:\n"
        "    assert all(client(x=[float(n)])['y'].tolist() == [n / 2 + 2] for n in range(100))\n"
        "assert 'tensorflow' not in sys.modules\n"
    )
    command = [sys.executable, "-c", program, _server().address]
    processes = [subprocess.Popen(command) for _ in range(2)]
    with _client() as client, concurrent.futures.ThreadPoolExecutor(16) as pool:
        found = list(pool.map(lambda number: client(x=[number, -number])["y"].tolist(), range(400)))
        assert found == [[number / 2 + 2, -number / 2 + 2] for number in range(400)]
    assert [process.wait(60) for process in processes] == [0, 0]


def check_busy_polling() -> None:
    polls, poll = [], Channel.poll

    def noted(channel: Channel, timeout: float | None = 0.0) -> bool:
        polls.append(timeout)
        return poll(channel, timeout)

    with mock.patch.object(Channel, "poll", noted):
        for secs in (0.0, 60.0):
            with _client(busy_poll_secs=secs) as client:
                client(x=[1.0])
                polls.clear()
                assert client(x=[1.0])["y"].tolist() == [2.5]
                assert (0.0 in polls) is bool(secs), polls


def check_arrays_may_change_after_submit() -> None:
    with _client() as client:
        batch, futures = np.zeros(1000, np.float32), []
        for number in range(40):
            batch[:] = number
            futures.append(client.submit(x=batch))
            batch[:] = -1.0
        assert [future.result(60)["y"][0] for future in futures] == [number / 2 + 2 for number in range(40)]


def check_a_server_that_is_too_busy_to_let_clients_in() -> None:
    os.mkdir("busy", 0o700)
    make_key("busy")
    with socket.socket(socket.AF_UNIX) as listener, contextlib.ExitStack() as stack:
        listener.bind("busy/socket")
        listener.listen(0)
        with contextlib.suppress(BlockingIOError):
            while True:
                waiting = stack.enter_context(socket.socket(socket.AF_UNIX))
                waiting.setblocking(False)
                waiting.connect("busy/socket")
        client = stack.enter_context(t1.SessionClient("busy"))
        error = raises(DeadlineError, lambda: client.request("step")(x=[1.0], deadline_secs=0.3))
        assert "did not let this client in" in str(error), error


def check_a_client_in_a_forked_child() -> None:
    with _client() as client:
        client(x=[1.0])
        child = os.fork()
        if not child:
            try:
                os._exit(0 if client(x=[2.0])["y"].tolist() == [3.0] else 1)
            except BaseException:
                os._exit(2)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert client(x=[1.0])["y"].tolist() == [2.5]


def check_a_forked_child_ends_no_server() -> None:
    server = _server()
    with _client() as client:
        client(x=[1.0])
        child = os.fork()
        if not child:
            signal.alarm(30)  # of an end that would wait for ever
            try:
                with server:  # as in a child that leaves the block by sys.exit()
                    pass
                os._exit(0)
            except BaseException:
                os._exit(2)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert client(x=[1.0])["y"].tolist() == [2.5]


def check_deadlines() -> None:
    with _client() as client:
        first = client.request("wait").submit()
        wait_for(lambda: os.path.exists("waiting"), "the first to run")
        error = raises(DeadlineError, lambda: client.request("step")(x=[1.0], deadline_secs=0.2))
        assert "waited for 'wait', which has run for" in str(error), error
        stop = raises(DeadlineError, lambda: client.request("nothing")(deadline_secs=0.1))
        assert "waited for 'wait'" in str(stop), stop
        assert not first.done()
        server = _SERVERS.pop("server")
        os.kill(server.pid, signal.SIGKILL)  # its request waits for long
        raises(PeerGoneError, first.result, 30)
    server.close()


def check_a_client_that_dies() -> None:
    """In the midst of its request: another is answered, and nothing of it is left."""
    server = _server()
    descriptors = Path(f"/proc/{server.pid}/fd")
    with _client() as client:
        client(x=np.zeros(1 << 20, np.float32))
        before = len(list(descriptors.iterdir()))
        program = (
            "import os, sys, numpy, threading, tf1sessions as t1\n"
            "client = t1.SessionClient(sys.argv[1])\n"
            "client(x=numpy.zeros(1 << 20, numpy.float32))\n"
            "threading.Thread(target=lambda: client(x=numpy.zeros(1 << 24, numpy.float32)), daemon=True).start()\n"
            "os.kill(os.getpid(), 9)\n"
        )
        for _ in range(3):
            subprocess.run([sys.executable, "-c", program, server.address], check=False)
        assert client(x=[1.0])["y"].tolist() == [2.5]
        wait_for(
            lambda: len(list(descriptors.iterdir())) <= before, "the descriptors of clients that died to be closed"
        )


def check_who_may_ask() -> None:
    server = _server()
    folder = Path(server.address)
    assert folder.stat().st_mode & 0o777 == 0o700 and (folder / "key").stat().st_mode & 0o777 == 0o600
    path = str(folder / "socket")
    with socket.socket(socket.AF_UNIX) as stranger:
        stranger.connect(path)
        stranger.settimeout(30)
        assert len(stranger.recv(64)) == 32
        stranger.sendall(bytes(64))
        assert stranger.recv(1) == b"", "a wrong key is let in"
    os.chmod(folder, 0o755)
    try:
        assert "others may enter" in str(raises(UsageError, t1.SessionClient, str(folder)))
    finally:
        os.chmod(folder, 0o700)


def _admitted(server: Any) -> socket.socket:
    """A connection that has shown the key, for whatever bytes."""
    key = Path(server.address, "key").read_bytes()
    connection = socket.socket(socket.AF_UNIX)
    with socket_address(os.path.join(server.address, "socket")) as path:
        connection.connect(path)
    connection.settimeout(30)
    theirs, ours = connection.recv(32), bytes(32)
    connection.sendall(ours + hmac.new(key, b"client" + theirs + ours, hashlib.sha256).digest())
    assert len(connection.recv(40, socket.MSG_WAITALL)) == 40
    return connection


def check_messages_of_all_kinds() -> None:
    """A fuzz test: each message is answered, or ends its own connection; the server goes on."""
    server, random_ = _server(), random.Random(7)
    pid = server.pid
    header = struct.Struct("=IIQ")
    for number in range(300):
        connection = _admitted(server)
        with connection:
            kind = number % 5
            if kind == 0:
                data = random_.randbytes(random_.randrange(1, 2000))
            elif kind == 1:
                data = header.pack(0x74316672, random_.randrange(2**32), random_.randrange(2**64))
            elif kind == 2:  # a frame of segments that do not come, or are not there
                numbers = [random_.choice([0, 1, -1, 2**62, 3]) for _ in range(random_.randrange(1, 20))]
                frame = struct.pack(f"={len(numbers)}q", *numbers)
                data = header.pack(0x74316672, len(frame), 3) + frame + b"abc"
            elif kind == 3:
                text = json.dumps({"what": random_.choice(["call", "hello", 1, None]), "arrays": [[1], None, "x"]})
                body = struct.pack("<I", random_.choice([len(text), 2**32 - 1, 0])) + text.encode()
                data = header.pack(0x74316672, 0, len(body)) + body
            else:
                data = header.pack(0x74316672, 0, 50) + bytes(10)
            connection.sendall(data.ljust(512, b"\0") if kind != 4 else data)
            connection.shutdown(socket.SHUT_WR)
            with contextlib.suppress(ConnectionResetError):
                while connection.recv(4096):
                    pass
    with _client() as client:
        assert client(x=[1.0])["y"].tolist() == [2.5]
    assert server.pid == pid


def check_requests_that_are_wrong_in_all_kinds_of_ways() -> None:
    server = _server()
    pid = server.pid
    found = fuzz_local(server.address, 1500, seed=11)
    assert found["answered"] > 100 and found["UsageError"] + found["ValueError"] > 500, found
    with _client() as client:
        assert client(x=[1.0])["y"].tolist() == [2.5]
    assert server.pid == pid


def check_segments_that_are_smaller_than_announced() -> None:
    """They would end the server by SIGBUS, were they touched."""
    server = _server()
    with _admitted(server) as connection:
        small = os.memfd_create("small")
        frame = struct.pack("=4q3q3q", 0, 1, 1, 0, 0, 1 << 20, 1, 0, 0, 1 << 20)
        data = struct.pack("=IIQ", 0x74316672, len(frame), 4) + frame + b"abcd"
        socket.send_fds(connection, [data.ljust(512, b"\0")], [small])
        os.close(small)
        assert connection.recv(1) == b""
    with _client() as client:
        assert client(x=[1.0])["y"].tolist() == [2.5]


def check_what_is_no_address_and_no_time() -> None:
    assert "the address is None" in str(raises(UsageError, lambda: t1.SessionClient(None)))
    with _client() as client:
        assert "below a million" in str(raises(UsageError, lambda: client(x=[1.0], deadline_secs=float("inf"))))


def check_what_is_no_message() -> None:
    left, right = (Channel(end) for end in socket.socketpair())
    with left, right:
        send(left, {"a": 1}, {"x": np.ones(3), "s": np.array(["é"])})
        header, arrays = decode(*right.recv_packed(30))
        assert header == {"a": 1} and arrays["x"].tolist() == [1, 1, 1] and arrays["s"].tolist() == ["é".encode()]
        for values in (np.ones(3), np.ones(3), np.ones([3, 1]), np.ones(3, np.float32), np.zeros(0)):
            send(left, {"a": 1}, {"x": values}, repeated=True)
            header, arrays = decode(*right.recv_packed(30))
            assert header == {"a": 1} and arrays["x"].dtype == values.dtype and np.array_equal(arrays["x"], values)
            header["a"] = arrays["x"][:1] = 2  # the receiver's own
    for text in (
        b"", b"{}", b"[]", b"null", b'{"arrays": 1}', b'{"arrays": [["x", "float32", [2], 4]]}',
        b'{"arrays": [["x", "object", [1], 4]]}', b'{"arrays": [["x", "float32", [1], -2]]}',
        b'{"arrays": [["x", "float32", [-1], 4]]}', b'{"arrays": [["x", "float32", [1], -1]]}',
        b'{"arrays": [["x", "strings", [1], 4]]}', b'{"arrays": []}', b"[" * 10_000,
    ):  # fmt: skip
        raises(LocalFormatError, decode, memoryview(struct.pack("<I", len(text)) + text + b"\1\0\0\0"), [])


def check_nothing_is_left() -> None:
    if "server" in _SERVERS:
        server = _SERVERS.pop("server")
        client = server.client()
        client(x=[1.0])
        child, process = os.fork(), server._process
        if not child:  # it has what the server's process reads its owner's end from, and keeps that from nothing
            signal.pause()
            os._exit(0)
        server.close()
        server.close()
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        assert process.returncode == 0, process.returncode  # it was not killed
        assert not os.path.exists(server.address)
        raises(PeerGoneError, lambda: client(x=[1.0]))
        client.close()
    gc.collect()
    names = [thread.name for thread in threading.enumerate() if thread.name.startswith("tf1sessions-server")]
    assert names == [], names
    assert in_thread(lambda: 1) == 1
