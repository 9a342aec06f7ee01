"""Write operations_1_15.json.gz: the operations of TensorFlow 1.15.5, of its core and of each module of tf.contrib.

Run it with genuine TensorFlow 1.15.5: ``python make_operations.py``. For each operation: where it is from, its inputs
and outputs as [type or attribute, is a reference], and its attributes as [type, has a default].
"""

import glob
import gzip
import json
import os

import tensorflow as tf
import tensorflow_core
from folders import DATA
from tensorflow.core.framework import op_def_pb2
from tensorflow.python import pywrap_tensorflow

CONTRIB = os.path.join(os.path.dirname(tensorflow_core.__file__), "contrib")


def registered():
    found = op_def_pb2.OpList.FromString(pywrap_tensorflow.TF_GetBuffer(pywrap_tensorflow.TF_GetAllOpList()))
    return {op.name: op for op in found.op}


def args(of):
    return [[arg.type_attr or arg.type_list_attr or arg.type, arg.number_attr, arg.is_ref] for arg in of]


def described(op, home):
    attrs = {attr.name: [attr.type, attr.HasField("default_value")] for attr in op.attr}
    return {"from": home, "inputs": args(op.input_arg), "outputs": args(op.output_arg), "attrs": attrs}


def main():
    operations = {name: described(op, "the core") for name, op in registered().items()}
    for library in sorted(glob.glob(os.path.join(CONTRIB, "**", "*.so"), recursive=True)):
        try:
            tf.load_op_library(library)
        except tf.errors.NotFoundError:  # built for hardware that is not here
            continue
        home = "tf.contrib." + os.path.relpath(library, CONTRIB).split(os.sep)[0]
        for name, op in registered().items():
            if name not in operations:
                operations[name] = described(op, home)
    out = os.path.join(DATA, "operations_1_15.json.gz")
    with open(out, "wb") as file, gzip.GzipFile("", "wb", mtime=0, fileobj=file) as packed:
        packed.write(json.dumps(operations, sort_keys=True).encode())


if __name__ == "__main__":
    main()
