"""The shapes of a graph's tensors for one row, by TensorFlow's own inference on a harmless copy of it.

::

    what the outputs need ─▶ less what is unknown ─▶ risky nodes become placeholders ─▶ first sizes become 1 ─▶ import
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from tf1sessions.errors import ModelFileError
from tf1sessions.models import interface
from tf1sessions.models.files import Artifact
from tf1sessions.models.flops import Shape
from tf1sessions.models.graph_index import GraphIndex, node_of
from tf1sessions.models.risks import risky_nodes
from tf1sessions.models.static_sizes import StaticSize, check_shapes, static_size
from tf1sessions.models.weights import constants_to_variables
from tf1sessions.runtime import tf

__all__ = ["Shapes", "dims", "infer", "recorded_shape"]

_PLACEHOLDERS = frozenset({"Placeholder", "PlaceholderV2", "PlaceholderWithDefault"})
#: Before this version of graphs a placeholder whose sizes were not all known was written as one of a scalar.
_SCALARS_ARE_SCALARS = 24


def recorded_shape(node: Any, graph_index: GraphIndex) -> Shape:
    """The shape that a placeholder names; None for other nodes."""
    if node.op not in _PLACEHOLDERS:
        return None
    shape = dims(node.attr["shape"].shape) if "shape" in node.attr else None
    if shape == () and node.op == "Placeholder" and graph_index.graph_def.versions.producer < _SCALARS_ARE_SCALARS:
        shape = None
    recorded = node.attr["_output_shapes"].list.shape if "_output_shapes" in node.attr else ()
    return dims(recorded[0]) if shape is None and recorded else shape


def dims(shape: Any) -> Shape:
    """The sizes of a TensorShapeProto."""
    return None if shape.unknown_rank else tuple(dim.size if dim.size >= 0 else None for dim in shape.dim)


@dataclasses.dataclass(frozen=True)
class Shapes:
    """The shapes of the graph's tensors, as far as they are known. ``size`` is what they ask for."""

    by_node: Mapping[str, tuple[Shape, ...]]
    source: str
    one_row: bool
    notes: tuple[str, ...] = ()
    size: StaticSize | None = None

    def of(self, tensor: str) -> Shape:
        """The shape of ``"node:1"``, or ``"node"``."""
        name = node_of(tensor)
        index = int(tensor[len(name) + 1 :] or 0)
        shapes = self.by_node.get(name, ())
        return shapes[index] if index < len(shapes) else None

    def open(self, name: str, index: int) -> Shape:
        """The shape of an output of the model. Its first size is a row's where that was set to one, so it is open."""
        shape = self.of(f"{name}:{index}")
        return (None, *shape[1:]) if shape and self.one_row and shape[0] == 1 else shape


def infer(
    artifact: Artifact,
    graph_index: GraphIndex,
    roots: Iterable[str],
    unknown: Mapping[str, Iterable[str]],
    chosen: interface.Interface,
    problem: ModelFileError | None,
) -> Shapes:
    """Shapes by TensorFlow's own inference on what the outputs need, for one row; else those that the file has.

    Args:
        artifact: Where the bytes of large constants are.
        graph_index: The graph, as it would be loaded.
        roots: The tensors that are given; where there are none, the whole graph is taken.
        unknown: Operation -> nodes that this TensorFlow does not have. What needs them is left out.
        chosen: The inputs, whose open first size is a row's.
        problem: Why TensorFlow must not see the graph, if so.
    """
    recorded = {
        node.name: tuple(map(dims, node.attr["_output_shapes"].list.shape)) for node in graph_index.graph_def.node
    }
    if problem is not None:
        return Shapes(recorded, "the file", False, (f"load() would refuse it: {problem}",))
    wanted = graph_index.ancestors(map(node_of, roots)) or set(graph_index.nodes)
    wanted |= {node_of(spec.tensor) for spec in chosen.inputs.values()} & graph_index.nodes.keys()
    wanted -= _needing(graph_index, (name for names in unknown.values() for name in names))
    try:
        try:
            graph, one_row = _imported(*_for_one_row(artifact, graph_index, wanted, chosen))
        except ValueError:  # sizes that are written elsewhere in the graph do not agree with one row
            graph, one_row = _imported(*_for_one_row(artifact, graph_index, wanted, None))
    except (ValueError, TypeError, LookupError, tf.errors.OpError) as error:  # what an import raises
        reason = str(error).partition("\n")[0]
        note = f"shapes are those that the file has, because TensorFlow cannot import the graph as it is: {reason}"
        return Shapes(recorded, "the file", False, (note,))
    found = {}
    for operation in graph.get_operations():
        shapes = []
        for index, output in enumerate(operation.outputs):
            shape = output.shape
            known = recorded.get(operation.name, ())
            shapes.append(
                tuple(shape.as_list()) if shape.rank is not None else known[index] if index < len(known) else None
            )
        found[operation.name] = tuple(shapes)
    size = static_size(graph, found, graph_index.graph_def.library)
    return Shapes(recorded | found, "shape inference", one_row, size=size)


