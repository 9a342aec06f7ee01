"""What checkpoints are given and cannot take: each is an error that names it; see checkpoint_argument_checks.py."""

from __future__ import annotations

PROGRAM = "checkpoint_argument_checks.py"


def test_checkpoint_arguments(check: str, findings: dict[str, str | None]) -> None:
    assert findings[check] is None, findings[check]
