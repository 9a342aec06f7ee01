"""Models of the goldens converted, loaded by plain TensorFlow 2, trained on. Run by test_export.py in one process."""

from __future__ import annotations

import os
import resource
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

import tf1sessions as t1
from tf1sessions.errors import ConversionError, ModelError, UsageError
from tf1sessions.porting import Conversion, convert, export, reference_values, verify
from tf1sessions.runtime import tf as raw

MODELS = Path(__file__).resolve().parent.parent / "golden" / "data" / "models"
v1 = tf.compat.v1
IMAGES = np.random.RandomState(0).randn(5, 4, 4, 1).astype(np.float32)


@contextmanager
def folder() -> Iterator[Path]:
    """An empty folder; nothing but what the check made may be in it, hidden or not."""
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def converted(source: Any, out: Path, **options: Any) -> Conversion:
    found = convert(source, out, **options)
    assert isinstance(found, Conversion)
    return found


def raised(error: type[Exception], call: Callable[[], Any]) -> str:
    try:
        call()
    except error as caught:
        return str(caught)
    raise AssertionError("nothing was raised")


def random_net() -> Any:
    """A builder with a loop, a random number, a variable that is not trained, and a table."""
    x = v1.placeholder(tf.float32, [None, 3], name="x")
    w = v1.get_variable("w", [3, 3], initializer=v1.random_normal_initializer())
    v1.get_variable("unused", [1])
    _, y = v1.while_loop(lambda i, _: i < 3, lambda i, each: (i + 1, tf.matmul(each, w)), [0, x])
    return {"x": x}, {"y": y, "noise": tf.random.uniform([2])}


# ------------------------------------------------------------------------------------------------------------- written


def check_a_vocabulary_that_no_table_can_hold() -> None:
    """A line that is there twice, none, other bytes: refused with the name of the table, as load() refuses it."""
    for text in (b"a\nb\na\n", b"", b"\xff\x00\n\xff\x00\n"):
        with folder() as here:
            shutil.copytree(MODELS / "saved_main_op", here / "model")
            (vocabulary,) = (here / "model" / "assets").iterdir()
            vocabulary.write_bytes(text)
            raised(ModelError, lambda: t1.load(here / "model")())
            assert "the table" in raised(ConversionError, lambda: convert(here / "model", here / "out")), text
            assert os.listdir(here) == ["model"]


def check_names_that_differ_in_capitals_alone() -> None:
    """A graph takes them for equal, and so does a SavedModel of its inputs: each gets a name of its own."""
    with folder() as here:
        with v1.Graph().as_default(), v1.Session() as session:
            inputs = {name: v1.placeholder(tf.float32, [None], name=f"in_{name}") for name in ("X", "x", "x_1")}
            outputs = {"Y": inputs["X"] * 2.0, "y": inputs["x"] * 3.0, "z": inputs["x_1"] * 5.0}
            v1.saved_model.simple_save(session, str(here / "model"), inputs, outputs)
        converted(here / "model", here / "out")
        function = tf.saved_model.load(str(here / "out")).signatures["serving_default"]
        names = sorted(function.structured_input_signature[1])
        assert names == ["X", "x_1", "x_2"]
        given = function(X=tf.constant([1.0]), x_1=tf.constant([1.0]), x_2=tf.constant([1.0]))
        assert {name: float(value[0]) for name, value in given.items()} == {"Y": 2.0, "y": 3.0, "z": 5.0}
        found = verify(here / "model", here / "out", names={"x": "x_2"})
        assert found.equal and [each.other for each in found.inputs] == ["X", "x_2", "x_1"], found


def check_functions_that_do_not_fit_each_other() -> None:
    """TensorFlow writes them, and cannot load them."""
    graph_def = v1.GraphDef.FromString((MODELS / "control_flow_v2.pb").read_bytes())
    branch = next(each for each in graph_def.library.function if each.signature.name.startswith("cond_false"))
    del branch.signature.input_arg[:]
    with folder() as here:
        (here / "model.pb").write_bytes(graph_def.SerializeToString())
        text = raised(ConversionError, lambda: convert(here / "model.pb", here / "out"))
        assert "TensorFlow cannot load what was written" in text, text
        assert os.listdir(here) == ["model.pb"]


