"""Python objects as a pickle and the memory of their arrays, and back.

Functions and classes that the other process cannot import go by value (cloudpickle). The memory of arrays, wherever
they are in the object, stays out of the pickle, so that it can be copied once, to where the other process reads it
(pickle protocol 5, PEP 574). In the pickle stay arrays that are small, and those of objects, of ``StringDType`` and of
subclasses with a pickling of their own.

An array arrives as pickle would bring it, with its dtype, shape, order (C or Fortran; C if its memory had gaps) and
subclass, once if it was there twice; but always writable, and a masked array with ``nomask`` and its hardness kept. A
``memoryview`` arrives as one.

A function that goes by value keeps the name of its file, and takes the text of that file along where it is none on the
disk, as a notebook's cell: tracebacks show its lines, and AutoGraph can read it.
"""

from __future__ import annotations

import copyreg
import functools
import importlib
import linecache
import os
import pickle
import sys
import types
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import cloudpickle
import numpy as np
from numpy.typing import NDArray

__all__ = ["Packed", "pack", "unpack"]


@dataclass
class Packed:
    """A pickled object. Arrays and bytes in it are the caller's, until they have been copied elsewhere."""

    stream: list[Any] = field(default_factory=list)  # the pickle, in pieces of bytes
    # The memory that is not in it: arrays, in the order in which :func:`unpack` wants their bytes.
    buffers: list[NDArray[Any]] = field(default_factory=list)

    @property
    def length(self) -> int:
        """The bytes of the pickle."""
        return sum(map(len, self.stream))

    @property
    def nbytes(self) -> int:
        """All its bytes."""
        return self.length + sum(buffer.nbytes for buffer in self.buffers)

    def write(self, data: Any) -> None:
        """Take the next piece, as a file does. Long bytes come as the object that has them, and are not copied here."""
        if len(data):
            self.stream.append(data if type(data) in (bytes, bytearray) else bytes(data))


def pack(obj: Any, in_band: float) -> Packed:
    """Pickle an object.

    Args:
        obj: What cloudpickle can pickle.
        in_band: Arrays with fewer bytes than this stay in the pickle.

    Raises:
        Exception: What pickling raises: ``TypeError``, ``pickle.PicklingError`` and others.
    """
    # What multiprocessing calls the program's module in a child that it has spawned: no other process can import that.
    main = sys.modules.get("__mp_main__")
    if main is not None and main.__name__ == "__mp_main__":
        cloudpickle.register_pickle_by_value(main)
    packed = Packed()
    _Pickler(packed, _Buffers(packed, in_band)).dump(obj)
    return packed


def unpack(stream: bytes | bytearray | memoryview, buffers: Iterable[Any]) -> Any:
    """Make the object anew. Its arrays use the memory of ``buffers``, which must be writable."""
    return pickle.loads(stream, buffers=buffers)


class _Buffers:
    """Decides which memory stays out of a pickle.

    It is apart from the pickler, which would else refer to itself, and keep every array until a garbage collection.
    """

    def __init__(self, packed: Packed, in_band: float) -> None:
        self.in_band = in_band
        self._packed = packed
        self._arrays: dict[int, NDArray[Any]] = {}  # by the identity of what stands for them in the pickle
        self._stand_ins: list[pickle.PickleBuffer] = []  # so that no other object gets their identity

    def stand_in_for(self, array: NDArray[Any]) -> pickle.PickleBuffer:
        """Return the stand-in for an array's memory, which need not be contiguous or writable, for the pickler."""
        stand_in = pickle.PickleBuffer(bytearray())
        self._stand_ins.append(stand_in)
        self._arrays[id(stand_in)] = array
        return stand_in

    def stays(self, buffer: pickle.PickleBuffer) -> bool:
        """Whether memory that the pickler has met goes into the pickle."""
        array = self._arrays.get(id(buffer))
        if array is None:  # an object of another library that knows protocol 5
            array = np.frombuffer(buffer.raw(), np.uint8)
            if array.nbytes < self.in_band:
                return True
        self._packed.buffers.append(array)
        return False


