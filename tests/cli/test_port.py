"""``tf1sessions port``: diffs, what is written, exit codes, JSON. The rules here are small ones of these tests."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import port_rules
import pytest
from click.testing import CliRunner, Result
from support import ROOT

from tf1sessions.cli import port as command
from tf1sessions.cli.main import cli
from tf1sessions.porting.rewriting import steps, verification
from tf1sessions.porting.rewriting.rewrite import StepPort
from tf1sessions.porting.rewriting.verification import StepVerification, VerifiedProgram

#: The command in a process of its own, with the same rules.
PROGRAM = (sys.executable, port_rules.__file__)
OLD = "import tensorflow as tf\nprint(tf.old(1))\n"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a package, and rules that rename old to middle (v1), and middle to new (clean)."""
    for step, rules in port_rules.RULES.items():
        monkeypatch.setitem(steps.RULES, step, rules)
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "train.py").write_text(OLD)
    (package / "model.py").write_text("from package import train\nprint(train.tf.old)\n")
    (package / "notes.txt").write_text("tf.old\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def call(*args: str) -> Result:
    return CliRunner().invoke(cli, ["port", *args], prog_name="tf1sessions")


def times(folder: Path) -> dict[str, int]:
    return {str(path): path.stat().st_mtime_ns for path in folder.rglob("*")}


def test_steps_of_the_command_are_those_of_a_port() -> None:
    assert command._STEPS == steps.STEPS


def test_the_diff_is_the_default_and_nothing_is_written(here: Path) -> None:
    before = times(here)
    done = call("package", "--to", "clean")
    assert done.exit_code == 0
    assert done.stdout.splitlines()[:10] == [
        "# step v1: 2 files",
        "--- a/package/model.py",
        "+++ b/package/model.py",
        "@@ -1,2 +1,2 @@",
        " from package import train",
        "-print(train.tf.old)",
        "+print(train.tf.middle)",
        "--- a/package/train.py",
        "+++ b/package/train.py",
        "@@ -1,2 +1,2 @@",
    ]
    assert done.stdout.count("# step") == 2 and done.stdout.splitlines()[-1] == "+print(tf.new(1))"
    assert done.stderr.splitlines() == [
        "py3: 0 files of 3 changed",
        "v1: 2 files of 3 changed: rename-old 2",
        "clean: 2 files of 3 changed: rename-middle 2",
        "nothing written",
    ]
    assert call("package", "--to", "clean", "--diff").stdout == done.stdout
    assert times(here) == before


def test_the_diff_applies_with_patch(here: Path) -> None:
    odd = {
        "a name.py": b"\xef\xbb\xbfimport tensorflow as tf\r\nprint(tf.old)  # caf\xc3\xa9",
        "latin.py": b"# coding: latin-1\nx = tf.old  # caf\xe9 \x0c \x85\n",
    }
    for name, data in odd.items():
        (here / "package" / name).write_bytes(data)
    cells = [{"cell_type": "code", "source": ["!ls\n", "tf.old"], "metadata": {}, "outputs": []}]
    (here / "package" / "n.ipynb").write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}))
    diff = subprocess.run([*PROGRAM, "package", "--to", "clean"], capture_output=True, check=True).stdout
    subprocess.run(["patch", "-p1", "--binary"], input=diff, check=True, capture_output=True)
    patched = {path.name: path.read_bytes() for path in (here / "package").iterdir()}
    assert not [name for name in patched if name.endswith((".rej", ".orig"))]
    for name, data in odd.items():
        assert patched[name] == data.replace(b"old", b"new")
    assert json.loads(patched["n.ipynb"])["cells"][0]["source"] == ["!ls\n", "tf.new"]
    assert patched["train.py"] == OLD.replace("old", "new").encode()
    assert call("package", "--to", "clean").stdout == ""


