"""The fork server: what a worker sees, how it ends, and that nothing is left when any of the processes dies."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pty
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from support import alive

from tf1sessions import errors
from tf1sessions.pools import cold_starts, job_processes, user_servers
from tf1sessions.pools.cold_starts import cold_start_reasons
from tf1sessions.pools.fork_server import WorkerHandle, WorkerResult, WorkerServer, WorkerSpec
from tf1sessions.pools.job_processes import MARK

pytestmark = [
    pytest.mark.timeout(120),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at processes through /proc"),
]

HERE = str(Path(__file__).parent)
PRELOAD = ["worker_targets:preload"]


def environment(**changes: str) -> dict[str, str]:
    """This process's environment without settings of the interpreter, and with this folder to import from."""
    paths = [HERE, os.environ.get("PYTHONPATH", "")]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return kept | {"PYTHONPATH": os.pathsep.join(filter(None, paths))} | changes


def until(condition: Callable[[], Any], secs: float = 60.0) -> Any:
    """Poll until the condition holds, and return what it gave."""
    deadline = time.monotonic() + secs
    while not (value := condition()):
        assert time.monotonic() < deadline, f"did not become true in {secs} s"
        time.sleep(0.01)
    return value


@dataclass
class Run:
    """A worker, with files as its stdout and stderr."""

    handle: WorkerHandle
    folder: Path

    def wait(self) -> WorkerResult:
        result = self.handle.wait(60)
        assert result is not None
        return result

    @property
    def out(self) -> str:
        return (self.folder / "out").read_bytes().decode()

    @property
    def err(self) -> str:
        return (self.folder / "err").read_bytes().decode()

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()


class Runner:
    def __init__(self, server: WorkerServer, folder: Path) -> None:
        self.server, self.folder = server, folder

    def spawn(
        self,
        source: str = "",
        *,
        target: str = "worker_targets:execute",
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        stdin: int | None = None,
        **payload: Any,
    ) -> Run:
        folder = Path(tempfile.mkdtemp(prefix="job-", dir=self.folder))
        with open(folder / "out", "wb") as out, open(folder / "err", "wb") as err:
            spec = WorkerSpec(
                name=folder.name,
                target=target,
                payload={"source": source, **payload},
                env=environment() if env is None else env,
                cwd=cwd or str(folder),
                stdin=stdin,
                stdout=out.fileno(),
                stderr=err.fileno(),
            )
            return Run(self.server.spawn(spec), folder)

    def __call__(self, source: str = "", **arguments: Any) -> tuple[WorkerResult, Run]:
        run = self.spawn(source, **arguments)
        return run.wait(), run


@pytest.fixture(scope="module", params=["fork", "spawn", "user"])
def any_server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[WorkerServer]:
    if request.param != "user":
        with WorkerServer(PRELOAD, environment(), method=request.param) as server:
            yield server
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TF1SESSIONS_WARM", "1")
        patch.setenv("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("user")))
        patch.setitem(user_servers.PRELOADS, "test", tuple(PRELOAD))
        with WorkerServer(PRELOAD, environment(), users=True) as server:
            yield server
        (theirs,) = user_servers.running()
        theirs.ask("stop")


@pytest.fixture
def run(any_server: WorkerServer, tmp_path: Path) -> Runner:
    """Runs jobs with both methods."""
    return Runner(any_server, tmp_path)


@pytest.fixture(scope="module")
def fork_server() -> Iterator[WorkerServer]:
    with WorkerServer(PRELOAD, environment(), method="fork") as server:
        yield server


@pytest.fixture
def forked(fork_server: WorkerServer, tmp_path: Path) -> Runner:
    return Runner(fork_server, tmp_path)


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Runner]:
    """A server that the test may kill."""
    with WorkerServer(PRELOAD, environment(), method="fork") as server:
        yield Runner(server, tmp_path)


# ---------------------------------------------------------------------------------------------- how a worker ends


@pytest.mark.parametrize(
    ("source", "returncode", "out", "err"),
    [
        ("pass", 0, "", ""),
        ("code = None", 0, "", ""),
        ("code = 3", 3, "", ""),
        ("import sys; sys.exit()", 0, "", ""),
        ("import sys; sys.exit(4)", 4, "", ""),
        ("import sys; print('one'); sys.exit('no luck')", 1, "one\n", "no luck\n"),
        ("import os; os.write(1, b'two'); os._exit(7)", 7, "two", ""),
        ("import os; print('lost', end=''); os._exit(0)", 0, "", ""),
    ],
)
def test_exit_code(run: Runner, source: str, returncode: int, out: str, err: str) -> None:
    result, job = run(source)
    assert (result.returncode, job.out, job.err) == (returncode, out, err)
    assert result.signal_name is None and result.started and result.leftovers == () and result.start_error == ""
    assert result.seconds > 0 and result.peak_memory_mb > 1


@pytest.mark.parametrize("server", ["", "1"])
@pytest.mark.parametrize("changes", [{}, {"PYTHONHASHSEED": "0"}], ids=["warm", "cold"])
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_exit_codes_where_python_is_to_inspect(tmp_path: Path, method: Any, changes: Any, server: str) -> None:
    env = environment(PYTHONINSPECT="1", **changes)
    with WorkerServer(PRELOAD, environment(PYTHONINSPECT=server), method=method) as made:
        runner = Runner(made, tmp_path)
        for code in (0, 3):
            result, job = runner(f"import os; print(os.environ['PYTHONINSPECT']); code = {code}", env=env)
            assert (result.returncode, job.lines, job.err) == (code, ["1"], "")
            assert "PYTHONINSPECT differs" not in job.handle.cold_reasons


@pytest.mark.parametrize(
    "guard",
    [
        "os.open = os.write = None",
        "def hook(event, args):\n    if event == 'open': raise RuntimeError(event)\nsys.addaudithook(hook)",
    ],
)
def test_what_a_job_forbids_or_replaces_does_not_make_it_fail(run: Runner, guard: str) -> None:
    result, job = run(f"import os, sys\nprint('done')\n{guard}")
    assert (result.returncode, job.out, job.err) == (0, "done\n", "")


