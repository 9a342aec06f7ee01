"""The step v1: texts before and after, near-misses, and what holds for every file."""

from __future__ import annotations

import ast
import functools
from pathlib import Path

import porting_support
import pytest
from pages import NOTES, blocks

from tf1sessions.porting.rewriting.rewrite import port
from tf1sessions.source.files import SourceText

TF = "import tensorflow as tf\n"
V1 = "import tensorflow.compat.v1 as tf\ntf.disable_v2_behavior()\n"
KERAS = 'import os\n\nos.environ.setdefault("TF_USE_LEGACY_KERAS", "1")  # Keras 2, which TensorFlow 1 had\n'
CONTRIB = "from tf1sessions import contrib as tf_contrib\n"
ESTIMATOR = "from tf1sessions import estimator as tf_estimator\n"
MNIST = "tf1sessions.contrib.learn.datasets"


ported = functools.partial(porting_support.ported, step="v1")

CASES = {
    # imports of TensorFlow
    "as tf": (TF + "tf.Session()\n", V1 + "tf.Session()\n"),
    "by its name": (
        "import tensorflow\ntensorflow.Session()\n",
        "import tensorflow.compat.v1 as tensorflow\ntensorflow.disable_v2_behavior()\ntensorflow.Session()\n",
    ),
    "among others": ("import os, tensorflow as tf, sys\n", "import os, tensorflow.compat.v1 as tf, sys\n" + V1[34:]),
    "at the end": ("import tensorflow as tf", V1),
    "comments and docstring": (
        '#!/usr/bin/python\n"""Doc."""\nfrom __future__ import division\n# why\nimport tensorflow as tf  # here\n',
        '#!/usr/bin/python\n"""Doc."""\nfrom __future__ import division\n# why\n'
        "import tensorflow.compat.v1 as tf  # here\ntf.disable_v2_behavior()\n",
    ),
    "names": ("from tensorflow import flags as f, app\n", V1 + "\nfrom tensorflow.compat.v1 import flags as f, app\n"),
    "names after the package": (
        TF + "from tensorflow.train import Saver\n",
        V1 + "from tensorflow.compat.v1.train import Saver\n",
    ),
    "names before the package": (
        "from tensorflow.train import Saver\nimport tensorflow as t\n",
        "from tensorflow.compat.v1.train import Saver\nimport tensorflow.compat.v1 as t\nt.disable_v2_behavior()\n",
    ),
    "in try": (
        "try:\n    import tensorflow as tf\nexcept ImportError:\n    tf = None\n",
        "try:\n    import tensorflow.compat.v1 as tf\n    tf.disable_v2_behavior()\nexcept ImportError:\n"
        "    tf = None\n",
    ),
    "before others on its line": (
        TF[:-1] + "; x = tf.placeholder(tf.float32)\n",
        V1[:-1].replace("\n", "; ") + "; x = tf.placeholder(tf.float32)\n",
    ),
    "before a return on its line": (
        "def f():\n    a = 1; import tensorflow as tf; return tf\n",
        "def f():\n    a = 1; import tensorflow.compat.v1 as tf; tf.disable_v2_behavior(); return tf\n",
    ),
    "behind the beginnings of blocks": (
        "try: import tensorflow as tf\nexcept ImportError: tf = None\n",
        "try: import tensorflow.compat.v1 as tf; tf.disable_v2_behavior()\nexcept ImportError: tf = None\n",
    ),
    "with Keras, behind the beginnings of blocks": (
        "if not a: b = 1\nelse: import tensorflow as tf; tf.layers.dense(b, 1)\n",
        'if not a: b = 1\nelse: import os; os.environ.setdefault("TF_USE_LEGACY_KERAS", "1"); '
        "import tensorflow.compat.v1 as tf; tf.disable_v2_behavior(); tf.layers.dense(b, 1)\n",
    ),
    "in a function": (
        "def f():\n\timport tensorflow as tf\n\treturn tf.Session()\n",
        "def f():\n\timport tensorflow.compat.v1 as tf\n\ttf.disable_v2_behavior()\n\treturn tf.Session()\n",
    ),
    "line ends": (
        "import tensorflow as tf\r\ntf.contrib.rnn\r\n",
        (V1 + CONTRIB + "tf_contrib.rnn\n").replace("\n", "\r\n"),
    ),
    "several lines": (
        "from tensorflow import (\n    flags,  # one\n    app,\n)\n",
        V1 + "\nfrom tensorflow.compat.v1 import (\n    flags,  # one\n    app,\n)\n",
    ),
    # Keras
    "layers": (TF + "tf.layers.dense(x, 3)\n", KERAS + V1 + "tf.layers.dense(x, 3)\n"),
    "cells, os imported": (
        "import os\n" + TF + "tf.nn.rnn_cell.GRUCell(3)\n",
        "import os\n" + KERAS.partition("\n\n")[2] + V1 + "tf.nn.rnn_cell.GRUCell(3)\n",
    ),
    "keras inside": (
        TF + "from tensorflow.keras.layers import Dense\n",
        KERAS + V1 + "from tensorflow.compat.v1.keras.layers import Dense\n",
    ),
    "keras alone": (
        "from keras.layers.core import Dense\nimport keras.backend as K\n",
        KERAS + V1 + "\nfrom tensorflow.compat.v1.keras.layers import Dense\n"
        "import tensorflow.compat.v1.keras.backend as K\n",
    ),
    "keras's release": (
        TF + "print(tf.keras.__version__)\n",
        KERAS + "import tf_keras\n" + V1 + "print(tf_keras.__version__)\n",
    ),
    "keras's modules": (
        TF + "from keras.utils import np_utils, to_categorical as t\n",
        KERAS + V1 + "from tensorflow.compat.v1.keras import utils as np_utils\n"
        "from tensorflow.compat.v1.keras.utils import to_categorical as t\n",
    ),
    "keras inside python": (
        TF + "from tensorflow.python.keras.layers.core import Dense\n",
        KERAS + V1 + "from tensorflow.compat.v1.keras.layers import Dense\n",
    ),
    # inner addresses
    "still there": (
        TF + "from tensorflow.python.ops import array_ops\n",
        V1 + "from tensorflow.python.ops import array_ops\n",
    ),
    "a module that moved": (
        TF + "from tensorflow.python.ops import rnn_cell, array_ops as a\n",
        KERAS + V1 + "from tensorflow.compat.v1.nn import rnn_cell\nfrom tensorflow.python.ops import array_ops as a\n",
    ),
    "names that moved": (
        "from tensorflow.python.ops import control_flow_ops, math_ops\ncontrol_flow_ops.cond(math_ops.add(a, b))\n",
        V1 + "\nfrom tensorflow.python.ops import control_flow_ops, math_ops\ntf.cond(math_ops.add(a, b))\n",
    ),
    "a name that moved inside": (
        TF + "from tensorflow.python.util import nest\nnest.is_sequence(nest.flatten(x))\n",
        V1 + "from tensorflow.python.util import nest\nnest.is_nested(nest.flatten(x))\n",
    ),
    "shapes of so many dimensions": (
        TF + "from tensorflow.python.framework import tensor_shape as s\nf(s.scalar(), s.matrix(2, None))\n",
        V1 + "from tensorflow.python.framework import tensor_shape as s\n"
        "f(tf.TensorShape([]), tf.TensorShape([2, None]))\n",
    ),
    # before TensorFlow 1.0
    "names that left with 1.0": (
        TF + "f = tf.sub\nw = tf.train.SummaryWriter(d, g)\ntf.scalar_summary('loss', tf.mul(a, b))\n",
        V1 + "f = tf.subtract\nw = tf.summary.FileWriter(d, g)\ntf.summary.scalar('loss', tf.multiply(a, b))\n",
    ),
    "arguments that left with 1.0": (
        TF + "tf.image_summary('x', x, max_images=3)\ntf.batch_matmul(a, b, adj_y=True)\ntf.select(p, a, b)\n"
        "tf.concat(concat_dim=0, values=v)\n",
        V1 + "tf.summary.image('x', x, max_outputs=3)\ntf.matmul(a, b, adjoint_b=True)\ntf.where(p, a, b)\n"
        "tf.concat(axis=0, values=v)\n",
    ),
    "another order since 1.0": (
        TF + "tf.concat(-1, [a, b])\ntf.split(0, n, x)\ntf.nn.softmax_cross_entropy_with_logits(y, t)\n",
        V1 + "tf.concat([a, b], -1)\ntf.split(x, n, 0)\ntf.nn.softmax_cross_entropy_with_logits(logits=y, labels=t)\n",
    ),
    "a module that left with 1.0": (
        TF + "tf.nn.seq2seq.sequence_loss(a, b, c)\n",
        V1.replace("tf\n", f"tf\n{CONTRIB}", 1) + "tf_contrib.legacy_seq2seq.sequence_loss(a, b, c)\n",
    ),
    # since 1.15
    "a sentinel": (
        TF + "tf.nn.softmax_cross_entropy_with_logits(_sentinel=None, labels=t, logits=y)\n"
        "tf.nn.sigmoid_cross_entropy_with_logits(labels=t, _sentinel=None)\n",
        V1 + "tf.nn.softmax_cross_entropy_with_logits(labels=t, logits=y)\n"
        "tf.nn.sigmoid_cross_entropy_with_logits(labels=t)\n",
    ),
    "a name by position": (
        TF + "tf.nn.top_k(x, 2, True, 'best')\ntf.scatter_nd(i, u, [3], 'scattered')\ntf.nn.top_k(x, 2)\n",
        V1 + "tf.nn.top_k(x, 2, True, name='best')\ntf.scatter_nd(i, u, [3], name='scattered')\ntf.nn.top_k(x, 2)\n",
    ),
    "a parameter that was renamed": (
        TF + "tf.config.experimental.set_virtual_device_configuration(gpu, virtual_devices=d)\n",
        V1 + "tf.config.experimental.set_virtual_device_configuration(gpu, logical_devices=d)\n",
    ),
    "arguments that are not known": (
        TF + "tf.nn.top_k(*a)\ntf.nn.softmax_cross_entropy_with_logits(_sentinel=s, labels=t)\n",
        V1 + "tf.nn.top_k(*a)\ntf.nn.softmax_cross_entropy_with_logits(_sentinel=s, labels=t)\n",
    ),
    # contrib
    "contrib": (TF + "a = tf.contrib.layers.conv2d\n", V1 + CONTRIB + "a = tf_contrib.layers.conv2d\n"),
    "cells of contrib": (
        TF + "tf.contrib.rnn.LSTMCell(3)\n",
        KERAS + V1 + CONTRIB + "tf_contrib.rnn.LSTMCell(3)\n",
    ),
    "contrib by alias": (
        TF + "slim = tf.contrib.slim\nslim.conv2d(x)\n",
        V1 + CONTRIB + "slim = tf_contrib.slim\nslim.conv2d(x)\n",
    ),
    "contrib imported": (
        TF + "from tensorflow.contrib import slim as s, layers\nimport tensorflow.contrib.rnn as r\n",
        V1 + "from tf1sessions.contrib import slim as s, layers\nimport tf1sessions.contrib.rnn as r\n",
    ),
    "contrib with others": (
        TF + "from tensorflow import contrib, flags\n",
        V1 + "from tf1sessions import contrib\nfrom tensorflow.compat.v1 import flags\n",
    ),
    "contrib's inner addresses": (
        TF + "from tensorflow.contrib.layers.python.layers import utils, layers\n"
        "from tensorflow.contrib.framework.python.ops import add_arg_scope\n",
        V1 + "from tf1sessions.contrib.layers import utils, layers\n"
        "from tf1sessions.contrib.framework import add_arg_scope\n",
    ),
    "contrib's inner files that are others here": (
        TF + "from tensorflow.contrib.layers.python.layers import layers, utils\n"
        "from tensorflow.contrib.legacy_seq2seq.python.ops import seq2seq\n"
        "from tensorflow.contrib.lookup import lookup_ops as l\n"
        "from tensorflow.contrib.metrics.python.ops import metric_ops\nmetric_ops.streaming_curve_points(x, y)\n"
        "layers.conv2d(x, 3)\nutils.smart_cond(p, f, g)\nseq2seq.sequence_loss(a, b, c)\n",
        V1 + "from tf1sessions.contrib import layers\nfrom tf1sessions.contrib.layers import utils\n"
        "from tf1sessions.contrib import legacy_seq2seq as seq2seq\n"
        "from tf1sessions.contrib import lookup as l\n"
        "from tf1sessions.contrib import metrics as metric_ops\nmetric_ops.streaming_curve_points(x, y)\n"
        "layers.conv2d(x, 3)\nutils.smart_cond(p, f, g)\nseq2seq.sequence_loss(a, b, c)\n",
    ),
    "contrib's inner addresses written out": (
        TF + "tf.contrib.layers.python.layers.layers.conv2d(x)\ntf.contrib.layers.python.layers.layers.dropout(x)\n",
        V1 + CONTRIB + "tf_contrib.layers.conv2d(x)\ntf_contrib.layers.layers.dropout(x)\n",
    ),
    "contrib's inner file that is one here": (
        TF + "import tensorflow.contrib.layers.python.layers.layers as l\nl.dropout(x)\n",
        V1 + "import tf1sessions.contrib.layers.layers as l\nl.dropout(x)\n",
    ),
    "contrib's Keras": (
        TF + "from tensorflow.contrib.keras.api.keras.layers import Dense, LSTM as L\n"
        "from tensorflow.contrib.keras.api.keras import models\nDense(3)\n",
        KERAS + V1 + "from tensorflow.compat.v1.keras.layers import Dense, LSTM as L\n"
        "from tensorflow.compat.v1.keras import models\nDense(3)\n",
    ),
    "contrib, name taken": (
        TF + "tf_contrib = 1\ntf.contrib.rnn\n",
        V1 + "from tf1sessions import contrib as tf_contrib_\ntf_contrib = 1\ntf_contrib_.rnn\n",
    ),
    # estimator
    "estimator": (TF + "tf.estimator.Estimator(f)\n", V1 + ESTIMATOR + "tf_estimator.Estimator(f)\n"),
    "estimator imported": (
        TF + "from tensorflow import estimator as e\nfrom tensorflow.estimator import Estimator\n",
        V1 + "from tf1sessions import estimator as e\nfrom tf1sessions.estimator import Estimator\n",
    ),
    # examples
    "mnist": (
        TF + "from tensorflow.examples.tutorials.mnist import input_data\n",
        V1 + f"from {MNIST} import mnist as input_data\n",
    ),
    "mnist by its module": (
        TF + "import tensorflow.examples.tutorials.mnist.input_data as d\n",
        V1 + f"import {MNIST}.mnist as d\n",
    ),
    "a name of mnist": (
        TF + "from tensorflow.examples.tutorials.mnist.input_data import read_data_sets\n",
        V1 + f"from {MNIST}.mnist import read_data_sets\n",
    ),
}

