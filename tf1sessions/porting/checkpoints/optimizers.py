"""Optimizers of both sides: what their slots are called, what is in them, and where their formulas part.

TensorFlow 1 names a slot after its variable and its optimizer: ``dense/kernel/Adam``, ``dense/kernel/Adam_1``. The
optimizers of Keras 3 and tf_keras keep them in lists, those of ``tf_keras.optimizers.legacy`` by variable and name. The
formulas were read in, and measured against, TensorFlow 1.15.5, tf_keras 2.21 and Keras 3.15.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tf1sessions.errors import ConversionError
from tf1sessions.porting.checkpoints.objects import library_of
from tf1sessions.runtime import tf

__all__ = ["KINDS", "ModernOptimizer", "OptimizerKind", "Slot", "power_of", "steps_of"]


#: Settings that the graph of a checkpoint has, by the names that Keras has for them.
RecordedSettings = Mapping[str, float]


@dataclasses.dataclass(frozen=True)
class Slot:
    """A value that an optimizer keeps for each variable.

    Attributes:
        what: What it is, in words.
        lists: The attribute in which optimizers of Keras 3 and tf_keras keep them; several where they differ.
        legacy: The name that ``get_slot`` of a legacy optimizer takes.
        used: Whether an optimizer has it; some have it only with certain settings.
        absent: Why it may be left out where it is not used.
        fill: What TensorFlow 1 begins with, for an optimizer that has no such slot.
        scaled: Whether the modern value is TensorFlow 1's times the learning rate, with the other sign.
    """

    what: str
    lists: tuple[str, ...]
    legacy: str
    used: Callable[[Any], bool] = lambda optimizer: True
    absent: str = ""
    fill: float = 0.0
    scaled: bool = False


@dataclasses.dataclass(frozen=True)
class OptimizerKind:
    """An optimizer that both sides have.

    Attributes:
        name: TensorFlow 1's name, which its slots have.
        slots: In the order in which TensorFlow 1 makes them.
        powers: Whether TensorFlow 1 keeps ``beta1_power`` and ``beta2_power``.
        differences: What training on will do otherwise, given the optimizer, whether it is a legacy one, and what the
            graph of the checkpoint has.
        settings: Numbers that both sides are made with, by the names that Keras has for them; besides the learning rate
            and epsilon.
    """

    name: str
    slots: Callable[[Any], Sequence[Slot]]
    powers: bool = False
    differences: Callable[[Any, bool, RecordedSettings], list[str]] = lambda optimizer, legacy, recorded: []
    settings: tuple[str, ...] = ()


def _momentum(optimizer: Any) -> bool:
    return bool(_number(optimizer, "momentum"))


def _number(optimizer: Any, name: str) -> float:
    """A setting of an optimizer; of a legacy one it may be kept as a hyperparameter."""
    value = optimizer._get_hyper(name) if name in getattr(optimizer, "_hyper", {}) else getattr(optimizer, name)
    value = value() if callable(value) else value
    return float(value.numpy() if hasattr(value, "numpy") else value)


def _epsilon_note(optimizer: Any, recorded: RecordedSettings, default: str, where: str) -> list[str]:
    epsilon, other = _number(optimizer, "epsilon"), recorded.get("epsilon", float(default))
    if math.isclose(epsilon, other, rel_tol=1e-5):
        return []
    if "epsilon" in recorded:
        return [f"epsilon is {epsilon:g} here and {other:g} in the checkpoint's graph. {where}"]
    return [
        f"epsilon is {epsilon:g} here; TensorFlow 1's default is {default}, and a checkpoint does not say what was "
        f"used. {where}"
    ]


def _adam_notes(optimizer: Any, legacy: bool, recorded: RecordedSettings) -> list[str]:
    notes = _epsilon_note(
        optimizer, recorded, "1e-8", "Both add it to sqrt(v), outside the root, before bias correction"
    )
    if getattr(optimizer, "amsgrad", False):
        notes.append("amsgrad is set here; TensorFlow 1's Adam has none, so its largest velocities begin anew")
    return notes


def _sgd_notes(optimizer: Any, legacy: bool, recorded: RecordedSettings) -> list[str]:
    if not _momentum(optimizer):
        return []
    return [
        "TensorFlow 1 keeps sums of gradients and multiplies them by the learning rate of each step; Keras has the "
        "rate in what it keeps. With a constant rate both are the same; after the rate changes Keras's steps still "
        "have the old rate in them"
    ]


def _rms_notes(optimizer: Any, legacy: bool, recorded: RecordedSettings) -> list[str]:
    if legacy and not _momentum(optimizer):
        return [
            "tf_keras.optimizers.legacy.RMSprop without momentum adds epsilon to the root; TensorFlow 1 adds it under "
            "the root. The steps differ where gradients are small: use tf_keras.optimizers.RMSprop, which is as "
            "TensorFlow 1"
        ]
    return _epsilon_note(optimizer, recorded, "1e-10", "Both add it under the root")


def _adagrad_notes(optimizer: Any, legacy: bool, recorded: RecordedSettings) -> list[str]:
    epsilon = _number(optimizer, "epsilon")
    place = "to the root" if legacy else "under the root"
    if not epsilon:
        return []
    return [f"epsilon {epsilon:g} is added {place}; TensorFlow 1's Adagrad has none, which epsilon=0 is"]


def _adadelta_notes(optimizer: Any, legacy: bool, recorded: RecordedSettings) -> list[str]:
    return _epsilon_note(optimizer, recorded, "1e-8", "Both add it under the roots")


def _ftrl_notes(optimizer: Any, legacy: bool, recorded: RecordedSettings) -> list[str]:
    notes = []
    if "learning_rate_power" not in recorded or "learning_rate" not in recorded:
        power = _number(optimizer, "learning_rate_power")
        notes.append(
            "the accumulators 'linear' depend on the learning rate and on learning_rate_power (here "
            f"{power:g}), which must be those of TensorFlow 1"
        )
    if _number(optimizer, "beta"):
        notes.append(f"beta is {_number(optimizer, 'beta'):g} here; TensorFlow 1's Ftrl has none, which beta=0 is")
    return notes


_MOMENTUM_IS_OFF = "momentum is 0 here, so that it has no effect"


def _rms_slots(optimizer: Any) -> list[Slot]:
    slots = [Slot("mean of squares", ("_velocities",), "rms", fill=1.0)]
    if getattr(optimizer, "centered", False):
        slots.append(Slot("mean of gradients", ("_average_gradients",), "mg"))
    return [*slots, Slot("momentum", ("_momentums",), "momentum", _momentum, _MOMENTUM_IS_OFF)]


#: The class of a modern optimizer, by name -> what it is in TensorFlow 1.
KINDS = {
    "Adam": OptimizerKind(
        "Adam",
        lambda optimizer: [Slot("m", ("_momentums",), "m"), Slot("v", ("_velocities",), "v")],
        powers=True,
        differences=_adam_notes,
        settings=("beta_1", "beta_2"),
    ),
    "SGD": OptimizerKind(
        "Momentum",
        lambda optimizer: (
            [Slot("momentum", ("momentums", "_momentums"), "momentum", scaled=True)] if _momentum(optimizer) else []
        ),
        differences=_sgd_notes,
        settings=("momentum",),
    ),
    "RMSprop": OptimizerKind("RMSProp", _rms_slots, differences=_rms_notes, settings=("rho", "momentum")),
    "Adagrad": OptimizerKind(
        "Adagrad",
        lambda optimizer: [Slot("sum of squares", ("_accumulators",), "accumulator")],
        differences=_adagrad_notes,
    ),
    "Adadelta": OptimizerKind(
        "Adadelta",
        lambda optimizer: [
            Slot("mean of squares", ("_accumulated_grads",), "accum_grad"),
            Slot("mean of squared updates", ("_accumulated_delta_vars",), "accum_var"),
        ],
        differences=_adadelta_notes,
        settings=("rho",),
    ),
    "Ftrl": OptimizerKind(
        "Ftrl",
        lambda optimizer: [
            Slot("sum of squares", ("_accumulators",), "accumulator"),
            Slot("linear", ("_linears",), "linear"),
        ],
        differences=_ftrl_notes,
        settings=("l1_regularization_strength", "l2_regularization_strength", "learning_rate_power"),
    ),
}


class ModernOptimizer:
    """An optimizer of Keras 3 or tf_keras, whichever, by what they have in common.

    Attributes:
        kind: What it is in TensorFlow 1.
        legacy: Whether it is one of ``tf_keras.optimizers.legacy``.
        optimizer: The optimizer itself, out of a ``LossScaleOptimizer`` if it was in one.
    """

    def __init__(self, optimizer: Any) -> None:
        self.optimizer = getattr(optimizer, "inner_optimizer", optimizer)
        self.legacy = hasattr(self.optimizer, "_create_all_weights") and hasattr(self.optimizer, "get_slot")
        names = [each.__name__ for each in type(self.optimizer).__mro__ if _is_keras(each)]
        kind = next((KINDS[name] for name in names if name in KINDS), None)
        if kind is None or not library_of(self.optimizer):
            raise ConversionError(
                f"{type(optimizer).__name__} is no optimizer that TensorFlow 1 has a counterpart of",
                where="optimizer=",
                next_step=f"Give one of {', '.join(KINDS)} of tf_keras or Keras, or None.",
                nodes=(),
            )
        self.kind = kind

    @property
    def slots(self) -> list[Slot]:
        """The slots of each variable, in TensorFlow 1's order."""
        return list(self.kind.slots(self.optimizer))

    def differences(self, recorded: RecordedSettings, of_keras: bool = False) -> list[str]:
        """Return what training on does otherwise than on TensorFlow 1, in sentences.

        Args:
            recorded: What the graph of the checkpoint has, or what an optimizer of tf.keras keeps.
            of_keras: Whether the checkpoint is of an optimizer of tf.keras.
        """
        notes = (
            self._keras_notes(recorded) if of_keras else self.kind.differences(self.optimizer, self.legacy, recorded)
        )
        for name in ("learning_rate", *self.kind.settings):
            here = self.learning_rate() if name == "learning_rate" else self.setting(name)
            if name in recorded and not math.isclose(here, recorded[name], rel_tol=1e-5, abs_tol=1e-12):
                notes.append(f"{name} is {here:g} here and {recorded[name]:g} in the checkpoint's graph")
        return [f"{type(self.optimizer).__name__}: {note}." for note in notes]

    def _keras_notes(self, recorded: RecordedSettings) -> list[str]:
        notes = []
        if hasattr(self.optimizer, "epsilon") and not math.isclose(self.setting("epsilon"), 1e-7, rel_tol=1e-5):
            notes.append(f"epsilon is {self.setting('epsilon'):g} here; tf.keras had 1e-7 by default")
        plain = self.kind.name == "RMSProp" and not _momentum(self.optimizer)
        if (plain or self.kind.name == "Adagrad") and not self.legacy:
            notes.append(
                "epsilon is under the root here, and tf.keras of TensorFlow 1 added it to the root, as those of "
                "tf_keras.optimizers.legacy do"
            )
        if recorded.get("decay"):
            notes.append(f"decay is {recorded['decay']:g} in the checkpoint: give a schedule as the learning rate")
        return notes

    def learning_rate(self) -> float:
        """The learning rate at the optimizer's present step."""
        if self.legacy:
            return float(self.optimizer._decayed_lr(tf.float32).numpy())
        rate = self.optimizer.learning_rate
        return float(np.asarray(rate.numpy() if hasattr(rate, "numpy") else rate))

    def setting(self, name: str) -> float:
        """A number that it was made with, such as ``beta_1``."""
        return _number(self.optimizer, name)

    def variables_of(self, trainable: Sequence[Any]) -> list[Any]:
        """The variables that it has slots for: ``trainable`` where it is not built yet."""
        if self.legacy or not self._built:
            return list(trainable)
        if hasattr(self.optimizer, "_index_dict"):
            known = self.optimizer._index_dict
            return [variable for variable in trainable if self.optimizer._var_key(variable) in known]
        known = {id(variable) for variable in self.optimizer._trainable_variables}
        return [variable for variable in trainable if id(variable) in known]

    def build(self, variables: Sequence[Any]) -> None:
        """Makes its slots, if they are not there."""
        if self.legacy:
            self.optimizer._create_all_weights(list(variables))
        elif not self._built:
            self.optimizer.build(list(variables))

    def slot_variable(self, variable: Any, slot: Slot) -> Any:
        """The variable of a slot; the optimizer is built."""
        if self.legacy:
            return self.optimizer.get_slot(variable, slot.legacy)
        found = next(getattr(self.optimizer, name) for name in slot.lists if hasattr(self.optimizer, name))
        return found[self._index(variable)]

    def average(self, variable: Any) -> Any:
        """The moving average that it keeps of a variable; with ``use_ema=True``."""
        return self.optimizer._model_variables_moving_average[self._index(variable)]

    @property
    def keeps_averages(self) -> bool:
        return bool(getattr(self.optimizer, "use_ema", False))

    @property
    def iterations(self) -> Any:
        """The variable that counts its steps."""
        return self.optimizer.iterations

    @property
    def _built(self) -> bool:
        return bool(getattr(self.optimizer, "built", False) or getattr(self.optimizer, "_built", False))

    def _index(self, variable: Any) -> int:
        if hasattr(self.optimizer, "_index_dict"):
            return int(self.optimizer._index_dict[self.optimizer._var_key(variable)])
        return int(self.optimizer._get_variable_index(variable))


def _is_keras(each: type) -> bool:
    """Whether a class is one of Keras's own."""
    return each.__module__.partition(".")[0] in ("keras", "tf_keras")


def steps_of(power: float, beta: float) -> tuple[float, float] | None:
    """Return the steps that an Adam of TensorFlow 1 has made, by the power of a beta that it keeps; None if unknown.

    The power is beta ** (steps + 1) as float32 products: each adds an error of up to half a unit in the last place.

    Returns:
        The steps, and how far that can be off.
    """
    if not 0.0 < beta < 1.0 or not np.finfo(np.float32).tiny < power <= beta * (1.0 + 1e-6):
        return None
    count = np.log(power) / np.log(beta)
    # the error of each product, and the one that beta itself has as a float32, which counts in each
    return float(count - 1.0), float(0.01 + (count + 1.0) * 2.0**-23 / -np.log(beta))


def power_of(beta: float, steps: int) -> Any:
    """The power of a beta that TensorFlow 1's Adam keeps after so many steps."""
    return np.float32(np.float64(np.float32(beta)) ** (steps + 1))