def test_an_exception_is_a_traceback_and_exit_code_1(run: Runner) -> None:
    result, job = run("print('before')\n1 / 0")
    assert result.returncode == 1 and result.started
    assert job.out == "before\n"
    assert job.err.startswith("Traceback") and job.err.endswith("ZeroDivisionError: division by zero\n")


@pytest.mark.parametrize("name", ["SIGKILL", "SIGSEGV", "SIGTERM", "SIGUSR1"])
def test_death_by_signal_has_its_name(run: Runner, name: str) -> None:
    result, _ = run("import os; os.kill(os.getpid(), number)", number=int(signal.Signals[name]))
    assert (result.returncode, result.signal_name) == (-signal.Signals[name], name)
    assert result.started


def test_it_ends_as_an_interpreter_ends(run: Runner) -> None:
    result, job = run(
        """
        import atexit, threading, sys
        go = threading.Event()
        atexit.register(lambda: print("atexit"))
        threading.Thread(target=lambda: (go.wait(), print("thread"))).start()
        threading.Thread(target=threading.Event().wait, daemon=True).start()
        sys.stdout.write("no newline, no flush;")
        threading.Timer(0.05, go.set).start()
        """
    )
    assert result.returncode == 0
    assert job.out == "no newline, no flush;thread\natexit\n"


def test_wait_has_a_timeout_and_done_says_so(run: Runner) -> None:
    job = run.spawn("import sys; sys.stdin.read()", stdin=(ends := os.pipe())[0])
    os.close(ends[0])
    assert job.handle.wait(0.01) is None and not job.handle.done()
    os.close(ends[1])
    assert job.wait().returncode == 0
    assert job.handle.done() and job.handle.wait(0) == job.wait()


def test_signals_reach_the_whole_group(run: Runner) -> None:
    job = run.spawn(
        """
        import signal, subprocess
        child = subprocess.Popen(["sleep", "1000"])
        try:
            print(child.pid, flush=True)
            signal.pause()
        except KeyboardInterrupt:
            print("interrupted", child.wait())
        """
    )
    until(lambda: job.lines)
    job.handle.signal(signal.SIGINT)
    assert job.wait().returncode == 0
    assert job.lines[1:] == ["interrupted -2"]
    job.handle.signal(signal.SIGINT)  # it has ended: nothing happens
    job.handle.kill()


IN_ITS_END = """
import atexit, os, signal, time
def wait():
    print("ending", flush=True)
    while not os.path.exists("go"): time.sleep(0.01)
"""


@pytest.mark.parametrize("cold", [False, True])
def test_a_signal_in_the_interpreters_end_changes_no_exit_code(run: Runner, cold: bool) -> None:
    """What the job had to do, it has done; a signal to one that is still at it counts, whatever its exit code is."""
    env = environment(PYTHONHASHSEED="0") if cold else environment()
    ended = run.spawn(IN_ITS_END + "atexit.register(wait); code = 3", env=env)
    heed = "signal.signal(signal.SIGTERM, lambda *_: print('signalled', flush=True))"
    at_it = run.spawn(f"{IN_ITS_END}{heed}; wait()", env=env)
    until(lambda: ended.lines and at_it.lines)
    for job in (ended, at_it):
        job.handle.signal(signal.SIGTERM)
    until(lambda: "signalled" in at_it.lines)  # as is what was asked before
    for job in (ended, at_it):
        (job.folder / "go").touch()
    assert (ended.wait().returncode, ended.wait().signalled) == (3, False)
    assert (at_it.wait().returncode, at_it.wait().signalled) == (0, True)


def test_a_signal_reaches_processes_that_the_interpreters_end_waits_for(forked: Runner) -> None:
    job = forked.spawn(
        IN_ITS_END
        + """
import multiprocessing
multiprocessing.get_context("fork").Process(target=wait).start()
atexit.register(print, "returned", flush=True)
"""
    )
    until(lambda: len(job.lines) == 2)
    job.handle.signal(signal.SIGTERM)
    assert (job.wait().returncode, job.wait().signalled) == (-signal.SIGTERM, True)


def test_kill_ends_a_worker_in_the_interpreters_end(run: Runner) -> None:
    job = run.spawn(IN_ITS_END + "atexit.register(wait)")
    until(lambda: job.lines)
    job.handle.kill()
    assert (job.wait().returncode, job.wait().signalled) == (-signal.SIGKILL, True)


def test_kill_ends_the_whole_tree(run: Runner) -> None:
    job = run.spawn(
        """
        import signal, subprocess, os
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        child = subprocess.Popen(["sleep", "1000"], start_new_session=True)
        print(os.getpid(), child.pid, flush=True)
        signal.pause()
        """
    )
    pids = [int(word) for word in until(lambda: job.lines)[0].split()]
    assert pids[0] == job.handle.pid
    job.handle.kill()
    result = job.wait()
    assert (result.returncode, result.signal_name) == (-9, "SIGKILL")
    assert not any(map(alive, pids))


# ------------------------------------------------------------------------------------------------ what a worker sees


def test_environment_and_folder_are_exactly_those_given(run: Runner, tmp_path: Path) -> None:
    env = environment(ONLY="here", EMPTY="", BYTES="\udcff", TZ="Asia/Tokyo")
    del env["PATH"]
    result, job = run(
        """
        import json, os, subprocess, sys, time
        child = subprocess.run([sys.executable, "-c", "import os, json; print(json.dumps(dict(os.environ)))"],
                               stdout=subprocess.PIPE, check=True)
        print(json.dumps([dict(os.environ), json.loads(child.stdout), os.getcwd(), time.timezone]))
        """,
        env=env,
        cwd=str(tmp_path),
    )
    assert result.returncode == 0, job.err
    seen, child, cwd, timezone = json.loads(job.out)
    assert seen.pop(MARK) == child.pop(MARK)
    assert seen == child == env
    assert (cwd, timezone) == (str(tmp_path), -9 * 3600)


