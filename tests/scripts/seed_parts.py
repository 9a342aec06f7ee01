"""Which recorded graphs draw otherwise than on genuine 1.15.5. Run by test_seed_calls.py, a process for each part."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from typing import Any

from tf1sessions import scripts
from tf1sessions.scripts import op_counts, seeds

scripts.install()
FOLDER = Path(__file__).parents[1] / "golden"
sys.path[:0] = [str(FOLDER / "make"), str(FOLDER / "cases")]

import make_seeds  # noqa: E402
import seed_calls  # noqa: E402
import seed_fuzz  # noqa: E402


def found(part: int, parts: int) -> dict[str, list[str]]:
    """Of each ``parts``-th graph from ``part`` on: names, those that differ; entries that counted something."""
    golden = json.loads(gzip.decompress((FOLDER / "data" / "seeds.json.gz").read_bytes()))
    assert golden["calls"].keys() == seed_calls.CALLS.keys()
    assert golden["graphs"].keys() == seed_calls.GRAPHS.keys()
    drawn, graph_of = make_seeds.drawn, make_seeds.graph_of
    builds = {
        "calls": lambda name: drawn(graph_of(seed_calls.CALLS[name])),
        "graphs": lambda name: list(map(drawn, seed_calls.GRAPHS[name]())),
        "fuzz": lambda name: drawn(graph_of(lambda: seed_fuzz.build(int(name)))),
    }
    names = [(kind, name) for kind in builds for name in sorted(golden[kind])][part::parts]
    counting = note_entries()
    differ = [name for kind, name in names if builds[kind](name) != golden[kind][name]]
    tables = (op_counts.FUNCTIONS, op_counts.GRADIENTS)
    entries = [key for table in tables for key, differs in table.items() if differs in counting]
    return {"names": [name for _, name in names], "differ": differ, "entries": entries}


def note_entries() -> set[Any]:
    """The entries that count something from now on."""
    counting: set[Any] = set()
    added = seeds._add

    def note(graph: Any, count: int) -> None:
        if count:
            counting.add(sys._getframe(1).f_locals.get("differs"))
        added(graph, count)

    seeds._add = note
    return counting
