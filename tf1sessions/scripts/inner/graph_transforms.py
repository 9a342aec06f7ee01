"""``tensorflow.tools.graph_transforms``: a GraphDef through the transforms that a text names, one after the other.

::

    graph_transforms.py    TransformGraph, and how its texts are read
    graph_rewrites.py      nodes, attributes, devices and names
    graph_folding.py       constants, normalizations, weights
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ...runtime import tf1 as tf
from . import graph_folding, graph_rewrites
from .graph_rewrites import Request

__all__ = ["TransformGraph"]

_TRANSFORMS = {**graph_rewrites.TRANSFORMS, **graph_folding.TRANSFORMS}
# Of 1.15.5 as well: for 8-bit kernels, mobile runtimes and graphs of before 1.0.
_LEFT_OUT = frozenset(
    "backport_concatv2 backport_tensor_array_v3 flatten_atrous_conv freeze_requantization_ranges fuse_pad_and_conv "
    "fuse_resize_and_conv fuse_resize_pad_and_conv insert_logging quantize_nodes sparsify_gather".split()
)
_NAME = re.compile(r"\s*(\w+)\s*")
_PARAMETER = re.compile(r'[\s,]*(\w+)\s*=\s*(?:"([^"]*)"|([^\s,)"]*))[\s,]*')


def TransformGraph(
    input_graph_def: Any, inputs: Sequence[str], outputs: Sequence[str], transforms: Sequence[str]
) -> Any:
    """Rewrite a graph, as 1.15's Graph Transform Tool did.

    There are ``add_default_attributes``, ``fold_batch_norms``, ``fold_constants``, ``fold_old_batch_norms``,
    ``merge_duplicate_nodes``, ``obfuscate_names``, ``quantize_weights``, ``remove_attribute``,
    ``remove_control_dependencies``, ``remove_device``, ``remove_nodes``, ``rename_attribute``, ``rename_op``,
    ``round_weights``, ``set_device``, ``sort_by_execution_order`` and ``strip_unused_nodes``, with their parameters and
    ``ignore_errors``. The nodes are those that 1.15.5 gives; the order in which the graph lists them may be another.

    Args:
        input_graph_def: A ``GraphDef``, or its bytes. It is not changed.
        inputs: Names of nodes that are fed.
        outputs: Names of nodes that are fetched.
        transforms: Texts such as ``"remove_nodes(op=Identity)"``; one text may have several.

    Returns:
        A new ``GraphDef``.

    Raises:
        InvalidArgumentError: There is no such transform, or it lacks a parameter.
        UnimplementedError: 1.15.5 had the transform, and it is not here.

    Example:
        >>> with tf.Graph().as_default() as graph:
        ...     y = tf.add(tf.identity(tf.placeholder(tf.float32, [2], name="x")), 1.0, name="y")
        >>> made = TransformGraph(graph.as_graph_def(), ["x"], ["y"], ["remove_nodes(op=Identity)"])
        >>> [list(node.input) for node in made.node if node.name == "y"]
        [['x', 'y/y']]
    """
    graph_def = tf.GraphDef()
    if isinstance(input_graph_def, bytes):
        graph_def.ParseFromString(input_graph_def)
    else:
        graph_def.CopyFrom(input_graph_def)
    for name, parameters in _parsed(" ".join(transforms)):
        request = Request(name, parameters, tuple(inputs), tuple(outputs))
        if name not in _TRANSFORMS:
            raise _unknown(name)
        before = tf.GraphDef()
        before.CopyFrom(graph_def)
        try:
            graph_def = _TRANSFORMS[name](graph_def, request)
        except tf.errors.OpError:
            if not request.flag("ignore_errors", False):
                raise
            graph_def = before
    return graph_def


def _unknown(name: str) -> Exception:
    if name in _LEFT_OUT:
        error = tf.errors.UnimplementedError(
            None,
            None,
            f"Transform '{name}' is not available in TensorFlow {tf.GIT_VERSION}. Run it on TensorFlow 1.15.",
        )
    else:
        error = tf.errors.InvalidArgumentError(None, None, f"Transform '{name}' not recognized.")
    found: Exception = error
    return found


def _parsed(text: str) -> list[tuple[str, dict[str, list[str]]]]:
    """Each transform of a text, with its parameters; one may be given several times."""
    found: list[tuple[str, dict[str, list[str]]]] = []
    place = 0
    while place < len(text.rstrip()):
        name = _NAME.match(text, place)
        if name is None:
            raise tf.errors.InvalidArgumentError(None, None, f"Looking for transform name, but found {text[place:]}")
        parameters: dict[str, list[str]] = {}
        place = name.end()
        if text[place : place + 1] == "(":
            place += 1
            while (parameter := _PARAMETER.match(text, place)) is not None:
                quoted, bare = parameter.group(2), parameter.group(3)
                parameters.setdefault(parameter.group(1), []).append(bare if quoted is None else quoted)
                place = parameter.end()
            rest = text[place:].lstrip()
            if rest and not rest.startswith(")"):
                raise tf.errors.InvalidArgumentError(None, None, f"Looking for parameter name, but found {rest}")
            place = len(text) - len(rest) + 1
        found.append((name.group(1), parameters))
    return found
