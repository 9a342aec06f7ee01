"""Records the cases of a module of ``tf.contrib`` with genuine TensorFlow 1.15.5: ``python make_contrib.py layers``.

Writes contrib/<module>.json.gz in ../data, from the cases in contrib_<module>_cases.py.
"""

import importlib
import os
import sys

from folders import DATA

# isort: split
import tensorflow as tf
from contrib_record import record, save
from tensorflow import contrib

tf.logging.set_verbosity(tf.logging.ERROR)
for name in sys.argv[1:]:
    cases = importlib.import_module("contrib_%s_cases" % name).CASES
    recorded = {}
    for key in sorted(cases):
        try:
            recorded[key] = record(tf, contrib, cases[key])
        except Exception:
            print("case", key, file=sys.stderr)
            raise
    save(os.path.join(DATA, "contrib", name + ".json.gz"), recorded)
