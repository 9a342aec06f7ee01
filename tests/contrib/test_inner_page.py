"""The page about inner addresses against the code, and the counts of names in use."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import inner_page
import names_in_use
import pytest

_SCRIPT = """
import sys
sys.path.insert(0, sys.argv[1])
import inner_page
import tf1sessions.scripts
tf1sessions.scripts.install()

found, in_use = inner_page.states(), inner_page.missing_in_use()
report(
    page=inner_page.page(found, in_use),
    not_imported=[name for name, module in found.items() if not module.imported],
    there=[inner_page.is_there(f"tensorflow.{name}") for name in ("nn.relu", "python.layers.utils", "no_such_name")],
)
"""


@pytest.fixture(scope="module")
def results(run_python: Callable[..., Any]) -> dict[str, Any]:
    found: dict[str, Any] = run_python(_SCRIPT, str(Path(__file__).parent), fresh=True).results
    return found


@pytest.mark.skipif(
    not importlib.metadata.version("tensorflow").startswith("2.21."), reason="the page counts the names of 2.21"
)
def test_page_is_what_the_code_does(results: dict[str, Any]) -> None:
    assert inner_page.PAGE.read_text("utf-8") == results["page"], "Run: python tests/contrib/inner_page.py"


def test_every_module_is_there(results: dict[str, Any]) -> None:
    assert results["not_imported"] == []
    assert results["there"] == [True, True, False]


def test_counts_are_of_names_of_tensorflow() -> None:
    uses = names_in_use.uses()
    assert names_in_use.repositories() > 100
    assert all(name.split(".")[0] == "tensorflow" for name in uses)
    assert max(uses.values()) == uses["tensorflow"] == names_in_use.repositories()
    assert uses["tensorflow.placeholder"] > 50 > uses["tensorflow.python.layers.utils"] >= 1
