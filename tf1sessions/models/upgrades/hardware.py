"""Rows about other hardware: TPUs, TensorRT, Intel's MKL build, devices of another machine."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tf1sessions.models.upgrades.rewriting import (
    Graph,
    LocatedNode,
    Upgrade,
    attr_value,
    attribute_names,
    become,
    copy_of,
    data_count,
    definition_of,
    has,
    inputs_of,
    with_ops,
)
from tf1sessions.runtime import tf

__all__ = ["HARDWARE"]


def _tpu_pass_through(graph: Graph, place: LocatedNode) -> None:
    kind = copy_of(place.node.attr["T"])
    become(place.node, "Identity", inputs_of(place.node)[0][:1], T=kind)


def _one_replica(place: LocatedNode) -> bool:
    node = place.node
    replicas = [node.attr[key].i for key in ("N", "num_replicas") if key in node.attr]
    return has(place, T="type") and data_count(place) >= 1 and all(count == 1 for count in replicas)


def _nothing(graph: Graph, place: LocatedNode) -> None:
    become(place.node, "NoOp", [])


def _empty_string(graph: Graph, place: LocatedNode) -> None:
    proto = tf.make_tensor_proto("", tf.string)
    become(place.node, "Const", [], dtype=attr_value(type=proto.dtype), value=attr_value(tensor=proto))


def _zero_ordinal(graph: Graph, place: LocatedNode) -> None:
    proto = tf.make_tensor_proto([0], tf.int32)
    become(place.node, "Const", [], dtype=attr_value(type=proto.dtype), value=attr_value(tensor=proto))


def _called_on_tpu(graph: Graph) -> Iterator[LocatedNode]:
    for place in graph.places.get("TPUPartitionedCall", ()):
        if has(place, f="func", Tin="list") and place.node.attr["f"].func.name in graph.functions and data_count(place):
            yield place


def _call(graph: Graph, place: LocatedNode) -> None:
    kept = {
        key: copy_of(place.node.attr[key]) for key in ("Tin", "Tout", "f", "_output_shapes") if key in place.node.attr
    }
    data = inputs_of(place.node)[0]
    become(place.node, "StatefulPartitionedCall", data[:-1], **kept)  # the last one says which core


def _one_call(graph: Graph) -> Iterator[LocatedNode]:
    for op in ("TPUReplicate", "_TPUReplicate"):
        for place in graph.places.get(op, ()):
            attr = place.node.attr
            if (
                has(place, computation="func", num_replicas="i", NumVariables="i", Tinputs="list", output_types="list")
                and attr["computation"].func.name in graph.functions
                and attr["num_replicas"].i == 1
                and attr["NumVariables"].i <= data_count(place)
            ):
                yield place


def _call_computation(graph: Graph, place: LocatedNode) -> None:
    attr = place.node.attr
    lists = [attr[key].list.type if key in attr else [] for key in ("Tinputs", "Tbroadcast_inputs")]
    constants = attr["Tguaranteed_constants"].list.type if "Tguaranteed_constants" in attr else []
    resources = [tf.resource.as_datatype_enum] * attr["NumVariables"].i
    kinds = {
        "Tin": attr_value(types=[*lists[0], *lists[1], *resources, *constants]),
        "Tout": copy_of(attr["output_types"]),
    }
    become(place.node, "StatefulPartitionedCall", inputs_of(place.node)[0], f=copy_of(attr["computation"]), **kinds)


def _of_one_replica(graph: Graph) -> bool:
    """Whether no cluster of the graph stands for several copies of itself."""
    clusters = graph.places.get("TPUReplicateMetadata", ())
    return all(has(each, num_replicas="i") and each.node.attr["num_replicas"].i == 1 for each in clusters)


def _described(graph: Graph) -> Iterator[LocatedNode]:
    yield from graph.places.get("ShutdownDistributedTPU", ())
    if _of_one_replica(graph):
        yield from graph.places.get("TPUReplicateMetadata", ())


def _sums_of_one(graph: Graph) -> Iterator[LocatedNode]:
    if _of_one_replica(graph):
        for place in graph.places.get("CrossReplicaSum", ()):
            if has(place, T="type") and data_count(place):
                yield place


_TPU_MARKS = ("_tpu_replicate", "_tpu_input_identity", "_tpu_output_identity", "_tpu_compilation_status")


def _marked_for_tpu(graph: Graph) -> Iterator[LocatedNode]:
    """Nodes of a cluster that is compiled for TPUs: without its metadata node nothing would run them."""
    if not any(op in graph.places for op in _TPU_OPS) or not _of_one_replica(graph):
        return
    for place in graph:
        if any(mark in place.node.attr for mark in _TPU_MARKS):
            yield place


def _unmark(graph: Graph, place: LocatedNode) -> None:
    for mark in _TPU_MARKS:
        place.node.attr.pop(mark, None)


_TPU_OPS = ("TPUReplicateMetadata", "TPUReplicatedInput", "TPUReplicatedOutput", "TPUCompilationResult")


def _segment(graph: Graph, place: LocatedNode) -> str | None:
    """The function of the graph that computes what a TensorRT engine does: 1.14 names it otherwise than 1.13."""
    node = place.node
    if has(place, segment_func="func") and node.attr["segment_func"].func.name in graph.functions:
        return str(node.attr["segment_func"].func.name)
    if has(place, segment_funcdef_name="s"):
        name = node.attr["segment_funcdef_name"].s.decode(errors="replace")
        return name if name in graph.functions else None
    return None


def _engines(graph: Graph) -> Iterator[LocatedNode]:
    for place in graph.places.get("TRTEngineOp", ()):
        if _segment(graph, place) and has(place, InT="list", OutT="list"):
            yield place


def _native_segment(graph: Graph, place: LocatedNode) -> None:
    attr = place.node.attr
    function = tf.AttrValue()
    function.func.name = _segment(graph, place)
    kinds = {"Tin": copy_of(attr["InT"]), "Tout": copy_of(attr["OutT"])}
    if "_output_shapes" in attr:
        kinds["_output_shapes"] = copy_of(attr["_output_shapes"])
    become(place.node, "StatefulPartitionedCall", inputs_of(place.node)[0], f=function, **kinds)


# -- MKL


def _mkl_name(op: str) -> str | None:
    """The operation that Intel's rewriting made this one of: ``_MklConv2D`` -> ``Conv2D``."""
    if op in ("_MklToTf", "_MklInputConversion"):
        return "Identity" if op == "_MklToTf" else "IdentityN"
    bare = re.sub(r"^_Mkl(Native)?", "", op)
    for name in (bare, "_" + bare, bare.removesuffix("WithBias")):
        if name and definition_of(name) is not None:
            return name
    return None


