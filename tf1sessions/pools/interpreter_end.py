"""The end of a job's interpreter, without the modules that the server had loaded. Standard library only.

Python ends by taking every module apart. In a fork of a server these are thousands that the job has never changed, and
each page of memory that is written to is copied first: that was half the time of a small job. Here Python ends as
ever, but finds only what the job has made::

    Python's own end                                      what happens here
    threads are waited for, atexit, streams flushed,
    signals reset, garbage collected
    sys.path ... sys.__interactivehook__ become None ───▶ _Hook.__del__: the server's modules leave sys.modules, and a
                                                          module with a _Check goes in, behind those of the job
    sys.modules is emptied, garbage collected
    modules that are still there are emptied,        ───▶ _Check.__del__: is something of the job's still there, as the
    the last of them first                                server's modules refer to it? Then they are taken apart, too;
                                                          else the process ends here, by C's exit()
    sys and builtins are emptied, streams closed
    the interpreter's own memory is freed
    C's exit handlers

Where a Python does not come by here, or a program replaces the hook, all modules are taken apart by Python.
"""

from __future__ import annotations

import ctypes
import gc
import io
import sys
import weakref
from collections.abc import Callable, Collection
from importlib.machinery import ExtensionFileLoader
from types import ModuleType
from typing import Any

from tf1sessions.pools.hidden_modules import preloaded

__all__ = ["ServerModules"]

_LEFT_TO_PYTHON = frozenset({"sys", "builtins", "__main__"})
_IN_MEMORY = (io.BytesIO, io.StringIO)

# Besides the standard library: the packages whose objects do nothing that could be seen when they go, unless their
# class has a __del__. That of a class of TensorFlow's frees memory, and no more.
_TENSORFLOW = frozenset({"keras", "tensorflow", "tf_keras"})
_QUIET = _TENSORFLOW | {"absl", "google", "ml_dtypes", "numpy", "tf1sessions", "wrapt"}
# And a version: a module with the types of functions and generators of Cython, which are as those of Python.
_CYTHON = "_cython_"
# C's functions, called as Python code runs: no other thread of Python's can, meanwhile.
_C = ctypes.PyDLL(None)

_EXTENSION = "._pywrap_"  # TensorFlow's extension modules; some have files and servers, not these two:
_QUIET_EXTENSIONS = ("._pywrap_tf_session", "._pywrap_tfe")


class ServerModules:
    """The modules that a server has loaded.

    Args:
        at_start: The names of those that an interpreter has when it starts.

    Attributes:
        hideable: See :func:`.preloaded`.
        exit_code: That of the job, once it is known.
    """

    def __init__(self, at_start: Collection[str]) -> None:
        self._at_start = at_start
        self.hideable: set[str] = set()
        self.exit_code: int | None = None
        self._has_extension = False  # the job's own, of C, which Python may call last of all (Py_AtExit)
        self._modules: dict[str, ModuleType] = {}
        self._itself: ServerModules | None = self  # a circle that is frozen: nothing frees it, and with it the modules

    def note(self) -> None:
        """Note that all are loaded. To be called before ``gc.freeze()``."""
        self.hideable = preloaded(self._at_start)
        self._modules = {name: module for name, module in sys.modules.items() if name not in _LEFT_TO_PYTHON}

    def leave_alone(self) -> None:
        """Let this process, a fork of the server, end without taking these modules apart."""
        sys.__interactivehook__ = _Hook(self, getattr(sys, "__interactivehook__", None))

    def remove(self) -> None:
        """Remove them from ``sys.modules``, and what the job has imported of their packages, Python's and Cython's."""
        loaded = sys.modules
        for name in set(loaded).difference(self._modules, _LEFT_TO_PYTHON):
            package = name.partition(".")[0]
            known = package in sys.stdlib_module_names or package.startswith(_CYTHON)
            if known or loaded.get(package, self) is self._modules.get(package):
                self._modules[name] = loaded[name]
        for name, module in self._modules.items():
            if loaded.get(name) is module:
                del loaded[name]
        loaders = (vars(module).get("__loader__") for module in loaded.values() if isinstance(module, ModuleType))
        self._has_extension = any(isinstance(loader, ExtensionFileLoader) for loader in loaders)

    def end_process(self) -> None:
        """End this process, in which there is nothing of the job's any more: what is left to be freed is the server's.

        Returns where Python has to do it, which has another exit code for streams that cannot be flushed.
        """
        if self.exit_code is None or not 0 <= self.exit_code <= 255 or self._has_extension:
            return
        try:
            for stream in (sys.stdout, sys.stderr):
                if stream is not None:
                    stream.flush()
        except Exception:  # noqa: BLE001 - of what is below it, which may be the program's
            return
        sys.audit("cpython.PyInterpreterState_Clear")
        _C.exit(self.exit_code)

    def take_apart(self) -> None:
        """Take them apart, as Python does: free what nothing else refers to, and empty those that stay."""
        modules = [weakref.ref(module) for module in self._modules.values() if isinstance(module, ModuleType)]
        self._modules.clear()
        self._itself = None
        empty, collect = _empty, gc.collect  # this module is one of them
        collect()
        for reference in reversed(modules):
            if (module := reference()) is not None:
                empty(vars(module))
        collect()  # circles through what is frozen have been open since


