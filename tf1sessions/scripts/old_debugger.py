"""tfdbg with the names and arguments that it had in TensorFlow 1.15.

2.x has no ``log_usage``, which stood amidst the arguments of one class, and no interface in ``curses``, which was the
default: what is left is the plain one in lines. What is watched, and what is not, is in an "allowlist" and a "denylist"
now, by which functions, arguments and attributes are named.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import logging
import operator
from types import ModuleType
from typing import Any

__all__ = ["apply"]

_log = logging.getLogger("tf1sessions")

#: The classes, by their modules below ``tensorflow.python.debug.wrappers``, and how many arguments but ``self`` stood
#: before ``log_usage`` in 1.15.5. None: it had none.
_BEFORE_LOG_USAGE: dict[str, dict[str, int | None]] = {
    "dumping_wrapper": {"DumpingDebugWrapperSession": 5},
    "grpc_wrapper": {"GrpcDebugWrapperSession": 4, "TensorBoardDebugWrapperSession": 4},
    "hooks": {
        "DumpingDebugHook": 3,
        "GrpcDebugHook": 3,
        "LocalCLIDebugHook": None,
        "TensorBoardDebugHook": 3,
    },
    "local_cli_wrapper": {"LocalCLIDebugWrapperSession": 2},
}

#: What has arguments with these names, below ``tensorflow.python.debug``.
_WITH_LISTS = {
    "lib.debug_utils": ("watch_graph", "watch_graph_with_denylists"),
    "lib.source_utils": ("list_source_files_against_dump",),
    "wrappers.framework": ("OnRunStartResponse", "WatchOptions"),
}
_OLD_WORDS = {"allowlist": "whitelist", "denylist": "blacklist"}
_LISTS = ("node_name_regex_", "op_type_regex_", "tensor_dtype_regex_")


def apply() -> None:
    """Let tfdbg have the names and arguments of 1.15. Idempotent; TensorFlow must have been imported."""
    package = importlib.import_module("tensorflow.python.debug")
    for module, names in _WITH_LISTS.items():
        loaded = importlib.import_module(f"tensorflow.python.debug.{module}")
        for name in names:
            _take_old_lists(name, loaded, package)
    for module, classes in _BEFORE_LOG_USAGE.items():
        loaded = importlib.import_module(f"tensorflow.python.debug.wrappers.{module}")
        for name, before in classes.items():
            cls = getattr(loaded, name)
            if not hasattr(cls.__init__, "takes_log_usage"):
                cls.__init__ = _with_old_arguments(cls.__init__, before)


def _take_old_lists(name: str, *modules: ModuleType) -> None:
    """Let the function or class of this name, which several modules may have, take its lists by their old names too."""
    made = getattr(modules[0], name)
    if isinstance(made, type):
        if not hasattr(made.__init__, "takes_old_lists"):  # type: ignore[misc]
            made.__init__ = _with_old_lists(made.__init__)  # type: ignore[misc]
            for each in _LISTS:
                setattr(made, f"{each}whitelist", property(operator.attrgetter(f"{each}allowlist")))
        return
    taking = made if hasattr(made, "takes_old_lists") else _with_old_lists(made)
    for module in modules:
        for known in {name, _old_name(name)} if hasattr(module, name) else ():
            setattr(module, known, taking)


def _old_name(name: str) -> str:
    for now, then in _OLD_WORDS.items():
        name = name.replace(now, then)
    return name


def _with_old_lists(original: Any) -> Any:
    names = {_old_name(name): name for name in inspect.signature(original).parameters}

    @functools.wraps(original)
    def function(*args: Any, **named: Any) -> Any:
        return original(*args, **{names.get(name, name): value for name, value in named.items()})

    function.takes_old_lists = True  # type: ignore[attr-defined]
    return function


def _with_old_arguments(original: Any, before: int | None) -> Any:
    @functools.wraps(original)
    def __init__(self: Any, *args: Any, **named: Any) -> None:
        named.pop("log_usage", None)
        if before is not None and len(args) > before and isinstance(args[before], bool):
            args = args[:before] + args[before + 1 :]
        if "curses" in (*args, named.get("ui_type")):
            _log.warning('tfdbg has no interface in curses any more; ui_type="readline" is used')
            args = tuple("readline" if each == "curses" else each for each in args)
            named |= {"ui_type": "readline"} if "ui_type" in named else {}
        original(self, *args, **named)

    __init__.takes_log_usage = True  # type: ignore[attr-defined]
    return __init__
