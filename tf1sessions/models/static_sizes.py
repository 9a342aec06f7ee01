"""The memory that a request would fill, as far as the shapes in its graph show before it runs.

TensorFlow has inferred them while it imported the graph, through constants that are sizes: a Fill, Range, Tile or Pad
whose size stands in the graph has a shape that is known, and so has what is made of it. Bodies of functions (calls,
loops, branches) are imported for this, with the shapes of what they are called with. Sizes that depend on what is fed,
or on a value that is handed to a function, are not known: a trial finds those (trial.py).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable
from typing import Any

from tf1sessions.errors import ModelFileError
from tf1sessions.models.graph_index import function_values, functions_named
from tf1sessions.runtime import private, tf
from tf1sessions.sessions.machine import available_memory

__all__ = ["StaticSize", "check_shapes", "check_sizes", "static_size"]

#: What makes much of little. Their results are counted together, since each may be kept until the last is there.
_EXPANDING = frozenset(
    """
    BroadcastTo ConcatV2 Diag Empty Fill LinSpace MatrixDiag MatrixDiagV3 MirrorPad OneHot Pack Pad PadV2
    ParameterizedTruncatedNormal RandomGamma RandomPoissonV2 RandomStandardNormal RandomUniform RandomUniformInt Range
    ScatterNd SparseToDense StatelessRandomNormal StatelessRandomUniform Tile TruncatedNormal
    """.split()
)
_CALLS = frozenset({"PartitionedCall", "StatefulPartitionedCall", "While", "StatelessWhile"})
_CHOICES = frozenset({"If", "StatelessIf", "Case", "StatelessCase"})  # one of the branches runs
#: Nothing below this is looked at twice: asking the system what is free takes longer than all the rest.
_SMALL = 2**30


@dataclasses.dataclass(frozen=True)
class StaticSize:
    """Memory that the shapes in a graph ask for, in bytes.

    Attributes:
        filled: All that is filled, repeated, padded and drawn, together.
        largest: The largest tensor.
        node: The operation that makes it; empty where no shape is known.
        function: The function in which that operation is; empty for the graph itself.
    """

    filled: int = 0
    largest: int = 0
    node: str = ""
    function: str = ""

    @property
    def bound(self) -> int:
        """The memory that a run needs at least."""
        return max(self.filled, self.largest)

    def and_then(self, other: StaticSize) -> StaticSize:
        """The size of both, one after the other."""
        larger = max(self, other, key=lambda each: each.largest)
        return dataclasses.replace(larger, filled=self.filled + other.filled)


def static_size(graph: Any, names: Iterable[str], library: Any) -> StaticSize:
    """Adds up the sizes that stand in a graph.

    Args:
        graph: The ``tf.Graph``.
        names: The operations that are needed of it.
        library: Its FunctionDefLibrary, of functions that do not call themselves.
    """
    bodies = _Bodies(graph, library)
    return bodies.size([graph.get_operation_by_name(name) for name in names])


def check_shapes(graph: Any) -> None:
    """Look at the shape of each output, which TensorFlow's C++ code infers without a doubt of it.

    Raises:
        ValueError: One has a negative size, as that of an image that is resized to -5 rows.
    """
    for operation in graph.get_operations():
        for output in operation.outputs:
            try:
                _ = output.shape
            except ValueError as error:
                raise ValueError(f"the shape of {output.name!r}: {error}") from error


def check_sizes(graph: Any, names: Iterable[str], library: Any, path: str) -> None:
    """Refuses a request that cannot fit into the memory that is free.

    Args:
        graph, names, library: As for :func:`static_size`.
        path: The model's.

    Raises:
        ModelFileError: One tensor, or all that is filled, repeated, padded and drawn together, is larger.
    """
    found = static_size(graph, names, library)
    if found.bound < _SMALL:
        return
    free = available_memory()
    if free is not None and found.bound > free:
        place = repr(found.node) + (f" of the function {found.function!r}" if found.function else "")
        raise ModelFileError(
            f"its operations fill {found.bound / 2**30:,.1f} GB, {found.largest / 2**30:,.1f} GB of it in {place}, "
            f"and this machine has {free / 2**30:,.1f} GB free",
            where=path,
            next_step="The sizes stand in the graph: change them there, or use a larger machine.",
            path=path,
        )


class _Bodies:
    """The functions of a graph in which something may be filled, and what each call of them asks for."""

    def __init__(self, graph: Any, library: Any) -> None:
        self._graph = graph
        self._definitions = {each.signature.name: each for each in library.function}
        self._expanding = self._find_expanding()
        self._calls = _CALLS | _CHOICES | self._expanding if self._expanding else frozenset()
        self._known: dict[tuple[str, ...], StaticSize] = {}

    def _find_expanding(self) -> set[str]:
        """The names of functions that fill something, or call one that does."""
        named = {
            name: {node.op for node in each.node_def} | set(functions_named(function_values(each), strings=False))
            for name, each in self._definitions.items()
        }
        found = {name for name, names in named.items() if names & _EXPANDING}
        waiting = set(found)
        while waiting:
            waiting = {name for name, names in named.items() if names & waiting} - found
            found |= waiting
        return found

    def size(self, operations: Iterable[Any], function: str = "") -> StaticSize:
        """The size of these operations, which are the graph's or those of a function."""
        filled = largest = 0
        where = ""
        calls = []
        for operation in operations:
            expands = operation.type in _EXPANDING
            for output in operation.outputs:
                shape = output.shape
                if shape.rank and shape.is_fully_defined():
                    size = math.prod(shape.as_list()) * (output.dtype.size or 1)
                    filled += size * expands
                    if size > largest:
                        largest, where = size, operation.name
            if operation.type in self._calls:
                calls.append(operation)
        found = StaticSize(filled, largest, where, function)
        for operation in calls:
            found = found.and_then(self._of_call(operation))
        return found

    def _of_call(self, operation: Any) -> StaticSize:
        """The size of what an operation calls: of one branch, or of all functions that it names."""
        chooses = operation.type in _CHOICES
        shapes = [each.shape for each in operation.inputs[chooses:]]
        named = [operation.type, *functions_named(operation.node_def.attr.values(), strings=False)]
        sizes = [self._of_body(name, shapes) for name in named if name in self._expanding]
        if chooses:
            return max(sizes, key=lambda each: each.bound, default=StaticSize())
        total = StaticSize()
        for each in sizes:
            total = total.and_then(each)
        return total

    def _of_body(self, name: str, shapes: list[Any]) -> StaticSize:
        key = (name, *map(str, shapes))
        if key not in self._known:
            definition = self._definitions[name]
            fits = len(shapes) == len(definition.signature.input_arg)
            try:
                with self._graph.as_default():
                    inner = private.function_def_to_graph.function_def_to_graph(
                        definition, input_shapes=shapes if fits else None
                    )
            except (ValueError, TypeError, KeyError, tf.errors.OpError):  # what an import raises: a run shows it
                self._known[key] = StaticSize()
            else:
                self._known[key] = self.size(_needed(inner), name)
        return self._known[key]


def _needed(inner: Any) -> list[Any]:
    """The operations of a function that a call runs: those that its results need, and those with an effect."""
    waiting = [each.op for each in inner.outputs] + list(inner.control_outputs)
    waiting += [each for each in inner.get_operations() if each.op_def is not None and each.op_def.is_stateful]
    found = dict.fromkeys(waiting)
    while waiting:
        operation = waiting.pop()
        before = [*(each.op for each in operation.inputs), *operation.control_inputs]
        new = [each for each in before if each not in found]
        found |= dict.fromkeys(new)
        waiting += new
    return list(found)
