"""``import tensorflow as tf`` becomes ``import tensorflow.compat.v1 as tf``, with the behaviour of TensorFlow 1."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from ....source import symbols
from ....source.uses import FileUses, ImportedName, Use, canonical, chain_base
from .. import headers
from ..rule import Change, Remark, Rule
from ..unported import unported_imports
from . import clean_arguments

__all__ = ["OTHER_RULES", "RULE", "has_switch", "keras_setting", "needs_keras"]

#: What lies below tensorflow and is no public module of compat.v1: other rules' business, or nobody's.
OTHER_RULES = frozenset(
    "compat compiler contrib core estimator examples python stream_executor tools __internal__".split()
)
_V1 = "tensorflow.compat.v1"
_ONLY_VERSION_ONE = frozenset(
    "tf.Session tf.InteractiveSession tf.placeholder tf.get_variable tf.variable_scope tf.enable_eager_execution "
    "tf.global_variables_initializer tf.set_random_seed".split()
)
_SWITCHES = ("disable_v2_behavior", "enable_v1_behavior")
_KERAS = (
    "tf.layers.", "tf.keras", "tf.nn.rnn_cell", "tf.python.keras", "tf.python.layers", "tf.python.ops.rnn_cell",
    "keras.", "tf_keras.",
)  # fmt: skip
_SETTING = 'os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")'


def _find(file: FileUses) -> Iterator[Change | Remark]:
    if _is_version_two(file) or _is_native(file):
        return
    if any(use.name.startswith("tf.") for use in file.uses):
        seen = {each.module: each for each in reversed(list(unported_imports(file))) if not each.error}
        for module, each in seen.items():
            what = f"{module} uses TensorFlow and is none of the files to port: name its file too, or the folder."
            yield Remark(each.statement, what, by_hand=False)
    yield from _renamed_imports(file)
    yield from _switch(file)


def _is_version_two(file: FileUses) -> bool:
    """Whether a file has TensorFlow 2's names and version 2's behaviour off: what clean and inputs write."""
    switches = [use for use in file.uses if use.symbol == f"{_V1}.disable_v2_behavior"]
    if not any(file.meanings.get(chain_base(use.node)) == "tensorflow" for use in switches):
        return False
    direct = [use.name for use in file.uses if _is_direct(use)]
    both = [name for name in direct if name in clean_arguments.TARGETS or name.startswith("tf.data.")]
    return not _verdicts(name for name in direct if name not in both) & {"renamed", "v1", "ours"}


def _is_direct(use: Use) -> bool:
    """Whether a name is one of the package itself, and not of ``tensorflow.compat.v1``."""
    return use.symbol.startswith("tensorflow.") and not use.symbol.startswith(_V1)


def _verdicts(names: Iterable[str]) -> set[str]:
    return {symbol.verdict for name in names if (symbol := symbols.find(name)) is not None}


def _is_native(file: FileUses) -> bool:
    """Whether a file has functions or values of TensorFlow 2 and nothing that only version 1 has: as native writes."""
    decorators = {
        each.func if isinstance(each, ast.Call) else each
        for node in ast.walk(file.tree)
        for each in getattr(node, "decorator_list", [])
    }
    names = [use.name for use in file.uses if _is_direct(use)]
    if any(name in _ONLY_VERSION_ONE or name.startswith("tf.layers.") for name in names):
        return False
    if any(use.name == "tf.function" and use.node in decorators for use in file.uses):
        return True
    computes_at_once = any(
        isinstance(function, ast.Attribute) and function.attr == "numpy" and not (call.args or call.keywords)
        for function, call in file.calls.items()
    )
    return computes_at_once and not _verdicts(names) & {"renamed", "ours"}


# -- the statements ---------------------------------------------------------------------------------------------------


def _renamed_imports(file: FileUses) -> Iterator[Change]:
    for each in file.imports:
        if isinstance(each.statement, ast.Import):
            new = _import_of(each)
            if new is not None:
                yield Change(each.statement, f"{each.alias.name}: {new}", (file.positions.replace(each.alias, new),))
    for statement in dict.fromkeys(each.statement for each in file.imports):
        if isinstance(statement, ast.ImportFrom) and not statement.level and _is_public(statement):
            assert statement.module is not None
            new = _V1 + statement.module.removeprefix("tensorflow")
            yield Change(statement, f"{statement.module}: {new}", (headers.module_edit(file, statement, new),))


def _import_of(each: ImportedName) -> str | None:
    """Return the statement in place of a part of an import statement, or None where it stays."""
    top, _, rest = each.module.partition(".")
    if top != "tensorflow":
        return None
    if not rest or (not each.alias.asname and rest.partition(".")[0] not in ("compat", "python", "core")):
        return f"{_V1} as {each.bound}"
    if rest.partition(".")[0] in OTHER_RULES or each.alias.asname is None:
        return None
    return f"{_V1}.{rest} as {each.bound}"


def _is_public(statement: ast.ImportFrom) -> bool:
    """Whether a ``from`` import takes public names of TensorFlow only, so that its module can be exchanged."""
    top, _, rest = (statement.module or "").partition(".")
    if top != "tensorflow" or rest.partition(".")[0] in OTHER_RULES:
        return False
    return bool(rest) or not any(alias.name in OTHER_RULES for alias in statement.names)


# -- the switches -----------------------------------------------------------------------------------------------------


def _switch(file: FileUses) -> Iterator[Change]:
    """Switch version 2 off behind the first import of TensorFlow, and Keras 2 on before it."""
    if has_switch(file):
        return
    statements = headers.tensorflow_statements(file, frozenset(["tensorflow", "keras"]))
    if not statements:
        return
    outside = [each for each in statements if not headers.is_in_function(file, each)]
    for first in outside[:1] or _firsts_of_functions(file, statements):
        yield _header(file, first, [each for each in outside if _name_of_tensorflow(file, each)])


def has_switch(file: FileUses) -> bool:
    """Whether a file switches version 2's behaviour off, even where the name of TensorFlow is bound again too."""
    return any(use.name.endswith(_SWITCHES) for use in (*file.uses, *file.unclear))


