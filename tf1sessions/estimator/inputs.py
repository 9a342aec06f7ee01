"""``tf.estimator.inputs``: input functions that feed arrays and data frames through a queue."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .feeding import enqueue

__all__ = ["numpy_input_fn", "pandas_input_fn"]


def numpy_input_fn(
    x: Any,
    y: Any = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool | None = None,
    queue_capacity: int = 1000,
    num_threads: int = 1,
) -> Callable[[], Any]:
    """An ``input_fn`` that gives batches of arrays.

    Args:
        x: The features: an array [N, ...], or a dict of them.
        y: The labels: an array [N, ...], a dict of them, or None.
        batch_size: Rows in a batch.
        num_epochs: How often each row comes; None for ever.
        shuffle: Whether rows come in random order. It has to be given.
        queue_capacity: How many rows wait in the queue at most.
        num_threads: How many threads fill the queue; more than one fill it with all epochs each.

    Returns:
        A function that returns features, or (features, labels).

    Raises:
        ValueError: ``shuffle`` is no boolean; when the function is called also: arrays have several lengths, or a name
            is in both ``x`` and ``y``.
        TypeError: Something is no array, when the function is called.
    """
    _check_shuffle(shuffle)

    def input_fn() -> Any:
        features = {"x": x} if isinstance(x, np.ndarray) else x
        if not isinstance(features, dict):
            raise TypeError(f"x must be a dict or array; got {type(x).__name__}")
        if not features:
            raise ValueError("x cannot be an empty dict")
        if isinstance(y, dict) and not y:
            raise ValueError("y cannot be empty dict, use None instead.")
        labels = y if isinstance(y, dict) else {} if y is None else {"y": y}
        for name, array in (*features.items(), *labels.items()):
            if not isinstance(array, np.ndarray):
                raise TypeError(f"{name!r} must be a numpy array; got {type(array).__name__}")
        if isinstance(y, dict) and set(features) & set(labels):
            shared = set(features) & set(labels)
            raise ValueError(f"{len(shared)} duplicate keys are found in both x and y: {shared}")
        feature_names, label_names = sorted(features), sorted(labels)
        arrays = [*(features[name] for name in feature_names), *(labels[name] for name in label_names)]
        if len({len(array) for array in arrays}) != 1:
            of_y = {name: labels[name].shape for name in labels} if isinstance(y, dict) else getattr(y, "shape", None)
            raise ValueError(
                "Length of tensors in x and y is mismatched. All elements in x and y must have the same length.\n"
                f"Shapes in x: { {name: features[name].shape for name in features} }\nShapes in y: {of_y}\n"
            )
        columns = _columns(arrays, batch_size, num_epochs, bool(shuffle), queue_capacity, num_threads)
        found: Any = dict(zip(feature_names, columns, strict=False))
        if isinstance(x, np.ndarray):
            found = found["x"]
        if y is None:
            return found
        rest = dict(zip(label_names, columns[len(feature_names) :], strict=True))
        return found, rest if isinstance(y, dict) else rest["y"]

    return input_fn


def pandas_input_fn(
    x: Any,
    y: Any = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool | None = None,
    queue_capacity: int = 1000,
    num_threads: int = 1,
    target_column: str = "target",
) -> Callable[[], Any]:
    """An ``input_fn`` that gives batches of a data frame's columns.

    Args:
        x: A ``pandas.DataFrame``.
        y: A ``pandas.Series`` or ``DataFrame`` of the same index, or None.
        batch_size: See :func:`numpy_input_fn`, as for the next four.
        num_epochs: See there.
        shuffle: See there.
        queue_capacity: See there; None means about the length of ``x``.
        num_threads: See there.
        target_column: A name for ``y`` that no column of ``x`` has.

    Returns:
        A function that returns features, or (features, labels).

    Raises:
        ValueError: ``shuffle`` is no boolean, the indexes differ, or ``x`` has a column ``target_column``.
    """
    _check_shuffle(shuffle)
    frame = x.copy()
    labels: Any = None if y is None else y.copy()
    several: Any = getattr(labels, "columns", None)  # the names, if there are several
    if labels is not None:
        if target_column in frame:
            raise ValueError(
                f"Cannot use name {target_column} for target column: DataFrame already has a column with that name: "
                f"{frame.columns}"
            )
        if not np.array_equal(frame.index, labels.index):
            raise ValueError(
                f"Index for x and y are mismatched.\nIndex for x: {frame.index}\nIndex for y: {labels.index}\n"
            )

    def input_fn() -> Any:
        names = list(frame.columns)
        columns = [frame[name] for name in names]
        if several is not None:
            columns.extend(labels[name] for name in several)
        elif labels is not None:
            columns.append(labels)
        arrays = [_array(column) for column in columns]
        capacity = queue_capacity or max(10 * batch_size, len(frame))
        found = _columns(arrays, batch_size, num_epochs, bool(shuffle), capacity, num_threads)
        features = dict(zip(names, found, strict=False))
        if labels is None:
            return features
        rest = found[len(names) :]
        return features, rest[0] if several is None else dict(zip(several, rest, strict=True))

    return input_fn


def _check_shuffle(shuffle: Any) -> None:
    if shuffle not in (True, False):
        raise ValueError(
            "shuffle must be provided and explicitly set as boolean (it is recommended to set it as True for "
            f"training); got {shuffle}"
        )


def _array(column: Any) -> Any:
    """The column as NumPy's own kind of array: pandas has types of its own for text."""
    array = np.asarray(column)
    return array if array.dtype.kind in "biufcO" else array.astype(object)


def _columns(
    arrays: list[Any], batch_size: int, num_epochs: int | None, shuffle: bool, capacity: int, num_threads: int
) -> list[Any]:
    """The next batch of each array, as tensors."""
    queue = enqueue(arrays, capacity, shuffle, num_threads, batch_size, num_epochs)
    # Without an end all batches are full, and their size is known.
    batch = queue.dequeue_many(batch_size) if num_epochs is None else queue.dequeue_up_to(batch_size)
    return list(batch[1:])  # without the rows' numbers
