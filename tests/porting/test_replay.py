"""Loops and conditions of TensorFlow 1 as TensorFlow 2 has them; see replay_checks.py."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

PROGRAM = "replay_checks.py"
GOLDEN = Path(__file__).resolve().parent.parent / "golden" / "data" / "control_flow.json.gz"


def more_checks() -> list[str]:
    """A check for each graph that 1.15.5 has written."""
    with gzip.open(GOLDEN, "rt", encoding="utf-8") as file:
        return [f"check_{name}" for name in json.load(file)]


def test_replay(check: str, findings: dict[str, str | None]) -> None:
    assert findings[check] is None, findings[check]
