"""Names of TensorFlow 1's variables: slots and averages of others, layers and the parts of layers."""

from __future__ import annotations

import collections
import dataclasses
import re
from collections.abc import Iterable, Mapping

from tf1sessions.porting.checkpoints.reading import Spec

__all__ = ["OPTIMIZERS", "Derived", "canonical", "derived_of", "is_counter", "role_of", "setting_of", "words_of"]

#: The names that TensorFlow 1's optimizers have when they are given none; their slots are called so.
OPTIMIZERS = frozenset(
    "Adam Momentum RMSProp Adagrad Ftrl Adadelta AdagradDA ProximalAdagrad AdaMax AdaMaxOptimizer NadamOptimizer "
    "PowerSignOptimizer AddSignOptimizer LazyAdam MomentumW AdamW GGT LARSOptimizer".split()
)
_AVERAGE = "ExponentialMovingAverage"
_COUNTER = re.compile(r"(?:.*/)?(global_step|beta[12]_power(?:_\d+)?)")
#: The variables that an optimizer of tf.keras has besides its slots, ``training/Adam/iter`` and such.
_OF_KERAS = re.compile(
    r"(?:.*/)?(?:TFOptimizer/(iterations)|(?:Adam|SGD|RMSprop|Adagrad|Adadelta|Adamax|Nadam|Ftrl)(?:_\d+)?/"
    r"(iter|learning_rate|decay|beta_1|beta_2|rho|momentum|l1_regularization_strength|l2_regularization_strength|"
    r"learning_rate_power))"
)
_NUMBERED = re.compile(r"(.*?)_(\d+)")

#: How libraries call the same part of a layer.
_ROLES = {
    "weights": "kernel",
    "biases": "bias",
    "depthwise_weights": "depthwise_kernel",
    "pointwise_weights": "pointwise_kernel",
}
#: How libraries call the same layer when it is given no name: tf.layers and Keras; tf.contrib.layers, slim.
_LAYERS = {
    "conv": "conv2d",
    "fully_connected": "dense",
    "fc": "dense",
    "batch_norm": "batch_normalization",
    "batch_normalization_v1": "batch_normalization",
    "bn": "batch_normalization",
    "layer_norm": "layer_normalization",
    "separable_conv": "separable_conv2d",
    "convolution": "conv2d",
    "embeddings": "embedding",
    "fw": "forward",
    "bw": "backward",
}


@dataclasses.dataclass(frozen=True)
class Derived:
    """A variable that was made for another one.

    Attributes:
        base: The other one's name.
        name: What made it, such as ``"Adam"`` or ``"ExponentialMovingAverage"``.
        number: Which of several of one name it is: 0 for ``"Adam"``, 1 for ``"Adam_1"``.
    """

    base: str
    name: str
    number: int

    @property
    def is_average(self) -> bool:
        return self.name == _AVERAGE


def derived_of(specs: Mapping[str, Spec]) -> dict[str, Derived]:
    """Finds slots and averages: they have the name of a variable, one step more, and its shape.

    TensorFlow 1 puts the scope of an optimizer's call before it: ``train/dense/kernel/Adam``.
    """
    found: dict[str, Derived] = {}
    for name, spec in specs.items():
        base, _, last = name.rpartition("/")
        numbered = _NUMBERED.fullmatch(last)
        plain, number = (numbered[1], int(numbered[2])) if numbered else (last, 0)
        if not base or not (spec.shape or plain in OPTIMIZERS or plain == _AVERAGE):
            continue  # two numbers have one shape without any tie between them
        steps = base.split("/")
        scopes = ("/".join(steps[start:]) for start in range(len(steps)))
        whole = next((each for each in scopes if each in specs and specs[each].shape == spec.shape), None)
        if whole is not None:
            found[name] = Derived(whole, plain, number)
    return found


def is_counter(name: str) -> str | None:
    """``"global_step"``, ``"beta1_power"`` or ``"beta2_power"`` for a variable that is one, in whichever scope."""
    if setting_of(name) in ("iter", "iterations"):
        return "global_step"
    found = _COUNTER.fullmatch(name)
    return re.sub(r"_\d+$", "", found[1]) if found else None


def setting_of(name: str) -> str | None:
    """Return what an optimizer of tf.keras keeps in a variable that is no slot: ``"learning_rate"``; or None."""
    found = _OF_KERAS.fullmatch(name)
    return (found[1] or found[2]) if found else None


def role_of(leaf: str) -> str:
    """The part of a layer that the last step of a name means: ``"weights"`` is a ``"kernel"``."""
    return _ROLES.get(leaf, leaf)


def _snake(step: str) -> str:
    step = re.sub(r"(?<=[a-z])(?=[A-Z][a-z])", "_", step).lower()
    return re.sub(r"(?<=[a-z])_(?=\dd\b)", "", step)


def _split(step: str) -> tuple[str, int | None]:
    """``"Conv_1"`` -> ``("conv2d", 1)``."""
    numbered = _NUMBERED.fullmatch(step)
    plain, number = (numbered[1], int(numbered[2])) if numbered else (step, None)
    snake = _snake(plain)
    return _LAYERS.get(snake, snake), number


def canonical(scopes: Iterable[str]) -> dict[str, tuple[tuple[str, int], ...]]:
    """The scopes of one side with common names for layers, and their numbers by rank.

    Of ``dense`` and ``dense_1`` the numbers are 0 and 1, as they are of ``dense_5`` and ``dense_6``: Keras goes on
    counting in a program that has made layers before.
    """
    scopes = list(scopes)
    numbers: dict[tuple[str, str], set[int]] = collections.defaultdict(set)
    for scope in scopes:
        steps = scope.split("/")
        for index, step in enumerate(steps):
            plain, number = _split(step)
            numbers["/".join(steps[:index]), plain].add(-1 if number is None else number)
    ranks = {key: {number: rank for rank, number in enumerate(sorted(found))} for key, found in numbers.items()}
    result = {}
    for scope in scopes:
        steps = scope.split("/")
        parts = []
        for index, step in enumerate(steps):
            plain, number = _split(step)
            parts.append((plain, ranks["/".join(steps[:index]), plain][-1 if number is None else number]))
        result[scope] = tuple(parts)
    return result


def words_of(steps: Iterable[tuple[str, int]]) -> frozenset[str]:
    """The words of a canonical scope."""
    return frozenset(word for step, _ in steps for word in step.split("_") if word)
