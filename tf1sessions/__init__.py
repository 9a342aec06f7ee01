"""Run, test and port TensorFlow 1 programs on today's TensorFlow.

General layout, a room for each thing that a user wants to do. Imports point downward in this list only backwards: a
module may import from what stands above it, never from below::

    errors.py        the tree of exceptions
    runtime.py       the only module that imports TensorFlow; tf1; enable_v1_behavior()
    sessions/        one graph, one session
      config.py        SessionConfig <-> ConfigProto
      calls.py         compiled calls, and the Session whose run() uses them
      session.py       GraphSession: one thread builds it, any thread runs it
    pools/           many sessions at once
      base.py          what every pool promises
      threads.py       ThreadSessionPool: a session for each worker thread
      server.py        the fork server, and the handles of its workers
      worker.py        what runs inside the server and its workers
    scripts/         unmodified TF1 programs
      jobs.py          what is to be run, and its settings
      jobfile.py       TOML job files with grids of parameters
      machine.py       how much this machine can carry
      folder.py        the run folder: logs and jobs.json
      logs.py          the ends of logs, to show them
      streams.py       a single job's output, on the terminal and in its log
      events.py        what a run tells while it goes on
      runner.py        many jobs with logs, limits, retries and a summary
      program.py       inside a worker: runs one program as `python SCRIPT` would
      importer.py      inside a worker: what `import tensorflow` gives
      namespace.py     inside a worker: the names of TF1
    cli/             the command line: a file a command
      main.py          the group of commands
      run.py           tf1sessions run
      words.py         how a run says things
      progress.py      a run's progress as lines, its summary
      live.py          a run's progress as a live table
    __main__.py      python -m tf1sessions

Importing this package imports neither TensorFlow nor numpy: each public name is fetched from its module when it is
first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from tf1sessions import errors

if TYPE_CHECKING:
    from tf1sessions import scripts
    from tf1sessions.pools.threads import ThreadSessionPool
    from tf1sessions.runtime import enable_v1_behavior, tf1
    from tf1sessions.sessions.calls import CompiledCall, Session
    from tf1sessions.sessions.config import SessionConfig
    from tf1sessions.sessions.session import GraphSession

__version__ = "0.1.0"

__all__ = [
    "CompiledCall",
    "GraphSession",
    "Session",
    "SessionConfig",
    "ThreadSessionPool",
    "__version__",
    "enable_v1_behavior",
    "errors",
    "scripts",
    "tf1",
]

# Public name -> the module that defines it. A name that is a module itself has None.
_HOMES: dict[str, str | None] = {
    "CompiledCall": "tf1sessions.sessions.calls",
    "GraphSession": "tf1sessions.sessions.session",
    "Session": "tf1sessions.sessions.calls",
    "SessionConfig": "tf1sessions.sessions.config",
    "ThreadSessionPool": "tf1sessions.pools.threads",
    "enable_v1_behavior": "tf1sessions.runtime",
    "scripts": None,
    "tf1": "tf1sessions.runtime",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = _HOMES[name]
    if home is None:
        return importlib.import_module(f"{__name__}.{name}")  # importing a submodule sets the name here too
    value = globals()[name] = getattr(importlib.import_module(home), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