class _Pickler(cloudpickle.Pickler):  # type: ignore[misc]
    def __init__(self, packed: Packed, buffers: _Buffers) -> None:
        super().__init__(packed, protocol=5, buffer_callback=buffers.stays)
        self._buffers = buffers

    def reducer_override(self, obj: Any) -> Any:
        if id(obj) in _BY_REFERENCE:
            return NotImplemented
        kind: Any = type(obj)
        if issubclass(kind, np.ndarray):
            if not obj.dtype.hasobject and obj.dtype.itemsize:
                if _is_plain(kind):
                    return self._reduce_array(kind, obj)
                if kind is np.ma.MaskedArray and type(obj.data) is np.ndarray:
                    return _new_masked, (obj.data, np.ma.getmask(obj), obj.fill_value, obj.hardmask)
        elif kind is memoryview:
            try:
                array = np.asarray(obj)
            except (ValueError, NotImplementedError):  # a format that numpy does not know: cloudpickle sends its bytes
                return NotImplemented
            return _new_memoryview, (array, obj.format, obj.readonly)
        elif kind is types.CodeType:
            make, values = self.dispatch_table[kind](obj)
            return _new_code, (make, values, obj.co_filename, _text_without_file(obj.co_filename))
        elif issubclass(kind, types.ModuleType) and kind is not types.ModuleType and _is_found(obj):
            return importlib.import_module, (obj.__name__,)
        return super().reducer_override(obj)

    def _reduce_array(self, kind: Any, array: NDArray[Any]) -> Any:
        order = "F" if array.flags.fnc else "C"
        in_band = array.nbytes < self._buffers.in_band
        memory = _contents(array, order) if in_band else self._buffers.stand_in_for(array)
        dtype: Any = array.dtype
        if dtype.isbuiltin == 1 and dtype.metadata is None:
            dtype = dtype.str  # takes a third of the time
        if kind is np.ndarray and order == "C":
            return _new_array, (memory, array.shape, dtype)
        return _new_array, (memory, array.shape, dtype, order, kind)


def _is_found(module: types.ModuleType) -> bool:
    """Whether importing a module's name gives it; one of a class of its own, as scripts' tensorflow."""
    return sys.modules.get(module.__name__) is module


def _text_without_file(name: str) -> list[str] | None:
    """The lines of what was compiled under a name that is no file's; None where there are none, or a file has them."""
    if os.path.exists(name):
        return None
    entry = linecache.cache.get(name)
    return entry[2] if entry is not None and len(entry) == 4 else None


@functools.lru_cache(maxsize=1024)
def _is_plain(kind: Any) -> bool:
    """Whether a type of arrays is pickled as ``ndarray`` is."""
    names = ("__reduce__", "__reduce_ex__", "__setstate__", "__getstate__", "__getnewargs_ex__", "__getnewargs__")
    return kind not in copyreg.dispatch_table and all(
        getattr(kind, name, None) is getattr(np.ndarray, name, None) for name in names
    )


def _contents(array: NDArray[Any], order: Any) -> bytearray:
    contents = bytearray(array.nbytes)
    np.copyto(np.ndarray(array.shape, array.dtype, contents, 0, None, order), array)
    return contents


def _new_array(
    buffer: Any, shape: tuple[int, ...], dtype: Any, order: Any = "C", kind: type[NDArray[Any]] = np.ndarray
) -> NDArray[Any]:
    new: NDArray[Any] = np.ndarray.__new__(kind, shape, dtype, buffer, 0, None, order)
    return new


def _new_masked(data: NDArray[Any], mask: Any, fill_value: Any, hard_mask: bool) -> Any:
    return np.ma.MaskedArray(data, mask, fill_value=fill_value, hard_mask=hard_mask)


def _new_code(make: Any, values: tuple[Any, ...], name: str, lines: list[str] | None) -> types.CodeType:
    if lines is not None:
        linecache.cache[name] = (sum(map(len, lines)), None, lines, name)  # None: it is not looked for on the disk
    code: types.CodeType = make(*values).replace(co_filename=name)
    return code


def _new_memoryview(array: NDArray[Any], like: str, read_only: bool) -> memoryview:
    view = array.data
    if view.format != like:
        view = view.cast("B").cast(like, array.shape)  # type: ignore[call-overload]
    return view.toreadonly() if read_only else view


# What most messages have, and cloudpickle would take long to recognise as something to be imported; all live for ever.
_BY_REFERENCE = frozenset(
    id(known)
    for known in (_new_array, _new_code, _new_masked, _new_memoryview, np.ndarray, np.dtype, *np.sctypeDict.values())
)
