"""An inspection as lines of text. Pure functions that print nothing."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import click

from tf1sessions import texts

if TYPE_CHECKING:
    from tf1sessions.models.inspection import Inspection, Tensor

__all__ = ["lines"]

#: How many lines of numbers one after the other.
LINES = 4
#: Below this a run's memory is not worth a line.
_WORTH_A_LINE = 2**20


def lines(found: Inspection, width: int) -> Iterator[str]:
    """Return the lines that the command prints, at most ``width`` columns where names allow."""
    yield click.style(texts.printable(_short_path(found.path)), bold=True) + texts.printable(_what(found))
    for title, tensors in (("Inputs", found.inputs), ("Outputs", found.outputs)):
        yield from _section(title, "guessed" if found.guessed else "", _tensors(tensors))
    yield from _weights(found)
    yield from _flops(found, width)
    yield from _static_size(found)
    yield from _section("Operations", f"{len(found.ops)} kinds", _counts(found.ops, width))
    yield from _control_flow(found)
    for title, parts in (
        ("Queues", found.queues),
        ("Readers", found.readers),
        ("Datasets", found.datasets),
        ("Tables", found.tables),
    ):
        yield from _section(title, "", texts.some(texts.table([(part.name, part.op, part.detail) for part in parts])))
    yield from _section("Assets", "", texts.some(texts.table(sorted(found.assets.items()))))
    functions = [(function.name, texts.counted(function.nodes, "node")) for function in found.functions]
    yield from _section("Functions", "", texts.some(texts.table(functions)))
    if len(found.signatures) > 1:
        yield from _section("Signatures", "", [f"{each.name}  {each.method}".rstrip() for each in found.signatures])
    gradients = [(name, texts.counted(count, "node")) for name, count in found.custom_gradients.items()]
    yield from _section("Custom gradients", "needed to train it on, not to run it", texts.table(gradients))
    unknown = [(op, _names(nodes, width)) for op, nodes in found.unknown_ops.items()]
    yield from _section("Operations that this TensorFlow does not have", "", texts.table(unknown), colour="red")
    yield from _section("Upgrades that loading applies", "", texts.wrapped(found.upgrades, width))
    yield from _risks(found, width)
    yield from _section("Notes", "", texts.wrapped(found.notes, width))


def _short_path(path: str) -> str:
    """A path as seen from here, unless that is longer."""
    return path if "://" in path else min(os.path.relpath(path), path, key=len)


def _what(found: Inspection) -> str:
    """Return the lines on the model's kind, writer and size."""
    parts = [found.kind]
    if found.tags:
        parts.append(f"tags {', '.join(found.tags)}")
    needed = f" ({found.needed_nodes:,} needed for the outputs)" if 0 < found.needed_nodes < found.nodes else ""
    parts.append(texts.counted(found.nodes, "node") + needed)
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
        yield from (f"  {texts.printable(row)}" for row in rows)


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
    return texts.some(texts.table(rows))


def _weights(found: Inspection) -> Iterator[str]:
    parts = []
    if found.variables:
        refs = sum(each.kind == "ref" for each in found.variables)
        kinds = {0: "resource variable", len(found.variables): "ref variable"}
        number = texts.counted(len(found.variables), kinds.get(refs, "variable"))
        parts.append(
            f"{texts.size(found.variable_bytes)} in {number}{'' if refs in kinds else f', {refs} of them ref'}"
        )
    if found.constants:
        parts.append(f"{texts.size(found.constant_bytes)} in {texts.counted(len(found.constants), 'constant')}")
    rows = []
    for each in found.variables:
        what = ", ".join(filter(None, [each.kind, "not trained" if each.trainable is False else ""]))
        rows.append((each.bytes or 0, each.name, each.dtype, _shape(each.shape), what))
    rows += [(each.bytes, each.name, each.dtype, _shape(each.shape), "constant") for each in found.constants]
    rows.sort(key=lambda row: (-row[0], row[1]))
    table = texts.table([(*row[1:], texts.size(row[0]) if row[0] else "?") for row in rows[: texts.ROWS]])
    yield from _section("Weights", "; ".join(parts), texts.some(table, len(rows)))


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
        texts.amount(counted.total) if counted.total else "none counted",
        rows,
    )


def _static_size(found: Inspection) -> Iterator[str]:
    """Memory that a run needs at least; load() refuses a model for which there is not enough."""
    size = found.static_size
    if size is not None and size.bound >= _WORTH_A_LINE:
        place = size.node + (f" of the function {size.function}" if size.function else "")
        title = f"Memory for one {'row' if found.flops.per_row else 'call'}"
        remark = f"at least {texts.size(size.bound)}, by the sizes that stand in the graph"
        yield from _section(title, remark, [f"largest tensor: {place}, {texts.size(size.largest)}"])


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
                texts.counted(len(flow.loops), "loop") if flow.loops else "",
                texts.counted(flow.conditions, "condition") if flow.conditions else "",
            ],
        )
    )
    rows = texts.table([(loop.frame, f"loop of {texts.counted(loop.nodes, 'node')}") for loop in flow.loops])
    operations = "   ".join(f"{op} {count:,}" for op, count in flow.operations.items())
    yield from _section("Control flow", remark, [*texts.some(rows), *filter(None, [operations])])


def _risks(found: Inspection, width: int) -> Iterator[str]:
    """Return the risks that the outputs need first; load() refuses a model for them."""
    if not found.risks:
        yield ""
        yield click.style("Risks", bold=True) + ": none found"
    for needed, title, remark in (
        (True, "Risks", "the outputs need these; load() refuses the model unless allow_ops= names them"),
        (False, "Risks elsewhere", "the outputs do not need these" if found.outputs else "no outputs are known"),
    ):
        rows = [(each.op, f"{each.why}: {_names(each.nodes, width)}") for each in found.risks if each.needed == needed]
        yield from _section(title, remark, texts.table(rows), colour="red" if needed else None)
