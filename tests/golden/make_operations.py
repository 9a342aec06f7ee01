"""Adds the operations of the TensorFlow that runs this to operations_reviewed.txt.gz.

Run it after going through what is new, and after naming in tf1sessions/models/risks.py what is risky of it: it prints
those that are new. It runs on TensorFlow 1.15 too.
"""

import gzip
import os

import tensorflow as tf
from tensorflow.core.framework import op_def_pb2

try:
    from tensorflow.python.client import pywrap_tf_session as library
except ImportError:  # 1.15
    from tensorflow.python import pywrap_tensorflow as library

path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "operations_reviewed.txt.gz")
listed = op_def_pb2.OpList()
listed.ParseFromString(library.TF_GetBuffer(library.TF_GetAllOpList()))
names = {op.name for op in listed.op}
known = set()
if os.path.exists(path):
    with gzip.open(path) as stream:
        known = set(stream.read().decode().split())
print("TensorFlow {}: {} operations, new are {}".format(tf.__version__, len(names), sorted(names - known) or "none"))
with open(path, "wb") as stream, gzip.GzipFile(fileobj=stream, mode="wb", filename="", mtime=0) as packed:
    packed.write(("\n".join(sorted(names | known)) + "\n").encode())
