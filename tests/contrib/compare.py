"""Compares what a case of ``tf.contrib`` does with what was recorded of it on TensorFlow 1.15.5.

Runs in a process of its own, ``python compare.py library|v1|all MODULE...``, and prints for each module a line of JSON
with the differences: with "v1" after ``tf1sessions.scripts.install()``, as a script has it, of most cases, with "all"
of every one; with "library" of a part, in a plain graph of a TensorFlow 2 program. :func:`chosen` says of which.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

GOLDEN = Path(__file__).parents[1] / "golden"
#: Relative to the greatest value: exp, rsqrt and the fused batch norm differ by up to 1e-5 between 1.15.5 and today.
TOLERANCE = 2e-5
HALF = 2e-3
#: Modules whose cases are loops, which take long, and three times as long where TensorFlow 2 makes functions of them.
LOOPS = {"crf", "legacy_seq2seq", "seq2seq"}
#: Modules in which each class has cases of each number of parameters, and each of those with each kind of arguments.
KINDS = {"bijectors": ("double", "unknown", "validated"), "distributions": ("double", "unknown", "validated")}


def differences(old: dict[str, Any], new: dict[str, Any], names: bool) -> list[str]:
    """What differs, as lines; ``names`` is whether the names of operations count, too."""
    found = []
    if "error" in old or "error" in new:
        return [] if old == new else [f"error: {old.get('error')}, now {new.get('error')}"]
    for key in ("variables", "dtypes", "shapes", *(["names"] if names else [])):
        if old[key] != new[key]:
            found.append(f"{key}: {old[key]}, now {new[key]}")
    for key in sorted({*old["collections"], *new["collections"]}):
        before, now = (side["collections"].get(key, []) for side in (old, new))
        if before != now and (names or len(before) != len(now) or "variables" in key):
            found.append(f"collection {key}: {before}, now {now}")
    for part in ("outputs", "after"):
        for key in old.get(part, {}):
            before, now = np.array(old[part][key]), np.array(new.get(part, {}).get(key, []))
            tolerance = HALF if "float16" in old["dtypes"].values() else TOLERANCE
            if before.shape != now.shape:
                found.append(f"{part} {key}: {before.size} values, now {now.size}")
            elif before.dtype.kind not in "fiu":
                if before.tolist() != now.tolist():
                    found.append(f"{part} {key}: {before.tolist()}, now {now.tolist()}")
            elif before.size and not np.allclose(
                before,
                now,
                rtol=0,
                atol=tolerance * max(1.0, np.abs(before[np.isfinite(before)]).max(initial=0.0)),
                equal_nan=True,
            ):
                found.append(f"{part} {key}: differs by {np.abs(before - now).max():.3g}")
    return found


def sample(names: Iterable[str]) -> set[str]:
    """Those of ``names`` with a word that no name before it has: all functions, all arguments, but not all pairs.

    A name is a function's and one for each of its arguments. What is called is the same code in scripts, where more
    cases are compared; in the library, that it is called in TensorFlow 2's mode is what can make a difference.
    """
    seen: set[str] = set()
    chosen = set()
    for name in names:
        if not seen.issuperset(words := name.split()):
            chosen.add(name)
            seen.update(words)
    return chosen


def first_of_each(names: Iterable[str]) -> set[str]:
    """Those of ``names`` whose first word no name before it has: a case of each function."""
    return set({name.partition(" ")[0]: name for name in reversed(list(names))}.values())


def each_kind_once(names: Iterable[str], kinds: Iterable[str]) -> set[str]:
    """Those of ``names`` that end in no kind, or in one that no name before has with the same first word."""
    seen: set[tuple[str, str]] = set()
    chosen = set()
    for name in names:
        words = name.split()
        pair = words[0], words[-1]
        if words[-1] not in kinds or pair not in seen:
            chosen.add(name)
            seen.add(pair)
    return chosen


def chosen(way: str, module: str, names: Iterable[str]) -> set[str]:
    """Those of a module's cases that are compared in this way."""
    if way == "all":
        return set(names)
    if way == "v1":
        return sample(names) if module in LOOPS else each_kind_once(names, KINDS.get(module, ()))
    return first_of_each(names) if module in LOOPS else sample(names)


def main(way: str, modules: list[str]) -> None:
    sys.path[:0] = [str(GOLDEN / "cases"), str(GOLDEN.parent)]
    from collector import collect_rarely

    if way != "library":
        import tf1sessions.scripts

        tf1sessions.scripts.install()
        import tensorflow as tf
        from tensorflow import contrib
    else:
        from tf1sessions import contrib
        from tf1sessions import tf1 as tf
    record = importlib.import_module("contrib_record")
    tf.logging.set_verbosity(tf.logging.ERROR)
    collect_rarely()
    for module in modules:
        cases = importlib.import_module(f"contrib_{module}_cases").CASES
        golden = record.load(GOLDEN / "data" / "contrib" / f"{module}.json.gz")
        found = {name: ["it is in one of the two only"] for name in golden.keys() ^ cases.keys()}
        for name in golden.keys() & chosen(way, module, cases):
            new = json.loads(json.dumps(record.record(tf, contrib, cases[name])))
            if lines := differences(golden[name], new, way != "library"):
                found[name] = lines
        print(json.dumps(found, sort_keys=True), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
