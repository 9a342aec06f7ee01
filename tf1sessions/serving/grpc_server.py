"""TensorFlow Serving's gRPC: PredictionService and ModelService, with the messages of ``tensorflow-serving-api``."""

from __future__ import annotations

import concurrent.futures
import hmac
import logging
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tf1sessions.errors import UsageError
from tf1sessions.files import read_whole
from tf1sessions.runtime import tf
from tf1sessions.serving import examples, json_arrays
from tf1sessions.serving.answers import RequestError, TooLarge, status_of
from tf1sessions.serving.served_model import ServedModel
from tf1sessions.serving.service import Service, end_pool
from tf1sessions.texts import printable

__all__ = ["GrpcServer"]

logger = logging.getLogger("tf1sessions.serving")

_THREADS = 64  # that answer; more requests wait in gRPC. Arbitrary
_STATES = {"LOADING": 20, "AVAILABLE": 30, "UNLOADING": 40, "END": 50}


class GrpcServer:
    """Answers TensorFlow Serving's gRPC clients; needs ``grpcio`` and ``tensorflow-serving-api``.

    Args:
        service: Where the models are.
        host: The address.
        port: 0 for one that is free.
        token: What clients have to send as the metadata ``authorization: Bearer TOKEN``; None when anybody may ask.
        tls: The files of the certificate and its key, or None.

    Attributes:
        port: The one that is listened on.

    Raises:
        UsageError: The port is taken.
        OSError: The certificate cannot be read.
    """

    def __init__(
        self,
        service: Service,
        host: str,
        port: int,
        *,
        token: str | None = None,
        tls: tuple[str, str] | None = None,
    ) -> None:
        import grpc

        most = service.limits.body_bytes
        options = [
            ("grpc.max_receive_message_length", most),
            ("grpc.max_send_message_length", -1),
            ("grpc.so_reuseport", 0),
        ]
        pool = concurrent.futures.ThreadPoolExecutor(_THREADS, thread_name_prefix="tf1sessions-grpc")
        waiting = service.limits.waiting + _THREADS
        self._server = grpc.server(pool, options=options, maximum_concurrent_rpcs=waiting)
        self._pool = pool
        _add_services(self._server, _Methods(service, token))
        address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        credentials = None
        if tls is not None:
            certificate, key = (read_whole(path, 1 << 20) for path in tls)
            credentials = grpc.ssl_server_credentials([(key, certificate)])
        try:
            if credentials is None:
                self.port: int = self._server.add_insecure_port(address)
            else:
                self.port = self._server.add_secure_port(address, credentials)
        except RuntimeError as error:
            raise UsageError(
                f"{address} cannot be listened on: {error}", where="--grpc-port", next_step="Give another port."
            ) from error

    def start(self) -> None:
        """Answer from now on."""
        self._server.start()

    def refuse(self, drain_secs: float) -> None:
        """Take no more requests; those that have begun may go on for a while. Returns at once."""
        self._server.stop(drain_secs)

    def stop(self, drain_secs: float) -> None:
        """As :meth:`refuse`, and wait until they have ended."""
        self._server.stop(drain_secs).wait(drain_secs + 5.0)

    def close(self) -> None:
        """End the threads; after the models were closed, which ends what still runs."""
        end_pool(self._pool)


def _add_services(server: Any, methods: _Methods) -> None:
    """Makes the server answer both services' methods.

    Requests come as bytes and are parsed here: of each that it cannot parse, grpcio (1.85) keeps 16 kB for ever.
    """
    import grpc
    from tensorflow_serving.apis import (
        classification_pb2,
        get_model_metadata_pb2,
        get_model_status_pb2,
        predict_pb2,
        regression_pb2,
    )

    def handler(kind: Any, method: Callable[[Any, float], Any], counted: bool = True) -> Any:
        return grpc.unary_unary_rpc_method_handler(
            lambda data, context: methods.answer(kind, method, data, context, counted)
        )

    prediction = {
        "Predict": handler(predict_pb2.PredictRequest, methods.predict),
        "Classify": handler(classification_pb2.ClassificationRequest, methods.classify),
        "Regress": handler(regression_pb2.RegressionRequest, methods.regress),
        "GetModelMetadata": handler(get_model_metadata_pb2.GetModelMetadataRequest, methods.metadata, False),
    }
    status = {"GetModelStatus": handler(get_model_status_pb2.GetModelStatusRequest, methods.status, False)}
    for name, handlers in (("PredictionService", prediction), ("ModelService", status)):
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(f"tensorflow.serving.{name}", handlers),))


