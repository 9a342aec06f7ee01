"""Transforms of a GraphDef's constants for :mod:`.graph_transforms`: folding, normalizations, quantized weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...models.graph_index import node_of
from ...runtime import private
from ...runtime import tf1 as tf
from .graph_rewrites import Request, pruned, renamed

__all__ = ["TRANSFORMS"]

_STEPS = 256
_FEW = 16  # constants of fewer elements are not rounded
_CONVOLUTIONS = ("Conv2D", "DepthwiseConv2dNative")
_NOT_FOLDED = frozenset(
    ["Placeholder", "PlaceholderWithDefault", "Enter", "Exit", "LoopCond", "Merge", "NextIteration", "Switch"]
)


def _value(node: Any) -> Any:
    return tf.make_ndarray(node.attr["value"].tensor)


def _constant(node: Any, name: str, array: Any, dtype: Any = None) -> Any:
    """Make ``node`` a constant; what it was is gone."""
    node.Clear()
    node.name, node.op = name, "Const"
    proto = tf.make_tensor_proto(array) if dtype is None else tf.make_tensor_proto(array, dtype, np.shape(array))
    node.attr["dtype"].type = proto.dtype
    node.attr["value"].tensor.CopyFrom(proto)
    return node


def _fold_constants(graph_def: Any, request: Request) -> Any:
    if request.flag("clear_output_shapes", True):
        for node in graph_def.node:
            node.attr.pop("_output_shapes", None)
    made = pruned(graph_def, request)
    constant = _constants(made, request)
    outputs = {node_of(name) for name in request.outputs}
    wanted: dict[str, str] = {}  # tensor -> the node that gives it
    for node in made.node:
        if node.name not in constant:
            sources = [(entry, node_of(entry)) for entry in node.input if not entry.startswith("^")]
            wanted.update((_tensor(entry), name) for entry, name in sources if name in constant)
    wanted.update((f"{name}:0", name) for name in outputs & constant)
    nodes = {node.name: node for node in made.node}
    wanted = {tensor: name for tensor, name in wanted.items() if nodes[name].op != "Const"}
    if not wanted:
        return made
    values = _evaluated(made, sorted(wanted))
    most = request.number("max_constant_size_in_bytes", 10 << 20)
    names = {}
    for number, (tensor, array) in enumerate(values.items()):
        if array.nbytes <= most:
            node = wanted[tensor]
            names[tensor] = node if node in outputs else f"{node}/_{number}__cf__{number}"
    folded = tf.GraphDef(versions=made.versions, library=made.library)
    for tensor, name in names.items():
        _constant(folded.node.add(), name, values[tensor])
    for node in made.node:
        if node.name not in names.values():
            inputs = [entry if entry.startswith("^") else names.get(_tensor(entry), entry) for entry in node.input]
            node.input[:] = inputs
            folded.node.add().CopyFrom(node)
    return pruned(folded, request)


def _tensor(entry: str) -> str:
    """``"a"`` as ``"a:0"``."""
    return entry if node_of(entry) != entry else f"{entry}:0"


def _constants(graph_def: Any, request: Request) -> set[str]:
    """The nodes whose outputs depend on constants only."""
    fed = {node_of(name) for name in request.inputs}
    found: set[str] = set()
    grown = True
    while grown:
        grown = False
        for node in graph_def.node:
            if node.name in found or node.name in fed or node.op in _NOT_FOLDED:
                continue
            definition = private.op_def_registry.get(node.op)
            known = definition is not None and not definition.is_stateful
            if known and all(node_of(entry) in found for entry in node.input) and (node.input or node.op == "Const"):
                found.add(node.name)
                grown = True
    return found


def _evaluated(graph_def: Any, tensors: list[str]) -> dict[str, Any]:
    needed = pruned(graph_def, Request("fold_constants", {}, (), tuple(tensors)))
    for node in needed.node:
        node.device = "/cpu:0"
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(needed, name="")
        with tf.Session(graph=graph, config=tf.ConfigProto(device_count={"GPU": 0})) as session:
            return dict(zip(tensors, map(np.asarray, session.run(tensors)), strict=True))


def _fold_batch_norms(graph_def: Any, request: Request) -> Any:
    """A product with a constant behind a convolution or a matrix product goes into the weights."""
    nodes, takers = _parts(graph_def)
    gone: dict[str, str] = {}
    for node in graph_def.node:
        if node.op != "Mul" or len(node.input) != 2 or any(name not in nodes for name in node.input):
            continue
        before, factor = (nodes[name] for name in node.input)
        if before.op not in (*_CONVOLUTIONS, "MatMul") or factor.op != "Const":
            continue
        weights = nodes.get(before.input[1])
        if weights is None or weights.op != "Const" or takers[before.name] > 1 or takers[weights.name] > 1:
            continue
        scales, filters = _value(factor), _value(weights)
        if scales.shape != (_columns(before, filters),):
            raise tf.errors.InvalidArgumentError(
                None, None, f"Mul constant input to batch norm has bad shape: {list(scales.shape)}"
            )
        _constant(weights, weights.name, _scaled(before, filters, scales))
        name, replaced = node.name, before.name
        node.CopyFrom(before)
        node.name = name
        gone[replaced] = name
        if takers[factor.name] == 1 and factor.name not in request.kept:
            gone[factor.name] = name
    return renamed(graph_def, gone)


def _parts(graph_def: Any) -> tuple[dict[str, Any], dict[str, int]]:
    """The nodes by name, and how many inputs name each."""
    nodes = {node.name: node for node in graph_def.node}
    takers = dict.fromkeys(nodes, 0)
    for node in graph_def.node:
        for name in map(node_of, node.input):
            takers[name] = takers.get(name, 0) + 1
    return nodes, takers


def _columns(node: Any, filters: Any) -> int:
    """Return the number of channels that a convolution or a matrix product gives."""
    if node.op == "MatMul":
        return int(filters.shape[0 if node.attr["transpose_b"].b else 1])
    return int(filters.shape[3] if node.op == "Conv2D" else filters.shape[2] * filters.shape[3])


def _scaled(node: Any, filters: Any, scales: Any) -> Any:
    if node.op == "DepthwiseConv2dNative":
        scales = scales.reshape(filters.shape[2:])
    elif node.op == "MatMul" and node.attr["transpose_b"].b:
        scales = scales[:, None]
    return (filters * scales).astype(filters.dtype)


def _fold_old_batch_norms(graph_def: Any, request: Request) -> Any:
    """A normalization by constants behind a convolution goes into its weights and a bias."""
    nodes, takers = _parts(graph_def)
    gone: dict[str, str] = {}
    offsets = []
    for node in graph_def.node:
        found = _normalization(node, nodes)
        if found is None:
            continue
        convolution, statistics = found
        filters = nodes.get(convolution.input[1])
        if filters is None or filters.op != "Const" or takers[convolution.name] > 1 or takers[filters.name] > 1:
            continue
        mean, variance, offset, gamma, epsilon = statistics
        scales = (gamma / np.sqrt(variance + np.float32(epsilon))).astype(np.float32)
        _constant(filters, filters.name, _scaled(convolution, _value(filters), scales))
        bias = _constant(type(node)(), f"{convolution.name}_bn_offset", (offset - mean * scales).astype(np.float32))
        offsets.append(bias)
        gone.update((name, node.name) for name in node.input[1:] if takers[name] == 1 and name not in request.kept)
        name, kind = node.name, node.attr["T"].type
        node.Clear()
        node.name, node.op = name, "BiasAdd"
        node.input[:] = [convolution.name, bias.name]
        node.attr["T"].type = kind
        node.attr["data_format"].CopyFrom(convolution.attr["data_format"])
    made = renamed(graph_def, gone)
    made.node.extend(offsets)
    return made


def _normalization(node: Any, nodes: dict[str, Any]) -> tuple[Any, tuple[Any, ...]] | None:
    """The convolution before a normalization by constants; its mean, variance, offset, scale and epsilon."""
    old = node.op == "BatchNormWithGlobalNormalization"
    if not old and not (
        node.op.startswith("FusedBatchNorm") and "Grad" not in node.op and not node.attr["is_training"].b
    ):
        return None
    sources = [nodes.get(name) for name in node.input]
    if len(sources) != 5 or sources[0] is None or sources[0].op not in _CONVOLUTIONS:
        return None
    if any(source is None or source.op != "Const" for source in sources[1:]):
        return None
    arrays = [_value(source) for source in sources[1:]]
    if old:
        mean, variance, offset, gamma = arrays
        if not node.attr["scale_after_normalization"].b:
            gamma = np.ones_like(variance)
        return sources[0], (mean, variance, offset, gamma, node.attr["variance_epsilon"].f)
    gamma, offset, mean, variance = arrays
    return sources[0], (mean, variance, offset, gamma, node.attr["epsilon"].f)


def _range(array: Any) -> tuple[Any, Any]:
    """The smallest and the largest element, moved apart if they are one."""
    least, most = np.float32(array.min()), np.float32(array.max())
    if least == most:
        if abs(least) < 1e-6:
            most = np.float32(least + 1)
        else:
            most = np.float32(2 * least if least > 0 else least / 2)
    return least, most


def _quantize_weights(graph_def: Any, request: Request) -> Any:
    """Large float constants become a byte an element, with their smallest and largest value."""
    smallest = request.number("minimum_size", 1024)
    made = tf.GraphDef(versions=graph_def.versions, library=graph_def.library)
    for node in graph_def.node:
        array = _value(node) if node.op == "Const" and node.attr["dtype"].type == tf.float32.as_datatype_enum else None
        if array is None or array.size < smallest:
            made.node.add().CopyFrom(node)
            continue
        least, most = _range(array)
        scale = (_STEPS - 1) / (float(most) - float(least))
        codes = np.clip(np.round(array * scale) - np.round(float(least) * scale), 0, _STEPS - 1).astype(np.uint8)
        names = [f"{node.name}_quantized_{part}" for part in ("const", "min", "max")]
        _constant(made.node.add(), names[0], codes, tf.quint8)
        _constant(made.node.add(), names[1], least)
        _constant(made.node.add(), names[2], most)
        taken = made.node.add(name=node.name, op="Dequantize", input=names)
        taken.attr["T"].type = tf.quint8.as_datatype_enum
        taken.attr["mode"].s = b"MIN_FIRST"
    return made


def _round_weights(graph_def: Any, request: Request) -> Any:
    """Float constants keep so many different values, which compress better."""
    steps = request.number("num_steps", _STEPS)
    for node in graph_def.node:
        if node.op == "Const" and node.attr["dtype"].type == tf.float32.as_datatype_enum:
            array = _value(node)
            if array.size < _FEW:
                continue
            least, most = _range(array)
            width = np.float32((most - least) / np.float32(steps))
            buckets = np.floor((array - least) / width)
            _constant(node, node.name, (least + width * (buckets + np.float32(0.5))).astype(np.float32))
    return graph_def


TRANSFORMS: dict[str, Callable[[Any, Request], Any]] = {
    "fold_batch_norms": _fold_batch_norms,
    "fold_constants": _fold_constants,
    "fold_old_batch_norms": _fold_old_batch_norms,
    "quantize_weights": _quantize_weights,
    "round_weights": _round_weights,
}
