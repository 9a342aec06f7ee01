"""Steps that are kept because a program computes the same after them, and those that are not."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import ROOT, alive, interrupted_when, wait_for

from tf1sessions.errors import ScriptUsageError
from tf1sessions.porting.rewriting import native_run, printed, steps, verification
from tf1sessions.porting.rewriting.rewrite import FilePort, StepPort, port
from tf1sessions.porting.rewriting.rule import Change, Rule
from tf1sessions.porting.rewriting.verification import StepVerification, VerifiedProgram, verify_steps
from tf1sessions.source.files import SourceText, find, read
from tf1sessions.source.uses import FileUses

GOLDEN = ROOT / "tests" / "golden" / "data" / "recorded.npz"
RECORDED = ROOT / "tests" / "golden" / "cases" / "recorded_program.py"

#: Draws and feeds without any seed; what it reads and writes is in its own folder. After step v1 a module of ours is
#: the first to import TensorFlow.
TRAIN = """
import os
import sys
import numpy as np
from tensorflow.examples.tutorials.mnist import input_data
import tensorflow as tf
import model

assert os.path.exists("data.txt")
steps = int(sys.argv[1])
x = tf.placeholder(tf.float32, [None, 3])
loss = tf.reduce_mean(tf.square(model.predict(x)))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for _ in range(steps):
        print("loss", session.run([loss, train], {x: np.random.rand(20, 3)})[0])
    tf.train.Saver().save(session, "model.ckpt")
"""
MODEL = """
import tensorflow as tf

def predict(x):
    for _ in range(2):  # as large as kernels need for it to matter whether they know the shapes
        x = tf.layers.dense(x, 300, tf.nn.relu)
    return tf.nn.dropout(tf.layers.dense(x, 1), 0.5) + 0.25
"""


def ported(folder: Path, to: str) -> list[StepPort]:
    return port([read(path) for path in find([folder]) if isinstance(path, Path)], to, [folder])


def replaced(old: str, new: str) -> Rule:
    """A rule that changes a number or a name of the program."""

    def found(file: FileUses) -> Iterator[Change]:
        for node in ast.walk(file.tree):
            if isinstance(node, ast.expr) and file.positions.source(node) == old:
                yield Change(node, f"{old} is {new}", (file.positions.replace(node, new),))

    return Rule("replaced", "Replaces.", found)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    for name, text in {"train.py": TRAIN, "model.py": MODEL, "data.txt": "x\n"}.items():
        (folder / name).write_text(text)
    return folder


# -- with TensorFlow


@pytest.mark.slow
@pytest.mark.timeout(600)  # TensorFlow is started six times
def test_a_good_step_is_kept_and_a_bad_one_is_reported_with_its_line(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(steps.RULES, "worse", (replaced("0.25", "0.26"),))
    monkeypatch.setattr(steps, "STEPS", (*steps.STEPS, "worse"))
    monkeypatch.chdir(project)
    before = {path.name: path.read_bytes() for path in project.iterdir()}
    done = ported(project, "worse")
    found = verify_steps(done, [project], VerifiedProgram.parsed("train.py 3", [project]))
    assert [(each.step, each.is_kept, each.outcome) for each in found] == [
        ("py3", True, "unchanged"),
        ("v1", True, "equal"),
        ("clean", True, "equal"),
        ("functions", True, "equal"),
        ("native", True, "unchanged"),  # it is of several files
        ("worse", False, "different"),
    ]
    for calls, each in zip((5, 5, 4), found[1:], strict=False):  # a LegacySaver saves without a request
        assert re.fullmatch(rf"{calls} calls and \d+ values are equal to the bit, and 1 checkpoint", each.text), (
            each.text
        )
    line = re.match(r"model\.py:(\d+): .* parts first, at step 1 of", found[-1].text)
    assert line is not None, found[-1].text
    (model,) = (file.before for file in done[-1].files if file.before.path.name == "model.py")
    assert "0.25" in model.text.splitlines()[int(line[1]) - 1]
    assert found[-1].comparison is not None and not found[-1].comparison.equal
    assert {path.name: path.read_bytes() for path in project.iterdir()} == before  # no checkpoint either


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_queues_are_held_against_data_sets_in_order(tmp_path: Path) -> None:
    """A program that shuffles in threads computes the same after each step, as its runs shuffle nothing."""
    shutil.copytree(ROOT / "examples" / "data", tmp_path / "data")
    shutil.copy(ROOT / "examples" / "csv_queue_regression.py", tmp_path)
    sources = [read(tmp_path / "csv_queue_regression.py")]
    done = port(sources, "native", [tmp_path], inputs=True)
    found = verify_steps(done, [tmp_path], VerifiedProgram.parsed("csv_queue_regression.py --steps 100", [tmp_path]))
    assert [(each.step, each.outcome) for each in found] == [
        ("py3", "unchanged"),
        *((step, "equal") for step in ("v1", "clean", "inputs", "functions", "native")),
    ], [each.text for each in found]
    assert found[3].text.startswith("111 calls and")


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_a_recording_of_an_old_machine_is_the_reference(tmp_path: Path) -> None:
    script = tmp_path / "recorded_program.py"
    script.write_bytes(RECORDED.read_bytes())
    program = VerifiedProgram(script, tmp_path, ("6",))
    found = verify_steps(ported(tmp_path, "v1"), [tmp_path], program, trace=GOLDEN)
    assert [(each.step, each.outcome) for each in found] == [("py3", "unchanged"), ("v1", "equal")], found[-1].text


# -- which runs are made, and what follows from how they end


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The runs that were made, in order; a script that says ``fail`` fails, and no traces differ."""
    runs: list[str] = []

    class Nothing:
        def close(self) -> None:
            pass

        def __enter__(self) -> None:
            pass

        def __exit__(self, *exception: object) -> None:
            pass

    def run(how: str, job: verification.Job) -> verification._RunEnd:
        text = Path(job.path).read_text()
        runs.append(f"{how} {text.splitlines()[0]}")
        assert os.path.samefile(os.path.join(job.cwd, job.script or ""), job.path)
        trace: verification.Trace = Nothing()  # type: ignore[assignment]
        return verification._RunEnd(None, "ended with exit code 1") if "fail" in text else verification._RunEnd(trace)

    monkeypatch.setattr(verification._StepRuns, "_as_run", lambda self, job, out: run("tf1sessions", job))
    monkeypatch.setattr(verification._StepRuns, "_plain", lambda self, job, out: run("python", job))
    monkeypatch.setattr(verification, "_compared", lambda step, *_: StepVerification(step, True, "equal", ""))
    return runs


