"""``tf.contrib.factorization``: clusters, mixtures of Gaussians, factors of sparse matrices.

::

    clustering_ops.py     k-means as a graph
    factorization_ops.py  weighted alternating least squares
    gmm.py                an estimator of mixtures of Gaussians
    gmm_ops.py            mixtures of Gaussians as a graph
    kmeans.py             an estimator of k-means
"""

from .clustering_ops import (
    COSINE_DISTANCE,
    KMEANS_PLUS_PLUS_INIT,
    RANDOM_INIT,
    SQUARED_EUCLIDEAN_DISTANCE,
    KMeans,
)
from .factorization_ops import WALSModel
from .gmm import GMM
from .gmm_ops import GmmAlgorithm, gmm
from .kmeans import KMeansClustering

__all__ = [
    "COSINE_DISTANCE",
    "GMM",
    "KMEANS_PLUS_PLUS_INIT",
    "RANDOM_INIT",
    "SQUARED_EUCLIDEAN_DISTANCE",
    "GmmAlgorithm",
    "KMeans",
    "KMeansClustering",
    "WALSModel",
    "gmm",
]
