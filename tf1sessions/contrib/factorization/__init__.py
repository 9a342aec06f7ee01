"""``tf.contrib.factorization``: k-means clustering."""

from .clustering_ops import (
    COSINE_DISTANCE,
    KMEANS_PLUS_PLUS_INIT,
    RANDOM_INIT,
    SQUARED_EUCLIDEAN_DISTANCE,
    KMeans,
)

__all__ = [
    "COSINE_DISTANCE",
    "KMEANS_PLUS_PLUS_INIT",
    "KMeans",
    "RANDOM_INIT",
    "SQUARED_EUCLIDEAN_DISTANCE",
]
