"""Optimizers of checkpoints, and training on from there; see checkpoint_training_checks.py."""

from __future__ import annotations

PROGRAM = "checkpoint_training_checks.py"
LIBRARIES = ("keras", "tf_keras", "legacy")
OPTIMIZERS = (
    "adadelta adagrad adam ftrl momentum nesterov rmsprop rmsprop_centered rmsprop_momentum sgd"  # of the golden
).split()


def more_checks() -> list[str]:
    """A check for each library and each optimizer that 1.15.5 was recorded with."""
    return [f"check_{library}_{name}" for library in LIBRARIES for name in OPTIMIZERS]


def test_training(check: str, findings: dict[str, str | None]) -> None:
    assert findings[check] is None, findings[check]
