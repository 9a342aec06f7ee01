"""Ported graphs train on several devices as on one; see distribute_checks.py."""

from __future__ import annotations

PROGRAM = "distribute_checks.py"


def more_checks() -> list[str]:
    """A check for each of these models of 1.15.5."""
    return [f"check_{name}" for name in ("mlp", "lstm_resource", "gan", "partitioned", "words", "optimizer_averages")]


def test_distribute(check: str, findings: dict[str, str | None]) -> None:
    assert findings[check] is None, findings[check]
