"""How models that 1.15.5 has trained learn on; see ported_training_checks.py."""

from __future__ import annotations

import ported_models

PROGRAM = "ported_training_checks.py"


def more_checks() -> list[str]:
    """A check for each model."""
    return [f"check_{name}" for name in ported_models.names()]


def test_ported_training(check: str, findings: dict[str, str | None]) -> None:
    assert findings[check] is None, findings[check]
