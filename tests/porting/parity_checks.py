"""What verify() compares, and what it refuses. Run by test_parity.py in one process."""

from __future__ import annotations

import dataclasses
import itertools
import json
import os
import pickle
import shutil
import string
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf2
import tensorflow.compat.v1 as tf
from tensorflow.core.protobuf.saved_model_pb2 import SavedModel

import tf1sessions as t1
from tf1sessions import porting
from tf1sessions.errors import ConversionError, ModelError, UnsafeModelError, UsageError
from tf1sessions.models.interface import TensorSpec
from tf1sessions.porting import Comparison, Tolerance, verify
from tf1sessions.porting.parity import views
from tf1sessions.porting.parity.artifacts import ArtifactSide
from tf1sessions.porting.parity.comparison import Compared
from tf1sessions.porting.parity.html_report import page
from tf1sessions.porting.parity.matching import matched
from tf1sessions.porting.trace_comparison import TraceComparison
from tf1sessions.porting.traces import Summary, read

RECORDED = Path(__file__).resolve().parent.parent / "golden" / "data" / "recorded.npz"
MODELS = Path(__file__).resolve().parent.parent / "golden" / "data" / "models"
OPEN_RANKS = "old_arrays.pbtxt"  # a model that does not take the number of dimensions that is made for it
_numbers = itertools.count()


def written(build: Callable[[], Any]) -> str:
    """The file of a graph that ``build`` makes."""
    with tf.Graph().as_default() as graph:
        build()
    return tf.io.write_graph(graph, ".", f"graph{next(_numbers)}.pb", as_text=False)


def perceptron(scale: float = 1.0, name: str = "x", out: str = "probs") -> Callable[[], Any]:
    def build() -> None:
        x = tf.placeholder(tf.float32, [None, 4], name=name)
        kernel = tf.constant(np.linspace(-1, 1, 20).reshape(4, 5).astype(np.float32) * scale, name="kernel")
        hidden = tf.nn.relu(tf.matmul(x, kernel, name="product"), name="hidden")
        tf.nn.softmax(hidden, name=out)

    return build


def converted(path: str) -> str:
    """A SavedModel of TensorFlow 2, made of an artifact."""
    folder = f"saved{next(_numbers)}"
    module = porting.function(path)
    tf2.saved_model.save(module, folder, signatures=module.export_signatures())
    return folder


def refused(text: str, *sides: Any, **options: Any) -> str:
    """The message with which a comparison is refused."""
    try:
        verify(*sides, **options)
    except (UsageError, ModelError) as error:
        assert text in str(error), str(error)
        return str(error)
    raise AssertionError("it was not refused")


def by_name(found: Comparison) -> dict[str, Compared]:
    return {each.name: each for each in found.tensors}


# ---------------------------------------------------------------------------------------------------------- artifacts


def check_equal_artifacts() -> None:
    path = written(perceptron())
    found = verify(path, path, all_tensors=True)
    assert found.equal and found.first is None
    assert [each.name for each in found.tensors] == ["kernel:0", "product:0", "hidden:0", "probs:0"]
    assert all(each.same for each in (*found.outputs, *found.tensors))
    (given,) = found.inputs
    assert (given.name, given.dtype, given.shape) == ("x", "float32", (3, 4))
    assert given.how == "made: standard normal, seed 0"
    assert str(found).splitlines()[3] == "EQUAL: 1 output and 4 tensors, 5 of them to the bit, on CPU"


def check_where_artifacts_part() -> None:
    found = verify(written(perceptron()), written(perceptron(1.01)), all_tensors=True)
    assert not found.equal and found.first is not None
    assert found.first.tensor.name == "kernel:0"
    assert [each.equal for each in found.tensors] == [False] * 4
    assert "DIFFERENT: of 1 output and 4 tensors, 5 differ by more than is allowed" in str(found)
    assert "they part first at kernel:0 (Const)" in str(found)


def check_inputs_of_the_first_that_parts() -> None:
    def build(axis: int) -> Callable[[], Any]:
        def make() -> None:
            x = tf.placeholder(tf.float32, [None, 4, 4], name="x")
            a, b = tf.tanh(x, name="a"), tf.exp(x, name="b")
            tf.cumsum(tf.add(a, b, name="sum"), axis, name="out")

        return make

    found = verify(written(build(1)), written(build(2)), all_tensors=True)
    assert found.first is not None and found.first.tensor.name == "out/axis:0"
    found = verify(written(build(1)), written(build(2)))
    assert found.first is not None and found.first.tensor.op == "output"
    assert "--all-tensors" in str(found)


