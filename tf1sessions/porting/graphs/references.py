"""Variables and tables of TensorFlow 1 as those of TensorFlow 2.

A variable of TensorFlow 1 is by default a *reference*: an operation passes on the place itself, others change it there,
and whoever takes it as a value reads what it holds by then. TensorFlow 2 has resources: a handle, and operations that
read and change what is behind it. So where a graph passes on a reference, the handle of a ``tf.Variable`` takes its
place, and each operation on references has a counterpart::

    VariableV2 "w" ──▶ Assign ──▶ Add              handle ──▶ AssignVariableOp
                                                      └─────▶ ReadVariableOp (after that) ──▶ Add

Tables of TensorFlow 1 are references to strings, with operations of their own; their counterparts end in V2.

A value is read where it is taken: after all that its taker waits for, and after the operations that handed it on. That
goes for what Identity gives as well: in TensorFlow 1 it is the variable's own memory, in which later changes show.
Moving averages that are taken after a step rely on it, because what they take is the Identity that each variable has.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any

from tf1sessions.errors import ConversionError
from tf1sessions.runtime import private, tf

__all__ = [
    "HANDLES",
    "PART_READS",
    "REFERENCES",
    "TABLES",
    "TABLES_BY_HANDLE",
    "Reference",
    "VariablePart",
    "changes_reference",
    "make_change",
    "passes_on",
    "read_part",
    "reads",
    "waits",
]

#: Operations that are a variable.
REFERENCES = {"Variable", "VariableV2"}
HANDLES = {"VarHandleOp"}

_KINDS_OF_TABLES = ("HashTable", "MutableHashTable", "MutableHashTableOfTensors", "MutableDenseHashTable")
#: Operations that are a table.
TABLES_BY_HANDLE = {f"{each}V2" for each in _KINDS_OF_TABLES}
TABLES = {*_KINDS_OF_TABLES, *TABLES_BY_HANDLE}

#: Operations on a part of a variable that only read it; of the others there is none for a part.
PART_READS = {
    *("ReadVariableOp", "VariableShape", "IsVariableInitialized", "VarIsInitializedOp"),
    *("Gather", "GatherV2", "ResourceGather", "ResourceGatherNd"),
}

#: Operations that only hand on a reference.
_HAND_ON = {"Identity", "RefIdentity"}

# Those whose counterpart is not called Resource<name>.
_COUNTERPARTS = {
    **{f"LookupTable{each}": f"LookupTable{each}V2" for each in "Find Insert Size Export Import".split()},
    "InitializeTable": "InitializeTableV2",
    "InitializeTableFromTextFile": "InitializeTableFromTextFileV2",
    "Assign": "AssignVariableOp",
    "AssignAdd": "AssignAddVariableOp",
    "AssignSub": "AssignSubVariableOp",
    "IsVariableInitialized": "VarIsInitializedOp",
}


@dataclasses.dataclass(frozen=True)
class VariablePart:
    """A part of a variable, for what was a variable of its own: one of those that a partitioner made.

    Attributes:
        variable: The whole, a ``tf.Variable``.
        begin: Where the part begins, for each dimension.
        size: How long it is.
    """

    variable: Any
    begin: tuple[int, ...]
    size: tuple[int, ...]

    @property
    def slices(self) -> tuple[slice, ...]:
        return tuple(slice(begin, begin + size) for begin, size in zip(self.begin, self.size, strict=True))


@dataclasses.dataclass(frozen=True)
class Reference:
    """A variable or a table as an operation hands it on.

    Attributes:
        handle: The resource.
        dtype: Of its value; None for a table, which has none.
        after: The operations that must have run before it is read: those that handed it on, and what they waited for.
        part: Which part of the variable it is; None for all of it.
    """

    handle: Any
    dtype: Any
    after: tuple[Any, ...] = ()
    part: VariablePart | None = None

    def handed_on(self, operations: Iterable[Any]) -> Reference:
        """Return this reference, read after these operations as well."""
        return dataclasses.replace(self, after=(*self.after, *operations))


def waits(reference: Reference) -> Any:
    """An operation that runs after what a reference is to be read after; None if there is nothing in this graph."""
    graph = tf.get_default_graph()
    after = [each for each in reference.after if each.graph is graph]
    if not after:
        return None
    with graph.control_dependencies(after):
        return tf.no_op()


def reads(reference: Reference) -> Any:
    """The value of a reference, read after what it is to be read after, as far as that is in the same graph."""
    graph = tf.get_default_graph()
    with graph.control_dependencies([each for each in reference.after if each.graph is graph]):
        value = tf.raw_ops.ReadVariableOp(resource=reference.handle, dtype=reference.dtype)
        return value if reference.part is None else tf.slice(value, reference.part.begin, reference.part.size)


def read_part(node: Any, values: Sequence[Any]) -> list[Any]:
    """Makes what reads a part of a variable, one of :data:`PART_READS`: by the handle of the whole."""
    reference = values[0]
    assert reference.part is not None
    if node.op == "VariableShape":
        return [tf.constant(reference.part.size, tf.as_dtype(node.attr["out_type"].type or tf.int32.as_datatype_enum))]
    if node.op in ("IsVariableInitialized", "VarIsInitializedOp"):
        return [tf.constant(True)]
    if node.op == "ReadVariableOp":
        return [reads(reference)]
    if node.op == "ResourceGatherNd":
        return [tf.gather_nd(reads(reference), values[1])]
    axis = tf.get_static_value(values[2]) if node.op == "GatherV2" else 0
    rows = reference.part.size[1:] == tuple(reference.part.variable.shape[1:])
    if axis == 0 and rows and not node.attr["batch_dims"].i:  # an embedding: only the rows that are taken are read
        graph = tf.get_default_graph()
        with graph.control_dependencies([each for each in reference.after if each.graph is graph]):
            indices = values[1] + tf.constant(reference.part.begin[0], values[1].dtype)
            return [tf.raw_ops.ResourceGather(resource=reference.handle, indices=indices, dtype=reference.dtype)]
    return [tf.gather(reads(reference), values[1], axis=axis, batch_dims=node.attr["batch_dims"].i)]


def passes_on(operation: str) -> bool:
    """Whether an operation of this type passes on a reference that it gets, and does nothing else with it."""
    return operation in _HAND_ON


def changes_reference(operation: str) -> bool:
    """Whether an operation of this type works on a reference that it gets."""
    known = private.op_def_registry.get(operation)
    return known is not None and any(argument.is_ref for argument in known.input_arg)


def make_change(node: Any, values: Sequence[Any], attributes: dict[str, Any], where: str) -> tuple[Any, list[Any]]:
    """Makes the counterpart of an operation that works on references.

    Args:
        node: The NodeDef.
        values: Its inputs; References where it takes them.
        attributes: Of the node, as far as they are kept.
        where: Where the graph comes from, for errors.

    Returns:
        The operation, and what it gives: a Reference where it passes one on.

    Raises:
        ConversionError: There is no such counterpart.
    """
    if node.op == "CountUpTo" and isinstance(values[0], Reference):
        return _count_up_to(values[0], node.attr["limit"].i)
    old = private.op_def_registry.get(node.op)
    name = _COUNTERPARTS.get(node.op, f"Resource{node.op}")
    new = private.op_def_registry.get(name)
    if new is None or len(new.input_arg) != len(values) or not isinstance(values[0], Reference):
        raise ConversionError(
            f"node {node.name!r} is a {node.op}, which works on a reference; TensorFlow 2 has no such operation "
            "on a resource",
            where=where,
            next_step="Convert a part of the graph that does without, by naming other outputs or inputs.",
            nodes=(node.name,),
        )
    taken = {attribute.name for attribute in new.attr}
    kept = {key: value for key, value in attributes.items() if key in taken or key.startswith("_")}
    if "dtype" in taken and "dtype" not in kept and "T" in attributes:
        kept["dtype"] = attributes["T"]
    inputs = [value.handle if isinstance(value, Reference) else value for value in values]
    made = tf.get_default_graph().create_op(name, inputs, [], name=node.name, attrs=kept)
    if any(argument.is_ref for argument in old.output_arg):
        return made, [values[0].handed_on([made])]
    return made, list(made.outputs)


def _end_of_sequence() -> Any:
    """A number that cannot be had: asking for it is an OutOfRangeError."""
    kinds: dict[str, Any] = {"output_types": [tf.int64], "output_shapes": [tf.TensorShape([])]}
    zero = tf.constant(0, tf.int64)
    nothing = tf.raw_ops.RangeDataset(start=zero, stop=zero, step=zero + 1, **kinds)
    iterator = tf.raw_ops.AnonymousIteratorV3(**kinds)
    with tf.control_dependencies([tf.raw_ops.MakeIterator(dataset=nothing, iterator=iterator)]):
        return tf.raw_ops.IteratorGetNext(iterator=iterator, **kinds)[0]


def _count_up_to(reference: Reference, limit: int) -> tuple[Any, list[Any]]:
    """The value before it is raised by one. Not ResourceCountUpTo: a SavedModel with that does not load (2.21).

    At the limit there is an OutOfRangeError, as in TensorFlow 1: that of a dataset that has ended.
    """
    value = reads(reference)
    below = tf.cond(value < limit, lambda: tf.constant(0, tf.int64), _end_of_sequence)
    with tf.control_dependencies([value, below]):
        made = tf.raw_ops.AssignAddVariableOp(resource=reference.handle, value=tf.ones([], reference.dtype))
    return made, [value]
