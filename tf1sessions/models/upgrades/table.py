"""The table, and what is done with it."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

from tf1sessions.models.graph_index import listed
from tf1sessions.models.upgrades.attributes import ATTRIBUTES
from tf1sessions.models.upgrades.hardware import HARDWARE
from tf1sessions.models.upgrades.loose_ends import LOOSE_ENDS
from tf1sessions.models.upgrades.operations import OPERATIONS
from tf1sessions.models.upgrades.rewriting import (
    Graph,
    Upgrade,
    attribute_names,
    closure,
    definition_of,
    rename_outputs,
)
from tf1sessions.runtime import private

__all__ = ["UPGRADES", "importing", "runs", "unknown_operations", "upgrade", "without_output_shapes"]

#: In the order in which they are tried: other hardware leaves plain operations behind.
UPGRADES: tuple[Upgrade, ...] = (*HARDWARE, *OPERATIONS, *LOOSE_ENDS, *ATTRIBUTES)


def upgrade(graph_def: Any, *, hardware: bool = True) -> tuple[Any, tuple[str, ...]]:
    """Makes a graph one that this TensorFlow takes, as far as the table knows how.

    Args:
        graph_def: A GraphDef. It is not changed.
        hardware: Whether devices that are written into the graph give way to whatever there is here.

    Returns:
        The GraphDef, the same object where nothing was to be done, and what was done, in sentences that name nodes.
    """
    graph = Graph(graph_def)
    notes = []
    for row in UPGRADES:
        if row.hardware and not hardware:
            continue
        if not any(True for _ in row.find(graph)):
            continue
        if graph.graph_def is graph_def:
            copy = type(graph_def)()
            copy.CopyFrom(graph_def)
            graph = Graph(copy)
        found = list(row.find(graph))
        changed = []
        for place in found:
            op = place.node.op
            row.change(graph, place)
            if place.node.op != op:
                changed.append(place)
        rename_outputs(changed)
        graph.forget()
        notes.append(f"{row.what}: {listed([place.name for place in found])}")
    return graph.graph_def, tuple(notes)


def unknown_operations(graph_def: Any) -> dict[str, list[str]]:
    """The operations that this TensorFlow cannot run, because it lacks them or lost their kernels.

    Returns:
        Operation -> the nodes that need it: those of the graph by name, with the nodes that call a function that needs
        it, and after them those of functions, as ``"node in the function f"``.
    """
    graph = Graph(graph_def)
    missing = {op for op in graph.places if not runs(op)}
    if not missing:
        return {}
    calls = [(node.name, called) for node in graph_def.node if (called := set(graph.called(node)))]
    reachable = closure((name for _, called in calls for name in called), lambda name: graph.calls[name])
    found: dict[str, list[str]] = {}
    for op in sorted(missing):
        here = [place for place in graph.places[op] if place.function is None]
        inside = [place for place in graph.places[op] if place.function is not None]
        needing = graph.callers({place.function.signature.name for place in inside})
        names = [place.name for place in here]
        names += [name for name, called in calls if not needing.isdisjoint(called)]
        names += [place.name for place in inside if place.function.signature.name in reachable]
        if names:
            found[op] = names
    return found


def without_output_shapes(graph_def: Any, op: str) -> Any:
    """A copy of a GraphDef whose nodes of type ``op`` have no ``_output_shapes``."""
    copy = type(graph_def)()
    copy.CopyFrom(graph_def)
    for place in Graph(copy).places.get(op, ()):
        place.node.attr.pop("_output_shapes", None)
    return copy


_INCONSISTENT = re.compile(r"Node '([^']+)' has an _output_shapes attribute inconsistent")


def importing(import_graph_def: Callable[..., Any], undo: Callable[[], Callable[[], None]]) -> Callable[..., Any]:
    """``import_graph_def``, tried again without what it found inconsistent.

    A graph of 1.15 may carry the shapes that 1.15 inferred, as an attribute ``_output_shapes`` on each node. Where
    today's shape inference comes to another result the import fails. Elsewhere the attribute has shapes that cannot
    be inferred, so it is dropped only from the kinds of nodes that an import failed for.

    Args:
        import_graph_def: Takes a GraphDef first. It leaves nothing behind where it fails.
        undo: Called before each try; what it returns is called after the try failed and before the next one.
    """

    @functools.wraps(import_graph_def)
    def tolerant(graph_def: Any, *args: Any, **kwargs: Any) -> Any:
        dropped: set[str] = set()
        while True:
            back = undo()
            try:
                return import_graph_def(graph_def, *args, **kwargs)
            except ValueError as error:
                found = _INCONSISTENT.match(str(error))
                op = found and _op_of(graph_def, found.group(1))
                if not op or op in dropped:
                    raise
            back()
            dropped.add(op)
            graph_def = without_output_shapes(graph_def, op)

    return tolerant


def _op_of(graph_def: Any, name: str) -> str | None:
    """The type of the node that is called ``name`` once it is imported, below whatever prefix."""
    for node in graph_def.node:
        if name == node.name or name.endswith("/" + node.name):
            return str(node.op)
    return None


#: Operations that only TensorFlow's own passes make, and whose shape functions end the process or never return for
#: operands of other ranks. No program makes them, and no file needs them.
_INTERNAL = re.compile(r"_(Fused)?Quantized|_ScopedAllocator")
#: Operations without a kernel that TensorFlow makes others of before it looks for one.
_REWRITTEN = frozenset({"AccumulateNV2"})


@functools.cache
def runs(op: str) -> bool:
    """Whether this TensorFlow has the operation, and a kernel for it that can be chosen."""
    definition = definition_of(op)
    if definition is None:
        return False
    if op == "MutableDenseHashTable" or _INTERNAL.match(op):  # the former's kernel asks for an input that it lacks
        return False
    if op in _REWRITTEN:
        return True
    known = attribute_names(op) or frozenset()
    kernels = private.kernels.get_registered_kernels_for_op(op).kernel
    return any(all(constraint.name in known for constraint in kernel.constraint) for kernel in kernels)
