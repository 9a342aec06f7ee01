"""What commands share that take one program, ``SCRIPT [ARGS]...`` or ``-m MODULE [ARGS]...``."""

from __future__ import annotations

from typing import Any

import click

__all__ = ["CONTEXT_SETTINGS", "ProgramCommand", "check_time_limit"]

#: What follows the script is the script's.
CONTEXT_SETTINGS: dict[str, Any] = {
    "help_option_names": ["-h", "--help"],
    "max_content_width": 100,
    "allow_interspersed_args": False,
    "ignore_unknown_options": False,
}


class ProgramCommand(click.Command):
    """Keeps what follows ``-m MODULE`` apart: it is the module's, whatever it looks like."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        with_value = {name for param in self.params if not getattr(param, "is_flag", True) for name in param.opts}
        at = 0
        while at < len(args) and args[at].startswith("-") and not args[at].startswith("-m"):
            at += 2 if args[at] in with_value else 1
        if at < len(args) and args[at].startswith("-m"):
            args.insert(at + (2 if args[at] == "-m" else 1), "--")
        return super().parse_args(ctx, args)


def check_time_limit(ctx: click.Context, param: click.Parameter, value: float | None) -> float | None:
    """The callback of an option ``--time-limit``."""
    from tf1sessions.scripts.jobs import check_setting

    try:
        return None if value is None else check_setting("time_limit", value)
    except ValueError as error:
        raise click.BadParameter(f"{error}.") from None
