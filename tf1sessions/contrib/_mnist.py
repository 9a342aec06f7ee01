"""MNIST in batches, from files that are already there: for ``contrib.learn`` and for the tutorials' ``input_data``.

The four files of MNIST, and of every data set in its format (Fashion-MNIST, KMNIST), are read plain or gzipped, from
the folder given or from one below it. Nothing is downloaded. Batches and shuffling are 1.15.5's, to the number: a
data set reads NumPy's global random state, which making one seeds.
"""

from __future__ import annotations

import gzip
import os
import struct
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ..runtime import tf1 as tf

__all__ = ["DataSet", "Datasets", "extract_images", "extract_labels", "read_data_sets"]

_FILES = {
    "train images": "train-images-idx3-ubyte",
    "train labels": "train-labels-idx1-ubyte",
    "test images": "t10k-images-idx3-ubyte",
    "test labels": "t10k-labels-idx1-ubyte",
}
_IMAGES, _LABELS = 2051, 2049  # magic numbers of the two kinds of files
_FAKE_IMAGE = [1] * 784


class Datasets(NamedTuple):
    """The three parts of a data set."""

    train: Any
    validation: Any
    test: Any


def _find(folder: str) -> dict[str, str]:
    """The path of each of the four files, in ``folder`` or below."""
    found: dict[str, str] = {}
    for where, _, names in os.walk(folder):
        for what, stem in _FILES.items():
            for name in (stem + ".gz", stem, stem.replace("-idx", ".idx"), stem.replace("-idx", ".idx") + ".gz"):
                if name in names:
                    found.setdefault(what, os.path.join(where, name))
    lacking = [_FILES[what] for what in _FILES if what not in found]
    if lacking:
        raise FileNotFoundError(
            f"MNIST is not in {os.path.abspath(folder)!r} or below it: {', '.join(lacking)} "
            f"{'is' if len(lacking) == 1 else 'are'} missing, plain or as .gz. Nothing is downloaded. Put "
            f"{', '.join(name + '.gz' for name in _FILES.values())} there."
        )
    return found


def _read(file: Any, magic: int) -> Any:
    """The array in an idx file: uint8, of the shape that its header says."""
    head = file.read(2)
    file.seek(0)
    data = gzip.GzipFile(fileobj=file).read() if head == b"\x1f\x8b" else file.read()
    (found,) = struct.unpack_from(">I", data)
    if found != magic:
        kind = "image" if magic == _IMAGES else "label"
        raise ValueError(f"Invalid magic number {found} in MNIST {kind} file: {file.name}")
    shape = struct.unpack_from(f">{found & 0xFF}I", data, 4)
    return np.frombuffer(data, np.uint8, int(np.prod(shape)), 4 + 4 * len(shape)).reshape(shape)


def extract_images(f: Any) -> Any:
    """The images in an open file: uint8 [N, height, width, 1]."""
    print("Extracting", f.name)
    return _read(f, _IMAGES)[..., np.newaxis]


def extract_labels(f: Any, one_hot: bool = False, num_classes: int = 10) -> Any:
    """The labels in an open file: uint8 [N], or float64 [N, num_classes] with ``one_hot``."""
    print("Extracting", f.name)
    labels = _read(f, _LABELS)
    return np.eye(num_classes)[labels] if one_hot else labels


