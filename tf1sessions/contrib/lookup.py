"""``tf.contrib.lookup``: tables from words to numbers and back, with the names and arguments of 1.15.

Nearly all of it is TensorFlow's own, whose module of tables has kept what ``tf.lookup`` does not show.
"""

from __future__ import annotations

import importlib
from typing import Any

from ..runtime import tf1 as tf

__all__ = [
    "FastHashSpec",
    "HashTable",
    "HasherSpec",
    "IdTableWithHashBuckets",
    "InitializableLookupTableBase",
    "KeyValueTensorInitializer",
    "LookupInterface",
    "MutableDenseHashTable",
    "MutableHashTable",
    "StrongHashSpec",
    "TableInitializerBase",
    "TextFileIdTableInitializer",
    "TextFileIndex",
    "TextFileInitializer",
    "TextFileStringTableInitializer",
    "index_table_from_file",
    "index_table_from_tensor",
    "index_to_string",
    "index_to_string_table_from_file",
    "index_to_string_table_from_tensor",
    "string_to_index",
    "string_to_index_table_from_file",
    "string_to_index_table_from_tensor",
]

_native: Any = importlib.import_module(tf.lookup.StaticHashTable.__module__)

FastHashSpec: Any = _native.FastHashSpec
HasherSpec: Any = _native.HasherSpec
IdTableWithHashBuckets: Any = _native.IdTableWithHashBuckets
InitializableLookupTableBase: Any = _native.InitializableLookupTableBase
KeyValueTensorInitializer: Any = tf.lookup.KeyValueTensorInitializer
LookupInterface: Any = _native.LookupInterface
MutableDenseHashTable: Any = tf.lookup.experimental.DenseHashTable
MutableHashTable: Any = tf.lookup.experimental.MutableHashTable
StrongHashSpec: Any = _native.StrongHashSpec
TableInitializerBase: Any = _native.TableInitializerBase
TextFileIdTableInitializer: Any = _native.TextFileIdTableInitializer
TextFileIndex: Any = tf.lookup.TextFileIndex
TextFileInitializer: Any = tf.lookup.TextFileInitializer
TextFileStringTableInitializer: Any = _native.TextFileStringTableInitializer
index_table_from_file: Any = _native.index_table_from_file
index_to_string_table_from_file: Any = _native.index_to_string_table_from_file


class HashTable(tf.lookup.StaticHashTable):  # type: ignore[misc]
    """A table that is filled once, by ``tf.tables_initializer()`` or its own ``init``.

    Args:
        initializer: Such as a :class:`KeyValueTensorInitializer`.
        default_value: What a key that is not in the table gives.
        shared_name: Sessions share the table under this name.
        name: Of the op.
    """

    def __init__(
        self, initializer: Any, default_value: Any, shared_name: str | None = None, name: str | None = None
    ) -> None:
        self._given_name = shared_name
        super().__init__(initializer, default_value, name=name or "hash_table")

    def _create_resource(self) -> Any:
        if self._given_name is not None:
            self._shared_name = self._given_name
        return super()._create_resource()

    @property
    def init(self) -> Any:
        """The op that fills the table."""
        return self.initializer

    @property
    def table_ref(self) -> Any:
        """The table's handle."""
        return self.resource_handle


def _needs(mapping: Any) -> Any:
    if mapping is None:
        raise ValueError("mapping must be specified.")
    return mapping


def index_table_from_tensor(
    mapping: Any,
    num_oov_buckets: int = 0,
    default_value: int = -1,
    hasher_spec: Any = FastHashSpec,
    dtype: Any = tf.string,
    name: str | None = None,
) -> Any:
    """A table from the elements of ``mapping`` [N] to their places.

    Args:
        mapping: The keys, all different.
        num_oov_buckets: Other keys give a number from N on, by their hash, below N + num_oov_buckets.
        default_value: What other keys give if there are no buckets.
        hasher_spec: The hash.
        dtype: Of the keys to look up.
        name: The name scope.
    """
    return _native.index_table_from_tensor(_needs(mapping), num_oov_buckets, default_value, hasher_spec, dtype, name)


def string_to_index_table_from_tensor(
    mapping: Any,
    num_oov_buckets: int = 0,
    default_value: int = -1,
    hasher_spec: Any = FastHashSpec,
    name: str | None = None,
) -> Any:
    """The old name of :func:`index_table_from_tensor`, for strings."""
    mapping = tf.convert_to_tensor(mapping, tf.string)
    return index_table_from_tensor(mapping, num_oov_buckets, default_value, hasher_spec, name=name)


def string_to_index_table_from_file(
    vocabulary_file: Any = None,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: int = -1,
    hasher_spec: Any = FastHashSpec,
    name: str | None = None,
) -> Any:
    """The old name of ``index_table_from_file``, for strings."""
    return index_table_from_file(vocabulary_file, num_oov_buckets, vocab_size, default_value, hasher_spec, name=name)


def index_to_string_table_from_tensor(mapping: Any, default_value: str = "UNK", name: str | None = None) -> Any:
    """A table from places in ``mapping`` [N], strings, to what is there; ``default_value`` for others."""
    return _native.index_to_string_table_from_tensor(_needs(mapping), default_value, name)


def string_to_index(tensor: Any, mapping: Any, default_value: int = -1, name: str | None = None) -> Any:
    """The places in ``mapping`` of the strings in ``tensor``; ``default_value`` for others."""
    return index_table_from_tensor(mapping, default_value=default_value, name=name).lookup(tensor)


def index_to_string(tensor: Any, mapping: Any, default_value: str = "UNK", name: str | None = None) -> Any:
    """Return what is in ``mapping`` at the places in ``tensor``; ``default_value`` for others."""
    return index_to_string_table_from_tensor(mapping, default_value, name).lookup(tensor)
