"""``tf.contrib`` becomes ``tf1sessions.contrib``, imported by name."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Set
from pathlib import Path

from ....source import contrib_addresses
from ....source.uses import FileUses
from .. import headers
from ..rule import Change, Remark, Rule

__all__ = ["RULE"]

_OLD = "tensorflow.contrib"
_NEW = "tf1sessions.contrib"
_FOLDER = Path(__file__).resolve().parents[3] / "contrib"


def _find(file: FileUses) -> Iterator[Change | Remark]:
    yield from _imports(file)
    yield from _uses(file)


def _imports(file: FileUses) -> Iterator[Change | Remark]:
    for statement in dict.fromkeys(each.statement for each in file.imports):
        names = [each for each in file.imports if each.statement is statement]
        if isinstance(statement, ast.Import):
            for each in names:
                if each.alias.asname and _is_contrib(each.module):
                    new = f"{_module(file, each.meaning)} as {each.bound}"
                    edit = file.positions.replace(each.alias, new)
                    yield Change(statement, f"{each.module}: {new}", (edit,))
        elif not statement.level and any(_is_contrib(each.meaning) for each in names):
            lines = [_from(file, each.module, each.alias) for each in names]
            text = f"{file.source.newline}{headers.indentation(file, statement)}".join(_joined(lines))
            what = f"{statement.module}: {', '.join(dict.fromkeys(module for module, _ in lines))}"
            yield Change(statement, what, (file.positions.replace(statement, text),))


def _is_contrib(name: str) -> bool:
    name = name.replace("tensorflow.compat.v1.", "tensorflow.", 1)
    return name == _OLD or name.startswith(f"{_OLD}.")


def _from(file: FileUses, module: str, alias: ast.alias) -> tuple[str, str]:
    """The module and the name of ``from module import alias``, for what stands in its place."""
    name = f"{alias.name} as {alias.asname}" if alias.asname else alias.name
    full = f"{module}.{alias.name}"
    if not _is_contrib(full):  # another name of `from tensorflow import contrib, flags`
        return module, name
    if module in ("tensorflow", "tensorflow.compat.v1"):
        return "tf1sessions", name
    top = ".".join([_NEW, *_parts(module)[:1]])
    address = _module(file, full)
    home, _, last = address.rpartition(".")
    if last == alias.name and address != top:  # a module of ours
        return home, name
    if alias.name in _names(top) and address == _address(full):
        return top, name
    package, *inner = _parts(full)
    if address == top and contrib_addresses.is_inner(package, ".".join(inner)):  # a file of 1.15, whose names it has
        bound = alias.asname or alias.name
        return home, last if last == bound else f"{last} as {bound}"
    return _address(module), name


def _parts(name: str) -> list[str]:
    """The parts of a name below tf.contrib."""
    return name.replace("tensorflow.compat.v1.", "tensorflow.", 1).split(".")[2:]


def _module(file: FileUses, name: str) -> str:
    """Our module for an address of 1.15, in which all is that the file uses of it: its package, if that has more."""
    used = {use.symbol[len(name) + 1 :].partition(".")[0] for use in file.uses if use.symbol.startswith(f"{name}.")}
    return _module_with(name, used)


def _module_with(name: str, used: Set[str]) -> str:
    address = _address(name)
    package = ".".join(address.split(".")[:3])
    if address.startswith(f"{_NEW}.") and not used <= _names(address) and used <= _names(package):
        return package
    return address


def _joined(lines: list[tuple[str, str]]) -> list[str]:
    """Import statements: one for each module."""
    names: dict[str, list[str]] = {}
    for module, name in lines:
        names.setdefault(module, []).append(name)
    return [f"from {module} import {', '.join(each)}" for module, each in names.items()]


@functools.lru_cache(maxsize=1024)
def _address(module: str) -> str:
    """Our module for an address of 1.15: the file of its last names, or the module that is public there.

    Example:
        >>> _address("tensorflow.contrib.layers.python.layers.utils")
        'tf1sessions.contrib.layers.utils'
        >>> _address("tensorflow.contrib.rnn.python.ops.no_such_file")
        'tf1sessions.contrib.rnn'
        >>> _address("tensorflow.contrib.keras.api.keras.layers")
        'tensorflow.compat.v1.keras.layers'
    """
    parts = _parts(module)
    if not parts:
        return _NEW
    if parts[:3] == ["keras", "api", "keras"]:  # tf.contrib.keras had the modules of tf.keras here
        return ".".join(["tensorflow.compat.v1.keras", *parts[3:]])
    top, inner = parts[0], parts[1:]
    for end in range(len(inner), 0, -1):
        for start in range(end):
            found = inner[start:end]
            if _is_module(_FOLDER.joinpath(top, *found)):
                return ".".join([_NEW, top, *found])
    return f"{_NEW}.{top}"


@functools.lru_cache(maxsize=64)
def _names(module: str) -> frozenset[str]:
    """The names that our package for a module of contrib imports or defines, read from its text."""
    file = _FOLDER.joinpath(*module.split(".")[2:])
    file = file.with_suffix(".py") if file.with_suffix(".py").is_file() else file / "__init__.py"
    names: set[str] = set()
    for node in ast.parse(file.read_text("utf-8")).body if file.is_file() else []:
        if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":  # in a package, from a file of it
            names |= _names(f"{module}.{node.module}")
        elif isinstance(node, ast.ImportFrom):
            names.update(alias.asname or alias.name for alias in node.names)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names.update(target.id for target in node.targets if isinstance(target, ast.Name))
    return frozenset(names)


def _is_module(path: Path) -> bool:
    return path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()


def _uses(file: FileUses) -> Iterator[Change | Remark]:
    for use in file.uses:
        if not _is_contrib(use.symbol):
            continue
        if isinstance(use.node, ast.Constant):
            yield Remark(use.node, f"{use.name} by a text: plain TensorFlow has none; ask tf1sessions.contrib.")
            continue
        root = next(
            (part for old in (_OLD, "tensorflow.compat.v1.contrib") if (part := file.part_of(use.node, old))), None
        )
        if root is None or not isinstance(root, ast.Attribute):
            continue  # it begins with a name that an import binds, which is changed there
        name = headers.free_name(file, "tf_contrib", _NEW)
        text = name + _inner_names(file, use.node, root)
        alias = "" if name == "contrib" else f" as {name}"
        yield Change(
            use.node,
            f"{use.name}: {name}",
            (file.positions.replace(_whole(file, use.node, root), text),),
            (f"from tf1sessions import contrib{alias}",),
        )


def _whole(file: FileUses, chain: ast.expr, root: ast.expr) -> ast.expr:
    """The part of a chain that is replaced: the root alone, or with the inner address that 1.15 had behind it."""
    names = _parts_after(chain, root)
    return chain if "python" in names else root


def _inner_names(file: FileUses, chain: ast.expr, root: ast.expr) -> str:
    names = _parts_after(chain, root)
    if "python" not in names:
        return ""
    *modules, name = names
    return f"{_module_with('.'.join([_OLD, *modules]), {name}).removeprefix(_NEW)}.{name}"


def _parts_after(chain: ast.expr, root: ast.expr) -> list[str]:
    names: list[str] = []
    while chain is not root:
        assert isinstance(chain, ast.Attribute)
        names.insert(0, chain.attr)
        chain = chain.value
    return names


RULE = Rule("v1-contrib", "Takes what was in `tf.contrib` from `tf1sessions.contrib`.", _find)
