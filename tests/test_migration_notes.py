"""migration_notes/: every block of Python runs and prints what it says, job files are read, tables are not stale."""

from __future__ import annotations

import dataclasses
import importlib
import importlib.util
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from pages import NOTES, RUN_BLOCKS, blocks, links, option_names, outputs_that_differ, prose, table
from support import PACKAGE, ROOT, PythonRun
from warm import script_address, starting_warm

from tf1sessions.cli.main import cli
from tf1sessions.doctor import machine
from tf1sessions.doctor.check import check
from tf1sessions.doctor.rules.registry import RULES
from tf1sessions.errors import JobFileError
from tf1sessions.porting.audit.record import RULES as AUDIT_RULES
from tf1sessions.scripts.folder import STATES, JobRecord
from tf1sessions.scripts.jobfile import read_job_file
from tf1sessions.scripts.jobs import JobSettings
from tf1sessions.source import replacements, symbols
from tf1sessions.source.program import read_text
from tf1sessions.testing.suppressions import read_suppressions

(
    RUNNING,
    DIFFERENT,
    SESSIONS,
    MODELS,
    QUEUES,
    SHARING,
    DOCTOR,
    LEAVING,
    CHECKPOINTS,
    VERIFYING,
    SERVING,
    RAY,
    STRATEGIES,
    OPERATIONS,
    PORTING,
    AUDITING,
) = (
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
        "14-serving",
        "16-ray",
        "17-strategies",
        "custom-ops",
        "port",
        "audit",
    )
)
MESSAGES = NOTES / "faq.md"


def test_index_names_every_page_in_order() -> None:
    pages = sorted(NOTES.glob("[0-9]*.md"), key=lambda page: int(page.name.partition("-")[0]))
    port = ["port.md", "port-py3.md", "port-v1.md", "port-clean.md", "port-inputs.md", "port-functions.md"]
    port.append("port-native.md")
    looked_up = ["faq.md", "symbols.md", "contrib.md", "inner-addresses.md", "applications.md"]
    reported = [*(page.name for page in pages), "custom-ops.md", "audit.md", *port, "fidelity.md", *looked_up]
    assert links(NOTES / "README.md") == reported
    assert {page.name for page in NOTES.glob("*.md")} == {*reported, "README.md"}


__all__ = ["script_address"]


@pytest.fixture(scope="session", autouse=True)
def addresses(warm_address: str, script_address: str) -> list[str]:
    """Of servers that have TensorFlow; they are there before what a module leaves is looked for."""
    return [warm_address, script_address]


# Page 1 installs the TF1 face in its first block, and page 2 is about programs in such a process. Page 7 settles what
# its process gets, and page 17 which Keras, before TensorFlow is imported.
@pytest.mark.slow
@pytest.mark.parametrize(
    "pages",
    [
        (RUNNING, DIFFERENT),
        (SESSIONS, MODELS, QUEUES, CHECKPOINTS),
        (SHARING,),
        (LEAVING, VERIFYING),
        (SERVING,),
        (STRATEGIES,),
    ],
    ids=["scripts", "library", "machine", "leaving", "serving", "strategies"],
)
def test_python(pages: tuple[Path, ...], run_python: Callable[..., PythonRun], addresses: list[str]) -> None:
    if SHARING not in pages and STRATEGIES not in pages:
        run_python = starting_warm(run_python, addresses[RUNNING in pages])
    code = [block for page in pages for block in blocks(page, "python")]
    assert {Path(block.page).name for block in code} == {page.name for page in pages}
    done = run_python(RUN_BLOCKS, json.dumps([[block.page, block.line, block.text] for block in code]), deadline=150)
    assert outputs_that_differ(code, done.results) == []


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="needs Ray: pip install 'tf1sessions[ray]'")
def test_python_on_ray(run_python: Callable[..., PythonRun]) -> None:
    code = blocks(RAY, "python")
    listed = json.dumps([[block.page, block.line, block.text] for block in code])
    done = run_python(RUN_BLOCKS, listed, deadline=150, env={"RAY_AUTH_MODE": "disabled"})
    assert outputs_that_differ(code, done.results) == []


def test_no_other_page_has_python() -> None:
    assert {page for page in NOTES.glob("*.md") if blocks(page, "python")} == {
        *(RUNNING, DIFFERENT, SESSIONS, MODELS, QUEUES, SHARING, LEAVING, CHECKPOINTS, VERIFYING, SERVING, RAY),
        STRATEGIES,
    }


def test_job_files(tmp_path: Path) -> None:
    found = [block for page in sorted(NOTES.glob("*.md")) for block in blocks(page, "toml")]
    files = [block for block in found if "[[suppress]]" not in block.text]
    counts = []
    for number, block in enumerate(files):
        path = tmp_path / f"{number}.toml"
        path.write_text(block.text, "utf-8")
        counts.append(len(read_job_file(path)))
    assert counts == [4, 2]
    (tmp_path / "wrong.toml").write_text(files[0].text.replace("repeat = 2", "repeats = 2"), "utf-8")
    with pytest.raises(JobFileError, match="repeats"):
        read_job_file(tmp_path / "wrong.toml")


