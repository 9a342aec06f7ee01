"""The Inception networks of 1.15 in one module."""

from .inception_v1 import inception_v1, inception_v1_arg_scope, inception_v1_base
from .inception_v2 import inception_v2, inception_v2_arg_scope, inception_v2_base
from .inception_v3 import inception_v3, inception_v3_arg_scope, inception_v3_base

__all__ = [
    "inception_v1",
    "inception_v1_arg_scope",
    "inception_v1_base",
    "inception_v2",
    "inception_v2_arg_scope",
    "inception_v2_base",
    "inception_v3",
    "inception_v3_arg_scope",
    "inception_v3_base",
]
