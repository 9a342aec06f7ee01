"""``tf1sessions races``: what it prints, its JSON, its exit codes, how it fails; and programs that it really runs."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tf1sessions.cli.main import cli
from tf1sessions.scripts.jobs import Job, JobSettings
from tf1sessions.testing import exploring, runs
from tf1sessions.testing.reports import FIX, WHY, Access, Kind, Report
from tf1sessions.testing.runs import DetectedRun, find_races
from tf1sessions.testing.suppressions import Suppression

pytest_plugins = ("warm_commands",)


def call(*args: str) -> Result:
    return CliRunner().invoke(cli, ["races", *args], prog_name="tf1sessions")


def report(kind: Kind) -> Report:
    first = Access("Thread-1", "runs the graph", ("server.py:9 in predict", "server.py:20 in do_GET"), times=3)
    return Report(kind, "the graph", first, Access("Thread-2", "adds operations", ("server.py:8 in f",), ("a", "b")), 2)


@pytest.fixture
def found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[tuple[Job, dict[str, Any]]]]:
    """Stands in for running a program."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")

    def install(
        *reports: Report,
        exit_code: int = 0,
        ended: bool = True,
        forked: bool = False,
        unused: Any = (),
        lost: str | None = None,
    ) -> Any:
        calls = []

        def find(job: Job, **options: Any) -> DetectedRun:
            calls.append((job, options))
            return DetectedRun(reports, exit_code, ended, forked, unused, lost)

        monkeypatch.setattr(runs, "find_races", find)
        return calls

    return install


Install = Callable[..., list[tuple[Job, dict[str, Any]]]]


def test_a_hazard_is_reported_with_both_stacks(found: Install) -> None:
    calls = found(report(Kind.VARIABLE), report(Kind.GROWTH), exit_code=0)
    done = call("--time-limit", "9", "server.py", "--ignore", "run-after-close", "--", "--port", "80", "--json")
    assert (done.exit_code, done.stderr) == (1, "")
    lines = done.stdout.splitlines()
    assert lines[1:9] == [
        "hazard graph growth in a loop: the graph",
        "  thread 'Thread-1' runs the graph (3 times)",
        "      server.py:9 in predict",
        "      server.py:20 in do_GET",
        "  thread 'Thread-2' adds operations: a, b",
        "      server.py:8 in f",
        "  and 2 more pairs of places in such threads",
        "  why: " + WHY[Kind.GROWTH].removesuffix(" slower."),
    ]
    assert f"  fix: {FIX[Kind.GROWTH]}" in lines
    assert "warning variable read while assigned: the graph" in lines  # after the hazards
    assert "  meant so? --ignore variable-read-while-assigned, or an entry in a file for --suppressions" in lines
    assert lines[-1] == "1 hazard, 1 warning" and max(map(len, lines)) <= 100
    ((job, options),) = calls
    assert (job.shown, job.args) == ("server.py", ("--port", "80", "--json"))  # what follows -- is the script's
    assert options == {"ignore": [Kind.CLOSED], "suppressions": (), "time_limit": 9.0, "stdio": (0, 1, 2)}


def test_json(found: Install) -> None:
    calls = found(report(Kind.UNKNOWN), exit_code=3)
    done = call("--ignore", "run-after-close", "-m", "package.server", "--json", "--", "-x", "--json")
    reported = json.loads(done.stdout)
    assert (done.exit_code, reported["exit_code"], reported["ended_by_itself"]) == (3, 3, True)
    assert (reported["hazards"], reported["warnings"], reported["forked"]) == (0, 1, False)
    (one,) = reported["reports"]
    assert (one["kind"], one["warning"], one["second"]["names"]) == ("unknown order", True, ["a", "b"])
    assert Report.from_json(one) == report(Kind.UNKNOWN)
    ((job, options),) = calls
    assert (job.module, job.args, options["stdio"]) == ("package.server", ("-x", "--json"), (0, 2, 2))


def test_sarif_and_suppressions(found: Install) -> None:
    calls = found(report(Kind.GROWTH), unused=(Suppression("meant \x1b so", file="a.py"),))
    Path("races.toml").write_text("[[suppress]]\nreason = 'meant so'\nfile = 'a.py'\n")
    done = call("--suppressions", "races.toml", "--sarif", "server.py")
    assert done.exit_code == 1 and done.stderr == "unused suppression: file 'a.py' (meant \\x1b so)\n"
    (run,) = json.loads(done.stdout)["runs"]
    assert [result["ruleId"] for result in run["results"]] == ["graph-growth-in-a-loop"]
    ((_, options),) = calls
    assert options["suppressions"] == (Suppression("meant so", file="a.py"),) and options["stdio"] == (0, 2, 2)


