"""Import hooks: which module a TF1 program gets for the names that it imports.

Data flow: :func:`install` sets the environment variables that TensorFlow reads when it is imported and puts one
:class:`Finder` first on ``sys.meta_path``. From then on an import of

* ``tensorflow`` imports the real package and leaves the TF1 face (namespace.py) under that name in ``sys.modules``;
  modules that imported TensorFlow before keep the real one;
* a submodule of ``tensorflow`` is looked up on the face first, then among the addresses that moved (moved.py), then
  in the real package, and is otherwise a :class:`~tf1sessions.errors.MissingModuleError`;
* ``keras``, ``tensorflow.keras`` and ``tensorflow.python.keras`` is Keras 2 (the package tf_keras);
* ``tensorflow_estimator`` is what ``tf.estimator`` is (estimator_modules.py);
* ``horovod``, where it is not installed, is ours (horovod_modules.py);
* a library that was written for TensorFlow 2 gets the real ``tensorflow`` (libraries.py);
* ``numpy`` and Pillow get names back that they removed, and so do the libraries of old_libraries; some modules of the
  standard library do at once;
* a module that an old protoc wrote is made as today's protoc writes it (old_protos.py).

Nothing is imported earlier than the program would: a child process that never needs TensorFlow does not pay for it.
"""

from __future__ import annotations

import functools
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
import threading
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from .. import errors
from ..garbage import collector_paused
from . import children, horovod_modules, libraries, missing, old_libraries, old_protos, pillow_compat, stdlib_compat
from .after_import import call_when_usable
from .first_import import others_wait
from .jobs import SEEDS

__all__ = ["after_import", "install", "install_fast_path", "installed"]

_ENVIRONMENT = {"TF_USE_LEGACY_KERAS": "1"}
_DEFAULTS = {"TF_ENABLE_ONEDNN_OPTS": "0"}

_lock = threading.RLock()  # protects the installation below; held while sys.meta_path and sys.modules are changed
_finder: Finder | None = None
_real: ModuleType | None = None  # the real TensorFlow, once it was imported
_face: ModuleType | None = None  # the TF1 face, once it was made
_waiting: list[Callable[[ModuleType], None]] = []


class Finder(importlib.abc.MetaPathFinder):
    """Answers for ``tensorflow`` and ``keras`` with what is below them, ``numpy``, and the libraries that need a word.

    Import statements call it under the import system's own locks; it keeps no state but ``busy``, the names that the
    current thread is importing through it.
    """

    def __init__(self) -> None:
        self.busy = threading.local()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        top = fullname.partition(".")[0]
        if fullname == "tensorflow" and _real is not None and _face is not None:
            return _spec_again(_real, _face)
        if fullname == "tf_keras" and "tensorflow" not in sys.modules:
            from . import namespace

            namespace.keras_of_face()  # the face needs it as a whole: TensorFlow comes first
            loaded = sys.modules["tf_keras"]
            return _spec(fullname, lambda: loaded)
        if fullname in self._names():
            return libraries.find(fullname, path, _real_tensorflow) if top in old_libraries.LIBRARIES else None
        after = _AFTER.get(fullname)
        if after is not None:
            return self._real(fullname, after)
        if top in old_libraries.LIBRARIES:
            spec = old_libraries.find(fullname, path, self._real, _spec)
            return spec or libraries.find(fullname, path, _real_tensorflow)
        if top == "horovod" and not horovod_modules.is_installed():
            build = horovod_modules.find(fullname)
            if build is None and not _asked_by_find_spec():
                raise horovod_modules.module_error(fullname)
            return _spec(fullname, build) if build is not None else None
        if top not in ("tensorflow", "tensorflow_estimator", "keras"):
            return old_protos.find(fullname, path) or libraries.find(fullname, path, _real_tensorflow)
        from . import moved, namespace

        if top == "tensorflow" and not namespace.is_face(sys.modules.get("tensorflow")):
            return None  # TensorFlow is being imported: it finds its own modules
        self._names().add(fullname)
        try:
            build = namespace.find_module(fullname)
            if build is not None:
                return _spec(fullname, build)
            if importlib.machinery.PathFinder.find_spec(fullname, path) is not None:
                old_names = moved.has_names(fullname)
                return self._real(fullname, moved.add_names) if old_names else None
            build = moved.gone(fullname)
            if build is not None:
                return _spec(fullname, build)
        finally:
            self._names().discard(fullname)
        if _asked_by_find_spec():
            return None
        raise missing.module_error(fullname)

    def _names(self) -> set[str]:
        try:
            names: set[str] = self.busy.names
        except AttributeError:
            names = self.busy.names = set()
        return names

    def _real(self, name: str, after: Callable[[ModuleType], None]) -> importlib.machinery.ModuleSpec | None:
        """The spec of the real module, whose loader calls ``after`` with it."""
        self._names().add(name)
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self._names().discard(name)
        if spec is None or spec.loader is None:
            return spec
        kind = _TensorFlowLoader if name == "tensorflow" else _LoaderWithCallback
        spec.loader = kind(spec.loader, after)
        return spec


