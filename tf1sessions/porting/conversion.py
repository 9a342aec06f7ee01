"""What a conversion does, as a record and as text. Nothing here prints, or needs TensorFlow."""

from __future__ import annotations

import dataclasses
import os
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

__all__ = ["Conversion", "Proof", "Signature", "Tensor", "Variable"]

#: How many rows of a table are shown; to_dict() has them all.
ROWS = 12


@dataclasses.dataclass(frozen=True)
class Tensor:
    """An input or an output. ``shape`` has None for a dimension that is open, and is None where nothing is known."""

    name: str
    tensor: str
    dtype: str
    shape: tuple[int | None, ...] | None
    optional: bool = False


@dataclasses.dataclass(frozen=True)
class Signature:
    """One way to call the model.

    Attributes:
        name: Its name.
        inputs, outputs: What goes in and comes out.
        guessed: Whether they were guessed from the graph.
    """

    name: str
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    guessed: bool = False


@dataclasses.dataclass(frozen=True)
class Variable:
    """A ``tf.Variable`` of the converted model.

    Attributes:
        name: Of the variable, or of the constant, of TensorFlow 1.
        dtype, shape, bytes: Of its value.
        trainable: Whether it is among ``trainable_variables``.
        made_of: ``"variable"``, ``"constant"``, or ``"parts"`` where a partitioned variable was joined.
    """

    name: str
    dtype: str
    shape: tuple[int | None, ...]
    bytes: int
    trainable: bool
    made_of: str = "variable"


@dataclasses.dataclass(frozen=True)
class Proof:
    """How the converted model, loaded again, compares with the model on TensorFlow 1's side.

    Attributes:
        differences: ``"signature: output"`` -> the largest absolute difference.
        not_compared: ``"signature"`` or ``"signature: output"`` -> why not.
    """

    differences: Mapping[str, float]
    not_compared: Mapping[str, str]


@dataclasses.dataclass(frozen=True)
class Conversion:
    """What :func:`tf1sessions.porting.convert` wrote, or would write.

    Attributes:
        source: The path of the model, or what it was made of.
        kind: What that is, such as ``"saved model"``.
        out: The folder.
        written: Whether it was written; False for a dry run.
        signatures: All that it can be called by.
        functions: The other functions of the loaded object, such as ``"train"``, and what each does.
        variables: Its variables, in the order of the graph.
        tables: Lookup tables by name: what they map.
        assets: Files that come with it.
        loops: Names of the loops that are made again.
        conditions: How many conditions are made again.
        random: Operations that draw random numbers -> how many.
        left_out: What does not come along, and why, in sentences.
        notes: What was chosen, guessed and upgraded, in sentences.
        proof: How the written model was compared; None where it was not.
    """

    source: str
    kind: str
    out: str
    written: bool
    signatures: tuple[Signature, ...]
    functions: Mapping[str, str]
    variables: tuple[Variable, ...]
    tables: Mapping[str, str]
    assets: tuple[str, ...]
    loops: tuple[str, ...]
    conditions: int
    random: Mapping[str, int]
    left_out: tuple[str, ...]
    notes: tuple[str, ...]
    proof: Proof | None = None

    def to_dict(self) -> dict[str, Any]:
        """All of it as what JSON can hold."""
        return dataclasses.asdict(self)

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self, width: int = 100) -> Iterator[str]:
        """It as text, at most ``width`` columns wide where names allow. Titles are the lines that are not indented."""
        yield _printable(f"{_short(self.source)}: {self.kind} -> {self.out}")
        for signature in self.signatures:
            remark = " (guessed)" if signature.guessed else ""
            rows = [("from", each.name, each.dtype, _shape(each.shape), _remark(each)) for each in signature.inputs]
            rows += [("to", each.name, each.dtype, _shape(each.shape), _remark(each)) for each in signature.outputs]
            yield from _section(f"Signature {signature.name}{remark}", _table(rows))
        yield from _section("Functions", _columns(self.functions.items(), width))
        yield from _section(*self._told_variables())
        yield from _section("Tables", _some(_table(list(self.tables.items()))))
        yield from _section("Assets", _some(self.assets))
        yield from _section("Made again", _wrapped(self._made_again(), width))
        yield from _section("Left out", _wrapped(self.left_out, width))
        yield from _section("Notes", _wrapped(self.notes, width))
        yield from _section("Compared with TensorFlow 1", _wrapped(self._told_proof(), width))
        yield ""
        yield f"Written to {self.out}" if self.written else "Nothing was written: a dry run."

    def _told_variables(self) -> tuple[str, list[str]]:
        trainable = [each for each in self.variables if each.trainable]
        total = sum(each.bytes for each in self.variables)
        title = "Variables: none"
        if self.variables:
            title = f"Variables: {len(self.variables):,}, {size(total)}; {len(trainable):,} of them trainable"
        constants = sum(each.made_of == "constant" for each in self.variables)
        if constants:
            title += f"; {'all' if constants == len(self.variables) else f'{constants:,}'} were constants"
        rows = []
        for each in sorted(self.variables, key=lambda each: (-each.bytes, each.name))[:ROWS]:
            made_of = "joined of parts" if each.made_of == "parts" else ""
            remark = ", ".join(filter(None, ["" if each.trainable else "not trained", made_of]))
            rows.append((each.name, each.dtype, _shape(each.shape), size(each.bytes), remark))
        return title, _some(_table(rows), len(self.variables))

    def _made_again(self) -> Iterator[str]:
        if self.loops:
            yield f"{_number(len(self.loops), 'loop')} as tf.while_loop: {_listed(self.loops)}"
        if self.conditions:
            yield f"{_number(self.conditions, 'condition')} as tf.cond"
        if self.random:
            told = ", ".join(f"{op} {count}" for op, count in self.random.items())
            yield f"operations that draw random numbers, which they draw anew in each call: {told}"

    def _told_proof(self) -> Iterator[str]:
        if self.proof is None:
            return
        equal = [name for name, difference in self.proof.differences.items() if difference == 0.0]
        if equal:
            yield f"equal to the bit: {_listed(equal)}"
        for name, difference in self.proof.differences.items():
            if difference:
                yield f"{name}: differs by {difference:.1e} at most"
        for name, why in self.proof.not_compared.items():
            yield f"{name}: not compared, {why}"


