"""The functions that come with a GraphDef: what ``Defun``, datasets and loops of TensorFlow 2 are made of.

TensorFlow has one table of functions for a whole process, in which a name can mean one thing only; two models may well
use one name for two. So each gets a name that tells its library from others, here and in all that refers to it.

The table knows nothing of the gradient that a function may come with (``Defun(grad_func=...)``): TensorFlow 2 would
compute another one, without a word. So such a function is an error.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

from tf1sessions.errors import ConversionError
from tf1sessions.runtime import private, tf

__all__ = ["Functions"]


class Functions:
    """The functions of one GraphDef; makes them known where they are used.

    Args:
        library: A FunctionDefLibrary. Not changed.
        where: Where it comes from, for errors.
    """

    def __init__(self, library: Any, where: str) -> None:
        self._where = where
        self._own = {each.function_name for each in library.gradient}
        self._calls = {each.signature.name: _called(each) for each in library.function}
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

    def used(self, operation: str, attributes: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        """The type and the attributes of an operation, with the functions' names of here.

        If it uses functions, they are known to the default graph from then on.

        Raises:
            ConversionError: It uses a function that has a gradient of its own.
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
        seen: set[str] = set()
        while names:
            name = names.pop()
            if name in self._own:
                raise ConversionError(
                    f"function {name!r} has a gradient of its own, which TensorFlow 2 does not keep",
                    where=self._where,
                    next_step="Convert a part of the graph that does without, by naming other outputs or inputs.",
                    nodes=(name,),
                )
            if name not in seen:
                seen.add(name)
                names |= self._calls.get(name, set())

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


def _called(function: Any) -> set[str]:
    return {name for node in function.node_def for name in (node.op, *_named(node.attr.values()))}
