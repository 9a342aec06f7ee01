"""Checkpoints as files, and which variable of one is which of objects. Run by test_checkpoints.py in one process."""

from __future__ import annotations

import atexit
import functools
import itertools
import json
import os
import shutil
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import checkpoint_tables
import keras
import ml_dtypes
import numpy as np
import tensorflow as tf
import tf_keras
from checkpoint_cases import GOLDEN, cnn, file_of, made, network, numbers, optimizer_of, recorded, slim_cnn

import tf1sessions as t1
from tf1sessions import porting
from tf1sessions.errors import CheckpointMismatchError, ModelFileError, UsageError
from tf1sessions.porting import checkpoints
from tf1sessions.porting.checkpoints import assignment, writing
from tf1sessions.porting.checkpoints.layouts import CellLayout, CudnnGru, Gru, PartLayout, Scaled
from tf1sessions.sessions import checkpoint_index

CLOSE = {"rtol": 0, "atol": 1e-5}


def raised(error: type[Exception], call: Any) -> Any:
    try:
        call()
    except error as found:
        return found
    raise AssertionError("nothing was raised")


def save(path: str, **values: Any) -> str:
    """A checkpoint of names; "__" in a name is a slash."""
    with checkpoints.CheckpointWriter(path) as writer:
        for name, value in values.items():
            writer.add(name.replace("__", "/"), value)
    return path


def variables(*names: str, shape: tuple[int, ...] = (2,)) -> dict[str, Any]:
    return {name: tf.Variable(tf.zeros(shape)) for name in names}


def found_in(folder: str) -> list[str]:
    return sorted(os.listdir(folder))


# --------------------------------------------------------------------------------------------------------------- files


def check_every_form_is_read() -> None:
    for case, reported in recorded().items():
        values = checkpoints.read(file_of(case))
        assert values.form == "names"
        for name, value in reported["values"].items():
            np.testing.assert_array_equal(
                values[name], np.asarray(value, values[name].dtype), err_msg=f"{case}: {name}"
            )
            assert values.specs[name].shape == np.shape(value)


def check_partitioned_variables_are_whole() -> None:
    """The parts of one variable, in each form; whether they are joined in their order, the losses of training tell."""
    wholes = [checkpoints.read(file_of(case))["hidden/kernel"] for case in ("partitioned_v1", "partitioned_v2")]
    assert [whole.shape for whole in wholes] == [(3, 5), (3, 5)]
    np.testing.assert_allclose(*wholes, rtol=1e-5)
    for case in ("sharded_v1", "sharded_v2"):
        np.testing.assert_allclose(checkpoints.read(file_of(case))["hidden/kernel"], wholes[0], rtol=1e-5)


def check_any_file_of_it_names_it() -> None:
    prefix = file_of("sharded_v2")
    for path in (prefix, prefix + ".index", prefix + ".data-00001-of-00002", Path(prefix)):
        assert checkpoints.read(path).path == prefix
    pattern = file_of("sharded_v1")
    first = pattern.replace("?????", "00000", 1)
    assert checkpoints.read(first).path == checkpoints.read(pattern.partition("-?")[0]).path == pattern


def check_paths_that_tensorflow_takes_for_patterns() -> None:
    """Of each name there is a neighbour that the pattern matches, with other values."""
    models = GOLDEN / "models"
    for name, other in {"[x]": "x", "a*": "ab", "q?": "qq", "back\\slash": "backslash"}.items():
        with tempfile.TemporaryDirectory() as above:
            here = os.path.join(above, name)
            shutil.copytree(models / "v1_format", os.path.join(here, "v1"))
            shutil.copytree(models / "variables", os.path.join(here, "v2"))
            for shard in ("model.ckpt-00000-of-00001", "m[1]-00000-of-00001", "m[2]"):
                shutil.copy(models / "v1_format" / "model.ckpt", os.path.join(here, shard))
            for prefix in ("own/c", "m[1].ckpt"):
                os.makedirs(os.path.dirname(os.path.join(above, other, prefix)), exist_ok=True)
                save(os.path.join(above, other, prefix.replace("[1]", "1")), v=np.zeros(2, "f"))
            whole = dict(checkpoints.read(models / "v1_format" / "model.ckpt"))
            for file in ("v1/model.ckpt", "v1", "model.ckpt", "model.ckpt-?????-of-00001", "m[1]", "m[2]"):
                np.testing.assert_equal(dict(checkpoints.read(os.path.join(here, file))), whole, err_msg=file)
            for prefix in ("own/c", "m[1].ckpt"):
                os.makedirs(os.path.join(here, "own"), exist_ok=True)
                path = save(os.path.join(here, prefix), v=np.ones(2, "f"))
                assert dict(checkpoints.read(path)).keys() == {"v"}
                assert checkpoints.read(path)["v"].tolist() == [1, 1]
            for model in ("v1", "v2"):
                t1.load(os.path.join(here, model)).close()
            with t1.GraphSession() as session:
                v = t1.tf1.get_variable("v", initializer=[0.0, 0.0])
                session.restore(os.path.join(here, "own", "c"))
                for path in (session.save(os.path.join(here, "own", "d")), os.path.join(here, "own")):
                    session.initialize()
                    session.restore(path)
                    assert session.run(v).tolist() == [1, 1]


