"""What is found in models that TensorFlow 1.15 wrote (tests/golden/data/models), and in small graphs made here."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from support import ROOT, PythonRun

MODELS = ROOT / "tests" / "golden" / "data" / "models"

CODE = """
import pathlib, sys
import numpy as np
import tensorflow.compat.v1 as tf
from tensorflow.python.framework import function
from tf1sessions.models.files import Artifact, read
from tf1sessions.models.inspection import inspect

tf.disable_v2_behavior()
folder = pathlib.Path(sys.argv[1])
for path in sorted(folder.iterdir()):
    if path.name == "expected.json.gz":
        continue
    found = inspect(read(path, ["serve"] if path.name == "saved_tags" else None))
    report(**{path.name: found.to_dict()})
    report(**{path.name + " shapes": {name: found.shapes[name] for name in found.shapes}})

graph_def = tf.GraphDef.FromString((folder / "frozen.pb").read_bytes())
pathlib.Path("frozen.pbtxt").write_text(str(graph_def))
report(text=inspect(read("frozen.pbtxt")).to_dict())

def look(name, graph, signature=None, **artifact):
    try:
        found = inspect(Artifact(f"/{name}", "graph", graph.as_graph_def(), **artifact), signature)
    except ValueError as error:
        report(**{name: [type(error).__name__, str(error)]})
        return
    report(**{name: found.to_dict() | {"shapes": dict(found.shapes)}})

# What is risky is not run, not even to infer a shape from its value.
graph = tf.Graph()
with graph.as_default():
    secret = pathlib.Path("secret.txt"); secret.write_text("12")
    size = tf.strings.to_number(tf.read_file(str(secret)), tf.int32)
    called = []
    number = tf.py_func(lambda: called.append(1) or np.int32(7), [], tf.int32, stateful=False)
    x = tf.placeholder(tf.float32, [None, None], name="x")
    tf.reshape(x, [size, 3], name="y")
    tf.reshape(x, [number, 2], name="z")
look("risky", graph)

@function.Defun(func_name="reads")
def reads():
    return tf.strings.to_number(tf.read_file("secret.txt"), tf.int32)
with tf.Graph().as_default() as graph:
    x = tf.placeholder(tf.float32, [None, None], name="x")
    tf.reshape(x, [reads(), 1], name="y")
look("risky_function", graph)

with tf.Graph().as_default() as graph:  # an operation that is gone: the rest has its shapes all the same
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    y = tf.matmul(x, tf.ones([4, 3]), name="y")
    z = tf.identity(y, name="z")
gone = graph.as_graph_def()
next(node for node in gone.node if node.name == "z").op = "NoLongerHere"
class Changed:
    def as_graph_def(self): return gone
look("unknown_elsewhere", Changed())

with tf.Graph().as_default() as graph:
    x = tf.placeholder(tf.float32, [32, 4], name="x")
    tf.matmul(x, tf.ones([4, 3]), name="y")
look("fixed_rows", graph)
look("no_such_signature", graph, signature="zzz")

with tf.Graph().as_default() as graph:
    tf.get_variable("no_shape", initializer=lambda: tf.zeros([2]), validate_shape=False)
    tf.constant(list(range(300)), name="table")
    tf.one_shot = tf.data.make_one_shot_iterator(tf.data.Dataset.range(3).map(lambda n: n + 1)).get_next()
    queue = tf.FIFOQueue(3, [tf.float32, tf.int64], name="queue")
    taken, _ = queue.dequeue()
    tf.square(taken, name="out")
    with graph.gradient_override_map({"Sqrt": "MyGradient"}):
        tf.sqrt(1.0)
look("odds", graph)
with tf.Graph().as_default(), tf.Session() as session:  # a shape that only the checkpoint knows
    grown = tf.get_variable("grown", initializer=lambda: tf.zeros([2, 3]), validate_shape=False, use_resource=False)
    session.run(tf.global_variables_initializer())
    prefix = tf.train.Saver().save(session, "./saved/model")
