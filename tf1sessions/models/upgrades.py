"""What an old graph needs so that today's TensorFlow takes it: one table, :data:`UPGRADES`.

::

    upgrade(graph_def) ──▶ each row: find its nodes ──▶ (the first hit copies the graph) ──▶ change them ──▶ a note
    unknown_operations(graph_def) ──▶ what is left that this TensorFlow cannot run
    importing(import_graph_def)   ──▶ tries again without the recorded shapes that TensorFlow found inconsistent

Operations of TensorFlow's core are kept compatible by TensorFlow itself: of the 1,393 that 1.15.5 had, 33 are gone from
2.21 and none has lost an attribute. So the rows are about the rest: operations of `tf.contrib` and the few of the core
that are gone, or are there and no longer run; graphs that were rewritten for other hardware; attributes that newer
versions wrote; and graphs that were cut or frozen by tools that left loose ends. Every row sees the functions of a
graph too. Operations that are gone and have no row are in `lost.py`.

Nothing here trusts the graph: a node that is not as its operation demands is left for TensorFlow to refuse.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from tf1sessions.models.compositions import COMPOSED, composition
from tf1sessions.models.wiring import node_of
from tf1sessions.runtime import private, tf

__all__ = ["UPGRADES", "WAS", "Upgrade", "importing", "unknown_operations", "upgrade", "without_output_shapes"]


@dataclasses.dataclass(frozen=True)
class Place:
    """A node, and the function whose body it is in; None for the graph itself."""

    node: Any
    function: Any = None

    @property
    def name(self) -> str:
        inside = "" if self.function is None else f" in the function {self.function.signature.name}"
        return f"{self.node.name}{inside}"


@dataclasses.dataclass(frozen=True)
class Upgrade:
    """A row of the table.

    Attributes:
        what: What is done, as it is told to the user.
        since: Which graphs need it, and why.
        find: The nodes that need it; how they are known.
        change: What is done to one of them.
        hardware: Whether it is about machines that are not here. A script's own import keeps what it says about them.
    """

    what: str
    since: str
    find: Callable[[_Graph], Iterable[Place]]
    change: Callable[[_Graph, Place], None]
    hardware: bool = False


def upgrade(graph_def: Any, *, hardware: bool = True) -> tuple[Any, tuple[str, ...]]:
    """Makes a graph one that this TensorFlow takes, as far as the table knows how.

    Args:
        graph_def: A GraphDef. It is not changed.
        hardware: Whether devices that are written into the graph give way to whatever there is here.

    Returns:
        The GraphDef, the same object where nothing was to be done, and what was done, in sentences that name nodes.
    """
    graph = _Graph(graph_def)
    notes = []
    for row in UPGRADES:
        if row.hardware and not hardware:
            continue
        if not any(True for _ in row.find(graph)):
            continue
        if graph.graph_def is graph_def:
            copy = type(graph_def)()
            copy.CopyFrom(graph_def)
            graph = _Graph(copy)
        found = list(row.find(graph))
        for place in found:
            op = place.node.op
            row.change(graph, place)
            if place.function is not None and place.node.op != op:
                _rename_output(place)
        graph.forget()
        notes.append(f"{row.what}: {_listed([place.name for place in found])}")
    return graph.graph_def, tuple(notes)


def unknown_operations(graph_def: Any) -> dict[str, list[str]]:
    """The operations that this TensorFlow cannot run, because it lacks them or lost their kernels.

    Returns:
        Operation -> the nodes that need it: those of the graph by name, with the nodes that call a function that needs
        it, and after them those of functions, told as ``"node in the function f"``.
    """
    graph = _Graph(graph_def)
    missing = {op for op in graph.places if not _runs(op)}
    if not missing:
        return {}
    calls = [(node.name, called) for node in graph_def.node if (called := set(graph.called(node)))]
    reachable = _closure((name for _, called in calls for name in called), lambda name: graph.calls[name])
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
    for place in _Graph(copy).places.get(op, ()):
        place.node.attr.pop("_output_shapes", None)
    return copy


_INCONSISTENT = re.compile(r"Node '([^']+)' has an _output_shapes attribute inconsistent")


def importing(import_graph_def: Callable[..., Any], undo: Callable[[], Callable[[], None]]) -> Callable[..., Any]:
    """``import_graph_def``, tried again without what it found inconsistent.

    A graph of 1.15 may carry the shapes that 1.15 inferred, as an attribute ``_output_shapes`` on each node. Where
    today's shape inference comes to another result the import fails. Elsewhere the attribute tells shapes that cannot
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


# ------------------------------------------------------------------------------------------- a graph that is rewritten


