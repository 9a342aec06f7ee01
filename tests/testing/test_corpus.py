"""Each program of the corpus has the verdict that it must have, whatever the timing; see corpus/__init__.py."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support import PythonRun

HERE = Path(__file__).parent
MODULES = sorted(path.stem for path in (HERE / "corpus").glob("[a-z]*.py") if path.stem != "verdicts")

_RUN = """
import sys, traceback
sys.path.insert(0, sys.argv[1])
import corpus_runs
for name, program in corpus_runs.programs(sys.argv[2]).items():
    try:
        report(**{name: corpus_runs.wrong(program)})
    except BaseException:
        report(**{name: [traceback.format_exc()]})
"""


def names(module: str) -> Iterator[tuple[str, bool]]:
    """The programs of a module, and whether something is planted in them."""
    for node in ast.parse((HERE / "corpus" / f"{module}.py").read_text("utf-8")).body:
        if isinstance(node, ast.FunctionDef) and node.decorator_list:
            decorator = node.decorator_list[0]
            called = decorator.func if isinstance(decorator, ast.Call) else decorator
            if isinstance(called, ast.Name) and called.id in ("right", "noted", "planted"):
                yield node.name, called.id == "planted"


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("module", MODULES)
def test_corpus(module: str, run_python: Callable[..., PythonRun]) -> None:
    done = run_python(_RUN, str(HERE), module, fresh=True, check=False, deadline=280)
    missing = [f"the process ended with {done.returncode} in or before this program:\n{done.stderr[-6000:]}"]
    wrong = {name: done.results.get(name, missing) for name, _ in names(module)}
    assert wrong and not any(wrong.values()), "\n".join(
        f"{name}: {each}" for name, found in wrong.items() for each in found
    )


def test_about_half_is_planted() -> None:
    planted = [is_planted for module in MODULES for _, is_planted in names(module)]
    assert len(planted) / 4 < sum(planted) < len(planted) * 3 / 4
