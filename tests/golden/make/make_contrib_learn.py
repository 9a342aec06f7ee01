"""Records what tests/contrib/learn_cases.py does on genuine TensorFlow 1.15.5: ``python make_contrib_learn.py``."""

import os

from folders import DATA

# isort: split
import learn_cases
import tensorflow as tf
from contrib_record import save
from tensorflow import contrib

save(os.path.join(DATA, "contrib", "learn.json.gz"), learn_cases.run(tf, contrib))
