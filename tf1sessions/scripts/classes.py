"""Classes that TF1 programs ask their objects for: what ``type`` and ``isinstance`` say is what they said in 1.15.5.

Data flow: :func:`apply` makes one class of all tensors of graphs, which is ``tf.Tensor``, and declares whose instances
count among others'. What 1.15.5 says of each kind of object, tests/golden/make/make_classes.py records.
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

__all__ = ["apply"]


def apply(face: ModuleType) -> None:
    """Change the classes, once a process."""
    tf: Any = face
    ops: Any = importlib.import_module("tensorflow.python.framework.ops")
    tf.Tensor = ops.Tensor = _tensor_class(ops, tf.Tensor)
    tf.Variable.register(importlib.import_module("tensorflow.python.ops.resource_variable_ops").BaseResourceVariable)
    tf.keras.initializers.Initializer = importlib.import_module("tensorflow.python.ops.init_ops").Initializer
    for name in ("he_normal", "he_uniform", "lecun_normal", "lecun_uniform"):  # functions, which make one of those
        setattr(tf.keras.initializers, name, getattr(tf.initializers, name))
    tf.keras.regularizers.l1, tf.keras.regularizers.l2 = l1, l2


def _tensor_class(ops: Any, public: Any) -> Any:
    """Make the class of all tensors of graphs that are made from now on, and give it to operations.

    Today there is a class for the tensors of graphs and one for eager tensors, both below the public one. Tensors of
    this class are of the first kind, and all tensors are instances of it.
    """
    native: Any = importlib.import_module("tensorflow.python.client._pywrap_tf_session")
    dtypes: Any = importlib.import_module("tensorflow.python.framework.dtypes")
    symbolic = ops.SymbolicTensor

    class TensorType(type(symbolic)):  # type: ignore[misc]
        def __instancecheck__(cls, instance: Any) -> bool:
            return isinstance(instance, public) if cls is Tensor else super().__instancecheck__(instance)

        def __subclasscheck__(cls, subclass: type) -> bool:
            return issubclass(subclass, public) if cls is Tensor else super().__subclasscheck__(subclass)

    class Tensor(symbolic, metaclass=TensorType):  # type: ignore[misc, valid-type]
        def __new__(cls, op: Any, value_index: int, dtype: Any, unique_id: int | None = None) -> Any:
            number = ops.uid() if unique_id is None else unique_id
            return native.PyTensor.__new__(cls, op, value_index, dtypes.as_dtype(dtype), number)

    Tensor.__module__, Tensor.__qualname__, Tensor.__doc__ = ops.__name__, "Tensor", public.__doc__
    original = ops.Operation.__new__

    def make(cls: Any, *args: Any, **named: Any) -> Any:
        if named or len(args) != 2 or not isinstance(args[1], type):
            return cls.from_node_def(*args, **named)  # tf.Operation(node_def, g, inputs, ...) of a program
        c_op, tensor_class = args
        return original(cls, c_op, Tensor if tensor_class is symbolic else tensor_class)

    ops.Operation.__new__ = make
    return Tensor


def l1(l: float = 0.01) -> Any:  # noqa: E741, its name in Keras
    """Make an ``L1L2``: today's class of the name ``l1`` is not below it."""
    return importlib.import_module("tf_keras.regularizers").L1L2(l1=l)


def l2(l: float = 0.01) -> Any:  # noqa: E741
    """Make an ``L1L2``, see :func:`l1`."""
    return importlib.import_module("tf_keras.regularizers").L1L2(l2=l)
