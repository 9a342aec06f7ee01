"""The models of ported_models.tar.xz as files, and as modules of TensorFlow 2: to be asked, and to learn."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path

import ported_models
from ported_models import Record

from tf1sessions import porting

_FOLDER = tempfile.TemporaryDirectory(prefix="ported-")
MODELS: Path = ported_models.extract(_FOLDER.name)


@functools.cache
def record_of(name: str) -> Record:
    return Record(MODELS / name)


def _source(record: Record) -> str:
    """What to convert: the checkpoint; the SavedModel, where a file belongs to the model."""
    return str(record.folder / "saved_model") if record.name == "words" else record.meta


def inference(record: Record, source: str | None = None) -> porting.GraphModule:
    return porting.function(source or _source(record), inputs=record.inputs, outputs=record.outputs)


def training(record: Record, partitions: str = "kept") -> porting.GraphModule:
    """A module whose outputs are the losses, with a step ``train_0``, ``train_1``, ... for each."""
    return porting.function(
        _source(record),
        inputs={name: f"{name}:0" for name in record.batches[0]},
        outputs={f"loss_{index}": name for index, name in enumerate(record.losses)},
        train={f"train_{index}": name for index, name in enumerate(record.trains)},
        partitions=partitions,
    )