def check_nodes_that_are_damaged() -> None:
    """An input without a type, and an array whose elements have another shape where they are read."""

    def input_of(graph_def: Any) -> Any:
        return next(node for node in graph_def.node if node.op == "Placeholder").attr["dtype"]

    def elements_of(graph_def: Any) -> Any:
        node = next(node for node in graph_def.node if node.op == "TensorArrayGatherV3")
        return node.attr["element_shape"]

    damages: dict[str, tuple[Callable[[Any], Any], dict[str, Any], str]] = {
        "functions.pb": (input_of, {"type": 0}, "the dtype of 'x:0' cannot be determined"),
        "recurrent.pb": (elements_of, {"shape": raw.TensorShape([None, 77]).as_proto()}, "are not compatible"),
    }
    for name, (attribute_of, damage, words) in damages.items():
        graph_def = v1.GraphDef.FromString((MODELS / name).read_bytes())
        attribute_of(graph_def).CopyFrom(v1.AttrValue(**damage))
        with folder() as here:
            (here / "model.pb").write_bytes(graph_def.SerializeToString())
            text = raised(ConversionError, lambda: convert(here / "model.pb", here / "out"))
            assert words in text, text
            assert os.listdir(here) == ["model.pb"]


def check_a_frozen_graph() -> None:
    with folder() as here:
        found = converted(MODELS / "frozen.pb", here / "out")
        assert found.written and found.proof is not None
        assert dict(found.proof.differences) == {"serving_default: probabilities": 0.0}
        assert {each.made_of for each in found.variables} == {"constant"}
        assert os.listdir(here) == ["out"]
        loaded = tf.saved_model.load(str(here / "out"))
        with t1.load(MODELS / "frozen.pb") as model:
            expected = model(images=IMAGES)["probabilities"]
        given = loaded.signatures["serving_default"](images=tf.constant(IMAGES))
        np.testing.assert_array_equal(given["probabilities"], expected)
        names = sorted(each.name for each in found.variables if each.trainable)
        assert sorted(each.name.removesuffix(":0") for each in loaded.trainable_variables) == names and len(names) == 6
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(loaded(images=tf.constant(IMAGES))["probabilities"][:, 0])
        gradients = tape.gradient(loss, loaded.trainable_variables)
        assert all(each is not None for each in gradients)
        before = float(loss)
        for variable, gradient in zip(loaded.trainable_variables, gradients, strict=True):
            variable.assign_sub(0.1 * tf.convert_to_tensor(gradient))
        assert float(tf.reduce_sum(loaded(images=tf.constant(IMAGES))["probabilities"][:, 0])) < before


def check_a_training_graph() -> None:
    with folder() as here:
        found = converted(MODELS / "training", here / "out", train=True)
        assert list(found.functions) == ["update", "train"] and "runs step" in found.functions["train"]
        assert "global_step" in {each.name for each in found.variables}
        assert found.proof is not None and list(found.proof.not_compared) == ["update", "train"]
        loaded = tf.saved_model.load(str(here / "out"))
        step = loaded.by_name["global_step"]
        given = {"images": tf.constant(IMAGES), "labels": tf.constant([0, 1, 2, 0, 1], tf.int64)}
        kernel, at = loaded.by_name["logits/kernel"].numpy(), int(step)
        loaded.train(**given)
        loaded.signatures["train"](**given)
        assert int(step) == at + 2 and not np.array_equal(kernel, loaded.by_name["logits/kernel"])
        mean = loaded.by_name["norm/moving_mean"].numpy()
        loaded.update(images=given["images"], training=tf.constant(True))
        assert not np.array_equal(mean, loaded.by_name["norm/moving_mean"])


def check_without_train_it_is_reported() -> None:
    with folder() as here:
        found = converted(MODELS / "training", here / "out", dry_run=True)
        reported = "\n".join(found.left_out)
        assert list(found.functions) == ["update"]
        assert "1 variable that no signature or function needs: global_step" in reported
        assert "the training step (6 updates of variables): --train" in reported
        assert "2 operations for summaries" in reported and "savers" in reported


