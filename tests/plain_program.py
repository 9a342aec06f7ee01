"""Stands in for ``tf1sessions.scripts.program`` where a test needs no TensorFlow: runs a script by :mod:`runpy`.

As a program it is the command ``tf1sessions`` itself, whose workers run this: ``python plain_program.py run train.py``.
"""

from __future__ import annotations

import functools
import os
import runpy
import sys
import time
from collections.abc import Mapping
from typing import Any

PRELOAD_FAILS = "TF1SESSIONS_TEST_PRELOAD_FAILS"
PRELOAD_WAITS = "TF1SESSIONS_TEST_PRELOAD_WAITS"


def preload() -> None:
    while not os.path.exists(os.environ.get(PRELOAD_WAITS, "/")):
        time.sleep(0.02)
    if PRELOAD_FAILS in os.environ:
        raise RuntimeError("no TensorFlow here")


def execute(payload: Mapping[str, Any]) -> int:
    sys.argv = [payload["display"], *payload["argv"]]
    sys.path.insert(0, payload["path0"])
    if payload["settings"]["line_buffered"]:
        sys.stdout.reconfigure(line_buffering=True)
    if payload["kind"] == "module":
        runpy.run_module(payload["path"], run_name="__main__", alter_sys=True)
    else:
        runpy.run_path(payload["path"], run_name="__main__")
    return 0


def server(env: Mapping[str, str], call: None = None) -> Any:
    from tf1sessions.pools.fork_server import WorkerServer

    return WorkerServer(preload=("plain_program:preload",), env=env)


if __name__ == "__main__":
    from tf1sessions.cli.main import main
    from tf1sessions.scripts import runner, servers

    servers.script_server = server
    runner.RunSettings = functools.partial(  # type: ignore[misc]
        runner.RunSettings, server=server, target="plain_program:execute"
    )
    main()
