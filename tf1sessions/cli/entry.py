"""The entry point of the command ``tf1sessions``, which imports little before a run has asked for what takes time."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command that the arguments name; ends the process with the exit code."""
    try:
        from tf1sessions.cli.closed_streams import open_closed_streams
        from tf1sessions.scripts import early_calls

        open_closed_streams()
        early_calls.begin(sys.argv[1:])
        from tf1sessions.cli import main as commands  # while the server makes a fork

        commands.main()
    except KeyboardInterrupt:  # before the command heeds it
        sys.exit(130)
