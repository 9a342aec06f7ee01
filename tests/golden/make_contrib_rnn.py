"""Runs the table of contrib.rnn cases on genuine TensorFlow 1.15 and keeps what they give.

    python tests/golden/make_contrib_rnn.py

To be run with the Python of an environment that has TensorFlow 1.15.
"""

import gzip
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "contrib"))
import rnn_cases
import tensorflow as tf
from tensorflow.contrib import rnn

out = Path(__file__).resolve().parent / "contrib" / "rnn.json.gz"
out.write_bytes(gzip.compress(json.dumps(rnn_cases.run(tf, rnn)).encode()))
