"""The names and shapes that objects get in a checkpoint of TensorFlow 1, where nothing else gives them."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Mapping

from tf1sessions.porting.checkpoints.layouts import AS_IT_IS, CellLayout, CudnnGru, Gru, Layout
from tf1sessions.porting.checkpoints.matching import Match
from tf1sessions.porting.checkpoints.objects import ValueHolder, holders_of
from tf1sessions.porting.checkpoints.optimizers import ModernOptimizer
from tf1sessions.porting.checkpoints.planning import RestoreRequest
from tf1sessions.porting.checkpoints.plans import Problem
from tf1sessions.porting.checkpoints.reading import Spec
from tf1sessions.porting.checkpoints.renaming import Names, Renaming, reason_for
from tf1sessions.porting.checkpoints.writing import why_no_name

__all__ = ["Naming"]


class Naming:
    """Names for a checkpoint.

    Args:
        request: What is to be saved.
        names: Names in the objects -> names in the checkpoint.

    Attributes:
        specs: The variables of the checkpoint by name, slots, averages and counters too.
        matches: Which are which variables of the objects.
        problems: Names that are given twice, or to nothing.
    """

    def __init__(self, request: RestoreRequest, names: Names | None) -> None:
        self.specs: dict[str, Spec] = {}
        self.matches: list[Match] = []
        self.problems: list[Problem] = []
        self._renaming = Renaming(names)
        holders = {
            name: holder
            for name, holder in holders_of(request.target).items()
            if reason_for(name, request.kept, "kept=") is None
        }
        self._variables(holders, request.forget_bias)
        modern = ModernOptimizer(request.optimizer) if request.optimizer not in (None, False) else None
        if modern is not None:
            self._optimizer(modern, request, holders)
        if modern is not None or request.step is not None:
            self._add(Spec("global_step", (), "int64"))
        if request.averages not in (None, False) or (modern is not None and modern.keeps_averages):
            self._averages()
        for old, new in self._renaming.unused.items():
            text = f"{old!r} is to be {new!r}, and no variable of the objects is named so"
            self.problems.append(Problem("names", old, text))

    def _add(self, spec: Spec) -> None:
        if reason := why_no_name(spec.name):
            self.problems.append(Problem("names", spec.name, f"{reason}; name it by names="))
        if spec.name in self.specs:
            self.problems.append(Problem("names", spec.name, f"two variables would be named {spec.name!r}"))
        self.specs[spec.name] = spec

    def _variables(self, holders: Mapping[str, ValueHolder], forget_bias: float) -> None:
        scopes: dict[str, dict[str, Spec]] = collections.defaultdict(dict)
        for name, holder in holders.items():
            scope, _, leaf = name.rpartition("/")
            scopes[scope][leaf] = holder.spec
        for scope, roles in scopes.items():
            if "recurrent_kernel" in roles:
                self._cell(scope, roles, forget_bias)
                continue
            for spec in roles.values():
                new = self._renaming(spec.name) or spec.name
                self._add(dataclasses.replace(spec, name=new))
                self.matches.append(Match((new,), (spec.name,), AS_IT_IS, _how(spec.name, new)))

    def _cell(self, scope: str, roles: Mapping[str, Spec], forget_bias: float) -> None:
        parts = [roles[role] for role in ("kernel", "recurrent_kernel", "bias") if role in roles]
        (inputs, width), (units, _) = ([dim or 0 for dim in part.shape] for part in parts[:2])
        gates = width // max(units, 1)
        layout: Layout
        if gates == 3 and len(parts) == 3 and len(parts[2].shape) == 1:
            layout = Gru(inputs)
            shapes = {
                "gates/kernel": (inputs + units, 2 * units),
                "gates/bias": (2 * units,),
                "candidate/kernel": (inputs + units, units),
                "candidate/bias": (units,),
            }
        elif gates == 3 and len(parts) == 3:
            layout = CudnnGru(inputs)
            shapes = {"gates/kernel": (inputs + units, 2 * units), "gates/bias": (2 * units,)}
            for name, size in (("input", inputs), ("hidden", units)):
                shapes[f"candidate/{name}_projection/kernel"] = (size, units)
                shapes[f"candidate/{name}_projection/bias"] = (units,)
        elif gates in (1, 4):
            layout = CellLayout(inputs, (0, 2, 1, 3) if gates == 4 else (0,), forget_bias if gates == 4 else 0.0)
            shapes = {"kernel": (inputs + units, width), "bias": (width,)}
            shapes = dict(list(shapes.items())[: len(parts) - 1])
        else:
            text = f"{scope} is a GRU without bias, which no GRUCell of TensorFlow 1 is"
            self.problems.append(Problem("names", scope, text))
            return
        renamed = self._renaming(scope) or scope
        names = []
        for part, shape in shapes.items():
            name = self._renaming(f"{scope}/{part}") or f"{renamed}/{part}"
            names.append(name)
            self._add(Spec(name, shape, parts[0].dtype, parts[0].trainable))
        targets = tuple(part.name for part in parts)
        self.matches.append(Match(tuple(names), targets, layout, _how(scope, renamed)))

    def _optimizer(self, modern: ModernOptimizer, request: RestoreRequest, holders: Mapping[str, ValueHolder]) -> None:
        trainable = [holder.get() for holder in holders.values() if holder.spec.trainable]
        owned = {id(variable) for variable in modern.variables_of(trainable)}
        title = request.optimizer_name or modern.kind.name
        for match in self.matches:
            if not all(id(holders[name].get()) in owned for name in match.targets):
                continue
            for number, _ in enumerate(modern.slots):
                for source in match.sources:
                    slot = f"{source}/{title}" + (f"_{number}" if number else "")
                    self._add(dataclasses.replace(self.specs[source], name=slot))
        if modern.kind.powers:
            self._add(Spec("beta1_power", (), "float32"))
            self._add(Spec("beta2_power", (), "float32"))

    def _averages(self) -> None:
        for match in self.matches:
            for source in match.sources:
                if self.specs[source].trainable:
                    name = f"{source}/ExponentialMovingAverage"
                    self._add(dataclasses.replace(self.specs[source], name=name))


def _how(old: str, new: str) -> str:
    return "same name" if old == new else "names="
