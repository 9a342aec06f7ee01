"""tfdbg's wrappers and hooks with the arguments that they had in TensorFlow 1.15.

2.x has no ``log_usage``, which stood amidst the arguments of one class, and no interface in ``curses``, which was the
default: what is left is the plain one in lines.
"""

from __future__ import annotations

import functools
import importlib
import logging
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


def apply() -> None:
    """Let the classes take the arguments of 1.15. Idempotent; TensorFlow must have been imported."""
    for module, classes in _BEFORE_LOG_USAGE.items():
        loaded = importlib.import_module(f"tensorflow.python.debug.wrappers.{module}")
        for name, before in classes.items():
            cls = getattr(loaded, name)
            if not hasattr(cls.__init__, "takes_log_usage"):
                cls.__init__ = _with_old_arguments(cls.__init__, before)


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
