"""``keras.utils.io_utils`` of Keras 2: data sets and groups of HDF5 files as arrays and dictionaries."""

from __future__ import annotations

import importlib
import os
import pickle
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

__all__ = ["H5Dict", "HDF5Matrix", "h5dict"]

#: How many bytes an attribute of an HDF5 file may have.
HDF5_OBJECT_HEADER_LIMIT = 64512


class HDF5Matrix:
    """Rows of a data set in an HDF5 file, read when they are asked for.

    Args:
        datapath: Path of the file, which stays open.
        dataset: Name of the data set.
        start: The first row that this array has.
        end: The row after its last one; None for all.
        normalizer: Called with all that is read; its results are what this array gives.
    """

    refs: defaultdict[str, Any] = defaultdict(int)

    def __init__(
        self,
        datapath: str,
        dataset: str,
        start: int = 0,
        end: int | None = None,
        normalizer: Callable[[Any], Any] | None = None,
    ) -> None:
        if datapath not in self.refs:
            self.refs[datapath] = importlib.import_module("h5py").File(datapath, "r")
        self.data = self.refs[datapath][dataset]
        self.start = start
        self.end = self.data.shape[0] if end is None else end
        self.normalizer = normalizer
        first = self._normalized(self.data[0:1])
        self._base_shape, self._base_dtype = first.shape[1:], first.dtype

    def _normalized(self, rows: Any) -> Any:
        return rows if self.normalizer is None else self.normalizer(rows)

    def __len__(self) -> int:
        return int(self.end - self.start)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            first = 0 if key.start is None else key.start
            stop = len(self) if key.stop is None else key.stop
            where: Any = slice(first + self.start, stop + self.start)
            inside = stop + self.start <= self.end
        else:
            where = key + self.start if isinstance(key, int | np.integer) else (np.asarray(key) + self.start).tolist()
            inside = np.max(where) < self.end
        if not inside:
            raise IndexError(f"rows {key} of an HDF5Matrix of {len(self)}")
        return self._normalized(self.data[where])

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of rows and the shape of one."""
        return (len(self), *self._base_shape)

    @property
    def dtype(self) -> Any:
        """The NumPy type of what it gives."""
        return self._base_dtype

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.data.shape)

    @property
    def size(self) -> Any:
        """The number of elements."""
        return np.prod(self.shape)


class H5Dict:
    """A dictionary that is a group of an HDF5 file, or a plain dictionary of the same content.

    Small values are attributes of the group, arrays are data sets, and what was not set is a group below it.

    Args:
        path: The path of a file, an open group or file, or a dictionary.
        mode: How the file is opened, as h5py names it.
    """

    def __init__(self, path: Any, mode: str = "a") -> None:
        h5py: Any = importlib.import_module("h5py")
        self._is_file = isinstance(path, str | os.PathLike)
        if not self._is_file and not isinstance(path, h5py.Group | dict):
            raise TypeError(f"Required Group, str or dict. Received: {type(path)}.")
        self.data = h5py.File(path, mode) if self._is_file else path
        self.read_only = mode == "r"

    def __setitem__(self, name: str, value: Any) -> None:
        if self.read_only:
            raise ValueError("Cannot set item in read only mode.")
        if isinstance(self.data, dict):
            self.data[name] = value
        elif isinstance(value, np.ndarray) or (np.isscalar(value) and not isinstance(value, str | bytes)):
            self.data.create_dataset(name, data=value)
        elif isinstance(value, str | bytes):
            self.data.attrs[name] = value
        elif isinstance(value, list | tuple) and all(isinstance(one, str | bytes) for one in value):
            self.data.attrs[name] = np.asarray([one.encode() if isinstance(one, str) else one for one in value])
        else:
            self.data.attrs[name] = np.void(pickle.dumps(value))

    def __getitem__(self, name: str) -> Any:
        if isinstance(self.data, dict):
            found = self.data.setdefault(name, {})
            return H5Dict(found) if isinstance(found, dict) else found
        if name in self.data.attrs:
            found = self.data.attrs[name]
            return pickle.loads(found.tobytes()) if isinstance(found, np.void) else found
        found = self.data.require_group(name) if not self.read_only and name not in self.data else self.data[name]
        return H5Dict(found, "r" if self.read_only else "a") if hasattr(found, "keys") else np.asarray(found)

    def __contains__(self, name: str) -> bool:
        return name in self.data or (not isinstance(self.data, dict) and name in self.data.attrs)

    def __len__(self) -> int:
        return len(self.data)

    def __iter__(self) -> Iterator[str]:
        return iter(self.data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.data, name)

    def close(self) -> None:
        """Close the file, where this dictionary is a whole one."""
        if hasattr(self.data, "file"):
            self.data.file.flush()
        if self._is_file:
            self.data.close()

    def __enter__(self) -> H5Dict:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


h5dict = H5Dict