class _LoaderWithCallback(importlib.abc.Loader):
    """Loads a module as ``loader`` does, then calls ``after`` with it."""

    def __init__(self, loader: importlib.abc.Loader, after: Callable[[ModuleType], None]) -> None:
        self._loader = loader
        self._after = after

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)  # such as get_code(), by which runpy runs a module

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        with collector_paused(make_old=True):  # what TensorFlow's import makes stays; 0.4 s less
            self._loader.exec_module(module)
            self._after(module)


class _TensorFlowLoader(_LoaderWithCallback):
    """Loads TensorFlow, for which other threads wait that import it, until the face has taken its place."""

    def exec_module(self, module: ModuleType) -> None:
        with others_wait():
            super().exec_module(module)


class _BuiltModule(importlib.abc.Loader):
    """Leaves the module that ``build()`` returns in ``sys.modules``, with its own name and, if it has one, spec."""

    def __init__(self, build: Callable[[], ModuleType]) -> None:
        self._build = build

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        built = self._build()
        if built.__spec__ is None:  # made by us
            built.__spec__ = module.__spec__
        sys.modules[module.__name__] = built


def _spec(name: str, build: Callable[[], ModuleType]) -> importlib.machinery.ModuleSpec:
    return importlib.machinery.ModuleSpec(name, _BuiltModule(build), is_package=True)


def _spec_again(real: ModuleType, face: ModuleType) -> importlib.machinery.ModuleSpec:
    """The spec of a face that is there: it was taken out of ``sys.modules``, or is to be loaded again."""

    def build() -> ModuleType:
        face.__spec__, face.__loader__ = real.__spec__, real.__loader__  # importlib.reload() has put ours there
        return face

    spec = _spec("tensorflow", build)
    spec.submodule_search_locations = list(face.__path__)
    return spec


def _asked_by_find_spec() -> bool:
    """Whether ``importlib.util.find_spec`` asks (None means "not there") and not an import (which may raise)."""
    frame = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename.startswith("<frozen importlib._bootstrap"):
        frame = frame.f_back  # type: ignore[assignment]
    return frame is not None and frame.f_code.co_filename in (importlib.util.__file__, "<frozen importlib.util>")


def _real_tensorflow() -> ModuleType:
    return _real or sys.modules["tensorflow"]  # which is the real one still, while it is being imported


def _after_tensorflow(real: ModuleType) -> None:
    global _real, _face
    from . import namespace

    _real = real
    face = _face = namespace.build(real)
    sys.modules["tensorflow"] = face
    with _lock:
        waiting, _waiting[:] = _waiting[:], []
    for call in waiting:
        call_when_usable(functools.partial(call, face))


def after_import(call: Callable[[ModuleType], None]) -> None:
    """Call ``call`` with the face: now if TensorFlow was imported, else as soon as it is. Safe from any thread."""
    from . import namespace

    with _lock:
        face = sys.modules.get("tensorflow")
        if face is None or not namespace.is_face(face):
            _waiting.append(call)
            return
    call(face)


def _after_numpy(numpy: ModuleType) -> None:
    from . import numpy_compat

    numpy_compat.apply()


def _after_training(training: ModuleType) -> None:
    from . import sample_weights

    sample_weights.apply(training)


_AFTER: dict[str, Callable[[ModuleType], None]] = {
    "tensorflow": _after_tensorflow,
    "numpy": _after_numpy,
    "tf_keras.src.engine.training_v1": _after_training,
    **dict.fromkeys(pillow_compat.MODULES, pillow_compat.apply),
}


