"""Write static_shapes.json: the static shapes that TensorFlow 1.15.5 infers for the calls of static_shapes.txt.

Run it with genuine TensorFlow 1.15.5: ``python make_static_shapes.py``. Of each case: the shape of each tensor of its
result, null where the rank is not known. tests/scripts/test_static_shapes.py asks today's the same.
"""

import json
import os

import numpy as np
import tensorflow as tf
from folders import CASES, DATA


def cases():
    """The expressions by their names."""
    with open(os.path.join(CASES, "static_shapes.txt")) as file:
        return dict(line.rstrip("\n").split(": ", 1) for line in file if not line.startswith("#"))


def x(*shape, **dtype):
    return tf.placeholder(dtype.get("dtype", tf.float32), shape)


def unknown():
    return tf.placeholder(tf.float32)


def shapes(value):
    """The shapes of all tensors in a result."""
    if isinstance(value, dict):
        value = [value[key] for key in sorted(value, key=str)]
    if isinstance(value, (list, tuple)):
        return [shape for each in value for shape in shapes(each)]
    shape = value.get_shape()
    return [None if shape.ndims is None else shape.as_list()]


def inferred():
    """The shapes of each case, each in a graph of its own."""
    found = {}
    for name, expression in cases().items():
        with tf.Graph().as_default():
            found[name] = shapes(eval(expression, {"tf": tf, "np": np, "x": x, "unknown": unknown}))
    return found


if __name__ == "__main__":
    with open(os.path.join(DATA, "static_shapes.json"), "w") as file:
        file.write("{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in inferred().items()) + "\n}\n")