report(saved=inspect(read(prefix)).to_dict())
meta = tf.MetaGraphDef.FromString(pathlib.Path(prefix + ".meta").read_bytes())
del meta.collection_def["trainable_variables"]
meta.collection_def["variables"].bytes_list.value[:] = [b"\\xff no VariableDef"]
pathlib.Path("collection.meta").write_bytes(meta.SerializeToString())
report(damaged_collection=inspect(read("collection.meta")).to_dict())
pathlib.Path(prefix + ".index").write_bytes(b"damaged")
report(damaged=inspect(read(prefix)).to_dict())

look("empty", tf.Graph())
class Bad:
    def __init__(self, *nodes):
        self.graph_def = tf.GraphDef()
        for name, op, *inputs in nodes:
            self.graph_def.node.add(name=name, op=op, input=inputs).attr["T"].type = 1
    def as_graph_def(self): return self.graph_def
look("malformed", Bad(["x", "Placeholder"], ["a", "Relu", "nowhere"], ["r", "ReadFile", "x"]))
hopeless = Bad(["x", "Placeholder"], ["a", "Relu", "x"])
hopeless.graph_def.node[0].attr["dtype"].type = 99
look("bad_type", hopeless)

# Nodes with several outputs that are not run either.
with tf.Graph().as_default() as graph:
    x = tf.placeholder(tf.float32, [None, None], name="x")
    first, second = tf.py_func(lambda a: (a, a), [x], [tf.float32, tf.int32], stateful=False)
    tf.reshape(first, [-1, 2], name="y")
    tf.reshape(x, [second, 2], name="z")
