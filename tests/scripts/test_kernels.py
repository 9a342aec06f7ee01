"""What operations compute is as far from 1.15.5's as migration_notes/fidelity.md says; see kernel_checks.py."""

from __future__ import annotations

import importlib.metadata

import kernel_page
import pytest

PROGRAM = "kernel_checks.py"


@pytest.mark.slow
@pytest.mark.skipif(
    not importlib.metadata.version("tensorflow").startswith("2.21."),
    reason="operations were measured on TensorFlow 2.21",
)
def test_kernels(check: str, findings: dict[str, str | None]) -> None:
    assert findings[check] is None, findings[check]


def test_page_has_what_was_measured() -> None:
    text = kernel_page.PAGE.read_text("utf-8")
    assert text == kernel_page.written(text), "run: python tests/scripts/kernel_page.py"


def test_differences_are_rounded_up() -> None:
    def cell(**difference: float | str) -> str:
        return kernel_page.cell([{"dtype": "float32", "difference": one, "fast": None} for one in (difference, None)])

    assert cell(relative=1.21e-7, share=0.1) == "2e-07"
    assert cell(relative=2e-7, share=0.1) == "2e-07"
    assert cell(relative=0.0, share=0.0) == "sign of 0"
    assert cell(relative="inf", share=1.0) == "other type"
    assert kernel_page.cell([{"dtype": "float32", "difference": None, "fast": None}]) == "equal"
    assert kernel_page.cell([]) == ""
