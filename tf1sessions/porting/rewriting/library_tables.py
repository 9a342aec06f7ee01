"""Old and new names of libraries, read from the tables of scripts/old_libraries; rows that are code stay there.

`tf1sessions run` gives the old names back by these tables, so that a port and a run go by the same facts.
"""

from __future__ import annotations

import functools

from ...scripts.old_libraries import table
from ...scripts.old_libraries.rows import Arguments, Name, Wrapped
from .renames import Row

__all__ = ["arguments", "method_arguments", "modules", "names", "releases"]

_TITLES = {"sklearn": "scikit-learn", "scipy": "SciPy"}
Names = dict[str, dict[str, str | None]]


def _since(library: str, release: str) -> str:
    return f"{_TITLES.get(library, library)} {release}"


def names(library: str) -> dict[str, Row]:
    """Functions and classes of modules that have another name now."""
    return {
        f"{row.module}.{old}": Row(f"{row.module}.{row.value}", _since(library, row.since))
        for rows in table(library).rows.values()
        for row in rows
        if isinstance(row, Name) and not row.owner and isinstance(row.value, str)
        for old in row.name.split()
    }


def modules(library: str) -> dict[str, Row]:
    """Modules that are elsewhere now."""
    return {
        name: Row(module.make, _since(library, module.since))
        for name, module in table(library).modules.items()
        if isinstance(module.make, str)
    }


@functools.cache
def arguments(library: str) -> tuple[Names, dict[str, str]]:
    """Arguments of functions and classes: dotted name -> old name -> new one or None; dotted name -> release."""
    found: Names = {}
    for row in _argument_rows(library):
        if not _is_method(row):
            renamed = {old: new for old, new in row.renamed.items() if old not in row.values}
            found.setdefault(_owner(row), {}).update(renamed | dict.fromkeys(row.dropped))
    return found, releases(library)


def releases(library: str) -> dict[str, str]:
    """Function or class with arguments of other names -> the release that made the change."""
    return {_owner(row): _since(library, row.since) for row in _argument_rows(library)}


def method_arguments(library: str) -> dict[tuple[str, str], tuple[str | None, str]]:
    """Arguments of methods: method and old name -> new name and release."""
    return {
        (row.name.rpartition(".")[2], old): (new, _since(library, row.since))
        for row in _argument_rows(library)
        if _is_method(row)
        for old, new in row.renamed.items()
        if old not in row.values
    }


def _argument_rows(library: str) -> list[Arguments]:
    return [row for rows in table(library).rows.values() for row in rows if isinstance(row, Arguments)]


def _is_method(row: Arguments | Wrapped) -> bool:
    return "." in row.name and not row.name.endswith(".__init__")


def _owner(row: Arguments) -> str:
    return f"{row.module}.{row.name.removesuffix('.__init__')}"