class _Graph:
    """A GraphDef with its nodes by operation, those of its functions included."""

    def __init__(self, graph_def: Any) -> None:
        self.graph_def = graph_def
        self.functions = {function.signature.name: function for function in graph_def.library.function}
        self._taken: dict[str, set[str]] = {}  # function, "" for the graph -> the names of its nodes

    def forget(self) -> None:
        """What was known about nodes, which have changed."""
        self.__dict__.pop("places", None)
        self.__dict__.pop("nodes", None)

    def __iter__(self) -> Iterator[Place]:
        for node in self.graph_def.node:
            yield Place(node)
        for function in self.graph_def.library.function:
            for node in function.node_def:
                yield Place(node, function)

    @functools.cached_property
    def places(self) -> dict[str, list[Place]]:
        """Operation -> where it is. A function may have the name of an operation; then it is none."""
        found: dict[str, list[Place]] = {}
        for place in self:
            found.setdefault(place.node.op, []).append(place)
        return {op: places for op, places in found.items() if op not in self.functions}

    @functools.cached_property
    def nodes(self) -> dict[str, Any]:
        """The nodes of the graph itself, by name."""
        return {node.name: node for node in self.graph_def.node}

    @functools.cached_property
    def calls(self) -> dict[str, set[str]]:
        """Function -> the functions that its nodes name."""
        return {
            name: {called for node in function.node_def for called in self.called(node)}
            for name, function in self.functions.items()
        }

    def called(self, node: Any) -> Iterator[str]:
        """The functions of the library that a node names: as its operation or in an attribute."""
        if not self.functions:
            return
        if node.op in self.functions:
            yield node.op
        for value in node.attr.values():
            kind = value.WhichOneof("value")
            if kind == "func":
                names = [value.func.name]
            elif kind == "list" and value.list.func:
                names = [each.name for each in value.list.func]
            else:
                continue
            yield from (name for name in names if name in self.functions)

    def callers(self, names: Iterable[str]) -> set[str]:
        """These functions and those that call one of them, directly or not."""
        calling: dict[str, set[str]] = {}
        for name, called in self.calls.items():
            for each in called:
                calling.setdefault(each, set()).add(name)
        return _closure(names, lambda name: calling.get(name, ()))

    def add(self, place: Place, name: str, op: str, inputs: Iterable[str] = (), **attrs: Any) -> Any:
        """Adds a node where ``place`` is, named below it."""
        nodes = self.graph_def.node if place.function is None else place.function.node_def
        scope = "" if place.function is None else place.function.signature.name
        taken = self._taken.get(scope)
        if taken is None:
            taken = self._taken[scope] = {node.name for node in nodes}
        free = wanted = f"{place.node.name}/{name}"
        number = 0
        while free in taken:
            number += 1
            free = f"{wanted}_{number}"
        taken.add(free)
        node = nodes.add(name=free, op=op, device=place.node.device, input=inputs)
        for key, value in attrs.items():
            node.attr[key].CopyFrom(value)
        return node

    def outputs(self, place: Place, node: Any) -> list[str]:
        """How the outputs of a node are called where ``place`` is."""
        counts = [
            (arg.name, node.attr[arg.number_attr].i if arg.number_attr else 1)
            for arg in _definition(node.op).output_arg
        ]
        if place.function is not None:
            return [f"{node.name}:{name}:{index}" for name, count in counts for index in range(count)]
        return [f"{node.name}:{index}" if index else node.name for index in range(sum(count for _, count in counts))]

    def constant(self, place: Place, name: str, value: Any, dtype: Any) -> str:
        """Adds a constant."""
        proto = tf.make_tensor_proto(value, dtype)
        node = self.add(place, name, "Const", dtype=_attr(type=proto.dtype), value=_attr(tensor=proto))
        node.input.extend(_same_frame(self, place))
        return self.outputs(place, node)[0]


def _same_frame(graph: _Graph, place: Place) -> list[str]:
    """The control input that puts a constant into the loop or the branch that a node is in; none without any."""
    if place.function is None and "Enter" not in graph.places and "Switch" not in graph.places:
        return []
    data = _split(place.node)[0]
    name = node_of(data[0]) if place.function is None else data[0].partition(":")[0] if ":" in data[0] else ""
    return [f"^{name}"] if name else []


def _closure(starts: Iterable[str], step: Callable[[str], Iterable[str]]) -> set[str]:
    found = set(starts)
    queue = list(found)
    while queue:
        for name in step(queue.pop()):
            if name not in found:
                found.add(name)
                queue.append(name)
    return found


def _attr(**value: Any) -> Any:
    """An AttrValue: ``_attr(type=1)``, ``_attr(b=True)``; lists as ``_attr(types=[1, 1])``, ``_attr(ints=[2])``."""
    made = tf.AttrValue()
    ((kind, given),) = value.items()
    if kind in ("types", "ints"):
        made.list.SetInParent()
        (made.list.type if kind == "types" else made.list.i).extend(given)
    elif kind in ("tensor", "func"):
        getattr(made, kind).CopyFrom(given)
    else:
        setattr(made, kind, given)
    return made


@functools.cache
def _definition(op: str) -> Any:
    """The OpDef of an operation of this TensorFlow; None for one that it does not have."""
    return private.op_def_registry.get(op)


@functools.cache
def _attributes(op: str) -> frozenset[str] | None:
    definition = _definition(op)
    return None if definition is None else frozenset(attr.name for attr in definition.attr)


def _split(node: Any) -> tuple[list[str], list[str]]:
    """The data inputs of a node and its control inputs."""
    data = [entry for entry in node.input if not entry.startswith("^")]
    return data, [entry for entry in node.input if entry.startswith("^")]


def _connect(node: Any, data: Iterable[str], control: Iterable[str] | None = None) -> None:
    control = _split(node)[1] if control is None else list(control)
    data = list(data)
    del node.input[:]
    node.input.extend([*data, *control])


def _become(node: Any, op: str, data: Iterable[str], **attrs: Any) -> None:
    """Makes a node another operation, with these attributes and its marks, such as colocations."""
    _connect(node, data)
    node.op = op
    for key in [key for key in node.attr if not key.startswith("_") or key == "_output_shapes"]:
        del node.attr[key]
    for key, value in attrs.items():
        node.attr[key].CopyFrom(value)


