"""``tf.contrib.framework``: arg_scope, collections of variables, checkpoints."""

from .arg_scope import add_arg_scope, arg_scope, arg_scoped_arguments, current_arg_scope, has_arg_scope

__all__ = [
    "add_arg_scope",
    "arg_scope",
    "arg_scoped_arguments",
    "current_arg_scope",
    "has_arg_scope",
]
