"""load() and Model: what users call, which errors they get, and that threads share one copy of the weights."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support import PythonRun

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "data" / "models"

_BUILT = """
import asyncio, ctypes, gc, os, shutil, sys, threading
import numpy as np
import tf1sessions as t1
from tf1sessions import errors
from tf1sessions.models import values

tf = t1.tf1
GOLDEN = sys.argv[1]

def raised(function, *args, **kwargs):
    try:
        function(*args, **kwargs)
    except BaseException as error:
        details = {name: getattr(error, name) for name in ("missing", "extra", "nodes", "variables", "shapes")
                   if hasattr(error, name)}
        return [type(error).__name__, str(error), repr(details)]
    return ["nothing", "", ""]

def written(name, build):
    with tf.Graph().as_default() as graph:
        build()
    tf.train.write_graph(graph, ".", name, as_text=name.endswith("txt"))
    return name

def anonymous_mb():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith("RssAnon"))
"""

_CALLS = (
    _BUILT
    + """
def build():
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    scale = tf.placeholder_with_default(2.0, [], name="scale")
    odd = tf.placeholder(tf.float32, [], name="net/odd-name")
    tf.add(x * scale, odd, name="y")
    tf.identity(x * scale + odd, name="z")

path = written("calls.pb", build)
x = np.ones([2, 3], np.float32)
with t1.load(path) as model:
    report(
        inputs={name: [spec.dtype.name, str(spec.shape), spec.optional] for name, spec in model.inputs.items()},
        outputs={name: [spec.dtype.name, str(spec.shape)] for name, spec in model.outputs.items()},
        signatures=sorted(model.signatures), guessed=model.signature.guessed, notes=list(model.notes),
        text=repr(model), kind=model.kind,
    )
    given = model({"net/odd-name": 1.0}, x=x)
    report(default=given["y"].tolist(), keys=list(given))
    report(optional=model({"net/odd-name": 1.0, "x": x, "scale": 3.0})["z"].tolist())
    report(acalled=asyncio.run(model.acall({"net/odd-name": 0.0}, x=x))["y"].tolist())
    report(ran=model.run(["y:0", "x:0"], {"x": x, "net/odd-name:0": 5.0})[0].tolist())
    report(
        unknown=raised(model, {"net/odd-name": 1.0}, x=x, nobody=1),
        missing=raised(model, x=x),
        in_order=model(x, 1.0)["y"].tolist(),
        in_order_optional=model(x, 1.0, 3.0)["z"].tolist(),
        in_order_async=asyncio.run(model.acall(x, 1.0))["y"].tolist(),
        too_many=raised(model, x, 1.0, 2.0, 3.0),
        twice=raised(model, x, x=x),
        dict_and_more=raised(model, {"x": x}, 1.0),
        shape=raised(model, {"net/odd-name": 1.0}, x=np.ones([2, 4])),
        no_tensor=raised(model.run, "yy:0", {"x": x}),
        no_feed=raised(model.run, "y:0", {"xx:0": x}),
        no_signature=raised(model.batched, signature="serve"),
    )
    given["y"][:] = 9
    report(again=model({"net/odd-name": 1.0}, x=x)["y"].tolist())
    with model.batched(max_batch_size=8, inputs=["x", "net/odd-name"]) as server:
        report(batched=server(**{"x": x, "net/odd-name": np.float32(1)})["y"].tolist())
report(closed=[raised(model, {"net/odd-name": 1.0}, x=x), raised(model.run, "y:0"), raised(model.batched)],
       closed_text=repr(model))
model.close()

class Calls(dict):
    # Another thread closes the model once the call has found it open.

    def get(self, key):
        model.close()
        return super().get(key)

class Prepared(dict):
    def __contains__(self, key):
        model.close()
        return super().__contains__(key)

meanwhile = []
with t1.load(path) as model:
    model(x, 1.0)
    model.signature._calls = Calls(model.signature._calls)
    meanwhile.append(raised(model, x, 1.0))
