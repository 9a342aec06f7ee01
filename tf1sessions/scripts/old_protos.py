"""Modules that protoc wrote before release 3.20, ``*_pb2.py``: protobuf refuses to run them since its release 4.

Such a module makes each descriptor by a call of its own ("Descriptors cannot be created directly"). All that these
calls say is in one string of bytes in it, the serialized file; today's protoc writes that string alone. So the module
is not run: the string is read from its source, and the module is made of it as today's protoc does.

Data flow: the import hooks ask :func:`find` for each module whose name ends in ``_pb2``.
"""

from __future__ import annotations

import ast
import importlib
import importlib.machinery
from collections.abc import Sequence
from types import ModuleType
from typing import Any

__all__ = ["find", "serialized_file"]

_OLD = b"_descriptor.FileDescriptor("


def find(fullname: str, path: Sequence[str] | None) -> importlib.machinery.ModuleSpec | None:
    """The spec of a module that an old protoc wrote; None for all others."""
    if not fullname.endswith("_pb2"):
        return None
    spec = importlib.machinery.PathFinder.find_spec(fullname, path)
    if spec is None or type(spec.loader) is not importlib.machinery.SourceFileLoader:
        return None
    source = spec.loader.get_data(spec.loader.path)
    if _OLD not in source:
        return None
    spec.loader = _ProtoLoader(fullname, spec.loader.path)
    return spec


def serialized_file(source: bytes) -> tuple[bytes, list[ast.stmt]] | None:
    """The serialized file in the text of a module that an old protoc wrote, and the module's import statements.

    None where it is not as protoc writes it.
    """
    tree = ast.parse(source)
    found = None
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg == "serialized_pb":
            texts = [one.value for one in ast.walk(node.value) if isinstance(one, ast.Constant)]
            strings = [one for one in texts if isinstance(one, (str, bytes)) and one not in ("latin1", "utf-8")]
            if len(strings) == 1:
                found = strings[0]
                break
    if found is None:
        return None
    imports: list[ast.stmt] = [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom, ast.Try))]
    return (found if isinstance(found, bytes) else found.encode("latin1")), imports


class _ProtoLoader(importlib.machinery.SourceFileLoader):
    """Makes the module of its serialized file."""

    def exec_module(self, module: ModuleType) -> None:
        api: Any = importlib.import_module("google.protobuf.internal.api_implementation")
        read = None if api.Type() == "python" else serialized_file(self.get_data(self.path))
        if read is None:
            super().exec_module(module)
            return
        serialized, imports = read
        wanted = [node for node in imports if not _of_protobuf(node)]
        code = compile(ast.Module(body=wanted, type_ignores=[]), self.path, "exec", dont_inherit=True)
        exec(code, vars(module))  # files that it imports have to be known first
        pool: Any = importlib.import_module("google.protobuf.descriptor_pool")
        builder: Any = importlib.import_module("google.protobuf.internal.builder")
        names = vars(module)
        names["DESCRIPTOR"] = pool.Default().AddSerializedFile(serialized)
        builder.BuildMessageAndEnumDescriptors(names["DESCRIPTOR"], names)
        builder.BuildTopDescriptorsAndMessages(names["DESCRIPTOR"], module.__name__, names)


def _of_protobuf(node: ast.stmt) -> bool:
    """Whether it imports what makes descriptors, which is not needed, and may be gone."""
    if not isinstance(node, ast.ImportFrom):
        return False
    if (node.module or "").startswith("google.protobuf"):
        return not any(alias.name.endswith("_pb2") for alias in node.names)
    return node.module == "__future__"
