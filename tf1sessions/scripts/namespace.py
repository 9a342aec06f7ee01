"""The TF1 face: the module that ``import tensorflow as tf`` gives in a script's process.

Data flow: :func:`build` takes the real package, switches TensorFlow to its version 1 behaviour, and copies the names
of ``tensorflow.compat.v1`` into a module named ``tensorflow`` with the real package's ``__path__``. That one object is
``tf``, ``tf.compat.v1`` and ``import tensorflow.compat.v1``. Its modules are compat.v1's own, with what other files
here add to them: arguments that were dropped (arguments.py), graphs that TF1 wrote (old_graphs.py), names that raise
with a replacement (missing.py). ``tf.keras`` and everything that an import can call Keras is tf_keras.

:func:`find_module` answers for the import hooks (importer.py).
"""

from __future__ import annotations

import functools
import importlib
import importlib.machinery
import importlib.util
import inspect
import logging
import os
import re
import sys
import types
import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any

from . import (
    arguments,
    classes,
    compositions,
    contrib_modules,
    estimator_modules,
    layer_compositions,
    layer_seeds,
    legacy_tests,
    members,
    missing,
    moved,
    old_debugger,
    old_graphs,
    op_libraries,
    shuffling,
    static_shapes,
)
from .inner import lost_names, old_flags

__all__ = ["VERSION", "build", "find_module", "is_face", "keras_of_face"]

VERSION = "1.15.5"  # what old programs compare; the genuine last release of TensorFlow 1
_KERAS_VERSION = "2.2.4-tf"  # what tf.keras.__version__ was in it
_KERAS = "tf_keras.api._v1.keras"
_REPLACED = ("tensorflow.keras.", "tensorflow.python.keras.", "tensorflow.python.layers.")
_OWN = {
    "tensorflow.examples": None,
    "tensorflow.examples.tutorials": None,
    "tensorflow.examples.tutorials.mnist": "mnist",
    "tensorflow.examples.tutorials.mnist.input_data": "mnist_data",
    "tensorflow.examples.tutorials.mnist.mnist": "mnist_model",
}
_HIDDEN = frozenset({"estimator", "mixed_precision"})  # not in 1.15, or ours


_log = logging.getLogger("tf1sessions")
_ADVICE = (
    "`tf.layers.",
    "`tf.nn.rnn_cell.",
    "`layer.",
    "`Layer.",
    "`Model.",
    "The `lr` argument is deprecated",
    "You are saving your model as an HDF5 file",
)


_MADE_WHEN_USED = ("compiler", "contrib", "core", "estimator", "python", "tools")


class Face(ModuleType):
    """The module ``tensorflow`` of a TF1 program."""

    def __getattr__(self, name: str) -> Any:
        module = sys.modules.get(f"tensorflow.{name}")
        if module is not None and name not in _HIDDEN:
            return module  # tf.python, tf.core
        if name in ("contrib", "estimator"):
            return importlib.import_module(f"tensorflow.{name}")
        if name == "__all__":  # what `from tensorflow import *` asks for: also what is made when it is used
            return sorted({*(name for name in vars(self) if not name.startswith("_")), *_MADE_WHEN_USED})
        if name.startswith("__"):
            raise AttributeError(f"module 'tensorflow' has no attribute {name!r}")
        raise missing.symbol_error(f"tf.{name}")


class _InnerKeras(ModuleType):
    """``tensorflow.python.keras``, whose modules have more than their public names."""

    def __init__(self) -> None:
        super().__init__("tensorflow.python.keras")
        self.__path__: list[str] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        value = getattr(_keras(), name, None)
        if (value is None or isinstance(value, ModuleType)) and find_module(f"{self.__name__}.{name}"):
            return importlib.import_module(f"{self.__name__}.{name}")
        return getattr(_keras(), name)

    def __dir__(self) -> list[str]:
        return sorted({*vars(self), *dir(_keras())})


def is_face(module: ModuleType | None) -> bool:
    """Whether ``module`` is a TF1 face, and not the real package."""
    return isinstance(module, Face)


