"""Writes what in migration_notes/port.md comes from the code: the diffs of an example, and the rules.

python tests/porting/rewriting/port_page.py
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from click.testing import CliRunner

from tf1sessions.cli.main import cli
from tf1sessions.porting.rewriting.descriptions import described

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "migration_notes" / "port.md"
_RULES = "## The rules\n"


def page(text: str) -> str:
    """The page with the diff behind each command that has one, what follows on stderr, and the rules at its end."""
    text = re.sub(
        r"(\$ tf1sessions (port .*)\n```\n\n```diff\n)(?:.*\n)*?(```\n[^`]*```text\n)(?:.*\n)*?```", _shown, text
    )
    return text.partition(_RULES)[0] + _RULES + rules()


def _shown(found: re.Match[str]) -> str:
    done = CliRunner().invoke(cli, found[2].split(), prog_name="tf1sessions")
    return f"{found[1]}{done.stdout}{found[3]}{done.stderr}```"


def rules() -> str:
    """A heading for each rule, by step, and what it does."""
    steps: dict[tuple[str, str], list[str]] = {}
    for step, found in described().items():
        for rule, what in found.items():
            steps.setdefault((rule, what), []).append(f"`{step}`")
    top = "\nThose of `py3` come first, then those of `v1` and of `clean`; `--explain` prints them with their places.\n"
    return top + "".join(
        f"\n### {rule}\n\nStep{'s' * (len(found) > 1)} {' and '.join(found)}. {what}\n"
        for (rule, what), found in steps.items()
    )


if __name__ == "__main__":
    os.chdir(ROOT)
    PAGE.write_text(page(PAGE.read_text("utf-8")), "utf-8")