def _mkl_inputs(place: LocatedNode) -> list[str] | None:
    """The inputs without the layouts: the second half is these, if there are twice as many as there should be."""
    op, (data, _) = place.node.op, inputs_of(place.node)
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
    """Return the number of inputs of an operation with the attributes of ``node``."""
    count = 0
    for arg in definition_of(op).input_arg:
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


#: What becomes two nodes, or one whose outputs have other names: not in functions.
_MORE_NODES = ("WithBias", "InputConversion")


def _mkl(graph: Graph) -> Iterator[LocatedNode]:
    for op, places in graph.places.items():
        if op.startswith("_Mkl"):
            for place in places:
                if has(place, T="type") and _mkl_inputs(place) and not (place.function and op.endswith(_MORE_NODES)):
                    yield place


def _plain(graph: Graph, place: LocatedNode) -> None:
    node = place.node
    op, name, data = node.op, _mkl_name(node.op), _mkl_inputs(place)
    assert name is not None and data is not None  # _mkl found them
    node.attr.pop("_kernel", None)
    kind = copy_of(node.attr["T"])
    if op == "_MklToTf":
        become(node, "Identity", data, T=kind)
    elif op == "_MklInputConversion":
        become(node, "IdentityN", data, T=attr_value(types=[kind.type] * 2))
    else:
        kept = {key: copy_of(node.attr[key]) for key in attribute_names(name) or () if key in node.attr}
        if op.endswith("WithBias") and not name.endswith("WithBias"):
            inner = graph.add(place, "without_bias", name, data[:-1], **kept).name
            layout = {"data_format": kept["data_format"]} if "data_format" in kept else {}
            become(node, "BiasAdd", [inner, data[-1]], T=kind, **layout)
        else:
            become(node, name, data, **kept)


# -- devices


_LOCAL = re.compile(
    r"^(/job:localhost)?(/replica:0)?(/task:0)?(?P<device>(/device:|/)(CPU|GPU|XLA_CPU|XLA_GPU):(\d+|\*))?$", re.I
)


def _elsewhere(graph: Graph) -> Iterator[LocatedNode]:
    """Nodes on another host, or on a device that is neither a CPU nor a GPU."""
    local: dict[str, bool] = {}
    for place in graph:
        if device := place.node.device:
            if device not in local:
                local[device] = bool(_LOCAL.match(device))
            if not local[device]:
                yield place


def _here(graph: Graph, place: LocatedNode) -> None:
    found = re.search(r"/(device:)?(CPU|GPU):(\d+|\*)$", place.node.device, re.I)
    place.node.device = f"/device:{found.group(2).upper()}:{found.group(3)}" if found else ""


HARDWARE: tuple[Upgrade, ...] = (
    Upgrade(
        "what passes values to and from a TPU passes them on",
        "tpu.rewrite, 1.3 on: TPUReplicatedInput and TPUReplicatedOutput of one replica",
        with_ops("TPUReplicatedInput", "TPUReplicatedOutput", where=_one_replica),
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
        with_ops("TPUCompilationResult", "ConfigureDistributedTPU"),
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
        with_ops("TPUOrdinalSelector"),
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
)
