"""Shared by all tests: a TensorFlow-free way to run TensorFlow code, and a check that nothing is left behind.

Most tests that need TensorFlow run their code in a process of its own, through the fixture ``run_python``: a session
in the pytest process would poison every fork that a later test makes, and starting TensorFlow takes seconds, so related
checks share one such process and hand their findings back as JSON.
"""

from __future__ import annotations

import ast
import atexit
import collections
import functools
import gc
import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import textwrap
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from collector import THRESHOLDS, collect_rarely
from rewriting import RUN_CHECKS
from support import PACKAGE, Alive, PythonRun, leftovers, mark_this_session
from warm import warm_address

import tf1sessions
from tf1sessions.sessions.gpus import look
from tf1sessions.sessions.machine import available_memory, usable_cores

__all__ = ["warm_address"]  # for the conftest.py of folders whose programs start in forks

# How long a worker that was asked to end, or a thread that is on its way out, may still be seen after a module's tests.
SETTLE_SECS = 10.0


def pytest_configure(config: pytest.Config) -> None:
    """Gives this session a mark and a temporary folder, so that what it leaves behind can be found.

    In a checkout, the processes that it starts find the package, too. Signals that tests send are heard even where the
    session was started with them ignored, as by ``nohup`` or in the background of a script.
    """
    for name, handler in (
        ("SIGINT", signal.default_int_handler),
        ("SIGHUP", signal.SIG_DFL),
        ("SIGQUIT", signal.SIG_DFL),
    ):
        if hasattr(signal, name) and signal.getsignal(getattr(signal, name)) is signal.SIG_IGN:
            signal.signal(getattr(signal, name), handler)
    mark_this_session()
    _hide_gpus()
    atexit.register(gc.freeze)  # else Python looks through all that TensorFlow made as it ends
    os.environ["TF1SESSIONS_WARM"] = "0"  # no server of the user's comes between a test and what it tests
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", tempfile.gettempdir())  # tmp_path stays where one looks for it
    tempfile.tempdir = os.environ["TMPDIR"] = tempfile.mkdtemp(prefix="t1-")
    config.add_cleanup(functools.partial(shutil.rmtree, tempfile.tempdir, ignore_errors=True))
    installed = {Path(sysconfig.get_path(name)).resolve() for name in ("purelib", "platlib")}
    if PACKAGE.parent not in installed:
        paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
        if str(PACKAGE.parent) not in paths:
            os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(PACKAGE.parent), *paths]))


@pytest.hookimpl(hookwrapper=True)
def pytest_collection() -> Iterator[None]:
    """Looks for no garbage while the modules of all tests are imported, and in what that made not later either.

    It stays as long as the session: looking through it took a third of the time of the imports.
    """
    gc.disable()
    yield
    collect_rarely()
    gc.enable()


def pytest_report_header(config: pytest.Config) -> str:
    return f"tf1sessions {tf1sessions.__version__} from {PACKAGE}"


# ------------------------------------------------------------------------------------------------- several workers

# Bytes that must be free for each worker of pytest-xdist. Arbitrary: mostly it has 1 GB, with its tests' processes.
WORKER_MEMORY = 4e9


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """What ``-n auto`` of setup.cfg means: a worker for each core and one more, four at most, as there is memory for.

    One more, as tests also wait: on two cores that saves a minute of 25. On one core there are none.

    For one file, with ``-s`` or ``--trace`` there are none, and the tests run in this process, as with ``-n 0``.
    """
    files = {Path(config.invocation_params.dir, argument.partition("::")[0]) for argument in config.args}
    one_file = len(files) == 1 and files.pop().is_file()
    if one_file or config.option.capture == "no" or config.option.trace:
        return 0
    memory, cores = available_memory(), usable_cores()
    workers = min(cores + 1, 4, 4 if memory is None else int(memory / WORKER_MEMORY))
    return workers if workers > 1 and cores > 1 else 0


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    if config.option.dist != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class Files(LoadFileScheduling):
        """Gives each worker whole files, and a test that ended its worker to none: it would end the next one, too."""

        def remove_node(self, node: Any) -> str | None:
            files = self.assigned_work.pop(node).items()
            left = [(file, test) for file, tests in files for test, done in tests.items() if not done]
            for file, test in left[1:]:
                self.workqueue.setdefault(file, {})[test] = False
            for other in self.nodes:
                self._reschedule(other)
            return left[0][1] if left else None

        def schedule(self) -> None:
            """Twice, as a worker begins a test when it knows the next: a new one may have got a file's last test."""
            super().schedule()
            super().schedule()

    return Files(config, log)


