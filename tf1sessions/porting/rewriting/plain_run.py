"""Runs a ported program in this process as plain Python does, and records it: no face of TensorFlow 1 is there.

The recorder puts its hooks in place when the program itself has imported TensorFlow, so that what the program sets
before (``TF_USE_LEGACY_KERAS``) counts as it will without the recorder.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
from collections.abc import Mapping
from typing import Any

from tf1sessions.porting.replaying import Guided, recorder
from tf1sessions.scripts.after_import import AfterImport

__all__ = ["main"]


def main(wanted: Mapping[str, Any]) -> int:
    """Run the program that ``wanted`` describes and write its trace.

    Args:
        wanted: What :func:`tf1sessions.porting.replaying.recording` gives, with the ``script`` as it is to be named,
            and its ``arguments``.

    Returns:
        The program's exit code.
    """
    sys.argv = [wanted["script"], *wanted["arguments"]]
    sys.path.insert(0, os.path.dirname(os.path.abspath(wanted["script"])))
    stack = contextlib.ExitStack()
    guided = stack.enter_context(Guided.opened(wanted))

    def end() -> None:
        with stack:
            if guided.is_late():
                guided.finish(ended)

    atexit.register(end)  # called after what the program registers
    sys.meta_path.insert(0, AfterImport("tensorflow", guided.hook_tensorflow))
    sys.meta_path.insert(0, AfterImport("tf1sessions.porting.legacy_graph", guided.hook_legacy_graphs))
    guided.seed_python()
    error = recorder._run(os.path.abspath(wanted["script"]))  # Python gives __main__.__file__ in full
    ended = recorder.how_it_ended(error)
    if error is not None:
        recorder._report(error)
    if guided.here():  # and no child that the program has forked
        guided.finish(ended)
    return int(ended["code"])
