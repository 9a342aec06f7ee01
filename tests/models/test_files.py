"""What is at a path: every kind is found, and whatever is not a model is an error that says so, before TensorFlow."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support import PythonRun

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "data" / "models"

_PROGRAM = """
import errno, os, shutil, sys, zipfile
import numpy as np
import tf1sessions as t1
from tf1sessions.errors import ModelFileError, Tf1SessionsError
from tf1sessions.models import checks, files, parsing, weights
from tf1sessions.runtime import tf

GOLDEN = sys.argv[1]

def reported(path, **options):
    try:
        artifact = files.read(path, **options)
    except Tf1SessionsError as error:
        return [type(error).__name__, str(error)]
    return [artifact.kind, os.path.relpath(artifact.checkpoint, GOLDEN) if artifact.checkpoint else None]

def put(name, content):
    os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
    with open(name, "wb") as file: file.write(content)
    return name

def content(name):
    with open(os.path.join(GOLDEN, name), "rb") as file: return file.read()

# kinds
report(kinds={name: reported(os.path.join(GOLDEN, name)) for name in (
    "frozen.pb", "old_ops.pbtxt", "saved_tags", "saved_main_op", "saved_main_op/saved_model.pb", "v1_format",
    "training",
    "training/model.ckpt-7", "training/model.ckpt-7.meta", "training/model.ckpt-7.index",
    "training/model.ckpt-7.data-00000-of-00001", "training/checkpoint", "bundle_regression",
    "bundle_regression/00000003",
)})
os.makedirs("here", exist_ok=True)
for name in os.listdir(os.path.join(GOLDEN, "training")):
    shutil.copy(os.path.join(GOLDEN, "training", name), "here")
with open("here/checkpoint", "w") as file: file.write('model_checkpoint_path: "/elsewhere/old/model.ckpt-7"\\n')
report(moved=reported("here")[0], notes=list(files.read("here").notes))
os.remove("here/model.ckpt-7.meta")
report(no_meta=reported("here/model.ckpt-7"), relative=reported("./here/nobody"))
put("plain/graph_without_ending", content("frozen.pb"))
report(no_ending=reported("plain/graph_without_ending"))

# checkpoints of which a file is damaged, or none
from tf1sessions.porting import checkpoints

def read_all(path):
    # by every way that leads to a checkpoint
    def load(): t1.load(path, outputs=["some_name/Read/ReadVariableOp:0"]).close()
    def values(): dict(checkpoints.read(path))
    found = {}
    for way in (load, values, lambda: files.checkpoint_reader(files.checkpoint_prefix(path))):
        try:
            way()
        except Exception as error:
            found[f"{type(error).__name__}: {error}"] = type(error).__name__
    return found

def checkpoint(version):
    folder = f"damaged{len(os.listdir('.'))}"
    os.mkdir(folder)
    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable("some_name", initializer=tf.ones([3]))
        session.run(tf.global_variables_initializer())
        tf.train.Saver(write_version=version).save(session, f"./{folder}/model")
    return folder

def fifo(path): os.remove(path); os.mkfifo(path)
def device(path): os.remove(path); os.symlink("/dev/zero", path)
def sparse(path):
    with open(path, "wb") as file: file.truncate(1 << 40)
def no_text(path):
    with open(path, "wb") as file: file.write(b'model_checkpoint_path: "\\xff\\xfe/model"')
def bad_name(path):  # its block's checksum is wrong then, too
    with open(path, "rb") as file: raw = file.read()
    with open(path, "wb") as file: file.write(raw.replace(b"some_name", b"\\xff\\xfe\\xfd_name"))
