"""recorder.py: what it keeps of a program's sessions, how it ends, and that old machines can run it."""

from __future__ import annotations

import ast
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import wait_for

from tf1sessions.porting import recorder, traces

PROGRAM = "recorder_checks.py"
RECORDER = Path(recorder.__file__)


def test_sessions(check: str, findings: dict[str, str | None]) -> None:
    assert findings[check] is None, findings[check]


# ---------------------------------------------------------------------------------------------- on the old machine


def test_is_written_for_python_2_too() -> None:
    """What Python 2.7 and 3.5 lack, and numpy and TensorFlow are all that it imports."""
    tree = ast.parse(RECORDER.read_text("utf-8"))
    newer = (ast.JoinedStr, ast.AnnAssign, ast.AsyncFunctionDef, ast.Await, ast.NamedExpr, ast.Nonlocal)
    newer += (ast.YieldFrom, ast.MatMult)
    assert [node.lineno for node in ast.walk(tree) if isinstance(node, newer)] == []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            arguments = [*node.args.args, *node.args.kwonlyargs]
            assert not node.args.kwonlyargs and not node.args.posonlyargs
            assert not any(argument.annotation for argument in arguments) and not getattr(node, "returns", None)
        assert not (isinstance(node, ast.Raise) and node.cause)
        if isinstance(node, ast.ClassDef):
            assert node.bases, "a class of the old kind"
        if isinstance(node, ast.Call):
            stars = [isinstance(each, ast.Starred) for each in node.args] + [not each.arg for each in node.keywords]
            assert sum(stars) <= 2 and stars == sorted(stars), ast.unparse(node)
        if isinstance(node, ast.List | ast.Tuple | ast.Set):
            assert not any(isinstance(each, ast.Starred) for each in node.elts)
    assert "from __future__ import print_function" in RECORDER.read_text("utf-8")
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    assert imported - sys.stdlib_module_names == {"numpy"}
    assert RECORDER.read_text("utf-8").isascii()  # Python 2 would ask for an encoding


# ---------------------------------------------------------------------------------------- how a recording ends

# A package that has of TensorFlow what the recorder looks at: its processes start at once.
STAND_IN = """
import types

VERSION = "1.15.0"


class Operation:
    type, inputs, outputs, control_inputs = "Const", (), (), ()

    def __init__(self, name):
        self.name = name

    def get_attr(self, name):
        raise ValueError(name)

    def _get_control_flow_context(self):
        return None


class Tensor:
    def __init__(self, name):
        self.name, self.op = name, Operation(name.partition(":")[0])
        self.dtype = types.SimpleNamespace(name="float32", _is_ref_dtype=False)
        self.dtype.base_dtype = self.dtype


class Graph:
    version, seed = 1, None

    def get_collection(self, name):
        return []

    def get_operations(self):
        return []

    def as_graph_element(self, name):
        return Tensor(name)

    def as_graph_def(self):
        library = types.SimpleNamespace(function=[])
        return types.SimpleNamespace(node=[], library=library, SerializeToString=lambda: b"graph")


class BaseSession:
    def __init__(self):
        self.graph, self._closed = Graph(), False

    def _do_run(self, handle, targets, fetches, feeds, options, run_metadata):
        return [float(len(feeds))] * len(fetches)

    def run(self, name, feeds=()):
        return self._do_run(None, [], [Tensor(name)], {Tensor(feed): 1.0 for feed in feeds}, None, None)[0]

    def make_callable(self, fetches, feed_list=None, accept_options=False):
        return lambda: self.run(fetches)

    def close(self):
        self._closed = True
"""


@pytest.fixture
def record(tmp_path: Path) -> Any:
    """Returns ``record(script, *options) -> CompletedProcess``, with the stand-in."""
    home = tmp_path / "home" / "tensorflow"
    for folder in (home, home / "python", home / "python" / "client", home / "python" / "framework"):
        folder.mkdir(parents=True)
        (folder / "__init__.py").touch()
    (home / "__init__.py").write_text("__version__ = '1.15.0'\n")
    (home / "python" / "framework" / "versions.py").write_text("VERSION = '1.15.0'\n")
    (home / "python" / "client" / "session.py").write_text(STAND_IN)
    (tmp_path / "scripts").mkdir()
    return Recording(tmp_path)


