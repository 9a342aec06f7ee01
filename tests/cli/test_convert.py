"""``tf1sessions convert``: what it prints and writes, and how it fails."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support import ROOT, PythonRun

MODELS = ROOT / "tests" / "golden" / "data" / "models"

#: Calls the command as the shell would, many times in one process.
CODE = '''
import os, pathlib, sys
from click.testing import CliRunner
from tf1sessions.cli.main import cli

models = sys.argv[1]
os.environ["COLUMNS"] = "80"

def call(name, *args):
    done = CliRunner().invoke(cli, ["convert", *args], prog_name="tf1sessions")
    report(**{name: [done.exit_code, done.stdout, done.stderr]})

call("dry", f"{models}/frozen.pb", "out", "--dry-run")
report(after_dry=os.listdir("."))
call("frozen", f"{models}/frozen.pb", "out")
call("again", f"{models}/frozen.pb", "out")
call("force", f"{models}/frozen.pb", "out", "--force", "--json", "--no-check")
report(files=sorted(os.listdir(".")), content=sorted(os.listdir("out")))
call("train", f"{models}/training", "trained", "--train", "--trainable", "conv/*", "--dry-run")
call("ends", f"{models}/frozen.pb", "cut", "--input", "x=conv/BiasAdd", "--output", "probabilities", "--dry-run")

pathlib.Path("text.pb").write_text("this is no model")
call("missing", "no/such.pb", "o")
call("text", "text.pb", "o")
call("tf2", "out", "o")
call("no_signature", f"{models}/saved_signatures", "o", "--signature", "zzz")
call("no_tags", f"{models}/saved_tags", "o", "--tags", "gpu")
call("no_train", f"{models}/frozen.pb", "o", "--train")
call("no_checkpoint", f"{models}/training", "o", "--checkpoint", f"{models}/variables")
call("no_tensor", f"{models}/frozen.pb", "o", "--output", "probabilitie")
call("name_twice", f"{models}/frozen.pb", "o", "--output", "a=probabilities", "--output", "a=conv/BiasAdd")
call("inside", f"{models}/training", f"{models}/training/o")
call("no_file", "nothing.py:build", "o")
call("no_module", "no.such:build", "o")

pathlib.Path("net.py").write_text("""
def build():
    import tensorflow as tf

    x = tf.placeholder(tf.float32, [None, 3], name="x")
    loss = tf.reduce_mean(tf.layers.dense(x, 2, name="dense"))
    return {"loss": loss}, tf.train.GradientDescentOptimizer(0.1).minimize(loss)

def fails():
    raise KeyError("what the function raised")

def exits():
    raise SystemExit

def splits():
    import tensorflow as tf

    return tf.split(tf.placeholder(tf.float32, [4], name="x"), 2, name="halves")

def of_another_graph():
    import tensorflow as tf

    tf.zeros([2], name="y")
    with tf.Graph().as_default():
        return tf.ones([2], name="y")

def names_twice():
    import tensorflow as tf

    return {1: tf.constant(1.0), "1": tf.constant(2.0)}

def finalizes():
    import tensorflow as tf

    y = tf.layers.dense(tf.placeholder(tf.float32, [None, 3]), 2)
    tf.get_default_graph().finalize()
    return y

