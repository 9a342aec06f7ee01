"""Write tf1sessions/source/symbols.txt: what became of each public name of TensorFlow 1.15.5.

Run it with today's TensorFlow, tf1sessions installed: ``TF_USE_LEGACY_KERAS=1 python make_symbols.py``. The names are
those of namespace_1_15.txt.gz, contrib_1_15.txt.gz and inner_1_15.txt.gz, those of ``tf.estimator`` and what was one
object in 1.15.5 are in identities_1_15.txt.gz; names that programs read from inner addresses are those of
names_in_use.json.gz. The form is that which tf1sessions/source/symbols.py reads; ELSEWHERE below is written by hand,
and tests/source/symbol_checks.py tries it.
"""

import collections
import functools
import gzip
import importlib
import inspect
import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import absl.flags
import tensorflow as tf
import tensorflow.compat.v1 as v1
from folders import DATA
from tensorflow.python.util import tf_decorator

from tf1sessions import contrib, estimator
from tf1sessions.scripts import moved, moved_tables
from tf1sessions.source import contrib_addresses, replacements

OUT = Path(__file__).resolve().parents[3] / "tf1sessions" / "source" / "symbols.txt"
ABSENT = object()
PLAIN = (bool, int, float, str, bytes, tuple, type(None))
NOT_TARGETS = ("compat", "raw_ops")  # whose names are not what a program is to be written with

#: 1.15's name -> the name in TensorFlow 2, or in another library, that does the same; parameters that have another
#: name there. Each is tried by tests/source/symbol_checks.py.
ELSEWHERE = {
    "tf.gfile.Copy": ("tf.io.gfile.copy", "oldpath:src newpath:dst"),
    "tf.gfile.DeleteRecursively": ("tf.io.gfile.rmtree", "dirname:path"),
    "tf.gfile.Exists": ("tf.io.gfile.exists", "filename:path"),
    "tf.gfile.FastGFile": ("tf.io.gfile.GFile", ""),
    "tf.gfile.Glob": ("tf.io.gfile.glob", "filename:pattern"),
    "tf.gfile.IsDirectory": ("tf.io.gfile.isdir", "dirname:path"),
    "tf.gfile.ListDirectory": ("tf.io.gfile.listdir", "dirname:path"),
    "tf.gfile.MakeDirs": ("tf.io.gfile.makedirs", "dirname:path"),
    "tf.gfile.MkDir": ("tf.io.gfile.mkdir", "dirname:path"),
    "tf.gfile.Remove": ("tf.io.gfile.remove", "filename:path"),
    "tf.gfile.Rename": ("tf.io.gfile.rename", "oldname:src newname:dst"),
    "tf.gfile.Stat": ("tf.io.gfile.stat", "filename:path"),
    "tf.logging.DEBUG": ("logging.DEBUG", ""),
    "tf.logging.ERROR": ("logging.ERROR", ""),
    "tf.logging.FATAL": ("logging.FATAL", ""),
    "tf.logging.INFO": ("logging.INFO", ""),
    "tf.logging.WARN": ("logging.WARNING", ""),
    "tf.logging.debug": ("tf.get_logger().debug", ""),
    "tf.logging.error": ("tf.get_logger().error", ""),
    "tf.logging.fatal": ("tf.get_logger().fatal", ""),
    "tf.logging.get_verbosity": ("tf.get_logger().getEffectiveLevel", ""),
    "tf.logging.info": ("tf.get_logger().info", ""),
    "tf.logging.log": ("tf.get_logger().log", ""),
    "tf.logging.set_verbosity": ("tf.get_logger().setLevel", "v:level"),
    "tf.logging.warn": ("tf.get_logger().warning", ""),
    "tf.logging.warning": ("tf.get_logger().warning", ""),
}
#: Their parameters changed names, too: those of tf.flags give them to absl's.
FLAGS = "flag_name:name default_value:default docstring:help"

