"""``--seeds report`` of graphs whose right seeds are known. Run by test_seed_report_golden.py in one process."""

from __future__ import annotations

import collections
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from tf1sessions import scripts
from tf1sessions.scripts import seed_report, seeds

scripts.install()
FOLDER = Path(__file__).parents[1] / "golden"
sys.path[:0] = [str(FOLDER / "make"), str(FOLDER / "cases")]

import make_measured_traits  # noqa: E402
import seed_arguments  # noqa: E402

Graphs = Iterable[tuple[str, Callable[[], Any], Any]]


def known_otherwise() -> Graphs:
    """Recorded graphs whose seeds are not right yet."""
    names = set((FOLDER / "data" / "seeds_otherwise.txt").read_text().split())
    for (_, name), (build, wanted) in make_measured_traits.graphs().items():
        if name in names:
            yield name, build, wanted


def held_out() -> Graphs:
    """Graphs that no trait is from."""
    for number, wanted in make_measured_traits.arguments("held out").items():
        if wanted is not None:
            yield number, lambda number=int(number): seed_arguments.seeds_of(number), wanted


def reported(graphs: Graphs) -> tuple[list[tuple[str, Any]], collections.Counter[tuple[bool, bool]]]:
    """Wrong seeds that are marked exact, by graph; and how many seeds are right, and exact."""
    wrong, count = [], collections.Counter[tuple[bool, bool]]()
    for name, build, wanted in graphs:
        report = seed_report.SeedReport(seed_report.measured())
        seeds.watch(report)
        try:
            made = build()
        finally:
            seeds.watch(None)
        if made is None:
            continue
        marks = [(draw.seed, graph.is_exact(draw)) for graph in report.graphs() for draw in graph.draws]
        exact = collections.Counter(seed for seed, is_exact in marks if is_exact)
        if made != wanted and (bad := exact - collections.Counter(numbers_in(wanted))):
            wrong.append((name, dict(bad)))
        count.update((made == wanted, is_exact) for _, is_exact in marks)
    return wrong, count


def numbers_in(made: Any) -> Iterator[int]:
    yield from make_measured_traits.numbers_in(made)


def check_no_seed_that_is_known_to_be_wrong_is_exact() -> None:
    wrong, count = reported(known_otherwise())
    assert not wrong, wrong
    assert count[False, False] or not (FOLDER / "data" / "seeds_otherwise.txt").read_text().split()


def check_no_wrong_seed_of_a_graph_that_was_held_out_is_exact() -> None:
    wrong, count = reported(held_out())
    assert not wrong, wrong
    assert count[False, False], count  # there are wrong ones
    assert count[True, True] > 2 * count[True, False], count
