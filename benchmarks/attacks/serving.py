"""Attacks on `serve`: models that are replaced; requests whose numbers lie, by gRPC and KServe's v2 with binaries."""

from __future__ import annotations

import atexit
import functools
import http.client
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from attacks.trial import Trial

SECS = 30.0
HAS = b"\x00\x00\x80\x3f" * 2  # 1.0 twice
NUMBERS = (-(2**63), -8, -1, 0, 1, 2, 7, 8, 9, 2**31, 2**40, 2**62, 2**63 - 1)
ANSWERED = "answered or refused, and the server is there"
STOPPED = "it stops"
VERSIONS = "the highest version that is whole answers"
REPLACED = "the old model answers meanwhile, and then the new one"


@functools.cache
def folder_of_the_server() -> Path:
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@functools.cache
def times(number: int) -> bytes:
    """A model with one input of floats [?, 2], which it multiplies; of one size for all small numbers."""
    import tf1sessions as t1

    tf = t1.tf1
    with tf.Graph().as_default() as graph:
        tf.multiply(tf.placeholder(tf.float32, [None, 2], name="x"), float(number), name="y")
    return bytes(graph.as_graph_def().SerializeToString())


@functools.cache
def server() -> tuple[subprocess.Popen[bytes], int, int]:
    """A server of two models that double, for all tries of this process; its ports."""
    folder = folder_of_the_server()
    for name in ("double.pb", "swapped.pb"):
        (folder / name).write_bytes(times(2))
    return started(folder, "double.pb", "swapped.pb", "--poll", "0.05")


def started(folder: Path, *words: str) -> tuple[subprocess.Popen[bytes], int, int]:
    """A server, and its ports."""
    command = [sys.executable, "-m", "tf1sessions", "serve", "--port", "0", "--grpc-port", "0", "--no-access-log"]
    process = subprocess.Popen([*command, *words], cwd=folder, stderr=subprocess.STDOUT, stdout=subprocess.PIPE)
    atexit.register(process.kill)
    ports: dict[str, int] = {}
    assert process.stdout is not None
    while len(ports) < 2:
        line = process.stdout.readline().decode("utf-8", "replace")
        assert line, "the server did not start"
        for kind, port in re.findall(r"(http|gRPC)\D*?[\d.]+:(\d+)", line):
            ports[kind] = int(port)
    return process, ports["http"], ports["gRPC"]


def seen(what: str) -> str:
    return ANSWERED if server()[0].poll() is None else f"the server ended after {what}"


def by_kserve(folder: Path, rng: random.Random) -> str:
    tensor: dict[str, Any] = {"name": "x", "shape": [1, 2], "datatype": "FP32", "parameters": {"binary_data_size": 8}}
    wrong = rng.choice(["shape", "datatype", "size", "data", "nothing"])
    if wrong == "shape":
        tensor["shape"] = [rng.choice(NUMBERS) for _ in range(rng.randrange(4))]
    elif wrong == "datatype":
        tensor["datatype"] = rng.choice(["FP64", "INT32", "BYTES", "BOOL", "FP16", "", None, 3])
    elif wrong == "size":
        tensor["parameters"] = {"binary_data_size": rng.choice([*NUMBERS, None, "8", 8.5, True, [8]])}
    elif wrong == "data":
        tensor["data"] = rng.choice([[1.0, 2.0], [], None, "ab"])
    head = json.dumps({"inputs": [tensor]}).encode()
    tail = rng.choice([HAS, HAS, HAS, HAS[:-1], HAS + b"x", b""])
    length = rng.choice([str(len(head))] * 4 + [str(rng.choice(NUMBERS)), "", "1e2", "+9", "x"])
    connection = http.client.HTTPConnection("127.0.0.1", server()[1], timeout=SECS)
    connection.request("POST", "/v2/models/double/infer", head + tail, {"Inference-Header-Content-Length": length})
    answer = connection.getresponse()
    body = answer.read()
    right = wrong == "nothing" and tail == HAS and length == str(len(head))
    if (answer.status != 200 and not 400 <= answer.status < 500) or (right and answer.status != 200):
        return f"status {answer.status} to {tensor} {length!r} {tail!r}: {body[:200]!r}"
    if answer.status == 200 and json.loads(body)["outputs"][0]["data"] != [2.0, 2.0]:
        return f"{body[:200]!r} to {tensor}"
    return seen(str(tensor))


