"""Python's garbage collector in processes of tests, which build graphs all the time and end soon."""

from __future__ import annotations

import gc

#: With those that Python begins with, it takes a twelfth of the time in which graphs are built.
THRESHOLDS = (10_000, 10, 4)


def collect_rarely() -> None:
    """Leaves out of collections what is there now, such as TensorFlow, and makes them rare.

    Else each full one looks through all that TensorFlow made, and in a fork copies it.
    """
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)