def check_only_the_part_that_outputs_need() -> None:
    def build() -> None:
        x = tf.placeholder(tf.float32, [None], name="x")
        tf.placeholder(tf.float32, [], name="unused")
        tf.get_variable("never_initialised", [2])
        tf.square(x, name="y")

    path = written(build)
    found = verify(path, path, all_tensors=True)
    assert found.equal and "y:0" in by_name(found) and "unused:0" not in by_name(found)
    (names,) = [each.names for each in found.left_out if each.why == "of the left side of which no output is made"]
    assert "unused:0" in names


def check_golden_models() -> None:
    """What TensorFlow 1.15.5 wrote, against itself converted: loops, conditions, variables, tables."""
    for name in ("frozen.pb", "training", "recurrent.pb", "tables.pb", "saved_signatures"):
        found = verify(MODELS / name, converted(str(MODELS / name)), all_tensors=True)
        assert found.equal, f"{name}: {found}"
        assert found.tensors and found.right[1] == "SavedModel of TensorFlow 2"
        reasons = " ".join(each.why for each in found.left_out)
        assert ("of the left side in one side of a condition" in reasons) == (name in ("frozen.pb", "training"))
        assert ("of the left side in the body of a loop" in reasons) == (name == "recurrent.pb")
        assert ("of the right side in functions of loops" in reasons) or name != "recurrent.pb"


def check_tables_of_a_saved_model_of_tensorflow_2() -> None:
    """Its own vocabulary may be read; another file, by whatever way the function that fills a table gets it, not."""
    path = converted(str(MODELS / "saved_main_op"))
    assert verify(MODELS / "saved_main_op", path).equal
    model = SavedModel()
    model.ParseFromString(Path(path, "saved_model.pb").read_bytes())
    filler = next(name for name in model.meta_graphs[0].object_graph_def.concrete_functions if "initializer" in name)

    def variable_instead(graph: Any) -> None:
        objects = graph.object_graph_def
        objects.concrete_functions[filler].bound_inputs[0] = next(
            index for index, node in enumerate(objects.nodes) if node.WhichOneof("kind") == "variable"
        )

    def not_bound(graph: Any) -> None:
        del graph.object_graph_def.concrete_functions[filler].bound_inputs[0]

    def called_by_another(graph: Any) -> None:
        other = next(each for each in graph.graph_def.library.function if each.signature.name != filler)
        other.node_def.add(name="call", op="StatefulPartitionedCall").attr["f"].func.name = filler

    def another_file(graph: Any) -> None:
        body = next(each for each in graph.graph_def.library.function if each.signature.name == filler)
        table = next(node for node in body.node_def if "InitializeTable" in node.op)
        table.input[1] = "path:output:0"
        constant = body.node_def.add(name="path", op="Const")
        constant.attr["dtype"].type = tf.string.as_datatype_enum
        constant.attr["value"].tensor.CopyFrom(tf.make_tensor_proto("/etc/hostname"))

    for change in (variable_instead, not_bound, called_by_another, another_file):
        changed = SavedModel()
        changed.CopyFrom(model)
        change(changed.meta_graphs[0])
        Path(path, "saved_model.pb").write_bytes(changed.SerializeToString())
        try:
            verify(MODELS / "saved_main_op", path)
        except UnsafeModelError as error:
            assert "--allow-op InitializeTableFromTextFileV2" in str(error), error
        else:
            raise AssertionError(change.__name__)


def check_models_whose_outputs_wait_for_a_queue() -> None:
    """Nobody could fill it: refused, where TensorFlow waits for ever. A queue that the model fills is none such."""

    def served(output: Callable[[Any, Any], Any]) -> str:
        folder = f"served{next(_numbers)}"
        with tf.Graph().as_default(), tf.Session() as session:
            x = tf.placeholder(tf.float32, [2], name="x")
            y = tf.identity(output(x, tf.FIFOQueue(5, tf.float32, [[2]], name="queue")), name="y")
            tf.saved_model.simple_save(session, folder, {"x": x}, {"y": y})
        return folder

    def filled(x: Any, queue: Any) -> Any:
        with tf.control_dependencies([queue.enqueue([x])]):
            return queue.dequeue()

    def closed_in_a_branch(x: Any, queue: Any) -> Any:
        return tf.cond(tf.reduce_sum(x) > 1e9, queue.dequeue, lambda: x)

    path = served(lambda x, queue: x + queue.dequeue(name="take"))
    said = refused("the signature 'serving_default' waits for 'take' (QueueDequeueV2)", path, path)
    assert path in said and "--input take:0" in said
    for output in (filled, closed_in_a_branch):
        path = served(output)
        assert verify(path, path).equal, output
    try:
        porting.convert(served(lambda x, queue: x + queue.dequeue(name="take")), f"out{next(_numbers)}")
    except ConversionError as error:
        assert "'take'" in str(error) and "inputs=['take:0']" in str(error), error
    else:
        raise AssertionError("it was not refused")