NEAR_MISSES = [
    TF + "w = tf.Variable(tf.ones([2]))\nprint(w.numpy())\n",  # what step native writes
    V1 + "tf.Session()\n",
    V1 + "tf.concat([a, b], 1)\ntf.concat(1, 2)\ntf.concat(n, v)\ntf.split(x, 3, 0)\ntf.split(x, 3)\ntf.split(0, *v)\n",
    V1 + "tf.nn.softmax_cross_entropy_with_logits(logits=y, labels=t)\ntf.nn.sigmoid_cross_entropy_with_logits(*x)\n",
    "import numpy as np\nclass A:\n    def f(self): return self.mul(np.concat(1, [2]), tf.sub)\n",
    "import tensorflow.compat.v1 as tf\ntf.disable_eager_execution()\ntf.disable_v2_behavior()\n",
    "import numpy as tf\ntf.contrib.layers\n",
    "class A:\n    def f(self): return self.contrib.layers.dense\n",
    "x = 'import tensorflow as tf'  # tf.contrib\n",
    "import tensorflow_hub as hub\nhub.Module\n",
    "from .keras import layers\nfrom models import contrib\ncontrib.layers.conv2d()\n",
    "",
    "\ufeffx = 1",
]


@pytest.mark.parametrize(("before", "after"), CASES.values(), ids=CASES.keys())
def test_a_file(before: str, after: str):
    found = ported(before)
    assert found.after.text == after
    ast.parse(after)
    again = ported(after)
    assert again.after is again.before, "a second port finds nothing to do"
    assert not [note for note in found.notes if note.kind == "by hand"]


