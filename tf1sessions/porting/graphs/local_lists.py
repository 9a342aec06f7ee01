"""TensorArrays and stacks of TensorFlow 1 as lists that are values.

In TensorFlow 1 both are state: a handle names an array in the memory of the step, and operations read and write it. The
flow of a TensorArray, a number without a meaning, orders them. Loops and conditions of TensorFlow 2 pass values on, and
gradients are made of values. So each array becomes a tensor list (the variant that TensorFlow 2's own TensorArray is),
of which there is one at a time: an operation that writes makes the next one. :class:`LocalLists` knows which operation
uses which array, so that loops and conditions can pass on the lists of what is used in them::

    TensorArrayV3           ──▶ TensorListReserve               StackV2     ──▶ EmptyTensorList
    TensorArrayWriteV3      ──▶ TensorListSetItem               StackPushV2 ──▶ TensorListPushBack
    TensorArrayGatherV3     ──▶ TensorListGather                StackPopV2  ──▶ TensorListPopBack
    TensorArrayGradV3       ──▶ a list beside the array's, whose writes add up

Stacks and gradient arrays are what TensorFlow 1's gradients of loops are made of, so a frozen training step goes
through here as well, and may be differentiated once more. Each iteration pushes on a dozen stacks and more, and the
loop of the gradient takes from each again. A list for each would be a loop variable for each; those that are used in
the same places share one, on which an iteration pushes all at its end, and from which one takes all at once.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, MutableMapping
from typing import Any, TypeAlias

from tf1sessions.errors import ConversionError
from tf1sessions.porting.graphs.structure import CONTROL, ENTER, EXIT, MERGE, NEXT, SWITCH, Frame, Key, Structure
from tf1sessions.runtime import tf

__all__ = ["ListId", "LocalLists", "flow"]

#: An array by the node that makes it; a gradient array by the array that it belongs to, and its source.
ListId: TypeAlias = "str | tuple[ListId, str]"

_ARRAY = "TensorArrayV3"
_GRADIENT = "TensorArrayGradV3"
_STACK = "StackV2"
#: Older versions of the same operations, in graphs before 1.0, work by strings; load() does not take them either.
_USES = {
    *(f"TensorArray{each}V3" for each in "Write Read Gather Scatter Size Concat Split Close Grad".split()),
    *(f"Stack{each}V2" for each in "Push Pop Close".split()),
}
_GIVE_FLOW = {f"TensorArray{each}V3" for each in "Write Scatter Split".split()}
_PASS_ON = {"Identity", *ENTER, *EXIT, *MERGE, *NEXT, *SWITCH}
_raw: Any = tf.raw_ops


@dataclasses.dataclass(frozen=True)
class _ListType:
    dtype: Any
    shape: Any  # of an element
    adds: bool  # whether what is written is added to what is there


class LocalLists:
    """The arrays and stacks of a graph; makes the operations that use them.

    An environment maps keys of tensors to tensors, and ``ListId``\\ s, as ``("list", id)``, to the lists of the moment.

    Raises:
        ConversionError: A handle cannot be followed back to what makes it.
    """

    def __init__(self, structure: Structure, where: str) -> None:
        self._structure = structure
        self._where = where
        self._used: dict[str, ListId] = {}
        self._users: dict[ListId, set[str]] = defaultdict(set)
        self._kinds: dict[ListId, _ListType] = {}
        self._pushed: dict[str, ListId] = {}
        self._popped: dict[str, ListId] = {}
        for name in structure.order:
            node = structure.nodes[name]
            if node.op == _ARRAY:
                shape = tf.TensorShape(node.attr["element_shape"].shape)
                self._used[name] = name
                self._kinds[name] = _ListType(tf.as_dtype(node.attr["dtype"].type), shape, adds=False)
            elif node.op == _STACK:
                dtype = tf.as_dtype(node.attr["elem_type"].type)
                dtype = tf.variant if dtype == tf.resource else dtype  # of arrays: the lists that they are
                self._used[name] = name
                self._kinds[name] = _ListType(dtype, tf.TensorShape(None), adds=False)
        self._find_stored_arrays()
        self._together: dict[str, tuple[str, ...]] = {}
        shared = self._find_shared()
        for name in structure.order:
            node = structure.nodes[name]
            if node.op in _USES:
                made = self._maker(name)
                if node.op == _GRADIENT:
                    kind = self._kinds[made]
                    made = (made, node.attr["source"].s.decode())
                    self._kinds[made] = _ListType(kind.dtype, kind.shape, adds=True)
                self._used[name] = made
        self._used = {name: shared.get(one, one) for name, one in self._used.items()}
        for name, one in self._used.items():
            for each in _with_owners(one):
                self._users[each].add(name)

    def __contains__(self, name: str) -> bool:
        """Whether a node makes or uses an array."""
        return name in self._used

    def used_by(self, names: Iterable[str]) -> list[ListId]:
        """The arrays that these nodes use and none of them makes, each after those that it belongs to."""
        inside = set(names)
        found: dict[ListId, None] = {}
        for name in sorted(inside.intersection(self._used)):
            for one in _with_owners(self._used[name]):
                if _maker_of(one) not in inside:
                    found.setdefault(one)
        return list(found)

    def lent_by(self, names: Iterable[str], frame: Frame) -> list[ListId]:
        """The arrays that one of these nodes makes in a frame, and that others than these use, too."""
        inside = set(names)
        found = dict.fromkeys(self._used[name] for name in sorted(inside.intersection(self._used)))
        return [
            one
            for one in found
            if (maker := _maker_of(one)) in inside
            and self._structure.frames[maker] == frame
            and not self._users[one] <= inside
        ]

    def is_handle(self, key: Key) -> bool:
        """Whether a tensor is an array's handle: here a number that can be passed on."""
        structure = self._structure
        while key[0] in structure.nodes and key[0] not in self._used:
            if not structure.inputs[key[0]]:
                return False
            key = structure.inputs[key[0]][0]
        return key[0] in structure.nodes and structure.nodes[key[0]].op in (_ARRAY, _STACK, _GRADIENT)

    def is_flow(self, key: Key) -> bool:
        """Whether a tensor is an array's flow, which nothing is computed of."""
        structure = self._structure
        while not structure.is_given(key) and structure.nodes[key[0]].op in _PASS_ON:
            key = structure.inputs[key[0]][0]
        if structure.is_given(key) or key[0] not in self._used:
            return False
        kind = structure.nodes[key[0]].op
        return key[1] == 1 if kind in (_ARRAY, _GRADIENT) else kind in _GIVE_FLOW

    def nothing(self, one: ListId) -> Any:
        """A list without elements, for where an array was not made."""
        kind = self._kinds[one]
        return _raw.TensorListReserve(element_shape=self._shape(kind.shape), num_elements=0, element_dtype=kind.dtype)

    def current(self, env: MutableMapping[Any, Any], one: ListId) -> Any:
        """The list of an array at this moment. A gradient array is there when it is first asked for."""
        found = env.get(("list", one))
        if found is None:
            if not isinstance(one, tuple):
                raise ConversionError(
                    f"{one!r} stores what a loop in a branch of a condition computes, and a gradient outside of that "
                    "branch takes it",
                    where=self._where,
                    next_step="Give what decides about the condition as True or False, where it is an input; or "
                    "convert the graph without its training step.",
                    nodes=(one,),
                )
            found = env["list", one] = _raw.TensorListReserve(
                element_shape=self._shape(self._kinds[one].shape),
                num_elements=_raw.TensorListLength(input_handle=self.current(env, one[0])),
                element_dtype=self._kinds[one].dtype,
            )
        return found

    def make(self, env: MutableMapping[Any, Any], name: str, values: list[Any]) -> None:
        """Makes the operations in place of a node, whose inputs have these values; notes its outputs in ``env``."""
        node = self._structure.nodes[name]
        one = self._used[name]
        kind = self._kinds[one]
        action = node.op.removeprefix("TensorArray").removeprefix("Stack").rstrip("23").removesuffix("V")
        if node.op == _ARRAY:
            env["list", one] = _raw.TensorListReserve(
                element_shape=self._shape(kind.shape), num_elements=values[0], element_dtype=kind.dtype
            )
            outputs = [flow(), flow()]
        elif node.op == _STACK:
            if ("list", one) not in env:  # another that shares it may have made it
                env["list", one] = _raw.EmptyTensorList(
                    element_shape=self._shape(kind.shape), max_num_elements=-1, element_dtype=kind.dtype
                )
            outputs = [flow()]
        elif action == "Grad":
            self.current(env, one)
            outputs = [flow(), flow()]
        elif action == "Close":
            outputs = []
        elif action in self._READS:
            outputs = self._READS[action](self, env, one, node, values)
        elif action in self._WRITES:
            env["list", one], outputs = self._WRITES[action](self, env, one, node, values)
        else:
            raise ConversionError(
                f"node {name!r} is a {node.op}, for which there is no list operation",
                where=self._where,
                next_step="Convert a part of the graph that does without.",
                nodes=(name,),
            )
        for index, output in enumerate(outputs):
            env[name, index] = output
        env[name, CONTROL] = outputs[0].op if outputs else None

    # -- what reads ------------------------------------------------------------------------------------------------

    def _read(self, env: Any, one: ListId, node: Any, values: list[Any]) -> list[Any]:
        kind = self._kinds[one]
        shape = self._element_shape(env, one, kind.shape)
        return [
            _raw.TensorListGetItem(
                input_handle=self.current(env, one), index=values[1], element_shape=shape, element_dtype=kind.dtype
            )
        ]

    def _gather(self, env: Any, one: ListId, node: Any, values: list[Any]) -> list[Any]:
        kind = self._kinds[one]
        shape = kind.shape.merge_with(tf.TensorShape(node.attr["element_shape"].shape))
        # The gradient of TensorListGather keeps one of the gradients of an element that is there twice (2.21).
        indices, again = values[1], None
        if indices.op.type != "Range":
            indices, again = tf.unique(indices)
        items = _raw.TensorListGather(
            input_handle=self.current(env, one),
            indices=indices,
            element_shape=self._element_shape(env, one, shape),
            element_dtype=kind.dtype,
        )
        return [items if again is None else tf.gather(items, again)]

    def _concat(self, env: Any, one: ListId, node: Any, values: list[Any]) -> list[Any]:
        kind = self._kinds[one]
        rows = tf.TensorShape(node.attr["element_shape_except0"].shape)
        shape = kind.shape if rows.rank is None else kind.shape.merge_with(tf.TensorShape([None]).concatenate(rows))
        return list(
            _raw.TensorListConcatV2(
                input_handle=self.current(env, one),
                element_shape=self._shape(shape),
                leading_dims=tf.constant([], tf.int64),
                element_dtype=kind.dtype,
            )
        )

    def _size(self, env: Any, one: ListId, node: Any, values: list[Any]) -> list[Any]:
        return [_raw.TensorListLength(input_handle=self.current(env, one))]

    # -- what writes -----------------------------------------------------------------------------------------------

    def _write(self, env: Any, one: ListId, node: Any, values: list[Any]) -> tuple[Any, list[Any]]:
        before, kind = self.current(env, one), self._kinds[one]
        _, index, item = values[:3]
        if kind.adds:
            item += _raw.TensorListGetItem(
                input_handle=before, index=index, element_shape=tf.shape(item), element_dtype=kind.dtype
            )
        written = _raw.TensorListSetItem(
            input_handle=before, index=index, item=item, resize_if_index_out_of_bounds=True
        )
        return written, [flow()]

    def _scatter(self, env: Any, one: ListId, node: Any, values: list[Any]) -> tuple[Any, list[Any]]:
        before, kind = self.current(env, one), self._kinds[one]
        _, indices, items = values[:3]
        if kind.adds:
            items += _raw.TensorListGather(
                input_handle=before, indices=indices, element_shape=tf.shape(items)[1:], element_dtype=kind.dtype
            )
        return _raw.TensorListScatterIntoExistingList(input_handle=before, tensor=items, indices=indices), [flow()]

    def _split(self, env: Any, one: ListId, node: Any, values: list[Any]) -> tuple[Any, list[Any]]:
        kind = self._kinds[one]
        _, value, lengths = values[:3]
        parts = _raw.TensorListSplit(tensor=value, element_shape=self._shape(kind.shape), lengths=lengths)
        return parts, [flow()]

    def _push(self, env: Any, one: ListId, node: Any, values: list[Any]) -> tuple[Any, list[Any]]:
        if node.name in self._pushed or node.name in self._together:  # at the end, with all that is written
            env["stored"] = (*env.get("stored", ()), node.name)
            env["pushed", node.name] = values[1]
            return self.current(env, one), [values[1]]
        return _raw.TensorListPushBack(input_handle=self.current(env, one), tensor=values[1]), [values[1]]

    def _pop(self, env: Any, one: ListId, node: Any, values: list[Any]) -> tuple[Any, list[Any]]:
        kind, rest = self._kinds[one], self.current(env, one)
        if ("popped", node.name) not in env:
            for name in reversed(self._together.get(node.name, (node.name,))):
                rest, env["popped", name] = _raw.TensorListPopBack(
                    input_handle=rest, element_shape=self._shape(kind.shape), element_dtype=kind.dtype
                )
        item = env["popped", node.name]
        if node.name not in self._popped:
            return rest, [item]
        env.setdefault(("list", self._popped[node.name]), item)
        return rest, [flow()]

    _READS: dict[str, Callable[..., list[Any]]] = {
        "Read": _read,
        "Gather": _gather,
        "Concat": _concat,
        "Size": _size,
    }
    _WRITES: dict[str, Callable[..., tuple[Any, list[Any]]]] = {
        "Write": _write,
        "Scatter": _scatter,
        "Split": _split,
        "Push": _push,
        "Pop": _pop,
    }

    # -- arrays on stacks ------------------------------------------------------------------------------------------

    def _find_stored_arrays(self) -> None:
        """A loop whose body makes an array stores it for its gradient; there, what is taken back is an array itself."""
        structure = self._structure
        stored: dict[ListId, ListId] = {}
        for name in structure.order:
            if structure.nodes[name].op == "StackPushV2" and self._kinds[self._maker(name)].dtype == tf.variant:
                stored[self._maker(name)] = self._pushed[name] = self._maker(name, 1)
        first: dict[Any, ListId] = {}
        for name in structure.order:
            if structure.nodes[name].op == "StackPopV2" and (array := stored.get(self._maker(name))) is not None:
                self._popped[name] = first.setdefault((array, structure.frames[name]), name)
                self._kinds[name] = self._kinds[array]

    def store(self, env: MutableMapping[Any, Any]) -> None:
        """Pushes what is stored in a context: arrays as they are at its end, and what goes on a list that is shared."""
        stored = sorted(env.get("stored", ()))
        for name in stored:
            assert set(self._together.get(name, ())) <= {*stored}, name
            stack, array = self._used[name], self._pushed.get(name)
            env["list", stack] = _raw.TensorListPushBack(
                input_handle=self.current(env, stack),
                tensor=env["pushed", name] if array is None else self.current(env, array),
            )

    def _find_shared(self) -> dict[ListId, ListId]:
        """Stacks -> the one whose list they use, for those that are made, pushed on and taken from in the same places.

        In each of them once whenever that part of a loop runs: so what the last iteration has pushed on all of them is
        what the first one that pops takes from all of them.
        """
        structure = self._structure
        uses: dict[ListId, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        for name in structure.order:
            if (kind := structure.nodes[name].op) in ("StackPushV2", "StackPopV2"):
                uses[self._maker(name)][kind].append(name)
        alike: dict[Any, list[tuple[str, str, str]]] = defaultdict(list)
        for stack, by_kind in uses.items():
            pushes, pops = by_kind["StackPushV2"], by_kind["StackPopV2"]
            if len(pushes) == len(pops) == 1 and self._kinds[stack].dtype != tf.variant:
                assert isinstance(stack, str)
                places = tuple(structure.context((name, CONTROL)) for name in (stack, *pushes, *pops))
                conditions = [structure.nodes[each].op for _, some in places[1:] for (each, _), _ in some]
                if all(frame for frame, _ in places[1:]) and set(conditions) <= {"LoopCond"}:
                    alike[self._kinds[stack].dtype, places].append((pushes[0], pops[0], stack))
        shared: dict[ListId, ListId] = {}
        for group in alike.values():
            group.sort()  # by what pushes: the order in which they are pushed
            push, pop, made = zip(*group, strict=True)
            self._together |= dict.fromkeys(push, push) | dict.fromkeys(pop, pop)
            shared |= dict.fromkeys(made, made[0])
        return shared

    # -- inside ----------------------------------------------------------------------------------------------------

    def _maker(self, name: str, index: int = 0) -> ListId:
        """Return what the handle that a node takes was made by."""
        structure = self._structure
        source = structure.inputs[name][index][0]
        while source in structure.nodes:
            if source in self._popped:
                return self._popped[source]
            if source in self._used:
                return self._used[source]
            if not structure.inputs[source]:
                break
            source = structure.inputs[source][0][0]
        raise ConversionError(
            f"what array or stack node {name!r} works on cannot be determined: its handle comes from {source!r}",
            where=self._where,
            next_step="Convert the part of the graph that makes the array as well.",
            nodes=(name,),
        )

    def _element_shape(self, env: Any, one: ListId, shape: Any) -> Any:
        """The shape of an element, as an argument. What was never written in a gradient array reads as zeros of it."""
        if not self._kinds[one].adds or shape.is_fully_defined():
            return self._shape(shape)
        assert isinstance(one, tuple)
        kind = self._kinds[one[0]]
        first = _raw.TensorListGetItem(
            input_handle=self.current(env, one[0]), index=0, element_shape=self._shape(shape), element_dtype=kind.dtype
        )
        return tf.shape(first)

    @staticmethod
    def _shape(shape: Any) -> Any:
        dims = -1 if shape.rank is None else [-1 if dim is None else dim for dim in shape.as_list()]
        return tf.constant(dims, tf.int32)


def flow() -> Any:
    """In place of a handle or a flow: something that operations around the array can pass on, and add up."""
    return tf.constant(0.0)


def _with_owners(one: ListId) -> Iterator[ListId]:
    if isinstance(one, tuple):
        yield from _with_owners(one[0])
    yield one


def _maker_of(one: ListId) -> str:
    while isinstance(one, tuple):
        one = one[0]
    return one
