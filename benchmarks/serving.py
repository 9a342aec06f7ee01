"""Serving against hand-written code, in one run: python benchmarks/serving.py [WHAT ...].

WHAT is one or more of local, http, memory, fuzz, soak; the first three by default. Models are a tiny one, and one of
100 MB (25 layers of 1024 by 1024), of which each request has one row.

    local    SessionClient against the same call in the process, and two plain copies of its arrays
    http     64 clients at once: `tf1sessions serve` against programs behind the same HTTP server (Starlette and
             uvicorn) that call Session.run in a thread for each request, by hand and with TensorFlow's batching op;
             against Ray Serve with batching, where ray[serve] is installed; and what HTTP takes without a model
    memory   what a server takes, with one client and with four processes; and four workers of gunicorn, where it is
             installed, with a server for all and with a session in each
    fuzz     10^5 wrong requests: by HTTP, by gRPC and by local clients
    soak     ten minutes (or SOAK_SECS) of mixed load: by HTTP, gRPC and local clients, wrong requests of each, clients
             that are killed in the midst of a request, versions that are replaced; memory, threads, descriptors and
             /dev/shm after each fifth of the time
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import json
import os
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

import numpy as np

import tf1sessions as t1

LAYERS, WIDTH, CLIENTS, SECONDS = 25, 1024, 64, float(os.environ.get("SECONDS", "8"))

BY_HAND = """
import json, sys
import tensorflow.compat.v1 as tf
import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse
from starlette.routing import Route

tf.disable_v2_behavior()
graph_def = tf.GraphDef()
graph_def.ParseFromString(open(sys.argv[1], "rb").read())
tf.import_graph_def(graph_def, name="")
session = tf.Session()

async def predict(request):
    rows = json.loads(await request.body())["instances"]
    found = await run_in_threadpool(session.run, "y:0", {"x:0": rows})
    return JSONResponse({"predictions": found.tolist()})

app = Starlette(routes=[Route("/{path:path}", predict, methods=["POST"])])
uvicorn.run(app, port=int(sys.argv[2]), log_level="warning", access_log=False)
"""

#: What the HTTP server alone takes.
NO_MODEL = """
import sys, uvicorn

async def app(scope, receive, send):
    await receive()
    head = [(b"content-type", b"application/json"), (b"content-length", b"20")]
    await send({"type": "http.response.start", "status": 200, "headers": head})
    await send({"type": "http.response.body", "body": b'{"predictions": [0]}'})

uvicorn.run(app, port=int(sys.argv[2]), log_level="warning", access_log=False, lifespan="off")
"""

#: As by hand, with TensorFlow's own batching around the graph.
BATCH_OP = BY_HAND.replace('tf.import_graph_def(graph_def, name="")', """
@tf.nondifferentiable_batch_function(1, 64, 2000, [1, 2, 4, 8, 16, 32, 64], 1000)
def whole(rows):
    return tf.import_graph_def(graph_def, {"x:0": rows}, ["y:0"], name="")[0]

x = tf.placeholder(tf.float32, [None, int(sys.argv[3])])
y = whole(x)""").replace('"y:0", {"x:0": rows}', "y, {x: rows}")  # fmt: skip

WSGI = """
import os
import numpy as np

def application(predict):
    def app(environ, start_response):
        for _ in range(20):
            predict(np.zeros([1, WIDTH], np.float32))
        start_response("200 OK", [("Content-Type", "text/plain")])
        return [str(os.getpid()).encode()]
    return app

def shared(address):
    import tf1sessions as t1
    client = t1.SessionClient(address)
    return application(lambda x: client(x=x))

def by_hand():
    import tensorflow.compat.v1 as tf
    tf.disable_v2_behavior()
    graph_def = tf.GraphDef()
    graph_def.ParseFromString(open("m.pb", "rb").read())
    tf.import_graph_def(graph_def, name="")
    session = tf.Session()
    return application(lambda x: session.run("y:0", {"x:0": x}))
"""

RAY_SERVE = """
import asyncio, sys, threading
from ray import serve

@serve.deployment(max_ongoing_requests=1000)
class Model:
    def __init__(self, path):
        import tensorflow.compat.v1 as tf
        tf.disable_v2_behavior()
        graph_def = tf.GraphDef()
        graph_def.ParseFromString(open(path, "rb").read())
        tf.import_graph_def(graph_def, name="")
        self.session = tf.Session()

    @serve.batch(max_batch_size=64, batch_wait_timeout_s=0.002)
    async def run(self, rows):
        return self.session.run("y:0", {"x:0": rows}).tolist()

    async def __call__(self, request):
        rows = (await request.json())["instances"]
        return {"predictions": await asyncio.gather(*map(self.run, rows))}

