"""The helpers that other tests rely on can fail."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from rewriting import RUN_CHECKS
from support import ROOT, Alive, PythonRun, leftovers, wait_for

import tf1sessions as t1


def test_a_process_and_a_thread_that_stay_are_named() -> None:
    go = threading.Event()
    thread = threading.Thread(target=go.wait, name="stays-behind")
    daemon = threading.Thread(target=go.wait, name="may-stay", daemon=True)
    before = Alive.now()
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        thread.start()
        daemon.start()
        left = leftovers(before)
        assert len(left) == 2, left
        assert left[0].startswith(f"process {process.pid}: ") and "input()" in left[0]
        assert left[1].startswith("thread 'stays-behind' at ")
        assert leftovers(Alive.now()) == []
    finally:
        go.set()
        thread.join()
        daemon.join()
        process.communicate(b"\n")
    assert leftovers(before) == []


def test_a_child_that_was_not_waited_for_is_named() -> None:
    before = Alive.now()
    process = subprocess.Popen([sys.executable, "-c", "print()"], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.read()  # until it closed its end; it is a zombie now, or about to be
    assert [text for text in leftovers(before) if str(process.pid) in text]
    process.stdout.close()
    process.wait()
    assert leftovers(before) == []


def test_a_temporary_folder_that_stays_is_named() -> None:
    before = Alive.now()
    with tempfile.TemporaryDirectory(prefix="tf1sessions-"), tempfile.TemporaryDirectory(prefix="other-"):
        during = leftovers(before)
    assert [re.sub(r"-\w+$", "", text) for text in during] == [f"path {tempfile.gettempdir()}/tf1sessions"]
    assert leftovers(before) == []


def test_an_orphan_is_named() -> None:
    before = Alive.now()
    code = """if True:
        import subprocess, sys
        waits = [sys.executable, "-c", "input()"]
        print(subprocess.Popen(waits, stdout=subprocess.DEVNULL, start_new_session=True).pid)
        """
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
        assert parent.stdin is not None and parent.stdout is not None
        orphan = int(parent.stdout.read())
        assert parent.wait() == 0
        assert [text.partition(":")[0] for text in leftovers(before)] == [f"process {orphan}"]
        parent.stdin.write(b"\n")
    wait_for(lambda: leftovers(before) == [], lambda: f"the end of {leftovers(before)}")


def test_run_python_hands_results_back(run_python: Callable[..., PythonRun], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEPT", "1")
    monkeypatch.setenv("DROPPED", "1")
    done = run_python(
        """
        import os, sys
        report(args=sys.argv[1:], files=os.listdir(), main=__name__)
        print("out")
        print("err", file=sys.stderr)
        report(env=[os.environ.get(name) for name in ("KEPT", "DROPPED", "NEW")])
        sys.exit(3)
        """,
        "a",
        "b c",
        env={"DROPPED": None, "NEW": "2"},
        check=False,
    )
    assert done.results == {"args": ["a", "b c"], "files": [], "main": "__main__", "env": ["1", None, "2"]}
    assert (done.stdout, done.stderr, done.returncode) == ("out\n", "err\n", 3)


@pytest.mark.parametrize(
    ("code", "deadline", "expected"),
    [
        ("report(step=1)\nraise SystemExit(4)", 60.0, r"ended with 4\nreported: {'step': 1}"),
        ("report(step=2)\nprint('so far', flush=True)\nimport threading; threading.Event().wait()", 1.0, "so far"),
        ("1 +", 60.0, r"code.py.*, line 1"),
    ],
)
def test_run_python_fails_the_test(
    run_python: Callable[..., PythonRun], code: str, deadline: float, expected: str
) -> None:
    with pytest.raises(pytest.fail.Exception, match=expected):
        run_python(code, deadline=deadline)


def test_a_failing_check_shows_its_values(tmp_path: Path, run_python: Callable[..., PythonRun]) -> None:
    program = tmp_path / "some_checks.py"
    program.write_text("def check_sum():\n    found = [1, 2]\n    assert sum(found) == 4, 'of two'\n")
    code = RUN_CHECKS.replace("str(path.parent.parent)", repr(str(ROOT / "tests")))
    (found,) = run_python(code, str(program), "check_sum").results.values()
    assert "of two\nassert 3 == 4" in found and "where 3 = sum([1, 2])" in found, found
    assert "some_checks.py" in found and "line 3" in found, found


def test_wait_for_gives_what_came_and_names_what_did_not() -> None:
    left = [0, 0, "here"]
    assert wait_for(lambda: left.pop(0), "it") == "here"
    with pytest.raises(AssertionError, match=r"^waited 0.01 s in vain for the third$"):
        wait_for(lambda: None, lambda: "the third", deadline=0.01)
    with pytest.raises(ZeroDivisionError):
        wait_for(lambda: 1 / 0, "it")


def test_ctrl_c_is_heard() -> None:
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_ctrl_c_is_heard_where_pytest_was_started_with_it_ignored() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", f"{__file__}::{test_ctrl_c_is_heard.__name__}"],
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("workers", "change"),
    [
        (4, {}),
        (3, {"cores": 2}),
        (4, {"cores": 64}),
        (4, {"cores": 64, "memory": None}),
        (2, {"memory": 9e9}),
        (0, {"memory": 7e9}),
        (0, {"cores": 1}),
        (0, {"capture": "no"}),
        (0, {"trace": True}),
        (0, {"args": [__file__]}),
        (0, {"args": [f"{Path(__file__).name}::a", f"{Path(__file__).name}::b[c]"]}),
        (4, {"args": [Path(__file__).name, "conftest.py"]}),
    ],
)
def test_workers(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, workers: int, change: dict[str, object]
) -> None:
    has = {"cores": 3, "memory": 64e9, "capture": "fd", "trace": False, "args": ["."]} | change
    conftest = request.config.pluginmanager.get_plugin(str(ROOT / "tests/conftest.py"))
    monkeypatch.setattr(conftest, "usable_cores", lambda: has["cores"])
    monkeypatch.setattr(conftest, "available_memory", lambda: has["memory"])
    config = SimpleNamespace(
        args=has["args"],
        invocation_params=SimpleNamespace(dir=Path(__file__).parent),
        option=SimpleNamespace(capture=has["capture"], trace=has["trace"]),
    )
    assert conftest.pytest_xdist_auto_num_workers(config) == workers


@pytest.mark.parametrize(
    ("gpus", "before", "shown"), [((), "0", None), (("one",), "0", "0"), (("one",), None, "all"), ((), None, None)]
)
def test_only_tests_of_gpus_see_them(
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    gpus: tuple[str, ...],
    before: str | None,
    shown: str | None,
) -> None:
    conftest = request.config.pluginmanager.get_plugin(str(ROOT / "tests/conftest.py"))
    monkeypatch.setattr(conftest, "look", lambda: SimpleNamespace(gpus=gpus))
    for name, value in (("TF1SESSIONS_TEST_GPUS", None), ("CUDA_VISIBLE_DEVICES", before)):
        monkeypatch.setenv(name, value or "")
        if value is None:
            monkeypatch.delenv(name)
    conftest._hide_gpus()
    conftest._hide_gpus()  # in a worker
    assert os.environ.get("TF1SESSIONS_TEST_GPUS") == shown
    assert os.environ.get("CUDA_VISIBLE_DEVICES") == (before if shown is None else "-1")
    if shown is not None:
        conftest._show_gpus(monkeypatch)
        assert os.environ.get("CUDA_VISIBLE_DEVICES") == before
    monkeypatch.undo()


def test_a_worker_that_ends_is_one_tests_failure_and_slow_files_come_first(tmp_path: Path) -> None:
    tests = {"ends": "os._exit(3)", "leaves": "pass", "runs_long": "pass"}
    for name, body in tests.items():
        marker = "@pytest.mark.slow\n" * (name == "runs_long")
        code = f"import os, pytest\ndef test_1(): pass\n{marker}def test_2(): {body}\ndef test_3(): pass\n"
        (tmp_path / f"test_{name}.py").write_text(code, "utf-8")
    options = ["-c", str(ROOT / "setup.cfg"), f"--rootdir={tmp_path}", "-p", "conftest", "-n", "1", "-v"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "tests"), str(Path(t1.__file__).parent.parent)])},
        capture_output=True,
        text=True,
        timeout=60,
    )
    ended = re.findall(r"(PASSED|FAILED) (?:\S+/)?test_(\w+).py::test_(\d)", done.stdout.partition("= FAILURES =")[0])
    expected = [("PASSED", name, str(n)) for name in ("runs_long", "ends", "leaves") for n in (1, 2, 3)]
    expected[expected.index(("PASSED", "ends", "2"))] = ("FAILED", "ends", "2")
    # Which file comes next is a race of pytest-xdist: it gives a worker that has just ended no more of them.
    assert ended[:5] == expected[:5], done.stdout + done.stderr
    assert sorted(ended) == sorted(expected), done.stdout + done.stderr
    assert re.search(r"crashed while running '\S*test_ends\.py::test_2'", done.stdout)