def cut(path):
    with open(path, "r+b") as file: file.truncate(os.path.getsize(path) // 2)

damage = {}
for way in (fifo, device, sparse, no_text, bad_name, cut):
    for version, ends in (2, ("checkpoint", "model.index", "model.data-00000-of-00001")), (1, ("checkpoint", "model")):
        for end in (f"/{end}" for end in ends):
            folder = checkpoint(version)
            way(folder + end)
            for path in (folder, folder + "/model"):
                damage[f"{way.__name__} {version} {path[len(folder):]} {end}"] = read_all(path)
report(damage=damage)

# what is not a model
frozen = content("frozen.pb")
with zipfile.ZipFile("model.zip", "w") as archive: archive.writestr("a", "b")
report(wrong={
    "nothing": reported("nobody.pb"),
    "folder": reported("plain"),
    "empty": reported(put("empty.pb", b"")),
    "zip": reported("model.zip"),
    "png": reported(put("image.pb", b"\\x89PNG\\r\\n\\x1a\\n" + bytes(200))),
    "zeros": reported(put("zeros.pb", bytes(5000))),
    "text": reported(put("text.pb", b"node: this is no graph\\n")),
    "prose": reported(put("prose.pb", b"Dear Sir or Madam,\\n")),
    "pbtxt": reported(put("broken.pbtxt", content("old_ops.pbtxt").replace(b"op:", b"opp:", 1))),
    "nested": reported(put("nested.pbtxt", b"node { attr { value { list { func { " * 2000)),
    "claim": reported(put("claim.pb", b"\\x0a\\x80\\x80\\x80\\x80\\x0c" + frozen[2:])),
    "null": reported("a\\0b"), "number": reported(""), "scheme": reported("nobody://there/frozen.pb"),
    "tags": reported(os.path.join(GOLDEN, "saved_tags"), tags=["nobody"]),
})
cut = {}
for size in sorted({*range(1, len(frozen), max(len(frozen) // 60, 1)), len(frozen) - 1}):
    cut[size] = reported(put("cut.pb", frozen[:size]))
    if cut[size][0] == "graph":  # cut between two nodes: a graph, but not a whole one
        try:
            t1.load("cut.pb").close()
            cut[size] = ["loaded", ""]
        except Tf1SessionsError as error:
            cut[size] = [type(error).__name__, str(error)]
report(cut={str(size): end for size, end in cut.items()})
os.makedirs("locked"); put("locked/model.pb", frozen); os.chmod("locked/model.pb", 0)
report(locked=reported("locked/model.pb") if os.getuid() else ["ModelFileError", "cannot be read: Permission denied"])

def refuses(path): raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)

listdir, os.listdir = os.listdir, refuses  # root may enter any folder
report(unreadable=reported(os.path.join(GOLDEN, "saved_tags")))
os.listdir = listdir

# an asset outside of its folder
saved = parsing.MESSAGES["saved model"]()
saved.ParseFromString(content("saved_main_op/saved_model.pb"))
asset = saved.meta_graphs[0].asset_file_def.add(filename="../../etc/passwd")
asset.tensor_info.name = "vocabulary:0"
put("asset/saved_model.pb", saved.SerializeToString())
report(asset=reported("asset"))

asset.filename = f"words{chr(0)}.txt"
put("zero/saved_model.pb", saved.SerializeToString())
report(zero=reported("zero"))
typed = parsing.MESSAGES["saved model"]()
typed.CopyFrom(saved)
typed.meta_graphs[0].ClearField("asset_file_def")
for signature in typed.meta_graphs[0].signature_def.values():
    for info in (*signature.inputs.values(), *signature.outputs.values()):
        info.dtype = 65
put("typed/saved_model.pb", typed.SerializeToString())
try:
    t1.load("typed")
except Tf1SessionsError as error:
    report(typed=[type(error).__name__, str(error)])

# one for which a reader would wait for ever
saved.meta_graphs[0].asset_file_def[0].filename = "words.txt"
put("piped/saved_model.pb", saved.SerializeToString())
os.mkdir("piped/assets")
os.mkfifo("piped/assets/words.txt")
report(piped=reported("piped"))

# links in the model that lead out of it; the model may itself lie behind a link
saved.meta_graphs[0].asset_file_def[0].filename = "words.txt"
put("secret.txt", b"secret")
for name in ("linked", "linked_inside", "linked_folder", "linked_variables"):
    put(f"{name}/saved_model.pb", saved.SerializeToString())
    os.makedirs(f"{name}/variables", exist_ok=True)
for name in ("linked", "linked_inside"):
    os.makedirs(f"{name}/assets")
os.symlink("../../secret.txt", "linked/assets/words.txt")
put("linked_inside/assets/real.txt", b"words")
os.symlink("real.txt", "linked_inside/assets/words.txt")
put("words.txt", b"secret")
os.symlink("..", "linked_folder/assets")
os.symlink("../../secret.txt", "linked_variables/variables/variables.index")
os.symlink("linked_inside", "model_behind_a_link")
report(links={
    name: reported(name)
    for name in ("linked", "linked_inside", "linked_folder", "linked_variables", "model_behind_a_link")
})

# large constants: they stay in the file, and only where all is as it should be
rng = np.random.RandomState(0)
arrays = {"a": rng.randn(100, 100).astype("f"), "b": rng.randint(0, 99, [70, 70]), "c": rng.randn(60, 60)}
arrays["d"] = np.eye(2)
with tf.Graph().as_default() as graph:
    for name, array in arrays.items(): tf.constant(array, name=name)
    tf.constant(["x" * 20000], name="text")
graph_def = graph.as_graph_def()
values = graph_def.node.add(name="values", op="Const")
values.CopyFrom(next(node for node in graph_def.node if node.name == "a"))
values.name = "values"
values.attr["value"].tensor.ClearField("tensor_content")
values.attr["value"].tensor.float_val.extend(arrays["a"].ravel().tolist())
put("large.pb", graph_def.SerializeToString())
artifact = files.read("large.pb")
report(
    left_out=sorted(artifact.contents),
    equal=bool(np.array_equal(artifact.contents["a"].array(np.float32, [100, 100]), arrays["a"])
               and np.array_equal(artifact.contents["values"].array(np.float32, [100, 100]), arrays["a"])
               and np.array_equal(artifact.contents["b"].array(np.int64, [70, 70]), arrays["b"])),
    aligned=artifact.contents["a"].array(np.float32, [100, 100]).ctypes.data % 64,
    whole=sorted(node.name for node, other in zip(artifact.whole_graph_def().node, graph_def.node)
                 if node != other),
    slim=artifact.graph_def.ByteSize() < 25_000,
)
for name, change in {
    "short": lambda tensor: setattr(tensor, "tensor_content", tensor.tensor_content[:-4]),
    "shape": lambda tensor: tensor.tensor_shape.dim.add(size=3),
    "dtype": lambda tensor: setattr(tensor, "dtype", 9),
    "more": lambda tensor: tensor.float_val.append(1.0),
}.items():
    changed = type(graph_def)(); changed.CopyFrom(graph_def)
    change(changed.node[0].attr["value"].tensor)
    put(name + ".pb", changed.SerializeToString())
    read = files.read(name + ".pb")
    try:
        t1.load(name + ".pb", outputs=["a:0"]).close()
        end = "loaded"
    except Tf1SessionsError as error:
        end = f"{type(error).__name__}: {error}"
    report(**{f"tensor_{name}": [sorted(read.contents), end]})
os.truncate("large.pb", os.path.getsize("large.pb") - 60000)
try:
    artifact.contents["values"].array(np.float32, [100, 100]); report(truncated="read")
except ModelFileError as error:
    report(truncated=str(error))
"""


@pytest.fixture(scope="module")
def found(run_python: Callable[..., PythonRun]) -> dict[str, Any]:
    results: dict[str, Any] = run_python(_PROGRAM, str(GOLDEN)).results
    return results


def test_every_kind_is_found(found: dict[str, Any]) -> None:
    trained = ["checkpoint", "training/model.ckpt-7"]
    bundle = ["session bundle", "bundle_regression/00000003/export"]
    kinds = found["kinds"]
    assert kinds.pop("bundle_regression")[0] == kinds.pop("bundle_regression/00000003")[0] == bundle[0]
    assert kinds == {
        "frozen.pb": ["graph", None],
        "old_ops.pbtxt": ["graph", None],
        "saved_tags": ["saved model", "saved_tags/variables/variables"],
        "saved_main_op": ["saved model", "saved_main_op/variables/variables"],
        "saved_main_op/saved_model.pb": ["saved model", "saved_main_op/variables/variables"],
        "v1_format": ["checkpoint", "v1_format/model.ckpt"],
        "training": trained,
        "training/model.ckpt-7": trained,
        "training/model.ckpt-7.meta": trained,
        "training/model.ckpt-7.index": trained,
        "training/model.ckpt-7.data-00000-of-00001": trained,
        "training/checkpoint": trained,
    }
    assert found["no_ending"] == ["graph", None]


def test_a_folder_that_was_moved(found: dict[str, Any]) -> None:
    assert found["moved"] == "checkpoint"
    assert any("model.ckpt-7 is the newest checkpoint" in note for note in found["notes"])
    kind, text = found["no_meta"]
    assert kind == "ModelFileError" and "values and no graph" in text and "checkpoint=" in text


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nothing", ["there is no model at", "nobody.pb"]),
        ("folder", ["no saved_model.pb"]),
        ("empty", ["is empty"]),
        ("zip", ["is not a model"]),
        ("png", ["is not a model"]),
        ("zeros", ["is not a model"]),
        ("text", ["is a text"]),
        ("prose", ["is not a model"]),
        ("pbtxt", ["is a text", "opp"]),
        ("nested", ["is a text"]),
        ("claim", ["claims 3221225472 bytes"]),
        ("null", ["null byte"]),
        ("scheme", ["nobody://there/frozen.pb cannot be read", "'nobody' not implemented"]),
        ("number", ["path is ''"]),
        ("tags", ["['nobody']", "['gpu', 'serve']"]),
    ],
)
def test_what_is_not_a_model(found: dict[str, Any], name: str, words: list[str]) -> None:
    kind, text = found["wrong"][name]
    assert kind in ("ModelFileError", "UsageError")
    assert [word for word in words if word not in text] == []


def test_a_file_that_was_cut_off(found: dict[str, Any]) -> None:
    ends = [kind for kind, _ in found["cut"].values()]
    assert len(ends) > 50
    # One that ends between two nodes may still be a graph; all others are refused.
    assert set(ends) <= {"ModelFileError", "ModelError", "UsageError", "loaded"}
    assert ends.count("ModelFileError") > 0.8 * len(ends)
    assert found["locked"][0] == "ModelFileError" and "cannot be read" in found["locked"][1]


def test_a_folder_that_may_not_be_read(found: dict[str, Any]) -> None:
    kind, text = found["unreadable"]
    assert kind == "ModelFileError" and "saved_tags" in text and "cannot be read: Permission denied" in text, text


def test_damaged_checkpoints_are_errors_of_the_file(found: dict[str, Any]) -> None:
    seen = {case: errors for case, errors in found["damage"].items() if errors}
    assert len(seen) > 20
    for case, errors in seen.items():
        assert set(errors.values()) == {"ModelFileError"}, (case, errors)
    assert any("is a pipe, a socket or a device" in error for error in seen["fifo 2  /checkpoint"])
    assert any("it is not what a saver writes" in error for error in seen["sparse 1  /checkpoint"])


def test_an_asset_is_a_file(found: dict[str, Any]) -> None:
    kind, text = found["piped"]
    assert kind == "ModelFileError" and "words.txt is a pipe, a socket or a device" in text


def test_assets_stay_in_their_folder(found: dict[str, Any]) -> None:
    kind, text = found["asset"]
    assert kind == "ModelFileError" and "../../etc/passwd" in text
    kind, text = found["zero"]
    assert kind == "ModelFileError" and "words\\x00.txt', as no file can be" in text


def test_a_signature_of_an_unknown_type(found: dict[str, Any]) -> None:
    kind, text = found["typed"]
    assert kind == "ModelFileError" and "has the type 65, which TensorFlow does not know" in text


def test_links_that_lead_out_of_a_model_are_refused(found: dict[str, Any]) -> None:
    links = found["links"]
    for name in ("linked", "linked_folder", "linked_variables"):
        assert links[name][0] == "ModelFileError" and "symbolic link" in links[name][1], links
    assert {links["linked_inside"][0], links["model_behind_a_link"][0]} == {"saved model"}, links


def test_large_constants_stay_in_the_file(found: dict[str, Any]) -> None:
    assert found["left_out"] == ["a", "b", "c", "values"]
    assert found["equal"] and found["aligned"] == 0 and found["slim"]
    assert found["whole"] == ["values"]  # its bytes instead of its numbers, the rest as it was
    assert "cut off while it was read" in found["truncated"]


def test_a_constant_with_values_besides_its_bytes_is_left_to_tensorflow(found: dict[str, Any]) -> None:
    left_out, end = found["tensor_more"]
    assert "a" not in left_out and end == "loaded"


@pytest.mark.parametrize("wrong", ["short", "shape", "dtype"])
def test_a_constant_that_is_not_as_it_claims(found: dict[str, Any], wrong: str) -> None:
    left_out, end = found[f"tensor_{wrong}"]
    assert "a" not in left_out
    assert end.startswith("ModelFileError: the graph is malformed") and "'a'" in end
