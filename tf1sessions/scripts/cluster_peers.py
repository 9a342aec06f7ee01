"""The other tasks of a cluster: which there are, which answer, and a process that ends one that waits too long.

As a program it watches for a process that cannot itself: TensorFlow holds Python's lock while the first worker makes
a MultiWorkerMirroredStrategy, and waits there for the others. It imports the standard library alone, and is run by the
path of this file: it takes the process, the limit and the addresses in JSON as its argument, and ends with its stdin.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Mapping

__all__ = ["answers", "named", "others"]

_LOOK_SECS = 1.0  # between two rounds of looks; arbitrary
_CONNECT_SECS = 2.0  # for a task to take a connection; arbitrary, longer than any network of one place needs


def others(config: str) -> dict[str, str]:
    """Return the addresses of the other tasks in a TF_CONFIG by name; nothing where it is malformed, or names no task.

    Example:
        >>> others('{"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 0}}')
        {'worker:1': 'b:1'}
    """
    try:
        content = json.loads(config)
        own = f"{content['task']['type']}:{content['task']['index']}"
        tasks = {
            f"{job}:{index}": str(address)
            for job, addresses in content["cluster"].items()
            for index, address in enumerate(addresses)
        }
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}
    return {name: address for name, address in tasks.items() if name != own} if own in tasks else {}


def answers(address: str) -> bool:
    """Whether a task takes a connection."""
    host, _, port = address.rpartition(":")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), timeout=_CONNECT_SECS):
            return True
    except (OSError, ValueError):
        return False


def named(tasks: Mapping[str, str]) -> str:
    """Tasks with their addresses, for a message."""
    return ", ".join(f"{name} ({where})" for name, where in tasks.items())


def main(text: str) -> None:
    """Watch until all tasks have come or stdin has ended; at the limit say which are missing, and kill the process."""
    given = json.loads(text)
    missing, began = given["others"], time.monotonic()
    while missing:
        if select.select([sys.stdin], [], [], _LOOK_SECS)[0]:  # nothing is written there: it has ended
            return
        missing = {name: where for name, where in missing.items() if not answers(where)}
        if missing and time.monotonic() - began > given["limit_secs"] and not select.select([sys.stdin], [], [], 0)[0]:
            print(
                f"tf1sessions: {named(missing)} did not come within {given['limit_secs']:g} s "
                "(porting.peers_within()), and TensorFlow would wait for it for ever. Is it started, and does the "
                "network let this machine reach it? This process is killed: TensorFlow cannot break off.",
                file=sys.stderr,
                flush=True,
            )
            os.kill(given["pid"], signal.SIGKILL)
            return


if __name__ == "__main__":
    main(sys.argv[1])