with t1.load(path) as model:
    feeds = {"x": x, "net/odd-name:0": 5.0}
    model.run("y:0", feeds)
    model._prepared = Prepared(model._prepared)
    meanwhile.append(raised(model.run, "y:0", feeds))
report(closed_meanwhile=meanwhile)

with t1.load(path, inputs={"a": "x", "b": "net/odd-name:0"}, outputs={"sum": "y"}) as model:
    report(renamed=model(a=x, b=1.0)["sum"].tolist(), renamed_inputs=list(model.inputs),
           renamed_guess=model.signature.guessed)
with t1.load(path, outputs=["mul:0"]) as model:
    report(part=model(x=x)["mul"].tolist(), part_inputs=list(model.inputs))
from tensorflow.core.protobuf import saved_model_pb2

saved = saved_model_pb2.SavedModel()
meta = saved.meta_graphs.add()
meta.meta_info_def.tags.append("serve")
with open(path, "rb") as file:
    meta.graph_def.ParseFromString(file.read())
meta.signature_def["serving_default"].outputs["y"].name = "^x:0"
folder = path + ".export"
os.mkdir(folder)
with open(os.path.join(folder, "saved_model.pb"), "wb") as file:
    file.write(saved.SerializeToString())
report(bad_file=raised(t1.load, folder))
report(
    bad_output=raised(t1.load, path, outputs=["yy"]),
    bad_input=raised(t1.load, path, inputs=["xx"]),
    one_tensor=raised(t1.load, path, inputs={"a": "x", "b": "x:0"}),
    bad_signature=raised(t1.load, path, signature="serve"),
    bad_allow=raised(t1.load, path, allow_ops="PyFunc"),
    unknown_allow=[raised(t1.load, path, allow_ops=["PyFunc", name]) for name in ("pyfunk", "", 3, "\x1b[2J")],
    known_allow=[t1.load(path, allow_ops={name}).close() for name in ("MatMul", "PyFunc", "DecodeVideo")],
)
with t1.load(GOLDEN + "/saved_signatures") as model:
    report(several=sorted(model.signatures), own=model.signature.name)
    chosen = t1.load(GOLDEN + "/saved_signatures", signature="classify")
    report(chosen=sorted(chosen.outputs)); chosen.close()
report(tags=raised(t1.load, GOLDEN + "/saved_tags", tags=["tpu"]))

# What touches files or Python is refused before it runs, and TensorFlow does not even see the graph.
def build():
    name = tf.placeholder(tf.string, [], name="name")
    tf.identity(tf.read_file(name), name="content")
    tf.add(tf.placeholder(tf.float32, [], name="x"), 1.0, name="sum")

path = written("reads.pb", build)
with open("secret.txt", "w") as file: file.write("secret")
report(unsafe=raised(t1.load, path))
with t1.load(path, outputs=["sum"]) as model:
    report(safe_part=float(model(x=1.0)["sum"]), unsafe_run=raised(model.run, "content:0", {"name": "secret.txt"}))
# TensorFlow runs what only constants lead to, to infer shapes, while it imports: also in a part that is not needed.
with open("shape.raw", "wb") as file: file.write(np.array([3, 1], np.int32).tobytes())
def build():
    shape = tf.decode_raw(tf.read_file(os.path.abspath("shape.raw")), tf.int32)
    tf.reshape(tf.placeholder(tf.float32, [3], name="x"), shape, name="shaped")
    tf.add(tf.placeholder(tf.float32, [], name="y"), 1.0, name="sum")

inferred = written("inferred.pb", build)
with t1.load(inferred, outputs=["sum"]) as model:
    report(not_read=model.graph.get_tensor_by_name("shaped:0").shape.rank,
           not_run=raised(model.run, "shaped:0", {"x": [1, 2, 3]}))
with t1.load(inferred, allow_ops={"ReadFile"}) as model:
    report(read=model.graph.get_tensor_by_name("shaped:0").shape.as_list(),
           shaped=model.run("shaped:0", {"x": [1, 2, 3]}).tolist())

