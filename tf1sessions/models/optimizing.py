"""Graphs that TensorFlow's optimizers should leave as they are: what they would cost is more than what they save."""

from __future__ import annotations

from typing import Any

from tf1sessions.models.graph_index import GraphIndex, function_values, functions_named

__all__ = ["better_as_it_is"]

#: The optimizer takes a time that grows with the square of a chain of operations, 1.7 s for 5,000 and minutes for
#: 40,000, and of the calls of functions: 0.5 s for 60, 12 s for 240 of one operation each (2.21).
_LONG_CHAIN = 5000
_MANY_CALLS = 100

_LOOPS = frozenset({"While", "StatelessWhile"})


def better_as_it_is(graph_index: GraphIndex) -> bool:
    """Whether a graph has a long chain of operations, many calls of functions, or a loop with a constant condition.

    The optimizers compute such a condition in advance, and with it goes the operation that looks whether the run was
    cancelled (LoopCond): a loop that is endless then runs until the process ends (2.21).

    Args:
        graph_index: The graph; its functions do not call themselves.
    """
    return (
        (len(graph_index.nodes) > _LONG_CHAIN and graph_index.longest_chain > _LONG_CHAIN)
        or _calls(graph_index) >= _MANY_CALLS
        or _has_constant_condition(graph_index)
    )


def _calls(graph_index: GraphIndex) -> int:
    """Count the calls of functions that a run can make, each with those that it makes in turn."""
    library = graph_index.graph_def.library
    functions = {function.signature.name: function for function in library.function}
    totals: dict[str, int] = {}

    def total(nodes: Any, values: Any) -> int:
        named = [*(node.op for node in nodes), *functions_named(values, strings=False)]
        return sum(1 + of(name) for name in named if name in functions)

    def of(name: str) -> int:
        if name not in totals:
            function = functions[name]
            totals[name] = total(function.node_def, function_values(function))
        return totals[name]

    nodes = graph_index.nodes.values()
    return total(nodes, (value for node in nodes for value in node.attr.values())) if functions else 0


def _has_constant_condition(graph_index: GraphIndex) -> bool:
    """Whether a loop of the graph, or of its functions, has a condition that no loop variable goes into."""
    nodes, library = graph_index.nodes, graph_index.graph_def.library
    for node in nodes.values():
        if node.op == "LoopCond":
            before = graph_index.ancestors([node.name], control=False)
            if not any(nodes[name].op in ("Merge", "RefMerge") for name in before):
                return True
    bodies = (nodes.values(), *(function.node_def for function in library.function))
    named = {node.attr["cond"].func.name for body in bodies for node in body if node.op in _LOOPS}
    return any(_ignores_arguments(function) for function in library.function if function.signature.name in named)


def _ignores_arguments(function: Any) -> bool:
    arguments = {argument.name for argument in function.signature.input_arg}
    nodes = {node.name: node for node in function.node_def}
    waiting = [name.partition(":")[0] for name in function.ret.values()]
    seen = set(waiting)
    for name in waiting:
        new = {entry.partition(":")[0] for entry in (nodes[name].input if name in nodes else ()) if entry[:1] != "^"}
        waiting += new - seen
        seen |= new
    return seen.isdisjoint(arguments)