#: Public names that tf1sessions has outside of contrib and estimator.
INNER = "tf1sessions.scripts.inner."
OURS = {
    "tf.keras.utils.HDF5Matrix": INNER + "keras_files.HDF5Matrix",
    "tf.keras.utils.multi_gpu_model": INNER + "keras_multi_gpu.multi_gpu_model",
    "tf.keras.experimental.export_saved_model": INNER + "keras_saved_models.export_saved_model",
    "tf.keras.experimental.load_from_saved_model": INNER + "keras_saved_models.load_from_saved_model",
    "tf.keras.wrappers": INNER + "keras_wrappers",
    "tf.keras.wrappers.scikit_learn": INNER + "keras_scikit",
    "tf.keras.wrappers.scikit_learn.KerasClassifier": INNER + "keras_scikit.KerasClassifier",
    "tf.keras.wrappers.scikit_learn.KerasRegressor": INNER + "keras_scikit.KerasRegressor",
    "tf.keras.mixed_precision.experimental": INNER + "keras_mixed_precision",
    "tf.keras.mixed_precision.experimental.LossScaleOptimizer": INNER + "keras_mixed_precision.LossScaleOptimizer",
    "tf.keras.mixed_precision.experimental.Policy": INNER + "keras_mixed_precision.Policy",
    "tf.keras.mixed_precision.experimental.global_policy": INNER + "keras_mixed_precision.global_policy",
    "tf.keras.mixed_precision.experimental.set_policy": INNER + "keras_mixed_precision.set_policy",
    "tf.tpu.experimental.AdagradParameters": INNER + "tpu_embedding.AdagradParameters",
    "tf.tpu.experimental.AdamParameters": INNER + "tpu_embedding.AdamParameters",
    "tf.tpu.experimental.StochasticGradientDescentParameters": INNER
    + "tpu_embedding.StochasticGradientDescentParameters",
    "tf.examples.tutorials.mnist.input_data.read_data_sets": "tf1sessions.contrib.learn.datasets.mnist.read_data_sets",
    "tf.examples.tutorials.mnist.input_data": "tf1sessions.contrib.learn.datasets.mnist",
}


def golden(file):
    """The lines of a list of 1.15.5, each as its parts."""
    with gzip.open(os.path.join(DATA, file), "rt") as lines:
        return [line.rstrip("\n").split("\t") for line in lines]


def read(root, name):
    """The object of a dotted name below ``root``; ABSENT if it is not there."""
    try:
        return functools.reduce(getattr, name.split("."), root)
    except (AttributeError, ImportError):
        return ABSENT


def imported(address):
    """The object at a full address: a module, or a name in one; ABSENT if it is not there."""
    try:
        return importlib.import_module(address)
    except ImportError:
        module, _, name = address.rpartition(".")
        return read(imported(module), name) if module else ABSENT
    except Exception:  # a module that needs what is not there, or says in its own way that it is gone
        return ABSENT


def core(value):
    """What is behind the decorators of a function: those of compat.v1 and of TensorFlow 2 differ in name only.

    What they do there, weak tensors and dispatching by type, is for TensorFlow 2 programs that ask for it.
    """
    return tf_decorator.unwrap(value)[1] if inspect.isfunction(value) else value


def kind_of(value, kind):
    """The kind that a golden says, with constants apart: those are equal by their values, not as objects."""
    return "constant" if isinstance(value, PLAIN) else "value" if kind == "alias" else kind


# -- the public names -------------------------------------------------------------------------------------------------


def addresses_today():
    """(object, address) of every public name of TensorFlow 2, the short addresses of modules first."""
    queue, seen = [(tf, "tf.")], {id(tf)}
    for root, prefix in queue:
        for name in sorted(dir(root)):
            if name.startswith("_") or (prefix == "tf." and name in NOT_TARGETS):
                continue
            value = read(root, name)
            if not inspect.ismodule(value):
                if value is not ABSENT:
                    yield value, prefix + name
            elif id(value) not in seen and ("._api." in value.__name__ or "keras.api." in value.__name__):
                seen.add(id(value))
                queue.append((value, f"{prefix}{name}."))


def best_addresses():
    """Object -> its best public address, by id: without "experimental", short, first in the alphabet."""
    found = collections.defaultdict(list)
    for value, address in addresses_today():
        if not isinstance(value, PLAIN):
            found[id(core(value))].append(address)
    return {key: min(names, key=lambda name: ("experimental" in name, name.count("."), len(name), name))
            for key, names in found.items()}  # fmt: skip


def constant_address(name, value):
    """Where TensorFlow 2 has a constant of the same name and value: in tf.version or in the module above."""
    module, _, last = name.rpartition(".")
    for place in ("tf.version", module.rpartition(".")[0]):
        found = read(tf, f"{place}.{last}"[3:]) if place not in ("", "tf") else ABSENT
        if type(found) is type(value) and found == value:
            return f"{place}.{last}"
    return None


