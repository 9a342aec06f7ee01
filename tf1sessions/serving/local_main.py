"""The process of a SessionServer: it has the device and the models, until its owner goes or closes it.

::

    owner (session_server.py) ── stdin: the specification, and at the end a byte, or none ──▶ main()
                              ◀── a line of JSON on the descriptor that it names: ready, or why not
"""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import shutil
import signal
import struct
import sys
from collections.abc import Callable, Mapping
from typing import Any

from tf1sessions.errors import UsageError
from tf1sessions.garbage import end_quickly
from tf1sessions.serving.descriptors import fill_closed_streams

__all__ = ["main"]


def main() -> None:
    """Serve until the owner says that it is over, or stdin ends."""
    fill_closed_streams()
    end_quickly()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the owner's, which then ends this process
    stdin = os.fdopen(os.dup(0), "rb", buffering=0)
    answer = os.fdopen(int(sys.argv[1]), "w", encoding="utf-8")
    size = struct.unpack("<Q", _read(stdin, 8))[0]
    first = pickle.loads(_read(stdin, size))  # the owner's own, which has made this process
    sys.path[:] = first["path"]
    if folder := first["cwd"]:
        os.chdir(folder)
    try:
        spec = pickle.loads(first["spec"])
        with contextlib.ExitStack() as stack:
            _serve(spec, stack)
            print(json.dumps({"ready": os.getpid()}), file=answer, flush=True)
            answer.close()
            stdin.read(1)  # the owner's word, or the end of it
        shutil.rmtree(spec["folder"], ignore_errors=True)  # the owner has gone, or does the same
    except BaseException as error:
        if not answer.closed:
            print(json.dumps({"kind": type(error).__name__, "message": str(error)}), file=answer, flush=True)
        raise


def _read(stdin: Any, size: int) -> bytes:
    data = b""
    while len(data) < size:
        piece = stdin.read(size - len(data))
        if not piece:
            raise EOFError("the owner has gone")
        data += piece
    return data


def _serve(spec: dict[str, Any], stack: contextlib.ExitStack) -> None:
    from tf1sessions.garbage import settle
    from tf1sessions.serving.local_server import LocalServer
    from tf1sessions.serving.repository import ModelRepository
    from tf1sessions.serving.service import Service
    from tf1sessions.sessions.session import GraphSession

    plan, worker, drain_secs = spec["plan"], spec["worker"], spec["drain_secs"]
    config: Any = None
    if plan is not None:
        plan.apply(worker)
        config = plan.config(worker, soft_placement=True)
    repository = ModelRepository(
        spec["models"],
        spec["limits"],
        config_of=lambda model: config,
        poll_secs=spec["poll_secs"],
        drain_secs=drain_secs,
        collect=settle,
    )
    stack.enter_context(repository)
    service = Service(repository)
    stack.callback(service.close)
    requests: dict[str, Callable[..., Any]] = {}
    if spec["requests"] is not None:
        gs = stack.enter_context(GraphSession(config, name="requests"))
        found = spec["requests"](gs)
        if not isinstance(found, Mapping):
            raise UsageError(
                f"the function of requests= returned {found!r:.200}",
                where="SessionServer(requests=)",
                next_step="Return a dict of name and request.",
            )
        requests = {
            str(name): _callable(gs, name, given, spec["limits"].deadline_secs) for name, given in found.items()
        }
    settle()
    server = LocalServer(service, spec["folder"], spec["key"], requests)
    stack.callback(server.close, drain_secs)


def _callable(gs: Any, name: str, given: Any, first_secs: float) -> Callable[..., Any]:
    """A named request as a function of the seconds that it has, and arrays by name.

    The run of one that is feeds and fetches is ended some time after these, as all others would wait for it.
    """
    from tf1sessions.sessions.calls import CompiledCall

    if callable(given):
        return lambda secs, **arrays: given(**arrays)
    if not isinstance(given, tuple) or len(given) != 2 or not isinstance(given[0], dict):
        raise UsageError(
            f"the request {name!r} is {given!r:.200}",
            where="SessionServer(requests=)",
            next_step="Give a function, or (feeds, fetches) with feeds as a dict of name and tensor.",
        )
    feeds, fetches = given
    calls: dict[float, Any] = {}  # by the limit on their runs

    def call_of(limit: float) -> Any:
        if limit not in calls:
            calls[limit] = CompiledCall(gs.session, list(feeds.values()), fetches, None, run_limit_secs=limit)
        return calls[limit]

    call_of(_limit(first_secs))  # what is wrong with it is said at the start

    def run(secs: float, **arrays: Any) -> Any:
        if arrays.keys() != feeds.keys():
            raise TypeError(f"the request {name!r} takes {', '.join(feeds) or 'nothing'}, and got {', '.join(arrays)}")
        return call_of(_limit(secs))(*[arrays[key] for key in feeds])

    return run


def _limit(secs: float) -> float:
    """When a run with that deadline is ended: a power of four, as each limit is compiled on its own."""
    limit = 1.0
    while limit < secs:
        limit *= 4.0
    return limit
