"""Builds each call of the table of clean_arguments.py on both sides, and compares the graphs."""

from __future__ import annotations

import inspect
import itertools
import os
from collections.abc import Iterator
from typing import Any

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import tensorflow as tf

from tf1sessions.porting.rewriting.rules.clean_arguments import TABLE, ArgumentChange

#: What an argument is given, by its name; of one that is not here, a value has to be written here.
VALUES: dict[str, Any] = {
    "axis": 1,
    "keepdims": True,
    "keep_dims": True,
    "reduction_indices": [1],
    "dimension": 1,
    "dim": 1,
    "squeeze_dims": [1],
    "output_type": tf.int32,
    "dtype": tf.int64,
    "out_type": tf.float64,
    "name": "given",
    "epsilon": 1e-3,
    "alpha": 0.3,
    "data_format": "NHWC",
    "dilations": [1, 1, 1, 1],
    "ksize": [1, 2, 2, 1],
    "strides": [1, 1, 1, 1],
    "padding": "SAME",
}
TENSORS = {
    "input_tensor",
    "input",
    "tensor",
    "logits",
    "labels",
    "x",
    "features",
    "filter",
    "filters",
    "value",
    "string_tensor",
}


def tensor(function: str, name: str) -> Any:
    """A placeholder for an argument of a function."""
    if name == "labels" and "sparse" in function:
        return tf.compat.v1.placeholder(tf.int32, [3])
    if name in ("filter", "filters"):
        return tf.compat.v1.placeholder(tf.float32, [2, 2, 3, 4])
    if name == "string_tensor":
        return tf.compat.v1.placeholder(tf.string, [None])
    shape = [2, 4, 4, 3] if function.endswith(("conv2d", "pool")) else [3, 1] if "squeeze" in function else [3, 4]
    kind = tf.bool if function.endswith(("_all", "_any")) else tf.float32
    return tf.compat.v1.placeholder(kind, shape)


def function(side: Any, name: str) -> Any:
    for part in name.split(".")[1:]:
        side = getattr(side, part)
    return side


def graph(side: Any, old: str, name: str, by_position: list[str], by_name: dict[str, str]) -> str:
    """The graph of a call of ``name``. ``by_name``: an argument here -> the argument of ``old`` whose value it gets."""
    with tf.Graph().as_default() as made:
        values = {
            each: tensor(old, each) if each in TENSORS else VALUES[each]
            for each in sorted({*by_position, *by_name.values()})
        }
        keywords = {new: values[each] for new, each in by_name.items()}
        function(side, name)(*[values[each] for each in by_position], **keywords)
        return str(made.as_graph_def())


def calls(name: str, row: ArgumentChange) -> Iterator[tuple[list[str], list[str]]]:
    """Yield arguments by position and by name: each number by position, and pairs of names that go together."""
    order = list(inspect.signature(function(tf.compat.v1, name)).parameters)
    needed: list[str] = []
    for each in order:
        is_new = row.names.get(each) not in {row.names.get(other) for other in needed}  # filter and filters are one
        if each in row.names and (each in TENSORS or each in ("ksize", "strides", "padding")) and is_new:
            needed.append(each)
    needed += ["axis"] if name == "tf.expand_dims" else []
    for count in range(len(needed), row.positional + 1):
        yield order[:count], []
    fixed = {row.names.get(each) for each in needed[:-1]}
    optional = [each for each in row.names if each not in needed and each in order and row.names[each] not in fixed]
    for pair in itertools.combinations(optional, 2):
        new = {row.names[each] for each in pair}
        first = [each for each in needed if row.names.get(each) not in new]  # axis, where dim is given
        if len(new) == 2:
            yield (first, [*pair]) if row.positional else ([], [*first, *pair])
    yield [], needed


found, tried = [], 0
for old, row in TABLE.items():
    for by_position, by_name in calls(old, row):
        before = graph(tf.compat.v1, old, old, by_position, {each: each for each in by_name})
        after = graph(tf, old, row.target, by_position, {row.names[each]: each for each in by_name})
        tried += 1
        if before != after:
            found.append(f"{old}({by_position}, {by_name})")
report(differ=found, tried=tried)  # type: ignore[name-defined]  # noqa: F821
