"""``tf1sessions verify``: what it prints and writes, its exit codes, and how it fails."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from support import ROOT, PythonRun

from tf1sessions.cli import verify

MODELS = ROOT / "tests" / "golden" / "data" / "models"
RECORDED = ROOT / "tests" / "golden" / "data" / "recorded.npz"

SCRIPT = """
import sys
import numpy as np
import tensorflow as tf

print("what the script prints")
x = tf.placeholder(tf.float32, [None, 3], name="x")
y = tf.placeholder(tf.float32, [None, 1], name="y")
w = tf.get_variable("w", [3, 1], initializer=tf.constant_initializer(0.5), use_resource=False)
b = tf.Variable(tf.zeros([1]), name="b", use_resource=True)
never = tf.get_variable("never_initialised", [2])
prediction = tf.add(tf.matmul(x, w), b, name="prediction")
loss = tf.reduce_mean(tf.square(prediction - y))
train = tf.train.AdamOptimizer(RATE).minimize(loss)
with tf.Session() as session:
    session.run(tf.variables_initializer([each for each in tf.global_variables() if each is not never]))
    for step in range(3):
        session.run(train, {x: np.eye(3), y: np.ones([3, 1])})
    if len(sys.argv) > 1:
        tf.train.Saver([w, b]).save(session, sys.argv[1])
with tf.Graph().as_default(), tf.Session() as other:  # the last session, but of another graph
    other.run(tf.constant(1.0, name="one"))
"""

#: Calls the command as the shell would, many times in one process.
CODE = """
import os, pathlib, sys
import numpy as np
from click.testing import CliRunner
from tf1sessions.cli.main import cli

models, recorded = sys.argv[1:]

def call(name, *args):
    done = CliRunner().invoke(cli, ["verify", *args], prog_name="tf1sessions")
    report(**{name: [done.exit_code, done.stdout, done.stderr]})
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception

import tensorflow.compat.v1 as tf

def write(name, epsilon):
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, 4, 4, 2], name="x")
        ones = np.ones(2, np.float32)
        y = tf.nn.fused_batch_norm(x, ones, ones, ones, ones * 0.1, epsilon, is_training=False, name="norm")[0]
        tf.nn.relu(y, name="out")
    tf.io.write_graph(graph, ".", name, as_text=False)

write("a.pb", 1e-3)
write("b.pb", 1e-5)
np.savez("data.npz", x=np.full((2, 4, 4, 2), 3, np.float32))
pathlib.Path("loose.toml").write_text('[[tolerance]]\\nabsolute = 100.0\\nreason = "anything goes"\\n')
call("equal", "a.pb", "a.pb", "--all-tensors")
call("different", "a.pb", "b.pb", "--all-tensors", "--inputs", "data.npz")
call("json", "a.pb", "b.pb", "--json")
pathlib.Path("says.py").write_text("print('at its import')\\ndef f(x):\\n    print('in its call')\\n    return x\\n")
call("prints", "a.pb", "says.py:f", "--json")
pathlib.Path("says.py").unlink()
call("loose", "a.pb", "b.pb", "--tolerances", "loose.toml")
call("page", "a.pb", "b.pb", "--all-tensors", "--html", "page.html", "--map", "x=x", "--seed", "3")
page = pathlib.Path("page.html")
report(page_text=page.read_text("utf-8"))

call("missing", "a.pb", "missing.pb")
call("no_inputs", "a.pb", "a.pb", "--inputs", "missing.npz")
call("not_a_pair", "a.pb", "a.pb", "--map", "x")
call("nothing_given", "a.pb", "a.pb", "--given", "seeds")
call("no_match", "a.pb", models + "/frozen_resources.pb")
call("no_folder", "a.pb", "a.pb", "--html", "no/such/page.html")
for name in ("a.pb", "b.pb", "data.npz", "loose.toml", "other.txt", "new.py"):
    pathlib.Path("other.txt").write_text("mine")
    was = pathlib.Path(name).read_bytes() if os.path.exists(name) else None
    sides = ("a.pb", "new.py:f" if name == "new.py" else "b.pb")
    call("over_" + name, *sides, "--inputs", "data.npz", "--tolerances", "loose.toml", "--html", name)
    report(**{"kept_" + name: was == (pathlib.Path(name).read_bytes() if os.path.exists(name) else None)})
