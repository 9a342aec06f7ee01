"""Writes the table of migration_notes/fidelity.md, how far operations are from 1.15.5's: ``python kernel_page.py``.

It comes from tests/golden/data/kernels.json.gz, which tests/golden/make/make_kernels.py writes.
"""

from __future__ import annotations

import gzip
import json
import math
import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "golden" / "data" / "kernels.json.gz"
PAGE = ROOT / "migration_notes" / "fidelity.md"
BEGIN = "<!-- What follows is written by tests/scripts/kernel_page.py. -->\n"
END = "<!-- Up to here. -->\n"
TYPES = ("float32", "float64", "float16")


def measured() -> dict[str, dict[str, list[dict[str, Any]]]]:
    """The results in the golden, by operation and type; those of complex numbers count as float32's."""
    with gzip.open(GOLDEN, "rt") as file:
        results = json.load(file)["results"]
    found: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for name, result in results.items():
        operation, dtype, rest = name.split("/", 2)
        kind = dtype if dtype in TYPES else "float32" if dtype == "complex64" else "others"
        column = "gradient" if kind == "float32" and rest.rpartition("#")[2].startswith("d") else kind
        found.setdefault(operation, {}).setdefault(column, []).append(result)
    return found


def cell(results: Iterable[dict[str, Any]], which: str = "difference") -> str:
    """The largest difference as a share of the largest value, rounded up to one digit."""
    results = list(results)
    differences = [float(one[which]["relative"]) for one in results if one[which] is not None]
    if not differences:
        return "equal" if results else ""
    largest = max(differences)
    if math.isinf(largest):
        return "other type"
    if largest == 0:
        return "sign of 0"
    power = math.floor(math.log10(largest))
    return f"{math.ceil(round(largest / 10**power, 6)) * 10.0**power:.0e}"


def is_equal(columns: dict[str, list[dict[str, Any]]], which: str = "difference") -> bool:
    return all(one[which] is None for results in columns.values() for one in results)


def lines() -> Iterable[str]:
    found = measured()
    results = [one for columns in found.values() for results in columns.values() for one in results]
    same = sum(one["difference"] is None for one in results)
    fast = sum(one["fast"] is None for one in results)
    yield f"Of {len(results)} results {same} have the same bits; with `--fast-kernels` {fast} have.\n\n"
    yield "| Operation | float32 | its gradient | float64 | float16 | with `--fast-kernels`: float32 | gradient |\n"
    yield "| --- | --- | --- | --- | --- | --- | --- |\n"
    for operation, columns in sorted(found.items()):
        if not is_equal(columns):
            cells = [cell(columns.get(name, ())) for name in ("float32", "gradient", "float64", "float16")]
            cells += [cell(columns.get(name, ()), "fast") for name in ("float32", "gradient")]
            yield f"| {' | '.join([operation, *cells])} |\n"
    equal = {operation: columns for operation, columns in found.items() if is_equal(columns)}
    yield paragraph("Equal to the bit in all that was measured: ", equal)
    parted = [operation for operation, columns in equal.items() if not is_equal(columns, "fast")]
    yield paragraph("Of these, no longer equal with `--fast-kernels`: ", parted)


def paragraph(begin: str, names: Iterable[str]) -> str:
    return "\n" + textwrap.fill(begin + "; ".join(sorted(names)) + ".", 120, break_on_hyphens=False) + "\n"


def written(text: str) -> str:
    """The page with the table as the golden has it."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{''.join(lines())}\n{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text("utf-8")), "utf-8")
