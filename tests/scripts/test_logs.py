"""The ends of logs: what is shown of them, whatever bytes they hold."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tf1sessions.scripts.logs import error_line, last_line, log_tail, our_messages, traceback_tail


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "job.log"


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b"", ""),
        (b"\n\n", ""),
        (b"one\ntwo", "two"),
        (b"one\ntwo\n\n", "two"),
        (b"one\r\ntwo\r\n", "two"),
        (b" 10%\r 50%\r 90%", " 90%"),
        (b" 10%\r 50%\r", " 50%"),
        (b"\x1b[32mgreen\x1b[0m \x1b]0;title\x07text", "green text"),
        (b"bell\x07 nul\x00 back\x08", "bell\ufffd nul\ufffd back\ufffd"),
        (b"caf\xc3\xa9 \xff", "caf\u00e9 \ufffd"),
        (b"\xe2\x80\xaeflipped", "\ufffdflipped"),
        (b"a\tb", "a       b"),
        (b"x" * 5000, "x" * 4096),
    ],
)
def test_last_line(log: Path, data: bytes, line: str) -> None:
    log.write_bytes(data)
    assert last_line(log) == line


def test_log_that_is_not_there(log: Path) -> None:
    assert last_line(log) == ""
    assert log_tail(log) == []
    assert traceback_tail(log) == []


@pytest.mark.parametrize("kind", ["pipe", "link", "device"])
def test_what_is_no_regular_file_is_not_read(log: Path, kind: str) -> None:
    """In a process of its own, which can be ended where a pipe is waited for."""
    if kind == "pipe":
        os.mkfifo(log)
    else:
        (log.parent / "mine").write_text("tf1sessions: WARNING:tensorflow:mine\nWARNING:tensorflow:mine\n")
        log.symlink_to(log.parent / "mine" if kind == "link" else "/dev/zero")
    code = """
import sys
from pathlib import Path
from tf1sessions.scripts.logs import count_deprecations, error_line, last_line, log_tail, our_messages, traceback_tail

log = Path(sys.argv[1])
print(log_tail(log), last_line(log), error_line(log), our_messages(log), traceback_tail(log), count_deprecations(log))
"""
    done = subprocess.run([sys.executable, "-c", code, str(log)], capture_output=True, text=True, timeout=30)
    assert done.stdout == "[]  exit code 1; it wrote nothing () [] 0\n", done.stderr


def test_only_the_end_of_a_long_log_is_read(log: Path) -> None:
    with open(log, "wb") as file:
        file.truncate(2**33)  # 8 GiB of nothing, were it read
        file.seek(0, 2)
        file.write(b"\nlast\n")
    assert last_line(log) == "last"


def test_last_traceback(log: Path) -> None:
    first = ["Traceback (most recent call last):", '  File "a.py", line 1, in <module>', "KeyError: 1"]
    second = ["Traceback (most recent call last):", '  File "b.py", line 2, in f', "ValueError: 2"]
    log.write_text("\n".join(["epoch 1", *first, "epoch 2", *second, ""]))
    assert traceback_tail(log) == second


def test_long_traceback_keeps_its_head_and_its_end(log: Path) -> None:
    lines = ["Traceback (most recent call last):", *(f"  line {index}" for index in range(50)), "ValueError: 2"]
    log.write_text("\n".join(lines))
    assert traceback_tail(log, 6) == [lines[0], "  ...", *lines[-4:]]


def test_without_a_traceback_the_last_lines(log: Path) -> None:
    log.write_text("\n\n".join(map(str, range(9))))
    assert traceback_tail(log) == ["4", "5", "6", "7", "8"]


ERROR = b"step 1\nTraceback (most recent call last):\n  File 'a.py', line 1\nValueError: broken\nmore of it\n"


@pytest.mark.parametrize(
    ("data", "exit_code", "error"),
    [
        (ERROR, 1, "ValueError: broken"),
        (ERROR, None, "ValueError: broken"),
        (b"", None, None),
        (b"it has no process", None, "it has no process"),
        (b"the only result\n\n", 1, "exit code 1; the last that it wrote: the only result"),
        (b"the only result", 3, "exit code 3; the last that it wrote: the only result"),
        (ERROR, 3, "exit code 3; the last that it wrote: more of it"),  # it has caught that one
        (b"", 3, "exit code 3; it wrote nothing"),
        (b"\n", 1, "exit code 1; it wrote nothing"),
        (
            b"  File 'a.py', line 1\n    print('x'\nSyntaxError: '(' was never closed",
            1,
            "SyntaxError: '(' was never closed",
        ),
        (b"x" * 5000, 1, "exit code 1; the last that it wrote: " + "x" * 500),
    ],
)
def test_error_line(log: Path, data: bytes, exit_code: int | None, error: str | None) -> None:
    log.write_bytes(data)
    assert error_line(log, 0, exit_code) == error


def test_our_messages(log: Path) -> None:
    before = b"tf1sessions: before\n"
    log.write_bytes(before + b"x tf1sessions: no\ntf1sessions: one\r\n\xff\ntf1sessions: one\ntf1sessions: 2")
    assert our_messages(log) == ("before", "one", "2")
    assert our_messages(log, len(before)) == ("one", "2")
    assert our_messages(log, limit=1) == ("before",)
    assert our_messages(log, 10_000) == ()
    log.write_bytes(b"")
    assert our_messages(log) == ()
