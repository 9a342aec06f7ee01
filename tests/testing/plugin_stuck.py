"""A test that hangs where nothing ends it: in Python, in the main thread; run by test_plugin.py. Without TensorFlow."""

from __future__ import annotations

import threading

import pytest


@pytest.mark.tf1(timeout=0.5)
def test_stuck() -> None:
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()


def test_after() -> None:
    pass
