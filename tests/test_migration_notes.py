"""migration_notes/: every block of Python runs and prints what it says, job files are read, tables are not stale."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from pages import NOTES, RUN_BLOCKS, blocks, links, option_names, outputs_that_differ, table
from support import PACKAGE, ROOT, PythonRun

from tf1sessions.cli.main import cli
from tf1sessions.doctor import machine
from tf1sessions.doctor.check import check
from tf1sessions.doctor.rules.registry import RULES
from tf1sessions.doctor.source import read_text
from tf1sessions.errors import JobFileError
from tf1sessions.scripts.folder import STATES, JobRecord
from tf1sessions.scripts.jobfile import read_job_file
from tf1sessions.scripts.jobs import JobSettings
from tf1sessions.scripts.missing import replacement

RUNNING, DIFFERENT, SESSIONS, MODELS, QUEUES, SHARING, DOCTOR, LEAVING, CHECKPOINTS, VERIFYING, OPERATIONS = (
    NOTES / f"{name}.md"
    for name in (
        "1-run-it-unmodified",
        "2-what-is-different",
        "3-sessions-in-your-own-program",
        "5-old-models",
        "6-queues-and-pipelines",
        "7-sharing-a-machine",
        "8-doctor",
        "9-leaving-with-models",
        "10-checkpoints",
        "11-verify",
        "custom-ops",
    )
)


def test_index_names_every_page_in_order() -> None:
    pages = sorted(NOTES.glob("[0-9]*.md"), key=lambda page: int(page.name.partition("-")[0]))
    assert links(NOTES / "README.md") == [*(page.name for page in pages), "custom-ops.md", "fidelity.md"]


# Page 1 installs the TF1 face in its first block, and page 2 is about programs in such a process. Page 7 settles what
# its process gets.
@pytest.mark.slow
@pytest.mark.parametrize(
    "pages",
    [(RUNNING, DIFFERENT), (SESSIONS, MODELS, QUEUES, CHECKPOINTS), (SHARING,), (LEAVING, VERIFYING)],
    ids=["scripts", "library", "machine", "leaving"],
)
def test_python(pages: tuple[Path, ...], run_python: Callable[..., PythonRun]) -> None:
    code = [block for page in pages for block in blocks(page, "python")]
    assert {Path(block.page).name for block in code} == {page.name for page in pages}
    done = run_python(RUN_BLOCKS, json.dumps([[block.page, block.line, block.text] for block in code]), deadline=150)
    assert outputs_that_differ(code, done.results) == []


def test_no_other_page_has_python() -> None:
    assert {page for page in NOTES.glob("*.md") if blocks(page, "python")} == {
        *(RUNNING, DIFFERENT, SESSIONS, MODELS, QUEUES, SHARING, LEAVING, CHECKPOINTS, VERIFYING)
    }


def test_job_files(tmp_path: Path) -> None:
    files = [block for page in sorted(NOTES.glob("*.md")) for block in blocks(page, "toml")]
    counts = []
    for number, block in enumerate(files):
        path = tmp_path / f"{number}.toml"
        path.write_text(block.text, "utf-8")
        counts.append(len(read_job_file(path)))
    assert counts == [4, 2]
    (tmp_path / "wrong.toml").write_text(files[0].text.replace("repeat = 2", "repeats = 2"), "utf-8")
    with pytest.raises(JobFileError, match="repeats"):
        read_job_file(tmp_path / "wrong.toml")


def test_dry_run_shows_what_the_page_shows(tmp_path: Path, run_python: Callable[..., PythonRun]) -> None:
    (tmp_path / "search.toml").write_text(blocks(RUNNING, "toml")[0].text, "utf-8")
    (tmp_path / "train.py").touch()
    shown = run_python(
        """
        import sys
        from tf1sessions.cli.main import main

        sys.argv = ["tf1sessions", "run", "search.toml", "--dry-run"]
        main()
        """,
        cwd=tmp_path,
    ).stdout
    assert "jobs to run" in shown
    assert shown in [block.text for block in blocks(RUNNING, "text")]


def test_tables_of_options_are_complete() -> None:
    rows = [
        row
        for page in (RUNNING, MODELS, SHARING, DOCTOR, LEAVING, VERIFYING, OPERATIONS)
        for row in table(page, "Option")
    ]
    assert {name for row in rows for name in re.findall(r"(?<=`)--?[A-Za-z-]+", row[0])} == option_names()


def test_states_keys_and_settings_are_the_real_ones() -> None:
    told = [name for row in table(RUNNING, "State") for name in re.findall(r"`(\w+)`", row[0])]
    assert told == list(STATES)

    text = " ".join(RUNNING.read_text("utf-8").split())
    (example,) = (json.loads(block.text) for block in blocks(RUNNING, "json"))
    more = re.search(r"There are more keys: (.*?)\. The file", text)
    assert more
    told = [*example[0], *re.findall(r"`(\w+)`", more[1])]
    assert sorted(told) == sorted(field.name for field in dataclasses.fields(JobRecord))

    settings = re.search(r"- `settings` may have (.*?)\.", text)
    assert settings
    told = re.findall(r"`(\w+)`", settings[1])
    assert sorted(told) == sorted(field.name for field in dataclasses.fields(JobSettings))


def test_replacements_are_what_the_errors_say() -> None:
    rows = table(DIFFERENT, "Missing")
    assert len(rows) > 5
    wrong = []
    for missing, use in rows:
        said = replacement(missing.strip("`")) or ""
        for name in re.findall(r"`([^`]+)`", use):
            if not re.search(rf"(?<!\w){re.escape(name)}(?!\w)", said):
                wrong.append(f"{missing}: {name} is not in {said!r}")
    assert wrong == []


def test_inspect_says_what_the_page_says(run_python: Callable[..., PythonRun]) -> None:
    done = run_python(
        """
        import os, sys
        from click.testing import CliRunner
        from tf1sessions.cli.main import cli
        from tf1sessions.models.inspection import Inspection
        from tf1sessions.models.risks import KINDS

        os.chdir(sys.argv[1])
        report(text=CliRunner().invoke(cli, ["inspect", "frozen.pb"]).stdout, kinds=KINDS)
        """,
        str(ROOT / "tests" / "golden" / "data" / "models"),
    ).results
    (shown,) = blocks(MODELS, "text")
    assert done["text"].startswith(shown.text)
    assert [row[0] for row in table(MODELS, "Kind")] == done["kinds"]


def test_memory_prints_what_the_page_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ((machine,), (call,), (shown,)) = (blocks(SHARING, language) for language in ("json", "console", "text"))
    (tmp_path / "machine.json").write_text(machine.text, "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    args = call.text.removeprefix("$ tf1sessions ").split()
    assert CliRunner().invoke(cli, args).stdout == shown.text


def test_doctor_prints_what_the_page_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script, _ = blocks(DOCTOR, "py")
    (shown,) = blocks(DOCTOR, "text")
    (tmp_path / "train.py").write_text(script.text, "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(machine, "examine", lambda seen: [])
    done = CliRunner().invoke(cli, ["doctor", "train.py"])
    assert done.stdout == shown.text
    assert done.exit_code == 1


def test_rules_of_the_doctor_are_told_as_they_are() -> None:
    text = " ".join(DOCTOR.read_text("utf-8").split())
    assert re.findall(r"- \*\*`([a-z0-9-]+)`\*\*", text) == list(RULES)
    for rule in RULES.values():
        severity = rule.severity.name.lower()
        assert f"**`{rule.name}`** ({severity}): {rule.what}. {rule.why} *Instead:* {rule.fix}" in text, rule.name
    suppressed = blocks(DOCTOR, "py")[1].text
    program = "import tensorflow as tf\nsess = tf.Session()\nwhile True:\n    "
    assert check(read_text(program + suppressed)) == []
    assert check(read_text(program + suppressed.replace("ignore", "keep"))) != []


def test_sections_of_inspect_are_the_real_ones() -> None:
    source = (PACKAGE / "cli" / "report.py").read_text("utf-8")
    told = [title for row in table(MODELS, "Section") for title in row[0].split(", ")]
    assert [title for title in told if f'"{title}"' not in source and f'f"{title} ' not in source] == []