class _Hook:
    """Python's hook for the beginning of an interactive session, which it drops just before the modules.

    Args:
        server: The modules that are to be left alone then.
        call: The hook in whose place this one is.
    """

    def __init__(self, server: ServerModules, call: Callable[[], None] | None) -> None:
        self._server = server
        self._call = call

    def __call__(self) -> None:
        if self._call is not None:
            self._call()

    def __del__(self) -> None:
        if sys.is_finalizing():  # else the program has put another in its place
            self._server.remove()
            name = f"{__name__}.last"
            last = ModuleType(name)
            vars(last)["_check"] = _Check(self._server, last)
            sys.modules[name] = last


class _Check:
    """Is in the namespace of the last module; Python drops it when the job's objects have gone.

    Args:
        server: The modules that are left alone.
        last: The last module, which is to be there until Python empties it.
    """

    def __init__(self, server: ServerModules, last: ModuleType) -> None:
        self._server = server
        self._last = last
        modules = [module for module in sys.modules.values() if isinstance(module, ModuleType)]
        self._namespaces = {id(vars(module)) for module in modules}  # of the job's modules

    def __del__(self) -> None:
        if self._something_is_there():
            self._server.take_apart()
        else:
            self._server.end_process()

    def _something_is_there(self) -> bool:
        """Whether there is something of the job's whose end could be seen."""
        things = gc.get_objects()  # without what is frozen, which the server had
        if any(id(thing) in self._namespaces for thing in things):
            return True
        things += [thing for thing in gc.get_referents(*things) if not gc.is_tracked(thing)]
        kinds = {kind for kind in set(map(type, things)) if not _is_quiet(kind)}
        return any(type(thing) in kinds and not _is_flushed(thing) for thing in things)


def _is_quiet(kind: type) -> bool:
    """Whether nothing could be seen of the end of objects of this type."""
    module: Any = kind.__module__
    if not isinstance(module, str):  # it describes that of the type's objects, as in some of Cython's and of wrapt's
        module = type.__repr__(kind).partition("'")[2]
    package = module.partition(".")[0]
    if package in _TENSORFLOW:
        return _EXTENSION not in module or module.endswith(_QUIET_EXTENSIONS)
    known = package in _QUIET or package in sys.stdlib_module_names or package.startswith(_CYTHON)
    return known and (not hasattr(kind, "__del__") or kind is _Check)


def _is_flushed(thing: Any) -> bool:
    """Whether it is a file that is closed or in memory, or one of the standard streams, which Python flushes."""
    kind = type(thing)
    if kind in _IN_MEMORY:
        return True
    if kind.__module__ != "_io":
        return False
    try:
        return bool(thing.closed or thing.fileno() <= 2)
    except Exception:  # noqa: BLE001 - of what is below it, which may be the program's
        return False


def _empty(namespace: dict[str, Any]) -> None:
    """Empty a module as Python does at its end: names with one underscore first."""
    first = [name for name in namespace if name.startswith("_") and not name.startswith("__")]
    for name in [*first, *namespace]:
        if name != "__builtins__":
            namespace[name] = None
