"""Converting a model of 500 MB: what it costs in time and memory against plainly reading and writing its values.

    python benchmarks/converting.py [--megabytes N] [--rounds N]

The model is made up, as a checkpoint with its graph and as a frozen graph. Each way is a process of its own, after
TensorFlow has run an operation there; the ways take turns. "By hand" reads every value into an array and writes all of
them with SaveV2, once; "convert()" writes a SavedModel, synced to the disk; "with proof" also loads it again, and
compares it with the model in a session. Prints the seconds, those of the processor, by how much the process's memory
grew at its highest, and the ratios. What is aimed at: at most twice the time and the memory of reading and writing.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile

from children import by_turns, run

SIZE = 1024

WRITE = """
import sys
import tensorflow.compat.v1 as tf

folder, layers, size = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
with tf.Graph().as_default() as graph, tf.Session() as session:
    h = tf.placeholder(tf.float32, [None, size], name="x")
    for layer in range(layers):
        start = tf.random_normal_initializer(stddev=size**-0.5, seed=layer)
        h = tf.nn.relu(tf.matmul(h, tf.get_variable(f"w{layer}", [size, size], initializer=start, use_resource=False)))
    tf.nn.softmax(h, name="probs")
    session.run(tf.global_variables_initializer())
    tf.train.Saver().save(session, f"{folder}/model.ckpt", write_state=False)
    frozen = tf.graph_util.convert_variables_to_constants(session, graph.as_graph_def(), ["probs"])
with open(f"{folder}/frozen.pb", "wb") as file:
    file.write(frozen.SerializeToString())
"""

BEGIN = """
import shutil, tempfile
import numpy as np
import tensorflow as tf
import tf1sessions as t1

t1.porting.convert
assert float(tf.constant(1.0) + 1.0) == 2.0
out = tempfile.mkdtemp(dir=sys.argv[1])
source = sys.argv[1] + "/{file}"
before = usage()
"""
READ_CHECKPOINT = """
reader = tf.train.load_checkpoint(source)
names = sorted(reader.get_variable_to_shape_map())
values = [reader.get_tensor(name) for name in names]
"""
READ_FROZEN = """
graph_def = tf.compat.v1.GraphDef()
with open(source, "rb") as file:
    graph_def.ParseFromString(file.read())
constants = [node for node in graph_def.node if node.op == "Const"]
names = [node.name for node in constants]
values = [tf.make_ndarray(node.attr["value"].tensor) for node in constants]
"""
SAVE = """
tf.raw_ops.SaveV2(prefix=f"{out}/copy", tensor_names=names, shape_and_slices=[""] * len(names), tensors=values)
"""
CONVERT = """
t1.porting.convert(source, f"{out}/converted", check=False)
"""
PROVE = """
found = t1.porting.convert(source, f"{out}/converted")
assert list(found.proof.differences.values()) == [0.0], found.proof
"""
END = """
tell_since(before)
shutil.rmtree(out)
"""
FILES = {"checkpoint": "model.ckpt", "frozen graph": "frozen.pb"}
READS = {"checkpoint": READ_CHECKPOINT, "frozen graph": READ_FROZEN}
WAYS = {
    (kind, way): BEGIN.replace("{file}", file) + code + END
    for kind, file in FILES.items()
    for way, code in (("by hand", READS[kind] + SAVE), ("convert()", CONVERT), ("with proof", PROVE))
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=2)
    args = parser.parse_args()
    layers = max(1, args.megabytes // 4)
    with tempfile.TemporaryDirectory() as folder:
        run(WRITE, folder, str(layers), str(SIZE))
        found = by_turns(WAYS, args.rounds, folder)
    print(f"{layers * SIZE * SIZE * 4 / 2**20:.0f} MB in {layers} variables; medians of {args.rounds}")
    print(f"{'':25}{'seconds':>17}{'of the processor':>18}{'memory':>18}")
    for (kind, way), rounds in found.items():
        ours, hand = (
            [statistics.median(values) for values in zip(*each, strict=True)]
            for each in (rounds, found[kind, "by hand"])
        )
        times = [f"{value / by:.2f}x" for value, by in zip(ours, hand, strict=True)]
        print(
            f"{kind:13} {way:11}{ours[0]:8.2f} s, {times[0]:>6}{ours[1]:9.2f} s, {times[1]:>6}"
            f"{ours[2]:8.0f} MB, {times[2]:>6}"
        )


if __name__ == "__main__":
    main()
