"""KServe's v2 inference protocol over HTTP: metadata and infer, with the extension for binary tensors.

https://kserve.github.io/website/docs/concepts/architecture/data-plane/v2-protocol

The extension is Triton's, whose clients use it unless they are asked not to::

    request body ─▶ JSON, ``Inference-Header-Content-Length`` bytes of it ─▶ the bytes of each binary input, in order
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tf1sessions.models.interface import TensorSpec
from tf1sessions.models.model import Signature
from tf1sessions.serving import json_arrays
from tf1sessions.serving.answers import RequestError
from tf1sessions.serving.byte_strings import pack_strings, unpack_strings
from tf1sessions.serving.served_model import ServedModel, spec_shape
from tf1sessions.serving.service import Service

__all__ = ["HEADER", "EncodedAnswer", "infer", "model_metadata", "server_metadata"]

#: The HTTP header that says how long the JSON is.
HEADER = "Inference-Header-Content-Length"

_NAMES = {
    "bool": "BOOL", "uint8": "UINT8", "uint16": "UINT16", "uint32": "UINT32", "uint64": "UINT64", "int8": "INT8",
    "int16": "INT16", "int32": "INT32", "int64": "INT64", "float16": "FP16", "float32": "FP32", "float64": "FP64",
    "string": "BYTES", "bfloat16": "BF16",
}  # fmt: skip


@dataclass(frozen=True)
class EncodedAnswer:
    """An answer's body, and how many bytes of it are JSON; None where all are."""

    body: bytes
    json_bytes: int | None


def server_metadata(version: str) -> bytes:
    """The body of ``GET /v2``."""
    return json.dumps({"name": "tf1sessions", "version": version, "extensions": ["binary_tensor_data"]}).encode()


def model_metadata(served: ServedModel, versions: list[int]) -> bytes:
    """The body of ``GET /v2/models/NAME``: of the model's own signature."""
    signature = served.model.signature
    return json.dumps(
        {
            "name": served.name,
            "versions": [str(each) for each in versions],
            "platform": "tensorflow_graphdef" if served.model.kind == "graph" else "tensorflow_savedmodel",
            "inputs": [_described(name, spec) for name, spec in signature.inputs.items()],
            "outputs": [_described(name, spec) for name, spec in signature.outputs.items()],
        }
    ).encode()


def _described(name: str, spec: TensorSpec) -> dict[str, Any]:
    return {"name": name, "datatype": _NAMES.get(spec.dtype.name, spec.dtype.name), "shape": spec_shape(spec) or [-1]}


async def infer(service: Service, name: str, version: int | None, body: bytes, json_bytes: str | None) -> EncodedAnswer:
    """The answer to a request.

    Args:
        service: Where the models are.
        name: Of the model.
        version: Its version, or None for the latest.
        body: Of the request.
        json_bytes: The value of :data:`HEADER`, or None.

    Raises:
        Exception: What :func:`~tf1sessions.serving.answers.status_of` knows.
    """
    served = service.repository.enter(name, version)
    try:
        request, signature, inputs, asked = await service.work(len(body), _read, served, body, json_bytes)
    except BaseException:
        served.leave()
        raise
    outputs = await service.infer(served, signature, inputs)
    header: dict[str, Any] = {"model_name": name, "model_version": str(served.version)}
    if "id" in request:
        header["id"] = request["id"]
    size = sum(array.nbytes for array in outputs.values())
    chosen = {each: outputs[each] for each in asked}
    return await service.work(size, _encode, header, chosen, asked, signature)


def _read(
    served: ServedModel, body: bytes, json_bytes: str | None
) -> tuple[dict[str, Any], Signature, dict[str, NDArray[Any]], dict[str, bool]]:
    """The request, its signature and arrays, and the outputs that it asks for."""
    request, binary = _split(body, json_bytes)
    if not isinstance(request.get("id", ""), str):
        raise RequestError(f"the id of the request is {request['id']!r}, and no string")
    parameters = _parameters(request)
    signature = served.signature(parameters.get("signature_name"))
    inputs = _read_inputs(request, binary, signature, served.json_inputs[signature.name])
    return request, signature, inputs, _asked_outputs(request, signature, parameters)