class _Methods:
    def __init__(self, service: Service, token: str | None) -> None:
        self._service = service
        self._token = None if token is None else f"Bearer {token}".encode("ascii")

    def answer(
        self, kind: Any, method: Callable[[Any, float], Any], data: bytes, context: Any, counted: bool
    ) -> bytes | None:
        """Return what a method gives for a request, as bytes; what it raises becomes the call's status."""
        import grpc

        started = time.monotonic()
        http, code, message, request = 200, 0, "", kind()
        try:
            if self._token is not None:
                self._check_token(context)
            _parse(request, data)
            left = context.time_remaining()
            secs = self._service.limits.deadline_secs
            answer: bytes = method(request, secs if left is None else max(0.001, min(left, secs))).SerializeToString()
            return answer
        except Exception as error:
            http, code = status_of(error)
            message = str(getattr(error, "message", None) or error)
            if isinstance(error, _NoToken):
                http, code = 401, 16
            if http == 500:
                logger.exception("gRPC: a request failed")
        finally:
            if counted:
                self._service.note(request.model_spec.name, "grpc", http, started)
        codes = {each.value[0]: each for each in grpc.StatusCode}
        context.abort(codes[code], printable(message, "\n\t"))  # raises; what a client sends is named in it
        return None

    def _check_token(self, context: Any) -> None:
        given = dict(context.invocation_metadata()).get("authorization", "")
        data = given if isinstance(given, bytes) else given.encode("utf-8")
        assert self._token is not None
        if not hmac.compare_digest(data, self._token):
            raise _NoToken("the token is missing or wrong")

    def _run(self, request: Any, wanted: str | None, secs: float) -> tuple[ServedModel, str, dict[str, NDArray[Any]]]:
        spec = request.model_spec
        with self._service.repository.using(spec.name, _version(spec)) as served:
            signature = served.signature(spec.signature_name)
            if wanted is None:
                unknown = [name for name in request.inputs if name not in signature.inputs]
                missing = [name for name, each in signature.inputs.items() if not each.optional]
                missing = [name for name in missing if name not in request.inputs]
                if unknown or missing:
                    raise RequestError(
                        f"input keys do not match: unknown {unknown}, missing {missing}; "
                        f"the inputs are {', '.join(signature.inputs)}"
                    )
                given = {
                    name: self._array(name, proto, signature.inputs[name].dtype)
                    for name, proto in request.inputs.items()
                }
                known = served.json_inputs[signature.name]
                inputs = {name: known[name].with_ones(array) for name, array in given.items()}
                flat = any(inputs[name].ndim != array.ndim for name, array in given.items())
            else:
                flat = False
                examples.check_method(signature, served.method_name(signature.name), wanted)
                inputs = {examples.example_input(signature): _examples(request.input)}
            outputs = self._service.answer_here(served, signature, inputs, secs)
            return served, signature.name, json_arrays.without_ones(outputs) if flat else outputs

    def _array(self, name: str, proto: Any, dtype: Any) -> NDArray[Any]:
        """The array of a TensorProto of that type, which may announce more than it has."""
        if proto.dtype != dtype.as_datatype_enum:
            raise RequestError(f"the input {name!r} is {_type_name(proto.dtype)}, and not {dtype.name}")
        if proto.tensor_shape.unknown_rank:
            raise RequestError(f"the input {name!r} has no shape")
        count = 1
        for dim in proto.tensor_shape.dim:
            if dim.size < 0:
                raise RequestError(f"the input {name!r} has the size {dim.size}")
            count *= dim.size
        try:
            size = tf.as_dtype(proto.dtype).size or 1
            if count * size > self._service.limits.decoded_bytes:
                raise TooLarge(f"the input {name!r} has {count * size} bytes")
            return np.asarray(tf.make_ndarray(proto))
        except (TypeError, ValueError, KeyError, IndexError, OverflowError) as error:
            if isinstance(error, TooLarge):
                raise
            raise RequestError(f"the input {name!r} is no tensor: {error}") from None

    def predict(self, request: Any, secs: float) -> Any:
        from tensorflow_serving.apis import predict_pb2

        served, signature, outputs = self._run(request, None, secs)
        wanted = list(request.output_filter) or list(outputs)
        answer = predict_pb2.PredictResponse()
        for name in wanted:
            if name not in outputs:
                raise RequestError(
                    f"output tensor alias not found in signature: {name} Outputs expected: {list(outputs)}"
                )
            answer.outputs[name].CopyFrom(tf.make_tensor_proto(outputs[name]))
        _fill_spec(answer.model_spec, served, signature)
        return answer

    def classify(self, request: Any, secs: float) -> Any:
        from tensorflow_serving.apis import classification_pb2

        served, signature, outputs = self._run(request, examples.CLASSIFY, secs)
        answer = classification_pb2.ClassificationResponse()
        for row in examples.classes_and_scores(outputs):
            one = answer.result.classifications.add()
            for label, score in row:
                one.classes.add(label=label, score=score)
        _fill_spec(answer.model_spec, served, signature)
        return answer

    def regress(self, request: Any, secs: float) -> Any:
        from tensorflow_serving.apis import regression_pb2

        served, signature, outputs = self._run(request, examples.REGRESS, secs)
        answer = regression_pb2.RegressionResponse()
        for value in examples.regressed(outputs):
            answer.result.regressions.add(value=value)
        _fill_spec(answer.model_spec, served, signature)
        return answer

    def metadata(self, request: Any, secs: float) -> Any:
        from tensorflow_serving.apis import get_model_metadata_pb2

        if list(request.metadata_field) != ["signature_def"]:
            raise RequestError("Metadata field is not supported: there is signature_def")
        spec = request.model_spec
        served = self._service.repository.find(spec.name, _version(spec))
        found = get_model_metadata_pb2.SignatureDefMap()
        for name, signature in served.model.signatures.items():
            one = found.signature_def[name]
            one.method_name = served.method_name(name) or "tensorflow/serving/predict"
            for infos, specs in ((one.inputs, signature.inputs), (one.outputs, signature.outputs)):
                for key, each in specs.items():
                    infos[key].name, infos[key].dtype = each.tensor, each.dtype.as_datatype_enum
                    infos[key].tensor_shape.CopyFrom(each.shape.as_proto())
        answer = get_model_metadata_pb2.GetModelMetadataResponse()
        answer.metadata["signature_def"].Pack(found)
        _fill_spec(answer.model_spec, served, "")
        return answer

    def status(self, request: Any, secs: float) -> Any:
        from tensorflow_serving.apis import get_model_status_pb2

        spec = request.model_spec
        answer = get_model_status_pb2.GetModelStatusResponse()
        for each in self._service.repository.statuses(spec.name, _version(spec)):
            one = answer.model_version_status.add(version=each.version, state=_STATES[each.state])
            one.status.error_code = 0 if each.error_code == "OK" else 2
            one.status.error_message = each.error_message
        return answer


