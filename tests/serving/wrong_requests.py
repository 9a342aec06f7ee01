"""Requests that are wrong in all kinds of ways, of each protocol; for tests and for benchmarks/serving.py.

Each is answered with a status of the caller's fault, or, where it happens to be right, with the right numbers: those of
TensorFlow Serving's half_plus_two. A status of the server's fault is a bug, as is no answer.
"""

from __future__ import annotations

import http.client
import json
import math
import os
import random
import socket
import struct
from collections import Counter
from typing import Any

import numpy as np

from tf1sessions.errors import PeerGoneError
from tf1sessions.pools.arrays import Channel
from tf1sessions.pools.messages import socket_address
from tf1sessions.pools.packing import Packed
from tf1sessions.serving.local_format import decode
from tf1sessions.serving.local_handshake import greet, read_key

__all__ = ["fuzz", "fuzz_grpc", "fuzz_local"]

_RIGHT = {"instances": [1.0, 2.0]}
_V2 = {"inputs": [{"name": "x", "datatype": "FP32", "shape": [2], "data": [1.0, 2.0]}]}
_VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 1.5, 1e400, 2**70, "", "x", "\ud800", [], {}, [[]], [[1], [2, 3]], {"b64": "AA"}, {"x": [1]},
    [None], ["a", 1], float("nan"), [float("inf")], {"b64": 1}, [{}], [{"x": 1}, {"z": 1}],
)  # fmt: skip
_KEYS = ("", "inputs", "instances", "signature_name", "parameters", "shape")
_PATHS = ("/v1/models/half:predict", "/v1/models/half:classify", "/v1/models/half:regress", "/v2/models/half/infer")


def _changed(value: Any, chance: random.Random) -> Any:
    """A value in which one place, wherever it is, is another."""
    if chance.random() < 0.3:
        return chance.choice(_VALUES)
    if isinstance(value, dict) and value:
        key = chance.choice(list(value))
        changed = dict(value)
        if chance.random() < 0.2:
            changed[chance.choice(_KEYS)] = changed.pop(key)
        else:
            changed[key] = _changed(value[key], chance)
        return changed
    if isinstance(value, list) and value:
        at = chance.randrange(len(value))
        return [*value[:at], _changed(value[at], chance), *value[at + 1 :]]
    return chance.choice(_VALUES)


def _request(chance: random.Random) -> tuple[str, str, bytes, dict[str, str]]:
    path = chance.choice(_PATHS)
    right = _V2 if path.startswith("/v2") else _RIGHT
    headers: dict[str, str] = {}
    body = json.dumps(right).encode()
    kind = chance.randrange(7)
    if kind == 0:
        body = chance.randbytes(chance.randrange(200))
    elif kind == 1:
        body = body[: chance.randrange(len(body))]
    elif kind == 2:
        at = chance.randrange(len(body))
        body = body[:at] + chance.randbytes(1) + body[at + 1 :]
    elif kind == 3:
        headers["Inference-Header-Content-Length"] = chance.choice(["", "-1", "0", "1", str(len(body)), "9" * 40, "x"])
        body += struct.pack("<2f", 1.0, 2.0)
    elif kind == 4:
        headers["Content-Encoding"] = chance.choice(["gzip", "deflate", "br", "identity", "x"])
    elif kind == 5:
        path = chance.choice(
            ["/", "/v1", "/v1/models/", "/v2/models//infer", "/v1/models/half/versions/x:predict"]
        ) + str(chance.choice(["", ":", "%00", "%ff", "/../..", "?a=b", "//"]))
    else:
        changed = _changed(_changed(right, chance), chance)
        body = json.dumps(changed).encode("utf-8", "surrogatepass")
    return chance.choice(["POST"] * 8 + ["GET", "PUT"]), path, body, headers


