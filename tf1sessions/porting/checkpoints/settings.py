"""Settings of the optimizer that trained a checkpoint's variables, by the graph beside it.

A checkpoint has no rates and no epsilons, but the ``.meta`` file that a saver writes beside it has: they are inputs of
the operations that apply gradients, and mostly constants.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping
from typing import Any

from tf1sessions.models.files import read
from tf1sessions.runtime import tf

__all__ = ["settings_of"]

#: The inputs of the operations that apply gradients, in their order; those of the sparse ones begin alike.
_INPUTS = {
    "GradientDescent": ("var", "learning_rate"),
    "Momentum": ("var", "accum", "learning_rate", "grad", "momentum"),
    "Adam": ("var", "m", "v", "beta1_power", "beta2_power", "learning_rate", "beta_1", "beta_2", "epsilon"),
    "RMSProp": ("var", "ms", "mom", "learning_rate", "rho", "momentum", "epsilon"),
    "CenteredRMSProp": ("var", "mg", "ms", "mom", "learning_rate", "rho", "momentum", "epsilon"),
    "Adagrad": ("var", "accum", "learning_rate"),
    "Adadelta": ("var", "accum", "accum_update", "learning_rate", "rho", "epsilon"),
    "Ftrl": (
        *("var", "accum", "linear", "grad", "learning_rate"),
        *("l1_regularization_strength", "l2_regularization_strength", "learning_rate_power"),
    ),
}
#: Those of a sparse one have the indices after the gradient.
_AFTER_GRADIENT = {"Momentum", "Ftrl"}
_APPLY = re.compile(r"(?:Resource)?(Sparse)?Apply(\w+)")
_PASSING = {"Identity", "Cast", "ReadVariableOp"}


def settings_of(prefix: str, variables: Collection[str]) -> dict[str, float]:
    """The settings with which the graph of a checkpoint trains some variables, by the names that Keras has for them.

    Only what is a constant in the graph, and the same for all of the variables. Empty where there is no graph.

    Raises:
        ModelFileError: The ``.meta`` file is malformed.
    """
    meta = re.sub(r"-\?{5}-of-\d{5}$", "", prefix) + ".meta"
    if not os.path.exists(meta):
        return {}
    nodes = {node.name: node for node in read(meta).graph_def.node}
    found: dict[str, set[float | None]] = {}
    for node in nodes.values():
        apply = _APPLY.fullmatch(node.op)
        if not apply or apply[2] not in _INPUTS or _whole(_name(node.input[0])) not in variables:
            continue
        names = list(_INPUTS[apply[2]])
        if apply[1] and apply[2] in _AFTER_GRADIENT:
            names.insert(names.index("grad") + 1, "indices")
        for name, given in zip(names, node.input, strict=False):
            found.setdefault(name, set()).add(_constant(nodes, _name(given)))
    return {
        name: value
        for name, values in found.items()
        if len(values) == 1 and (value := next(iter(values))) is not None and name not in ("grad", "indices")
    }


def _name(tensor: str) -> str:
    return tensor.lstrip("^").partition(":")[0]


def _whole(name: str) -> str:
    """The name in the checkpoint of a variable, or of a part of one."""
    return re.sub(r"/part_\d+$", "", name)


def _constant(nodes: Mapping[str, Any], name: str) -> float | None:
    """The number that a node is; None where it is no constant."""
    for _ in range(8):  # no chain of casts is longer
        node = nodes.get(name)
        if node is None:
            return None
        if node.op == "Const":
            value = tf.make_ndarray(node.attr["value"].tensor)
            return float(value) if value.shape == () and value.dtype.kind == "f" else None
        if node.op not in _PASSING:
            return None
        name = _name(node.input[0])
    return None
