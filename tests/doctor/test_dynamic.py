"""What a program does while it runs becomes findings; the program does not notice.

Most programs are forks of one process that has preloaded TensorFlow, as the workers of the server are. Each row of
:data:`CASES` is a program that has what its rule is about, or one that nearly has.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from support import PythonRun, wait_for

from tf1sessions.doctor import dynamic, evidence, notes
from tf1sessions.doctor.dynamic import watch
from tf1sessions.doctor.findings import Finding, FindingSource, Severity
from tf1sessions.scripts.jobs import Job
from tf1sessions.source.program import SourceLine

HEAD = """
import os, sys, threading, time, subprocess, multiprocessing
import numpy as np
import tensorflow as tf
x = tf.placeholder(tf.float32, [None, 4])
w = tf.Variable(tf.ones([4, 2]))
y = tf.matmul(x, w)
init = tf.global_variables_initializer()
ones = np.ones((3, 4), np.float32)
def config(**given):
    made = tf.ConfigProto()
    for name, value in given.items():
        setattr(made if hasattr(made, name) else made.gpu_options, name, value)
    return made
"""
HEAD_LINES = HEAD.count("\n")

# rule -> a program that has it, the line (from 1, below HEAD) of the finding; and programs that nearly have it.
CASES: dict[str, tuple[str, int, dict[str, str]]] = {
    "late-visible-devices": (
        """
        sess = tf.Session()
        os.environ["CUDA_VISIBLE_DEVICES"] = "7"
        """,
        2,
        {
            "before": "os.environ['CUDA_VISIBLE_DEVICES'] = '7'\ntf.Session().close()",
            "unchanged": "os.environ['CUDA_VISIBLE_DEVICES'] = '7'\n"
            "tf.Session().close()\nos.environ['CUDA_VISIBLE_DEVICES'] = '7'",
            "another": "tf.Session().close()\nos.environ['CUDA_VISIBLE'] = '7'",
        },
    ),
    "memory-of-several-sessions": (
        """
        with tf.Session(config=config(allow_growth=True)): pass
        with tf.Session(config=config(per_process_gpu_memory_fraction=0.3)): pass
        """,
        2,
        {
            "same": "for _ in 1, 2:\n    with tf.Session(config=config(allow_growth=True)): pass",
            "no_gpu": "with tf.Session(config=config(allow_growth=True)): pass\n"
            "with tf.Session(config=tf.ConfigProto(device_count={'GPU': 0})): pass",
        },
    ),
    "remote-config": (
        """
        server = tf.train.Server.create_local_server()
        with tf.Session(server.target, config=config(allow_growth=True, intra_op_parallelism_threads=1)): pass
        """,
        2,
        {
            "its_own": "server = tf.train.Server.create_local_server(config=config(allow_growth=True))\n"
            "with tf.Session(server.target, config=config(allow_soft_placement=True)): pass",
            "local": "with tf.Session(config=config(allow_growth=True)): pass",
        },
    ),
    "eager-before-session": (
        """
        from tensorflow.python.eager import context
        with context.eager_mode():
            tf.constant(1.) + 1.
        with tf.Session(config=config(allow_growth=True)): pass
        """,
        3,
        {
            "asks_for_nothing": "from tensorflow.python.eager import context\n"
            "with context.eager_mode():\n    tf.constant(1.) + 1.\nwith tf.Session(): pass",
            "after": "with tf.Session(config=config(allow_growth=True)): pass\n"
            "from tensorflow.python.eager import context\nwith context.eager_mode():\n    tf.constant(1.) + 1.",
        },
    ),
    "sessions-left-open": (
        """
        made = []
        for _ in range(3):
            made.append(tf.Session())
        """,
        3,
        {"one": "sess = tf.Session()", "closed": "for _ in range(3):\n    sess = tf.Session()\n    sess.close()"},
    ),
    "graph-built-by-threads": (
        """
        begun, built = threading.Event(), threading.Event()
        def wait():
            begun.set()
            built.wait(60)
            return np.float32(1.)
        slow = tf.py_func(wait, [], tf.float32)
        def build():
            begun.wait(60)
            with slow.graph.as_default():
                tf.constant(1.)
            built.set()
        thread = threading.Thread(target=build, name="builder")
        thread.start()
        with tf.Session() as sess:
            sess.run(slow)
        thread.join()
        """,
        10,
        {
            "handed_over": "def build():\n    with y.graph.as_default():\n        tf.constant(1.)\n"
            "thread = threading.Thread(target=build)\nthread.start()\nthread.join()\n"
            "with tf.Session() as sess:\n    sess.run(init)\n    z = y + 1.",
            "between": "def work():\n    sess.run(y, {x: ones})\nsess = tf.Session()\nsess.run(init)\n"
            "for _ in range(6):\n    thread = threading.Thread(target=work)\n    thread.start()\n    thread.join()\n"
            "    exec('tf.constant(1.)')\n    tf.Graph()",
            "a_graph_each": "def work():\n    with tf.Graph().as_default(), tf.Session() as sess:\n"
            "        a = tf.constant(1.)\n        first.wait(60)\n        sess.run(a + 1.)\n"
            "first = threading.Barrier(2)\nthreads = [threading.Thread(target=work) for _ in range(2)]\n"
            "for thread in threads: thread.start()\nfor thread in threads: thread.join()",
            "only_run": "sess = tf.Session()\nsess.run(init)\n"
            "threads = [threading.Thread(target=sess.run, args=(y, {x: ones})) for _ in range(3)]\n"
            "for thread in threads: thread.start()\nfor thread in threads: thread.join()",
        },
    ),
    "ops-in-loop": (
        """
        with tf.Session() as sess:
            sess.run(init)
            for step in range(8):
                sess.run(tf.reduce_mean(y), {x: ones})
        """,
        4,
        {
            "before_the_loop": "mean = tf.reduce_mean(y)\nwith tf.Session() as sess:\n    sess.run(init)\n"
            "    for step in range(8):\n        sess.run(mean, {x: ones})",
            "a_graph_each": "for _ in range(8):\n    with tf.Graph().as_default(), tf.Session() as sess:\n"
            "        sess.run(tf.constant(1.) + 1.)\n        sess.run(tf.constant(1.) + 1.)",
            "few_rounds": "with tf.Session() as sess:\n    sess.run(init)\n    for _ in range(3):\n"
            "        sess.run(tf.reduce_mean(y), {x: ones})",
            "layers": "with tf.Session() as sess:\n    sess.run(init)\n    z = y\n"
            "    for _ in range(8):\n        z = z + 1.\n    sess.run(z, {x: ones})",
        },
    ),
    "make-callable-with-feeds": (
        """
        with tf.Session() as sess:
            sess.run(init)
            predict = sess.make_callable(y, [x])
            predict(ones)
        """,
        3,
        {"no_feeds": "with tf.Session() as sess:\n    run = sess.make_callable(init)\n    run()"},
    ),
    "feeds-converted": (
        """
        data, first = np.ones((500000, 4)), x[0]
        with tf.Session() as sess:
            sess.run(init)
            for step in range(40):
                sess.run(first, {x: data})
        """,
        5,
        {
            "right": "data, first = np.ones((500000, 4), np.float32), x[0]\n"
            "with tf.Session() as sess:\n    sess.run(init)\n"
            "    for step in range(40):\n        sess.run(first, {x: data})",
            "rarely": "data, first = np.ones((500000, 4)), x[0]\nwith tf.Session() as sess:\n    sess.run(init)\n"
            "    for step in range(3):\n        sess.run(first, {x: data})",
        },
    ),
    "numpy-promotion": (
        """
        total = 0.0
        for loss in np.array([0.1, 0.2], np.float32): total += loss / 2
        """,
        2,
        {
            "own_type": "total = np.float64(0)\nfor loss in np.ones(3): total += loss / 2",
            "arrays": "w = ones * 2.0 + ones / 3 - np.float32(1)\nnp.uint8(200) + np.uint8(3) == 203",
            "compared": "np.uint8(200) < 300, np.float32(0.5) > 0.1",
        },
    ),
    "constant-fetched": (
        """
        big = tf.constant(np.zeros((600, 600), np.float32))
        same = tf.identity(big)
        with tf.Session() as sess:
            for step in range(12):
                sess.run(same)
        """,
        5,
        {
            "small": "small = tf.constant(1.)\nwith tf.Session() as sess:\n    for step in range(12): sess.run(small)",
            "once": "big = tf.constant(np.zeros((600, 600), np.float32))\nwith tf.Session() as sess: sess.run(big)",
        },
    ),
    "oversubscribed-threads": (
        """
        with tf.Session(config=config(intra_op_parallelism_threads=8 * os.cpu_count())): pass
        """,
        1,
        {
            "few": "with tf.Session(config=config(intra_op_parallelism_threads=1)): pass",
            "own_but_few": "own = config(use_per_session_threads=True, inter_op_parallelism_threads=1)\n"
            "with tf.Session(config=own): pass",
        },
    ),
    "fork-after-session": (
        """
        sess = tf.Session()
        if not os.fork():
            try:
                sess.run(init)
            except Exception:
                os._exit(0)
        os.wait()
        """,
        2,
        {
            "before": "if not os.fork():\n    os._exit(0)\nos.wait()\ntf.Session().close()",
            "no_fork": "sess = tf.Session()\nsubprocess.run(['true'])\nsess.close()",
        },
    ),
    "children-not-watched": (
        """
        subprocess.run([sys.executable, "-c", "pass"])
        """,
        1,
        {"no_python": "subprocess.run(['true'])"},
    ),
    "queue-threads-left": (
        """
        queue = tf.train.string_input_producer(["a"])
        sess = tf.Session()
        sess.run(tf.local_variables_initializer())
        tf.train.start_queue_runners(sess)
        sess.run(queue.dequeue())
        """,
        4,
        {
            "joined": "queue = tf.train.string_input_producer(['a'])\ncoord = tf.train.Coordinator()\n"
            "with tf.Session() as sess:\n    sess.run(tf.local_variables_initializer())\n"
            "    threads = tf.train.start_queue_runners(sess, coord)\n    sess.run(queue.dequeue())\n"
            "    coord.request_stop()\n    coord.join(threads)",
        },
    ),
    "coordinator-without-join": (
        """
        coord = tf.train.Coordinator()
        thread = threading.Thread(target=coord.wait_for_stop)
        coord.register_thread(thread)
        thread.start()
        coord.request_stop()
        thread.join()
        """,
        1,
        {
            "joined": "coord = tf.train.Coordinator()\nthread = threading.Thread(target=coord.wait_for_stop)\n"
            "thread.start()\ncoord.request_stop()\ncoord.join([thread])",
            "no_threads": "coord = tf.train.Coordinator()\ncoord.request_stop()",
        },
    ),
}

# Findings of the first programs above that are right as well, and findings that near misses have besides.
ALSO = {
    "fork-after-session": {"children-not-watched", "gpu-taken-whole"},
    "fork-after-session-before": {"children-not-watched", "gpu-taken-whole"},
}

OTHERS = {
    # A usual program: nothing is to be reported.
    "usual": """
        import json
        tf.set_random_seed(1)
        rng = np.random.RandomState(0)
        data, labels = rng.rand(64, 4).astype("f"), rng.rand(64, 2).astype("f")
        t = tf.placeholder(tf.float32, [None, 2])
        dropped = tf.nn.dropout(tf.layers.dense(x, 8, tf.nn.relu), rate=0.5)
        loss = tf.reduce_mean(tf.square(tf.layers.dense(dropped, 2) - t))
        train = tf.train.AdamOptimizer(0.1).minimize(loss)
        tf.summary.scalar("loss", loss)
        merged, saver = tf.summary.merge_all(), tf.train.Saver()
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for step in range(50):
                _, value, text = sess.run([train, loss, merged], {x: data, t: labels})
                if step % 10 == 0:
                    saver.save(sess, os.path.join(os.environ["FOLDER"], "model"))
            print(value, len(text), len(tf.get_default_graph().get_operations()))
    """,
    # What a program might notice of the probes.
    "curious": """
        import inspect, json, traceback
        tf.set_random_seed(1)
        file = os.open(os.devnull, os.O_RDONLY)
        sess = tf.Session()
        sess.run(init)
        try:
            sess.run(y)
        except tf.errors.InvalidArgumentError as error:
            print(type(error).__name__, error.op.name)
        for one in tf.Session.run, tf.Session.__init__, tf.Graph._create_op_helper, subprocess.Popen.__init__:
            print(one.__name__, one.__qualname__, (one.__doc__ or "").split()[:3], inspect.signature(one))
        print(json.dumps([sess.run(tf.random_normal([3])).tolist() for _ in range(3)]))
        print(threading.active_count(), [thread.name for thread in threading.enumerate()], file)
        print(sorted(os.environ), sys.argv, sorted(sys.modules["__main__"].__dict__))
        print(sess.run({"y": y, "list": [y, (w,)]}, feed_dict={x: ones}))
        os.environ["A"] = "b"; del os.environ["A"]
        if os.fork() == 0:
            print("child", flush=True)
            os._exit(0)
        print(os.wait()[1])
        def fails():
            return sess.run(tf.Print(no_such_name, []))
        fails()
    """,
    "turns": """
        turn, failed = threading.Barrier(2, timeout=60), []
        def build(me):
            with y.graph.as_default():
                for step in range(4):
                    if step % 2 == me:
                        tf.constant(1.)
                    turn.wait()
        threads = [threading.Thread(target=build, args=(me,), name=f"builder {me}") for me in range(2)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
    """,
    "rounds": """
        turn, sess = threading.Barrier(2, timeout=60), tf.Session()
        def serve():
            for step in range(5):
                turn.wait()
                sess.run(init)
                turn.wait()
        thread = threading.Thread(target=serve, name="server")
        thread.start()
        for step in range(5):
            tf.constant(1.)
            turn.wait()
            turn.wait()
        thread.join()
    """,
    "left": "print('before')\nsess = tf.Session()\nsess.run(init)\nsys.exit('a text')",
    "python_bound": """
        def work(name):
            with tf.Graph().as_default(), tf.Session() as sess:
                one = tf.constant(1.) + 1.
                until = time.perf_counter() + 2.0
                while time.perf_counter() < until:
                    sum(i * i for i in range(5000))
                    sess.run(one)
        threads = [threading.Thread(target=work, args=(i,)) for i in range(3)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
    """,
    "waits_only": """
        def work(name):
            with tf.Graph().as_default(), tf.Session() as sess:
                one = tf.constant(1.) + 1.
                until = time.perf_counter() + 1.0
                while time.perf_counter() < until:
                    time.sleep(0.02)
                    sess.run(one)
        threads = [threading.Thread(target=work, args=(i,)) for i in range(3)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
    """,
    "processes": """
        def child(): pass
        with tf.Session() as sess:
            sess.run(init)
        process = multiprocessing.get_context("fork").Process(target=child)
        process.start()
        process.join()
    """,
    "processes_growth": """
        with tf.Session(config=config(allow_growth=True)) as sess:
            sess.run(init)
        subprocess.run([sys.executable, "-c", "pass"])
    """,
    "eager_child": """
        with tf.Session(config=config(allow_growth=True)) as sess:
            sess.run(init)
        from tensorflow.python.eager import context
        if not os.fork():
            with context.eager_mode():
                tf.constant(1.) + 1.
    """,
    "library": """
        path = os.path.join(os.environ["FOLDER"], "site-packages")
        os.makedirs(path, exist_ok=True)
        with open(os.path.join(path, "builds_and_runs.py"), "w") as file:
            file.write("def work(sess, value, rounds):\\n    for _ in range(rounds): sess.run(value + 1.)\\n")
        sys.path.append(path)
        import builds_and_runs
        with tf.Session() as sess:
            builds_and_runs.work(sess, tf.constant(1.), 8)
            builds_and_runs.work(sess, tf.constant(1.), 25)
    """,
    "own_pools": """
        own = config(use_per_session_threads=True, inter_op_parallelism_threads=2 * os.cpu_count())
        with tf.Session(config=own), tf.Session(config=own): pass
    """,
    "listed": """
        from tensorflow.python.client import device_lib
        device_lib.list_local_devices()
        os.environ["CUDA_VISIBLE_DEVICES"] = "3"
    """,
    "for_a_child": """
        with tf.Session(config=config(allow_growth=True)): pass
        os.environ["CUDA_VISIBLE_DEVICES"] = "3"
        subprocess.run([sys.executable, "-c", "pass"], preexec_fn=os.setsid)
    """,
    "crashes": """
        sessions = [tf.Session() for _ in range(3)]
        queue = tf.train.string_input_producer(["a"])
        coord = tf.train.Coordinator()
        sessions[0].run(tf.local_variables_initializer())
        tf.train.start_queue_runners(sessions[0], coord)
        coord.request_stop()
        raise ValueError("an error")
    """,
    "broken_probe": """
        sess = tf.Session()
        def fails(): raise RuntimeError("a bug")
        type(sess.graph)._tf1sessions_watched = property(lambda graph: fails())
        print(sess.run(tf.constant(1.) + 1.))
    """,
    "killed": """
        sess = tf.Session()
        os.environ["CUDA_VISIBLE_DEVICES"] = "3"
        os.kill(os.getpid(), 9)
    """,
}

RUN_ALL = """
import json, os, sys
from tf1sessions.doctor import probes
from tf1sessions.scripts import program
folder, names = sys.argv[1], sys.argv[2:]
program.preload()
for name in names:
    for way in ("watched", "plain") if name in ("usual", "curious", "left") else ("watched",):
        sys.stdout.flush(); sys.stderr.flush()
        pid = os.fork()
        if pid == 0:
            os.setsid()
            out, err = (os.open(os.path.join(folder, f"{name}.{way}.{kind}"), os.O_WRONLY | os.O_CREAT)
                        for kind in ("out", "err"))
            os.dup2(out, 1); os.dup2(err, 2); os.close(out); os.close(err)
            os.chdir(folder)
            os.environ["FOLDER"] = os.path.join(folder, f"{name}.{way}")
            os.makedirs(os.environ["FOLDER"] + ".notes")
            path = os.path.join(folder, name + ".py")
            payload = {"kind": "script", "path": path, "path0": folder, "display": name + ".py",
                       "settings": {"queue_grace": 0.5}, "notes": os.environ["FOLDER"] + ".notes"}
            os.environ["FOLDER"] = folder
            code = (probes if way == "watched" else program).execute(payload)
            sys.stdout.flush(); sys.stderr.flush()
            os._exit(code)  # to take down an interpreter with TensorFlow costs more than such a program does
        report(**{f"{name}.{way}": os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])})
"""


class Watched:
    """What the programs did and gave."""

    def __init__(self, folder: Path, codes: Mapping[str, int]) -> None:
        self.folder, self.codes = folder, codes

    def notes(self, name: str) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        return notes.read(self.folder / f"{name}.watched.notes")

    def findings(self, name: str, cores: int | None = None) -> list[Finding]:
        events, state = self.notes(name)
        if cores is not None:
            events = [event | ({"cores": cores} if event["kind"] == "begin" else {}) for event in events]
        return evidence.judge(events, state, evidence.Shown(str(self.folder)))

    def text(self, name: str, way: str, kind: str) -> str:
        return (self.folder / f"{name}.{way}.{kind}").read_text("utf-8")


@pytest.fixture(scope="module")
def watched(run_python: Callable[..., PythonRun], tmp_path_factory: pytest.TempPathFactory) -> Watched:
    folder = tmp_path_factory.mktemp("watched")
    programs = {**OTHERS}
    for rule, (code, _, near) in CASES.items():
        programs[rule] = code
        programs |= {f"{rule}-{name}": text for name, text in near.items()}
    for name, code in programs.items():
        (folder / f"{name}.py").write_text(HEAD + textwrap.dedent(code).lstrip("\n"), "utf-8")
    return Watched(folder, run_python(RUN_ALL, str(folder), *programs, deadline=170.0).results)


def describe(watched: Watched, name: str) -> str:
    return f"{watched.findings(name)}\n{watched.text(name, 'watched', 'err')[-3000:]}"


@pytest.mark.slow
@pytest.mark.timeout(200)
@pytest.mark.parametrize("rule", CASES)
def test_what_a_program_does_is_found_at_its_line(watched: Watched, rule: str) -> None:
    found = watched.findings(rule)
    if rule == "numpy-promotion" and np.__version__.startswith("1."):  # which has no other types than it had
        assert found == [] and watched.codes[f"{rule}.watched"] == 0, describe(watched, rule)
        return
    (finding,) = [one for one in found if one.rule == rule] or pytest.fail(describe(watched, rule))
    assert finding.place == SourceLine(f"{rule}.py", HEAD_LINES + CASES[rule][1])
    assert finding.source is FindingSource.RUN
    assert finding.title and finding.why and finding.fix
    assert {one.rule for one in found} <= {rule, *ALSO.get(rule, ())}
    assert watched.codes[f"{rule}.watched"] == 0, describe(watched, rule)


def test_every_rule_has_a_program() -> None:
    rules = {rule.__name__.replace("_", "-") for rule in evidence.RULES}
    assert rules == {*CASES, "gpu-taken-whole", "python-bound-threads", "watched-in-part"}


NEAR = [f"{rule}-{name}" for rule, (_, _, near) in CASES.items() for name in near]


@pytest.mark.slow
@pytest.mark.parametrize("name", NEAR)
def test_what_nearly_is_one_is_not_reported(watched: Watched, name: str) -> None:
    assert watched.codes[f"{name}.watched"] == 0, describe(watched, name)
    assert {one.rule for one in watched.findings(name)} <= ALSO.get(name, set()), describe(watched, name)
    events, _ = watched.notes(name)
    assert events[-1]["kind"] == "end", "it was watched to its end"


@pytest.mark.slow
def test_of_a_usual_program_nothing_is_reported(watched: Watched) -> None:
    assert watched.codes["usual.watched"] == 0, describe(watched, "usual")
    assert watched.findings("usual") == []
    _, state = watched.notes("usual")
    (thread,) = state["threads"]
    assert thread["name"] == "MainThread"
    assert thread["runs"] > 50  # its steps and the saver's
    assert 0 < thread["inside"] < state["seconds"]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "code"), [("usual", 0), ("curious", 1), ("left", 1)])
def test_a_program_does_not_notice(watched: Watched, name: str, code: int) -> None:
    """Not in its results, nor in its threads, files, variables and errors, nor in its last traceback."""
    assert watched.codes[f"{name}.watched"] == watched.codes[f"{name}.plain"] == code, describe(watched, name)
    assert watched.text(name, "watched", "out") == watched.text(name, "plain", "out") != ""
    ours, theirs = (_without_logs(watched.text(name, way, "err")) for way in ("watched", "plain"))
    assert ours == theirs


def _without_logs(text: str) -> list[str]:
    """Without TensorFlow's own lines, which tell the time and the process, and the process in Python's warnings."""
    log = re.compile(r"[IWE]\d{4} |\d{4}-\d\d-\d\d [\d:.]+: [IWE] ")
    return [re.sub(r"\(pid=\d+\)", "(pid)", line) for line in text.splitlines() if not log.match(line)]


@pytest.mark.slow
def test_threads_that_compute_in_python_are_distinguished_from_those_that_wait(watched: Watched) -> None:
    (finding,) = watched.findings("python_bound", cores=8)
    assert finding.rule == "python-bound-threads"
    assert finding.place == SourceLine("python_bound.py", HEAD_LINES + 2)
    assert watched.findings("python_bound", cores=1) == []
    assert watched.findings("waits_only", cores=8) == []


@pytest.mark.slow
def test_a_library_that_builds_and_runs_in_turns_is_no_loop(watched: Watched) -> None:
    (finding,) = watched.findings("library")
    assert (finding.rule, finding.place) == ("ops-in-loop", SourceLine("library.py", HEAD_LINES + 9))


@pytest.mark.slow
def test_several_processes_without_growth(watched: Watched) -> None:
    found = {finding.rule: finding for finding in watched.findings("processes")}
    assert found.keys() == {"gpu-taken-whole", "fork-after-session", "children-not-watched"}
    assert found["gpu-taken-whole"].severity is Severity.NOTE
    assert found["gpu-taken-whole"].place == SourceLine("processes.py", HEAD_LINES + 2)
    assert found["fork-after-session"].severity is Severity.WARNING  # the child did nothing with TensorFlow
    assert "multiprocessing (fork) once" in found["children-not-watched"].title
    assert {finding.rule for finding in watched.findings("processes_growth")} == {"children-not-watched"}


@pytest.mark.slow
def test_a_child_that_uses_a_session_makes_it_worse(watched: Watched) -> None:
    (finding,) = [one for one in watched.findings("fork-after-session") if one.rule == "fork-after-session"]
    assert finding.severity is Severity.ERROR
    assert f"used Session.run at fork-after-session.py:{HEAD_LINES + 4}" in finding.title
    (finding,) = [one for one in watched.findings("eager_child") if one.rule == "fork-after-session"]
    assert finding.severity is Severity.ERROR
    assert f"used TensorFlow at eager_child.py:{HEAD_LINES + 6}" in finding.title


@pytest.mark.slow
@pytest.mark.parametrize(("name", "line", "how"), [("turns", 6, "added to it"), ("rounds", 10, "ran it")])
def test_threads_that_take_turns_with_a_graph(watched: Watched, name: str, line: int, how: str) -> None:
    (finding,) = watched.findings(name)
    assert (finding.rule, finding.place) == ("graph-built-by-threads", SourceLine(f"{name}.py", HEAD_LINES + line))
    assert finding.title.endswith(f"{how} meanwhile")
    assert finding.severity is (Severity.WARNING if name == "rounds" else Severity.ERROR)


@pytest.mark.slow
def test_pools_of_the_sessions_own(watched: Watched) -> None:
    (finding,) = watched.findings("own_pools")
    assert finding.rule == "oversubscribed-threads"
    assert "2 sessions" in finding.title or "inter_op_parallelism_threads" in finding.title


@pytest.mark.slow
def test_a_list_of_the_devices_initialises_them(watched: Watched) -> None:
    (finding,) = watched.findings("listed")
    assert (finding.rule, finding.place) == ("late-visible-devices", SourceLine("listed.py", HEAD_LINES + 3))
    assert "a list of the devices" in finding.title


@pytest.mark.slow
def test_a_variable_for_a_child_is_no_error(watched: Watched) -> None:
    """A fork that is followed by another program is none that TensorFlow minds."""
    found = {finding.rule: finding.severity for finding in watched.findings("for_a_child")}
    assert found == {"late-visible-devices": Severity.WARNING, "children-not-watched": Severity.NOTE}


@pytest.mark.slow
def test_a_probe_that_fails_is_reported_and_harms_nothing(watched: Watched) -> None:
    assert watched.codes["broken_probe.watched"] == 0, describe(watched, "broken_probe")
    assert watched.text("broken_probe", "watched", "out") == "2.0\n"
    (finding,) = watched.findings("broken_probe")
    assert finding.rule == "watched-in-part"
    assert "note_operation" in finding.title
    assert "RuntimeError: a bug" in finding.why


@pytest.mark.slow
def test_what_an_error_left_open_is_not_reported(watched: Watched) -> None:
    assert watched.codes["crashes.watched"] == 1
    assert watched.findings("crashes") == []
    events, _ = watched.notes("crashes")
    assert {"open", "coordinator"} <= {event["kind"] for event in events}


@pytest.mark.slow
def test_what_was_noted_outlives_a_kill(watched: Watched) -> None:
    assert watched.codes["killed.watched"] == -signal.SIGKILL
    assert [finding.rule for finding in watched.findings("killed")] == ["late-visible-devices", "watched-in-part"]


# -- the whole way ----------------------------------------------------------------------------------------------------

WATCH = """
import json, os, sys
from tf1sessions.doctor.dynamic import watch
from tf1sessions.scripts.jobs import Job
code, found = watch(Job(script=sys.argv[1], args=tuple(sys.argv[3:])), time_limit=float(sys.argv[2]))
report(code=code, findings=[finding.to_json() for finding in found],
       heavy=sorted({"tensorflow", "numpy"} & set(sys.modules)))
"""


@pytest.mark.slow
def test_a_program_is_watched_from_outside(run_python: Callable[..., PythonRun], tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        HEAD
        + textwrap.dedent("""
            print("out", sys.argv[1:])
            sess = tf.Session()
            os.environ["CUDA_VISIBLE_DEVICES"] = "5"
            sys.exit(7)
        """).lstrip("\n"),
        "utf-8",
    )
    before = os.listdir(tmp_path)
    done = run_python(WATCH, "program.py", "100", "--rate=2", cwd=tmp_path)
    assert done.stdout == "out ['--rate=2']\n"
    assert done.results["code"] == 7
    assert done.results["heavy"] == []
    (finding,) = done.results["findings"]
    assert finding["rule"] == "late-visible-devices"
    assert finding["source"] == "run"
    assert finding["place"] == {"file": "program.py", "line": HEAD_LINES + 3, "cell": None}
    assert finding["others"] == [{"file": "program.py", "line": HEAD_LINES + 2, "cell": None}]
    assert os.listdir(tmp_path) == before  # no run folder is left


@pytest.mark.slow
@pytest.mark.parametrize("end", ["time limit", "Ctrl-C"])
def test_a_program_that_does_not_end_is_ended(end: str, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        HEAD + "sess = tf.Session()\nos.environ['CUDA_VISIBLE_DEVICES'] = '5'\nopen('here', 'w').close()\n"
        "threading.Event().wait(600)\n",
        "utf-8",
    )
    process = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "def report(**given): print(json.dumps(given))" + WATCH,
            "program.py",
            "12" if end == "time limit" else "100",
        ],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    watcher = threading.Timer(100, process.kill)
    watcher.start()
    try:
        if end == "Ctrl-C":
            wait_for(lambda: (tmp_path / "here").exists() or process.poll() is not None, "the program to begin", 90.0)
            process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    finally:
        watcher.cancel()
        watcher.join()
    assert out, err[-3000:]
    given = json.loads(out.splitlines()[-1])
    assert given["code"] == (124 if end == "time limit" else 128 + signal.SIGINT)
    seen = {finding["rule"] for finding in given["findings"]}
    assert seen - {"watched-in-part"} == {"late-visible-devices"}  # how much of its end is seen depends on its haste


def test_a_program_that_is_not_there_is_refused(tmp_path: Path) -> None:
    from tf1sessions.errors import ScriptUsageError

    with pytest.raises(ScriptUsageError, match="missing.py"):
        watch(Job(script=str(tmp_path / "missing.py")))


# -- what notes mean --------------------------------------------------------------------------------------------------


def loop(name: str, cpu: float, inside: float = 0.1, waited: float = 0.0, since: float = 0.0) -> dict[str, Any]:
    """A thread that was watched for ten seconds; of a run it computes all of the time."""
    return {
        "name": name,
        "runs": 10,
        "since": since,
        "until": since + 10.0,
        "cpu": cpu,
        "inside": inside,
        "waited": waited,
        "sampled_wall": 1.0,
        "sampled_cpu": 1.0,
    }


@pytest.mark.parametrize(
    ("threads", "cores", "reported"),
    [
        ([loop("a", 5.0), loop("b", 5.0)], 8, True),
        ([loop("a", 3.0, waited=4.0), loop("b", 3.0, waited=4.0)], 8, True),  # a busy machine
        ([loop("a", 3.0, 2.8, 6.0), loop("b", 3.0, 2.8, 6.0)], 8, False),  # ... with TensorFlow
        ([loop("a", 5.0), loop("b", 5.0)], 1, False),  # nothing to gain
        ([loop("a", 9.0), loop("b", 9.0)], 8, False),  # they give the lock up
        ([loop("a", 5.0, inside=4.9), loop("b", 5.0, inside=4.9)], 8, False),  # in TensorFlow
        ([loop("a", 1.1), loop("b", 1.1)], 8, False),  # they wait for something else
        ([loop("a", 9.0), loop("b", 9.0, since=10.0)], 8, False),  # one after another
        ([loop("a", 9.0), loop("main", 0.1)], 8, False),
        ([], 8, False),
    ],
)
def test_when_threads_are_bound_by_python(threads: list[dict[str, Any]], cores: int, reported: bool) -> None:
    events = [{"kind": "begin", "cores": cores}, {"kind": "end", "exit_code": 0}]
    found = evidence.judge(events, {"threads": threads}, evidence.Shown("/"))
    assert [finding.rule for finding in found] == ["python-bound-threads"] * reported


def test_places_are_reported_as_the_user_names_them() -> None:
    shown = evidence.Shown("/home/user", {"/home/other/train.py": "../other/train.py"})
    assert shown.place(["/home/user/lib/net.py", 3]) == SourceLine("lib/net.py", 3)
    assert shown.place(["/home/other/train.py", 4]) == SourceLine("../other/train.py", 4)
    assert shown.place(["/opt/lib/net.py", 5]) == SourceLine("/opt/lib/net.py", 5)
    assert shown.place(["book.ipynb, cell 3", 2]) == SourceLine("book.ipynb", 2, 3)
    assert shown.place(None) is None


def test_notes_are_read_back_and_bounded(tmp_path: Path) -> None:
    assert notes.read(tmp_path) == ([], {})
    writer = notes.NoteWriter(str(tmp_path))
    for number in range(notes.KEPT + 5):
        writer.event("one", number=number)
    writer.event("other", spot=("a.py", 1))
    writer.state({"seconds": 1.0})
    writer.state({"seconds": 2.0})
    events, state = notes.read(tmp_path)
    assert [event["number"] for event in events[:-1]] == list(range(notes.KEPT))
    assert events[-1] == {"kind": "other", "spot": ["a.py", 1]}
    assert state == {"seconds": 2.0}


def test_a_folder_that_is_gone_ends_the_notes_and_not_the_program(tmp_path: Path) -> None:
    writer = notes.NoteWriter(str(tmp_path / "gone"))
    writer.event("one")
    writer.state({})
    assert writer.broken


def test_a_program_that_deletes_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class DeletingRun:
        def __init__(self, *_: Any) -> None: ...

        def heeding_signals(self) -> contextlib.AbstractContextManager[None]:
            return contextlib.nullcontext()

        def run(self) -> Any:
            os.rmdir(tmp_path / "gone")
            return SimpleNamespace(exit_code=3)

    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    monkeypatch.setattr(dynamic, "Run", DeletingRun)
    code, findings = dynamic.watch(Job(script="x.py"))
    assert (code, findings) == (3, [])
