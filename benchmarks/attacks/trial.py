"""A trial: one way to make tf1sessions fail, and what must be seen instead."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable
from pathlib import Path


@dataclasses.dataclass(frozen=True)
class Trial:
    """One row of the table of trials.

    Attributes:
        name: Says what is done; unique in its area.
        expected: What must be seen, in the words that ``act`` returns.
        act: Does it and returns what was seen. It is called in a process of its own, in an empty folder, which it gets
            as an argument, with a generator whose seed is another one each time.
        times: How often it is tried, all in one process unless that ends.
        deadline_secs: How long one try may take. Past it "hangs" is seen and the process is ended.
    """

    name: str
    expected: str
    act: Callable[[Path, random.Random], str]
    times: int = 1
    deadline_secs: float = 60.0
