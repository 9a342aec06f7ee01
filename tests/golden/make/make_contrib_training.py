"""Runs the table of contrib.training programs on genuine TensorFlow 1.15 and keeps what they return.

    python tests/golden/make/make_contrib_training.py

To be run with the Python of an environment that has TensorFlow 1.15.
"""

import gzip
import json
from pathlib import Path

from folders import DATA

# isort: split
import tensorflow as tf
import training_cases
from tensorflow.contrib import training

out = Path(DATA) / "contrib" / "training.json.gz"
out.write_bytes(gzip.compress(json.dumps(training_cases.run(tf, training)).encode()))