def check_a_damaged_saved_model_of_tensorflow_2() -> None:
    """Whatever TensorFlow makes of its files: one error that names the model, at once."""
    whole = converted(written(perceptron()))
    values, index = ("variables/variables.data-00000-of-00001", "variables/variables.index")

    def flipped(file: Path) -> None:
        data = file.read_bytes()
        file.write_bytes(bytes([data[0] ^ 1]) + data[1:])

    def emptied(file: Path) -> None:
        file.write_bytes(b"")

    def a_pipe(file: Path) -> None:
        file.unlink()
        os.mkfifo(file)

    def objects_that_are_not_there(file: Path) -> None:
        model = SavedModel()
        model.ParseFromString(file.read_bytes())
        for node in model.meta_graphs[0].object_graph_def.nodes:
            for child in node.children:
                child.node_id = 10**6
        file.write_bytes(model.SerializeToString())

    changes = itertools.product((flipped, emptied, a_pipe, Path.unlink), (values, index))
    for change, name in (*changes, (a_pipe, "fingerprint.pb"), (objects_that_are_not_there, "saved_model.pb")):
        damaged = f"damaged{next(_numbers)}"
        shutil.copytree(whole, damaged)
        change(Path(damaged, name))
        assert damaged in refused("", whole, damaged), (change, name)


def check_blocks() -> None:
    """A graph of more tensors than are fetched at once, by their number or by their size."""

    def build() -> None:
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        for index in range(30):
            x = tf.identity(x + 1.0, name=f"step{index}")

    path = written(build)
    sizes = []
    for most, most_bytes in ((20, 1 << 20), (1000, 100)):
        usual = views._MOST, views._MOST_BYTES
        views._MOST, views._MOST_BYTES = most, most_bytes
        try:
            with t1.load(path) as model:
                view = ArtifactSide(model, path).view
                assert view is not None
                sizes.append([len(each) for each in views.blocks(list(view.tensors), view, 3)])
            found = verify(path, path, all_tensors=True)
        finally:
            views._MOST, views._MOST_BYTES = usual
        names = [each.name for each in found.tensors if each.name.startswith("step")]
        assert names == [f"step{index}:0" for index in range(30)] and found.equal
    assert sizes[0] == [20, 20, 20, 20, 10] and sizes[1][-3:] == [2, 2, 2], sizes


def check_tensors_that_cannot_be_had() -> None:
    """One whose operation fails takes none of the others with it."""
    fetch = ArtifactSide.fetch

    def fails(self: ArtifactSide, names: Any, given: Any) -> list[Any]:
        if "hidden:0" in names:
            raise tf.errors.InvalidArgumentError(None, None, "not today")
        return fetch(self, names, given)

    ArtifactSide.fetch = fails  # type: ignore[method-assign]
    try:
        path = written(perceptron())
        found = verify(path, path, all_tensors=True)
    finally:
        ArtifactSide.fetch = fetch  # type: ignore[method-assign]
    assert [each.name for each in found.tensors] == ["kernel:0", "product:0", "probs:0"]
    left_out = {each.why: each.names for each in found.left_out}
    assert left_out["which TensorFlow could not give"] == ("hidden:0",)


# ------------------------------------------------------------------------------------------- functions of TensorFlow 2


def check_names_inside_of_a_saved_model() -> None:
    path = written(perceptron())
    found = verify(path, converted(path), all_tensors=True)
    assert found.equal and {"product:0", "hidden:0", "probs:0"} <= by_name(found).keys()
    assert by_name(found)["product:0"].op == "MatMul"
    other = verify(written(perceptron(1.01)), converted(path), all_tensors=True)
    assert other.first is not None and other.first.tensor.name in ("kernel:0", "product:0")


def check_functions_in_functions() -> None:
    """Calls of calls are written out, with what they wait for; names that are taken get the call's before them."""
    log = tf2.Variable(0.0)

    @tf2.function
    def inner(x: Any) -> Any:
        log.assign_add(1.0)
        return tf2.raw_ops.Mul(x=x, y=log.read_value(), name="twice")

    @tf2.function
    def outer(x: Any) -> dict[str, Any]:
        return {"y": inner(x) + inner(x)}

    concrete = outer.get_concrete_function(tf2.TensorSpec([2], tf2.float32, name="x"))
    found = verify(concrete, concrete, inputs={"x": [1, 2]}, all_tensors=True)
    names = [each.name for each in found.tensors]
    assert "twice:0" in names and sum(name.endswith("/twice:0") for name in names) == 1
    assert not found.equal  # the variable counts