class Recording:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.script = folder / "scripts" / "script.py"
        self.out = folder / "trace.npz"

    def command(self, text: str | None, *words: str) -> dict[str, Any]:
        if text is not None:
            self.script.write_text("from tensorflow.python.client.session import BaseSession\n" + text)
        return {
            "args": [sys.executable, str(RECORDER), *(words or ("scripts/script.py",))],
            "cwd": self.folder,
            "env": {**os.environ, "PYTHONPATH": str(self.folder / "home")},
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
            "text": True,
        }

    def __call__(self, text: str | None, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(**self.command(text, *words), timeout=60, check=False)

    def trace(self) -> traces.Trace:
        left = sorted(path.name for path in self.folder.iterdir())
        assert left == ["home", "scripts", "trace.npz"], left
        return traces.read(self.out)


RUN = "sess = BaseSession()\nprint(sess.run('a:0'))\n"


def test_a_script_runs_as_python_would_run_it(record: Any) -> None:
    (record.folder / "scripts" / "beside.py").write_text("word = 'found'\n")
    text = (
        RUN + "import sys, os, beside\nprint(__name__, __file__, sys.argv, beside.word, sys.modules['__main__'].RUN)\n"
    )
    done = record("RUN = 3\n" + text, "--every", "2", "scripts/script.py", "--", "--out", "x", "-v")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "0.0\n__main__ scripts/script.py ['scripts/script.py', '--out', 'x', '-v'] found 3\n"
    assert done.stderr == "recorder: 1 calls in trace.npz, 0.0 MB\n"
    with record.trace() as trace:
        assert trace.program == {"script": "script.py", "arguments": ["--out", "x", "-v"]}
        assert trace.ended == {"how": "done", "code": 0} and trace.options["every"] == 2
        assert trace.versions["tensorflow"] == "1.15.0" and trace.versions["numpy"] == np.__version__
        assert [step.fetches["a:0"] for step in traces.steps(trace)] == [0.0]


@pytest.mark.parametrize(
    ("end", "code", "how", "stderr"),
    [
        ("raise ValueError('of the script')", 1, "exception", "ValueError: of the script"),
        ("import sys; sys.exit(3)", 3, "exit", "did not end well (exit)"),
        ("import sys; sys.exit('no data')", 1, "exit", "no data"),
        ("import sys; sys.exit()", 0, "exit", ""),
        ("import sys; sys.excepthook = None; raise ValueError('of the script')", 1, "exception", "of the script"),
        ("class End(SystemExit): code = property(lambda self: 1 / 0)\nraise End('no data')", 1, "exit", "no data"),
        ("import numpy; numpy.save = numpy.savez = None", 0, "done", ""),
        ("raise KeyboardInterrupt", 130, "interrupted", "KeyboardInterrupt"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGTERM); import time; time.sleep(60)", 143, "terminated", ""),
        ("import os, signal; os.kill(os.getpid(), signal.SIGHUP); import time; time.sleep(60)", 129, "terminated", ""),
    ],
    ids=["exception", "exit-3", "exit-text", "exit", "hook", "code", "numpy", "interrupt", "sigterm", "sighup"],
)
def test_the_trace_is_whole_however_the_script_ends(record: Any, end: str, code: int, how: str, stderr: str) -> None:
    done = record(RUN + end)
    assert done.returncode == code and stderr in done.stderr, done.stderr
    assert "recorder.py" not in done.stderr  # no frame of ours
    with record.trace() as trace:
        assert trace.count == 1 and (trace.ended["how"], trace.ended["code"]) == (how, code)
        assert trace.ended.get("message", "") in ("", "ValueError: of the script", "no data")


def test_the_code_of_a_script_is_there_as_long_as_its_operations(record: Any) -> None:
    """Tracebacks of operations point to it: TensorFlow 2.21 ended the process where the recorder asked for one."""
    text = (
        "import sys, weakref\n"
        "from tensorflow.python.client.session import Graph\n"
        "code = weakref.ref(sys._getframe().f_code)\n"
        "Graph.get_operations = lambda graph: print('freed' if code() is None else 'there') or []\n"
    )
    done = record(RUN + text)
    assert done.returncode == 0 and set(done.stdout.split()) == {"0.0", "there"}, (done.stdout, done.stderr)


def test_ctrl_c_in_the_midst_of_a_run(record: Any) -> None:
    text = RUN + "open('ready', 'w').close()\nwhile True:\n    sess.run('a:0')\n"
    with subprocess.Popen(**record.command(text)) as process:
        wait_for((record.folder / "ready").exists, "the script")
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=60)
    (record.folder / "ready").unlink()
    assert process.returncode == 130 and "KeyboardInterrupt" in stderr
    with record.trace() as trace:
        assert trace.count >= 1 and trace.ended["how"] == "interrupted"


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")
def test_a_signal_that_the_program_cannot_hear_ends_it(record: Any) -> None:
    """As it ends a program that is not recorded: Python hears no signal while it waits in a call in C."""
    wait = "import ctypes\nlock, mutex = ctypes.CDLL(None).pthread_mutex_lock, ctypes.create_string_buffer(64)\n"
    wait += "open('ready', 'w').close()\nlock(mutex)\nlock(mutex)\n"  # which no signal interrupts, as it would sleep()
    with subprocess.Popen(**record.command(RUN + wait)) as process:
        wait_for((record.folder / "ready").exists, "the script")
        process.send_signal(signal.SIGTERM)
        stdout, stderr = process.communicate(timeout=40)
    (record.folder / "ready").unlink()
    assert process.returncode == 143 and stdout == "0.0\n" and "(terminated)" in stderr, stderr
    with record.trace() as trace:
        assert trace.count == 1 and trace.ended == {"how": "terminated", "code": 143}