@pytest.mark.parametrize("text", NEAR_MISSES)
def test_a_file_where_nothing_applies_is_the_same_object(text: str):
    (found,) = port([SourceText(Path("a.py"), "a.py", text)], "v1")[-1].files  # one of them is not Python
    assert found.after is found.before and found.notes == ()


@pytest.mark.parametrize(
    ("text", "line", "part"),
    [
        (TF + 'getattr(tf, "contrib")\n', 2, "tf.contrib by a text"),
        (TF + "from tensorflow.python.estimator import model_fn\n", 2, "is gone: take its names from tf1sessions."),
        (TF + "tf.contrib.ffmpeg.decode_audio(x)\n", 2, "tf.contrib.ffmpeg.decode_audio is not in today's TensorFlow"),
        (TF + "tf.mul(a, b)\nf = tf.select\n", 3, "It left with TensorFlow 1.0: use tf.where."),
        (TF + "tf.scalar_summary(['a', 'b'], x)\n", 2, "use tf.summary.scalar."),
        (TF + "tf.batch_matmul(a, b, adj=True)\n", 2, "use tf.matmul."),
        (
            TF + "from tensorflow.python.tools import no_such_name\nfrom tensorflow.python.ops import gen_user_ops\n",
            3,
            "is not in",
        ),
        (TF + "from tensorflow.examples.tutorials.mnist import mnist\n", 2, "copy what is used of it"),
        ("from keras.legacy import layers\n", 1, "is no public module of Keras 2"),
    ],
)
def test_what_is_left_by_hand(text: str, line: int, part: str):
    (note,) = [note for note in ported(text).notes if note.kind == "by hand"]
    assert part in note.what and note.place.line == line


