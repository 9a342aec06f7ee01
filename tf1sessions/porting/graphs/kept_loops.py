"""Loops of TensorFlow 1 as they are, for calls that nothing differentiates.

A loop of TensorFlow 2 can be differentiated and saved, and costs more: TensorFlow runs it by the operations that
TensorFlow 1 had (Enter, Merge, Switch, NextIteration, Exit), but with a counter and a limit of its own, and passes on
in each iteration what never changes. So where no gradient can be asked for, a loop is made of the operations that the
graph has, in the frames that it had, its arrays and stacks as the state that they were::

    outside ──▶ Enter ──▶ Merge ──▶ Switch ──▶ Exit ──▶ outside
                            ▲         └──▶ body ──▶ NextIteration ─┐
                            └──────────────────────────────────────┘
    constants, values of variables ──▶ Enter(is_constant) ──▶ body

Where the shapes of all that goes in are known, what follows from them is not computed in each iteration (known.py).

All loops of a graph are kept, or none, as they may share arrays. They are where the order of TensorFlow 1 is enough:
where nothing in a loop changes a variable or a table, prints or calls Python. What reads a variable in a loop takes its
value from before the loop.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, MutableMapping, Sequence
from typing import Any

from tf1sessions.errors import ConversionError
from tf1sessions.porting.graphs.former import COMPOSED, current_name
from tf1sessions.porting.graphs.functions import Functions
from tf1sessions.porting.graphs.known import KNOWN, Known, Stacks, Value
from tf1sessions.porting.graphs.local_lists import LocalLists
from tf1sessions.porting.graphs.references import HANDLES, Reference, reads
from tf1sessions.porting.graphs.structure import (
    CONTROL,
    ENTER,
    EXIT,
    MERGE,
    NEXT,
    NOT_KEPT,
    SWITCH,
    Frame,
    Key,
    Structure,
    key_of,
)
from tf1sessions.runtime import private, tf

__all__ = ["KeptLoops"]

#: Stateful operations whose order changes nothing, or is left to chance by TensorFlow 2 as well; and all Random...
_IN_ANY_ORDER = {"Assert", "Multinomial", "ParameterizedTruncatedNormal", "TruncatedNormal"}
#: What reads a variable by its handle -> what gives the same of its value.
_OF_VALUE = {"ReadVariableOp": "Identity", "ResourceGather": "GatherV2"}
_HAND_ON = {"Identity", *SWITCH, *ENTER}


class KeptLoops:
    """The loops of a graph, and whether they can be kept.

    Args:
        structure: Of the graph.
        lists: Its arrays and stacks.
        functions: Those that come with it.

    Attributes:
        possible: Whether there are loops, and all can be kept.
    """

    def __init__(self, structure: Structure, lists: LocalLists, functions: Functions) -> None:
        self._structure = structure
        self._lists = lists
        self._functions = functions
        self._members: dict[Frame, dict[str, None]] = defaultdict(dict)  # by the outermost frame; in an order to make
        self._inputs: dict[str, tuple[Key, ...]] = {}  # as the nodes have them
        for name in structure.order:
            if frame := structure.frames[name]:
                self._members[frame[:1]][name] = None
                self._inputs[name] = tuple(map(key_of, structure.nodes[name].input))
        self._handles: set[Key] = set()  # in loops: values in their places
        self.possible = bool(self._members) and self._can_be_kept()
        self._stacks = Stacks(structure, list(self._inputs) if self.possible else ())

    def needs(self, exit_name: str) -> list[Key]:
        """Return what must be there before the loop that a node leaves, with those inside of it, is made."""
        members = self._members[self._structure.frames[exit_name][:1]]
        found = [key for name in members for key in self._inputs[name] if self._is_outside(key)]
        return [key for key in dict.fromkeys(found) if key[1] != CONTROL or key[0] in self._structure.nodes]

    def make(self, env: MutableMapping[Any, Any], exit_name: str, create: Callable[..., Any]) -> None:
        """Makes a loop with those inside of it; notes the outputs of all its nodes in ``env``.

        Args:
            env: Has what the loop needs; and :data:`KNOWN`, if shapes that are known are to be made use of.
            exit_name: A node that leaves it.
            create: Makes an operation, of its type, inputs, name and attributes.

        Raises:
            ConversionError: With shapes that are known: what a loop passes on to its next iteration has, or may have,
                another shape than what it begins with.
        """
        with tf.control_dependencies(None):
            making = _Making(self._structure, self._stacks, self._handles, env, create)
            for name in self._members[self._structure.frames[exit_name][:1]]:
                making.add(name, self._inputs[name])
            making.close()

    # -- whether they can be kept ----------------------------------------------------------------------------------

    def _can_be_kept(self) -> bool:
        structure = self._structure
        if any(loop.outside for frame, loop in structure.loops.items() if len(frame) == 1):
            return False
        return all([self._may_be_inside(name) for name in self._inputs])

    def _may_be_inside(self, name: str) -> bool:
        structure = self._structure
        node = structure.nodes[name]
        if node.op in EXIT | MERGE | NEXT and any(key in self._handles for key in self._inputs[name]):
            return False
        begins = self._inputs[name][:1]
        if node.op in ENTER and begins and self._is_outside(begins[0]) and not structure.is_given(begins[0]):
            if structure.nodes[begins[0][0]].op in HANDLES:
                self._handles.add((name, 0))
                return bool(node.op == "Enter")
        elif begins and begins[0] in self._handles:
            if node.op in _HAND_ON:
                self._handles |= {(name, 0), (name, 1)}
                return True
            return node.op in _OF_VALUE and not ("batch_dims" in node.attr and node.attr["batch_dims"].i)
        if name in self._lists:
            return True
        definition = private.op_def_registry.get(current_name(node.op))
        if definition is None or node.op in COMPOSED or self._functions.is_inlined(node.op):
            return False
        if any(argument.is_ref for argument in definition.input_arg) or any(
            "func" in each.type for each in definition.attr
        ):
            return False
        return bool(not definition.is_stateful or node.op in _IN_ANY_ORDER or node.op.startswith("Random"))

    def _is_outside(self, key: Key) -> bool:
        return _is_outside(self._structure, key)


def _is_outside(structure: Structure, key: Key) -> bool:
    return structure.is_given(key) or not structure.context(key)[0]


class _InLoop:
    """Marks operations as those of a loop: TensorFlow must not put them in an order with those outside of it."""

    outer_context = None

    def IsWhileContext(self) -> bool:
        return True


class _Making:
    """A loop while it is made."""

    def __init__(
        self,
        structure: Structure,
        stacks: Stacks,
        handles: Collection[Key],
        env: MutableMapping[Any, Any],
        create: Callable[..., Any],
    ) -> None:
        held = env.get(KNOWN)
        self._known = None if held is None else Known(stacks, held, self._made_inside, self._made_outside)
        self._structure = structure
        self._handles = handles
        self._env = env
        self._create = create
        self._graph = tf.get_default_graph()
        self._inside: list[Any] = []  # operations
        self._entered: dict[tuple[Any, Frame], Any] = {}
        self._there: dict[Any, Any] = {}
        self._back: list[tuple[Any, int, Key, Any]] = []

    def add(self, name: str, inputs: Sequence[Key]) -> None:
        structure, env = self._structure, self._env
        node = structure.nodes[name]
        around = structure.frames[name][:-1] if node.op in ENTER else structure.frames[name]
        attributes = {
            key: value for key, value in node.attr.items() if key not in NOT_KEPT and value.WhichOneof("value")
        }
        controls = [
            operation
            for key in inputs
            if key[1] == CONTROL
            and (operation := env.get(key)) is not None
            and not (around and _is_outside(structure, key))
        ]
        if self._known is not None and node.op not in ENTER | MERGE and self._find(name, node, inputs, controls):
            return
        values: list[Any] = []
        for key in inputs:
            if key[1] == CONTROL:
                continue
            if structure.goes_back(key, name):
                shape = values[0].shape if self._known is not None and values else None
                values.append(tf.raw_ops.Placeholder(dtype=node.attr["T"].type, shape=shape))  # until it is there
            elif _is_outside(structure, key):
                values.append(self._enter(self._value(key), around))
            else:
                values.append(self._tensor(key))
        kind = node.op
        if (name, 0) in self._handles or inputs[0] in self._handles:  # of its value, not of the handle
            kind = _OF_VALUE.get(kind, kind)
            if kind == "GatherV2":
                values.append(self._enter(tf.constant(0), around))
            kept = {"is_constant", "frame_name", "parallel_iterations"} if kind == "Enter" else set()
            attributes = {key: value for key, value in attributes.items() if key in kept}
        with self._graph.control_dependencies(controls):
            made = self._create(kind, values, name, attributes)
        for index, output in enumerate(made.outputs):
            env[name, index] = output
        env[name, CONTROL] = made
        if self._known is not None:
            self._known.made(name, node, made.inputs, made.outputs)
        self._back += [
            (made, index, key, values[index].shape)
            for index, key in enumerate(inputs)
            if structure.goes_back(key, name)
        ]
        if node.op not in EXIT:
            self._inside.append(made)

    def close(self) -> None:
        """Gives the beginnings what comes back from each iteration."""
        for merge, index, key, shape in self._back:
            back = self._tensor(key)
            if not _as_supposed(back.shape, shape):
                raise ConversionError(
                    f"{merge.name!r} begins with the shape {shape}, and gets {back.shape} from the iteration before",
                    where="a loop with shapes that are known",
                    next_step="Make it without.",
                )
            merge._update_input(index, back)
        for operation in self._inside:
            operation._set_control_flow_context(_IN_LOOP)

    # -- what is known

    def _find(self, name: str, node: Any, inputs: Sequence[Key], controls: Sequence[Any]) -> bool:
        """Whether a node need not be made; notes what it gives."""
        assert self._known is not None
        data = [key for key in inputs if key[1] != CONTROL]
        if (name, 0) in self._handles or not data or data[0] in self._handles:
            return False
        found = self._known.find(name, node, data, controls)
        if found is None:
            return False
        for key, each in found.items():
            if not isinstance(each, Value):
                self._env[key] = each
            self._env[name, CONTROL] = self._operation(each.after[0]) if isinstance(each, Value) else each.op
        return True

    def _operation(self, after: Any) -> Any:
        """Return what to wait for: an operation itself; for one of two tensors, one that is there only if that is."""
        if not isinstance(after, tf.Tensor):
            return after
        if after.ref() not in self._there:
            self._there[after.ref()] = tf.identity(after).op
            self._inside.append(self._there[after.ref()])
        return self._there[after.ref()]

    def _made_inside(self, key: Key) -> Any:
        return None if _is_outside(self._structure, key) else self._env.get(key)

    def _made_outside(self, key: Key) -> Any:
        value = self._env.get(key) if _is_outside(self._structure, key) else None
        return None if isinstance(value, Reference) else value

    def _tensor(self, key: Key) -> Any:
        """A tensor in the loop. What is known of it becomes a constant, the first time that something takes it."""
        value = None if self._known is None or key in self._env else self._known.value(key)
        if value is not None:
            with self._graph.control_dependencies([self._operation(each) for each in value.after]):
                self._env[key] = tf.constant(value.numbers)
            self._inside.append(self._env[key].op)
        return self._env[key]

    def _value(self, key: Key) -> Any:
        """A tensor from outside; of a variable what it holds before the loop."""
        value, node = self._env[key], self._structure.nodes.get(key[0])
        if not isinstance(value, Reference) and node is not None and node.op in HANDLES:
            value = Reference(value, tf.as_dtype(node.attr["dtype"].type))
        return reads(value) if isinstance(value, Reference) else value

    def _enter(self, value: Any, frame: Frame) -> Any:
        """A tensor from outside, in a frame: the same in all iterations."""
        if not frame:
            return value
        place = (value.ref(), frame)
        if place not in self._entered:
            outer = self._enter(value, frame[:-1])
            self._entered[place] = tf.raw_ops.Enter(data=outer, frame_name=frame[-1], is_constant=True)
            self._inside.append(self._entered[place].op)
        return self._entered[place]


def _as_supposed(shape: Any, supposed: Any) -> bool:
    """Whether a shape is known to be the supposed one, as far as that says something."""
    if supposed.rank is None:
        return True
    if shape.rank != supposed.rank:
        return False
    return all(other in (None, one) for one, other in zip(shape.as_list(), supposed.as_list(), strict=True))


_IN_LOOP = _InLoop()
