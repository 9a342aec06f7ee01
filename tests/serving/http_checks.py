"""HTTP, as TensorFlow Serving's and KServe's clients speak it: see `test_http.py`."""

from __future__ import annotations

import base64
import concurrent.futures
import importlib.util
import json
import math
import os
import re
import struct
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from connection_checks import *  # noqa: F403  (run in the same process, by test_http.py)
from connection_checks import PREDICT, half
from served_models import SEVERAL, ask, export, frozen, serving
from support import raises, wait_for
from wrong_requests import fuzz, fuzz_grpc

import tf1sessions as t1
from tf1sessions.serving import json_arrays
from tf1sessions.serving.settings import read_models


def check_lines_of_the_documentation() -> None:
    with serving(half()) as server:
        assert ask(server, PREDICT, {"instances": [1.0, 2.0, 5.0]}) == (200, {"predictions": [2.5, 3.0, 4.5]})
        assert ask(server, PREDICT, {"inputs": [1.0, 2.0, 5.0]}) == (200, {"outputs": [2.5, 3.0, 4.5]})
        assert ask(server, PREDICT, {"instances": [{"x": 1.0}]}) == (200, {"predictions": [2.5]})
        assert ask(server, PREDICT, {"signature_name": "serving_default", "inputs": {"x": [0.2]}})[1] == {
            "outputs": [2.1]
        }
        examples = {"signature_name": "regress_x", "context": {}, "examples": [{"x": 1.0}, {"x": [2.0]}]}
        assert ask(server, "/v1/models/half:regress", examples) == (200, {"results": [2.5, 3.0]})
        examples["signature_name"] = "classify_x"
        answer = ask(server, "/v1/models/half/versions/123:classify", examples)
        assert answer == (200, {"results": [[["only", 2.5]], [["only", 3.0]]]})
        status, found = ask(server, "/v1/models/half")
        assert (status, found["model_version_status"]) == (
            200,
            [{"version": "123", "state": "AVAILABLE", "status": {"error_code": "OK", "error_message": ""}}],
        )
        status, found = ask(server, "/v1/models/half/metadata")
        assert found["model_spec"] == {"name": "half", "signature_name": "", "version": "123"}
        default = found["metadata"]["signature_def"]["signature_def"]["serving_default"]
        assert default["method_name"] == "tensorflow/serving/predict"
        assert default["inputs"]["x"] == {
            "dtype": "DT_FLOAT",
            "tensor_shape": {"dim": [{"size": "-1", "name": ""}], "unknown_rank": False},
            "name": "x:0",
        }


def check_rows_without_their_dimension_of_one() -> None:
    """TensorFlow Serving's half_plus_two takes [?, 1], and its documentation sends it [1.0, 2.0, 5.0]."""
    tf = t1.tf1
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, 1], name="x")
        tf.add(0.5 * x, 2.0, name="y")
        tf.tile(x, [1, 2], name="twice")
        two = tf.placeholder(tf.float32, [None, 2], name="two")
        tf.reduce_sum(two, 1, name="sum")
    tf.train.write_graph(graph, ".", "ones.pb", as_text=False)
    models = {
        "one": {"path": "ones.pb", "inputs": ["x:0"], "outputs": ["y:0"]},
        "both": {"path": "ones.pb", "inputs": ["x:0"], "outputs": ["y:0", "twice:0"]},
        "two": {"path": "ones.pb", "inputs": ["two:0"], "outputs": ["sum:0"]},
    }
    with serving(models, grpc_port=0) as server:
        one, two = "/v1/models/one:predict", "/v1/models/two:predict"
        assert ask(server, one, {"instances": [1.0, 2.0, 5.0]}) == (200, {"predictions": [2.5, 3.0, 4.5]})
        assert ask(server, one, {"instances": [[1.0], [2.0]]}) == (200, {"predictions": [[2.5], [3.0]]})
        assert ask(server, one, {"inputs": {"x": [1.0]}}) == (200, {"outputs": [2.5]})
        both = ask(server, "/v1/models/both:predict", {"instances": [1.0]})
        assert both == (200, {"predictions": [{"y": 2.5, "twice": [1.0, 1.0]}]})
        for path, wrong in ((one, [[[1.0]]]), (one, [[1.0, 2.0]]), (two, [1.0, 2.0]), (two, [[1.0], [2.0]])):
            status, found = ask(server, path, {"instances": wrong})
            assert status == 400 and "has the shape" in found["error"], (wrong, status, found)
        assert ask(server, one, {"inputs": 1.0})[0] == 400
        if importlib.util.find_spec("tensorflow_serving") is not None:
            import grpc
            from tensorflow_serving.apis import predict_pb2
            from tensorflow_serving.apis import prediction_service_pb2_grpc as prediction_grpc

            request = predict_pb2.PredictRequest()
            request.model_spec.name = "one"
            request.inputs["x"].CopyFrom(tf.make_tensor_proto([1.0, 2.0]))
            with grpc.insecure_channel(f"127.0.0.1:{server.grpc_port}") as channel:
                answer = prediction_grpc.PredictionServiceStub(channel).Predict(request, 30)
            assert tf.make_ndarray(answer.outputs["y"]).tolist() == [2.5, 3.0]