def fuzz(port: int, count: int, seed: int) -> Counter[int]:
    """Send so many requests; returns how many had which status.

    Raises:
        AssertionError: One was answered with an error of the server's.
    """
    chance = random.Random(seed)
    found: Counter[int] = Counter()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        for number in range(count):
            method, path, body, headers = _request(chance)
            try:
                connection.request(method, path, body, headers)
                answer = connection.getresponse()
                data = answer.read()
            except http.client.HTTPException as error:
                raise AssertionError(f"request {number} of seed {seed}: {method} {path} {body!r}: {error!r}") from error
            assert answer.status < 500, (number, seed, method, path, body, headers, answer.status, data)
            if answer.status != 200:
                assert "error" in json.loads(data), (method, path, body, answer.status, data)
            elif path.endswith((":predict", "/infer")):
                _check_http(body, headers, data)
            found[answer.status] += 1
    finally:
        connection.close()
    return found


def _check_http(body: bytes, headers: dict[str, str], data: bytes) -> None:
    """Compares an answer with the numbers of its request."""
    if "Inference-Header-Content-Length" in headers:
        body = body[: int(headers["Inference-Header-Content-Length"])]
    request, answer = json.loads(body), json.loads(data)
    if "outputs" in answer and isinstance(answer["outputs"], list) and answer["outputs"][:1] != []:
        first = answer["outputs"][0]
        if isinstance(first, dict):  # KServe's
            _check(_numbers(request["inputs"][0]["data"]), _numbers(first["data"]), body)
            return
    given = request["instances"] if "instances" in request else request["inputs"]
    _check(_numbers(given), _numbers(answer.get("predictions", answer.get("outputs"))), body)


def _numbers(value: Any) -> list[float]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return [number for each in value for number in _numbers(each)]
    return [float(value)]


def _check(given: list[float], found: list[float], request: Any) -> None:
    with np.errstate(over="ignore"):
        expected = np.array(given, np.float32) * np.float32(0.5) + np.float32(2)
    assert len(found) == len(given), (request, found)
    for want, got in zip(expected.tolist(), found, strict=True):
        same = want == got or (math.isnan(want) and math.isnan(got)) or math.isclose(want, got, rel_tol=1e-6)
        assert same, (request, found)


# ---------------------------------------------------------------------------------------------------------------- gRPC

_OF_THE_CALLER = {"INVALID_ARGUMENT", "NOT_FOUND", "RESOURCE_EXHAUSTED", "UNIMPLEMENTED"}
_SIZES = (-(2**63), -8, -1, 0, 1, 2, 3, 7, 2**31, 2**40, 2**62, 2**63 - 1)


def fuzz_grpc(port: int, count: int, seed: int) -> Counter[str]:
    """As :func:`fuzz`, of TensorFlow Serving's gRPC; returns how many had which status."""
    import grpc

    chance, found = random.Random(seed), Counter[str]()
    methods = (*["Predict"] * 7, "Regress", "Classify", "GetModelMetadata")
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        calls = {name: channel.unary_unary(f"/tensorflow.serving.PredictionService/{name}") for name in methods}
        for number in range(count):
            method, data = chance.choice(methods), _message(chance)
            if chance.random() < 0.3:
                at = chance.randrange(len(data))
                data = data[:at] + chance.randbytes(chance.randrange(3)) + data[at + chance.randrange(2) :]
            try:
                answer = calls[method](data, timeout=30)
            except grpc.RpcError as error:
                status = error.code().name  # type: ignore[attr-defined]
                assert status in _OF_THE_CALLER, (number, seed, method, data, error)
                found[status] += 1
            else:
                if method == "Predict":
                    _check_predicted(data, answer)
                found["OK"] += 1
    return found