@pytest.mark.parametrize(
    ("kind", "exit_code", "ended", "expected"),
    [
        (Kind.CONSTRUCTION, 0, True, 1),
        (Kind.CONSTRUCTION, 3, True, 1),
        (Kind.VARIABLE, 0, True, 0),
        (Kind.VARIABLE, 3, True, 3),
        (Kind.UNKNOWN, 124, False, 0),
        (Kind.LEAK, 130, False, 1),
    ],
)
def test_exit_codes(found: Install, kind: Kind, exit_code: int, ended: bool, expected: int) -> None:
    found(report(kind), exit_code=exit_code, ended=ended)
    done = call("server.py")
    assert done.exit_code == expected
    assert (f"The program ended with exit code {exit_code}." in done.stdout) is (ended and exit_code > 0)


@pytest.mark.parametrize(
    ("fail_on", "failing"),
    [("hazards", {"hazard"}), ("warnings", {"hazard", "warning"}), ("notes", {"hazard", "warning", "note"})],
)
def test_fail_on(found: Install, fail_on: str, failing: set[str]) -> None:
    for kind in (Kind.CONSTRUCTION, Kind.VARIABLE, Kind.PUBLICATION):
        found(report(kind))
        assert call("--fail-on", fail_on, "server.py").exit_code == (kind.level in failing), kind


def test_nothing_found(found: Install) -> None:
    found(forked=True)
    done = call("server.py")
    reported = "The program forked: what its child processes did was not watched."
    assert (done.exit_code, done.stdout.split("\n\n")) == (0, ["\n" + reported, "0 hazards, 0 warnings\n"])


@pytest.mark.parametrize("option", [[], ["--json"], ["--sarif"]])
def test_findings_that_could_not_be_written(found: Install, option: list[str]) -> None:
    found(report(Kind.VARIABLE), lost="OSError(28, 'No space left\x1b')")
    done = call(*option, "server.py")
    assert done.exit_code == 1 and "variable" in done.stdout
    assert "Error: what the detector found could not be written: OSError(28, 'No space left\\x1b')" in done.stderr
    if option == ["--json"]:
        assert json.loads(done.stdout)["lost"] == "OSError(28, 'No space left\x1b')"


def test_names_do_not_steer_the_terminal(found: Install) -> None:
    one = report(Kind.GROWTH)
    found(Report(one.kind, "\x1b[31mgraph", one.first, one.second))
    assert "hazard graph growth in a loop: \\x1b[31mgraph" in call("server.py").stdout


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ([], "Nothing to run"),
        (["nowhere.py"], "cannot run 'nowhere.py'"),
        (["--time-limit", "0", "x.py"], "Invalid value for '--time-limit'"),
        (["--ignore", "growth", "x.py"], "'growth' is not one of 'concurrent-construction'"),
        (["--nonsense", "x.py"], "No such option"),
        (["x.py", "--port", "80"], "Arguments for the scripts themselves come after --."),
        (["x.py", "y.py"], "2 programs are named, and races takes one: x.py, y.py"),
        (["x.py", "y.py"], "Arguments come after --: tf1sessions races x.py -- y.py"),
        (["x.py", "80"], "there is no script 80. Arguments come after --: tf1sessions races x.py -- 80"),
        (["-m", "mod", "y.py"], "both -m mod and y.py"),
        (["--json", "--sarif", "x.py"], "--json or --sarif"),
        (["--suppressions", "none.toml", "-m", "mod"], "the suppressions cannot be read"),
    ],
)
def test_wrong_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, args: list[str], message: str) -> None:
    monkeypatch.chdir(tmp_path)
    done = call(*args)
    assert (done.exit_code, done.stdout) == (2, "")
    assert message in done.stderr and "Traceback" not in done.stderr


# -- orders of threads ------------------------------------------------------------------------------------------------


@pytest.fixture
def explored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[tuple[Any, ...]]]:
    """Stands in for exploring a program."""
    monkeypatch.chdir(tmp_path)

    def install(*result: Any) -> list[tuple[Any, ...]]:
        calls: list[tuple[Any, ...]] = []

        def explore(job: Job, orders: int, **options: Any) -> exploring.Explored:
            calls.append((job, orders, options))
            return exploring.Explored(*result)

        monkeypatch.setattr(exploring, "explore_program", explore)
        return calls

    return install


