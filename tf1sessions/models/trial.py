"""Tries a model in a child process, with limits, before it is loaded here.

What a file asks for cannot always be known in advance: a graph of a kilobyte may fill 17 GB when it is run, or end the
process in TensorFlow's C++ code. The child loads the model and runs it once, with zeros for inputs; what becomes of it
is reported as an error, and nothing happens to this process.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

from tf1sessions.errors import ModelFileError

__all__ = ["try_model"]

_PROGRAM = """
import json, sys
options = json.load(sys.stdin)
try:
    import resource
except ImportError:  # not a Unix
    resource = None
import tf1sessions.models.model as models
if resource is not None:  # beyond what TensorFlow itself takes
    resource.setrlimit(resource.RLIMIT_DATA, (options["limit_bytes"], options["limit_bytes"]))
import numpy as np
with models.load(options["path"], **options["load"]) as model:
    given = {}
    for name, spec in model.inputs.items():
        if not spec.optional and spec.dtype.base_dtype.is_numpy_compatible:
            dims = () if spec.shape is None or spec.shape.rank is None else [dim or 1 for dim in spec.shape.as_list()]
            given[name] = np.zeros(dims, spec.dtype.base_dtype.as_numpy_dtype)
    try:
        model(given)
    except MemoryError:
        sys.exit(9)
    except Exception as error:  # zeros may be no input for it
        if type(error).__name__ == "ResourceExhaustedError":
            sys.exit(9)
"""


def try_model(
    path: str | os.PathLike[str], load: Mapping[str, Any], *, limit_mb: int = 4096, limit_secs: float = 120.0
) -> None:
    """Loads a model in a child process and runs it once.

    Args:
        path: As for :func:`tf1sessions.load`.
        load: Its other arguments, as far as JSON can hold them.
        limit_mb: How much memory (MiB) the child may have, with what TensorFlow itself takes, about 1,000.
        limit_secs: How long all of it may take, with TensorFlow's own start.

    Raises:
        ModelFileError: The child was ended by a signal, needed more memory or more time. Any other error of the model
            is left to the caller, which will meet it.

    Safe to call from any thread.
    """
    options = {"path": os.fspath(path), "load": dict(load), "limit_bytes": limit_mb * 2**20}
    try:
        done = subprocess.run(
            [sys.executable, "-c", _PROGRAM],
            env=os.environ | {"PYTHONINSPECT": ""},  # with which its exit code would be another
            input=json.dumps(options).encode(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=limit_secs,
            check=False,
        )
    except subprocess.TimeoutExpired:
        what = f"it takes longer than {limit_secs:g} s"
    else:
        if done.returncode >= 0 and done.returncode != 9 and b"MemoryError" not in done.stderr:
            return
        what = f"it needs more than {limit_mb:,} MB of memory"
        if done.returncode < 0 and b"bad_alloc" not in done.stderr:
            what = f"it ends the process by {signal.Signals(-done.returncode).name}"
    raise ModelFileError(
        f"{os.fspath(path)} cannot be loaded and run here: {what}",
        where="a trial in a process of its own",
        next_step="Do not load it, unless you trust its source.",
        path=os.fspath(path),
    )
