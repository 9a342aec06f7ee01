"""The fork guard: where the parent has started TensorFlow, each use of it in a child is an error, and none hangs.

The table below is the promise; fork_programs.py is what is done. Each state of a parent is one process.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support import PythonRun

WAYS = ("fork", "process", "pool", "executor")

HARMLESS = (
    "numpy",
    "a graph",
    "a graph with functions",
    "protos",
    "files",
    "a seed",
    "physical devices",
    "subprocesses",
)
NEW = (
    "a constant",
    "an operation",
    "a variable",
    "a function",
    "a dataset",
    "logical devices",
    "tf.Session",
    "tf.InteractiveSession",
    "MonitoredSession",
    "t1.Session",
    "GraphSession",
    "a server",
)
AFTER_START = dict.fromkeys(HARMLESS, "works") | dict.fromkeys(NEW, "raises")

#: State of the parent -> what a child does -> what becomes of that.
TABLE: dict[str, dict[str, str]] = {
    "clean": dict.fromkeys((*HARMLESS, *(name for name in NEW if name != "GraphSession")), "works"),
    "eager": {
        **AFTER_START,
        "tensor.numpy()": "works",
        "np.asarray(tensor)": "works",
        "repr(tensor)": "works",
        "repr(variable)": "works",
        "an operation on a tensor": "raises",
        "tensor[0]": "raises",
        "tensor.cpu()": "raises",
        "unpickling a tensor": "raises",
        "variable.numpy()": "raises",
        "variable.assign()": "raises",
        "a traced function": "raises",
        "a traced function of an array": "raises",
        "a function of another shape": "raises",
        "a ConcreteFunction": "raises",
        "a dataset of the parent": "raises",
        "an iterator of the parent": "raises",
        "a gradient": "raises",
        "random numbers": "raises",
        "a summary writer": "raises",
        "Keras 3 predict": "raises",
        "Keras 3 fit": "raises",
        "Keras 3 call": "raises",
        "tf_keras predict": "raises",
        "tf_keras fit": "raises",
        "tf_keras call": "raises",
    },
    "plain": {
        **AFTER_START,
        "run": "raises",
        "another run": "raises",
        "run with options": "raises",
        "eval": "raises",
        "partial_run": "raises",
        "make_callable": "raises",
        "a callable of the parent": "raises",
        "a compiled callable of the parent": "raises",
        "list_devices": "works",
        "close": "works",
        "deleting a session": "works",
    },
    "ours": {
        **AFTER_START,
        "run": "raises",
        "another run": "raises",
        "a compiled call": "raises",
        "a compiled call in its caller's thread": "raises",
        "a compiled call of a list": "raises",
        "compile": "raises",
        "make_callable": "raises",
        "initialize": "raises",
        "save": "raises",
        "restore": "raises",
        "Model": "raises",
        "load": "raises",
        "Batcher": "raises",
        "Batcher.submit": "raises",
        "WorkQueue.submit": "raises",
        "QueuePipeline": "raises",
        "ThreadSessionPool.submit": "raises",
        "ThreadSessionPool.map": "raises",
        "ProcessSessionPool.submit": "raises",
        "the first job of a ThreadSessionPool": "raises",
        "closing all": "works",
        "leaving a pool's block": "works",
    },
}
OFF = {
    "off: a constant": "works",
    "off: making a session": "works",
    "off: a compiled call in its caller's thread": "works",
    "off: closing": "works",
    "off: nothing is replaced": "works",
    "off: Batcher": "raises",
    "off: ThreadSessionPool.submit": "raises",
}

FIX = (
    'Use tf1sessions.ProcessSessionPool or multiprocessing.get_context("spawn"), or fork before the first session and '
    "the first eager operation; TF1SESSIONS_FORK_GUARD=0 turns this check off."
)

# What is left of a state is still there when a child ends, and is deleted then.
_RUN = """
import importlib, sys
sys.path.insert(0, sys.argv[1])
program = importlib.import_module("fork_programs")
left = getattr(program, "state_" + sys.argv[2])(report)
if left:
    report(end=program.end_a_child())
