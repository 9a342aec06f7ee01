"""A plugin of pytests in tests: it takes garbage collection off their time, of which it is a sixth."""

from __future__ import annotations

import atexit
import gc

from collector import THRESHOLDS

gc.set_threshold(*THRESHOLDS)
atexit.register(gc.freeze)  # else Python looks through all that TensorFlow made as it ends


def pytest_sessionfinish() -> None:
    """Else pytest looks ten times for what may tell of errors as it is freed."""
    gc.freeze()
