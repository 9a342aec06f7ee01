"""Tests as 1.15 had them: ``tf.test.TestCase``, and what is beside it.

Data flow: :func:`apply` replaces methods of the one TestCase that TensorFlow has, and functions where each module that
tests import has them.
"""

from __future__ import annotations

import functools
import importlib
import os
import re
import sys
from collections.abc import Callable, Mapping
from typing import Any

from .arguments import renamed

__all__ = ["apply"]

#: Methods that gave a session whose operations were put on the CPU, unless the test asked otherwise.
_SESSIONS = ("session", "cached_session", "test_session")
#: Method -> {1.15's name of an argument: today's}
_RENAMED = {
    "assertProtoEquals": {"message": "validate_message"},
    "assertShapeEqual": {"np_array": "input_a", "tf_tensor": "input_b"},
}
#: What cuDNN reads; it has been deterministic in such tests.
_CUDNN = "TF_CUDNN_DETERMINISTIC"


def apply(face: Any) -> None:
    """Change TensorFlow's classes and functions for tests, once a process."""
    module: Any = importlib.import_module("tensorflow.python.framework.test_util")
    case = module.TensorFlowTestCase
    for name in _SESSIONS:
        setattr(case, name, _on_cpu(getattr(case, name)))
    for name, names in _RENAMED.items():
        setattr(case, name, renamed(getattr(case, name), names=names))
    case._GetNdArray = _with_objects(case._GetNdArray)
    module.run_in_graph_and_eager_modes = _without_reset(module.run_in_graph_and_eager_modes)
    module.assert_no_new_pyobjects_executing_eagerly = _bare(module.assert_no_new_pyobjects_executing_eagerly)
    module.use_deterministic_cudnn = _use_deterministic_cudnn
    platform: Any = importlib.import_module("tensorflow.python.platform.test")
    platform.test_src_dir_path = face.test.test_src_dir_path = _test_src_dir_path
    benchmark: Any = importlib.import_module("tensorflow.python.platform.benchmark")
    benchmark.benchmarks_main = _benchmarks_main(benchmark.benchmarks_main)
    compare: Any = importlib.import_module("tensorflow.python.util.protobuf.compare")
    if not hasattr(compare.descriptor.FieldDescriptor, "label"):  # from protobuf 7 on, and 2.21 asks for it
        compare.NormalizeNumberFields = _round_numbers


def _on_cpu(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def session(
        self: Any, graph: Any = None, config: Any = None, use_gpu: bool = False, force_gpu: bool = False
    ) -> Any:
        return method(self, graph, config, use_gpu, force_gpu)

    return session


def _with_objects(method: Callable[..., Any]) -> Callable[..., Any]:
    """Lists of a graph's tensors are compared as objects, as NumPy 1.18 made arrays of them."""

    @functools.wraps(method)
    def array_of(self: Any, a: Any) -> Any:
        try:
            return method(self, a)
        except NotImplementedError:
            from . import numpy_compat  # here: it needs NumPy, whose import applies it

            return numpy_compat.array_of_objects(a)

    return array_of


def _without_reset(decorator: Callable[..., Any]) -> Callable[..., Any]:
    """Today each mode has a set-up of its own whatever the test asks."""

    @functools.wraps(decorator)
    def both_modes(
        func: Any = None,
        config: Any = None,
        use_gpu: bool = True,
        reset_test: bool = True,
        assert_no_eager_garbage: bool = False,
    ) -> Any:
        return decorator(func, config=config, use_gpu=use_gpu, assert_no_eager_garbage=assert_no_eager_garbage)

    return both_modes


def _bare(decorator: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator that takes arguments today, used without them: it would give back a test that runs nothing.

    It looks at the failures so far, which only a result of unittest's own has, not one of pytest's.
    """

    @functools.wraps(decorator)
    def no_new_objects(func: Callable[..., Any]) -> Callable[..., Any]:
        decorated = decorator()(func)

        @functools.wraps(func)
        def test(self: Any, *args: Any, **kwargs: Any) -> None:
            result = getattr(self._outcome, "result", None)
            for name in ("errors", "skipped"):
                if result is not None and not hasattr(result, name):
                    setattr(result, name, [])
            decorated(self, *args, **kwargs)

        return test

    return no_new_objects


def _use_deterministic_cudnn(func: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(func)
    def test(*args: Any, **kwargs: Any) -> Any:
        before = os.environ.get(_CUDNN)
        os.environ[_CUDNN] = "true"
        try:
            return func(*args, **kwargs)
        finally:
            if before is None:
                del os.environ[_CUDNN]
            else:
                os.environ[_CUDNN] = before

    return test


def _benchmarks_main(original: Callable[..., None]) -> Callable[..., None]:
    """``tf.test.main()`` runs benchmarks for ``--benchmarks=``, which has another name today."""

    @functools.wraps(original)
    def main(true_main: Callable[[], None], argv: list[str] | None = None) -> None:
        argv = sys.argv if argv is None else argv
        argv[:] = [re.sub("^(--?)benchmarks=", r"\1benchmark_filter=", argument) for argument in argv]
        original(true_main, argv)

    return main


def _test_src_dir_path(relative_path: str) -> str:
    """The path of a file of TensorFlow's sources, in a test that Bazel runs."""
    return os.path.join(os.environ["TEST_SRCDIR"], "org_tensorflow/tensorflow", relative_path)


def _round_numbers(message: Any) -> Any:
    """Rounds the floating-point numbers in a protocol buffer, in place, to what survives being written as text."""
    for field, value in message.ListFields():
        digits = {field.TYPE_FLOAT: 6, field.TYPE_DOUBLE: 7}.get(field.type)
        if digits is not None and isinstance(value, float):
            setattr(message, field.name, round(value, digits))
        elif digits is not None:
            value[:] = [round(each, digits) for each in value]
        elif field.message_type is not None:
            values = value.values() if isinstance(value, Mapping) else value
            for each in [value] if hasattr(value, "ListFields") else values:
                if hasattr(each, "ListFields"):  # not the numbers of a map
                    _round_numbers(each)
    return message