"""


@pytest.fixture(scope="module")
def results(run_python: Callable[..., PythonRun]) -> Callable[[str], dict[str, Any]]:
    """What a state's program reports; it is run once."""
    known: dict[str, dict[str, Any]] = {}

    def of(state: str) -> dict[str, Any]:
        if state not in known:
            known[state] = {}  # should the program fail, it is not run for each test
            folder = str(Path(__file__).parent)
            known[state] = run_python(_RUN, folder, state, deadline=170, env={"TF1SESSIONS_FORK_GUARD": None}).results
        return known[state]

    return of


def ways_of(state: str, name: str) -> tuple[str, ...]:
    if state == "clean":
        return WAYS[:2] if name in NEW else WAYS[:1]  # in the others one child does one thing after another
    return WAYS if name not in HARMLESS or state == "eager" else WAYS[:1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("state", "name", "way"),
    [(state, name, way) for state, table in TABLE.items() for name in table for way in ways_of(state, name)],
)
def test_what_becomes_of_a_child(state: str, name: str, way: str, results: Callable[[str], dict[str, Any]]) -> None:
    assert results(state)[f"{name} by {way}"] == TABLE[state][name]


@pytest.mark.slow
@pytest.mark.parametrize("state", TABLE)
def test_the_table_is_complete(state: str, results: Callable[[str], dict[str, Any]]) -> None:
    expected = {f"{name} by {way}" for name in TABLE[state] for way in ways_of(state, name)}
    found = {name for name in results(state) if name.rpartition(" by ")[2] in WAYS and not name.startswith("off: ")}
    assert found == expected


@pytest.mark.slow
@pytest.mark.parametrize("state", ["eager", "plain"])
def test_a_child_ends_as_usual(state: str, results: Callable[[str], dict[str, Any]]) -> None:
    """Without a guard that hangs, too, where the parent has an iterator over a dataset."""
    assert results(state)["end"] == [3, ""]


@pytest.mark.slow
def test_what_counts_as_a_start(results: Callable[[str], dict[str, Any]]) -> None:
    """A session that a child made itself, for its own children; and what starts CUDA."""
    found = results("clean")
    assert found["after a session that could not be made"] == "works"
    assert found["a child with a session of its own"] == found["a child with a session of ours"] == "False raises"
    assert found["after a GPU was listed"] == "raises"
    refused = {"a graph with functions", "physical devices"}  # these would start it
    for name in HARMLESS:
        assert results("plain")[f"with a GPU: {name}"] == ("raises" if name in refused else "works"), name


@pytest.mark.slow
def test_the_message(results: Callable[[str], dict[str, Any]]) -> None:
    found = results("ours")
    parent, child, text = found["message"].split(" ", 2)
    assert int(parent) == found["pid"]
    place = re.escape(f"fork_programs.py:{found['line']}")
    assert re.fullmatch(
        rf"TensorFlow cannot be used in process {child}: a fork has none of the threads of process {parent}, which had "
        rf"made a TensorFlow session \(from .*{place}\)\. {re.escape(FIX)}",
        text,
    )
    parent, child, text = found["message_of_a_batcher"].split(" ", 2)
    assert text == (
        f"the batcher cannot be used in process {child}: a fork has none of the threads of process {parent}, which had "
        "started it. Make it, and its session, in the process that uses it."
    )


@pytest.mark.slow
def test_forks_of_forks_and_of_threads(results: Callable[[str], dict[str, Any]]) -> None:
    found = results("ours")
    first, second = found["nested"].splitlines()
    (parent, child, text), (between, grandchild, again) = first.split(" ", 2), second.split(" ", 2)
    assert (int(parent), child) == (found["pid"], between)
    assert again == text.replace(f"process {child}:", f"process {grandchild}:")  # it names who had made the session
    assert found["from a thread"] == ["raises"]
    assert found["from a job"] == "TensorFlow "


