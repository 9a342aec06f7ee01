"""Uses of imported names: in one file, by scope where a name is bound twice, and over the files of a project."""

from __future__ import annotations

from pathlib import Path

import pytest

from tf1sessions.source import files
from tf1sessions.source.program import Unread
from tf1sessions.source.projects import read_project
from tf1sessions.source.uses import FileUses, canonical, read_file

HEAD = "import tensorflow as tf\n"


def read(text: str) -> FileUses:
    found = read_file(files.SourceText(Path("a.py"), "a.py", text))
    assert isinstance(found, FileUses)
    return found


def names(text: str) -> list[str]:
    """The uses of TensorFlow in ``text``, in order."""
    return [use.name for use in read(text).uses if use.name.partition(".")[0] == "tf"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (HEAD + "tf.layers.dense(x, 3)", "tf.layers.dense"),
        ("import tensorflow\ntensorflow.nn.relu(x)", "tf.nn.relu"),
        ("import tensorflow.contrib.slim\ntensorflow.contrib.slim.conv2d(x)", "tf.contrib.slim.conv2d"),
        ("import tensorflow.contrib.slim as s\ns.conv2d(x)", "tf.contrib.slim.conv2d"),
        ("from tensorflow.contrib import slim as s\ns.conv2d(x)", "tf.contrib.slim.conv2d"),
        ("from tensorflow import layers\nlayers.dense(x)", "tf.layers.dense"),
        ("import tensorflow.compat.v1 as tf\ntf.Session()", "tf.Session"),
        (HEAD + "tf.compat.v1.Session()", "tf.Session"),
        (HEAD + "tfl = tf.layers\ntfl.dense(x)", "tf.layers tf.layers.dense"),
        (HEAD + "a = tf.contrib\nb = a.layers\nb.conv2d(x)", "tf.contrib tf.contrib.layers tf.contrib.layers.conv2d"),
        ("def f():\n    import tensorflow as t\n    return t.nn.relu", "tf.nn.relu"),
        (
            "try:\n    import tensorflow.compat.v1 as tf\nexcept ImportError:\n    import tensorflow as tf\ntf.nn",
            "tf.nn",
        ),
        (HEAD + 'getattr(tf, "contrib")', "tf tf.contrib"),
        ('import importlib\nimportlib.import_module("tensorflow.contrib")', "tf.contrib"),
        (HEAD + "tf.train.AdamOptimizer(1).minimize(x)", "tf.train.AdamOptimizer"),
        (HEAD + "@tf.RegisterGradient('A')\ndef f(op, g): return g", "tf.RegisterGradient"),
        (HEAD + "class A(tf.keras.Model): pass", "tf.keras.Model"),
        (HEAD + 'f"{tf.__version__}"', "tf.__version__"),
    ],
)
def test_a_use(text: str, expected: str):
    assert names(text) == expected.split()


@pytest.mark.parametrize(
    "text",
    [
        "import numpy as tf\ntf.layers",
        "class Net:\n    def f(self): return self.layers.dense",
        "def f(tf): return tf.layers",
        "from models import layers\nlayers.dense(x)",
        "x = 'tf.layers.dense'  # tf.layers",
        'getattr(object, "contrib")',
    ],
)
def test_no_use(text: str):
    assert names(text) == []


def test_a_name_that_is_bound_twice_is_decided_by_scope():
    text = (
        HEAD + "def f(tf):\n    return tf.layers\ndef g():\n    return tf.nn\ndef h():\n    tf = []\n    tf.append(1)\n"
    )
    found = read(text)
    assert [(use.name, use.node.lineno) for use in found.uses] == [("tf.nn", 5)]
    assert [(use.name, use.node.lineno) for use in found.unclear] == [("tf.layers", 3), ("tf.append", 8)]


def test_imports_of_two_things_by_one_name_are_unclear():
    found = read("if a:\n    import tensorflow as t\nelse:\n    import torch as t\nt.nn.relu(x)\n")
    assert found.uses == [] and [use.node.lineno for use in found.unclear] == [5]


