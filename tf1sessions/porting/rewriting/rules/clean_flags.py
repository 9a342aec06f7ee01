"""``tf.flags`` and ``tf.app`` become absl's flags and app, which they are made of.

absl gives no flag's value before ``app.run()`` has read the command line, TensorFlow 1 did. So this is done where the
project's values are read in functions only, and its program is started by ``tf.app.run()``.
"""

from __future__ import annotations

import ast
from weakref import WeakKeyDictionary

from ....source import symbols
from ....source.edits import Edit
from ....source.uses import FileUses, Use, canonical, chain_base, suffix
from .. import headers
from . import clean_arguments
from .replacement import Replacement

__all__ = ["replacement"]

_MODULES = ("tf.flags", "tf.app.flags")
_FLAGS = ("tf.flags.FLAGS", "tf.app.flags.FLAGS")
#: Of each file whether it starts the program, and whether it reads a flag early: asked for each use in each file.
_FOUND: WeakKeyDictionary[FileUses, tuple[bool, bool]] = WeakKeyDictionary()


def replacement(file: FileUses, use: Use, rest: str) -> Replacement | None:
    """Return what a use of tf.flags or tf.app becomes; None where it has to stay."""
    if not _may_be_absl(file):
        return None
    if rest == ".app.run":
        return _run(file, use)
    package, _, name = rest.removeprefix(".app").removeprefix(".").partition(".")
    if package != "flags":
        return None
    if not name:
        return _flags(file, use)
    symbol = symbols.find(f"tf.flags.{name}")
    if name != "FLAGS" and (symbol is None or symbol.verdict != "elsewhere"):
        return None
    edits = clean_arguments.keywords(file, use.call, dict(symbol.parameters) if symbol is not None else {})
    text, imports = _module(file)
    return None if edits is None else Replacement(use.node, f"{text}.{name}", tuple(edits), imports)


def _flags(file: FileUses, use: Use) -> Replacement | None:
    """The module itself: ``flags = tf.flags`` is an import of it, with the arguments of the calls through it."""
    statement = file.parents.get(use.node)
    alias = _alias(file)
    if not isinstance(statement, ast.Assign) or alias is None or file.assigned[alias] is not use.node:
        text, imports = _module(file)
        return Replacement(use.node, text, (), imports)
    edits: list[Edit] = []
    for each in file.uses:
        if isinstance(each.node, ast.Attribute) and chain_base(each.node) == alias:
            symbol = symbols.find(each.name)
            found = clean_arguments.keywords(file, each.call, dict(symbol.parameters) if symbol is not None else {})
            if found is None:
                return None
            edits += found
    return Replacement(statement, _import_as(alias), tuple(edits))


def _module(file: FileUses) -> tuple[str, tuple[str, ...]]:
    """The name of absl.flags in a file, and the import that it needs."""
    alias = _alias(file)
    if alias is not None:
        return alias, ()
    name = headers.free_name(file, "flags", "absl.flags")
    return name, (_import_as(name),)


def _import_as(name: str) -> str:
    return "from absl import flags" if name == "flags" else f"from absl import flags as {name}"


def _alias(file: FileUses) -> str | None:
    """The name that the file itself gives to tf.flags, outside functions and once."""
    for name, value in file.assigned.items():
        meaning = canonical(file.meanings.get(name, ""))
        if meaning in _MODULES and len(file.bound[name]) == 1 and not headers.is_in_function(file, value):
            return name
    return None


def _run(file: FileUses, use: Use) -> Replacement | None:
    """``tf.app.run()`` calls main() of the program's main module; absl wants it as its argument."""
    call = use.call
    if call is None or any(each.arg not in ("main", "argv") for each in call.keywords):
        return None
    name = headers.free_name(file, "app", "absl.app")
    imports = ("from absl import app" if name == "app" else f"from absl import app as {name}",)
    if call.args or any(each.arg == "main" for each in call.keywords):
        return Replacement(use.node, f"{name}.run", (), imports)
    if "main" not in file.bound:
        return None
    _, end = file.positions.span(call.func)
    opening = file.source.text.index("(", end) + 1
    text = "main, " if call.keywords else "main"
    return Replacement(use.node, f"{name}.run", (Edit(opening, opening, text),), imports)


def _may_be_absl(file: FileUses) -> bool:
    """Whether the project's flags are read after tf.app.run() only, as far as its text shows."""
    files = file.siblings or (file,)
    for each in files:
        if each not in _FOUND:
            _FOUND[each] = _starts(each), _reads_early(each)
    found = [_FOUND[each] for each in files]
    return any(starts for starts, _ in found) and not any(early for _, early in found)


def _starts(file: FileUses) -> bool:
    return any(use.name == "tf.app.run" for use in file.uses)


def _reads_early(file: FileUses) -> bool:
    """Whether a flag's value is read when the file is imported: FLAGS.name outside functions."""
    flags = tuple(f"{each}." for each in _FLAGS)
    return any(
        canonical(meaning + suffix(chain)).startswith(flags) and not headers.is_in_function(file, chain)
        for base, meaning in file.meanings.items()
        for chain in file.chains.get(base, ())
    )
