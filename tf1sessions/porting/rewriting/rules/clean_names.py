"""Names of TensorFlow 1 become those of TensorFlow 2 where these are equal, and ``tf.compat.v1`` names elsewhere.

A file changes as a whole: ``import tensorflow.compat.v1 as tf`` becomes ``import tensorflow as tf``, and with it every
chain of attributes that begins with that name. What a name becomes is the table of source/symbols.py, and for
functions whose arguments changed the one of clean_arguments.py; a name that neither has stays below ``tf.compat.v1``.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator

from ....source import symbols
from ....source.edits import Edit
from ....source.uses import FileUses, Use
from ..rule import Change, Remark, Rule
from . import clean_arguments, clean_contrib, clean_flags
from .replacement import Replacement

__all__ = ["RULE"]

_V1 = "tensorflow.compat.v1"


@dataclasses.dataclass
class _Rewrite:
    """The parts of one file's change."""

    file: FileUses
    tensorflow: str  # the name of the package in this file
    edits: list[Edit] = dataclasses.field(default_factory=list)
    imports: list[str] = dataclasses.field(default_factory=list)
    places: list[tuple[ast.AST, str]] = dataclasses.field(default_factory=list)


def _find(file: FileUses) -> Iterator[Change | Remark]:
    if any(True for _ in clean_contrib.find(file)):
        return  # in the next pass: what it writes is a name of tensorflow.compat.v1
    bound = {name for name, meaning in file.meanings.items() if meaning == _V1}
    kept = _kept(file)
    if kept is not None:
        yield kept
        return
    if any(_kept(each) is not None for each in file.siblings):
        bound &= file.imported  # what comes from another file may have to stay
    statements = [each for each in file.imports if each.meaning == _V1 and each.bound != "*"]
    rewrite = _Rewrite(file, statements[0].bound if statements else next(iter(bound), "tf"))
    for each in statements:
        text = "tensorflow" if each.bound == "tensorflow" else f"tensorflow as {each.bound}"
        if isinstance(each.statement, ast.Import):
            rewrite.edits.append(file.positions.replace(each.alias, text))
            rewrite.places.append((each.statement, f"{_V1}: tensorflow"))
        else:  # from tensorflow.compat import v1 as tf
            rewrite.edits.append(file.positions.replace(each.statement, f"import {text}"))
    for use in file.uses:
        base = _base(use.node)
        is_alias = base in file.assigned and base not in file.imported
        if base in bound and not is_alias and use.symbol.startswith(_V1):
            _rename(rewrite, use, base)
    if rewrite.edits:
        yield Change(
            file.tree, "TensorFlow 2's names", tuple(rewrite.edits), tuple(rewrite.imports), tuple(rewrite.places)
        )


def _kept(file: FileUses) -> Remark | None:
    """Return why a file keeps tensorflow.compat.v1; None where it need not."""
    names = {name for name, meaning in file.meanings.items() if meaning == _V1}
    for use in file.unclear:
        if use.symbol.startswith(_V1) and (name := _base(use.node)) in names:
            return Remark(
                use.node,
                f"{name} may be something else than TensorFlow here, so this file keeps tensorflow.compat.v1: give it "
                "another name.",
            )
    for name in sorted(names & file.names_in_texts.keys()):
        return Remark(
            file.names_in_texts[name],
            f"A text that is run as code uses {name}, and port changes no texts, so this file keeps "
            "tensorflow.compat.v1: write the code itself in place of the text.",
        )
    return None


def _base(chain: ast.expr) -> str:
    while isinstance(chain, ast.Attribute):
        chain = chain.value
    return chain.id if isinstance(chain, ast.Name) else ""


def _rename(rewrite: _Rewrite, use: Use, base: str) -> None:
    """Add the edits for one use."""
    rest = use.symbol.removeprefix(_V1)  # ".layers.dense"
    while f"{rest}.".startswith(".compat.v1."):  # the program had tf.compat.v1 itself
        rest = rest.removeprefix(".compat.v1")
    if not rest and _asks_whether_it_is_there(rewrite.file, use.node):
        return  # where its import failed it is None, which has no attributes
    found = _replacement(rewrite.file, use, base, rest) or Replacement(use.node, f"{base}.compat.v1{rest}")
    if found.text != rewrite.file.positions.source(found.node):
        rewrite.edits.append(rewrite.file.positions.replace(found.node, found.text))
        rewrite.places.append((use.node, f"tf{rest}: {found.text}"))
    rewrite.edits += found.edits
    rewrite.imports += found.imports


def _asks_whether_it_is_there(file: FileUses, node: ast.expr) -> bool:
    """Whether an expression is compared with None or tested for truth, and its value goes nowhere."""
    parent = file.parents.get(node)
    if isinstance(parent, ast.Compare):
        return any(isinstance(side, ast.Constant) and side.value is None for side in (parent.left, *parent.comparators))
    if isinstance(parent, ast.BoolOp):
        is_tested = isinstance(parent.op, ast.And) and node is not parent.values[-1]
        return is_tested or _asks_whether_it_is_there(file, parent)
    return isinstance(parent, ast.UnaryOp) or node is getattr(parent, "test", None)


def _replacement(file: FileUses, use: Use, base: str, rest: str) -> Replacement | None:
    """Return the replacement of a use; None where it has to stay in tf.compat.v1."""
    if rest in (".__version__", ".__git_version__"):
        return Replacement(use.node, f"{base}{rest}")
    symbol = symbols.find(f"tf{rest}")
    if symbol is None or isinstance(use.node, ast.Constant):
        return None
    arguments = clean_arguments.find(f"tf{rest}")
    if arguments is not None:
        edits = clean_arguments.edits(file, use.call, arguments)
        return None if edits is None else Replacement(use.node, f"{base}{arguments.target[2:]}", tuple(edits))
    if rest.startswith((".app", ".flags")):
        return clean_flags.replacement(file, use, rest)
    if symbol.verdict not in ("same", "renamed", "elsewhere") or symbol.target is None:
        return None
    if symbol.kind == "module" and symbol.verdict != "same":
        return None  # an alias of it may need any of its names
    edits = clean_arguments.keywords(file, use.call, dict(symbol.parameters))
    if edits is None:
        return None
    if symbol.target.startswith("tf."):
        return Replacement(use.node, f"{base}{symbol.target[2:]}", tuple(edits))
    if symbol.target.startswith("logging.") and not file.taken("logging"):
        return Replacement(use.node, symbol.target, tuple(edits), ("import logging",))
    return None


RULE = Rule(
    "clean-names",
    "Writes TensorFlow 2's names where they are equal, and `tf.compat.v1` before the others.",
    _find,
)