def _split(body: bytes, json_bytes: str | None) -> tuple[dict[str, Any], bytes]:
    if json_bytes is None:
        return json_arrays.parse(body), b""
    if not (json_bytes.isascii() and json_bytes.isdigit()) or len(json_bytes) > 18 or int(json_bytes) > len(body):
        raise RequestError(f"{HEADER} is {json_bytes!r}, and the body has {len(body)} bytes")
    length = int(json_bytes)
    return json_arrays.parse(body[:length]), body[length:]


def _parameters(holder: Mapping[str, Any]) -> Mapping[str, Any]:
    found = holder.get("parameters", {})
    if not isinstance(found, dict):
        raise RequestError("'parameters' is no object")
    if "shared_memory_region" in found:  # of an output it would stay as it was, with what is of an earlier request
        raise RequestError("the shared-memory extensions are not supported")
    name = found.get("signature_name")
    if name is not None and not isinstance(name, str):
        raise RequestError("the parameter 'signature_name' is no string")
    return found


def _read_inputs(
    request: Mapping[str, Any], binary: bytes, signature: Signature, known: json_arrays.JsonInputs
) -> dict[str, NDArray[Any]]:
    given = request.get("inputs")
    if not isinstance(given, list):
        raise RequestError("'inputs' is no list")
    found: dict[str, NDArray[Any]] = {}
    position = 0
    for each in given:
        if not isinstance(each, dict) or not isinstance(each.get("name"), str):
            raise RequestError("an input is no object with a name")
        name = each["name"]
        if name not in signature.inputs or name in found:
            wrong = "is given twice" if name in found else f"is not one of {', '.join(signature.inputs)}"
            raise RequestError(f"the input {name!r} {wrong}")
        size = _parameters(each).get("binary_data_size")
        if size is None:
            found[name] = _of_json(each, known[name])
            continue
        if isinstance(size, bool) or not isinstance(size, int) or not 0 <= size <= len(binary) - position:
            raise RequestError(f"binary_data_size of the input {name!r} is {size!r}, and the body is shorter")
        if "data" in each:
            raise RequestError(f"the input {name!r} has 'data' and bytes in the body; give one of them")
        found[name] = _of_bytes(each, signature.inputs[name], binary[position : position + size])
        position += size
    if position != len(binary):
        raise RequestError(f"{len(binary) - position} bytes of the body belong to no input")
    missing = [name for name, spec in signature.inputs.items() if not spec.optional and name not in found]
    if missing:
        raise RequestError(f"the input {missing[0]!r} is missing; the inputs are {', '.join(signature.inputs)}")
    return found


def _shape_of(given: Mapping[str, Any], spec: TensorSpec) -> tuple[list[int], int]:
    """The shape that an input is sent with, and how many elements that is."""
    shape = given.get("shape")
    if not isinstance(shape, list) or len(shape) > 254:
        raise RequestError(f"the shape of the input {spec.name!r} is no list")
    count = 1
    for size in shape:
        if isinstance(size, bool) or not isinstance(size, int) or not 0 <= size < 2**40:
            raise RequestError(f"the shape of the input {spec.name!r} is {shape}")
        count *= size
    expected = _NAMES.get(spec.dtype.name)
    if given.get("datatype") != expected:
        raise RequestError(f"the input {spec.name!r} has the datatype {given.get('datatype')!r}, and not {expected}")
    if not spec.shape.is_compatible_with(shape):
        raise RequestError(f"the input {spec.name!r} has the shape {shape}, and not {spec.shape}")
    return shape, count


def _of_json(given: Mapping[str, Any], known: json_arrays.JsonInput) -> NDArray[Any]:
    shape, count = _shape_of(given, known.spec)
    flat, nested = _flat(given.get("data"))
    if len(flat) != count:
        raise RequestError(f"the input {known.spec.name!r} has {len(flat)} values, and its shape {shape} has {count}")
    if nested not in ([count], shape):
        raise RequestError(f"'data' of the input {known.spec.name!r} has the shape {nested}, and 'shape' is {shape}")
    return known.array(flat).reshape(shape)