def core_row(name, kind, best):
    """(kind, verdict, target, parameters) of a name of the core."""
    old, new = read(v1, name[3:]), read(tf, name[3:])
    if old is ABSENT:
        return (kind, "ours", OURS[name], "") if name in OURS else (kind, "gone", "", "")
    kind = kind_of(old, kind)
    if name in ELSEWHERE:
        return kind, "elsewhere", *ELSEWHERE[name]
    if kind == "constant":
        if type(new) is type(old) and new == old:
            return kind, "same", "", ""
        address = constant_address(name, old)
        return (kind, "renamed", address, "") if address else (kind, "v1", "", "")
    if core(old) is core(new):
        return kind, "same", "", ""
    if id(core(old)) in best and kind != "module":
        return kind, "renamed", best[id(core(old))], ""
    return flags_row(name, kind, old) or (kind, "v1", "", "")


def flags_row(name, kind, value):
    """The row of a name of tf.flags that is absl's own, or a definition of a flag by absl's."""
    last = name.rpartition(".")[2]
    if name != f"tf.flags.{last}" and name != f"tf.app.flags.{last}" or last == "tf_decorator":
        return None
    if getattr(absl.flags, last, ABSENT) is value and last != "FLAGS":
        return kind, "elsewhere", f"absl.flags.{last}", ""
    return (kind, "elsewhere", f"absl.flags.{last}", FLAGS) if last.startswith("DEFINE_") else None


def core_rows():
    """Name -> row, of the public names but ``tf.contrib`` and ``tf.estimator``."""
    best = best_addresses()
    kinds = {name: kind for name, kind, _ in golden("namespace_1_15.txt.gz") if kind != "members"}
    kinds |= {name: kind for name, kind in golden("identities_1_15.txt.gz") if "flags." in name and name[:3] == "tf."}
    kinds |= {"tf.flags": "module", "tf.app.flags": "module"}
    rows = {name: core_row(name, kind, best) for name, kind in sorted(kinds.items())}
    modules = [name for name, row in rows.items() if row[0] == "module"]
    for module in modules:  # a module is what its names are
        inside = {row[1] for name, row in rows.items() if name.startswith(f"{module}.")}
        if rows[module][1] == "v1" and inside <= {"same"}:
            rows[module] = ("module", "same", "", "")
    for name in ("tf.examples.tutorials.mnist.input_data", "tf.examples.tutorials.mnist.input_data.read_data_sets"):
        rows[name] = ("function" if name.endswith("sets") else "module", "ours", OURS[name], "")
    return rows


def estimator_and_contrib_rows(core):
    """Name -> row, of ``tf.estimator`` and ``tf.contrib``; what was a core object is in ``equal``."""
    identities = dict(golden("identities_1_15.txt.gz"))
    rows = {}
    for name, kind in identities.items():
        if name.startswith("tf.estimator."):
            found = read(estimator, name[len("tf.estimator.") :])
            rows[name] = our_row(found, kind, f"tf1sessions.{name[3:]}", "")
    rows["tf.estimator"] = ("module", "ours", "tf1sessions.estimator", "")
    for name, kind, _ in golden("contrib_1_15.txt.gz"):
        if kind != "address":
            found = read(contrib, name[len("contrib.") :])
            row = our_row(found, kind, f"tf1sessions.{name}", identities.get(name, ""))
            rows[f"tf.{name}"] = core_address(row, identities.get(name), core)
    rows["tf.contrib"] = ("module", "ours", "tf1sessions.contrib", "")
    for name in sorted((name for name, row in rows.items() if row[0] == "module"), key=len, reverse=True):
        if not any(row[1] == "ours" for each, row in rows.items() if each.startswith(f"{name}.")):
            rows[name] = ("module", "gone", "", "")
    return rows


def core_address(row, equal, core):
    """The row of a name of ``tf.contrib`` that is not rebuilt, and that a core name has in its place."""
    if row[1] != "gone" or equal not in core or core[equal][1] == "gone":
        return row
    kind, verdict, target, _ = core[equal]
    return kind, "elsewhere", target or (f"tf.compat.v1{equal[2:]}" if verdict == "v1" else equal), f"equal={equal}"


def our_row(found, kind, address, equal):
    if found is ABSENT:
        return kind, "gone", "", f"equal={equal}" if equal else ""
    kind = "module" if inspect.ismodule(found) else kind_of(found, kind)
    return kind, "ours", address, f"equal={equal}" if equal else ""


