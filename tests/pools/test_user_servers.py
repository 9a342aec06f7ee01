"""The user's servers: who may use one, what a fork of it is like, and how it ends.

``test_fork_server.py`` runs its jobs in a fork of one, too: what holds for a server of the process's own holds there.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support import wait_for

from tf1sessions.errors import UnsupportedEnvironmentError, UsageError
from tf1sessions.pools import fork_server, user_servers
from tf1sessions.pools.fork_server import WorkerServer, WorkerSpec
from tf1sessions.pools.messages import socket_address
from tf1sessions.pools.user_servers import UserServer
from tf1sessions.scripts import early_calls

pytestmark = [
    pytest.mark.timeout(120),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the servers are for Linux"),
]

PRELOAD = ("what_is_preloaded:preload",)
TARGET = "what_is_preloaded:execute"

MODULE = """
import contextlib
import json
import os
import resource
import signal
import sys
import time

version = 1
marks = []


def preload():
    pass


def execute(payload):
    marks.append(payload["do"])
    if payload["do"] == "stop the server":
        os.kill(os.getppid(), signal.SIGSTOP)
    elif payload["do"] == "wait":
        print("waiting", flush=True)
        time.sleep(1000)
    with open("/proc/self/status") as file:
        status = dict(line.split(None, 1) for line in file if len(line.split(None, 1)) == 2)
    print(json.dumps({
        "version": version, "start": getattr(sys, "start", ""), "marks": marks,
        "nice": os.nice(0), "server": os.getppid(),
        "umask": status["Umask:"].strip(),
        "files": resource.getrlimit(resource.RLIMIT_NOFILE)[0], "processors": len(os.sched_getaffinity(0)),
        "ignored": status["SigIgn:"].strip(),
        "policy": os.sched_getscheduler(0), "oom": int(open("/proc/self/oom_score_adj").read()),
    }))
"""


class User:
    """A user with a folder for servers, and with a module that they preload."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.module = folder / "what_is_preloaded.py"
        self.module.write_text(MODULE)
        self.notes: list[str] = []

    def server(self) -> WorkerServer:
        made = WorkerServer(PRELOAD, users=True)
        made.on_note = self.notes.append
        return made

    def spec(self, do: str, out: Any) -> WorkerSpec:
        return WorkerSpec(do, TARGET, {"do": do}, dict(os.environ), str(self.folder), None, out.fileno(), 2)

    def run(self, do: str = "show") -> dict[str, Any]:
        """Run a job in a server of its own command."""
        with self.server() as server, open(self.folder / "out", "w+b") as out:
            result = server.spawn(self.spec(do, out)).wait(60)
            assert result is not None and result.returncode == 0, result
            out.seek(0)
            found: dict[str, Any] = json.load(out)
            return found

    def status(self) -> dict[str, Any]:
        (status,) = user_servers.running().values()
        assert status is not None
        return status

    def named(self) -> UserServer:
        return user_servers.named("test")


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[User]:
    monkeypatch.setenv("TF1SESSIONS_WARM", "1")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    paths = [str(tmp_path), os.environ.get("PYTHONPATH")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, paths)))
    monkeypatch.setitem(user_servers.PRELOADS, "test", PRELOAD)
    yield User(tmp_path)
    if (tmp_path / "tf1sessions").exists():
        for server, status in user_servers.running().items():
            assert status is not None
            server.ask("stop")
            wait_for_end(status["pid"])


def wait_for_end(pid: int) -> None:
    wait_for(lambda: not os.path.exists(f"/proc/{pid}"), f"the end of {pid}")


def test_commands_share_one_and_see_nothing_of_each_other(user: User) -> None:
    first, second = user.run("this"), user.run("that")
    assert (first["marks"], second["marks"]) == (["this"], ["that"])
    assert user.status()["callers"] == 2 and not user.notes
    wait_for(lambda: user.status()["running"] == 0, "the end of its forks")


