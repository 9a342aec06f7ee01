"""A frozen graph of 100 MB: what it costs in memory and when its first answer comes, by hand and by ``load()``.

    python benchmarks/loading.py [--megabytes N] [--rounds N]

Each way is a process of its own, after TensorFlow has started a session there; the ways take turns. Prints the seconds
from the file to the first answer, the growth of the process's own memory (anonymous pages) after it and at its highest,
the milliseconds of later calls, and the ratios; and whether the answers are equal. What is aimed at: at most twice the
weights in memory, a first answer at least four times as soon.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile

from children import by_turns, run

SIZE = 1024

WRITE = """
import sys
import numpy as np
import tensorflow.compat.v1 as tf

path, layers, size = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
with tf.Graph().as_default() as graph:
    h = tf.placeholder(tf.float32, [None, size], name="x")
    rng = np.random.RandomState(0)
    for layer in range(layers):
        weights = tf.constant(rng.randn(size, size).astype("f") / 32, name=f"w{layer}")
        h = tf.nn.relu(tf.nn.bias_add(tf.matmul(h, weights), tf.constant(rng.randn(size).astype("f") / 100)))
    tf.nn.softmax(h, name="probs")
with open(path, "wb") as file:
    file.write(graph.as_graph_def().SerializeToString())
"""

# What both ways begin with: TensorFlow is there, and a session has run.
BEGIN = """
import numpy as np
import tensorflow.compat.v1 as tf
import tf1sessions as t1

path, size = sys.argv[1], int(sys.argv[2])
x = np.random.RandomState(1).randn(4, size).astype("f")
with t1.GraphSession() as warm:
    warm.run(tf.constant(1.0))
t1.load
before, start = memory(), time.perf_counter()
"""
WAYS = {
    "by hand": """
graph_def = tf.GraphDef()
with open(path, "rb") as file:
    graph_def.ParseFromString(file.read())
graph = tf.Graph()
with graph.as_default():
    tf.import_graph_def(graph_def, name="")
session = tf.Session(graph=graph)
call = lambda: session.run("probs:0", {"x:0": x})
""",
    "load()": """
model = t1.load(path)
call = lambda: model(x=x)["probs"]
""",
    "load(fold_constants=True)": """
model = t1.load(path, fold_constants=True)
call = lambda: model(x=x)["probs"]
""",
}
END = """
answer = call()
first, after = time.perf_counter() - start, memory()
times = []
for _ in range(40):
    start = time.perf_counter()
    call()
    times.append(time.perf_counter() - start)
highest = after["VmHWM"] - before["VmHWM"]
print(json.dumps(dict(first=first, grown=after["RssAnon"] - before["RssAnon"], highest=highest,
                      later=sorted(times)[20] * 1e3, answer=answer.tolist())))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    layers = max(1, args.megabytes // 4)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "frozen.pb")
        run(WRITE, path, str(layers), str(SIZE))
        weights = os.path.getsize(path) / 2**20
        ways = {way: BEGIN + code + END for way, code in WAYS.items()}
        found = by_turns(ways, args.rounds, path, str(SIZE))
    print(f"a frozen graph of {weights:.0f} MB, {layers} layers; medians of {args.rounds} (lowest to highest)")
    print(f"{'':26}{'first answer':>24}{'memory':>20}{'highest':>10}{'later call':>24}")
    medians = {}
    for way, rounds in found.items():
        first, grown, highest, later = (
            sorted(each[key] for each in rounds) for key in ("first", "grown", "highest", "later")
        )
        medians[way] = [statistics.median(values) for values in (first, grown, later)]
        print(
            f"{way:26}{statistics.median(first):8.2f} s ({first[0]:.2f} to {first[-1]:.2f})"
            f"{statistics.median(grown):7.0f} MB, {statistics.median(grown) / weights:.1f}x"
            f"{statistics.median(highest):7.0f} MB"
            f"{statistics.median(later):8.2f} ms ({later[0]:.2f} to {later[-1]:.2f})"
        )
    hand, ours = medians["by hand"], medians["load()"]
    print(f"load(): first answer {hand[0] / ours[0]:.1f} times as soon, {hand[1] / ours[1]:.1f} times less memory")
    difference = max(
        abs(a - b)
        for one, other in zip(found["by hand"][0]["answer"], found["load()"][0]["answer"], strict=True)
        for a, b in zip(one, other, strict=True)
    )
    print(f"largest difference of the answers, which are at most 1: {difference:.1e}")


if __name__ == "__main__":
    main()