def by_grpc(folder: Path, rng: random.Random) -> str:
    import grpc
    from tensorflow_serving.apis import predict_pb2

    request = predict_pb2.PredictRequest()
    request.model_spec.name = "double"
    tensor = request.inputs["x"]
    tensor.dtype = rng.choice([1, 1, 1, *range(24), 99, 101])
    dims = rng.choice([[1, 2], [1, 2], [rng.choice(NUMBERS) for _ in range(rng.randrange(4))], [1] * 300])
    for size in dims:
        tensor.tensor_shape.dim.add(size=size)
    if rng.random() < 0.5:
        tensor.tensor_content = rng.choice([HAS, HAS, HAS[:-1], b""])
    else:
        rng.choice([tensor.float_val, tensor.double_val]).extend([1.0] * rng.randrange(4))
    if rng.random() < 0.1:
        request.model_spec.version_label = "stable"
    data = request.SerializeToString()
    if rng.random() < 0.2:
        data = data[: rng.randrange(len(data))] + rng.randbytes(rng.randrange(9))
    with grpc.insecure_channel(f"127.0.0.1:{server()[2]}") as channel:
        predict = channel.unary_unary("/tensorflow.serving.PredictionService/Predict")
        try:
            predict(data, timeout=SECS)
        except grpc.RpcError as error:
            code = error.code().name  # type: ignore[attr-defined]
            if code not in ("INVALID_ARGUMENT", "NOT_FOUND", "RESOURCE_EXHAUSTED", "INTERNAL", "UNKNOWN"):
                return f"{code} to {request}"
        else:
            if tensor.dtype != 1 and data == request.SerializeToString():
                return f"a tensor of the type {tensor.dtype} was taken for floats"
    return seen(str(request))


def swapped(port: int) -> float:
    """What the model that is replaced makes of 1."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=SECS)
    connection.request("POST", "/v1/models/swapped:predict", b'{"instances": [[1.0, 1.0]]}')
    return float(json.loads(connection.getresponse().read())["predictions"][0][0])


def by_replacing(folder: Path, rng: random.Random) -> str:
    """Something else is at the model's path for some looks, and then another model."""
    port = server()[1]
    path, aside = folder_of_the_server() / "swapped.pb", folder / "aside"
    old, status = swapped(port), os.stat(path)
    new = rng.choice([number for number in range(2, 9) if number != old])
    between = rng.choice(["nothing", "folder", "full folder", "pipe", "loop", "half", "none"])
    if between != "none":
        os.rename(path, aside)
    if between.endswith("folder"):
        path.mkdir()
        if between == "full folder":
            (path / "README").write_text("no model")
    elif between == "pipe":
        os.mkfifo(path)
    elif between == "loop":
        path.symlink_to(path)
    elif between == "half":
        path.write_bytes(times(new)[:60])
    time.sleep(rng.choice([0.0, 0.1, 0.4]))
    if swapped(port) != old:
        return f"{swapped(port)} in place of {old} with {between} at the path"
    if between in ("folder", "full folder", "pipe", "loop"):
        os.rename(path, folder / "between")
    path.write_bytes(times(new))
    if rng.random() < 0.5:
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))  # as an archive that is unpacked
    until = time.monotonic() + SECS
    while swapped(port) != new:
        if time.monotonic() > until:
            return f"still {swapped(port)} in place of {new}, after {between} at the path"
        time.sleep(0.02)
    return REPLACED


@functools.cache
def saved(number: int) -> Path:
    """A SavedModel that multiplies what it gets; for all tries of this process."""
    import tf1sessions as t1

    tf = t1.tf1
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        y = x * tf.get_variable("factor", initializer=float(number))
        session.run(tf.global_variables_initializer())
        path = folder_of_the_server() / f"saved{number}"
        tf.saved_model.simple_save(session, str(path), {"x": x}, {"y": y})
    return path


@functools.cache
def served_versions(count: int) -> tuple[Path, int]:
    """The folder with the versions of a server that serves so many at once, and its port."""
    folder = folder_of_the_server() / f"of{count}"
    folder.mkdir()
    shutil.copytree(saved(1), folder / "1")
    settings = folder_of_the_server() / f"of{count}.toml"
    settings.write_text(f'[models.swapped]\npath = "{folder}"\nversions = {count}\n')
    return folder, started(folder, "--config", str(settings), "--poll", "0.05")[1]


