"""Leaving TensorFlow 1, a proven step at a time.

``modules.py`` graphs as modules of TensorFlow 2: :func:`function` · ``sources.py`` what is to become one ·
``variables.py`` which variables it has · ``values.py`` their values · ``tables.py`` its lookup tables · ``calls.py``
one way to call it · ``graphs/`` graphs of TensorFlow 1 as functions of TensorFlow 2 · ``checkpoints/`` its checkpoints
for objects of TensorFlow 2, and back · ``recorder.py`` for the old machine: what a program computes there, as a trace ·
``parity/`` the same inputs through two sides: :func:`verify` · ``export.py`` a module as a SavedModel:
:func:`convert` · ``target.py`` a folder written whole or not at all · ``survey.py`` what comes along ·
``conversion.py`` ... as a record · ``proof.py`` that it gives the same · ``traces.py`` what the recorder wrote, read ·
``trace_comparison.py`` ... held against another · ``replaying.py`` a script run again and recorded ·
``trace_graphs.py`` graphs of two traces · ``judging.py`` why they part · ``verdict.py`` ... as a record

A name is fetched from its file when it is used first; importing this package imports no TensorFlow.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tf1sessions.porting.conversion import Conversion
    from tf1sessions.porting.export import convert
    from tf1sessions.porting.modules import GraphModule, function
    from tf1sessions.porting.parity.comparison import Comparison
    from tf1sessions.porting.parity.tolerances import Tolerance
    from tf1sessions.porting.parity.verifying import verify

__all__ = ["Comparison", "Conversion", "GraphModule", "Tolerance", "convert", "function", "verify"]

# Public name -> the module that defines it.
_HOMES = {
    "Conversion": "tf1sessions.porting.conversion",
    "convert": "tf1sessions.porting.export",
    "GraphModule": "tf1sessions.porting.modules",
    "function": "tf1sessions.porting.modules",
    "Comparison": "tf1sessions.porting.parity.comparison",
    "Tolerance": "tf1sessions.porting.parity.tolerances",
    "verify": "tf1sessions.porting.parity.verifying",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
