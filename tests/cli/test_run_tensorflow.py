"""``tf1sessions run`` with TensorFlow 1 programs: what only the real thing shows. Few runs of many jobs each."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from importlib.machinery import FrozenImporter
from pathlib import Path

import pytest
from plain_jobs import DEADLINE, Plain
from support import ROOT, wait_for

pytest_plugins = ("plain_fixture", "warm_commands")
REAL = ["-m", "tf1sessions", "run"]

GRAPH = """
import os, sys
import tensorflow as tf
x = tf.placeholder(tf.float32, [None, 2])
w = tf.get_variable("w", [2, 1], initializer=tf.ones_initializer())
y = tf.matmul(x, w)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print("result", float(sess.run(y, {x: [[1, 2]]})[0, 0]), sys.argv[1:], os.environ.get("CUDA_VISIBLE_DEVICES"))
"""


def test_kinds_of_jobs_side_by_side(plain: Plain) -> None:
    plain.script("good.py", GRAPH)
    plain.script("pack/__init__.py")
    plain.script("pack/mod.py", GRAPH)
    cells = [{"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": GRAPH}]
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 2}
    plain.script("book.ipynb", json.dumps(notebook))
    plain.script("old.py", "import tensorflow as tf\nprint 'python two'\n")
    plain.script(
        "bad.py",
        "import tensorflow as tf\nnever_used = (lambda: tf.report_uninitialized_variables())()\n"
        "def f():\n    tf.placeholder(tf.float32, 3, 4, 5)\nf()\n",
    )
    plain.script(
        "saves.py",
        GRAPH
        + """
import time
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    tf.train.Saver().save(sess, "checkpoints/model")
    open("saved-" + sys.argv[1], "w").close()
    while not (os.path.exists("saved-1") and os.path.exists("saved-2")):
        time.sleep(0.02)
