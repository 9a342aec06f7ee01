"""Writes migration_notes/symbols.md, what became of the public names of TensorFlow 1.15.5 outside of ``tf.contrib``.

    python tests/source/symbols_page.py

All of it is in the table that tf1sessions.source.symbols reads; TensorFlow is not loaded.
"""

from __future__ import annotations

import collections
from collections.abc import Iterable
from pathlib import Path

from tf1sessions.source import symbols
from tf1sessions.source.symbols import Symbol

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "migration_notes" / "symbols.md"
_LISTED = ("other public names", "`tf.raw_ops`")  # the others have pages of their own
VERDICTS = ("same", "renamed", "v1", "elsewhere", "ours", "moved", "gone")

_TOP = """# The public names of TensorFlow 1, one by one

What became of each public name of TensorFlow 1.15.5 in the namespace of TensorFlow 2.21. You need it to read or to
write code for plain Python; in a script of `tf1sessions run` all old names are there, but for those that are "gone". It
is the table by which `tf1sessions port SRC --to clean` [changes a program](port.md). `tf` is TensorFlow 2. Names of
layers, cells and Keras are those of Keras 2: the package `tf_keras`, with `TF_USE_LEGACY_KERAS=1` in the environment.

* **same**: the name in TensorFlow 2 is the same object. These names are not listed below.
* **renamed**: the same object has another public name in TensorFlow 2. "In `tf.math`: `log`" is `tf.math.log`.
* **v1**: it is in `tf.compat.v1` only. TensorFlow 2 often has a name that is spelled alike, and is something else:
  `tf.reduce_sum` takes other arguments there, and `tf.Variable` is another class.
* **elsewhere**: another name does the same, in TensorFlow 2 or in another package.
* **ours**: tf1sessions has it.
* **moved**: an inner name that has another inner address today.
* **gone**: it is nowhere; what to use instead stands beside it.

A parameter that the new name calls otherwise stands behind it in parentheses, the old one first.

This page is written by `tests/source/symbols_page.py`, from the table; a test holds the two together. A program asks
the table by `tf1sessions.source.symbols.find("tf.log")`.
"""
_AFTER_COUNTS = """
Other pages have the names of [`tf.contrib`](contrib.md) and of [inner modules](inner-addresses.md). The table has those
of the inner names that programs were seen to read. "Ours" says of a name of `tf.contrib` or `tf.estimator` that it is
read from `tf1sessions.contrib` or `tf1sessions.estimator`, also where today's TensorFlow is behind it.
"""


def area(symbol: Symbol) -> str:
    """Which row of the first table counts ``symbol``."""
    for package in ("contrib", "estimator", "raw_ops"):
        if f"{symbol.name}.".startswith(f"tf.{package}."):
            return f"`tf.{package}`"
    return "inner modules" if symbol.kind in ("inner", "name") else "other public names"


def names(found: Iterable[Symbol]) -> str:
    """The last parts of names, with those of their parameters that are called otherwise."""
    return ", ".join(f"`{each.name.rpartition('.')[2]}`{parameters(each)}" for each in found)


def parameters(symbol: Symbol) -> str:
    pairs = ", ".join(f"`{old}`: `{new}`" for old, new in symbol.parameters)
    return f" ({pairs})" if pairs else ""


def by_target(found: Iterable[Symbol]) -> str:
    """Names with their new addresses: those that keep their last part by module, each other one by itself."""
    kept, other = collections.defaultdict(list), []
    for each in found:
        module, _, last = (each.target or "").rpartition(".")
        if last == each.name.rpartition(".")[2]:
            kept[module].append(each)
        else:
            other.append(f"`{each.name.rpartition('.')[2]}` → `{each.target}`{parameters(each)}")
    return "; ".join([*(f"in `{module}`: {names(group)}" for module, group in sorted(kept.items())), *other])


def by_sentence(found: Iterable[Symbol]) -> str:
    """Names that are gone, with what to use instead."""
    groups = collections.defaultdict(list)
    for each in found:
        groups[each.sentence or "nothing takes its place"].append(each)
    return " ".join(f"{names(group)}: {sentence}." for sentence, group in groups.items())


def rows(found: Iterable[Symbol]) -> list[str]:
    """The table's rows for a module's names: one for each verdict, and one for modules that are in v1 only."""
    groups: dict[str, list[Symbol]] = collections.defaultdict(list)
    for each in sorted(found, key=lambda each: each.name):
        is_module = each.verdict == "v1" and each.kind == "module"
        groups["v1, modules" if is_module else each.verdict].append(each)
    lines = []
    for label in ("renamed", "elsewhere", "ours", "gone", "v1", "v1, modules"):
        if label in groups:
            write = {"v1": names, "v1, modules": names, "gone": by_sentence}.get(label, by_target)
            lines.append(f"| {label} | {write(groups[label])} |")
    return lines


def counts(found: Iterable[Symbol]) -> list[str]:
    """The table of how many names have which verdict."""
    table: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for each in found:
        table[area(each)][each.verdict] += 1
    lines = [f"| names | {' | '.join(VERDICTS)} |", "|---|" + "---|" * len(VERDICTS)]
    return [*lines, *(f"| {name} | {' | '.join(str(row[each]) for each in VERDICTS)} |" for name, row in table.items())]


def page() -> str:
    """The page's text."""
    found = [symbol for name in symbols.names() if (symbol := symbols.find(name))]
    modules: dict[str, list[Symbol]] = collections.defaultdict(list)
    for each in found:
        if area(each) in _LISTED and each.verdict != "same":
            modules[each.name.rpartition(".")[0]].append(each)
    sections: dict[str, list[str]] = collections.defaultdict(list)  # modules that are one module under two names
    for module in sorted(modules):
        sections["\n".join(rows(modules[module]))].append(module)
    lines = [_TOP, *counts(found), _AFTER_COUNTS.rstrip()]
    for table, titles in sections.items():
        lines += ["", f"## {', '.join(titles)}", "", "| | names |", "|---|---|", table]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