def check_files_that_are_missing_or_damaged() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for case, missing in (("sharded_v1", "-00001-of-00002"), ("sharded_v2", ".data-00001-of-00002")):
            shutil.copytree(os.path.dirname(file_of(case)), f"{folder}/{case}")
            os.remove(f"{folder}/{case}/model.ckpt{missing}")
            path = f"{folder}/{case}/{os.path.basename(file_of(case))}"
            error = raised(ModelFileError, lambda path=path: checkpoints.read(path))
            assert f"model.ckpt{missing}" in str(error) and error.path == path
        shutil.copytree(os.path.dirname(file_of("gru")), f"{folder}/gru")
        data = Path(f"{folder}/gru/model.ckpt.data-00000-of-00001")
        whole = data.read_bytes()
        data.write_bytes(whole[: len(whole) // 2])
        error = raised(ModelFileError, lambda: dict(checkpoints.read(f"{folder}/gru/model.ckpt")))
        assert "rnn/gru_cell/" in str(error)
        data.write_bytes(bytes(len(whole)))
        error = raised(ModelFileError, lambda: dict(checkpoints.read(f"{folder}/gru/model.ckpt")))
        data.unlink()
        error = raised(ModelFileError, lambda: checkpoints.read(f"{folder}/gru/model.ckpt"))
        assert "model.ckpt.data-00000-of-?????" in str(error)
        Path(f"{folder}/gru/model.ckpt.index").write_bytes(b"nothing of the kind")
        data.write_bytes(whole)
        raised(ModelFileError, lambda: checkpoints.read(f"{folder}/gru/model.ckpt"))
        error = raised(ModelFileError, lambda: checkpoints.read(f"{folder}/nothing"))
        assert "nothing" in str(error)


#: What an entry claims -> words of the error. Of most of them TensorFlow stops the process.
WICKED = {
    "a negative size": (checkpoint_tables.entry(dims=(-4,)), "'w' has a shape that no tensor has"),
    "300 dimensions": (checkpoint_tables.entry(dims=(1,) * 300), "'w' has a shape that no tensor has"),
    "sizes that overflow": (checkpoint_tables.entry(dims=(2**32, 2**32), size=0), "'w' claims the shape"),
    "an unknown type": (checkpoint_tables.entry(dtype=99), "'w' is of the unknown type 99"),
    "a reference": (checkpoint_tables.entry(dtype=101), "of the type float32_ref"),
    # TensorFlow asks for the memory first, and looks at the size then
    "8 GB in 16 bytes": (checkpoint_tables.entry(dims=(2**31,)), "claims the shape [2147483648] and has 16 bytes"),
    "2**40 texts in 16 bytes": (
        checkpoint_tables.entry(7, (2**40,)),
        "claims the shape [1099511627776] and has 16 bytes",
    ),
}
WICKED_PARTS = {"no length": (3, None), "a negative start": (-1, 2), "too long": (3, 2), "an overflow": (2**62, 2**62)}


def every_way(path: str) -> Iterator[Callable[[], object]]:
    """What reads a checkpoint for a user, by names."""
    yield lambda: checkpoints.read(path)
    with t1.GraphSession() as session:
        t1.tf1.get_variable("w", [4])
        yield lambda: session.restore(path)
    legacy = porting.LegacyGraph()
    with legacy:
        t1.tf1.get_variable("w", [4])
        saver = porting.LegacySaver()
    yield lambda: saver.restore(legacy, path)


def wicked_tables() -> dict[str, tuple[str, list[tuple[bytes, bytes]]]]:
    """Name -> words of the error, and the entries of an index that TensorFlow must not read."""
    entry = checkpoint_tables.entry
    sound, negative = entry().SerializeToString(), entry(dims=(-4,)).SerializeToString()
    large = entry(dims=(100,), size=400).SerializeToString()

    def in_parts(*dims: int, part: checkpoint_tables.BundleEntry) -> list[tuple[bytes, bytes]]:
        whole = entry(dims=dims, size=0)
        for start in 0, 10:
            whole.slices.add().extent.add(start=start, length=10)
        keys = (b"\0w\0\1\1\1\x80\x8a", b"\0w\0\1\1\1\x8a\x8a")  # TensorFlow's
        return [*((key, part.SerializeToString()) for key in keys), (b"w", whole.SerializeToString())]

    other = "is of another type or shape than 'w' says"
    return {
        "negative": ("'w' has a shape that no tensor has", [(b"w", negative)]),
        "no order": ("its keys are not in order", [(b"w", sound), (b"v", sound)]),
        "twice": ("its keys are not in order", [(b"w", sound), (b"w", negative)]),
        "a second header": ("its keys are not in order", [(b"", sound), (b"w", sound)]),
        "more than the file": ("'w' claims 400 bytes of a file that has 64", [(b"w", large)]),
        "part of a type": (other, in_parts(20, part=entry(3, (10,), 40))),
        "small part": (other, in_parts(20, part=entry(1, (4,), 16))),
        "reference": ("of the type float32_ref", in_parts(20, part=entry(101, (10,), 40))),
        "nothing but the claim": ("claims the shape [1099511627776]", in_parts(2**40, part=entry(1, (10,), 40))),
    }  # fmt: skip


def check_an_index_that_claims_what_no_tensor_has() -> None:
    with tempfile.TemporaryDirectory() as folder:
        wicked = {name: (entry, words) for name, (entry, words) in WICKED.items()}
        for name, (start, length) in WICKED_PARTS.items():
            entry = checkpoint_tables.entry()
            extent = entry.slices.add().extent.add(start=start)
            if length is not None:
                extent.length = length
            wicked[name] = entry, "'w' has a part that does not lie in its shape [4]"
        wicked["parts of another rank"] = checkpoint_tables.entry(dims=(2, 2)), "a part that does not lie"
        wicked["parts of another rank"][0].slices.add().extent.add(start=0, length=2)
        for name, (entry, words) in wicked.items():
            path = f"{folder}/{name}"
            checkpoint_tables.write(path, [(b"w", entry.SerializeToString())])
            assert words in str(raised(ModelFileError, lambda path=path: checkpoints.read(path))), name

        for name, (words, entries) in wicked_tables().items():
            checkpoint_tables.write(f"{folder}/{name}", entries)
            for way in every_way(f"{folder}/{name}"):
                assert words in str(raised(ModelFileError, way)), name

        sound = [(b"", b""), (b"w", checkpoint_tables.entry().SerializeToString())]
        for data, words in (
            (checkpoint_tables.table(sound, compression=1), "compressed"),
            (checkpoint_tables.table(sound, restarts=[0, 1]), "begins in the midst of another"),
            (checkpoint_tables.table(sound)[:-1], "last bytes"),
            (checkpoint_tables.table([(b"", b""), (b"w", b"\xff")]), "cannot be read"),
        ):
            checkpoint_tables.write(f"{folder}/table", sound[1:])
            Path(f"{folder}/table.index").write_bytes(data)
            error = raised(ModelFileError, lambda: checkpoints.read(f"{folder}/table"))
            assert words in str(error) and error.path == f"{folder}/table"
        checkpoint_tables.write(f"{folder}/sound", sound[1:])
        assert checkpoints.read(f"{folder}/sound")["w"].tolist() == [0, 0, 0, 0]


def check_the_keys_of_parts_are_tensorflow_s() -> None:
    sizes = (1, 61, 1, 1, 63, 1, 8191, 8192, 2**20 - 1, 2**20)
    with tempfile.TemporaryDirectory() as folder, t1.GraphSession() as session:
        starts = [sum(sizes[:index]) for index in range(len(sizes))]
        specs = [f"{sum(sizes)} 1 {start},{size}:-" for start, size in zip(starts, sizes, strict=True)]
        values = [tf.zeros([size, 1], tf.int8) for size in sizes]
        session.run(
            t1.tf1.raw_ops.SaveV2(prefix=f"{folder}/x", tensor_names=["w"] * 10, shape_and_slices=specs, tensors=values)
        )
        with tf.io.gfile.GFile(f"{folder}/x.index", "rb") as file:
            entries = dict(checkpoint_index._entries(file))
        whole = checkpoint_index._parsed(b"w", entries[b"w"], checkpoint_tables.BundleEntry)
        made = {checkpoint_index._part_key(b"w", part) for part in whole.slices}
        assert made == entries.keys() - {b"", b"w"} and len(made) == 10
        assert checkpoints.read(f"{folder}/x")["w"].shape == (sum(sizes), 1)


def check_written_values_are_read_again() -> None:
    given = {
        "a": np.arange(6, dtype=np.float32).reshape(2, 3),
        "b/half": np.array([1.5, -2.0], ml_dtypes.bfloat16),
        "b/flag": np.array([True, False]),
        "b/text": np.array([b"one", b"two"], object),
        "b/step": np.int64(2**40),
        "b/none": np.zeros([0, 3], np.float64),
    }
    small, writing.SHARD_BYTES = writing.SHARD_BYTES, 16
    try:
        with tempfile.TemporaryDirectory() as folder:
            with checkpoints.CheckpointWriter(f"{folder}/x") as writer:
                for name, value in given.items():
                    writer.add(name, value)
            assert len(found_in(folder)) > 3, "it is in several shards"
            again = checkpoints.read(f"{folder}/x")
            assert again.keys() == given.keys()
            for name, value in given.items():
                np.testing.assert_array_equal(again[name], value)
                assert again[name].dtype == np.asarray(value).dtype, name
    finally:
        writing.SHARD_BYTES = small


def check_nothing_is_overwritten_unless_asked() -> None:
    with tempfile.TemporaryDirectory() as folder:
        save(f"{folder}/x", a=np.zeros(2))
        error = raised(UsageError, lambda: save(f"{folder}/x", a=np.ones(2)))
        assert "x.index" in str(error) and "force=True" in str(error)
        for existing in ("y", "z.meta"):
            Path(folder, existing).touch()
            raised(UsageError, lambda name=existing[0]: save(f"{folder}/{name}", a=np.ones(2)))
        with checkpoints.CheckpointWriter(f"{folder}/x", force=True) as writer:
            writer.add("b", np.ones(2))
        assert dict(checkpoints.read(f"{folder}/x")).keys() == {"b"}
        for text in ("", "mine", "the words of a user"):
            Path(folder, "y").write_text(text)
            error = raised(UsageError, lambda: checkpoints.CheckpointWriter(f"{folder}/y", force=True))
            assert "'y'" in str(error) and "is no checkpoint" in str(error)
            assert Path(folder, "y").read_text() == text
        assert found_in(folder) == ["x.data-00000-of-00001", "x.index", "y", "z.meta"]


def check_what_fails_leaves_what_was_there() -> None:
    """Whichever of the renames fails, the old checkpoint is there, and nothing else."""
    with tempfile.TemporaryDirectory() as folder:
        save(f"{folder}/x", a=np.zeros(2))
        before = found_in(folder)

        def failing(count: int) -> None:
            rename, calls = os.rename, itertools.count()

            def broken(source: str, target: str) -> None:
                if next(calls) == count:
                    raise OSError(28, "No space left on device")
                rename(source, target)

            writing.os.rename = broken  # type: ignore[attr-defined]
            try:
                with checkpoints.CheckpointWriter(f"{folder}/x", force=True) as writer:
                    writer.add("a", np.ones(2))
            finally:
                writing.os.rename = rename  # type: ignore[attr-defined]

        for count in range(4):  # two old files out, two new ones in
            error = raised(UsageError, lambda count=count: failing(count))
            assert "No space left" in str(error)
            assert found_in(folder) == before
            np.testing.assert_array_equal(checkpoints.read(f"{folder}/x")["a"], np.zeros(2))
        failing(4)
        np.testing.assert_array_equal(checkpoints.read(f"{folder}/x")["a"], np.ones(2))


def check_an_error_in_the_block_leaves_nothing() -> None:
    with tempfile.TemporaryDirectory() as folder:

        def stop() -> None:
            with checkpoints.CheckpointWriter(f"{folder}/x") as writer:
                writer.add("a", np.zeros(2))
                raise KeyError("stop")

        raised(KeyError, stop)
        assert found_in(folder) == []
        error = raised(UsageError, lambda: save(f"{folder}/x"))
        assert "nothing to write" in str(error) and found_in(folder) == []

        def twice() -> None:
            with checkpoints.CheckpointWriter(f"{folder}/x") as writer:
                writer.add("a", np.zeros(2))
                writer.add("a", np.zeros(2))

        assert "'a'" in str(raised(UsageError, twice)) and found_in(folder) == []


def check_targets_that_cannot_be_written() -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "file").touch()
        for path in (f"{folder}/none/x", f"{folder}/file/x", folder, folder + "/"):
            error = raised(UsageError, lambda path=path: save(path, a=np.zeros(2)))
            assert error.where == "the checkpoint to be written"
        error = raised(UsageError, lambda: checkpoints.save_named(variables("a"), f"{folder}/none/x"))
        assert "none" in str(error)


# ------------------------------------------------------------------------------------------------------- the other form


def check_a_bare_checkpoint_becomes_one_of_objects_and_back() -> None:
    source = file_of("train_adam")
    with tempfile.TemporaryDirectory() as folder:
        plan = checkpoints.convert(source, f"{folder}/objects", dry_run=True)
        assert found_in(folder) == [] and not plan.written and "hidden/kernel/Adam_1" in str(plan)
        done = checkpoints.convert(source, f"{folder}/objects")
        assert done.written and done.form == "objects" and done.variables == plan.variables
        kernel, step = tf.Variable(tf.zeros([3, 4])), tf.Variable(0, dtype=tf.int64)
        root = tf.train.Checkpoint(by_name={"hidden/kernel": kernel, "global_step": step})
        root.restore(f"{folder}/objects").assert_existing_objects_matched()
        old = checkpoints.read(source)
        np.testing.assert_array_equal(kernel, old["hidden/kernel"])
        assert int(step) == 4 and int(root.save_counter) == 1
        whole = {name: tf.Variable(tf.zeros_like(value)) for name, value in old.items()}
        tf.train.Checkpoint(by_name=whole).restore(f"{folder}/objects").assert_consumed()
        back = checkpoints.convert(f"{folder}/objects", f"{folder}/names")
        assert back.form == "names"
        again = checkpoints.read(f"{folder}/names")
        assert again.keys() == old.keys()
        for name in old:
            np.testing.assert_array_equal(again[name], old[name])


def check_names_of_a_bare_checkpoint() -> None:
    with tempfile.TemporaryDirectory() as folder:
        source = save(f"{folder}/x", a__kernel=np.zeros(2), a__bias=np.ones(2), b=np.ones(1))
        for index, names in enumerate(
            ({"a": "first", "b": "c.d"}, [("a/(.*)", r"first/\1"), ("b", "c.d")], {"a": "first", "b": "c.d"}.get)
        ):
            if index == 2:
                names = lambda name, get=names: get(name) or name.replace("a/", "first/")  # type: ignore[operator] # noqa: E731
            checkpoints.convert(source, f"{folder}/y{index}", names=names)
            found = checkpoints.read(f"{folder}/y{index}")
            assert set(found) == {"by_name/first/kernel", "by_name/first/bias", "by_name/c.d", "save_counter"}
        error = raised(UsageError, lambda: checkpoints.convert(source, f"{folder}/z", names={"c": "d"}))
        assert "'c'" in str(error)
        error = raised(UsageError, lambda: checkpoints.convert(source, f"{folder}/z", names={"b": "a/bias"}))
        assert "'a/bias'" in str(error) and "'b'" in str(error)
        raised(UsageError, lambda: checkpoints.convert(source, f"{folder}/z", names=[("(", "x")]))
        raised(UsageError, lambda: checkpoints.convert(source, f"{folder}/y0"))
        raised(UsageError, lambda: checkpoints.convert(source, source, force=True))
        assert not [name for name in found_in(folder) if name.startswith("z")]


def check_a_checkpoint_of_objects_gets_names() -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = tf.train.Checkpoint(model=tf.train.Checkpoint(w=tf.Variable([1.0])), lists=[tf.Variable([2.0])])
        source = root.save(f"{folder}/x")
        checkpoints.convert(source, f"{folder}/y", names={"lists/0": "second"})
        assert {name: float(value[0]) for name, value in checkpoints.read(f"{folder}/y").items()} == {
            "model/w": 1.0,
            "second": 2.0,
        }
        odd = tf.train.Checkpoint(_w=tf.Variable([1.0])).save(f"{folder}/odd")
        error = raised(UsageError, lambda: checkpoints.convert(odd, f"{folder}/z"))
        assert "'_w'" in str(error)


# -------------------------------------------------------------------------------------------------------------- layers


def outputs(case: str, model: Any, **options: Any) -> Any:
    plan = checkpoints.restore(file_of(case), model, **options)
    reported = recorded()[case]
    given = np.float32(reported.get("scale", 1.0)) * numbers(0, *reported["shape"])
    np.testing.assert_allclose(model(given), reported["output"], **CLOSE)
    return plan


def check_models_of_layers_give_what_1_15_gave() -> None:
    for library in (keras, tf_keras):
        outputs("layers_cnn", cnn(library))
        plan = outputs("slim_cnn", slim_cnn(library))
        assert {row.how for row in plan.rows} == {"rule: same layer, outer scopes apart", "suggested"}


def check_recurrent_layers_give_what_1_15_gave() -> None:
    for library in (keras, tf_keras):
        layers = library.layers
        plan = outputs("lstm", made(library, (5, 3), layers.LSTM(4, return_sequences=True)), forget_bias=0.7)
        assert "forget_bias=0.7" in plan.notes[0]
        outputs("gru", made(library, (5, 3), layers.GRU(4, return_sequences=True, reset_after=False)))
        outputs("simple_rnn", made(library, (5, 3), layers.SimpleRNN(4, return_sequences=True)))
        two = [layers.LSTM(3, return_sequences=True) for _ in range(2)]
        outputs("two_lstms", made(library, (5, 3), *two))
        outputs("bidirectional", made(library, (5, 3), layers.Bidirectional(layers.LSTM(2, return_sequences=True))))


def check_a_cell_by_the_users_name() -> None:
    for name in ("rnn/lstm_cell", "rnn"):
        layer = keras.layers.LSTM(4, return_sequences=True, name="top")
        new = "top/lstm_cell" if name == "rnn/lstm_cell" else "top"
        plan = outputs("lstm", made(keras, (5, 3), layer), names={name: new}, forget_bias=0.7)
        assert plan.rows[0].how == "names="


def check_a_cell_of_the_same_name_has_its_gates_in_order() -> None:
    """Its bias has the same name and the same shape on both sides, and another order."""
    old = checkpoints.read(file_of("lstm"))
    with tempfile.TemporaryDirectory() as folder:
        names = {"rnn/lstm_cell": "top/lstm_cell"}
        checkpoints.convert(file_of("lstm"), f"{folder}/objects", names=names)
        checkpoints.convert(f"{folder}/objects", f"{folder}/renamed")
        model = made(keras, (5, 3), keras.layers.LSTM(4, name="top"))
        checkpoints.restore(f"{folder}/renamed", model, forget_bias=0.0)
    i, j, f, o = np.split(old["rnn/lstm_cell/bias"], 4)
    np.testing.assert_array_equal(model.get_weights()[2], np.concatenate([i, f, j, o]))


def check_cells_that_keras_does_not_have() -> None:
    lstm = made(keras, (5, 3), keras.layers.LSTM(4))
    error = raised(CheckpointMismatchError, lambda: checkpoints.restore(file_of("peepholes"), lstm))
    assert "rnn/lstm_cell/w_f_diag" in error.extra and "peephole" in str(error)
    assert len(error.missing) == 3, "no part of the cell is taken by itself"
    gru = made(keras, (5, 3), keras.layers.GRU(4))
    error = raised(CheckpointMismatchError, lambda: checkpoints.restore(file_of("gru"), gru))
    assert "reset_after=True" in str(error)
    without = made(keras, (5, 3), keras.layers.GRU(4, use_bias=False))
    with tempfile.TemporaryDirectory() as folder:
        error = raised(CheckpointMismatchError, lambda: checkpoints.save_named(without, f"{folder}/x"))
        assert "is a GRU without bias" in str(error) and found_in(folder) == []


def check_a_gru_of_cudnn() -> None:
    """CudnnCompatibleGRUCell is the layer with reset_after=True; with its slots, there and back."""
    expected = of_keras("expected.json")
    old = checkpoints.read(of_keras("gru"))
    for library in (keras, tf_keras):
        model = made(library, (4, 3), library.layers.GRU(5, return_sequences=True))
        optimizer = library.optimizers.Adam(0.1, epsilon=1e-8)
        plan = checkpoints.restore(old, model, optimizer)
        assert any("have one bias in TensorFlow 1, and in Keras two" in note for note in plan.notes), plan.notes
        np.testing.assert_allclose(
            model.predict(np.float32(expected["sequences"]), verbose=0), expected["gru"], **CLOSE
        )
        with tempfile.TemporaryDirectory() as folder:
            checkpoints.save_named(model, f"{folder}/like", optimizer, like=old)
            checkpoints.save_named(model, f"{folder}/own")
            again, own = checkpoints.read(f"{folder}/like"), checkpoints.read(f"{folder}/own")
            assert {*again} == {*old} and len(own) == 6
            for name, value in again.items():
                np.testing.assert_allclose(value, old[name], rtol=1e-6, err_msg=name)
            other = made(library, (4, 3), library.layers.GRU(5, return_sequences=True))
            checkpoints.restore(own, other)
        np.testing.assert_allclose(*(each.predict(np.ones([1, 4, 3]), verbose=0) for each in (model, other)), **CLOSE)


# ------------------------------------------------------------------------------------------- tf.keras in TensorFlow 1

OF_KERAS = {
    "adam": lambda optimizers: optimizers.Adam(0.05),
    "sgd": lambda optimizers: optimizers.SGD(0.1, momentum=0.9),
    "rmsprop": lambda optimizers: optimizers.RMSprop(0.01, momentum=0.5),
    "adadelta": lambda optimizers: optimizers.Adadelta(1.0),
    "ftrl": lambda optimizers: optimizers.Ftrl(0.1),
    "old_adam": lambda optimizers: optimizers.Adam(0.05, epsilon=1e-8),
}


def of_keras(file: str) -> Any:
    """What golden/make/make_keras_checkpoints.py wrote: what is expected, or the prefix of a checkpoint."""
    folder = _unpacked()
    return json.loads(Path(folder, file).read_text()) if file.endswith(".json") else f"{folder}/{file}"


@functools.cache
def _unpacked() -> str:
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder)
    with tarfile.open(GOLDEN / "keras_checkpoints.tar.xz") as archive:
        archive.extractall(folder)
    return folder


