"""The static shapes of results in a script are those that TensorFlow 1.15.5 inferred."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from support import ROOT, PythonRun

# Shapes that today's TensorFlow knows better.
KNOWN_BETTER = {
    "ta": [[3, 4]],
    "ta_none": [[3, 4]],
    "overlap": [[None, 100]],
    "crf": [[None]],
    "interp": [[None, 8, 8, 3]],
    "dense_img": [[None, 8, 8, 3]],
    "keras_reshape": [[None, 12, 2]],
}

PROGRAM = """
import sys
import tf1sessions.scripts
tf1sessions.scripts.install()
sys.path[:0] = sys.argv[1:]
import make_static_shapes
import tensorflow as tf
x = make_static_shapes.x
image = make_static_shapes.unknown()
sizes = tf.placeholder_with_default([8, 8, 8, 3], [4])
run = tf.Session().run(
    tf.nn.conv2d_transpose(x(None, 4, 4, 3), tf.zeros([5, 5, 3, 3]), sizes, [1, 2, 2, 1]),
    {"Placeholder_1:0": [[[[0.0] * 3] * 4] * 4] * 8},
)
report(
    inferred=make_static_shapes.inferred(),
    turned=[each(image).shape.ndims for each in (tf.image.rot90, tf.image.transpose, tf.image.transpose_image)],
    run=run.shape,
)
"""


@pytest.mark.slow
def test_static_shapes_are_those_of_1_15(run_python: Callable[..., PythonRun]) -> None:
    golden = json.loads((ROOT / "tests" / "golden" / "data" / "static_shapes.json").read_text())
    result = run_python(PROGRAM, str(ROOT / "tests" / "golden" / "make")).results
    assert result["inferred"] == golden | KNOWN_BETTER
    assert result["turned"] == [3, 3, 3]
    assert result["run"] == [8, 8, 8, 3]
