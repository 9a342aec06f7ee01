"""``tf1sessions run`` on a terminal: the live table of several jobs, and a single job that has the terminal itself."""

from __future__ import annotations

import fcntl
import os
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator, Sequence

import pytest
from plain_jobs import DEADLINE, HERE, Plain

pytest_plugins = ("plain_fixture",)

ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")


class Terminal:
    """A terminal of 100 columns with a command in it, which leads its session: Ctrl-C works as typed."""

    def __init__(self, command: Sequence[str], rows: int = 30) -> None:
        self.raw = ""
        self.fd, inner = os.openpty()
        self.resize(rows, 100)
        self.process = subprocess.Popen(
            command,
            stdin=inner,
            stdout=inner,
            stderr=inner,
            env=dict(os.environ),  # as Python knows it: the readline library adds COLUMNS and LINES behind its back
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(inner)

    def resize(self, rows: int, columns: int) -> None:
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    @property
    def text(self) -> str:
        """All that was shown so far, without colours and movements."""
        return ESCAPES.sub("", self.raw)

    def type(self, keys: bytes) -> None:
        os.write(self.fd, keys)

    def until(self, condition: Callable[[], object], what: str) -> None:
        """Reads until ``condition()`` is true."""
        end = time.monotonic() + DEADLINE
        while not condition():
            assert time.monotonic() < end, f"waited for {what}; shown: {self.text[-2000:]!r}"
            assert self._read(), f"it ended before {what}; shown: {self.text[-2000:]!r}"

    def shows(self, text: str) -> None:
        self.until(lambda: text in self.text, repr(text))

    def end(self) -> int:
        """Reads to the end; returns the exit code."""
        end = time.monotonic() + DEADLINE
        while self._read():
            assert time.monotonic() < end, f"it does not end; shown: {self.text[-2000:]!r}"
        return self.process.wait(DEADLINE)

    def _read(self) -> bool:
        if not select.select([self.fd], [], [], 1.0)[0]:
            return True
        try:
            data = os.read(self.fd, 65536)
        except OSError:  # nothing has the terminal any more
            return False
        self.raw += data.decode("utf-8", "replace")
        return bool(data)


@pytest.fixture
def terminal(plain: Plain, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Terminal]]:
    monkeypatch.setenv("TERM", "xterm-256color")
    for name in ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    opened: list[Terminal] = []

    def open_one(*args: str, program: str = str(HERE / "plain_program.py"), rows: int = 30) -> Terminal:
        opened.append(Terminal([sys.executable, program, *args], rows))
        return opened[-1]

    yield open_one
    for one in opened:
        one.process.kill()
        one.process.wait(DEADLINE)
        os.close(one.fd)


WAITS = """
import os, time
print("epoch 7 loss 0.25")
while not os.path.exists("go"):
    time.sleep(0.02)
print("trained")
"""


