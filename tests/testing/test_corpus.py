"""Each program of the corpus has the verdict that it must have, whatever the timing; see corpus/__init__.py."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support import PythonRun

HERE = Path(__file__).parent
#: In how many processes the modules are run: each takes seconds to start.
_PROCESSES = 3
MODULES = sorted(path.stem for path in (HERE / "corpus").glob("[a-z]*.py") if path.stem not in ("threads", "verdicts"))

_RUN = """
import sys, traceback
sys.path.insert(0, sys.argv[1])
import corpus_runs
for module in sys.argv[2:]:
    for name, program in corpus_runs.programs(module).items():
        try:
            report(**{f"{module}.{name}": corpus_runs.wrong(program)})
        except BaseException:
            report(**{f"{module}.{name}": [traceback.format_exc()]})
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
@pytest.mark.parametrize("part", range(_PROCESSES))
def test_corpus(part: int, run_python: Callable[..., PythonRun]) -> None:
    modules = MODULES[part::_PROCESSES]
    done = run_python(_RUN, str(HERE), *modules, fresh=True, check=False, deadline=280)
    missing = [f"the process ended with {done.returncode} in or before this program:\n{done.stderr[-6000:]}"]
    all_names = [f"{module}.{name}" for module in modules for name, _ in names(module)]
    wrong = {name: done.results.get(name, missing) for name in all_names}
    assert wrong and not any(wrong.values()), "\n".join(
        f"{name}: {each}" for name, found in wrong.items() for each in found
    )


def test_two_hundred_of_each() -> None:
    """With the programs of the zoo, which have their own docstrings for a verdict."""
    planted = [is_planted for module in MODULES for _, is_planted in names(module)]
    texts = [path.read_text("utf-8") for path in (HERE / "zoo").glob("*.py")]
    planted += ["\nExpected: nothing\n" not in text for text in texts]
    assert sum(planted) >= 200 and planted.count(False) >= 200
