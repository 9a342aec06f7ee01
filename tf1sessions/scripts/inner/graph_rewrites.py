"""Transforms of a GraphDef's nodes, attributes, devices and names, for :mod:`.graph_transforms`."""

from __future__ import annotations

import dataclasses
import string
from collections.abc import Callable, Iterable
from typing import Any

from ...models.graph_index import node_of
from ...runtime import private
from ...runtime import tf1 as tf

__all__ = ["TRANSFORMS", "Request", "pruned", "renamed"]

_DIGITS = string.digits + string.ascii_lowercase  # what obfuscated names are made of


@dataclasses.dataclass(frozen=True)
class Request:
    """The arguments of a transform.

    Attributes:
        name: Its name.
        parameters: Name -> values, in the order of the text.
        inputs: The names of nodes that are fed.
        outputs: The names of nodes that are fetched.
    """

    name: str
    parameters: dict[str, list[str]]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    @property
    def kept(self) -> set[str]:
        """The nodes that must keep their names."""
        return {node_of(name) for name in (*self.inputs, *self.outputs)}

    def one(self, name: str, default: str | None = None, example: str = "") -> str:
        """The value of a parameter that may be given once."""
        values = self.parameters.get(name, [] if default is None else [default])
        if len(values) != 1:
            raise tf.errors.InvalidArgumentError(
                None, None, f"{self.name} expects exactly one '{name}' argument, e.g. {self.name}({example})"
            )
        return values[0]

    def flag(self, name: str, default: bool) -> bool:
        """A parameter that is true or false."""
        return self.one(name, str(default).lower()) in ("true", "1")

    def number(self, name: str, default: int) -> int:
        """A parameter that is a whole number."""
        text = self.one(name, str(default))
        if not text.removeprefix("-").isdecimal():
            raise tf.errors.InvalidArgumentError(None, None, f"{name} must be an integer, got {text}")
        return int(text)


def _made(graph_def: Any, nodes: Iterable[Any]) -> Any:
    """A graph of other nodes."""
    nodes = list(nodes)
    made = tf.GraphDef(versions=graph_def.versions, library=graph_def.library)
    made.node.extend(nodes)
    return made


def renamed(graph_def: Any, names: dict[str, str]) -> Any:
    """The graph without the nodes ``names``: what took one's first output takes the tensor that is named for it."""
    nodes = []
    for node in graph_def.node:
        if node.name in names:
            continue
        inputs = []
        for entry in node.input:
            while node_of(entry) in names:
                target = names[node_of(entry)]
                entry = f"^{node_of(target)}" if entry.startswith("^") else target
            inputs.append(entry)
        node.input[:] = dict.fromkeys(inputs) if any(entry.startswith("^") for entry in inputs) else inputs
        nodes.append(node)
    return _made(graph_def, nodes)


def pruned(graph_def: Any, request: Request) -> Any:
    """The graph of what the outputs need, and of the inputs, behind which nothing is looked for."""
    nodes = {node.name: node for node in graph_def.node}
    needed = {node_of(name) for name in request.inputs}
    waiting = [node_of(name) for name in request.outputs]
    while waiting:
        name = waiting.pop()
        if name in needed:
            continue
        if name not in nodes:
            raise tf.errors.InvalidArgumentError(None, None, f"Input node {name} not found in graph")
        needed.add(name)
        waiting += map(node_of, nodes[name].input)
    return _made(graph_def, [node for node in graph_def.node if node.name in needed])


def _strip_unused_nodes(graph_def: Any, request: Request) -> Any:
    ends = {node_of(name) for name in request.inputs}
    named = request.parameters.get("name", [])
    types = dict(zip(named, request.parameters.get("type_for_name", []), strict=False))
    shapes = dict(zip(named, request.parameters.get("shape_for_name", []), strict=False))
    made = pruned(graph_def, request)
    for node in made.node:
        if node.name not in ends or node.op == "Placeholder":
            continue
        kind = types.get(node.name, request.one("type", "float"))
        sizes = shapes.get(node.name, request.one("shape", ""))
        name = node.name
        node.Clear()
        node.name, node.op = name, "Placeholder"
        node.attr["dtype"].type = tf.as_dtype(
            {"float": "float32", "double": "float64"}.get(kind, kind)
        ).as_datatype_enum
        shape = tf.TensorShape([int(size) for size in sizes.split(",") if size.strip()])
        node.attr["shape"].shape.CopyFrom(shape.as_proto())
    return made


def _remove_nodes(graph_def: Any, request: Request) -> Any:
    if "op" not in request.parameters:
        raise tf.errors.InvalidArgumentError(
            None, None, "remove_nodes expects at least one 'op' argument, e.g. remove_nodes(op=Identity)"
        )
    names = {}
    for node in graph_def.node:
        inputs = [entry for entry in node.input if not entry.startswith("^")]
        if node.op in request.parameters["op"] and node.name not in request.kept and len(inputs) == 1:
            names[node.name] = inputs[0]
    return renamed(graph_def, names)


