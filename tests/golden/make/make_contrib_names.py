"""Write contrib_1_15.txt.gz: every public name of ``tf.contrib`` of TensorFlow 1.15.5, a line a name.

Run it with genuine TensorFlow 1.15.5: ``python make_contrib_names.py``. A line is ``name<TAB>kind<TAB>arguments``:

* kind class, function or value: the name is ``contrib.<module>...<name>``, as a program reads it from ``tf``; the
  arguments of functions and of classes' constructors are separated by commas, ``*`` and ``**`` included; ``?`` where
  there is no signature;
* kind module: it is read like that, and ``import tensorflow.<name>`` works, too; kind alias: that does not;
* kind address: a module that can only be imported.

Public is what has no underscore in front, and was not merely imported for the module's own use: from a module that
hides nothing only what is TensorFlow's counts, from a file only what is its own.
"""

import gzip
import importlib
import inspect
import os
import pkgutil
import sys

import tensorflow as tf
from folders import DATA
from tensorflow import contrib

ROOT = "tensorflow.contrib"
FUTURE = ("absolute_import", "division", "print_function")
# Modules in those that show what they merely use, and what else programs read from one of them.
READ = {
    "contrib.compiler": "jit xla",
    "contrib.learn.datasets": "base mnist synthetic",
    "contrib.slim": "evaluation layers learning losses metrics model_analyzer nets queues summaries "
    "data_decoder data_provider dataset dataset_data_provider parallel_reader prefetch_queue tfexample_decoder",
    "contrib.solvers": "lanczos least_squares linear_equations util",
    "contrib.specs": "specs specs_lib specs_ops params_ops summaries",
    "contrib.tensor_forest": "client data_ops eval_metrics random_forest tensor_forest",
    "contrib.tensor_forest.client": "eval_metrics random_forest",
    "contrib.tensorboard": "plugins",
    "contrib.tensorboard.plugins": "projector",
    "contrib.tensorrt": "trt_convert",
}
# Files whose names programs know although they come from elsewhere.
FILES = ("contrib.compiler.jit", "contrib.compiler.xla", "contrib.eager", "contrib.summary")


def arguments(value):
    """The names of the parameters of a function or class, or "?"."""
    try:
        parameters = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        return "?"
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    return ",".join(stars.get(p.kind, "") + p.name for p in parameters)


def modules():
    """The full names of all modules that are in the package, and that can be imported."""
    found = []
    for info in pkgutil.walk_packages(contrib.__path__, ROOT + "."):
        if info.name.endswith(("_test", ".create_def_file")):
            continue
        try:
            importlib.import_module(info.name)
        except ImportError as error:
            print("left out:", info.name, error, file=sys.stderr)
            continue
        found.append(info.name)
    return found


def is_public(parent, module, name, value):
    """Whether ``module``, known as ``parent``, offers ``name``."""
    if name.startswith("_") or name in FUTURE + ("DESCRIPTOR", "python"):
        return False
    if getattr(module, "__all__", None):
        return name in module.__all__
    shows_all = any(hasattr(module, word) for word in FUTURE)
    if inspect.ismodule(value):
        if shows_all:
            return name in READ.get(parent, "").split()
        inside = value.__name__.replace("tensorflow_core", "tensorflow")
        return inside.startswith("tensorflow.") and not (
            inside == ROOT + parent[len("contrib") :] + ".ops"
            or inside.rpartition(".")[2].startswith("gen_")
            or inside.endswith(("_pb2", "keras.api"))
        )
    if not callable(value):
        return name.isupper() or not shows_all
    home = (getattr(value, "__module__", None) or "").replace("tensorflow_core", "tensorflow")
    if shows_all and not hasattr(module, "__path__") and parent not in FILES:
        return home == module.__name__.replace("tensorflow_core", "tensorflow")
    return not shows_all or (home.startswith("tensorflow") and not home.startswith("tensorflow.python.util."))


def walk(parent, module, path, lines):
    """Append a line for each public name of ``module`` and of the public modules in it."""
    for name in sorted(dir(module)):
        try:
            value = getattr(module, name)
        except (AttributeError, ImportError):
            continue
        if not is_public(parent, module, name, value):
            continue
        full = parent + "." + name
        if inspect.ismodule(value):
            if value in path:
                continue
            lines[full] = ("alias", "")
            walk(full, value, path + [module], lines)
        elif inspect.isclass(value):
            lines[full] = ("class", arguments(value.__init__))
        elif callable(value):
            lines[full] = ("function", arguments(value))
        else:
            lines[full] = ("value", "")


def main():
    tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.ERROR)
    importable = modules()
    lines = {}
    for top in sorted({name.split(".")[2] for name in importable}):
        module = getattr(contrib, top, None) or importlib.import_module(ROOT + "." + top)
        lines["contrib." + top] = ("module", "")
        walk("contrib." + top, module, [contrib], lines)
    for name in importable:
        name = name[len("tensorflow.") :]
        lines[name] = ("module" if name in lines else "address", "")
    text = "".join("%s\t%s\t%s\n" % (name, *lines[name]) for name in sorted(lines))
    out = os.path.join(DATA, "contrib_1_15.txt.gz")
    with open(out, "wb") as raw, gzip.GzipFile(fileobj=raw, mode="wb", mtime=0, filename="") as file:
        file.write(text.encode())


if __name__ == "__main__":
    main()