def by_versions(folder: Path, rng: random.Random) -> str:
    """Versions come, slowly or at once, go, and are damaged: the highest that is whole answers each request."""
    versions, port = served_versions(rng.choice([1, 2]))
    numbers = sorted(int(path.name) for path in versions.iterdir())
    new, number = rng.randrange(2, 9), numbers[-1] + rng.choice([1, 1, 5])
    what = rng.choice(["new", "slow", "damaged", "odd", "highest goes", "lowest goes", "all go and come"])
    if what == "new":
        shutil.copytree(saved(new), folder / "aside")
        os.rename(folder / "aside", versions / str(number))
    elif what == "slow":
        for file in sorted((path for path in saved(new).rglob("*") if path.is_file()), key=lambda _: rng.random()):
            target = versions / str(number) / file.relative_to(saved(new))
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(file.read_bytes()[: rng.choice([0, 10])])
            time.sleep(rng.choice([0.0, 0.15]))
            target.write_bytes(file.read_bytes())
    elif what == "damaged":
        shutil.copytree(saved(new), folder / "aside")
        file = rng.choice(sorted(path for path in (folder / "aside").rglob("*") if path.is_file()))
        file.write_bytes(rng.choice([b"", file.read_bytes()[:-9], bytes(len(file.read_bytes()))]))
        os.rename(folder / "aside", versions / str(number))
    elif what == "odd":
        (versions / rng.choice(["-1", "1e3", "9" * 30, "v2", " 5", "2 ", "1.5"])).mkdir(exist_ok=True)
    elif what == "highest goes" and len(numbers) > 1:
        os.rename(versions / str(numbers[-1]), folder / "gone")
    elif what == "lowest goes" and len(numbers) > 1:
        os.rename(versions / str(numbers[0]), folder / "gone")
    elif what == "all go and come":
        os.rename(versions, folder / "gone")
        time.sleep(0.1)
        os.rename(folder / "gone", versions)
    until = time.monotonic() + SECS
    if what == "damaged":
        time.sleep(0.3)
        os.rename(versions / str(number), folder / "gone")
    for path in versions.iterdir():
        if not path.name.isdecimal() or len(path.name) > 18:
            path.rmdir()
    highest = max(int(path.name) for path in versions.iterdir())
    factor = next(k for k in range(1, 9) if _same_values(versions / str(highest), saved(k)))
    while (found := swapped(port)) != factor:
        if time.monotonic() > until:
            return f"{found} in place of {factor} after {what}"
        time.sleep(0.02)
    return VERSIONS


def _same_values(one: Path, other: Path) -> bool:
    values = "variables/variables.data-00000-of-00001"
    return (one / values).read_bytes() == (other / values).read_bytes()


def by_stopping(folder: Path, rng: random.Random) -> str:
    """Clients ask for runs without an end, past their deadline or not; then comes SIGTERM."""
    import tf1sessions as t1

    tf = t1.tf1
    with tf.Graph().as_default() as graph:
        steps = tf.placeholder(tf.int64, [], name="steps")
        tf.identity(
            tf.while_loop(lambda step: step < steps, lambda step: step + 1, [tf.zeros([], tf.int64)]), name="taken"
        )
    tf.train.write_graph(graph, str(folder), "loop.pb", as_text=False)
    process, port, _ = started(folder, "loop.pb", "--drain", "1", "--deadline", rng.choice(["1", "1000"]))
    connections = [http.client.HTTPConnection("127.0.0.1", port, timeout=SECS) for _ in range(rng.choice([1, 3]))]
    for connection in connections:
        connection.request("POST", "/v1/models/loop:predict", b'{"inputs": 1000000000000000}')
    time.sleep(rng.choice([0.5, 2.0]))
    process.terminate()
    try:
        return STOPPED if process.wait(SECS) == 0 else f"exit code {process.returncode}"
    except subprocess.TimeoutExpired:
        return f"it has not stopped after {SECS:g} s"
    finally:
        process.kill()
        process.wait()


TRIALS = [
    Trial("a stop while runs have no end", STOPPED, by_stopping, times=3),
    Trial("a model that is replaced, with something else there meanwhile", REPLACED, by_replacing, times=25),
    Trial("versions come, go and are damaged", VERSIONS, by_versions, times=60),
    Trial("a request of KServe whose numbers lie", ANSWERED, by_kserve, times=400),
    Trial("a tensor of gRPC that is none", ANSWERED, by_grpc, times=400),
]
