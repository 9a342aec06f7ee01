"""What 1.15.5 recorded of the models in ported_models.tar.xz. Imports nothing of tf1sessions and no TensorFlow."""

from __future__ import annotations

import functools
import json
import tarfile
from pathlib import Path
from typing import Any

import numpy as np

ARCHIVE = Path(__file__).resolve().parent.parent / "golden" / "data" / "ported_models.tar.xz"


def names() -> list[str]:
    with tarfile.open(ARCHIVE) as archive:
        return [Path(name).parent.name for name in archive.getnames() if name.endswith("record.json")]


def extract(folder: str | Path) -> Path:
    """Writes the artifacts into a folder, which has one folder a model then."""
    with tarfile.open(ARCHIVE) as archive:
        for member in archive.getmembers():  # not extractall(): its filter= came to 3.10 and 3.11 in a later release
            path = Path(folder, member.name)
            path.parent.mkdir(parents=True, exist_ok=True)
            file = archive.extractfile(member)
            assert file is not None and ".." not in path.parts
            path.write_bytes(file.read())
    return Path(folder)


class Record:
    """What 1.15.5 found of one model; see make_ported_models.py."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.name = folder.name
        self._reported: dict[str, Any] = json.loads((folder / "record.json").read_text())
        self.inputs: dict[str, str] = self._reported["inputs"]
        self.outputs: dict[str, str] = self._reported["outputs"]
        self.losses: list[str] = self._reported["losses"]
        self.trains: list[str] = self._reported["trains"]
        self.trainable: list[str] = self._reported["trainable"]
        self.curve = np.array(self._reported["curve"])

    @property
    def meta(self) -> str:
        return str(self.folder / "checkpoint" / "model.ckpt.meta")

    def arrays(self, key: str) -> dict[str, Any]:
        """``given``, ``found``, ``slopes``, ``end`` or ``updated``, by name."""
        return {name: _read(*value) for name, value in self._reported[key].items()}

    @functools.cached_property
    def batches(self) -> list[dict[str, Any]]:
        """What each of the ten steps was fed, by placeholder."""
        return [{name: _read(*value) for name, value in batch.items()} for batch in self._reported["batches"]]

    @property
    def gradients(self) -> list[dict[str, Any]]:
        """Of each loss for the first batch, by variable."""
        return [{name: _read(*value) for name, value in each.items()} for each in self._reported["gradients"]]


def _read(dtype: str, shape: list[int], content: Any) -> Any:
    if dtype == "string":
        return np.array([each.encode() for each in content], object).reshape(shape)
    return np.frombuffer(bytes.fromhex(content), dtype).reshape(shape)


def compare(found: Any, expected: Any, message: str, tolerance: float = 1e-5) -> None:
    """Floats within the tolerance (relative, too, where they are greater than 1), everything else equal."""
    found = np.asarray(found)
    assert found.shape == expected.shape, (message, found.shape, expected.shape)
    if expected.dtype.kind == "f":
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance, err_msg=message)
    else:
        np.testing.assert_array_equal(found, expected, err_msg=message)
