"""The lookup tables of a graph as those of TensorFlow 2: with what they hold, and the files that fill them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from tf1sessions.errors import ConversionError, Tf1SessionsError
from tf1sessions.models.graph_index import node_of, tensor_name
from tf1sessions.porting.sources import Source
from tf1sessions.runtime import tf

__all__ = ["make_tables"]

tf2: Any = tf.compat.v2

_FROM_FILE = {"InitializeTableFromTextFile", "InitializeTableFromTextFileV2"}
_FROM_TENSORS = {"InitializeTable", "InitializeTableV2", "LookupTableImport", "LookupTableImportV2"}


def make_tables(source: Source, names: Iterable[str]) -> dict[str, Any]:
    """The table of TensorFlow 2 for each node that is a table.

    Raises:
        ConversionError: Nothing says what is in one, or what is to be in it no table can hold.
    """
    found = {}
    for name in names:
        try:
            found[name] = _table(source, name)
        except Tf1SessionsError:
            raise
        except (ValueError, TypeError, LookupError, tf.errors.OpError) as error:
            reason = str(getattr(error, "message", None) or error).partition("\n")[0].rpartition("}} ")[2]
            raise ConversionError(
                f"the table {name!r} cannot be filled: {reason:.500}",
                where=source.where,
                next_step="Compare the file or the values that fill it with the original's.",
                nodes=(name,),
            ) from error
    return found


def _table(source: Source, name: str) -> Any:
    node = source.graph_index.nodes[name]
    keys, values = (tf.as_dtype(node.attr[each].type) for each in ("key_dtype", "value_dtype"))
    fills = [
        consumer
        for consumer, _ in source.graph_index.consumers[name]
        if consumer.op in _FROM_FILE | _FROM_TENSORS and not source.values.is_restored(name, consumer.name)
    ]
    if node.op.startswith("HashTable"):
        return _static(source, name, fills, keys, values)
    shape = tf.TensorShape(node.attr["value_shape"].shape) if "value_shape" in node.attr else tf.TensorShape([])
    default = tf.zeros(shape, values) if values != tf.string else tf.fill(shape, "")
    if node.op.startswith("MutableDenseHashTable"):
        empty, deleted = (source.values.fetch([tensor_name(entry)])[0] for entry in [*node.input, *node.input][:2])
        table = tf2.lookup.experimental.DenseHashTable(keys, values, default, empty, deleted)
    else:
        table = tf2.lookup.experimental.MutableHashTable(keys, values, default)
    saved = source.values.entries(name)
    if saved is not None:
        # As it is restored in TensorFlow 1: a dense table's entries in a checkpoint are all of its buckets.
        tf.raw_ops.LookupTableImportV2(table_handle=table.resource_handle, keys=saved[0], values=saved[1])
        return table
    for fill in fills:
        table.insert(*source.values.fetch([tensor_name(entry) for entry in fill.input[1:3]]))
    return table


def _static(source: Source, name: str, fills: list[Any], keys: Any, values: Any) -> Any:
    if not fills:
        raise ConversionError(
            f"the table {name!r} has no entries: the graph lost the operation that fills it",
            where=source.where,
            next_step="Keep its initializer when the graph is frozen (name it as an output), convert the SavedModel or "
            ".meta file instead, or cut the graph behind the table (inputs=...).",
            nodes=(name,),
        )
    fill = type(fills[0])()
    fill.CopyFrom(fills[0])  # to read an attribute that is not there makes one
    default = {tf.string: "", tf.bool: False}.get(values, -1)
    if fill.op in _FROM_FILE:
        initializer = tf2.lookup.TextFileInitializer(
            _file(source, fill),
            keys,
            fill.attr["key_index"].i,
            values,
            fill.attr["value_index"].i,
            vocab_size=size if (size := fill.attr["vocab_size"].i) > 0 else None,
            delimiter=fill.attr["delimiter"].s.decode() or "\t",
            value_index_offset=fill.attr["offset"].i,
        )
    else:
        source.prepared.vet([fill.name], source.artifact.assets, assets=source.artifact.assets)
        entries = source.values.fetch([tensor_name(entry) for entry in fill.input[1:3]])
        initializer = tf2.lookup.KeyValueTensorInitializer(*entries, keys, values)
    return tf2.lookup.StaticHashTable(initializer, default)


def _file(source: Source, fill: Any) -> str:
    """The file that a table is filled from: an asset of the artifact, or what a constant names."""
    tensor = tensor_name(fill.input[1])
    asset = source.artifact.assets.get(tensor)
    for before in source.graph_index.ancestors([node_of(tensor)]):
        asset = asset or source.artifact.assets.get(f"{before}:0")
    if asset is None:
        source.prepared.vet([fill.name], source.artifact.assets, assets=source.artifact.assets)
        asset = bytes(source.values.fetch([tensor])[0]).decode()
    if not (tf.gfile.Exists(asset)):
        raise ConversionError(
            f"the table of {fill.input[0]!r} is filled from the file {asset!r}, which is not there",
            where=source.where,
            next_step="Put the file there; relative to the working directory, if it is no absolute path.",
            nodes=(node_of(fill.input[0]),),
        )
    return os.path.abspath(asset) if "://" not in asset else asset
