"""The values that a graph's variables begin with, read one at a time.

::

    a variable of a checkpoint, restored as it is there ──▶ read straight from the checkpoint
    any other: initialized, put together on the way     ──▶ a session of ours, which closes when it was asked
    of a Model                                          ──▶ the Model's own session: what it holds now
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tf1sessions.errors import CheckpointMismatchError
from tf1sessions.models.files import READ_ERRORS, bad_checkpoint, checkpoint_reader, read_tensor, restore_now
from tf1sessions.models.graph_index import listed, node_of, tensor_name
from tf1sessions.models.model import Model
from tf1sessions.models.prepared import Prepared
from tf1sessions.models.values import VARIABLES, Restoring, find_restoring
from tf1sessions.porting.variables import Slice
from tf1sessions.runtime import tf

__all__ = ["VariableValues"]

_READS = "tf1sessions_read"


class VariableValues:
    """The values of the variables of one graph.

    Args:
        prepared: The graph.
        initialize: Whether variables that no checkpoint has get fresh initial values.
        model: The Model whose session holds the values, if there is one.

    Attention: this is **not** thread-safe.
    """

    def __init__(self, prepared: Prepared, *, initialize: bool = False, model: Model | None = None) -> None:
        self._prepared = prepared
        self._initialize = initialize
        self._model = model
        self._last: tuple[str, Any] | None = None

    def arrays(self, names: Collection[str]) -> Iterator[tuple[str, Any]]:
        """The value of each variable, as an array that nobody else holds, or as a tensor.

        Args:
            names: The nodes that are variables.

        Raises:
            ModelError: One has no value, or the checkpoint is of another graph.
        """
        straight = {} if self._model is not None else {name: self._keys[name] for name in names if name in self._keys}
        self._check(straight)
        others = [name for name in names if name not in straight]
        if others:
            reads = [self._read_of(name) for name in others]
            yield from zip(others, self.fetch(reads), strict=True)
        for name, key in straight.items():
            yield name, self._read(key)
        self._last = None

    def entries(self, name: str) -> list[Any] | None:
        """The keys and the values of a table, as the checkpoint has them; None if it does not have them."""
        restoring = self._restoring.get(name)
        if restoring is None or self._reader is None:
            return None
        saved = self._reader.get_variable_to_shape_map()
        if any(key.name not in saved for key in restoring.feeds.values()):
            return None
        inputs = [tensor_name(each) for each in self._prepared.graph_index.nodes[restoring.operation].input[1:3]]
        return [self._read(restoring.feeds[tensor]) for tensor in inputs]

    def is_restored(self, name: str, operation: str) -> bool:
        """Whether an operation is the one that sets a variable or a table from a checkpoint."""
        return name in self._restoring and self._restoring[name].operation == operation

    def slices(self) -> dict[str, Slice]:
        """The variables that are parts of what the checkpoint has as a whole."""
        found = {}
        for name, key in self._keys.items():
            shape, places = key.slices()
            if shape is not None:
                begin = tuple(place.start or 0 for place in places)
                size = tuple(
                    (whole if place.stop is None else place.stop) - start
                    for whole, place, start in zip(shape, places, begin, strict=True)
                )
                if list(size) != shape:
                    found[name] = Slice(name, key.name, tuple(shape), begin, size)
        return found

    def fetch(self, tensors: Sequence[str]) -> list[Any]:
        """The values of tensors that need no input, computed in a session."""
        feeds = {
            tensor: path
            for tensor, path in self._prepared.artifact.assets.items()
            if node_of(tensor) in self._prepared.graph_index.ancestors(map(node_of, tensors))
        }
        if self._model is not None and all(node_of(name) in self._nodes_of_model for name in tensors):
            return list(self._model.run(list(tensors), feeds))
        artifact = dataclasses.replace(
            self._prepared.artifact, graph_def=self._with_reads(tensors), signatures={}, kind="graph"
        )
        allowed = self._prepared.allowed
        with Model(artifact, inputs=[], outputs=tensors, initialize=self._initialize, allow_ops=allowed) as model:
            return list(model.run(list(tensors), feeds))

    # -- a session

    @functools.cached_property
    def _nodes_of_model(self) -> set[str]:
        assert self._model is not None
        return {operation.name for operation in self._model.graph.get_operations()}

    def _read_of(self, name: str) -> str:
        """The tensor that is the value of a variable."""
        graph_index = self._prepared.graph_index
        if graph_index.nodes[name].op != "VarHandleOp":
            return f"{name}:0"
        for consumer, _ in graph_index.consumers[name]:
            if consumer.op == "ReadVariableOp" and len(consumer.input) == 1:
                return f"{consumer.name}:0"
        return f"{_READS}/{name}:0"

    def _with_reads(self, tensors: Sequence[str]) -> Any:
        """The graph, with an operation that reads each variable that the graph itself does not read."""
        added = [tensor[len(_READS) + 1 : -2] for tensor in tensors if tensor.startswith(f"{_READS}/")]
        graph_def = self._prepared.graph_index.graph_def
        if not added:
            return graph_def
        result = tf.GraphDef()
        result.CopyFrom(graph_def)
        for name in added:
            read = result.node.add(name=f"{_READS}/{name}", op="ReadVariableOp", input=[name])
            read.attr["dtype"].CopyFrom(self._prepared.graph_index.nodes[name].attr["dtype"])
        return result

    # -- a checkpoint

    @functools.cached_property
    def _reader(self) -> Any:
        prefix = self._prepared.artifact.checkpoint
        return None if prefix is None else checkpoint_reader(prefix)

    @functools.cached_property
    def _dtypes(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self._reader.get_variable_to_dtype_map()
        return found

    @functools.cached_property
    def _restoring(self) -> Mapping[str, Restoring]:
        return find_restoring(self._prepared.graph_index, self._prepared.artifact.meta_graph)

    @functools.cached_property
    def _keys(self) -> Mapping[str, Any]:
        """The variables that a checkpoint has as they are, with their keys there."""
        if self._reader is None:
            return {}
        graph_index, shapes = self._prepared.graph_index, self._reader.get_variable_to_shape_map()
        found = {}
        for name, restoring in self._restoring.items():
            if graph_index.nodes[name].op not in VARIABLES:
                continue
            value = tensor_name(graph_index.nodes[restoring.operation].input[1])
            while (node := graph_index.nodes[node_of(value)]).op == "Identity":
                value = tensor_name(node.input[0])
            if [*restoring.feeds] == [value] and restoring.feeds[value].name in shapes:
                found[name] = restoring.feeds[value]
        return found

    def _read(self, key: Any) -> Any:
        """Return what the checkpoint has, or a part of it; the whole is read once for parts that follow each other."""
        _, part = key.slices()
        try:
            if not part:  # as a tensor, which a variable takes as it is; an array it would copy
                return restore_now(str(self._prepared.artifact.checkpoint), key.name, self._dtypes[key.name])
            if self._last is None or self._last[0] != key.name:
                path = str(self._prepared.artifact.checkpoint)
                self._last = key.name, read_tensor(self._reader, path, key.name)
        except READ_ERRORS as error:
            raise bad_checkpoint(str(self._prepared.artifact.checkpoint), error) from error
        return np.ascontiguousarray(self._last[1][part])

    def _check(self, keys: Mapping[str, Any]) -> None:
        """Compares the shapes that the graph has with those of the checkpoint, before anything is read."""
        saved = self._reader.get_variable_to_shape_map() if keys else {}
        wrong = {}
        for name, key in keys.items():
            whole, _ = key.slices()
            declared = tf.TensorShape(self._prepared.graph_index.nodes[name].attr["shape"].shape)
            expected = tf.TensorShape(whole) if whole is not None else declared
            if not expected.is_compatible_with(saved[key.name]):
                wrong[key.name] = (tuple(expected.as_list()), tuple(saved[key.name]))
        if wrong:
            each = [f"{name} ({list(found)} instead of {list(declared)})" for name, (declared, found) in wrong.items()]
            raise CheckpointMismatchError(
                f"the checkpoint {self._prepared.artifact.checkpoint} is not one of this graph: it has in another "
                f"shape {listed(each)}",
                where=self._prepared.artifact.path,
                next_step="Give the checkpoint that was written with this graph.",
                missing=(),
                extra=(),
                shapes=wrong,
            )
