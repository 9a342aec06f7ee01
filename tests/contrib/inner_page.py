"""Writes migration_notes/inner-addresses.md, what became of the inner modules of TensorFlow 1.15.5 in scripts.

    python tests/contrib/inner_page.py

The modules and their names are those of tests/golden/data/inner_1_15.txt.gz, the numbers of repositories those of
names_in_use.json.gz there. What became of them is seen by reading them in this process, which gets the TF1 face.
"""

from __future__ import annotations

import collections
import gzip
import importlib
from pathlib import Path
from typing import Any, NamedTuple

import names_in_use

ROOT = Path(__file__).resolve().parents[2]
NAMES = ROOT / "tests" / "golden" / "data" / "inner_1_15.txt.gz"
PAGE = ROOT / "migration_notes" / "inner-addresses.md"
PACKAGES = ("python", "core", "compiler", "lite", "tools")

_TOP = """# Inner addresses

What became of the modules of TensorFlow 1.15.5 that programs import though they were not public: those below
`tensorflow.python`, `tensorflow.core`, `tensorflow.compiler`, `tensorflow.lite` and `tensorflow.tools`. A script of
`tf1sessions run` can import each of them, on TensorFlow 2.16 to 2.21; the numbers are those of 2.21.
[Another page](contrib.md) has the names of `tf.contrib`.

A name is counted where it was defined, private ones and parts of TensorFlow's own machinery included. It is

* **there**: an object of today's TensorFlow or Keras, wherever that is now;
* **ours**: written anew in tf1sessions;
* **missing**: reading it is an `AttributeError` that names it, for most modules with your line and what to use instead.

This page is written by `tests/contrib/inner_page.py`, from the code; a test holds the two together.
"""

_IN_USE = """
## Missing names that programs use

{repositories} public repositories that use TensorFlow 1 were looked at. They use {names} names of TensorFlow, of which
{missing} are not there: those below were in 1.15.5, or were in another release and have a replacement. Names that no
release had are left out, and those of `tf.contrib` are on [their page](contrib.md).

| name | repositories | instead |
|---|---|---|
"""


class Module(NamedTuple):
    """A module of 1.15.5: whether it can be imported, and its names by what became of them."""

    imported: bool
    there: list[str]
    ours: list[str]
    missing: list[str]


def golden() -> dict[str, list[str]]:
    """Module -> its own names, as tests/golden/make/make_inner_names.py wrote them."""
    with gzip.open(NAMES, "rt") as file:
        pairs = [line.rstrip("\n").split("\t") for line in file]
    return {name: own.split() for name, own in pairs}


def state(name: str, own: list[str]) -> Module:
    """What became of the module called ``name`` and of its ``own`` names."""
    try:
        module = importlib.import_module(name)
    except ImportError:
        return Module(False, [], [], own)
    found = Module(True, [], [], [])
    for each in own:
        try:
            value = getattr(module, each)
        except AttributeError:
            found.missing.append(each)
            continue
        home = getattr(value, "__module__", None) or module.__name__
        (found.ours if home.startswith("tf1sessions") else found.there).append(each)
    return found


def states() -> dict[str, Module]:
    """What became of each module."""
    return {name: state(name, own) for name, own in golden().items()}


def is_there(name: str) -> bool:
    """Whether a script can read ``name`` ("tensorflow.nn.relu") from what it imports."""
    value: Any = importlib.import_module("tensorflow")
    path = "tensorflow"
    for part in name.split(".")[1:]:
        path += f".{part}"
        try:
            value = getattr(value, part)
        except AttributeError:
            try:
                value = importlib.import_module(path)
            except ImportError:
                return False
    return True


def missing_in_use() -> list[tuple[str, int, str]]:
    """(name, number of repositories, what to use instead) of the names in use that are missing."""
    from tf1sessions.source import replacements

    own = {f"{module}.{name}" for module, names in golden().items() for name in names}
    found = []
    for name, count in names_in_use.uses().items():
        if name.startswith("tensorflow.contrib.") or is_there(name):
            continue
        text = replacements.find(name.replace("tensorflow", "tf", 1))
        if text or name in own:
            found.append((name, count, f"{text}." if text else ""))
    return sorted(found, key=lambda row: (-row[1], row[0]))


def page(found: dict[str, Module], in_use: list[tuple[str, int, str]]) -> str:
    """The page's text, from the state of each module and the missing names that are in use."""
    lines = [_TOP, "| modules below | modules | importable | names | there | ours | missing |", "|---|" + "---|" * 6]
    for package in (*PACKAGES, ""):
        chosen = [each for name, each in found.items() if not package or name.split(".")[1] == package]
        counts = collections.Counter(
            {kind: sum(len(getattr(each, kind)) for each in chosen) for kind in ("there", "ours", "missing")}
        )
        imported = sum(each.imported for each in chosen)
        label = f"`tensorflow.{package}`" if package else "all"
        lines.append(
            f"| {label} | {len(chosen)} | {imported} | {sum(counts.values())} | {counts['there']} | {counts['ours']} | "
            f"{counts['missing']} |"
        )
    uses = names_in_use.uses()
    lines.append(
        _IN_USE.format(repositories=names_in_use.repositories(), names=len(uses), missing=len(in_use)).rstrip()
    )
    lines += [f"| `{name}` | {count} | {text} |" for name, count, text in in_use]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    import tf1sessions.scripts

    tf1sessions.scripts.install()
    PAGE.write_text(page(states(), missing_in_use()), "utf-8")
