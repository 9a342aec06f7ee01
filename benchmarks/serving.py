"""Serving against hand-written code, in one run: python benchmarks/serving.py [WHAT ...].

WHAT is one or more of local, http, memory, fuzz, soak; the first three by default. Models are a tiny one, and one of
100 MB (25 layers of 1024 by 1024), of which each request has one row.

    local    SessionClient against the same call in the process, and two plain copies of its arrays; against a session
             of TensorFlow's on a tf.train.Server (gRPC), and against `tf1sessions serve` by HTTP
    http     64 clients at once, and then requests at a fixed rate, whether those before them are answered or not:
             what uvicorn takes without a model, and, where they are installed (pip install fastapi flask gunicorn
             "ray[serve]"), programs that call Session.run in a thread for each request: by hand with Starlette, by
             FastAPI, by Flask under gunicorn; with TensorFlow's batching op; and Ray Serve with batching
    memory   what a server takes, with one client and with four processes, and while versions follow each other; and
             four workers of gunicorn, where it is installed, with a server for all and with a session in each
    fuzz     10^5 wrong requests: by HTTP, by gRPC and by local clients
    soak     ten minutes (or SOAK_SECS) of mixed load: by HTTP, gRPC and local clients, wrong requests of each, clients
             that are killed in the midst of a request, versions that are replaced; memory, threads, descriptors and
             /dev/shm after each fifth of the time
"""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import importlib.util
import json
import os
import re
import shutil
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
import serving_programs as programs
from serving_load import closed_loop, open_loop

import tf1sessions as t1

