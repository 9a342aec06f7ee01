"""Pages of memory that are copied before they are written to: which they are, and that their content stays."""

from __future__ import annotations

import array
import mmap
import os
import resource
import sys
from collections.abc import Callable

import pytest
from forked_checks import in_a_fork

from tf1sessions.pools.written_pages import copy_pages, written_pages

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the pages are those of Linux")

COUNT = 400


@pytest.fixture
def memory() -> mmap.mmap:
    """Memory of this process alone, with something in each page."""
    made = mmap.mmap(-1, COUNT * mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    write(made, b"a")
    return made


def write(memory: mmap.mmap, text: bytes) -> None:
    for number in range(0, COUNT, 2):
        memory[number * mmap.PAGESIZE] = text[0]


def content(memory: mmap.mmap) -> bytes:
    return bytes(memory[number * mmap.PAGESIZE] for number in range(0, COUNT, 2))


def faults_of(function: Callable[[], None]) -> int:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    function()
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


def test_a_later_fork_need_not_copy_what_it_writes_and_finds_what_was_there(memory: mmap.mmap) -> None:
    ranges = written_pages([lambda: write(memory, b"b")])
    assert content(memory) == b"a" * (COUNT // 2), "the rehearsal has written here"

    def checks() -> None:
        copied = faults_of(lambda: copy_pages(ranges, lambda: False))
        assert content(memory) == b"a" * (COUNT // 2)
        assert faults_of(lambda: write(memory, b"c")) < COUNT // 8, copied

    def without() -> None:
        assert faults_of(lambda: write(memory, b"c")) >= COUNT // 2

    assert in_a_fork(without) == ""
    assert in_a_fork(checks) == ""


def test_copying_ends_when_there_is_something_else_to_do(memory: mmap.mmap) -> None:
    ranges = written_pages([lambda: write(memory, b"b")])

    def checks() -> None:
        copy_pages(ranges, lambda: True)
        assert faults_of(lambda: write(memory, b"c")) >= COUNT // 2

    assert in_a_fork(checks) == ""


def test_memory_that_is_not_there_any_more_is_left_out(memory: mmap.mmap) -> None:
    ranges = written_pages([lambda: write(memory, b"b")])
    memory.close()
    assert in_a_fork(lambda: copy_pages(ranges, lambda: False)) == ""


@pytest.mark.parametrize("code", ["raise ValueError", "os._exit(3)", "os.kill(os.getpid(), 9)", "raise SystemExit"])
def test_of_a_rehearsal_that_fails_there_is_no_list(code: str, capfd: pytest.CaptureFixture[str]) -> None:
    def rehearse() -> None:
        os.write(1, b"written")
        exec(code)

    assert written_pages([rehearse]) == array.array("Q")
    assert capfd.readouterr() == ("", "")
