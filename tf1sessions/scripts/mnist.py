"""``tensorflow.examples.tutorials.mnist``: the package that TF1 tutorials import their data from."""

from . import mnist_data as input_data
from . import mnist_model as mnist

__all__ = ["input_data", "mnist"]
__path__: list[str] = []
