"""Makes a plan: which variable of a checkpoint goes where, the optimizer's state included.

::

    specs of the checkpoint ──▶ slots, averages, counters apart ──▶ matching.py ──▶ rows of variables
                                          │                                             │
                                          └────────▶ rows of the optimizer ◀────────────┘
                                                            │
                                     what neither side has accounted for: problems
"""

from __future__ import annotations

import dataclasses
import math
import numbers
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tf1sessions.errors import ModelFileError, UsageError
from tf1sessions.porting.checkpoints.layouts import AS_IT_IS, CudnnGru, Layout, Scaled
from tf1sessions.porting.checkpoints.matching import Match, Matching, match
from tf1sessions.porting.checkpoints.names import Derived, derived_of, is_counter, setting_of
from tf1sessions.porting.checkpoints.objects import ValueHolder, check_variable, holders_of, spec_of
from tf1sessions.porting.checkpoints.optimizers import ModernOptimizer, Slot, steps_of
from tf1sessions.porting.checkpoints.plans import Filled, Plan, PlanRow, Problem, Steps
from tf1sessions.porting.checkpoints.reading import Spec
from tf1sessions.porting.checkpoints.renaming import Names, Patterns, Renaming, reason_for
from tf1sessions.porting.checkpoints.settings import settings_of
from tf1sessions.texts import brief

__all__ = ["Planner", "RestoreRequest"]

_LEFT_OUT = "optimizer=False"


@dataclasses.dataclass(frozen=True)
class RestoreRequest:
    """The wishes of a user; the arguments of :func:`~tf1sessions.porting.checkpoints.restore`."""

    target: Any
    optimizer: Any = None
    names: Names | None = None
    unused: Patterns | None = None
    kept: Patterns | None = None
    averages: Any = None
    step: Any = None
    optimizer_name: str | None = None
    forget_bias: float = 1.0

    def __post_init__(self) -> None:
        averages = self.averages
        if isinstance(averages, Mapping):
            for name, variable in averages.items():
                check_variable(variable, f"averages[{name!r}]")
        elif not (
            averages is None
            or averages is False
            or (isinstance(averages, str) and averages == "variables")
            or callable(getattr(averages, "average", None))
        ):
            raise UsageError(
                f"averages is {brief(averages)}",
                where="averages=",
                next_step="Give 'variables', False, a tf.train.ExponentialMovingAverage, or a dict of variables.",
            )
        if self.step is not None:
            check_variable(self.step, "step=")
        if self.optimizer_name is not None and not isinstance(self.optimizer_name, str):
            raise UsageError(
                f"optimizer_name is {brief(self.optimizer_name)}",
                where="optimizer_name=",
                next_step="Give the name that the optimizer has in the checkpoint, such as 'Adam'.",
            )
        forget_bias: Any = self.forget_bias
        if not isinstance(forget_bias, numbers.Real) or not math.isfinite(forget_bias):
            raise UsageError(
                f"forget_bias is {brief(forget_bias)}",
                where="forget_bias=",
                next_step="Give the number that the LSTM cells of TensorFlow 1 added; by default it was 1.",
            )