def small(library: Any) -> Any:
    layers = library.layers
    return made(library, (3,), layers.Dense(4, "tanh"), layers.BatchNormalization(), layers.Dense(1))


def check_models_of_keras_train_on() -> None:
    """As save_weights and as a Saver wrote them; the optimizer goes on with its slots."""
    expected = of_keras("expected.json")
    x, y = np.float32(expected["x"]), np.float32(expected["y"])
    for name, make in OF_KERAS.items():
        for form, library in (("weights", keras), ("saver", keras), ("saver", tf_keras)):
            model, optimizer = small(library), make(library.optimizers)
            plan = checkpoints.restore(of_keras(f"{name}_{form}"), model, optimizer)
            assert int(optimizer.iterations) == 4 and not plan.problems, (name, plan)
            model.compile(optimizer, "mse")
            losses = []
            for _ in range(4):
                model.reset_metrics()  # Keras 3.12 gives the mean of the batches since then
                losses.append(float(model.train_on_batch(x, y)))
            np.testing.assert_allclose(losses, expected["losses"][name], err_msg=f"{name} {form}", **CLOSE)


def check_settings_of_keras_are_accounted_for() -> None:
    path = of_keras("adam_saver")
    error = raised(CheckpointMismatchError, lambda: checkpoints.restore(path, small(keras)))
    assert "training/Adam/learning_rate" in error.extra and "is a setting of an optimizer" in str(error)
    plan = checkpoints.restore(path, small(keras), optimizer=False)
    assert plan.unused["training/Adam/decay"] == plan.unused["training/Adam/dense/kernel/m"] == "optimizer=False"
    model, optimizer = small(keras), keras.optimizers.Adam(0.02, epsilon=1e-3)
    plan = checkpoints.restore(path, model, optimizer)
    assert plan.unused["training/Adam/beta_1"] == "a setting: beta_1 is 0.9"
    reported = " ".join(plan.notes)
    assert "learning_rate is 0.02 here and 0.05" in reported and "tf.keras had 1e-7 by default" in reported, reported
    with tempfile.TemporaryDirectory() as folder:
        checkpoints.save_named(model, f"{folder}/back", optimizer, like=path)
        old, back = checkpoints.read(path), checkpoints.read(f"{folder}/back")
        assert {*back} == {*old}
        for name in old:
            expected = 0.02 if name.endswith("learning_rate") else old[name]
            np.testing.assert_allclose(back[name], expected, rtol=1e-6, err_msg=name)


