"""Dependencies of a GraphDef's nodes. Iterative throughout: a graph may be a chain of a million nodes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

__all__ = ["GraphIndex", "function_values", "functions_named", "listed", "node_of", "tensor_name"]


def node_of(tensor: str) -> str:
    """The name of the node in ``"name"``, ``"name:1"`` and ``"^name"``."""
    name = tensor[1:] if tensor.startswith("^") else tensor
    head, colon, tail = name.rpartition(":")
    return head if colon and tail.isdigit() else name


def tensor_name(tensor: str) -> str:
    """``"name"`` as ``"name:0"``; a name with an index as it is."""
    head, colon, tail = tensor.rpartition(":")
    return tensor if colon and head and tail.isdigit() else f"{tensor}:0"


def listed(names: Sequence[str], most: int = 6) -> str:
    """The first names, for a message, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def functions_named(values: Iterable[Any], strings: bool = True) -> Iterator[str]:
    """The names of functions in attributes, at any depth: a function that is named may name others in its own ones.

    Args:
        values: AttrValues.
        strings: Whether strings count as well: optimizers of TensorFlow find some functions by them.
    """
    waiting = list(values)
    while waiting:
        value = waiting.pop()
        if strings:
            yield from (text.decode("utf-8", "replace") for text in (value.s, *value.list.s) if text)
        for function in (value.func, *value.list.func):
            if function.name:
                yield function.name
            waiting += function.attr.values()


def function_values(function: Any) -> Iterator[Any]:
    """All attributes of a FunctionDef: its nodes', its own, its arguments', and the defaults in its signature."""
    for node in function.node_def:
        yield from node.attr.values()
    yield from function.attr.values()
    for argument in function.arg_attr.values():
        yield from argument.attr.values()
    for attribute in function.signature.attr:
        yield attribute.default_value
        yield attribute.allowed_values


class GraphIndex:
    """The nodes of a GraphDef by name, and what each of them feeds.

    Thread-safety: reading is safe from any thread, as long as nobody changes the GraphDef.
    """

    def __init__(self, graph_def: Any) -> None:
        self.graph_def = graph_def
        self.nodes: dict[str, Any] = {node.name: node for node in graph_def.node}

    @functools.cached_property
    def consumers(self) -> dict[str, list[tuple[Any, str]]]:
        """Name of a node -> the nodes that take an output of it, or wait for it, with the input as they name it."""
        found: dict[str, list[tuple[Any, str]]] = {name: [] for name in self.nodes}
        for node in self.graph_def.node:
            for entry in node.input:
                if (source := node_of(entry)) in found:
                    found[source].append((node, entry))
        return found

    @functools.cached_property
    def longest_chain(self) -> int:
        """Return the length of the longest chain of nodes, each taking a value of the one before; loops count once."""
        waits: dict[str, set[str]] = {}
        for node in self.graph_def.node:
            entries = () if node.op in ("NextIteration", "RefNextIteration") else node.input
            waits[node.name] = {node_of(entry) for entry in entries if not entry.startswith("^")} & self.nodes.keys()
        count = {name: len(before) for name, before in waits.items()}
        length = dict.fromkeys(waits, 1)
        ready = [name for name, number in count.items() if not number]
        while ready:
            name = ready.pop()
            for node in {id(node): node for node, entry in self.consumers[name] if not entry.startswith("^")}.values():
                if name in waits[node.name]:
                    length[node.name] = max(length[node.name], length[name] + 1)
                    count[node.name] -= 1
                    if not count[node.name]:
                        ready.append(node.name)
        return max(length.values(), default=0)

    def ancestors(self, names: Iterable[str], cut: Iterable[str] = (), control: bool = True) -> set[str]:
        """The nodes that ``names`` need, themselves included.

        Args:
            names: Names of nodes; those that are not in the graph are left out.
            cut: Tensors (``"name:0"``) that are given from outside: what only they need is left out.
            control: Whether to follow control inputs.
        """
        given = set(cut)

        def before(node: Any) -> Iterator[str]:
            for entry in node.input:
                if entry.startswith("^"):
                    if control:
                        yield entry[1:]
                elif tensor_name(entry) not in given:
                    yield node_of(entry)

        return self._reach(names, before)

    def descendants(self, names: Iterable[str], through: Callable[[Any], bool] = lambda node: True) -> set[str]:
        """The nodes that take, directly or not, data of ``names``, themselves included; only via those ``through``."""

        def after(node: Any) -> Iterator[str]:
            for consumer, entry in self.consumers[node.name]:
                if not entry.startswith("^") and through(consumer):
                    yield consumer.name

        return self._reach(names, after)

    def _reach(self, names: Iterable[str], step: Callable[[Any], Iterator[str]]) -> set[str]:
        seen = {name for name in names if name in self.nodes}
        queue = list(seen)
        while queue:
            for name in step(self.nodes[queue.pop()]):
                if name in self.nodes and name not in seen:
                    seen.add(name)
                    queue.append(name)
        return seen
