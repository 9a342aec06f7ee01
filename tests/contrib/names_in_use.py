"""How many public repositories use a name of TensorFlow, as tests/golden/make/make_names_in_use.py counted them."""

from __future__ import annotations

import functools
import gzip
import json
from pathlib import Path

DATA = Path(__file__).resolve().parents[1] / "golden" / "data"


@functools.cache
def _table() -> tuple[int, dict[str, int]]:
    with gzip.open(DATA / "names_in_use.json.gz", "rt") as file:
        table = json.load(file)
    return table["repositories"], table["names"]


def repositories() -> int:
    """How many repositories were looked at."""
    return _table()[0]


def uses() -> dict[str, int]:
    """Name ("tensorflow.nn.relu") -> number of repositories that use it."""
    return _table()[1]