def chain(folder: Path, *texts: str) -> list[StepPort]:
    """The steps of a port that gives a script these texts, the first of them before it."""
    script = folder / "s.py"
    script.write_text(texts[0])
    sources = [SourceText(script, "s.py", text) for text in texts]
    names = ("py3", "v1", "clean")
    return [StepPort(name, (FilePort(*pair),)) for name, *pair in zip(names, sources, sources[1:], strict=False)]


def outcomes(folder: Path, *texts: str) -> list[str]:
    program = VerifiedProgram(folder / "s.py", folder)
    found = verify_steps(chain(folder, *texts), [folder], program)
    return [f"{each.outcome}{'' if each.is_kept else ', not kept'}" for each in found]


def test_each_text_is_run_once_and_those_of_v1_by_plain_python(tmp_path: Path, made: list[str]) -> None:
    assert outcomes(tmp_path, "a", "b", "c", "d") == ["equal", "equal", "equal"]
    assert made == ["tf1sessions a", "tf1sessions b", "python c", "python d"]


def test_a_step_that_changes_nothing_is_not_run(tmp_path: Path, made: list[str]) -> None:
    assert outcomes(tmp_path, "a", "a", "b", "b") == ["unchanged", "equal", "unchanged"]
    assert made == ["tf1sessions a", "python b"]


def test_a_step_after_which_the_program_fails_is_not_kept_and_none_after_it(tmp_path: Path, made: list[str]) -> None:
    assert outcomes(tmp_path, "a", "b", "fail", "d") == ["equal", "failed, not kept"]
    made.clear()
    assert outcomes(tmp_path, "fail", "fail b", "c") == ["failed, not kept"]


