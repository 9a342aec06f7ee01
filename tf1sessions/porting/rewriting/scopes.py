"""The meaning of a bare name at its place, and whether a line is only for another Python or library."""

from __future__ import annotations

import ast
import re
import weakref

from ...source.names import Names, Scope
from ...source.program import Program, SourceFile
from ...source.uses import FileUses

__all__ = ["binding_scope", "defines_method", "is_bound", "is_free", "is_guarded", "is_tried", "names_of"]

_KNOWN: weakref.WeakKeyDictionary[FileUses, Names] = weakref.WeakKeyDictionary()
_VERSION = re.compile(r"\b(version_info|PY2|PY3|PY34|python_version\w*|sys\.version|hexversion|hasattr|__version__)\b")
_TRIES = (ast.Try, getattr(ast, "TryStar", ast.Try))
_BROAD = frozenset(["Exception", "BaseException"])


def names_of(file: FileUses) -> Names:
    """Return the meanings of the names in a file. Not thread-safe: for one thread at a time."""
    if file not in _KNOWN:
        _KNOWN[file] = Names(Program((SourceFile(file.module, file.source.shown, file.tree, ()),)))
    return _KNOWN[file]


def binding_scope(file: FileUses, node: ast.Name) -> Scope | None:
    """Return the scope that binds a name; None where nothing in the file does, so that it is a builtin or missing."""
    if not is_bound(file, node.id):
        return None
    scope: Scope | None = names_of(file).scope(node)
    first = True
    while scope is not None:
        if (first or not scope.is_class) and node.id in scope.bindings and node.id not in scope.outer:
            return scope
        first, scope = False, scope.parent
    return None


def is_bound(file: FileUses, name: str, but: str = "") -> bool:
    """Whether anything in a file binds a name; imports of ``but`` do not count."""
    return name in file.bound or any(each.bound == name and each.meaning != but for each in file.imports)


def defines_method(file: FileUses, name: str) -> bool:
    """Whether a class of the project has a method of its own with this name."""
    return any(name in each.methods for each in file.siblings or (file,))


def is_free(file: FileUses, node: ast.AST) -> bool:
    """Whether a node is a name that nothing in the file binds where it stands."""
    return isinstance(node, ast.Name) and binding_scope(file, node) is None


def is_guarded(file: FileUses, node: ast.AST, error: str) -> bool:
    """Whether a node is in a branch for one Python or library: below a test of a version, or where ``error`` is caught.

    Args:
        file: The file.
        node: A statement or an expression in it.
        error: ``"ImportError"`` or ``"NameError"``. A handler of everything counts for a statement that is alone in
            its ``try``.
    """
    inner = node
    while (parent := file.parents.get(inner)) is not None:
        if isinstance(parent, ast.If | ast.IfExp) and inner is not parent.test:
            if _VERSION.search(file.positions.source(parent.test)):
                return True
        if isinstance(parent, ast.Try) and inner not in parent.finalbody:
            kinds = {kind for handler in parent.handlers for kind in _kinds(handler)}
            if error in kinds or (error == "ImportError" and "ModuleNotFoundError" in kinds):
                return True
            alone = all(isinstance(each, ast.Import | ast.ImportFrom | ast.Expr | ast.Assign) for each in parent.body)
            if kinds & _BROAD and alone and len(parent.body) <= 2:
                return True
        inner = parent
    return False


def is_tried(file: FileUses, node: ast.AST, name: str) -> bool:
    """Whether the program is ready for a name that is not there: by ``try:``, or by ``if "contrib" in dir(tf):``."""
    last = name.rpartition(".")[2]
    while (parent := file.parents.get(node)) is not None:
        if isinstance(parent, _TRIES) and node not in parent.finalbody:
            return True
        if isinstance(parent, ast.If) and any(
            isinstance(each, ast.Constant) and each.value == last for each in ast.walk(parent.test)
        ):
            return True
        node = parent
    return False


def _kinds(handler: ast.ExceptHandler) -> set[str]:
    """The names of the exceptions that a handler catches."""
    if handler.type is None:
        return {"BaseException"}
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return {kind.id for kind in kinds if isinstance(kind, ast.Name)}
