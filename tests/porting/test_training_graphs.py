"""Training graphs of TensorFlow 1, step by step; see training_graph_checks.py."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

PROGRAM = "training_graph_checks.py"
GOLDEN = Path(__file__).resolve().parent.parent / "golden" / "training_graphs.json.gz"


def more_checks() -> list[str]:
    """A check for each graph that 1.15.5 has written."""
    with gzip.open(GOLDEN, "rt", encoding="utf-8") as file:
        return [f"check_{name}" for name in json.load(file)]


def test_training(check: str, findings: dict[str, str | None]) -> None:
    assert findings[check] is None, findings[check]
