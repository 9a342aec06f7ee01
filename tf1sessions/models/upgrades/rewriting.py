"""A graph that is being rewritten: its nodes by operation, in the graph itself and in its functions.

Nothing here trusts the graph: what a node lacks is not asked for.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from tf1sessions.models.graph_index import node_of
from tf1sessions.runtime import private, tf


@dataclasses.dataclass(frozen=True)
class LocatedNode:
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
        what: What is done, as the user reads it.
        since: Which graphs need it, and why.
        find: The nodes that need it; how they are known.
        change: What is done to one of them.
        hardware: Whether it is about machines that are not here. A script's own import keeps what it says about them.
    """

    what: str
    since: str
    find: Callable[[Graph], Iterable[LocatedNode]]
    change: Callable[[Graph, LocatedNode], None]
    hardware: bool = False


class Graph:
    """A GraphDef with its nodes by operation, those of its functions included."""

    def __init__(self, graph_def: Any) -> None:
        self.graph_def = graph_def
        self.functions = {function.signature.name: function for function in graph_def.library.function}
        self._taken: dict[str, set[str]] = {}  # function, "" for the graph -> the names of its nodes

    def forget(self) -> None:
        """Forget what was known about nodes, which have changed."""
        for name in ("places", "nodes", "takers"):
            self.__dict__.pop(name, None)

    def __iter__(self) -> Iterator[LocatedNode]:
        for node in self.graph_def.node:
            yield LocatedNode(node)
        for function in self.graph_def.library.function:
            for node in function.node_def:
                yield LocatedNode(node, function)

    @functools.cached_property
    def places(self) -> dict[str, list[LocatedNode]]:
        """Operation -> where it is. A function may have the name of an operation; then it is none."""
        found: dict[str, list[LocatedNode]] = {}
        for place in self:
            found.setdefault(place.node.op, []).append(place)
        return {op: places for op, places in found.items() if op not in self.functions}

    @functools.cached_property
    def nodes(self) -> dict[str, Any]:
        """The nodes of the graph itself, by name."""
        return {node.name: node for node in self.graph_def.node}

    @functools.cached_property
    def takers(self) -> dict[str, list[Any]]:
        """The nodes of the graph itself that take data of a node, by its name."""
        found: dict[str, list[Any]] = {}
        for node in self.graph_def.node:
            for name in {node_of(entry) for entry in inputs_of(node)[0]}:
                found.setdefault(name, []).append(node)
        return found

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
        """Return these functions and those that call one of them, directly or not."""
        calling: dict[str, set[str]] = {}
        for name, called in self.calls.items():
            for each in called:
                calling.setdefault(each, set()).add(name)
        return closure(names, lambda name: calling.get(name, ()))

    def add(self, place: LocatedNode, name: str, op: str, inputs: Iterable[str] = (), **attrs: Any) -> Any:
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

    def outputs(self, place: LocatedNode, node: Any) -> list[str]:
        """Return the names of a node's outputs where ``place`` is."""
        counts = [
            (arg.name, node.attr[arg.number_attr].i if arg.number_attr else 1)
            for arg in definition_of(node.op).output_arg
        ]
        if place.function is not None:
            return [f"{node.name}:{name}:{index}" for name, count in counts for index in range(count)]
        return [f"{node.name}:{index}" if index else node.name for index in range(sum(count for _, count in counts))]

    def constant(self, place: LocatedNode, name: str, value: Any, dtype: Any) -> str:
        """Adds a constant."""
        proto = tf.make_tensor_proto(value, dtype)
        node = self.add(place, name, "Const", dtype=attr_value(type=proto.dtype), value=attr_value(tensor=proto))
        node.input.extend(same_frame(self, place))
        return self.outputs(place, node)[0]


def same_frame(graph: Graph, place: LocatedNode) -> list[str]:
    """The control input that puts a constant into the loop or the branch that a node is in; none without any."""
    if place.function is None and "Enter" not in graph.places and "Switch" not in graph.places:
        return []
    data = inputs_of(place.node)[0]
    name = node_of(data[0]) if place.function is None else data[0].partition(":")[0] if ":" in data[0] else ""
    return [f"^{name}"] if name else []


