"""``tf.contrib.tensor_forest``: random forests that grow while they are trained.

::

    data_ops.py       features and labels as matrices
    random_forest.py  TensorForestEstimator
    tensor_forest.py  ForestHParams, RandomForestGraphs
    trees.py          trees as arrays

The names are those of 1.15.5, and what a forest is good for, too; its trees are not: 1.15.5's operations are gone, and
with them their random numbers.
"""

from . import data_ops, random_forest, tensor_forest

__all__ = ["data_ops", "random_forest", "tensor_forest"]