def check_numbers_that_json_has_not() -> None:
    with serving(half()) as server:
        status, found = ask(server, PREDICT, b'{"instances": [NaN, Infinity, -Infinity]}')
        assert status == 200
        first, *rest = found["predictions"]
        assert math.isnan(first) and rest == [math.inf, -math.inf]


def check_strings_bytes_and_several_outputs() -> None:
    frozen()
    with serving({"several": SEVERAL}) as server:
        data = {"b64": base64.b64encode(b"\xff\x00").decode()}
        rows = [
            {"text": "ä", "number": [1, 2], "yes": True},
            {"text": data, "number": [3, 4], "yes": False},
        ]
        status, found = ask(server, "/v1/models/several:predict", {"instances": rows})
        assert status == 200, found
        a, b = found["predictions"]
        assert a == {
            "text_bytes": {"b64": base64.b64encode("ä".encode()).decode()},
            "louder": "ä!",
            "total": 3,
            "no": False,
        }
        assert b["text_bytes"] == data and b["total"] == 7 and b["no"] is True
        columns = {"text": ["a"], "number": [[1, 2]], "yes": [True]}
        status, found = ask(server, "/v1/models/several:predict", {"inputs": columns})
        assert status == 200 and found["outputs"]["total"] == [3]
        for name, wrong in (
            ("number", [[1, 2.5]]), ("number", [[1, -(2**40)]]),
            ("number", [[1, 2**40]]), ("number", [["1", "2"]]), ("number", [[1, 2, 3]]),
            ("yes", [1]), ("text", [1]), ("text", [{"b64": "?"}]), ("text", [None]), ("number", [[1], [2, 3]]),
            ("number", [[True, 2]] * 2), ("text", []), ("number", 10**4000), ("number", {"a": 1}),
        ):  # fmt: skip
            status, found = ask(server, "/v1/models/several:predict", {"inputs": {**columns, name: wrong}})
            assert status == 400 and found["error"], (name, wrong, status, found)


