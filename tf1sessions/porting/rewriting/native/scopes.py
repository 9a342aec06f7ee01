"""Scopes of names: ``with tf.variable_scope("a"):`` is ``with tf.name_scope("a"):`` in TensorFlow 2."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator

from ....source.uses import FileUses
from ..requests.arguments import arguments
from ..requests.request import NotPossible
from .calls import Native, native_call
from .kinds import Kinds
from .texts import Texts

__all__ = ["FLAT", "check_scopes", "is_name_scope", "scope_header"]

#: Blocks whose statements are looked at one by one.
FLAT = frozenset(["tf.name_scope", "tf.variable_scope", "tf.control_dependencies", "tf.device"])

#: What makes variables whose names have the variable scopes around them in them, and no other scopes.
_NAMED_BY_VARIABLE_SCOPES = ("tf.layers.", "tf1sessions.contrib.layers.")


def is_name_scope(kinds: Kinds, item: ast.withitem) -> bool:
    """Whether an item of a ``with`` is a scope of names, a device, or an order of operations."""
    call = item.context_expr
    return isinstance(call, ast.Call) and kinds.symbol(call.func) in FLAT


def scope_header(
    kinds: Kinds, texts: Texts, block: ast.With, reuse: str | None = None, waited: Container[ast.expr] = ()
) -> str:
    """The first line of a ``with`` as TensorFlow 2 has it; nothing where it only says in which order operations run.

    Args:
        kinds: Of the file.
        texts: Of the file.
        block: The statement.
        reuse: The parameter of the function around it that says whether variables are used again.
        waited: Calls of ``tf.control_dependencies()`` that are written as well.

    Raises:
        NotPossible: A scope has arguments that have no form in TensorFlow 2.
    """
    headers = []
    for item in block.items:
        call = item.context_expr
        assert isinstance(call, ast.Call)
        symbol = kinds.symbol(call.func)
        if symbol == "tf.control_dependencies":
            if call in waited:
                headers.append(texts.of(call))
            continue
        if symbol == "tf.device":
            native = native_call(call, symbol, texts.of, texts.tensorflow, kept=False)
            headers.append(native.used if isinstance(native, Native) else texts.of(call))
            continue
        given = arguments(call, ("name_or_scope", "default_name"))
        name = given.pop("name", None) or given.pop("name_or_scope", None) or given.pop("default_name", None)
        given.pop("values", None)
        again = given.pop("reuse", None)
        if symbol == "tf.name_scope" and _is_in_no_name(kinds, block, call):
            if _own_name(block, item):
                raise NotPossible(call, "A scope is used by its name")
            continue
        if name is None or given:
            raise NotPossible(call, "A scope of names has arguments beside its name")
        if again is not None and not _is_known(again, reuse):
            raise NotPossible(call, "A scope uses variables again that were made elsewhere")
        scope = "compat.v1.variable_scope" if _has_cells(kinds, block) else "name_scope"
        bound = f" as {_own_name(block, item)}" if _own_name(block, item) else ""
        headers.append(f"{texts.tensorflow}.{scope}({texts.of(name)}){bound}")
    return f"with {', '.join(headers)}:" if headers else ""


def _is_in_no_name(kinds: Kinds, block: ast.With, call: ast.Call) -> bool:
    """Whether variables that are made in a ``tf.name_scope`` do not have it in their names, by which files are read.

    Raises:
        NotPossible: Some of them have.
    """
    symbols = {kinds.symbol(each.func) or "" for each in _calls(kinds, block)}
    free = any(each == "tf.get_variable" or each.startswith(_NAMED_BY_VARIABLE_SCOPES) for each in symbols)
    if free and any(each == "tf.Variable" or each.startswith("tf.keras.layers.") for each in symbols):
        raise NotPossible(call, "A tf.name_scope has variables that take its name, and others that do not")
    return free


def _calls(kinds: Kinds, block: ast.AST) -> Iterator[ast.Call]:
    """The calls in a statement, and in the functions of the program that it calls."""
    stack, seen = [block], set[str]()
    while stack:
        for node in ast.walk(stack.pop()):
            if isinstance(node, ast.Call):
                yield node
            function = kinds.functions.get(node.id) if isinstance(node, ast.Name) and node.id not in seen else None
            if function is not None:
                seen.add(function.name)
                stack.append(function)


def check_scopes(file: FileUses, kinds: Kinds) -> None:
    """Refuse scopes that are used by a name, other than as the name of an operation in them.

    Raises:
        NotPossible: There is such.
    """
    for block in [each for each in ast.walk(file.tree) if isinstance(each, ast.With)]:
        for item in block.items:
            call, name = item.context_expr, item.optional_vars
            symbol = kinds.symbol(call.func) if isinstance(call, ast.Call) else None
            if symbol not in ("tf.name_scope", "tf.variable_scope") or not isinstance(name, ast.Name):
                continue
            _check_uses(file, block, name.id, symbol)


def _check_uses(file: FileUses, block: ast.With, name: str, symbol: str) -> None:
    """Refuse uses of a scope that is bound to a name."""
    around = next((each for each in file.around(block) if isinstance(each, ast.FunctionDef)), file.tree)
    inside = set(ast.walk(block))
    for node in ast.walk(around):
        if not isinstance(node, ast.Name) or node.id != name or not isinstance(node.ctx, ast.Load):
            continue
        parent = file.parents[node]
        if isinstance(parent, ast.Attribute) and parent.attr == "reuse_variables":
            if around is file.tree:
                raise NotPossible(node, "A scope uses variables again that were made elsewhere")
        elif symbol != "tf.name_scope" or node not in inside or not isinstance(parent, ast.keyword):
            raise NotPossible(node, "A scope is used by its name")


def _own_name(block: ast.With, item: ast.withitem) -> str | None:
    """The name of Python that a scope is bound to, where that is the name of an operation in it."""
    name = item.optional_vars
    keywords = [each.value for each in ast.walk(block) if isinstance(each, ast.keyword)]
    if isinstance(name, ast.Name) and any(isinstance(each, ast.Name) and each.id == name.id for each in keywords):
        return name.id
    return None


def _has_cells(kinds: Kinds, block: ast.With) -> bool:
    """Whether a scope has recurrent networks of TensorFlow 1, whose cells make their variables by its name."""
    symbols = [kinds.symbol(each.func) or "" for each in ast.walk(block) if isinstance(each, ast.Call)]
    return any(each.startswith("tf.nn.") and each.endswith("_rnn") for each in symbols)


def _is_known(again: ast.expr, reuse: str | None) -> bool:
    if isinstance(again, ast.Constant):
        return not again.value
    if isinstance(again, ast.Name):
        return again.id == reuse
    return isinstance(again, ast.Attribute) and again.attr == "AUTO_REUSE"
