"""Graphs that TF1 wrote, read by today's TensorFlow.

A graph of 1.15 carries the shapes that 1.15 inferred, as an attribute ``_output_shapes`` on each node. Where today's
shape inference comes to another result, as for the gradient of batch normalisation, the import fails ("...
inconsistent with the GraphDef"). Elsewhere the attribute tells shapes that cannot be inferred, so it is dropped only
from the kinds of nodes that an import failed for, and the import is tried again: :func:`apply` puts that under every
reader of graphs.
"""

from __future__ import annotations

import functools
import importlib
import re
from collections.abc import Callable
from typing import Any

__all__ = ["apply", "without_output_shapes"]

_INCONSISTENT = re.compile(r"Node '([^']+)' has an _output_shapes attribute inconsistent")


def without_output_shapes(graph_def: Any, op: str) -> Any:
    """A copy of a GraphDef whose nodes of type ``op`` have no ``_output_shapes``."""
    copy = type(graph_def)()
    copy.CopyFrom(graph_def)
    for nodes in (copy.node, *(function.node_def for function in copy.library.function)):
        for node in nodes:
            if node.op == op:
                node.attr.pop("_output_shapes", None)
    return copy


def apply(face: Any) -> None:
    """Let ``import_graph_def``, and with it ``import_meta_graph`` and the loaders, read old graphs. Once a process."""
    importer: Any = importlib.import_module("tensorflow.python.framework.importer")
    # import_graph_def and import_graph_def_for_function both call it through their module.
    importer._import_graph_def_internal = _tolerant(importer._import_graph_def_internal, face)


def _tolerant(original: Callable[..., Any], face: Any) -> Callable[..., Any]:
    @functools.wraps(original)
    def import_graph_def(graph_def: Any, *args: Any, **kwargs: Any) -> Any:
        dropped: set[str] = set()
        while True:
            graph = face.get_default_graph()
            names = dict(graph._names_in_use)
            try:
                return original(graph_def, *args, **kwargs)
            except ValueError as error:
                found = _INCONSISTENT.match(str(error))
                op = found and _op_of(graph_def, found.group(1))
                if not op or op in dropped:
                    raise
            graph._names_in_use = names  # nothing was imported: the same prefix is free again
            dropped.add(op)
            graph_def = without_output_shapes(graph_def, op)

    return import_graph_def


def _op_of(graph_def: Any, name: str) -> str | None:
    """The type of the node that is called ``name`` once it is imported, below whatever prefix."""
    for node in graph_def.node:
        if name == node.name or name.endswith("/" + node.name):
            return str(node.op)
    return None