def _longest_first(items: list[pytest.Item]) -> None:
    """Sorts files by how many slow tests they have: one that begins last keeps its worker busy when others are done."""
    slow = collections.Counter(item.path for item in items if item.get_closest_marker("slow"))
    items.sort(key=lambda item: -slow[item.path])


# ---------------------------------------------------------------------------------------------------------- GPU


# What CUDA_VISIBLE_DEVICES was before the tests, where they hide GPUs; pytest-xdist's workers inherit it.
_GPUS = "TF1SESSIONS_TEST_GPUS"


def _hide_gpus() -> None:
    """Lets only tests with the marker ``gpu`` see the machine's GPUs: the others mean the same on every machine."""
    if _GPUS not in os.environ and look().gpus:
        os.environ[_GPUS] = os.environ.get("CUDA_VISIBLE_DEVICES", "all")
    if _GPUS in os.environ:
        os.environ["CUDA_VISIBLE_DEVICES"] = "-1"


def _show_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    if os.environ[_GPUS] == "all":
        monkeypatch.delenv("CUDA_VISIBLE_DEVICES")
    else:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", os.environ[_GPUS])


@pytest.fixture(autouse=True)
def gpus(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if _GPUS in os.environ and request.node.get_closest_marker("gpu"):
        _show_gpus(monkeypatch)


def _has_gpu() -> bool:
    """Asks TensorFlow in a process of its own, where there is a GPU; only called when a test has the marker ``gpu``."""
    if _GPUS not in os.environ:
        return False
    code = "import tensorflow as tf; print('GPUS', len(tf.config.list_physical_devices('GPU')))"
    with pytest.MonkeyPatch.context() as environment:
        _show_gpus(environment)
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    return done.returncode == 0 and "GPUS 0" not in done.stdout


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if hasattr(config, "workerinput"):
        _longest_first(items)
    marked = [item for item in items if item.get_closest_marker("gpu")]
    if marked and not _has_gpu():
        for item in marked:
            item.add_marker(pytest.mark.skip(reason="needs a GPU that TensorFlow can use"))


# -------------------------------------------------------------------------------------------------------- leaks


@pytest.fixture(scope="module", autouse=True)
def nothing_is_left(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fails a test module that leaves a process, a non-daemon thread or a temporary folder behind, naming it."""
    gc.freeze()  # TensorFlow may have been imported since, and each of the module's collections would look through it
    before = Alive.now()
    yield
    if warm_servers := sys.modules.get("tf1sessions.pools.warm_servers"):  # they would last as long as the session
        warm_servers.close_servers()
    deadline = time.monotonic() + SETTLE_SECS
    while (left := leftovers(before)) and time.monotonic() < deadline:
        time.sleep(0.02)
    if left:
        pytest.fail(f"{request.node.name} left behind:\n  " + "\n  ".join(left), pytrace=False)


# --------------------------------------------------------------------------------------------- another process


# `report(name=value, ...)` is there for the code; what was reported before a crash is not lost.
_PROLOGUE = f"""
import atexit, gc, json, sys
gc.set_threshold{THRESHOLDS}
atexit.register(gc.freeze)
def report(_path=sys.argv[1], **results):
    with open(_path, "a", encoding="utf-8") as file:
        file.write(json.dumps(results) + "\\n")
with open(sys.argv[2], encoding="utf-8") as _file:
    _code = compile(_file.read(), sys.argv[2], "exec")
del sys.argv[:2], _file, atexit, gc
exec(_code)
"""


@pytest.fixture(scope="session")
def run_python() -> Callable[..., PythonRun]:
    """Returns ``run(code, *args, deadline=..., env=..., cwd=..., check=True) -> PythonRun``.

    The code runs in a fresh interpreter and calls ``report(name=value)`` with values that JSON knows. It starts in an
    empty folder and sees this process's environment plus ``env`` (a value of None removes a variable). Past the
    deadline its whole process group is killed and the test fails with what it had printed. With ``check``, an exit
    code other than 0 fails the test, too.
    """

    def run(
        code: str,
        *args: str,
        deadline: float = 120.0,
        env: Mapping[str, str | None] | None = None,
        cwd: str | Path | None = None,
        check: bool = True,
    ) -> PythonRun:
        environment = {**os.environ, **(env or {})}
        with tempfile.TemporaryDirectory(prefix="tf1sessions-test-") as folder:
            report, program, empty = Path(folder, "report.jsonl"), Path(folder, "code.py"), Path(folder, "cwd")
            empty.mkdir()
            report.touch()
            program.write_text(textwrap.dedent(code), encoding="utf-8")
            started = time.monotonic()
            process = subprocess.Popen(
                [sys.executable, "-c", _PROLOGUE, str(report), str(program), *args],
                cwd=cwd or empty,
                env={name: value for name, value in environment.items() if value is not None},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
                start_new_session=True,
            )
            try:
                stdout, stderr = process.communicate(timeout=deadline)
                late = False
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                stdout, stderr = process.communicate()
                late = True
            seconds = time.monotonic() - started
            results: dict[str, Any] = {}
            for line in report.read_text(encoding="utf-8").splitlines():
                results.update(json.loads(line))
        done = PythonRun(results, stdout, stderr, process.returncode, seconds)
        if late or (check and done.returncode != 0):
            ended = f"was killed after {deadline:g} s" if late else f"ended with {done.returncode}"
            pytest.fail(f"the process {ended}\nreported: {results}\nstdout: {stdout[-4000:]}\nstderr: {stderr[-8000:]}")
        return done

    return run


# ------------------------------------------------------------------------------------- programs of many checks

# A test module names a file next to it, ``PROGRAM = "aliasing_checks.py"``, and has one test that takes ``check`` and
# ``findings``. The file's functions whose names start with ``check_``, and what the module's ``more_checks()`` names,
# become the parameters; all of them run in one process, and ``findings`` maps each name to None or to what went wrong.
# With ``FRESH = True``, TensorFlow is not there when it starts, in the folders where it is (warm.py).


def _check_names(module: Any) -> list[str]:
    tree = ast.parse(Path(module.__file__).with_name(module.PROGRAM).read_text(encoding="utf-8"))
    names = [node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("check_")]
    return names + (module.more_checks() if hasattr(module, "more_checks") else [])


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "check" in metafunc.fixturenames and hasattr(metafunc.module, "PROGRAM"):
        names = _check_names(metafunc.module)
        metafunc.parametrize("check", names, ids=[name.removeprefix("check_") for name in names])


@pytest.fixture(scope="module")
def findings(request: pytest.FixtureRequest, run_python: Callable[..., PythonRun]) -> dict[str, str | None]:
    """What each check of the module's program found; a check that is missing never ended."""
    program = Path(request.module.__file__).with_name(request.module.PROGRAM)
    names = _check_names(request.module)
    deadline = getattr(request.module, "DEADLINE", 170)
    settings = {"fresh": True} if getattr(request.module, "FRESH", False) else {}
    done = run_python(RUN_CHECKS, str(program), *names, check=False, deadline=deadline, **settings)
    found: dict[str, str | None] = dict(done.results)
    for name in names:
        if name not in found:
            found[name] = f"the process ended with {done.returncode} in or before this check:\n{done.stderr[-6000:]}"
    return found