def contrib_rows_in_use(rows):
    """Rows of names that programs read from ``tf.contrib``, and that are not public, or were not in 1.15.5 any more."""
    found = {}
    for name in names_in_use():
        short = name.replace("tensorflow", "tf", 1)
        if not name.startswith("tensorflow.contrib.") or short in rows:
            continue
        top, *parts = name.removeprefix("tensorflow.contrib.").split(".")
        length = max((n for n in range(len(parts)) if contrib_addresses.is_inner(top, ".".join(parts[:n]))), default=0)
        if length and ".".join(["tf.contrib", top, *parts[length:]]) in rows:
            continue
        whole = f"tf1sessions.contrib.{top}"
        address = inner_address(whole, parts[:length], parts[length:]) if length else f"tf1sessions{name[10:]}"
        value = imported(address) if address else ABSENT
        if value is not ABSENT:
            found[short] = our_row(value, kind_of_value(value), address, "")
    return found


def contrib_file_rows(rows):
    """Rows of what our files have at the addresses of 1.15's files, and what is not public above them."""
    found = {}
    for name, kind, _ in golden("contrib_1_15.txt.gz"):
        _, top, *parts = name.split(".")
        address = inner_address(f"tf1sessions.contrib.{top}", parts, []) if kind == "address" else None
        module = imported(address) if address else ABSENT
        if not inspect.ismodule(module):
            continue
        for last in getattr(module, "__all__", dir(module)):
            value = read(module, last)
            own = getattr(value, "__module__", None) == module.__name__
            if own and last[0] != "_" and f"tf.contrib.{top}.{last}" not in rows:
                row = our_row(value, kind_of_value(value), f"{address}.{last}", "")
                found.setdefault(f"tf.{name}.{last}", row)
    return found


def names_in_use():
    """The names of TensorFlow that public programs use."""
    with gzip.open(os.path.join(DATA, "names_in_use.json.gz"), "rt") as file:
        return json.load(file)["names"]


def kind_of_value(value):
    return "class" if inspect.isclass(value) else "function" if callable(value) else "value"


def inner_address(module, folder, rest):
    """Where our files have what 1.15 had in ``folder`` below a module of tf.contrib: as scripts find it."""
    for end in range(len(folder), 0, -1):
        for start in range(end):
            address = ".".join([module, *folder[start:end], *rest])
            if imported(address) is not ABSENT:
                return address
    return None


# -- inner modules ----------------------------------------------------------------------------------------------------


def inner_rows():
    """Name -> row, of the modules below tensorflow.python and its kin, and of those of their names that moved."""
    rows = {}
    for module, names in golden("inner_1_15.txt.gz"):
        short = "tf" + module[len("tensorflow") :]
        here = ABSENT if module in moved_tables.GONE or moved.modules(module) else imported(module)
        if inspect.ismodule(here):
            rows[short] = ("inner", "same", "", "")
        else:
            target = next((target for target in moved.modules(module) if imported(target) is not ABSENT), "")
            rows[short] = ("inner", verdict_of(target), target, "")
        for name in names.split():
            if here is not ABSENT and read(here, name) is not ABSENT:
                if hasattr(here, "__path__"):  # in other modules what is not listed is as the module is
                    rows[f"{short}.{name}"] = ("name", "same", "", "")
                continue
            target = new_address(module, name)
            if target != f"{rows[short][2]}.{name}" or rows[short][1] == "gone":
                rows[f"{short}.{name}"] = ("name", verdict_of(target), target, "")
    rows |= inner_rows_in_use(rows)
    return rows | rows_of_scripts(rows)


FACE = """
import importlib, json, sys, types
import tf1sessions.scripts
tf1sessions.scripts.install()
homes = {}
for name in json.load(sys.stdin):
    module, _, last = name.rpartition(".")
    try:
        value = getattr(importlib.import_module(module), last)
    except (AttributeError, ImportError):
        continue
    if isinstance(value, (type, types.FunctionType)):
        homes[name] = f"{value.__module__}.{value.__qualname__}"
json.dump(homes, sys.stdout)
"""


def rows_of_scripts(rows):
    """Rows of functions and classes that scripts of ``tf1sessions run`` find at an address that is gone elsewhere."""
    gone = {"tensorflow" + name[2:] for name, row in rows.items() if row[1] == "gone"}
    asked = gone | {name for name in names_in_use() if name.rpartition(".")[0] in gone}
    done = subprocess.run(
        [sys.executable, "-c", FACE], input=json.dumps(sorted(asked)), stdout=subprocess.PIPE, text=True
    )
    found = {}
    for name, home in json.loads(done.stdout.splitlines()[-1]).items():
        if imported(home) is not ABSENT:
            short = "tf" + name[len("tensorflow") :]
            found[short] = ("name", verdict_of(home), home, "")
            module = short.rpartition(".")[0]
            if rows.get(module, ("", ""))[1] == "gone":
                above = home.rpartition(".")[0]
                found[module] = ("inner", verdict_of(above), above, "")
    return found


