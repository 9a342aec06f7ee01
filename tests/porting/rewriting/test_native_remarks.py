"""The pages of the steps have an answer for each kind of remark that the steps write."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from pages import NOTES

from tf1sessions.porting.rewriting import inputs, native, requests
from tf1sessions.porting.rewriting.native import (
    checkpoints,
    late_prints,
    refusals,
    session_settings,
    shared_draws,
    small_steps,
    unordered,
)
from tf1sessions.porting.rewriting.rules import functions_requests, inputs_queues, native_code

_MODULES = [Path(native_code.__file__), *sorted(Path(native.__path__[0]).glob("*.py"))]


def template(node: ast.AST) -> str | None:
    """A text with X in place of what is computed."""
    if isinstance(node, ast.JoinedStr):
        return "".join(str(each.value) if isinstance(each, ast.Constant) else "X" for each in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def said_by(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        value = None
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            value = node.args[-1] if node.func.id in ("NotPossible", "NotNative") else None
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in ("what", "reason"):
            value = node.value
        text = None if value is None else template(value)
        if text is not None and not text.startswith(("#", "It has X")):
            yield text


def on_the_page(page: str = "port-native.md") -> set[str]:
    text = (NOTES / page).read_text("utf-8").partition("## What a person has to decide")[2]
    return {each.strip() for row in re.findall(r"^\| (.*?) \| ", text, re.MULTILINE) for each in row.split(";")}


# Those of inlining.py are never shown: a function that they are about stays a function.
@pytest.mark.parametrize("path", [each for each in _MODULES if each.stem != "inlining"], ids=lambda path: path.stem)
def test_every_remark_has_an_answer(path: Path):
    assert not set(said_by(path)) - on_the_page()


#: Step -> the modules that say why a program stays before it.
_EARLIER = {"functions": [functions_requests, requests], "inputs": [inputs_queues, inputs]}


@pytest.mark.parametrize("step", _EARLIER)
def test_every_remark_of_the_steps_before_has_an_answer(step: str):
    paths = []
    for module in _EARLIER[step]:
        paths += [
            Path(module.__file__),
            *(Path(each) for folder in getattr(module, "__path__", ()) for each in sorted(Path(folder).glob("*.py"))),
        ]
    said = {text for path in paths for text in said_by(path)}
    if step == "functions":
        tables = (
            functions_requests._BLOCKERS,
            functions_requests._BLOCKING_METHODS,
            functions_requests._BLOCKING_PREFIXES,
        )
        said |= {f"It has {what}" for table in tables for what in table.values()}
    assert len(said) > 15
    assert not said - on_the_page(f"port-{step}.md")


def test_everything_of_a_graph_that_is_refused_has_an_answer():
    tables = [refusals._GRAPH, refusals._PREFIXES, refusals._ENDS]
    assert not {f"It has {what}" for table in tables for what in table.values()} - on_the_page()


def test_what_is_good_to_know_has_an_answer():
    page = (NOTES / "port-native.md").read_text("utf-8")
    assert refusals.DROPPED_PRINT.rstrip(".") in page
    assert "tf.summary needs the package tensorboard" in page
    assert session_settings.LEFT_OUT.partition(",")[0] in page
    assert checkpoints.RESTORED.partition(":")[0] in page and "### Old checkpoints" in page
    assert checkpoints.PARTLY_RESTORED.partition(", or")[0] in page
    assert unordered.UNORDERED.partition(";")[0] in page
    assert unordered.READ_UNORDERED.partition(";")[0] in page
    assert shared_draws.SHARED_DRAW.partition(" from one sequence")[0] in page
    assert late_prints.LATE_PRINT.partition(": with")[0] in page
    assert small_steps.SMALL_STEPS.partition(":")[0] in page
    assert "### Small steps" in page and '"Small steps" in migration_notes/port-native.md' in small_steps.SMALL_STEPS


def test_there_are_remarks():
    assert len({text for path in _MODULES for text in said_by(path)}) > 100
