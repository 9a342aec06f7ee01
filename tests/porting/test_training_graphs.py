"""Training graphs of TensorFlow 1, step by step; see training_graph_checks.py."""

from __future__ import annotations

import json
import lzma
from pathlib import Path

PROGRAM = "training_graph_checks.py"
GOLDEN = Path(__file__).resolve().parent.parent / "golden" / "data"


def more_checks() -> list[str]:
    """A check for each graph that 1.15.5 has written."""
    checks = []
    for name in ("training_graphs", "training_conditions"):
        with lzma.open(GOLDEN / f"{name}.json.xz", "rt", encoding="utf-8") as file:
            checks += [f"check_{case}" for case in json.load(file)]
    return checks


def test_training(check: str, findings: dict[str, str | None]) -> None:
    assert findings[check] is None, findings[check]
