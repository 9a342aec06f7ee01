"""``tf.contrib.learn.datasets``: small data sets for examples.

::

    base.py   iris, Boston, tables in CSV files
    mnist.py  MNIST in batches
"""

from collections.abc import Callable
from typing import Any

from . import base, mnist
from .base import load_boston, load_iris

__all__ = ["DATASETS", "base", "load_boston", "load_dataset", "load_iris", "mnist"]

#: Name -> function that loads the data set.
DATASETS: dict[str, Callable[..., Any]] = {"iris": load_iris, "boston": load_boston, "mnist": mnist.load_mnist}


def load_dataset(name: str, size: str = "small", test_with_fake_data: bool = False) -> Any:
    """Loads a data set of :data:`DATASETS`.

    Args:
        name: Its name.
        size: Of no effect for these.
        test_with_fake_data: Of no effect for these.

    Raises:
        ValueError: There is none of that name.
    """
    del size, test_with_fake_data
    if name not in DATASETS:
        raise ValueError(f"Name of dataset is not found: {name}")
    return DATASETS[name]()
