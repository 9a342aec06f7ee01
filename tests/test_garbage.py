"""Python's collector of garbage, as the library uses it."""

from __future__ import annotations

import gc
import subprocess
import sys
import weakref

from tf1sessions.garbage import collector_paused, settle


class _Cycle:
    def __init__(self) -> None:
        self.me = self


def test_what_stays_is_left_out_until_the_next_time() -> None:
    stays = [_Cycle()]
    try:
        settle()
        assert gc.get_freeze_count() > 1000 and not any(each is stays for each in gc.get_objects())
        gone = weakref.ref(stays.pop())
        gc.collect()
        assert gone() is not None, "a collection looks at what is left out"
        settle()
        assert gone() is None, "garbage that was left out is never freed"
    finally:
        gc.unfreeze()


def test_what_was_made_in_a_pause_is_old() -> None:
    gc.unfreeze()
    try:
        with collector_paused(make_old=True):
            made = [_Cycle()]
        assert any(each is made for each in gc.get_objects(generation=2))
        gc.freeze()
        with collector_paused(make_old=True):
            pass
        assert gc.get_freeze_count() > 1000, "what was frozen is not"
    finally:
        gc.unfreeze()


def test_what_is_lost_at_the_end_is_not_looked_for() -> None:
    program = """
import sys
from tf1sessions.garbage import end_quickly
class Circle:
    def __init__(self):
        self.me = self
    def __del__(self):
        print("collected")
if sys.argv[1] == "quickly":
    end_quickly()
circle = Circle()
del circle
print("end")
"""
    for how, printed in (("quickly", "end\n"), ("as always", "end\ncollected\n")):
        command = [sys.executable, "-c", program, how]
        assert subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout == printed