# TensorFlow's optimiser does not end where nodes wait for what stops a gradient behind a branch.
def build():
    x, chosen = tf.placeholder(tf.float32, [], name="x"), tf.placeholder_with_default(True, [], name="chosen")
    off, on = tf.raw_ops.Switch(data=x, pred=chosen)
    with tf.control_dependencies([tf.stop_gradient(on)]):
        tripled = tf.identity(tf.constant(3.0)) * 1.0
    tf.raw_ops.Merge(inputs=[tf.identity(off), tripled], name="y")

with t1.load(written("stopped.pb", build), outputs=["y:0"]) as model:
    report(stopped=[float(model(x=1.0)["y"]), float(model(x=1.0, chosen=False)["y"])],
           stops=[node.op for node in model.graph.as_graph_def().node if node.op == "StopGradient"])

# What only initializes the model counts, too.
def build():
    table = tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer(os.path.abspath("secret.txt"), tf.string,
        tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER), -1)
    tf.identity(table.lookup(tf.placeholder(tf.string, [None], name="words")), name="ids")

table = written("reading_table.pb", build)
report(table=raised(t1.load, table))
with t1.load(table, allow_ops={"InitializeTableFromTextFileV2"}) as model:
    report(allowed_table=model(words=["secret", "b"])["ids"].tolist())
def build():
    content = tf.Variable(tf.read_file("secret.txt"), name="content")
    tf.identity(tf.string_join([content, tf.placeholder(tf.string, [], name="x")]), name="joined")
report(initializer=raised(t1.load, written("initializer.pb", build), initialize=True))

with t1.load(path, allow_ops={"ReadFile"}) as model:
    report(allowed=model.run("content:0", {"name": "secret.txt"}).decode())
