"""The programs of these tests start in a process that has TensorFlow, as ``tf1sessions.scripts.install()`` wants it.

Those that count operations of ``tf.contrib``, or look at what is imported when, start afresh.
"""

from collections.abc import Callable

import pytest
from support import PythonRun
from warm import script_address, starting_warm

__all__ = ["script_address"]


@pytest.fixture(scope="session", autouse=True)
def run_python(run_python: Callable[..., PythonRun], script_address: str) -> Callable[..., PythonRun]:
    return starting_warm(run_python, script_address)