class DataSet:
    """Images and labels, in batches. Not thread-safe.

    Args:
        images: uint8 [N, height, width, 1].
        labels: [N] or [N, classes].
        fake_data: Serve constant images instead, for tests.
        one_hot: Of the fake data's labels.
        dtype: tf.float32 (pixels in [0, 1]) or tf.uint8 (in [0, 255]).
        reshape: Whether images become [N, height * width].
        seed: For NumPy's global random state; without it the graph's seed counts, if it has one.
    """

    def __init__(
        self,
        images: Any,
        labels: Any,
        fake_data: bool = False,
        one_hot: bool = False,
        dtype: Any = np.float32,
        reshape: bool = True,
        seed: int | None = None,
    ) -> None:
        np.random.seed(tf.get_default_graph().seed if seed is None else seed)
        dtype = tf.as_dtype(dtype).base_dtype
        if dtype not in (tf.uint8, tf.float32):
            raise TypeError(f"Invalid image dtype {dtype!r}, expected uint8 or float32")
        self._fake = fake_data
        self.one_hot = one_hot
        if not fake_data:
            assert images.shape[0] == labels.shape[0], f"images.shape: {images.shape} labels.shape: {labels.shape}"
            if reshape:
                assert images.shape[3] == 1
                images = images.reshape(images.shape[0], images.shape[1] * images.shape[2])
            if dtype == tf.float32:
                images = np.multiply(images.astype(np.float32), np.float32(1.0 / 255.0))
        self._images, self._labels = images, labels
        self._num_examples = 10000 if fake_data else images.shape[0]
        self._epochs_completed = 0
        self._index_in_epoch = 0

    @property
    def images(self) -> Any:
        return self._images

    @property
    def labels(self) -> Any:
        return self._labels

    @property
    def num_examples(self) -> int:
        return int(self._num_examples)

    @property
    def epochs_completed(self) -> int:
        return self._epochs_completed

    def next_batch(self, batch_size: int, fake_data: bool = False, shuffle: bool = True) -> tuple[Any, Any]:
        """The next examples: (images, labels). A batch over the end of an epoch has the first of the next one in it."""
        if fake_data:
            label = [1] + [0] * 9 if self.one_hot else 0
            return [_FAKE_IMAGE] * batch_size, [label] * batch_size
        start = self._index_in_epoch
        if shuffle and start == 0:  # the very first
            self._shuffle()
        end = start + batch_size
        if end <= self._num_examples:
            self._index_in_epoch = end
            return self._images[start:end], self._labels[start:end]
        rest = self._images[start:], self._labels[start:]
        self._epochs_completed += 1
        if shuffle:
            self._shuffle()
        self._index_in_epoch = end - self._num_examples
        first = self._images[: self._index_in_epoch], self._labels[: self._index_in_epoch]
        return np.concatenate([rest[0], first[0]]), np.concatenate([rest[1], first[1]])

    def _shuffle(self) -> None:
        order = np.arange(self._num_examples)
        np.random.shuffle(order)
        self._images, self._labels = self._images[order], self._labels[order]


def read_data_sets(
    train_dir: str,
    fake_data: bool = False,
    one_hot: bool = False,
    dtype: Any = np.float32,
    reshape: bool = True,
    validation_size: int = 5000,
    seed: int | None = None,
    source_url: str | None = None,
) -> Datasets:
    """Read MNIST from ``train_dir``.

    Args:
        train_dir: The folder of the four files, or one above it.
        fake_data: See :class:`DataSet`.
        one_hot: Labels as float64 [N, 10].
        dtype: See :class:`DataSet`.
        reshape: See :class:`DataSet`.
        validation_size: How many of the training examples, the first ones, are for validation.
        seed: See :class:`DataSet`.
        source_url: Ignored: nothing is downloaded.

    Raises:
        FileNotFoundError: With the names of the files that are missing and where they were looked for.
        ValueError: A file is of another kind, or ``validation_size`` is out of range.
    """
    if fake_data:
        return Datasets(
            *(DataSet([], [], fake_data=True, one_hot=one_hot, dtype=dtype, seed=seed) for _ in Datasets._fields)
        )
    arrays = dict(_arrays(_find(train_dir), one_hot))
    images, labels = arrays["train images"], arrays["train labels"]
    if not 0 <= validation_size <= len(images):
        raise ValueError(f"Validation size should be between 0 and {len(images)}. Received: {validation_size}.")
    parts = [
        (images[validation_size:], labels[validation_size:]),
        (images[:validation_size], labels[:validation_size]),
        (arrays["test images"], arrays["test labels"]),
    ]
    return Datasets(*(DataSet(*part, dtype=dtype, reshape=reshape, seed=seed) for part in parts))


def _arrays(paths: dict[str, str], one_hot: bool) -> Iterator[tuple[str, Any]]:
    for what in _FILES:
        with open(paths[what], "rb") as file:
            yield what, extract_images(file) if what.endswith("images") else extract_labels(file, one_hot)
