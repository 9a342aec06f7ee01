"""The variable by which a launch configures each rank: its number, the port of rank 0, and the key."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass

from ..errors import ConfigError

__all__ = ["VARIABLE", "Launched", "at_init", "read"]

#: The variable of a rank's environment.
VARIABLE = "TF1SESSIONS_HOROVOD"
#: Called by each ``hvd.init()``; a launch learns by it that the program uses Horovod.
at_init: list[Callable[[], None]] = []
# Of other launchers: how many processes they started. Programs under these are not the only rank.
_SIZES = ("HOROVOD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS")


@dataclass(frozen=True)
class Launched:
    """One rank of a launch.

    Args:
        rank: Its number, from 0.
        size: How many ranks there are.
        port: Where rank 0 listens, on the loopback interface.
        key: In hexadecimal digits; whoever connects must know it.
        start_limit_secs: How long all ranks may take to call ``init()``.
        stall_limit_secs: How long a rank may wait for a tensor of the others.
    """

    rank: int
    size: int
    port: int = 0
    key: str = ""
    start_limit_secs: float = 300.0
    stall_limit_secs: float = 600.0

    def variable(self) -> str:
        """The text of the variable :data:`VARIABLE`."""
        return json.dumps(asdict(self))


def read(environment: Mapping[str, str] | None = None) -> Launched:
    """Return what the environment says; without a launch this process is the only rank.

    Raises:
        ConfigError: The variable is malformed, or another launcher has started several processes.

    Example:
        >>> read({}).size
        1
    """
    given = os.environ if environment is None else environment
    text = given.get(VARIABLE)
    if text is None:
        for name in _SIZES:
            if given.get(name, "1") not in ("", "1"):
                raise ConfigError(
                    f"another launcher has started {given[name]} processes, and this Horovod does not know it",
                    where=f"the variable {name}",
                    next_step=f"Start them with tf1sessions launch --horovod {given[name]}, or install horovod.",
                )
        return Launched(0, 1)
    try:
        found = Launched(**json.loads(text))
        if not 0 <= found.rank < found.size:
            raise ValueError(f"rank {found.rank} of {found.size}")
    except (ValueError, TypeError) as error:
        raise ConfigError(
            f"{error}", where=f"the variable {VARIABLE}", next_step="It is set by tf1sessions launch --horovod N."
        ) from None
    return found
