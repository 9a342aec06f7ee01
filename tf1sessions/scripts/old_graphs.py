"""Graphs that TF1 wrote, read by today's TensorFlow.

:func:`apply` puts the table of `models/upgrades` under every reader of graphs: ``import_graph_def``, and with it
``import_meta_graph`` and the loaders. What the graph says about devices is kept: a script may have a cluster.
"""

from __future__ import annotations

import functools
import importlib
import re
from collections.abc import Callable
from typing import Any

from tf1sessions.errors import UnknownOperationError

__all__ = ["apply"]

_UNKNOWN = re.compile(r"Op type not registered '([^']+)'")


def apply(face: Any) -> None:
    """Let ``import_graph_def`` and what is built on it read old graphs. Once a process."""
    importer: Any = importlib.import_module("tensorflow.python.framework.importer")
    # import_graph_def and import_graph_def_for_function both call it through their module.
    importer._import_graph_def_internal = _upgrading(importer._import_graph_def_internal, face)


def _upgrading(original: Callable[..., Any], face: Any) -> Callable[..., Any]:
    def names_as_they_are() -> Callable[[], None]:
        graph = face.get_default_graph()
        names = dict(graph._names_in_use)

        def restore() -> None:
            graph._names_in_use = names  # nothing was imported: the same prefix is free again

        return restore

    @functools.wraps(original)
    def import_graph_def(graph_def: Any, *args: Any, **kwargs: Any) -> Any:
        # here, because they need TensorFlow, which is just being made
        from tf1sessions.models import upgrades
        from tf1sessions.models.upgrades.lost import LOST

        if isinstance(graph_def, face.GraphDef):  # anything else is for the original to refuse
            graph_def, _ = upgrades.upgrade(graph_def, hardware=False)
        try:
            return upgrades.importing(original, names_as_they_are)(graph_def, *args, **kwargs)
        except (ValueError, face.errors.NotFoundError) as error:
            found = _UNKNOWN.search(str(error))
            unknown = upgrades.unknown_operations(graph_def) if found else {}
            if found is None or found.group(1) not in unknown:
                raise
            homes = {op: f" of {LOST[op]}" if op in LOST else "" for op in unknown}
            listed = "; ".join(f"{op}{homes[op]}: {', '.join(names)}" for op, names in unknown.items())
            raise UnknownOperationError(
                f"the graph needs operations that this TensorFlow does not have ({listed})",
                where="import_graph_def",
                next_step="Cut the graph before them, or load the library that brings them (tf.load_op_library).",
                nodes=unknown,
            ) from error

    return import_graph_def