"""
)


@pytest.fixture(scope="module")
def calls(run_python: Callable[..., PythonRun]) -> dict[str, Any]:
    results: dict[str, Any] = run_python(_CALLS, str(GOLDEN)).results
    return results


def test_inputs_and_outputs_are_guessed_and_said_so(calls: dict[str, Any]) -> None:
    assert calls["inputs"] == {
        "x": ["float32", "(None, 3)", False],
        "scale": ["float32", "()", True],
        "net/odd-name": ["float32", "()", False],
    }
    assert calls["outputs"] == {"y": ["float32", "(None, 3)"], "z": ["float32", "(None, 3)"]}
    assert calls["signatures"] == ["guessed"] and calls["guessed"]
    assert any("ends of the inference graph" in note for note in calls["notes"])
    assert any("placeholders" in note for note in calls["notes"])
    assert "x float32 (?, 3)" in calls["text"] and "scale float32 () (optional)" in calls["text"]
    assert calls["kind"] == "graph"


def test_calls_by_keyword_and_by_dict(calls: dict[str, Any]) -> None:
    assert calls["default"] == [[3.0] * 3] * 2 and calls["keys"] == ["y", "z"]
    assert calls["in_order"] == calls["in_order_async"] == calls["default"]
    assert calls["in_order_optional"] == calls["optional"]
    assert calls["optional"] == [[4.0] * 3] * 2
    assert calls["acalled"] == [[2.0] * 3] * 2
    assert calls["ran"] == [[7.0] * 3] * 2
    assert calls["again"] == calls["batched"] == calls["default"]


def test_wrong_calls_name_what_is_wrong(calls: dict[str, Any]) -> None:
    kind, text, _ = calls["unknown"]
    assert kind == "TypeError" and "no input 'nobody'" in text and "x float32 (?, 3)" in text
    kind, text, _ = calls["missing"]
    assert kind == "TypeError" and "needs the input 'net/odd-name'" in text
    assert text.endswith("Call it as model({'x': …, 'net/odd-name': …}).")
    for name, counts in (("too_many", (4, 0)), ("twice", (1, 1)), ("dict_and_more", (2, 0))):
        kind, text, _ = calls[name]
        assert kind == "TypeError" and "{} values in order and {} by name".format(*counts) in text
        assert "in this order, are x float32 (?, 3)" in text
    assert calls["shape"][0] == "ValueError" and "(2, 4)" in calls["shape"][1]
    for name, wrong in (("no_tensor", "'yy:0'"), ("no_feed", "'xx:0'")):
        assert calls[name][0] == "UsageError" and wrong in calls[name][1] and "Near to it" in calls[name][1]
    assert calls["no_signature"][0] == "UsageError" and "'guessed'" in calls["no_signature"][1]
    assert {kind for kind, _, _ in calls["closed"]} == {"ClosedError"}
    assert [kind for kind, _, _ in calls["closed_meanwhile"]] == ["ClosedError"] * 2, calls["closed_meanwhile"]
    assert "closed" in calls["closed_text"]


def test_inputs_and_outputs_of_ones_own(calls: dict[str, Any]) -> None:
    assert calls["renamed"] == calls["default"] and calls["renamed_inputs"] == ["a", "b"]
    assert not calls["renamed_guess"]
    assert calls["part"] == [[2.0] * 3] * 2 and calls["part_inputs"] == ["x", "scale"]
    assert calls["bad_file"][0] == "ModelFileError" and "'^x:0'" in calls["bad_file"][1]
    assert calls["bad_output"][0] == "UsageError" and "'yy:0'" in calls["bad_output"][1]
    assert calls["one_tensor"][0] == "UsageError" and "'a' and 'b' are both the tensor 'x:0'" in calls["one_tensor"][1]
    assert calls["bad_input"][0] == "UsageError" and "'xx:0'" in calls["bad_input"][1]
    assert calls["bad_signature"][0] == "UsageError" and "'guessed'" in calls["bad_signature"][1]
    assert calls["bad_allow"][0] == "UsageError" and "allow_ops={'PyFunc'}" in calls["bad_allow"][1]
    assert calls["known_allow"] == [None] * 3
    for (kind, text, _), name in zip(calls["unknown_allow"], ["'pyfunk'", "''", "3", "'\\x1b[2J'"], strict=True):
        assert kind == "UsageError" and f"{name} is to be allowed" in text and "no operation" in text
    assert "PyFunc" in calls["unknown_allow"][0][1]


def test_signatures_and_tags(calls: dict[str, Any]) -> None:
    assert calls["several"] == ["classify", "regress", "serving_default"] and calls["own"] == "serving_default"
    assert calls["chosen"] == ["classes", "scores"]
    kind, text, _ = calls["tags"]
    assert kind == "UsageError" and "'tpu'" in text and "['gpu', 'serve']" in text


def test_what_touches_files_is_refused(calls: dict[str, Any]) -> None:
    kind, text, details = calls["unsafe"]
    assert kind == "UnsafeModelError" and "ReadFile" in text and 'allow_ops={"ReadFile"}' in text
    assert details == repr({"nodes": {"ReadFile": ["ReadFile"]}})
    assert calls["safe_part"] == 2.0
    assert calls["unsafe_run"][0] == "UnsafeModelError"
    assert calls["allowed"] == "secret"


def test_nothing_is_read_while_the_graph_is_imported(calls: dict[str, Any]) -> None:
    assert calls["not_read"] is None and calls["not_run"][0] == "UnsafeModelError"
    assert calls["read"] == [3, 1] and calls["shaped"] == [[1.0], [2.0], [3.0]]


def test_a_gradient_that_is_stopped_behind_a_branch(calls: dict[str, Any]) -> None:
    assert calls["stopped"] == [3.0, 1.0] and calls["stops"] == []


def test_initializers_are_looked_at_too(calls: dict[str, Any]) -> None:
    kind, text, _ = calls["table"]
    assert kind == "UnsafeModelError" and "InitializeTableFromTextFileV2" in text
    assert calls["allowed_table"] == [0, -1]
    kind, text, _ = calls["initializer"]
    assert kind == "UnsafeModelError" and "ReadFile" in text


# ------------------------------------------------------------------------------------------------------------- values

_VALUES = (
    _BUILT
    + """