def _rename_output(place: Place) -> None:
    """In a function an output is told by the name that its operation has for it: by the new one's, if it has one."""
    definition = _definition(place.node.op)
    if definition is None or len(definition.output_arg) != 1:
        return
    old, new = f"{place.node.name}:", f"{place.node.name}:{definition.output_arg[0].name}"

    def renamed(entry: str) -> str:
        index = entry.rpartition(":")[2]
        return f"{new}:{index}" if entry.startswith(old) and index.isdigit() else entry

    for node in place.function.node_def:
        for number, entry in enumerate(node.input):
            node.input[number] = renamed(entry)
    for key, entry in place.function.ret.items():
        place.function.ret[key] = renamed(entry)


def _with_ops(*ops: str, where: Callable[[Place], bool] = lambda place: True) -> Callable[[_Graph], Iterable[Place]]:
    """Finds the nodes of these operations."""

    def find(graph: _Graph) -> Iterator[Place]:
        for op in ops:
            yield from (place for place in graph.places.get(op, ()) if where(place))

    return find


def _has(place: Place, **kinds: str) -> bool:
    """Whether a node has these attributes, of these kinds."""
    attr = place.node.attr
    return all(key in attr and attr[key].WhichOneof("value") == kind for key, kind in kinds.items())


def _data_count(place: Place) -> int:
    return len(_split(place.node)[0])


# ------------------------------------------------------------------------------------------- operations that are gone


def _without_deleted_key(graph: _Graph) -> Iterator[Place]:
    for op in ("MutableDenseHashTableV2", "MutableDenseHashTable"):
        for place in graph.places.get(op, ()):
            known = _has(place, key_dtype="type") and place.node.attr["key_dtype"].type in _KEYS
            if known and _data_count(place) == 1 and (op.endswith("V2") or _users(graph, place) is not None):
                yield place


def _users(graph: _Graph, place: Place) -> list[Any] | None:
    """The nodes that use a table with a handle of strings, if each is there for a handle of a resource too."""
    if place.function is not None:
        return None
    name = place.node.name
    users = [node for node in graph.graph_def.node if any(node_of(entry) == name for entry in _split(node)[0])]
    known = all(_definition(f"{node.op}V2") is not None and "Table" in node.op for node in users)
    return users if known else None


#: DataType of a key -> two keys that nobody has, of which one is not the empty key.
_KEYS: dict[int, tuple[Any, Any]] = {
    1: (-3.4e38, -3.3e38),
    2: (-1.7e308, -1.6e308),
    3: (-(2**31) + 1, -(2**31) + 2),
    7: (b"\0deleted key", b"\0\0deleted key"),
    9: (-(2**63) + 1, -(2**63) + 2),
}


def _with_deleted_key(graph: _Graph, place: Place) -> None:
    node = place.node
    (empty,) = _split(node)[0]
    kind = node.attr["key_dtype"].type
    source = graph.nodes.get(node_of(empty)) if place.function is None else None
    taken = source is not None and source.op == "Const" and _is_filled_with(source, _KEYS[kind][0])
    key = graph.constant(place, "deleted_key", _KEYS[kind][taken], tf.as_dtype(kind))
    int32 = _attr(type=tf.int32.as_datatype_enum)
    shape = graph.add(place, "deleted_key/shape", "Shape", [empty], T=_attr(type=kind), out_type=int32)
    inputs = [*graph.outputs(place, shape), key]
    filled = graph.add(place, "deleted_key/filled", "Fill", inputs, T=_attr(type=kind), index_type=int32)
    _connect(node, [empty, *graph.outputs(place, filled)])
    for user in _users(graph, place) or () if node.op == "MutableDenseHashTable" else ():
        user.op += "V2"
    node.op = "MutableDenseHashTableV2"


def _is_filled_with(node: Any, key: Any) -> bool:
    try:
        return bool((tf.make_ndarray(node.attr["value"].tensor) == key).any())
    except (TypeError, ValueError):  # malformed, or left in the file: nobody's empty key is that long
        return False


def _argmax_without_type(graph: _Graph) -> Iterator[Place]:
    for op in ("MaxPoolWithArgmax", "MaxPoolGradWithArgmax"):
        yield from (place for place in graph.places.get(op, ()) if "T" not in place.node.attr)


def _float_type(graph: _Graph, place: Place) -> None:
    place.node.attr["T"].type = tf.float32.as_datatype_enum


#: What was called otherwise, with the same inputs and attributes.
_RENAMED = {"CreateVariableOp": "AssignVariableOp", "MapAndBatchDatasetV2": "MapAndBatchDataset"}


def _rename(graph: _Graph, place: Place) -> None:
    place.node.op = _RENAMED[place.node.op]


#: Operations on lists of tensors that got one more input, and how many they have now.
_LISTS = {
    "EmptyTensorList": 2,
    "TensorListGather": 3,
    "TensorListGetItem": 3,
    "TensorListPopBack": 2,
    "TensorListStack": 2,
}


def _short_lists(graph: _Graph) -> Iterator[Place]:
    for op, count in _LISTS.items():
        yield from (place for place in graph.places.get(op, ()) if _data_count(place) == count - 1)


def _any_shape(graph: _Graph, place: Place) -> None:
    unknown = graph.constant(place, "any", -1, tf.int32)
    _connect(place.node, [*_split(place.node)[0], unknown])


#: Operations whose kernels may be gone while their definition is still there. Each is looked up.
_SUSPECTS = re.compile(
    r"^_?(BoostedTrees|IsBoostedTrees|\w*TPU|TopK$|TileGrad$|CollectivePermute|CrossReplicaSum|AllToAll)"
)