def check_wrong_requests() -> None:
    with serving(half()) as server:
        for body in (
            b"", b"{", b"[]", b"1", b"null", b"\xff", b"{}", b'{"instances": []}', b'{"instances": 1}', b"[" * 100_000,
            b'{"instances": [1], "inputs": [1]}', b'{"instances": [{"z": 1}]}', b'{"instances": [[1], [2]]}',
            b'{"instances": [1, {"x": 2}]}', b'{"instances": ["a"]}', b'{"instances": [1e39]}', b'{"inputs": {}}',
            b'{"instances": [1], "signature_name": "nope"}', b'{"instances": [1], "signature_name": 1}',
            b'{"inputs": []}', b'{"instances": [null]}',
        ):  # fmt: skip
            status, found = ask(server, PREDICT, body)
            assert status == 400 and isinstance(found["error"], str), (body[:50], status, found)
        for path, status in (
            ("/v1/models/nope:predict", 404), ("/v1/models/half/versions/7:predict", 404), ("/nothing", 404),
            ("/v1/models/half:guess", 400), ("/v1/models/half:regress", 400), ("/v1/nothing", 400),
            ("/v2/models/nope/infer", 404), ("/v2/models/half/infer", 400), ("/v1/models/half", 405), ("/metrics", 405),
        ):  # fmt: skip
            assert ask(server, path, {"instances": [1.0]})[0] == status, path
        assert ask(server, PREDICT)[0] == 400
        assert ask(server, "/v1/models/nope")[0] == 404
        status, found = ask(server, PREDICT, {"instances": [1.0]})
        assert status == 200, "it still answers"


def check_rows_of_many_callers_share_runs() -> None:
    with serving(half()) as server, concurrent.futures.ThreadPoolExecutor(16) as pool:
        asked = [pool.submit(ask, server, PREDICT, {"instances": [float(number)]}) for number in range(300)]
        assert [each.result() for each in asked] == [(200, {"predictions": [number / 2 + 2]}) for number in range(300)]
        _, found = ask(server, "/figures")
        signature = found["models"][0]["versions"][0]["signatures"]["serving_default"]
        assert signature["mean_rows"] > 1, signature
        text = ask(server, "/metrics")[1].decode()
        assert 'tf1sessions_requests_total{model="half",protocol="rest",status="200"} 300.0' in text
        assert 'tf1sessions_model_bytes{model="half",version="123"} 8.0' in text
        assert "tf1sessions_request_seconds_bucket" in text and "tf1sessions_batch_rows_bucket" in text


def check_new_versions() -> None:
    """Taken up while requests go on, none of which fails; a version that does not load leaves the old one."""
    export("growing/1", 1.0)
    with serving({"growing": {"path": "growing"}}) as server, concurrent.futures.ThreadPoolExecutor(4) as pool:
        stop, answers = threading.Event(), []

        def go_on_asking() -> None:
            while not stop.is_set():
                answers.append(ask(server, "/v1/models/growing:predict", {"instances": [0.0]}))

        def note() -> str:
            return str(ask(server, "/figures")[1]["models"][0]["note"])

        asking = [pool.submit(go_on_asking) for _ in range(4)]
        try:
            export("growing/2", 2.0)
            wait_for(lambda: answers and answers[-1][1] == {"predictions": [2.0]}, "version 2")
            wait_for(
                lambda: ask(server, "/v1/models/growing/versions/1:predict", {"instances": [0.0]})[0] == 404, "1 to go"
            )
            Path("growing/2/late").write_bytes(b"copied when the rest was loaded")
            wait_for(lambda: "the files of version 2 are others" in note(), "a note about files that came late")
            Path("growing/2/late").unlink()
            wait_for(lambda: not note(), "that note to go")
            Path("growing/3").mkdir()
            Path("growing/3/saved_model.pb").write_bytes(b"no model")

            def third() -> str:
                found = ask(server, "/v1/models/growing/versions/3")[1]
                return found.get("model_version_status", [{"state": ""}])[0]["state"]

            wait_for(lambda: third() == "END", "version 3 to fail")
            (state,) = ask(server, "/v1/models/growing/versions/3")[1]["model_version_status"]
            assert state["status"]["error_code"] == "UNKNOWN" and "saved_model.pb" in state["status"]["error_message"]
            assert ask(server, "/v1/models/growing:predict", {"instances": [0.0]})[1] == {"predictions": [2.0]}
            os.rename("growing", "elsewhere")
            wait_for(lambda: "cannot be read" in note(), "a note that the folder has gone")
            assert ask(server, "/v1/models/growing:predict", {"instances": [0.0]})[1] == {"predictions": [2.0]}
            assert ask(server, "/readyz")[0] == 200
        finally:
            stop.set()
        for each in asking:
            each.result()
        assert {answer[0] for answer in answers} == {200}, set(map(str, answers))
        assert {str(answer[1]) for answer in answers} == {"{'predictions': [1.0]}", "{'predictions': [2.0]}"}


