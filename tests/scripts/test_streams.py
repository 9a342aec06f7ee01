"""The output of a single job, on the caller's streams and in its log: nothing lost, nothing changed."""

from __future__ import annotations

import errno
import fcntl
import os
import resource
import struct
import subprocess
import sys
import termios
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tf1sessions.scripts.streams import Tee, to_log


@pytest.fixture
def log(tmp_path: Path) -> Iterator[int]:
    fd = os.open(tmp_path / "job.log", os.O_RDWR | os.O_CREAT | os.O_APPEND)
    yield fd
    os.close(fd)


def run(tee: Tee, code: str) -> int:
    """Runs Python code as the job of ``tee``."""
    return subprocess.run([sys.executable, "-c", code], stdout=tee.stdout, stderr=tee.stderr).returncode


@pytest.mark.parametrize("unbuffered", [False, True])
def test_a_log_on_a_full_disk_does_not_stop_its_program(tmp_path: Path, unbuffered: bool) -> None:
    with open("/dev/full", "w") as full:
        full.reconfigure(write_through=unbuffered)
        stream = to_log(full)
        assert (stream.name, stream.mode, stream.line_buffering) == ("/dev/full", "w", True)
        print("x" * 100_000, file=stream)
        stream.flush()
    with open(tmp_path / "log", "w") as log, open(os.open("/dev/null", os.O_RDONLY)) as other:
        stream = to_log(log)
        print("a line", file=stream)
        assert (tmp_path / "log").read_text() == "a line\n"  # at once
        with pytest.raises(OSError, match="Bad file descriptor"):  # other errors are the program's
            print("line", file=to_log(other))


class Reader:
    """Collects what comes out of a file descriptor."""

    def __init__(self, fd: int) -> None:
        self.fd, self.data = fd, b""
        self._thread = threading.Thread(target=self._read)
        self._thread.start()

    def _read(self) -> None:
        while True:
            try:
                data = os.read(self.fd, 65536)
            except OSError:  # the end of a pseudo-terminal
                data = b""
            if not data:
                return
            self.data += data

    def result(self) -> bytes:
        self._thread.join(30)
        assert not self._thread.is_alive()
        os.close(self.fd)
        return self.data


def read_all(log: int) -> bytes:
    size = os.fstat(log).st_size
    return os.pread(log, size, 0)


def test_two_streams_stay_two_and_the_log_has_both(log: int) -> None:
    (out, to_out), (err, to_err) = os.pipe(), os.pipe()
    tee = Tee(to_out, to_err, log)
    readers = Reader(out), Reader(err)
    assert run(tee, "import os; os.write(1, b'out\\n'); os.write(2, b'err\\n'); os.write(1, b'\\xff\\0')") == 0
    assert tee.finish() is None
    os.close(to_out)
    os.close(to_err)
    assert [reader.result() for reader in readers] == [b"out\n\xff\0", b"err\n"]
    assert sorted(read_all(log)) == sorted(b"out\nerr\n\xff\0")


def test_one_stream_for_both_keeps_their_order(log: int) -> None:
    out, to_out = os.pipe()
    tee = Tee(to_out, to_out, log)
    assert tee.stdout == tee.stderr
    reader = Reader(out)
    run(tee, "import os\nfor i in range(200): os.write(1 + i % 2, b'%d\\n' % i)")
    assert tee.finish() is None
    os.close(to_out)
    expected = b"".join(b"%d\n" % i for i in range(200))
    assert reader.result() == expected
    assert read_all(log) == expected


def test_thirty_megabytes_arrive_whole(log: int) -> None:
    out, to_out = os.pipe()
    tee = Tee(to_out, to_out, log)
    reader = Reader(out)
    run(tee, "import sys\nfor i in range(30): sys.stdout.buffer.write(bytes([i]) * 1_000_000)")
    assert tee.finish() is None
    os.close(to_out)
    expected = b"".join(bytes([i]) * 1_000_000 for i in range(30))
    assert reader.result() == expected
    assert read_all(log) == expected


def test_terminal_stays_a_terminal_of_its_size(log: int) -> None:
    outer, inner = os.openpty()
    fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 33, 77, 0, 0))
    tee = Tee(inner, inner, log)
    reader = Reader(outer)
    code = "import os, sys; print(sys.stdout.isatty(), sys.stderr.isatty(), *os.get_terminal_size())"
    assert run(tee, code) == 0
    fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 44, 88, 0, 0))
    tee.resize()
    assert run(tee, code) == 0
    assert tee.finish() is None
    os.close(inner)
    assert reader.result() == b"True True 77 33\r\nTrue True 88 44\r\n"
    assert read_all(log) == b"True True 77 33\nTrue True 88 44\n"


