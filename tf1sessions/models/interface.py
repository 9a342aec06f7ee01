"""Inputs and outputs of a model: from its signatures, or guessed from its graph (signature_inference.py)."""

from __future__ import annotations

import collections
import dataclasses
import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from tf1sessions.errors import ModelFileError
from tf1sessions.models import checks, signature_inference
from tf1sessions.models.arguments import input_types, output_types
from tf1sessions.models.graph_index import GraphIndex, node_of, tensor_name
from tf1sessions.runtime import tf

__all__ = [
    "DEFAULT_NAMES",
    "GUESSED",
    "Interface",
    "TensorSpec",
    "default_name",
    "guess",
    "in_order",
    "input_types",
    "of_signature",
    "other_signatures",
    "output_types",
]

#: The name of the signature that is guessed.
GUESSED = "guessed"
#: The signature that a model answers to, where it has several: the first of these that it has.
DEFAULT_NAMES = ("serving_default", "default", "inputs_and_outputs", "predict")


@dataclasses.dataclass(frozen=True)
class TensorSpec:
    """An input or an output of a model.

    Attributes:
        name: What the caller calls it.
        tensor: The name of the tensor in the graph, such as ``"probs:0"``.
        dtype: Its ``tf.DType``.
        shape: Its ``tf.TensorShape``; None for a dimension that is open.
        optional: Whether it has a default.
    """

    name: str
    tensor: str
    dtype: Any = None
    shape: Any = None
    optional: bool = False


@dataclasses.dataclass(frozen=True)
class Interface:
    """Inputs and outputs of one way to call a model.

    Attributes:
        name: Of the signature.
        inputs, outputs: Name -> :class:`TensorSpec`.
        guessed: Whether they were guessed from the graph.
        notes: How, in sentences.
    """

    name: str
    inputs: Mapping[str, TensorSpec]
    outputs: Mapping[str, TensorSpec]
    guessed: bool = False
    notes: tuple[str, ...] = ()


def default_name(signatures: Iterable[str]) -> str:
    """The signature of these that a model answers to: one of :data:`DEFAULT_NAMES`, else the first."""
    names = list(signatures)
    return next((name for name in DEFAULT_NAMES if name in names), names[0])


def in_order(
    signature: str,
    inputs: Mapping[str, TensorSpec],
    values: Sequence[Any],
    named: Mapping[str, Any],
    described: Callable[[], str],
) -> dict[str, Any]:
    """Give the values of a call, which come in the order of the inputs, optional ones last, their names.

    Raises:
        TypeError: There are too many of them, or others by name; says the inputs as they are ``described``.
    """
    order = sorted(inputs, key=lambda name: inputs[name].optional)  # which is stable
    if named or len(values) > len(order) or any(isinstance(value, Mapping) for value in values):
        raise TypeError(
            f"the signature {signature!r} got {len(values)} values in order and {len(named)} by name; its inputs, "
            f"in this order, are {described()}"
        )
    return dict(zip(order, values, strict=False))


def other_signatures(name: str, signatures: Iterable[str]) -> str:
    """Return what to do about a signature that is not there: names the one that may be meant, and all."""
    names = list(signatures)
    text = str(name)  # a caller may give anything
    near = difflib.get_close_matches(text, names, 1) or [each for each in names if each.lower() == text.lower()]
    meant = f"Did you mean {near[0]!r}? " if near else ""
    return f"{meant}There are {', '.join(map(repr, names))}."


def of_signature(name: str, signature: Any, graph_index: GraphIndex) -> Interface:
    """The interface that a SignatureDef describes. Sparse tensors are their three parts, ``"name/indices"`` and so on.

    A signature that has inputs only (a generic one of ``session_bundle``) has as inputs what a placeholder feeds.
    """
    inputs = _of_infos(signature.inputs)
    outputs = _of_infos(signature.outputs)
    if inputs and not outputs and not signature.method_name:
        given = {key: spec for key, spec in inputs.items() if _is_placeholder(spec, graph_index)}
        outputs = {key: spec for key, spec in inputs.items() if key not in given}
        inputs = given
    return Interface(name, _with_defaults(inputs, graph_index), outputs)


def guess(
    graph_index: GraphIndex, inputs: Sequence[str] | None = None, outputs: Sequence[str] | None = None
) -> Interface:
    """Guesses what of ``inputs`` and ``outputs`` is not given.

    Args:
        graph_index: The graph.
        inputs: Names of tensors to feed, instead of the placeholders.
        outputs: Names of tensors to give, instead of the ends.
    """
    found = signature_inference.guess(graph_index, inputs, outputs)
    return Interface(
        GUESSED,
        _with_defaults(_named(found.inputs), graph_index),
        _named(found.outputs),
        guessed=inputs is None or outputs is None,
        notes=found.notes,
    )


# ------------------------------------------------------------------------------------------------------------- names


def _named(tensors: Iterable[str]) -> dict[str, TensorSpec]:
    """Tensors by the name of their node; by their own name where a node has several."""
    tensors = list(dict.fromkeys(tensors))
    counts = collections.Counter(node_of(name) for name in tensors)
    return {
        key: TensorSpec(key, name)
        for name in tensors
        for key in [node_of(name) if counts[node_of(name)] == 1 and name.endswith(":0") else name]
    }


def _is_placeholder(spec: TensorSpec, graph_index: GraphIndex) -> bool:
    node = graph_index.nodes.get(node_of(spec.tensor))
    return node is not None and node.op in signature_inference.PLACEHOLDERS


def _of_infos(infos: Mapping[str, Any]) -> dict[str, TensorSpec]:
    specs = {}
    for key in sorted(infos):
        info = infos[key]
        if info.dtype and not checks.is_type(info.dtype):
            raise ModelFileError(
                f"the tensor {key!r} of a signature has the type {info.dtype}, which TensorFlow does not know",
                where="load()",
                next_step="The file is damaged, or a later TensorFlow wrote it: copy it again from where it was made.",
            )
        dtype = tf.as_dtype(info.dtype) if info.dtype else None
        shape = tf.TensorShape(info.tensor_shape) if info.HasField("tensor_shape") else None
        which = info.WhichOneof("encoding")
        if which == "coo_sparse":
            sparse = info.coo_sparse
            parts = {
                "indices": (sparse.indices_tensor_name, tf.int64),
                "values": (sparse.values_tensor_name, dtype),
                "dense_shape": (sparse.dense_shape_tensor_name, tf.int64),
            }
            for part, (name, part_dtype) in parts.items():
                specs[f"{key}/{part}"] = TensorSpec(f"{key}/{part}", tensor_name(name), part_dtype)
        elif info.name:
            specs[key] = TensorSpec(key, tensor_name(info.name), dtype, shape)
    return specs


def _with_defaults(specs: Mapping[str, TensorSpec], graph_index: GraphIndex) -> dict[str, TensorSpec]:
    return {
        key: dataclasses.replace(spec, optional=signature_inference.is_optional(graph_index, spec.tensor))
        for key, spec in specs.items()
    }