WRONG = ("", "in the order 'C2 B' it raises ValueError: x\n  C starts at train.py:3", "C2 B", True, 1)


def test_an_order_that_goes_wrong(explored: Callable[..., list[tuple[Any, ...]]]) -> None:
    calls = explored(*WRONG)
    done = call(
        "--explore",
        "9",
        "--ignore",
        "deadlock",
        "--ignore",
        "run after close",
        "--time-limit",
        "5",
        "train.py",
        "--",
        "--steps",
        "a b",
    )
    assert (done.exit_code, done.stderr) == (1, "")
    assert done.stdout.splitlines()[1:] == [
        "goes wrong in the order 'C2 B' it raises ValueError: x",
        "  C starts at train.py:3",
        "",
        "Again: tf1sessions races --replay 'C2 B' train.py -- --steps 'a b'",
    ]
    ((job, orders, options),) = calls
    assert (job.shown, job.args, orders) == ("train.py", ("--steps", "a b"), 9)
    expected = {
        "replay": None,
        "ignore": [Kind.DEADLOCK, Kind.CLOSED],
        "suppressions": (),
        "time_limit": 5.0,
        "stdio": (0, 1, 2),
    }
    assert options == expected | {"fail_on": "hazards"}


def test_orders_with_warnings_go_wrong(explored: Callable[..., list[tuple[Any, ...]]]) -> None:
    calls = explored(*WRONG)
    done = call("--explore", "9", "--fail-on", "warnings", "train.py")
    assert done.stdout.endswith("Again: tf1sessions races --replay 'C2 B' --fail-on warnings train.py\n")
    assert calls[0][2]["fail_on"] == "warnings" and done.exit_code == 1


def test_orders_as_json_and_one_order(explored: Callable[..., list[tuple[Any, ...]]]) -> None:
    calls = explored(*WRONG)
    done = call("--replay", "C2 B", "--json", "-m", "package.train")
    assert json.loads(done.stdout)["schedule"] == "C2 B" and done.exit_code == 1
    ((job, orders, options),) = calls
    assert (job.module, orders, options["replay"], options["stdio"]) == ("package.train", 1, "C2 B", (0, 2, 2))


def test_orders_as_sarif(explored: Callable[..., list[tuple[Any, ...]]], tmp_path: Path) -> None:
    (tmp_path / "races.toml").write_text('[[suppress]]\nfunction = "update"\nreason = "asynchronous"\n')
    calls = explored(*WRONG, None, "train.py:7 in add")
    done = call("--explore", "9", "--sarif", "--suppressions", "races.toml", "train.py")
    (result,) = json.loads(done.stdout)["runs"][0]["results"]
    assert result["ruleId"] == "order-that-goes-wrong" and "--replay 'C2 B'" in result["message"]["text"]
    assert result["locations"][0]["physicalLocation"]["region"] == {"startLine": 7} and done.exit_code == 1
    assert [rule.function for rule in calls[0][2]["suppressions"]] == ["update"]
    explored(*WRONG, report(Kind.GROWTH))
    (result,) = json.loads(call("--explore", "9", "--sarif", "train.py").stdout)["runs"][0]["results"]
    assert result["ruleId"] == "graph-growth-in-a-loop"
    explored("all 4 orders", "", "", True, 0, None, "", calls[0][2]["suppressions"])
    done = call("--explore", "9", "--sarif", "train.py")
    assert not json.loads(done.stdout)["runs"][0]["results"] and done.exit_code == 0
    assert done.stderr == "unused suppression: function 'update' (asynchronous)\n"


def test_orders_that_are_right_or_do_not_end(explored: Callable[..., list[tuple[Any, ...]]]) -> None:
    explored("all 4 orders", "", "", True, 0)
    done = call("--explore", "9", "train.py")
    assert (done.exit_code, done.stdout) == (0, "\nNothing goes wrong in all 4 orders.\n")
    explored("", "", "", False, 124)
    done = call("--explore", "9", "train.py")
    assert done.exit_code == 124 and "did not come to its end" in done.stdout


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--explore", "0"], "--explore"),
        (["--explore", "3", "--replay", "A"], "give one of them"),
    ],
)
def test_wrong_calls_of_orders(explored: Callable[..., Any], args: list[str], message: str) -> None:
    calls = explored(*WRONG)
    done = call(*args, "train.py")
    assert done.exit_code == 2 and message in done.stderr and not calls


