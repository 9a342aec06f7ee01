"""``tf.contrib.tensorboard.plugins.projector``: which embeddings TensorBoard's projector shows, and with which labels.

The messages are TensorBoard's, and are made here, so that it does not have to be installed.

Example::

    config = projector.ProjectorConfig()
    embedding = config.embeddings.add()
    embedding.tensor_name = "words"
    embedding.metadata_path = "labels.tsv"
    projector.visualize_embeddings(tf.summary.FileWriter(folder), config)
"""

from __future__ import annotations

import functools
import os
from typing import Any

from ....runtime import tf1 as tf

__all__ = ["EmbeddingInfo", "ProjectorConfig", "SpriteMetadata", "visualize_embeddings"]  # noqa: F822, made lazily

_FILE = "projector_config.pbtxt"  # the name that TensorBoard looks for

# message -> its fields: name, number, type, repeated
_FIELDS: dict[str, list[tuple[str, int, str, bool]]] = {
    "SpriteMetadata": [("image_path", 1, "STRING", False), ("single_image_dim", 2, "UINT32", True)],
    "EmbeddingInfo": [
        ("tensor_name", 1, "STRING", False),
        ("metadata_path", 2, "STRING", False),
        ("bookmarks_path", 3, "STRING", False),
        ("tensor_shape", 4, "UINT32", True),
        ("sprite", 5, "SpriteMetadata", False),
        ("tensor_path", 6, "STRING", False),
    ],
    "ProjectorConfig": [
        ("model_checkpoint_path", 1, "STRING", False),
        ("embeddings", 2, "EmbeddingInfo", True),
        ("model_checkpoint_dir", 3, "STRING", False),
    ],
}


@functools.lru_cache(maxsize=1)
def _messages() -> dict[str, Any]:
    """The classes of the messages, in a pool of their own: TensorBoard's, if it is loaded too, are in the usual one."""
    from google.protobuf import (  # type: ignore[import-untyped,unused-ignore]
        descriptor_pb2,
        descriptor_pool,
        message_factory,
    )

    field_type = descriptor_pb2.FieldDescriptorProto
    package = "tensorflow"
    file = descriptor_pb2.FileDescriptorProto(name="projector_config.proto", package=package, syntax="proto3")
    for message, fields in _FIELDS.items():
        made = file.message_type.add(name=message)
        for name, number, kind, repeated in fields:
            field = made.field.add(name=name, number=number)
            field.label = field_type.LABEL_REPEATED if repeated else field_type.LABEL_OPTIONAL
            if kind in _FIELDS:
                field.type, field.type_name = field_type.TYPE_MESSAGE, f".{package}.{kind}"
            else:
                field.type = getattr(field_type, f"TYPE_{kind}")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{package}.{name}")) for name in _FIELDS}


def __getattr__(name: str) -> Any:
    if name in _FIELDS:
        return _messages()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def visualize_embeddings(summary_writer: Any, config: Any) -> None:
    """Writes ``config``, a ``ProjectorConfig``, to the folder of ``summary_writer``, where the projector finds it.

    Raises:
        ValueError: The writer has no folder.
    """
    from google.protobuf import text_format  # type: ignore[import-untyped,unused-ignore]

    folder = summary_writer.get_logdir()
    if folder is None:
        raise ValueError("Summary writer must have a logdir")
    with tf.gfile.Open(os.path.join(folder, _FILE), "w") as file:
        file.write(text_format.MessageToString(config))
