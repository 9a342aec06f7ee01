"""The functions that come with a GraphDef: what ``Defun``, datasets and loops of TensorFlow 2 are made of.

TensorFlow has one table of functions for a whole process, in which a name can mean one thing only; two models may well
use one name for two. So each gets a name that is its library's own, here and in all that refers to it.

The table knows nothing of the gradient that a function may come with (``Defun(grad_func=...)``): TensorFlow 2 would
compute another one, without a word. So such a function, and one that calls it, is made where it is called, of the
nodes that it is made of (:meth:`Functions.body`). Where an operation such as a loop of TensorFlow 2 calls it, that is
an error.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

from tf1sessions.errors import ConversionError
from tf1sessions.models.graph_index import listed
from tf1sessions.porting.graphs.references import HANDLES, REFERENCES, TABLES
from tf1sessions.porting.graphs.structure import CONTROL, Key, key_of
from tf1sessions.runtime import private, tf

__all__ = ["Body", "Functions"]


@dataclasses.dataclass(frozen=True)
class Body:
    """A function as a graph.

    Attributes:
        graph_def: Its nodes; those of its arguments are placeholders.
        inputs, outputs: Its arguments and what it gives, in order.
        effects: The nodes that have to run besides.
    """

    graph_def: Any
    inputs: tuple[Key, ...]
    outputs: tuple[Key, ...]
    effects: tuple[Key, ...]


class Functions:
    """The functions of one GraphDef; makes them known where they are used.

    Args:
        library: A FunctionDefLibrary. Not changed.
        where: Where it comes from, for errors.
    """

    def __init__(self, library: Any, where: str) -> None:
        self._where = where
        self._gradients = {each.function_name: each.gradient_func for each in library.gradient}
        self._bodies = {each.signature.name: each for each in library.function} if self._gradients else {}
        self._calls = {each.signature.name: _called(each) for each in library.function}
        self._keeps = {each.signature.name: _kept(each) for each in library.function}
        self._library: Any = None
        self._names: dict[str, str] = {}
        if not len(library.function):
            return
        digest = hashlib.sha256(library.SerializeToString(deterministic=True)).hexdigest()[:8]
        self._names = {each.signature.name: f"{each.signature.name}_{digest}" for each in library.function}
        self._library = type(library)()
        self._library.CopyFrom(library)
        for function in self._library.function:
            function.signature.name = self._names[function.signature.name]
            for node in function.node_def:
                node.op = self._names.get(node.op, node.op)
                self._rename(node.attr.values())
            self._rename(function.attr.values())
        for gradient in self._library.gradient:
            gradient.function_name = self._names.get(gradient.function_name, gradient.function_name)
            gradient.gradient_func = self._names.get(gradient.gradient_func, gradient.gradient_func)

    def is_inlined(self, operation: str) -> bool:
        """Whether an operation is a call of a function that is made where it is called."""
        return operation in self._bodies and bool(self._reached({operation}) & self._gradients.keys())

    def gradient(self, function: str) -> str | None:
        """The function that is the gradient of one: of its inputs and the gradients of its outputs."""
        return self._gradients.get(function)

    def body(self, function: str) -> Body:
        """Return what a function is made of.

        Raises:
            ConversionError: It takes lists, of which it does not say how long they are.
        """
        found = self._bodies[function]
        lists = [each.name for each in found.signature.input_arg if each.number_attr or each.type_list_attr]
        if lists:
            raise ConversionError(
                f"function {function!r}, which has a gradient of its own, takes lists: {listed(lists)}",
                where=self._where,
                next_step="Convert a part of the graph that does without, by naming other outputs or inputs.",
                nodes=(function,),
            )
        return _body(found, self._bodies)

    def used(self, operation: str, attributes: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        """The type and the attributes of an operation, with the functions' names of here.

        If it uses functions, they are known to the default graph from then on.

        Raises:
            ConversionError: It uses a function that has a gradient of its own, otherwise than by calling it; or one
                that has variables of its own.
        """
        if self._library is None:
            return operation, attributes
        self._check({operation, *_named(attributes.values())})
        changed = {key: value for key, value in attributes.items() if value.WhichOneof("value") in ("func", "list")}
        changed = {key: self._renamed(value) for key, value in changed.items() if value.func.name or value.list.func}
        if operation in self._names or changed:
            self._declare()
        return self._names.get(operation, operation), {**attributes, **changed}

    def _check(self, names: set[str]) -> None:
        if own := sorted(self._reached(names) & self._gradients.keys()):
            raise ConversionError(
                f"function {own[0]!r} has a gradient of its own, which TensorFlow 2 does not keep where it is part of "
                "an operation",
                where=self._where,
                next_step="Convert a part of the graph that does without, by naming other outputs or inputs.",
                nodes=tuple(own),
            )
        for name in sorted(self._reached(names)):
            if kept := self._keeps.get(name):
                raise ConversionError(
                    f"function {name!r} has a variable or a table of its own: {listed(sorted(kept))}",
                    where=self._where,
                    next_step="Convert a part of the graph that does without, by naming other outputs or inputs.",
                    nodes=tuple(sorted(kept)),
                )

    def _reached(self, names: set[str]) -> set[str]:
        """Return these functions, and those that they use, directly or not."""
        seen: set[str] = set()
        queue = list(names)
        while queue:
            name = queue.pop()
            if name not in seen:
                seen.add(name)
                queue += self._calls.get(name, ())
        return seen

    def _renamed(self, value: Any) -> Any:
        copy = type(value)()
        copy.CopyFrom(value)
        self._rename([copy])
        return copy

    def _rename(self, values: Iterable[Any]) -> None:
        for value in values:
            for each in _references(value):
                each.name = self._names.get(each.name, each.name)
                self._rename(each.attr.values())

    def _declare(self) -> None:
        graph = tf.get_default_graph()
        if not graph._is_function(self._library.function[0].signature.name):
            holder = tf.GraphDef()
            holder.library.CopyFrom(self._library)
            tf.import_graph_def(holder, name="")
        if tf.executing_eagerly_outside_functions():  # where a tf.function runs
            context = private.context.context()
            for function in self._library.function:
                if not context.has_function(function.signature.name):
                    context.add_function_def(function)


def _named(values: Iterable[Any]) -> set[str]:
    """The functions that attributes name."""
    found = set()
    for value in values:
        for each in _references(value):
            found |= {each.name, *_named(each.attr.values())}
    return found


def _references(value: Any) -> list[Any]:
    return [*([value.func] if value.func.name else []), *value.list.func]


def _body(function: Any, others: Mapping[str, Any]) -> Body:
    graph_def = tf.GraphDef()
    kinds = {node.name: node for node in function.node_def}
    for argument in function.signature.input_arg:
        graph_def.node.add(name=argument.name, op="Placeholder").attr["dtype"].type = argument.type
    for node in function.node_def:
        copy = graph_def.node.add()
        copy.CopyFrom(node)
        copy.input[:] = [_flat(entry, kinds, others) for entry in node.input]
    return Body(
        graph_def,
        tuple((each.name, 0) for each in function.signature.input_arg),
        tuple(key_of(_flat(function.ret[each.name], kinds, others)) for each in function.signature.output_arg),
        tuple((name, CONTROL) for name in function.control_ret.values()),
    )


def _flat(entry: str, kinds: Mapping[str, Any], others: Mapping[str, Any]) -> str:
    """An input as functions name it (``"node:output:1"``) as graphs do (``"node:3"``)."""
    name, *rest = entry.split(":")
    if name.startswith("^") or len(rest) != 2:
        return entry
    node = kinds[name]
    if node.op in others:
        results = others[node.op].signature.output_arg
    else:
        results = private.op_def_registry.get(node.op).output_arg
    index = int(rest[1])
    for result in results:
        if result.name == rest[0]:
            break
        index += _length(result, node)
    return f"{name}:{index}"


def _length(argument: Any, node: Any) -> int:
    """Return the number of tensors of a node's argument."""
    if argument.number_attr:
        return int(node.attr[argument.number_attr].i)
    return len(node.attr[argument.type_list_attr].list.type) if argument.type_list_attr else 1


def _kept(function: Any) -> list[str]:
    """The nodes of a function that keep something from call to call."""
    return [node.name for node in function.node_def if node.op in REFERENCES | HANDLES | TABLES]


def _called(function: Any) -> set[str]:
    return {name for node in function.node_def for name in (node.op, *_named(node.attr.values()))}
