"""models.upgrades: every row has its case and its near misses, in `upgrade_checks.py`."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from support import PythonRun

CHECKS = Path(__file__).with_name("upgrade_checks.py")
NAMES = re.findall(r"^@check\ndef (\w+)", CHECKS.read_text("utf-8"), re.M)

_PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
import upgrade_checks
upgrade_checks.main(report)
"""


@pytest.fixture(scope="module")
def failures(run_python: Callable[..., PythonRun]) -> dict[str, str]:
    results: dict[str, str] = run_python(_PROGRAM, str(CHECKS.parent)).results
    return results


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_upgrades(failures: dict[str, str], name: str) -> None:
    assert failures[name] == ""


def test_every_check_is_run(failures: dict[str, str]) -> None:
    assert list(failures) == NAMES and len(NAMES) >= 35
