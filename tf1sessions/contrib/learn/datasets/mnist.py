"""MNIST in batches, from files that are already there."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._mnist import DataSet, Datasets, extract_images, extract_labels, read_data_sets

__all__ = [
    "DataSet",
    "Datasets",
    "dense_to_one_hot",
    "extract_images",
    "extract_labels",
    "load_mnist",
    "read_data_sets",
]


def dense_to_one_hot(labels_dense: Any, num_classes: int) -> Any:
    """Labels [N] as float64 [N, num_classes]."""
    return np.eye(num_classes)[np.ravel(labels_dense)]


def load_mnist(train_dir: str = "MNIST-data") -> Datasets:
    """:func:`read_data_sets` of the folder."""
    return read_data_sets(train_dir)
