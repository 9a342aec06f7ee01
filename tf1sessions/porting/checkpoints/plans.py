"""The plan for each variable of a checkpoint and of objects: a table, and the check that nothing is missed."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tf1sessions.errors import CheckpointMismatchError
from tf1sessions.porting.checkpoints.layouts import Layout
from tf1sessions.porting.checkpoints.objects import ValueHolder
from tf1sessions.porting.checkpoints.optimizers import power_of
from tf1sessions.texts import printable

__all__ = ["Filled", "Plan", "PlanRow", "Problem", "Steps"]


@dataclasses.dataclass(frozen=True)
class Filled(Layout):
    """A variable that the checkpoint has and the objects do not: the value that it has in TensorFlow 1 then."""

    shape: tuple[int, ...]
    dtype: str
    value: float

    @property
    def text(self) -> str:
        return f"only the checkpoint has it: {self.value:g}"

    def forward(self, values: Sequence[Any]) -> list[Any]:
        return []

    def backward(self, values: Sequence[Any]) -> list[Any]:
        return [np.full(self.shape, self.value, self.dtype)]


@dataclasses.dataclass(frozen=True)
class Steps(Layout):
    """The number of steps: one number here, the powers of Adam's betas and ``global_step`` in TensorFlow 1.

    Attributes:
        roles: What each variable of the checkpoint is: ``"beta1_power"``, ``"beta2_power"`` or ``"global_step"``.
        betas: beta_1 and beta_2.
        steps: The number, where the values of the checkpoint were read.
    """

    roles: tuple[str, ...]
    betas: tuple[float, float] = (0.0, 0.0)
    steps: int | None = None

    @property
    def text(self) -> str:
        return "the number of steps" + (f": {self.steps}" if self.steps is not None else "")

    def forward(self, values: Sequence[Any]) -> list[Any]:
        return [np.int64(self.steps or 0)]

    def backward(self, values: Sequence[Any]) -> list[Any]:
        (steps,) = (int(value) for value in values)
        beta_1, beta_2 = self.betas
        known = {"beta1_power": power_of(beta_1, steps), "beta2_power": power_of(beta_2, steps)}
        return [known.get(role, np.int64(steps)) for role in self.roles]


@dataclasses.dataclass(frozen=True)
class PlanRow:
    """Variables whose values are converted together.

    Attributes:
        sources: Names in the checkpoint.
        targets: Names in the objects.
        layout: How the values of one side become those of the other.
        how: How it was found: ``"names="``, ``"same name"``, a rule, ``"suggested"``, or what the variable is for.
    """

    sources: tuple[str, ...]
    targets: tuple[str, ...]
    layout: Layout
    how: str


@dataclasses.dataclass(frozen=True)
class Problem:
    """A variable that is not accounted for.

    Attributes:
        kind: ``"missing"`` (the checkpoint has nothing for it), ``"extra"`` (nothing takes it), ``"shape"``,
            ``"ambiguous"`` or ``"names"``.
        name: The variable.
        text: What is the matter, and what to do.
    """

    kind: str
    name: str
    text: str


@dataclasses.dataclass(frozen=True)
class Plan:
    """The plan for each variable. ``print(plan)`` shows it as a table.

    Attributes:
        rows: What is converted.
        unused: Variables of the checkpoint that are not, each with the reason.
        kept: Variables of the objects that keep their values, each with the reason.
        problems: Variables that are not accounted for; :meth:`check` raises when there are any.
        notes: What training on does otherwise, or was assumed; in sentences.
        where: The checkpoint.
    """

    rows: tuple[PlanRow, ...]
    unused: Mapping[str, str]
    kept: Mapping[str, str]
    problems: tuple[Problem, ...]
    notes: tuple[str, ...]
    where: str
    holders: Mapping[str, ValueHolder] = dataclasses.field(repr=False)

    def check(self) -> None:
        """Raises unless every variable of both sides is accounted for.

        Raises:
            CheckpointMismatchError: With all that is not: ``missing``, ``extra``, ``shapes`` and ``ambiguous`` have the
                names.
        """
        if not self.problems:
            return
        shown = [problem.text for problem in self.problems[:12]]
        if len(self.problems) > len(shown):
            shown.append(f"and {len(self.problems) - len(shown)} more")
        raise CheckpointMismatchError(
            "checkpoint and objects do not fit:\n  " + "\n  ".join(shown) + "\n",
            where=self.where,
            next_step="Say what belongs together by names=, what is left out by unused=, what keeps its value by "
            "kept=; print(plan(...)) shows what was found.",
            missing=self._named("missing"),
            extra=self._named("extra"),
            shapes=self._named("shape"),
            ambiguous=self._named("ambiguous"),
        )

    def _named(self, kind: str) -> tuple[str, ...]:
        return tuple(problem.name for problem in self.problems if problem.kind == kind)

    def __str__(self) -> str:
        lines = _table(self.rows)
        for title, entries in (("unused in the checkpoint", self.unused), ("kept in the objects", self.kept)):
            if entries:
                lines += ["", f"{title}:"] + [f"  {name}: {reason}" for name, reason in entries.items()]
        if self.notes:
            lines += ["", "to know:"] + [f"  {note}" for note in self.notes]
        if self.problems:
            lines += ["", "not accounted for:"] + [f"  {problem.text}" for problem in self.problems]
        return "\n".join(map(printable, lines))


def _table(rows: Sequence[PlanRow]) -> list[str]:
    """A line for each row, and more where it has several variables on a side."""
    cells = [("checkpoint", "->", "objects", "how")]
    for row in rows:
        how = "; ".join(filter(None, [row.how, row.layout.text]))
        for number, (old, new) in enumerate(itertools.zip_longest(row.sources, row.targets, fillvalue="")):
            cells.append((old, "" if number else "->", new, "" if number else how))
    widths = [max(len(line[index]) for line in cells) for index in range(3)]
    return [
        f"{old:{widths[0]}}  {arrow:{widths[1]}}  {new:{widths[2]}}  {how}".rstrip() for old, arrow, new, how in cells
    ]