@pytest.mark.parametrize(
    "text",
    [
        "try:\n    f = tf.mul\nexcept AttributeError:\n    f = tf.multiply\n",
        'f = 1\nif "mul" in dir(tf):\n    f = tf.mul\n',
        "try:\n    from tensorflow.python.ops import gen_user_ops\nexcept ImportError:\n    gen_user_ops = None\n",
    ],
)
def test_what_the_program_is_ready_to_miss_is_not_by_hand(text: str):
    kinds = [note.kind for note in ported(TF + text).notes if note.kind != "change"]
    assert kinds == ["good to know"]


def test_a_name_that_is_something_else_in_a_function_is_left_alone():
    text = TF + "def f(tf):\n    return tf.contrib.layers\ndef g():\n    return tf.contrib.rnn\n"
    assert ported(text).after.text == V1 + CONTRIB + (
        "def f(tf):\n    return tf.contrib.layers\ndef g():\n    return tf_contrib.rnn\n"
    )


def test_what_another_file_imported(tmp_path: Path):
    texts = {"common.py": TF, "net.py": "from common import tf\ntf.contrib.slim.conv2d(tf.layers.dense(x))\n"}
    sources = [SourceText(tmp_path / name, name, text) for name, text in texts.items()]
    common, net = port(sources, "v1")[-1].files
    assert common.after.text == KERAS + V1  # its import of TensorFlow comes first in the process
    assert net.after.text == "from common import tf\n" + CONTRIB + "tf_contrib.slim.conv2d(tf.layers.dense(x))\n"


