"""The user's server, called before the command is imported that needs it; the server makes a fork meanwhile.

To import the command takes longer than that. What is imported here is little, for the same reason.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress

from tf1sessions.errors import Tf1SessionsError
from tf1sessions.pools import user_servers
from tf1sessions.pools.user_servers import UserCall

__all__ = ["base_environment", "begin", "take"]

_WITHOUT_SERVER = ("-h", "--help", "--dry-run", "--ray", "--resume")  # options of a run that begins without one
_made: list[tuple[dict[str, str], UserCall]] = []  # one at most, with the environment that was asked for


def begin(arguments: Sequence[str]) -> None:
    """Call the user's server, where it is warm and the arguments of the command look as if they run scripts.

    Where nothing takes the call, it ends with this process.
    """
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    if options[:1] != ["run"] or any(option.startswith(_WITHOUT_SERVER) for option in options):
        return
    with suppress(Tf1SessionsError, OSError):  # the run says why
        server = user_servers.find(user_servers.PRELOADS["scripts"])
        if server is not None and server.path.exists():
            env = base_environment("--fast-kernels" in options)
            _made.append((env, server.call(env)))


def take(env: Mapping[str, str]) -> UserCall | None:
    """Return the call that was made, and nothing the next time; None where there is none for this environment."""
    if not _made:
        return None
    asked, call = _made.pop()
    if asked == env:
        return call
    call.control.close()  # such kernels are a job file's choice
    return None


def base_environment(fast_kernels: bool) -> dict[str, str]:
    """Return the environment of the server, and of jobs that have no other wish: the caller's, set up for scripts."""
    env = dict(os.environ)
    env["TF_USE_LEGACY_KERAS"] = "1"
    if fast_kernels:
        env["TF_ENABLE_ONEDNN_OPTS"] = "1"
    else:
        env.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")  # a user that exported a choice keeps it
    return env
