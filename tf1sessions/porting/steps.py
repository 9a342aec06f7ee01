"""The operations of a graph that change variables on purpose: the train operation, and what is in UPDATE_OPS."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tf1sessions.errors import ConversionError, UsageError
from tf1sessions.models.graph_index import listed, node_of
from tf1sessions.models.signature_inference import losses_of
from tf1sessions.porting.sources import Source

__all__ = ["loss_of", "train_operations", "update_operations"]

_APPLIES = re.compile(r"^(Resource)?(Sparse)?Apply\w+$")
_UPDATES = "update_ops"
_TRAINS = "train_op"


def _node_list(source: Source, collection: str) -> list[str]:
    """The operations in a collection, as far as the graph has them."""
    meta = source.artifact.meta_graph
    if meta is None or collection not in meta.collection_def:
        return []
    names = map(node_of, meta.collection_def[collection].node_list.value)
    return list(dict.fromkeys(name for name in names if name in source.graph_index.nodes))


def update_operations(source: Source) -> list[str]:
    return _node_list(source, _UPDATES)


def train_operations(source: Source, train: bool | str | Sequence[str] | None) -> list[str]:
    """The operations that ``train=`` means.

    Raises:
        ConversionError: True, and the graph has none, or several.
        UsageError: One is not in the graph.
    """
    graph_index = source.graph_index
    if train is None or train is False:
        return []
    if train is not True:
        names = [node_of(name) for name in ([train] if isinstance(train, str) else train)]
        for name in names:
            if name not in graph_index.nodes:
                raise UsageError(
                    f"the graph has no operation {name!r}",
                    where="train=",
                    next_step=f"Its train operations may be {listed(_train_ends(source)) or 'none'}.",
                )
        return names
    # An optimizer's own operation is in a collection; a program often goes on to group it with others.
    names, train_nodes = _train_ends(source), _node_list(source, _TRAINS)
    if len(names) != 1 and train_nodes:
        names = train_nodes
    if len(names) != 1:
        raise ConversionError(
            f"the graph has {len(names) or 'no'} train operations" + (f": {listed(names)}" if names else ""),
            where=source.where,
            next_step="Name the one to convert: train='name'." if names else "Convert the graph that was trained.",
            nodes=tuple(names),
        )
    return names


def loss_of(source: Source, operations: Sequence[str]) -> str | None:
    """The tensor that a train step makes small; None where it has several, or none is known."""
    losses = losses_of(source.graph_index, operations)
    return f"{losses[0]}:0" if len(losses) == 1 else None


def _train_ends(source: Source) -> list[str]:
    """The ends of what depends on an optimizer's operations."""
    graph_index = source.graph_index
    seen = {node.name for node in graph_index.graph_def.node if _APPLIES.match(node.op)}
    queue = list(seen)
    while queue:
        for consumer, _ in graph_index.consumers[queue.pop()]:
            if consumer.name not in seen:
                seen.add(consumer.name)
                queue.append(consumer.name)
    return sorted(name for name in seen if not graph_index.consumers[name])