def test_the_page_shows_what_is_done():
    before, expected = (block.text for block in blocks(NOTES / "port-v1.md", "py"))
    assert ported(before).after.text == expected


_BOUND_AGAIN = {
    "if": "if hasattr(tf, 'compat'):\n    tf = tf.compat.v1\n",
    "itself": "tf = tf\n",
    "a loop": "for tf in [tf]:\n    pass\n",
    "in an expression": "print((tf := tf.compat.v1))\n",
    "with": "with open('f') as tf:\n    pass\ndef f(tf):\n    return tf.log(1)\n",
    "deleted": "del tf\nimport tensorflow as tf\n",
    "global": "def f():\n    global tf\n    tf = None\n",
    "except": "try:\n    tf.Session()\nexcept Exception as tf:\n    pass\n",
    "star": "for tf, *tf in [(tf,)]:\n    pass\n",
}


@pytest.mark.parametrize("statement", _BOUND_AGAIN.values(), ids=_BOUND_AGAIN)
@pytest.mark.parametrize("step", ["v1", "clean"])
def test_a_name_that_is_bound_again_gets_one_switch(statement: str, step: str) -> None:
    found = porting_support.after(TF + statement + "tf.Session()\n", step)
    assert found.count("disable_v2_behavior()") == 1


def test_a_module_beside_the_file_that_is_not_ported_is_named(tmp_path: Path):
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "utils.py").write_text(TF)
    (tmp_path / "lib" / "names.py").write_text("A = 1\n")
    text = TF + "from lib.utils import *\nfrom lib import names, utils\nprint(tf.Session())\n"
    main = SourceText(tmp_path / "main.py", "main.py", text)
    found = port([main], "v1")[-1].files[0].notes
    notes = [(note.what, note.kind, note.place.line) for note in found if note.kind != "change"]
    what = "uses TensorFlow and is none of the files to port: name its file too, or the folder."
    assert notes == [(f"lib.utils {what}", "good to know", 2)]
    utils = SourceText(tmp_path / "lib" / "utils.py", "lib/utils.py", TF)
    files = port([main, utils], "v1")[-1].files
    assert not [note for file in files for note in file.notes if note.kind != "change"]
