"""Arrays as tensors, by way of memory that is used again.

What costs most of making a tensor of a large array is not the copy but the memory: the system hands it out page by
page, and takes it back when the tensor is gone. And TensorFlow copies once more what does not begin where it wants it::

    array ──copied──▶ memory that is kept, aligned ──as it is──▶ tensor ──▶ call
                        ▲                                                    │
                        └──── used again, once nothing holds a part of it ◀──┘

A result, a variable or a thread may keep what the call was given. TensorFlow then holds the array of NumPy that the
tensor was made of, and that array holds the memory: so the memory knows by the count of its references.
"""

from __future__ import annotations

import sys
import threading
from typing import Any

import numpy as np

from tf1sessions.runtime import private

__all__ = ["Staging"]

#: TensorFlow takes memory as it is that begins at a multiple of this many bytes (EIGEN_MAX_ALIGN_BYTES, at the most).
_ALIGNMENT = 64
#: What is kept of one input: as many pieces, for as many calls at once, and none larger than this. Arbitrary.
_MOST_KEPT = 4
_LARGEST_KEPT = 64 * 2**20


class Staging:
    """Makes tensors of the arrays of one input.

    Args:
        dtype: Of the arrays, NumPy's; TensorFlow must have the same.
        device: The name of the CPU, which has to be the only device.

    Thread-safety: safe to call from any thread.
    """

    def __init__(self, dtype: Any, device: str) -> None:
        self._dtype = dtype
        self._device = device
        self._lock = threading.Lock()  # guards _kept; held for no copy
        self._kept: list[_Memory] = []  # that which was used last at the end

    def tensor(self, array: Any) -> Any:
        """A tensor of a copy of an array, which may be changed afterwards."""
        memory = self._claimed(array.nbytes)
        copy: Any = np.ndarray(array.shape, self._dtype, memory.bytes, memory.begin)
        copy[...] = array
        made = private.ops.EagerTensor(copy, self._device, None)
        if memory.bytes.nbytes <= _LARGEST_KEPT:
            with self._lock:
                self._kept.append(memory)
                del self._kept[:-_MOST_KEPT]
        return made

    def _claimed(self, size: int) -> _Memory:
        """Memory that nobody uses and nobody else gets."""
        with self._lock:
            for index, each in enumerate(self._kept):
                if each.size >= size and each.is_free():
                    return self._kept.pop(index)
        return _Memory(size)


class _Memory:
    """Some memory, and whether it is in use.

    Attributes:
        size: In bytes, from ``begin`` on.
        bytes: All of it; each array in it holds a reference to this.
        begin: Where it is aligned.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.bytes = np.empty(size + _ALIGNMENT, np.uint8)
        self.begin = -self.bytes.ctypes.data % _ALIGNMENT
        self._alone = sys.getrefcount(self.bytes)

    def is_free(self) -> bool:
        """Whether no array is in it."""
        return sys.getrefcount(self.bytes) == self._alone
