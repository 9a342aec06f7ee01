"""The command ``tf1sessions``: finds the subcommand, and turns our errors into a line on stderr and an exit code.

A subcommand's module is imported when it is used, so that help answers without loading what a run needs.
Exit codes: 0, all went well; 1, a job or the machine failed; 2, the call was wrong; others are a single script's own.
"""

from __future__ import annotations

import atexit
import importlib
import os
import select
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NoReturn

import click

from tf1sessions import __version__
from tf1sessions.cli import warm_commands
from tf1sessions.cli.closed_streams import open_closed_streams
from tf1sessions.cli.signals import Terminated, end_by_signals
from tf1sessions.errors import ModelError, Tf1SessionsError, UsageError
from tf1sessions.garbage import end_quickly
from tf1sessions.texts import printable, quoted

__all__ = ["execute", "main"]

_COMMANDS = {
    "run": ("tf1sessions.cli.run:run", "Run TensorFlow 1 scripts unmodified, several at once."),
    "launch": ("tf1sessions.cli.launch:launch", "Run a distributed TensorFlow 1 program as a cluster on this machine."),
    "audit": ("tf1sessions.cli.audit:audit", "Show where code stands on its way from TensorFlow 1."),
    "inspect": ("tf1sessions.cli.inspect:inspect", "Show what a TensorFlow 1 model contains, and what in it is risky."),
    "convert": ("tf1sessions.cli.convert:convert", "Convert a TensorFlow 1 model to TensorFlow 2, and check it."),
    "verify": ("tf1sessions.cli.verify:verify", "Run two models on the same inputs, and find the first difference."),
    "serve": ("tf1sessions.cli.serve:serve", "Serve models by HTTP and gRPC, as TensorFlow Serving does."),
    "port": ("tf1sessions.cli.port:port", "Port the code of TensorFlow 1 programs, step by step."),
    "build-op": (
        "tf1sessions.cli.build_op:build_op",
        "Compile operations in C++ or CUDA that were written for TensorFlow 1.",
    ),
    "memory": ("tf1sessions.cli.memory:memory", "Show how processes can share this machine's GPUs and cores."),
    "doctor": ("tf1sessions.cli.doctor:doctor", "Find what will go wrong on this machine or in a script."),
    "warm": ("tf1sessions.cli.warm:warm", "Keep TensorFlow loaded for the next commands."),
    "races": ("tf1sessions.cli.races:races", "Find races between the threads of a program."),
}


class _WrongCall(click.ClickException):
    """An error of the caller, shown without the usage lines: what is wrong is a value, not the syntax."""

    exit_code = 2


@contextmanager
def _printable_errors() -> Iterator[None]:
    """Lets no error steer the terminal: names in its message may come from files and other processes."""
    try:
        yield
    except click.ClickException as error:
        shown = printable(error.message, keep="\n").replace("\n", "\n  ")  # no name makes a line of its own
        vars(error)["message"] = shown  # which click declares final; its errors have no other way in
        raise


class _Commands(click.Group):
    """The subcommands of ``_COMMANDS``, each imported when it is used."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        for stream in (sys.stdout, sys.stderr):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # names may be any bytes
        with _printable_errors():
            try:
                return super().make_context(info_name, args, parent, **extra)
            except OSError as error:  # --version and --help print
                raise click.ClickException(str(error)) from error

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module, _, name = _COMMANDS[cmd_name][0].partition(":")
        command = getattr(importlib.import_module(module), name)
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in _COMMANDS and args[0].endswith((".py", ".ipynb", ".toml")):
            meant = " ".join(map(quoted, args))
            ctx.fail(f"No such command {args[0]!r}. Did you mean: tf1sessions run {meant}")
        exit_code = None if ctx.resilient_parsing else warm_commands.run(args)
        if exit_code is not None:
            raise click.exceptions.Exit(exit_code)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in _COMMANDS.items()])

    def invoke(self, ctx: click.Context) -> Any:
        with _printable_errors():
            try:
                return super().invoke(ctx)
            except KeyboardInterrupt as error:  # before or after a run, which handles it
                signum = error.signum if isinstance(error, Terminated) else signal.SIGINT
                raise click.exceptions.Exit(128 + signum) from None
            except (ModelError, UsageError) as error:
                raise _WrongCall(str(error)) from error
            except (Tf1SessionsError, OSError) as error:
                if isinstance(error, BrokenPipeError) and _reader_is_gone():
                    raise  # click ends by that, and says nothing: the reader (head) has what it wants
                raise click.ClickException(_without_folder(error) or str(error)) from error
            except (MemoryError, ImportError, RuntimeError) as error:
                if (shortage := _shortage(error)) is None:
                    raise
                raise click.ClickException(shortage) from None


def _without_folder(error: BaseException) -> str | None:
    """Return what to say of the error of ``os.getcwd()``, which names no file; None of others."""
    if isinstance(error, FileNotFoundError) and error.filename is None:
        try:
            os.getcwd()
        except FileNotFoundError:
            return "the current folder was deleted. Change to one that exists."
    return None


def _shortage(error: BaseException) -> str | None:
    """Return what to say of an error for want of memory or threads, and free what its frames hold; None of others."""
    kind, said = type(error).__name__, str(error)
    if isinstance(error, MemoryError):
        error.with_traceback(None)
    from tf1sessions.pools.resource_limits import limit_text

    limit = limit_text(f"{kind}: {said}")
    if isinstance(error, RuntimeError):
        step = f"({said}). {limit or 'End other programs'}."
        return f"there are too few threads for this command {step}" if said == "can't start new thread" else None
    if not isinstance(error, MemoryError) and limit is None:
        return None
    reason = f" ({said.strip().splitlines()[-1].strip()})" if said.strip() else ""
    return f"there is too little memory for this command{reason}. {limit or 'End other programs'}."


def _reader_is_gone() -> bool:
    """Whether stdout is a pipe that nothing reads from any more."""
    poll = select.poll()
    poll.register(1, 0)
    return any(event & select.POLLERR for _, event in poll.poll(0))


@click.command(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Help for a command: tf1sessions run --help",
)
@click.version_option(__version__, prog_name="tf1sessions")
def cli() -> None:
    """Keep TensorFlow 1 programs alive on today's TensorFlow.

    \b
    Run two old scripts at once, each in a process of its own:
        tf1sessions run train_a.py train_b.py -j 2

    \b
    Show what a TensorFlow 1 model contains:
        tf1sessions inspect frozen.pb

    \b
    Plan how four processes share this machine's GPUs and cores:
        tf1sessions memory -n 4

    \b
    Find what will go wrong on this machine or in a script:
        tf1sessions doctor train.py

    \b
    Find races between the threads of a server:
        tf1sessions races --time-limit 60 server.py
    """


def _end_process(exit_code: int) -> NoReturn:
    """End this process as Python ends, whatever its settings."""
    try:
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(exit_code)


def main() -> None:
    """Run the command that the arguments name; ends the process with the exit code."""
    open_closed_streams()
    end_by_signals()
    end_quickly()
    try:
        cli(prog_name="tf1sessions")
    except SystemExit as error:
        if not os.environ.get("PYTHONINSPECT"):
            raise
        _end_process(int(error.code or 0))  # Python would print the error, and not end by it


def execute(payload: Mapping[str, Any]) -> None:
    """Run the command with these arguments in a fork of the user's server, and end it."""
    sys.argv = ["tf1sessions", *payload["arguments"]]
    os.environ["TF1SESSIONS_WARM"] = "0"  # this is a warm process
    main()