def check_layouts_lead_back() -> None:
    rng = np.random.RandomState(0)
    for layout, shapes in (
        (CellLayout(3, (0, 2, 1, 3), 1.0), [(5, 8), (8,)]),
        (CellLayout(3, (0, 2, 1, 3)), [(5, 8)]),
        (CellLayout(3, (0,)), [(5, 2), (2,)]),
        (Gru(3), [(5, 4), (4,), (5, 2), (2,)]),
        (CudnnGru(3), [(5, 4), (4,), (3, 2), (2,), (2, 2), (2,)]),
        (CudnnGru(3).linear(), [(5, 4), (4,), (3, 2), (2,), (2, 2), (2,)]),
        (PartLayout(1, (2, 3)), [(4, 5)]),
        (Scaled(-0.1, Gru(3)), [(5, 4), (4,), (5, 2), (2,)]),
    ):
        old = [rng.randn(*shape).astype("f") for shape in shapes]
        new = layout.forward(old)
        again = layout.backward(new)
        for value, expected in zip(again, old, strict=True):
            np.testing.assert_allclose(value, expected, rtol=1e-6, atol=1e-6)
        doubled = 4 if isinstance(layout, CudnnGru) else 0
        assert sum(value.size for value in new) == sum(value.size for value in old) + doubled


