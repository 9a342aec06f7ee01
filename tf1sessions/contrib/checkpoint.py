"""``tf.contrib.checkpoint``: objects that are saved with the objects in them."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from ..runtime import private as _private
from ..runtime import tf1 as _tf

__all__ = [
    "CheckpointManager",
    "Checkpointable",
    "CheckpointableBase",
    "CheckpointableObjectGraph",
    "List",
    "Mapping",
    "NoDependency",
    "NumpyState",
    "PythonStateWrapper",
    "UniqueNameTracker",
    "list_objects",
    "object_metadata",
]

CheckpointManager: Any = _tf.train.CheckpointManager
Checkpointable: Any = _private.autotrackable.AutoTrackable
CheckpointableBase: Any = _private.trackable_base.Trackable
CheckpointableObjectGraph: Any = _private.object_graph_pb2.TrackableObjectGraph
List: Any = _private.data_structures.List
Mapping: Any = _private.data_structures.Mapping
NoDependency: Any = _private.data_structures.NoDependency
PythonStateWrapper: Any = _tf.train.experimental.PythonState
list_objects: Any = _private.checkpoint.list_objects
object_metadata: Any = _private.checkpoint.object_metadata


_DataStructure: Any = _private.data_structures.TrackableDataStructure


class UniqueNameTracker(_DataStructure):  # type: ignore[misc]
    """Holds objects by names, and gives a name that is taken a number: "x", "x_1"."""

    def __init__(self) -> None:
        super().__init__()
        self._maybe_initialize_trackable()
        self._held: dict[str, Any] = {}
        self._counts: dict[str, int] = {}

    @property
    def _values(self) -> list[Any]:
        return list(self._held.values())

    def track(self, trackable: Any, base_name: str) -> Any:
        """Hold an object.

        Args:
            trackable: What a checkpoint can save, such as a variable or a layer.
            base_name: Its name, or the beginning of it if there is such a name.

        Returns:
            ``trackable``.

        Raises:
            ValueError: A checkpoint cannot save it.

        Example:
            >>> import tf1sessions as t1
            >>> tf = t1.tf1
            >>> tracker = t1.contrib.checkpoint.UniqueNameTracker()
            >>> with tf.Graph().as_default():
            ...     variables = [tracker.track(tf.Variable(1.0), "x") for _ in range(2)]
            >>> len(tracker.variables)
            2
        """
        if not isinstance(trackable, CheckpointableBase):
            raise ValueError(f"Expected a trackable value, got {trackable} which does not inherit from Trackable.")
        name = base_name
        while name in self._held:
            number = self._counts.get(base_name, 0) + 1
            self._counts[base_name] = number
            name = f"{base_name}_{number}"
        self._held[name] = trackable
        self._track_value(trackable, name=name)
        return trackable


class _NumpyArray(PythonStateWrapper):  # type: ignore[misc]
    """An array as a checkpoint has it: the bytes of a .npy file."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def serialize(self) -> bytes:
        file = io.BytesIO()
        np.save(file, self.array, allow_pickle=False)
        return file.getvalue()

    def deserialize(self, string_value: bytes) -> None:
        self.array = np.load(io.BytesIO(string_value), allow_pickle=False)


class NumpyState(CheckpointableBase):  # type: ignore[misc]
    """Attributes that are NumPy arrays, saved in checkpoints, and read from them at once, also where they are not yet.

    Example:
        >>> import numpy as np, tempfile, tf1sessions as t1
        >>> tf = t1.tf1
        >>> arrays = t1.contrib.checkpoint.NumpyState()
        >>> arrays.x = np.zeros(2)
        >>> with tempfile.TemporaryDirectory() as folder, tf.Graph().as_default(), tf.Session():
        ...     path = tf.train.Checkpoint(arrays=arrays).save(f"{folder}/model")
        ...     again = t1.contrib.checkpoint.NumpyState()
        ...     _ = tf.train.Checkpoint(arrays=again).restore(path)
        >>> again.x
        array([0., 0.])
    """

    def __init__(self) -> None:
        super().__init__()
        object.__setattr__(self, "_is_holding", False)

    def _lookup_dependency(self, name: str, cached_dependencies: Any = None) -> Any:
        """Return the object of a name; for one that only the checkpoint has, an array that is read into."""
        found = super()._lookup_dependency(name, cached_dependencies)
        return self._hold(name, np.array([])) if found is None and not self._is_holding else found

    def _hold(self, name: str, value: Any) -> _NumpyArray:
        array = _NumpyArray(value)
        object.__setattr__(self, "_is_holding", True)  # _track_trackable looks whether the name is free
        try:
            self._track_trackable(array, name=name)
        finally:
            object.__setattr__(self, "_is_holding", False)
        return array

    def _held(self, name: str) -> Any:
        self._maybe_initialize_trackable()
        found = CheckpointableBase._lookup_dependency(self, name)
        return found if isinstance(found, _NumpyArray) else None

    def __getattr__(self, name: str) -> Any:
        held = None if name.startswith("_") else self._held(name)
        if held is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return held.array

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("_"):
            object.__setattr__(self, name, value)
            return
        if not isinstance(value, np.ndarray | np.generic):
            raise NotImplementedError(
                f"Assigned {value} to the {name} property of {self}, which is not a NumPy array: it holds nothing else."
            )
        held = self._held(name)
        if held is None:
            self._hold(name, value)
        else:
            held.array = value
