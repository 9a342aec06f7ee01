"""The first lines of an interpreter that becomes a fork server or a cold worker (fork_server_main.py)."""

from __future__ import annotations

import os

__all__ = ["BOOT", "PACKAGE_PARENT"]

PACKAGE_PARENT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
"""The folder that holds this package."""

BOOT = """\
import sys
at_start = frozenset(sys.modules)
sys.path[:] = [entry for entry in sys.path if entry]
from importlib import machinery, util
if util.find_spec("tf1sessions") is None:
    sys.path.append(sys.argv[1])
spec = machinery.PathFinder.find_spec("tf1sessions", [sys.argv[1]])
sys.modules["tf1sessions"] = package = util.module_from_spec(spec)
spec.loader.exec_module(package)
from tf1sessions.pools.fork_server_main import main
sys.exit(main(sys.argv[2:], at_start))
"""
"""``python -c`` text of servers and cold workers. It takes the folder that holds the caller's ``tf1sessions``, so that
both sides are one version, and leaves that folder (and the working directory) out of ``sys.path`` where it can."""
