"""A task of a cluster that was started by hand, with a command line of ``launch --print``: what its launch would watch.

::

    launch --print ─▶ TF1SESSIONS_CLUSTER in the command line: the versions there, and how long tasks may take to come
    tf1sessions run ─▶ cluster_watch.py: versions, then PeerWatch, a thread until the first run of a session

TensorFlow's gRPC compares no versions, and a session waits for ever for a task that never comes.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping

from ..errors import ConfigError, UnsupportedEnvironmentError
from ..pools.ray_versions import version_reader

__all__ = ["VARIABLE", "HandStarted", "read"]

#: The variable of a task's environment.
VARIABLE = "TF1SESSIONS_CLUSTER"


@dataclasses.dataclass(frozen=True)
class HandStarted:
    """The versions and limits in the command line of a task.

    Args:
        versions: Those of Python, TensorFlow and tf1sessions that all tasks are to have, by name.
        trains: Whether the task waits for the others; a parameter server does not.
        start_limit_secs: How long the other tasks may take to come.
    """

    versions: Mapping[str, str] = dataclasses.field(default_factory=lambda: version_reader()())
    trains: bool = True
    start_limit_secs: float = 300.0

    def variable(self) -> str:
        """The text of the variable :data:`VARIABLE`."""
        return json.dumps(dataclasses.asdict(self))

    def check_versions(self) -> None:
        """Compare the versions with those of this process.

        Raises:
            UnsupportedEnvironmentError: They differ.
        """
        here = version_reader()()
        different = [name for name, version in self.versions.items() if here.get(name, version) != version]
        if different:
            there = ", ".join(f"{name} {self.versions[name]}" for name in different)
            raise UnsupportedEnvironmentError(
                f"this task has {', '.join(f'{name} {here[name]}' for name in different)}, and its cluster {there}",
                where=VARIABLE,
                next_step="Install the same on all machines, or print the commands anew where the right ones are. "
                f"Without {VARIABLE} in the command nothing is compared.",
            )


def read(environment: Mapping[str, str]) -> HandStarted | None:
    """Return what the environment says; None for a process that is no such task.

    Raises:
        ConfigError: The variable is malformed.

    Example:
        >>> read({}) is None
        True
    """
    text = environment.get(VARIABLE)
    if text is None:
        return None
    try:
        found = HandStarted(**json.loads(text))
        if isinstance(found.versions, dict) and found.start_limit_secs > 0:
            return found
    except (TypeError, ValueError):
        pass
    raise ConfigError(
        f"{VARIABLE} is {text!r}",
        where="the environment",
        next_step="Take the whole command line that tf1sessions launch --print gives.",
    )
