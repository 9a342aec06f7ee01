"""``tf.contrib.learn.utils``: inputs and exports of served models.

Files::

    input_fn_utils.py  their inputs
"""

from ..export_strategy import make_export_strategy
from .input_fn_utils import InputFnOps, build_default_serving_input_fn, build_parsing_serving_input_fn

__all__ = ["InputFnOps", "build_default_serving_input_fn", "build_parsing_serving_input_fn", "make_export_strategy"]