def check_a_file_that_is_replaced() -> None:
    for number in (1.0, 2.0):
        write_times(f"next{number}.pb", number)
    os.rename("next1.0.pb", "one.pb")
    with serving("one.pb") as server:
        assert ask(server, "/v1/models/one:predict", {"instances": [3.0]})[1] == {"predictions": [3.0]}
        os.rename("next2.0.pb", "one.pb")
        wait_for(
            lambda: ask(server, "/v1/models/one:predict", {"instances": [3.0]})[1] == {"predictions": [6.0]}, "2.0"
        )


def write_times(path: str, number: float) -> None:
    """A graph that multiplies x by a number; of one size for all numbers."""
    tf = t1.tf1
    with tf.Graph().as_default() as graph:
        tf.multiply(tf.placeholder(tf.float32, [None], name="x"), number, name="y")
    tf.train.write_graph(graph, ".", path, as_text=False)


def check_what_is_at_a_model_s_path_meanwhile() -> None:
    """A model is taken up again whatever was at its path before it."""
    write_times("replaced.pb", 1.0)
    with serving("replaced.pb") as server:

        def answer() -> object:
            return ask(server, "/v1/models/replaced:predict", {"instances": [3.0]})[1]

        def statuses() -> list[dict[str, object]]:
            return ask(server, "/v1/models/replaced")[1]["model_version_status"]

        for number, between in enumerate((lambda: os.mkdir("replaced.pb"), lambda: os.mkfifo("replaced.pb")), 2):
            os.remove("replaced.pb")
            before = len(statuses())
            between()
            wait_for(lambda before=before: len(statuses()) > before and statuses()[0]["state"] == "END", "a failure")
            assert answer() == {"predictions": [3.0 * (number - 1)]}
            os.rename("replaced.pb", f"between{number}")
            write_times("replaced.pb", float(number))
            wait_for(lambda number=number: answer() == {"predictions": [3.0 * number]}, f"{number} after {between}")


def check_a_file_with_the_times_and_size_of_the_one_before() -> None:
    write_times("unpacked.pb", 1.0)
    write_times("other.pb", 2.0)
    with serving("unpacked.pb") as server:
        before = os.stat("unpacked.pb")
        Path("unpacked.pb").write_bytes(Path("other.pb").read_bytes())  # the same inode, as one that was freed may be
        os.utime("unpacked.pb", ns=(before.st_atime_ns, before.st_mtime_ns))
        assert os.stat("unpacked.pb").st_size == before.st_size
        wait_for(
            lambda: ask(server, "/v1/models/unpacked:predict", {"instances": [3.0]})[1] == {"predictions": [6.0]}, "2.0"
        )


def check_what_did_not_load_is_tried_again() -> None:
    """For the cause may have been the machine: here files that are unchanged do not load at first."""
    import tf1sessions.serving.repository as module

    export("again/1", 1.0)
    original, failures = module.ServedModel, []

    def scarce(settings, version, *others):  # type: ignore[no-untyped-def]
        if version == 2 and len(failures) < 2:
            failures.append(version)
            raise OSError(24, "Too many open files")
        return original(settings, version, *others)

    module.ServedModel, module._RETRY_SECS = scarce, 0.1  # type: ignore[assignment,misc]
    try:
        with serving({"again": {"path": "again"}}) as server:
            export("again/2", 2.0)
            wait_for(
                lambda: ask(server, "/v1/models/again:predict", {"instances": [0.0]})[1] == {"predictions": [2.0]}, "2"
            )
    finally:
        module.ServedModel, module._RETRY_SECS = original, 60.0  # type: ignore[misc]
    assert failures == [2, 2]


