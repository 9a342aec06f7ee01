"""Parts of a graph: without what TensorFlow lacks, and without what nobody allowed."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from tf1sessions.errors import UnknownOperationError, UsageError
from tf1sessions.models import interface, risks
from tf1sessions.models.graph_index import GraphIndex, listed, node_of, tensor_name
from tf1sessions.models.interface import Interface
from tf1sessions.models.upgrades.lost import LOST
from tf1sessions.runtime import private

__all__ = ["list_operations", "subgraph", "without_gradient_stops", "without_risks", "without_unknown"]


def subgraph(graph_index: GraphIndex, names: Collection[str]) -> Any:
    """The GraphDef of these nodes alone, in their order. Colocations with others are dropped."""
    result = type(graph_index.graph_def)()
    result.versions.CopyFrom(graph_index.graph_def.versions)
    result.library.CopyFrom(graph_index.graph_def.library)
    for node in graph_index.graph_def.node:
        if node.name not in names:
            continue
        copy = result.node.add()
        copy.CopyFrom(node)
        for entry in [entry for entry in copy.input if entry.startswith("^") and entry[1:] not in names]:
            copy.input.remove(entry)
        if "_class" in copy.attr:
            classes = copy.attr["_class"].list
            kept = [name for name in classes.s if not name.startswith(b"loc:@") or name[5:].decode() in names]
            del classes.s[:]
            classes.s.extend(kept)
    return result


def list_operations(unknown: Mapping[str, Sequence[str]]) -> str:
    """Unknown operations with where they were, and their nodes: ``"Reduce of tf.contrib.x: a, b; ..."``."""
    homes = {op: f"{op} of {LOST[op]}" if op in LOST else op for op in unknown}
    return "; ".join(f"{homes[op]}: {listed(names)}" for op, names in sorted(unknown.items()))


def without_unknown(
    unknown: Mapping[str, Sequence[str]], graph_index: GraphIndex, interfaces: Mapping[str, Interface], path: str
) -> tuple[Any, dict[str, Interface], str]:
    """Takes out what needs an unknown operation. What a signature still gives without is kept.

    Raises:
        UnknownOperationError: No signature is left.
    """
    lost = {name for names in unknown.values() for name in names}
    queue = [name for name in lost if name in graph_index.nodes]
    lost = set(queue)
    while queue:
        for consumer, _ in graph_index.consumers[queue.pop()]:  # control inputs too
            if consumer.name not in lost:
                lost.add(consumer.name)
                queue.append(consumer.name)
    kept: dict[str, Interface] = {}
    dropped: dict[str, list[str]] = {}
    for name, one in interfaces.items():
        cut = [spec.tensor for spec in one.inputs.values()]
        needs = {key: graph_index.ancestors([node_of(spec.tensor)], cut) & lost for key, spec in one.outputs.items()}
        fine = {key: spec for key, spec in one.outputs.items() if not needs[key]}
        if bad := [key for key in needs if needs[key]]:
            dropped[name] = bad
        if fine and (one.guessed or not dropped.get(name)):
            kept[name] = dataclasses.replace(one, outputs=fine)
    gone = list_operations(unknown)
    if not kept:
        needing = sorted({key for keys in dropped.values() for key in keys})
        raise UnknownOperationError(
            f"this TensorFlow does not have the operations {gone}; the outputs {listed(needing)} need them",
            where=path,
            next_step="Load a part that does without them (outputs=..., or inputs=... to cut the graph behind them), "
            "or load the library that brings them first (tf.load_op_library).",
            nodes=dict(unknown),
        )
    graph_def, kept = _with_stand_ins(graph_index, lost, kept)
    note = f"left out, because this TensorFlow does not have their operations: {gone}, and what needs them"
    return graph_def, kept, note


def _with_stand_ins(
    graph_index: GraphIndex, lost: set[str], interfaces: Mapping[str, Interface]
) -> tuple[Any, dict[str, Interface]]:
    """The graph without ``lost``; an input that was one of their results becomes a placeholder."""
    graph_def = subgraph(graph_index, graph_index.nodes.keys() - lost)
    fed = {spec.tensor for one in interfaces.values() for spec in one.inputs.values() if node_of(spec.tensor) in lost}
    renamed = {}
    for tensor in sorted(fed):
        name = renamed[tensor] = node_of(tensor) if tensor.endswith(":0") else tensor.replace(":", "_fed_")
        graph_def.node.add(name=name, op="Placeholder").attr["dtype"].type = _type_of(
            graph_index, tensor
        ).as_datatype_enum
    _rewire(graph_def, renamed)
    return graph_def, {
        name: dataclasses.replace(
            one,
            inputs={
                key: dataclasses.replace(spec, tensor=tensor_name(renamed.get(spec.tensor, spec.tensor)))
                for key, spec in one.inputs.items()
            },
        )
        for name, one in interfaces.items()
    }


def _type_of(graph_index: GraphIndex, tensor: str) -> Any:
    """The dtype of a tensor: by what makes it, or by what takes it where that operation is unknown."""
    node, index = graph_index.nodes[node_of(tensor)], int(tensor.rpartition(":")[2])
    made = interface.output_types(node)
    if index < len(made) and made[index] is not None:
        return made[index]
    for consumer, entry in graph_index.consumers[node.name]:
        if not entry.startswith("^") and tensor_name(entry) == tensor:
            taken = interface.input_types(consumer)
            place = list(consumer.input).index(entry)
            if place < len(taken) and taken[place] is not None:
                return taken[place]
    raise UsageError(
        f"the type of {tensor!r} cannot be determined", where="inputs=", next_step="Cut the graph one operation later."
    )


def without_risks(graph_index: GraphIndex, allowed: Collection[str]) -> Any:
    """The graph with placeholders for operations that reach beyond it, where TensorFlow might run them unasked.

    To infer shapes TensorFlow runs operations whose inputs are constants, unless they are known to have a state: the
    content of a file that a graph names would be read while the graph is imported.

    Args:
        graph_index: The graph.
        allowed: Operations that may stay.
    """
    graph_def = graph_index.graph_def
    found = []
    for name in sorted(risks.risky_nodes(graph_def, graph_def.library)):
        node = graph_index.nodes[name]
        definition = private.op_def_registry.get(node.op)
        if definition is not None and definition.is_stateful:
            continue
        alone = types.SimpleNamespace(node=[node])
        if risks.risky(alone, graph_def.library, [name]).keys() - set(allowed):
            found.append(name)
    if not found:
        return graph_def
    result = type(graph_def)()
    result.CopyFrom(graph_def)
    renamed = {}
    for node in [node for node in result.node if node.name in found]:
        for index, dtype in enumerate(_output_types(graph_index, node)):
            name = node.name if not index else f"{node.name}_output_{index}"
            stand_in = result.node.add(name=name, op="Placeholder", device=node.device)
            stand_in.attr["dtype"].type = dtype.as_datatype_enum
            renamed[f"{node.name}:{index}"] = name
        result.node.remove(node)
    _rewire(result, renamed)
    return result


def without_gradient_stops(graph_index: GraphIndex) -> Any:
    """The graph with Identity in the place of what stops a gradient right behind a branch.

    To what is computed they are the same. TensorFlow's optimiser (2.21) does not end where other nodes wait for one.
    """
    graph_def = graph_index.graph_def
    found = {
        node.name
        for node in graph_def.node
        if node.op in ("StopGradient", "PreventGradient")
        and node.input
        and getattr(graph_index.nodes.get(node_of(node.input[0])), "op", "") in ("Switch", "RefSwitch")
    }
    if not found:
        return graph_def
    result = type(graph_def)()
    result.CopyFrom(graph_def)
    for node in result.node:
        if node.name in found:
            node.op = "Identity"
            node.attr.pop("message", None)
    return result


def _output_types(graph_index: GraphIndex, node: Any) -> list[Any]:
    function = next((one for one in graph_index.graph_def.library.function if one.signature.name == node.op), None)
    if function is None:
        count = len(interface.output_types(node))
    else:
        count = len(function.signature.output_arg)
    return [_type_of(graph_index, f"{node.name}:{index}") for index in range(count)]


def _rewire(graph_def: Any, renamed: Mapping[str, str]) -> None:
    for node in graph_def.node:
        for index, entry in enumerate(node.input):
            if not entry.startswith("^") and tensor_name(entry) in renamed:
                node.input[index] = renamed[tensor_name(entry)]