class Planner:
    """Makes one plan.

    Args:
        specs: The variables of the checkpoint.
        request: What is asked for.
        where: The checkpoint, for messages.
        read: Reads a value of the checkpoint; None where the checkpoint is yet to be written.
        matches: What belongs together, where that is known.
        prefix: The prefix of the checkpoint, beside which its graph may be.

    Attributes:
        holders: The variables of the objects by name, and those of the optimizer.
    """

    def __init__(
        self,
        specs: Mapping[str, Spec],
        request: RestoreRequest,
        where: str,
        read: Callable[[str], Any] | None,
        matches: list[Match] | None = None,
        prefix: str = "",
    ) -> None:
        self.specs = specs
        self.request = request
        self.where = where
        self.read = read
        self.holders: dict[str, ValueHolder] = holders_of(request.target, settable=read is not None)
        self.given = set(self.holders)  # those of a user, which are there
        self.modern = ModernOptimizer(request.optimizer) if request.optimizer not in (None, False) else None
        self.known = matches
        self.prefix = prefix
        self.rows: list[PlanRow] = []
        self.unused: dict[str, str] = {}
        self.kept: dict[str, str] = {}
        self.problems: list[Problem] = []
        self.notes: list[str] = []
        self.done: set[str] = set()  # names of the checkpoint that are accounted for
        self.derived: dict[str, Derived] = {}
        self.made_for: dict[Derived, list[str]] = {}  # the other way round
        self.averages: dict[str, str] = {}  # of a variable, by its name
        self.counters: dict[str, str] = {}
        self.settings: dict[str, str] = {}  # of an optimizer of tf.keras

    def plan(self) -> Plan:
        """Makes the plan; to be called once."""
        self._declared()
        plain = self._plain()
        matching = self._matching(plain)
        self._rows_of(matching.matches)
        if self.modern is not None:
            self._slots(matching.matches)
            self.notes += self.modern.differences(self._recorded_settings(matching.matches), self._is_of_keras())
            self._settings()
        self._averages(matching.matches)
        self._steps()
        self._left(matching)
        self._shared()
        return Plan(
            tuple(self.rows),
            self.unused,
            self.kept,
            tuple(self.problems),
            tuple(self.notes),
            self.where,
            self.holders,
        )

    # --------------------------------------------------------------------------------------------------- the variables

    def _declared(self) -> None:
        for name in self.specs:
            reason = reason_for(name, self.request.unused, "unused=")
            if reason is not None:
                self._leave(name, reason)
        for name in self.holders:
            reason = reason_for(name, self.request.kept, "kept=")
            if reason is not None:
                self.kept[name] = reason

    def _leave(self, name: str, reason: str) -> None:
        self.unused[name] = reason
        self.done.add(name)

    def _plain(self) -> dict[str, Spec]:
        """The variables of the checkpoint that are no slot, average or counter, or that the objects have by name."""
        renaming = Renaming(self.request.names)
        derived = derived_of(self.specs)
        plain = {}
        for name, spec in self.specs.items():
            wanted = name in self.holders or renaming(name) in self.holders
            if not wanted and name in derived:
                self._is_derived(name, derived[name])
            elif not wanted and not spec.shape and (counter := is_counter(name)):
                self.counters[name] = counter
            elif not wanted and not spec.shape and (setting := setting_of(name)):
                self.settings[name] = setting
            elif name not in self.done:
                plain[name] = spec
        return plain

    def _is_derived(self, name: str, derived: Derived) -> None:
        self.derived[name] = derived
        if name not in self.done:
            self.made_for.setdefault(derived, []).append(name)
            if derived.is_average:
                self.averages.setdefault(derived.base, name)

    def _matching(self, plain: Mapping[str, Spec]) -> Matching:
        if self.known is not None:
            return Matching(self.known)
        targets = {name: holder.spec for name, holder in self.holders.items() if name not in self.kept}
        return match(plain, targets, Renaming(self.request.names), self.request.forget_bias)

    def _rows_of(self, matches: list[Match]) -> None:
        averaged = self.request.averages == "variables"
        for each in matches:
            sources = each.sources
            if averaged:
                sources = tuple(self.averages.get(name, name) for name in sources)
                for name, taken in zip(each.sources, sources, strict=True):
                    if name != taken:
                        self._leave(name, "its moving average is taken")
            self._add(PlanRow(sources, each.targets, each.layout, each.how))
        cells = [each.sources[0] for each in matches if getattr(each.layout, "forget_bias", 0.0)]
        doubled = [each.sources[0] for each in matches if isinstance(each.layout, CudnnGru)]
        if doubled:
            self.notes.append(
                f"The gates of {' and '.join(doubled)} have one bias in TensorFlow 1, and in Keras two, which are "
                "added: trained on, both change, and the sum twice as much."
            )
        if cells:
            self.notes.append(
                f"forget_bias={self.request.forget_bias:g} is taken for {' and '.join(cells)}: a checkpoint does not "
                "say so, and 1 is TensorFlow 1's default."
            )

    def _add(self, row: PlanRow) -> None:
        self.rows.append(row)
        self.done.update(row.sources)

    # --------------------------------------------------------------------------------------------------- the optimizer

    def _slots(self, matches: list[Match]) -> None:
        assert self.modern is not None
        trainable = [holder.get() for holder in self.holders.values() if holder.spec.trainable]
        owned = {id(variable) for variable in self.modern.variables_of(trainable)}
        title = type(self.modern.optimizer).__name__
        for each in matches:
            variables = [self.holders[name].get() for name in each.targets]
            if not all(id(variable) in owned for variable in variables):
                continue
            for number, slot in enumerate(self.modern.slots):
                names = [self._slot_of(source, number) for source in each.sources]
                scaled = slot.scaled
                if None in names and None not in (others := [self._slot_in_keras(name, slot) for name in each.sources]):
                    names, scaled = others, False  # as it is in Keras, of both ages
                targets = tuple(f"{title}: {slot.what} of {name}" for name in each.targets)
                if None in names:
                    self._missing_slots(each, names, slot, number)
                elif not slot.used(self.modern.optimizer):
                    self._unused_slots([name for name in names if name], slot)
                else:
                    for target, variable in zip(targets, variables, strict=True):
                        self.holders[target] = self._slot_holder(target, variable, slot)
                    layout: Layout = each.layout.linear()
                    if scaled:
                        layout = Scaled(-self._rate(), layout)
                    self._add(PlanRow(tuple(name for name in names if name), targets, layout, "slot"))

    def _recorded_settings(self, matches: list[Match]) -> dict[str, float]:
        """The settings of the optimizer in the checkpoint's own graph."""
        if self.read is not None and self.settings:
            return {what: float(self.read(name)) for name, what in self.settings.items()}
        try:
            return settings_of(self.prefix, {name for each in matches for name in each.sources}) if self.prefix else {}
        except ModelFileError as error:
            self.notes.append(f"The graph beside the checkpoint says nothing about the optimizer: {error}")
            return {}

    def _rate(self) -> float:
        assert self.modern is not None
        rate = self.modern.learning_rate()
        if not rate:
            raise UsageError(
                "the optimizer's learning rate is 0, and what it keeps has the rate in it",
                where="optimizer=",
                next_step="Set the learning rate with which training goes on.",
            )
        return rate

    def _slot_name(self) -> str:
        assert self.modern is not None
        return self.request.optimizer_name or self.modern.kind.name

    def _slot_maker(self) -> tuple[str, int]:
        """The optimizer's name, and the number of its first slot: ``"Adam_2"`` is ``("Adam", 2)``."""
        name, _, first = self._slot_name().rpartition("_")
        return (name, int(first)) if first.isdecimal() and name else (self._slot_name(), 0)

    def _slot_of(self, base: str, number: int) -> str | None:
        """The name of a variable's slot by its number, in whichever scope."""
        name, start = self._slot_maker()
        found = self.made_for.get(Derived(base, name, start + number))
        return found[0] if found else None

    def _slot_in_keras(self, base: str, slot: Slot) -> str | None:
        """The name of a variable's slot of an optimizer of tf.keras: ``training/Adam/dense/kernel/m``."""
        found = self.made_for.get(Derived(base, slot.legacy, 0), [])
        asked = self.request.optimizer_name
        found = [name for name in found if asked is None or f"/{asked}/" in f"/{name}"]
        return found[0] if found else None

    def _is_of_keras(self) -> bool:
        """Whether an optimizer of tf.keras wrote the checkpoint."""
        return bool(self.settings)

    def _settings(self) -> None:
        """Report where an optimizer of tf.keras was made with other settings; they are not set."""
        assert self.modern is not None
        for name, what in self.settings.items():
            if name in self.done:
                continue
            if self.read is not None:
                self._leave(name, f"a setting: {what} is {float(self.read(name)):g}")
                continue
            value = self._rate() if what == "learning_rate" else 0.0 if what == "decay" else self.modern.setting(what)
            self._add(PlanRow((name,), (), Filled((), self.specs[name].dtype, value), "setting"))

    def _missing_slots(self, each: Match, names: list[str | None], slot: Slot, number: int) -> None:
        assert self.modern is not None
        if not slot.used(self.modern.optimizer):
            return
        lacking = [source for source, name in zip(each.sources, names, strict=True) if name is None]
        expected = self._slot_name() + (f"_{number}" if number else "")
        others = sorted({d.name for d in self.derived.values() if d.base in lacking and not d.is_average})
        hint = f"; it has slots of {', '.join(others)}: say so by optimizer_name=" if others else ""
        for name in lacking:
            text = f"{name}/{expected} ({slot.what}) is not in the checkpoint{hint}"
            self.problems.append(Problem("missing", f"{name}/{expected}", text))

    def _unused_slots(self, names: list[str], slot: Slot) -> None:
        if self.read is not None:
            for name in names:
                self._leave(name, slot.absent)
            return
        for name in names:
            spec = self.specs[name]
            shape = tuple(dim or 0 for dim in spec.shape)
            self._add(PlanRow((name,), (), Filled(shape, spec.dtype, slot.fill), "slot"))

    def _slot_holder(self, name: str, variable: Any, slot: Slot) -> ValueHolder:
        modern = self.modern
        assert modern is not None
        return ValueHolder(spec_of(variable, name), lambda: modern.slot_variable(variable, slot))

    # ------------------------------------------------------------------------------------------------ averages, steps

    def _averages(self, matches: list[Match]) -> None:
        averages = self.request.averages
        if averages == "variables":
            return
        if averages is False:
            for name, derived in self.derived.items():
                if derived.is_average and name not in self.done:
                    self._leave(name, "averages=False")
            return
        if averages is None and not (self.modern is not None and self.modern.keeps_averages):
            return
        for each in matches:
            names = [self.averages.get(name) for name in each.sources]
            if None in names:
                continue
            targets = tuple(f"average of {name}" for name in each.targets)
            holders = [self._average_holder(*pair) for pair in zip(each.targets, targets, strict=True)]
            if None not in holders:
                self.holders.update({holder.spec.name: holder for holder in holders if holder})
                self.given.update(targets if isinstance(averages, Mapping) else ())
                self._add(PlanRow(tuple(name for name in names if name), targets, each.layout, "moving average"))

    def _average_holder(self, name: str, title: str) -> ValueHolder | None:
        averages, holder = self.request.averages, self.holders[name]
        variable = holder.get()
        spec = dataclasses.replace(holder.spec, name=title)
        if averages is None:
            modern = self.modern
            assert modern is not None
            trainable = modern.variables_of([variable]) if holder.spec.trainable else []
            return ValueHolder(spec, lambda: modern.average(variable)) if trainable else None
        if isinstance(averages, Mapping):
            found = averages.get(name)
        else:
            found = averages.average(getattr(variable, "value", variable) if _is_keras_3(variable) else variable)
        return ValueHolder(spec, lambda: found) if found is not None else None

    def _steps(self) -> None:
        counters = {name: what for name, what in self.counters.items() if name not in self.done}
        steps = [name for name, what in counters.items() if what == "global_step"]
        if self.request.step is not None and len(steps) == 1:
            title = self._title("step", "step=")
            self.given.add(title)
            variable = self.request.step
            self.holders[title] = ValueHolder(spec_of(variable, title), lambda: variable)
            self._add(PlanRow((steps[0],), (title,), AS_IT_IS, "step="))
        if self.modern is None:
            return
        powers = [name for name, what in counters.items() if what != "global_step"] if self.modern.kind.powers else []
        betas = (
            (self.modern.setting("beta_1"), self.modern.setting("beta_2")) if self.modern.kind.powers else (0.0, 0.0)
        )
        if len(powers) > 2 or len(steps) > 1:
            return  # reported with what is left
        counted: int | None = None
        taken = list(powers)
        if self.read is None:
            taken += steps if self.request.step is None else []
        else:
            counted, agrees = self._counted(counters, powers, steps, betas)
            if agrees and self.request.step is None:
                taken += steps
        title = self._title("iterations", "optimizer=")
        if not taken:
            self.notes.append("The checkpoint has no count of steps; the optimizer's iterations are kept.")
            return
        modern = self.modern
        dtype = str(getattr(modern.iterations.dtype, "name", modern.iterations.dtype))
        self.holders[title] = ValueHolder(Spec(title, (), dtype), lambda: modern.iterations)
        layout = Steps(tuple(counters[name] for name in taken), betas, counted)
        self._add(PlanRow(tuple(taken), (title,), layout, "steps"))

    def _counted(
        self, counters: Mapping[str, str], powers: list[str], steps: list[str], betas: tuple[float, float]
    ) -> tuple[int, bool]:
        """The number of steps, and whether ``global_step`` agrees with it."""
        assert self.read is not None
        steps_found = [int(self.read(name)) for name in steps]
        estimates = []
        for name in powers:
            beta = betas[0] if counters[name] == "beta1_power" else betas[1]
            found = steps_of(float(self.read(name)), beta)
            if found is not None:
                estimates.append((*found, name, beta))
        if not estimates:
            if powers:
                self.notes.append(
                    "The powers of Adam's betas have become so small that they do not give the number of steps; "
                    "bias correction has no effect any more."
                )
            return (steps_found[0], True) if steps_found else (90_000, False)
        count, error, name, beta = min(estimates, key=lambda each: each[1])
        for other, its_error, its_name, its_beta in estimates:
            if abs(other - count) > error + its_error:
                self.notes.append(
                    f"{name} gives {count:.2f} steps with a beta of {beta:g}, and {its_name} {other:.2f} with "
                    f"{its_beta:g}: the betas here are not those of the checkpoint."
                )
        whole = round(count)
        if abs(count - whole) > error:
            self.notes.append(
                f"{name} is that of {count:.3f} steps with a beta of {beta:g}, no whole number; iterations become "
                f"{whole}, and bias correction differs by that."
            )
        if steps_found and abs(steps_found[0] - count) <= error + 0.5:
            return steps_found[0], True
        if steps_found:
            self.notes.append(
                f"{steps[0]} is {steps_found[0]}, and Adam has made {whole} steps; iterations become {whole}. "
                "A learning rate "
                "that follows the iterations begins there."
            )
        return whole, False

    # ------------------------------------------------------------------------------------------------- what is left

    def _left(self, matching: Matching) -> None:
        if self.request.optimizer is False:
            for name in self.specs:
                slot = name in self.derived and not self.derived[name].is_average
                if name not in self.done and (slot or name in self.counters or name in self.settings):
                    self._leave(name, _LEFT_OUT)
        placed = {target for row in self.rows for target in row.targets}
        for text in matching.unknown:
            self.problems.append(Problem("names", text.split("'")[1], text))
        for name, source in matching.misfits.items():
            text = f"{self.specs[source]} of the checkpoint does not fit {self.holders[name].spec} of the objects"
            self.problems.append(Problem("shape", name, text))
            placed.add(name)
            self.done.add(source)
        for name, could in matching.candidates.items():
            text = f"{self.holders[name].spec} could be {' or '.join(could)}: say which by names="
            self.problems.append(Problem("ambiguous", name, text))
            placed.add(name)
            self.done.update(old for each in could for old in each.split(" + "))
        for name, holder in self.holders.items():
            if name not in placed and name not in self.kept:
                text = f"{holder.spec} of the objects has nothing in the checkpoint"
                if name in matching.hints:
                    text += f": {matching.hints[name]}"
                self.problems.append(Problem("missing", name, text))
        for name, spec in self.specs.items():
            if name not in self.done:
                self.problems.append(Problem("extra", name, f"{spec} of the checkpoint {self._why_left(name)}"))

    def _shared(self) -> None:
        """Report a variable that has two names among the objects, and would be set to two values."""
        if self.read is None:
            return
        found: dict[int, tuple[str, PlanRow]] = {}
        for row in self.rows:
            for name in row.targets:
                if name not in self.given:
                    continue
                variable = self.holders[name].get()
                key = id(variable.value if _is_keras_3(variable) else variable)
                other, other_row = found.setdefault(key, (name, row))
                if other != name and not np.array_equal(self._value_of(name, row), self._value_of(other, other_row)):
                    text = (
                        f"{other!r} and {name!r} of the objects are one variable, which cannot have the values of both "
                        f"{' + '.join(other_row.sources)} and {' + '.join(row.sources)}: leave one out by unused= and "
                        "kept="
                    )
                    self.problems.append(Problem("names", name, text))

    def _value_of(self, name: str, row: PlanRow) -> Any:
        assert self.read is not None
        return row.layout.forward([self.read(source) for source in row.sources])[row.targets.index(name)]

    def _title(self, name: str, what: str) -> str:
        """A name for a variable that is none of the objects'."""
        return f"{name} ({what})" if name in self.holders else name

    def _why_left(self, name: str) -> str:
        derived = self.derived.get(name)
        if derived is not None and derived.is_average:
            return "is a moving average: say by averages= where it goes"
        if derived is not None:
            what = f"is a slot of {derived.name} of {derived.base}"
            if self.modern is None:
                return f"{what}: give optimizer=, or optimizer=False to leave the optimizer's state out"
            return f"{what}, and {type(self.modern.optimizer).__name__} has no place for it"
        if name in self.settings:
            return "is a setting of an optimizer: give optimizer=, or optimizer=False to leave it out"
        if name in self.counters:
            if self.modern is None:
                return "counts steps: give optimizer= or step=, or optimizer=False to leave it out"
            return "counts steps, and not those of this optimizer: give step=, or declare it by unused="
        if re.fullmatch(r"w_[fio]_diag", name.rpartition("/")[2]):
            return "is a peephole of an LSTMCell, which Keras's LSTM does not have"
        return "has no place in the objects"


def _is_keras_3(variable: Any) -> bool:
    return type(variable).__module__.startswith("keras.")
