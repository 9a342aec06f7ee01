"""``tf1sessions warm``: servers that keep TensorFlow loaded for the next commands, started, stopped and shown."""

from __future__ import annotations

import contextlib
import json
import time
from typing import TYPE_CHECKING, Any

import click

from tf1sessions.cli.formatting import duration
from tf1sessions.cli.programs import FiniteRange
from tf1sessions.texts import printable

if TYPE_CHECKING:
    from tf1sessions.pools.user_servers import UserServer

__all__ = ["warm"]

_CONTEXT_SETTINGS: dict[str, Any] = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


@click.group(context_settings=_CONTEXT_SETTINGS)
def warm() -> None:
    """Keep TensorFlow loaded for the next commands, which then begin at once.

    \b
        tf1sessions warm start      # takes the seconds that TensorFlow's import takes
        tf1sessions run train.py    # does not
        tf1sessions warm stop

    While a server is there, run, races, convert, inspect and verify use it, and process pools of all programs. Each
    gets a fork that nothing has run in before. With TF1SESSIONS_WARM=1 in the environment, whatever needs a server
    starts it; TF1SESSIONS_WARM=0 uses none. A command that differs from it in what TensorFlow's import reads
    (PYTHONHASHSEED, LD_LIBRARY_PATH, ...) says so, and starts cold. A server ends by itself when it was not used for
    half an hour, or when a file that it has loaded changes.
    """


@warm.command(context_settings=_CONTEXT_SETTINGS)
@click.option(
    "--idle",
    type=FiniteRange(0.1, 10_000),
    default=30.0,
    metavar="MINUTES",
    help="How long it stays when nothing uses it. Default: 30.",
)
def start(idle: float) -> None:
    """Start the server for scripts, and wait until it is warm. The others start when they are needed first."""
    from tf1sessions.pools import user_servers
    from tf1sessions.scripts.servers import base_environment

    server = user_servers.named("scripts")
    already = "" if server.start(base_environment(fast_kernels=False), idle * 60) else " already"
    try:
        status = _wait_until_warm(server)
    except KeyboardInterrupt:
        click.echo("tf1sessions: the server goes on, and loads TensorFlow; to end it: tf1sessions warm stop", err=True)
        raise
    click.echo(
        f"TensorFlow is loaded{already}, by process {status['pid']}, for commands with {printable(status['python'])}. "
        f"It ends when it was not used for {duration(status['idle_secs'])}."
    )


def _wait_until_warm(server: UserServer) -> dict[str, Any]:
    """Ask the server until it answers, which it does when it has loaded TensorFlow."""
    from tf1sessions.errors import WorkerStartError

    while True:
        try:
            status = server.ask("status")
        except TimeoutError:
            continue
        if status is None:
            raise WorkerStartError("The warm server ended before it was warm", where=str(server.log))
        return status


@warm.command(context_settings=_CONTEXT_SETTINGS)
def stop() -> None:
    """End all servers of yours. What runs in their forks goes on to its end."""
    from tf1sessions.pools import user_servers

    found = list(user_servers.running())
    for server in found:
        with contextlib.suppress(TimeoutError):  # it ends when it has loaded what it is loading
            server.ask("stop")
    names = ", ".join(sorted(server.name for server in found))
    click.echo(f"Stopped: {names}." if found else "No server was warm.")


@warm.command(context_settings=_CONTEXT_SETTINGS)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def status(as_json: bool) -> None:
    """Show your servers: for what each is, since when, and how often it was used."""
    from tf1sessions.pools import user_servers

    found = [(server.name, status) for server, status in user_servers.running().items()]
    if as_json:
        click.echo(json.dumps([{"for": name, **(status or {})} for name, status in found], indent=1))
        return
    if not found:
        click.echo("No server is warm. Start one: tf1sessions warm start")
    for name, status in found:
        click.echo(f"{name:<10} {'is loading TensorFlow' if status is None else _line(status)}")


def _line(status: dict[str, Any]) -> str:
    unused = f"unused for {duration(status['unused_secs'])}, ends after {duration(status['idle_secs'])}"
    state = f"{status['running']} in use" if status["running"] else unused
    up = duration(time.time() - status["began"])
    return f"pid {status['pid']:<8} up {up}, used {status['callers']} times, {state}; {printable(status['python'])}"
