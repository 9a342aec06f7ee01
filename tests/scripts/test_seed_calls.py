"""Recorded graphs draw as on genuine 1.15.5: of calls, of estimators and sessions for training, of random calls."""

from __future__ import annotations

import importlib.metadata
import json
import select
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support import ROOT

from tf1sessions.scripts import (
    op_counts,
    op_counts_gradients,  # noqa: F401, it adds to the tables
    op_counts_models,  # noqa: F401
)

PARTS = range(4)
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not importlib.metadata.version("tensorflow").startswith("2.21."),
        reason="operations were counted on TensorFlow 2.21",
    ),
]
# What nobody has counted yet. What comes off this list makes a test fail until it is taken off here, too.
OTHERWISE = set((ROOT / "tests" / "golden" / "data" / "seeds_otherwise.txt").read_text().split())


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[int], dict[str, Any]]]:
    """A function that tells what was found in a part; one process finds all, one after another."""
    errors = tmp_path_factory.mktemp("seeds") / "stderr"
    results: list[dict[str, Any]] = []
    with errors.open("w") as stderr:
        command = [sys.executable, str(Path(__file__).with_name("seed_parts.py")), str(len(PARTS))]
        process = subprocess.Popen(command, cwd=errors.parent, stdout=subprocess.PIPE, stderr=stderr, bufsize=0)

    def of_part(part: int) -> dict[str, Any]:
        while len(results) <= part:
            assert select.select([process.stdout], [], [], 170)[0], f"part {len(results)} takes too long"
            line = process.stdout.readline()
            assert line, errors.read_text()[-4000:]
            results.append(json.loads(line))
        return results[part]

    with process:
        try:
            yield of_part
        finally:
            process.kill()


@pytest.mark.parametrize("part", PARTS)
def test_recorded_graphs_draw_as_on_1_15(found: Callable[[int], dict[str, Any]], part: int) -> None:
    result = found(part)
    wrong, otherwise = set(result["differ"]), OTHERWISE.intersection(result["names"])
    assert wrong == otherwise, f"newly wrong: {wrong - otherwise}, right: {otherwise - wrong}"


@pytest.mark.timeout(180 * len(PARTS))
def test_every_entry_counts_something_and_the_list_has_no_other_names(
    found: Callable[[int], dict[str, Any]],
) -> None:
    results = [found(part) for part in PARTS]  # of the tests above, if they ran
    names = {name for result in results for name in result["names"]}
    assert names >= OTHERWISE, OTHERWISE - names
    counting = {entry for result in results for entry in result["entries"]}
    unused = [key for table in (op_counts.FUNCTIONS, op_counts.GRADIENTS) for key in table if key not in counting]
    assert unused == ["tensorflow.python.ops.gradients_util:_GradientsHelper"], unused  # it notes something for others
