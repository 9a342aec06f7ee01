"""HTTP and gRPC: each check of `http_checks.py`, all in one process."""

from __future__ import annotations

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

PROGRAM = "http_checks.py"


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_http(check: str, findings: dict[str, str | None]) -> None:
    assert findings[check] is None, findings[check]
