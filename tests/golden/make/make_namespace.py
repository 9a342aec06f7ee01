"""Write namespace_1_15.txt.gz: every public name of TensorFlow 1.15.5, a line a name.

Run it with genuine TensorFlow 1.15.5: ``python make_namespace.py OUT.gz``. ``tf.contrib`` and ``tf.estimator`` are left
out. A line is ``name<TAB>kind<TAB>arguments``; kind is module, class, function, value or members; the arguments of
functions and of classes' constructors are separated by commas, ``*`` and ``**`` included; ``?`` where there is no
signature. A line of the kind members has the public attributes of the class, once for a class of several names.
``numpy_1_18.txt`` beside it is what ``dir(numpy)`` was in that environment.
"""

import gzip
import inspect
import os
import sys

import numpy as np
import tensorflow as tf

LEFT_OUT = ("contrib", "estimator")
NOT_PUBLIC = ("python", "core", "tools", "compiler", "examples", "v1", "v2")


def arguments(value):
    """The names of the parameters of a function or class, or "?"."""
    try:
        parameters = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        return "?"
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    return ",".join(stars.get(p.kind, "") + p.name for p in parameters)


def walk(module, prefix, seen, lines):
    """Append a line for each public name of ``module`` and of the public modules in it."""
    for name in sorted(dir(module)):
        if name.startswith("_") or (prefix == "tf." and name in LEFT_OUT):
            continue
        try:
            value = getattr(module, name)
        except (AttributeError, ImportError):
            continue
        full = prefix + name
        if inspect.ismodule(value):
            inside = getattr(value, "__name__", "")
            if not inside.startswith("tensorflow") or ".python." in inside.replace(".python.keras.api", ""):
                continue
            if name in NOT_PUBLIC or id(value) in seen:
                continue
            seen.add(id(value))
            lines.append(f"{full}\tmodule\t")
            walk(value, full + ".", seen, lines)
        elif inspect.isclass(value):
            lines.append(f"{full}\tclass\t{arguments(value.__init__)}")
            if id(value) not in seen and not hasattr(value, "DESCRIPTOR"):  # fields of protos: instances have them
                seen.add(id(value))
                members = ",".join(member for member in dir(value) if not member.startswith("_"))
                lines.append(f"{full}\tmembers\t{members}")
        elif callable(value):
            lines.append(f"{full}\tfunction\t{arguments(value)}")
        else:
            lines.append(f"{full}\tvalue\t")


def main(out):
    """Write the list of names to ``out`` and numpy's beside it."""
    lines = []
    walk(tf, "tf.", {id(tf)}, lines)
    with open(out, "wb") as raw, gzip.GzipFile(fileobj=raw, mode="wb", mtime=0, filename="") as file:
        file.write(("\n".join(lines) + "\n").encode())
    names = [name for name in dir(np) if not name.startswith("_")]
    with open(os.path.join(os.path.dirname(os.path.abspath(out)), "numpy_1_18.txt"), "w") as file:
        file.write("\n".join(names) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