COUNTER = """
import sys, threading
import tensorflow as tf

count = tf.get_variable("count", initializer=0.0, use_resource=True)
value = tf.placeholder(tf.float32, [])
assign, read = count.assign(value), count.read_value()
session = tf.Session()
session.run(count.initializer)
lock = threading.RLock()

def add():
    with lock:
        now = session.run(read)
    with lock:
        session.run(assign, {value: now + 1.0})

threads = [threading.Thread(target=add) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("counted", session.run(read), flush=True)
sys.exit(0 if session.run(read) == 2.0 else 3)
"""


@pytest.mark.usefixtures("warm_commands")
def test_orders_of_a_program_that_runs(tmp_path: Path) -> None:
    (tmp_path / "counter.py").write_text(COUNTER)
    job = Job(script=str(tmp_path / "counter.py"))
    wrong = exploring.explore_program(job, 20, stdio=None)
    assert "it raises SystemExit: 3" in wrong.failure and wrong.exit_code == 1, wrong
    assert "waits for a lock at" in wrong.failure and "explore(" not in wrong.failure
    assert wrong.schedule and wrong.schedule in wrong.failure and not wrong.covered and wrong.ended
    assert re.fullmatch(r".*counter\.py:\d+ in .*", wrong.place), wrong


CLOSES_ALL = """
import os, sys, threading

threads = [threading.Thread(target=len, args=((),)) for _ in range(2)]
for thread in threads:
    thread.start()
os.closerange(0, 4096)
files = [os.open(sys.argv[1], os.O_CREAT | os.O_RDWR | os.O_APPEND) for _ in range(100)]
for thread in threads:
    thread.join()
os.write(files[0], b"mine")
"""


def test_orders_of_a_program_that_closes_all_descriptors(tmp_path: Path) -> None:
    """As a daemon does; and it opens files of its own by their numbers."""
    (tmp_path / "daemon.py").write_text(CLOSES_ALL)
    job = Job(script=str(tmp_path / "daemon.py"), args=(str(tmp_path / "mine"),))
    found = exploring.explore_program(job, 2, stdio=None)
    assert found.covered.startswith("2 of about"), found
    assert (tmp_path / "mine").read_text() == "mine" * 2


FORKS = """
import os, sys, threading

def take():
    for _ in range(2):
        with lock:
            pass

def by_sys_exit():
    if (pid := os.fork()) == 0:
        sys.exit(7)
    return pid

def with_a_thread():
    if (pid := os.fork()) == 0:
        thread = threading.Thread(target=take)
        thread.start()
        thread.join()
        os._exit(7)
    return pid

lock = threading.Lock()
threads = [threading.Thread(target=take) for _ in range(2)]
for thread in threads:
    thread.start()
_, status = os.waitpid(globals()[sys.argv[1]](), 0)
for thread in threads:
    thread.join()
sys.exit(0 if os.waitstatus_to_exitcode(status) == 7 else 3)
"""


@pytest.mark.parametrize("way", ["by_sys_exit", "with_a_thread"])
def test_orders_of_a_program_that_forks(way: str, tmp_path: Path) -> None:
    """The other tasks are not in the child: it goes on as without a scheduler, and ends as any process."""
    (tmp_path / "forks.py").write_text(FORKS)
    job = Job(script=str(tmp_path / "forks.py"), args=(way,))
    done = exploring.explore_program(job, 8, stdio=None)
    assert done.covered and not done.failure, done


RACY = """
import threading
import tensorflow as tf

graph = tf.get_default_graph()

def build():
    with graph.as_default():
        tf.constant(1.0)

threads = [threading.Thread(target=build) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


@pytest.mark.usefixtures("warm_commands")
def test_suppressions_in_orders(tmp_path: Path) -> None:
    (tmp_path / "racy.py").write_text(RACY)
    job = Job(script=str(tmp_path / "racy.py"))
    rules = Suppression("on purpose", function="build"), Suppression("nowhere", function="nothing")
    done = exploring.explore_program(job, 2, suppressions=rules, stdio=None)
    assert not done.failure and done.covered and done.unused == rules[1:], done
    wrong = exploring.explore_program(job, 2, suppressions=rules[1:], stdio=None)
    assert wrong.report is not None and wrong.report.kind is Kind.CONSTRUCTION, wrong


READ_WHILE_ASSIGNED = """
import threading
import tensorflow as tf

