"""``tf.contrib.framework``: arg_scope, variables and their collections, checkpoints, checks of tensors.

Files::

    arg_scope.py         arguments that functions get from a scope
    checkpoint_ops.py    initializers from a checkpoint's matrix
    checkpoint_utils.py  checkpoints, read
    deprecation.py       decorators of old functions
    graph_util.py        a part of a graph as one operation
    nest.py              structures of tensors
    ops.py               scopes, conditions, py_func
    tensor_util.py       checks of tensors
    variables.py         variables and their collections
"""

import importlib as _importlib
from typing import Any

from ...runtime import tf1 as _tf
from . import nest
from .arg_scope import add_arg_scope, arg_scope, arg_scoped_arguments, current_arg_scope, has_arg_scope
from .checkpoint_ops import (
    load_and_remap_matrix_initializer,
    load_embedding_initializer,
    load_linear_multiclass_bias_initializer,
    load_variable_slot_initializer,
)
from .checkpoint_utils import init_from_checkpoint, list_variables, load_checkpoint, load_variable
from .deprecation import deprecated, deprecated_arg_values, deprecated_args
from .graph_util import fuse_op
from .ops import (
    get_graph_from_inputs,
    get_name_scope,
    get_placeholders,
    prepend_name_scope,
    py_func,
    smart_case,
    smart_cond,
    smart_constant_value,
    strip_name_scope,
)
from .tensor_util import (
    assert_same_float_dtype,
    assert_scalar,
    assert_scalar_int,
    convert_to_tensor_or_sparse_tensor,
    is_tensor,
    reduce_sum_n,
    remove_squeezable_dimensions,
    with_same_shape,
    with_shape,
)
from .variables import (
    VariableDeviceChooser,
    add_model_variable,
    assert_global_step,
    assert_or_get_global_step,
    assign_from_checkpoint,
    assign_from_checkpoint_fn,
    assign_from_values,
    assign_from_values_fn,
    create_global_step,
    filter_variables,
    get_global_step,
    get_local_variables,
    get_model_variables,
    get_or_create_global_step,
    get_trainable_variables,
    get_unique_variable,
    get_variable_full_name,
    get_variables,
    get_variables_by_name,
    get_variables_by_suffix,
    get_variables_to_restore,
    global_variable,
    local_variable,
    model_variable,
    variable,
    zero_initializer,
)

_initializers: Any = _importlib.import_module(_tf.orthogonal_initializer.__module__)

BoundedTensorSpec: Any = _importlib.import_module(_tf.TensorSpec.__module__).BoundedTensorSpec
RecordInput: Any = _importlib.import_module(_tf.FIFOQueue.__module__).RecordInput
TensorSpec: Any = _tf.TensorSpec
convolutional_delta_orthogonal: Any = _initializers.ConvolutionDeltaOrthogonal
convolutional_orthogonal_1d: Any = _initializers.ConvolutionOrthogonal1D
convolutional_orthogonal_2d: Any = _initializers.ConvolutionOrthogonal2D
convolutional_orthogonal_3d: Any = _initializers.ConvolutionOrthogonal3D
argsort: Any = _tf.argsort
sort: Any = _tf.sort

__all__ = [
    "BoundedTensorSpec",
    "RecordInput",
    "TensorSpec",
    "VariableDeviceChooser",
    "add_arg_scope",
    "add_model_variable",
    "arg_scope",
    "arg_scoped_arguments",
    "argsort",
    "assert_global_step",
    "assert_or_get_global_step",
    "assert_same_float_dtype",
    "assert_scalar",
    "assert_scalar_int",
    "assign_from_checkpoint",
    "assign_from_checkpoint_fn",
    "assign_from_values",
    "assign_from_values_fn",
    "convert_to_tensor_or_sparse_tensor",
    "convolutional_delta_orthogonal",
    "convolutional_orthogonal_1d",
    "convolutional_orthogonal_2d",
    "convolutional_orthogonal_3d",
    "create_global_step",
    "current_arg_scope",
    "deprecated",
    "deprecated_arg_values",
    "deprecated_args",
    "filter_variables",
    "fuse_op",
    "get_global_step",
    "get_graph_from_inputs",
    "get_local_variables",
    "get_model_variables",
    "get_name_scope",
    "get_or_create_global_step",
    "get_placeholders",
    "get_trainable_variables",
    "get_unique_variable",
    "get_variable_full_name",
    "get_variables",
    "get_variables_by_name",
    "get_variables_by_suffix",
    "get_variables_to_restore",
    "global_variable",
    "has_arg_scope",
    "init_from_checkpoint",
    "is_tensor",
    "list_variables",
    "load_and_remap_matrix_initializer",
    "load_checkpoint",
    "load_embedding_initializer",
    "load_linear_multiclass_bias_initializer",
    "load_variable",
    "load_variable_slot_initializer",
    "local_variable",
    "model_variable",
    "nest",
    "prepend_name_scope",
    "py_func",
    "reduce_sum_n",
    "remove_squeezable_dimensions",
    "smart_case",
    "smart_cond",
    "smart_constant_value",
    "sort",
    "strip_name_scope",
    "variable",
    "with_same_shape",
    "with_shape",
    "zero_initializer",
]