pathlib.Path("other.txt").unlink()
call("one_side", "a.pb")
pathlib.Path("deep.toml").write_text("x = " + "[" * 100_000)
pathlib.Path("deep.json").write_text("[" * 100_000)
pathlib.Path("parts.toml").write_text("a." * 100_000 + "a = 1")
for name in ("deep.toml", "deep.json", "parts.toml"):
    call(name, "a.pb", "a.pb", "--tolerances", name)
call("seed", "a.pb", "a.pb", "--seed", "-1")
call("three_sides", "a.pb", "b.pb", "c.pb")
call("unknown_on_both", "a.pb", "b.pb", "--map", "foo=bar")
call("unknown_on_the_right", "a.pb", "a.pb", "--map", "x:0=bar")
call("other_roles", "a.pb", "a.pb", "--map", "x=out")
call("arguments_for_nobody", "a.pb", "a.pb", "--", "--epochs", "3")
call("unused_by_recordings", recorded, recorded, "--map", "x=x")

report(left=sorted(os.listdir(".")))
"""

#: The same for scripts, each of which costs a start of TensorFlow.
SCRIPTS = """
import pathlib, sys
from click.testing import CliRunner
import tensorflow.compat.v1 as tf
from tf1sessions.cli.main import cli

script = sys.argv[1].replace("RATE", "0.1")

def call(name, *args):
    done = CliRunner().invoke(cli, ["verify", *args], prog_name="tf1sessions")
    report(**{name: [done.exit_code, done.stdout, done.stderr]})

with tf.Graph().as_default():  # the same program, here
    sys.argv = ["train.py", "./model.ckpt"]
    exec(script.replace("import tensorflow as tf", "import tensorflow.compat.v1 as tf"))
