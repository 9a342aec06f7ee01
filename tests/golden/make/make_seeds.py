"""Records which seeds operations get in genuine TensorFlow 1.15.5: ``python make_seeds.py [OPERATIONS]``.

Writes seeds.json.gz in ../data: for each call of seed_calls*.py, made in a graph with a seed, the type and the
second seed of each operation that draws, the last one after all others; the same of the graphs that GRAPHS make, and
of graphs of random calls; what DRAWS draw; and what a whole program prints. To be run with the Python of an
environment that has TensorFlow 1.15. With the path of a file, writes the names of all operations there instead, from
either TensorFlow.
"""

import gzip
import json
import os
import sys

from folders import DATA

# isort: split
import numpy as np
import seed_calls_data  # noqa: F401, it adds to CALLS, as the next ones
import seed_calls_gradients  # noqa: F401
import seed_calls_ops  # noqa: F401
import seed_calls_training  # noqa: F401
import seed_fuzz
import tensorflow as tf
from seed_calls import CALLS, DRAWS, GRAPHS, draws, program

DRAWS_WITH_SEEDS = {}  # type of operation -> whether it has a second seed; a node's definition takes long to make


def drawn(graph):
    """Type and second seed of each operation that draws."""
    operations = graph.get_operations()
    for operation in operations:
        if operation.type not in DRAWS_WITH_SEEDS:
            DRAWS_WITH_SEEDS[operation.type] = "seed2" in operation.node_def.attr
    return [
        [operation.type, int(operation.get_attr("seed2"))]
        for operation in operations
        if DRAWS_WITH_SEEDS[operation.type]
    ]


def graph_of(function):
    """What a call makes after which a number is drawn."""
    graph = tf.Graph()
    with graph.as_default():
        tf.set_random_seed(7)
        np.random.seed(1)  # Keras draws some seeds with it
        function()
        tf.random_normal([1])
    return graph


def main(path=None):
    found = {}
    for name, function in sorted(CALLS.items()):
        graph = graph_of(function)
        found[name] = [[one.type, one.name] for one in graph.get_operations()] if path else drawn(graph)
    if path:
        with open(path, "w") as file:
            json.dump(found, file)
        return
    graphs = {name: [drawn(graph) for graph in function()] for name, function in sorted(GRAPHS.items())}
    found = {
        "calls": found,
        "graphs": graphs,
        "fuzz": seed_fuzz.record(0, 60),
        "draws": {name: draws(name) for name in DRAWS},
        "program": program(),
    }
    with gzip.GzipFile(os.path.join(DATA, "seeds.json.gz"), "wb", 9, mtime=0) as file:
        file.write(json.dumps(found, sort_keys=True).encode())


if __name__ == "__main__":
    main(*sys.argv[1:])
