"""Records what queues, queue runners and coordinators do on genuine TensorFlow 1.15.5: ``python make_queues.py``.

Writes queues.json.gz in ../data, from the cases in queues_cases.py, queues_runner_cases.py
and queues_input_cases.py. To be run with the Python of an environment
that has TensorFlow 1.15. With names of cases, prints these and writes nothing.
"""

import json
import os
import sys

from folders import DATA

# isort: split
import queues_cases
import queues_input_cases
import queues_runner_cases
import tensorflow as tf
from queues_record import CASES, Trial, record, save

assert queues_cases and queues_runner_cases and queues_input_cases  # they have filled CASES

tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.FATAL)
recorded = {}
for name in sys.argv[1:] or CASES:
    try:
        recorded[name] = record(Trial(tf), CASES[name])
    except Exception:
        print("case", name, file=sys.stderr)
        raise
if sys.argv[1:]:
    print(json.dumps(recorded, indent=1, sort_keys=True))
else:
    save(os.path.join(DATA, "queues.json.gz"), recorded)