def check_what_is_risky_is_refused() -> None:
    tf = t1.tf1
    with tf.Graph().as_default() as graph:
        tf.identity(tf.io.read_file(tf.placeholder(tf.string, [], name="name")), name="text")
    tf.train.write_graph(graph, ".", "reads.pb", as_text=False)

    def serve() -> None:
        with serving("reads.pb"):
            pass

    assert "ReadFile" in str(raises(t1.errors.UnsafeModelError, serve))


def check_kserve_without_a_client() -> None:
    with serving(half()) as server:
        described = ask(server, "/v2/models/half")[1]
        assert described["inputs"] == [{"name": "x", "datatype": "FP32", "shape": [-1]}]
        assert ask(server, "/v2/health/live")[0] == ask(server, "/v2/health/ready")[0] == 200
        assert ask(server, "/v2/models/half/versions/123/ready")[0] == 200
        one = {"name": "x", "datatype": "FP32", "shape": [2], "data": [1.0, 2.0]}
        status, found = ask(server, "/v2/models/half/infer", {"id": "7", "inputs": [one]})
        assert (status, found) == (
            200,
            {
                "model_name": "half",
                "model_version": "123",
                "id": "7",
                "outputs": [{"name": "y", "datatype": "FP32", "shape": [2], "data": [2.5, 3.0]}],
            },
        )
        for wrong in (
            {"datatype": "FP64"}, {"shape": [3]}, {"shape": [-1]}, {"shape": "a"}, {"name": "z"}, {"data": [1.0]},
            {"data": [[1.0], 2.0]}, {"data": ["a", "b"]}, {"data": None}, {"shape": [2**50]},
            {"parameters": {"binary_data_size": 8}}, {"parameters": 1}, {"parameters": {"binary_data_size": -1}},
            {"parameters": {"shared_memory_region": "r"}}, {"data": [[1.0, 2.0]]},
        ):  # fmt: skip
            status, found = ask(server, "/v2/models/half/infer", {"inputs": [{**one, **wrong}]})
            assert status == 400 and found["error"], (wrong, status, found)
        output = {"name": "y", "parameters": {"shared_memory_region": "r", "shared_memory_byte_size": 8}}
        status, found = ask(server, "/v2/models/half/infer", {"inputs": [one], "outputs": [output]})
        assert status == 400 and "shared-memory" in found["error"], (status, found)
        output = {"name": "y", "parameters": {"binary_data": "false"}}
        for wrong in ({"id": 7}, {"outputs": [output]}, {"parameters": {"binary_data_output": 0}}):
            status, found = ask(server, "/v2/models/half/infer", {"inputs": [one], **wrong})
            assert status == 400 and found["error"], (wrong, status, found)
        head = b'{"inputs":[{"name":"x","datatype":"FP32","shape":[1],"parameters":{"binary_data_size":4}}]}'
        data = struct.pack("<f", 4.0)
        length = {"Inference-Header-Content-Length": str(len(head))}
        assert ask(server, "/v2/models/half/infer", head + data, **length)[1]["outputs"][0]["data"] == [4.0]
        assert ask(server, "/v2/models/half/infer", head + data + b"x", **length)[0] == 400
        both = head.replace(b'"shape"', b'"data":[9.0],"shape"')
        both_length = {"Inference-Header-Content-Length": str(len(both))}
        assert ask(server, "/v2/models/half/infer", both + data, **both_length)[0] == 400
        for wrong_length in ("-1", "9999", "a", "9" * 30):
            length = {"Inference-Header-Content-Length": wrong_length}
            assert ask(server, "/v2/models/half/infer", head + data, **length)[0] == 400


