"""``tf1sessions doctor``: what it prints, its JSON, its exit codes, how it fails. TensorFlow is never loaded."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tf1sessions.cli.main import cli
from tf1sessions.doctor import dynamic, machine
from tf1sessions.doctor.findings import Finding, FindingSource, Severity
from tf1sessions.doctor.rules.registry import RULES
from tf1sessions.scripts.events import Event, Interrupted
from tf1sessions.scripts.jobs import Job
from tf1sessions.source.program import SourceLine

RESET = "import tensorflow as tf\nwith tf.Session():\n    tf.reset_default_graph()\n"
LOOP = "import tensorflow as tf\nsess = tf.Session()\nwhile True:\n    sess.run(tf.constant(1))\n"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder, and a machine on which nothing bites."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    seen = machine.Facts(python="3.11.7", system="Linux", versions={"tensorflow": "2.21.0"}, cores=2, all_cores=2)
    monkeypatch.setattr(machine, "facts", lambda: seen)
    monkeypatch.setattr(machine, "examine", lambda seen: [])
    return tmp_path


def call(*args: str) -> Result:
    return CliRunner().invoke(cli, ["doctor", *args], prog_name="tf1sessions")


def of_machine(severity: Severity) -> Finding:
    return Finding(
        "small-shm", severity, "a small /dev/shm", "It is full at once.", "Enlarge it.", FindingSource.MACHINE
    )


def test_the_machine_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    done = call()
    assert (done.exit_code, done.stderr) == (0, "")
    rows = [line.split() for line in done.stdout.splitlines()]
    assert ["Python", "3.11.7"] in rows and ["tensorflow", "2.21.0"] in rows
    assert done.stdout.splitlines()[-1] == "0 errors, 0 warnings, 0 notes"
    monkeypatch.setattr(machine, "examine", lambda seen: [of_machine(Severity.ERROR)])
    done = call()
    assert done.exit_code == 1
    assert "error small-shm  this machine\n  a small /dev/shm\n  why: It is full at once.\n" in done.stdout


def test_a_script(here: Path) -> None:
    (here / "train.py").write_text(RESET)
    done = call("train.py")
    assert (done.exit_code, done.stderr) == (1, "")
    rule = RULES["reset-inside-graph"]
    assert done.stdout.splitlines() == [  # no word of the machine
        "error reset-inside-graph  train.py:3",
        "  tf.reset_default_graph() inside `with tf.Session():`",
        "  see: train.py:2",
        f"  why: {rule.why}",
        f"  fix: {rule.fix}",
        "",
        "1 error, 0 warnings, 0 notes",
    ]


def test_the_machine_beside_a_script(here: Path) -> None:
    (here / "train.py").write_text(RESET)
    done = call("train.py", "--machine")
    assert done.exit_code == 1
    table, _, found = done.stdout.partition("\n\n")
    assert ["Python", "3.11.7"] in [line.split() for line in table.splitlines()]
    assert found == call("train.py").stdout


def test_several_scripts_are_all_looked_at(here: Path) -> None:
    (here / "good.py").write_text("import tensorflow as tf\n")
    (here / "bad.py").write_text("import shared\n" + LOOP)
    (here / "worse.py").write_text("import shared\n" + RESET)
    (here / "shared.py").write_text(RESET)
    for order in (["good.py", "bad.py", "worse.py"], ["worse.py", "good.py", "bad.py"]):
        done = call(*order)
        heads = [line for line in done.stdout.splitlines() if line.startswith(("error", "warning", "note"))]
        assert heads == [
            "error reset-inside-graph  shared.py:3",  # once, though two scripts import it
            "error reset-inside-graph  worse.py:4",
            "warning ops-in-loop  bad.py:5",
        ]
        assert (done.exit_code, done.stdout.splitlines()[-1]) == (1, "2 errors, 1 warning, 0 notes")


def test_the_worst_first_and_the_machine_before_the_script(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "train.py").write_text(LOOP + RESET)
    monkeypatch.setattr(machine, "examine", lambda seen: [of_machine(Severity.WARNING)])
    heads = [line for line in call("train.py").stdout.splitlines() if line.startswith(("error", "warning", "note"))]
    assert heads == [
        "error reset-inside-graph  train.py:7",
        "warning small-shm  this machine",
        "warning ops-in-loop  train.py:4",
    ]


def test_warnings_are_no_failure(here: Path) -> None:
    (here / "train.py").write_text(LOOP)
    done = call("train.py")
    assert done.exit_code == 0
    assert done.stdout.splitlines()[-1] == "0 errors, 1 warning, 0 notes"


def test_a_narrow_terminal_and_no_colour_in_a_pipe(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "train.py").write_text(RESET)
    monkeypatch.setenv("COLUMNS", "40")
    lines = call("train.py").stdout.splitlines()
    assert max(map(len, lines)) <= 40
    assert [line for line in lines if line != line.rstrip()] == []
    assert "\x1b" not in "".join(lines)
    monkeypatch.setenv("FORCE_COLOR", "1")
    done = CliRunner().invoke(cli, ["doctor", "train.py"], color=True)
    assert "\x1b[1;31merror\x1b[0m" in done.stdout


def test_names_do_not_steer_the_terminal(here: Path) -> None:
    name = "\x1b[31mred[bold].py"
    (here / name).write_text(RESET)
    assert "error reset-inside-graph  \\x1b[31mred[bold].py:3" in call(name).stdout


def test_a_module(here: Path) -> None:
    (here / "train.py").write_text(RESET)
    done = call("-m", "train", "--json")
    assert done.exit_code == 1
    assert json.loads(done.stdout)["findings"][0]["place"]["file"] == "train.py"


def test_json(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "train.py").write_text(RESET)
    monkeypatch.setattr(machine, "examine", lambda seen: [of_machine(Severity.NOTE)])
    done = call("--json", "train.py")
    reported = json.loads(done.stdout)
    assert done.exit_code == 1
    assert (reported["errors"], reported["warnings"], reported["notes"]) == (1, 0, 1)
    assert reported["machine"]["python"] == "3.11.7"
    first, second = reported["findings"]
    assert (first["rule"], first["severity"], first["source"]) == ("reset-inside-graph", "error", "static")
    assert first["place"] == {"file": "train.py", "line": 3, "cell": None}
    assert first["others"] == [{"file": "train.py", "line": 2, "cell": None}]
    assert second["place"] is None
    assert "exit_code" not in reported


def test_ignore(here: Path) -> None:
    (here / "train.py").write_text(RESET + LOOP)
    done = call("--ignore", "reset-inside-graph", "--ignore", "ops-in-loop", "train.py")
    assert (done.exit_code, done.stdout.splitlines()[-1]) == (0, "0 errors, 0 warnings, 0 notes")
    done = call("--ignore", "reset", "train.py")
    assert done.exit_code == 2
    assert "there is no rule 'reset' (from --ignore)" in done.stderr


def test_list_of_rules() -> None:
    lines = call("--list-rules").stdout.splitlines()
    assert [line.split()[:2] for line in lines[: len(RULES)]] == [
        [rule.name, rule.severity.name.lower()] for rule in RULES.values()
    ]
    assert lines[len(RULES)].startswith("While it runs: children-not-watched, ")
    assert lines[len(RULES) + 1].startswith("On the machine: dead-package, ")
    reported = json.loads(call("--list-rules", "--json").stdout)
    assert [rule["rule"] for rule in reported] == list(RULES)
    assert reported[0]["fix"] == next(iter(RULES.values())).fix


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["nowhere.py"], "there is no file nowhere.py"),
        (["."], ". is a folder"),
        (["empty.py"], "empty.py is empty"),
        (["broken.py"], "broken.py is not Python"),
        (["two.py"], "two.py, line 1, is Python 2"),
        (["-m", "nowhere"], "there is no module nowhere"),
        (["--run"], "--run needs a SCRIPT"),
        (["--time-limit", "9", "x.py"], "--time-limit is for --run"),
        (["--run", "--time-limit", "0", "x.py"], "Invalid value for '--time-limit'"),
        (["--nonsense", "x.py"], "No such option"),
        (["x.py", "--epochs", "3"], "Arguments for the scripts themselves come after --."),
        (["x.py", "--", "--epochs", "3"], "The arguments --epochs 3 are for --run"),
        (["x.py", "nowhere.py"], "there is no file nowhere.py"),
        (["x.py", "3"], "there is no script 3. Arguments come after --: tf1sessions doctor x.py -- 3"),
        (["-m", "x", "train"], "both -m x and train"),
        (["-m", ""], "the name of a program is empty"),
        ([""], "the name of a program is empty"),
    ],
)
def test_wrong_calls(here: Path, args: list[str], message: str) -> None:
    (here / "empty.py").touch()
    (here / "broken.py").write_text("def f(:\n")
    (here / "two.py").write_text("print 'x'\n")
    (here / "x.py").write_text("x = 1\n")
    done = call(*args)
    assert (done.exit_code, done.stdout) == (2, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr


# -- running ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[tuple[Job, object]]]:
    """Stands in for running the program; tests of doctor/dynamic.py run some."""

    def install(exit_code: int, *found: Finding, interrupted_by: int | None = None) -> list[tuple[Job, object]]:
        calls: list[tuple[Job, object]] = []

        def watch(job: Job, *, stdio: object, listener: Callable[[Event], None]) -> tuple[int, list[Finding]]:
            calls.append((job, stdio))
            if interrupted_by is not None:
                listener(Interrupted(interrupted_by, 1, (0,)))
            return exit_code, list(found)

        monkeypatch.setattr(dynamic, "watch", watch)
        return calls

    return install


def seen_running(line: int, rule: str = "ops-in-loop") -> Finding:
    return Finding(
        rule, Severity.WARNING, "it grew", "It is slow.", "Stop it.", FindingSource.RUN, SourceLine("train.py", line)
    )


def test_run(here: Path, watched: Callable[..., list[tuple[Job, object]]]) -> None:
    (here / "train.py").write_text(LOOP)
    calls = watched(3, seen_running(4), seen_running(2, "feeds-converted"))
    done = call("train.py", "--run", "--", "--epochs", "1")
    ((job, stdio),) = calls
    assert (job.shown, job.args, stdio) == ("train.py", ("--epochs", "1"), (0, 1, 2))
    heads = [line for line in done.stdout.splitlines() if line.startswith(("error", "warning", "note"))]
    assert heads == ["warning feeds-converted  train.py:2", "warning ops-in-loop  train.py:4"]
    assert "  it grew" in done.stdout and "is made anew" not in done.stdout  # seen is better than read
    assert "\nThe program ended with exit code 3.\n" in done.stdout
    assert done.exit_code == 0

    reported = json.loads(call("--run", "--json", "--ignore", "feeds-converted", "train.py").stdout)
    assert [(each["rule"], each["source"]) for each in reported["findings"]] == [("ops-in-loop", "run")]
    assert reported["exit_code"] == 3
    assert calls[1][1] == (0, 2, 2)


def test_comments_suppress_what_was_seen_running(here: Path, watched: Callable[..., list[tuple[Job, object]]]) -> None:
    (here / "train.py").write_text("x = 1\ny = 2  # tf1sessions: ignore[feeds-converted]\n")
    watched(0, seen_running(1, "feeds-converted"), seen_running(2, "feeds-converted"))
    reported = json.loads(call("--run", "--json", "train.py").stdout)
    assert [each["place"]["line"] for each in reported["findings"]] == [1]


def test_run_of_a_module(here: Path, watched: Callable[..., list[tuple[Job, object]]]) -> None:
    (here / "train.py").write_text("x = 1\n")
    calls = watched(0)
    assert call("-m", "train", "--run", "--", "a", "-b").exit_code == 0
    assert (calls[0][0].module, calls[0][0].args) == ("train", ("a", "-b"))
    assert calls[0][0].settings.time_limit is None
    assert call("--run", "--time-limit", "90", "-m", "train").exit_code == 0
    assert calls[1][0].settings.time_limit == 90.0


def test_several_scripts_are_run_one_after_the_other(
    here: Path, watched: Callable[..., list[tuple[Job, object]]]
) -> None:
    (here / "train.py").write_text("x = 1\n")
    (here / "other.py").write_text("x = 2  # tf1sessions: ignore[ops-in-loop]\n")
    calls = watched(3, seen_running(1))
    done = call("--run", "train.py", "other.py", "--", "-b")
    assert [(job.shown, job.args) for job, _ in calls] == [("train.py", ("-b",)), ("other.py", ("-b",))]
    assert "\ntrain.py ended with exit code 3.\n\nother.py ended with exit code 3.\n" in done.stdout
    assert done.stdout.count("warning ops-in-loop  train.py:1") == 1
    reported = json.loads(call("--run", "--json", "train.py", "other.py").stdout)
    assert reported["exit_codes"] == [{"program": name, "exit_code": 3} for name in ("train.py", "other.py")]


@pytest.mark.parametrize(("signum", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_after_a_signal_no_other_script_is_run(
    signum: int, code: int, here: Path, watched: Callable[..., list[tuple[Job, object]]]
) -> None:
    for name in ("train.py", "other.py", "last.py"):
        (here / name).write_text("x = 1\n")
    calls = watched(code, seen_running(1), interrupted_by=signum)
    done = call("--run", "train.py", "other.py", "last.py")
    assert [job.shown for job, _ in calls] == ["train.py"]
    assert "warning ops-in-loop  train.py:1" in done.stdout
    assert (done.exit_code, done.stderr) == (code, "tf1sessions: interrupted; not run: other.py, last.py\n")
    assert call("--run", "train.py").exit_code == 0  # how a server is ended


def test_a_script_that_cannot_be_read_is_not_run(here: Path, watched: Callable[..., list[tuple[Job, object]]]) -> None:
    (here / "two.py").write_text("print 'x'\n")
    (here / "one.py").write_text("x = 1\n")
    calls = watched(0)
    assert call("--run", "one.py", "two.py").exit_code == 2
    assert calls == []


@pytest.mark.slow
def test_a_program_is_really_run(here: Path) -> None:
    """What is read and what is seen are one finding, at the same place."""
    (here / "train.py").write_text(
        LOOP.replace("while True", "for step in range(60)") + "print('end', __import__('sys').argv)\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "tf1sessions", "doctor", "--run", "--json", "train.py", "--", "--rate", "1"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    reported = json.loads(done.stdout)
    loops = [each for each in reported["findings"] if each["rule"] == "ops-in-loop"]
    assert [(each["source"], each["place"]["file"], each["place"]["line"]) for each in loops] == [
        ("run", "train.py", 4)
    ]
    assert reported["exit_code"] == 0
    assert "end ['train.py', '--rate', '1']" in done.stderr


# -- the process ------------------------------------------------------------------------------------------------------


def test_neither_tensorflow_nor_numpy_is_loaded(here: Path) -> None:
    (here / "train.py").write_text("import numpy as np\nraise RuntimeError('never run')\n" + RESET)
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "tf1sessions", "doctor", "train.py"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 1
    assert "train.py:5" in done.stdout
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}
    assert "tf1sessions.doctor.check" in loaded
    assert {name.partition(".")[0] for name in loaded} & {"tensorflow", "tf_keras", "keras", "numpy"} == set()