look("two_outputs", graph)
report(called=called)
"""


@pytest.fixture(scope="module")
def found(run_python: Callable[..., PythonRun]) -> dict[str, Any]:
    return run_python(CODE, str(MODELS), deadline=150).results


def shapes(tensors: list[dict[str, Any]]) -> dict[str, Any]:
    return {each["name"]: [each["dtype"], each["shape"]] for each in tensors}


def test_every_golden_model_can_be_inspected(found: dict[str, Any]) -> None:
    names = {path.name for path in MODELS.iterdir()} - {"expected.json.gz"}
    assert names <= found.keys()
    assert len(names) > 25


def test_frozen_graph(found: dict[str, Any]) -> None:
    model = found["frozen.pb"]
    assert model["kind"] == "graph"
    assert shapes(model["inputs"]) == {"images": ["float32", [None, 4, 4, 1]], "training": ["bool", []]}
    assert [each["optional"] for each in model["inputs"]] == [False, True]
    assert shapes(model["outputs"]) == {"probabilities": ["float32", [None, 3]]}
    assert model["guessed"]
    assert model["nodes"] == 49
    assert model["ops"]["Switch"] == 9
    assert sum(model["ops"].values()) == 49
    assert model["variables"] == []
    assert model["control_flow"] == {"loops": [], "conditions": 1, "operations": {"Switch": 9, "Merge": 1}}
    assert model["risks"] == [] and model["unknown_ops"] == {}
    # a convolution of 3x3 to 2 channels, a dense layer of 32 to 3
    counted = model["flops"]
    assert counted["per_row"] and counted["shapes_from"] == "shape inference"
    assert counted["by_op"]["Conv2D"] == 2 * (4 * 4 * 2) * 9
    assert counted["by_op"]["MatMul"] == 2 * 32 * 3
    assert counted["total"] == sum(counted["by_op"].values())


def test_text_form_is_the_same_model(found: dict[str, Any]) -> None:
    left, right = (dict(found[name], path="") for name in ("frozen.pb", "text"))
    assert left == right


def test_checkpoint(found: dict[str, Any]) -> None:
    model = found["training"]
    assert model["kind"] == "checkpoint"
    assert model["made_by"]["tensorflow"] == "1.15.5"
    assert model["made_by"]["producer"] == 134
    variables = {each["name"]: each for each in model["variables"]}
    assert variables["conv/kernel"] == {
        "name": "conv/kernel", "dtype": "float32", "shape": [3, 3, 1, 2], "bytes": 72, "kind": "ref",
        "trainable": True, "slice_of": None,
    }  # fmt: skip
    assert variables["norm/moving_mean"]["trainable"] is False
    assert model["variable_bytes"] == model["weight_bytes"] == sum(each["bytes"] for each in variables.values())
    assert model["needed_nodes"] < model["nodes"]
    assert model["flops"] == found["frozen.pb"]["flops"]
    assert model["risks"] == []  # its own saver is none
    assert any("ref variables" in note for note in model["notes"])


def test_variables_of_all_kinds(found: dict[str, Any]) -> None:
    variables = {each["name"]: each for each in found["variables"]["variables"]}
    assert variables["resource"]["kind"] == "resource"
    assert variables["table/part_0"]["slice_of"] == "table"
    assert variables["table/part_0"]["shape"] == [3, 2]
    assert variables["table/part_0/Adagrad"]["trainable"] is False


def test_saved_models(found: dict[str, Any]) -> None:
    model = found["saved_signatures"]
    assert model["tags"] == ["serve"]
    assert [each["name"] for each in model["signatures"]] == ["classify", "regress", "serving_default"]
    assert not model["guessed"]
    assert shapes(model["inputs"]) == {"scale": ["float32", []], "x": ["float32", [None, 4]]}
    assert any("serving_default was taken" in note for note in model["notes"])
    assert found["saved_no_signature"]["guessed"]


@pytest.mark.parametrize("name", ["saved_main_op", "saved_legacy_init_op", "bundle_classification"])
def test_tables_that_assets_fill_are_no_risk(name: str, found: dict[str, Any]) -> None:
    model = found[name]
    assert model["risks"] == []
    (table,) = model["tables"]
    assert table == {"name": "hash_table", "op": "HashTableV2", "detail": table["detail"]}
    assert table["detail"] == "string to int64 from the file 'vocabulary.txt'"
    assert list(model["assets"]) == ["vocabulary:0"]


def test_loops(found: dict[str, Any]) -> None:
    flow = found["control_flow.pb"]["control_flow"]
    loops = {each["frame"]: each["nodes"] for each in flow["loops"]}
    assert loops.keys() == {
        f"{scope}{frame}/while_context" for scope in ("", "gradients/") for frame in ("while", "while/while")
    }
    assert loops["while/while_context"] > loops["while/while/while_context"]  # what is in the inner one is in both
    assert flow["conditions"] == 1
    assert "one turn" in " ".join(found["control_flow.pb"]["notes"])


def test_what_a_loop_hides_of_the_batch_is_counted_as_one_row(found: dict[str, Any]) -> None:
    """A step of the recurrence, [1, 3] and [1, 2] into [5, 2]: 1.15 wrote [?, 3] into the graph."""
    counted = found["recurrent"]["flops"]
    assert counted["by_op"]["MatMul"] == 2 * 5 * 2
    assert counted["assumed"] > 0


def test_functions(found: dict[str, Any]) -> None:
    model = found["control_flow_v2.pb"]
    assert model["control_flow"]["operations"] == {"StatelessIf": 1, "While": 1}
    assert len(model["functions"]) == 4
    assert model["flops"]["uncounted"] == {"StatelessIf": 1, "While": 1}


def test_queue_and_reader(found: dict[str, Any]) -> None:
    model = found["queue.pb"]
    assert [each["op"] for each in model["queues"]] == ["FIFOQueueV2", "RandomShuffleQueueV2"]
    assert [each["op"] for each in model["readers"]] == ["TextLineReaderV2"]
    assert [(each["op"], each["needed"]) for each in model["risks"]] == [("TextLineReaderV2", False)]


def test_unknown_operations(found: dict[str, Any]) -> None:
    model = found["unknown.pb"]
    assert model["unknown_ops"].keys() == {"ReduceSliceMax", "ReduceSliceSum"}
    assert "ReduceSliceSum" in " ".join(model["notes"])
    model = found["unknown_elsewhere"]
    assert model["unknown_ops"] == {"NoLongerHere": ["z"]}
    assert model["shapes"]["y"] == [[1, 3]]


def test_upgrades_are_reported(found: dict[str, Any]) -> None:
    assert any("MKL" in note for note in found["mkl.pb"]["upgrades"])
    assert "_MklConv2D" in found["mkl.pb"]["ops"]
    assert found["mkl.pb"]["flops"]["by_op"]["Conv2D"] > 0


def test_placeholders_of_old_graphs_are_of_any_shape(found: dict[str, Any]) -> None:
    """Before version 24 of graphs any shape was written as the shape of a scalar."""
    assert shapes(found["old_arrays.pbtxt"]["inputs"]) == {"rows": ["float32", None]}


def test_nothing_risky_is_run(found: dict[str, Any]) -> None:
    """TensorFlow would read the file, and call Python, to tell the shapes of ``y`` and ``z``."""
    model = found["risky"]
    assert {each["op"]: each["needed"] for each in model["risks"]} == {"PyFuncStateless": True, "ReadFile": True}
    assert model["shapes"]["y"] == [[None, 3]]
    assert model["shapes"]["z"] == [[None, 2]]
    assert found["called"] == []
    model = found["risky_function"]
    assert [each["op"] for each in model["risks"]] == ["ReadFile"]
    assert model["shapes"]["y"] == [[None, 1]]
    assert model["flops"]["shapes_from"] == "shape inference"
    model = found["two_outputs"]
    assert model["shapes"]["y"] == [[None, 2]]
    assert model["shapes"]["z"] == [[None, 2]]


def test_fixed_rows(found: dict[str, Any]) -> None:
    model = found["fixed_rows"]
    assert not model["flops"]["per_row"]
    assert model["flops"]["total"] == 2 * 32 * 4 * 3
    assert any("fixed" in note for note in model["notes"])


def test_odds_and_ends(found: dict[str, Any]) -> None:
    model = found["odds"]
    assert model["variables"][0]["shape"] is None and model["variables"][0]["bytes"] is None
    assert [(each["name"], each["bytes"]) for each in model["constants"]] == [("table", 1200)]
    assert model["queues"] == [{"name": "queue", "op": "FIFOQueueV2", "detail": "float32, int64"}]
    assert {"OneShotIterator", "RangeDataset", "MapDataset"} <= {each["op"] for each in model["datasets"]}
    assert model["custom_gradients"] == {"MyGradient": 1}
    assert found["empty"]["nodes"] == 0
    assert found["empty"]["notes"] == ["the graph is empty"]


def test_shapes_that_only_the_checkpoint_has(found: dict[str, Any]) -> None:
    (variable,) = found["saved"]["variables"]
    assert (variable["shape"], variable["bytes"]) == ([2, 3], 24)
    (variable,) = found["damaged"]["variables"]
    assert (variable["shape"], variable["bytes"]) == (None, None)
    assert any("cannot be read" in note for note in found["damaged"]["notes"])


def test_errors(found: dict[str, Any]) -> None:
    kind, text = found["no_such_signature"]
    assert kind == "UsageError" and "'zzz'" in text and "/no_such_signature" in text


def test_a_malformed_graph_is_reported_as_far_as_possible(found: dict[str, Any]) -> None:
    model = found["malformed"]
    assert model["ops"] == {"Placeholder": 1, "Relu": 1, "ReadFile": 1}
    assert [each["op"] for each in model["risks"]] == ["ReadFile"]
    assert any("load() would refuse it" in note for note in model["notes"])
    kind, text = found["bad_type"]
    assert kind == "ModelFileError" and "/bad_type" in text


def test_all_of_it_is_plain(found: dict[str, Any]) -> None:
    """``report`` has sent it as JSON; nothing in it was turned into text on the way."""
    assert "object at 0x" not in json.dumps(found)


def test_a_damaged_collection_of_variables(found: dict[str, Any]) -> None:
    """It says nothing of the variables; the graph does."""
    assert [each["name"] for each in found["damaged_collection"]["variables"]] == ["grown"]
