"""The fork servers that the process pools of this process share: warm from the first pool until the process ends.

To import TensorFlow takes seconds, so a server outlives the pools that used it, and the next pool begins at once. There
is one server for each mode, method and environment: an environment whose workers could not be forks of a server that
is there needs another one, which takes the place of those of its mode and method that no pool uses.
"""

from __future__ import annotations

import atexit
import os
import threading
from dataclasses import dataclass
from typing import Literal

from tf1sessions.pools.cold_starts import cold_start_reasons
from tf1sessions.pools.fork_server import WorkerServer
from tf1sessions.pools.user_servers import PRELOADS

__all__ = ["close_servers", "make_server", "return_server", "take_server"]

Mode = Literal["tf1", "tf2"]
Method = Literal["fork", "spawn"]

# What TensorFlow and what it imports set when they are imported. A server that was started before this process imported
# TensorFlow has them from its own import; as a difference they would only make its workers start anew.
_SET_BY_IMPORTS = {
    "HDF5_PLUGIN_PATH": "disable",
    "KMP_DUPLICATE_LIB_OK": "True",
    "KMP_INIT_AT_FORK": "FALSE",
    "TF2_BEHAVIOR": "1",
}


_PRELOADED = {"tf1": "pools", "tf2": "pools-tf2"}


@dataclass
class _SharedServer:
    server: WorkerServer
    mode: Mode
    method: Method | None
    environment: dict[str, str]
    pools: int = 0  # that use it now


_lock = threading.Lock()  # protects the list; held while a server is made, never while one is closed
_servers: list[_SharedServer] = []


def make_server(mode: Mode = "tf1", method: Method | None = None) -> WorkerServer:
    """Make a server that preloads what the workers of a pool need; for ``ProcessSessionPool(server=...)``.

    It starts with the first pool that uses it. Close it, or use it in a ``with``. Pools that are not given one share
    servers that end with the process. Where the user keeps a server warm (``tf1sessions warm``), that one is used.
    """
    return WorkerServer(PRELOADS[_PRELOADED[mode]], environment(), method=method, users=True)


def environment() -> dict[str, str]:
    """This process's environment, without what imports of TensorFlow have put there."""
    return {name: value for name, value in os.environ.items() if _SET_BY_IMPORTS.get(name) != value}


def take_server(mode: Mode, method: Method | None) -> WorkerServer:
    """The shared server for a new pool, made where there is none; :func:`return_server` when the pool has ended."""
    wanted = environment()
    with _lock:
        alike = [each for each in _servers if (each.mode, each.method) == (mode, method)]
        found = next((each for each in alike if not cold_start_reasons(each.environment, wanted, (), None)), None)
        if found is None:
            idle = [each for each in alike if not each.pools]
            found = _SharedServer(make_server(mode, method), mode, method, wanted)
            _servers[:] = [each for each in _servers if each not in idle] + [found]
        else:
            idle = []
        found.pools += 1
    for each in idle:
        each.server.close()
    return found.server


def return_server(server: WorkerServer) -> None:
    """Note that a pool has ended which had this server from :func:`take_server`; end one that has nothing warm."""
    with _lock:
        for each in _servers:
            if each.server is server:
                each.pools -= 1
        cold = [each for each in _servers if not each.pools and each.server.method == "spawn"]
        _servers[:] = [each for each in _servers if each not in cold]
    for each in cold:
        each.server.close()


@atexit.register
def close_servers() -> None:
    """End the shared servers that no pool uses, which frees their memory: about 300 MB each.

    The next pool starts one again, which takes seconds. Safe to call from any thread.
    """
    with _lock:
        idle = [each for each in _servers if not each.pools]
        _servers[:] = [each for each in _servers if each.pools]
    for each in idle:
        each.server.close()


def _forget() -> None:
    _servers.clear()  # they are the parent's
    _lock._at_fork_reinit()  # type: ignore[attr-defined]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