def check_all_signatures_or_one() -> None:
    with folder() as here:
        every = converted(MODELS / "saved_signatures", here / "all")
        one = converted(MODELS / "saved_signatures", here / "one", signature="classify")
        assert [each.name for each in every.signatures] == ["classify", "regress", "serving_default"]
        assert sorted(tf.saved_model.load(str(here / "all")).signatures) == ["classify", "regress", "serving_default"]
        assert list(tf.saved_model.load(str(here / "one")).signatures) == ["classify"]
        assert [each.name for each in one.signatures] == ["classify"]
        assert one.proof is not None and one.proof.differences and not one.proof.not_compared, one.proof
        both = MODELS / "saved_signatures", here / "all"
        for asked, meant in (
            ("clasify", "Did you mean 'classify'? There are 'classify'"),
            ("x", "There are 'classify'"),
        ):
            for message in (
                raised(UsageError, lambda asked=asked: converted(both[0], here / "no", signature=asked)),
                raised(UsageError, lambda asked=asked: verify(*both, signature=asked)),
                raised(UsageError, lambda asked=asked: t1.load(both[0], signature=asked)),
            ):
                assert f" {meant}" in message and ("Did you mean" in message) == (asked == "clasify"), message


def check_a_function_with_randomness() -> None:
    with folder() as here:
        found = converted(random_net, here / "out")
        assert found.proof is not None and dict(found.proof.differences) == {"serving_default: y": 0.0}
        assert "another in each run" in found.proof.not_compared["serving_default: noise"]
        assert found.random == {"RandomUniform": 1}
        assert [each.name for each in found.variables] == ["w"]
        assert any("no signature or function needs: unused" in each for each in found.left_out)
        text = str(found)
        assert "RandomUniform 1" in text and "Written to" in text
        assert max(map(len, found.lines(80))) <= 80 or len(str(here)) > 40  # only paths and names may be longer


def check_a_model_in_its_session() -> None:
    """What the variables hold now, not what the checkpoint has."""
    with folder() as here, t1.load(MODELS / "frozen.pb") as model:
        expected = model(images=IMAGES)["probabilities"]
        found = converted(model, here / "out")
        assert found.proof is not None and len(found.proof.differences) == 1 and not model.closed
        loaded = tf.saved_model.load(str(here / "out"))
        np.testing.assert_array_equal(loaded(images=tf.constant(IMAGES))["probabilities"], expected)


def check_tables_and_assets() -> None:
    with folder() as here:
        found = converted(MODELS / "saved_main_op", here / "out")
        assert found.tables and found.proof is not None and found.proof.differences, found
        loaded = tf.saved_model.load(str(here / "out"))
        assert loaded.signatures
        if found.assets:
            assert sorted(os.listdir(here / "out" / "assets")) == list(found.assets)


def check_a_loop_is_reported() -> None:
    with folder() as here:
        found = converted(MODELS / "recurrent", here / "out", dry_run=True)
        assert len(found.loops) == 1 and "1 loop as tf.while_loop" in str(found)


def check_an_input_called_self_and_a_condition_on_a_variable() -> None:
    """Functions of TensorFlow have a parameter self; a variable of the reference kind is read where it decides."""
    with folder() as here:
        with raw.Graph().as_default(), raw.Session() as session:
            x = v1.placeholder(tf.float32, [None], "self")
            doubles = v1.get_variable("doubles", initializer=True, use_resource=False, trainable=False)
            y = v1.cond(doubles, lambda: 2.0 * x, lambda: x)
            session.run(v1.global_variables_initializer())
            raw.saved_model.simple_save(session, str(here / "model"), {"self": x}, {"y": y})
        found = converted(here / "model", here / "out")
        assert found.proof is not None and dict(found.proof.differences) == {"serving_default: y": 0.0}
        loaded = tf.saved_model.load(str(here / "out"))
        given = loaded.signatures["serving_default"](input_self=tf.constant([1.0, 2.0]))
        assert given["y"].numpy().tolist() == [2.0, 4.0]


def check_inputs_whose_names_become_one_argument() -> None:
    with folder() as here:
        with raw.Graph().as_default(), raw.Session() as session:
            names = ["a/b", "a_b", "a.b"]
            given = {name: v1.placeholder(tf.float32, [None], name.replace("/", "_")) for name in names}
            y = given["a/b"] + 10.0 * given["a_b"] + 100.0 * given["a.b"]
            raw.saved_model.simple_save(session, str(here / "model"), given, {"y": y})
        found = converted(here / "model", here / "out")
        assert any("takes a.b as a_b_1, a/b as a_b_2" in note for note in found.notes), found.notes
        assert found.proof is not None and dict(found.proof.differences) == {"serving_default: y": 0.0}
        function = tf.saved_model.load(str(here / "out")).signatures["serving_default"]
        one, two, three = (tf.constant([value]) for value in (1.0, 2.0, 3.0))
        assert function(a_b_2=one, a_b=two, a_b_1=three)["y"].numpy().tolist() == [321.0]