def build(real: Any) -> ModuleType:
    """Switch TensorFlow to version 1 behaviour and return the face. Once a process.

    Args:
        real: The imported package ``tensorflow``, with Keras 2.
    """
    v1: Any = importlib.import_module("tensorflow.compat.v1")
    _quietly(v1.disable_v2_behavior)
    _leave_out_advice()
    keras = _keras()
    face = Face("tensorflow", real.__doc__)
    for name in dir(v1):
        if not (name.startswith("__") and name.endswith("__")) and name not in _HIDDEN:
            setattr(face, name, getattr(v1, name))
    face.__path__ = [folder for folder in real.__path__ if folder]  # it looks for a part of Keras 3, and has None
    face.__spec__, face.__loader__, face.__file__ = real.__spec__, real.__loader__, real.__file__
    face.__package__ = "tensorflow"
    vars(face).update(
        keras=keras,
        layers=importlib.import_module(f"{_KERAS}.__internal__.legacy.layers"),
        compat=real.compat,
        __version__=VERSION,
        VERSION=VERSION,
        GIT_VERSION=f"v{VERSION} (tf1sessions, TensorFlow {real.__version__})",
        __git_version__=f"v{VERSION} (tf1sessions, TensorFlow {real.__version__})",
        __compiler_version__=real.__compiler_version__,
    )
    face.nn.rnn_cell = importlib.import_module(f"{_KERAS}.__internal__.legacy.rnn_cell")
    face.version.VERSION = VERSION
    real.compat.v1 = real.compat.v2.compat.v1 = face
    sys.modules["tensorflow.compat.v1"] = face
    _forget_replaced()
    _unite_aliases(face)
    for name, module in _modules(face):
        _unite_aliases(module)
        _explain_missing(module, name)
    arguments.apply(face)
    compositions.apply(face)
    layer_compositions.apply(face)
    shuffling.apply(face)
    static_shapes.apply(face)
    layer_seeds.apply()
    members.apply(face)
    classes.apply(face)
    legacy_tests.apply(face)
    moved.apply()
    lost_names.apply(face)
    old_flags.apply(face)
    old_graphs.apply(face)
    old_debugger.apply()
    op_libraries.apply(face, real.__version__)
    arguments.replace(face, "enable_eager_execution", _with_unused_context_dropped)
    return face


def _quietly(call: Callable[[], None]) -> None:
    """Call without the advice to move to TensorFlow 2, which is not for this program."""
    logger = logging.getLogger("tensorflow")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        call()
    finally:
        logger.setLevel(level)


def _with_unused_context_dropped(enable: Callable[..., None]) -> Callable[..., None]:
    """Let a program choose its options of eager execution in the function that it gives to ``tf.app.run``.

    A module of TensorFlow's tests asks for the GPUs when that begins, which makes a context with other options.
    """

    @functools.wraps(enable)
    def enable_eager_execution(*args: Any, **kwargs: Any) -> None:
        eager: Any = importlib.import_module("tensorflow.python.eager.context")
        with eager._context_lock:
            first = eager.default_execution_mode == eager.GRAPH_MODE  # a second call does nothing, and makes no context
            if first and eager._context is not None and not eager._context._initialized:
                eager._context = None
        enable(*args, **kwargs)

    return enable_eager_execution


def _leave_out_advice() -> None:
    """No warnings that a TF1 program should be a TF2 one. TensorFlow 1 gave such advice too, but not as warnings."""
    for start in _ADVICE:
        warnings.filterwarnings("ignore", re.escape(start), UserWarning)


def _keras() -> Any:
    keras: Any = importlib.import_module(_KERAS)
    keras.__version__ = _KERAS_VERSION
    return keras


def keras_of_face() -> Any:
    """Keras for a program that imports it by its own name, before TensorFlow perhaps, which it is a part of."""
    if "tensorflow" not in sys.modules:
        importlib.import_module("tensorflow")
    return _keras()


