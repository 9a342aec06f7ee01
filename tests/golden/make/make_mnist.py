"""Write mnist.json: the batches that the MNIST reader of TensorFlow 1.15.5 makes of four small files.

Run it with genuine TensorFlow 1.15.5: ``python make_mnist.py OUT.json``. The test imports this module for the files and
the cases, and compares what the reader of the package makes of them.
"""

import gzip
import json
import os
import struct
import sys
import tempfile
import zlib

import numpy as np

SIZES = {"train": 50, "t10k": 12}

# What read_data_sets and next_batch are called with. "graph_seed" is tf.set_random_seed's.
CASES = [
    {"read": {"seed": 3, "validation_size": 10}, "batches": [16, 16, 16, 7]},
    {"read": {"seed": 0, "one_hot": True, "validation_size": 5}, "batches": [45, 20, 40, 45]},
    {"read": {"validation_size": 10}, "graph_seed": 5, "batches": [10, 10, 10, 10, 10]},
    {"read": {"seed": 7, "validation_size": 0}, "graph_seed": 5, "batches": [30, 30]},
    {"read": {"seed": 1, "reshape": False, "dtype": "uint8", "validation_size": 10}, "batches": [8, 40]},
    {"read": {"seed": 1, "validation_size": 10}, "batches": [25, 25, 25], "shuffle": False},
]


def write_files(folder, compressed=True):
    """The four files, with random pixels of 28 x 28."""
    random = np.random.RandomState(0)
    for part, size in SIZES.items():
        images = random.randint(0, 256, (size, 28, 28)).astype(np.uint8)
        labels = random.randint(0, 10, size).astype(np.uint8)
        for name, magic, array in (("images-idx3", 2051, images), ("labels-idx1", 2049, labels)):
            data = struct.pack(">%dI" % (1 + array.ndim), magic, *array.shape) + array.tobytes()  # noqa: UP031
            path = os.path.join(folder, "-".join([part, name, "ubyte"]))
            with gzip.open(path + ".gz", "wb") if compressed else open(path, "wb") as file:
                file.write(data)


def batches(case, folder, tf, input_data):
    """For each batch: the labels, a checksum of the pixels, their shape and type, and the epochs that are over."""
    tf.reset_default_graph()
    if "graph_seed" in case:
        tf.set_random_seed(case["graph_seed"])
    data = input_data.read_data_sets(folder, **case["read"])
    found = []
    for size in case["batches"]:
        images, labels = data.train.next_batch(size, shuffle=case.get("shuffle", True))
        pixels = zlib.crc32(np.ascontiguousarray(images).tobytes())
        found.append([labels.tolist(), pixels, list(images.shape), str(images.dtype), data.train.epochs_completed])
    sizes = [part.num_examples for part in data]
    return {"batches": found, "sizes": sizes, "test": data.test.labels.tolist(), "labels": str(data.test.labels.dtype)}


def main(out):
    """Run the cases on the reader of TensorFlow 1.15."""
    import tensorflow as tf
    from tensorflow.examples.tutorials.mnist import input_data

    with tempfile.TemporaryDirectory() as folder:
        write_files(folder)
        results = [batches(case, folder, tf, input_data) for case in CASES]
    with open(out, "w") as file:
        json.dump(results, file)
        file.write("\n")


if __name__ == "__main__":
    main(sys.argv[1])