""",
    )
    plain.script(
        "jobs.toml",
        """
        [defaults]
        settings = {visible_devices = "-1", time_limit = 90}
        [[job]]
        script = "good.py"
        [[job]]
        module = "pack.mod"
        args = ["--x"]
        [[job]]
        script = "book.ipynb"
        [[job]]
        script = "old.py"
        [[job]]
        script = "bad.py"
        [[job]]
        script = "good.py"
        env = {PYTHONHASHSEED = "7"}
        [[job]]
        script = "saves.py"
        args = [1]
        [[job]]
        script = "saves.py"
        args = [2]
        """,
    )
    done = plain.cli("jobs.toml", "--out", "run", "-j", "2", program=REAL)
    text = done.stdout.decode()
    assert (done.returncode, plain.states()) == (1, ["done"] * 3 + ["failed"] * 2 + ["done"] * 3), text
    for index, args in ((0, []), (1, ["--x"]), (2, []), (5, [])):
        assert f"result 3.0 {args!r} -1" in plain.log(index).decode()
    assert "starts cold, which takes seconds longer: PYTHONHASHSEED differs" in text
    assert [bool(record["cold_reasons"]) for record in plain.records()] == [False] * 5 + [True] + [False] * 2
    tracebacks = text[text.index("bad failed after", text.index("old failed after", text.index("   job"))) :]
    assert re.search(r'  \|   File ".*bad\.py", line 5, in <module>', tracebacks)
    assert "TypeError" in tracebacks
    assert plain.log(4).decode().splitlines()[-1].startswith("TypeError")  # TensorFlow says nothing after it
    assert "tf1sessions/scripts" not in tracebacks and "runpy" not in tracebacks
    assert "Python 2" in text and "old.py" in text
    warnings = [warning for record in plain.records()[6:] for warning in record["warnings"]]
    assert any("checkpoints" in warning for warning in warnings)
    assert "warning: " in text
    assert not (plain.folder / "run/.claims").exists()


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGKILL])
def test_training_that_is_ended(plain: Plain, signum: int) -> None:
    plain.script(
        "train.py",
        """
        import tensorflow as tf
        step = tf.train.get_or_create_global_step()
        queue = tf.train.string_input_producer(["a", "b"])
        with tf.train.MonitoredTrainingSession(checkpoint_dir=None) as sess:
            print("begun", flush=True)
            while not sess.should_stop():
                sess.run(step)
        """,
    )
    with plain.start("--out", "run", "train.py", "train.py", "-j", "2", program=REAL) as process:

        def begun() -> bool:
            return sum(b"begun" in path.read_bytes() for path in Path(plain.folder, "run").glob("*.log")) == 2

        wait_for(begun, "both to train", DEADLINE)
        process.send_signal(signum)
        _stdout, _ = process.communicate(timeout=60)
    if signum == signal.SIGINT:
        assert process.returncode == 130
        assert plain.states() == ["cancelled"] * 2
        assert all("killed" not in record["reason"] for record in plain.records())
    else:
        wait_for(lambda: not plain.strays(), "server and jobs to end with the command", DEADLINE)
        assert plain.states() == ["running"] * 2


def test_single_script_looks_as_under_python(plain: Plain) -> None:
    plain.script("one.py", GRAPH + "print(repr(sys.stdin.read()), __name__, __file__)\nsys.exit(3)\n")
    done = plain.cli("one.py", "--", "--x", program=REAL, input=b"typed")
    assert done.returncode == 3
    lines = done.stdout.decode().splitlines()
    assert re.fullmatch(r"result 3\.0 \['--x'\] \S+", lines[0])
    assert lines[1:] == [f"'typed' __main__ {plain.folder}/one.py"]


def test_modules_of_the_scripts_own_with_names_of_ours(plain: Plain) -> None:
    """It need not work with TensorFlow; where the script does not import that, all is as under python."""
    plain.script("six.py", "print('my own six')")
    plain.script("a.py", "import six; print(six.__file__)")
    done = plain.cli("a.py", program=REAL)
    assert (done.returncode, done.stdout.decode()) == (0, f"my own six\n{plain.folder}/six.py\n"), done.stderr


@pytest.mark.usefixtures("warm_commands")
def test_readme_command(plain: Plain) -> None:
    scripts = ["digits_cnn.py", "char_rnn.py", "csv_queue_regression.py"]
    done = plain.cli(*(str(ROOT / "examples" / script) for script in scripts), "-j", "2", "--out", "run", program=REAL)
    assert (done.returncode, plain.states()) == (0, ["done"] * 3), done.stdout
    assert b"3 of 3 jobs done" in done.stdout


def test_names_of_the_standard_library_beside_a_script_are_in_no_way(plain: Plain) -> None:
    """The script gets its own file, TensorFlow and we have the module of the standard library."""
    code = "import sys; print(*sys.modules)"
    at_start = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    needed = {"__future__", "collections", "copyreg", "importlib", "re", "threading"}
    taken = {"distutils"}  # up to Python 3.11, by a finder that setuptools puts first
    never = {*at_start, *sys.builtin_module_names, *needed, *taken}
    names = sorted(sys.stdlib_module_names - never)
    names = [name for name in names if FrozenImporter.find_spec(name) is None]  # these no path ever hides
    for name in names:
        plain.script(f"job/{name}.py", "HELPER = __file__")
    plain.script(
        "job/train.py",
        f"""
        import os, sys
        import tensorflow as tf
        for name in {names}:
            assert __import__(name).HELPER == os.path.join(os.path.dirname(__file__), name + ".py"), name
        loss = tf.reduce_mean(tf.layers.dense(tf.placeholder_with_default([[1.0, 2.0]], [None, 2]), 3))
        step = tf.train.AdamOptimizer().minimize(loss)
        tf.summary.scalar("loss", loss)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            session.run(step)
            tf.train.Saver().save(session, sys.argv[1])
            tf.summary.FileWriter(sys.argv[1] + "-summaries", session.graph).close()
        """,
    )
    plain.script(
        "jobs.toml",
        """
        [[job]]
        script = "job/train.py"
        args = ["warm"]
        [[job]]
        script = "job/train.py"
        args = ["cold"]
        env = {PYTHONHASHSEED = "7"}
        """,
    )
    done = plain.cli("jobs.toml", "--out", "run", "-j", "1", program=REAL)
    assert plain.states() == ["done"] * 2, done.stdout.decode()
    assert [bool(record["cold_reasons"]) for record in plain.records()] == [False, True]


def test_children_of_a_script_find_its_files_with_names_of_the_standard_library(plain: Plain) -> None:
    for name in ("html", "fractions"):
        plain.script(f"{name}.py", "HELPER = __file__")
    plain.script(
        "train.py",
        """
        import multiprocessing

        def double(value):
            import fractions, html
            import tensorflow as tf
            with tf.Session() as session:
                return int(session.run(tf.constant(value) * 2)), html.HELPER[-7:], fractions.HELPER[-12:]

        def triple(session, value):
            import tensorflow as tf
            return int(session.run(tf.constant(value) * 3))

        if __name__ == "__main__":
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                print(pool.map(double, [1, 2]))
            import tf1sessions
            for method in ("fork", "spawn"):
                with tf1sessions.ProcessSessionPool(1, method=method) as pool:
                    print(list(pool.map(triple, [1, 2])))
        """,
    )
    done = plain.cli("train.py", program=REAL)
    assert done.stdout.decode().splitlines() == [
        "[(2, 'html.py', 'fractions.py'), (4, 'html.py', 'fractions.py')]",
        *["[3, 6]"] * 2,
    ], done.stderr


@pytest.mark.usefixtures("warm_commands")
def test_deprecation_warnings_are_beside_the_log(plain: Plain) -> None:
    plain.script(
        "old.py",
        """
        import tensorflow as tf
        tf.to_float(tf.train.string_input_producer(["a"]).size())
        tf.logging.warning("a warning")
        raise ValueError("because")
        """,
    )
    done = plain.cli("old.py", "--out", "run", program=REAL)
    assert b"is deprecated" not in done.stderr and b"a warning" in done.stderr
    (record,) = plain.records()
    beside = (plain.folder / "run" / "01-old.deprecations.txt").read_text()
    assert record["deprecations"] == beside.count("WARNING:tensorflow:From") >= 3
    assert f"{record['deprecations']} deprecation warnings of TensorFlow not shown" in done.stderr.decode()
    assert record["error"] == "ValueError: because"
    shown = plain.cli("old.py", "--warnings", program=REAL)
    assert shown.stderr.count(b"WARNING:tensorflow:From") == record["deprecations"]
    assert b"not shown" not in shown.stderr
