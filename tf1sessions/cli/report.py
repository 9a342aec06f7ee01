"""An inspection as lines of text. Pure functions that print nothing."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from tf1sessions.models.inspection import Inspection, Tensor

__all__ = ["amount", "lines", "size"]

#: How many rows of a table are shown; --json and --html have them all.
ROWS = 12
#: How many lines of numbers one after the other.
LINES = 4


def lines(found: Inspection, width: int) -> Iterator[str]:
    """What the command prints, at most ``width`` columns where names allow."""
    yield click.style(_printable(_short_path(found.path)), bold=True) + _printable(_what(found))
    for title, tensors in (("Inputs", found.inputs), ("Outputs", found.outputs)):
        yield from _section(title, "guessed" if found.guessed else "", _tensors(tensors))
    yield from _weights(found)
    yield from _flops(found, width)
    yield from _section("Operations", f"{len(found.ops)} kinds", _counts(found.ops, width))
    yield from _control_flow(found)
    for title, parts in (
        ("Queues", found.queues),
        ("Readers", found.readers),
        ("Datasets", found.datasets),
        ("Tables", found.tables),
    ):
        yield from _section(title, "", _some(_table([(part.name, part.op, part.detail) for part in parts])))
    yield from _section("Assets", "", _some(_table(sorted(found.assets.items()))))
    functions = [(function.name, _number(function.nodes, "node")) for function in found.functions]
    yield from _section("Functions", "", _some(_table(functions)))
    if len(found.signatures) > 1:
        yield from _section("Signatures", "", [f"{each.name}  {each.method}".rstrip() for each in found.signatures])
    gradients = [(name, _number(count, "node")) for name, count in found.custom_gradients.items()]
    yield from _section("Custom gradients", "needed to train it on, not to run it", _table(gradients))
    unknown = [(op, _names(nodes, width)) for op, nodes in found.unknown_ops.items()]
    yield from _section("Operations that this TensorFlow does not have", "", _table(unknown), colour="red")
    yield from _section("Upgrades that loading applies", "", _wrapped(found.upgrades, width))
    yield from _risks(found, width)
    yield from _section("Notes", "", _wrapped(found.notes, width))


def _short_path(path: str) -> str:
    """A path as seen from here, unless that is longer."""
    return path if "://" in path else min(os.path.relpath(path), path, key=len)


def _printable(text: str) -> str:
    """A text without control characters: names come from the file, and must not steer the terminal."""
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


def size(count: int) -> str:
    """``1234567`` -> ``1.2 MB``."""
    return _scaled(count, (" bytes", " kB", " MB", " GB", " TB"))


def amount(count: int) -> str:
    """``1234567`` -> ``1.2 million``."""
    return _scaled(count, ("", " thousand", " million", " billion", " trillion", " quadrillion"))


def _scaled(count: int, units: Sequence[str]) -> str:
    value, power = float(count), 0
    while value >= 999.5 and power < len(units) - 1:
        value, power = value / 1000, power + 1
    return f"{value:.{1 if power and value < 9.95 else 0}f}{units[power]}"


def _number(count: int, what: str) -> str:
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def _what(found: Inspection) -> str:
    """What it is, who wrote it, how large it is."""
    parts = [found.kind]
    if found.tags:
        parts.append(f"tags {', '.join(found.tags)}")
    needed = f" ({found.needed_nodes:,} needed for the outputs)" if 0 < found.needed_nodes < found.nodes else ""
    parts.append(_number(found.nodes, "node") + needed)
    if found.made_by.tensorflow:
        parts.append(f"TensorFlow {found.made_by.tensorflow}")
    elif found.made_by.producer:
        parts.append(f"graph version {found.made_by.producer}")
    return f": {'; '.join(parts)}"


def _section(title: str, remark: str, rows: Iterable[str], colour: str | None = None) -> Iterator[str]:
    """A title and its rows, or nothing where there are none."""
    rows = list(rows)
    if rows:
        yield ""
        yield click.style(title, bold=True, fg=colour) + (f" ({remark})" if remark else "")
        yield from (f"  {_printable(row)}" for row in rows)


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows in columns; the last column is as wide as it is."""
    if not rows:
        return []
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]) - 1)]
    return [
        "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[-1]]).rstrip()
        for row in rows
    ]


def _some(rows: Sequence[str], total: int | None = None) -> list[str]:
    """The first rows, and how many more there are."""
    more = (len(rows) if total is None else total) - ROWS
    return [*rows[:ROWS], f"and {more:,} more"] if more > 0 else list(rows)


def _wrapped(texts: Iterable[str], width: int) -> list[str]:
    return [
        line
        for text in texts
        for line in textwrap.wrap(text, width - 2, initial_indent="- ", subsequent_indent="  ", break_on_hyphens=False)
    ]


