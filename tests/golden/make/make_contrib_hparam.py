"""Asks genuine TensorFlow 1.15 what HParams answers to the table of cases.

    python tests/golden/make/make_contrib_hparam.py

To be run with the Python of an environment that has TensorFlow 1.15.
"""

import gzip
import json
from pathlib import Path

from folders import DATA

# isort: split
import hparam_cases
from tensorflow.contrib.training import HParams, parse_values

answers = {text: hparam_cases.answer(text, HParams, parse_values) for text in hparam_cases.EXPRESSIONS}
out = Path(DATA) / "contrib" / "hparam.json.gz"
out.parent.mkdir(exist_ok=True)
out.write_bytes(gzip.compress(json.dumps(answers).encode()))
