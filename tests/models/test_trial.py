"""Models tried in a child process: what becomes of it is an error here, and of nothing else is made one."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from support import PythonRun, wait_for

from tf1sessions.errors import ModelFileError
from tf1sessions.models import trial


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "it ends the process by SIGSEGV"),
        ("import threading; threading.Event().wait()", "it takes longer than 1 s"),
        ("import sys; sys.exit(9)", "it needs more than 4,096 MB of memory"),
        ("raise MemoryError", "it needs more than 4,096 MB of memory"),
        ("import os, sys; sys.stderr.write('std::bad_alloc'); sys.stderr.flush(); os.abort()", "more than 4,096 MB"),
        ("", None),
        (
            "import json, sys; print('note', json.dumps(['an error']), sep='\\n', file=sys.stderr); sys.exit(3)",
            "an error",
        ),
        ("raise ImportError('nothing was tried')", "it could not be tried (ImportError: nothing was tried)"),
    ],
)
def test_what_becomes_of_the_child(monkeypatch: pytest.MonkeyPatch, program: str, said: str | None) -> None:
    monkeypatch.setattr(trial, "_PROGRAM", program)
    limit = 1.0 if said is not None and "longer" in said else 60.0
    if said in (None, "an error"):
        assert trial.try_model("a.pb", {}, limit_secs=limit) == said
        return
    with pytest.raises(ModelFileError) as caught:
        trial.try_model("a.pb", {}, limit_secs=limit)
    assert str(caught.value).startswith(f"a.pb cannot be loaded and run here: {said}") or said in str(caught.value)


def test_nothing_beside_the_model_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("json", "resource", "numpy", "tf1sessions"):
        Path(f"{name}.py").write_text(f"open('{name} was run', 'w')\n")
    Path("nothing.pbtxt").write_text('node { name: "nothing" op: "NoOp" }')
    trial.try_model("nothing.pbtxt", {})
    assert not list(tmp_path.glob("*was run"))


@pytest.mark.skipif(sys.platform != "linux", reason="where the parent's end is seen")
def test_the_child_ends_with_its_parent(tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    waits = trial._PROGRAM.partition("import json\n")[0]
    waits += f"import threading; open({str(begun)!r}, 'w').close(); threading.Event().wait()\n"
    program = f"from tf1sessions.models import trial\ntrial._PROGRAM = {waits!r}\ntrial.try_model('a.pb', {{}})"
    with subprocess.Popen([sys.executable, "-c", program]) as parent:
        children = Path(f"/proc/{parent.pid}/task/{parent.pid}/children")
        wait_for(begun.exists, "the child to be there")
        child = int(children.read_text())
        parent.kill()
    wait_for(lambda: not Path(f"/proc/{child}").exists(), "the child to end")


def test_memory_that_only_a_run_asks_for(run_python: PythonRun, tmp_path: Path) -> None:
    done = run_python(
        """
        import tf1sessions as t1
        from tf1sessions.errors import ModelFileError
        tf = t1.tf1
        for name in ("modest.pb", "greedy.pb"):
            with tf.Graph().as_default() as graph:
                x = tf.placeholder(tf.float32, [None], name="x")
                wanted = tf.cast([x[0] + (4e9 if name == "greedy.pb" else 4.0)], tf.int64)
                tf.identity(x + tf.reduce_sum(tf.fill(wanted, 1.0)), name="y")
            tf.train.write_graph(graph, ".", name, as_text=False)
        with t1.load("modest.pb", trial=True) as model:
            report(modest=model([1.0])["y"].tolist())
        try:
            t1.load("greedy.pb", trial=True)
        except ModelFileError as error:
            report(greedy=str(error))

        # What the shapes tell is refused without a trial: for the request that needs it, and for no other.
        made = {
            "Fill": lambda: tf.fill([2**43], 1.0),
            "range": lambda: tf.range(2**43),
            "Tile_1": lambda: tf.tile(tf.tile(tf.fill([4, 4], 1.0), [2**20, 2**20]), [8, 1]),
            "Pad": lambda: tf.pad(tf.constant([1.0]), [[2**43, 0]]),
            "mul": lambda: tf.fill([2**22, 1], 1.0) * tf.fill([1, 2**22], 1.0),
            "stack": lambda: tf.stack([tf.fill([2**30, 2**12], float(i)) for i in range(9)]),
        }

        # Functions: what they are called with gives sizes, too, and of branches one runs.
        function = tf.function
        fill = function(lambda: tf.reduce_sum(tf.fill([2**43], 1.0)))
        inner = function(lambda x: tf.reduce_sum(tf.tile(x, [2**20, 1])))
        unused = function(lambda: (tf.fill([2**43], 1.0), tf.constant(1.0))[1])
        tf.enable_control_flow_v2()
        def loop(body): return tf.while_loop(lambda i, x: i < 3, body, [0, 1.0])[1]
        bodies = {
            "Fill of fill": lambda x: fill(),
            "Tile of inner": lambda x: inner(tf.zeros([2**20, 2])),
            "Tile of nested": lambda x: function(lambda: inner(tf.zeros([2**20, 2])))(),
            "Fill of body": lambda x: loop(lambda i, x: (i + 1, x + tf.reduce_sum(tf.fill([2**43], 1.0)))),
            "Fill of branch": lambda x: tf.cond(x[0] > 0, lambda: 1.0, lambda: tf.reduce_sum(tf.fill([2**43], 1.0))),
            "few of inner": lambda x: inner(tf.zeros([4, 2])[:, :1]),
            "unused": lambda x: unused(),
            "by a value": lambda x: function(lambda n: tf.reduce_sum(tf.fill([n], 1.0)))(tf.cast(x[0], tf.int32)),
        }
        from tf1sessions.models import static_sizes
        free = static_sizes.available_memory()
        most = int(free * 0.15)  # of four bytes each: of two branches one fits, and both do not
        bodies["one branch"] = lambda x: tf.cond(
            x[0] > 0, *(lambda k=k: tf.reduce_sum(tf.fill([most + k], 1.0)) for k in range(2)))
        outcomes = {}
        for name, body in bodies.items():
            with tf.Graph().as_default() as graph:
                x = tf.placeholder(tf.float32, [None], name="x")
                tf.identity(x + body(x), name="y")
            definition = graph.as_graph_def()
            for each in definition.library.function:
                each.arg_attr.clear()  # so that the shapes of the arguments are those of the call
            tf.train.write_graph(definition, ".", "functions.pb", as_text=False)
            try:
                with t1.load("functions.pb") as model:
                    outcomes[name] = "loaded"
            except ModelFileError as error:
                outcomes[name] = str(error)
        report(outcomes=outcomes)
        refused = {}
        for name, make in made.items():
            with tf.Graph().as_default() as graph:
                x = tf.placeholder(tf.float32, [None], name="x")
                tf.identity(x + tf.cast(tf.reduce_sum(make()), tf.float32), name="y")
                tf.add(x, 1.0, name="small")
            tf.train.write_graph(graph, ".", "large.pb", as_text=False)
            with t1.load("large.pb", outputs=["small"]) as model:
                small = model([1.0])["small"].tolist()
                try:
                    model.run("y", {"x": [1.0]})
                except ModelFileError as error:
                    refused[name] = [small, str(error)]
            try:
                t1.load("large.pb", outputs=["y"])
            except ModelFileError as error:
                refused[name].append(str(error))
        report(refused=refused)
        for path, options in (("modest.pb", {"tags": ["serve"]}), ("modest.pb\x1b[2J\u202e", {})):
            try:
                t1.load(path, **options)
            except Exception as error:
                report(**{type(error).__name__: str(error)})
        """,
    )
    assert sorted(done.results["refused"]) == ["Fill", "Pad", "Tile_1", "mul", "range", "stack"]
    for name, (small, of_run, of_load) in done.results["refused"].items():
        assert small == [2.0] and of_run.partition(" GB free")[2] == of_load.partition(" GB free")[2]
        assert re.search(rf"fill [\d,.]+ GB, [\d,.]+ GB of it in '{name}', and this machine has", of_run)
    outcomes = done.results["outcomes"]
    for name in ("few of inner", "unused", "by a value", "one branch"):
        assert outcomes.pop(name) == "loaded"
    for name, text in outcomes.items():
        operation, function = name.split(" of ")
        inside = {"body": "while_body", "branch": "cond_false"}.get(function, "")
        assert re.search(
            rf"fill [\d,.]+ GB, [\d,.]+ GB of it in '{operation}' of the function '[\w<>]*{inside}[\w<>]*'", text
        )
    assert "is no SavedModel: it has one graph (graph), and no tags (from tags=)" in done.results["UsageError"]
    assert r"modest.pb\x1b[2J\u202e" in done.results["ModelFileError"]
    assert done.results["modest"] == [6.0]
    assert "greedy.pb cannot be loaded and run here: it needs more than 4,096 MB of memory" in done.results["greedy"]