def _names(names: Sequence[str], width: int) -> str:
    """The first names that fit on half a line, one at least."""
    shown = [names[0]]
    for name in names[1:]:
        if len(", ".join([*shown, name])) > width // 2:
            break
        shown.append(name)
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more:,} more" if more else "")


def _shape(shape: Sequence[int | None] | None) -> str:
    return "any shape" if shape is None else f"[{', '.join('?' if size is None else str(size) for size in shape)}]"


def _tensors(tensors: Sequence[Tensor]) -> list[str]:
    rows = []
    for each in tensors:
        name = "" if each.tensor.removesuffix(":0") == each.name else f"tensor {each.tensor}"
        remark = ", ".join(filter(None, [name, "optional" if each.optional else ""]))
        rows.append((each.name, each.dtype or "?", _shape(each.shape), remark))
    return _some(_table(rows))


def _weights(found: Inspection) -> Iterator[str]:
    parts = []
    if found.variables:
        refs = sum(each.kind == "ref" for each in found.variables)
        kinds = {0: "resource variable", len(found.variables): "ref variable"}
        number = _number(len(found.variables), kinds.get(refs, "variable"))
        parts.append(f"{size(found.variable_bytes)} in {number}{'' if refs in kinds else f', {refs} of them ref'}")
    if found.constants:
        parts.append(f"{size(found.constant_bytes)} in {_number(len(found.constants), 'constant')}")
    rows = []
    for each in found.variables:
        what = ", ".join(filter(None, [each.kind, "not trained" if each.trainable is False else ""]))
        rows.append((each.bytes or 0, each.name, each.dtype, _shape(each.shape), what))
    rows += [(each.bytes, each.name, each.dtype, _shape(each.shape), "constant") for each in found.constants]
    rows.sort(key=lambda row: (-row[0], row[1]))
    table = _table([(*row[1:], size(row[0]) if row[0] else "?") for row in rows[:ROWS]])
    yield from _section("Weights", "; ".join(parts), _some(table, len(rows)))


def _flops(found: Inspection, width: int) -> Iterator[str]:
    counted = found.flops
    rows = []
    if counted.total:
        shares = [(op, f"{100 * count / counted.total:.0f}%") for op, count in counted.by_op.items()]
        rows += _flowing([f"{op} {share}" for op, share in shares if share != "0%"], width)
    if counted.uncounted:
        rows += _flowing([f"{op} {count}" for op, count in counted.uncounted.items()], width, "not counted: ")
    yield from _section(
        f"FLOPs for one {'row' if counted.per_row else 'call'}",
        amount(counted.total) if counted.total else "none counted",
        rows,
    )


def _flowing(items: Sequence[str], width: int, start: str = "") -> list[str]:
    """Items one after the other, three spaces apart, as many on a line as there is room for."""
    rows: list[list[str]] = [[]]
    used = 0
    for number, item in enumerate(items):
        if rows[-1] and used + len(item) + len(start) + 5 > width:
            if len(rows) == LINES:
                rows[-1][-1] = f"and {len(items) - number + 1:,} more"
                break
            rows.append([])
            used = 0
        rows[-1].append(item)
        used += len(item) + 3
    return [(" " * len(start) if number else start) + "   ".join(row) for number, row in enumerate(rows)]


def _counts(counts: Mapping[str, int], width: int) -> list[str]:
    return _flowing([f"{op} {count:,}" for op, count in counts.items()], width) if counts else []


def _control_flow(found: Inspection) -> Iterator[str]:
    flow = found.control_flow
    remark = ", ".join(
        filter(
            None,
            [
                _number(len(flow.loops), "loop") if flow.loops else "",
                _number(flow.conditions, "condition") if flow.conditions else "",
            ],
        )
    )
    rows = _table([(loop.frame, f"loop of {_number(loop.nodes, 'node')}") for loop in flow.loops])
    operations = "   ".join(f"{op} {count:,}" for op, count in flow.operations.items())
    yield from _section("Control flow", remark, [*_some(rows), *filter(None, [operations])])


def _risks(found: Inspection, width: int) -> Iterator[str]:
    """Those that the outputs need first; load() refuses a model for them."""
    if not found.risks:
        yield ""
        yield click.style("Risks", bold=True) + ": none found"
    for needed, title, remark in (
        (True, "Risks", "the outputs need these; load() refuses the model unless allow_ops= names them"),
        (False, "Risks elsewhere", "the outputs do not need these" if found.outputs else "no outputs are known"),
    ):
        rows = [(each.op, f"{each.why}: {_names(each.nodes, width)}") for each in found.risks if each.needed == needed]
        yield from _section(title, remark, _table(rows), colour="red" if needed else None)