# --------------------------------------------------------------------------------------------------- which one is which


def pairs(sources: dict[str, Any], targets: dict[str, Any], **options: Any) -> dict[str, str]:
    """Name in the objects -> name in the checkpoint."""
    with tempfile.TemporaryDirectory() as folder:
        with checkpoints.CheckpointWriter(f"{folder}/x") as writer:
            for name, value in sources.items():
                writer.add(name, value)
        plan = checkpoints.restore(f"{folder}/x", targets, **options)
    return {new: old for row in plan.rows for old, new in zip(row.sources, row.targets, strict=True)}


def layer(scope: str, shape: tuple[int, int] = (2, 3), weights: str = "kernel", biases: str = "bias") -> dict[str, Any]:
    return {f"{scope}/{weights}": np.zeros(shape, "f"), f"{scope}/{biases}": np.zeros(shape[1], "f")}


def wanted(scope: str, shape: tuple[int, int] = (2, 3)) -> dict[str, Any]:
    return {name: tf.Variable(value) for name, value in layer(scope, shape).items()}


def check_numbers_that_have_gone_on() -> None:
    """Both sides have a dense_1, and it is not the same layer."""
    found = pairs(layer("dense") | layer("dense_1"), wanted("dense_1") | wanted("dense_2"))
    assert found["dense_1/kernel"] == "dense/kernel" and found["dense_2/bias"] == "dense_1/bias"
    found = pairs(layer("dense_1") | layer("dense_2"), wanted("dense_1") | wanted("dense_2"))
    assert found["dense_1/kernel"] == "dense_1/kernel"
    # of other shapes the ranks say nothing
    found = pairs(layer("dense", (2, 3)) | layer("dense_1", (3, 4)), wanted("dense_1", (3, 4)) | wanted("dense_2"))
    assert found["dense_1/kernel"] == "dense_1/kernel" and found["dense_2/kernel"] == "dense/kernel"


