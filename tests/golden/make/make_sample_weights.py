"""Write sample_weights.json: what ``tf.keras`` of 1.15.5 and the package ``keras`` make of masks and sample weights.

Run it with genuine TensorFlow 1.15.5 and Keras 2.2.4: ``python make_sample_weights.py``.
"""

import json
import os

import keras
import tensorflow as tf
from folders import DATA
from sample_weights import results

with open(os.path.join(DATA, "sample_weights.json"), "w") as file:
    found = {name: results(module) for name, module in (("keras", keras), ("tf.keras", tf.keras))}
    rounded = json.loads(json.dumps(found), parse_float=lambda text: float("%.6g" % float(text)))
    sides = []
    for name, cases in rounded.items():
        rows = ["%s: %s" % (json.dumps(case), json.dumps(given)) for case, given in sorted(cases.items())]
        sides.append("%s: {\n%s\n}" % (json.dumps(name), ",\n".join(rows)))
    file.write("{\n%s\n}\n" % ",\n".join(sides))
