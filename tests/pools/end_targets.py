"""What the server and the jobs of ``test_interpreter_end.py`` run. Nothing here needs pytest or TensorFlow."""

from __future__ import annotations

import builtins
import importlib
import os
import sys
from types import ModuleType
from typing import Any


class Witness:
    """Leaves a file when the module that it is in is taken apart, in a process with ``WITNESS`` in its environment."""

    def __del__(self) -> None:
        if path := os.environ.get("WITNESS"):
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY))


def preload() -> None:
    """Load what a server might have, and a module ``kept``, where jobs leave things."""
    for name in ("concurrent.futures", "h5py", "json", "logging", "multiprocessing", "tempfile", "weakref"):
        importlib.import_module(name)
    kept = sys.modules["kept"] = ModuleType("kept")
    vars(kept).update(registry={}, witness=Witness())


def run_script(payload: dict[str, Any]) -> None:
    """Run the payload's script as ``__main__``, as ``python SCRIPT`` does."""
    main = sys.modules["__main__"] = ModuleType("__main__")
    vars(main).update(__file__=payload["script"], __builtins__=builtins)
    sys.path.insert(0, os.getcwd())
    with open(payload["script"]) as file:
        exec(compile(file.read(), payload["script"], "exec"), vars(main))
