"""Arguments of commands that take programs: ``SCRIPT... [-- ARGS]``, or ``-m MODULE [-- ARGS]``."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from tf1sessions.texts import quoted

__all__ = [
    "CONTEXT_SETTINGS",
    "FiniteRange",
    "ProgramsCommand",
    "check_programs",
    "only_one",
    "seconds_option",
    "setting_option",
]

_Function = TypeVar("_Function", bound=Callable[..., Any])

_PROGRAMS = (".py", ".ipynb", ".toml")
CONTEXT_SETTINGS: dict[str, Any] = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


class ProgramsCommand(click.Command):
    """Keeps what follows the first ``--`` in ``ctx.obj``: these are the programs' arguments, whatever they look like.

    The same words stand for a program and for its argument in one place only, so that no second script is ever taken
    for an argument of the first, and no argument for an option of ours.
    """

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        return [*super().collect_usage_pieces(ctx), "[-- ARGS]"]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.obj = ()
        if "--" in args:
            cut = args.index("--")
            args, ctx.obj = args[:cut], tuple(args[cut + 1 :])
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            if not isinstance(error, click.NoSuchOption) and "extra argument" not in error.message:
                raise
            text = f"{error.format_message().rstrip('.')}. Arguments for the scripts themselves come after --."
            raise click.UsageError(text, ctx) from None


def check_programs(command: str, scripts: Sequence[str], module: str | None) -> None:
    """Refuses scripts beside a module, programs without a name, and arguments in the place of scripts.

    Raises:
        ScriptUsageError: The message says how arguments are written.
    """
    from tf1sessions.errors import ScriptUsageError

    if module is not None and scripts:
        raise ScriptUsageError(
            f"both -m {quoted(module)} and {' '.join(map(quoted, scripts))}",
            next_step="Give one or the other; a module's own arguments come after --.",
        )
    if module == "" or "" in scripts:
        raise ScriptUsageError("the name of a program is empty", where="-m" if module == "" else "SCRIPT")
    for number, script in enumerate(scripts):
        if number and not script.endswith(_PROGRAMS) and not os.path.lexists(script):
            raise ScriptUsageError(f"there is no script {quoted(script)}", next_step=_meant(command, scripts, number))


def only_one(command: str, scripts: Sequence[str]) -> None:
    """Refuses several programs for a command that takes one.

    Raises:
        UsageError: Several are named; the message says how arguments are written.
    """
    from tf1sessions.errors import UsageError

    if len(scripts) > 1:
        raise UsageError(
            f"{len(scripts)} programs are named, and {command} takes one: {', '.join(map(quoted, scripts))}",
            next_step=_meant(command, scripts, 1),
        )


def _meant(command: str, scripts: Sequence[str], cut: int) -> str:
    words = map(quoted, ["tf1sessions", command, *scripts[:cut], "--", *scripts[cut:]])
    return f"Arguments come after --: {' '.join(words)}"


def setting_option(*names: str, **attributes: Any) -> Callable[[_Function], _Function]:
    """An option that is one of the jobs' settings, and checked as such."""
    return click.option(*names, callback=_check_setting, **attributes)


def _check_setting(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
    from tf1sessions.scripts.jobs import check_setting

    if value is None:
        return None
    try:
        return check_setting(str(param.name), value)
    except ValueError as error:
        raise click.BadParameter(f"{error}.") from None


class FiniteRange(click.FloatRange):
    """A number in a range, and neither ``nan``, which no bound keeps out, nor infinite."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a finite number.", param, ctx)
        return number


def seconds_option(name: str, **attributes: Any) -> Callable[[_Function], _Function]:
    """An option that is a number of seconds."""
    return click.option(name, type=float, metavar="SECS", callback=_check_seconds, **attributes)


def _check_seconds(ctx: click.Context, param: click.Parameter, value: float) -> float:
    from tf1sessions.scripts.jobs import MAX_SECS

    if not 0 < value <= MAX_SECS:
        raise click.BadParameter(f"{value!r} is not a number of seconds above 0, and at most {MAX_SECS:,}.")
    return value