def check_an_input_with_a_default_is_none_of_the_signature() -> None:
    """The loaded object takes it; that the signature has it no more is said."""
    with folder() as here:
        with raw.Graph().as_default(), raw.Session() as session:
            x = v1.placeholder(tf.float32, [None], "x")
            rate = v1.placeholder_with_default(2.0, [], "rate")
            raw.saved_model.simple_save(session, str(here / "model"), {"x": x, "rate": rate}, {"y": rate * x})
        found = converted(here / "model", here / "out")
        assert any("serving_default does not take rate: " in note for note in found.notes), found.notes
        loaded = tf.saved_model.load(str(here / "out"))
        assert loaded.signatures["serving_default"](x=tf.constant([1.0]))["y"].numpy().tolist() == [2.0]
        assert loaded(x=tf.constant([1.0]), rate=tf.constant(5.0))["y"].numpy().tolist() == [5.0]


def check_an_input_whose_name_no_argument_of_a_function_has() -> None:
    def build() -> Any:
        x = v1.placeholder(tf.float32, [None], name="x")
        return {"_x": x}, {"y": 2.0 * x}

    with folder() as here:
        converted(build, here / "out")
        loaded = tf.saved_model.load(str(here / "out"))
        assert loaded({"_x": tf.constant([1.0])})["y"].numpy().tolist() == [2.0]


def check_inputs_that_are_no_placeholders() -> None:
    with folder() as here:
        options = {"inputs": {"x": "conv/BiasAdd"}, "outputs": {"p": "probabilities"}}
        found = converted(MODELS / "frozen.pb", here / "out", **options)
        assert any("the tensor conv/BiasAdd:0 of a BiasAdd" in note for note in found.notes), found.notes
        assert found.proof is not None and dict(found.proof.differences) == {"serving_default: p": 0.0}
        assert "conv/kernel" not in {each.name for each in found.variables}


def check_a_checkpoint_without_a_graph() -> None:
    with folder() as here:
        prefix = here / "old"
        for file in (MODELS / "training").glob("model.ckpt-7.[id]*"):
            (here / file.name.replace("model.ckpt-7", "old")).write_bytes(file.read_bytes())
        found: Any = convert(prefix, here / "new", dry_run=True)
        assert not found.written and found.form == "objects" and not list(here.glob("new*"))
        convert(prefix, here / "new")
        kernel = tf.Variable(tf.zeros([32, 3]))
        tf.train.Checkpoint(by_name={"logits/kernel": kernel}).restore(
            str(here / "new")
        ).assert_existing_objects_matched()
        np.testing.assert_array_equal(kernel, tf.train.load_variable(str(prefix), "logits/kernel"))


# --------------------------------------------------------------------------------------------------------- not written


def check_a_dry_run_writes_nothing() -> None:
    with folder() as here:
        found = converted(MODELS / "frozen.pb", here / "out", dry_run=True)
        assert not found.written and found.proof is None and os.listdir(here) == []
        assert str(found).endswith("Nothing was written: a dry run.")


@contextmanager
def instead(name: str, replacement: Any, module: Any = export) -> Iterator[None]:
    original = getattr(module, name)
    setattr(module, name, replacement)
    try:
        yield
    finally:
        setattr(module, name, original)


def check_what_differs_is_not_written() -> None:
    original = export._save

    def spoiled(module: Any, *args: Any) -> None:
        module.by_name["logits/bias"].assign_add([0.01, 0.0, 0.0])
        original(module, *args)

    with folder() as here, instead("_save", spoiled):
        message = raised(ConversionError, lambda: convert(MODELS / "frozen.pb", here / "out"))
        assert "serving_default: probabilities" in message and "further apart" in message
        assert "--no-check" in message and os.listdir(here) == []
        found = converted(MODELS / "frozen.pb", here / "out", check=False)
        assert found.written and found.proof is None and os.listdir(here) == ["out"]