def build():
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    w = tf.get_variable("w", initializer=[[1.0], [2.0]])
    b = tf.get_variable("b", initializer=[10.0], use_resource=True)
    counter = tf.get_local_variable("counter", initializer=0, trainable=False)
    y = tf.add(tf.matmul(x, w) + b, tf.cast(counter, tf.float32), name="y")
    tf.train.AdamOptimizer(0.1).minimize(tf.reduce_mean(tf.square(y)), name="step")

with tf.Graph().as_default(), tf.Session() as session:
    build()
    session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
    saver = tf.train.Saver(tf.global_variables())
    saver.save(session, "./full/model.ckpt")
    tf.train.Saver(tf.trainable_variables()).save(session, "./weights/model.ckpt", write_meta_graph=False)
x = [[1.0, 1.0]]
reads = []
original = values.Values._read
values.Values._read = lambda self, key: (reads.append(key.name), original(self, key))[1]
with t1.load("full/model.ckpt") as model:
    report(read_at_load=sorted(reads), y=model(x=x)["y"].tolist(), label=list(model.inputs))
    model.run("step", {"x": x})
    report(read_for_a_step=sorted(reads), after=float(model(x=x)["y"][0, 0]))
values.Values._read = original
with t1.load("full/model.ckpt.meta", checkpoint="weights/model.ckpt") as model:
    report(weights_only=model(x=x)["y"].tolist(), step_without_slots=raised(model.run, "step", {"x": x}))
shutil.copy("full/model.ckpt.meta", "alone.meta")
report(no_values=raised(t1.load, "alone.meta"), no_checkpoint=raised(t1.load, "alone.meta", checkpoint="nowhere/model"))
with t1.load("alone.meta", initialize=True) as model:
    report(initialized=model(x=x)["y"].tolist(), notes=[note for note in model.notes if "initialized" in note])

# parts of one variable, in the first format
os.mkdir("parts")
with tf.Graph().as_default(), tf.Session() as session:
    whole = tf.get_variable("whole", [5, 2], partitioner=tf.fixed_size_partitioner(2), use_resource=False)
    rows = tf.placeholder(tf.int32, [None], name="rows")
    tf.nn.embedding_lookup(whole, rows, partition_strategy="div", name="found")
    session.run(tf.global_variables_initializer())
    tf.train.Saver(write_version=tf.train.SaverDef.V1).save(session, "./parts/model")
    wanted = session.run(tf.convert_to_tensor(whole)).tolist()
with t1.load("parts/model") as model:
    (found,) = model(rows=[0, 1, 2, 3, 4]).values()
    report(parts=[found.tolist(), wanted])

# variables without elements, first, last and alone
for name, sizes in {"first": (0, 2), "last": (2, 0), "alone": (0,)}.items():
    with tf.Graph().as_default(), tf.Session() as session:
        parts = [tf.get_variable(f"v{place}", [rows, 2]) for place, rows in enumerate(sizes)]
        tf.concat([*parts, tf.ones([1, 2])], 0, name="all")
        session.run(tf.global_variables_initializer())
        tf.train.Saver().save(session, f"./empty_{name}/model")
        wanted = session.run("all:0").tolist()
    with t1.load(f"empty_{name}", inputs=[], outputs=["all"]) as model:
        report(**{f"empty_{name}": [model()["all"].tolist(), wanted]})

def other():
    tf.get_variable("w", initializer=[[1.0, 2.0, 3.0]])
    tf.get_variable("extra", initializer=[1.0])

with tf.Graph().as_default(), tf.Session() as session:
    other()
    session.run(tf.global_variables_initializer())
    tf.train.Saver().save(session, "./other/model.ckpt")
report(mismatch=raised(t1.load, "alone.meta", checkpoint="other/model.ckpt"))
path = written("variables.pb", build)
report(graph_alone=raised(t1.load, path), graph_with_other=raised(t1.load, path, checkpoint="other"))
with t1.load(path, checkpoint="full", initialize=True) as model:
    report(graph_with_values=model(x=x)["y"].tolist())