def check_names_of_other_libraries() -> None:
    found = pairs(layer("net/fully_connected", weights="weights", biases="biases"), wanted("dense"))
    assert found == {"dense/kernel": "net/fully_connected/weights", "dense/bias": "net/fully_connected/biases"}
    found = pairs({"encoder/W": np.zeros([2, 3], "f")}, variables("projection/kernel", shape=(2, 3)))
    assert found == {"projection/kernel": "encoder/W"}


def check_a_depthwise_convolution_of_slim() -> None:
    old = {"net/sep/depthwise_weights": np.zeros([3, 3, 4, 1], "f"), "net/sep/biases": np.zeros(4, "f")}
    new = variables("dw/kernel", shape=(3, 3, 4, 1)) | variables("dw/bias", shape=(4,))
    for names in (None, {"net/sep": "dw"}):
        assert pairs(old, new, names=names) == {"dw/kernel": "net/sep/depthwise_weights", "dw/bias": "net/sep/biases"}


def check_words_decide_between_equal_shapes() -> None:
    sources = layer("model/query_projection") | layer("model/key_projection") | layer("model/output_layer")
    targets = wanted("attention/key") | wanted("attention/query") | wanted("attention/output")
    found = pairs(sources, targets)
    assert found["attention/key/kernel"] == "model/key_projection/kernel"
    assert found["attention/query/bias"] == "model/query_projection/bias"
    assert found["attention/output/bias"] == "model/output_layer/bias"


def check_what_is_ambiguous_is_not_guessed() -> None:
    sources, targets = (
        layer("red") | layer("green") | layer("z", (4, 4)),
        wanted("one") | wanted("two") | wanted("q", (4, 4)),
    )
    error = raised(CheckpointMismatchError, lambda: pairs(sources, targets))
    assert set(error.ambiguous) == {"one/kernel", "one/bias", "two/kernel", "two/bias"}
    assert "red/kernel or green/kernel" in str(error) or "green/kernel or red/kernel" in str(error)
    assert not error.missing and not error.extra, "what is reported once is not reported again"
    found = pairs(sources, targets, names={"red": "two"})
    assert found["two/kernel"] == "red/kernel" and found["one/kernel"] == "green/kernel"
    plain = {"u": np.zeros(2, "f"), "v": np.zeros(2, "f")}
    error = raised(CheckpointMismatchError, lambda: pairs(plain, variables("x", "y")))
    assert set(error.ambiguous) == {"x", "y"}
    assert pairs(plain, variables("x", "y"), names=[("u", "x")]) == {"x": "u", "y": "v"}
    assert pairs(plain, variables("x", "y"), names={"u": "y", "v": "x"}.get) == {"x": "v", "y": "u"}