def test_colours_are_for_a_terminal_alone(here: Path) -> None:
    (here / "package" / "train.py").write_text(OLD + "# \x1b[2J\n")
    assert "\x1b[2J" in call("package", "--to", "v1").stdout  # as patch needs it
    main, other = pty.openpty()
    arguments = [*PROGRAM, "package", "--to", "v1"]
    environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    with subprocess.Popen(arguments, stdout=other, stderr=subprocess.DEVNULL, env=environment) as process:
        os.close(other)
        shown = b""
        try:
            while part := os.read(main, 1 << 16):
                shown += part
        except OSError:  # EIO: the other end is closed
            pass
        assert process.wait() == 0
    os.close(main)
    assert b"\x1b[31m-print(tf.old(1))\x1b[0m\r\n\x1b[32m+print(tf.middle(1))\x1b[0m\r\n" in shown
    assert b"\x1b[1m--- a/package/train.py\x1b[0m" in shown and b"\x1b[36m@@ " in shown
    assert b"\x1b[2J" not in shown and b"\\x1b[2J" in shown


def test_written_in_place_and_again_without_a_change(here: Path) -> None:
    done = call("package", "--to", "clean", "--write")
    names = "package/model.py, package/train.py"
    said = f"tf1sessions: no git repository has what was in {names} before; next time, `git init` and commit first\n"
    assert (done.exit_code, done.stderr) == (0, said)
    assert done.stdout.splitlines()[-1] == "2 files written"
    assert (here / "package" / "train.py").read_text() == OLD.replace("old", "new")
    assert (here / "package" / "notes.txt").read_text() == "tf.old\n"
    before = times(here)
    done = call("package", "--to", "clean", "--write")
    assert (done.exit_code, done.stdout.splitlines()[-1], done.stderr) == (0, "nothing written", "")
    assert times(here) == before


def test_requirements_are_written_too(here: Path) -> None:
    (here / "package" / "requirements.txt").write_bytes(b"six\r\ntensorflow-gpu==1.15\r\nnumpy==1.16\r\n")
    done = call("package", "--to", "v1", "--write", "--explain")
    assert done.exit_code == 1  # by hand: there is no such NumPy for this Python
    assert "    package/requirements.txt:3: numpy==1.16: no wheel for this Python" in done.stdout
    assert "v1 requirements: Asks for the packages that the code needs now" in done.stdout
    text = (here / "package" / "requirements.txt").read_bytes()
    assert text == b"six\r\ntensorflow>=2.16,<2.22\r\nnumpy==1.16\r\n"
    assert call("package", "--to", "v1", "--write").stdout.splitlines()[-1] == "nothing written, 1 place to do by hand"


def test_a_copy(here: Path) -> None:
    before = times(here / "package")
    done = call("package", "--to", "v1", "--out", "ported")
    assert (done.exit_code, done.stdout.splitlines()[-1]) == (0, "ported is the copy, with 2 files changed")
    assert (here / "ported" / "train.py").read_text() == OLD.replace("old", "middle")
    assert (here / "ported" / "notes.txt").read_text() == "tf.old\n"
    assert times(here / "package") == before
    done = call("package", "--to", "v1", "--out", "ported")
    assert done.exit_code == 2 and "'ported' is there, and not empty" in done.stderr


