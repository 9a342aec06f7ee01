"""A session for each test of a pipeline, and a look at what is left behind it; programs start with TensorFlow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from forced import nothing_leaks, session
from warm import run_python

__all__ = ["run_python"]


@pytest.fixture(scope="session")
def tensorflow_has_started() -> None:
    """What it opens once is no leak."""
    import tf1sessions as t1

    with session(), session() as gs:
        gs.run(t1.tf1.py_func(lambda: 1.0, [], t1.tf1.float64))


@pytest.fixture
def gs(tensorflow_has_started: None) -> Iterator[Any]:
    """A session; threads, open files, or a session that does not work any more fail the test."""
    with nothing_leaks(), session() as made:
        yield made
