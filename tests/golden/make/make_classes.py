"""Write classes.json.gz: what ``type`` and ``isinstance`` say of the objects of class_objects.py.

Run it with genuine TensorFlow 1.15.5: ``python make_classes.py``. Of each object: the name of its class, which public
class it is of exactly, and of which it is an instance. Of the public functions and classes: the names of those that
have several, and which cannot be pickled. tests/scripts/test_classes.py asks today's the same.
"""

import gzip
import inspect
import json
import os
import pickle

import tensorflow as tf
from folders import DATA

MODULES = (
    "train nn.rnn_cell layers data keras keras.layers keras.initializers keras.regularizers keras.optimizers summary "
    "errors distributions estimator initializers gfile lookup"
).split()


def public_classes():
    """The classes by their names, as ``tf.train.Saver``."""
    found = {}
    for path in ["", *MODULES]:
        module = tf
        for part in filter(None, path.split(".")):
            module = getattr(module, part)
        for name in dir(module):
            if name[0] != "_" and inspect.isclass(getattr(module, name, None)):
                found[".".join(filter(None, ("tf", path, name)))] = getattr(module, name)
    return found


def public_names():
    """The functions and classes of namespace_1_15.txt.gz, by their names; None is not there."""
    found = {}
    with gzip.open(os.path.join(DATA, "namespace_1_15.txt.gz"), "rt") as file:
        for line in file:
            name, kind = line.split("\t")[:2]
            if kind in ("function", "class") and not name.startswith("tf.raw_ops."):
                value = tf
                for part in name.split(".")[1:]:
                    value = getattr(value, part, None)
                found[name] = value
    return found


def aliases(names):
    """The names of each function or class."""
    found = {}
    for name, value in names.items():
        if value is not None:
            found.setdefault(id(value), []).append(name)
    return list(found.values())


def can_be_pickled(value):
    try:
        return pickle.loads(pickle.dumps(value)) is value
    except (pickle.PicklingError, AttributeError, ImportError):
        return False


def described():
    """What Python says of each object, and the names of all public classes."""
    import class_objects  # makes a graph

    classes = public_classes()
    objects = {
        name: {
            "class": type(value).__name__,
            "exactly": [each for each, one in classes.items() if type(value) is one],
            "instance of": [each for each, one in classes.items() if isinstance(value, one)],
        }
        for name, value in vars(class_objects).items()
        if name[0] != "_"
    }
    names = public_names()
    not_pickled = [name for name, value in names.items() if not can_be_pickled(value)]
    return {"objects": objects, "classes": list(classes), "aliases": aliases(names), "not pickled": not_pickled}


if __name__ == "__main__":
    with gzip.GzipFile(os.path.join(DATA, "classes.json.gz"), "wb", 9, mtime=0) as file:
        file.write(json.dumps(described(), sort_keys=True).encode())
