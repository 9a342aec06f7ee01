"""The two sides of a comparison, whatever they are, as things that take inputs and give outputs by name.

A side is opened by :func:`tf1sessions.porting.parity.opening.open_side`; :class:`Side` is what all of them have.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tf1sessions.models.interface import TensorSpec
from tf1sessions.porting.parity.views import View
from tf1sessions.runtime import tf

__all__ = ["RUN_ERRORS", "Side", "array"]

#: What a side raises that does not take the inputs, in Python or in TensorFlow.
RUN_ERRORS = (ValueError, TypeError, tf.errors.OpError)


class Side:
    """One side of a comparison.

    Attributes:
        what: What the user calls it.
        kind: What it is, such as ``"frozen graph"``.
        inputs: Name -> TensorSpec; None if only the other side knows.
        outputs: Name -> TensorSpec; None if they are known when it has run.
        view: Its graph, for a comparison of all tensors; None if it has none.
        no_view: Why, then.
        notes: What was chosen or guessed, in sentences.

    Thread-safety: a side is for one thread.
    """

    inputs: Mapping[str, TensorSpec] | None = None
    outputs: Mapping[str, TensorSpec] | None = None
    no_view = "it is not a graph"

    def __init__(self, what: str, kind: str) -> None:
        self.what = what
        self.kind = kind
        self.notes: list[str] = []

    @property
    def view(self) -> View | None:
        return None

    def run(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Its outputs, as arrays by name; ``given`` by the names of its inputs.

        Raises:
            Exception: One of :data:`RUN_ERRORS`.
        """
        raise NotImplementedError

    def fetch(self, names: Sequence[str], given: Mapping[str, Any]) -> list[Any]:
        """The values of tensors of its view."""
        raise NotImplementedError

    def close(self) -> None:
        """Frees what it holds."""

    @contextlib.contextmanager
    def opened(self) -> Iterator[Side]:
        try:
            yield self
        finally:
            self.close()


def array(value: Any) -> Any:
    """A value as an array; strings as one of bytes, whose elements are compared as such."""
    found = np.asarray(value.numpy() if hasattr(value, "numpy") else value)
    if found.dtype.kind in "SU":
        found = found.astype(object)
    if found.dtype == object:
        flat = [each.encode() if isinstance(each, str) else each for each in found.reshape(-1)]
        found = np.array([*flat, None], object)[:-1].reshape(
            found.shape
        )  # None, lest a row of equal lists be one array
    return found
