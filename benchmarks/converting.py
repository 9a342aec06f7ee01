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
import json
import os
import statistics
import subprocess
import sys
import tempfile

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
import json, resource, sys, time
import numpy as np
import tensorflow as tf
import tf1sessions as t1

def usage():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return time.perf_counter(), used.ru_utime + used.ru_stime, used.ru_maxrss / 1024

source, out = sys.argv[1:]
t1.porting.convert
assert float(tf.constant(1.0) + 1.0) == 2.0
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
print(json.dumps([after - start for after, start in zip(usage(), before, strict=True)]))
"""
WAYS = {
    "checkpoint": {"by hand": READ_CHECKPOINT + SAVE, "convert()": CONVERT, "with proof": PROVE},
    "frozen graph": {"by hand": READ_FROZEN + SAVE, "convert()": CONVERT, "with proof": PROVE},
}
FILES = {"checkpoint": "model.ckpt", "frozen graph": "frozen.pb"}


def run(code: str, *args: str) -> str:
    environment = {"TF_CPP_MIN_LOG_LEVEL": "3"} | dict(os.environ)
    done = subprocess.run([sys.executable, "-c", code, *args], capture_output=True, text=True, env=environment)
    if done.returncode:
        raise SystemExit(done.stderr)
    return done.stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=2)
    args = parser.parse_args()
    layers = max(1, args.megabytes // 4)
    with tempfile.TemporaryDirectory() as folder:
        run(WRITE, folder, str(layers), str(SIZE))
        found: dict[str, dict[str, list[list[float]]]] = {
            kind: {way: [] for way in ways} for kind, ways in WAYS.items()
        }
        for _ in range(args.rounds):
            for kind, ways in WAYS.items():
                for way, code in ways.items():
                    with tempfile.TemporaryDirectory(dir=folder) as out:
                        said = run(BEGIN + code + END, os.path.join(folder, FILES[kind]), out)
                    found[kind][way].append(json.loads(said.splitlines()[-1]))
    print(f"{layers * SIZE * SIZE * 4 / 2**20:.0f} MB in {layers} variables; medians of {args.rounds}")
    print(f"{'':25}{'seconds':>17}{'of the processor':>18}{'memory':>18}")
    for kind, by_way in found.items():
        hand = [statistics.median(values) for values in zip(*by_way["by hand"], strict=True)]
        for way, rounds in by_way.items():
            ours = [statistics.median(values) for values in zip(*rounds, strict=True)]
            times = [f"{value / by:.2f}x" for value, by in zip(ours, hand, strict=True)]
            print(
                f"{kind:13} {way:11}{ours[0]:8.2f} s, {times[0]:>6}{ours[1]:9.2f} s, {times[1]:>6}"
                f"{ours[2]:8.0f} MB, {times[2]:>6}"
            )


if __name__ == "__main__":
    main()
