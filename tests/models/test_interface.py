"""models.interface: what the guess finds in the graphs of `interface_checks.py`."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from support import PythonRun

CHECKS = Path(__file__).with_name("interface_checks.py")
NAMES = re.findall(r"^@check\ndef (\w+)", CHECKS.read_text("utf-8"), re.M)

_PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
import interface_checks
interface_checks.main(report)
"""


@pytest.fixture(scope="module")
def failures(run_python: Callable[..., PythonRun]) -> dict[str, str]:
    results: dict[str, str] = run_python(_PROGRAM, str(CHECKS.parent)).results
    return results


@pytest.mark.parametrize("name", NAMES)
def test_the_guess(failures: dict[str, str], name: str) -> None:
    assert failures[name] == ""


def test_every_check_is_run(failures: dict[str, str]) -> None:
    assert list(failures) == NAMES and len(NAMES) >= 20
