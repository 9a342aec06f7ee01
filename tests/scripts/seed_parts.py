"""Which recorded graphs draw otherwise than on genuine 1.15.5.

Runs in a process of its own, ``python seed_parts.py PARTS``, and prints for each part a line of JSON. It is one process
for all, as TensorFlow is then imported, and converts the loops of its cells by AutoGraph, once.

Of the recorded calls it builds those that reach all that any of them reaches (``make_seed_cover.py``), and those that
are known to draw otherwise; with TF1SESSIONS_ALL_SEEDS=1 in the environment all of them, which takes three minutes.
"""

from __future__ import annotations

import gzip
import json
import os
import sys
from pathlib import Path
from typing import Any

from tf1sessions import scripts
from tf1sessions.scripts import op_counts, seeds

scripts.install()
FOLDER = Path(__file__).parents[1] / "golden"
sys.path[:0] = [str(FOLDER / "make"), str(FOLDER / "cases"), str(FOLDER.parent)]

import make_seeds  # noqa: E402
import seed_calls  # noqa: E402
import seed_fuzz  # noqa: E402
from collector import collect_rarely  # noqa: E402


def main(parts: int) -> None:
    """Prints of each ``parts``-th graph, from each part's on: names, those that differ; entries that counted."""
    golden = json.loads(gzip.decompress((FOLDER / "data" / "seeds.json.gz").read_bytes()))
    assert golden["calls"].keys() == seed_calls.CALLS.keys()
    assert golden["graphs"].keys() == seed_calls.GRAPHS.keys()
    drawn, graph_of = make_seeds.drawn, make_seeds.graph_of
    builds = {
        "calls": lambda name: drawn(graph_of(seed_calls.CALLS[name])),
        "graphs": lambda name: list(map(drawn, seed_calls.GRAPHS[name]())),
        "fuzz": lambda name: drawn(graph_of(lambda: seed_fuzz.build(int(name)))),
    }
    spared = {"calls": left_out()}
    names = [(kind, name) for kind in builds for name in sorted(golden[kind]) if name not in spared.get(kind, ())]
    counting = note_entries()
    tables = (op_counts.FUNCTIONS, op_counts.GRADIENTS)
    collect_rarely()
    for part in range(parts):
        differ = [name for kind, name in names[part::parts] if builds[kind](name) != golden[kind][name]]
        entries = [key for table in tables for key, differs in table.items() if differs in counting]
        line = {"names": [name for _, name in names[part::parts]], "differ": differ, "entries": entries}
        print(json.dumps(line), flush=True)


def left_out() -> set[str]:
    """Names of calls that reach nothing that others do not reach."""
    if os.environ.get("TF1SESSIONS_ALL_SEEDS"):
        return set()
    data = FOLDER / "data"
    names = {line[1:] for line in (data / "seeds_cover.txt").read_text().splitlines() if line.startswith("-")}
    return names.difference((data / "seeds_otherwise.txt").read_text().split())


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


if __name__ == "__main__":
    main(int(sys.argv[1]))
