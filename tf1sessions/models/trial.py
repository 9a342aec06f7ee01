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
from pathlib import Path
from typing import Any

from tf1sessions.errors import ModelFileError

__all__ = ["try_model"]

#: Finds this package as it is found here, and not a file beside the model that has the name of a module. It ends with
#: the process that has started it, even where that is killed. Without an error of its own it says how far it came.
_PROGRAM = """
import os, sys
sys.path[:] = [entry for entry in sys.path if entry]
if sys.platform == "linux":
    import ctypes
    ctypes.CDLL(None).prctl(1, 9)  # PR_SET_PDEATHSIG, SIGKILL
    if os.getppid() != int(sys.argv[2]):
        sys.exit(1)
sys.path.append(sys.argv[1])
import json
options = json.load(sys.stdin)
try:
    import resource
except ImportError:  # not a Unix
    resource = None
import tf1sessions.models.model as models
from tf1sessions.garbage import end_quickly
end_quickly()
if resource is not None:  # beyond what TensorFlow itself takes
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    limit = options["limit_bytes"] if hard == resource.RLIM_INFINITY else min(options["limit_bytes"], hard)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
import numpy as np
try:
    with models.load(options["path"], **options["load"]) as model:
        given = {}
        for name, spec in model.inputs.items():
            dtype, known = spec.dtype.base_dtype, spec.shape is not None and spec.shape.rank is not None
            if not spec.optional and dtype.is_numpy_compatible:
                dims = [dim or 1 for dim in spec.shape.as_list()] if known else ()
                given[name] = np.zeros(dims, dtype.as_numpy_dtype)
        model(given)
except MemoryError:
    sys.exit(9)
except Exception as error:  # zeros may be no input for it; what loading gives here, too
    if type(error).__name__ == "ResourceExhaustedError":
        sys.exit(9)
    print(json.dumps([type(error).__name__ + ": " + str(error)]), file=sys.stderr)
    sys.exit(3)
"""


def try_model(
    path: str | os.PathLike[str], load: Mapping[str, Any], *, limit_mb: int = 4096, limit_secs: float = 120.0
) -> str | None:
    """Loads a model in a child process and runs it once.

    Args:
        path: As for :func:`tf1sessions.load`.
        load: Its other arguments, as far as JSON can hold them.
        limit_mb: How much memory (MiB) the child may have, with what TensorFlow itself takes, about 1,000.
        limit_secs: How long all of it may take, with TensorFlow's own start.

    Returns:
        None; or the error that the model gave in place of a result, which is left to the caller.

    Raises:
        ModelFileError: The child was ended by a signal, needed more memory or more time, or could not try the model.

    Safe to call from any thread.
    """
    options = {"path": os.fspath(path), "load": dict(load), "limit_bytes": limit_mb * 2**20}
    try:
        done = subprocess.run(
            [sys.executable, "-c", _PROGRAM, str(Path(__file__).parents[2]), str(os.getpid())],
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
        if done.returncode == 0:
            return None
        last = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        if done.returncode == 3:
            return str(json.loads(last)[0])
        what = f"it needs more than {limit_mb:,} MB of memory"
        if done.returncode < 0 and b"bad_alloc" not in done.stderr:
            what = f"it ends the process by {signal.Signals(-done.returncode).name}"
        elif done.returncode > 0 and done.returncode != 9 and b"MemoryError" not in done.stderr:
            what = f"it could not be tried ({last})"
    raise ModelFileError(
        f"{os.fspath(path)} cannot be loaded and run here: {what}",
        where="a trial in a process of its own",
        next_step="Do not load it, unless you trust its source.",
        path=os.fspath(path),
    )
