"""Writes contrib/factorization.json.gz with genuine TensorFlow 1.15.5: ``python make_contrib_factorization.py``.

The cases are tests/contrib/factorization_cases.py.
"""

import os

from folders import DATA

# isort: split
import factorization_cases
import tensorflow as tf
from contrib_record import save

tf.logging.set_verbosity(tf.logging.ERROR)
save(
    os.path.join(DATA, "contrib", "factorization.json.gz"),
    factorization_cases.run(tf, tf.contrib.factorization, tf.contrib),
)