def test_what_cannot_run_before_py3_may_run_after_it(tmp_path: Path, made: list[str]) -> None:
    assert outcomes(tmp_path, "print 'a'", "b", "c") == ["not compared", "equal"]
    assert made == ["tf1sessions b", "python c"]  # Python 2 is not even tried
    program = VerifiedProgram(tmp_path / "s.py", tmp_path)
    (found,) = verify_steps(chain(tmp_path, "print 'a'", "b"), [tmp_path], program)
    why = "before it the program is Python 2, which does not run here (the print statement); after it, it ends well"
    assert found.text == why
    assert outcomes(tmp_path, "fail", "b", "c") == ["not compared", "equal"]
    assert outcomes(tmp_path, "fail", "fail", "c") == ["unchanged", "not compared, not kept"]


@pytest.mark.parametrize("is_chance", [True, False])
def test_a_program_that_computes_something_else_each_time(
    tmp_path: Path, made: list[str], monkeypatch: pytest.MonkeyPatch, is_chance: bool
) -> None:
    answers = [False, not is_chance]
    monkeypatch.setattr(
        verification, "_compared", lambda step, *_: StepVerification(step, answers.pop(0), "different", "loss parts")
    )
    program = VerifiedProgram(tmp_path / "s.py", tmp_path)
    (found,) = verify_steps(chain(tmp_path, "a", "b"), [tmp_path], program)
    assert made == ["tf1sessions a", "tf1sessions b", "tf1sessions a"] and not found.is_kept
    twice = "before it the program does not compute the same twice: loss parts"
    assert (found.outcome, found.text) == (("not compared", twice) if is_chance else ("different", "loss parts"))


