"""HTTP and gRPC: each check of `http_checks.py` and `connection_checks.py`, all in one process."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("uvicorn")

PROGRAM = "http_checks.py"


def more_checks() -> list[str]:
    """Those that it imports."""
    text = Path(__file__).with_name("connection_checks.py").read_text(encoding="utf-8")
    return re.findall(r"^def (check_\w+)", text, re.MULTILINE)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_http(check: str, findings: dict[str, str | None]) -> None:
    assert findings[check] is None, findings[check]
