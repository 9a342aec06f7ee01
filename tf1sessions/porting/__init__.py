"""Leaving TensorFlow 1, a proven step at a time.

A name is fetched from its file when it is used first; importing this package imports no TensorFlow.

Files::

    modules.py           function(): a graph as a module of TensorFlow 2
    legacy_graph.py      LegacyGraph: a graph that old code builds, whose requests are functions
    legacy_monitored.py  monitored sessions of such a graph
    sources.py           what a module can be made of: a path, a Model, a builder
    variables.py         which variables a module has, and which are trained
    values.py            the initial values of its variables
    tables.py            its lookup tables
    calls.py             a call of such a module
    staging.py           calls with arrays, as tensors in memory that is used again
    steps.py             training steps of such a module
    saving.py            what is saved of it
    graphs/              its graphs as functions of TensorFlow 2
    checkpoints/         its checkpoints for objects of TensorFlow 2, and back
    recorder.py          for the old machine: what a program computes there, as a trace
    traces.py            traces, read
    trace_index.py       what the index of a trace must look like
    trace_alignment.py   which call of a trace is which of another
    session_matching.py  which session is which, where threads make them
    thread_matching.py   which call is which, where several threads make them, by their values
    trace_comparison.py  two traces compared, call by call
    replaying.py         a script run again, and recorded as its trace was
    ordered_inputs.py    queues and data sets that keep their order, so that two runs can be compared
    trace_graphs.py      graphs of two traces: what the program built otherwise
    diagnosis/           why they differ: seeds, a kernel, or the code
    parity/              the same inputs through two sides
    hidden_folders.py    where something is written before it is put into its place
    target.py            a folder that is written whole or not at all
    conversion.py        Conversion, which survey() makes: what is written, as a record and as text
    survey.py            what of a model is converted, and what is not
    reference_values.py  ReferenceSession: what the source gives in a session, while the module is made
    proof.py             what was written gives what the model gives
    custom_ops/          operations in C++ and CUDA, compiled for today's TensorFlow
    audit/               where a program's code stands, and what is left by hand
    rewriting/           a program's code, ported step by step
    distributing/        graphs as functions under the strategies of tf.distribute
    export.py            convert(): a model as a SavedModel of TensorFlow 2
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tf1sessions.porting.conversion import Conversion
    from tf1sessions.porting.distributing.distribution import distribute
    from tf1sessions.porting.distributing.peers import peers_within
    from tf1sessions.porting.export import convert
    from tf1sessions.porting.legacy_graph import LegacyGraph, LegacySaver
    from tf1sessions.porting.legacy_monitored import LegacySessionCreator, monitored_training_session
    from tf1sessions.porting.modules import GraphModule, function
    from tf1sessions.porting.parity.comparison import Comparison
    from tf1sessions.porting.parity.tolerances import Tolerance
    from tf1sessions.porting.parity.verifying import verify

__all__ = [
    "Comparison",
    "Conversion",
    "GraphModule",
    "LegacyGraph",
    "LegacySaver",
    "LegacySessionCreator",
    "Tolerance",
    "convert",
    "distribute",
    "function",
    "monitored_training_session",
    "peers_within",
    "verify",
]

# Public name -> the module that defines it.
_HOMES = {
    "Conversion": "tf1sessions.porting.conversion",
    "convert": "tf1sessions.porting.export",
    "GraphModule": "tf1sessions.porting.modules",
    "distribute": "tf1sessions.porting.distributing.distribution",
    "peers_within": "tf1sessions.porting.distributing.peers",
    "function": "tf1sessions.porting.modules",
    "LegacyGraph": "tf1sessions.porting.legacy_graph",
    "LegacySaver": "tf1sessions.porting.legacy_graph",
    "LegacySessionCreator": "tf1sessions.porting.legacy_monitored",
    "monitored_training_session": "tf1sessions.porting.legacy_monitored",
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
