"""Models for these tests, as TensorFlow 1 wrote them, and a server around them in a thread."""

from __future__ import annotations

import contextlib
import http.client
import json
import threading
from collections.abc import Iterator
from typing import Any

import tf1sessions as t1
from tf1sessions.serving.server import Server, ServerSettings
from tf1sessions.serving.settings import Limits, models_from

tf = t1.tf1


def export(folder: str, add: float = 2.0) -> str:
    """TensorFlow Serving's half_plus_two, with its three signatures."""
    with tf.Graph().as_default(), tf.Session() as session:
        a, b = tf.Variable(0.5, name="a"), tf.Variable(add, name="b")
        serialized = tf.placeholder(tf.string, [None], name="tf_example")
        features = tf.parse_example(serialized, {"x": tf.FixedLenFeature([1], tf.float32)})
        of_example = tf.add(a * features["x"], b)
        x = tf.placeholder(tf.float32, [None], name="x")
        y = tf.add(a * x, b, name="y")
        labels = tf.tile(tf.constant([["only"]]), [tf.shape(of_example)[0], 1])
        session.run(tf.global_variables_initializer())
        info, signature = tf.saved_model.build_tensor_info, tf.saved_model.build_signature_def
        builder = tf.saved_model.Builder(folder)
        takes = {"inputs": info(serialized)}
        signatures = {
            "serving_default": signature({"x": info(x)}, {"y": info(y)}, "tensorflow/serving/predict"),
            "regress_x": signature(takes, {"outputs": info(of_example)}, "tensorflow/serving/regress"),
            "classify_x": signature(
                takes, {"classes": info(labels), "scores": info(of_example)}, "tensorflow/serving/classify"
            ),
        }
        builder.add_meta_graph_and_variables(session, ["serve"], signatures)
        builder.save()
    return folder


def frozen(path: str = "several.pb") -> str:
    """A frozen graph with inputs and outputs of several types."""
    with tf.Graph().as_default() as graph:
        text = tf.placeholder(tf.string, [None], name="text")
        number = tf.placeholder(tf.int32, [None, 2], name="number")
        yes = tf.placeholder(tf.bool, [None], name="yes")
        tf.identity(text, name="text_bytes")
        tf.strings.join([text, tf.constant("!")], name="louder")
        tf.reduce_sum(number, 1, name="total")
        tf.logical_not(yes, name="no")
    tf.train.write_graph(graph, ".", path, as_text=False)
    return path


SEVERAL: dict[str, Any] = {
    "path": "several.pb",
    "inputs": ["text:0", "number:0", "yes:0"],
    "outputs": ["text_bytes:0", "louder:0", "total:0", "no:0"],
}


@contextlib.contextmanager
def serving(models: Any, limits: Limits | None = None, **settings: Any) -> Iterator[Server]:
    """A server, on ports that are free."""
    server = Server(models_from(models), ServerSettings(port=0, **{"poll_secs": 0.05, **settings}), limits)
    ready, failed = threading.Event(), []

    def run() -> None:
        try:
            server.run(ready.set)
        except BaseException as error:
            failed.append(error)
            ready.set()

    thread = threading.Thread(target=run)
    thread.start()
    assert ready.wait(60), "the server does not start"
    if failed:
        thread.join()
        raise failed[0]
    try:
        while not server._http.started:
            thread.join(0.01)
        yield server
    finally:
        server.stop()
        thread.join(60)
        assert not thread.is_alive(), "the server does not stop"


def ask(server: Server, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
    """Status and body of an answer; a body that is no bytes is sent as JSON, and JSON is read."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    with contextlib.closing(connection):
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request("GET" if body is None else "POST", path, data, names)
        answer = connection.getresponse()
        found = answer.read()
        is_json = answer.headers.get_content_type() == "application/json" and found
        return answer.status, json.loads(found) if is_json else found