def _flat(data: Any) -> tuple[list[Any], list[int]]:
    """All values of lists in lists, and the shape that these have."""
    if not isinstance(data, list):
        raise RequestError("'data' of an input is no list")
    flat: list[Any] = data
    shape = [len(flat)]
    while flat and isinstance(flat[0], list):
        size = len(flat[0])
        if not all(isinstance(each, list) and len(each) == size for each in flat):
            raise RequestError("'data' of an input is ragged")
        shape.append(size)
        flat = [value for each in flat for value in each]
    return flat, shape


def _of_bytes(given: Mapping[str, Any], spec: TensorSpec, data: bytes) -> NDArray[Any]:
    shape, count = _shape_of(given, spec)
    if given["datatype"] == "BYTES":
        try:
            return unpack_strings(data, shape)
        except ValueError as error:
            raise RequestError(f"the input {spec.name!r}: {error}") from None
    dtype = np.dtype(spec.dtype.as_numpy_dtype)
    if len(data) != count * dtype.itemsize:
        raise RequestError(
            f"the input {spec.name!r} has {len(data)} bytes, and its shape {shape} has {count * dtype.itemsize}"
        )
    if dtype.kind == "b":
        return np.frombuffer(data, np.uint8).astype(bool).reshape(shape)
    return np.frombuffer(data, dtype).reshape(shape)


def _asked_outputs(request: Mapping[str, Any], signature: Signature, parameters: Mapping[str, Any]) -> dict[str, bool]:
    """Output -> whether it is to be binary."""
    binary = _truth(parameters, "binary_data_output", False)
    asked = request.get("outputs")
    if asked is None or asked == []:
        return dict.fromkeys(signature.outputs, binary)
    if not isinstance(asked, list):
        raise RequestError("'outputs' is no list")
    found = {}
    for each in asked:
        if not isinstance(each, dict) or each.get("name") not in list(signature.outputs):
            raise RequestError(f"an output is none of {', '.join(signature.outputs)}")
        own = _parameters(each)
        if "classification" in own:
            raise RequestError("the classification extension is not supported")
        found[each["name"]] = _truth(own, "binary_data", binary)
    return found


def _truth(parameters: Mapping[str, Any], name: str, default: bool) -> bool:
    value = parameters.get(name, default)
    if not isinstance(value, bool):
        raise RequestError(f"the parameter {name!r} is {value!r}, and neither true nor false")
    return value


def _encode(
    header: dict[str, Any], outputs: Mapping[str, NDArray[Any]], binary: Mapping[str, bool], signature: Signature
) -> EncodedAnswer:
    listed, pieces = [], []
    for name, given in outputs.items():
        array = np.asarray(given)
        datatype = _NAMES.get(signature.outputs[name].dtype.name, signature.outputs[name].dtype.name)
        one: dict[str, Any] = {"name": name, "datatype": datatype, "shape": list(array.shape)}
        if binary[name]:
            data = pack_strings(array) if array.dtype.kind in "OS" else np.ascontiguousarray(array).tobytes()
            one["parameters"] = {"binary_data_size": len(data)}
            pieces.append(data)
        else:
            one["data"] = _json_data(name, array)
        listed.append(one)
    head = json_arrays.encoded({**header, "outputs": listed})
    return EncodedAnswer(b"".join([head, *pieces]), len(head) if pieces else None)


def _json_data(name: str, array: NDArray[Any]) -> list[Any]:
    flat = array.reshape(-1)
    if array.dtype.kind in "OS":
        try:
            return [each.decode() if isinstance(each, bytes) else str(each) for each in flat.tolist()]
        except UnicodeDecodeError:
            raise RequestError(
                f"the output {name!r} has bytes that are no text: ask for it with the parameter binary_data"
            ) from None
    values: list[Any] = (flat if array.dtype.kind in "biuf" else flat.astype(np.float32)).tolist()
    return values
