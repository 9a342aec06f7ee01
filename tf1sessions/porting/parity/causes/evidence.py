"""The evidence for the rules: both values of what parts first, the operations that made them, and their inputs."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tf1sessions.models.graph_index import node_of
from tf1sessions.porting.parity.measures import is_float
from tf1sessions.porting.parity.sides import Side
from tf1sessions.porting.parity.views import View, ViewedTensor
from tf1sessions.runtime import tf

__all__ = ["Evidence", "Half", "close", "gather", "varied"]

#: How many inputs of an operation are looked at. Arbitrary: more than any has but those that join or add many.
_MOST_INPUTS = 8
#: How close what a rule has computed must come. Looser than tolerances: it is computed in NumPy, in another order.
_RELATIVE, _ABSOLUTE = 1e-4, 1e-5


@dataclasses.dataclass(frozen=True)
class Half:
    """One side of what parts.

    Attributes:
        value: The values, an array.
        node: The NodeDef that made them; None where the side has no graph.
        inputs: What it was given, as far as that could be fetched.
        sources: The NodeDefs that made these; None for what was fed.
        random: The names of nodes that draw random numbers, on which it depends.
    """

    value: Any
    node: Any = None
    inputs: tuple[Any, ...] = ()
    sources: tuple[Any, ...] = ()
    random: tuple[str, ...] = ()

    @property
    def op(self) -> str:
        return str(self.node.op) if self.node is not None else ""


@dataclasses.dataclass(frozen=True)
class Evidence:
    """Both sides of what parts."""

    left: Half
    right: Half

    @property
    def known(self) -> bool:
        """Whether both operations are known."""
        return self.left.node is not None and self.right.node is not None

    @property
    def given_alike(self) -> bool:
        """Whether both operations are known, and were given the same."""
        mine, theirs = self.left.inputs, self.right.inputs
        if not self.known or len(mine) != len(theirs):
            return False
        return all(a is not None and b is not None and close(a, b) for a, b in zip(mine, theirs, strict=True))

    @property
    def floats(self) -> bool:
        """Whether both values are floats of one shape."""
        mine, theirs = self.left.value, self.right.value
        return bool(mine.shape == theirs.shape and is_float(mine.dtype) and is_float(theirs.dtype))


def close(a: Any, b: Any) -> bool:
    """Whether two arrays are equal, as far as what is computed in another order is."""
    if a.shape != b.shape:
        return False
    if not (is_float(a.dtype) and is_float(b.dtype)):
        return bool(np.array_equal(a, b))
    a, b = (each if each.dtype.kind == "c" else each.astype(np.float64) for each in (a, b))
    return bool(np.allclose(a, b, rtol=_RELATIVE, atol=_ABSOLUTE, equal_nan=True))


def varied(value: Any, least: int = 4) -> bool:
    """Whether an array has so many different values that an equality says something."""
    return value.size >= least and len(np.unique(value.reshape(-1)[:10000])) >= least


def gather(
    sides: tuple[Side, Side],
    names: tuple[str, str],
    values: tuple[Any, Any],
    fed: tuple[Mapping[str, Any], Mapping[str, Any]],
) -> Evidence:
    """Collects what there is.

    Args:
        sides: Left and right.
        names: The tensor's names on them.
        values: Its values.
        fed: The inputs of the sides.
    """
    halves = [_half(*each) for each in zip(sides, names, values, fed, strict=True)]
    return Evidence(*halves)


def _half(side: Side, name: str, value: Any, fed: Mapping[str, Any]) -> Half:
    view = side.view
    seen = view.tensors.get(name) if view is not None else None
    if view is None or seen is None:
        return Half(value)
    seen = _origin(view, seen)
    names = seen.inputs[:_MOST_INPUTS]
    inputs = tuple(_fetched(side, each, fed) for each in names)
    made = [view.tensors.get(each) for each in names]
    sources = tuple(None if each is None else _origin(view, each).node for each in made)
    return Half(value, seen.node, inputs, sources, tuple(_random_ancestors(view, seen)))


def _origin(view: View, seen: ViewedTensor) -> ViewedTensor:
    """Return what a tensor is but another name of."""
    while seen.node.op == "Identity" and seen.inputs and seen.inputs[0] in view.tensors:
        seen = view.tensors[seen.inputs[0]]
    return seen


def _fetched(side: Side, name: str, fed: Mapping[str, Any]) -> Any:
    for key, spec in (side.inputs or {}).items():
        if spec.tensor == name and key in fed:
            return fed[key]
    try:
        return side.fetch([name], fed)[0] if side.view is not None and name in side.view.tensors else None
    except tf.errors.OpError:
        return None


def _random_ancestors(view: View, seen: ViewedTensor) -> Sequence[str]:
    """Return the nodes that draw random numbers and lead to a tensor."""
    random = set(view.random)
    if not random:
        return []
    waiting, done = [node_of(seen.name)], {node_of(seen.name)}
    while waiting:
        node = view.nodes.get(waiting.pop())
        for entry in node.input if node is not None else ():
            if (source := node_of(entry)) not in done:
                done.add(source)
                waiting.append(source)
    return sorted(done & random)
