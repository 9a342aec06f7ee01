"""``tf1sessions run`` as a user calls it, in a process of its own, with jobs that need no TensorFlow."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import plain_program
import pytest
from plain_jobs import DEADLINE, HERE, Plain
from support import alive, wait_for

from tf1sessions.scripts.folder import RunFolder

pytest_plugins = ("plain_fixture",)

WAITS = """
import sys, time
print("begun", flush=True)
while True:
    time.sleep(0.02)
"""


# --------------------------------------------------------------------------------------------------- one script


def test_single_script_streams_and_gives_its_own_exit_code(plain: Plain) -> None:
    plain.script(
        "one.py",
        """
        import sys
        print("out", sys.argv[1:], sys.stdin.read())
        print("err", file=sys.stderr)
        sys.stdout.buffer.write(b"\\xff\\x00")
        sys.exit(5)
        """,
    )
    done = plain.cli("run", "--out", "run", "one.py", "--", "--x", "-j", "--", "y z", input=b"typed")
    assert done.returncode == 5
    assert done.stdout == b"out ['--x', '-j', '--', 'y z'] typed\n\xff\x00"
    assert done.stderr.startswith(b"err\n")
    assert b"one failed after" in done.stderr and b"exit code 5" in done.stderr and b"run/01-one.log" in done.stderr
    assert sorted(plain.log()) == sorted(b"err\nout ['--x', '-j', '--', 'y z'] typed\n\xff\x00")


@pytest.mark.parametrize(
    ("code", "returncode", "stdout", "stderr"),
    [
        ("", 0, b"", b""),
        ("import sys; sys.exit('text é')", 1, b"", "text é".encode()),
        ("import os; print('x', flush=True); os._exit(7)", 7, b"x\n", b""),
        ("import os; os.kill(os.getpid(), 9)", 137, b"", b"killed by SIGKILL"),
        ("import os; os.abort()", 134, b"", b"killed by SIGABRT"),
        ("print('x'", 1, b"", b"SyntaxError"),
        ("import nonsense_module", 1, b"", b"ModuleNotFoundError"),
        ("import builtins; del builtins.open; raise ValueError('x')", 1, b"", b"ValueError: x"),
        ("import builtins, sys; builtins.open = None; sys.exit(3)", 3, b"", b"one"),
    ],
)
def test_end_of_a_single_script(plain: Plain, code: str, returncode: int, stdout: bytes, stderr: bytes) -> None:
    plain.script("one.py", code)
    done = plain.cli("run", "one.py")
    assert (done.returncode, done.stdout) == (returncode, stdout)
    assert stderr in done.stderr
    assert b"one" in done.stderr.splitlines()[-1]


@pytest.mark.parametrize("code", [0, 3])
def test_end_where_python_is_to_inspect(plain: Plain, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    """By a variable that users export: plain Python would print the exit code as an error, and give another."""
    monkeypatch.setenv("PYTHONINSPECT", "1")
    plain.script("one.py", f"import sys; print('x'); sys.exit({code})")
    done = plain.cli("run", "one.py")
    assert (done.returncode, done.stdout) == (code, b"x\n")
    assert b"SystemExit" not in done.stderr and len(done.stderr.splitlines()) == 1


def test_single_script_with_closed_streams(plain: Plain) -> None:
    plain.script("one.py", "import sys; print(repr(sys.stdin.read()))")
    command = [sys.executable, str(HERE / "plain_program.py"), "run", "one.py"]
    done = subprocess.run(["sh", "-c", '"$@" <&-', "sh", *command], capture_output=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, b"''\n")


def shell(plain: Plain, words: str, *args: str) -> subprocess.CompletedProcess[bytes]:
    """The command with what a shell does to its streams."""
    command = [sys.executable, str(HERE / "plain_program.py"), *args]
    return subprocess.run(["sh", "-c", f'"$@" {words}', "sh", *command], capture_output=True, timeout=DEADLINE)


@pytest.mark.parametrize(
    ("words", "code", "stdout", "stderr"),
    [
        (">&-", 5, b"", b"err\n"),
        ("2>&-", 5, b"out\n", b""),
        ("<&- >&- 2>&-", 5, b"", b""),
        (">/dev/full", 5, b"", b"the output could not be written: No space left on device"),
        ("2>/dev/full", 5, b"out\n", b""),
        (">/dev/full 2>&1", 5, b"", b""),
    ],
)
def test_streams_that_take_nothing(plain: Plain, words: str, code: int, stdout: bytes, stderr: bytes) -> None:
    plain.script(
        "one.py",
        """
        import os
        for fd, text in ((1, b"out\\n"), (2, b"err\\n")):
            try:
                os.write(fd, text)
            except BrokenPipeError:  # where it was written so late that it is known
                pass
        os._exit(5)
        """,
    )
    done = shell(plain, words, "run", "--out", "run", "one.py")
    assert (done.returncode, done.stdout) == (code, stdout)
    assert stderr in done.stderr
    assert plain.states() == ["failed"] and b"out" in plain.log()
    assert b"err" in plain.log() or words.endswith("2>&1")  # of one stream, nothing after the first failure
    plain.script("good.py", "print('x')")
    ends = (1, 120) if words.startswith(">/dev/full") else (0,)  # an error of the script's, or lost without one
    assert shell(plain, words, "run", "good.py").returncode in ends
    assert shell(plain, words, "run", "good.py", "good.py").returncode == 0  # these write to their logs


@pytest.mark.parametrize("seen", [b"starting", b"yyy"], ids=["before the script writes", "while it writes"])
def test_terminal_that_goes_away(plain: Plain, seen: bytes) -> None:
    """Closed, it gives the script the error that it would have got, and the command ends and keeps the reason."""
    plain.script("yes.py", "import time\nwhile True:\n    print('y' * 100, flush=True)\n    time.sleep(0.001)")
    ours, theirs = os.openpty()
    with plain.start("run", "--out", "run", "yes.py", stdout=theirs, stderr=theirs, start_new_session=True) as process:
        os.close(theirs)
        shown = b""
        while seen not in shown:
            shown += os.read(ours, 100)
        os.close(ours)
        assert process.wait(DEADLINE) == 1
    (record,) = json.loads(Path(plain.folder, "run", "jobs.json").read_text("utf-8"))
    assert record["state"] == "failed" and "the output could not be written: Input/output error" in record["error"]
    if seen == b"starting":  # later, what the script says of it is lost with the terminal, its stderr
        assert b"Error" in plain.log()


def test_finished_script_is_not_cancelled(plain: Plain) -> None:
    """A stopped pager takes nothing: the script is over, its output is not."""
    plain.script("one.py", "import os; open('pid', 'w').write(str(os.getpid())); os.write(1, b'x' * 100_000)")
    ours, theirs = os.pipe()
    with plain.start("run", "--out", "run", "--grace", "0.5", "one.py", stdout=theirs) as process:
        os.close(theirs)
        log = Path(plain.folder, "run", "01-one.log")
        wait_for(lambda: log.exists() and log.stat().st_size == 100_000, "the script's output", DEADLINE)
        pid = Path(plain.folder, "pid").read_text()
        wait_for(lambda: not os.path.exists(f"/proc/{pid}"), "the end of its process", DEADLINE)
        process.send_signal(signal.SIGINT)
        process.wait(DEADLINE)
    os.close(ours)
    assert plain.states() == ["done"]


def test_reader_that_leaves_ends_the_script_as_under_python(plain: Plain) -> None:
    plain.script("yes.py", "while True: print('y' * 100)")
    command = [sys.executable, str(HERE / "plain_program.py"), "run", "--out", "run", "yes.py"]
    done = subprocess.run(["sh", "-c", '"$@" | head -1', "sh", *command], capture_output=True, timeout=60)
    assert done.stdout == b"y" * 100 + b"\n"
    assert b"BrokenPipeError" in done.stderr
    assert plain.states() == ["failed"]


def test_module(plain: Plain) -> None:
    plain.script("pack/__init__.py")
    plain.script("pack/mod.py", "import sys; print(__name__, __package__, sys.argv[1:])")
    done = plain.cli("run", "-m", "pack.mod", "--", "--x")
    assert (done.returncode, done.stdout) == (0, b"__main__ pack ['--x']\n")


# ------------------------------------------------------------------------------------------------------- several


def test_several_scripts(plain: Plain) -> None:
    plain.script("good.py", "import sys; print('hello', sys.argv[1])")
    plain.script("bad.py", "def f():\n    raise ValueError('broken')\nprint('before')\nf()")
    plain.script("kill.py", "import os; os.kill(os.getpid(), 9)")
    done = plain.cli("run", "--out", "run", "good.py", "bad.py", "kill.py", "good.py", "-j", "2", "--", "you")
    assert (done.returncode, done.stderr) == (1, b"")
    text = done.stdout.decode()
    assert "\x1b" not in text
    assert text.startswith("4 jobs, 2 at a time; logs in run\n")
    for words in ("[1/4] good started", "[1/4] good done after", "[2/4] bad failed", "ValueError: broken"):
        assert words in text
    assert "[3/4] kill killed by SIGKILL" in text
    assert "2 of 4 jobs done, 1 failed, 1 killed" in text
    assert "  | ValueError: broken" in text and "  | Traceback" in text
    assert "tf1sessions run --resume run" in text
    assert plain.log(0) == plain.log(3) == b"hello you\n"
    assert {record["log"] for record in plain.records()} == {"01-good.log", "02-bad.log", "03-kill.log", "04-good.log"}
    for record in plain.records():
        assert set(record) >= {"script", "args", "state", "exit_code", "seconds", "peak_memory_mb", "log"}
        assert record["args"] == ["you"]


def test_all_good_is_exit_code_zero(plain: Plain) -> None:
    plain.script("a.py")
    done = plain.cli("run", "a.py", "a.py")
    assert done.returncode == 0
    assert b"2 of 2 jobs done, in" in done.stdout
    assert b"resume" not in done.stdout
    (run,) = (plain.folder / "runs").iterdir()
    assert sorted(path.name for path in run.iterdir()) == [".jobs", ".lock", "01-a.log", "02-a.log", "jobs.json"]


def test_reader_that_leaves_does_not_end_the_jobs(plain: Plain) -> None:
    plain.script("a.py", "print(1)")
    command = [sys.executable, str(HERE / "plain_program.py"), "run", "--out", "run", *["a.py"] * 8, "-j", "1"]
    done = subprocess.run(["sh", "-c", '"$@" | head -1', "sh", *command], capture_output=True, timeout=60)
    assert done.stdout == b"8 jobs, 1 at a time; logs in run\n"
    assert done.stderr == b""
    assert plain.states() == ["done"] * 8


def test_json_is_alone_on_stdout(plain: Plain) -> None:
    plain.script("a.py", "print('noise')")
    plain.script("b.py", "import sys; sys.exit(3)")
    done = plain.cli("run", "--json", "--out", "run", "a.py", "b.py")
    summary = json.loads(done.stdout)
    assert (done.returncode, summary["exit_code"], summary["folder"]) == (1, 1, "run")
    assert summary["counts"] == {"done": 1, "failed": 1}
    assert summary["jobs"] == plain.records()
    assert b"a done" in done.stderr
    single = plain.cli("run", "--json", "a.py")
    assert json.loads(single.stdout)["jobs"][0]["state"] == "done"


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_names_that_the_terminal_cannot_show(plain: Plain, monkeypatch: pytest.MonkeyPatch, encoding: str) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", encoding)
    names = [os.fsdecode(b"\xff.py"), "名前.py"]
    for name in names:
        plain.script(name, "import sys; sys.exit(3)")
    done = plain.cli("run", "--out", "run", *names)
    assert (done.returncode, done.stderr, plain.states()) == (1, b"", ["failed", "failed"])
    assert b"udcff failed after" in done.stdout


def test_job_file(plain: Plain) -> None:
    plain.script("train.py", "import os, sys; print(sys.argv[1:], os.environ['SEED'])")
    plain.script(
        "search.toml",
        """
        [[job]]
        script = "train.py"
        env = {SEED = "{repeat}"}
        repeat = 2
        [job.grid]
        rate = [0.1, 0.01]
        """,
    )
    dry = plain.cli("run", "search.toml", "--threads", "2", "--dry-run", "--", "--last")
    assert dry.returncode == 0
    assert b"SEED=1 python train.py --rate=0.01 --last" in dry.stdout
    assert b"threads = 2" in dry.stdout and b"4 jobs to run" in dry.stdout
    assert json.loads(plain.cli("run", "search.toml", "--dry-run", "--json").stdout)[3]["args"] == ["--rate=0.01"]
    assert not (plain.folder / "runs").exists()
    done = plain.cli("run", "search.toml", "--out", "run", "-j", "3")
    assert done.returncode == 0
    assert [plain.log(index).decode() for index in range(4)] == [
        "['--rate=0.1'] 0\n",
        "['--rate=0.1'] 1\n",
        "['--rate=0.01'] 0\n",
        "['--rate=0.01'] 1\n",
    ]


def test_fail_fast_and_retries(plain: Plain) -> None:
    plain.script("bad.py", "import sys; print('try'); sys.exit(9)")
    plain.script("good.py")
    done = plain.cli("run", "--fail-fast", "--retries", "1", "-j", "1", "--out", "run", "bad.py", "good.py")
    assert done.returncode == 1
    assert plain.states() == ["failed", "skipped"]
    assert plain.log().count(b"try\n") == 2
    assert b"1 skipped" in done.stdout


def test_time_limit(plain: Plain) -> None:
    plain.script("long.py", WAITS)
    plain.script("good.py")
    done = plain.cli("run", "--time-limit", "0.5", "--out", "run", "long.py", "good.py", "-j", "2")
    assert (done.returncode, plain.states()) == (1, ["timeout", "done"])
    assert b"ran longer than 0.5 s" in done.stdout
    assert plain.cli("run", "--time-limit", "0.5", "long.py").returncode == 124


def test_preload_that_fails_is_one_clear_error(plain: Plain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TF1SESSIONS_TEST_PRELOAD_FAILS", "1")
    plain.script("a.py")
    done = plain.cli("run", "a.py", "a.py")
    assert done.returncode == 1
    assert b"Error:" in done.stderr and b"no TensorFlow here" in done.stderr
    assert b"tf1sessions/cli" not in done.stderr


# ---------------------------------------------------------------------------------------------------- wrong calls


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ([], "Nothing to run"),
        (["none.py"], "cannot run 'none.py': No such file"),
        (["good.py", "none.py"], "cannot run 'none.py'"),
        (["folder"], "cannot run 'folder': it is a folder"),
        (["good.py", "--epochs", "3"], "No such option '--epochs'|Arguments for the scripts themselves come after --"),
        (["-j", "0", "good.py"], "-j|0"),
        (["-j", "-1", "good.py"], "-j|-1"),
        (["-j", "x", "good.py"], "-j|'x'"),
        (["--memory-fraction", "0", "good.py"], "--memory-fraction|0.0 is not a number above 0 and at most 1"),
        (["--memory-fraction", "nan", "good.py"], "--memory-fraction|nan"),
        (["--memory-fraction", "1.5", "good.py"], "--memory-fraction|1.5"),
        (["--memory-limit-mb", "0", "good.py"], "--memory-limit-mb|0"),
        (["--time-limit", "0", "good.py"], "--time-limit|0.0"),
        (["--time-limit", "inf", "good.py"], "--time-limit|inf"),
        (["--retries", "-1", "good.py"], "--retries|-1"),
        (["--threads", "0", "good.py"], "--threads|0"),
        (["--grace", "nan", "good.py"], "--grace|nan"),
        (["--queue-grace", "-1", "good.py"], "--queue-grace|-1.0 is not a number of seconds of 0 or more"),
        (["--queue-grace", "x", "good.py"], "--queue-grace|'x'"),
        (["-j", "99999999999", "good.py"], "-j|99999999999 is not in the range"),
        (["--time-limit", "nan", "good.py"], "--time-limit|nan is not a number of seconds above 0"),
        (["--time-limit", "-1", "good.py"], "--time-limit|-1.0 is not a number of seconds above 0"),
        (["--time-limit", "1e400", "good.py"], "--time-limit|inf is not a number of seconds above 0"),
        (["--time-limit", "1e10", "good.py"], "--time-limit|10000000000.0 is more than 1,000,000,000 seconds"),
        (["--grace", "1e300", "good.py"], "--grace|at most 1,000,000,000"),
        (["--queue-grace", "1e300", "good.py"], "--queue-grace|is more than 1,000,000,000 seconds"),
        (["--retries", "9" * 30, "good.py"], "--retries|is more than 1,000,000"),
        (["--threads", "9" * 30, "good.py"], "--threads|is more than 10,000"),
        (["--threads", "9" * 6000, "good.py"], "--threads|is not a valid integer"),
        (["--memory-limit-mb", "9" * 30, "good.py"], "--memory-limit-mb|is more than 1,000,000,000"),
        (["--gpus", "x" * 5000, "good.py"], "--gpus|more than 4,096 characters"),
        (["--gpus", "0,x", "good.py"], "--gpus|'x' is no GPU: give numbers with commas between"),
        (["good.py"] * 10_001, "these are 10,001 jobs, and a run may have 10,000"),
        (["--resume", "deep"], "is not the record of a run: RecursionError"),
        (["--queue-grace", "nan", "good.py"], "--queue-grace|nan is not a number of seconds of 0 or more"),
        (["-m", "mod", "good.py"], "both -m mod and good.py"),
        (["--resume", "nowhere"], "no run to resume in 'nowhere'"),
        (["--resume", "x", "--out", "y"], "--out y with --resume x"),
        (["--resume", "run", "--", "--epochs", "3"], "-- --epochs 3 with --resume run|leave these out"),
        (["--resume", "run", "--dry-run", "--", "3"], "-- 3 with --resume run"),
        (["--out", "", "good.py"], "the folder has no name (from --out)"),
        (["--ray", "", "good.py"], "the address is empty (from --ray)"),
        (["--resume", ""], "the folder has no name (from --resume)"),
        (["-m", ""], "the name of a program is empty (from -m)"),
        (["good.py", ""], "the name of a program is empty (from SCRIPT)"),
        (["good.py", "3"], "there is no script 3. Arguments come after --: tf1sessions run good.py -- 3"),
        (["--out", "good.py", "good.py"], "run folder 'good.py'"),
        (["wrong.toml"], "wrong.toml|job 1: script|3"),
    ],
)
def test_wrong_call_is_exit_code_two_before_anything_starts(plain: Plain, args: list[str], words: str) -> None:
    plain.script("good.py", "open('ran', 'w')")
    plain.script("wrong.toml", "[[job]]\nscript = 3")
    (plain.folder / "folder").mkdir()
    plain.script("deep/jobs.json", "[" * 100_000)
    before = sorted(os.listdir(plain.folder))
    done = plain.cli("run", *args)
    assert (done.returncode, done.stdout) == (2, b"")
    for word in words.split("|"):
        assert word in done.stderr.decode()
    assert "Traceback" not in done.stderr.decode()
    assert sorted(os.listdir(plain.folder)) == before


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ('queue_grace = "a"', "settings.queue_grace: 'a' is not a number of seconds of 0 or more"),
        ("queue_grace = -1", "settings.queue_grace: -1 is not a number of seconds of 0 or more"),
        ("queue_grace = nan", "settings.queue_grace: nan is not a number of seconds of 0 or more"),
        ('memory = "x"', "settings.memory: there is no such setting; known: memory_fraction, memory_limit_mb"),
        ('memory_fraction = "x"', "settings.memory_fraction: 'x' is not a number above 0 and at most 1"),
        ("memory_limit_mb = -1", "settings.memory_limit_mb: -1 is not a whole number of 1 or more"),
        ("visible_devices = 3", "settings.visible_devices: 3 is not a text"),
    ],
)
def test_wrong_setting_of_a_job_file(plain: Plain, setting: str, words: str) -> None:
    plain.script("good.py", "open('ran', 'w')")
    plain.script("jobs.toml", f'[[job]]\nscript = "good.py"\nsettings = {{{setting}}}')
    before = sorted(os.listdir(plain.folder))
    done = plain.cli("run", "jobs.toml")
    assert (done.returncode, done.stdout) == (2, b"")
    assert words in done.stderr.decode() and "(from line 3 of the job file jobs.toml)" in done.stderr.decode()
    assert "Traceback" not in done.stderr.decode()
    assert sorted(os.listdir(plain.folder)) == before


def test_folder_that_cannot_be_written(plain: Plain) -> None:
    plain.script("a.py")
    done = plain.cli("run", "--out", "/proc/run", "a.py")
    assert done.returncode == 2
    assert b"run folder '/proc/run'" in done.stderr


# ----------------------------------------------------------------------------------------- interruption and resume


def begun(plain: Plain, count: int, run: str = "run") -> None:
    """Waits until so many logs have the first line of WAITS, with its end: the two are written one after the other."""

    def logs() -> int:
        return sum(b"begun\n" in path.read_bytes() for path in Path(plain.folder, run).glob("*.log"))

    wait_for(lambda: logs() >= count, f"{count} jobs to begin", DEADLINE)


@pytest.mark.parametrize(("signum", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_interrupt_and_resume(plain: Plain, signum: int, code: int) -> None:
    plain.script("good.py", "open('ran', 'a').write('x')")
    plain.script("long.py", f"import os\nif os.path.exists('quick'): raise SystemExit\n{WAITS}")
    args = ["good.py", "long.py", "long.py", "good.py"]
    with plain.start("run", "--out", "run", "-j", "2", *args) as process:
        begun(plain, 2)
        process.send_signal(signum)
        stdout, stderr = process.communicate(timeout=60)
    assert (process.returncode, stderr) == (code, b"")
    assert plain.states() == ["done", "cancelled", "cancelled", "pending"]
    text = stdout.decode()
    assert "ending 2 jobs" in text
    assert "interrupted: 1 of 4 jobs done, 2 cancelled, 1 not started" in text
    assert "To continue: tf1sessions run --resume run" in text
    (plain.folder / "quick").touch()
    refused = plain.cli("run", "--resume", "run", *args, "good.py")
    assert (refused.returncode, b"has 4 jobs, and 5 are given" in refused.stderr) == (2, True)
    resumed = plain.cli("run", "--resume", "run")
    assert resumed.returncode == 0
    assert b"3 jobs, 1 done before" in resumed.stdout
    assert (plain.folder / "ran").read_text() == "xx"
    assert plain.log(1).startswith(b"begun\n")  # what the first attempt wrote stays


def test_second_interrupt_kills_a_job_that_does_not_listen(plain: Plain) -> None:
    plain.script("deaf.py", f"import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n{WAITS}")
    with plain.start("run", "--out", "run", "--grace", "1000", "deaf.py", "deaf.py", "-j", "2") as process:
        begun(plain, 2)
        process.send_signal(signal.SIGINT)
        line = b""
        while b"Ctrl-C: ending" not in line:
            line = process.stdout.readline()  # type: ignore[union-attr]
            assert line
        process.send_signal(signal.SIGINT)
        stdout, _ = process.communicate(timeout=60)
    assert (process.returncode, plain.states()) == (130, ["cancelled", "cancelled"])
    assert b"killing 2 jobs" in stdout
    assert plain.records()[0]["signal"] == "SIGKILL"


def test_interrupt_of_a_single_script_is_its_own(plain: Plain) -> None:
    plain.script(
        "one.py",
        """
        import time
        try:
            print("begun", flush=True)
            while True:
                time.sleep(0.02)
        except KeyboardInterrupt:
            print("saved", flush=True)
            raise
        """,
    )
    with plain.start("run", "--out", "run", "one.py") as process:
        begun(plain, 1)
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=60)
    assert (process.returncode, stdout) == (130, b"begun\nsaved\n")
    assert b"KeyboardInterrupt" in stderr
    assert plain.states() == ["cancelled"]


@pytest.mark.parametrize("count", [1, 2])
def test_stopped_and_continued(plain: Plain, count: int) -> None:
    """Ctrl-Z: nothing runs on, and no time counts."""
    plain.script(
        "one.py",
        """
        import os, time
        print("begun", flush=True)
        while not os.path.exists("end"):
            os.utime(__file__)
            time.sleep(0.01)
        """,
    )
    plain.script("two.py", WAITS.replace("while True:", "import os\nwhile not os.path.exists('end'):"))
    names = ["one.py", "two.py"][:count]
    with plain.start("run", "--out", "run", "--time-limit", "20", "-j", "2", *names) as process:
        begun(plain, count)
        process.send_signal(signal.SIGTSTP)
        _, status = os.waitpid(process.pid, os.WUNTRACED)
        assert os.WIFSTOPPED(status)

        def stopped() -> int:
            return sum("\nState:\tT" in Path(f"/proc/{pid}/status").read_text() for pid in plain.strays())

        wait_for(lambda: stopped() == 1 + count, "the command and each job's process to stop", DEADLINE)
        beats = os.stat(plain.folder / "one.py").st_mtime_ns
        process.send_signal(signal.SIGCONT)
        wait_for(lambda: os.stat(plain.folder / "one.py").st_mtime_ns > beats, "the job to go on", DEADLINE)
        plain.script("end")
        assert process.wait(DEADLINE) == 0
    assert plain.states() == ["done"] * count


def test_folder_that_is_deleted_or_full(plain: Plain) -> None:
    """The others go on, the jobs keep what they have earned, and what could not be written is said at the end."""
    # Under another name first: the command may write into the folder while it is deleted.
    plain.script("deletes.py", "import os, shutil; os.rename('run', 'gone'); shutil.rmtree('gone'); print('kept')")
    plain.script("good.py", "print('good')")
    done = plain.cli("run", "--out", "run", "-j", "1", "deletes.py", "good.py")
    assert (done.returncode, plain.states()) == (0, ["done", "done"])
    assert (plain.log(0), plain.log(1)) == (b"kept\n", b"good\n")
    plain.script(
        "fills.py",
        """
        import os, resource
        command = int(open(f"/proc/{os.getppid()}/stat").read().rpartition(")")[2].split()[1])
        resource.prlimit(command, resource.RLIMIT_FSIZE, (0, 0))
        """,
    )
    done = plain.cli("run", "--out", "full", "-j", "1", "fills.py", "good.py", "good.py")
    assert done.returncode == 0 and b"3 of 3 jobs done" in done.stdout
    assert b"jobs.json could not be written: [Errno 27] File too large" in done.stdout
    assert plain.log(1, "full") == b"good\n"
    (plain.folder / "fills.py").write_text("")
    assert plain.cli("run", "--resume", "full").returncode == 0 and plain.states("full") == ["done"] * 3


def test_folder_that_becomes_a_file(plain: Plain) -> None:
    plain.script("replaces.py", "import os, shutil; os.rename('run', 'gone'); open('run', 'w'); shutil.rmtree('gone')")
    plain.script("bad.py", "import sys; print('words'); sys.exit(3)")
    done = plain.cli("run", "--out", "run", "-j", "1", "replaces.py", "bad.py")
    assert done.returncode == 1 and b"1 of 2 jobs done, 1 failed" in done.stdout
    assert (
        b"bad its log could not be made: [Errno 17]" in done.stdout and b"jobs.json could not be written" in done.stdout
    )


PASSED_ON = [
    signal.SIGUSR1,
    signal.SIGUSR2,
    signal.SIGALRM,
    signal.SIGQUIT,
    signal.SIGABRT,
    signal.SIGXCPU,
    signal.SIGRTMIN,
    signal.SIGRTMIN + 3,
]


def test_signals_are_the_scripts(plain: Plain) -> None:
    """Its handlers get them, and no process that it has started does."""
    code = f"""
        import os, signal, subprocess, sys, time
        signals = {list(map(int, PASSED_ON))}
        child = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
        got = []
        for signum in signals: signal.signal(signum, lambda signum, frame: got.append(signum))
        print("begun", flush=True)
        while len(got) < len(signals): time.sleep(0.02)
        child.stdin.close()
        print(sorted(got) == sorted(signals), child.wait())
        """
    plain.script("one.py", code)
    plain.script("two.py", code)
    with plain.start("run", "--out", "run", "one.py") as process:
        begun(plain, 1)
        for signum in PASSED_ON:
            process.send_signal(signum)
        stdout, _ = process.communicate(timeout=60)
    assert (process.returncode, stdout) == (0, b"begun\nTrue 0\n")
    with plain.start("run", "--out", "both", "-j", "2", "one.py", "two.py") as process:
        begun(plain, 2, "both")
        for signum in PASSED_ON:
            if signum != signal.SIGQUIT:
                process.send_signal(signum)
        process.send_signal(signal.SIGQUIT)  # ends a run of several jobs, as Ctrl-C does
        process.communicate(timeout=60)
    assert (process.returncode, plain.states("both")) == (128 + signal.SIGQUIT, ["cancelled", "cancelled"])


@pytest.mark.parametrize("signum", PASSED_ON)
def test_signals_that_a_script_has_no_handler_for_end_it_as_under_python(plain: Plain, signum: int) -> None:
    plain.script("one.py", WAITS)
    with plain.start("run", "--out", "run", "one.py") as process:
        begun(plain, 1)
        process.send_signal(signum)
        _, stderr = process.communicate(timeout=60)
    name = signal.Signals(signum).name if signum != signal.SIGRTMIN + 3 else f"signal {signum}"
    assert (process.returncode, plain.states()) == (128 + signum, ["killed"])
    assert f"tf1sessions: one killed by {name} after ".encode() in stderr


def test_signal_before_the_script_begins(plain: Plain) -> None:
    plain.script("one.py", "open('ran', 'w')")
    env = os.environ | {plain_program.PRELOAD_WAITS: str(plain.folder / "never")}
    with plain.start("run", "--out", "run", "one.py", env=env) as process:
        wait_for(lambda: (plain.folder / "run" / "jobs.json").exists(), "the run", DEADLINE)
        process.send_signal(signal.SIGUSR1)
        process.communicate(timeout=60)
    assert (process.returncode, plain.states(), (plain.folder / "ran").exists()) == (138, ["pending"], False)


@pytest.mark.parametrize(
    ("code", "stderr"),
    [
        ("import sys; sys.stderr.write('50%')", b"50%\n"),
        ("import sys; sys.stderr.write('a\\n')", b"a\n"),
        ("import sys; sys.stdout.write('50%')", b""),
        ("import os; os.write(2, b'\\r50%\\r')", b"\r50%\r\n"),
    ],
)
def test_our_line_is_one_of_its_own(plain: Plain, code: str, stderr: bytes) -> None:
    plain.script("one.py", code)
    said = plain.cli("run", "one.py").stderr
    assert said.partition(b"tf1sessions: ")[0] == stderr


def test_ignored_signals_stay_ignored(plain: Plain) -> None:
    plain.script("one.py", "import sys; print('begun', flush=True); sys.stdin.read()")
    command = [sys.executable, str(HERE / "plain_program.py"), "run", "--out", "run", "one.py"]
    code = f"import os, signal; signal.signal(signal.SIGHUP, signal.SIG_IGN); os.execv({command[0]!r}, {command!r})"
    with plain.start(program=["-c", code], stdin=subprocess.PIPE) as process:
        begun(plain, 1)
        process.send_signal(signal.SIGHUP)
        process.communicate(timeout=60)
    assert (process.returncode, plain.states()) == (0, ["done"])


def test_kill_dash_nine_leaves_a_true_record_and_no_process(plain: Plain) -> None:
    plain.script("good.py", "open('ran', 'a').write('x')")
    lives_on = (
        "import os, signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint(os.getpid(), file=open('pid', 'w'))"
    )
    plain.script("long.py", f"{lives_on}\nif os.path.exists('quick'): raise SystemExit\n{WAITS}")
    with plain.start("run", "--out", "run", "-j", "1", "good.py", "long.py", "good.py") as process:
        begun(plain, 1)
        process.kill()
        process.communicate(timeout=60)
    RunFolder.resume(plain.folder / "run").close()  # waits for the job, which ends a second after the command
    assert not alive(int((plain.folder / "pid").read_text()))
    wait_for(lambda: not plain.strays(), "server and jobs to end with the command", DEADLINE)
    assert plain.states() == ["done", "running", "pending"]
    (plain.folder / "quick").touch()
    done = plain.cli("run", "--resume", "run", "good.py", "long.py", "good.py")
    assert (done.returncode, plain.states()) == (0, ["done"] * 3)
    assert (plain.folder / "ran").read_text() == "xx"


def test_two_runs_in_one_folder_are_refused(plain: Plain) -> None:
    plain.script("long.py", WAITS)
    with plain.start("run", "--out", "run", "long.py", "long.py") as process:
        begun(plain, 1)
        second = plain.cli("run", "--resume", "run")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    assert second.returncode == 2
    assert b"another run uses the folder 'run' now" in second.stderr


# ------------------------------------------------------------------------------------------------- requirements


def test_requirements_that_are_not_met_are_said_before_the_run(plain: Plain) -> None:
    plain.script("one.py", "print('ran')")
    Path("requirements.txt").write_text("no-such-distribution==1.0\nnumpy>=1\n")
    done = plain.cli("run", "--requirements", "requirements.txt", "--out", "a", "one.py")
    assert (done.returncode, done.stdout) == (0, b"ran\n")
    first, _, row = done.stderr.decode().splitlines()[:3]
    assert first.startswith("tf1sessions: 1 of 2 requirements of requirements.txt are not met on Python 3.")
    assert row.split() == ["no-such-distribution==1.0", "not", "installed"]
    done = plain.cli("run", "--json", "--requirements", "requirements.txt", "--out", "b", "one.py")
    given = json.loads(done.stdout)
    assert [one["name"] for one in given["requirements"]] == ["no-such-distribution"] and given["counts"] == {"done": 1}
    done = plain.cli("run", "--json", "--out", "c", "one.py")
    assert "requirements" not in json.loads(done.stdout)


def test_requirements_that_cannot_be_read_are_a_wrong_call(plain: Plain) -> None:
    plain.script("one.py", "print('ran')")
    Path("requirements.txt").write_text("numpy\nnumpy is fine\n")
    for name, words in (("requirements.txt", b"requirements.txt:2"), ("gone.txt", b"gone.txt cannot be read")):
        done = plain.cli("run", "--requirements", name, "--out", "a", "one.py")
        assert (done.returncode, done.stdout) == (2, b"") and words in done.stderr
        assert not Path("a").exists()