def inner_rows_in_use(rows):
    """Rows of names that programs read from inner modules which had them from elsewhere, and have not any more."""
    found = {}
    for name in names_in_use():
        module, _, last = name.rpartition(".")
        above, short = rows.get(module.replace("tensorflow", "tf", 1)), name.replace("tensorflow", "tf", 1)
        if above is None or above[1] == "gone" or short in rows:
            continue
        if imported(f"{above[2] or module}.{last}") is not ABSENT:
            if hasattr(imported(above[2] or module), "__path__"):
                found[short] = ("name", above[1], f"{above[2]}.{last}" if above[2] else "", "")
        else:
            target = new_address(module, last)
            found[short] = ("name", verdict_of(target), target, "")
    return found


def verdict_of(target):
    return "gone" if not target else "ours" if target.startswith("tf1sessions.") else "moved"


def new_address(module, name):
    """Where a name of an inner module is today: a full address, or ""."""
    key = module.removeprefix("tensorflow.python").lstrip(".")
    table = moved_tables.NAMES.get(key, {})
    candidates = [table[name]] if name in table else []
    candidates += [f"!{target}:{name}" for target in moved.modules(module)]
    candidates += [f"tf.{name}" if where == "tf" else f"{where}:{name}" for where in table.get("*", "").split()]
    for candidate in candidates:
        if candidate.startswith("="):
            continue
        if candidate.startswith("tf."):
            address = "tensorflow.compat.v1" + candidate[2:]
        else:
            where, _, last = candidate.partition(":")
            address = where[1:] if where.startswith("!") else f"tensorflow.python.{where}"
            address = f"{address}.{last}".rstrip(".")
        if imported(address) is not ABSENT:
            return address.replace("tensorflow.compat.v1.", "tf.compat.v1.")
    return ""


# -- the file ---------------------------------------------------------------------------------------------------------


def text_of(rows):
    """The table: a section for each module; what has no address of its own stands together."""
    sections = collections.defaultdict(lambda: (collections.defaultdict(list), []))
    for name, (kind, verdict, target, more) in sorted(rows.items()):
        module, _, last = name.rpartition(".")
        groups, lines = sections[module]
        if target or more:
            lines.append(" ".join(filter(None, [last, kind, verdict, target or "-", more])))
        else:
            groups[f"{verdict} {kind}:"].append(last)
    text = []
    for module, (groups, lines) in sorted(sections.items()):
        text.append(f"[{module}]")
        for head, names in sorted(groups.items()):
            text += textwrap.wrap(f"{head} {' '.join(names)}", 118, subsequent_indent="  ", break_long_words=False,
                                  break_on_hyphens=False)  # fmt: skip
        text += [*lines, ""]
    return "\n".join(text)


def main():
    if os.environ.get("TF_USE_LEGACY_KERAS") != "1":
        sys.exit("Set TF_USE_LEGACY_KERAS=1: tf.layers and the cells of tf.nn need Keras 2")
    sys.modules["tensorflow_probability"] = None  # what only it can do is not ours
    rows = core_rows()
    rows |= estimator_and_contrib_rows(rows)
    rows |= contrib_rows_in_use(rows)
    rows |= contrib_file_rows(rows)
    for name, row in inner_rows().items():
        if rows.get(name, ["module"])[0] == "module" and not f"{name}.".startswith("tf.lite."):
            rows[name] = row
        rows.setdefault(name, row)  # of tf.lite, which is public as well as inner
    head = (
        "# What became of each public name of TensorFlow 1.15.5, and of its inner modules; symbols.py says how to\n"
        f"# read it. Written by tests/golden/make/make_symbols.py on TensorFlow {tf.__version__}.\n\n"
    )
    OUT.write_text(head + text_of(rows), "utf-8")
    silent = [name for name, row in rows.items() if row[1] == "gone" and replacements.find(name) is None]
    print(len(rows), "names;", collections.Counter(row[1] for row in rows.values()))
    print("gone, and nothing is said to use instead:", silent[:40], len(silent))


if __name__ == "__main__":
    main()