@functools.cache
def _runs(op: str) -> bool:
    """Whether this TensorFlow has the operation, and a kernel for it that can be chosen."""
    definition = _definition(op)
    if definition is None:
        return False
    if op == "MutableDenseHashTable":  # its kernel asks for an input that it does not have
        return False
    if not _SUSPECTS.match(op):
        return True
    known = _attributes(op) or frozenset()
    kernels = private.kernels.get_registered_kernels_for_op(op).kernel
    return any(all(constraint.name in known for constraint in kernel.constraint) for kernel in kernels)


def _sorted_top_k(graph: _Graph, place: Place) -> None:
    node = place.node
    (rows,) = _split(node)[0]
    k = graph.constant(place, "k", node.attr["k"].i, tf.int32)
    kept = {key: _copy(node.attr[key]) for key in ("T", "sorted") if key in node.attr}
    _become(node, "TopKV2", [rows, k], **kept)


def _copy(attr: Any) -> Any:
    made = tf.AttrValue()
    made.CopyFrom(attr)
    return made


def _projective_transform(graph: _Graph, place: Place) -> None:
    node = place.node
    data, _ = _split(node)
    int32 = _attr(type=tf.int32.as_datatype_enum)
    shape = graph.add(place, "shape", "Shape", data[:1], T=_copy(node.attr["dtype"]), out_type=int32)
    borders = [graph.constant(place, f"size/{border}", [border], tf.int32) for border in (1, 3)]
    stride = graph.constant(place, "size/stride", [1], tf.int32)
    size = graph.add(
        place, "size", "StridedSlice", [*graph.outputs(place, shape), *borders, stride], T=int32, Index=int32
    )
    kept = {key: _copy(node.attr[key]) for key in ("dtype", "interpolation") if key in node.attr}
    _become(node, "ImageProjectiveTransformV2", [*data, *graph.outputs(place, size)], **kept)


def _composed(graph: _Graph) -> Iterator[Place]:
    """Operations that are not there and that others make up for, with as many inputs and a known type."""
    for name, (inputs, _) in COMPOSED.items():
        for op in (name, f"Addons>{name}"):  # what TensorFlow Addons calls it
            if _definition(op) is None:
                for place in graph.places.get(op, ()):
                    kind = place.node.attr["T"].type if _has(place, T="type") else 0
                    if kind in _COMPOSABLE and _data_count(place) == len(inputs):
                        yield place


#: DataTypes that the compositions know: half to int64, without strings, complex and quantized ones.
_COMPOSABLE = frozenset({1, 2, 3, 4, 5, 6, 9, 10, 14, 19})


def _compose(graph: _Graph, place: Place) -> None:
    node = place.node
    template = composition(node.op.removeprefix("Addons>"), node.attr["T"].type)
    data, _ = _split(node)
    called: dict[str, str] = {}  # a tensor of the template -> its name here
    made = {}
    for each in template.node:
        if each.op == "Placeholder":
            called[each.name] = data[int(each.name.removeprefix("input_"))]
            continue
        made[each.name] = graph.add(place, each.name, each.op, **dict(each.attr))
        for index, name in enumerate(graph.outputs(place, made[each.name])):
            called[f"{each.name}:{index}" if index else each.name] = name
        if each.op == "Enter":
            made[each.name].attr["frame_name"].s += f" of {node.name}".encode()
    for each in template.node:
        if each.name in made:
            inputs = [called[entry] for entry in each.input]
            made[each.name].input.extend(inputs or _same_frame(graph, place))
    _become(node, "Identity", [called["output"]], T=_copy(made["output"].attr["T"]))


def _crosses(graph: _Graph) -> Iterator[Place]:
    for op in ("SparseFeatureCross", "SparseFeatureCrossV2"):
        for place in graph.places.get(op, ()):
            if op == "SparseFeatureCrossV2" or (
                _has(place, hashed_output="b") and not place.node.attr["hashed_output"].b
            ):
                yield place


def _cross(graph: _Graph, place: Place) -> None:
    if place.node.op == "SparseFeatureCross":
        place.node.attr["hash_key"].i = 0
    place.node.op = "SparseCross"


# --------------------------------------------------------------------------------------------------- other hardware


def _tpu_pass_through(graph: _Graph, place: Place) -> None:
    kind = _copy(place.node.attr["T"])
    _become(place.node, "Identity", _split(place.node)[0][:1], T=kind)


def _one_replica(place: Place) -> bool:
    node = place.node
    replicas = [node.attr[key].i for key in ("N", "num_replicas") if key in node.attr]
    return _has(place, T="type") and _data_count(place) >= 1 and all(count == 1 for count in replicas)


def _nothing(graph: _Graph, place: Place) -> None:
    _become(place.node, "NoOp", [])


def _empty_string(graph: _Graph, place: Place) -> None:
    proto = tf.make_tensor_proto("", tf.string)
    _become(place.node, "Const", [], dtype=_attr(type=proto.dtype), value=_attr(tensor=proto))


def _zero_ordinal(graph: _Graph, place: Place) -> None:
    proto = tf.make_tensor_proto([0], tf.int32)
    _become(place.node, "Const", [], dtype=_attr(type=proto.dtype), value=_attr(tensor=proto))


def _called_on_tpu(graph: _Graph) -> Iterator[Place]:
    for place in graph.places.get("TPUPartitionedCall", ()):
        if (
            _has(place, f="func", Tin="list")
            and place.node.attr["f"].func.name in graph.functions
            and _data_count(place)
        ):
            yield place


