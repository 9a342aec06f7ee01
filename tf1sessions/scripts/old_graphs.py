"""Graphs that TF1 wrote, read by today's TensorFlow.

A graph of 1.15 carries the shapes that 1.15 inferred, as an attribute ``_output_shapes`` on each node. Where today's
shape inference comes to another result the import fails ("... inconsistent with the GraphDef"). The attribute is a
note, not part of the computation: :func:`apply` makes every reader of graphs drop it.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from types import ModuleType
from typing import Any

__all__ = ["apply", "without_output_shapes"]


def without_output_shapes(graph_def: Any) -> Any:
    """A copy of a GraphDef without the ``_output_shapes`` of its nodes; the GraphDef itself if it has none."""
    nodes = [*graph_def.node, *(node for function in graph_def.library.function for node in function.node_def)]
    if not any("_output_shapes" in node.attr for node in nodes):
        return graph_def
    copy = type(graph_def)()
    copy.CopyFrom(graph_def)
    for node in [*copy.node, *(node for function in copy.library.function for node in function.node_def)]:
        if "_output_shapes" in node.attr:
            del node.attr["_output_shapes"]
    return copy


def apply(face: ModuleType) -> None:
    """Let ``import_graph_def``, and with it ``import_meta_graph`` and the loaders, read old graphs. Once a process."""
    importer: Any = importlib.import_module("tensorflow.python.framework.importer")
    original = importer._import_graph_def_internal
    importer._import_graph_def_internal = _stripping(original, face.GraphDef)
    # Imported by name elsewhere: the public function calls the one above through its module.


def _stripping(original: Callable[..., Any], graph_def_type: type) -> Callable[..., Any]:
    @functools.wraps(original)
    def import_graph_def(graph_def: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(graph_def, graph_def_type):
            graph_def = without_output_shapes(graph_def)
        return original(graph_def, *args, **kwargs)

    return import_graph_def
