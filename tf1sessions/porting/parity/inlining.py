"""The functions that a graph calls, written out in it, under the names that their nodes have.

A SavedModel of TensorFlow 2 keeps a signature as a call of a call of what was traced. What TensorFlow 1 named is in the
innermost of them, so only there can two sides be compared tensor by tensor. The bodies of loops and conditions stay
functions: how often they run is not known before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tf1sessions.models.graph_index import node_of
from tf1sessions.runtime import private, tf

__all__ = ["inlined"]

_CALLS = ("PartitionedCall", "StatefulPartitionedCall")
#: How deep calls may be nested before the rest of them is left as it is. Arbitrary: exports have two or three.
_MOST_ROUNDS = 20


def inlined(graph_def: Any) -> Any:
    """A copy of a GraphDef with the bodies of the functions in the place of their calls.

    A node keeps the name that it has in the function, unless there is one of that name; then it is
    ``"name of the call/its name"``.
    """
    library = {function.signature.name: function for function in graph_def.library.function}
    for _ in range(_MOST_ROUNDS):
        calls = {node.name: body for node in graph_def.node if (body := _body(node, library)) is not None}
        if not calls:
            break
        graph_def = _once(graph_def, calls)
    return graph_def


def _body(node: Any, library: Mapping[str, Any]) -> Any:
    """The function that a node does nothing but call; None if it is no such node."""
    name = node.attr["f"].func.name if node.op in _CALLS else node.op
    function = library.get(name)
    if function is None:
        return None
    several = any(each.number_attr or each.type_list_attr for each in function.signature.input_arg)
    several = several or any(each.number_attr or each.type_list_attr for each in function.signature.output_arg)
    generic = any(value.placeholder for each in function.node_def for value in each.attr.values())
    return None if several or generic else function


def _once(graph_def: Any, calls: Mapping[str, Any]) -> Any:
    taken = {node.name for node in graph_def.node}
    replaced: dict[str, str] = {}  # a tensor of a call -> what it is in the body
    ends: dict[str, list[str]] = {}  # a call -> what has run when it has
    bodies: list[Any] = []
    for node in graph_def.node:
        if node.name in calls:
            body = _Body(node, calls[node.name], taken)
            bodies += body.nodes
            replaced |= {f"{node.name}:{index}": entry for index, entry in enumerate(body.returns)}
            ends[node.name] = body.ends
    result = tf.GraphDef()
    result.versions.CopyFrom(graph_def.versions)
    result.library.CopyFrom(graph_def.library)
    for node in (*graph_def.node, *bodies):
        if node.name not in calls:
            made = result.node.add()
            made.CopyFrom(node)
            del made.input[:]
            made.input.extend(_resolved(node.input, replaced, ends))
    return result


def _resolved(entries: Iterable[str], replaced: Mapping[str, str], ends: Mapping[str, list[str]]) -> Iterator[str]:
    """Inputs, with those that were outputs of calls as what they are now; a call may be handed to a call."""
    waiting: dict[str, None] = {}
    for entry in entries:
        if entry.startswith("^"):
            waiting |= dict.fromkeys(_all_ends(entry[1:], ends))
            continue
        while (key := entry if ":" in entry else f"{entry}:0") in replaced:
            entry = replaced[key]
        yield entry
    for name in waiting:
        yield f"^{name}"


def _all_ends(name: str, ends: Mapping[str, list[str]]) -> Iterator[str]:
    if name not in ends:
        yield name
        return
    for each in ends[name]:
        yield from _all_ends(each, ends)


class _Body:
    """The nodes of one call of a function.

    Attributes:
        nodes: NodeDefs as those of a graph.
        returns: The tensors that the call gives.
        ends: The nodes that have run when the call has.
    """

    def __init__(self, call: Any, function: Any, taken: set[str]) -> None:
        self._function = function
        self._inside = {node.name: node for node in function.node_def}
        given = [entry for entry in call.input if not entry.startswith("^")]
        before = [entry for entry in call.input if entry.startswith("^")]
        arguments = [each.name for each in function.signature.input_arg]
        self._given: dict[str, str] = dict(zip(arguments, given, strict=True))
        self._names = {}
        for name in self._inside:
            self._names[name] = free = name if name not in taken else _free(f"{call.name}/{name}", taken)
            taken.add(free)
        self.nodes = [self._node(node, before) for node in function.node_def]
        self.returns = [self._tensor(function.ret[each.name]) for each in function.signature.output_arg]
        controls = [self._names[name] for name in function.control_ret.values() if name in self._names]
        self.ends = list(dict.fromkeys([*controls, *map(node_of, self.returns)]))

    def _node(self, node: Any, before: Iterable[str]) -> Any:
        made = tf.NodeDef()
        made.CopyFrom(node)
        made.name = self._names[node.name]
        data = [self._tensor(entry) for entry in node.input if not entry.startswith("^")]
        controls = []
        for entry in node.input:
            name = entry[1:].partition(":")[0]
            if entry.startswith("^"):
                controls.append("^" + (self._names[name] if name in self._names else node_of(self._given[name])))
        del made.input[:]
        made.input.extend([*data, *dict.fromkeys([*controls, *before])])
        return made

    def _tensor(self, entry: str) -> Any:
        """A tensor as a graph names it, of one as a function does: ``"argument"`` or ``"node:output:index"``."""
        name, _, output = entry.partition(":")
        if name in self._given:
            return self._given[name]
        return f"{self._names[name]}:{_number(self._inside[name], output)}"


def _number(node: Any, output: str) -> int:
    """The number of the output that a function calls ``"values:1"``."""
    name, _, index = output.partition(":")
    number = int(index or 0)
    definition = private.op_def_registry.get(node.op)
    if definition is None:
        return number
    for argument in definition.output_arg:
        if argument.name == name:
            break
        number += _count(node, argument)
    return number


def _count(node: Any, argument: Any) -> int:
    if argument.type_list_attr:
        return len(node.attr[argument.type_list_attr].list.type)
    return int(node.attr[argument.number_attr].i) if argument.number_attr else 1


def _free(name: str, taken: set[str]) -> str:
    number, free = 1, name
    while free in taken:
        free, number = f"{name}_{number}", number + 1
    return free