def _firsts_of_functions(file: FileUses, statements: list[ast.stmt]) -> list[ast.stmt]:
    found: dict[ast.AST, ast.stmt] = {}
    for statement in statements:
        found.setdefault(file.parents[statement], statement)
    return list(found.values())


def _header(file: FileUses, first: ast.stmt, naming: list[ast.stmt]) -> Change:
    indent = headers.indentation(file, first)
    before = []
    if any(needs_keras(each) for each in file.siblings or [file]):
        before = keras_setting(file, first)
    switched = naming[0] if naming else first
    name = _name_of_tensorflow(file, switched)
    after = [f"{headers.indentation(file, switched)}{name or 'tf'}.disable_v2_behavior()"]
    edits = []
    if name is None:
        name = headers.free_name(file, "tf", _V1)
        before += [f"{indent}import {_V1} as {name}", f"{indent}{name}.disable_v2_behavior()", ""]
    else:
        edits.append(headers.insert_after(file, switched, after))
    if before:
        edits.insert(0, headers.insert_before(file, first, before))
    return Change(first, "TensorFlow 2's behaviour is switched off", tuple(edits))


def keras_setting(file: FileUses, statement: ast.stmt) -> list[str]:
    """The lines before a statement by which ``tf.keras`` is Keras 2; none where the file has them."""
    if _SETTING in file.source.text:
        return []
    indent = headers.indentation(file, statement)
    lines = [f"{indent}import os", "", f"{indent}{_SETTING}  # Keras 2, which TensorFlow 1 had"]
    return lines[2:] if _imports_os_before(file, statement) else lines


def _name_of_tensorflow(file: FileUses, statement: ast.stmt) -> str | None:
    """The name that a statement binds to the package, as ``tf`` of ``import tensorflow as tf``."""
    for each in file.imports:
        if each.statement is statement and each.meaning in ("tensorflow", _V1) and each.bound != "*":
            return each.bound
    return None


def _imports_os_before(file: FileUses, statement: ast.stmt) -> bool:
    return any(
        each.meaning == "os" and each.bound == "os" and each.statement.lineno < statement.lineno
        and not headers.is_in_function(file, each.statement)
        for each in file.imports
    )  # fmt: skip


def needs_keras(file: FileUses) -> bool:
    """Whether a file uses what lies in Keras 2 today: layers, cells, Keras itself."""
    names = [use.name for use in file.uses] + [f"{canonical(each.meaning)}." for each in file.imports]
    return any(_core_name(name).startswith(_KERAS) for name in names)


def _core_name(name: str) -> str:
    """A name of tf.contrib by the name that the same thing has outside of it."""
    found = symbols.find(name) if name.startswith("tf.contrib.") else None
    return name if found is None or found.equal is None else found.equal


RULE = Rule(
    "v1-imports",
    "Imports TensorFlow from `tensorflow.compat.v1` and switches version 2 behaviour off, with Keras 2 where layers, "
    "cells or Keras are used.",
    _find,
)
