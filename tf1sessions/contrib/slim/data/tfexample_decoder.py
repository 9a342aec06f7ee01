"""Decoding ``tf.train.Example`` records: features are parsed, and handlers make items of them.

A handler names the features that it needs, its keys, and turns the parsed tensors into one: an image, boxes, a label.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ....runtime import tf1 as tf
from .data_decoder import DataDecoder

__all__ = [
    "BackupHandler",
    "BoundingBox",
    "Image",
    "ItemHandler",
    "ItemHandlerCallback",
    "LookupTensor",
    "SparseTensor",
    "TFExampleDecoder",
    "Tensor",
]


class ItemHandler(metaclass=abc.ABCMeta):
    """Makes an item of features.

    Args:
        keys: The features' names, or the one's.
    """

    def __init__(self, keys: Any) -> None:
        self._keys = keys if isinstance(keys, (tuple, list)) else [keys]

    @property
    def keys(self) -> Sequence[str]:
        """The names of the features."""
        return self._keys

    @abc.abstractmethod
    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        """The item, of the parsed features by name."""


class ItemHandlerCallback(ItemHandler):
    """The result of a function of features.

    Args:
        keys: The features' names.
        func: A function of a dict of the parsed features by name.
    """

    def __init__(self, keys: Any, func: Callable[[Mapping[str, Any]], Any]) -> None:
        super().__init__(keys)
        self._func = func

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        return self._func(keys_to_tensors)


class BoundingBox(ItemHandler):
    """Boxes, [N, 4]: ymin, xmin, ymax, xmax, of four features of N numbers each.

    Args:
        keys: The names of the four features; "ymin", "xmin", "ymax" and "xmax" unless given.
        prefix: Comes before each of them.

    Raises:
        ValueError: There are not four.
    """

    def __init__(self, keys: Sequence[str] | None = None, prefix: str = "") -> None:
        if keys is None:
            keys = ["ymin", "xmin", "ymax", "xmax"]
        elif len(keys) != 4:
            raise ValueError(f"BoundingBox expects 4 keys but got {len(keys)}")
        super().__init__([prefix + key for key in keys])

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        sides = [_values(keys_to_tensors[key]) for key in self._keys]
        return tf.transpose(tf.concat([tf.expand_dims(side, 0) for side in sides], 0))


class Tensor(ItemHandler):
    """A feature, dense, in a shape.

    Args:
        tensor_key: The feature's name.
        shape_keys: The feature that holds the shape; or a list of those that hold one size each.
        shape: The shape, if it is known.
        default_value: What is where a sparse feature has no value.

    Raises:
        ValueError: There are ``shape_keys`` and ``shape``.
    """

    def __init__(self, tensor_key: str, shape_keys: Any = None, shape: Any = None, default_value: Any = 0) -> None:
        if shape_keys and shape is not None:
            raise ValueError("Cannot specify both shape_keys and shape parameters.")
        if shape_keys and not isinstance(shape_keys, list):
            shape_keys = [shape_keys]
        self._tensor_key = tensor_key
        self._shape_keys = shape_keys
        self._shape = shape
        self._default_value = default_value
        super().__init__([tensor_key, *(shape_keys or [])])

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        tensor = keys_to_tensors[self._tensor_key]
        shape = self._shape
        if self._shape_keys:
            sizes = [_dense(keys_to_tensors[key]) for key in self._shape_keys]
            shape = tf.reshape(tf.stack(sizes), [-1])
        if isinstance(tensor, tf.SparseTensor):
            if shape is not None:
                tensor = tf.sparse_reshape(tensor, shape)
            return tf.sparse_tensor_to_dense(tensor, self._default_value)
        return tensor if shape is None else tf.reshape(tensor, shape)


class LookupTensor(Tensor):
    """The entry of a table for a feature.

    Args:
        tensor_key: As in :class:`Tensor`.
        table: A table of ``tf.contrib.lookup``.
        shape_keys: As in :class:`Tensor`.
        shape: As in :class:`Tensor`.
        default_value: As in :class:`Tensor`.
    """

    def __init__(
        self, tensor_key: str, table: Any, shape_keys: Any = None, shape: Any = None, default_value: Any = ""
    ) -> None:
        self._table = table
        super().__init__(tensor_key, shape_keys, shape, default_value)

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        return self._table.lookup(super().tensors_to_item(keys_to_tensors))


class BackupHandler(ItemHandler):
    """The item of one handler, or of another where the first one's has no elements.

    Args:
        handler: The first one.
        backup: The other.

    Raises:
        ValueError: One of them is no :class:`ItemHandler`.
    """

    def __init__(self, handler: ItemHandler, backup: ItemHandler) -> None:
        for name, value in (("Primary", handler), ("Backup", backup)):
            if not isinstance(value, ItemHandler):
                raise ValueError(f"{name} handler is of type {type(value)} instead of ItemHandler")
        self._handler = handler
        self._backup = backup
        super().__init__([*handler.keys, *backup.keys])

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        item = self._handler.tensors_to_item(keys_to_tensors)
        empty = tf.equal(tf.reduce_prod(tf.shape(item)), 0)
        return tf.cond(empty, lambda: self._backup.tensors_to_item(keys_to_tensors), lambda: item)


class SparseTensor(ItemHandler):
    """A sparse tensor of two features: where its values are, and what they are.

    Args:
        indices_key: The feature of the indices; "indices" unless given.
        values_key: The feature of the values; "values" unless given.
        shape_key: The feature of the shape, if there is one.
        shape: The shape, else; that of the indices unless given.
        densify: Whether it is made dense.
        default_value: What is then where there is no value.
    """

    def __init__(
        self,
        indices_key: str | None = None,
        values_key: str | None = None,
        shape_key: str | None = None,
        shape: Any = None,
        densify: bool = False,
        default_value: Any = 0,
    ) -> None:
        self._indices_key = indices_key or "indices"
        self._values_key = values_key or "values"
        self._shape_key = shape_key
        self._shape = shape
        self._densify = densify
        self._default_value = default_value
        super().__init__([self._indices_key, self._values_key, *([shape_key] if shape_key else [])])

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        indices, values = keys_to_tensors[self._indices_key], keys_to_tensors[self._values_key]
        if self._shape_key:
            shape = _values(keys_to_tensors[self._shape_key])
        else:
            shape = self._shape if self._shape else indices.dense_shape
        before = tf.slice(indices.indices, [0, 0], tf.stack([-1, tf.shape(indices.indices)[1] - 1]))
        last = tf.reshape(tf.cast(indices.values, tf.int64), [-1, 1])
        tensor = tf.SparseTensor(tf.concat([before, last], 1), values.values, shape)
        return tf.sparse_tensor_to_dense(tensor, self._default_value) if self._densify else tensor


class Image(ItemHandler):
    """An image, [H, W, C], of a feature with its bytes and of one that names their format.

    Args:
        image_key: The feature with the bytes; "image/encoded" unless given.
        format_key: The feature with the format, "raw" or anything else: files of images say which they are;
            "image/format" unless given.
        shape: The image's shape, if all have the same.
        channels: C.
        dtype: The image's type.
        repeated: Whether the feature has several images, of one size.
        dct_method: How JPEG files are decoded: "INTEGER_FAST" or "INTEGER_ACCURATE".
    """

    def __init__(
        self,
        image_key: str | None = None,
        format_key: str | None = None,
        shape: Any = None,
        channels: int = 3,
        dtype: Any = tf.uint8,
        repeated: bool = False,
        dct_method: str = "",
    ) -> None:
        self._image_key = image_key or "image/encoded"
        self._format_key = format_key or "image/format"
        self._shape = shape
        self._channels = channels
        self._dtype = dtype
        self._repeated = repeated
        self._dct_method = dct_method
        super().__init__([self._image_key, self._format_key])

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        buffer, image_format = keys_to_tensors[self._image_key], keys_to_tensors[self._format_key]
        if self._repeated:
            return tf.map_fn(lambda one: self._decode(one, image_format), buffer, dtype=self._dtype)
        return self._decode(buffer, image_format)

    def _decode(self, buffer: Any, image_format: Any) -> Any:
        def file() -> Any:
            image = tf.cond(
                tf.image.is_jpeg(buffer),
                lambda: tf.image.decode_jpeg(buffer, self._channels, dct_method=self._dct_method),
                lambda: tf.image.decode_image(buffer, self._channels),
                name="cond_jpeg",
            )
            return tf.cast(image, self._dtype)

        raw = tf.logical_or(tf.equal(image_format, "raw"), tf.equal(image_format, "RAW"))
        image = tf.case([(raw, lambda: tf.decode_raw(buffer, self._dtype))], default=file, exclusive=True)
        image.set_shape([None, None, self._channels])
        return image if self._shape is None else tf.reshape(image, self._shape)


class TFExampleDecoder(DataDecoder):
    """Decodes a serialized ``tf.train.Example``.

    Args:
        keys_to_features: ``{feature: tf.FixedLenFeature or tf.VarLenFeature}``.
        items_to_handlers: ``{item: handler}``.
    """

    def __init__(self, keys_to_features: Mapping[str, Any], items_to_handlers: Mapping[str, ItemHandler]) -> None:
        self._keys_to_features = keys_to_features
        self._items_to_handlers = items_to_handlers

    def list_items(self) -> list[str]:
        return list(self._items_to_handlers)

    def decode(self, serialized_example: Any, items: Sequence[str] | None = None) -> list[Any]:
        """The tensors of ``items``, all of them unless given, of a serialized example."""
        example = dict(tf.parse_single_example(serialized_example, self._keys_to_features))
        for key, feature in sorted(self._keys_to_features.items()):
            if isinstance(feature, tf.FixedLenFeature):
                example[key] = tf.reshape(example[key], feature.shape)
        handlers = [self._items_to_handlers[item] for item in (items or self._items_to_handlers)]
        return [handler.tensors_to_item({key: example[key] for key in handler.keys}) for handler in handlers]


def _values(feature: Any) -> Any:
    return feature.values if isinstance(feature, tf.SparseTensor) else feature


def _dense(feature: Any) -> Any:
    return tf.sparse_tensor_to_dense(feature) if isinstance(feature, tf.SparseTensor) else feature