pathlib.Path("train.py").write_text(script)
pathlib.Path("other.py").write_text(script.replace('"prediction"', '"predicted"').replace("0.1", "0.2"))
pathlib.Path("fails.py").write_text("import tensorflow as tf\\nraise SystemExit(3)\\n")
call("script", "model.ckpt", "train.py", "--all-tensors")
call("other_script", "model.ckpt", "other.py", "--map", "prediction=predicted", "--all-tensors", "--", "./again.ckpt")
report(argument_was_passed=pathlib.Path("again.ckpt.index").exists())
call("failing_script", "model.ckpt", "fails.py")
"""


@pytest.fixture(scope="module")
def calls(run_python: Callable[..., PythonRun]) -> dict[str, Any]:
    return run_python(CODE, str(MODELS), str(RECORDED), deadline=170).results


@pytest.fixture(scope="module")
def scripts(run_python: Callable[..., PythonRun]) -> dict[str, Any]:
    return run_python(SCRIPTS, SCRIPT, deadline=170).results


@pytest.mark.parametrize("name", ["a.pb", "b.pb", "data.npz", "loose.toml", "new.py", "other.txt"])
def test_a_page_replaces_nothing_that_is_read(name: str, calls: dict[str, Any]) -> None:
    code, text, errors = calls["over_" + name]
    why = "is there already, and is no page of tf1sessions" if name == "other.txt" else "is what is read"
    assert (code, text) == (2, "") and f"'{name}' {why}" in " ".join(errors.split())
    assert calls["kept_" + name]


def test_help_names_each_option() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tf1sessions", "verify", "--help"], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0
    for option in ("--inputs", "--all-tensors", "--html", "--json", "--tolerances", "--map", "--signature", "--given"):
        assert option in done.stdout


def test_equal_sides(calls: dict[str, Any]) -> None:
    code, out, _ = calls["equal"]
    assert code == 0
    assert "left   a.pb (graph)\nright  a.pb (graph)\n\nEQUAL: 1 output and" in out


def test_sides_that_differ(calls: dict[str, Any]) -> None:
    code, out, _ = calls["different"]
    assert code == 1
    assert "they part first at norm:0 (FusedBatchNormV3)" in out
    assert "likely cause: another epsilon: epsilon 0.001 against 1e-05" in out
    assert "x  float32 [2, 4, 4, 2]  given by data.npz" in out


def test_what_a_function_prints_is_no_part_of_the_report(calls: dict[str, Any]) -> None:
    code, out, errors = calls["prints"]
    assert code == 1 and json.loads(out)["right"] == ["says.py:f", "Python function"]
    assert "at its import\n" in errors and "in its call\n" in errors


def test_json_is_all_that_is_printed(calls: dict[str, Any]) -> None:
    code, out, _ = calls["json"]
    found = json.loads(out)
    assert code == 1 and found["equal"] is False
    assert found["outputs"][0]["name"] == "out" and found["tensors"] == []


def test_own_tolerances(calls: dict[str, Any]) -> None:
    code, out, _ = calls["loose"]
    assert code == 0 and "100 [loose.toml, record 1; anything goes]" in out


def test_page(calls: dict[str, Any]) -> None:
    code, out, _ = calls["page"]
    assert code == 1 and "The page is page.html" in out
    text = calls["page_text"]
    assert "http://" not in text.replace("http://www.w3.org/2000/svg", "") and "https://" not in text
    data = json.loads(text.partition('id="data">')[2].partition("</script>")[0])
    assert data["first"]["name"] == "norm:0" and data["names"][data["marked"]] == "norm:0"
    assert len(data["points"]) == len(data["rows"]) == len(data["names"])
    assert data["first"]["causes"][0][0] == "another epsilon: epsilon 0.001 against 1e-05"
    assert ["Inputs", ["x  float32 [3, 4, 4, 2]: made: standard normal, seed 3"]] in data["sections"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("missing", "there is no model at"),
        ("no_inputs", "the inputs 'missing.npz' cannot be read: No such file or directory"),
        ("not_a_pair", "'x' is not LEFT=RIGHT"),
        ("nothing_given", "given is for a recording and a script"),
        ("no_match", "Say which is which: --map x=ids"),
        ("no_folder", "'no/such/page.html': No such file or directory"),
        ("one_side", "Missing argument 'RIGHT'"),
        ("deep.toml", "the tolerances 'deep.toml' cannot be read: brackets are nested more than 16 deep"),
        ("deep.json", "the tolerances 'deep.json' cannot be read: maximum recursion depth exceeded"),
        ("parts.toml", "the tolerances 'parts.toml' cannot be read: a key has more than 16 parts"),
        ("seed", "-1 is not in the range"),
        ("three_sides", "extra argument (c.pb). Arguments for the scripts themselves come after --."),
        ("unknown_on_both", "a.pb has no 'foo'; b.pb has no 'bar' (from --map foo=bar)"),
        ("unknown_on_both", "a.pb has the inputs 'x' float32 (?, 4, 4, 2), and the outputs 'out' float32 "),
        ("unknown_on_both", "; b.pb has the inputs 'x' float32 (?, 4, 4, 2), and the outputs 'out' float32 "),
        ("unknown_on_the_right", "a.pb has no 'bar' (from --map x:0=bar)"),
        ("other_roles", "'x' is an input, and 'out' an output (from --map x=out)"),
        ("arguments_for_nobody", "arguments are for a script, and neither side is one (from -- --epochs 3)"),
        ("unused_by_recordings", "names is not for what is compared call by call"),
    ],
)
def test_wrong_calls(name: str, said: str, calls: dict[str, Any]) -> None:
    code, out, err = calls[name]
    assert code == 2, (out, err)
    assert said in err and "Traceback" not in err


@pytest.mark.slow
def test_script(scripts: dict[str, Any]) -> None:
    code, out, _ = scripts["script"]
    assert code == 0, scripts["script"]
    assert "right  train.py (script, as its last session left it)" in out
    assert "EQUAL: 1 output and" in out and "what the script prints" not in out


@pytest.mark.slow
def test_script_that_trains_otherwise(scripts: dict[str, Any]) -> None:
    code, out, _ = scripts["other_script"]
    assert code == 1 and "likely cause: the variable w has another value" in out
    assert "prediction = predicted" in out
    assert scripts["argument_was_passed"]


@pytest.mark.slow
def test_script_that_fails(scripts: dict[str, Any]) -> None:
    code, _, err = scripts["failing_script"]
    assert code == 1 and "the script fails.py ended with exit code 3" in err


def test_nothing_is_left(calls: dict[str, Any]) -> None:
    assert [name for name in calls["left"] if name.startswith((".", "tmp", "tf1sessions"))] == []


@pytest.mark.parametrize(("given", "expected"), [(0, 1), (3, 3)])
def test_a_side_that_ends_the_process_is_not_equal(
    given: int, expected: int, capfd: pytest.CaptureFixture[str]
) -> None:
    child = os.fork()
    if not child:
        with verify._no_exit_as_equal():
            os._exit(given)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == expected
    assert f"a side has called os._exit({given}), and nothing was compared" in capfd.readouterr().err


def test_children_of_a_side_end_as_they_wish(capfd: pytest.CaptureFixture[str]) -> None:
    with verify._no_exit_as_equal():
        child = os.fork()
        if not child:
            os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert capfd.readouterr().err == ""