def test_a_copy_without_what_is_no_part_of_the_program(
    tmp_path: Path, made: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (".git/HEAD", "env/pyvenv.cfg", "__pycache__/s.pyc", "data/x"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    seen = []

    def look(self: object, job: verification.Job, out: Path) -> verification._RunEnd:
        seen.append(sorted(os.listdir(job.cwd)))
        return verification._RunEnd(None, "was looked at")

    monkeypatch.setattr(verification._StepRuns, "_as_run", look)
    outcomes(tmp_path, "a", "b")
    assert seen == [["data", "s.py"]] * 2
    assert sorted(os.listdir(tmp_path)) == [".git", "__pycache__", "data", "env", "s.py"]


def test_a_single_file_runs_in_a_copy_of_its_folder(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that no run finds the checkpoints of the run before it."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "x").touch()
    seen: list[list[str]] = []

    def look(self: object, job: verification.Job, out: Path) -> verification._RunEnd:
        here = Path(job.cwd)
        seen.append([job.shown, *sorted(os.listdir(here)), *os.listdir(here / "../data")])
        assert (here / "../project").samefile(here) and not here.samefile(project)
        (here / "written").touch()
        return verification._RunEnd(None, "was looked at")

    monkeypatch.setattr(verification._StepRuns, "_as_run", look)
    monkeypatch.chdir(project)
    root = Path("s.py")
    steps = chain(project, "a", "b")
    verify_steps(steps, [root], VerifiedProgram.parsed("s.py", [root]))
    assert seen == [["s.py", "data.txt", "model.py", "s.py", "train.py", "x"]] * 2
    assert sorted(os.listdir(tmp_path)) == ["data", "project"] and len(os.listdir(project)) == 4


@pytest.mark.parametrize(
    ("after", "outcome"), [(2.001, "equal"), (2.01, "different"), (1.999, "equal"), (float("nan"), "different")]
)
def test_a_variable_may_end_as_far_away_as_rounding_takes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: float, outcome: str
) -> None:
    """The program before step native is run again, from initial values that differ in the last digit."""

    def end(self: object, stage: int, initial: Path, *, is_native: bool, is_nudged: bool = False) -> Any:
        native_run.write_values(initial, {"w": np.array([1.8, 5.0]), "v": np.array([0.0])})
        w = after if is_native else 2.0005 if is_nudged else 2.0
        ends.append((stage, is_native, is_nudged))
        return verification._Printed("", "loss 0.5\n", {"w": np.array([w, 0.0]), "v": np.array([3.0])})

    ends: list[tuple[int, bool, bool]] = []
    monkeypatch.setattr(printed, "RELATIVE", 1e-6)
    monkeypatch.setattr(verification._StepRuns, "_with_values", end)
    program = VerifiedProgram(tmp_path / "s.py", tmp_path)
    found = verification._StepRuns([], [tmp_path], program, tmp_path, None, None)._native(4)
    assert (found.outcome, found.is_kept) == (outcome, outcome == "equal")
    assert ends == [(4, False, False), (5, True, False), (4, False, True)]
    assert "1 of 2 differ" in found.text or "1 more variable within what rounding" in found.text
    is_said = "; a change of the initial values in their last digits takes it" in found.text
    assert is_said is (outcome == "different")
    assert ("after 0 of the first 3 changes" in found.text) is is_said


@pytest.mark.parametrize(
    ("third", "after", "is_grown"),
    [
        (4.0, 4.2, True),  # as far as rounding takes it
        (4.0, 4.4, False),  # further
        (4.0002, 4.2, True),  # 7e-5 of the change until then
        (4.0004, 4.2, False),  # 1.3e-4
        (float("nan"), 4.2, False),
        (None, 4.2, False),  # too few changes to know
    ],
)
def test_after_equal_first_changes_rounding_may_take_a_variable_far(
    third: float | None, after: float, is_grown: bool
) -> None:
    initial = {"w": np.array([1.0]), "v": np.array([0.0]), "name": np.array("a")}
    before = [{"w": np.array([value]), "v": np.array([0.0]), "own": np.array(value)} for value in (2.0, 3.0, 4.0, 5.0)]
    changed = [
        {"w": np.array([value]), "v": np.array([0.0])} for value in (2.0, 3.0) + (() if third is None else (third,))
    ]
    unchanged = {"w": np.array([2.0]), "count": np.array(7)}  # of a variable that the other has not
    equal, proven = printed.equal_changes(initial, before, [changed[0], unchanged, *changed[1:]])
    is_equal = is_grown or after == 4.4
    assert (equal, proven) == (3 if is_equal else 2, {"w"} if is_equal else set())  # nothing has changed v so far
    last = [{"w": np.array([value])} for value in (4.0, after, 4.3)]
    assert printed.grown_rounding(["w"], initial, *last, proven) == ({"w"} if is_grown else set())


# -- the command


def test_the_script_is_seen_from_here_or_from_the_only_folder(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other.py").touch()
    (project / "n.ipynb").touch()
    script = project / "train.py"
    relative = Path("project")
    assert VerifiedProgram.parsed("train.py -n '3 4'", [relative]) == VerifiedProgram(script, project, ("-n", "3 4"))
    assert VerifiedProgram.parsed("project/train.py", [relative]) == VerifiedProgram(script, tmp_path)
    assert VerifiedProgram.parsed("project/train.py", [Path("project/train.py")]).script == script
    for command in ("", "other.py", "missing.py", "project/n.ipynb", "project", "-m train"):
        with pytest.raises(ScriptUsageError, match="there is no script .* among the sources"):
            VerifiedProgram.parsed(command, [relative])
    with pytest.raises(ScriptUsageError, match="is no command: No closing quotation"):
        VerifiedProgram.parsed("'train.py", [relative])


# -- plain Python


WAITING = """
import os, subprocess, sys, threading
child = subprocess.Popen([sys.executable, "-c", "import threading; threading.Event().wait()"])
with open("pid.part", "w") as file:
    file.write(str(child.pid))
os.rename("pid.part", "pid")
threading.Event().wait()
"""


_OWN_PID = """
import os, threading
with open("pid.part", "w") as file:
    file.write(str(os.getpid()))
os.rename("pid.part", "pid")
threading.Event().wait()
"""


def plain(folder: Path, text: str, time_limit: float | None = None) -> int | None:
    script = folder / "s.py"
    script.write_text(text)
    wanted = verification.recording(folder / "trace.npz", "s.py", [], str(script))
    wanted |= {"script": "s.py", "arguments": ["-x"]}
    return verification._run_plain("plain_run", wanted, str(folder), {"PYTHONHASHSEED": "0"}, time_limit)


def test_plain_python_runs_a_script_as_it_does_ever(tmp_path: Path) -> None:
    for name in ("json.py", "threading.py", "tf1sessions.py"):  # not in the way of what runs it
        (tmp_path / name).write_text("raise SystemExit(4)\n")
    code = "import os, sys\nassert sys.argv == ['s.py', '-x'] and __name__ == '__main__', sys.argv\n"
    code += f"assert sys.path[0] == {os.fspath(tmp_path)!r}, sys.path\nassert 'tensorflow' not in sys.modules\n"
    assert plain(tmp_path, code) == 0
    assert plain(tmp_path, "import sys; sys.exit(3)") == 3
    assert plain(tmp_path, "1 / 0") == 1
    assert not (tmp_path / "trace.npz").exists()


def test_the_import_of_tensorflow_draws_no_random_number(tmp_path: Path) -> None:
    """As where it is imported before the program begins."""
    code = "import random\nrandom.seed(5)\nimport MODULE\nassert random.random() == random.Random(5).random()\n"
    assert plain(tmp_path, code.replace("MODULE", "tensorflow")) == 0
    subprocess.run([sys.executable, "-c", code.replace("MODULE", "tf1sessions.runtime")], check=True, timeout=60)


KERAS_DRAWS = """
import random, sys
import numpy as np
from tf1sessions.porting.ordered_inputs import keras_draws_alone, seed_python

seed_python(1)
keras_draws_alone()
drawn = random.getstate(), np.random.rand()
random.seed()
np.random.seed(None)
assert drawn == (random.getstate(), np.random.rand())
import tensorflow as tf
random.setstate(drawn[0])  # Rich has drawn
tf.keras.layers.Dense(3)(tf.ones([2, 3]))
assert drawn[0] == random.getstate()
random.seed(a=7)
np.random.seed(seed=7)
assert random.getstate() == random.Random(7).getstate() and np.random.rand() == np.random.RandomState(7).rand()
tf.keras.layers.Dense(3)(tf.ones([2, 3]))
assert random.getstate() != random.Random(7).getstate()
"""


@pytest.mark.parametrize("keras", ["0", "1"])
def test_keras_draws_alone_until_the_program_gives_a_seed(keras: str) -> None:
    environment = {**os.environ, "TF_USE_LEGACY_KERAS": keras}
    subprocess.run([sys.executable, "-c", KERAS_DRAWS], check=True, timeout=60, env=environment)


def test_a_run_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    assert plain(tmp_path, "import threading; threading.Event().wait()", 0.5) is None


def test_a_program_ends_with_the_command_that_is_killed(tmp_path: Path) -> None:
    (tmp_path / "s.py").write_text(_OWN_PID)
    code = f"""
from tf1sessions.porting.rewriting import verification
wanted = verification.recording({str(tmp_path / "t.npz")!r}, "s.py", [], {str(tmp_path / "s.py")!r})
wanted |= {{"script": "s.py", "arguments": []}}
verification._run_plain("plain_run", wanted, {str(tmp_path)!r}, {{}}, None)
"""
    command = subprocess.Popen([sys.executable, "-c", code])
    try:
        wait_for((tmp_path / "pid").exists, "the program's start")
    finally:
        command.kill()
        command.wait()
    program = int((tmp_path / "pid").read_text())
    wait_for(lambda: not alive(program), "the end of the program")


def test_an_interrupt_leaves_nothing_running(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        with interrupted_when((tmp_path / "pid").exists):
            plain(tmp_path, WAITING)
    child = int((tmp_path / "pid").read_text())
    wait_for(lambda: not alive(child), "the program's child has ended")


class _Graph:
    """A LegacyGraph, as far as its variables go."""

    def __init__(self, **variables: float) -> None:
        self.variables = variables

    def values(self, names: Iterable[str]) -> dict[str, float]:
        return {name: self.variables[name] for name in names if self.variables[name] == self.variables[name]}


def test_variables_of_several_graphs_are_held_against_those_made_in_that_order() -> None:
    """Each graph begins to count anew, and TensorFlow 2, where the port makes them one after the other, does not."""
    noted = native_run._NotedValues()
    graphs = [_Graph(a=1.0, a_1=2.0, b_7=3.0), _Graph(a=4.0, b=float("nan"), a_1=5.0)]
    for graph in graphs:
        noted._note(graph)
    graphs[1].variables["b"] = 6.0  # initialised later
    noted._note(graphs[1])
    assert noted.initial == {"a": 1.0, "a_1": 2.0, "b_7": 3.0, "a_2": 4.0, "a_3": 5.0, "b": 6.0}
    graphs[0].variables["a_1"] = 7.0
    assert noted.last() == {**noted.initial, "a_1": 7.0}
    made = native_run._UniqueNames()
    assert [made(name) for name in ("a", "a", "b_7", "a", "b", "a")] == [*noted.initial][:4] + ["b", "a_3"]
