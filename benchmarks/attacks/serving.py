"""Attacks on `serve`: requests whose numbers lie, by gRPC and by KServe's v2 with binary tensors."""

from __future__ import annotations

import atexit
import functools
import http.client
import json
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from attacks.trial import Trial

SECS = 30.0
HAS = b"\x00\x00\x80\x3f" * 2  # 1.0 twice
NUMBERS = (-(2**63), -8, -1, 0, 1, 2, 7, 8, 9, 2**31, 2**40, 2**62, 2**63 - 1)
ANSWERED = "answered or refused, and the server is there"


@functools.cache
def server() -> tuple[subprocess.Popen[bytes], int, int]:
    """A server of a model with one input of floats [?, 2], for all tries of this process; its ports."""
    import tf1sessions as t1

    tf = t1.tf1
    folder = Path(tempfile.mkdtemp())
    with tf.Graph().as_default() as graph:
        tf.multiply(tf.placeholder(tf.float32, [None, 2], name="x"), 2.0, name="y")
    (folder / "double.pb").write_bytes(graph.as_graph_def().SerializeToString())
    words = [sys.executable, "-m", "tf1sessions", "serve", "double.pb", "--port", "0", "--grpc-port", "0"]
    started = subprocess.Popen(
        [*words, "--no-access-log"], cwd=folder, stderr=subprocess.STDOUT, stdout=subprocess.PIPE
    )
    atexit.register(started.kill)
    ports: dict[str, int] = {}
    assert started.stdout is not None
    while len(ports) < 2:
        line = started.stdout.readline().decode("utf-8", "replace")
        assert line, "the server did not start"
        for kind, port in re.findall(r"(http|gRPC)\D*?[\d.]+:(\d+)", line):
            ports[kind] = int(port)
    return started, ports["http"], ports["gRPC"]


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


TRIALS = [
    Trial("a request of KServe whose numbers lie", ANSWERED, by_kserve, times=400),
    Trial("a tensor of gRPC that is none", ANSWERED, by_grpc, times=400),
]