def _imported(part: Any, one_row: bool) -> tuple[Any, bool]:
    """The graph of a GraphDef, and what was said of it."""
    graph = tf.Graph()
    with graph.as_default():
        tf.import_graph_def(part, name="")
    check_shapes(graph)
    return graph, one_row


def _needing(graph_index: GraphIndex, names: Iterable[str]) -> set[str]:
    """Return these nodes, and all that need them, be it by a control input."""
    found = {name for name in names if name in graph_index.nodes}
    waiting = list(found)
    for name in waiting:
        new = {consumer.name for consumer, _ in graph_index.consumers[name]} - found
        found |= new
        waiting += new
    return found


def _for_one_row(
    artifact: Artifact, graph_index: GraphIndex, needed: Collection[str], chosen: interface.Interface | None
) -> tuple[Any, bool]:
    """The needed part of a graph, its large constants as variables, the open first size of each input set to one.

    Without ``chosen`` the sizes of the inputs stay as they are. TensorFlow runs what it can of a graph to infer shapes,
    functions of constants too. So what is risky is a placeholder here, one for each of its outputs.
    """
    part = tf.GraphDef()
    part.versions.CopyFrom(graph_index.graph_def.versions)
    part.library.CopyFrom(graph_index.graph_def.library)
    inputs = {} if chosen is None else {node_of(spec.tensor): spec for spec in chosen.inputs.values()}
    results = {  # of functions
        function.signature.name: [tf.as_dtype(each.type or tf.float32) for each in function.signature.output_arg]
        for function in part.library.function
    }
    avoided = risky_nodes(graph_index.graph_def, graph_index.graph_def.library) & set(needed)
    one_row = False
    for original in graph_index.graph_def.node:
        if original.name not in needed:
            continue
        if original.name in avoided:
            types = results.get(original.op) or [each or tf.float32 for each in interface.output_types(original)]
            for index, dtype in enumerate(types or [tf.float32]):  # one at least, that others may wait for
                _make_placeholder(part.node.add(name=_stand_in(original.name, index)), dtype, None)
            continue
        node = part.node.add()
        node.CopyFrom(original)
        for attr in ("_output_shapes", "_class"):  # says what this asks for; names nodes that are not here
            node.attr.pop(attr, None)
        node.device = ""
        for index, entry in enumerate(node.input):
            name = node_of(entry)
            if name in avoided and not entry.startswith("^"):
                node.input[index] = _stand_in(name, int(entry[len(name) + 1 :] or 0))
        if node.name in inputs:
            shape = _first_size_open(node, inputs[node.name], graph_index)
            if shape is not None:
                dtype = tf.as_dtype(node.attr["dtype"].type)
                node.Clear()
                node.name = original.name
                _make_placeholder(node, dtype, [1, *shape[1:]])
                one_row = True
    return constants_to_variables(part, artifact.contents)[0], one_row


def _stand_in(name: str, index: int) -> str:
    """Return what stands for an output of a node: the first has the name of the node."""
    return f"{name}/output_{index}" if index else name


def _first_size_open(node: Any, spec: interface.TensorSpec, graph_index: GraphIndex) -> Shape:
    """The shape of an input whose first size is open; None for others."""
    is_known = spec.shape is not None and spec.shape.rank is not None
    shape = tuple(spec.shape.as_list()) if is_known else recorded_shape(node, graph_index)
    return shape if shape and shape[0] is None and node.op in _PLACEHOLDERS else None


def _make_placeholder(node: Any, dtype: Any, shape: Sequence[int | None] | None) -> None:
    """Makes a node that has only its name a placeholder of this dtype and shape."""
    node.op = "Placeholder"
    node.attr["dtype"].type = dtype.as_datatype_enum
    proto = node.attr["shape"].shape
    proto.unknown_rank = shape is None
    for size in shape or ():
        proto.dim.add().size = -1 if size is None else size