def closure(starts: Iterable[str], step: Callable[[str], Iterable[str]]) -> set[str]:
    found = set(starts)
    queue = list(found)
    while queue:
        for name in step(queue.pop()):
            if name not in found:
                found.add(name)
                queue.append(name)
    return found


def attr_value(**value: Any) -> Any:
    """An AttrValue: ``attr_value(type=1)``, ``attr_value(b=True)``, ``attr_value(types=[1, 1])`` for a list."""
    made = tf.AttrValue()
    ((kind, given),) = value.items()
    if kind in ("types", "ints"):
        made.list.SetInParent()
        (made.list.type if kind == "types" else made.list.i).extend(given)
    elif kind in ("tensor", "func", "shape"):
        getattr(made, kind).CopyFrom(given)
    else:
        setattr(made, kind, given)
    return made


@functools.cache
def definition_of(op: str) -> Any:
    """The OpDef of an operation of this TensorFlow; None for one that it does not have."""
    return private.op_def_registry.get(op)


@functools.cache
def attribute_names(op: str) -> frozenset[str] | None:
    definition = definition_of(op)
    return None if definition is None else frozenset(attr.name for attr in definition.attr)


def inputs_of(node: Any) -> tuple[list[str], list[str]]:
    """The data inputs of a node and its control inputs."""
    data = [entry for entry in node.input if not entry.startswith("^")]
    return data, [entry for entry in node.input if entry.startswith("^")]


def connect(node: Any, data: Iterable[str], control: Iterable[str] | None = None) -> None:
    control = inputs_of(node)[1] if control is None else list(control)
    data = list(data)
    del node.input[:]
    node.input.extend([*data, *control])


def become(node: Any, op: str, data: Iterable[str], **attrs: Any) -> None:
    """Makes a node another operation, with these attributes and its marks, such as colocations."""
    connect(node, data)
    node.op = op
    for key in [key for key in node.attr if not key.startswith("_") or key == "_output_shapes"]:
        del node.attr[key]
    for key, value in attrs.items():
        node.attr[key].CopyFrom(value)


def rename_outputs(places: Iterable[LocatedNode]) -> None:
    """In a function an output goes by the name that its operation has for it: by the new one's, if it has one."""
    by_function: dict[str, tuple[Any, dict[str, str]]] = {}
    for place in places:
        definition = definition_of(place.node.op)
        if place.function is not None and definition is not None and len(definition.output_arg) == 1:
            _, names = by_function.setdefault(place.function.signature.name, (place.function, {}))
            names[place.node.name] = definition.output_arg[0].name
    for function, names in by_function.values():

        def renamed(entry: str, names: dict[str, str] = names) -> str:
            node, *rest = entry.split(":")
            return f"{node}:{names[node]}:{rest[-1]}" if node in names and len(rest) == 2 else entry

        for node in function.node_def:
            for number, entry in enumerate(node.input):
                node.input[number] = renamed(entry)
        for key, entry in function.ret.items():
            function.ret[key] = renamed(entry)


def with_ops(
    *ops: str, where: Callable[[LocatedNode], bool] = lambda place: True
) -> Callable[[Graph], Iterable[LocatedNode]]:
    """Finds the nodes of these operations."""

    def find(graph: Graph) -> Iterator[LocatedNode]:
        for op in ops:
            yield from (place for place in graph.places.get(op, ()) if where(place))

    return find


def has(place: LocatedNode, **kinds: str) -> bool:
    """Whether a node has these attributes, of these kinds."""
    attr = place.node.attr
    return all(key in attr and attr[key].WhichOneof("value") == kind for key, kind in kinds.items())


def data_count(place: LocatedNode) -> int:
    return len(inputs_of(place.node)[0])


def copy_of(attr: Any) -> Any:
    made = tf.AttrValue()
    made.CopyFrom(attr)
    return made
