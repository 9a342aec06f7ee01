"""``tf.contrib.learn.io``: arrays, data frames and generators as inputs.

Files::

    generator_io.py  generators
    numpy_io.py      arrays
    pandas_io.py     data frames
"""

from .generator_io import generator_input_fn
from .numpy_io import numpy_input_fn
from .pandas_io import (
    HAS_PANDAS,
    extract_pandas_data,
    extract_pandas_labels,
    extract_pandas_matrix,
    pandas_input_fn,
)

__all__ = [
    "HAS_PANDAS",
    "extract_pandas_data",
    "extract_pandas_labels",
    "extract_pandas_matrix",
    "generator_input_fn",
    "numpy_input_fn",
    "pandas_input_fn",
]