def check_one_too_many_is_ambiguous() -> None:
    """Of two that fit one place, neither is dropped."""
    error = raised(
        CheckpointMismatchError, lambda: pairs({"u": np.zeros(2, "f"), "v": np.zeros(2, "f")}, variables("x"))
    )
    assert error.ambiguous == ("x",)


def check_nothing_is_dropped() -> None:
    sources = layer("dense") | {"lost": np.zeros([7], "f")}
    targets = wanted("dense") | variables("new", shape=(5,))
    error = raised(CheckpointMismatchError, lambda: pairs(sources, targets))
    assert error.missing == ("new",) and error.extra == ("lost",)
    assert not np.any([variable.numpy() for variable in targets.values() if variable.shape == (2, 3)])
    error = raised(CheckpointMismatchError, lambda: pairs(sources, targets, unused={"lo.*": "no more"}))
    assert error.missing == ("new",) and error.extra == ()
    pairs(sources, targets, unused={"lo.*": "no more"}, kept={"new": "it begins anew"})
    raised(CheckpointMismatchError, lambda: pairs(sources, targets, unused={"los": "half"}, kept={"new": "anew"}))
    raised(UsageError, lambda: pairs(sources, targets, unused="lost"))


def check_shapes_and_dtypes() -> None:
    error = raised(CheckpointMismatchError, lambda: pairs(layer("dense"), wanted("dense", (2, 4))))
    assert set(error.shapes) == {"dense/kernel", "dense/bias"}
    assert "dense/kernel float32[2,3]" in str(error) and "dense/kernel float32[2,4]" in str(error)
    wide = {"v": np.zeros(2, np.float64)}
    error = raised(CheckpointMismatchError, lambda: pairs(wide, variables("v")))
    assert "float64" in str(error) and error.shapes == ("v",)
    step = {"global_step": tf.Variable(0, dtype=tf.int32)}
    pairs({"global_step": np.int64(5)}, step)
    assert int(step["global_step"]) == 5
    error = raised(CheckpointMismatchError, lambda: pairs({"global_step": np.int64(2**40)}, step))
    assert "int64" in str(error)
    free = {"v": tf.Variable(tf.zeros([1, 2]), shape=[None, 2])}
    pairs({"v": np.ones([3, 2], "f")}, free)
    assert free["v"].numpy().shape == (3, 2)


def check_names_that_nothing_has() -> None:
    error = raised(CheckpointMismatchError, lambda: pairs(layer("dense"), wanted("dense"), names={"dens": "x"}))
    assert "'dens'" in str(error)
    error = raised(CheckpointMismatchError, lambda: pairs(layer("a"), wanted("dense"), names={"a": "b"}))
    assert "'b/kernel'" in str(error)
    parted = {"a/kernel": "x/kernel", "a/bias": "y/offset"}  # its kernel is given away already
    sources, targets = layer("a") | layer("b"), wanted("x") | wanted("y")
    error = raised(CheckpointMismatchError, lambda: pairs(sources, targets, names=parted))
    assert "'y/offset'" in str(error)
    error = raised(CheckpointMismatchError, lambda: pairs(layer("a"), wanted("b", (4, 4)), names={"a": "b"}))
    assert set(error.shapes) == {"b/kernel", "b/bias"}


def check_slots_are_no_variables() -> None:
    sources = layer("dense") | {"dense/kernel/Adam": np.zeros([2, 3], "f"), "beta1_power": np.float32(0.9)}
    error = raised(CheckpointMismatchError, lambda: pairs(sources, wanted("dense")))
    assert set(error.extra) == {"dense/kernel/Adam", "beta1_power"} and "optimizer=False" in str(error)
    assert len(pairs(sources, wanted("dense"), optimizer=False)) == 2
    # objects that have them by name, as the module of a training graph does
    have = wanted("dense") | variables("dense/kernel/Adam", shape=(2, 3)) | variables("beta1_power", shape=())
    assert pairs(sources, have)["beta1_power"] == "beta1_power"


def check_parts_of_a_variable() -> None:
    whole = np.arange(12, dtype=np.float32).reshape(3, 4)
    parts = {"table/part_0": tf.Variable(tf.zeros([3, 1])), "table/part_1": tf.Variable(tf.zeros([3, 3]))}
    with tempfile.TemporaryDirectory() as folder:
        source = save(f"{folder}/x", table=whole)
        plan = checkpoints.restore(source, parts)
        assert "2 parts along axis 1" in str(plan)
        checkpoints.save_named(parts, f"{folder}/y", like=source)
        np.testing.assert_array_equal(checkpoints.read(f"{folder}/y")["table"], whole)
    np.testing.assert_array_equal(parts["table/part_1"], whole[:, 1:])


# ------------------------------------------------------------------------------------------------------------- objects