def test_streams_are_binary_exact_and_nothing_else_is_open(run: Runner) -> None:
    other = run.spawn("import sys; sys.stdin.read()", stdin=(ends := os.pipe())[0])  # its descriptors must not leak
    result, job = run(
        """
        import os, sys
        sys.stdout.buffer.write(bytes(range(256)))
        sys.stdout.flush()
        os.write(2, b"\\xff\\x00")
        fds = [fd for fd in os.listdir("/proc/self/fd") if os.path.exists("/proc/self/fd/" + fd)]
        print(*sorted(fds), file=sys.stderr)
        """
    )
    for end in ends:
        os.close(end)
    assert other.wait().returncode == result.returncode == 0
    assert (job.folder / "out").read_bytes() == bytes(range(256))
    assert (job.folder / "err").read_bytes() == b"\xff\x000 1 2\n"


def test_streams_of_a_fork_are_those_of_a_fresh_interpreter(forked: Runner) -> None:
    source = """
        import sys
        names = "encoding errors line_buffering mode name newlines write_through".split()
        for stream in (sys.stdin, sys.stdout, sys.stderr):
            print([getattr(stream, name) for name in names], type(stream.buffer), type(stream.buffer.raw))
            print(stream.buffer.name, stream.buffer.mode, stream.closed, stream.seekable(), stream.isatty())
        print(sys.stdin is sys.__stdin__, sys.stdout is sys.__stdout__, sys.stderr is sys.__stderr__)
    """
    warm, cold = (forked(source, env=environment(**env)) for env in ({}, {"PYTHONHASHSEED": "1"}))
    assert (warm[0].returncode, cold[0].returncode) == (0, 0), warm[1].err + cold[1].err
    assert (warm[1].handle.cold_reasons != (), cold[1].handle.cold_reasons != ()) == (False, True)
    assert warm[1].out == cold[1].out


def test_stdin_is_at_its_end_when_there_is_none(run: Runner) -> None:
    result, job = run("import sys; print(repr(sys.stdin.read())); input()")
    assert result.returncode == 1 and job.out == "''\n" and "EOFError" in job.err


def test_stdin_is_read_by_lines_and_to_its_end(run: Runner) -> None:
    reading, writing = os.pipe()
    job = run.spawn("import sys; print(input(), sys.stdin.readlines(), sys.stdin.buffer.read())", stdin=reading)
    os.close(reading)
    with open(writing, "wb") as pipe:
        pipe.write(b"first\r\nsecond\nthird")
    assert job.wait().returncode == 0
    assert job.out == "first\r ['second\\n', 'third'] b''\n"


def test_a_reader_of_the_output_sees_its_end(run: Runner, tmp_path: Path) -> None:
    reading, writing = os.pipe()
    payload = {"source": "print('x' * 300_000)"}
    spec = WorkerSpec("pipe", "worker_targets:execute", payload, environment(), HERE, None, writing, writing)
    handle = run.server.spawn(spec)
    os.close(writing)
    with open(reading, "rb") as pipe:
        assert pipe.read() == b"x" * 300_000 + b"\n"
    assert handle.wait(60) is not None


def test_the_server_keeps_no_copy_of_the_streams_of_a_job_that_runs(forked: Runner) -> None:
    job = forked.spawn("import sys; print('x', flush=True); sys.stdin.read()", stdin=(ends := os.pipe())[0])
    until(lambda: job.lines)
    assert str(job.folder) == os.path.realpath(job.folder)
    streams = {str(job.folder / "out"), str(job.folder / "err")}

    def held() -> set[str]:
        return {os.path.realpath(path) for path in Path(f"/proc/{forked.server.pid}/fd").iterdir()}

    until(lambda: not streams & held())  # the job may be quicker than the server's next lines
    for end in ends:
        os.close(end)
    assert job.wait().returncode == 0


def test_a_terminal_is_written_by_lines(run: Runner) -> None:
    ours, theirs = pty.openpty()
    source = "import sys; print(sys.stdin.isatty(), sys.stdout.isatty(), sys.stdout.line_buffering); sys.stdin.read(1)"
    spec = WorkerSpec("tty", "worker_targets:execute", {"source": source}, environment(), HERE, theirs, theirs, theirs)
    handle = run.server.spawn(spec)
    os.close(theirs)
    line = b""
    while not line.endswith(b"\n"):  # it comes although the job still waits for its input
        line += os.read(ours, 100)
    assert line == b"True True True\r\n"
    os.write(ours, b"\n")
    result = handle.wait(60)
    assert result is not None and result.returncode == 0
    os.close(ours)


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_unbuffered_output(tmp_path: Path, unbuffered: str) -> None:
    env = environment(PYTHONUNBUFFERED=unbuffered)
    with WorkerServer(PRELOAD, env, method="fork") as server:
        job = Runner(server, tmp_path).spawn("import os; print('kept', end=''); os._exit(0)", env=env)
        assert job.wait().returncode == 0 and job.handle.cold_reasons == ()
        assert job.out == ("kept" if unbuffered else "")


def test_fork_and_multiprocessing_in_a_worker(run: Runner) -> None:
    result, job = run(
        """
        import os, multiprocessing, sys
        if (pid := os.fork()) == 0:
            print("child", flush=True)
            os._exit(5)
        print("parent", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        with multiprocessing.get_context("fork").Pool(2) as pool:
            print(pool.map(abs, [-1, 2]))
        sys.stdout.flush()
        """
    )
    assert result.returncode == 0, job.err
    assert job.lines == ["child", "parent 5", "[1, 2]"]
    assert result.leftovers == ()


