"""Write keras_one_arguments.json: what the package ``keras`` 2.2.4 makes of the arguments of Keras 1.

Run it with genuine TensorFlow 1.15.5 and Keras 2.2.4: ``python make_keras_one_arguments.py``.
"""

import json
import os

import keras
from folders import DATA
from keras_one_arguments import results

with open(os.path.join(DATA, "keras_one_arguments.json"), "w") as file:
    rows = ["%s: %s" % (json.dumps(case), json.dumps(found)) for case, found in sorted(results(keras).items())]
    file.write("{\n%s\n}\n" % ",\n".join(rows))