def check_joined_variables_that_were_initialized_are_not_compared() -> None:
    """No session can be given the values in parts that they got here."""

    def build() -> Any:
        x = v1.placeholder(tf.int32, [None], name="x")
        table = v1.get_variable("table", [6, 2], partitioner=v1.fixed_size_partitioner(3))
        return {"x": x}, {"y": tf.nn.embedding_lookup(table, x)}

    with folder() as here:
        found = converted(build, here / "out")
        assert found.written and found.proof is not None and not found.proof.differences
        assert "no session has these values in parts" in found.proof.not_compared["serving_default"]
        assert converted(build, here / "kept", partitions="kept").proof.differences == {"serving_default: y": 0.0}


def check_ctrl_c_leaves_nothing() -> None:
    def interrupted(module: Any, folder: str) -> None:
        Path(folder, "saved_model.pb").write_text("half")
        raise KeyboardInterrupt

    with folder() as here, instead("_save", interrupted):
        try:
            convert(MODELS / "frozen.pb", here / "out")
        except KeyboardInterrupt:
            assert os.listdir(here) == []
        else:
            raise AssertionError("it was not interrupted")


def check_the_session_of_the_proof_is_closed() -> None:
    """It is opened by a thread, while the model is written."""
    opened: list[Any] = []

    class Noted(reference_values.Model):  # type: ignore[name-defined,misc]
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            opened.append((self, threading.current_thread()))

    class Refused(reference_values.Model):  # type: ignore[name-defined,misc]
        def __init__(self, *args: Any, **options: Any) -> None:
            raise ModelError("no session", where="here", next_step="None.")

    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    with folder() as here, instead("Model", Noted, reference_values):
        converted(MODELS / "frozen.pb", here / "out")
        with instead("_save", interrupted):
            try:
                convert(MODELS / "frozen.pb", here / "again")
            except KeyboardInterrupt:
                pass
        assert len(opened) == 2 and os.listdir(here) == ["out"]
        for model, thread in opened:
            assert model.closed and not thread.is_alive() and thread is not threading.main_thread()
    with folder() as here, instead("Model", Refused, reference_values):
        assert "no session" in raised(ModelError, lambda: convert(MODELS / "frozen.pb", here / "out"))
        assert os.listdir(here) == []


def check_a_full_disk_leaves_nothing() -> None:
    """The limit of a file's size stands for the disk."""
    with folder() as here:
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
        try:
            message = raised(OSError, lambda: convert(MODELS / "frozen.pb", here / "out"))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert "could not be written" in message and os.listdir(here) == []


def check_a_model_of_tensorflow_2() -> None:
    with folder() as here:
        converted(MODELS / "frozen.pb", here / "out", check=False)
        message = raised(ConversionError, lambda: convert(here / "out", here / "again"))
        assert "is a SavedModel of TensorFlow 2 already" in message and "tf.saved_model.load" in message
        assert os.listdir(here) == ["out"]


def check_out_is_looked_at_before_the_model() -> None:
    with folder() as here:
        (here / "out").write_text("mine")
        message = raised(UsageError, lambda: convert("there/is/none.pb", here / "out"))
        assert "is a file" in message
        for name in ("[x]", "back\\slash"):
            message = raised(UsageError, lambda name=name: convert("there/is/none.pb", here / name / "out"))
            assert "takes it for a pattern" in message and os.listdir(here) == ["out"]


def check_an_input_inside_a_loop() -> None:
    with folder() as here:
        inside = "rnn/while/basic_rnn_cell/MatMul"
        message = raised(
            ConversionError,
            lambda: convert(MODELS / "recurrent", here / "out", inputs=["sequences", inside], outputs=["outputs"]),
        )
        assert f"'{inside}:0', a MatMul inside the loop" in message and os.listdir(here) == []


def check_an_input_that_no_value_can_be() -> None:
    def build() -> Any:
        handle = v1.placeholder(tf.variant, [], name="list")
        return {"list": handle}, {"length": tf.raw_ops.TensorListLength(input_handle=handle)}

    with folder() as here:
        message = raised(ConversionError, lambda: convert(build, here / "out"))
        assert "'list' is of the dtype variant" in message and os.listdir(here) == []


def check_where_eager_execution_is_off() -> None:
    """As it is while a graph is built."""
    with folder() as here, v1.Graph().as_default():
        message = raised(UsageError, lambda: convert(MODELS / "frozen.pb", here / "out"))
        assert "eager execution is off" in message and "porting.convert()" in message and os.listdir(here) == []
