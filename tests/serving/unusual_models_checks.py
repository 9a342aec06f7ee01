"""Models that are served less often, by each protocol: see `test_unusual_models.py`."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from served_models import ask, serving
from support import raises

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


def _of_any_rank(path: str, build: Callable[[Any], Any], producer: int | None = None) -> dict[str, Any]:
    """A model with one input, whose rank its graph leaves open; as a TensorFlow of that version has written it."""
    with tf.Graph().as_default() as graph:
        tf.identity(build(tf.placeholder(tf.float32, name="x")), name="y")
    graph_def = graph.as_graph_def()
    if producer is not None:
        graph_def.versions.producer = producer
        next(node for node in graph_def.node if node.name == "x").attr["shape"].shape.Clear()
    tf.train.write_graph(graph_def, ".", path, as_text=False)
    return {"path": path, "inputs": ["x:0"], "outputs": ["y:0"]}


def _convolved(x: Any) -> Any:
    return tf.nn.conv2d(x, tf.ones([1, 1, 1, 1]), [1, 1, 1, 1], "SAME")


def check_ranks_that_would_end_the_process() -> None:
    """TensorFlow's convolution does not look at the rank of what it gets, and stops the process."""
    models = {"open": _of_any_rank("open.pb", _convolved)}
    right = np.ones([1, 2, 2, 1], np.float32).tolist()
    with serving(models, **({"grpc_port": 0} if _HAS_GRPC else {})) as server:
        rest, v2 = "/v1/models/open:predict", "/v2/models/open/infer"
        for _ in range(2):
            for wrong in ([1.0, 2.0], [[1.0]]):
                status, found = ask(server, rest, {"instances": wrong})
                assert status == 400 and "number of dimensions" in found["error"], (status, found)
                assert ask(server, v2, by_kserve(wrong))[0] == 400
                if _HAS_GRPC:
                    import grpc

                    error = raises(grpc.RpcError, predict_by_grpc, server, "open", np.asarray(wrong, np.float32))
                    assert error.code() is grpc.StatusCode.INVALID_ARGUMENT, error
            assert ask(server, rest, {"instances": right}) == (200, {"predictions": right})
        figures = ask(server, "/figures")[1]["models"][0]["versions"][0]["signatures"]
        assert any(each.get("mean_rows") for each in figures.values()), figures  # known ranks go to the batcher
    with t1.SessionServer(models) as server, server.client() as client:
        assert "number of dimensions" in str(raises(ValueError, lambda: client(x=[1.0, 2.0])))
        assert client(x=right)["y"].tolist() == right


def check_ranks_of_other_operations() -> None:
    import tensorflow as tf2

    function = tf2.function(_convolved, input_signature=[tf2.TensorSpec(None, tf2.float32)])
    builders = {
        "conv3d": lambda x: tf.nn.conv3d(x, tf.ones([1, 1, 1, 1, 1]), [1] * 5, "SAME"),
        "depthwise": lambda x: tf.nn.depthwise_conv2d_native(x, tf.ones([1, 1, 1, 1]), [1] * 4, "SAME"),
        "per_channel": lambda x: tf.quantization.fake_quant_with_min_max_vars_per_channel(x, [0.0], [6.0]),
        "in_a_function": function,
    }
    for name, build in builders.items():
        with t1.load(**_of_any_rank(f"{name}.pb", build)) as model:
            for _ in range(2):
                assert "number of dimensions" in str(raises(ValueError, model, 1.0)), name
                assert "number of dimensions" in str(raises(ValueError, model.run, "y:0", {"x:0": 1.0})), name
            assert not model.signature.knows_ranks({"x": np.float32(1)})


def check_a_scalar_where_no_dimensions_meant_any_number() -> None:
    """Up to version 21 of graphs a placeholder of the shape [] has an unknown one."""
    for producer in (0, 21):
        with t1.load(**_of_any_rank("old.pb", _convolved, producer)) as model:
            for wrong in (1.0, [1.0]):
                assert "number of dimensions" in str(raises(ValueError, model, wrong)), producer
            assert model(x=[[[[2.0]]]])["y"].tolist() == [[[[2.0]]]]
        with t1.load(**_of_any_rank("right.pb", tf.square, producer)) as model:
            assert [model(x=given)["y"].tolist() for given in (3.0, [3.0])] == [9.0, [9.0]]
    newer = _of_any_rank("new.pb", _convolved, 22)
    assert "Shape must be rank 4" in str(raises(t1.errors.ModelError, lambda: t1.load(**newer)))


def check_ranks_that_a_batcher_gets() -> None:
    right = np.ones([1, 2, 2, 1], np.float32)
    with t1.load(**_of_any_rank("batched.pb", _convolved)) as model, model.batched() as batcher:
        for _ in range(2):
            for ask_for in (batcher, lambda x: batcher.submit(x).result(30)):
                assert "number of dimensions" in str(raises(ValueError, ask_for, [1.0, 2.0]))
                assert ask_for(right)["y"].tolist() == right.tolist()
        assert model.run("y", {model.graph.get_tensor_by_name("x:0"): right}) is None  # the operation
        assert model.run(["y:0"], {"x": right})[0].tolist() == right.tolist()
        assert "x:7" in str(raises((TypeError, ValueError, KeyError), model.run, "y:0", {"x:7": right}))


def check_ranks_that_the_graph_takes() -> None:
    """Also those for which a branch that does not run is not made."""

    def chosen(x: Any) -> Any:
        is_image = tf.placeholder_with_default(False, [])
        return tf.cond(is_image, lambda: tf.nn.max_pool(x, [1] * 4, [1] * 4, "SAME"), lambda: x)

    for name, switch in (("switch", tf.disable_control_flow_v2), ("if", tf.enable_control_flow_v2)):
        switch()  # the branches of a graph of TensorFlow 1, and functions
        with t1.load(**_of_any_rank(f"{name}.pb", chosen)) as model:
            for given in (1.0, [1.0], [[1.0]], [[[[1.0]]]]):
                assert model(x=given)["y"].tolist() == given, name
            assert model.signature.knows_ranks({"x": np.ones(1)})
            raises(ValueError, model, [[1.0], [1.0, 2.0]])
