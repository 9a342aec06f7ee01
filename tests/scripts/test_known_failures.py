"""What is known not to be as on 1.15.5, a file for each TensorFlow: known_failures/tensorflow-*.txt.

Like expected failures that are strict: a line whose expression gives what 1.15.5 gives has to be removed.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

FILES = Path(__file__).with_name("known_failures")

PROGRAM = """
import sys
import tf1sessions.scripts
tf1sessions.scripts.install()
import numpy as np
import tensorflow as tf
from tensorflow.tools import graph_transforms

def star():
    names = {}
    exec("from tensorflow import *", names)
    return names

with tf.Graph().as_default() as graph:
    tf.identity(tf.placeholder(tf.float32, [2], name="x"), name="y")
GRAPH = graph.as_graph_def()
# In a file of the program's own: scripts get the rules of NumPy 1 there.
for number, expression in enumerate(sys.argv[2:]):
    code = compile(expression, sys.argv[1], "eval")
    try:
        value = repr(eval(code))
    except Exception as error:
        value = f"{type(error).__name__}: {error}"
    report(**{str(number): value})
"""


def rows(text: str) -> list[list[str]]:
    """The lines of a file that say something: expression, value, reason."""
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [[part.strip() for part in line.split(" | ")] for line in lines]


@pytest.mark.parametrize("file", sorted(FILES.glob("*.txt")), ids=lambda file: file.stem)
def test_each_line_has_an_expression_a_value_and_a_reason(file: Path) -> None:
    found = rows(file.read_text("utf-8"))
    assert found and all(len(row) == 3 and all(row) for row in found)
    assert len({row[0] for row in found}) == len(found)


def test_what_is_known_to_fail_still_does(run_python: Callable[..., Any], tmp_path: Path) -> None:
    release = ".".join(importlib.metadata.version("tensorflow").split(".")[:2])
    file = FILES / f"tensorflow-{release}.txt"
    if not file.exists():
        pytest.skip(f"nothing is recorded for TensorFlow {release}")
    found = rows(file.read_text("utf-8"))
    values = run_python(PROGRAM, str(tmp_path / "program.py"), *[row[0] for row in found]).results
    assert len(values) == len(found)
    right = [expression for number, (expression, value, _) in enumerate(found) if values[str(number)] == value]
    assert right == [], "these give what 1.15.5 gives: remove their lines"
