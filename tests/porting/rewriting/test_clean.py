"""The step clean: texts before and after, near-misses, and equal graphs where a function's arguments changed."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable
from pathlib import Path

import porting_support
import pytest
from pages import NOTES, blocks
from support import PythonRun

from tf1sessions.porting.rewriting.rewrite import port
from tf1sessions.porting.rewriting.rules import clean_flags
from tf1sessions.source.files import SourceText
from tf1sessions.source.uses import FileUses

TF = "import tensorflow as tf\n"
TF2 = "import tensorflow as tf\ntf.compat.v1.disable_v2_behavior()\n"
KERAS = 'import os\n\nos.environ.setdefault("TF_USE_LEGACY_KERAS", "1")  # Keras 2, which TensorFlow 1 had\n'


ported = functools.partial(porting_support.ported, step="clean")

CASES = {
    "same": ("tf.nn.relu(tf.matmul(a, b))\n", "tf.nn.relu(tf.matmul(a, b))\n"),
    "v1 only": ("with tf.Session() as s: pass\n", "with tf.compat.v1.Session() as s: pass\n"),
    "renamed": ("tf.log(tf.random_uniform([1]))\n", "tf.math.log(tf.random.uniform([1]))\n"),
    "v1 by its own name": (
        "x = tf.compat.v1.placeholder(tf.float32)\nwith tf.compat.v1.Session() as s: pass\ny = tf.compat.v1.log(x)\n",
        "x = tf.compat.v1.placeholder(tf.float32)\nwith tf.compat.v1.Session() as s: pass\ny = tf.math.log(x)\n",
    ),
    "arguments below math": (
        "tf.math.reduce_sum(x, reduction_indices=[1])\ntf.math.argmax(x, 1)\ntf.math.argmax(x, 1, 'n', 0)\n",
        "tf.math.reduce_sum(x, axis=[1])\ntf.math.argmax(x, 1)\ntf.compat.v1.math.argmax(x, 1, 'n', 0)\n",
    ),
    "unknown": ("tf.no_such_name\ntf.__version__\n", "tf.compat.v1.no_such_name\ntf.__version__\n"),
    "arguments": (
        "tf.reduce_sum(x, 1, keep_dims=True)\ntf.nn.softmax(x, dim=0)\n",
        "tf.reduce_sum(x, 1, keepdims=True)\ntf.nn.softmax(x, axis=0)\n",
    ),
    "arguments that have no place": (
        "tf.reduce_sum(x, 1, True, 'n', [1])\ntf.argmax(x, 1, 'n', 0)\ntf.squeeze(*a)\ntf.expand_dims(x, **b)\n",
        "tf.compat.v1.reduce_sum(x, 1, True, 'n', [1])\ntf.compat.v1.argmax(x, 1, 'n', 0)\n"
        "tf.compat.v1.squeeze(*a)\ntf.compat.v1.expand_dims(x, **b)\n",
    ),
    "the function itself": ("map(tf.reduce_sum, x)\n", "map(tf.compat.v1.reduce_sum, x)\n"),
    "gfile": ("tf.gfile.Exists(filename=a)\n", "tf.io.gfile.exists(path=a)\n"),
    "an alias of a module": (
        "nn = tf.nn\nnn.relu(nn.dynamic_rnn(c, x))\n",
        "nn = tf.compat.v1.nn\nnn.relu(nn.dynamic_rnn(c, x))\n",
    ),
    "the package itself": (
        'f(tf)\nhasattr(tf, "contrib")\n',
        'f(tf.compat.v1)\nhasattr(tf.compat.v1, "contrib")\n',
    ),
    "whether the package is there": (
        "a = tf is None or f(None != tf)\nif tf and x: pass\nb = 1 if not tf else tf\nc = tf and tf.float32\n"
        "d = x or tf\n",
        "a = tf is None or f(None != tf)\nif tf and x: pass\nb = 1 if not tf else tf.compat.v1\nc = tf and tf.float32\n"
        "d = x or tf.compat.v1\n",
    ),
    "flags that are read early": (
        "tf.flags.DEFINE_string('a', 'b', 'c')\nFLAGS = tf.flags.FLAGS\nprint(FLAGS.a)\ntf.app.run()\n",
        "tf.compat.v1.flags.DEFINE_string('a', 'b', 'c')\nFLAGS = tf.compat.v1.flags.FLAGS\nprint(FLAGS.a)\n"
        "tf.compat.v1.app.run()\n",
    ),
    "comments and line breaks": (
        "x = tf.reduce_mean(  # why\n    y,\n    reduction_indices=[1])  # here\n",
        "x = tf.reduce_mean(  # why\n    y,\n    axis=[1])  # here\n",
    ),
    "a second name of tf.estimator stays ours": (
        "tf.contrib.tpu.TPUEstimatorSpec(m)\n",
        "from tf1sessions import contrib as tf_contrib\ntf_contrib.tpu.TPUEstimatorSpec(m)\n",
    ),
    "estimator stays ours": (
        "tf.estimator.RunConfig()\n",
        "from tf1sessions import estimator as tf_estimator\ntf_estimator.RunConfig()\n",
    ),
}


@pytest.mark.parametrize(("before", "after"), CASES.values(), ids=CASES.keys())
def test_a_file(before: str, after: str):
    found = ported(TF + before)
    assert found.after.text == TF2 + after
    ast.parse(found.after.text)
    again = port([found.after], "clean")
    assert [file.is_changed for step in again for file in step.files] == [False] * len(again)


def test_flags_and_app_become_absl():
    before = (
        "flags = tf.app.flags\nflags.DEFINE_string('a', default_value='b', docstring='c')\n"
        "tf.flags.DEFINE_integer('n', 1, 'x')\nFLAGS = flags.FLAGS\n\n\ndef main(_):\n    print(FLAGS.a)\n\n\n"
        "if __name__ == '__main__':\n    tf.app.run()\n"
    )
    assert ported(TF + before).after.text == "from absl import app\n" + TF2 + (
        "from absl import flags\nflags.DEFINE_string('a', default='b', help='c')\n"
        "flags.DEFINE_integer('n', 1, 'x')\nFLAGS = flags.FLAGS\n\n\ndef main(_):\n    print(FLAGS.a)\n\n\n"
        "if __name__ == '__main__':\n    app.run(main)\n"
    )


def test_second_names_of_contrib_go_and_their_import_with_them():
    before = "cell = tf.contrib.rnn.GRUCell(3)\ntf.contrib.layers.fully_connected(x, 3)\n"
    kept = "from tf1sessions import contrib as tf_contrib\n"
    assert ported(TF + before).after.text == KERAS + TF2 + kept + (
        "cell = tf.compat.v1.nn.rnn_cell.GRUCell(3)\ntf_contrib.layers.fully_connected(x, 3)\n"
    )
    assert ported(TF + before.partition("\n")[0]).after.text == KERAS + TF2 + (
        "cell = tf.compat.v1.nn.rnn_cell.GRUCell(3)"
    )


OWN = "from tensorflow.contrib import rnn\n"


@pytest.mark.parametrize(
    ("code", "others", "is_kept"),
    [
        ("rnn.GRUCell(3)\n", {}, False),
        ("rnn.GRUCell(3)\n", {"other": TF + OWN + "rnn.LSTMBlockCell(3)\n"}, False),
        ("rnn.GRUCell(3)\nrnn.LSTMBlockCell(3)\n", {}, True),
        ("rnn.GRUCell(3)\n__all__ = ['rnn']\n", {}, True),
        ("rnn.GRUCell(3)\n", {"other": "from program import rnn\nrnn.LSTMBlockCell(3)\n"}, True),
        ("rnn.GRUCell(3)\n", {"other": "from program import *\nrnn.LSTMBlockCell(3)\n"}, True),
        ("rnn.GRUCell(3)\n", {"other": "import program\nprogram.rnn.LSTMBlockCell(3)\n"}, True),
        ("rnn.GRUCell(3)\n", {"__init__": OWN}, False),
    ],
)
def test_an_import_of_contrib_that_nothing_needs_any_more_goes(code: str, others: dict[str, str], is_kept: bool):
    files = {"program": TF + OWN + code, **others}
    sources = [SourceText(Path(f"{name}.py"), f"{name}.py", text) for name, text in files.items()]
    found = {file.before.path.stem: file.after.text for file in port(sources, "clean")[-1].files}
    assert ("from tf1sessions.contrib import rnn\n" in found["program"]) == is_kept
    assert "__init__" not in found or "import rnn" in found["__init__"]


def test_a_file_in_which_the_name_is_something_else_too_keeps_its_names():
    text = TF + "def f(tf):\n    return tf.log\ntf.log(x)\n"
    found = ported(text)
    assert found.after.text.startswith("import tensorflow.compat.v1 as tf\n")
    (note,) = [note for note in found.notes if note.kind == "by hand"]
    assert note.place.line == 4 and "give it another name" in note.what


@pytest.mark.parametrize("code", ["eval('tf.Session()')", "exec('s = %s.Session()' % 'tf')", "globals()['tf'].log(x)"])
def test_a_file_in_which_a_text_is_code_keeps_its_names(code: str):
    found = ported(TF + f"x = tf.log(1.0)\n{code}\n")
    assert found.after.text.startswith("import tensorflow.compat.v1 as tf\n") and "= tf.log(1.0)" in found.after.text
    (note,) = [note for note in found.notes if note.kind == "by hand"]
    assert note.place.line == 4 and "text that is run as code uses tf" in note.what


def test_texts_that_are_no_code_of_the_file_keep_nothing():
    text = "eval('1 + 1')\nprint('tf.log')\nre.search('tf')\n"
    assert ported(TF + text + "tf.log(x)\n").after.text == TF2 + text + "tf.math.log(x)\n"
    own = "def eval(name):\n    return name\n\n\neval('tf')\n"
    assert ported(TF + own).after.text == TF2 + own


def test_a_name_that_comes_from_another_file(tmp_path: Path):
    texts = {"common.py": TF, "net.py": "from common import tf\ntf.log(tf.layers.dense(x))\n"}
    sources = [SourceText(tmp_path / name, name, text) for name, text in texts.items()]
    common, net = port(sources, "clean")[-1].files
    assert common.after.text == KERAS + TF2
    assert net.after.text == "from common import tf\ntf.math.log(tf.compat.v1.layers.dense(x))\n"


def test_a_name_that_comes_from_a_file_that_keeps_it(tmp_path: Path):
    texts = {
        "common.py": TF + "def f(tf):\n    return tf.log\n",
        "net.py": "from common import *\ntf.log(x)\n",
        "train.py": "from common import *\n" + TF + "tf.log(x)\n",
    }
    sources = [SourceText(tmp_path / name, name, text) for name, text in texts.items()]
    common, net, train = port(sources, "clean")[-1].files
    assert common.after.text.startswith("import tensorflow.compat.v1 as tf\n")
    assert net.after.text == texts["net.py"]
    assert train.after.text == "from common import *\n" + TF2 + "tf.math.log(x)\n"


def test_a_file_is_searched_for_early_reads_once_not_for_each_use(monkeypatch: pytest.MonkeyPatch):
    searched: list[FileUses] = []
    search = clean_flags._reads_early

    def counted(file: FileUses) -> bool:
        searched.append(file)
        return search(file)

    monkeypatch.setattr(clean_flags, "_reads_early", counted)
    texts = [TF + "FLAGS = tf.flags.FLAGS\n" + "tf.flags.DEFINE_integer('n', 1, 'x')\n" * 3] * 2 + [
        TF + "tf.app.run(f)\n"
    ]
    sources = [SourceText(Path(f"a{number}.py"), f"a{number}.py", text) for number, text in enumerate(texts)]
    assert "from absl import flags" in port(sources, "clean")[-1].files[0].after.text
    assert 3 <= len(searched) == len({id(file) for file in searched})


def test_calls_whose_arguments_changed_make_equal_graphs(run_python: Callable[..., PythonRun]):
    code = Path(__file__).with_name("clean_argument_checks.py").read_text("utf-8")
    found = run_python(code).results
    assert found["differ"] == []
    assert found["tried"] > 100


def test_the_page_shows_what_is_done():
    before, expected = (block.text for block in blocks(NOTES / "port-clean.md", "py"))
    assert ported(before).after.text == expected