def installed() -> bool:
    """Whether this process has the TF1 face. Safe from any thread."""
    return _finder is not None


def install(*, fast_path: bool = True, seeds: str = "tf1") -> None:
    """Give this process the TF1 face: from now on ``import tensorflow as tf`` is TensorFlow 1.

    Call it first thing, before anything imports TensorFlow. A second call does nothing, but where ``sys.meta_path`` was
    put back since as it was before: it installs the same again. It is safe from any thread.

    Sets ``TF_USE_LEGACY_KERAS`` and, unless it is set already, ``TF_ENABLE_ONEDNN_OPTS=0`` (the same bits as TF1).

    Args:
        fast_path: Whether sessions run compiled calls, which give the same results sooner.
        seeds: ``"tf1"`` gives an operation that draws, in a graph with a seed, the seed that it had in TensorFlow 1,
            as far as the numbers of operations are known; ``"tf2"`` gives it today's; ``"report"`` is "tf1", and
            logs at the end of the process which seeds are exact.

    Raises:
        ConfigError: ``seeds`` is something else.
        UnsupportedEnvironmentError: TensorFlow was imported before, with Keras 3; or Keras 3 was; or the package
            tf_keras is missing.
    """
    global _finder
    if seeds not in SEEDS:
        raise errors.ConfigError(f"seeds is {seeds!r}", where="install()", next_step=f"Use one of {', '.join(SEEDS)}.")
    with _lock:
        if _finder is not None:
            _put_back(_finder)
            return
        real = sys.modules.get("tensorflow")
        _refuse_keras_3(real)
        if importlib.util.find_spec("tf_keras") is None:
            raise errors.UnsupportedEnvironmentError(
                "the package tf_keras (Keras 2) is not installed",
                where=sys.executable,
                next_step="Install it in TensorFlow's version: pip install tf_keras",
            )
        os.environ.update(_ENVIRONMENT)
        for name, value in _DEFAULTS.items():
            os.environ.setdefault(name, value)
        stdlib_compat.apply()
        children.install()
        for name, after in _AFTER.items():
            module = sys.modules.get(name)  # None is for a host that lets an import fail
            if module is not None and name != "tensorflow":
                after(module)
        old_libraries.apply_to_loaded()
        if real is not None:
            _after_tensorflow(real)
        _finder = Finder()
        sys.meta_path.insert(0, _finder)
        after_import(lambda face: install_fast_path() if fast_path else _guard_forks())
        after_import(lambda face: _count_operations(seeds))


def _refuse_keras_3(real: ModuleType | None) -> None:
    if real is not None and not getattr(real, "_tf_uses_legacy_keras", False):
        raise errors.UnsupportedEnvironmentError(
            "tensorflow was imported, with Keras 3, before tf1sessions.scripts.install()",
            where=str(getattr(real, "__file__", "sys.modules")),
            next_step="Call install() before the first `import tensorflow`, or start the program with "
            "TF_USE_LEGACY_KERAS=1 in its environment.",
        )
    keras = sys.modules.get("keras")
    if keras is not None and str(getattr(keras, "__version__", "3")).startswith("3"):
        raise errors.UnsupportedEnvironmentError(
            "Keras 3 was imported as `keras` before tf1sessions.scripts.install()",
            where=str(getattr(keras, "__file__", "sys.modules")),
            next_step="Call install() before the first `import keras`.",
        )


def _put_back(finder: Finder) -> None:
    """Put back what was taken out since, as a test runner does that leaves ``sys.meta_path`` as it was."""
    if finder in sys.meta_path:
        return
    found = sys.modules.get("tensorflow")
    if found is not None and _face is None:  # imported without the Finder
        _refuse_keras_3(found)
        _after_tensorflow(found)
    elif found is not None and found is _real and _face is not None:
        sys.modules["tensorflow"] = _face
    sys.meta_path.insert(0, finder)


def _count_operations(choice: str) -> None:
    from . import seeds

    seeds.apply()
    seeds.choose(choice)


def _guard_forks() -> None:
    """Have the forks of this process watched, which the fast path brings with it; see forks.py."""
    if "tf1sessions.runtime" not in sys.modules:
        from .. import runtime  # noqa: F401


def install_fast_path() -> None:
    """Put compiled calls under every session of this process. TensorFlow must be imported. Idempotent."""
    from ..sessions import calls

    calls.install_fast_path()
