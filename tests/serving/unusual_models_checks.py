"""Models that are served less often, by each protocol: see `test_unusual_models.py`."""

from __future__ import annotations

import importlib.util
import os
import sys
from typing import Any

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from served_models import ask, serving

import tf1sessions as t1

tf = t1.tf1
_HAS_GRPC = importlib.util.find_spec("tensorflow_serving") is not None


def predict_by_grpc(server: Any, model: str, x: Any) -> Any:
    """The outputs of a PredictRequest with one input."""
    import grpc
    from tensorflow_serving.apis import predict_pb2
    from tensorflow_serving.apis import prediction_service_pb2_grpc as prediction_grpc

    request = predict_pb2.PredictRequest()
    request.model_spec.name = model
    request.inputs["x"].CopyFrom(tf.make_tensor_proto(x))
    with grpc.insecure_channel(f"127.0.0.1:{server.grpc_port}") as channel:
        return prediction_grpc.PredictionServiceStub(channel).Predict(request, 30).outputs


def by_kserve(x: Any) -> dict[str, Any]:
    """The body of a request of KServe's protocol with one input."""
    array = np.asarray(x, np.float32)
    data = array.reshape(-1).tolist()
    return {"inputs": [{"name": "x", "datatype": "FP32", "shape": list(array.shape), "data": data}]}


def check_an_output_that_is_one_string() -> None:
    """TensorFlow gives bytes for it, and no array."""
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None], name="x")
        text = tf.as_string(tf.reduce_sum(x), precision=1)
        tf.strings.join([text, tf.constant(b"\0")], name="text")
    tf.train.write_graph(graph, ".", "one_string.pb", as_text=False)
    with serving("one_string.pb", **({"grpc_port": 0} if _HAS_GRPC else {})) as server:
        rest = "/v1/models/one_string:predict"
        assert ask(server, rest, {"inputs": [1.0, 2.0]}) == (200, {"outputs": "3.0\0"})
        status, found = ask(server, rest, {"instances": [1.0, 2.0]})
        assert status == 400 and "column format" in found["error"], (status, found)
        status, found = ask(server, "/v2/models/one_string/infer", by_kserve([1.0, 2.0]))
        assert status == 200, found
        assert found["outputs"] == [{"name": "text", "datatype": "BYTES", "shape": [], "data": ["3.0\0"]}]
        binary = {**by_kserve([1.0, 2.0]), "parameters": {"binary_data_output": True}}
        status, data = ask(server, "/v2/models/one_string/infer", binary)
        assert status == 200 and data.endswith(b"\4\0\0\0" + b"3.0\0"), data
        if _HAS_GRPC:
            found = tf.make_ndarray(predict_by_grpc(server, "one_string", [1.0, 2.0])["text"])
            assert found.shape == () and found.item() == b"3.0\0", found
    with t1.load("one_string.pb") as model, t1.SessionServer("one_string.pb") as server, server.client() as client:
        assert client(x=[1.0, 2.0]) == model(x=[1.0, 2.0]) == {"text": b"3.0\0"}