def test_live_table_and_summary(
    plain: Plain, terminal: Callable[..., Terminal], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TF1SESSIONS_TEST_PRELOAD_WAITS", str(plain.folder / "loaded"))
    plain.script("long.py", WAITS)
    plain.script("bad.py", "print('x'); raise ValueError('bro\\x1b[2Jken')")
    plain.script("kill.py", "import os; os.kill(os.getpid(), 9)")
    shown = terminal("run", "--out", "run", "-j", "3", "long.py", "bad.py", "kill.py", "long.py")
    shown.shows("4 jobs, 3 at a time; logs in run")
    shown.shows("starting TensorFlow…")
    (plain.folder / "loaded").touch()
    shown.until(lambda: re.search(r"1 +long +running +\d+\.\d s +epoch 7 loss 0\.25", shown.text), "a running job")
    shown.until(lambda: re.search(r"2 +bad +failed +\d+\.\d s +ValueError: broken", shown.text), "a failed job")
    shown.until(lambda: re.search(r"3 +kill +killed +\d+\.\d s +killed by SIGKILL", shown.text), "a killed job")
    shown.shows("2 running, 1 failed, 1 killed")
    (plain.folder / "go").touch()
    assert shown.end() == 1
    assert "\x1b[2J" not in shown.raw  # what a log says does not reach the terminal as a command
    assert shown.raw.count("\x1b[?25l") == shown.raw.count("\x1b[?25h") == 1  # the cursor is back
    assert shown.raw.partition("\x1b[?25h")[2].lstrip("\r").startswith("\x1b[1A\x1b[2K")  # the table is wiped
    summary = shown.text[shown.text.rindex("   job") :]
    assert re.search(r"1 +long +done +\d+\.\d s +\d+ MB", summary)
    assert "  | ValueError: broken" in summary
    assert "2 of 4 jobs done, 1 failed, 1 killed" in summary


def test_terminal_that_cannot_draw(
    plain: Plain, terminal: Callable[..., Terminal], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setenv("NO_COLOR", "1")
    plain.script("quick.py")
    shown = terminal("run", "quick.py", "quick.py")
    assert shown.end() == 0
    assert "\x1b" not in shown.raw
    assert "[1/2] quick done after" in shown.text and "2 of 2 jobs done" in shown.text


def test_more_jobs_than_lines(plain: Plain, terminal: Callable[..., Terminal]) -> None:
    plain.script("quick.py")
    plain.script("long.py", WAITS)
    shown = terminal("run", "-j", "1", *["quick.py"] * 15, "long.py", *["quick.py"] * 15, rows=10)
    shown.shows("epoch 7 loss")
    shown.shows("15 done, 1 running, 15 pending (25 not shown)")
    (plain.folder / "go").touch()
    assert shown.end() == 0
    assert "31 of 31 jobs done" in shown.text


def test_ctrl_c_typed_twice(plain: Plain, terminal: Callable[..., Terminal]) -> None:
    plain.script("deaf.py", f"import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n{WAITS}")
    shown = terminal("run", "--out", "run", "--grace", "1000", "-j", "2", *["deaf.py"] * 3)
    shown.until(lambda: shown.text.count("epoch 7 loss 0.25") >= 2, "two running jobs")
    shown.type(b"\x03")
    shown.shows("Ctrl-C: ending 2 jobs; Ctrl-C again kills at once")
    shown.type(b"\x03")
    assert shown.end() == 130
    assert "killing 2 jobs" in shown.text
    assert "interrupted: 0 of 3 jobs done, 2 cancelled, 1 not started" in shown.text
    assert "To continue: tf1sessions run --resume run" in shown.text
    assert plain.states() == ["cancelled", "cancelled", "pending"]


def test_ctrl_c_reaches_a_job_once(plain: Plain, terminal: Callable[..., Terminal]) -> None:
    plain.script(
        "counts.py",
        """
        import time
        print("epoch 7", flush=True)
        try:
            while True:
                time.sleep(0.02)
        except KeyboardInterrupt:
            try:
                time.sleep(0.5)
            finally:
                print("tidied")
        """,
    )
    shown = terminal("run", "--out", "run", "counts.py", "counts.py", "-j", "2")
    shown.until(lambda: shown.text.count("epoch 7") >= 2, "two running jobs")
    shown.type(b"\x03")
    assert shown.end() == 130
    assert plain.log(0) == plain.log(1) == b"epoch 7\ntidied\n"


TALKS = """
import os, sys, time
print("colour \\x1b[31mred\\x1b[0m", os.get_terminal_size(), [s.isatty() for s in (sys.stdin, sys.stdout, sys.stderr)])
print("to stderr", file=sys.stderr)
for i in range(3):
    print("\\r%d%%" % i, end="", flush=True)
print()
print("you said", input("name? "))
"""


def test_single_job_has_the_terminal_as_under_python(plain: Plain, terminal: Callable[..., Terminal]) -> None:
    plain.script("talks.py", TALKS)
    shown, plainly = terminal("run", "--out", "run", "talks.py"), terminal(program="talks.py")
    for one in (shown, plainly):
        one.shows("name? ")
        one.type("Ada é\n".encode())
        assert one.end() == 0
    before, _, rest = shown.raw.partition("\r\x1b[K")
    ours = rest.rindex("tf1sessions: talks done after")
    assert before == "starting TensorFlow…"
    assert rest[:ours] == plainly.raw
    assert "you said Ada é" in plainly.raw and "[True, True, True]" in plainly.raw
    log = plain.log().decode()
    assert log.startswith("colour \x1b[31mred") and "\r\n" not in log and "you said Ada é\n" in log


def test_single_job_sees_the_terminals_new_size(plain: Plain, terminal: Callable[..., Terminal]) -> None:
    plain.script(
        "size.py",
        """
        import os, time
        print("before", os.get_terminal_size().columns)
        while os.get_terminal_size().columns == 100:
            time.sleep(0.02)
        print("after", os.get_terminal_size().columns)
        """,
    )
    shown = terminal("run", "size.py")
    shown.shows("before 100")
    shown.resize(40, 77)
    shown.shows("after 77")
    assert shown.end() == 0


def test_single_job_and_ctrl_c(plain: Plain, terminal: Callable[..., Terminal]) -> None:
    plain.script("one.py", "import time\nprint('begun')\nwhile True: time.sleep(0.02)")
    shown = terminal("run", "--out", "run", "one.py")
    shown.shows("begun")
    shown.type(b"\x03")
    assert shown.end() == 130
    assert "KeyboardInterrupt" in shown.text
    assert plain.states() == ["cancelled"]


def test_single_job_may_clean_up_for_as_long_as_it_takes(plain: Plain, terminal: Callable[..., Terminal]) -> None:
    plain.script(
        "one.py",
        """
        import os, time
        try:
            print("begun")
            while True: time.sleep(0.02)
        except KeyboardInterrupt:
            while not os.path.exists("go"): time.sleep(0.02)
            print("saved")
        """,
    )
    shown = terminal("run", "--out", "run", "one.py")
    shown.shows("begun")
    shown.type(b"\x03")
    shown.shows("still runs 5 s after Ctrl-C; Ctrl-C again kills it")
    (plain.folder / "go").touch()
    shown.shows("saved")
    assert shown.end() == 130


def test_ctrl_c_while_tensorflow_starts(
    plain: Plain, terminal: Callable[..., Terminal], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TF1SESSIONS_TEST_PRELOAD_WAITS", str(plain.folder / "never"))
    plain.script("one.py")
    for scripts in (["one.py"], ["one.py", "one.py"]):
        shown = terminal("run", *scripts)
        shown.shows("starting TensorFlow…")
        shown.type(b"\x03")
        assert shown.end() == 130
        assert "interrupted" in shown.text