def _merge_duplicate_nodes(graph_def: Any, request: Request) -> Any:
    while True:
        first: dict[bytes, str] = {}
        names = {}
        for node in graph_def.node:
            definition = private.op_def_registry.get(node.op)
            if definition is None or definition.is_stateful or node.op == "Placeholder":
                continue
            copy = type(node)()
            copy.CopyFrom(node)
            copy.ClearField("name")
            kept = first.setdefault(copy.SerializeToString(deterministic=True), node.name)
            if kept != node.name and node.name not in request.kept:
                names[node.name] = kept
        if not names:
            return graph_def
        graph_def = _with_names(graph_def, names)


def _with_names(graph_def: Any, names: dict[str, str]) -> Any:
    """The graph without the nodes ``names``: others take their place, with all of their outputs."""
    nodes = [node for node in graph_def.node if node.name not in names]
    for node in nodes:
        for number, entry in enumerate(node.input):
            name = node_of(entry)
            if name in names:
                caret = "^" if entry.startswith("^") else ""
                node.input[number] = f"{caret}{names[name]}{entry.removeprefix(caret)[len(name) :]}"
    return _made(graph_def, nodes)


def _sort_by_execution_order(graph_def: Any, _: Request) -> Any:
    nodes = {node.name: node for node in graph_def.node}
    ordered: dict[str, Any] = {}
    for start in nodes:
        waiting = [start]
        opened = set()
        while waiting:
            name = waiting[-1]
            missing = [
                source
                for source in map(node_of, nodes[name].input)
                if source in nodes and source not in ordered and source not in opened  # a loop goes back to an open one
            ]
            opened.add(name)
            if missing:
                waiting += missing
            else:
                ordered.setdefault(waiting.pop(), nodes[name])
    return _made(graph_def, ordered.values())


def _remove_device(graph_def: Any, _: Request) -> Any:
    for node in graph_def.node:
        node.device = ""
    return graph_def


def _set_device(graph_def: Any, request: Request) -> Any:
    device, default = request.one("device", ""), request.flag("if_default", False)
    for node in graph_def.node:
        if not (default and node.device):
            node.device = device
    return graph_def


def _remove_attribute(graph_def: Any, request: Request) -> Any:
    name = request.one("attribute_name", example="op_name=Mul, attribute_name=foo")
    operation = request.one("op_name", "*")
    for node in graph_def.node:
        if operation in ("*", node.op) and name in node.attr:
            del node.attr[name]
    return graph_def


def _rename_attribute(graph_def: Any, request: Request) -> Any:
    example = "old_attribute_name=foo, new_attribute_name=bar"
    old, new = (request.one(f"{which}_attribute_name", example=example) for which in ("old", "new"))
    operation = request.one("op_name", "*")
    for node in graph_def.node:
        if operation in ("*", node.op) and old in node.attr:
            node.attr[new].CopyFrom(node.attr[old])
            del node.attr[old]
    return graph_def


def _rename_op(graph_def: Any, request: Request) -> Any:
    old, new = (request.one(f"{which}_op_name", example="old_op_name=Mul, new_op_name=Add") for which in ("old", "new"))
    for node in graph_def.node:
        if node.op == old:
            node.op = new
    return graph_def


def _remove_control_dependencies(graph_def: Any, _: Request) -> Any:
    for node in graph_def.node:
        node.input[:] = [entry for entry in node.input if not entry.startswith("^")]
    return graph_def


def _add_default_attributes(graph_def: Any, _: Request) -> Any:
    for node in graph_def.node:
        definition = private.op_def_registry.get(node.op)
        for attribute in definition.attr if definition is not None else ():
            if attribute.name not in node.attr and attribute.HasField("default_value"):
                node.attr[attribute.name].CopyFrom(attribute.default_value)
    return graph_def


def _obfuscate_names(graph_def: Any, request: Request) -> Any:
    names = {name: name for name in request.kept}
    count = 0
    for node in graph_def.node:
        while node.name not in names:
            new, rest = "", count
            while not new or rest:
                rest, digit = divmod(rest, len(_DIGITS))
                new = _DIGITS[digit] + new
            count += 1
            if new not in request.kept:
                names[node.name] = new
    for node in graph_def.node:
        for number, entry in enumerate(node.input):
            caret = "^" if entry.startswith("^") else ""
            name = node_of(entry)
            node.input[number] = f"{caret}{names.get(name, name)}{entry.removeprefix(caret)[len(name) :]}"
        node.name = names[node.name]
    return graph_def


TRANSFORMS: dict[str, Callable[[Any, Request], Any]] = {
    "add_default_attributes": _add_default_attributes,
    "merge_duplicate_nodes": _merge_duplicate_nodes,
    "obfuscate_names": _obfuscate_names,
    "remove_attribute": _remove_attribute,
    "remove_control_dependencies": _remove_control_dependencies,
    "remove_device": _remove_device,
    "remove_nodes": _remove_nodes,
    "rename_attribute": _rename_attribute,
    "rename_op": _rename_op,
    "set_device": _set_device,
    "sort_by_execution_order": _sort_by_execution_order,
    "strip_unused_nodes": _strip_unused_nodes,
}
