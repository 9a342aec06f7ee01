"""Write inner_1_15.txt.gz: the modules of TensorFlow 1.15.5 below its public ones, with their own names, a line each.

Run it with genuine TensorFlow 1.15.5: ``python make_inner_names.py``. A line is ``module<TAB>names``: the functions
and classes that are defined in the module, and its constants; of modules that a compiler wrote without those that
start with an underscore. Left out are ``tensorflow.contrib``, which contrib_1_15.txt.gz has, tests, and modules that
run something.
"""

import gzip
import importlib
import inspect
import os
import sys

import tensorflow as tf
import tensorflow_core
from folders import DATA

FOLDERS = ("python", "core", "compiler", "lite", "tools")
LEFT_OUT = ("_test", "__main__", "keras.api", "pip_package.setup", "pywrap_tensorflow_internal", "create_python_api")
FUTURE = ("absolute_import", "division", "print_function")


def modules():
    """The names of all modules, as a program imports them."""
    top = os.path.dirname(tensorflow_core.__file__)
    found = set()
    for folder in FOLDERS:
        for path, _, files in os.walk(os.path.join(top, folder)):
            package = "tensorflow." + os.path.relpath(path, top).replace(os.sep, ".")
            if "__init__.py" in files:
                found.add(package)
            found.update(package + "." + name[:-3] for name in files if name.endswith(".py") and name != "__init__.py")
    return sorted(name for name in found if not any(part in name for part in LEFT_OUT))


def own_names(module):
    """The names that ``module`` has not from elsewhere."""
    last = module.__name__.rpartition(".")[2]
    generated = last.startswith("gen_") or last.endswith(("_pb2", "_grpc"))
    found = []
    for name, value in sorted(vars(module).items()):
        if name.startswith("__") or inspect.ismodule(value) or name in FUTURE or (generated and name.startswith("_")):
            continue
        if inspect.isclass(value) or inspect.isfunction(value):
            if value.__module__ == module.__name__:
                found.append(name)
        elif name.strip("_").isupper():
            found.append(name)
    return found


def main():
    """Write the table."""
    tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.ERROR)
    lines = []
    for name in modules():
        try:
            module = importlib.import_module(name)
        except (ImportError, ValueError) as error:
            print("left out:", name, error, file=sys.stderr)
            continue
        lines.append("%s\t%s\n" % (name, " ".join(own_names(module))))
    with open(os.path.join(DATA, "inner_1_15.txt.gz"), "wb") as raw:
        with gzip.GzipFile(fileobj=raw, mode="wb", mtime=0, filename="") as file:
            file.write("".join(lines).encode())


if __name__ == "__main__":
    main()
