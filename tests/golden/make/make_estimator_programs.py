"""Runs tables of programs on genuine TensorFlow 1.15, and keeps what they return.

    python tests/golden/make/make_estimator_programs.py

Writes estimator/<table>.json.gz, or those of the tables that are named. To be run with the Python of an environment
that has TensorFlow 1.15.
"""

import gzip
import importlib
import json
import os
import sys

import tensorflow as tf
from folders import DATA

tf.logging.set_verbosity(tf.logging.ERROR)
for name in sys.argv[1:] or ["cluster", "contrib", "keras"]:
    found = importlib.import_module(name + "_cases").run(tf, tf.estimator)
    with open(os.path.join(DATA, "estimator", name + ".json.gz"), "wb") as file:
        file.write(gzip.compress(json.dumps(found, sort_keys=True).encode()))