def _call(graph: _Graph, place: Place) -> None:
    kept = {
        key: _copy(place.node.attr[key]) for key in ("Tin", "Tout", "f", "_output_shapes") if key in place.node.attr
    }
    data = _split(place.node)[0]
    _become(place.node, "StatefulPartitionedCall", data[:-1], **kept)  # the last one says which core


def _one_call(graph: _Graph) -> Iterator[Place]:
    for op in ("TPUReplicate", "_TPUReplicate"):
        for place in graph.places.get(op, ()):
            attr = place.node.attr
            if (
                _has(place, computation="func", num_replicas="i", NumVariables="i", Tinputs="list", output_types="list")
                and attr["computation"].func.name in graph.functions
                and attr["num_replicas"].i == 1
                and attr["NumVariables"].i <= _data_count(place)
            ):
                yield place


def _call_computation(graph: _Graph, place: Place) -> None:
    attr = place.node.attr
    lists = [attr[key].list.type if key in attr else [] for key in ("Tinputs", "Tbroadcast_inputs")]
    constants = attr["Tguaranteed_constants"].list.type if "Tguaranteed_constants" in attr else []
    resources = [tf.resource.as_datatype_enum] * attr["NumVariables"].i
    kinds = {"Tin": _attr(types=[*lists[0], *lists[1], *resources, *constants]), "Tout": _copy(attr["output_types"])}
    _become(place.node, "StatefulPartitionedCall", _split(place.node)[0], f=_copy(attr["computation"]), **kinds)


def _of_one_replica(graph: _Graph) -> bool:
    """Whether no cluster of the graph stands for several copies of itself."""
    clusters = graph.places.get("TPUReplicateMetadata", ())
    return all(_has(each, num_replicas="i") and each.node.attr["num_replicas"].i == 1 for each in clusters)


def _described(graph: _Graph) -> Iterator[Place]:
    yield from graph.places.get("ShutdownDistributedTPU", ())
    if _of_one_replica(graph):
        yield from graph.places.get("TPUReplicateMetadata", ())


def _sums_of_one(graph: _Graph) -> Iterator[Place]:
    if _of_one_replica(graph):
        for place in graph.places.get("CrossReplicaSum", ()):
            if _has(place, T="type") and _data_count(place):
                yield place


_TPU_MARKS = ("_tpu_replicate", "_tpu_input_identity", "_tpu_output_identity", "_tpu_compilation_status")


def _marked_for_tpu(graph: _Graph) -> Iterator[Place]:
    """Nodes of a cluster that is compiled for TPUs: without its metadata node nothing would run them."""
    if not any(op in graph.places for op in _TPU_OPS) or not _of_one_replica(graph):
        return
    for place in graph:
        if any(mark in place.node.attr for mark in _TPU_MARKS):
            yield place


def _unmark(graph: _Graph, place: Place) -> None:
    for mark in _TPU_MARKS:
        place.node.attr.pop(mark, None)


_TPU_OPS = ("TPUReplicateMetadata", "TPUReplicatedInput", "TPUReplicatedOutput", "TPUCompilationResult")


def _segment(graph: _Graph, place: Place) -> str | None:
    """The function of the graph that computes what a TensorRT engine does: 1.14 names it otherwise than 1.13."""
    node = place.node
    if _has(place, segment_func="func") and node.attr["segment_func"].func.name in graph.functions:
        return str(node.attr["segment_func"].func.name)
    if _has(place, segment_funcdef_name="s"):
        name = node.attr["segment_funcdef_name"].s.decode(errors="replace")
        return name if name in graph.functions else None
    return None


def _engines(graph: _Graph) -> Iterator[Place]:
    for place in graph.places.get("TRTEngineOp", ()):
        if _segment(graph, place) and _has(place, InT="list", OutT="list"):
            yield place


def _native_segment(graph: _Graph, place: Place) -> None:
    attr = place.node.attr
    function = tf.AttrValue()
    function.func.name = _segment(graph, place)
    kinds = {"Tin": _copy(attr["InT"]), "Tout": _copy(attr["OutT"])}
    if "_output_shapes" in attr:
        kinds["_output_shapes"] = _copy(attr["_output_shapes"])
    _become(place.node, "StatefulPartitionedCall", _split(place.node)[0], f=function, **kinds)


# -- MKL


def _mkl_name(op: str) -> str | None:
    """The operation that Intel's rewriting made this one of: ``_MklConv2D`` -> ``Conv2D``."""
    if op in ("_MklToTf", "_MklInputConversion"):
        return "Identity" if op == "_MklToTf" else "IdentityN"
    bare = re.sub(r"^_Mkl(Native)?", "", op)
    for name in (bare, "_" + bare, bare.removesuffix("WithBias")):
        if name and _definition(name) is not None:
            return name
    return None


def _mkl_inputs(place: Place) -> list[str] | None:
    """The inputs without those that tell layouts: the second half, if there are twice as many as there should be."""
    op, (data, _) = place.node.op, _split(place.node)
    if op == "_MklToTf":
        return data[:1] if data else None
    if op == "_MklInputConversion":
        return data[:2] if len(data) == 4 else None
    name = _mkl_name(op)
    if name is None:
        return None
    count = _input_count(name, place.node)
    if count is None:
        return None
    count += op.endswith("WithBias") and not name.endswith("WithBias")
    return data[:count] if len(data) in (count, 2 * count) else None


