"""Variables and tables of TensorFlow 1 as those of TensorFlow 2.

A variable of TensorFlow 1 is by default a *reference*: an operation hands on the place itself, others change it there,
and whoever takes it as a value reads what it holds by then. TensorFlow 2 has resources: a handle, and operations that
read and change what is behind it. So where a graph hands on a reference, the handle of a ``tf.Variable`` takes its
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
    "REFERENCES",
    "TABLES",
    "TABLES_BY_HANDLE",
    "Reference",
    "changes_reference",
    "hands_on",
    "make_change",
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
class Reference:
    """A variable or a table as an operation hands it on.

    Attributes:
        handle: The resource.
        dtype: Of its value; None for a table, which has none.
        after: The operations that must have run before it is read: those that handed it on, and what they waited for.
    """

    handle: Any
    dtype: Any
    after: tuple[Any, ...] = ()

    def handed_on(self, operations: Iterable[Any]) -> Reference:
        """The same, read after these operations as well."""
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
        return tf.raw_ops.ReadVariableOp(resource=reference.handle, dtype=reference.dtype)


def hands_on(operation: str) -> bool:
    """Whether an operation of this type hands on a reference that it gets, and does nothing else with it."""
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
        The operation, and what it gives: a Reference where it hands one on.

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


def _count_up_to(reference: Reference, limit: int) -> tuple[Any, list[Any]]:
    """The value before it is raised by one. Not ResourceCountUpTo: a SavedModel with that does not load (2.21).

    At the limit the error is an InvalidArgumentError; in TensorFlow 1 it is an OutOfRangeError.
    """
    value = reads(reference)
    below = tf.debugging.Assert(value < limit, [f"Reached limit of {limit}"])
    with tf.control_dependencies([value, below]):
        made = tf.raw_ops.AssignAddVariableOp(resource=reference.handle, value=tf.ones([], reference.dtype))
    return made, [value]