def check_converted_module() -> None:
    path = written(perceptron())
    found = verify(path, porting.function(path), all_tensors=True)
    assert found.equal and found.right[1] == "converted model" and len(found.tensors) >= 3


def check_loaded_objects() -> None:
    path = written(perceptron())
    with t1.load(path) as model:
        assert verify(model, tf2.saved_model.load(converted(path))).equal
        assert not model.closed


def check_dtype_of_an_output() -> None:
    x = np.arange(3, dtype=np.float32)
    found = verify(lambda x: x, lambda x: x.astype(np.float64), inputs={"x": x})
    assert not found.equal and found.outputs[0].problem == "dtype float32 against float64"
    assert found.first is not None and found.first.causes[0].rule == "dtype"
    allowed = [Tolerance(other_dtype=True, reason="Keras counts in 64 bits")]
    assert verify(lambda x: x, lambda x: x.astype(np.float64), inputs={"x": x}, tolerances=allowed).equal


# -------------------------------------------------------------------------------------------------------- callables


def check_callables() -> None:
    path = written(perceptron())
    with t1.load(path) as model:
        expected = model(x=np.ones((2, 4), np.float32))["probs"]
    ones = {"x": np.ones((2, 4), np.float32)}

    def by_keyword(x: Any) -> Any:
        return {"probs": expected}

    def by_position(batch: Any) -> Any:
        assert batch.shape == (2, 4)
        return [expected]

    for function in (by_keyword, by_position, lambda **given: expected if "x" in given else None):
        found = verify(path, function, inputs=ones)
        assert found.equal and found.right[1] == "Python function", found
    found = verify(path, by_keyword, all_tensors=True)
    assert any("only outputs were compared" in note for note in found.notes)


def check_callables_that_change_their_inputs() -> None:
    """The other side, and the caller, have what was given."""
    path = written(perceptron())
    ones = np.ones((2, 4), np.float32)

    def changes(x: Any) -> Any:
        x *= 0
        with t1.load(path) as model:
            return model(x=x)["probs"]

    for sides in ((changes, path), (path, changes)):
        assert not verify(*sides, inputs={"x": ones}).equal
    assert ones.all()


def check_callables_that_return_what_tensorflow_does_not_have() -> None:
    path = written(perceptron())

    class Odd:
        def __array__(self, *_: Any, **__: Any) -> Any:
            raise RuntimeError("no array")

    for value in (np.zeros(3, "M8[s]"), np.zeros(3, [("a", "f4")])):
        refused("'output_0' has the dtype", path, lambda x, value=value: value)
    refused("raised RuntimeError: no array", path, lambda x: Odd())


def check_keras_model() -> None:
    kernel = np.linspace(-1, 1, 20).reshape(4, 5).astype(np.float32)
    layers = [
        tf2.keras.layers.Dense(5, activation="relu", use_bias=False),
        tf2.keras.layers.Dropout(0.5),
        tf2.keras.layers.Softmax(),
    ]
    model = tf2.keras.Sequential([tf2.keras.Input([4]), *layers])
    model.layers[0].set_weights([kernel])
    found = verify(written(perceptron()), model)
    assert found.equal and found.right[1] == "Keras model", str(found)
    model.layers[0].set_weights([kernel * 2])
    assert not verify(written(perceptron()), model).equal


def check_function_in_a_file() -> None:
    Path("predicting.py").write_text(
        "import numpy as np\n"
        "def predict(x):\n    e = np.exp(np.maximum(x @ np.linspace(-1, 1, 20).reshape(4, 5).astype('f'), 0))\n"
        "    return e / e.sum(-1, keepdims=True)\n"
        "names = 3\n",
        "utf-8",
    )
    path = written(perceptron())
    before = list(sys.path)
    assert verify(path, "predicting.py:predict").equal
    assert verify(path, "predicting:predict").equal
    assert sys.path == before
    (folder := Path("late")).mkdir()
    (folder / "late_helper.py").write_text(Path("predicting.py").read_text("utf-8"), "utf-8")
    (folder / "late.py").write_text("def predict(x):\n    import late_helper\n    return late_helper.predict(x)\n")
    assert verify(path, "late/late.py:predict").equal and sys.path == before
    message = refused("predicting.py has no function 'names'", path, "predicting.py:names")
    assert "It has predict" in message
    refused("there is no file 'missing.py'", path, "missing.py:predict")
    refused("there is no module 'missing_module'", path, "missing_module:predict")