def test_a_signal_of_a_child_is_not_the_programs(record: Any) -> None:
    fork = """import ctypes, os, signal, time
reading, writing = os.pipe()
pid = os.fork()
if not pid:
    os.write(writing, b"ready")
    time.sleep(40)
os.read(reading, 5)
os.kill(pid, signal.SIGTERM)
os.waitpid(pid, 0)
ctypes.CDLL(None).sleep(7)
print("went on")
"""
    done = record(RUN + fork)
    assert (done.returncode, done.stdout) == (0, "0.0\nwent on\n"), done.stderr
    with record.trace() as trace:
        assert trace.ended["how"] == "done"


def test_a_signal_ends_a_child_as_without_the_recorder(record: Any) -> None:
    """Also one that waits in a call in C, as a session does after a fork, where no handler of Python would run."""
    fork = """import ctypes, os, signal
reading, writing = os.pipe()
pid = os.fork()
if not pid:
    lock, mutex = ctypes.CDLL(None).pthread_mutex_lock, ctypes.create_string_buffer(64)
    lock(mutex)
    signal.alarm(20)
    os.write(writing, b"ready")
    lock(mutex)
os.read(reading, 5)
os.kill(pid, signal.SIGTERM)
print(os.waitpid(pid, 0)[1] == signal.SIGTERM)
"""
    done = record(RUN + fork)
    assert (done.returncode, done.stdout) == (0, "0.0\nTrue\n"), done
    with record.trace() as trace:
        assert trace.ended["how"] == "done"


def test_several_signals_at_once_are_one_end(record: Any) -> None:
    """A terminal that is closed sends SIGHUP from its shell and from the kernel, and SIGTERM comes after it."""
    done = record(
        RUN + "import os, signal, time\n"
        "try:\n    os.kill(os.getpid(), signal.SIGHUP)\n    time.sleep(60)\n"
        "finally:\n    os.kill(os.getpid(), signal.SIGTERM)\n    time.sleep(0.01)\n    print('cleaned up')\n"
    )
    assert done.returncode == 129 and done.stdout == "0.0\ncleaned up\n", done.stderr
    with record.trace() as trace:
        assert trace.ended == {"how": "terminated", "code": 129}