def leaves_a_process():
    import pathlib, subprocess, sys, tensorflow as tf

    pathlib.Path("pid").write_text(str(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(900)"]).pid))
    return tf.constant(1.0)
""")
call("builder", "net.py:build", "built", "--train")
for function in ("exits", "splits", "of_another_graph", "names_twice", "finalizes"):
    call(function, f"net.py:{function}", "o", "--dry-run")
call("leaves_a_process", "net.py:leaves_a_process", "o", "--dry-run")
os.kill(int(pathlib.Path("pid").read_text()), 9)  # it is there still
os.unlink("pid")
call("fails", "net.py:fails", "o")
call("no_function", "net.py:buidl", "o")
report(left=sorted(os.listdir(".")))

pathlib.Path("hides").mkdir()
pathlib.Path("hides/queue.py").write_text("def width(): return 2")
pathlib.Path("hides/html.py").write_text("rate = 3.0")
pathlib.Path("hides/net.py").write_text("""
import tensorflow as tf, html, queue

def build():
    return tf.multiply(tf.placeholder(tf.float32, [None, queue.width()], name="x"), html.rate, name="y")
""")
call("hides", "hides/net.py:build", "o", "--dry-run")
'''


@pytest.fixture(scope="module")
def calls(run_python: Callable[..., PythonRun]) -> dict[str, Any]:
    return run_python(CODE, str(MODELS), deadline=300).results


def test_help_names_each_option() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tf1sessions", "convert", "--help"], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
    for option in ("--signature", "--train", "--train-op", "--force", "--dry-run", "--no-check", "--json", "--tags"):
        assert f"  {option} " in done.stdout or f"  {option}\n" in done.stdout
    assert "tf1sessions convert frozen.pb converted/ --dry-run" in done.stdout


def test_dry_run_prints_and_writes_nothing(calls: dict[str, Any]) -> None:
    code, text, errors = calls["dry"]
    assert (code, errors, calls["after_dry"]) == (0, "", [])
    lines = text.splitlines()
    assert lines[0].endswith("frozen.pb: graph -> out") and lines[-1] == "Nothing was written: a dry run."
    assert "Signature serving_default (guessed)" in lines
    assert "  from  images         float32  [?, 4, 4, 1]" in lines
    assert "Variables: 8, 508 bytes; 6 of them trainable; all were constants" in lines
    assert "  norm/moving_mean      float32  [2]           8 bytes    not trained" in lines
    assert max(map(len, lines[1:])) <= 80
    assert "\x1b" not in text  # no colours where no terminal is


def test_is_written_with_proof(calls: dict[str, Any]) -> None:
    code, text, errors = calls["frozen"]
    assert (code, errors) == (0, "")
    assert text.endswith(
        "\nCompared with TensorFlow 1\n  - equal to the bit: serving_default: probabilities\n\nWritten to out\n"
    )
    assert calls["files"] == ["out"]  # and nothing hidden
    assert calls["content"] == ["assets", "fingerprint.pb", "saved_model.pb", "variables"]


def test_force_and_json(calls: dict[str, Any]) -> None:
    code, text, errors = calls["again"]
    assert (code, text) == (2, "")
    assert errors.startswith("Error: 'out' is there already") and "--force" in errors
    code, text, errors = calls["force"]
    assert (code, errors) == (0, "")
    found = json.loads(text)
    assert found["written"] is True and found["proof"] is None and len(found["variables"]) == 8


def test_options_reach_the_library(calls: dict[str, Any]) -> None:
    code, text, _ = calls["train"]
    assert code == 0 and "\n  train   runs step; takes images (float32), training (bool), labels" in text
    assert "; 2 of them trainable" in text
    code, text, _ = calls["ends"]
    assert code == 0 and "  from  x " in text and "tensor conv/BiasAdd:0" in text


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("missing", ["there is no model at", "no/such.pb"]),
        ("text", ["text.pb is not a model that TensorFlow wrote"]),
        ("tf2", ["is a SavedModel of TensorFlow 2 already", "tf.saved_model.load"]),
        ("no_signature", ["there is no signature 'zzz'", "'classify', 'regress', 'serving_default'"]),
        ("no_tags", ["has the tags ['gpu']", "['serve'], ['gpu', 'serve'], ['train']"]),
        ("no_train", ["the graph has no train operations"]),
        ("no_checkpoint", ["is not one of this graph", "conv/kernel"]),
        ("no_tensor", ["probabilitie:0", "Near to it are probabilities"]),
        ("name_twice", ["'a' is given for both 'probabilities' and 'conv/BiasAdd' (from --output)"]),
        ("inside", ["is inside the model that is read"]),
        ("of_another_graph", ["net.py:of_another_graph returned 'y:0', which is of another graph"]),
        ("names_twice", ["net.py:names_twice returned two tensors named '1', 'Const:0' and 'Const_1:0'"]),
        ("finalizes", ["net.py:finalizes finalizes its graph", "Leave graph.finalize()"]),
        ("no_file", ["there is no file 'nothing.py'"]),
        ("no_module", ["there is no module 'no.such'"]),
        ("no_function", ["net.py has no function 'buidl'", "build, exits, fails"]),
    ],
)
def test_bad_input_is_one_line_with_the_names(calls: dict[str, Any], name: str, parts: list[str]) -> None:
    code, text, errors = calls[name]
    assert (code, text) == (2, "")
    assert errors.startswith("Error: ") and errors.count("\n") == 1
    assert [part for part in parts if part not in errors] == []


def test_a_function_that_builds_a_graph(calls: dict[str, Any]) -> None:
    code, text, errors = calls["builder"]
    assert (code, errors) == (0, "")
    assert text.startswith("net.py:build: function -> built\n")
    assert "  train  runs GradientDescent; takes x (float32)" in text
    assert "  - equal to the bit: serving_default: loss" in text
    code, text, errors = calls["fails"]
    assert (code, text) == (1, "") and "KeyError: 'what the function raised'" in errors
    assert 'net.py", line 10, in fails' in errors and "built_graph.py" not in errors
    assert errors.splitlines()[-1] == "Error: net.py:fails did not build a graph: the process ended with 1."
    assert calls["left"] == ["__pycache__", "built", "net.py", "out", "text.pb"] or calls["left"] == [
        "built",
        "net.py",
        "out",
        "text.pb",
    ]


def test_a_function_that_returns_several_outputs_of_an_operation(calls: dict[str, Any]) -> None:
    code, text, errors = calls["splits"]
    assert (code, errors) == (0, "")
    assert all(f"tensor halves:{index}" in text or f" halves:{index} " in text for index in range(2)), text


def test_a_function_beside_namesakes_of_modules_of_python(calls: dict[str, Any]) -> None:
    """Its file imports what is beside it; TensorFlow, which needs Python's own ``queue``, does not."""
    code, text, errors = calls["hides"]
    assert (code, errors) == (0, "") and "from  x  float32  [?, 2]" in text, (text, errors)


def test_a_function_that_ends_its_process(calls: dict[str, Any]) -> None:
    code, text, errors = calls["exits"]
    assert (code, text) == (1, "") and errors.splitlines()[-1].endswith(
        "did not build a graph: the process ended with 0."
    )


def test_a_function_that_leaves_a_process(calls: dict[str, Any]) -> None:
    """That has stdout and stderr of the function open, and is not waited for."""
    code, text, errors = calls["leaves_a_process"]
    assert (code, errors) == (0, "") and text.startswith("net.py:leaves_a_process: function -> o\n")


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_leaves_nothing(tmp_path: Path, name: str) -> None:
    """While the hidden folder is there, which is the case as long as it works."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tf1sessions", "convert", str(MODELS / "training"), "out"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))},
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),  # also when these tests run under nohup
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 100
    while not os.listdir(tmp_path) and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    assert [name.rpartition("-")[0] for name in os.listdir(tmp_path)] == [".out.tf1sessions"]
    signum = getattr(signal, name)
    process.send_signal(signum)
    out, errors = process.communicate(timeout=100)
    assert (process.returncode, out) == (128 + signum, "") and "Traceback" not in errors
    assert os.listdir(tmp_path) == []