def check_kserve_of_lists_in_lists_and_of_bytes() -> None:
    """Values are put nowhere but where their lists say, and bytes that are no text are not given as other ones."""
    frozen()
    with serving({"several": SEVERAL}) as server:

        def asked(number: Any, text: bytes = b"\xff", *, binary: bool = True) -> tuple[int, Any]:
            packed = struct.pack("<I", len(text)) + text
            inputs: list[Any] = [
                {"name": "text", "datatype": "BYTES", "shape": [1], "parameters": {"binary_data_size": len(packed)}},
                {"name": "number", "datatype": "INT32", "shape": [1, 2], "data": number},
                {"name": "yes", "datatype": "BOOL", "shape": [1], "data": [True]},
            ]
            outputs = [{"name": "text_bytes", "parameters": {"binary_data": binary}}]
            head = json.dumps({"inputs": inputs, "outputs": outputs}).encode()
            length = {"Inference-Header-Content-Length": str(len(head))}
            return ask(server, "/v2/models/several/infer", head + packed, **length)

        for number in ([1, 2], [[1, 2]]):
            assert asked(number)[0] == 200
        for number in ([[1], [2]], [[1, 2, 3]], [[[1, 2]]], [[1, 2], []]):
            assert asked(number)[0] == 400, number
        assert asked([1, 2], "\u00e9".encode(), binary=False)[1]["outputs"][0]["data"] == ["\u00e9"]
        status, found = asked([1, 2], binary=False)
        assert status == 400 and "'text_bytes'" in found["error"], (status, found)


def check_kserve_s_own_client() -> None:
    try:
        import tritonclient.http as triton
    except ImportError:
        return
    frozen()
    with serving({**half(), "several": SEVERAL}) as server:
        client = triton.InferenceServerClient(f"127.0.0.1:{server.port}")
        assert client.is_server_live() and client.is_server_ready() and client.is_model_ready("half")
        assert client.get_model_metadata("half")["versions"] == ["123"]
        given = triton.InferInput("x", [3], "FP32")
        for binary in (True, False):
            given.set_data_from_numpy(np.array([1, 2, 5], np.float32), binary_data=binary)
            for outputs in (None, [triton.InferRequestedOutput("y", binary_data=not binary)]):
                answer = client.infer("half", [given], outputs=outputs, request_compression_algorithm="gzip")
                assert answer.as_numpy("y").tolist() == [2.5, 3.0, 4.5]
        values = {
            "text": np.array([b"a\0", b""], object),
            "number": np.ones([2, 2], np.int32),
            "yes": np.array([True, False]),
        }
        inputs = []
        for name, datatype in (("text", "BYTES"), ("number", "INT32"), ("yes", "BOOL")):
            inputs.append(triton.InferInput(name, list(values[name].shape), datatype))
            inputs[-1].set_data_from_numpy(values[name])
        answer = client.infer("several", inputs)
        assert answer.as_numpy("text_bytes").tolist() == [b"a\0", b""]
        assert answer.as_numpy("no").tolist() == [False, True]
        client.close()


