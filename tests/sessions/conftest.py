"""Runs the programs of this folder, each in a process of its own, and gives every check in them a test.

A test module names a file next to it, ``PROGRAM = "aliasing_checks.py"``, and has one test that takes ``check`` and
``findings``. The file's functions whose names start with ``check_`` become the parameters; all of them run in one
process, and ``findings`` maps each name to None or to what went wrong.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).resolve().parent

_RUN_CHECKS = """
import importlib, os, sys, traceback
sys.path[:0] = [sys.argv[1], os.path.dirname(sys.argv[1])]
program = importlib.import_module(sys.argv[2])
for name in sys.argv[3:]:
    try:
        getattr(program, name)()
    except BaseException:
        report(**{name: traceback.format_exc()})
    else:
        report(**{name: None})
"""


def check_names(program: str) -> list[str]:
    tree = ast.parse((FOLDER / program).read_text(encoding="utf-8"))
    return [node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("check_")]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "check" in metafunc.fixturenames:
        names = check_names(metafunc.module.PROGRAM)
        metafunc.parametrize("check", names, ids=[name.removeprefix("check_") for name in names])


@pytest.fixture(scope="module")
def findings(request: pytest.FixtureRequest, run_python: Callable[..., Any]) -> dict[str, str | None]:
    """What each check of the module's program found; a check that is missing never ended."""
    program = request.module.PROGRAM
    names = check_names(program)
    done = run_python(_RUN_CHECKS, str(FOLDER), Path(program).stem, *names, check=False, deadline=170)
    found: dict[str, str | None] = dict(done.results)
    for name in names:
        if name not in found:
            found[name] = f"the process ended with {done.returncode} in or before this check:\n{done.stderr[-6000:]}"
    return found