def check_whatever_has_variables() -> None:
    class Inner(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = tf.Variable([0.0, 0.0])

    module = tf.Module()
    module.inner = Inner()
    module.many = [tf.Variable([0.0])]
    with tempfile.TemporaryDirectory() as folder:
        source = save(f"{folder}/x", inner__w=np.array([1.0, 2.0], "f"), many__0=np.array([3.0], "f"))
        for target in (module, tf.train.Checkpoint(inner=module.inner, many=module.many)):
            module.inner.w.assign([0.0, 0.0])
            checkpoints.restore(source, target)
            assert module.inner.w.numpy().tolist() == [1.0, 2.0] and module.many[0].numpy() == 3.0
    listed = [tf.Variable([0.0, 0.0], name="w"), tf.Variable([0.0], name="v")]
    assert pairs({"w": np.zeros(2, "f"), "v": np.zeros(1, "f")}, listed) == {"w": "w", "v": "v"}
    error = raised(UsageError, lambda: pairs({"w": np.zeros(2, "f")}, keras.Sequential([keras.layers.Dense(2)])))
    assert "no variables" in str(error) and "build()" in str(error)
    raised(UsageError, lambda: pairs({"w": np.zeros(2, "f")}, 3))


def check_variables_of_graphs_are_refused() -> None:
    """Their assign() would only add an operation."""
    with tf.Graph().as_default():
        of_graph = {"dense/kernel": tf.compat.v1.get_variable("dense/kernel", [2, 3], use_resource=True)}
        error = raised(UsageError, lambda: pairs(layer("dense"), of_graph))
        assert "porting.function" in str(error)
        raised(
            UsageError, lambda: pairs(layer("dense"), {"x": tf.compat.v1.get_variable("x", [2], use_resource=False)})
        )
    error = raised(UsageError, lambda: pairs(layer("dense"), of_graph))
    assert "'dense/kernel'" in str(error)


def check_a_module_of_a_graph() -> None:
    """What porting.function() makes of a graph is filled by its names, and from what convert() writes in plain TF 2."""

    def build(x: Any) -> Any:
        from tf1sessions import tf1

        return tf1.layers.dense(tf1.layers.dense(x, 4, tf1.tanh, name="hidden"), 1, name="out")

    module = porting.function(build, inputs=[tf.TensorSpec([None, 3], tf.float32)])
    values = recorded()["train_adam"]["values"]
    checkpoints.restore(file_of("train_adam"), module, optimizer=False)
    np.testing.assert_allclose(module.by_name["hidden/kernel"], values["hidden/kernel"], rtol=1e-6)
    module.by_name["hidden/kernel"].assign(tf.zeros([3, 4]))
    with tempfile.TemporaryDirectory() as folder:
        checkpoints.convert(file_of("train_adam"), f"{folder}/objects")
        tf.train.Checkpoint(module).restore(f"{folder}/objects").assert_existing_objects_matched()
    np.testing.assert_allclose(module.by_name["hidden/kernel"], values["hidden/kernel"], rtol=1e-6)


def check_layers_of_one_name() -> None:
    """Two variables of one name get the paths to them."""

    class Twice(keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.first = keras.layers.Dense(2, name="same")
            self.second = keras.layers.Dense(2, name="same")

        def call(self, x: Any) -> Any:
            return self.second(self.first(x))

    model = Twice()
    model(np.zeros([1, 2], "f"))
    with tempfile.TemporaryDirectory() as folder:
        plan = checkpoints.save_named(model, f"{folder}/x", dry_run=True)
        names = [name for row in plan.rows for name in row.targets]
        assert len(names) == len(set(names)) == 4 and any("second" in name for name in names), names


def check_saving_under_other_names() -> None:
    model = made(keras, (3,), keras.layers.Dense(2, name="top"))
    with tempfile.TemporaryDirectory() as folder:
        checkpoints.save_named(model, f"{folder}/x", names={"top": "net/dense"})
        assert set(checkpoints.read(f"{folder}/x")) == {"net/dense/kernel", "net/dense/bias"}
        error = raised(
            CheckpointMismatchError,
            lambda: checkpoints.save_named(model, f"{folder}/y", names={"top/bias": "top/kernel"}),
        )
        assert "'top/kernel'" in str(error)
        raised(CheckpointMismatchError, lambda: checkpoints.save_named(model, f"{folder}/y", names={"tip": "x"}))
        checkpoints.save_named(model, f"{folder}/y", kept={"top/bias": "not there"})
        assert set(checkpoints.read(f"{folder}/y")) == {"top/kernel"}
        raised(UsageError, lambda: checkpoints.save_named(model, f"{folder}/x"))


def check_the_guide_shows_the_plan() -> None:
    page = Path(__file__).resolve().parents[2] / "migration_notes" / "10-checkpoints.md"
    shown = page.read_text("utf-8").partition("```text\n")[2].partition("```")[0]
    plan = checkpoints.plan(file_of("train_adam"), network(keras), optimizer_of("keras", "adam"))
    assert f"{plan}\n" == shown


# ---------------------------------------------------------------------------------------------------------- assignment


def check_assignments_are_the_best() -> None:
    rng = np.random.RandomState(0)
    for _ in range(200):
        size = rng.randint(1, 6)
        costs = rng.randint(0, 6, (size, size)).astype(float)
        columns, _, _ = assignment.assign(costs)
        best = min(sum(costs[i, p[i]] for i in range(size)) for p in itertools.permutations(range(size)))
        assert costs[np.arange(size), columns].sum() == best


def _all_best(costs: Any) -> list[dict[int, int]]:
    rows, columns = costs.shape
    for count in range(min(rows, columns), -1, -1):
        found = [
            (sum(costs[pair] for pair in zip(some, others, strict=True)), dict(zip(some, others, strict=True)))
            for some in itertools.combinations(range(rows), count)
            for others in itertools.permutations(range(columns), count)
        ]
        found = [each for each in found if np.isfinite(each[0])]
        if found:
            least = min(cost for cost, _ in found)
            return [each for cost, each in found if abs(cost - least) < 1e-9]
    return [{}]


def check_what_is_undecided_is_what_several_assignments_differ_in() -> None:
    rng = np.random.RandomState(1)
    for _ in range(300):
        costs = rng.randint(0, 4, (rng.randint(1, 5), rng.randint(1, 5))).astype(float)
        costs[rng.rand(*costs.shape) < 0.3] = np.inf
        best = _all_best(costs)
        clear, open_rows = assignment.undecided(costs, 0.0)
        for row in range(len(costs)):
            could = {each.get(row) for each in best}
            if len(could) > 1:
                assert set(open_rows[row]) == could - {None} and row not in clear, (costs, row)
            else:
                assert clear.get(row) == could.pop() and row not in open_rows, (costs, row)