os.truncate("other/model.ckpt.data-00000-of-00001", 3)
with open("other/model.ckpt.index", "r+b") as file:
    file.seek(20); file.write(bytes(8))
report(damaged=raised(t1.load, path, checkpoint="other"))

def build():
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a"], [7]), -1)
    tf.identity(table.lookup(tf.placeholder(tf.string, [None], name="words")), name="ids")

path = written("table.pb", build)
with t1.load(path) as model:
    report(table=model(words=["a", "b"])["ids"].tolist())
graph_def = tf.GraphDef.FromString(open(path, "rb").read())
for node in [node for node in graph_def.node if "InitializeTable" in node.op or node.op == "LookupTableImportV2"]:
    graph_def.node.remove(node)
open("lost.pb", "wb").write(graph_def.SerializeToString())
report(table_lost=raised(t1.load, "lost.pb"), kinds=[node.op for node in graph_def.node if "Table" in node.op])
"""
)


@pytest.fixture(scope="module")
def values(run_python: Callable[..., PythonRun]) -> dict[str, Any]:
    results: dict[str, Any] = run_python(_VALUES, str(GOLDEN)).results
    return results


def test_only_what_a_call_needs_is_read(values: dict[str, Any]) -> None:
    assert values["read_at_load"] == ["b", "w"]
    assert values["y"] == [[13.0]] and values["label"] == ["x"]
    read = values["read_for_a_step"]
    assert {"w/Adam", "b/Adam_1", "beta1_power"} <= set(read) and len(read) == len(set(read))
    assert values["after"] != 13.0
    assert values["weights_only"] == [[13.0]]
    kind, text, _ = values["step_without_slots"]
    assert kind == "CheckpointMismatchError" and "w/Adam" in text


def test_values_that_are_not_there(values: dict[str, Any]) -> None:
    for name in ("no_values", "graph_alone"):
        kind, text, details = values[name]
        assert kind == "ModelError" and "initialize=True" in text and "checkpoint=" in text
        assert "'b'" in details and "'w'" in details
    assert values["no_checkpoint"][0] == "ModelFileError" and "nowhere/model" in values["no_checkpoint"][1]
    assert values["initialized"] == values["graph_with_values"] == [[13.0]]
    assert len(values["notes"]) == 1 and "b, w" in values["notes"][0]


def test_parts_of_a_variable_in_the_first_format(values: dict[str, Any]) -> None:
    found, wanted = values["parts"]
    assert found == wanted


@pytest.mark.parametrize("place", ["first", "last", "alone"])
def test_variables_without_elements(values: dict[str, Any], place: str) -> None:
    found, wanted = values[f"empty_{place}"]
    assert found == wanted


def test_wrong_checkpoint_names_every_difference(values: dict[str, Any]) -> None:
    for name in ("mismatch", "graph_with_other"):
        kind, text, details = values[name]
        assert kind == "CheckpointMismatchError"
        assert "lacks b" in text and "w ([1, 3] instead of [2, 1])" in text and "beyond the graph extra" in text
        assert "'missing': ('b'" in details and "'extra': ('extra',)" in details
        assert "'shapes': {'w': ((2, 1), (1, 3))}" in details
    kind, text, _ = values["damaged"]
    assert kind == "ModelFileError" and "cannot be read" in text


def test_tables(values: dict[str, Any]) -> None:
    assert values["table"] == [7, -1]
    kind, text, _ = values["table_lost"]
    assert kind == "ModelError" and "hash_table" in text and "inputs=" in text


# ----------------------------------------------------------------------------------------------- threads, memory, pools

_SHARED = (
    _BUILT
    + """
SIZE, LAYERS = 1024, 8  # 32 MB