def test_files_of_suppressions(tmp_path: Path) -> None:
    (tmp_path / "races.toml").write_text(blocks(NOTES / "13-testing.md", "toml")[0].text, "utf-8")
    assert [rule.variable for rule in read_suppressions(tmp_path / "races.toml")] == [None, "statistics/*"]


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
        for page in (
            *(RUNNING, MODELS, SHARING, DOCTOR, LEAVING, VERIFYING, SERVING, RAY, OPERATIONS, PORTING, AUDITING),
            NOTES / "13-testing.md",
            NOTES / "15-clusters.md",
        )
        for row in table(page, "Option")
    ]
    assert {name for row in rows for name in re.findall(r"(?<=`)--?[A-Za-z0-9-]+", row[0])} == option_names()


def test_states_keys_and_settings_are_the_real_ones() -> None:
    reported = [name for row in table(RUNNING, "State") for name in re.findall(r"`(\w+)`", row[0])]
    assert reported == list(STATES)

    text = " ".join(RUNNING.read_text("utf-8").split())
    (example,) = (json.loads(block.text) for block in blocks(RUNNING, "json"))
    more = re.search(r"There are more keys: (.*?)\. The file", text)
    assert more
    reported = [*example[0], *re.findall(r"`(\w+)`", more[1])]
    assert sorted(reported) == sorted(field.name for field in dataclasses.fields(JobRecord))

    settings = re.search(r"- `settings` may have (.*?)\.", text)
    assert settings
    reported = re.findall(r"`(\w+)`", settings[1])
    assert sorted(reported) == sorted(field.name for field in dataclasses.fields(JobSettings))


def test_replacements_are_what_the_errors_say() -> None:
    rows = table(DIFFERENT, "Missing")
    assert len(rows) > 5
    wrong = []
    for missing, use in rows:
        said = replacements.find(missing.strip("`")) or ""
        for name in re.findall(r"`([^`]+)`", use):
            if not re.search(rf"(?<!\w){re.escape(name)}(?!\w)", said):
                wrong.append(f"{missing}: {name} is not in {said!r}")
    assert wrong == []


def test_missing_names_in_error_messages_have_a_way_out() -> None:
    text = " ".join(MESSAGES.read_text("utf-8").split())
    reported = re.findall(r"module '(tensorflow[\w.]*)' has no attribute '(\w+)'", text)
    verdicts = {}
    for module, name in reported:
        symbol = symbols.find(f"{module.replace('._api.v2', '')}.{name}")
        verdicts[f"{module}.{name}"] = symbol and symbol.verdict
    assert len(reported) > 8 and verdicts["tensorflow._api.v2.train.AdamOptimizer"] == "v1"
    assert {name: verdict for name, verdict in verdicts.items() if verdict in (None, "same", "gone")} == {}


def test_error_messages_stand_once_in_groups_that_are_listed() -> None:
    text = prose(MESSAGES)
    messages = re.findall(r"^### (.+)$", text, flags=re.MULTILINE)
    assert len(messages) == len(set(messages)) >= 50
    assert re.findall(r"^- \[(.+)\]", text, flags=re.MULTILINE) == re.findall(r"^## (.+)$", text, flags=re.MULTILINE)
    assert text.count("\n*Instead:* ") == len(messages)


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


def test_port_prints_what_the_page_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.syspath_prepend(ROOT / "tests" / "porting" / "rewriting")
    port_page = importlib.import_module("port_page")
    shown = PORTING.read_text("utf-8")
    assert "# step clean: 1 file\n" in shown and "### v1-imports\n" in shown
    assert port_page.page(shown) == shown, "Run: python tests/porting/rewriting/port_page.py"


def test_audit_prints_what_the_page_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = AUDITING.read_text("utf-8")
    names = re.findall(r"^`(\w+\.py)`:$", text, re.MULTILINE)
    for name, block in zip(names, blocks(AUDITING, "py"), strict=True):
        (tmp_path / name).write_text(block.text, "utf-8")
    monkeypatch.chdir(tmp_path)
    (shown,) = blocks(AUDITING, "text")
    assert CliRunner().invoke(cli, ["audit", "."]).stdout == shown.text
    report = json.loads(CliRunner().invoke(cli, ["audit", ".", "--json"]).stdout)
    assert [row[0].strip("`") for row in table(AUDITING, "Key")] == list(report)
    file = report["files"][1]
    reported = {*file, *file["places"][0], *file["places"][0]["place"], *report["symbols"][0]}
    assert reported - set(re.findall(r"`(\w+)`", text)) == set()
    rules = {rule for row in table(AUDITING, "Rule") for rule in re.findall(r"`([\w-]+)`", row[0])}
    assert rules == set(AUDIT_RULES) - {"inner-symbol", "python-2", "unknown-symbol", "unclear-name"}


def test_keys_of_a_port_are_listed_as_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "train.py").write_text("import tensorflow as tf\ntf.set_random_seed(1)\n")
    monkeypatch.chdir(tmp_path)
    report = json.loads(CliRunner().invoke(cli, ["port", "train.py", "--to", "v1", "--json"]).stdout)
    assert [row[0].strip("`") for row in table(PORTING, "Key")] == list(report)
    text = PORTING.read_text("utf-8")
    ((file,),) = (step["files"] for step in report["steps"] if step["files"])
    assert {*file, *file["notes"][0], *file["notes"][0]["place"]} - set(re.findall(r"`(\w+)`", text)) == set()


def test_rules_of_the_doctor_are_listed_as_they_are() -> None:
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
    reported = [title for row in table(MODELS, "Section") for title in row[0].split(", ")]
    assert [title for title in reported if f'"{title}"' not in source and f'f"{title} ' not in source] == []