def check_the_stub_of_tensorflow_serving() -> None:
    try:
        import grpc
        from tensorflow_serving.apis import (
            classification_pb2,
            get_model_metadata_pb2,
            get_model_status_pb2,
            predict_pb2,
            regression_pb2,
        )
        from tensorflow_serving.apis import model_service_pb2_grpc as models_grpc
        from tensorflow_serving.apis import prediction_service_pb2_grpc as prediction_grpc
    except ImportError:
        return
    tf = t1.tf1
    with serving(half(), grpc_port=0, token="secret-secret-secret") as server:
        shown = (("authorization", "Bearer secret-secret-secret"),)
        with grpc.insecure_channel(f"127.0.0.1:{server.grpc_port}") as channel:
            stub = prediction_grpc.PredictionServiceStub(channel)
            request = predict_pb2.PredictRequest()
            request.model_spec.name = "half"
            request.inputs["x"].CopyFrom(tf.make_tensor_proto([1.0, 2.0]))
            answer = stub.Predict(request, 30, metadata=shown)
            assert tf.make_ndarray(answer.outputs["y"]).tolist() == [2.5, 3.0]
            assert answer.model_spec.version.value == 123
            for kind, method, name in (
                (regression_pb2.RegressionRequest, stub.Regress, "regress_x"),
                (classification_pb2.ClassificationRequest, stub.Classify, "classify_x"),
            ):
                asked = kind()
                asked.model_spec.name, asked.model_spec.signature_name = "half", name
                asked.input.example_list.examples.add().features.feature["x"].float_list.value.append(4.0)
                assert "4" in str(method(asked, 30, metadata=shown).result)
            about = get_model_metadata_pb2.GetModelMetadataRequest(metadata_field=["signature_def"])
            about.model_spec.name = "half"
            assert (
                b"serving_default" in stub.GetModelMetadata(about, 30, metadata=shown).metadata["signature_def"].value
            )
            status = get_model_status_pb2.GetModelStatusRequest()
            status.model_spec.name = "half"
            found = models_grpc.ModelServiceStub(channel).GetModelStatus(status, 30, metadata=shown)
            assert [each.state for each in found.model_version_status] == [30]

            def code(change, metadata=shown):  # type: ignore[no-untyped-def]
                wrong = predict_pb2.PredictRequest()
                wrong.CopyFrom(request)
                change(wrong)
                return raises(grpc.RpcError, lambda: stub.Predict(wrong, 30, metadata=metadata)).code().name

            assert code(lambda wrong: None, None) == "UNAUTHENTICATED"
            assert code(lambda wrong: setattr(wrong.model_spec, "name", "no")) == "NOT_FOUND"
            unknown = predict_pb2.PredictRequest(model_spec={"name": "no\x1b[2J"})
            details = raises(grpc.RpcError, stub.Predict, unknown, 30, shown).details()
            assert r"no\x1b[2J" in details and "\x1b" not in details, details
            assert code(lambda wrong: wrong.inputs["z"].CopyFrom(wrong.inputs["x"])) == "INVALID_ARGUMENT"
            assert (
                code(lambda wrong: setattr(wrong.inputs["x"].tensor_shape.dim[0], "size", 1 << 45))
                == "RESOURCE_EXHAUSTED"
            )
            assert code(lambda wrong: setattr(wrong.inputs["x"].tensor_shape.dim[0], "size", -7)) == "INVALID_ARGUMENT"
            for dtype in (9999, tf.float64, tf.int32, tf.float32._as_ref, tf.string):  # values are not read as others
                number = dtype if isinstance(dtype, int) else dtype.as_datatype_enum
                for change in ({"dtype": number}, {"dtype": number, "tensor_content": bytes(8)}):
                    assert (
                        code(
                            lambda wrong, change=change: [setattr(wrong.inputs["x"], *each) for each in change.items()]
                        )
                        == "INVALID_ARGUMENT"
                    ), (dtype, change)
            assert code(lambda wrong: setattr(wrong.model_spec, "version_label", "stable")) == "INVALID_ARGUMENT"
            assert (
                code(lambda wrong: setattr(wrong.inputs["x"].tensor_shape, "unknown_rank", True)) == "INVALID_ARGUMENT"
            )
            about.model_spec.version_label = status.model_spec.version_label = "stable"
            for ask_for, asked in (
                (stub.GetModelMetadata, about),
                (models_grpc.ModelServiceStub(channel).GetModelStatus, status),
            ):
                error = raises(grpc.RpcError, ask_for, asked, 30, shown)
                assert error.code().name == "INVALID_ARGUMENT" and "'stable'" in error.details()


