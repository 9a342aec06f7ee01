"""Programs run by program.execute see what they would see under ``python SCRIPT``, and TensorFlow 1.

One process preloads TensorFlow once and forks for each program, as the server does.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tf1sessions.scripts import importer

RUN_ALL = """
import gc, json, os, sys, time
from tf1sessions.scripts import program
folder, specs = sys.argv[1], json.load(open(sys.argv[2]))
program.preload()
gc.freeze()  # as the server does

def start(name, spec):
    sys.stdout.flush(); sys.stderr.flush()
    out, err = (open(os.path.join(folder, f"{name}.{kind}"), "wb") for kind in ("out", "err"))
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(writer)
        os.dup2(reader, 0); os.dup2(out.fileno(), 1); os.dup2(err.fileno(), 2)
        sys.stdin = open(0, closefd=False)
        sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", 1, closefd=False)
        os.chdir(folder)
        sys.path[:] = [entry for entry in sys.path if entry]
        os.environ["TF1SESSIONS_JOB"] = name
        sys.exit(program.execute(spec["payload"]))
    os.close(reader)
    os.write(writer, spec.get("stdin", "").encode())
    return pid, writer

held = {}
for name, spec in specs.items():
    pid, writer = start(name, spec)
    if spec.get("held"):  # runs until all others are over
        held[name] = pid, writer
        deadline = time.monotonic() + 60
        while b"written" not in open(os.path.join(folder, f"{name}.out"), "rb").read():
            assert time.monotonic() < deadline
            time.sleep(0.01)
        continue
    os.close(writer)
    report(**{name: os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])})
for name, (pid, writer) in held.items():
    os.close(writer)
    report(**{name: os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])})
