"""Write identities_1_15.txt.gz: what a list of names does not say of TensorFlow 1.15.5.

Run it with genuine TensorFlow 1.15.5: ``python make_identities.py``. Lines of three kinds:

* ``contrib.<name><TAB><core name>``: a function or class of contrib_1_15.txt.gz that was the very same object as one of
  namespace_1_15.txt.gz or of ``tf.estimator``; of several core names the one that has the same last name, and of
  those the shortest. Modules count where they were one module, too;
* ``tf.flags.<name><TAB>kind``, and the same below ``tf.app``: a public name of that inner module;
* ``tf.estimator.<name><TAB>kind``: a public name of ``tf.estimator``, and of what could be imported below it.
"""

import gzip
import inspect
import os

import tensorflow as tf
from folders import DATA
from tensorflow import contrib

FUTURE = ("absolute_import", "division", "print_function")
PLAIN = (bool, int, float, str, bytes, tuple, list, dict, type(None))


def names_of(file):
    """The names in a list of ``DATA``, without those of members of classes."""
    with gzip.open(os.path.join(DATA, file), "rt") as lines:
        rows = [line.rstrip("\n").split("\t") for line in lines]
    return [row[0] for row in rows if row[1] not in ("members", "address")]


def value_of(root, name):
    """The object of a dotted name, or None."""
    value = root
    for part in name.split("."):
        value = getattr(value, part, None)
    return value


def unwrapped(value):
    """A module itself, where what is read is a wrapper of it that warns."""
    inner = getattr(value, "_tfmw_wrapped_module", None) if inspect.ismodule(value) else None
    return value if inner is None else inner


def estimator_names(module, prefix, seen):
    """(name, kind) of each public name of ``tf.estimator``."""
    for name in sorted(dir(module)):
        value = getattr(module, name, None)
        if name.startswith("_") or name in FUTURE + ("python",):
            continue
        if inspect.ismodule(value):
            if id(value) not in seen and "estimator" in value.__name__:
                yield prefix + name, "module"
                for each in estimator_names(value, prefix + name + ".", seen | {id(value)}):
                    yield each
        else:
            kind = "class" if inspect.isclass(value) else "function" if callable(value) else "value"
            yield prefix + name, kind


def flags():
    """(name, kind) of each public name of ``tf.flags``, by both of its names: it is an inner module."""
    for name in sorted(dir(tf.flags)):
        value = getattr(tf.flags, name)
        if not name.startswith("_") and not inspect.ismodule(value) and name not in FUTURE:
            kind = "class" if inspect.isclass(value) else "function" if callable(value) else "value"
            for module in ("tf.app.flags", "tf.flags"):
                yield module + "." + name, kind


def main():
    """Write the table."""
    tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.ERROR)
    estimator = sorted(estimator_names(tf.estimator, "tf.estimator.", {id(tf.estimator)}))
    core = {}
    for name in names_of("namespace_1_15.txt.gz") + [name for name, _ in estimator]:
        value = unwrapped(value_of(tf, name[3:]))
        if not isinstance(value, PLAIN) and not name.startswith("tf.compat."):
            core.setdefault(id(value), []).append(name)
    lines = []
    for name in names_of("contrib_1_15.txt.gz"):
        value = unwrapped(value_of(contrib, name[len("contrib.") :]))
        last = name.rpartition(".")[2]
        found = core.get(id(value), [])
        if found and value is not None:
            best = min(found, key=lambda each: (each.rpartition(".")[2] != last, each.count("."), len(each), each))
            lines.append("%s\t%s\n" % (name, best))
    lines += ["%s\t%s\n" % row for row in sorted(flags()) + estimator]
    with open(os.path.join(DATA, "identities_1_15.txt.gz"), "wb") as raw:
        with gzip.GzipFile(fileobj=raw, mode="wb", mtime=0, filename="") as file:
            file.write("".join(lines).encode())


if __name__ == "__main__":
    main()