def test_terminal_beside_a_pipe(log: int) -> None:
    (outer, inner), (err, to_err) = os.openpty(), os.pipe()
    tee = Tee(inner, to_err, log)
    readers = Reader(outer), Reader(err)
    run(tee, "import sys; print(sys.stdout.isatty()); print(sys.stderr.isatty(), file=sys.stderr)")
    assert tee.finish() is None
    os.close(inner)
    os.close(to_err)
    assert [reader.result() for reader in readers] == [b"True\r\n", b"False\n"]


def test_reader_that_goes_away_breaks_the_jobs_pipe(log: int) -> None:
    (out, to_out), (err, to_err) = os.pipe(), os.pipe()
    tee = Tee(to_out, to_err, log)
    os.close(out)
    reader = Reader(err)
    code = "while True: print('y' * 1000)"
    assert run(tee, code) == 1
    assert tee.finish() is None
    os.close(to_out)
    os.close(to_err)
    assert b"BrokenPipeError" in reader.result()


def test_full_disk_is_said_and_the_stream_goes_on() -> None:
    out, to_out = os.pipe()
    full = os.open("/dev/full", os.O_WRONLY)
    tee = Tee(to_out, to_out, full)
    reader = Reader(out)
    run(tee, "print('a' * 100_000)")
    assert tee.finish() == "the log is not complete: No space left on device"
    os.close(to_out)
    os.close(full)
    assert reader.result() == b"a" * 100_000 + b"\n"


def test_reader_that_takes_nothing_can_be_given_up(log: int) -> None:
    out, to_out = os.pipe()
    tee = Tee(to_out, to_out, log)
    os.write(to_out, b"y" * 50_000)  # the pipe behind is nearly full, and nothing reads it
    os.write(tee.stdout, b"x" * 60_000)
    said: list[str | None] = []
    finisher = threading.Thread(target=lambda: said.append(tee.finish()))
    finisher.start()
    tee.give_up()
    finisher.join(30)
    assert said == ["the last of the output was not taken by the terminal"]
    reader = Reader(out)  # lets the thread go on to its end
    tee._thread.join(30)
    os.close(to_out)
    assert len(reader.result()) == 110_000


def test_stream_that_was_made_non_blocking(log: int) -> None:
    out, to_out = os.pipe()
    os.set_blocking(to_out, False)
    tee = Tee(to_out, to_out, log)
    os.write(tee.stdout, b"x" * 60_000)
    os.write(tee.stdout, b"y" * 60_000)
    reader = Reader(out)
    assert tee.finish() is None
    os.close(to_out)
    assert reader.result() == b"x" * 60_000 + b"y" * 60_000


def test_too_few_descriptors_are_an_error_before_anything_is_copied(log: int) -> None:
    """However many there are: the thread that copies needs no further one."""
    (out, to_out), (err, to_err) = os.pipe(), os.pipe()
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    held = max(int(name) for name in os.listdir("/proc/self/fd"))
    fillers = [os.open(os.devnull, os.O_RDONLY) for _ in range(held)]  # so that no number below is free
    last, failed = max(fillers), 0
    try:
        for free in range(12):
            resource.setrlimit(resource.RLIMIT_NOFILE, (last + 1 + free, limits[1]))
            try:
                tee = Tee(to_out, to_err, log)
            except OSError as error:
                assert error.errno == errno.EMFILE
                failed += 1
                continue
            os.write(tee.stdout, b"%d " % free)
            assert tee.finish() is None
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        for each in fillers:
            os.close(each)
    for each in (to_out, to_err):
        os.close(each)
    assert Reader(out).result() == b"".join(b"%d " % free for free in range(failed, 12))
    assert Reader(err).result() == b""
    assert 0 < failed < 12


def test_no_descriptor_and_no_thread_is_left(log: int) -> None:
    out, to_out = os.pipe()
    before, threads = sorted(os.listdir("/proc/self/fd")), threading.active_count()
    for _ in range(3):
        tee = Tee(to_out, log, log)
        run(tee, "print(1)")
        assert tee.finish() is None
    assert sorted(os.listdir("/proc/self/fd")) == before
    assert threading.active_count() == threads
    os.close(out)
    os.close(to_out)