def test_the_script_may_close_its_streams(record: Any) -> None:
    done = record(RUN + "import sys; sys.stdout.close(); sys.stderr.close()\n")
    assert (done.returncode, done.stdout, done.stderr) == (0, "0.0\n", "")
    assert record.trace().count == 1


def test_the_script_itself_is_not_replaced_by_force(record: Any) -> None:
    done = record(RUN, "--out", "scripts/../scripts/script.py", "--force", "scripts/script.py")
    assert done.returncode == 2 and "is the script itself" in done.stderr and not done.stdout
    assert record.script.read_text().endswith(RUN)


def test_threads_that_outlast_the_script_are_recorded(record: Any) -> None:
    text = RUN + (
        "import threading\nmain = threading.main_thread()\n"
        "threading.Thread(target=lambda: [sess.run('late:0') for _ in range(3)], name='late').start()\n"
    )
    assert record(text).returncode == 0
    with record.trace() as trace:
        assert [call.thread for call in trace.calls if call.kind.fetches == ("late:0",)] == ["late"] * 3


@pytest.mark.parametrize("before", [RUN, "sess = BaseSession()\n"], ids=["after others", "alone"])
def test_runs_of_functions_of_atexit_are_recorded(record: Any, before: str) -> None:
    text = before + "import atexit\natexit.register(lambda: print(sess.run('late:0', ('x:0',))))\n"
    done = record(text)
    assert done.stdout.endswith("1.0\n") and done.stderr.endswith("calls in trace.npz, 0.0 MB\n"), done
    with record.trace() as trace:
        assert [call.kind.fetches for call in trace.calls][-1:] == [("late:0",)]
        assert trace.ended == {"how": "done", "code": 0}
    assert sorted(path.name for path in record.folder.iterdir()) == ["home", "scripts", "trace.npz"]


def test_a_script_may_run_the_functions_of_atexit_itself(record: Any) -> None:
    text = RUN + "import atexit\natexit.register(print, 'early')\natexit._run_exitfuncs()\nsess.run('later:0')\n"
    done = record(text)
    assert (done.returncode, done.stdout) == (0, "0.0\nearly\n"), done
    with record.trace() as trace:
        assert [call.kind.fetches for call in trace.calls] == [("a:0",), ("later:0",)]
    assert sorted(path.name for path in record.folder.iterdir()) == ["home", "scripts", "trace.npz"]


@pytest.mark.parametrize("own", ["None", "lambda *args, **options: 1 / 0", "lambda *args, **options: ['no', 'file']"])
def test_a_script_may_have_an_open_of_its_own(record: Any, own: str) -> None:
    done = record(f"import builtins\nbuiltins.open = {own}\n" + RUN)
    assert done.returncode == 0, done.stderr
    with record.trace() as trace:
        assert trace.count == 1 and any(trace.sources.values())


def test_a_forked_child_notes_nothing_and_harms_nothing(record: Any) -> None:
    text = RUN + "import os\npid = os.fork()\nsess.run('b:0')\n"
    text += "if pid:\n    print(os.waitpid(pid, 0)[1])\n    sess.run('c:0')\n"
    done = record(text)
    assert done.stdout.splitlines()[-1] == "0", done
    with record.trace() as trace:
        assert [call.kind.fetches for call in trace.calls] == [("a:0",), ("b:0",), ("c:0",)]


FULL = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (3000, resource.RLIM_INFINITY))"
CLOSED = "import os; os.closerange(3, 100); mine = [open('scripts/mine%d' % number, 'w') for number in range(30)]"


