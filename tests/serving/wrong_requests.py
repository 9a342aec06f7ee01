"""Requests of HTTP, KServe's among them, that are wrong in all kinds of ways; for tests and for benchmarks/serving.py.

Each is answered with a status of the caller's fault, or, where it happens to be right, with 200. A 500 is a bug.
"""

from __future__ import annotations

import http.client
import json
import random
import struct
from collections import Counter
from typing import Any

__all__ = ["fuzz"]

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
            changed[chance.choice(["", "inputs", "instances", "signature_name", "parameters", "shape"])] = changed.pop(
                key
            )
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
            assert answer.status == 200 or "error" in json.loads(data), (method, path, body, answer.status, data)
            found[answer.status] += 1
    finally:
        connection.close()
    return found
