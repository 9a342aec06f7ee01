"""Entries of op_counts.py and op_counts_*.py, and what they are written with.

An entry takes the arguments of its function and returns two numbers: how many operations TensorFlow 1.15.5's function
makes beyond today's until it draws, and those after that. They leave out what functions differ by that it calls and
that have entries of their own.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

__all__ = [
    "CONTRIB",
    "FUNCTIONS",
    "GRADIENTS",
    "OPS",
    "Differs",
    "as_dtype",
    "by",
    "constant",
    "default_graph",
    "gradient_of",
    "is_first",
    "is_tensor",
    "minor_release",
    "module",
    "of",
    "of_contrib",
]

Differs = Callable[..., tuple[int, int]]

#: By module and name.
FUNCTIONS: dict[str, Differs] = {}
#: The same, of this package's own ``tf.contrib``.
CONTRIB: dict[str, Differs] = {}
#: Of gradients, by the type of the operation.
GRADIENTS: dict[str, Differs] = {}

OPS = "tensorflow.python.ops."
_SEEN = "_tf1sessions_seen"


def of(*places: str) -> Callable[[Differs], Differs]:
    """Writes an entry down for functions, each ``"module:Class.name"``."""

    def add(differs: Differs) -> Differs:
        FUNCTIONS.update(dict.fromkeys(places, differs))
        return differs

    return add


def of_contrib(place: str) -> Callable[[Differs], Differs]:
    """Writes an entry down for a function of ``tf1sessions.contrib``."""

    def add(differs: Differs) -> Differs:
        CONTRIB["tf1sessions.contrib." + place] = differs
        return differs

    return add


def gradient_of(*operations: str) -> Callable[[Differs], Differs]:
    """Writes an entry down for the gradients of operations, by their types."""

    def add(differs: Differs) -> Differs:
        def of_any(op: Any, *grads: Any) -> tuple[int, int]:
            return differs(op if hasattr(op, "graph") else _Taped(op), *grads)

        GRADIENTS.update(dict.fromkeys(operations, of_any))
        return of_any

    return add


class _Taped:
    """An operation as a tape keeps it, which knows of no graph."""

    name = ""
    _original_op = None

    def __init__(self, op: Any) -> None:
        self._op = op
        self.graph = default_graph()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._op, name)

    def _get_control_flow_context(self) -> Any:
        return self.graph._get_control_flow_context()


def by(before: int, after: int) -> Differs:
    """An entry that is always the same."""
    return lambda *_, **__: (before, after)


def is_first(graph: Any, kind: str, *key: Any) -> bool:
    """Whether this is asked for the first time in a graph."""
    seen = getattr(graph, _SEEN, None)
    if seen is None:
        seen = set()
        setattr(graph, _SEEN, seen)
    is_first = (kind, *key) not in seen
    seen.add((kind, *key))
    return is_first


def module(name: str) -> Any:
    """A module, imported when it is needed: ``install()`` imports none of them."""
    return importlib.import_module(name)


def minor_release() -> int:
    """16 for TensorFlow 2.16."""
    return int(module("importlib.metadata").version("tensorflow").split(".")[1])


def default_graph() -> Any:
    return module("tensorflow.python.framework.ops").get_default_graph()


def as_dtype(value: Any) -> Any:
    return module("tensorflow.python.framework.dtypes").as_dtype(value)


def constant(tensor: Any) -> Any:
    """The array that a tensor always is, None where that is not known."""
    return module("tensorflow.python.framework.tensor_util").constant_value(tensor)


def is_tensor(value: Any) -> bool:
    return isinstance(value, module("tensorflow.python.framework.tensor").Tensor)