"""

SCRIPTS = {
    "what_it_sees": """
        import sys, os, json
        import helper
        data = dict(file=__file__, name=__name__, argv=sys.argv, path0=sys.path[0], spec=__spec__ is None,
                    cwd=os.getcwd(), package=__package__, doc=__doc__, cached=__cached__,
                    main=sys.modules["__main__"].__dict__ is globals(), stdin=sys.stdin.read(),
                    helper=helper.VALUE, builtins=__builtins__.__name__,
                    loader=type(__loader__).__name__, names=sorted(globals())[:3],
                    source=__loader__.get_source("__main__")[:8])
        print(json.dumps(data))
    """,
    "exit_text": 'import sys; print("before"); sys.exit("a text")',
    "exit_number": "import sys; sys.exit(300)",
    "exit_minus_one": "import sys; sys.exit(-1)",
    "exit_none": "raise SystemExit",
    "exit_true": "import sys; sys.exit(True)",
    "exit_hard": "import os; print('lost', flush=True); os._exit(7)",
    "exit_hard_at_exit": "import atexit, os; atexit.register(os._exit, 7); print('kept')",
    "exit_hard_after_exit": "import atexit, os; atexit.register(os._exit, 7); print('kept'); raise SystemExit(3)",
    "exit_hard_in_thread": """
        import os, threading
        threading.Thread(target=lambda: (threading.main_thread().join(), print("lost"), os._exit(7))).start()
        print("kept")
    """,
    "at_exit": """
        import atexit, threading, time
        atexit.register(print, "at exit")
        thread = threading.Thread(target=lambda: (threading.main_thread().join(), print("thread")))
        thread.start()
    """,
    "killed": "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
    "interrupted": "import atexit; atexit.register(print, 'at exit'); raise KeyboardInterrupt",
    "syntax": "x = 1\nif x\n    pass\n",
    "python2": "import os\nprint 'hello'\n",
    "python2_name": "def f():\n    return xrange(3)\nf()\n",
    "tabs_and_latin": b"# -*- coding: latin-1 -*-\nprint('\xe9' == chr(233))\n",
    "null_bytes": b"x = 1\x00\n",
    "empty": "",
    "raises": """
        class Failed(Exception):
            pass
        def inner():
            raise ValueError("the cause")
        def outer():
            try:
                inner()
            except ValueError as error:
                raise Failed("the error") from error
        outer()
    """,
    "excepthook": """
        import sys
        sys.excepthook = lambda kind, error, traceback: print("hook", kind.__name__, traceback.tb_lineno)
        1 / 0
    """,
    "tensorflow_error": """
        import tensorflow as tf
        x = tf.placeholder(tf.float32, [2], name="x")
        with tf.Session() as session:
            session.run(tf.identity(x, name="y"))
    """,
    "missing": """
        import tensorflow as tf
        w = tf.Variable(tf.contrib.ffmpeg.decode_audio(b""))
    """,
    "missing_module": "from tensorflow.contrib import no_such_module\n",
    "app_run": """
        import tensorflow as tf
        flags = tf.app.flags
        flags.DEFINE_integer("steps", 3, "How many.")
        FLAGS = flags.FLAGS
        def main(argv):
            print(argv[1:], FLAGS.steps, tf.flags.FLAGS.steps)
            return 4
        if __name__ == "__main__":
            tf.app.run()
    """,
    "flags_without_run": """
        import tensorflow as tf
        tf.app.flags.DEFINE_string("name", "a", "A name.")
        print(tf.app.flags.FLAGS.name)
    """,
    "processes": """
        import multiprocessing, pickle, sys
        import tensorflow as tf
        class Job:
            def __init__(self, number):
                self.number = number
        def work(job):
            graph = tf.Graph()
            with graph.as_default(), tf.Session() as session:
                tf.summary.FileWriter("written by processes").close()
                threads = session._config.intra_op_parallelism_threads
                return job.number * int(session.run(tf.constant(2))), tf.__version__, threads
        if __name__ == "__main__":
            assert pickle.loads(pickle.dumps(Job(3))).number == 3
            tf.summary.FileWriter("written by processes").close()
            for method in sys.argv[1:]:
                with multiprocessing.get_context(method).Pool(1) as pool:
                    print(method, pool.map(work, [Job(1), Job(2)]))
    """,
    # What it defines crosses both ways, and under the name that a child has for the program's main module.
    "sends_back": """
        import dataclasses, enum, multiprocessing, sys
        from concurrent.futures import ProcessPoolExecutor
        class Failed(Exception):
            pass
        class Colour(enum.Enum):
            RED = 1
        @dataclasses.dataclass
        class Point:
            x: int
            class Inner:
                pass
        def work(point):
            if point.x < 0:
                raise Failed(point)
            main = sys.modules["__main__"]
            return Point(point.x + 1), Colour.RED, Point.Inner, work, Failed("a"), main is sys.modules["__mp_main__"]
        def put(queue, point):
            queue.put(work(point))
        def call(function, *args):
            try:
                return function(*args)
            except Failed as error:
                return f"caught {error!r}"
        if __name__ == "__main__":
            for method in sys.argv[1:]:
                context = multiprocessing.get_context(method)
                with context.Pool(1) as pool, ProcessPoolExecutor(1, context) as executor, context.Manager() as manager:
                    expected = Point(2), Colour.RED, Point.Inner, work
                    for one in (pool.apply(work, [Point(1)]), executor.submit(work, Point(1)).result()):
                        assert one[:4] == expected and type(one[4]) is Failed and one[5], one
                    print(method, call(pool.apply, work, [Point(-1)]), call(executor.submit(work, Point(-1)).result))
                    shared = manager.dict(point=Point(7))
                    queue = context.Queue()
                    process = context.Process(target=put, args=(queue, shared["point"]))
                    process.start()
                    print(queue.get()[0], process.join(), process.exitcode)
    """,
    "no_guard": """
        import multiprocessing
        def work(x):
            return x + 1
        print("main runs as", __name__)
        with multiprocessing.get_context("fork").Pool(2) as pool:
            print(pool.map(work, [1, 2]))
    """,
    "sessions": """
        import tensorflow as tf
        options = tf.GPUOptions(per_process_gpu_memory_fraction=0.9)
        config = tf.ConfigProto(gpu_options=options, inter_op_parallelism_threads=5)
        for arguments in ([], [config]):
            with tf.Session(*(["", tf.get_default_graph()] + arguments if arguments else [])) as session:
                used = session._config
                print(used.intra_op_parallelism_threads, used.inter_op_parallelism_threads,
                      round(used.gpu_options.per_process_gpu_memory_fraction, 3), session.run(tf.constant(1)))
        print(config.gpu_options.per_process_gpu_memory_fraction)
        with tf.train.MonitoredTrainingSession() as session:
            print(session._tf_sess()._config.intra_op_parallelism_threads)
        config = tf.ConfigProto(allow_soft_placement=True)
        server = tf.train.Server({"local": ["localhost:0"]}, start=False, config=config)
        used = server.server_def.default_session_config
        print(used.intra_op_parallelism_threads, used.allow_soft_placement)
        print(type(tf.Session.run).__name__, tf.Session.run.__module__)
    """,
    "writes": """
        import os, sys
        import tensorflow as tf
        v = tf.Variable(1.0)
        saver = tf.train.Saver()
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for step in range(2):
                saver.save(session, "shared/model.ckpt", global_step=step)
            tf.summary.FileWriter(logdir="shared").close()
            alone = sys.argv[1]
            os.makedirs(alone)
            saver.save(session, save_path=os.path.join(alone, "model.ckpt"))
        print("written", flush=True)
        sys.stdin.read()
    """,
    "eager": """
        import tensorflow as tf
        tf.enable_eager_execution()
        tf.compat.v1.enable_eager_execution()  # a second call does nothing
        tf.set_random_seed(1)
        print((tf.constant(2) * 3).numpy(), tf.executing_eagerly())
        for row in tf.data.Dataset.from_tensor_slices([1, 2]):
            print(int(row))
    """,
    "eager_in_main": """
        import tensorflow as tf

        def main(_):
            config = tf.ConfigProto()
            config.gpu_options.allow_growth = True
            tf.enable_eager_execution(config=config)
            print(tf.add(1, 2).numpy())

        tf.app.run()
    """,
    "v1_everything": """
        import numpy as np
        import tensorflow as tf
        from tensorflow.python.framework import ops
        iterator = tf.data.Dataset.range(6).batch(3).make_initializable_iterator()
        once = tf.data.Dataset.from_tensor_slices(np.arange(4)).make_one_shot_iterator()
        dataset = tf.data.Dataset.range(3)
        print(dataset.output_types, dataset.output_shapes, dataset.output_classes.__name__)
        x = tf.placeholder(tf.float32, [None, 3])
        y = tf.layers.dense(x, 2, kernel_initializer=tf.ones_initializer(), name="d")
        cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.BasicLSTMCell(4), tf.nn.rnn_cell.GRUCell(3)])
        outputs, state = tf.nn.dynamic_rnn(cell, tf.reshape(x, [-1, 3, 1]), dtype=tf.float32)
        k = tf.keras.layers.Dense(2)(y)
        model = tf.keras.models.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
        model.compile("sgd", "mse")
        with tf.Session() as session:
            session.run([tf.global_variables_initializer(), tf.local_variables_initializer(), iterator.initializer])
            print(session.run(iterator.get_next()), session.run(once.get_next()))
            print(session.run(y, {x: np.ones((1, 3))}), session.run(outputs, {x: np.ones((2, 3))}).shape)
            print(session.run(tf.to_float(3)), x.shape[1].value, y.get_shape().as_list(),
                  [v.name for v in tf.trainable_variables()][:2])
            print([np.float32(1.5)], np.bool_(True))
        tf.logging.set_verbosity(tf.logging.INFO)
        tf.logging.info("logged")
        model.fit(np.ones((4, 3)), np.ones((4, 1)), verbose=0)
        rows = tf.data.Dataset.from_tensors((np.ones((4, 3)), np.ones((4, 1)))).repeat()
        model.fit(rows, steps_per_epoch=2, verbose=1)
        model.save("model.keras")
        loaded = tf.keras.models.load_model("model.keras")
        print(loaded.predict(np.ones((1, 3))).shape, model.predict_classes(np.ones((1, 3))).shape)
    """,
}
NOTEBOOK = [
    "%matplotlib inline\nimport tensorflow as tf\nx = tf.constant(2)",
    "with tf.Session() as s:\n    print(s.run(x))",
    "tf.VERSION",
    "1 / 0",
]


def _payload(folder: Path, name: str, **more: Any) -> dict[str, Any]:
    path = folder / f"{name}.py"
    return {
        "kind": "script",
        "path": str(path),
        "path0": str(folder),
        "argv": [],
        "display": f"{name}.py",
        "settings": {},
    } | more


@pytest.fixture(scope="module")
def ran(
    run_python: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], tuple[int, str, str]]:
    folder = tmp_path_factory.mktemp("programs")
    for name, source in SCRIPTS.items():
        text = source if isinstance(source, bytes) else _dedent(source).encode()
        (folder / f"{name}.py").write_bytes(text)
    (folder / "helper.py").write_text("VALUE = 5\n")
    (folder / "package").mkdir()
    (folder / "package" / "__init__.py").write_text("")
    (folder / "package" / "__main__.py").write_text(
        "import sys\nprint(sys.argv[1:], __package__, __spec__.name)\nsys.exit(3)\n"
    )
    (folder / "package" / "old.py").write_text("x = 1\nprint x\n")
    cells = [{"cell_type": "code", "source": source, "metadata": {}} for source in NOTEBOOK]
    (folder / "book.ipynb").write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}))

    specs = {name: {"payload": _payload(folder, name)} for name in SCRIPTS if name not in ("processes", "writes")}
    specs["what_it_sees"] = {"payload": _payload(folder, "what_it_sees", argv=["-a", "b c"]), "stdin": "some input"}
    specs["app_run"]["payload"]["argv"] = ["--steps=8", "rest"]
    specs["flags_without_run"]["payload"]["argv"] = ["--name=b"]
    of_children = {"claims_dir": str(folder / "claims"), "intra_op_threads": 3}
    methods = ["fork", "spawn", "forkserver"]
    specs["sends_back"]["payload"]["argv"] = methods
    specs["processes"] = {"payload": _payload(folder, "processes", argv=methods, settings=of_children)}
    limits = {"memory_fraction": 0.5, "intra_op_threads": 1, "inter_op_threads": 2}
    specs["sessions"]["payload"]["settings"] = limits
    claims = {"claims_dir": str(folder / "claims")}
    first = {"payload": _payload(folder, "writes", settings=claims, argv=["a"], display="one.py"), "held": True}
    specs = {"first_writer": first} | specs
    specs["second_writer"] = {"payload": _payload(folder, "writes", settings=claims, argv=["b"], display="two.py")}
    specs["no_fast_path"] = {"payload": _payload(folder, "sessions", settings={"fast_path": False})}
    (folder / "package" / "sends_back.py").write_text(_dedent(SCRIPTS["sends_back"]))
    specs["sending_module"] = {
        "payload": _payload(folder, "sends_back", kind="module", path="package.sends_back", argv=["spawn"])
    }
    for name, module in (("module", "package"), ("no_module", "package.nothing"), ("old_module", "package.old")):
        specs[name] = {"payload": _payload(folder, name, kind="module", path=module, display=module, argv=["a"])}
    specs["notebook"] = {
        "payload": _payload(folder, "book", kind="notebook", path=str(folder / "book.ipynb"), display="book.ipynb")
    }
    specs["no_file"] = {"payload": _payload(folder, "no_such_file")}
    (folder / "specs").write_text(json.dumps(specs))
    results = run_python(RUN_ALL, str(folder), str(folder / "specs"), fresh=True, deadline=170).results

    def result(name: str) -> tuple[int, str, str]:
        out, err = ((folder / f"{name}.{kind}").read_text(errors="replace") for kind in ("out", "err"))
        assert "tf1sessions" + os.sep not in err and "<frozen" not in err, err  # our frames are left out
        return results[name], out, err

    return result


def _dedent(text: str) -> str:
    import textwrap

    return textwrap.dedent(text)


def test_script_sees_what_python_gives(ran):
    code, out, _ = ran("what_it_sees")
    seen = json.loads(out)
    folder = os.path.dirname(seen["file"])
    assert code == 0
    assert seen == {
        "file": os.path.join(folder, "what_it_sees.py"), "name": "__main__", "argv": ["what_it_sees.py", "-a", "b c"],
        "path0": folder, "spec": True, "cwd": folder, "package": None, "doc": None, "cached": None, "main": True,
        "stdin": "some input", "helper": 5, "builtins": "builtins", "loader": "SourceFileLoader",
        "names": ["__annotations__", "__builtins__", "__cached__"], "source": "\nimport ",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("exit_text", (1, "before\n", "a text\n")),
        ("exit_number", (300 & 0xFF, "", "")),
        ("exit_minus_one", (255, "", "")),
        ("exit_none", (0, "", "")),
        ("exit_true", (1, "", "")),
        ("exit_hard", (7, "lost\n", "")),
        ("exit_hard_at_exit", (7, "kept\n", "")),
        ("exit_hard_after_exit", (7, "kept\n", "")),
        ("exit_hard_in_thread", (7, "kept\n", "")),
        ("at_exit", (0, "thread\nat exit\n", "")),
        ("killed", (-signal.SIGKILL, "", "")),
        ("empty", (0, "", "")),
        ("tabs_and_latin", (0, "True\n", "")),
    ],
)
def test_ending(ran, name, expected):
    assert ran(name) == expected


def test_interrupt_ends_by_the_signal_after_everything_else(ran):
    code, out, err = ran("interrupted")
    assert (code, out) == (-signal.SIGINT, "at exit\n")
    assert err.startswith("Traceback") and err.endswith("KeyboardInterrupt\n")


@pytest.mark.parametrize("name", ["raises", "syntax", "null_bytes", "no_file"])
def test_error_is_printed_as_python_prints_it(ran, name):
    code, out, err = ran(name)
    folder = next((line for line in err.splitlines() if "programs" in line), "")
    assert (code, out) == (1, ""), folder
    if name == "raises":
        assert err.count("Traceback") == 2 and "the direct cause" in err and "in inner" in err
        assert err.rstrip().endswith("Failed: the error")
        first = next(line for line in err.splitlines() if line.startswith("  File"))
        assert "raises.py" in first
    elif name == "syntax":
        assert 'syntax.py", line 2' in err and "SyntaxError" in err
    elif name == "null_bytes":
        assert "null bytes" in err
    else:
        assert "no_such_file.py" in err and "No such file" in err


def test_the_scripts_own_excepthook_is_called(ran):
    assert ran("excepthook") == (1, "hook ZeroDivisionError 4\n", "")


def test_python_2_is_reported_with_its_line(ran):
    code, out, err = ran("python2")
    assert (code, out) == (1, "")
    assert "python2.py, line 2, is Python 2: the print statement" in err and "2to3" in err and "Traceback" not in err
    code, _, err = ran("python2_name")
    assert code == 1 and "NameError" in err and "xrange is range" in err.splitlines()[-1]
    code, _, err = ran("old_module")
    assert code == 1 and "old.py, line 2, is Python 2" in err


def test_tensorflow_error_names_the_operation_and_the_scripts_line(ran):
    code, _, err = ran("tensorflow_error")
    assert code == 1 and "InvalidArgumentError" in err
    assert "Detected at node 'x' defined at" in err and 'tensorflow_error.py", line 3' in err


def test_missing_names_are_reported_with_line_and_replacement(ran):
    code, _, err = ran("missing")
    assert code == 1 and "missing.py:3" in err and "tf.audio.decode_wav" in err
    last = [line for line in err.splitlines() if line.startswith("  File")][-1]
    assert "missing.py" in last
    code, _, err = ran("missing_module")
    assert code == 1 and "tensorflow.contrib.no_such_module is not available" in err and "missing_module.py:1" in err


def test_app_run_and_flags(ran):
    assert ran("app_run")[:2] == (4, "['rest'] 8 8\n")
    assert ran("flags_without_run")[:2] == (0, "b\n")


def test_modules(ran):
    assert ran("module") == (3, "['a'] package package.__main__\n", "")
    code, out, err = ran("no_module")
    assert (code, out) == (1, "") and "No module named package.nothing" in err


def test_notebook_names_the_cell_that_failed(ran):
    code, out, err = ran("notebook")
    assert (code, out) == (1, "2\n'1.15.5'\n")
    assert 'File "book.ipynb, cell 4", line 1' in err and "ZeroDivisionError" in err


def test_processes_of_the_scripts_own_see_tensorflow_1(ran):
    code, out, err = ran("processes")
    one = "[(2, '1.15.5', 3), (4, '1.15.5', 3)]"
    assert (code, out) == (0, f"fork {one}\nspawn {one}\nforkserver {one}\n"), err
    assert "tf1sessions:" not in err  # processes of one job may write to one folder
    assert ran("no_guard")[:2] == (0, "main runs as __main__\n[2, 3]\n")


@pytest.mark.parametrize(
    ("name", "methods"), [("sends_back", ["fork", "spawn", "forkserver"]), ("sending_module", ["spawn"])]
)
def test_children_send_back_what_the_program_defines(ran, name, methods):
    failed = "caught Failed(Point(x=-1))"
    lines = "".join(f"{method} {failed} {failed}\nPoint(x=8) None 0\n" for method in methods)
    assert ran(name) == (0, lines, "")


def test_sessions_get_the_jobs_share(ran):
    code, out, err = ran("sessions")
    assert code == 0
    lines = out.splitlines()
    assert lines[:3] == ["1 2 0.5 1", "1 5 0.5 1", "0.9"] and lines[3] == "1"
    assert lines[4] == "1 True"
    assert lines[5].endswith("tf1sessions.sessions.session_methods")
    warning = [line for line in err.splitlines() if line.startswith("tf1sessions:")]
    assert len(warning) == 1 and "0.9 is lowered to 0.5" in warning[0]


def test_without_limits_and_fast_path_tensorflow_is_as_it_is(ran):
    code, out, _ = ran("no_fast_path")
    assert code == 0 and out.splitlines()[0] == "0 0 0.0 1"
    assert out.splitlines()[5].endswith("tensorflow.python.client.session")


def test_two_running_jobs_that_write_to_one_folder_are_warned_once_each_folder(ran):
    assert ran("first_writer")[0] == 0
    assert "tf1sessions:" not in ran("first_writer")[2]
    code, _, err = ran("second_writer")
    warnings = [line for line in err.splitlines() if line.startswith("tf1sessions:")]
    assert code == 0 and len(warnings) == 1, err
    assert "two.py" in warnings[0] and "one.py" in warnings[0] and "/shared" in warnings[0]


def test_eager_scripts(ran):
    assert ran("eager")[:2] == (0, "6 True\n1\n2\n")
    assert ran("eager_in_main")[:2] == (0, "3\n")


def test_everyday_tensorflow_1(ran):
    code, out, err = ran("v1_everything")
    assert code == 0, err
    progress = [line for line in out.splitlines() if "2/2" in line or line.startswith("Train")]
    assert progress and "loss:" in progress[-1] and "size:" not in out, progress
    assert [line for line in out.splitlines() if line and line not in progress and "1/2" not in line] == [
        "<dtype: 'int64'> () Tensor", "[0 1 2] 0", "[[3. 3.]] (2, 3, 3)",
        "3.0 3 [None, 2] ['d/kernel:0', 'd/bias:0']", "[1.5] True", "(1, 1) (1, 1)",
    ]  # fmt: skip
    assert "INFO:tensorflow:logged" in err and "UserWarning" not in err


def test_install_in_a_program_started_by_something_else(tmp_path):
    code = (
        "import tf1sessions.scripts; tf1sessions.scripts.install(); import tensorflow as tf; "
        "print(tf.VERSION, tf.placeholder(tf.int32).op.type)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, timeout=120)
    assert done.stdout == "1.15.5 Placeholder\n", done.stderr


LATE = """
import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
import tensorflow as real
three = (real.constant(1) + 2).numpy()
import tf1sessions.scripts
tf1sessions.scripts.install()
tf1sessions.scripts.install()
import tensorflow as tf
with tf.Session() as session:
    four = int(session.run(tf.constant(4)))
report(late=[int(three), real.__version__[0], tf.VERSION, real.executing_eagerly(), four, tf.Session.run.__module__])
"""


def test_install_after_an_import_of_tensorflow_with_keras_2(run_python):
    assert run_python(LATE, fresh=True).results["late"] == [
        3, "2", "1.15.5", False, 4, "tf1sessions.sessions.session_methods",
    ]  # fmt: skip


def test_garbage_is_looked_for_after_an_import_only():
    enabled = []
    loader = types.SimpleNamespace(exec_module=lambda module: enabled.append(gc.isenabled()))
    loading = importer._LoaderWithCallback(loader, lambda module: enabled.append(gc.isenabled()))
    loading.exec_module(types.ModuleType("m"))
    with pytest.raises(ZeroDivisionError):
        importer._LoaderWithCallback(loader, lambda module: 1 // 0).exec_module(types.ModuleType("m"))
    assert enabled == [False, False, False] and gc.isenabled()