def test_one_that_is_there_is_used_without_a_wish_and_not_against_one(
    user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TF1SESSIONS_WARM")
    user.run()
    assert not (user.folder / "tf1sessions").exists()
    user.named().start(os.environ)
    user.run()
    assert user.status()["callers"] == 1
    monkeypatch.setenv("TF1SESSIONS_WARM", "0")
    user.run()
    assert user.status()["callers"] == 1 and not user.notes


def test_a_job_uses_one_and_starts_none(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TF1SESSIONS_JOB", "of-some-run")
    user.run()
    assert not (user.folder / "tf1sessions").exists()
    user.named().start(os.environ)
    user.run()
    assert user.status()["callers"] == 1


def test_two_that_start_it_at_once_get_one(user: User) -> None:
    code = f"""
        import os
        from tf1sessions.pools import user_servers
        user_servers.PRELOADS["test"] = {PRELOAD!r}
        user_servers.named("test").start(os.environ)
        print(user_servers.named("test").ask("status")["pid"])
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    pids = {process.communicate()[0] for process in started}
    assert pids == {f"{user.status()['pid']}\n"} and not any(process.returncode for process in started)


def test_a_long_path_is_no_limit(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = user.folder / ("long" * 40)
    folder.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
    user.run()
    assert user.status()["callers"] == 1 and not user.notes
    for server, status in user_servers.running().items():
        server.ask("stop")
        assert status is not None
        wait_for_end(status["pid"])


@pytest.mark.parametrize(
    ("base", "reason"),
    [("missing", "No such file"), ("file", "Not a directory"), (None, "is not an absolute path")],
)
def test_a_folder_that_cannot_be_made_is_named(
    base: str | None, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    value = str(tmp_path / base) if base else "relative"
    monkeypatch.setenv("XDG_RUNTIME_DIR", value)
    with pytest.raises(OSError) as caught:
        user_servers.folder(make=True)
    text = str(caught.value)
    assert text.startswith(f"{value}/tf1sessions ") and reason in text, text
    assert f"(XDG_RUNTIME_DIR is '{value}'). Set XDG_RUNTIME_DIR to a folder of yours, or leave it out." in text


def test_what_the_variable_may_be(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TF1SESSIONS_WARM", "yes")
    with pytest.raises(UsageError, match="TF1SESSIONS_WARM is 'yes'.*Set it to 1 or to 0"):
        user.run()


def test_limits_priority_umask_processors_and_ignored_signals_are_the_callers(user: User) -> None:
    before = user.run()
    command = f"""
        import os, resource, signal, sys
        for signum in (signal.SIGHUP, signal.SIGUSR1):
            signal.signal(signum, signal.SIG_IGN)
        os.umask(0o027)
        os.nice(3)
        os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
        open("/proc/self/oom_score_adj", "w").write("{before["oom"] + 5}")
        resource.setrlimit(resource.RLIMIT_NOFILE, (200, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
        from tf1sessions.pools import user_servers
        from tf1sessions.pools.fork_server import WorkerServer, WorkerSpec
        user_servers.PRELOADS["test"] = {PRELOAD!r}
        with WorkerServer({PRELOAD!r}, users=True) as server:
            server.on_note = print
            spec = WorkerSpec("job", {TARGET!r}, {{"do": "show"}}, dict(os.environ), os.getcwd(), None, 1, 2)
            server.spawn(spec).wait(60)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(command)], cwd=user.folder, capture_output=True, text=True, check=True
    )
    found = json.loads(done.stdout)
    assert (found["umask"], found["nice"], found["files"], found["processors"]) == (
        "0027",
        before["nice"] + 3,
        200,
        1,
    )
    assert (found["policy"], found["oom"]) == (os.SCHED_BATCH, before["oom"] + 5)
    added = int(found["ignored"], 16) - int(before["ignored"], 16)
    assert added == sum(1 << (signum - 1) for signum in (signal.SIGHUP, signal.SIGUSR1))
    assert user.status()["callers"] == 2


def test_a_caller_with_fewer_rights_does_not_get_the_server_s(user: User) -> None:
    """Else a command in a sandbox would run outside of it."""
    user.run()
    command = f"""
        import ctypes, os, sys
        ctypes.CDLL(None).prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS
        from tf1sessions.pools import user_servers
        from tf1sessions.pools.fork_server import WorkerServer, WorkerSpec
        user_servers.PRELOADS["test"] = {PRELOAD!r}
        with WorkerServer({PRELOAD!r}, users=True) as server:
            server.on_note = print
            spec = WorkerSpec("job", {TARGET!r}, {{"do": "show"}}, dict(os.environ), os.getcwd(), None, 1, 2)
            server.spawn(spec).wait(60)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(command)], cwd=user.folder, capture_output=True, text=True, check=True
    )
    assert "what the process may do differs" in done.stdout and user.status()["callers"] == 1


def test_another_environment_is_a_reason_against_it(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    user.run()
    monkeypatch.setenv("PYTHONHASHSEED", "7")
    user.run()
    assert user.notes == ["the warm server is not used: PYTHONHASHSEED differs"]
    assert user.status()["callers"] == 1
    monkeypatch.delenv("PYTHONHASHSEED")
    monkeypatch.chdir("/")
    monkeypatch.setenv("PYTHONPATH", os.environ["PYTHONPATH"] + ":here")
    user.run()
    assert user.notes[-1] == "the warm server is not used: PYTHONPATH differs"


def test_one_whose_files_change_is_replaced(user: User) -> None:
    assert user.run()["version"] == 1
    before = user.status()["pid"]
    user.module.write_text(MODULE.replace("version = 1", "version = 22"))
    assert user.run()["version"] == 22
    assert user.notes == [f"the warm server is not used: {user.module} has changed since it started"]
    assert user.status()["pid"] != before


def test_one_is_replaced_when_the_path_leads_to_another_module(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    first = user.folder / "first"
    first.mkdir()
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(first), os.environ["PYTHONPATH"]]))
    assert user.run()["version"] == 1
    (first / "not_loaded.py").touch()
    assert user.run()["version"] == 1 and user.notes == []
    upgraded = first / user.module.name
    upgraded.write_text(MODULE.replace("version = 1", "version = 22"))
    assert user.run()["version"] == 22
    assert user.notes == [f"the warm server is not used: {upgraded} has changed since it started"]
    upgraded.unlink()
    assert user.run()["version"] == 1


def test_one_is_replaced_when_the_start_of_python_is_another(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    environment = user.folder / "environment"
    venv.create(environment, symlinks=True)
    monkeypatch.setattr(sys, "executable", str(environment / "bin" / "python"))
    (packages,) = environment.glob("lib/python*/site-packages")
    assert user.run()["start"] == ""
    for name, start in ("editable.pth", "one"), ("editable.pth", "two"), ("sitecustomize.py", "three"):
        (packages / name).write_text(f"import sys; sys.start = {start!r}\n")
        assert user.run()["start"] == start
        assert user.notes.pop() == f"the warm server is not used: {packages / name} has changed since it started"
    (packages / "sitecustomize.py").unlink()
    assert user.run()["start"] == "two"


def test_one_that_was_killed_is_started_again(user: User) -> None:
    user.run()
    before = user.status()["pid"]
    os.kill(before, signal.SIGKILL)
    wait_for_end(before)
    assert user.run()["marks"] == ["show"] and user.status()["pid"] != before


def test_one_that_cannot_preload_says_where_why_is(user: User) -> None:
    user.module.write_text(MODULE.replace("    pass", "    raise RuntimeError('no battery')", 1))
    with pytest.raises(Exception, match="no battery"):  # of the server that is started in its place
        user.run()
    assert user.notes and str(user.named().log) in user.notes[0]
    assert "no battery" in user.named().log.read_text()


def test_a_folder_that_others_can_enter_is_not_used(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = user.folder / "tf1sessions"
    folder.mkdir()
    folder.chmod(0o755)
    user.run()
    assert "not a folder that only you can enter" in user.notes[0]
    with pytest.raises(UnsupportedEnvironmentError, match="only you can enter"):
        user_servers.running()
    folder.rmdir()
    elsewhere = user.folder / "elsewhere"
    elsewhere.mkdir(0o700)
    folder.symlink_to(elsewhere)
    user.run()
    assert "not a folder that only you can enter" in user.notes[1] and not list(elsewhere.iterdir())
    folder.unlink()
    folder.mkdir(0o700)


def test_jobs_end_with_their_caller_and_the_server_stays(user: User) -> None:
    user.run()
    code = f"""
        import os
        from tf1sessions.pools import user_servers
        from tf1sessions.pools.fork_server import WorkerServer, WorkerSpec
        user_servers.PRELOADS["test"] = {PRELOAD!r}
        server = WorkerServer({PRELOAD!r}, users=True)
        spec = WorkerSpec("job", {TARGET!r}, {{"do": "wait"}}, dict(os.environ), os.getcwd(), None, 1, 2)
        server.spawn(spec).wait()
    """
    caller = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, cwd=user.folder)
    with caller:
        assert caller.stdout is not None and caller.stdout.readline() == b"waiting\n"
        caller.kill()
        assert caller.stdout.read() == b""  # its job, which has this pipe, has ended
    wait_for(lambda: user.status()["running"] == 0, "the end of its forks")
    assert user.run()["marks"] == ["show"]


def children(pid: int) -> list[int]:
    """The processes that this one has made, and that have not ended."""
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def test_a_worker_that_is_killed_before_it_has_a_job_is_made_again(user: User) -> None:
    with user.server() as server, open(user.folder / "out", "w+b") as out:
        server.wait_ready(60)
        assert server.pid is not None
        (ahead,) = wait_for(lambda: children(server.pid or 0), "the worker that is forked ahead")
        os.kill(ahead, signal.SIGKILL)
        for _ in range(2):
            result = server.spawn(user.spec("show", out)).wait(60)
            assert result is not None and result.returncode == 0, result
        out.seek(0)
        assert out.read().count(b'"marks": ["show"]') == 2


def test_a_worker_that_gets_no_job_ends_with_its_server(user: User) -> None:
    with user.server() as server:
        server.wait_ready(60)
        assert server.pid is not None
        (ahead,) = wait_for(lambda: children(server.pid or 0), "the worker that is forked ahead")
    wait_for_end(ahead)


def test_a_command_asks_early_where_a_server_is_warm_and_it_runs_scripts(
    user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(user_servers.PRELOADS, "scripts", PRELOAD)
    monkeypatch.delitem(user_servers.PRELOADS, "test")
    env, fast = (early_calls.base_environment(fast_kernels) for fast_kernels in (False, True))
    early_calls.begin(["run", "train.py"])
    assert early_calls.take(env) is None and user_servers.running() == {}, "it has started one"
    user_servers.named("scripts").start(env)
    for words in ("inspect model.pb", "run --help", "run --dry-run train.py", "run --resume=runs/1", "warm status", ""):
        early_calls.begin(words.split())
        assert early_calls.take(env) is None, words
    early_calls.begin(["run", "train.py", "--", "--fast-kernels"])
    assert early_calls.take(fast) is None
    early_calls.begin(["run", "train.py", "--", "--help"])
    call = early_calls.take(env)
    assert call is not None and early_calls.take(env) is None
    with WorkerServer(PRELOAD, env, users=True, call=call) as server, open(user.folder / "out", "w+b") as out:
        server.wait_ready(60)
        assert user.status()["callers"] == 2  # one of them has closed its call, as the environment was another
        result = server.spawn(user.spec("show", out)).wait(60)
    assert result is not None and result.returncode == 0
    assert user.status()["callers"] == 2


def test_a_fork_that_a_job_stops_is_continued(user: User) -> None:
    found = user.run("stop the server")
    assert found["marks"] == ["stop the server"] and user.status()["callers"] == 1


def test_stop_lets_what_runs_end_and_a_stopped_one_is_woken(user: User) -> None:
    user.run()
    with user.server() as server, open(user.folder / "waits", "w+b") as out:
        handle = server.spawn(user.spec("wait", out))
        os.kill(user.status()["pid"], signal.SIGSTOP)
        assert user.named().ask("stop") is not None
        assert user_servers.running() == {}
        assert handle.wait(0.1) is None
        handle.kill()
        result = handle.wait(60)
        assert result is not None and result.signal_name == "SIGKILL"


def test_it_ends_when_it_is_not_used_or_its_socket_is_gone(user: User) -> None:
    for idle_secs in (0.2, 1000.0):
        user.named().start(os.environ, idle_secs)
        status = user.named().ask("status")
        assert status is not None
        if idle_secs > 1:
            user.named().path.unlink()
            os.kill(status["pid"], signal.SIGCHLD)  # it looks whenever it wakes up
        wait_for_end(status["pid"])
        assert user_servers.running() == {}


def test_nonsense_does_no_harm(user: User) -> None:
    user.run()
    for words in (b"", b"GET / HTTP/1.1\r\n\r\n", b"\0\0\0\2{}", b"\0\0\0\3[1]", b"\0\0\0\4\xff\xff\xff\xff"):
        with socket.socket(socket.AF_UNIX) as connection:
            with socket_address(user.named().path) as address:
                connection.connect(address)
            connection.sendall(words)
    assert user.run()["marks"] == ["show"] and user.status()["callers"] == 2


@contextlib.contextmanager
def impostor(path: Path, answer: bytes | None, backlog: int = 8) -> Iterator[None]:
    """Another process behind the socket of a server: it gives this answer to each caller, or none and reads nothing."""
    path.parent.mkdir(mode=0o700)
    over = threading.Event()
    with contextlib.ExitStack() as stack:
        listener = stack.enter_context(socket.socket(socket.AF_UNIX))
        with socket_address(path) as address:
            listener.bind(address)
            listener.listen(backlog)
            if not backlog:
                stack.enter_context(socket.socket(socket.AF_UNIX)).connect(address)

        def serve() -> None:
            while not over.is_set():
                connection = stack.enter_context(listener.accept()[0])
                with contextlib.suppress(OSError):
                    connection.sendall(answer or b"")

        thread = threading.Thread(target=serve, daemon=True)
        if answer is not None:
            thread.start()
        try:
            yield
        finally:
            over.set()
            if answer is not None:
                with socket.socket(socket.AF_UNIX) as last, socket_address(path) as address:
                    last.connect(address)
                thread.join(30)
            path.unlink()


def _framed(body: bytes) -> bytes:
    return len(body).to_bytes(4, "big") + body


@pytest.mark.parametrize(
    "answer, backlog, note",
    [
        pytest.param(None, 8, "it did not answer in 0.3 seconds", id="silence"),
        pytest.param(None, 0, "takes no calls", id="no room for a call"),
        pytest.param(b"\xff\xff\xff\xffxy", 8, "it did not answer in 0.3 seconds", id="the beginning of much"),
        pytest.param(_framed(b"junk"), 8, "is no message: JSONDecodeError", id="no JSON"),
        pytest.param(_framed(b"\x80abc"), 8, "is no message: UnicodeDecodeError", id="no text"),
        pytest.param(_framed(b"[1]"), 8, "is no message: ValueError", id="no mapping"),
        pytest.param(_framed(b"{}"), 8, "is no message: KeyError", id="no event"),
        pytest.param(_framed(b'{"event": "ready"}'), 8, "is no message: KeyError", id="no pid"),
        pytest.param(_framed(b'{"event": "x", "job": []}'), 8, "is no message: TypeError", id="no number"),
    ],
)
def test_another_process_behind_the_socket_costs_a_note(
    user: User, monkeypatch: pytest.MonkeyPatch, answer: bytes | None, backlog: int, note: str
) -> None:
    monkeypatch.setattr(fork_server, "_ANSWER_SECS", 0.3)
    monkeypatch.setattr(user_servers, "_CALL_SECS", 0.3)
    raised: list[Any] = []
    monkeypatch.setattr(threading, "excepthook", raised.append)
    with impostor(user.named().path, answer, backlog):
        assert user.run()["marks"] == ["show"]
    (found,) = user.notes
    assert found.startswith("the warm server is not used: ") and note in found
    assert not raised


def test_a_question_to_another_process_names_it(user: User) -> None:
    with impostor(user.named().path, _framed(b"junk")):
        with pytest.raises(UnsupportedEnvironmentError, match="no warm server"):
            user_servers.running()
