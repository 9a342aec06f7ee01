"""TensorFlow Serving's REST API: predict, classify, regress, metadata and status, without a server around them.

Shapes and messages are those of its documentation: https://www.tensorflow.org/tfx/serving/api_rest
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from tf1sessions.models.interface import TensorSpec
from tf1sessions.models.model import Signature
from tf1sessions.serving import examples, json_arrays
from tf1sessions.serving.answers import RequestError
from tf1sessions.serving.repository import VersionStatus
from tf1sessions.serving.served_model import ServedModel, spec_shape
from tf1sessions.serving.service import Service

__all__ = ["METHODS", "answer", "metadata", "status"]

METHODS = ("predict", "classify", "regress")


async def answer(service: Service, name: str, version: int | None, method: str, body: bytes) -> bytes:
    """The body of the answer to a request.

    Args:
        service: Where the models are.
        name: Of the model.
        version: Its version, or None for the latest.
        method: One of :data:`METHODS`.
        body: Of the request.

    Raises:
        Exception: What :func:`~tf1sessions.serving.answers.status_of` knows.
    """
    served = service.repository.enter(name, version)
    try:
        signature, given = await service.work(len(body), _read, served, method, body)
    except BaseException:
        served.leave()
        raise
    outputs = await service.infer(served, signature, given.arrays)
    if given.flat:
        outputs = json_arrays.without_ones(outputs)
    size = sum(array.nbytes for array in outputs.values())
    return await service.work(size, _written, method, outputs, given.in_rows)


def _read(served: ServedModel, method: str, body: bytes) -> tuple[Signature, json_arrays.Columns]:
    """The signature and the arrays of a request."""
    request = json_arrays.parse(body)
    asked = request.get("signature_name")
    if asked is not None and not isinstance(asked, str):
        raise RequestError("'signature_name' is no string")
    signature = served.signature(asked)
    if method == "predict":
        return signature, served.json_inputs[signature.name].columns(request)
    wanted = examples.CLASSIFY if method == "classify" else examples.REGRESS
    examples.check_method(signature, served.method_name(signature.name), wanted)
    arrays = {examples.example_input(signature): examples.of_json(request)}
    return signature, json_arrays.Columns(arrays, in_rows=False, flat=False)


def _written(method: str, outputs: Mapping[str, NDArray[Any]], in_rows: bool) -> bytes:
    if method == "classify":
        return json_arrays.encoded({"results": examples.classes_and_scores(outputs)})
    if method == "regress":
        return json_arrays.encoded({"results": examples.regressed(outputs)})
    write = json_arrays.outputs_as_rows if in_rows else json_arrays.outputs_as_columns
    return json_arrays.encoded(write(outputs))


def status(found: list[VersionStatus]) -> bytes:
    """The body of a model's status."""
    listed = [
        {
            "version": str(each.version),
            "state": each.state,
            "status": {"error_code": each.error_code, "error_message": each.error_message},
        }
        for each in found
    ]
    return json_arrays.encoded({"model_version_status": listed})


def metadata(served: ServedModel) -> bytes:
    """The body of a version's metadata: its signatures."""
    signatures = {
        name: {
            "inputs": _infos(signature.inputs),
            "outputs": _infos(signature.outputs),
            "method_name": served.method_name(name) or "tensorflow/serving/predict",
        }
        for name, signature in served.model.signatures.items()
    }
    return json_arrays.encoded(
        {
            "model_spec": {"name": served.name, "signature_name": "", "version": str(served.version)},
            "metadata": {"signature_def": {"signature_def": signatures}},
        }
    )


def _infos(specs: Mapping[str, TensorSpec]) -> dict[str, Any]:
    found = {}
    for name, spec in specs.items():
        shape = spec_shape(spec)
        dims = [{"size": str(size), "name": ""} for size in shape or ()]
        found[name] = {
            "dtype": "DT_" + {"float32": "FLOAT", "float64": "DOUBLE"}.get(spec.dtype.name, spec.dtype.name.upper()),
            "tensor_shape": {"dim": dims, "unknown_rank": shape is None},
            "name": spec.tensor,
        }
    return found
