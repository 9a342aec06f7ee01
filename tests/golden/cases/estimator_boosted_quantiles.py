"""Batches for the quantiles of boosted trees; the same for 1.15.5 and for tf1sessions. Runs on Python 3.7 too."""

import numpy as np

#: seed, number of batches, examples of each, epsilon, decimals of the values, whether examples have weights
CASES = [
    (1, 1, 1, 0.1, 9, False),
    (2, 1, 7, 0.1, 9, True),
    (3, 1, 40, 0.1, 9, False),
    (4, 4, 40, 0.1, 9, True),
    (5, 1, 500, 0.01, 9, True),
    (6, 3, 500, 0.01, 9, False),
    (7, 5, 1000, 0.1, 1, False),
    (8, 2, 5000, 0.1, 9, True),
    (9, 1, 300, 0.3, 9, False),
    (10, 2, 20000, 0.05, 9, False),
    (11, 1, 3, 0.1, 9, False),
]


def batches(seed, number, size, epsilon, decimals, weighted):
    """(values, weights) of each batch."""
    del epsilon
    rng = np.random.RandomState(seed)
    found = []
    for _ in range(number):
        values = np.round(rng.normal(size=size), decimals).astype(np.float32)
        weights = rng.uniform(0.1, 2.0, size) if weighted else np.ones(1)
        found.append((values, weights.astype(np.float32)))
    return found