count = tf.get_variable("count", initializer=0.0)
assign = count.assign(1.0)
session = tf.Session()
session.run(count.initializer)
threads = [threading.Thread(target=session.run, args=(each,)) for each in (count, assign)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


def test_a_warning_in_an_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "reader.py").write_text(READ_WHILE_ASSIGNED)
    job = Job(script="reader.py")
    assert exploring.explore_program(job, 2, stdio=None).covered
    wrong = exploring.explore_program(job, 5, fail_on="warnings", stdio=None)
    assert wrong.report is not None and wrong.report.kind is Kind.VARIABLE and wrong.exit_code == 1, wrong
    assert "--ignore variable-read-while-assigned" in wrong.failure and str(tmp_path) not in wrong.failure, wrong
    again = exploring.explore_program(job, 1, replay=wrong.schedule, fail_on="warnings", stdio=None)
    assert again.schedule == wrong.schedule and again.report is not None and again.report.kind is Kind.VARIABLE
    ignored = exploring.explore_program(job, 2, fail_on="warnings", ignore=[Kind.VARIABLE], stdio=None)
    assert ignored.covered and not ignored.failure, ignored


# -- programs that run ------------------------------------------------------------------------------------------------

MODEL = """
import queue, socketserver, sys, threading, urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
import tensorflow as tf

x = tf.placeholder(tf.float32, [None], name="x")
y = x * 2.0
session = tf.Session()

def predict(value):
    with session.graph.as_default():
        return session.run(y + tf.constant(1.0), {x: [value]})

def predict_fed(value):
    return session.run(y, {x: [value]})
"""
LINE = MODEL.splitlines().index("        return session.run(y + tf.constant(1.0), {x: [value]})") + 1

# Each asks its server five times, from outside, and then goes on for ever.
HTTP = """
class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        body = str(predict(1.0)).encode()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *args):
        pass
server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
ask = "import sys, urllib.request; print([urllib.request.urlopen(sys.argv[1]).read() for _ in range(5)])"
import subprocess
asking = subprocess.Popen([sys.executable, "-c", ask, "http://127.0.0.1:%d/" % server.server_address[1]])
threading.Thread(target=lambda: (asking.wait(), print("asked", flush=True)), daemon=True).start()
server.serve_forever()
"""
SOCKETS = """
class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        self.wfile.write(str(predict(float(self.rfile.readline()))).encode())
class Server(socketserver.ThreadingMixIn, socketserver.TCPServer):
    pass
server = Server(("127.0.0.1", 0), Handler)
ask = '''
import socket, sys
for _ in range(5):
    with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as connection:
        connection.sendall(b"1.0\\\\n")
        connection.recv(99)
'''
import subprocess
asking = subprocess.Popen([sys.executable, "-c", ask, str(server.server_address[1])])
threading.Thread(target=lambda: (asking.wait(), print("asked", flush=True)), daemon=True).start()
server.serve_forever()
"""
WORKERS = """
requests, answers = queue.Queue(), queue.Queue()
def work():
    for value in iter(requests.get, None):
        answers.put(predict(value))
threads = [threading.Thread(target=work, daemon=True) for _ in range(3)]
for thread in threads:
    thread.start()
for value in range(30):  # three threads in step run the graph at least ten times between their operations
    requests.put(float(value))
for value in range(30):
    answers.get()
print("asked", flush=True)
while True:  # without a limit it would be a deadlock: nobody is left who puts a request
    threads[0].join(1.0)
"""


