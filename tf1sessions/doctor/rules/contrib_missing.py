"""Names of ``tf.contrib`` that are not rebuilt."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from pathlib import Path

from ... import contrib
from ...source import contrib_addresses, replacements
from ..code import Code
from ..findings import Severity
from .rule import Hit, Rule

_CONTRIB = Path(contrib.__file__).parent


def find(code: Code) -> Iterator[Hit]:
    """Each missing part once in a file; the further places where it is used are reported with it."""
    uses: dict[tuple[str, str], list[tuple[ast.AST, str]]] = {}
    for node, symbol in _symbols(code):
        if is_missing(symbol) and not _is_tried(code, node):
            part = replacements.entry(symbol) or symbol
            uses.setdefault((code.file(node).file, part), []).append((node, symbol))
    for places in uses.values():
        places.sort(key=lambda place: getattr(place[0], "lineno", 0))
        node, symbol = places[0]
        instead = replacements.find(symbol)
        others = tuple(other for other, _ in places[1:])
        yield Hit(node, f"{symbol} is not available", others, fix=f"{instead}." if instead else None)


def _symbols(code: Code) -> Iterator[tuple[ast.AST, str]]:
    """Yield the places where names of tf.contrib are read, and the names."""
    for node in code.nodes:
        if isinstance(node, ast.Attribute):
            if isinstance(next(code.names.parents(node), None), ast.Attribute):
                continue  # the whole name is looked at
            symbol = code.path(node)
            if symbol is not None and symbol.startswith("tf.contrib.") and "()" not in symbol:
                yield node, symbol
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tensorflow.contrib"):
            for alias in node.names:
                if alias.name != "*":
                    yield node, f"tf{(node.module or '').removeprefix('tensorflow')}.{alias.name}"


def _is_tried(code: Code, node: ast.AST) -> bool:
    return any(isinstance(parent, ast.Try) for parent in code.names.parents(node))


def is_missing(symbol: str) -> bool:
    """Whether ``symbol`` ("tf.contrib.rnn.GRUCell") is surely not there."""
    module, _, rest = symbol.removeprefix("tf.contrib.").partition(".")
    if module not in contrib_addresses.INNER:
        return False  # never a module of TensorFlow 1.15's
    if not rest:
        return False
    entry = replacements.entry(symbol)
    if _source(module) is None:
        return not contrib_addresses.is_inner(module, rest)
    if entry is None or entry == "tf.contrib":
        return False
    inside = entry.removeprefix("tf.contrib.").replace(".", "/")
    if _source(inside) is None:
        return True  # the entry of a name that is not rebuilt, or of what is below it
    first = symbol[len(entry) + 1 :].partition(".")[0]
    if (
        not first
        or first.startswith("_")
        or any(contrib_addresses.is_inner(module, inner) for inner in _prefixes(rest))
    ):
        return False  # a file of 1.15's: what it has, is in several of ours
    names = _names(inside)
    return names is not None and first not in names


def _prefixes(path: str) -> list[str]:
    parts = path.split(".")
    return [".".join(parts[:length]) for length in range(1, len(parts) + 1)]


@functools.lru_cache(maxsize=256)
def _source(module: str) -> Path | None:
    for file in (_CONTRIB / f"{module}.py", _CONTRIB / module / "__init__.py"):
        if file.is_file():
            return file
    return None


@functools.lru_cache(maxsize=256)
def _names(module: str) -> frozenset[str] | None:
    """Return what a module of tf1sessions.contrib has, read from its text; None where that does not say."""
    file = _source(module)
    assert file is not None
    found = {path.stem for path in file.parent.glob("*")} if file.name == "__init__.py" else set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            if node.name == "__getattr__":
                return None
            found.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names = {alias.asname or alias.name for alias in node.names}
            if "*" in names:
                return None
            found |= names
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(node.value)  # of __all__ and of tables of names
    return frozenset(found)


RULE = Rule(
    name="contrib-missing",
    severity=Severity.ERROR,
    what="names of tf.contrib that are not rebuilt",
    why="tf.contrib left TensorFlow with version 2.0; much of it is rebuilt for scripts, and this is not: reading the "
    "name raises AttributeError.",
    fix="See migration_notes/contrib.md for what is there.",
    find=find,
)
