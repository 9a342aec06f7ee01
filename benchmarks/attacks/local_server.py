"""Attacks on SessionServer and SessionClient: what goes between them is changed on its way, both ways."""

from __future__ import annotations

import atexit
import functools
import os
import random
import shutil
import socket
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from attacks.trial import Trial

SECS = 4.0
#: Bytes of the greeting, which are left alone: with others nothing else is read.
GREETINGS = {"to the server": 64, "to the client": 72}
REFUSED = ("PeerGoneError", "DeadlineError", "WorkError", "UsageError", "MessageTooLargeError", "LocalFormatError")
SOUND = "answered or refused, and the server is there"


def kernel() -> Any:
    import numpy as np

    return np.arange(6, dtype=np.float32).reshape(3, 2)


def requests(gs: Any) -> dict[str, Any]:
    """What comes is given back; and a loop of as many steps as a client says."""
    import tf1sessions as t1

    tf = t1.tf1
    steps = tf.placeholder(tf.int64, [])
    loop = tf.while_loop(lambda step: step < steps, lambda step: step + 1, [tf.zeros([], tf.int64)])
    return {"echo": lambda **arrays: arrays, "loop": ({"steps": steps}, loop)}


@functools.cache
def server() -> Any:
    """A server of one model, x @ kernel(), for all tries of this process."""
    import tf1sessions as t1

    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    tf = t1.tf1
    with tf.Graph().as_default() as graph:
        tf.matmul(tf.placeholder(tf.float32, [None, 3], name="x"), tf.constant(kernel()), name="y")
    tf.train.write_graph(graph, folder, "model.pb", as_text=False)
    started = t1.SessionServer(Path(folder, "model.pb"), requests=requests).__enter__()
    atexit.register(started.close)
    return started


def changed(data: bytes, handles: list[int], way: str, rng: random.Random) -> tuple[bytes | None, list[int]]:
    """What is sent on in the place of some bytes, and of the descriptors that come with them; None ends all."""
    place = rng.randrange(len(data))
    if way == "others":
        edited = bytearray(data)
        for _ in range(rng.choice([1, 2, 8])):
            edited[rng.randrange(min(len(data), rng.choice([24, len(data)])))] = rng.choice([0, 127, 128, 255])
        return bytes(edited), handles
    if way == "cut":
        return data[:place] or None, handles
    if way == "lost":
        return b"", handles
    if way == "more":
        return data[:place] + rng.randbytes(rng.choice([1, 4, 64])) + data[place:], handles
    if way == "random":
        return rng.randbytes(rng.choice([1, 8, 5000])), handles
    for handle in handles:
        os.close(handle)
    if way == "no descriptors":
        return data, []
    small = [os.memfd_create("small") for _ in handles]  # of no bytes
    return data, small


WAYS = ["others", "cut", "lost", "more", "random", "no descriptors", "small descriptors"]


def pump(source: socket.socket, sink: socket.socket, greeting: int, change: Callable[..., Any]) -> None:
    """Sends on what comes, and changes what follows the greeting."""
    seen = 0
    try:
        while True:
            data, handles, _, _ = socket.recv_fds(source, 65536, 16)
            if not data:
                break
            plain = data[: max(0, greeting - seen)]
            seen += len(data)
            rest: bytes | None = data[len(plain) :]
            if rest:
                rest, handles = change(rest, list(handles))
            if rest is None:
                break
            if plain + rest:
                socket.send_fds(sink, [plain + rest], handles)
            for handle in handles:
                os.close(handle)
    except OSError:  # one side has gone
        pass
    for each in (source, sink):
        try:
            each.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def between(folder: Path, rng: random.Random) -> str:
    """One call through a relay that changes bytes or descriptors, and then one that goes straight."""
    import numpy as np

    import tf1sessions as t1

    address = server().address
    way, direction = rng.choice(WAYS), rng.choice(list(GREETINGS))
    x = np.ones((rng.choice([2, 100_000]), 3), np.float32)
    folder.chmod(0o700)
    shutil.copy(Path(address, "key"), folder / "key")
    (folder / "key").chmod(0o600)

    def change(to: str) -> Callable[[bytes, list[int]], tuple[bytes | None, list[int]]]:
        if to != direction:
            return lambda data, handles: (data, handles)
        return lambda data, handles: changed(data, handles, way, rng)

    def relay() -> None:
        client, _ = listener.accept()
        there = socket.socket(socket.AF_UNIX)
        there.connect(f"{address}/socket")
        pairs = [(client, there, "to the server"), (there, client, "to the client")]
        threads = [threading.Thread(target=pump, args=(*ends, GREETINGS[to], change(to))) for *ends, to in pairs]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        client.close()
        there.close()

    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
        listener.listen()
        relaying = threading.Thread(target=relay, daemon=True)
        relaying.start()
        try:
            with t1.SessionClient(folder, timeout_secs=SECS, connect_secs=SECS) as client:
                found = client(x=x)["y"]
            told = "right" if found.shape == (len(x), 2) or way == "others" else f"shape {found.shape}"
        except Exception as error:
            told = "right" if type(error).__name__ in REFUSED else f"{type(error).__name__}: {error}"
    with t1.SessionClient(address) as straight:
        sound = np.array_equal(straight(x=x[:2])["y"], x[:2] @ kernel())
    return SOUND if sound and told == "right" else f"{way}, {direction}, {len(x)} rows: {told}, then right: {sound}"


def strings(folder: Path, rng: random.Random) -> str:
    """Bytes with zeros among them and at their ends, in lists of lists, there and back."""
    import tf1sessions as t1

    rows, columns = rng.choice([1, 3]), rng.choice([1, 2, 2000])
    sent = [[rng.choice([b"", b"\0"]).join([rng.randbytes(2), b"\0" * rng.randrange(3)]) for _ in range(columns)]]
    sent *= rows
    with t1.SessionClient(server().address) as client:
        found = client.request("echo")(sent=sent)["sent"].tolist()
    return "as they were" if found == sent else f"{len(sent)} rows of {columns} are others"


def endless(folder: Path, rng: random.Random) -> str:
    """A request whose run has no end, given up by its client; and then one of another client."""
    import tf1sessions as t1

    address = server().address
    with t1.SessionClient(address) as client:
        try:
            client.request("loop")(steps=rng.choice([10**12, 2**62]), deadline_secs=rng.uniform(0.05, 0.9))
            told = "it ended"
        except t1.errors.DeadlineError:
            told = "given up"
    with t1.SessionClient(address) as other:
        found = other.request("loop")(steps=3, deadline_secs=40)
    return f"{told}, and others go on" if found == 3 else f"{told}, then {found}"


TRIALS = [
    Trial("bytes and descriptors are changed on their way", SOUND, between, times=120),
    Trial("strings with zeros", "as they were", strings, times=60),
    Trial("a run without an end", "given up, and others go on", endless, times=10),
]