serve.start(http_options={"host": "127.0.0.1", "port": int(sys.argv[2])})
serve.run(Model.bind(sys.argv[1]), route_prefix="/")
threading.Event().wait()
"""


def write_model(path, layers, width):
    """A frozen graph of dense layers, x to y."""
    tf = t1.tf1
    random = np.random.default_rng(0)
    with tf.Graph().as_default() as graph:
        value = tf.placeholder(tf.float32, [None, width], name="x")
        for _ in range(layers):
            value = tf.nn.relu(value @ tf.constant(random.normal(0, 0.05, [width, width]).astype(np.float32)))
        tf.identity(value, name="y")
    Path(path).write_bytes(graph.as_graph_def().SerializeToString())


def microseconds(call, rounds):
    """Median and 99th percentile of a call."""
    call()
    taken = []
    for _ in range(rounds):
        started = time.perf_counter()
        call()
        taken.append(1e6 * (time.perf_counter() - started))
    return statistics.median(taken), float(np.percentile(taken, 99))


def local(folder):
    write_model(f"{folder}/tiny.pb", 1, 2)
    tf = t1.tf1
    with tf.Graph().as_default() as graph:
        tf.add(tf.placeholder(tf.float32, [None], name="x"), 1.0, name="y")
    tf.train.write_graph(graph, folder, "add.pb", as_text=False)
    tiny, large = np.zeros([1, 2], np.float32), np.zeros(1 << 20, np.float32)
    with (
        t1.SessionServer({"tiny": f"{folder}/tiny.pb", "add": f"{folder}/add.pb"}) as server,
        server.client() as client,
    ):
        remote, remote_add = client.model("tiny"), client.model("add")
        with t1.load(f"{folder}/tiny.pb") as model, t1.load(f"{folder}/add.pb") as add:
            near, far = microseconds(lambda: model(x=tiny), 3000), microseconds(lambda: remote(x=tiny), 3000)
            print(f"tiny: here {near[0]:.0f} µs (99 %: {near[1]:.0f}), client {far[0]:.0f} ({far[1]:.0f}), "
                  f"{far[0] - near[0]:.0f} µs more")  # fmt: skip
            near, far = microseconds(lambda: add(x=large), 300), microseconds(lambda: remote_add(x=large), 300)
            room = np.empty_like(large)
            copies, _ = microseconds(lambda: (np.copyto(room, large), np.copyto(large, room)), 300)
            more = far[0] - near[0]
            print(f"4 MB in and out: here {near[0]:.0f} µs, client {far[0]:.0f} (99 %: {far[1]:.0f}), {more:.0f} µs "
                  f"more; two plain copies {copies:.0f} µs: {more / copies:.1f} times")  # fmt: skip


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start(command, port):
    """A server's process, once it answers."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until = time.monotonic() + 240
    while time.monotonic() < until and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return process
        except OSError:
            time.sleep(0.1)
    raise RuntimeError(f"{command} does not answer")