def test_a_use_knows_its_call_and_whether_it_begins_with_the_import():
    dense, loose = read(HEAD + "tfl = tf.layers\ntfl.dense(x)\n").uses[1], read(HEAD + "f(tf.nn.relu)").uses[0]
    assert dense.call is not None and not dense.direct
    assert loose.call is None and loose.direct


def test_symbols_keep_how_they_were_imported():
    assert read("import tensorflow.compat.v1 as tf\ntf.Session()").uses[0].symbol == "tensorflow.compat.v1.Session"


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("tensorflow", "tf"),
        ("tensorflow.compat.v1", "tf"),
        ("tensorflow.compat.v1.nn", "tf.nn"),
        ("tensorflow.compat.v1x", "tf.compat.v1x"),
        ("tensorflow_hub.Module", "tensorflow_hub.Module"),
        ("numpy", "np"),
        ("numpy.random", "np.random"),
    ],
)
def test_canonical(symbol: str, name: str):
    assert canonical(symbol) == name


# -- projects ---------------------------------------------------------------------------------------------------------


def project(folder: Path, **texts: str) -> dict[str, list[str]]:
    """Write files and read them: module -> its uses of TensorFlow. ``a__b`` is the module ``a.b``."""
    for name, text in texts.items():
        path = folder.joinpath(*name.split("__")).with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    found = read_project(map(files.read, files.find([folder])), [folder])
    assert not found.unread
    return {file.module: [use.name for use in file.uses if use.name.startswith("tf")] for file in found.files}


def test_what_another_file_imported(tmp_path: Path):
    found = project(
        tmp_path,
        common=HEAD + "from tensorflow.contrib import slim\nlayers = tf.layers\n",
        a="from common import tf, slim, layers\nslim.conv2d(layers.dense(tf.ones([1])))\n",
        b="import common\ncommon.slim.conv2d(1)\ncommon.helper(2)\n",
        c="from common import *\ntf.nn.relu(1)\n",
        d="from a import tf as t\nt.nn.relu(1)\n",
        e="from common import *\nimport numpy as tf\ntf.nn\n",
    )
    assert found["a"] == ["tf.contrib.slim.conv2d", "tf.layers.dense", "tf.ones"]
    assert found["b"] == ["tf.contrib.slim.conv2d"]
    assert found["c"] == ["tf.nn.relu"]
    assert found["d"] == ["tf.nn.relu"]
    assert found["e"] == []


def test_packages_and_relative_imports(tmp_path: Path):
    found = project(
        tmp_path,
        pkg____init__="",
        pkg__base=HEAD,
        pkg__net="from .base import tf\nfrom . import base\ntf.nn.relu(base.tf.ones([1]))\n",
        train="from pkg.net import tf\ntf.Session()\n",
    )
    assert found["pkg.net"] == ["tf.nn.relu", "tf.ones"]
    assert found["train"] == ["tf.Session"]


def test_files_that_import_from_each_other_end(tmp_path: Path):
    assert project(tmp_path, a="from b import x\nx.y\n", b="from a import x\nx.y\n") == {"a": [], "b": []}


@pytest.mark.parametrize(
    ("text", "reason"),
    [("print 'a'\n", "it is Python 2: the print statement"), ("def f(:\n", "it is not Python: ")],
)
def test_files_that_cannot_be_parsed(text: str, reason: str):
    found = read_file(files.SourceText(Path("a.py"), "a.py", "\n" + text))
    assert isinstance(found, Unread) and found.reason.startswith(reason) and found.place.line == 2


def test_deep_expressions_are_no_end():
    found = read_file(files.SourceText(Path("a.py"), "a.py", "(" * 10_000))
    assert isinstance(found, Unread)
    assert isinstance(read_file(files.SourceText(Path("a.py"), "a.py", "x = " + "1 + " * 400 + "1")), FileUses)
