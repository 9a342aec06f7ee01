"""Runs the table of tf.estimator programs on genuine TensorFlow 1.15, and keeps what they return and a model_dir.

    python tests/golden/make/make_estimator.py

To be run with the Python of an environment that has TensorFlow 1.15.
"""

import gzip
import io
import json
import os
import tarfile
import tempfile

from folders import DATA

# isort: split
import estimator_cases
import tensorflow as tf

out = os.path.join(DATA, "estimator")
os.makedirs(out, exist_ok=True)
folder = tempfile.mkdtemp()
estimator_cases.write_model_dir(tf, tf.estimator, folder)
packed = io.BytesIO()
with tarfile.open(fileobj=packed, mode="w") as archive:
    for name in sorted(os.listdir(folder)):
        if not name.startswith("events") and not name.endswith(".meta"):
            archive.add(os.path.join(folder, name), arcname=name)
with open(os.path.join(out, "model_dir.tar.gz"), "wb") as file:
    file.write(gzip.compress(packed.getvalue()))

recorded = {
    "cases": estimator_cases.run(tf, tf.estimator),
    "resumed": estimator_cases.resume(tf, tf.estimator, folder),
}
with open(os.path.join(out, "estimator.json.gz"), "wb") as file:
    file.write(gzip.compress(json.dumps(recorded, sort_keys=True).encode()))