def test_without_git_on_the_path_nothing_in_a_work_tree_is_written(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    subprocess.run(["git", "init"], check=True, capture_output=True)
    monkeypatch.setenv("PATH", str(here / "nowhere"))
    done = call("package", "--to", "v1", "--write")
    assert done.exit_code == 2
    assert "git is not on the PATH" in done.stderr and "or write with --force" in done.stderr
    assert (here / "package" / "train.py").read_text() == OLD
    done = call("package", "--to", "v1", "--write", "--force")
    assert (done.exit_code, done.stderr) == (0, "")
    assert (here / "package" / "train.py").read_text() == OLD.replace("old", "middle")


def test_git_work_trees_with_changes_of_ones_own_are_left_alone(here: Path) -> None:
    def git(*args: str) -> None:
        subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@t", *args], check=True, capture_output=True)

    git("init")
    git("add", ".")
    git("commit", "-m", "x")
    (here / "package" / "__init__.py").write_text("# mine, and nothing for a rule\n")
    assert call("package", "--to", "v1", "--write").exit_code == 0
    (here / "package" / "train.py").write_text(OLD + "# mine\n")
    for number in range(6):
        (here / "package" / f"u{number}.py").write_text(OLD)
    done = call("package", "--to", "v1", "--write")
    assert done.exit_code == 2
    shown = ", ".join(f"package/{name}" for name in ("train.py", "u0.py", "u1.py", "u2.py", "u3.py"))
    assert f"git does not have what is in {shown} and 2 more, which would be changed" in done.stderr
    assert (here / "package" / "u0.py").read_text() == OLD
    assert call("package", "--to", "v1").exit_code == 0  # a diff overwrites nothing
    assert call("package", "--to", "v1", "--write", "--force").exit_code == 0
    assert (here / "package" / "u0.py").read_text() == OLD.replace("old", "middle")


def test_what_is_by_hand_and_what_cannot_be_read_is_listed_and_the_rest_done(here: Path) -> None:
    (here / "package" / "hand.py").write_text("import tensorflow as tf\ntf.gone\n\ntf.slow\n")
    (here / "package" / "bad.py").write_text("x = = 1\n")
    (here / "package" / "binary.py").write_bytes(b"\0\0")
    done = call("package", "--to", "v1", "--write")
    assert done.exit_code == 1
    assert done.stdout.splitlines() == [
        "py3: 0 files of 5 changed",
        "v1: 2 files of 5 changed: rename-old 2",
        "  by hand:",
        "    package/hand.py:2: gone: write it anew [by-hand]",
        "  good to know:",
        "    package/hand.py:4: slow: write it anew [by-hand]",
        "could not be read:",
        "  package/binary.py:1: it is not a text",
        "  package/bad.py:1: it is not Python: invalid syntax",
        "2 files written, 1 place to do by hand, 2 files not read",
    ]
    (here / "package" / "bad.py").unlink()
    (here / "package" / "binary.py").unlink()
    assert call("package", "--to", "v1").exit_code == 1
    (here / "package" / "hand.py").write_text("import tensorflow as tf\ntf.slow\n")
    assert call("package", "--to", "v1").exit_code == 0  # good to know is nothing to do
    (here / "package" / "bad.py").write_text("x = = 1\n")
    assert call("package", "--to", "v1").exit_code == 1


def test_explanations(here: Path) -> None:
    done = call("package/train.py", "--to", "v1", "--explain")
    assert done.stderr.splitlines()[-2:] == [
        "v1 rename-old: Calls old by its name of today, middle. See migration_notes/port.md#rename-old",
        "  package/train.py:2: old is middle",
    ]


def test_json(here: Path) -> None:
    (here / "package" / "hand.py").write_text("import tensorflow as tf\ntf.gone\ntf.set_random_seed(1)\n")
    (here / "package" / "bad.py").write_text("x = = 1\n")
    done = call("package", "--to", "v1", "--json", "--write")
    assert (done.exit_code, done.stderr) == (1, "")
    report = json.loads(done.stdout)
    assert {name: report[name] for name in ("to", "by_hand", "written", "out", "complete")} == {
        "to": "v1",
        "by_hand": 1,
        "written": ["package/model.py", "package/train.py"],
        "out": None,
        "complete": False,
    }
    assert [step["step"] for step in report["steps"]] == ["py3", "v1"]
    assert report["steps"][1]["files"][0] == {
        "file": "package/hand.py",
        "changed": False,
        "notes": [
            {
                "rule": "by-hand",
                "place": {"file": "package/hand.py", "line": 2, "cell": None},
                "what": "gone: write it anew",
                "kind": "by hand",
            }
        ],
    }
    assert report["unread"] == [
        {"place": {"file": "package/bad.py", "line": 1, "cell": None}, "reason": "it is not Python: invalid syntax"}
    ]
    (seeds,) = report["differences"]
    assert (seeds["rule"], seeds["place"]["line"]) == ("seeds", 3)


def test_what_plain_python_computes_otherwise(here: Path) -> None:
    (here / "package" / "numbers.py").write_text(
        "import numpy as np\nimport tensorflow as tf\n"
        "x = np.zeros(3, np.float32) * np.float64(2)\ny = np.zeros(3, np.float32) * 2.0\n"
        "tf.set_random_seed(1)\ntf.random_normal([1], seed=2)\n"
    )
    (here / "package" / "printed.py").write_text(
        "import tensorflow as tf\nwith tf.Session() as s:\n"
        "    print(s.run([a, b]))\n    both = s.run((a, b))\n    print('%s %s' % (1, both), f'{both}')\n"
        "    print('{}'.format([s.run(a), 1]))\n    one, two = s.run([a, b])\n"
        "    print(one, s.run(a), '%s %s' % (s.run(a), b.eval()), job.run([a])[0], f'{one}', [one])\n"
    )
    (here / "package" / "deep.py").write_text("import numpy as np\nx = " + "-" * 600 + "1\n")
    found = call("package", "--to", "v1").stderr
    assert re.findall(r"^  package/(\w+\.py:\d+): .* \[([\w-]+)\]$", found, flags=re.MULTILINE) == [
        ("numbers.py:3", "numpy-float64-scalar"),
        ("numbers.py:5", "seeds"),
    ]
    assert "\n  package/printed.py:3, package/printed.py:5, package/printed.py:6: Where a value in the list" in found
    for number in range(6):
        (here / f"seeded{number}.py").write_text("import tensorflow as tf\ntf.set_random_seed(1)\n")
    found = call(*(f"seeded{number}.py" for number in range(6)), "--to", "v1").stderr
    assert f"  {', '.join(f'seeded{number}.py:2' for number in range(5))} and 1 more: By a graph's seed" in found
    assert "otherwise" not in call("package", "--to", "py3").stderr  # tf1sessions run runs it
    cells = [{"cell_type": "code", "source": source, "metadata": {}} for source in ("import numpy as np", "%ls\nx = 1")]
    cells[1]["source"] = "%ls\nx = np.zeros(3, np.float32) * np.float64(2)"
    (here / "n.ipynb").write_text(json.dumps({"cells": cells, "metadata": {}}))
    assert "  n.ipynb, cell 2, line 2: a float32 array" in call("n.ipynb", "--to", "v1").stderr


def test_a_notebook_of_text_alone_does_not_keep_the_others_from_being_ported(here: Path) -> None:
    text = {"cells": [{"cell_type": "markdown", "source": "# Lessons", "metadata": {}}], "metadata": {}}
    (here / "package" / "n.ipynb").write_text(json.dumps(text))
    done = call("package", "--to", "v1", "--write")
    assert done.exit_code == 0 and "written" in done.stdout
    assert json.loads((here / "package" / "n.ipynb").read_text()) == text


@pytest.fixture
def verified(monkeypatch: pytest.MonkeyPatch) -> list[tuple[object, ...]]:
    """What verify_steps() was called with; it finds that the program computes something else after clean."""
    calls: list[tuple[object, ...]] = []

    def verify_steps(
        done: Sequence[StepPort], roots: object, program: object, **named: object
    ) -> list[StepVerification]:
        calls.append(([step.step for step in done], roots, program, named))
        found = [StepVerification(step.step, step.step != "clean", "equal", f"{step.step} was seen") for step in done]
        return found

    monkeypatch.setattr(verification, "verify_steps", verify_steps)
    return calls


def test_a_step_that_is_not_kept_is_not_written(here: Path, verified: list[tuple[object, ...]]) -> None:
    done = call("package", "--to", "clean", "--write", "--verify", "package/train.py --steps 3", "--time-limit", "60")
    assert done.exit_code == 1
    assert (here / "package" / "train.py").read_text() == OLD.replace("old", "middle")
    assert done.stdout.splitlines() == [
        "py3: 0 files of 3 changed",
        "v1: 2 files of 3 changed: rename-old 2",
        "verified, with today's seeds (TensorFlow 1's need tf1sessions run):",
        "  py3: py3 was seen",
        "  v1: v1 was seen",
        "  clean: NOT KEPT: clean was seen",
        "2 files written",
    ]
    program = VerifiedProgram(here / "package" / "train.py", here, ("--steps", "3"))
    assert verified == [
        (["py3", "v1", "clean"], [Path("package")], program, {"trace": None, "time_limit": 60.0}),
    ]


def test_steps_that_are_kept_are_written(here: Path, verified: list[tuple[object, ...]]) -> None:
    done = call("package", "--to", "v1", "--out", "ported", "--verify", "train.py")  # seen from the folder
    assert done.exit_code == 0, done.stderr
    assert (here / "ported" / "train.py").read_text() == OLD.replace("old", "middle")
    report = json.loads(call("package", "--to", "clean", "--json", "--verify", "train.py").stdout)
    assert [step["step"] for step in report["steps"]] == ["py3", "v1"] and not report["complete"]
    assert report["verified"][2] == {
        "step": "clean",
        "kept": False,
        "outcome": "equal",
        "text": "clean was seen",
        "comparison": None,
    }


def test_a_recording_is_named(here: Path, verified: list[tuple[object, ...]]) -> None:
    golden = ROOT / "tests" / "golden" / "data" / "recorded.npz"
    done = call("package", "--to", "v1", "--verify", "train.py", "--trace", str(golden))
    assert "verified against " + str(golden) + ":" in done.stderr.splitlines()
    (only,) = verified
    assert only[3] == {"trace": str(golden), "time_limit": None}


@pytest.mark.parametrize(
    ("args", "why"),
    [
        (["package", "--to", "v1", "--trace", "t.npz"], "--trace and --time-limit are for --verify"),
        (["package", "--to", "v1", "--time-limit", "3"], "--trace and --time-limit are for --verify"),
        (["package", "--to", "v1", "--verify", "x", "--time-limit", "0"], "is not a number of seconds above 0"),
        (["package", "--to", "v1", "--verify", "missing.py"], "there is no script 'missing.py' among the sources"),
        (["package", "--to", "v1", "--verify", "train.py", "--trace", "t.npz"], "there is no trace 't.npz'"),
        ([], "Missing argument 'SRC...'"),
        (["package"], "Missing option '--to'"),
        (["package", "--to", "v3"], "'v3' is not one of"),
        (["package", "--to", "v1", "--write", "--out", "x"], "exclude each other"),
        (["package", "--to", "v1", "--force"], "--force is for --write"),
        (["missing", "--to", "v1"], "there is no file or folder missing (from SRC)"),
        (["empty", "--to", "v1"], "there is no Python file and no notebook in empty"),
        (["package", "--to", "v1", "--out", "package/x"], "'package/x' lies in 'package'"),
    ],
)
def test_wrong_calls(here: Path, args: list[str], why: str) -> None:
    (here / "empty").mkdir()
    done = call(*args)
    assert (done.exit_code, done.stdout) == (2, "")
    assert why in done.stderr
    assert sorted(os.listdir(here)) == ["empty", "package"]


def test_a_failed_write_is_an_error_and_writes_nothing(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", failing)
    before = times(here)
    done = call("package", "--to", "v1", "--write")
    assert done.exit_code == 1 and "No space left on device" in done.stderr
    monkeypatch.undo()
    assert {name: time for name, time in times(here).items() if name.endswith(".py")} == {
        name: time for name, time in before.items() if name.endswith(".py")
    }
