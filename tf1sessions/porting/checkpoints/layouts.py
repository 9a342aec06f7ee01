"""The layouts of a layer's values in TensorFlow 1's variables and in Keras's.

Most are the same. The cells of recurrent layers are not: TensorFlow 1 multiplies inputs and state by one matrix, Keras
by two, and the gates have other orders. Letters: I inputs, U units.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

__all__ = ["AS_IT_IS", "CellLayout", "CudnnGru", "Gru", "Layout", "PartLayout", "Scaled"]


@dataclasses.dataclass(frozen=True)
class Layout:
    """A layout of which both sides have the same values."""

    @property
    def text(self) -> str:
        """The change, in words; empty where there is none."""
        return ""

    def forward(self, values: Sequence[Any]) -> list[Any]:
        """The values for the objects, of those of the checkpoint."""
        return list(values)

    def backward(self, values: Sequence[Any]) -> list[Any]:
        """The values for the checkpoint, of those of the objects."""
        return list(values)

    def linear(self) -> Layout:
        """Return the layout without constants that are added: for slots, which have a value for each element."""
        return self


AS_IT_IS = Layout()


@dataclasses.dataclass(frozen=True)
class Scaled(Layout):
    """Values times a factor, laid out by another layout."""

    factor: float
    inner: Layout = AS_IT_IS

    @property
    def text(self) -> str:
        return "; ".join(filter(None, [f"times {self.factor:g}", self.inner.text]))

    def forward(self, values: Sequence[Any]) -> list[Any]:
        return self.inner.forward([_times(value, self.factor) for value in values])

    def backward(self, values: Sequence[Any]) -> list[Any]:
        return [_times(value, 1.0 / self.factor) for value in self.inner.backward(values)]

    def linear(self) -> Layout:
        return Scaled(self.factor, self.inner.linear())


@dataclasses.dataclass(frozen=True)
class PartLayout(Layout):
    """The objects have a variable in parts, along one axis; the checkpoint has it whole."""

    axis: int
    sizes: tuple[int, ...]

    @property
    def text(self) -> str:
        return f"in {len(self.sizes)} parts along axis {self.axis}"

    def forward(self, values: Sequence[Any]) -> list[Any]:
        (whole,) = values
        return list(np.split(whole, np.cumsum(self.sizes)[:-1], axis=self.axis))

    def backward(self, values: Sequence[Any]) -> list[Any]:
        return [np.concatenate(values, axis=self.axis)]


@dataclasses.dataclass(frozen=True)
class CellLayout(Layout):
    """A cell with ``kernel`` [I + U, N*U] and ``bias`` [N*U] in TensorFlow 1.

    In Keras: ``kernel`` [I, N*U], ``recurrent_kernel`` [U, N*U] and ``bias`` [N*U].

    Attributes:
        inputs: I.
        order: Which of TensorFlow 1's gates each gate of Keras is. (0, 2, 1, 3) for an LSTM: i, j, f, o becomes
            i, f, c, o.
        forget_bias: What TensorFlow 1's cell adds to its forget gate when it runs, and Keras has in the bias.
    """

    inputs: int
    order: tuple[int, ...]
    forget_bias: float = 0.0

    @property
    def text(self) -> str:
        gates = {1: "kernel cut in two", 4: "LSTM: gates i, j, f, o become i, f, c, o"}[len(self.order)]
        return gates + (f"; {self.forget_bias:g} is added to the forget gate's bias" if self.forget_bias else "")

    def forward(self, values: Sequence[Any]) -> list[Any]:
        kernel = _reordered(values[0], self.order)
        return [kernel[: self.inputs], kernel[self.inputs :], *(self._bias(bias) for bias in values[1:])]

    def _bias(self, bias: Any) -> Any:
        bias = _reordered(bias, self.order)
        if self.forget_bias:
            units = len(bias) // len(self.order)
            bias[units : 2 * units] += np.asarray(self.forget_bias, bias.dtype)
        return bias

    def backward(self, values: Sequence[Any]) -> list[Any]:
        order = tuple(int(index) for index in np.argsort(self.order))
        found = [_reordered(np.concatenate(values[:2], axis=0), order)]
        for bias in values[2:]:
            bias = np.array(bias)
            if self.forget_bias:
                units = len(bias) // len(self.order)
                bias[units : 2 * units] -= np.asarray(self.forget_bias, bias.dtype)
            found.append(_reordered(bias, order))
        return found

    def linear(self) -> Layout:
        return dataclasses.replace(self, forget_bias=0.0)


@dataclasses.dataclass(frozen=True)
class Gru(Layout):
    """``GRUCell``: gates' kernel [I + U, 2*U], gates' bias, candidate's kernel [I + U, U], candidate's bias.

    In Keras, with ``reset_after=False``: ``kernel`` [I, 3*U], ``recurrent_kernel`` [U, 3*U] and ``bias`` [3*U]. The
    gates r, u become z, r, with the candidate after them.
    """

    inputs: int

    @property
    def text(self) -> str:
        return "GRU: gates r, u and the candidate become z, r, h"

    def forward(self, values: Sequence[Any]) -> list[Any]:
        gates, gates_bias, candidate, candidate_bias = values
        kernel = np.concatenate([_reordered(gates, (1, 0)), candidate], axis=1)
        bias = np.concatenate([_reordered(gates_bias, (1, 0)), candidate_bias])
        return [kernel[: self.inputs], kernel[self.inputs :], bias]

    def backward(self, values: Sequence[Any]) -> list[Any]:
        kernel, bias = np.concatenate(values[:2], axis=0), values[2]
        units = len(bias) // 3
        return [
            _reordered(kernel[:, : 2 * units], (1, 0)),
            _reordered(bias[: 2 * units], (1, 0)),
            kernel[:, 2 * units :],
            bias[2 * units :],
        ]


@dataclasses.dataclass(frozen=True)
class CudnnGru(Layout):
    """``CudnnCompatibleGRUCell``: as :class:`Gru`, the candidate with two kernels, [I, U] and [U, U], and two biases.

    In Keras, with ``reset_after=True``: ``bias`` is [2, 3*U], for inputs and state. The gates have one bias here: it is
    that of the inputs there.

    Attributes:
        inputs: I.
        state: What the other bias of the gates gets: nothing, or what the first one gets, as slots do.
    """

    inputs: int
    state: float = 0.0

    @property
    def text(self) -> str:
        return "GRU with reset_after: gates r, u and the candidate become z, r, h"

    def forward(self, values: Sequence[Any]) -> list[Any]:
        gates, gates_bias, new, new_bias, recurrent, recurrent_bias = values
        gates, gates_bias = _reordered(gates, (1, 0)), _reordered(gates_bias, (1, 0))
        bias = [[gates_bias, new_bias], [_times(gates_bias, self.state), recurrent_bias]]
        return [
            np.concatenate([gates[: self.inputs], new], axis=1),
            np.concatenate([gates[self.inputs :], recurrent], axis=1),
            np.stack([np.concatenate(each) for each in bias]),
        ]

    def backward(self, values: Sequence[Any]) -> list[Any]:
        kernel, recurrent, bias = values
        units = len(recurrent)
        gates = np.concatenate([kernel[:, : 2 * units], recurrent[:, : 2 * units]], axis=0)
        gates_bias = bias[0, : 2 * units] + _times(bias[1, : 2 * units], 1.0 - self.state)
        return [
            _reordered(gates, (1, 0)),
            _reordered(gates_bias, (1, 0)),
            kernel[:, 2 * units :],
            bias[0, 2 * units :],
            recurrent[:, 2 * units :],
            bias[1, 2 * units :],
        ]

    def linear(self) -> Layout:
        return dataclasses.replace(self, state=1.0)


def _reordered(value: Any, order: Sequence[int]) -> Any:
    """The last axis of an array cut into as many blocks as there are in ``order``, and put together in that order."""
    blocks = np.split(value, len(order), axis=-1)
    return np.concatenate([blocks[index] for index in order], axis=-1)


def _times(value: Any, factor: float) -> Any:
    return value * np.asarray(factor, value.dtype)