def _parse(request: Any, data: bytes) -> None:
    try:
        request.ParseFromString(data)
    except Exception as error:  # DecodeError of whichever protobuf is installed
        request.Clear()
        raise RequestError(f"the bytes are no {type(request).__name__}: {error}") from None


class _NoToken(RequestError):
    """The client has not shown the token."""


def _version(spec: Any) -> int | None:
    """The version that a ModelSpec asks for; None: the newest."""
    if spec.WhichOneof("version_choice") == "version_label":
        raise RequestError(f"versions have no labels here: {spec.version_label!r} is none; ask for its number")
    return spec.version.value if spec.HasField("version") else None


def _type_name(number: int) -> str:
    try:
        return str(tf.as_dtype(number).name)
    except TypeError:
        return f"of the unknown type {number}"


def _fill_spec(spec: Any, served: ServedModel, signature: str) -> None:
    spec.name, spec.signature_name = served.name, signature
    spec.version.value = served.version


def _examples(given: Any) -> NDArray[Any]:
    """The serialized examples of a classify or regress request."""
    if given.WhichOneof("kind") == "example_list_with_context":
        context = given.example_list_with_context.context.features.feature
        listed = list(given.example_list_with_context.examples)
        for example in listed:
            for name, feature in context.items():
                if name not in example.features.feature:
                    example.features.feature[name].CopyFrom(feature)
    else:
        listed = list(given.example_list.examples)
    if not listed:
        raise RequestError("Input is empty: there are no examples")
    found = np.empty(len(listed), object)
    found[:] = [each.SerializeToString() for each in listed]
    return found
