"""``tf.keras.wrappers``."""

from . import keras_scikit as scikit_learn

__all__ = ["scikit_learn"]

__path__: list[str] = []  # of a package, as it was