def _forget_replaced() -> None:
    """Let our hooks find what has other addresses now: most of all the old copies of Keras inside TensorFlow.

    The parts of TensorFlow that use them keep them.
    """
    for name in list(sys.modules):
        if (name + ".").startswith(_REPLACED) or moved.modules(name):
            del sys.modules[name]
            parent, _, child = name.rpartition(".")
            if parent in sys.modules:
                vars(sys.modules[parent]).pop(child, None)


def _modules(face: ModuleType) -> list[tuple[str, ModuleType]]:
    """The public modules below the face, as ("tf.nn.rnn_cell", module)."""
    found: dict[int, tuple[str, ModuleType]] = {}
    waiting = [("tf", face)]
    while waiting:
        prefix, module = waiting.pop()
        for name, value in list(vars(module).items()):
            inside = getattr(value, "__name__", "")
            if (
                isinstance(value, ModuleType)
                and not name.startswith("_")
                and id(value) not in found
                and inside.startswith(("tensorflow._api.v2.compat.v1.", _KERAS))
            ):
                found[id(value)] = (f"{prefix}.{name}", value)
                waiting.append(found[id(value)])
    return list(found.values())


def _unite_aliases(module: ModuleType) -> None:
    """Let functions be the objects that their own modules have, as in 1.15.5: ``tf.nn.tanh is tf.tanh``.

    Today some public names are wrappers of their own. Without this, they are not equal, and cannot be pickled.
    """
    for name, value in list(vars(module).items()):
        if isinstance(value, types.FunctionType) and not name.startswith("_"):
            own: Any = getattr(sys.modules.get(value.__module__), value.__name__, None)
            warns = getattr(getattr(value, "_tf_decorator", None), "decorator_name", None) == "deprecated"
            if own is not None and not warns and inspect.unwrap(own) is inspect.unwrap(value):
                setattr(module, name, own)


def _explain_missing(module: ModuleType, name: str) -> None:
    """Let a name that ``module`` lacks raise with its replacement."""
    module = getattr(module, "_tfmw_wrapped_module", module)
    if "__getattr__" in vars(module):
        return

    def getattr_(attribute: str) -> Any:
        if attribute.startswith("__"):
            raise AttributeError(f"module {name!r} has no attribute {attribute!r}")
        raise missing.symbol_error(f"{name}.{attribute}")

    vars(module)["__getattr__"] = getattr_


def find_module(fullname: str) -> Callable[[], ModuleType] | None:
    """Return a function that makes a TF1 program's module ``fullname``; None where the real package has it.

    Args:
        fullname: A dotted name below ``tensorflow``, or ``keras`` or below.
    """
    if fullname in _OWN:
        return functools.partial(_own, fullname)
    if fullname == "keras" or fullname.startswith("keras."):
        spec = importlib.machinery.PathFinder.find_spec("keras")
        if spec is not None and spec.origin is not None:
            _say_which_keras(spec.origin)
        return _keras_alone if fullname == "keras" else _find_keras(fullname.partition(".")[2])
    for prefix in ("tensorflow.compat.v1.keras", "tensorflow.python.keras", "tensorflow.keras"):
        if fullname == prefix or fullname.startswith(prefix + "."):
            return _find_keras(fullname[len(prefix) + 1 :], inner=prefix == "tensorflow.python.keras")
    if (fullname + ".").startswith("tensorflow.contrib."):
        return contrib_modules.find(fullname)
    if estimator_modules.is_ours(fullname):
        return estimator_modules.find(fullname)
    targets = moved.modules(fullname)
    if targets:
        return functools.partial(_merged, fullname, targets, alone=not moved.is_package(fullname))
    return _find_on_face(fullname)


def _own(fullname: str) -> ModuleType:
    name = _OWN[fullname]
    if name is not None:
        return importlib.import_module(f"{__package__}.{name}")
    package = ModuleType(fullname)
    package.__path__ = []
    return package


