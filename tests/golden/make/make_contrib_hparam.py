"""Asks genuine TensorFlow 1.15 what HParams answers to the table of cases.

    python tests/golden/make/make_contrib_hparam.py

To be run with the Python of an environment that has TensorFlow 1.15.
"""

import os

from folders import DATA

# isort: split
import hparam_cases
from contrib_record import save
from tensorflow.contrib.training import HParams, parse_values

answers = {text: hparam_cases.answer(text, HParams, parse_values) for text in hparam_cases.EXPRESSIONS}
save(os.path.join(DATA, "contrib", "hparam.json.gz"), answers)
