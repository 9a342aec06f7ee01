"""Data frames as arrays, and as the input of an estimator."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from typing import Any

from ....estimator import inputs

__all__ = [
    "HAS_PANDAS",
    "extract_pandas_data",
    "extract_pandas_labels",
    "extract_pandas_matrix",
    "pandas_input_fn",
]

HAS_PANDAS = importlib.util.find_spec("pandas") is not None


def _is(value: Any, kind: str) -> bool:
    """Whether ``value`` is a ``pandas.<kind>``; without pandas there is none."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(value, getattr(pandas, kind))


def extract_pandas_data(data: Any) -> Any:
    """A data frame of numbers as a float array; anything else as it is.

    Raises:
        ValueError: A column has other things in it.
    """
    if not _is(data, "DataFrame"):
        return data
    bad = [f"'{name}' type='{dtype}'" for name, dtype in data.dtypes.items() if dtype.kind not in "iufb"]
    if bad:
        raise ValueError(f"Data types for extracting pandas data must be int, float, or bool. Found: {', '.join(bad)}")
    return data.values.astype("float")


def extract_pandas_matrix(data: Any) -> Any:
    """A data frame as an array; anything else as it is."""
    return data.values if _is(data, "DataFrame") else data


def extract_pandas_labels(labels: Any) -> Any:
    """A data frame of one column as an array; anything else as it is.

    Raises:
        ValueError: It has several columns, or other things than numbers in it.
    """
    if not _is(labels, "DataFrame"):
        return labels
    if len(labels.columns) > 1:
        raise ValueError("Only one column for labels is allowed.")
    bad = [f"'{name}' type='{dtype}'" for name, dtype in labels.dtypes.items() if dtype.kind not in "iufb"]
    if bad:
        raise ValueError(f"Data types for extracting labels must be int, float, or bool. Found: {', '.join(bad)}")
    return labels.values


def pandas_input_fn(
    x: Any,
    y: Any = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool = True,
    queue_capacity: int = 1000,
    num_threads: int = 1,
    target_column: str = "target",
) -> Callable[[], Any]:
    """``tf.estimator.inputs.pandas_input_fn``, which shuffles unless set otherwise."""
    return inputs.pandas_input_fn(x, y, batch_size, num_epochs, shuffle, queue_capacity, num_threads, target_column)