def _find_on_face(fullname: str) -> Callable[[], ModuleType] | None:
    value: Any = sys.modules["tensorflow"]
    parts = fullname.split(".")[1:]
    if parts[:2] == ["compat", "v1"]:
        parts = parts[2:]
    for part in parts:
        value = vars(value).get(part) if isinstance(value, ModuleType) else None
    if isinstance(value, ModuleType) and value.__name__.startswith(("tensorflow._api.v2.compat.v1.", _KERAS)):
        return lambda: value
    return None


def _keras_alone() -> Any:
    """Return ``tf.keras`` by the name and with the release of the package ``keras``, which programs ask for."""
    from .inner import keras_one, keras_package

    keras = keras_of_face()
    keras_package.complete(keras)
    keras_one.apply(keras)
    alone: Any = ModuleType("keras", keras.__doc__)
    vars(alone).update({name: value for name, value in vars(keras).items() if not name.startswith("__")})
    alone.__path__ = []
    alone.__version__ = _KERAS_VERSION.partition("-")[0]
    vars(alone)["__getattr__"] = functools.partial(getattr, keras)
    return alone


@functools.cache
def _say_which_keras(origin: str) -> None:
    """Say once that a Keras of the program's own, such as a checkout of Keras 2, is not the one that it gets."""
    tf_keras: Any = importlib.machinery.PathFinder.find_spec("tf_keras")  # not imported: that may be going on
    installed = os.path.join(os.path.dirname(os.path.dirname(tf_keras.origin)), "keras", "")
    if not origin.startswith(installed):
        _log.warning("import keras gives tf_keras, as tf.keras is: %s is not used", origin)


def _find_keras(name: str, inner: bool = False) -> Callable[[], ModuleType] | None:
    """The module that Keras 2 has at ``name`` ("layers.core"; "" is Keras itself).

    Args:
        name: Below keras.
        inner: Whether the inner modules are preferred to the public ones, as below ``tensorflow.python.keras``.
    """
    if not name:
        return _InnerKeras if inner else keras_of_face
    if name == "engine" or name.startswith("engine."):
        sources = [f"{_KERAS}.{part}" for part in ("models", "layers")]
        inside = [module for module in moved.engine_modules(name[len("engine.") :]) if moved.exists(module)]
        return functools.partial(_merged, f"keras.{name}", [*sources, *inside])
    found, *parts = moved.keras_module(name)
    candidates = [f"{_KERAS}.{found}", f"tf_keras.src.{found}", found]
    there = [candidate for candidate in candidates if moved.exists(candidate)]
    if not there:
        return moved.gone(f"tensorflow.python.keras.{name}")
    there = there if inner else there[:1]
    return functools.partial(_merged, f"keras.{name}", [*there, *filter(moved.exists, parts)])


def _merged(name: str, sources: list[str], alone: bool = True) -> ModuleType:
    """A module with the names of all ``sources``; of two with one name the first source's.

    Args:
        name: What the module is called.
        sources: Names of modules.
        alone: Whether a single source is the module itself; not if an import looks for modules below its old name.
    """
    if len(sources) == 1 and alone:
        return importlib.import_module(sources[0])
    module = types.ModuleType(name)
    module.__path__ = []
    lazy = [getter for source in sources if (getter := vars(importlib.import_module(source)).get("__getattr__"))]

    def getattr_(attribute: str) -> Any:
        for getter in lazy:
            try:
                return getter(attribute)
            except AttributeError:
                pass  # the next one may have it
        if attribute.startswith("__"):
            raise AttributeError(f"module {name!r} has no attribute {attribute!r}")
        if name.startswith("keras.") and callable(public := vars(module).get(attribute.removeprefix("_"))):
            return public  # functions that several files share today have lost their underscore
        raise missing.symbol_error(f"{name}.{attribute}")

    vars(module)["__getattr__"] = getattr_
    for source in reversed(sources):
        for key, value in vars(importlib.import_module(source)).items():
            if not key.startswith("__"):
                setattr(module, key, value)
    return module