def _input_count(op: str, node: Any) -> int | None:
    """How many inputs an operation has with the attributes of ``node``."""
    count = 0
    for arg in _definition(op).input_arg:
        if arg.number_attr:
            if arg.number_attr not in node.attr:
                return None
            count += node.attr[arg.number_attr].i
        elif arg.type_list_attr:
            if arg.type_list_attr not in node.attr:
                return None
            count += len(node.attr[arg.type_list_attr].list.type)
        else:
            count += 1
    return count


def _mkl(graph: _Graph) -> Iterator[Place]:
    for op, places in graph.places.items():
        if op.startswith("_Mkl"):
            for place in places:
                if _has(place, T="type") and _mkl_inputs(place) and not (place.function and op.endswith("WithBias")):
                    yield place


def _plain(graph: _Graph, place: Place) -> None:
    node = place.node
    op, name, data = node.op, _mkl_name(node.op), _mkl_inputs(place)
    assert name is not None and data is not None  # _mkl found them
    node.attr.pop("_kernel", None)
    kind = _copy(node.attr["T"])
    if op == "_MklToTf":
        _become(node, "Identity", data, T=kind)
    elif op == "_MklInputConversion":
        _become(node, "IdentityN", data, T=_attr(types=[kind.type] * 2))
    else:
        kept = {key: _copy(node.attr[key]) for key in _attributes(name) or () if key in node.attr}
        if op.endswith("WithBias") and not name.endswith("WithBias"):
            inner = graph.add(place, "without_bias", name, data[:-1], **kept).name
            layout = {"data_format": kept["data_format"]} if "data_format" in kept else {}
            _become(node, "BiasAdd", [inner, data[-1]], T=kind, **layout)
        else:
            _become(node, name, data, **kept)


# -- devices


_LOCAL = re.compile(
    r"^(/job:localhost)?(/replica:0)?(/task:0)?(?P<device>(/device:|/)(CPU|GPU|XLA_CPU|XLA_GPU):(\d+|\*))?$", re.I
)


def _elsewhere(graph: _Graph) -> Iterator[Place]:
    """Nodes on another host, or on a device that is neither a CPU nor a GPU."""
    local: dict[str, bool] = {}
    for place in graph:
        if device := place.node.device:
            if device not in local:
                local[device] = bool(_LOCAL.match(device))
            if not local[device]:
                yield place


def _here(graph: _Graph, place: Place) -> None:
    found = re.search(r"/(device:)?(CPU|GPU):(\d+|\*)$", place.node.device, re.I)
    place.node.device = f"/device:{found.group(2).upper()}:{found.group(3)}" if found else ""


# ----------------------------------------------------------------------------------------------------- loose ends


def _colocated_with_nothing(graph: _Graph) -> Iterator[Place]:
    for place in graph:
        if place.function is None and "_class" in place.node.attr:
            for entry in place.node.attr["_class"].list.s:
                if entry.startswith(b"loc:@") and entry[5:].decode(errors="replace") not in graph.nodes:
                    yield place
                    break


def _not_colocated(graph: _Graph, place: Place) -> None:
    entries = place.node.attr["_class"].list.s
    kept = [
        entry
        for entry in entries
        if not entry.startswith(b"loc:@") or entry[5:].decode(errors="replace") in graph.nodes
    ]
    del entries[:]
    entries.extend(kept)
    if not kept:
        del place.node.attr["_class"]


@functools.cache
def _reference_inputs(op: str) -> int:
    """How many of an operation's first inputs are references to a variable; a large number where it is a list."""
    definition = _definition(op)
    count = 0
    for arg in definition.input_arg if definition is not None else ():
        if not arg.is_ref:
            break
        count += 2**16 if arg.number_attr else 1
    return count


@functools.cache
def _gives_references(op: str) -> bool:
    definition = _definition(op)
    return definition is None or any(arg.is_ref for arg in definition.output_arg)


#: The attribute of a node that was an assignment: its result is no output of the model.
WAS = "_tf1sessions_was"

#: What a variable's operations are on a plain value: a graph that was frozen by a tool still has them.
_ON_VALUES = {
    "RefSwitch": "Switch",
    "RefEnter": "Enter",
    "RefExit": "Exit",
    "RefMerge": "Merge",
    "RefNextIteration": "NextIteration",
    "RefIdentity": "Identity",
    "AssignAdd": "AddV2",
    "AssignSub": "Sub",
    "Assign": "Identity",
}


def _assigning_to_values(graph: _Graph) -> Iterable[Place]:
    """Operations on a reference, in a graph that has a constant or another plain value in its place.

    What gives a reference only as long as it gets one, such as RefSwitch, passes a value on.
    """
    takers: dict[str, list[Place]] = {}
    plain: list[str] = []
    for op in _ON_VALUES:
        for place in graph.places.get(op, ()):
            data = _split(place.node)[0][: _reference_inputs(op)] if place.function is None else []
            for source in map(node_of, data):
                takers.setdefault(source, []).append(place)
                if source in graph.nodes and not _gives_references(graph.nodes[source].op):
                    plain.append(source)
    found: dict[str, Place] = {}
    while plain:
        for place in takers.pop(plain.pop(), ()):
            if place.node.name not in found:
                found[place.node.name] = place
                plain.append(place.node.name)
    return found.values()


def _on_values(graph: _Graph, place: Place) -> None:
    node = place.node
    data, _ = _split(node)
    if node.op.startswith("Assign"):
        node.attr[WAS].s = node.op.encode()
    node.op = _ON_VALUES[node.op]
    for key in ("use_locking", "validate_shape"):
        node.attr.pop(key, None)
    if node.op == "Identity" and len(data) == 2:  # Assign: the value
        _connect(node, data[1:])


