"""Reads the project's Markdown pages: their code blocks, links, tables and commands. For the tests of documentation."""

from __future__ import annotations

import dataclasses
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from support import ROOT

from tf1sessions.cli.main import cli

README = ROOT / "README.md"
NOTES = ROOT / "migration_notes"
PAGES = (README, ROOT / "CONTRIBUTING.md", *sorted(NOTES.glob("*.md")))


@dataclasses.dataclass(frozen=True)
class Block:
    """A fenced block: its page's name, its language and text, and the number of its first line in the page."""

    page: str
    language: str
    text: str
    line: int


def blocks(page: Path, language: str | None = None) -> list[Block]:
    """The fenced blocks of a page, in order; of one language where it is given."""
    text = page.read_text("utf-8")
    return [
        Block(f"{page.parent.name}/{page.name}", fence[1], fence[2], text.count("\n", 0, fence.start(2)) + 1)
        for fence in re.finditer(r"^```(\w*)\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
        if language in (None, fence[1])
    ]


def prose(page: Path) -> str:
    """A page without its fenced blocks."""
    return re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)


def links(page: Path) -> list[str]:
    """The targets of a page's links."""
    return re.findall(r"\[[^\]]*\]\(([^)\s]+)\)", prose(page))


def headings(page: Path) -> set[str]:
    """The anchors that a page's headings have."""
    names = re.findall(r"^#+ (.*)$", prose(page), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", name.lower()).replace(" ", "-") for name in names}


def code_spans(page: Path) -> list[str]:
    """What stands between backticks in a page's text and tables."""
    return [" ".join(span.split()) for span in re.findall(r"`([^`]+)`", prose(page))]


def table(page: Path, header: str) -> list[list[str]]:
    """The rows of the table whose first column is named ``header``."""
    found = re.search(rf"^\| {re.escape(header)} \|.*\n\|[-| ]+\|\n((?:\|.*\n)+)", prose(page), flags=re.MULTILINE)
    assert found, f"{page} has no table with a column {header!r}"
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in found[1].splitlines()]


def commands(page: Path) -> list[list[str]]:
    """The arguments of each ``tf1sessions`` command that the page shows, by itself or between ``&&``."""
    lines = code_spans(page)
    for block in blocks(page):
        if block.language == "console":
            lines += [line[2:] for line in block.text.splitlines() if line.startswith("$ ")]
        elif block.language == "sh":
            lines += block.text.splitlines()
    found = []
    for line in lines:
        for part in line.split("&&"):
            call = re.match(r"\s*(?:mpirun -n \d+ )?(?:python -m )?tf1sessions (.*)", part)
            if call and "..." not in part:
                found.append(shlex.split(call[1]))
    return found


def check_command(words: Sequence[str]) -> None:
    """Reads a command's options as the command line does, and runs nothing; ``--help`` counts as an option.

    Raises:
        click.UsageError: There is no such command or option, or a value is wrong.
    """
    if words == ["--help"]:
        return
    group = click.Context(cli)
    name, command, rest = cli.resolve_command(group, list(words))
    assert command is not None
    command.make_context(name, [word for word in rest if word != "--help"], parent=group)


def option_names() -> set[str]:
    """Every option of every command, in every spelling, with those that help is asked by."""
    context = click.Context(cli)
    found = [cli.get_command(context, name) for name in cli.list_commands(context)]
    return {
        name
        for command in found
        if command is not None
        for parameter in command.get_params(click.Context(command, info_name=command.name, **command.context_settings))
        if isinstance(parameter, click.Option)
        for name in (*parameter.opts, *parameter.secondary_opts)
    }


#: Runs blocks in order, those of a page in one namespace; file names and lines in tracebacks are the page's. Reports
#: for each what it printed, by line, and its traceback or None.
RUN_BLOCKS = """
import contextlib, io, json, sys, traceback

names, codes = {}, []
for page, line, text in json.loads(sys.argv[1]):
    shown, error = io.StringIO(), None
    try:
        code = compile("\\n" * (line - 1) + text, page, "exec", dont_inherit=True)
        codes.append(code)  # TensorFlow 2.21 points into it, and does not keep it
        with contextlib.redirect_stdout(shown):
            exec(code, names.setdefault(page, {"__name__": "__main__"}))
    except BaseException:
        error = traceback.format_exc()
    report(**{f"{page}:{line}": [shown.getvalue().splitlines(), error]})
"""


def outputs_that_differ(code: Sequence[Block], results: Mapping[str, Any]) -> list[str]:
    """What is wrong with the results of :data:`RUN_BLOCKS`: every ``print`` has a comment that says what it shows."""
    wrong = []
    for block in code:
        where = f"{block.page}:{block.line}"
        shown, error = results.get(where, (None, "did not run"))
        prints = [line for line in block.text.splitlines() if line.lstrip().startswith("print(")]
        promised = [line.partition("  # ")[2] for line in prints]
        if error is not None:
            wrong.append(f"{where}: {error}")
        elif shown != promised:
            wrong.append(f"{where}: promised {promised}, printed {shown}")
    return wrong
