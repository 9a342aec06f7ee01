"""Runs a task whose program is TensorFlow 2: by plain Python, without the TF1 face, as ``launch --tf2`` starts it.

Such programs build no server themselves: MultiWorkerMirroredStrategy starts one when it is made. It listens on all
interfaces, as that of ``tf.train.Server`` does. So a thread looks for it on the task's own port, binds it to the
loopback interface, and marks the task as one that has a server.

TensorFlow starts that server and waits for those of the other tasks in one call, in which it holds Python's lock: no
thread could bind the server meanwhile, and no signal is heeded. So a task waits before that call until all others
are about to make it (:func:`_start_together`).
"""

from __future__ import annotations

import functools
import json
import logging
import os
import runpy
import sys
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from ..scripts import exits
from ..scripts.after_import import AfterImport
from ..scripts.payload import ProgramPayload
from .marks import TASK_VARIABLE, Marks
from .ports import listening
from .task_main import bind_to_loopback

__all__ = ["execute"]

_log = logging.getLogger("tf1sessions")
_LOOK_SECS = 0.05  # between two looks for the server; arbitrary


def execute(payload: Mapping[str, Any]) -> int:
    """Run a task's program and return its exit code.

    Args:
        payload: As for :func:`.task_main.execute`, and with the key ``"not_given"``: variables to be taken out of the
            environment.
    """
    given = ProgramPayload.from_json(payload)
    marks, task = Marks(payload["settings"]["claims_dir"]), os.environ[TASK_VARIABLE]
    config = json.loads(os.environ["TF_CONFIG"])
    addresses = config["cluster"].get(config["task"]["type"], ())  # an evaluator is not in it
    if addresses:
        port = int(addresses[config["task"]["index"]].rpartition(":")[2])
        keeping = functools.partial(_keep, port, marks, task, payload["loopback"])
        threading.Thread(target=keeping, name="tf1sessions server", daemon=True).start()
    waiting = functools.partial(_start_together, marks, task, config["cluster"])
    sys.meta_path.insert(0, AfterImport("tensorflow.python.eager.context", waiting))
    for name in payload["not_given"]:  # what runs of TF1 programs have, and the user's environment has not
        os.environ.pop(name, None)
    sys.argv = [given.path if given.kind == "module" else given.display, *given.argv]
    sys.path[:] = given.module_path(sys.path)
    if given.settings.line_buffered:
        sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    exit_code = _run(given)
    if exit_code == 0 and marks.has_server(task):
        sys.stdout.flush()
        sys.stderr.flush()
        marks.set_through(task)
        marks.wait_for_release()
    return exit_code


def _run(given: ProgramPayload) -> int:
    try:
        if given.kind == "module":
            runpy.run_module(given.path, run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(given.path, run_name="__main__")
    except SystemExit as error:
        return exits.exit_code(error)
    except BaseException as error:  # noqa: BLE001 - the program's own
        return exits.report(error)
    return 0


def _start_together(marks: Marks, task: str, cluster: Mapping[str, Sequence[str]]) -> None:
    """Let servers of collective operations start when all tasks of the cluster want theirs."""
    context: Any = sys.modules["tensorflow.python.eager.context"].Context
    original = context.enable_collective_ops
    launched = {f"{job}:{index}" for job, addresses in cluster.items() for index in range(len(addresses))}

    @functools.wraps(original)
    def enable(self: Any, server_def: Any) -> None:
        named = {f"{job.name}:{index}" for job in server_def.cluster.job for index in job.tasks}
        marks.set_server(task)
        marks.wait_for_servers(named & launched)
        original(self, server_def)

    context.enable_collective_ops = enable


def _keep(port: int, marks: Marks, task: str, loopback: bool) -> None:
    """Wait for this task's server, and keep it to this machine."""
    looks = threading.Event()
    while not listening([port]):
        looks.wait(_LOOK_SECS)
    if loopback:
        try:
            bind_to_loopback(port)
        except OSError as error:
            _log.error(str(error))
            os._exit(1)
    marks.set_server(task)