#: What takes a resource variable, and what it is on its value.
_ON_RESOURCES = {"ReadVariableOp": "Identity", "ResourceGather": "Gather"}


def _reading_values(graph: _Graph) -> Iterator[Place]:
    """Reads of a resource variable, where the graph has a constant in its place."""
    for op in _ON_RESOURCES:
        for place in graph.places.get(op, ()):
            data, _ = _split(place.node)
            if place.function is not None or not data or not _has(place, dtype="type"):
                continue
            source = graph.nodes.get(node_of(data[0]))
            if source is not None and source.op == "Const" and not _batch_dims(place.node):
                yield place


def _batch_dims(node: Any) -> int:
    return int(node.attr["batch_dims"].i) if "batch_dims" in node.attr else 0


def _read_value(graph: _Graph, place: Place) -> None:
    node = place.node
    kind = _copy(node.attr["dtype"])
    if node.op == "ReadVariableOp":
        _become(node, "Identity", _split(node)[0], T=kind)
    else:
        indices = {"Tindices": _copy(node.attr["Tindices"])} if "Tindices" in node.attr else {}
        _become(node, "Gather", _split(node)[0], Tparams=kind, **indices)


# ----------------------------------------------------------------------------------------------------- attributes

#: What newer versions write where nothing was asked for, besides zero, False and "".
_LATER_DEFAULTS: dict[str, Any] = {
    "axis": -1,
    "blank_index": -1,
    "index": -1,
    "exponential_avg_factor": 1.0,
    "ensure_minimum_range": 0.009999999776482582,
    "leakyrelu_alpha": 0.20000000298023224,
    "Treal": 1,
    "Tcomplex": 8,
    "Tsegmentids": 3,
    "Tshape": 3,
    "Tk": 3,
    "index_type": 3,
    "shape_type": 3,
    "filter_format": b"HWIO",
    "fill_mode": b"CONSTANT",
    "mode": b"auto",
    "drop_remainder": True,
    "use_default_device": True,
    "reshuffle_each_iteration": True,
}
#: What tells about a node without changing what it computes.
_REMARKS = frozenset({"metadata", "debug_name"})


def _is_default(key: str, value: Any) -> bool:
    kind = value.WhichOneof("value")
    if key in _REMARKS or kind is None:
        return True
    if kind == "list":
        return not value.list.ByteSize()
    if kind not in ("s", "i", "f", "b", "type"):
        return False
    given = getattr(value, kind)
    return not given or given == _LATER_DEFAULTS.get(key)


def _newer_attributes(graph: _Graph) -> Iterator[Place]:
    for op, places in graph.places.items():
        known = _attributes(op)
        if known is None:
            continue
        for place in places:
            if any(True for _ in _droppable(place, known)):
                yield place


def _droppable(place: Place, known: frozenset[str]) -> Iterator[str]:
    attr = place.node.attr
    for key in attr:
        if key not in known and not key.startswith("_") and _is_default(key, attr[key]):
            yield key


def _drop_newer(graph: _Graph, place: Place) -> None:
    for key in list(_droppable(place, _attributes(place.node.op) or frozenset())):
        del place.node.attr[key]


def _one_type_of_arguments(place: Place) -> bool:
    return (
        "TArgs" not in place.node.attr
        and _has(place, T="type", num_args="i")
        and 0 < place.node.attr["num_args"].i < 16
    )


def _tell_argument_types(graph: _Graph, place: Place) -> None:
    attr = place.node.attr
    attr["TArgs"].CopyFrom(_attr(types=[attr["T"].type] * attr["num_args"].i))


def _removed_by_version(graph: _Graph) -> Iterator[Place]:
    """Deprecated operations in a graph that claims to be newer than their end: one that was written anew."""
    producer = graph.graph_def.versions.producer
    for op, places in graph.places.items():
        definition = _definition(op)
        if definition is not None and 0 < definition.deprecation.version <= producer:
            yield from places


def _older_producer(graph: _Graph, place: Place) -> None:
    versions = graph.graph_def.versions
    versions.producer = min(versions.producer, _definition(place.node.op).deprecation.version - 1)


def _drop_shapes(graph: _Graph, place: Place) -> None:
    del place.node.attr["_output_shapes"]


# ------------------------------------------------------------------------------------------------------- the table