def check_configuration_files() -> None:
    Path("models.toml").write_text(
        '[models.a]\npath = "half"\nversions = 2\n[models.b]\npath = "x.pb"\nbatch = false\n'
    )
    a, b = read_models("models.toml")
    assert (a.name, a.versions, os.path.basename(a.path), b.batch) == ("a", 2, "half", False)
    for text, named in (
        ("[models.a]\npath = 1", "path"), ("[models.a]", "path"), ("x = 1", "x"), ("", "models"), ("[", "models.toml"),
        ("a = " + "[" * 10_000, "models.toml"),
        ('[models.a]\npath = "p"\nversion = 1', "version"), ('[models."a b"]\npath = "p"', "a b"),
        ('[models.a]\npath = "p"\nversions = 0', "versions"), ('[models.a]\npath = "p"\nbatch = 1', "batch"),
        *((f'[models.a]\npath = "p"\n{wrong}', wrong.partition("=")[0]) for wrong in (
            "lane=-1", 'lane="a"', "lane=true", "lane=1.5", "max_delay_ms=-1", "max_delay_ms=nan", "max_delay_ms=inf",
            "threads=1000000000", "max_batch_size=99999999999999999999", "tags=[1]", "inputs=[1]", "inputs={a=1}",
            "versions=99999999999999",
        )),
    ):  # fmt: skip
        Path("models.toml").write_text(text)
        assert named in str(raises(t1.errors.UsageError, read_models, "models.toml")), text


def check_requests_that_are_wrong_in_all_kinds_of_ways() -> None:
    grpc_port = 0 if importlib.util.find_spec("tensorflow_serving") is not None else None
    with serving(half(), grpc_port=grpc_port) as server:
        found = fuzz(server.port, 3000, seed=11)
        assert sum(found.values()) == 3000 and found[200] > 20 and found[400] > 1000, found
        if grpc_port is not None:
            assert server.grpc_port is not None
            by_grpc = fuzz_grpc(server.grpc_port, 1000, seed=11)
            assert by_grpc["OK"] > 10 and by_grpc["INVALID_ARGUMENT"] > 300, by_grpc
        assert ask(server, PREDICT, {"instances": [1.0]})[0] == 200


def check_numbers_are_written_with_few_digits() -> None:
    numbers = np.random.default_rng(3).integers(0, 2**32, 20_000, np.uint32).view(np.float32)
    numbers = np.concatenate([numbers, np.float32([0, -0.0, 0.1, 1e-45, 3.4028235e38, 16777216, 0.33333334])])
    for dtype in (np.float32, np.float16):
        with np.errstate(over="ignore"):
            given = numbers.astype(dtype)
        written = json_arrays.outputs_as_columns({"y": given})["outputs"]
        assert np.array_equal(np.array(written).astype(dtype), given, equal_nan=True)
    assert json.dumps(json_arrays.outputs_as_columns({"y": np.float32([0.1, -2.7, 1e10])})) == (
        '{"outputs": [0.1, -2.7, 10000000000.0]}'
    )
    even = json_arrays.outputs_as_columns({"y": np.linspace(0, 9, 999).astype(np.float32)})["outputs"]
    assert [each for each in even if len(repr(each)) > 12] == []


def check_the_page_and_what_its_form_is_made_of() -> None:
    with serving(half()) as server:
        status, page = ask(server, "/")
        text = page.decode()
        assert status == 200
        assert set(re.findall(r'by\("(\w+)"\)', text)) == set(re.findall(r' id="(\w+)"', text))
        [version] = ask(server, "/figures")[1]["models"][0]["versions"]
        methods = {name: signature["method"] for name, signature in version["signatures"].items()}
        assert methods == {"serving_default": "predict", "regress_x": "regress", "classify_x": "classify"}


def check_long_requests() -> None:
    """They are read and written in threads."""
    with serving(half()) as server:
        status, found = ask(server, PREDICT, {"instances": [float(number) for number in range(60_000)]})
        assert (status, found["predictions"][-1]) == (200, 59_999 / 2 + 2)
        assert ask(server, PREDICT, b'{"instances": [' + b"1," * 50_000)[0] == 400
        one = {"name": "x", "datatype": "FP32", "shape": [60_000], "data": [1.0] * 60_000}
        assert ask(server, "/v2/models/half/infer", {"inputs": [one]})[1]["outputs"][0]["data"] == [2.5] * 60_000
        assert ask(server, "/figures")[1]["models"][0]["versions"][0]["active"] == 0