def _message(chance: random.Random) -> bytes:
    """A PredictRequest, whose bytes are also those of a request of another kind, more or less."""
    from tensorflow_serving.apis import predict_pb2

    request = predict_pb2.PredictRequest()
    request.model_spec.name = chance.choice(["half"] * 8 + ["", "nope", "half/1", "\x00"])
    request.model_spec.signature_name = chance.choice(["", "", "", "serving_default", "regress_x", "nope"])
    if chance.random() < 0.1:
        request.model_spec.version.value = chance.choice(_SIZES)
    elif chance.random() < 0.1:
        request.model_spec.version_label = "stable"
    tensor = request.inputs[chance.choice(["x"] * 8 + ["", "z"])]
    tensor.dtype = chance.choice([1] * 6 + [0, 2, 3, 7, 8, 14, 20, 22, 101, 999])
    for size in chance.choice([[2], [2], [2], [], [2, 1], [chance.choice(_SIZES)], [1] * 300]):
        tensor.tensor_shape.dim.add(size=size)
    if chance.random() < 0.5:
        tensor.tensor_content = chance.choice([struct.pack("<2f", 1.0, 2.0)] * 3 + [b"", b"abc", bytes(9)])
    else:
        chance.choice([tensor.float_val] * 4 + [tensor.double_val]).extend([1.0] * chance.randrange(4))
    if chance.random() < 0.1:
        request.output_filter.append(chance.choice(["y", "nope", ""]))
    return bytes(request.SerializeToString())


def _check_predicted(request: bytes, answer: bytes) -> None:
    from tensorflow import make_ndarray
    from tensorflow_serving.apis import predict_pb2

    asked = predict_pb2.PredictRequest.FromString(request)
    found = predict_pb2.PredictResponse.FromString(answer)
    if asked.model_spec.signature_name in ("", "serving_default"):
        given = make_ndarray(asked.inputs["x"]).reshape(-1).tolist()
        _check(given, make_ndarray(found.outputs["y"]).reshape(-1).tolist(), request)


# -------------------------------------------------------------------------------------------------------- local clients


def fuzz_local(address: str, count: int, seed: int) -> Counter[str]:
    """As :func:`fuzz`, of a SessionServer; returns how many were answered, refused, or ended their connection."""
    chance, found = random.Random(seed), Counter[str]()
    channel = _channel(address)
    for number in range(count):
        head, data = _local_message(chance)
        length = len(head) if chance.random() < 0.9 else chance.choice([0, 1, 2**32 - 1, len(head) + 1])
        packed = Packed()
        for piece in (struct.pack("<I", length), head, data):
            packed.write(piece)
        try:
            channel.send_packed(packed)
            answer, arrays = decode(*channel.recv_packed(30.0))
        except PeerGoneError:  # what is no message ends its connection
            channel.close()
            channel = _channel(address)
            found["ended"] += 1
            continue
        kind = answer.get("error", "answered")
        allowed = (
            "answered",
            "UsageError",
            "ValueError",
            "TypeError",
            "LocalFormatError",
            "WorkError",
            "DeadlineError",
        )
        assert kind in allowed, (number, seed, head, data, answer)
        assert kind != "WorkError" or "NotFound" in answer["message"] or "InvalidArgument" in answer["message"], answer
        if kind == "answered" and "y" in arrays:
            _check(np.frombuffer(data, np.float32).tolist(), arrays["y"].tolist(), head)
        found[kind] += 1
    channel.close()
    return found


def _channel(address: str) -> Channel:
    connection = socket.socket(socket.AF_UNIX)
    with socket_address(os.path.join(address, "socket")) as path:
        connection.connect(path)
    greet(connection, read_key(address))
    return Channel(connection, "the server")


def _local_message(chance: random.Random) -> tuple[bytes, bytes]:
    """The header of a message, and the bytes of its arrays."""
    data = struct.pack("<2f", 1.0, 2.0)
    header: dict[str, Any] = {"what": "call", "model": "half", "version": None, "signature": None, "order": False}
    header |= {"deadline_secs": 30.0, "arrays": [["x", "float32", [2], 8]]}
    if chance.random() < 0.85:
        header = _changed(header, chance)
    head = json.dumps(header).encode("utf-8", "surrogatepass")
    if chance.random() < 0.1:
        at = chance.randrange(len(head) + 1)
        head = head[:at] + chance.randbytes(1) + head[at + 1 :]
    return head, data if chance.random() < 0.9 else chance.randbytes(chance.randrange(20))