LAYERS, WIDTH, CLIENTS, SECONDS = 25, 1024, 64, float(os.environ.get("SECONDS", "8"))
TURNS = 4  # into which the SECONDS of closed loops are parted
SHARES = 0.2, 0.6  # of the requests a second that `serve` answered in a closed loop, which come in the open ones


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
    paths = {name: f"{folder}/{name}.pb" for name in ("tiny", "add")}
    inputs = {"tiny": np.zeros([1, 2], np.float32), "add": np.zeros(1 << 20, np.float32)}
    rounds = {"tiny": 3000, "add": 300}
    large = inputs["add"]
    room = np.empty_like(large)
    copies, _ = microseconds(lambda: (np.copyto(room, large), np.copyto(large, room)), 300)
    here, found = {}, {}
    with t1.SessionServer(paths) as server, server.client() as client:
        for name, path in paths.items():
            value, remote = inputs[name], client.model(name)
            with t1.load(path) as model:
                here[name] = microseconds(lambda: model(x=value), rounds[name])  # noqa: B023 - called at once
            found["SessionClient", name] = microseconds(lambda: remote(x=value), rounds[name])  # noqa: B023
    with sessions_by_grpc(paths) as calls:
        for name, call in calls.items():
            found["TensorFlow's gRPC session", name] = microseconds(lambda: call(inputs[name]), rounds[name] // 10)  # noqa: B023
    with calls_by_http(paths, inputs) as calls:
        for name, call in calls.items():
            found["HTTP", name] = microseconds(call, rounds[name] // 10)
    print(f"two plain copies of 4 MB: {copies:.0f} µs")
    for (way, name), (median, p99) in found.items():
        more = median - here[name][0]
        times = f", {more / copies:.1f} times two copies" if name == "add" else ""
        what = "4 MB in and out" if name == "add" else name
        print(f"{what}: here {here[name][0]:.0f} µs (99 %: {here[name][1]:.0f}), {way} {median:.0f} ({p99:.0f}), "
              f"{more:.0f} µs more{times}")  # fmt: skip


@contextlib.contextmanager
def sessions_by_grpc(paths):
    """Name -> a call of that graph in a session on a tf.train.Server in another process."""
    port, tf = free_port(), t1.tf1
    program = "import sys, tensorflow.compat.v1 as tf\n"
    program += "tf.train.Server({'local': ['127.0.0.1:' + sys.argv[1]]}, 'local', 0).join()"
    process = start([sys.executable, "-c", program, str(port)], port)
    try:
        with contextlib.ExitStack() as stack:
            calls = {}
            for name, path in paths.items():
                graph_def = tf.GraphDef.FromString(Path(path).read_bytes())
                with tf.Graph().as_default() as graph:
                    tf.import_graph_def(graph_def, name="")
                session = stack.enter_context(tf.Session(f"grpc://127.0.0.1:{port}", graph))
                calls[name] = lambda x, session=session: session.run("y:0", {"x:0": x})
            yield calls
    finally:
        process.kill()
        process.wait()


@contextlib.contextmanager
def calls_by_http(paths, inputs):
    """Name -> a call of `serve`: JSON for the small array, KServe's v2 with binary tensors for the large one."""
    port = free_port()
    models = [f"{name}={path}" for name, path in paths.items()]
    serve = [sys.executable, "-m", "tf1sessions", "serve", "--no-access-log", "--max-rows", str(1 << 20)]
    process = start([*serve, *models, "--port", str(port)], port)
    connection = http.client.HTTPConnection("127.0.0.1", port)
    tiny = json.dumps({"instances": inputs["tiny"].tolist()}).encode()
    data = inputs["add"].tobytes()
    given = {"name": "x", "datatype": "FP32", "shape": [1 << 20], "parameters": {"binary_data_size": len(data)}}
    head = json.dumps({"inputs": [given], "parameters": {"binary_data_output": True}}).encode()

    def ask(path, body, headers):
        connection.request("POST", path, body, headers)
        answer = connection.getresponse()
        found = answer.read()
        assert answer.status == 200, found[:300]

    try:
        yield {
            "tiny": lambda: ask("/v1/models/tiny:predict", tiny, {}),
            "add": lambda: ask(
                "/v2/models/add/infer", head + data, {"Inference-Header-Content-Length": str(len(head))}
            ),
        }
    finally:
        connection.close()
        process.terminate()
        process.wait(60)


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


def until_it_answers(port, body):
    """Waits for the first right answer: Ray Serve listens before its model is loaded."""
    until = time.monotonic() + 120
    headers = {"Content-Type": "application/json"}  # which FastAPI wants
    request = urllib.request.Request(f"http://127.0.0.1:{port}/v1/models/m:predict", body, headers)
    while time.monotonic() < until:
        with contextlib.suppress(OSError, urllib.error.URLError):
            with urllib.request.urlopen(request, timeout=30) as answer:
                if b"predictions" in answer.read():
                    return
        time.sleep(0.5)
    raise RuntimeError(f"port {port} does not answer")


def processor_seconds(pid):
    """What a process and all that it has started have used of the processors."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    used = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    for task in os.listdir(f"/proc/{pid}/task"):
        with contextlib.suppress(OSError):  # one that has ended meanwhile
            used += sum(map(processor_seconds, Path(f"/proc/{pid}/task/{task}/children").read_text().split()))
    return used


def programs_here():
    """Name -> program by hand, of those whose packages are installed."""
    found = {"an answer without a model": programs.NO_MODEL}
    if has("fastapi"):  # which brings Starlette
        found["by hand"] = programs.BY_HAND
        found["FastAPI"] = programs.FASTAPI
        found["batching op"] = programs.BATCH_OP
    if has("flask") and has("gunicorn"):
        found["Flask"] = programs.FLASK
    if has("ray") and has("fastapi") and has("opencensus"):  # ray[serve] brings both
        found["Ray Serve"] = programs.RAY_SERVE
    return found


def has(name):
    return importlib.util.find_spec(name) is not None


def by_http(folder):
    for name, layers, width in (("tiny", 1, 2), ("100 MB", LAYERS, WIDTH)):
        path = f"{folder}/m.pb"
        write_model(path, layers, width)
        body = json.dumps({"instances": [[0.5] * width]}).encode()
        with servers_of(folder, path, width, body) as servers:
            for clients in (1, CLIENTS):
                found = in_turns(servers, clients, body)
                for way, (rate, used, taken, failed) in found.items():
                    print(f"{name}, {way}, {clients} clients: {rate:.0f} a second, {shown(taken)}, {used:.3f} ms of a "
                          f"processor each, {failed} failed", flush=True)  # fmt: skip
            for way in programs_here():
                (rate, used, taken, _), (other_rate, other_used, other_taken, _) = found["serve"], found[way]
                p99, other_p99 = np.percentile(taken, 99), np.percentile(other_taken, 99)
                print(f"{name}, {CLIENTS} clients, serve against {way}: {rate / other_rate:.1f} times the requests a "
                      f"second, 99 % at {p99 / other_p99:.2f}, a processor at 1/{other_used / used:.1f}")  # fmt: skip
            for rate in [share * found["serve"][0] for share in SHARES]:
                for way, (_, port) in servers.items():
                    taken, failed = asyncio.run(open_loop(port, rate, SECONDS, body))
                    print(f"{name}, {way}, {rate:.0f} a second come: {shown(taken)}, {failed} failed", flush=True)


@contextlib.contextmanager
def servers_of(folder, path, width, body):
    """Way -> number and port of a process that answers, of `serve` and of each program by hand."""
    serve = [sys.executable, "-m", "tf1sessions", "serve", f"m={path}", "--no-access-log", "--port"]
    with contextlib.ExitStack() as stack:
        servers = {}
        for number, (way, program) in enumerate({"serve": "", **programs_here()}.items()):
            port = free_port()
            Path(f"{folder}/program{number}.py").write_text(program)
            by_hand = [sys.executable, f"{folder}/program{number}.py", path, str(port), str(width)]
            process = start(by_hand if program else [*serve, str(port)], port)
            stack.callback(process.wait, 60)
            stack.callback(process.terminate)
            until_it_answers(port, body)
            asyncio.run(closed_loop(port, 4, 3.0, body))
            servers[way] = process.pid, port
        yield servers


def in_turns(servers, clients, body):
    """Way -> requests a second and ms of a processor for each, medians of the turns; all latencies; how many failed.

    In turns, so that what else the machine does meets all of them.
    """
    rates, used = ({way: [] for way in servers} for _ in range(2))
    latencies, failures = {way: [] for way in servers}, dict.fromkeys(servers, 0)
    for _ in range(TURNS):
        for way, (pid, port) in servers.items():
            before, started = processor_seconds(pid), time.perf_counter()
            taken, failed = asyncio.run(closed_loop(port, clients, SECONDS / TURNS, body))
            rates[way].append(len(taken) / (time.perf_counter() - started))
            used[way].append(1e3 * (processor_seconds(pid) - before) / len(taken))
            latencies[way] += taken
            failures[way] += failed
    median = statistics.median
    return {way: (median(rates[way]), median(used[way]), latencies[way], failures[way]) for way in servers}


def shown(taken):
    """Latencies."""
    p50, p99 = np.percentile(taken or [np.inf], [50, 99]) * 1e3
    return f"median {p50:.1f} ms, 99 % {p99:.1f} ms"


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
        if has("gunicorn"):
            of_workers = under_gunicorn(folder, f"shared({server.address!r})")
            print(f"gunicorn, four workers and a server: {proportional(server.pid) + of_workers:.0f} MB, of which the "
                  f"workers {of_workers:.0f}")  # fmt: skip
    memory_of_versions(folder)
    if has("gunicorn"):
        print(f"gunicorn, a session in each of four workers: {under_gunicorn(folder, 'by_hand()'):.0f} MB")


def memory_of_versions(folder):
    """The most memory while a second version takes the place of the first, with requests all the time."""
    port, path, body = free_port(), f"{folder}/m.pb", json.dumps({"instances": [[0.5] * WIDTH]}).encode()
    serve = [sys.executable, "-m", "tf1sessions", "serve", f"m={path}", "--no-access-log", "--poll", "0.2"]
    process = start([*serve, "--port", str(port)], port)
    try:
        until_it_answers(port, body)
        before, most = resident(process.pid), []
        for _ in range(4):
            asyncio.run(closed_loop(port, 8, 2.0, body))
            Path(f"/proc/{process.pid}/clear_refs").write_text("5")  # the most memory counts from now on
            version = latest(port)
            shutil.copy(path, f"{path}.new")
            os.replace(f"{path}.new", path)
            while latest(port) == version:
                asyncio.run(closed_loop(port, 8, 1.0, body))
            time.sleep(3.0)  # the first is closed and collected
            most.append(int(re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{process.pid}/status").read_text())[1]) / 1024)
        print(f"versions of 100 MB, one after the other: with one {before:.0f} MB, while the next is loaded at most "
              f"{', '.join(f'{each:.0f}' for each in most)}, afterwards {resident(process.pid):.0f}")  # fmt: skip
    finally:
        process.terminate()
        process.wait(60)


def latest(port):
    """The version of the model that answers."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/models/m", timeout=60) as answer:
        found = json.loads(answer.read())["model_version_status"]
    return max(int(each["version"]) for each in found if each["state"] == "AVAILABLE")


def under_gunicorn(folder, application):
    """MB of four workers of a program that answers with its process's number, once each has answered."""
    Path(f"{folder}/wsgi_program.py").write_text(programs.WSGI.replace("WIDTH", str(WIDTH)))
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
                taken, failed = asyncio.run(closed_loop(port, 16, 2.0, body, "half"))
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
    parts = {"local": local, "http": by_http, "memory": memory, "fuzz": fuzz, "soak": soak}
    for name in sys.argv[1:] or ("local", "http", "memory"):
        with tempfile.TemporaryDirectory() as folder:
            parts[name](folder)


if __name__ == "__main__":
    main()