def run_until_asked(program: str, folder: Path, signum: signal.Signals | None) -> tuple[int, dict[str, Any]]:
    """Runs a server under the command and ends it when it has answered; the exit code and what is printed."""
    (folder / "server.py").write_text(program)
    command = [sys.executable, "-m", "tf1sessions", "races", "--json"]
    if signum is None:
        command += ["--time-limit", "6"]
    with subprocess.Popen(
        [*command, "server.py"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        seen = []
        for line in process.stderr:
            seen.append(line)
            if line.startswith("asked"):
                if signum is not None:
                    process.send_signal(signum)
                break
        else:
            pytest.fail("".join(seen))
        process.stderr.read()
        reported = json.loads(process.stdout.read())
    return process.returncode, reported


@pytest.mark.usefixtures("warm_commands")
@pytest.mark.slow
@pytest.mark.parametrize(
    ("server", "inner", "signum"),
    [(HTTP, "Handler.do_GET", signal.SIGINT), (SOCKETS, "Handler.handle", signal.SIGTERM), (WORKERS, "work", None)],
    ids=["http", "sockets", "workers"],
)
def test_a_server_whose_handler_makes_operations(
    tmp_path: Path, server: str, inner: str, signum: signal.Signals | None
) -> None:
    exit_code, reported = run_until_asked(MODEL + server, tmp_path, signum)
    assert exit_code == 1
    assert reported["ended_by_itself"] is False
    grows = [one for one in reported["reports"] if one["kind"] == "graph growth in a loop"]
    assert len(grows) == 1, reported["reports"]
    assert grows[0]["first"]["thread"] != "MainThread" != grows[0]["second"]["thread"]
    for side in (grows[0]["first"], grows[0]["second"]):
        assert side["stack"][0] == f"server.py:{LINE} in predict" and side["stack"][1].endswith(
            inner.rpartition(".")[2]
        )
    assert any("Const" in name for name in grows[0]["second"]["names"])


@pytest.mark.usefixtures("warm_commands")
@pytest.mark.slow
def test_programs_that_end(tmp_path: Path) -> None:
    """One that fails by itself and forks, with threads that wait for each other and for which its main thread waits."""
    (tmp_path / "right.py").write_text(
        MODEL
        + textwrap.dedent("""
        threads = [threading.Thread(target=predict_fed, args=(1.0,)) for _ in range(4)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        session.close()
        from tf1sessions.errors import DeadlockError
        one, other, meet = threading.Lock(), threading.Lock(), threading.Barrier(2)
        def wait(first, second):
            with first:
                meet.wait()
                try:
                    second.acquire()
                except DeadlockError:  # in one of the two
                    return
                second.release()
        threads = [threading.Thread(target=wait, args=locks) for locks in ((one, other), (other, one))]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        import os
        pid = os.fork()
        if not pid:
            lock = threading.Lock()
            with lock:
                os._exit(7)
        assert os.waitpid(pid, 0)[1] == 7 << 8
        sys.exit(5)
        """)
    )
    job = Job(script=str(tmp_path / "right.py"), settings=JobSettings(time_limit=30))
    found = find_races(job, stdio=None)
    assert [one.kind for one in found.reports] == [Kind.DEADLOCK]
    assert replace(found, reports=()) == DetectedRun((), 5, ended=True, forked=True)


@pytest.mark.usefixtures("warm_commands")
@pytest.mark.slow
@pytest.mark.parametrize("explored", [False, True])
def test_programs_that_replace_what_python_has(tmp_path: Path, explored: bool) -> None:
    """What the detector does in their threads goes on, and raises nothing there; a child of an exploration ends."""
    (tmp_path / "odd.py").write_text(
        MODEL
        + textwrap.dedent("""
        import builtins, io, json, os, pickle
        builtins.open = io.open = json.dump = json.dumps = json.encoder = os.open = os.write = os.replace = None
        pickle.dumps = os.getppid = os._exit = None
        def build():
            with session.graph.as_default():
                tf.constant(1.0)
        threads = [threading.Thread(target=build) for _ in range(2)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        replaced = "current_thread get_ident enumerate main_thread Timer Semaphore Barrier local"
        for name in replaced.split():
            setattr(threading, name, None)
        build()
        session.close()
        """)
    )
    job = Job(script=str(tmp_path / "odd.py"))
    if explored:
        assert "concurrent construction" in exploring.explore_program(job, 2, stdio=None).failure
        return
    found = find_races(job, stdio=None)
    assert (found.exit_code, found.lost) == (0, None)
    assert [one.kind for one in found.reports] == [Kind.CONSTRUCTION]


@pytest.mark.usefixtures("warm_commands")
@pytest.mark.slow
def test_programs_after_which_no_file_can_be_opened(tmp_path: Path) -> None:
    (tmp_path / "odd.py").write_text("import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))\n")
    job = Job(script=str(tmp_path / "odd.py"))
    found = find_races(job, stdio=None)
    assert (found.exit_code, found.reports) == (0, ()) and "Too many open files" in (found.lost or "")
    wrong = exploring.explore_program(job, 1, stdio=None)
    assert "could not be written: OSError(24, 'Too many open files')" in wrong.failure
