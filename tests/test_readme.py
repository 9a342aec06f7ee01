"""README.md, and what all pages share: commands, library code, links, options, names of files and errors."""

from __future__ import annotations

import builtins
import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from pages import (
    PAGES,
    README,
    RUN_BLOCKS,
    blocks,
    check_command,
    code_spans,
    commands,
    headings,
    links,
    option_names,
    outputs_that_differ,
    prose,
    table,
)
from support import ROOT, PythonRun

from tf1sessions import errors
from tf1sessions.cluster.flags import ROLES
from tf1sessions.porting import recorder
from tf1sessions.testing.settings import OPTIONS

SHELL = [block.text.strip() for block in blocks(README, "sh")]
every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}/{page.stem}")


def parts(command: str) -> list[list[str]]:
    return [shlex.split(part) for part in command.split("&&")]


def test_first_command_installs_and_runs_examples() -> None:
    *install, run = parts(SHELL[0])
    assert install == [["python3", "-m", "venv", "env"], [".", "env/bin/activate"], ["pip", "install", "."]]
    assert run[:2] == ["tf1sessions", "run"] and run[5:] == ["-j", "2"]
    assert [script for script in run[2:5] if not (ROOT / script).is_file()] == []


def test_second_command_is_what_ci_runs() -> None:
    *install, test = parts(SHELL[1])
    assert install == [["python3", "-m", "venv", "env"], [".", "env/bin/activate"], ["pip", "install", ".[test]"]]
    assert len(SHELL) == 2
    ci = (ROOT / ".ci/run").read_text("utf-8")
    assert re.search(r" -m venv ", ci)
    assert re.search(r'^step "[^"]+" pip install (--quiet )?"\.\[test\]"$', ci, flags=re.MULTILINE)
    assert re.search(rf'^step "[^"]+" {shlex.join(test)}$', ci, flags=re.MULTILINE)


def test_readme_is_short() -> None:
    assert len(README.read_text("utf-8").splitlines()) <= 150


def test_library_code(run_python: Callable[..., PythonRun]) -> None:
    code = list(blocks(README, "python"))
    assert code
    done = run_python(RUN_BLOCKS, json.dumps([[block.page, block.line, block.text] for block in code]))
    assert outputs_that_differ(code, done.results) == []


def test_supported_versions_are_those_of_the_metadata() -> None:
    metadata = (ROOT / "setup.cfg").read_text("utf-8")
    assert "python_requires = >=3.10, <3.14" in metadata and "tensorflow >= 2.16, < 2.22" in metadata
    assert "Python 3.10 to 3.13 and TensorFlow 2.16 to 2.21" in prose(README)
    for python, tensorflow, keras, when, result in table(README, "Python"):
        assert (3, 10) <= tuple(map(int, python.split("."))) <= (3, 13)
        assert (2, 16) <= tuple(map(int, tensorflow.split("."))) <= (2, 21)
        assert keras == tensorflow and re.fullmatch(r"\d{4}-\d\d-\d\d", when) and result


@every_page
def test_links_lead_somewhere(page: Path) -> None:
    broken = []
    for link in links(page):
        target, _, anchor = link.partition("#")
        path = (page.parent / target).resolve() if target else page
        if "://" not in link and (not path.exists() or (anchor and anchor not in headings(path))):
            broken.append(link)
    assert broken == []
    assert page != README or "LICENSE" in links(page)  # the pattern finds links at all


@every_page
def test_commands_are_accepted(page: Path) -> None:
    wrong = []
    for words in commands(page):
        try:
            check_command(words)
        except click.ClickException as error:
            wrong.append(f"tf1sessions {shlex.join(words)}: {error.format_message()}")
        wrong += [word for word in words if word.startswith("examples/") and not (ROOT / word).is_file()]
    assert wrong == []
    assert page != README or len(commands(page)) > 4


@every_page
def test_options_in_the_text_are_real(page: Path) -> None:
    reported = {span.split()[0].partition("=")[0] for span in code_spans(page) if re.match(r"--?[a-zA-Z]", span)}
    known = option_names() | {"--out", "--rate"}  # the second is a script's own, and so is the first in a grid
    if page.name == "12-recorder.md":
        known |= {option for action in recorder._parser()._actions for option in action.option_strings}
    if page.name == "13-testing.md":  # tests/testing/test_plugin.py holds its table against pytest's help
        known |= {option.flag for option in OPTIONS} | {"-p", "--update-goldens"}
    if page.name == "15-clusters.md":  # flags of the programs that are launched
        known |= {f"--{name}" for names in ROLES.values() for name in names}
    assert sorted(reported - known) == []


@every_page
def test_files_and_errors_that_are_named_are_there(page: Path) -> None:
    spans = code_spans(page)
    files = {found[0] for span in spans if (found := re.match(r"(examples|benchmarks|tests|\.ci)/[\w./]+", span))}
    assert [name for name in sorted(files) if not (ROOT / name).exists()] == []
    reported = {span for span in spans if re.fullmatch(r"\w+Error", span)}
    if page.name in ("contrib.md", "symbols.md"):  # TensorFlow's names, which the test of each page holds
        reported = set()
    assert [name for name in sorted(reported) if not hasattr(errors, name) and not hasattr(builtins, name)] == [
        name
        for name in sorted(reported)
        if name in ("CancelledError", "OutOfRangeError")  # TensorFlow's
    ]


def test_check_command_refuses_what_is_wrong() -> None:
    for words in (["run", "--no-such", "a.py"], ["run", "-j", "0", "a.py"], ["walk", "a.py"]):
        with pytest.raises(click.UsageError):
            check_command(words)
    check_command(["run", "a.py", "--", "--no-such"])


def test_reading_a_page(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "Text, `a\nspan` and [a link](there.md).\n\n```python\nprint(f(1))  # 1\n```\n\n"
        "```console\n$ tf1sessions run c.py -- --epochs 3\nshown\n```\n\n| A | B |\n| --- | --- |\n| `x` | y |\n",
        "utf-8",
    )
    python, console = blocks(page)
    assert (python.language, python.line, python.text) == ("python", 5, "print(f(1))  # 1\n")
    assert commands(page) == [["run", "c.py", "--", "--epochs", "3"]] and console.language == "console"
    assert (links(page), code_spans(page), table(page, "A")) == (["there.md"], ["a span", "`x`"[1:-1]], [["`x`", "y"]])
    where = f"{python.page}:5"
    assert outputs_that_differ([python], {where: [["1"], None]}) == []
    assert outputs_that_differ([python], {where: [["2"], None]}) != []
    assert outputs_that_differ([python], {where: [["1"], "Traceback"]}) != []
    assert outputs_that_differ([python], {}) != []
