"""The package Keras of TensorFlow 1's days, and TensorFlow's inner copy, become ``tensorflow.compat.v1.keras``."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ....source.uses import FileUses, ImportedName
from .. import headers
from ..rule import Change, Remark, Rule

__all__ = ["RULE"]

_V1 = "tensorflow.compat.v1.keras"
_OLD = ("tensorflow.python.keras.", "tensorflow.contrib.keras.python.keras.")
# Modules of Keras 2.0 to 2.3 whose names are in the module above them today.
_ABOVE = re.compile(
    r"(layers|utils)\.(core|convolutional|pooling|recurrent|normalization|merge|embeddings|wrappers|noise|local"
    r"|advanced_activations|convolutional_recurrent|cudnn_recurrent|np_utils|generic_utils|data_utils|vis_utils"
    r"|visualize_util|layer_utils|io_utils)"
)
_RENAMED = {"objectives": "losses", "engine": "layers", "engine.topology": "layers", "engine.training": "models"}
_PUBLIC = frozenset(
    "activations applications backend callbacks constraints datasets estimator initializers layers losses metrics "
    "mixed_precision models optimizers preprocessing regularizers utils".split()
)


def _find(file: FileUses) -> Iterator[Change | Remark]:
    for statement in dict.fromkeys(each.statement for each in file.imports):
        names = [each for each in file.imports if each.statement is statement]
        if not any(_is_keras(each.module) for each in names) or _is_own(file, statement):
            continue
        if isinstance(statement, ast.ImportFrom):
            yield _from(file, statement)
        elif len(names) == 1:
            yield _import(file, statement, names[0])
        else:
            lines = [f"import {_as_written(each.alias)}" for each in names]
            text = f"{file.source.newline}{headers.indentation(file, statement)}".join(lines)
            yield Change(statement, "one import statement each", (file.positions.replace(statement, text),))
    for use in file.uses:  # compat.v1.keras has none
        if use.name == "tf.keras.__version__" and isinstance(use.node, ast.Attribute):
            edit = file.positions.replace(use.node, "tf_keras.__version__")
            yield Change(use.node, "tf.keras.__version__: tf_keras.__version__", (edit,), ("import tf_keras",))


def _is_keras(module: str) -> bool:
    return f"{module}.".startswith((*_OLD, "keras."))


def _below(module: str) -> str:
    """The name of a module below Keras: ``layers.core`` of keras.layers.core, tensorflow.python.keras.layers.core."""
    for old in _OLD:
        module = module.replace(old, "keras.", 1) if module.startswith(old) else module
    return module.removeprefix("keras").removeprefix(".")


def _is_own(file: FileUses, statement: ast.Import | ast.ImportFrom) -> bool:
    """Whether the package is one of the project's, of which it imports a part."""
    relative = isinstance(statement, ast.ImportFrom) and statement.level > 0
    return relative or any(each.module.partition(".")[0] == "keras" for each in file.siblings)


def _as_written(alias: ast.alias) -> str:
    return f"{alias.name} as {alias.asname}" if alias.asname else alias.name


def _from(file: FileUses, statement: ast.ImportFrom) -> Change | Remark:
    assert statement.module is not None
    inner = _below(statement.module)
    for name in statement.names:  # `from keras.utils import np_utils`: a module of which the names are above it now
        if _ABOVE.fullmatch(f"{inner}.{name.name}"):
            return _module_as(file, statement, inner)
    new = _module(inner)
    if new is None:
        return Remark(statement, f"{statement.module} is no public module of Keras 2: import its names from tf.keras.")
    return Change(statement, f"{statement.module}: {new}", (headers.module_edit(file, statement, new),))


def _module_as(file: FileUses, statement: ast.ImportFrom, above: str) -> Change:
    """``from keras.utils import np_utils``: the module above under the name of the one that is gone."""
    lines = []
    for alias in statement.names:
        bound = alias.asname or alias.name
        if _ABOVE.fullmatch(f"{above}.{alias.name}"):
            lines.append(f"from {_V1} import {above} as {bound}")
        else:
            lines.append(f"from {_V1}.{above} import {_as_written(alias)}")
    text = f"{file.source.newline}{headers.indentation(file, statement)}".join(lines)
    return Change(statement, f"keras.{above}: {_V1}.{above}", (file.positions.replace(statement, text),))


def _import(file: FileUses, statement: ast.Import, name: ImportedName) -> Change | Remark:
    new = _module(_below(name.module))
    if new is None:
        return Remark(statement, f"{name.module} is no public module of Keras 2: import its names from tf.keras.")
    if name.alias.asname:
        text = f"import {new} as {name.bound}"
    else:  # also `import keras.layers`, which binds keras
        text = f"from {_V1.rpartition('.')[0]} import keras"
    return Change(statement, f"{name.module}: {new}", (file.positions.replace(statement, text),))


def _module(inner: str) -> str | None:
    """Return the module of ``keras.<inner>``'s names in ``tensorflow.compat.v1``; None where it is not public there."""
    inner = _RENAMED.get(inner, inner)
    above = _ABOVE.fullmatch(inner)
    inner = above[1] if above else inner
    if inner and inner.partition(".")[0] not in _PUBLIC:
        return None
    return f"{_V1}.{inner}" if inner else _V1


RULE = Rule("v1-keras", "Imports the package Keras as `tensorflow.compat.v1.keras`, which is Keras 2.", _find)
