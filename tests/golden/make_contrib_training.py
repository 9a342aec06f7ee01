"""Runs the table of contrib.training programs on genuine TensorFlow 1.15 and keeps what they return.

    python tests/golden/make_contrib_training.py

To be run with the Python of an environment that has TensorFlow 1.15.
"""

import gzip
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "contrib"))
import tensorflow as tf
import training_cases
from tensorflow.contrib import training

out = Path(__file__).resolve().parent / "contrib" / "training.json.gz"
out.write_bytes(gzip.compress(json.dumps(training_cases.run(tf, training)).encode()))
