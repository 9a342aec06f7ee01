"""Models that are served less often: each check of `unusual_models_checks.py`, all in one process."""

from __future__ import annotations

import pytest

pytest.importorskip("uvicorn")

PROGRAM = "unusual_models_checks.py"


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_unusual_models(check: str, findings: dict[str, str | None]) -> None:
    assert findings[check] is None, findings[check]
