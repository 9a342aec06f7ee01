"""The tensors of a step that are combined over replicas, so that each replica changes its variables in the same way.

Each replica computes the step of its part of the batch. What depends on the part *varies*. Where something that varies
would change a variable, a tensor on the way there is combined over all replicas, and takes its place for everything
that follows::

    part of the batch ──▶ loss ──▶ gradients ─╂─▶ clipping ──▶ ApplyAdam       gradients, as tf.gradients gives them
                     └──▶ batch mean ──▶ × 0.01 ─╂─▶ AssignSub(moving mean)    otherwise what is written
                                                 ╂ combined here

So an optimizer, and what a program does between gradients and optimizer, run as they do on one device.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from tf1sessions.errors import ConversionError
from tf1sessions.models.arguments import output_types
from tf1sessions.models.graph_index import GraphIndex, function_values, functions_named, node_of, tensor_name
from tf1sessions.models.signature_inference import GRADIENTS, OPTIMIZES, UPDATES
from tf1sessions.porting.graphs.references import HANDLES, REFERENCES
from tf1sessions.porting.graphs.structure import Key, key_of
from tf1sessions.runtime import private

__all__ = ["Rules", "StepPlan", "plan_step", "written_variables"]

_RANDOM = re.compile(r"^(Random\w*|TruncatedNormal|ParameterizedTruncatedNormal|Multinomial|Stateful\w*Random\w*)$")
_NEXT = {"NextIteration", "RefNextIteration"}


@dataclasses.dataclass(frozen=True)
class Rules:
    """The rules by which varying values are combined.

    Attributes:
        gradients: ``"mean"`` or ``"sum"``.
        named: Variable, or output -> ``"mean"``, ``"sum"``, ``"concat"`` or ``"first"``.
        summed: Variables to which the sum over replicas is added: those of metrics.
    """

    gradients: str = "mean"
    named: Mapping[str, str] = dataclasses.field(default_factory=dict)
    summed: frozenset[str] = frozenset()


@dataclasses.dataclass(frozen=True)
class StepPlan:
    """The result of :func:`plan_step`.

    Attributes:
        stages: The tensors to combine, and how: ``"mean"``, ``"sum"``, ``"first"``, ``"concat"`` (along the first
            dimension) or ``"concat_mean"`` (the same, each weighted by its replica's share of the batch). Those of a
            stage need those of the stages before it.
        varying: The nodes that vary after that.
    """

    stages: tuple[Mapping[Key, str], ...]
    varying: frozenset[str]


def written_variables(index: GraphIndex, ends: Iterable[str], cut: Collection[str]) -> dict[str, list[Any]]:
    """The variables that a request changes, each with the operations that do it.

    An operation that calls a function which changes variables, such as an If, may change all that it takes.

    Args:
        index: The graph.
        ends: The nodes that the request computes and runs.
        cut: The tensors that it is fed.
    """
    found: dict[str, list[Any]] = {}
    needed = index.ancestors(ends, cut)
    changing = _changing_functions(index.graph_def.library.function)
    for node in index.graph_def.node:
        if node.name not in needed:
            continue
        if UPDATES.match(node.op) and (variable := _variable_of(index, node)):
            found.setdefault(variable, []).append(node)
            for slot in _taken_variables(index, node) if OPTIMIZES.match(node.op) else ():
                found.setdefault(slot, [])
        elif changing and changing.intersection(functions_named(node.attr.values(), strings=False)):
            for variable in _taken_variables(index, node):
                found.setdefault(variable, []).append(node)
    return found


def _variable_of(index: GraphIndex, node: Any) -> str | None:
    """The variable that an operation works on, behind what hands it on."""
    seen = set()
    while node.op not in REFERENCES | HANDLES:
        if not node.input or node.name in seen or node.input[0].startswith("^"):
            return None
        seen.add(node.name)
        node = index.nodes.get(node_of(node.input[0]))
        if node is None:
            return None
    name: str = node.name
    return name


def _taken_variables(index: GraphIndex, node: Any) -> Iterator[str]:
    """The variables that an operation takes as they are."""
    for entry in node.input:
        source = None if entry.startswith("^") else index.nodes.get(node_of(entry))
        if source is not None and source.op in REFERENCES | HANDLES:
            yield source.name


def _changing_functions(library: Iterable[Any]) -> set[str]:
    """The functions that change variables, or call one that does."""
    calls = {function.signature.name: function for function in library}
    found = {name for name, each in calls.items() if any(UPDATES.match(inner.op) for inner in each.node_def)}
    called = {name: set(functions_named(function_values(each), strings=False)) for name, each in calls.items()}
    while more := {name for name, names in called.items() if name not in found and names & found}:
        found |= more
    return found


def plan_step(
    index: GraphIndex, ends: Sequence[str], cut: Collection[str], split: Collection[str], rules: Rules, where: str
) -> StepPlan:
    """Find what is combined.

    Args:
        index: The graph.
        ends: The nodes that a step computes and runs.
        cut: The tensors that it is given.
        split: Those of them of which each replica gets a part.
        rules: How it is combined.
        where: Where the graph comes from, for errors.

    Raises:
        ConversionError: Something varies that cannot be combined; ``nodes`` names it.
    """
    needed = index.ancestors(ends, cut)
    writes = written_variables(index, ends, cut)
    found: dict[Key, str] = {}
    add = _adder(found, where)
    varying = _varying(index, needed, split, found)
    for operations in writes.values():
        for write in operations:
            add(_gradients_of(index, write, varying, rules))
    gradients = dict(found)
    varying = _varying(index, needed, split, found)
    for variable, operations in writes.items():
        for write in operations:
            if gradients and OPTIMIZES.match(write.op) and _varying_inputs(write, varying, found):
                raise ConversionError(
                    f"what {write.name!r} applies to {variable!r} depends on the batch by more than its gradients",
                    where=where,
                    next_step="Divide the loss, and not its gradients, by the size of the batch.",
                    nodes=(write.name,),
                )
            add(_written_values(index, write, variable, varying, found, rules, where))
    return StepPlan(_stages(index, needed, found), frozenset(_varying(index, needed, split, found)))


def _adder(found: dict[Key, str], where: str) -> Callable[[Mapping[Key, str]], None]:
    def add(more: Mapping[Key, str]) -> None:
        for key, how in more.items():
            if found.setdefault(key, how) != how:
                raise ConversionError(
                    f"{key[0]!r} would be combined in two ways, {found[key]!r} and {how!r}",
                    where=where,
                    next_step="Train the dense and the sparse variables by separate gradients.",
                    nodes=(key[0],),
                )

    return add


def _varying(index: GraphIndex, needed: set[str], split: Collection[str], cut: Collection[Key]) -> set[str]:
    """The nodes that vary: after a part of the batch or a random number, and not only after what is combined."""
    starts = {node_of(tensor) for tensor in split} | {name for name in needed if _RANDOM.match(index.nodes[name].op)}
    seen = set(starts)
    queue = list(seen)
    while queue:
        for consumer, entry in index.consumers[queue.pop()]:
            taken = consumer.name in needed and consumer.name not in seen and not entry.startswith("^")
            if taken and not UPDATES.match(consumer.op) and key_of(entry) not in cut:
                seen.add(consumer.name)
                queue.append(consumer.name)
    return seen


def _varying_inputs(node: Any, varying: Collection[str], cut: Collection[Key]) -> list[tuple[str, str]]:
    """The inputs of a node that vary, each with the name of its argument."""
    entries = [entry for entry in node.input if not entry.startswith("^")]
    definition = private.op_def_registry.get(node.op)
    names = [argument.name for argument in definition.input_arg] if definition is not None else []
    names = names if len(names) == len(entries) else [""] * len(entries)
    return [
        (name, entry)
        for name, entry in zip(names, entries, strict=True)
        if node_of(entry) in varying and key_of(entry) not in cut
    ]


def _gradients_of(index: GraphIndex, write: Any, varying: set[str], rules: Rules) -> dict[Key, str]:
    """The gradients that an operation's values are made of, as ``tf.gradients`` gave them."""
    inputs = _varying_inputs(write, varying, ())
    sparse = any(name == "indices" for name, _ in inputs)
    found: dict[Key, str] = {}
    seen: set[str] = set()
    queue = [entry for _, entry in inputs]
    while queue:
        entry = queue.pop()
        if entry in seen or entry.startswith("^") or node_of(entry) not in varying:
            continue
        seen.add(entry)
        node = index.nodes[node_of(entry)]
        if not GRADIENTS.search(node.name):
            queue += node.input
            continue
        floating = _dtype(index, entry).is_floating
        if sparse:
            found[key_of(entry)] = "concat_mean" if floating and rules.gradients == "mean" else "concat"
        elif floating:
            found[key_of(entry)] = rules.gradients
    return found


def _written_values(
    index: GraphIndex, write: Any, variable: str, varying: set[str], cut: Collection[Key], rules: Rules, where: str
) -> dict[Key, str]:
    """Return the values that an operation writes, where they vary."""
    inputs = _varying_inputs(write, varying, cut)
    if inputs and not UPDATES.match(write.op):
        raise ConversionError(
            f"{write.name!r}, a {write.op}, calls a function that changes {variable!r} by what depends on the batch",
            where=where,
            next_step="Build the graph with control flow of TensorFlow 1: tf.compat.v1.disable_control_flow_v2(); or "
            "with training=True where that decides it.",
            nodes=(write.name,),
        )
    if any(name == "indices" for name, _ in inputs):  # the rows that each replica would change
        return {key_of(entry): "concat" for _, entry in inputs}
    how = rules.named.get(variable)
    if how is None and variable in rules.summed and "Add" in write.op:
        how = "sum"
    found = {}
    for _, entry in inputs:
        if how is None and not _dtype(index, entry).is_floating:
            raise ConversionError(
                f"{write.name!r} writes whole numbers that depend on the batch to {variable!r}",
                where=where,
                next_step=f"Say what becomes of those of the replicas: combine={{{variable!r}: 'sum'}}, or 'first'.",
                nodes=(write.name,),
            )
        found[key_of(entry)] = how or "mean"
    return found


def _dtype(index: GraphIndex, entry: str) -> Any:
    name, place = key_of(tensor_name(entry))
    return output_types(index.nodes[name])[place].base_dtype


def _stages(index: GraphIndex, needed: set[str], found: Mapping[Key, str]) -> tuple[Mapping[Key, str], ...]:
    """The tensors in an order in which each can be made when those of the stages before it are combined."""
    level: dict[str, int] = {}
    waiting = [key[0] for key in found]
    while waiting:
        name = waiting[-1]
        if name in level:
            waiting.pop()
            continue
        node = index.nodes[name]
        entries = [] if node.op in _NEXT else [entry for entry in node.input if node_of(entry) in needed]
        missing = [node_of(entry) for entry in entries if node_of(entry) not in level]
        if missing:
            waiting += missing
            continue
        level[name] = max((level[node_of(entry)] + (key_of(entry) in found) for entry in entries), default=0)
        waiting.pop()
    stages: dict[int, dict[Key, str]] = {}
    for key in sorted(found):
        stages.setdefault(level[key[0]], {})[key] = found[key]
    return tuple(stages[number] for number in sorted(stages))
