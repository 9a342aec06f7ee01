"""What TensorFlow 0.12.1 and 1.4.1 wrote loads too, and gives what it gave there; `make_models_before.py` wrote it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support import PythonRun, unpack

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "data"
EXPECTED = {
    "0.12.1": ("table.pb", "normalized.pb", "recurrent.pb", "recurrent/00000001", "recurrent"),
    "1.4.1": ("table.pb", "normalized.pb", "recurrent.pb", "recurrent/00000001", "recurrent", "beams.pb"),
}

_PROGRAM = """
import json, sys
import numpy as np
import tf1sessions

for folder in sys.argv[1:]:
    version = folder.rpartition("_")[2]
    expected = json.load(open(f"{folder}/expected.json"))
    for path in ("table.pb", "normalized.pb", "recurrent.pb", "recurrent/00000001", "recurrent", "beams.pb"):
        wanted = expected.get(path.partition("/")[0].removesuffix(".pb"))
        if wanted is None:
            continue
        with tf1sessions.load(f"{folder}/{path}") as model:
            feeds = {key: np.array(value, dtype) for key, (dtype, value) in wanted["feeds"].items()}
            found = model.run([f"{key}:0" for key in wanted["fetches"]], {f"{key}:0": feeds[key] for key in feeds})
            difference = max(
                float(np.abs(value - np.array(right)).max())
                for value, (_, right) in zip(found, wanted["fetches"].values())
            )
            report(**{f"{version} {path}": [difference, list(model.notes), sorted(model.inputs)]})
"""


@pytest.fixture(scope="module")
def found(run_python: Callable[..., PythonRun], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("before")
    for version in EXPECTED:
        unpack(GOLDEN / f"models_{version}.tar.gz", folder)
    results: dict[str, Any] = run_python(_PROGRAM, *(str(folder / f"models_{version}") for version in EXPECTED)).results
    return results


@pytest.mark.parametrize("name", [f"{version} {path}" for version, paths in EXPECTED.items() for path in paths])
def test_artifact_gives_what_it_gave(found: dict[str, Any], name: str) -> None:
    difference, _, inputs = found[name]
    assert difference < 1e-6
    wanted = {"table": ["keys"], "normalized": ["images", "training"], "beams": ["memory"]}
    assert inputs == wanted.get(name.split()[1].removesuffix(".pb"), ["lengths", "rows"])


def test_what_was_upgraded_is_reported(found: dict[str, Any]) -> None:
    for version in EXPECTED:
        assert any("a key for what was deleted" in note for note in found[f"{version} table.pb"][1])
        assert any("a constant here" in note for note in found[f"{version} normalized.pb"][1])
    assert any("composed of others: decoder/GatherTree" in note for note in found["1.4.1 beams.pb"][1])
    assert found["0.12.1 recurrent/00000001"][1] == []