# Written a layer at a time (messages that follow each other are one), so that no freed memory hides what loading takes.
rng = np.random.RandomState(0)
path = "large.pb"
with open(path, "wb") as file:
    for layer in range(LAYERS):
        with tf.Graph().as_default() as graph:
            x = tf.placeholder(tf.float32, [None, SIZE], name="x")
            weights = rng.randn(SIZE, SIZE).astype("f") / 32
            tf.nn.relu(tf.matmul(x, tf.constant(weights, name=f"w{layer}"), name=f"m{layer}"), name=f"h{layer}")
        part = graph.as_graph_def()
        for node in [node for node in part.node if layer and node.name == "x"]: part.node.remove(node)
        for node in part.node:
            if layer and node.name == f"m{layer}": node.input[0] = f"h{layer - 1}"
        file.write(part.SerializeToString())
del graph, part, weights, node
gc.collect()
x = np.random.RandomState(1).randn(64, SIZE).astype("f")
small = written("small.pb", lambda: tf.add(tf.placeholder(tf.float32, [], name="x"), 1.0, name="y"))
t1.load(small)(x=1.0)  # whatever the first model costs once
gc.collect()
if hasattr(ctypes.CDLL(None), "malloc_trim"):
    ctypes.CDLL(None).malloc_trim(0)  # gives back what was freed
before = anonymous_mb()
model = t1.load(path)
answer = model(x=x)["h7"]
report(loaded=anonymous_mb() - before)
handles = [node.name for node in model.graph.as_graph_def().node if node.op == "VarHandleOp"]
report(variables=len(handles), weight=float(np.std(model.run("w3:0")) * 32))

wrong, threads = [], 16
barrier = threading.Barrier(threads, timeout=60)
def call(number):
    try:
        barrier.wait()
        for _ in range(5):
            got = model(x=x[number : number + 1])["h7"]
            if not np.allclose(got, answer[number : number + 1], atol=1e-5):
                wrong.append(number)
    except BaseException as error:
        wrong.append(repr(error))
several = [threading.Thread(target=call, args=(number,)) for number in range(threads)]
for thread in several: thread.start()
for thread in several: thread.join(100)
report(wrong=wrong, in_threads=anonymous_mb() - before)

tasks = len(os.listdir("/proc/self/task"))
others = [t1.load(small) for _ in range(6)]
report(sums=[float(other(x=float(index))["y"]) for index, other in enumerate(others)],
       more_tasks=len(os.listdir("/proc/self/task")) - tasks)
for other in others: other.close()
model.close()
with tf.Graph().as_default(), tf.Session() as session:
    tf.import_graph_def(tf.GraphDef.FromString(open(path, "rb").read()), name="")
    by_hand = session.run("h7:0", {"x:0": x})
report(difference=float(np.abs(answer - by_hand).max() / np.abs(by_hand).max()))
with t1.load(path, fold_constants=True) as model:
    report(folded=bool(np.allclose(model(x=x)["h7"], by_hand, atol=1e-6)), folded_ops=[
        node.op for node in model.graph.as_graph_def().node if node.op == "VarHandleOp"])
"""
)


@pytest.fixture(scope="module")
def shared(run_python: Callable[..., PythonRun]) -> dict[str, Any]:
    results: dict[str, Any] = run_python(_SHARED, str(GOLDEN), env={"TF_ENABLE_ONEDNN_OPTS": "0"}).results
    return results


def test_a_frozen_graph_costs_its_weights_once(shared: dict[str, Any]) -> None:
    assert shared["variables"] == 8 and abs(shared["weight"] - 1) < 0.01
    assert 16 < shared["loaded"] < 2 * 32  # by hand it is 5 to 8 times
    assert shared["difference"] < 1e-6


def test_threads_share_it(shared: dict[str, Any]) -> None:
    assert shared["wrong"] == []
    assert shared["in_threads"] < shared["loaded"] + 32


def test_models_share_the_pools_of_threads(shared: dict[str, Any]) -> None:
    assert shared["sums"] == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    assert shared["more_tasks"] <= 0


def test_constants_can_be_kept(shared: dict[str, Any]) -> None:
    assert shared["folded"] and shared["folded_ops"] == []