UPGRADES: tuple[Upgrade, ...] = (
    # Other hardware, first: what it leaves behind are plain operations.
    Upgrade(
        "what passes values to and from a TPU passes them on",
        "tpu.rewrite, 1.3 on: TPUReplicatedInput and TPUReplicatedOutput of one replica",
        _with_ops("TPUReplicatedInput", "TPUReplicatedOutput", where=_one_replica),
        _tpu_pass_through,
    ),
    Upgrade(
        "what a TPU was to run is called",
        "TPUReplicate, as TensorFlow rewrites tpu.replicate, of one replica",
        _one_call,
        _call_computation,
    ),
    Upgrade(
        "the sum over one replica is what it has",
        "CrossReplicaSum of tpu.cross_replica_sum and CrossShardOptimizer; up to 1.11 with one input",
        _sums_of_one,
        _tpu_pass_through,
    ),
    Upgrade(
        "a computation for a TPU runs where it is",
        "tpu.rewrite: the attribute _tpu_replicate ties nodes to the TPUReplicateMetadata of their cluster",
        _marked_for_tpu,
        _unmark,
    ),
    Upgrade(
        "what describes a TPU computation does nothing",
        "tpu.rewrite: TPUReplicateMetadata",
        _described,
        _nothing,
    ),
    Upgrade(
        "there is no TPU to compile for or to configure",
        "TPUCompilationResult of tpu.rewrite, ConfigureDistributedTPU of tpu.initialize_system: a message",
        _with_ops("TPUCompilationResult", "ConfigureDistributedTPU"),
        _empty_string,
    ),
    Upgrade(
        "a function that a TPU was to run is called",
        "TPUPartitionedCall of exports for inference on a TPU, 1.14 on",
        _called_on_tpu,
        _call,
    ),
    Upgrade(
        "the core of a TPU is not chosen",
        "TPUOrdinalSelector, beside TPUPartitionedCall",
        _with_ops("TPUOrdinalSelector"),
        _zero_ordinal,
    ),
    Upgrade(
        "a TensorRT engine gives way to the native segment that it was made of",
        "TRTEngineOp, 1.7 on: the segment is a function of the graph, named by segment_func (1.14 on) or "
        "segment_funcdef_name",
        _engines,
        _native_segment,
    ),
    Upgrade(
        "an operation of Intel's MKL build is the plain one",
        "graphs that were saved after the MKL rewriting: _Mkl…, with a second half of inputs and outputs for layouts",
        _mkl,
        _plain,
    ),
    Upgrade(
        "a device of another host, or that is neither a CPU nor a GPU, is not asked for",
        "graphs of clusters and of TPUs",
        _elsewhere,
        _here,
        hardware=True,
    ),
    # Operations that are gone.
    Upgrade(
        "TopK is TopKV2",
        "before 0.7; today's kernels of TopK ask for an attribute that it does not have",
        _with_ops("TopK", where=lambda place: _has(place, k="i", T="type") and _data_count(place) == 1),
        _sorted_top_k,
    ),
    Upgrade(
        "a table gets a key for what was deleted",
        "MutableDenseHashTable of tf.contrib.lookup up to 1.12: it had an empty key only. The one of before 1.4 "
        "becomes MutableDenseHashTableV2",
        _without_deleted_key,
        _with_deleted_key,
    ),
    Upgrade(
        "an operation has the name that it has today",
        "CreateVariableOp of resource variables up to 0.12, MapAndBatchDatasetV2 of 1.12",
        _with_ops(*_RENAMED),
        _rename,
    ),
    Upgrade(
        "lists of tensors are of any shape, and of any length",
        "EmptyTensorList and others up to 1.12 or 1.13, in loops and their gradients: they got one more input",
        _short_lists,
        _any_shape,
    ),
    Upgrade(
        "a pooling that does not tell its type is of floats",
        "MaxPoolWithArgmax up to 0.12: the default of T was dropped later",
        _argmax_without_type,
        _float_type,
    ),
    Upgrade(
        "contrib's ImageProjectiveTransform is ImageProjectiveTransformV2",
        "tf.contrib.image.transform up to 1.15",
        _with_ops(
            "ImageProjectiveTransform", where=lambda place: _has(place, dtype="type") and _data_count(place) == 2
        ),
        _projective_transform,
    ),
    Upgrade(
        "contrib's SparseFeatureCross is SparseCross",
        "tf.contrib.layers.crossed_column with a hash_key (SparseFeatureCrossV2), or whose result is not hashed; the "
        "other hash is gone",
        _crosses,
        _cross,
    ),
    Upgrade(
        "an operation that is gone is composed of others",
        "GatherTree of tf.contrib.seq2seq's beam search, tf.contrib.resampler, BucketizeWithInputBoundaries of "
        "tf.contrib.boosted_trees, CompareAndBitpack of the core up to 2.19; those of TensorFlow Addons too",
        _composed,
        _compose,
    ),
    # Loose ends.
    Upgrade(
        "an assignment to a variable that is a constant here gives the value",
        "freezing tools: Assign, AssignSub, RefSwitch … of batch normalisation and of savers stay in the graph",
        _assigning_to_values,
        _on_values,
    ),
    Upgrade(
        "a read of a resource variable that is a constant here gives the constant",
        "freezing tools that know ref variables only",
        _reading_values,
        _read_value,
    ),
    Upgrade(
        "a node is not colocated with one that is not there",
        "graphs that were cut: _class names a node that was left out",
        _colocated_with_nothing,
        _not_colocated,
    ),
    # Attributes and versions.
    Upgrade(
        "the shapes that were recorded for a gradient are inferred anew",
        "1.x inferred other shapes for the reserved outputs of FusedBatchNormGrad",
        _with_ops(
            *("FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3"),
            where=lambda place: "_output_shapes" in place.node.attr,
        ),
        _drop_shapes,
    ),
    Upgrade(
        "the arguments of a fused convolution are all of its type",
        "graphs that Grappler optimised before 2.12: _FusedConv2D without TArgs",
        _with_ops("_FusedConv2D", where=_one_type_of_arguments),
        _tell_argument_types,
    ),
    Upgrade(
        "an attribute that this TensorFlow does not know has its default and is dropped",
        "graphs of a newer TensorFlow",
        _newer_attributes,
        _drop_newer,
    ),
    Upgrade(
        "the graph counts as one of the time of its operations",
        "deprecated operations in a graph that was written again later: TensorFlow would not take them",
        _removed_by_version,
        _older_producer,
    ),
)


def _listed(names: Sequence[str], most: int = 6) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
