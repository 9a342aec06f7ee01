"""Runs the table of contrib.lookup programs on genuine TensorFlow 1.15 and keeps what they return.

    python tests/golden/make/make_contrib_lookup.py

To be run with the Python of an environment that has TensorFlow 1.15.
"""

import gzip
import json
from pathlib import Path

from folders import DATA

# isort: split
import lookup_cases
import tensorflow as tf
from tensorflow.contrib import lookup

out = Path(DATA) / "contrib" / "lookup.json.gz"
out.write_bytes(gzip.compress(json.dumps(lookup_cases.run(tf, lookup)).encode()))