def _short(path: str) -> str:
    """A path as seen from here, unless that is longer."""
    return min(os.path.relpath(path), path, key=len) if os.path.isabs(path) else path


def size(count: int) -> str:
    """``1234567`` -> ``1.2 MB``."""
    value, units = float(count), ["bytes", "kB", "MB", "GB", "TB"]
    power = 0
    while value >= 999.5 and power < len(units) - 1:
        value, power = value / 1000, power + 1
    return f"{value:.{1 if power and value < 9.95 else 0}f} {units[power]}"


def _number(count: int, what: str) -> str:
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def _listed(names: Sequence[str], most: int = 6) -> str:
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _shape(shape: Sequence[int | None] | None) -> str:
    return "any shape" if shape is None else f"[{', '.join('?' if one is None else str(one) for one in shape)}]"


def _remark(tensor: Tensor) -> str:
    name = "" if tensor.tensor.removesuffix(":0") == tensor.name else f"tensor {tensor.tensor}"
    return ", ".join(filter(None, [name, "optional" if tensor.optional else ""]))


def _section(title: str, rows: Iterable[str]) -> Iterator[str]:
    """A title and its rows; nothing where there are none."""
    rows = list(rows)
    if rows:
        yield ""
        yield title
        yield from (f"  {_printable(row)}" for row in rows)


def _printable(text: str) -> str:
    """A text without control characters: names come from the file, and must not steer the terminal."""
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    if not rows:
        return []
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]) - 1)]
    return [
        "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[-1]]).rstrip()
        for row in rows
    ]


def _some(rows: Sequence[str], total: int | None = None) -> list[str]:
    more = (len(rows) if total is None else total) - ROWS
    return [*rows[:ROWS], f"and {more:,} more"] if more > 0 else list(rows)


def _columns(rows: Iterable[tuple[str, str]], width: int) -> list[str]:
    """Names, and a text beside each that goes on below itself."""
    rows = list(rows)
    left = max((len(name) for name, _ in rows), default=0) + 2
    found = []
    for name, text in rows:
        lines = textwrap.wrap(text, max(20, width - 2 - left), break_on_hyphens=False)
        found += [f"{name if not number else '':{left}}{line}" for number, line in enumerate(lines)]
    return found


def _wrapped(texts: Iterable[str], width: int) -> list[str]:
    return [
        line
        for text in texts
        for line in textwrap.wrap(
            text, width - 2, initial_indent="- ", subsequent_indent="  ", break_on_hyphens=False, break_long_words=False
        )
    ]
