"""Inner addresses of TensorFlow, ``tensorflow.python.…``: what moved since 1.15 is taken from where it is now."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ....source import symbols
from ....source.uses import FileUses, ImportedName, Use, canonical
from .. import headers
from ..rule import Change, Remark, Rule
from ..scopes import is_tried
from .v1_imports import has_switch

__all__ = ["RULE"]

_V1 = "tensorflow.compat.v1"
#: Inner modules that have a public name in compat.v1.
_PUBLIC = {
    "tf_keras.api._v1.keras.__internal__.legacy.rnn_cell": f"{_V1}.nn.rnn_cell",
    "tf_keras.api._v1.keras.__internal__.legacy.layers": f"{_V1}.layers",
}
#: Functions that made shapes of so many dimensions, which are their arguments.
_SHAPES = {
    f"tensorflow.python.framework.tensor_shape.{name}": n for n, name in enumerate(("scalar", "vector", "matrix"))
}


def _find(file: FileUses) -> Iterator[Change | Remark]:
    for statement in dict.fromkeys(each.statement for each in file.imports):
        names = [each for each in file.imports if each.statement is statement]
        if any(_is_inner(each.module) for each in names) and not getattr(statement, "level", 0):
            yield from _import(file, statement, names)
    for use in file.uses:
        if use.symbol in _SHAPES and use.call is not None and len(use.call.args) == _SHAPES[use.symbol]:
            yield from _shape(file, use, use.call)
        elif _is_inner(use.symbol) and use.direct and isinstance(use.node, ast.Attribute):
            yield from _use(file, use)


def _is_inner(name: str) -> bool:
    return name.startswith("tensorflow.python.") and not name.startswith(
        ("tensorflow.python.keras", "tensorflow.python.estimator")  # other rules' business
    )


def _target(name: str) -> str | None:
    """Return the full address of a name that moved; None where it did not move."""
    symbol = symbols.find(canonical(name))
    if symbol is None or symbol.verdict not in ("moved", "ours") or symbol.target is None:
        return None
    target = symbol.target
    target = f"tensorflow{target[2:]}" if target.startswith("tf.") else target
    for inner, public in _PUBLIC.items():
        if target == inner or target.startswith(f"{inner}."):
            return public + target[len(inner) :]
    return target


def _is_gone(name: str) -> bool:
    symbol = symbols.find(canonical(name))
    return symbol is not None and symbol.verdict == "gone"


def _gone(file: FileUses, node: ast.AST, name: str) -> Remark:
    symbol = symbols.find(canonical(name))
    sentence = f" {symbol.sentence}." if symbol is not None and symbol.sentence else ""
    what = f"{name} is not in today's TensorFlow.{sentence}"
    return Remark(node, what, by_hand=not is_tried(file, node, name))


def _import(
    file: FileUses, statement: ast.Import | ast.ImportFrom, names: list[ImportedName]
) -> Iterator[Change | Remark]:
    if isinstance(statement, ast.Import):
        for each in names:
            target = _target(each.module)
            if target is not None and each.alias.asname:
                edit = file.positions.replace(each.alias, f"{target} as {each.bound}")
                yield Change(statement, f"{each.module}: {target}", (edit,))
            elif _is_gone(each.module):
                yield _gone(file, statement, each.module)
        return
    targets = {each: _target(each.meaning) for each in names}
    yield from (_gone(file, statement, each.meaning) for each in names if each.bound != "*" and _is_gone(each.meaning))
    if any(targets.values()):
        lines: dict[str, list[str]] = {}
        for each, target in targets.items():
            module, _, name = (target or each.meaning).rpartition(".")
            lines.setdefault(module, []).append(name if name == each.bound else f"{name} as {each.bound}")
        text = f"{file.source.newline}{headers.indentation(file, statement)}".join(
            f"from {module} import {', '.join(parts)}" for module, parts in lines.items()
        )
        yield Change(statement, f"{statement.module}: {', '.join(lines)}", (file.positions.replace(statement, text),))


def _use(file: FileUses, use: Use) -> Iterator[Change | Remark]:
    """A name of an inner module that is still there without it: ``control_flow_ops.cond``."""
    module = use.symbol.rpartition(".")[0]
    if _target(module) is not None:
        return  # the module as a whole is changed where it is imported
    if _is_gone(use.symbol) and not _is_gone(module):
        yield _gone(file, use.node, use.symbol)
    target = _target(use.symbol)
    if target is None:
        return
    home, _, last = target.rpartition(".")
    package, _, inner = home.rpartition(".")
    if target.startswith(f"{_V1}."):
        if not has_switch(file):
            return  # in the next pass: another rule imports TensorFlow first
        bound = headers.free_name(file, "tf", _V1)
        text, statement = f"{bound}{target.removeprefix(_V1)}", f"import {_V1} as {bound}"
    else:
        bound = headers.free_name(file, inner, home)
        alias = "" if bound == inner else f" as {bound}"
        text, statement = f"{bound}.{last}", f"from {package} import {inner}{alias}"
    yield Change(use.node, f"{use.symbol}: {target}", (file.positions.replace(use.node, text),), (statement,))


def _shape(file: FileUses, use: Use, call: ast.Call) -> Iterator[Change]:
    """``tensor_shape.vector(3)`` is ``tf.TensorShape([3])``."""
    if has_switch(file):
        bound = headers.free_name(file, "tf", _V1)
        text = f"{bound}.TensorShape([{', '.join(map(file.positions.source, call.args))}])"
        edit = file.positions.replace(call, text)
        yield Change(call, f"{use.symbol}: tf.TensorShape", (edit,), (f"import {_V1} as {bound}",))


RULE = Rule("v1-inner", "Takes names of `tensorflow.python` that moved since 1.15 from where they are.", _find)
