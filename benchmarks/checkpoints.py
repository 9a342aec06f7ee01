"""A checkpoint of 500 MB: converting it, against reading it and writing it by hand.

    python benchmarks/checkpoints.py [--megabytes N] [--rounds N]

Each way is a process of its own, after TensorFlow has started a session there; the ways take turns. "By hand" reads
every value with TensorFlow's own reader and writes them with one SaveV2. Prints the seconds, the growth of the
process's memory at its highest, and the ratios. What is aimed at: at most twice the time and the memory.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile

from children import by_turns, run

# What all ways begin with. The checkpoint is like one of a trained network: matrices with two slots each, and biases.
BEGIN = """
import numpy as np
import tensorflow.compat.v1 as tf
from tf1sessions.porting import checkpoints

folder = sys.argv[1]
with tf.Graph().as_default(), tf.Session() as session:
    session.run(tf.constant(1.0))
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")  # the highest memory is counted from here
"""
WAYS = {
    "by hand": """
def work():
    reader = tf.train.NewCheckpointReader(folder + "/model.ckpt")
    values = {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}
    with tf.Graph().as_default(), tf.Session() as session:
        fed = [tf.placeholder(value.dtype, value.shape) for value in values.values()]
        save = tf.raw_ops.SaveV2(
            prefix=folder + "/hand", tensor_names=list(values), shape_and_slices=[""] * len(values), tensors=fed
        )
        session.run(save, dict(zip(fed, values.values())))
""",
    "convert()": """
def work():
    checkpoints.convert(folder + "/model.ckpt", folder + "/converted", force=True)
""",
    "restore() and save_named()": """
variables = {}
specs = checkpoints.read(folder + "/model.ckpt").specs
for name, spec in specs.items():
    variables[name] = tf.Variable(np.zeros(spec.shape, spec.dtype), use_resource=True)

def work():
    checkpoints.restore(folder + "/model.ckpt", variables)
    checkpoints.save_named(variables, folder + "/back", force=True)
""",
}
END = """
before = usage()
work()
tell_since(before)
"""
WRITE = """
import numpy as np
from tf1sessions.porting import checkpoints

rng = np.random.RandomState(0)
with checkpoints.CheckpointWriter(sys.argv[1] + "/model.ckpt") as writer:
    for layer in range(int(sys.argv[2]) // 12):
        for name in ("kernel", "kernel/Adam", "kernel/Adam_1"):
            writer.add(f"layer_{layer}/{name}", rng.rand(1024, 1024).astype("f"))
        for name in ("bias", "bias/Adam", "bias/Adam_1"):
            writer.add(f"layer_{layer}/{name}", rng.rand(1024).astype("f"))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run(WRITE, folder, str(options.megabytes))
        found = by_turns({way: BEGIN + code + END for way, code in WAYS.items()}, options.rounds, folder)
    hand = [statistics.median(values) for values in zip(*found["by hand"], strict=True)]
    for way, rounds in found.items():
        seconds, _, megabytes = (statistics.median(values) for values in zip(*rounds, strict=True))
        print(
            f"{way:27} {seconds:6.2f} s ({seconds / hand[0]:.2f}x)   {megabytes:6.0f} MB more at most "
            f"({megabytes / hand[2]:.2f}x)"
        )


if __name__ == "__main__":
    main()
