"""Runs the table of contrib.lookup programs on genuine TensorFlow 1.15 and keeps what they return.

    python tests/golden/make/make_contrib_lookup.py

To be run with the Python of an environment that has TensorFlow 1.15.
"""

import os

from folders import DATA

# isort: split
import lookup_cases
import tensorflow as tf
from contrib_record import save
from tensorflow.contrib import lookup

save(os.path.join(DATA, "contrib", "lookup.json.gz"), lookup_cases.run(tf, lookup))