async def load_of(port, clients, seconds, body, model="m"):
    """Closed loop: latencies in seconds of all requests of so many clients."""
    head = (
        f"POST /v1/models/{model}:predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    )
    taken, failed, until = [], 0, time.perf_counter() + seconds

    async def client():
        nonlocal failed
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while time.perf_counter() < until:
            started = time.perf_counter()
            writer.write(head + body)
            answer = await reader.readuntil(b"\r\n\r\n")
            if length := re.search(rb"content-length: (\d+)", answer, re.I):
                await reader.readexactly(int(length[1]))
            else:
                await reader.readuntil(b"0\r\n\r\n")  # Ray Serve sends chunks
            taken.append(time.perf_counter() - started)
            failed += not answer.startswith(b"HTTP/1.1 200")
        writer.close()

    await asyncio.gather(*[client() for _ in range(clients)])
    return taken, failed


def until_it_answers(port, body):
    """Waits for the first right answer: Ray Serve listens before its model is loaded."""
    until = time.monotonic() + 120
    while time.monotonic() < until:
        with contextlib.suppress(OSError, urllib.error.URLError):
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/models/m:predict", body, 30) as answer:
                if b"predictions" in answer.read():
                    return
        time.sleep(0.5)
    raise RuntimeError(f"port {port} does not answer")


def processor_seconds(pid):
    """What a process has used of the processors."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def http(folder):
    programs = {"an answer without a model": NO_MODEL, "by hand": BY_HAND, "batching op": BATCH_OP}
    if importlib.util.find_spec("ray") is not None and importlib.util.find_spec("fastapi") is not None:
        programs["Ray Serve"] = RAY_SERVE  # ray[serve] brings both
    for name, layers, width in (("tiny", 1, 2), ("100 MB", LAYERS, WIDTH)):
        path = f"{folder}/m.pb"
        write_model(path, layers, width)
        body = json.dumps({"instances": [[0.5] * width]}).encode()
        found = {}
        for way in ("serve", *programs):
            port = free_port()
            command = [
                sys.executable,
                "-m",
                "tf1sessions",
                "serve",
                f"m={path}",
                "--port",
                str(port),
                "--no-access-log",
            ]
            if way != "serve":
                Path(f"{folder}/program.py").write_text(programs[way])
                command = [sys.executable, f"{folder}/program.py", path, str(port), str(width)]
            process = start(command, port)
            try:
                until_it_answers(port, body)
                asyncio.run(load_of(port, 4, 3.0, body))
                for clients in (1, CLIENTS):
                    used = processor_seconds(process.pid)
                    taken, failed = asyncio.run(load_of(port, clients, SECONDS, body))
                    used = 1e3 * (processor_seconds(process.pid) - used) / len(taken)
                    rate, p50, p99 = len(taken) / SECONDS, np.median(taken) * 1e3, np.percentile(taken, 99) * 1e3
                    found[way, clients] = rate, p99, used
                    print(f"{name}, {way}, {clients} clients: {rate:.0f} a second, median {p50:.1f} ms, 99 % {p99:.1f} "
                          f"ms, {used:.2f} ms of a processor each, {failed} failed", flush=True)  # fmt: skip
            finally:
                process.terminate()
                process.wait(60)
        rate, p99, used = found["serve", CLIENTS]
        for way in programs:
            other_rate, other_p99, other_used = found[way, CLIENTS]
            print(f"{name}, {CLIENTS} clients, serve against {way}: {rate / other_rate:.1f} times the requests a "
                  f"second, 99 % at {p99 / other_p99:.2f}, a processor at {used / other_used:.2f} times")  # fmt: skip


def resident(pid):
    """MB of a process."""
    return int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())[1]) / 1024


def memory(folder):
    write_model(f"{folder}/m.pb", LAYERS, WIDTH)
    program = "import sys, numpy, tf1sessions as t1\nc = t1.SessionClient(sys.argv[1])\n"
    program += (
        f"for _ in range(50): c(x=numpy.zeros([1, {WIDTH}], numpy.float32))\nprint('done', flush=True)\ninput()\n"
    )
    with t1.SessionServer(f"{folder}/m.pb") as server, server.client() as client:
        client(x=np.zeros([1, WIDTH], np.float32))
        print(f"the server with one client: {resident(server.pid):.0f} MB")
        command = [sys.executable, "-c", program, server.address]
        four = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(4)]
        for each in four:
            each.stdout.readline()
        each_mb = ", ".join(f"{resident(each.pid):.0f}" for each in four)
        print(f"with four more in processes: {resident(server.pid):.0f} MB; these: {each_mb} MB")
        for each in four:
            each.communicate(b"\n")
        if importlib.util.find_spec("gunicorn") is not None:
            of_workers = under_gunicorn(folder, f"shared({server.address!r})")
            print(f"gunicorn, four workers and a server: {proportional(server.pid) + of_workers:.0f} MB, of which the "
                  f"workers {of_workers:.0f}")  # fmt: skip
    if importlib.util.find_spec("gunicorn") is not None:
        print(f"gunicorn, a session in each of four workers: {under_gunicorn(folder, 'by_hand()'):.0f} MB")


def under_gunicorn(folder, application):
    """MB of four workers of a program that answers with its process's number, once each has answered."""
    Path(f"{folder}/wsgi_program.py").write_text(WSGI.replace("WIDTH", str(WIDTH)))
    port = free_port()
    command = [sys.executable, "-m", "gunicorn", "--chdir", folder, "--workers", "4", "--bind", f"127.0.0.1:{port}"]
    process = start([*command, "--timeout", "120", f"wsgi_program:{application}"], port)
    try:
        answered, until = set(), time.monotonic() + 150
        while len(answered) < 4 and time.monotonic() < until:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}", timeout=120) as answer:
                answered.add(int(answer.read()))
        return sum(map(proportional, answered))
    finally:
        process.terminate()
        process.wait(60)


def proportional(pid):
    """MB of a process, in which what several share is divided among them."""
    return int(re.search(r"Pss:\s+(\d+)", Path(f"/proc/{pid}/smaps_rollup").read_text())[1]) / 1024


def serve_half(folder, port, grpc_port, *options):
    """A server's process of half_plus_two."""
    command = [sys.executable, "-m", "tf1sessions", "serve", f"half={folder}/half", "--no-access-log"]
    return start([*command, "--port", str(port), "--grpc-port", str(grpc_port), *options], grpc_port)


