"""Writes contrib/factorization.json.gz with genuine TensorFlow 1.15.5: ``python make_contrib_factorization.py``.

The cases are tests/contrib/factorization_cases.py.
"""

import os
import sys

import tensorflow as tf
from contrib_record import save

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "contrib"))
import factorization_cases  # noqa: E402

tf.logging.set_verbosity(tf.logging.ERROR)
save(
    os.path.join(HERE, "contrib", "factorization.json.gz"),
    factorization_cases.run(tf, tf.contrib.factorization, tf.contrib),
)
