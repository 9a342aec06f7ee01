"""A forest as tensors, and as the message ``tensorflow.boosted_trees.TreeEnsemble`` that 1.15.5 has in checkpoints.

TensorFlow has lost the message's classes, so its fields are listed here. Both ways are made of operations, so that a
checkpoint is read by a SavedModel, too. Shapes: T trees, N nodes of the largest tree, P pruned nodes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ...runtime import private
from ...runtime import tf1 as tf

__all__ = [
    "COUNT",
    "FEATURE",
    "FINALIZED",
    "LAYERS",
    "LEFT",
    "PRUNED",
    "RIGHT",
    "THRESHOLD",
    "Forest",
    "decode",
    "empty_forest",
    "encode",
]

#: What is in the last axis of ``Forest.nodes`` ...
FEATURE, THRESHOLD, LEFT, RIGHT = range(4)
#: ... and of ``Forest.trees``
COUNT, LAYERS, FINALIZED, PRUNED = range(4)


class Forest(NamedTuple):
    """Trees; all but the last are finished.

    Attributes:
        nodes: [T, N, 4] int32: the feature that a node splits by (-1: it is a leaf), the last bucket that goes left,
            and both children.
        values: [T, N]: what a leaf adds to the logit; of a node that was split, what it added before.
        gains: [T, N]: by how much a split made the loss less.
        trees: [T, 4] int32: how many nodes a tree has, how many layers were grown, whether it is finished, and how many
            nodes it had before it was pruned (0: it was not).
        weights: [T].
        moved: [T, P] int32: the nodes that those before the pruning became.
        changes: [T, P]: by how much their values changed with that.
        growth: [4] int64: how many trees and layers were begun, and the last layer's first node and its end.
    """

    nodes: Any
    values: Any
    gains: Any
    trees: Any
    weights: Any
    moved: Any
    changes: Any
    growth: Any


def empty_forest() -> Forest:
    return Forest(
        nodes=tf.zeros([0, 1, 4], tf.int32),
        values=tf.zeros([0, 1]),
        gains=tf.zeros([0, 1]),
        trees=tf.zeros([0, 4], tf.int32),
        weights=tf.zeros([0]),
        moved=tf.zeros([0, 1], tf.int32),
        changes=tf.zeros([0, 1]),
        growth=tf.zeros([4], tf.int64),
    )


_DTYPES = {"int32": tf.int32, "int64": tf.int64, "float": tf.float32, "bool": tf.bool}
_TYPES = {"float": 2, "int64": 3, "int32": 5, "bool": 8, "message": 11}

#: Message -> field -> number, type (a basic one, or a message), and whether there are many; what one logit needs.
_FIELDS: dict[str, dict[str, tuple[int, str, bool]]] = {
    "Leaf": {"scalar": (3, "float", False)},
    "BucketizedSplit": {
        "feature_id": (1, "int32", False),
        "threshold": (2, "int32", False),
        "left_id": (3, "int32", False),
        "right_id": (4, "int32", False),
    },
    "NodeMetadata": {"gain": (1, "float", False), "original_leaf": (2, "Leaf", False)},
    "Node": {
        "leaf": (1, "Leaf", False),
        "bucketized_split": (2, "BucketizedSplit", False),
        "metadata": (777, "NodeMetadata", False),
    },
    "Tree": {"nodes": (1, "Node", True)},
    "PostPruneNodeUpdate": {"new_node_id": (1, "int32", False), "logit_change": (2, "float", True)},
    "TreeMetadata": {
        "num_layers_grown": (2, "int32", False),
        "is_finalized": (3, "bool", False),
        "post_pruned_nodes_meta": (4, "PostPruneNodeUpdate", True),
    },
    "GrowingMetadata": {
        "num_trees_attempted": (1, "int64", False),
        "num_layers_attempted": (2, "int64", False),
        "last_layer_node_start": (3, "int32", False),
        "last_layer_node_end": (4, "int32", False),
    },
    "TreeEnsemble": {
        "trees": (1, "Tree", True),
        "tree_weights": (2, "float", True),
        "tree_metadata": (3, "TreeMetadata", True),
        "growing_metadata": (4, "GrowingMetadata", False),
    },
}


def _descriptor() -> bytes:
    """The messages as the operations want them."""
    descriptor_pb2 = private.descriptor_pb2
    file = descriptor_pb2.FileDescriptorProto(name="boosted_trees.proto", package="boosted_trees", syntax="proto3")
    for message, fields in _FIELDS.items():
        made = file.message_type.add(name=message)
        for name, (number, kind, many) in fields.items():
            field = made.field.add(name=name, number=number, label=3 if many else 1)
            field.type = _TYPES.get(kind, _TYPES["message"])
            if kind not in _TYPES:
                field.type_name = f".boosted_trees.{kind}"
            elif many:
                field.options.packed = True  # as proto3 says; TensorFlow 2.16 wants it said
    described: bytes = descriptor_pb2.FileDescriptorSet(file=[file]).SerializeToString()
    return b"bytes://" + described


_DESCRIPTOR = _descriptor()


class _Field(NamedTuple):
    """A field of many messages: how often each has it, and its values in one axis more."""

    counts: Any
    values: Any

    @property
    def first(self) -> Any:
        return self.values[..., 0]


def _decode(message: str, serialized: Any) -> Mapping[str, _Field]:
    """The fields of messages; ``serialized`` has any shape without a zero."""
    fields = _FIELDS[message]
    sizes, values = tf.raw_ops.DecodeProtoV2(
        bytes=serialized,
        message_type=f"boosted_trees.{message}",
        field_names=list(fields),
        output_types=[_DTYPES.get(kind, tf.string) for _, kind, _ in fields.values()],
        descriptor_source=_DESCRIPTOR,
    )
    counts = tf.unstack(sizes, len(fields), axis=-1)
    return {name: _Field(*field) for name, *field in zip(fields, counts, values, strict=True)}


def _encode(message: str, fields: Mapping[str, _Field]) -> Any:
    """The messages that have ``fields``."""
    return tf.raw_ops.EncodeProto(
        sizes=tf.stack([field.counts for field in fields.values()], axis=-1),
        values=[field.values for field in fields.values()],
        field_names=list(fields),
        message_type=f"boosted_trees.{message}",
        descriptor_source=_DESCRIPTOR,
    )


def _one(values: Any, present: Any = None) -> _Field:
    """A field that is in each message once, where ``present``; by default, where it is not zero."""
    present = tf.not_equal(values, tf.zeros_like(values)) if present is None else present
    return _Field(tf.cast(present, tf.int32), tf.expand_dims(values, -1))


def decode(serialized: Any) -> Forest:
    """The forest in a ``TreeEnsemble``, a scalar string."""
    fields = _decode("TreeEnsemble", tf.reshape(serialized, [1]))
    ensemble = {name: _Field(field.counts[0], field.values[0]) for name, field in fields.items()}
    number = ensemble["trees"].counts
    # Without messages the operation fails, so there is one tree and one node more.
    trees = _decode("Tree", tf.pad(ensemble["trees"].values[:number], [[0, 1]], constant_values=""))["nodes"]
    nodes = _decode("Node", trees.values)
    split = _decode("BucketizedSplit", nodes["bucketized_split"].first)
    metadata = _decode("NodeMetadata", nodes["metadata"].first)
    leaf = _decode("Leaf", nodes["leaf"].first)["scalar"].first
    original = _decode("Leaf", metadata["original_leaf"].first)["scalar"].first
    is_split = nodes["bucketized_split"].counts > 0
    about = _decode("TreeMetadata", tf.pad(ensemble["tree_metadata"].values[:number], [[0, 1]], constant_values=""))
    pruned = about["post_pruned_nodes_meta"]
    update = _decode("PostPruneNodeUpdate", pruned.values)
    growth = _decode("GrowingMetadata", ensemble["growing_metadata"].values[0])
    return Forest(
        nodes=tf.stack(
            [
                tf.where(is_split, split["feature_id"].first, tf.fill(tf.shape(is_split), -1)),
                split["threshold"].first,
                split["left_id"].first,
                split["right_id"].first,
            ],
            axis=-1,
        )[:number],
        values=tf.where(is_split, original, leaf)[:number],
        gains=metadata["gain"].first[:number],
        trees=tf.stack(
            [
                trees.counts,
                about["num_layers_grown"].first,
                tf.cast(about["is_finalized"].first, tf.int32),
                pruned.counts,
            ],
            axis=-1,
        )[:number],
        weights=ensemble["tree_weights"].values[:number],
        moved=update["new_node_id"].first[:number],
        changes=update["logit_change"].first[:number],
        growth=tf.stack([tf.cast(field.first, tf.int64) for field in growth.values()]),
    )


def encode(forest: Forest) -> Any:
    """The ``TreeEnsemble`` of a forest, a scalar string."""
    columns = tf.unstack(forest.nodes, len(_FIELDS["BucketizedSplit"]), axis=-1)
    feature = columns[FEATURE]
    is_split = feature >= 0
    leaf = _encode("Leaf", {"scalar": _one(forest.values)})
    split = dict(zip(_FIELDS["BucketizedSplit"], map(_one, columns), strict=True))
    is_root = tf.equal(tf.range(tf.shape(feature)[1]), 0)
    has_original = tf.logical_or(tf.not_equal(forest.values, 0.0), tf.logical_not(is_root))
    metadata = _encode("NodeMetadata", {"gain": _one(forest.gains), "original_leaf": _one(leaf, has_original)})
    node = _encode(
        "Node",
        {
            "leaf": _one(leaf, tf.logical_not(is_split)),
            "bucketized_split": _one(_encode("BucketizedSplit", split), is_split),
            "metadata": _one(metadata, is_split),
        },
    )
    changed = tf.ones_like(forest.moved, tf.bool)
    update = _encode(
        "PostPruneNodeUpdate", {"new_node_id": _one(forest.moved), "logit_change": _one(forest.changes, changed)}
    )
    trees = tf.unstack(forest.trees, 4, axis=-1)
    about = {
        "num_layers_grown": _one(trees[LAYERS]),
        "is_finalized": _one(trees[FINALIZED] > 0),
        "post_pruned_nodes_meta": _Field(trees[PRUNED], update),
    }
    growing = tf.unstack(tf.expand_dims(forest.growth, 0), len(_FIELDS["GrowingMetadata"]), axis=-1)
    growth = {
        name: _one(tf.cast(value, _DTYPES[kind]))
        for (name, (_, kind, _)), value in zip(_FIELDS["GrowingMetadata"].items(), growing, strict=True)
    }
    number = tf.shape(forest.weights)
    ensemble = {
        "trees": _Field(number, _encode("Tree", {"nodes": _Field(trees[COUNT], node)})[None]),
        "tree_weights": _Field(number, forest.weights[None]),
        "tree_metadata": _Field(number, _encode("TreeMetadata", about)[None]),
        "growing_metadata": _one(
            _encode("GrowingMetadata", growth), tf.reduce_any(tf.not_equal(forest.growth, 0), keepdims=True)
        ),
    }
    return _encode("TreeEnsemble", ensemble)[0]