def tools_of_the_tests():
    """The model, and wrong requests of HTTP, gRPC and local clients."""
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "serving"))
    from served_models import export
    from wrong_requests import fuzz, fuzz_grpc, fuzz_local

    return export, fuzz, fuzz_grpc, fuzz_local


def fuzz(folder):
    export, *sending = tools_of_the_tests()
    export(f"{folder}/half/1")
    port, grpc_port, seed = free_port(), free_port(), int(time.time())
    process = serve_half(folder, port, grpc_port)
    try:
        with t1.SessionServer(f"{folder}/half") as local:
            sides = ("HTTP", process.pid, port), ("gRPC", process.pid, grpc_port), ("local", local.pid, local.address)
            for (name, pid, address), send, count in zip(sides, sending, (50_000, 30_000, 20_000), strict=True):
                before, started = state(pid), time.monotonic()
                found = send(address, count, seed)
                print(f"{count} wrong requests, {name}, seed {seed}: {time.monotonic() - started:.0f} s, "
                      f"{dict(found)}; before {before}, after {state(pid)}", flush=True)  # fmt: skip
            assert local.client()(x=[1.0])["y"].tolist() == [2.5]
        assert process.poll() is None, "the server has ended"
    finally:
        process.terminate()
        process.wait(60)


def state(pid):
    """Memory in MB, threads and descriptors of a process."""
    threads = int(re.search(r"Threads:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())[1])
    return f"{resident(pid):.0f} MB, {threads} threads, {len(os.listdir(f'/proc/{pid}/fd'))} descriptors"


def soak(folder):
    import grpc
    from tensorflow_serving.apis import predict_pb2

    export, wrong_http, wrong_grpc, wrong_local = tools_of_the_tests()
    seconds = float(os.environ.get("SOAK_SECS", "600"))
    export(f"{folder}/half/1")
    counts = dict.fromkeys(("http", "grpc", "local", "wrong", "killed"), 0) | {"versions": 1}
    victim = "import sys, numpy, tf1sessions as t1\nc = t1.SessionClient(sys.argv[1])\n"
    victim += "while True: c(x=numpy.zeros(1 << 18, numpy.float32))\n"
    body = json.dumps({"instances": [1.0]}).encode()
    request = predict_pb2.PredictRequest()
    request.model_spec.name = "half"
    request.inputs["x"].CopyFrom(t1.tf1.make_tensor_proto([1.0]))
    shared = set(os.listdir("/dev/shm"))
    port, grpc_port = free_port(), free_port()
    process = serve_half(folder, port, grpc_port, "--poll", "0.5")
    try:
        with (
            t1.SessionServer(f"{folder}/half", poll_secs=0.5) as server,
            server.client() as client,
            grpc.insecure_channel(f"127.0.0.1:{grpc_port}") as channel,
        ):
            predict = channel.unary_unary("/tensorflow.serving.PredictionService/Predict")
            data, started, reported = request.SerializeToString(), time.monotonic(), 0
            while time.monotonic() - started < seconds:
                killed = subprocess.Popen([sys.executable, "-c", victim, server.address])
                taken, failed = asyncio.run(load_of(port, 16, 2.0, body, "half"))
                assert not failed, f"{failed} right requests failed"
                counts["http"] += len(taken)
                for _ in range(300):
                    assert b"\x00\x00\x20\x40" in predict(data, timeout=30)  # 2.5
                    assert client(x=[1.0])["y"].tolist() == [2.5]
                counts["grpc"], counts["local"] = counts["grpc"] + 300, counts["local"] + 300
                for send, address in ((wrong_http, port), (wrong_grpc, grpc_port), (wrong_local, server.address)):
                    counts["wrong"] += sum(send(address, 300, seed=counts["wrong"]).values())
                killed.kill()
                killed.wait()
                counts["killed"] += 1
                counts["versions"] += 1
                export(f"{folder}/half/{counts['versions']}")
                if time.monotonic() - started > (reported + 1) * seconds / 5:
                    reported += 1
                    left = len(set(os.listdir("/dev/shm")) - shared)
                    print(f"after {time.monotonic() - started:.0f} s: serve {state(process.pid)}; SessionServer "
                          f"{state(server.pid)}; /dev/shm {left} more files; {counts}", flush=True)  # fmt: skip
    finally:
        process.terminate()
        process.wait(60)


def main():
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    parts = {each.__name__: each for each in (local, http, memory, fuzz, soak)}
    for name in sys.argv[1:] or ("local", "http", "memory"):
        with tempfile.TemporaryDirectory() as folder:
            parts[name](folder)


if __name__ == "__main__":
    main()
