"""Models that 1.15.5 has trained and saved, as modules of TensorFlow 2; see ported_checks.py."""

from __future__ import annotations

import ported_models

PROGRAM = "ported_checks.py"


def more_checks() -> list[str]:
    """A check for each model that is not one of the program's own."""
    return [f"check_{name}" for name in ported_models.names() if name != "partitioned"]


def test_ported_models(check: str, findings: dict[str, str | None]) -> None:
    assert findings[check] is None, findings[check]
