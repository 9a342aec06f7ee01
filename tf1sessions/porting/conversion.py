"""The result of a conversion, as a record and as text. Nothing here prints, or needs TensorFlow."""

from __future__ import annotations

import dataclasses
import os
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from tf1sessions import texts

__all__ = ["Conversion", "Proof", "Signature", "Tensor", "Variable"]


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
    """The comparison of the converted model, loaded again, with the model on TensorFlow 1's side.

    Attributes:
        differences: ``"signature: output"`` -> the largest absolute difference.
        not_compared: ``"signature"`` or ``"signature: output"`` -> why not.
    """

    differences: Mapping[str, float]
    not_compared: Mapping[str, str]


@dataclasses.dataclass(frozen=True)
class Conversion:
    """The result of :func:`tf1sessions.porting.convert`: what it wrote, or would write.

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
        """Yield the report, ``width`` columns wide where names allow. Titles are the lines that are not indented."""
        yield texts.printable(f"{_short(self.source)}: {self.kind} -> {self.out}")
        for signature in self.signatures:
            remark = " (guessed)" if signature.guessed else ""
            rows = [("from", each.name, each.dtype, _shape(each.shape), _remark(each)) for each in signature.inputs]
            rows += [("to", each.name, each.dtype, _shape(each.shape), _remark(each)) for each in signature.outputs]
            yield from _section(f"Signature {signature.name}{remark}", texts.table(rows))
        yield from _section("Functions", _columns(self.functions.items(), width))
        yield from _section(*self._variable_lines())
        yield from _section("Tables", texts.some(texts.table(list(self.tables.items()))))
        yield from _section("Assets", texts.some(self.assets))
        yield from _section("Made again", texts.wrapped(self._made_again(), width))
        yield from _section("Left out", texts.wrapped(self.left_out, width))
        yield from _section("Notes", texts.wrapped(self.notes, width))
        yield from _section("Compared with TensorFlow 1", texts.wrapped(self._proof_lines(), width))
        yield ""
        yield f"Written to {self.out}" if self.written else "Nothing was written: a dry run."

    def _variable_lines(self) -> tuple[str, list[str]]:
        trainable = [each for each in self.variables if each.trainable]
        total = sum(each.bytes for each in self.variables)
        title = "Variables: none"
        if self.variables:
            title = f"Variables: {len(self.variables):,}, {texts.size(total)}; {len(trainable):,} of them trainable"
        constants = sum(each.made_of == "constant" for each in self.variables)
        if constants:
            title += f"; {'all' if constants == len(self.variables) else f'{constants:,}'} were constants"
        rows = []
        for each in sorted(self.variables, key=lambda each: (-each.bytes, each.name))[: texts.ROWS]:
            made_of = "joined of parts" if each.made_of == "parts" else ""
            remark = ", ".join(filter(None, ["" if each.trainable else "not trained", made_of]))
            rows.append((each.name, each.dtype, _shape(each.shape), texts.size(each.bytes), remark))
        return title, texts.some(texts.table(rows), len(self.variables))

    def _made_again(self) -> Iterator[str]:
        if self.loops:
            yield f"{texts.counted(len(self.loops), 'loop')} as tf.while_loop: {_listed(self.loops)}"
        if self.conditions:
            yield f"{texts.counted(self.conditions, 'condition')} as tf.cond"
        if self.random:
            kinds = ", ".join(f"{op} {count}" for op, count in self.random.items())
            yield f"operations that draw random numbers, which they draw anew in each call: {kinds}"

    def _proof_lines(self) -> Iterator[str]:
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
        yield from (f"  {texts.printable(row)}" for row in rows)


def _columns(rows: Iterable[tuple[str, str]], width: int) -> list[str]:
    """Names, and a text beside each that goes on below itself."""
    rows = list(rows)
    left = max((len(name) for name, _ in rows), default=0) + 2
    found = []
    for name, text in rows:
        lines = textwrap.wrap(text, max(20, width - 2 - left), break_on_hyphens=False)
        found += [f"{name if not number else '':{left}}{line}" for number, line in enumerate(lines)]
    return found
