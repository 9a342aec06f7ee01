"""What operations compute, beside genuine 1.15.5, to the bit. Run by test_kernels.py in one process."""

from __future__ import annotations

import functools
import gzip
import json
import sys
from pathlib import Path
from typing import Any

from tf1sessions import scripts

scripts.install()
FOLDER = Path(__file__).parents[1] / "golden"
sys.path[:0] = [str(FOLDER / "make"), str(FOLDER / "cases")]

import make_kernels  # noqa: E402
import numpy as np  # noqa: E402

GOLDEN = json.loads(gzip.decompress((FOLDER / "data" / "kernels.json.gz").read_bytes()))
RESULTS = GOLDEN["results"]
#: What products add up, and in which order, depends on the processor's vectors and caches.
SAME_PROCESSOR = GOLDEN["processor"] == make_kernels.processor()
#: On another processor, beyond what the golden has: of the largest value, by dtype.
TOLERANCES = {"float16": 5e-3, "float32": 5e-6, "complex64": 5e-6, "float64": 2e-14}


@functools.cache
def computed() -> dict[str, Any]:
    found: dict[str, Any] = make_kernels.compute_all()
    return found


def is_equal(name: str) -> bool:
    return make_kernels.bits_of(computed()[name]) == RESULTS[name]["bits"]


def distance(name: str) -> float:
    """How far a result is from 1.15.5's where the golden has values; infinite if it cannot be compared."""
    wanted, found = RESULTS[name], computed()[name]
    if (found.dtype.name, list(found.shape)) != (wanted["dtype"], wanted["shape"]):
        return float("inf")
    values = make_kernels.decoded(wanted["values"], wanted["dtype"])
    return float(max(make_kernels.distances(values, found.ravel()[wanted["places"]]), default=0.0))


def allowed(name: str) -> float:
    wanted = RESULTS[name]
    listed = float((wanted["difference"] or {"absolute": 0.0})["absolute"])
    if SAME_PROCESSOR:
        return listed * 1.01  # it is written with three digits
    values = np.abs(make_kernels.decoded(wanted["values"], wanted["dtype"]))
    return listed * 2 + TOLERANCES.get(wanted["dtype"], 0.0) * float(max(values, default=0.0))


def check_all_cases_are_in_the_golden() -> None:
    assert computed().keys() == RESULTS.keys()


def check_equal_are_those_of_the_golden() -> None:
    if SAME_PROCESSOR:
        equal = {name for name in RESULTS if is_equal(name)}
        wanted = {name for name, one in RESULTS.items() if one["difference"] is None}
        assert equal == wanted, {"no longer equal": wanted - equal, "equal now": equal - wanted}


def check_none_differs_by_more_than_the_golden_has() -> None:
    further = {name: (distance(name), allowed(name)) for name in RESULTS if not distance(name) <= allowed(name)}
    assert not further, further