@pytest.mark.slow
def test_it_can_be_turned_off(results: Callable[[str], dict[str, Any]]) -> None:
    found = results("ours")
    rows = {name: value for name, value in found.items() if name.startswith("off: ")}
    assert rows == {f"{name} by {way}": value for name, value in OFF.items() for way in ("fork", "process")}
    settings = {name: value for name, value in found.items() if name.startswith("TF1SESSIONS_FORK_GUARD=")}
    assert len(settings) == 3
    for name, (value, expected) in settings.items():
        assert value == expected, name


SCRIPT = """
import multiprocessing
import numpy as np
import tensorflow as tf

def double(number):
    with tf.Graph().as_default(), tf.Session() as session:
        return float(session.run(tf.constant(number) * 2.0))

def make_a_session():
    tf.Session(graph=tf.Graph())  # which does not hang by itself

before = multiprocessing.get_context("fork").Pool(1)
print(before.apply_async(double, (1.0,)).get(60))
before.terminate()
print(double(2.0))
with multiprocessing.get_context("fork").Pool(1) as after:
    print(after.apply_async(np.square, (3.0,)).get(60))
    try:
        print(after.apply_async(make_a_session).get(60))
    except BaseException as error:
        print(type(error).__name__, str(error).count("script.py:7"))
"""


@pytest.mark.slow
def test_scripts(tmp_path: Path) -> None:
    """It is on in scripts, and off where a job's environment says so."""
    (tmp_path / "script.py").write_text(SCRIPT, encoding="utf-8")
    off = '{TF1SESSIONS_FORK_GUARD = "0"}'
    jobs = f'[[job]]\nscript = "script.py"\n\n[[job]]\nscript = "script.py"\nname = "off"\nenv = {off}\n'
    (tmp_path / "jobs.toml").write_text(jobs, encoding="utf-8")
    words = [sys.executable, "-m", "tf1sessions", "run", "jobs.toml", "-j", "1", "--out", "out"]
    environment = {name: value for name, value in os.environ.items() if name != "TF1SESSIONS_FORK_GUARD"}
    done = subprocess.run(words, capture_output=True, text=True, timeout=150, cwd=tmp_path, env=environment)
    said = [
        [line for line in log.read_text("utf-8").splitlines() if re.fullmatch(r"\d\.0|Fork.*|None", line)]
        for log in sorted((tmp_path / "out").glob("*.log"))
    ]
    assert (done.returncode, said) == (
        0,
        [["2.0", "4.0", "9.0", "ForkedAfterSessionError 1"], ["2.0", "4.0", "9.0", "None"]],
    ), done.stdout + done.stderr
    assert [log.name for log in (tmp_path / "out").glob("*.log") if "Exception ignored" in log.read_text("utf-8")] == []


@pytest.mark.slow
def test_programs_with_the_face_of_tensorflow_1(run_python: Callable[..., PythonRun]) -> None:
    """It is on there without the fast path, too."""
    install = "import tf1sessions.scripts; tf1sessions.scripts.install(fast_path=False)\n"
    done = run_python(install + SCRIPT, env={"TF1SESSIONS_FORK_GUARD": None})
    assert done.stdout.splitlines()[-4:] == ["2.0", "4.0", "9.0", "ForkedAfterSessionError 0"]


@pytest.mark.gpu
def test_on_a_gpu(run_python: Callable[..., PythonRun]) -> None:
    """Listing the GPUs is a start there, and what is in a GPU's memory cannot be read in a child."""
    done = run_python(
        """
        import os, sys
        sys.path.insert(0, sys.argv[1])
        import fork_programs as program
        import tensorflow

        tensorflow.config.list_physical_devices("GPU")
        program.USES.update(program.NEW)
        report(listed={name: program.by_os_fork(name) for name in program.NEW})
        tensor = tensorflow.constant([1.0]) + 1.0
        program.USES["tensor.numpy()"] = tensor.numpy
        report(device=tensor.backing_device, numpy=program.by_os_fork("tensor.numpy()"))
        """,
        str(Path(__file__).parent),
        env={"TF_FORCE_GPU_ALLOW_GROWTH": "true"},  # other tests with a GPU may run meanwhile
    ).results
    assert done["listed"] == dict.fromkeys(NEW, "raises")
    assert "GPU" in done["device"] and done["numpy"] == "raises"
