"""Tests for raised_errors.py: errors that a program catches."""

from __future__ import annotations

import logging
import sys
import threading
import traceback
from typing import Any

import pytest

from tf1sessions.testing.patching import Switch
from tf1sessions.testing.raised_errors import handler_patches, listen


def raises(value: Any = None) -> None:
    raise ValueError(value)


def catches() -> None:
    try:
        raises()
    except ValueError:
        pass


@pytest.mark.skipif(sys.version_info < (3, 12), reason="sys.monitoring is of Python 3.12")
def test_where_they_are_raised() -> None:
    seen: list[Any] = []
    first, second = listen(seen.append), listen(seen.append)
    end_of_both = (second, first)
    thread = threading.Thread(target=catches)
    thread.start()
    thread.join()
    for end in end_of_both:
        end()
    catches()
    raised = [each for each in seen if isinstance(each, ValueError)]
    assert len(raised) == 4  # in two frames, by two listeners
    assert len(set(map(id, raised))) == 1


@pytest.mark.skipif(sys.version_info < (3, 12), reason="sys.monitoring is of Python 3.12")
def test_no_number_is_left() -> None:
    seen: list[Any] = []
    ends = [listen(seen.append) for _ in range(3)]
    catches()
    for end in ends:
        end()
    listen(seen.append)()  # the numbers are free again
    assert len([each for each in seen if isinstance(each, ValueError)]) == 4


def test_where_they_are_handled() -> None:
    seen: list[Any] = []
    with Switch(lambda: handler_patches(seen.append)).on():
        logging.getLogger("tests").error("nothing is handled")
        for value in range(3):
            try:
                raises(value)
            except ValueError as error:
                if value == 0:
                    logging.getLogger("tests").error("%s", error)
                elif value == 1:
                    assert "ValueError" in traceback.format_exc()
    assert [each.args for each in seen] == [(0,), (1,)]
