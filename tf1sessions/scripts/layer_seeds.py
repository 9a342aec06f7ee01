"""Seeds that layers of Keras draw with, as TensorFlow 1 chose them.

Layers that add noise, and masks of recurrent cells, took a seed from NumPy's generator wherever the program gave none,
so that ``np.random.seed(1)`` decided on them. A layer with a seed drew with the same one at each call. Today's take the
next number then, and without a seed what any operation takes.
"""

from __future__ import annotations

import functools
import importlib
from typing import Any

from . import seeds

__all__ = ["apply"]

_LAYERS = "tf_keras.src.layers."
_BY_NUMPY = {
    "regularization.gaussian_noise": "GaussianNoise",
    "regularization.gaussian_dropout": "GaussianDropout",
    "regularization.alpha_dropout": "AlphaDropout",
    "rnn.dropout_rnn_cell_mixin": "DropoutRNNCellMixin",
}
_LARGEST = 10_000_000


def apply() -> None:
    """Replace what layers of tf_keras take seeds from, once a process."""
    backend: Any = importlib.import_module("tf_keras.src.backend")
    base_layer: Any = importlib.import_module("tf_keras.src.engine.base_layer")
    kinds = tuple(getattr(importlib.import_module(_LAYERS + module), name) for module, name in _BY_NUMPY.items())
    generator, layer = backend.RandomGenerator, base_layer.BaseRandomLayer
    generator.make_legacy_seed = _unchanged(generator.make_legacy_seed)
    layer.__init__ = _marked(layer.__init__, kinds)


def _unchanged(original: Any) -> Any:
    @functools.wraps(original)
    def make_legacy_seed(self: Any) -> Any:
        if not seeds.are_counted():
            return original(self)
        if self._seed is None and getattr(self, "_tf1sessions_by_numpy", False):
            numpy_random: Any = importlib.import_module("numpy.random")
            return int(numpy_random.randint(_LARGEST))
        return self._seed

    return make_legacy_seed


def _marked(original: Any, kinds: tuple[type, ...]) -> Any:
    @functools.wraps(original)
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        self._random_generator._tf1sessions_by_numpy = isinstance(self, kinds)

    return init