def check_code_of_the_user_that_raises() -> None:
    """Also `sys.exit(0)`, which would be a comparison of which all was equal."""
    path = written(perceptron())
    ends = {
        "exits": "import sys\nsys.exit(0)\n",
        "raises": "raise KeyError('mine')\n",
        "imports": "import gone_module\n",
    }
    for name, text in ends.items():
        Path(f"{name}.py").write_text(text + "def predict(x): return x\n", "utf-8")
        for side in (f"{name}.py:predict", f"{name}:predict"):
            message = refused(f"{side.partition(':')[0]} raised ", path, side)
            assert f"{name}.py:" in message and "when it was imported" in message and '"__main__"' in message
        body = "".join(f"    {line}\n" for line in text.splitlines())
        Path(f"{name}_later.py").write_text(f"def predict(x):\n{body}", "utf-8")
        message = refused(f"{name}_later.py:predict raised ", path, f"{name}_later.py:predict")
        assert f"{name}_later.py:" in message and "--inputs" in message


# ------------------------------------------------------------------------------------------------------------ inputs


def check_given_inputs() -> None:
    path = written(perceptron())
    np.savez("data.npz", x=np.ones((2, 4), np.float64))
    found = verify(path, path, inputs="data.npz")
    assert found.inputs[0].how == "given by data.npz" and found.inputs[0].dtype == "float32"
    assert verify(path, path, inputs={"x:0": np.ones((2, 4), np.int32)}).inputs[0].how == "given"
    refused("input 'x' has the shape [2, 5], and [?, 4] is needed", path, path, inputs={"x": np.ones((2, 5))})
    refused("there is no input 'z'", path, path, inputs={"z": 1.0})
    refused("input 'x' has the dtype string, and float32 is needed", path, path, inputs={"x": [["a"] * 4]})
    refused("No such file", path, path, inputs="missing.npz")
    Path("text.npz").write_text("no archive", "utf-8")
    refused("text.npz", path, path, inputs="text.npz")
    for name, size in (("text.npz", 100), ("cut.npz", os.path.getsize("data.npz") // 2)):
        Path(name).write_bytes(Path("data.npz").read_bytes()[:size])
        refused(name, path, path, inputs=name)
    os.mkfifo("pipe.npz")  # nothing writes into it
    refused("'pipe.npz' cannot be read: it is not a regular file", path, path, inputs="pipe.npz")
    with zipfile.ZipFile("vast.npz", "w") as archive, archive.open("x.npy", "w") as member:
        np.lib.format.write_array_header_1_0(member, {"descr": "<f4", "fortran_order": False, "shape": (10**14, 3)})
    refused("'vast.npz' cannot be read", path, path, inputs="vast.npz")
    with zipfile.ZipFile("void.npz", "w") as archive, archive.open("x.npy", "w") as member:
        np.lib.format.write_array_header_1_0(member, {"descr": "|S0", "fortran_order": False, "shape": (2**40,)})
    refused("'void.npz' cannot be read: x claims 1099511627776 elements", path, path, inputs="void.npz")
    np.savez("twice.npz", **{"x": np.ones((2, 4)), "x:0": np.zeros((2, 4))})
    refused("the input 'x' is given twice, once as 'x:0'", path, path, inputs="twice.npz")
    np.save("one.npy", np.ones(3))
    refused("one.npy is one array", path, path, inputs="one.npy")


def check_numbers_that_do_not_fit() -> None:
    def build() -> None:
        tf.identity(tf.placeholder(tf.uint8, [None], name="x"), name="y")

    path = written(build)
    assert verify(path, path, inputs={"x": [1, 255]}).equal
    refused("input 'x' has the dtype int64, and uint8 is needed", path, path, inputs={"x": [-1, 255]})
    assert verify(path, path, inputs={"x": [True]}).equal
    refused("input 'x' has the dtype int64, and uint8 is needed", path, path, inputs={"x": [1, 256]})
    refused("input 'x' has the dtype float64, and uint8 is needed", path, path, inputs={"x": [0.5]})


def check_inputs_that_are_too_large_to_be_made() -> None:
    def build() -> None:
        tf.identity(tf.placeholder(tf.uint8, [2**15 + 1, 2**15], name="x"), name="y")

    path = written(build)
    refused("input 'x' has the shape [32769, 32768], which is more than 1 GiB", path, path)


def check_made_inputs_fit_what_takes_them() -> None:
    def build() -> None:
        ids = tf.placeholder(tf.int64, [None, None], name="ids")
        classes = tf.placeholder(tf.int32, [None], name="classes")
        count = tf.placeholder(tf.int32, [], name="count")
        images = tf.placeholder(tf.float32, [None, None, None, 3], name="images")
        is_training = tf.placeholder(tf.bool, [], name="is_training")
        mask = tf.placeholder(tf.bool, [None], name="mask")
        words = tf.placeholder(tf.string, [None], name="words")
        keep = tf.placeholder(tf.float32, [], name="keep_prob")
        table = tf.constant(np.ones((7, 2), np.float32), name="table")
        a = tf.reduce_sum(tf.gather(table, tf.reshape(tf.cast(ids, tf.int32), [-1])), name="a")
        b = tf.one_hot(classes, 3, name="b")
        c = tf.nn.conv2d(images, np.ones((3, 3, 3, 2), np.float32), 2, "SAME", name="c")
        d = tf.strings.length(words, name="d")
        e = tf.cond(is_training, lambda: keep * 2, lambda: keep, name="e")
        f = tf.cast(mask, tf.float32, name="f")
        g = tf.range(count, name="g")
        for each in (a, b, c, d, e, f, g):
            tf.identity(each, name=f"out_{each.op.name.partition('/')[0]}")

    path = written(build)
    with t1.load(path, outputs=[f"out_{name}" for name in "abcdefg"]) as model:
        found = verify(model, model, seed=4)
        again = verify(model, model, seed=4)
    assert found.equal and found.inputs == again.inputs
    how = {each.name: each for each in found.inputs}
    assert how["ids"].shape == (3, 5) and "whole numbers below 7, for GatherV2" in how["ids"].how
    assert "whole numbers below 3, for OneHot b" in how["classes"].how
    assert "nothing says" in how["count"].how
    assert how["images"].shape == (3, 64, 64, 3)
    assert how["is_training"].how.startswith("made: False")
    assert how["keep_prob"].how.startswith("made: 1,")
    assert "words" in how["words"].how and "seed 4" in how["mask"].how


def check_what_a_model_does_not_take() -> None:
    def build() -> None:
        tf.strings.to_number(tf.placeholder(tf.string, [], name="x"))

    path = written(build)
    message = refused("failed with these inputs: StringToNumberOp could not correctly convert string", path, path)
    assert "Give values that it takes for x: --inputs data.npz" in message
    refused("failed with these inputs: the model does not take this number of dimensions", *[MODELS / OPEN_RANKS] * 2)


# ---------------------------------------------------------------------------------------------------------- matching


def check_names_that_differ() -> None:
    left, right = written(perceptron()), written(perceptron(name="batch", out="scores"))
    found = verify(left, right)
    assert (found.inputs[0].other, found.outputs[0].other) == ("batch", "scores") and found.equal


def check_a_name_counts_more_than_the_name_of_a_tensor() -> None:
    """Tensors that TensorFlow named itself, Identity and Identity_1, are others in another graph."""

    def specs(names: str) -> dict[str, TensorSpec]:
        return {
            name: TensorSpec(name, f"Identity_{number}:0", tf.float32, tf.TensorShape([None]))
            for number, name in enumerate(names)
        }

    letters = string.ascii_lowercase  # many: with few, chance could do without the rule
    left, right = specs(letters), specs(letters[::-1])
    assert matched(left, right, "output", {}, ("left", "right")) == {name: name for name in left}
    others = {name.upper() + "x": spec for name, spec in left.items()}
    assert matched(left, others, "output", {}, ("left", "right")) == {name: name.upper() + "x" for name in left}


def two(a: str, b: str) -> str:
    def build() -> None:
        x, y = (tf.placeholder(tf.float32, [None], name=name) for name in (a, b))
        tf.subtract(x, y, name="difference")

    return written(build)


def check_names_that_must_be_given() -> None:
    message = refused("the inputs of the two sides do not match", two("a", "b"), two("c", "d"))
    assert "'a' float32 (?,), 'b' float32 (?,)" in message and "--map a=c" in message
    assert verify(two("a", "b"), two("c", "d"), names={"a": "c", "b": "d"}).equal
    assert not verify(two("a", "b"), two("c", "d"), names={"a": "d"}).equal
    found = verify(two("a", "b"), two("b", "a"), inputs={"a": [1.0], "b": [3.0]})
    assert not found.equal and [each.other for each in found.inputs] == ["a", "b"]


def check_other_number_of_inputs() -> None:
    refused("the inputs of the two sides do not match", two("a", "b"), written(perceptron()))
    refused("neither <lambda> nor <lambda> says", lambda x: x, lambda x: x)


def check_outputs_of_one_side_only() -> None:
    """LEFT is the reference: what RIGHT lacks of it makes the two unequal, unless other outputs are asked for."""
    both, one = lambda x: {"a": x, "b": x}, lambda x: {"a": x}
    found = verify(both, one, inputs={"x": [1.0]})
    assert not found.equal and found.missing == ("b",) and found.as_dict()["equal"] is False
    assert "INCOMPLETE: the right side lacks the output b; 1 output equal" in str(found), str(found)
    assert any("--output a" in note for note in found.notes), found.notes
    chosen = verify(both, one, inputs={"x": [1.0]}, outputs=["a"])
    assert chosen.equal and not chosen.missing and "EQUAL: 1 output" in str(chosen)
    lost = verify(both, one, inputs={"x": [1.0]}, names={"b": "a"}, outputs=["b"])
    assert lost.equal and [(each.name, each.other) for each in lost.outputs] == [("b", "a")]
    refused("has no output 'c'", both, one, inputs={"x": [1.0]}, outputs=["c"])
    more = verify(one, both, inputs={"x": [1.0]})
    assert more.equal and any("only the right side has the output b" in note for note in more.notes)
    refused(
        "the outputs of the two sides do not match",
        lambda x: {"a": x, "b": x},
        lambda x: {"c": x, "d": x},
        inputs={"x": [1.0]},
    )


# ---------------------------------------------------------------------------------------------------------- outcomes


def check_tolerances_are_reported() -> None:
    x = np.linspace(1, 2, 5, dtype=np.float32)
    found = verify(lambda x: x, lambda x: x + np.float32(0.01), inputs={"x": x})
    assert not found.equal
    own = [{"op": "output", "dtype": "float32", "absolute": 0.02, "reason": "a rough model"}]
    found = verify(lambda x: x, lambda x: x + np.float32(0.01), inputs={"x": x}, tolerances=own)
    assert found.equal
    (use,) = found.tolerances
    assert use.tolerance.reason == "a rough model" and 0.45 < use.share < 0.55
    assert "op output, dtype float32: 0.02 [tolerances=, record 1; a rough model]; 1 used it" in str(found)


def check_outputs_below_the_tolerance_are_compared_relatively() -> None:
    def scaled(factor: float) -> Any:
        return lambda x: np.float32(factor) * x

    x = np.linspace(0.5, 1.0, 6, dtype=np.float32)
    assert verify(scaled(1e-6), scaled(1.000001e-6), inputs={"x": x}).equal
    found = verify(scaled(1e-6), scaled(-1e-6), inputs={"x": x})
    assert not found.equal and "further apart than 1e-05 of the value" in str(found), found
    assert verify(scaled(1e-6), scaled(-1e-6), inputs={"x": x}, tolerances=[Tolerance(absolute=1e-5)]).equal
    mixed = np.array([1e-6, 1.0], np.float32)
    assert verify(lambda x: x * mixed, lambda x: x * mixed + np.float32(1e-6), inputs={"x": np.float32(1)}).equal


def check_tolerance_is_inherited() -> None:
    """What is made of a sum that was rounded otherwise need not be equal to the bit."""

    def build(more: float) -> Callable[[], Any]:
        def make() -> None:
            x = tf.placeholder(tf.float32, [None, 4], name="x")
            product = tf.matmul(x + more, np.eye(4, dtype=np.float32), name="product")
            tf.nn.relu(product, name="hidden")

        return make

    loose = [Tolerance(op="Const AddV2 MatMul", absolute=1e-3)]
    found = verify(written(build(0.0)), written(build(5e-4)), all_tensors=True, tolerances=loose)
    assert by_name(found)["hidden:0"].inherited and found.tensors[-1].name == "hidden:0"
    assert all(each.equal for each in found.tensors), str(found)


def check_shapes_that_differ() -> None:
    found = verify(lambda x: x, lambda x: x[:1], inputs={"x": np.ones((2, 3))})
    assert found.outputs[0].problem == "shape [2, 3] against [1, 3]" and not found.equal


def check_nan_on_both_sides() -> None:
    x = np.array([1.0, np.nan], np.float32)
    found = verify(lambda x: x, lambda x: x + 0, inputs={"x": x})
    assert found.equal and "1 NaN on both sides" in str(found)


def check_strings_and_integers() -> None:
    found = verify(lambda x: np.array([b"a", b"b"]), lambda x: np.array(["a", "b"]), inputs={"x": 1.0})
    assert found.equal and found.outputs[0].dtype == "string"
    found = verify(lambda x: np.array([1, 2]), lambda x: np.array([1, 3]), inputs={"x": 1.0})
    assert not found.equal and found.outputs[0].problem == "1 of 2 elements are further apart than equal"


def check_random_operations_are_reported() -> None:
    def build() -> None:
        x = tf.placeholder(tf.float32, [None, 50], name="x")
        tf.nn.dropout(x, rate=0.5, name="dropped")

    path = written(build)
    found = verify(path, path)
    assert any("draws random numbers (dropped/random_uniform/RandomUniform)" in note for note in found.notes)
    assert not found.equal and found.first is not None
    assert "random numbers" in [cause.rule for cause in found.first.causes]


def check_record() -> None:
    found = verify(written(perceptron()), written(perceptron(1.01)), all_tensors=True)
    assert pickle.loads(pickle.dumps(found)) == found
    assert str(pickle.loads(pickle.dumps(found))) == str(found)
    record = json.loads(found.to_json())
    assert record["equal"] is False and record["first"]["tensor"]["name"] == "kernel:0"
    assert [each["equal"] for each in record["tensors"]] == [False] * 4
    assert record["tensors"][0]["difference"]["share"] == "inf"
    assert dataclasses.is_dataclass(found)


def check_paths_that_lead_nowhere() -> None:
    path = written(perceptron())
    refused("there is no model at", path, "no/such/model")
    refused("there is no model at", "no/such/model", path)
    refused("there is no signature 'other'", path, path, signature="other")
    refused("3 cannot be compared", path, 3)
    refused("has no signature 'other'", converted(path), path, signature="other")
    refused("given is for a recording and a script", path, path, given=["seeds"])


# --------------------------------------------------------------------------------------------------------- recordings


def check_two_recordings() -> None:
    """All calls of them are compared; the page has a point for each."""
    found = verify(RECORDED, RECORDED)
    assert isinstance(found, TraceComparison) and found.equal and found.same
    data = json.loads(page(found).partition('id="data">')[2].partition("</script>")[0])
    assert data["equal"] and data["points"] and len(data["rows"]) == len(data["names"]) == len(found.tensors)
    assert data["axis"] == "calls of the left side" and data["marked"] is None


def check_recording_against_a_function() -> None:
    """The last call that was fed and fetched something; what was fed there is the input."""
    with read(RECORDED) as trace:
        call = [each for each in trace.calls if each.kind.feeds and each.kind.fetches and not each.error][-1]
        step = trace.step(call)
    fetched = {name: value for name, value in step.fetches.items() if not isinstance(value, Summary)}
    given = []

    def again(inputs: dict[str, Any]) -> dict[str, Any]:
        given.append(inputs)
        return fetched

    found = verify(RECORDED, again)
    assert found.equal and found.left[1] == "recording of TensorFlow 1.15.5", str(found)
    assert any(f"call {call.number}" in note for note in found.notes)
    assert all("the recording" in each.how for each in found.inputs) and given
    changed = {name: value + 1 if value.dtype.kind == "f" else value for name, value in fetched.items()}
    assert not verify(RECORDED, lambda inputs: changed).equal


def check_recording_without_such_a_call() -> None:
    refused("no call of the recording", written(perceptron(out="not_recorded")), RECORDED)


def check_examples_are_made() -> None:
    """With what the graph parses: of each kind of operation, of dense, sparse and open features."""

    def build() -> None:
        text = tf.placeholder(tf.string, [None], name="examples")
        old = {
            "ids": tf.VarLenFeature(tf.int64),
            "size": tf.FixedLenFeature([2, 2], tf.float32),
            "words": tf.FixedLenSequenceFeature([2], tf.string, allow_missing=True),
        }
        parsed = tf.parse_example(text, old)
        table = tf.constant(np.eye(7, dtype=np.float32), name="table")
        rows = tf.reduce_sum(tf.gather(table, parsed["ids"].values))
        several = tf.identity(tf.reduce_sum(parsed["size"]) + rows, "several")
        one = tf.parse_single_example(tf.identity(text[0]), {"class": tf.FixedLenFeature([], tf.int64)})
        tf.add(several, tf.gather(table, one["class"])[0], name="out")
        tf.identity(parsed["words"], name="strings")

    found = verify(written(build), written(build))
    assert found.equal and "examples, of 4 features" in found.inputs[0].how, found.inputs