def test_random_states_differ(forked: Runner) -> None:
    source = "import random, tempfile, multiprocessing as m; print(random.random(), bytes(m.current_process().authkey))"
    jobs = [forked.spawn(source) for _ in range(2)]
    assert all(job.wait().returncode == 0 for job in jobs)
    first, second = (job.out.split(maxsplit=1) for job in jobs)
    assert first[0] != second[0]


def test_the_temporary_folder_is_the_jobs(forked: Runner, tmp_path: Path) -> None:
    result, job = forked("import tempfile; print(tempfile.gettempdir())", env=environment(TMPDIR=str(tmp_path)))
    assert result.returncode == 0 and job.handle.cold_reasons == ()
    assert job.lines == [str(tmp_path)]


def test_the_callers_folder_hides_nothing(tmp_path: Path, run_python: Callable[..., Any]) -> None:
    for name in ("json", "socket", "tempfile", "tf1sessions", "selectors"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('imported from the working directory')")
    done = run_python(
        """
        from tf1sessions.pools.fork_server import *
        import os, sys
        os.chdir(sys.argv[1])
        for method in ("fork", "spawn"):
            with WorkerServer(["worker_targets:preload"], method=method) as server:
                source = "import sys; code = 9 if {'', cwd} & set(sys.path) else 0"
                payload = {"source": source, "cwd": os.getcwd()}
                spec = WorkerSpec("a", "worker_targets:execute", payload, dict(os.environ), os.getcwd(), None, 1, 2)
                report(**{method: server.spawn(spec).wait(60).returncode})
        """,
        str(tmp_path),
        env=environment(),
    )
    assert done.results == {"fork": 0, "spawn": 0}, done.stderr


def test_an_unguarded_main_module_is_executed_once(tmp_path: Path, run_python: Callable[..., Any]) -> None:
    done = run_python(
        """
        import os, sys
        print("main module", flush=True)
        from tf1sessions.pools.fork_server import *
        for method in ("fork", "spawn"):
            with WorkerServer(["worker_targets:preload"], method=method) as server:
                for env in (os.environ, os.environ | {"PYTHONHASHSEED": "1"}):
                    source = "print('job', flush=True)"
                    spec = WorkerSpec("a", "worker_targets:execute", {"source": source}, env, os.getcwd(), None, 1, 2)
                    assert server.spawn(spec).wait(60).returncode == 0
        """,
        env=environment(),
    )
    assert done.stdout.splitlines() == ["main module"] + 4 * ["job"]


# ---------------------------------------------------------------------------------------------------- warm or cold


@pytest.mark.parametrize(
    ("server", "job", "reasons"),
    [
        ({}, {}, ()),
        ({"A": "1"}, {"A": "2", "B": "3"}, ()),
        ({}, {"PYTHONHASHSEED": "0"}, ("PYTHONHASHSEED differs",)),
        ({"PYTHONPATH": "/a"}, {}, ("PYTHONPATH differs",)),
        ({"PYTHONPATH": "/a"}, {"PYTHONPATH": "/a"}, ()),
        ({"HOME": "/a"}, {"LD_PRELOAD": "x"}, ("HOME differs", "LD_PRELOAD differs")),
        ({"TF_ENABLE_ONEDNN_OPTS": "0"}, {"TF_ENABLE_ONEDNN_OPTS": "1"}, ("TF_ENABLE_ONEDNN_OPTS differs",)),
        ({"OMP_NUM_THREADS": "1"}, {"OMP_NUM_THREADS": "2"}, ("OMP_NUM_THREADS differs",)),
        ({"TF_USE_LEGACY_KERAS": "1"}, {}, ("TF_USE_LEGACY_KERAS differs",)),
        ({"LANG": "C"}, {"LANG": "C.UTF-8"}, ("LANG differs",)),
        # Near misses: read when a session is made, or by every process anew.
        ({}, {"CUDA_VISIBLE_DEVICES": "", "TF_FORCE_GPU_ALLOW_GROWTH": "true", "TZ": "UTC", "PATH": "/bin"}, ()),
        ({MARK: "a"}, {MARK: "b"}, ()),
        ({}, {"MY_PYTHONHASHSEED": "0", "LDFLAGS": "-s", "python_x": "1"}, ()),
    ],
)
def test_cold_start_reasons_of_the_environment(
    server: dict[str, str], job: dict[str, str], reasons: tuple[str, ...]
) -> None:
    assert cold_start_reasons(server, job, (), None) == reasons


def test_cold_start_reasons_of_the_scripts_folder(tmp_path: Path) -> None:
    preloaded = {"numpy", "six", "scipy", "wrapt", "absl", "h5py"}
    assert cold_start_reasons({}, {}, preloaded, str(tmp_path / "missing")) == ()
    for near_miss in ("numpy.txt", "numpy2.py", "my.numpy.py", "six.py.bak", "other.py"):
        (tmp_path / near_miss).touch()
    (tmp_path / "scipy").mkdir()  # a folder without __init__.py does not come before a module further on
    (tmp_path / "absl.py").mkdir()
    (tmp_path / "wrapt").symlink_to("nowhere")
    assert cold_start_reasons({}, {}, preloaded, str(tmp_path)) == ()
    (tmp_path / "h5py").mkdir()
    for hides in ("numpy.py", "h5py/__init__.py", "wrapt.cpython-311-x86_64-linux-gnu.so"):
        (tmp_path / hides).touch()
    names = ["h5py", "numpy.py", "wrapt.cpython-311-x86_64-linux-gnu.so"]
    reasons = tuple(f"{tmp_path / name} hides a preloaded module" for name in names)
    assert cold_start_reasons({}, {}, preloaded, str(tmp_path)) == reasons
    assert cold_start_reasons({}, {}, (), str(tmp_path)) == ()


def test_a_hash_seed_makes_a_cold_worker(forked: Runner) -> None:
    source, env = "import os; print(os.getppid(), hash('a'))", environment(PYTHONHASHSEED="7")
    warm = forked.spawn(source)
    cold = [forked.spawn(source, env=env) for _ in range(2)]
    assert [job.wait().returncode for job in [warm, *cold]] == [0, 0, 0]
    assert warm.handle.cold_reasons == ()
    assert all(job.handle.cold_reasons == ("PYTHONHASHSEED differs",) for job in cold)
    assert {job.out.split()[0] for job in [warm, *cold]} == {str(forked.server.pid)}
    assert cold[0].out == cold[1].out != warm.out


def test_an_environment_without_a_locale_is_no_reason(tmp_path: Path) -> None:
    env = {name: environment()[name] for name in ("PATH", "PYTHONPATH")}
    with WorkerServer(PRELOAD, env, method="fork") as server:
        result, job = Runner(server, tmp_path)("pass", env=env)
    assert result.returncode == 0 and job.handle.cold_reasons == ()


@pytest.mark.parametrize("cold", [False, True])
def test_a_module_in_the_scripts_folder_comes_first(forked: Runner, tmp_path: Path, cold: bool) -> None:
    source = """
        import sys
        assert path0 not in sys.path
        sys.path.insert(0, path0)
        import colorsys, json
        print(colorsys.__file__, json.__file__)
    """
    folder = tmp_path / "scripts"
    folder.mkdir()
    env = environment(PYTHONHASHSEED="7") if cold else None
    reasons = ("PYTHONHASHSEED differs",) if cold else ()
    result, job = forked(source, path0=str(folder), env=env)
    assert job.handle.cold_reasons == reasons and str(folder) not in job.out
    for name in ("colorsys.py", "json.py"):  # which hide the standard library's from the job only
        (folder / name).touch()
    result, job = forked(source, path0=str(folder), env=env)
    assert result.returncode == 0, job.err
    assert job.out.split() == [str(folder / "colorsys.py"), str(folder / "json.py")]
    assert job.handle.cold_reasons == reasons


def test_another_package_in_the_scripts_folder_takes_a_cold_start(forked: Runner, tmp_path: Path) -> None:
    """What is preloaded, and not of the standard library, is hidden from all, as under plain Python."""
    file = tmp_path / "worker_targets.py"
    file.write_text("def execute(payload): print('theirs')")
    result, job = forked("print('ours')", path0=str(tmp_path))
    assert (result.returncode, job.out) == (0, "theirs\n"), job.err
    assert job.handle.cold_reasons == (f"{file} hides a preloaded module",)


# --------------------------------------------------------------------------------------------------- start failures


def test_a_worker_that_does_not_start_is_tried_twice_and_says_why(run: Runner, tmp_path: Path) -> None:
    result, job = run(target="worker_targets:nothing")
    assert (result.returncode, result.started) == (1, False)
    assert "has no attribute 'nothing'" in result.start_error
    assert job.err == ""


def test_a_worker_that_is_interrupted_before_its_target_is_called_writes_no_traceback(run: Runner) -> None:
    result, job = run(target="interrupted_target:execute")
    assert (result.returncode, job.out, job.err) == (-signal.SIGINT, "", "")
    assert result.start_error in ("", "interrupted\n")


def test_a_working_directory_that_is_not_there(run: Runner, tmp_path: Path) -> None:
    result, _ = run(cwd=str(tmp_path / "gone"))
    assert not result.started and f"{tmp_path / 'gone'}" in result.start_error
    assert result.start_error.startswith("its working directory cannot be entered: ")


def test_a_spawned_worker_is_a_fresh_interpreter_and_its_server_preloads_nothing(tmp_path: Path) -> None:
    failures = tmp_path / "failures"
    env = environment(FAILURES=str(failures), TIMES="100")
    with WorkerServer(["worker_targets:preload_that_fails"], env, method="spawn") as server:
        result, job = Runner(server, tmp_path)("print('ran')")
    assert (result.returncode, job.out, job.handle.cold_reasons) == (0, "ran\n", ('method="spawn"',))
    assert not failures.exists()


@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.parametrize("times", [1, 2])
def test_one_failed_start_is_made_good(tmp_path: Path, method: Any, times: int) -> None:
    failures = tmp_path / "failures"
    env = environment(FAILURES=str(failures), TIMES="0")
    (tmp_path / "flaky_target.py").write_text("from worker_targets import *\npreload_that_fails()\n")
    with WorkerServer((), env, method=method) as server:
        env["TIMES"] = str(times)
        env["PYTHONPATH"] += os.pathsep + str(tmp_path)  # cold: a new interpreter imports the target
        result, job = Runner(server, tmp_path)("print('ran')", target="flaky_target:execute", env=env)
    assert failures.read_text() == 2 * "called\n"
    assert result.started == (times == 1) and job.out == ("ran\n" if times == 1 else "")
    assert ("no battery" in result.start_error) == (times == 2)


def test_a_server_that_cannot_preload(tmp_path: Path) -> None:
    failures = tmp_path / "failures"
    env = environment(FAILURES=str(failures), TIMES="100")
    with WorkerServer(["worker_targets:preload_that_fails"], env, method="fork") as server:
        with pytest.raises(errors.WorkerStartError, match="ended with code 1(.|\n)*no battery"):
            server.wait_ready(60)
        assert failures.read_text() == "called\n"
        with pytest.raises(errors.WorkerStartError, match="no battery"):
            Runner(server, tmp_path).spawn()
        assert failures.read_text() == 3 * "called\n"


def test_not_ready_in_time(tmp_path: Path) -> None:
    with WorkerServer(["time:sleep", "worker_targets:preload"], environment(), method="fork") as server:
        pass  # closed before it was started
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    hold = tmp_path / "hold.py"
    hold.write_text(f"def preload(): open({str(fifo)!r}).read()")
    env = environment(PYTHONPATH=os.pathsep.join([str(tmp_path), environment()["PYTHONPATH"]]))
    with WorkerServer(["hold:preload"], env, method="fork") as server:
        server.start()
        with pytest.raises(errors.WorkerStartError, match="was not ready after 0.01 seconds"):
            server.wait_ready(0.01)
        pid = server.pid
        assert pid is not None and alive(pid)
        caught: list[BaseException] = []

        def spawn() -> None:
            try:
                Runner(server, tmp_path).spawn()
            except BaseException as error:
                caught.append(error)

        thread = threading.Thread(target=spawn)
        thread.start()
    assert not alive(pid)  # close() ends a server that is still preloading
    thread.join(60)
    assert [type(error) for error in caught] == [errors.ClosedError]


def test_an_interpreter_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    for method in ("fork", "spawn"):
        with WorkerServer(PRELOAD, method=method) as server:
            with pytest.raises(errors.WorkerStartError, match="No such file"):
                Runner(server, tmp_path).spawn()


def test_processes_of_a_job_where_there_is_no_proc(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on macOS: the process group is all that can be asked for."""
    monkeypatch.setattr(job_processes, "process_table", dict)
    monkeypatch.setattr(cold_starts, "open", _no_such_file, raising=False)
    assert cold_starts.given_environment() == dict(os.environ)
    process = subprocess.Popen(["sh", "-c", "sleep 1000 & wait"], start_new_session=True)
    found = job_processes.job_processes("mark", process.pid)
    assert list(found) == [-process.pid] and job_processes.job_processes("mark") == {}
    job_processes.signal_processes(found, signal.SIGKILL)
    process.wait()
    until(lambda: not job_processes.job_processes("mark", process.pid))


def _no_such_file(*_: Any) -> Any:
    raise FileNotFoundError


def test_arguments_that_cannot_be(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(errors.UsageError, match="'forkserver'"):
        WorkerServer(PRELOAD, method="forkserver")  # type: ignore[arg-type]
    for preload in ("worker_targets:preload", ["worker_targets"]):
        with pytest.raises(errors.UsageError, match="preload"):
            WorkerServer(preload)
    assert WorkerServer(PRELOAD).method == "fork"
    monkeypatch.delattr(os, "fork")
    assert WorkerServer(PRELOAD).method == "spawn"
    with pytest.raises(errors.UnsupportedEnvironmentError, match='method="spawn"'):
        WorkerServer(PRELOAD, method="fork")


def test_a_payload_that_json_cannot_carry(forked: Runner) -> None:
    with pytest.raises(TypeError, match="not JSON serializable"):
        forked.spawn(value={1, 2})
    assert forked("code = 2")[0].returncode == 2


# ------------------------------------------------------------------------------------------------- nothing is left


DAEMONS = {
    "child": "subprocess.Popen(['sleep', '1000'])",
    "session": "subprocess.Popen(['sleep', '1000'], start_new_session=True)",
    "without environment": "subprocess.Popen(['sleep', '1000'], env={})",
    "ignores SIGTERM": "subprocess.Popen(['sh', '-c', 'trap \"\" TERM; echo $$; while :; do sleep 1; done'])",
    "fork": "fork(lambda: None)",
    "daemon": "fork(os.setsid)",
}


@pytest.mark.parametrize("how", DAEMONS)
def test_what_a_worker_leaves_is_ended_and_named(run: Runner, how: str) -> None:
    check_that_it_is_ended_and_named(run, DAEMONS[how])


def test_an_orphan_that_hides_its_origin_is_ended_and_named(forked: Runner) -> None:
    """Only the server sees it, which adopts orphans."""
    check_that_it_is_ended_and_named(forked, "subprocess.Popen(['sleep', '1000'], env={}, start_new_session=True)")


def test_an_orphan_that_hides_its_origin_is_never_booked_to_another_job(forked: Runner, tmp_path: Path) -> None:
    source = """
        import os, subprocess
        print(subprocess.Popen(['sleep', '1000'], env={}, start_new_session=True).pid, flush=True)
        os._exit(0)
    """
    end = tmp_path / "end"
    other = forked.spawn(f"import os, time\nwhile not os.path.exists({str(end)!r}): time.sleep(0.01)")
    _result, job = forked(source)
    pid = int(job.lines[0])
    end.touch()
    assert other.wait().leftovers == ()  # whose it is, is not known any more
    assert not alive(pid)


def check_that_it_is_ended_and_named(run: Runner, daemon: str) -> None:
    source = f"""
        import os, signal, subprocess
        def fork(first):
            class Process: pid = os.fork()
            if Process.pid == 0:
                first()
                signal.pause()
            return Process
        process = {daemon}
        print(process.pid, flush=True)
        os._exit(0)
    """
    result, job = run(source)
    pid = int(job.lines[0])
    assert result.returncode == 0
    assert [left.split()[0] for left in result.leftovers if left.startswith(f"{pid} ")] == [str(pid)]
    assert not alive(pid)


def test_what_ends_by_itself_is_no_leftover(run: Runner) -> None:
    result, _job = run("import subprocess, os; subprocess.Popen(['sleep', '0.1']); os._exit(0)")
    assert result.leftovers == ()


def test_what_the_preload_started_stays(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    (tmp_path / "helping.py").write_text(
        "import subprocess\n"
        "def preload():\n"
        f"    open({str(pid_file)!r}, 'w').write(str(subprocess.Popen(['sleep', '1000']).pid))\n"
    )
    env = environment(PYTHONPATH=os.pathsep.join([str(tmp_path), environment()["PYTHONPATH"]]))
    with WorkerServer(["helping:preload"], env, method="fork") as server:
        result, _ = Runner(server, tmp_path)("pass", env=env)
        pid = int(pid_file.read_text())
        assert result.leftovers == () and alive(pid)
        os.kill(pid, signal.SIGKILL)


def test_a_job_does_not_end_what_belongs_to_another(forked: Runner) -> None:
    reading, writing = os.pipe()
    other = forked.spawn(
        """
        import subprocess, sys
        child = subprocess.Popen(["sleep", "1000"], start_new_session=True)
        print(child.pid, flush=True)
        sys.stdin.read()
        """,
        stdin=reading,
    )
    os.close(reading)
    pid = int(until(lambda: other.lines)[0])
    result, job = forked(
        """
        import os, signal
        if (pid := os.fork()) == 0:
            os.setsid()
            signal.pause()
        print(pid, flush=True)
        os._exit(0)
        """
    )
    assert [left.split()[0] for left in result.leftovers] == job.lines
    assert alive(pid) and not other.handle.done()
    os.close(writing)
    assert [left.split()[0] for left in other.wait().leftovers] == [str(pid)]


CALLER = """
import fcntl, os, sys, time
from tf1sessions.pools.fork_server import *
server = WorkerServer(["worker_targets:preload"], method=sys.argv[1])
source = '''
import subprocess, os, signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
member = subprocess.Popen(["sleep", "1000"])
child = subprocess.Popen(["sleep", "1000"], start_new_session=True)
print("worker", os.getpid(), "member", member.pid, "child", child.pid, flush=True)
signal.pause()
'''
handles = []
held = os.open(sys.argv[3], os.O_CREAT)
fcntl.flock(held, fcntl.LOCK_EX)
for env in (os.environ, os.environ | {"PYTHONHASHSEED": "0"}):
    spec = WorkerSpec("a", "worker_targets:execute", {"source": source}, env, "/", None, 1, 2, held)
    handles.append(server.spawn(spec))
if sys.argv[2] == "with a copy" and os.fork() == 0:
    time.sleep(1000)
print("server", server.pid, flush=True)
handles[0].wait()
"""


@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.parametrize("how", ["alone", "with a copy"])
def test_everything_ends_with_the_caller(method: str, how: str, tmp_path: Path) -> None:
    """Also where a fork of the caller keeps a copy of all of its descriptors."""
    output = tmp_path / "out"
    pids: dict[str, list[int]] = {}
    with open(output, "wb") as out:
        words = [sys.executable, "-c", CALLER, method, how, str(tmp_path / "lock")]
        caller = subprocess.Popen(words, env=environment(), stdout=out, start_new_session=True)
    try:
        until(lambda: len(output.read_text().splitlines()) == 3)
        words = output.read_text().split()
        for kind, pid in zip(words[::2], words[1::2], strict=True):
            pids.setdefault(kind, []).append(int(pid))
        expected = [pid for kind in pids for pid in pids[kind]]
        assert len(expected) == 7 and all(map(alive, expected))
        os.kill(caller.pid, signal.SIGKILL)
        if how == "alone":
            with open(tmp_path / "lock") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)  # waits
            assert not any(alive(pid) for kind in pids for pid in pids[kind] if kind != "server")
        until(lambda: not any(map(alive, expected)))
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(caller.pid, signal.SIGKILL)
        caller.wait()


def test_workers_end_when_the_caller_and_the_server_are_killed(tmp_path: Path) -> None:
    output = tmp_path / "out"
    with open(output, "wb") as out:
        words = [sys.executable, "-c", CALLER, "fork", "alone", str(tmp_path / "lock")]
        caller = subprocess.Popen(words, env=environment(), stdout=out, start_new_session=True)
    until(lambda: len(output.read_text().splitlines()) == 3)
    words = output.read_text().split()
    pids = [(kind, int(pid)) for kind, pid in zip(words[::2], words[1::2], strict=True)]
    caller.send_signal(signal.SIGSTOP)
    for kind in ("server", "caller"):
        for pid in [pid for of, pid in [*pids, ("caller", caller.pid)] if of == kind]:
            os.kill(pid, signal.SIGKILL)
    caller.wait()
    until(lambda: not any(alive(pid) for kind, pid in pids if kind == "worker"))
    for kind, pid in pids:  # nothing is left that could end what the workers had started
        if kind in ("member", "child"):
            os.kill(pid, signal.SIGKILL)


def test_a_killed_server_takes_its_workers_along_and_the_next_spawn_starts_another(own: Runner) -> None:
    jobs = [
        own.spawn(
            """
            import subprocess, os, signal
            child = subprocess.Popen(["sleep", "1000"], start_new_session=True)
            print(os.getpid(), child.pid, flush=True)
            signal.pause()
            """
        )
        for _ in range(2)
    ]
    pids = [int(word) for job in jobs for word in until(lambda job=job: job.lines)[0].split()]
    first = own.server.pid
    assert first is not None
    os.kill(first, signal.SIGKILL)
    for job in jobs:
        with pytest.raises(errors.WorkerDiedError, match=f"'{job.handle.name}'.*killed by SIGKILL") as caught:
            job.handle.wait(60)
        assert caught.value.signal_name == "SIGKILL"
        assert job.handle.done()
        job.handle.kill()  # nothing happens
    until(lambda: not any(map(alive, pids)))
    assert own("code = 5")[0].returncode == 5
    assert own.server.pid != first


def test_a_stopped_server_is_continued_and_that_is_said_once(own: Runner) -> None:
    notes: list[str] = []
    own.server.on_note = notes.append
    for code in (3, 4):
        result, _ = own(f"import os, signal; os.kill(os.getppid(), signal.SIGSTOP); code = {code}")
        assert result.returncode == code
    assert notes == [f"the fork server (pid {own.server.pid}) was stopped by SIGSTOP, and is continued"]


def test_a_stopped_server_ends_with_its_caller(tmp_path: Path) -> None:
    """The caller is stopped first, so that it cannot continue the server before it is killed."""
    output = tmp_path / "out"
    with open(output, "wb") as out:
        words = [sys.executable, "-c", CALLER, "fork", "alone", str(tmp_path / "lock")]
        caller = subprocess.Popen(words, env=environment(), stdout=out, start_new_session=True)
    until(lambda: len(output.read_text().splitlines()) == 3)
    words = output.read_text().split()
    pids = {int(pid): kind for kind, pid in zip(words[::2], words[1::2], strict=True)}
    server = next(pid for pid, kind in pids.items() if kind == "server")
    caller.send_signal(signal.SIGSTOP)
    os.kill(server, signal.SIGSTOP)
    try:
        caller.kill()
        caller.wait()
        until(lambda: not any(map(alive, pids)))
    finally:
        for pid in filter(alive, pids):
            os.kill(pid, signal.SIGKILL)


def test_a_spawn_that_meets_a_server_that_has_just_ended(own: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    own("pass")
    link = own.server._link
    assert link is not None and own.server.pid is not None
    os.kill(own.server.pid, signal.SIGKILL)
    until(lambda: link.ended)
    monkeypatch.setattr(link, "wait_ready", lambda timeout: None)  # as if it had died after that
    with pytest.raises(errors.WorkerStartError, match="killed by SIGKILL"):
        link.spawn(WorkerSpec("late", "worker_targets:execute", {}, {}, HERE, None, 1, 2))


def test_spawns_while_the_server_is_killed_again_and_again(own: Runner) -> None:
    """Each gives a worker, or an error; none hangs."""
    stop = threading.Event()
    ends: list[str] = []

    def work() -> None:
        while not stop.is_set():
            try:
                ends.append(str(own("pass")[0].returncode))
            except (errors.WorkerDiedError, errors.WorkerStartError) as error:
                ends.append(type(error).__name__)
            except BaseException as error:
                ends.append(repr(error))
                raise

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(15):
        seen = len(ends)
        until(lambda seen=seen: len(ends) > seen)
        with contextlib.suppress(ProcessLookupError):
            os.kill(own.server.pid or 0, signal.SIGKILL)
    stop.set()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    assert "0" in ends and set(ends) <= {"0", "WorkerDiedError", "WorkerStartError"}
    assert own("code = 4")[0].returncode == 4


@pytest.mark.parametrize("cold", [False, True])
def test_what_the_server_ignores_a_worker_does_not(own: Runner, cold: bool) -> None:
    """Also what is sent to both: the server lives on, and the worker dies of it."""
    names = ["SIGTERM", "SIGHUP", "SIGUSR1", "SIGQUIT", "SIGALRM", "SIGRTMAX"]
    env = environment(PYTHONHASHSEED="0") if cold else environment()
    first = None
    for name in names:
        result, _ = own(
            f"import os, signal\nfor pid in (os.getppid(), os.getpid()): os.kill(pid, signal.{name})", env=env
        )
        assert result.signal_name in (name, f"signal {getattr(signal, name)}")
        first = first or own.server.pid
    assert own.server.pid == first


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_close_ends_everything_and_may_be_called_again(tmp_path: Path, method: Any) -> None:
    server = WorkerServer(PRELOAD, environment(), method=method)
    runner = Runner(server, tmp_path)
    polite = runner.spawn("import signal; print('x', flush=True); signal.pause()")
    stubborn = runner.spawn(
        """
        import signal, time
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        print('x', flush=True)
        while True: time.sleep(1)
        """
    )
    until(lambda: polite.lines and stubborn.lines)
    pids = [polite.handle.pid, stubborn.handle.pid, server.pid or 0]
    threads = [threading.Thread(target=server.close) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    server.close()
    assert not any(map(alive, pids))
    assert (polite.wait().signal_name, stubborn.wait().signal_name) == ("SIGTERM", "SIGKILL")
    with pytest.raises(errors.ClosedError):
        runner.spawn()


def test_fifty_workers_leave_no_descriptor_process_or_thread(run: Runner) -> None:
    def state() -> tuple[int, int, int]:
        ours, theirs = (len(os.listdir(f"/proc/{pid or 'self'}/fd")) for pid in (None, run.server.pid))
        return ours, theirs, threading.active_count()

    run("pass")
    before = state()
    cold = environment(PYTHONHASHSEED="0")
    for number in range(50):
        env, target = cold if number % 10 == 0 else None, "execute" if number % 20 else "nothing"
        result, _ = run("pass", env=env, target=f"worker_targets:{target}")
        assert result.started == (target == "execute")
    until(lambda: state() == before)


def test_workers_from_many_threads(run: Runner) -> None:
    failed: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for code in range(4):
                result, job = run("print(number)", number=number, code=code + number)
                assert (result.returncode, job.out) == (code + number, f"{number}\n")
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert failed == [] and not any(thread.is_alive() for thread in threads)


def test_a_request_of_many_megabytes(forked: Runner) -> None:
    result, job = forked("print(len(text))", text="x" * 5_000_000)
    assert result.returncode == 0 and job.out == "5000000\n"


# ---------------------------------------------------------------------------------------------------- TensorFlow


@pytest.mark.slow
def test_two_warm_workers_run_tensorflow_at_once_with_random_numbers_of_their_own(tmp_path: Path) -> None:
    source = """
        import random, sys, numpy, tensorflow.compat.v1 as tf
        with tf.Graph().as_default(), tf.Session() as session:
            drawn = session.run(tf.random.uniform([2]))
        print(*drawn, random.random(), numpy.random.rand(), numpy.random.default_rng().random())
        print("ready", flush=True)
        sys.stdin.read()
    """
    env = environment(TF_CPP_MIN_LOG_LEVEL="2")
    reading, writing = os.pipe()
    with WorkerServer(["worker_targets:preload_tensorflow"], env) as server:
        server.wait_ready(110)
        jobs = [Runner(server, tmp_path).spawn(source, env=env, stdin=reading) for _ in range(2)]
        until(lambda: all(job.lines[-1:] == ["ready"] for job in jobs))  # both are still running
        for end in (reading, writing):
            os.close(end)
        results = [job.wait() for job in jobs]
    assert [(result.returncode, result.leftovers) for result in results] == [(0, ()), (0, ())]
    assert all(job.handle.cold_reasons == () for job in jobs)
    numbers = [number for job in jobs for number in job.lines[0].split()]
    assert len(set(numbers)) == len(numbers) == 10
