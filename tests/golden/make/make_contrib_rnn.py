"""Runs the table of contrib.rnn cases on genuine TensorFlow 1.15 and keeps what they give.

    python tests/golden/make/make_contrib_rnn.py

To be run with the Python of an environment that has TensorFlow 1.15.
"""

from pathlib import Path

from folders import DATA

# isort: split
import rnn_cases
import tensorflow as tf
from contrib_record import save
from tensorflow.contrib import rnn


def rounded(value):
    """``value`` with the digits that a float32 has."""
    if isinstance(value, dict):
        return {key: rounded(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [rounded(part) for part in value]
    return float("%.7g" % value) if isinstance(value, float) else value


save(str(Path(DATA) / "contrib" / "rnn.json.gz"), rounded(rnn_cases.run(tf, rnn)))
