"""Records what genuine TensorFlow 1.15.5 makes of graphs by ``TransformGraph``: data/graph_transforms.json.gz.

    /path/to/tensorflow-1.15.5/bin/python tests/golden/make/make_graph_transforms.py

A record has the graph and the calls; of each call the nodes of its result, and what they compute.
"""

import gzip
import json
import os
import re

import numpy as np
import tensorflow as tf
from tensorflow.tools.graph_transforms import TransformGraph

# What operations got later, or what says nothing.
_LATER = ("_output_shapes", "explicit_paddings", "exponential_avg_factor", "grad_a", "grad_b")
HERE = os.path.dirname(os.path.abspath(__file__))
CALLS = [
    ["strip_unused_nodes"],
    ['strip_unused_nodes(type=float, shape="1,8,8,3")'],
    ["remove_nodes(op=Identity, op=CheckNumerics)"],
    ["remove_nodes(op=Mul)"],
    ["fold_constants(ignore_errors=true)"],
    ["fold_batch_norms"],
    ["fold_old_batch_norms"],
    ["merge_duplicate_nodes"],
    ["sort_by_execution_order"],
    ["remove_device"],
    ['set_device(device="/cpu:0")'],
    ['set_device(device="/gpu:1", if_default=true)'],
    ["remove_attribute(attribute_name=data_format)"],
    ["remove_attribute(attribute_name=data_format, op_name=MaxPool)"],
    ["rename_attribute(old_attribute_name=data_format, new_attribute_name=was_format)"],
    ["rename_op(old_op_name=Relu, new_op_name=Elu)"],
    ["remove_control_dependencies"],
    ["add_default_attributes"],
    ["quantize_weights"],
    ["quantize_weights(minimum_size=10)"],
    ["round_weights(num_steps=16)"],
    ["obfuscate_names"],
    ["no_such_transform"],
    ["remove_device", "fold_constants", "fold_batch_norms", "fold_old_batch_norms", "merge_duplicate_nodes",
     "strip_unused_nodes", "sort_by_execution_order"],
    ["fold_constants(ignore_errors=false, clear_output_shapes=true)"],
    ["strip_unused_nodes(name=pool, type_for_name=float, shape_for_name=\"1,4,4,4\")"],
    ["remove_attribute"],
    [],
]  # fmt: skip


def values(*shape, scale=1.0):
    numbers = np.arange(int(np.prod(shape)), dtype=np.float32).reshape(shape)
    return (np.sin(numbers * 1.7) * scale).astype(np.float32)


def network():
    """Two convolutions with a normalization each, and what the transforms look for."""
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, 8, 8, 3], name="x")
        with tf.device("/gpu:0"):
            first = tf.nn.conv2d(x, tf.constant(values(3, 3, 3, 4), name="w1"), [1, 1, 1, 1], "SAME", name="conv1")
        scaled = tf.multiply(first, tf.constant(values(4), name="scale"), name="mul")
        pooled = tf.nn.max_pool(scaled, [1, 2, 2, 1], [1, 2, 2, 1], "VALID", name="pool")
        second = tf.nn.conv2d(pooled, tf.constant(values(3, 3, 4, 8), name="w2"), [1, 1, 1, 1], "SAME", name="conv2")
        normal = tf.raw_ops.FusedBatchNorm(
            x=second, scale=tf.constant(values(8) + 2, name="gamma"), offset=tf.constant(values(8), name="beta"),
            mean=tf.constant(values(8, scale=0.5), name="mean"),
            variance=tf.constant(values(8) ** 2 + 1, name="variance"),
            epsilon=0.01, is_training=False, name="norm",
        )[0]  # fmt: skip
        bent = tf.nn.relu(normal, name="relu")
        kept = tf.check_numerics(tf.identity(bent, name="same"), "not finite", name="check")
        flat = tf.reshape(kept, tf.constant([-1, 128], name="shape"), name="flat")
        sums = tf.add(tf.constant(values(10), name="left"), tf.constant(values(10), name="right"), name="sum")
        product = tf.matmul(flat, tf.constant(values(128, 10), name="dense"), name="product")
        twice = [tf.square(product, name="square_a"), tf.square(product, name="square_b")]
        with tf.control_dependencies([tf.identity(sums, name="before")]):
            logits = tf.add(twice[0] - twice[1] + product, sums, name="logits")
        tf.nn.softmax(logits, name="y")
        tf.identity(logits, name="unused")
        return graph.as_graph_def()


def described(graph_def):
    """The nodes, with what distinguishes them; constants by their type and shape."""
    nodes = []
    for node in graph_def.node:
        attributes = {}
        for name, value in sorted(node.attr.items()):
            if name == "value":
                attributes[name] = [tf.DType(value.tensor.dtype).name, [d.size for d in value.tensor.tensor_shape.dim]]
            elif name not in _LATER:
                attributes[name] = "%.6g" % value.f if value.HasField("f") else " ".join(str(value).split())
        inputs = [_counted(name.split(":")[0]) for name in node.input]
        nodes.append([_counted(node.name), node.op, inputs, node.device, attributes])
    return nodes


def _counted(name):
    """The name of a folded constant without the number of all that the process has folded."""
    return re.sub(r"__cf__\d+$", "__cf__", name)


def computed(graph_def, output):
    config = tf.ConfigProto(allow_soft_placement=True)
    with tf.Graph().as_default() as graph, tf.Session(config=config) as session:
        tf.import_graph_def(graph_def, name="")
        feed = [node.name for node in graph_def.node if node.op == "Placeholder"][0]
        shape = graph.get_tensor_by_name(feed + ":0").shape
        given = values(*([1, 8, 8, 3] if shape.ndims else []), scale=1.0)
        return [float(number) for number in session.run(output + ":0", {feed + ":0": given}).ravel()]


def main():
    graph_def = network()
    calls = []
    for transforms in CALLS:
        record = {"transforms": transforms}
        try:
            made = TransformGraph(graph_def, ["x"], ["y"], transforms)
            record["nodes"] = described(made)
            try:
                record["computed"] = computed(made, "y")
            except Exception as error:
                record["not_computed"] = "%s: %s" % (type(error).__name__, error)
        except Exception as error:
            record["error"] = "%s: %s" % (type(error).__name__, error)
        calls.append(record)
    data = {"graph": graph_def.SerializeToString().hex(), "calls": calls}
    path = os.path.join(HERE, os.pardir, "data", "graph_transforms.json.gz")
    with gzip.GzipFile(path, "wb", mtime=0) as file:
        file.write(json.dumps(data, sort_keys=True).encode())


if __name__ == "__main__":
    main()
