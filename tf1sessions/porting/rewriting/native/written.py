"""Checks of the text that the step writes, as a whole: each name is bound, and no graph is asked for."""

from __future__ import annotations

import ast
import builtins
import dataclasses
import symtable
from collections.abc import Iterator

from ....source.uses import FileUses, read_file
from ..requests.request import NotPossible
from .kinds import creates

__all__ = ["check_written"]

#: Names of TensorFlow that read or change a graph, which is empty where code is executed eagerly.
_GRAPH = frozenset(
    "tf.get_collection tf.get_collection_ref tf.add_to_collection tf.add_to_collections tf.global_variables "
    "tf.all_variables tf.trainable_variables tf.local_variables tf.model_variables tf.moving_average_variables "
    "tf.get_variable tf.get_variable_scope tf.get_default_graph tf.get_default_session tf.placeholder "
    "tf.placeholder_with_default tf.train.get_global_step tf.train.get_or_create_global_step "
    "tf.train.create_global_step tf.train.global_step tf.train.Saver tf.summary.merge_all tf.Session "
    "tf.InteractiveSession tf.global_variables_initializer tf.local_variables_initializer tf.variables_initializer "
    "tf.tables_initializer".split()
)
_OF_LOSSES = "tf.losses.get_"


def check_written(text: str, original: FileUses) -> None:
    """Refuse what the step has written.

    Raises:
        NotPossible: It reads a name that nothing binds, though the program does not, or something of a graph.
    """
    for name in sorted(_unbound(text) - _unbound(original.source.text)):
        nodes = (node for node in ast.walk(original.tree) if isinstance(node, ast.Name) and node.id == name)
        what = f"{name!r}, which the graph has, is used in a way that is not known"
        raise NotPossible(next(nodes, original.tree.body[0]), what)
    file = read_file(dataclasses.replace(original.source, text=text), original.module, is_package=original.is_package)
    if not isinstance(file, FileUses):
        return
    for use in file.uses:
        if use.name in _GRAPH or use.name.startswith(_OF_LOSSES):
            found = (each.node for each in original.uses if each.name == use.name)
            raise NotPossible(next(found, original.tree.body[0]), f"{use.name}() is called outside of the graph")
        is_made = creates(use.name) in ("layer", "metric")
        if is_made or (use.call is None and use.name.endswith("_initializer") and not _is_given(file, use.node)):
            found = (each.node for each in original.uses if each.name == use.name and each.call is None)
            raise NotPossible(next(found, original.tree.body[0]), f"{use.name} is handed about")


def _is_given(file: FileUses, node: ast.AST) -> bool:
    """Whether an initializer is an argument of a function of TensorFlow, which calls a class itself."""
    call = file.parents[node]
    call = file.parents[call] if isinstance(call, ast.keyword) else call
    return isinstance(call, ast.Call) and any(use.node is call.func for use in file.uses)


def _unbound(text: str) -> set[str]:
    """The names that a text reads from the module, which does not bind them."""
    try:
        module = symtable.symtable(text, "program", "exec")
    except (SyntaxError, ValueError, RecursionError):  # the cells of a notebook have magics
        return set()
    if any(isinstance(each, ast.ImportFrom) and each.names[0].name == "*" for each in ast.walk(ast.parse(text))):
        return set()
    tables = list(_tables(module))
    bound = {each.get_name() for each in module.get_symbols() if each.is_assigned() or each.is_imported()}
    bound |= {each.get_name() for table in tables for each in table.get_symbols() if each.is_declared_global()}
    read = {
        each.get_name()
        for table in tables
        for each in table.get_symbols()
        if each.is_referenced() and (each.is_global() or table is module)
    }
    return read - bound - set(dir(builtins)) - {"__file__", "__path__"}


def _tables(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    yield table
    for each in table.get_children():
        yield from _tables(each)