@pytest.mark.parametrize(
    ("happens", "why", "own", "code"),
    [(FULL, "File too large", 5, 5), (CLOSED, "has closed the file that the recording goes to", 0, 1)],
    ids=["full", "closed"],
)
def test_the_script_goes_on_when_nothing_can_be_recorded(
    record: Any, happens: str, why: str, own: int, code: int
) -> None:
    """A disk that is full, a program that closes all descriptors: its files stay its own, and its exit code counts.

    That of a script that ends well is 1: whoever recorded it would take the trace for written.
    """
    text = RUN + f"{happens}\nfor number in range(40000):\n    sess.run('a:0', ('b%d:0' % (number % 200),))\n"
    text += f"print('done'); import sys; sys.exit({own})\n"
    done = record(text, "--max-mb", "64", "scripts/script.py")
    assert (done.returncode, done.stdout) == (code, "0.0\ndone\n"), done.stderr
    assert f"{why}; the script goes on." in done.stderr and done.stderr.count(why) == 2, done.stderr
    assert "the trace could not be written to trace.npz" in done.stderr
    assert sorted(path.name for path in record.folder.iterdir()) == ["home", "scripts"]
    assert {path.stat().st_size for path in (record.folder / "scripts").glob("mine*")} <= {0}


def test_nothing_is_left_of_a_recording_that_is_killed(record: Any) -> None:
    left = record.folder / ".trace.npz.earlier.part"
    left.touch()
    done = record(RUN + "import os; os.kill(os.getpid(), 9)")
    assert done.returncode == -9
    assert f"{left} is of a recording that was killed while it was written; it can be deleted." in done.stderr
    assert sorted(path.name for path in record.folder.iterdir()) == [left.name, "home", "scripts"]


def test_a_script_that_runs_no_session_leaves_no_trace(record: Any) -> None:
    done = record("print('nothing')\n")
    assert done.returncode == 1 and "ran no session" in done.stderr and not record.out.exists()
    assert sorted(path.name for path in record.folder.iterdir()) == ["home", "scripts"]


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ((), "name the script"),
        (("nowhere.py",), "there is no such file"),
        (("scripts",), "it is a folder"),
        (("--out", "no/where.npz", "scripts/script.py"), "/no/where.npz: No such file"),
        (("--out", "scripts", "scripts/script.py"), "scripts is a folder"),
        (("--out", "home/there", "scripts/script.py"), "--force replaces it"),
        (("--every", "0", "scripts/script.py"), "0 is below 1"),
        (("scripts/script.py", "--steps", "3"), "come after --"),
        (("scripts/two.py",), "this is Python 3"),
    ],
    ids=["none", "missing", "folder", "unwritable", "out-folder", "there", "every", "arguments", "python-2"],
)
def test_what_cannot_be_recorded_is_reported_before_anything_runs(
    record: Any, words: tuple[str, ...], text: str
) -> None:
    (record.folder / "home" / "there").write_text("precious")
    (record.folder / "scripts" / "two.py").write_text("print 'two'\n")
    done = (
        record("open('ran', 'w')\n", *words)
        if words
        else subprocess.run(**{**record.command(""), "args": [sys.executable, str(RECORDER)]}, timeout=60, check=False)
    )
    assert done.returncode == 2 and text in done.stderr, done.stderr
    assert "Traceback" not in done.stderr
    assert sorted(path.name for path in record.folder.iterdir()) == ["home", "scripts"]
    assert (record.folder / "home" / "there").read_text() == "precious"


def test_a_trace_that_is_there_is_replaced_by_force_and_only_by_a_whole_one(record: Any) -> None:
    record.out.write_text("old")
    assert record("print('nothing')\n", "--force", "scripts/script.py").returncode == 1
    assert record.out.read_text() == "old"
    assert record(RUN, "--force", "scripts/script.py").returncode == 0
    assert record.trace().count == 1


@pytest.mark.parametrize("links", [True, False], ids=["links", "no-links"])
def test_what_comes_to_be_at_out_meanwhile_is_not_replaced(record: Any, links: bool) -> None:
    """The recording is not lost either: it has another name, which is said."""
    without = (
        "" if links else "import os\ndef link(a, b): raise OSError(1, 'Operation not permitted')\nos.link = link\n"
    )
    (record.folder / "trace-1.npz").write_text("theirs, too")
    done = record(without + RUN + "open('trace.npz', 'w').write('theirs')\n")
    assert done.returncode == 1 and done.stdout == "0.0\n", done.stderr
    kept = record.folder / "trace-2.npz"
    assert f"trace.npz came to be while the script ran, and was not replaced: the trace is {kept}." in done.stderr
    assert record.out.read_text() == "theirs" and (record.folder / "trace-1.npz").read_text() == "theirs, too"
    with traces.read(kept) as trace:
        assert trace.count == 1
    names = ["home", "scripts", "trace-1.npz", "trace-2.npz", "trace.npz"]
    assert sorted(path.name for path in record.folder.iterdir()) == names


