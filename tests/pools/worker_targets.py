"""What the workers of ``test_server.py`` run. Imported in their processes; nothing here needs pytest or TensorFlow."""

from __future__ import annotations

import colorsys  # a module that nothing else needs: a job's folder may have one of this name  # noqa: F401
import os
import tempfile
import textwrap
from pathlib import Path
from typing import Any


def preload() -> None:
    """Little, but with something that a fork must forget."""
    tempfile.gettempdir()


def preload_tensorflow() -> None:
    import tensorflow.compat.v1  # noqa: F401


def preload_that_fails() -> None:
    """Fail, and leave a line for each time, until the file named by FAILURES has as many lines as TIMES says."""
    failures = Path(os.environ["FAILURES"])
    with failures.open("a") as file:
        file.write("called\n")
    if len(failures.read_text().splitlines()) <= int(os.environ["TIMES"]):
        raise RuntimeError("the preload has no battery")


def execute(payload: dict[str, Any]) -> int | None:
    """Run the payload's code; ``code`` in it is the exit code."""
    namespace: dict[str, Any] = {"__name__": "job", **payload}
    exec(compile(textwrap.dedent(payload["source"]), "job.py", "exec"), namespace)
    return namespace.get("code")
