"""Writes migration_notes/contrib.md, what became of every public name of ``tf.contrib`` of TensorFlow 1.15.5.

    python tests/contrib/contrib_page.py

The names are those of tests/golden/data/contrib_1_15.txt.gz; what became of them is seen by reading them from
``tf1sessions.contrib``, in a process of its own that has no tensorflow_probability.
"""

from __future__ import annotations

import collections
import functools
import gzip
import sys
from pathlib import Path
from typing import Any

import names_in_use

ROOT = Path(__file__).resolve().parents[2]
NAMES = ROOT / "tests" / "golden" / "data" / "contrib_1_15.txt.gz"
PAGE = ROOT / "migration_notes" / "contrib.md"
NATIVE = ("tensorflow", "tf_keras", "keras")

_TOP = """# What became of tf.contrib

Every public name of `tf.contrib` of TensorFlow 1.15.5. It is read from `tf.contrib` in a script of `tf1sessions run`,
and from `tf1sessions.contrib` in your own program:

* **native**: it is an object of today's TensorFlow;
* **ours**: it is written anew in tf1sessions, and compared with 1.15.5;
* **raises**: it is not there. Its module can be imported, and reading the name is an `AttributeError` that names the
  line and what to use instead. Behind it, in parentheses, is how many of {repositories} public repositories that use
  TensorFlow 1 use it, where there are any.

This page is written by `tests/contrib/contrib_page.py`, from the code; a test holds the two together.
"""


def golden() -> list[tuple[str, str, str]]:
    """(name, kind, arguments) of all names, as tests/golden/make/make_contrib_names.py wrote them."""
    with gzip.open(NAMES, "rt") as file:
        return [tuple(line.rstrip("\n").split("\t")) for line in file]  # type: ignore[misc]


def symbols() -> list[str]:
    """The public names that are no modules: "contrib.layers.batch_norm"."""
    return [name for name, kind, _ in golden() if kind in ("class", "function", "value")]


def state(symbol: str) -> str:
    """What became of ``symbol``: "native", "ours" or "raises"."""
    from tf1sessions import contrib

    try:
        value: Any = functools.reduce(getattr, symbol.split(".")[1:], contrib)
    except AttributeError:
        return "raises"
    home = getattr(value, "__module__", None) or type(value).__module__
    return "native" if home.partition(".")[0] in NATIVE else "ours"


def states() -> dict[str, str]:
    return {symbol: state(symbol) for symbol in symbols()}


def page(found: dict[str, str]) -> str:
    """The page's text, from the state of each symbol."""
    from tf1sessions.source import replacements

    modules: dict[str, dict[str, list[str]]] = collections.defaultdict(lambda: collections.defaultdict(list))
    for symbol, what in found.items():
        top, _, name = symbol.partition(".")[2].partition(".")
        if what == "raises":
            covering = replacements.entry(f"tf.{symbol}") or ""
            what = replacements.REPLACEMENTS[covering].replace("{rest}", ".\u2026") + "."
            users = names_in_use.uses().get(f"tensorflow.{symbol}", 0)
            modules[top][what].append(f"`{name}` ({users})" if users else f"`{name}`")
        else:
            modules[top][what].append(f"`{name}`")
    counts = collections.Counter(found.values())
    lines = [
        _TOP.format(repositories=names_in_use.repositories()),
        "| names | native | ours | raise |",
        "|---|---|---|---|",
    ]
    lines.append(f"| {len(found)} | {counts['native']} | {counts['ours']} | {counts['raises']} |")
    for top in sorted({name.split(".")[1] for name, _, _ in golden()}):
        lines += ["", f"## tf.contrib.{top}", ""]
        if top not in modules:
            lines.append("It had no public names.")
            continue
        lines += ["| | names | instead |", "|---|---|---|"]
        groups = modules[top]
        for what in sorted(groups, key=lambda what: (what not in ("native", "ours"), what)):
            names = ", ".join(groups[what])
            own = what in ("native", "ours")
            lines.append(f"| {what if own else 'raises'} | {names} | {'' if own else what} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.modules["tensorflow_probability"] = None  # type: ignore[assignment]
    PAGE.write_text(page(states()), "utf-8")