def test_only_a_file_is_replaced_by_force(record: Any) -> None:
    done = record(RUN + "import os; os.mkdir('trace.npz')\n", "--force", "scripts/script.py")
    assert done.returncode == 1 and "was not replaced" in done.stderr, done.stderr
    with traces.read(record.folder / "trace-1.npz") as trace:
        assert trace.count == 1
    assert (
        record(RUN + "open('other.npz', 'w')\n", "--out", "other.npz", "--force", "scripts/script.py").returncode == 0
    )
    with traces.read(record.folder / "other.npz") as trace:
        assert trace.count == 1


def test_a_pipe_is_not_replaced_by_force(record: Any) -> None:
    os.mkfifo(record.folder / "pipe.npz")
    done = record(RUN, "--out", "pipe.npz", "--force", "scripts/script.py")
    assert done.returncode == 2 and done.stdout == "" and "pipe.npz is a pipe, a socket or a device" in done.stderr
    assert (record.folder / "pipe.npz").is_fifo()


def test_two_recorders_with_one_out(record: Any) -> None:
    """Each has its trace; the second one to end says that its name was taken."""
    waits = RUN + "import os, sys; open(sys.argv[1], 'w'); sys.stdin.readline()\n"
    processes = [
        subprocess.Popen(**record.command(waits, "scripts/script.py", "--", f"ready{each}"), stdin=subprocess.PIPE)
        for each in range(2)
    ]
    try:
        wait_for(lambda: all((record.folder / f"ready{each}").exists() for each in range(2)), "both scripts run")
        ends = [(*process.communicate("\n", timeout=60), process.returncode) for process in processes]
    finally:
        for process in processes:
            process.kill()
            process.wait()
    assert [code for _, _, code in ends] == [0, 1], ends
    assert "was not replaced" in ends[1][1]
    for name in ("trace.npz", "trace-1.npz"):
        with traces.read(record.folder / name) as trace:
            assert trace.count == 1


def test_a_trace_that_is_written_again_replaces_its_own(tmp_path: Path) -> None:
    """As in replays, which write once more when the program's threads have ended."""
    out = tmp_path / "trace.npz"
    out.write_text("theirs")
    spool = recorder._Spool(str(out), False)
    try:
        spool.add("index", np.zeros(1))
        assert [Path(spool.write()).name for _ in range(2)] == ["trace-1.npz", "trace-1.npz"]
    finally:
        spool.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["trace-1.npz", "trace.npz"]


def test_other_tensorflows_are_reported(record: Any) -> None:
    versions = record.folder / "home" / "tensorflow" / "python" / "framework" / "versions.py"
    versions.write_text("VERSION = '0.12.1'\n")
    done = record(RUN)
    assert done.returncode == 2 and "too old" in done.stderr and not done.stdout
    versions.write_text("VERSION = '2.9.1'\n")
    done = record(RUN)
    assert done.returncode == 0 and "this is TensorFlow 2.9.1: only what goes through sessions" in done.stderr
    (record.folder / "home" / "tensorflow" / "__init__.py").write_text("raise ImportError('broken')\n")
    done = record(RUN, "--force", "scripts/script.py")
    assert done.returncode == 2 and "TensorFlow cannot be imported (broken)" in done.stderr


def test_help_and_version_of_the_file_that_python_m_runs(record: Any) -> None:
    done = subprocess.run([sys.executable, "-m", "tf1sessions.porting.recorder", "-h"], capture_output=True, text=True)
    assert done.returncode == 0 and "usage: python recorder.py [options] script.py" in done.stdout
