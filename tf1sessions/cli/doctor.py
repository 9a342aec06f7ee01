"""``tf1sessions doctor``: what on this machine, or in a script, will bite; as text or JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from tf1sessions.cli.one_program import CONTEXT_SETTINGS, ProgramCommand, check_time_limit
from tf1sessions.errors import PythonTwoError, ScriptUsageError
from tf1sessions.texts import printable

if TYPE_CHECKING:
    from tf1sessions.doctor.findings import Finding
    from tf1sessions.doctor.machine import Facts
    from tf1sessions.doctor.source import Program

__all__ = ["doctor"]

_STYLES = {"error": "bold red", "warning": "bold yellow", "note": "bold cyan"}


@click.command(cls=ProgramCommand, context_settings=CONTEXT_SETTINGS)
# fmt: off
@click.argument("words", nargs=-1, metavar="[SCRIPT [ARGS]...]", type=click.UNPROCESSED)
@click.option(
    "-m", "module", metavar="MODULE", help="A module, as python -m takes it; all that follows are its arguments."
)
@click.option(
    "--run",
    "runs",
    is_flag=True,
    help="Run the program too, with its arguments, and tell what it does. Its output goes where it always goes.",
)
@click.option(
    "--time-limit",
    type=float,
    metavar="SECS",
    callback=check_time_limit,
    help="With --run: end a program after that.",
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print JSON, and nothing else; a program's output goes to stderr."
)
@click.option("--ignore", multiple=True, metavar="RULE", help="Leave a rule out. May be given several times.")
@click.option("--list-rules", is_flag=True, help="Say what is looked for in scripts, and end.")
# fmt: on
def doctor(
    words: tuple[str, ...],
    module: str | None,
    runs: bool,
    time_limit: float | None,
    as_json: bool,
    ignore: tuple[str, ...],
    list_rules: bool,
) -> None:
    """Say what on this machine, and in a script, module or notebook, will bite: where, why, and the fix.

    Without a script only the machine is looked at. A script is read, with the modules beside it that it imports,
    and not run unless --run is given. The comment `# tf1sessions: ignore[rule]` on a line suppresses a rule there.

    \b
    Exit code: 0 without errors, 1 with a finding that is one, 2 for a wrong call.

    \b
    Examples:
        tf1sessions doctor
        tf1sessions doctor train.py
        tf1sessions doctor --run train.py --epochs 1
        tf1sessions doctor --json -m package.train
        tf1sessions doctor --list-rules
    """
    if list_rules:
        _list_rules(as_json)
        return
    script = words[0] if words and module is None else None
    arguments = words if module is not None else words[1:]
    if runs and script is None and module is None:
        raise click.UsageError("--run needs a SCRIPT or -m MODULE.")
    if time_limit is not None and not runs:
        raise click.UsageError("--time-limit is for --run: without it nothing is run.")

    from tf1sessions.doctor.check import check, without_suppressed
    from tf1sessions.doctor.findings import Severity, in_order
    from tf1sessions.doctor.machine import examine, facts
    from tf1sessions.doctor.source import read_module, read_script

    program: Program | None = None
    try:
        if module is not None:
            program = read_module(module)
        elif script is not None:
            program = read_script(script)
    except PythonTwoError as error:
        raise ScriptUsageError(str(error)) from error  # here the call is wrong: there is nothing to look at
    found = [] if program is None else check(program, ignore)
    seen = facts()
    exit_code = None
    if runs:
        exit_code, watched = _watch(script, module, arguments, as_json, time_limit)
        found = [*watched, *found]
    found = in_order(_once(without_suppressed([*examine(seen), *found], program, ignore)))
    if as_json:
        click.echo(json.dumps(_as_json(seen, found, exit_code), indent=1))
    else:
        _print(seen, found, exit_code)
    if any(finding.severity is Severity.ERROR for finding in found):
        raise click.exceptions.Exit(1)


def _watch(
    script: str | None, module: str | None, arguments: Sequence[str], quiet: bool, time_limit: float | None
) -> tuple[int, list[Finding]]:
    """Runs the program; its exit code and what it did."""
    from tf1sessions.doctor.dynamic import watch
    from tf1sessions.scripts.jobs import Job, JobSettings

    settings = JobSettings(time_limit=time_limit)
    job = Job(script=script, module=module, args=tuple(arguments), settings=settings)
    return watch(job, stdio=(0, 2, 2) if quiet else (0, 1, 2))


def _once(findings: Sequence[Finding]) -> list[Finding]:
    """Each rule once at a place: what was seen while the program ran, before what its text tells."""
    known: set[Any] = set()
    kept = []
    for finding in findings:
        key = (finding.rule, finding.place) if finding.place is not None else object()
        if key not in known:
            known.add(key)
            kept.append(finding)
    return kept


def _summary(findings: Sequence[Finding]) -> dict[str, int]:
    counts = {"error": 0, "warning": 0, "note": 0}
    for finding in findings:
        counts[finding.severity.name.lower()] += 1
    return counts


def _as_json(seen: Facts, findings: Sequence[Finding], exit_code: int | None) -> dict[str, Any]:
    counts = {f"{name}s": count for name, count in _summary(findings).items()}
    told = {"machine": seen.to_json(), "findings": [finding.to_json() for finding in findings], **counts}
    return told if exit_code is None else told | {"exit_code": exit_code}


def _list_rules(as_json: bool) -> None:
    from tf1sessions.doctor.check import MACHINE_RULES, while_running
    from tf1sessions.doctor.rules.registry import RULES

    if as_json:
        rules = [
            {
                "rule": rule.name,
                "severity": rule.severity.name.lower(),
                "what": rule.what,
                "why": rule.why,
                "fix": rule.fix,
            }
            for rule in RULES.values()
        ]
        click.echo(json.dumps(rules, indent=1))
        return
    width = max(map(len, RULES))
    for rule in RULES.values():
        click.echo(f"{rule.name:{width}}  {rule.severity.name.lower():7}  {rule.what}")
    for title, names in (("While it runs", while_running()), ("On the machine", MACHINE_RULES)):
        click.echo(f"{title}: {', '.join(sorted(names))}.")


# -- rich -------------------------------------------------------------------------------------------------------------


def _print(seen: Facts, findings: Sequence[Finding], exit_code: int | None) -> None:
    from rich.console import Console

    console = Console(highlight=False, markup=False)
    with console.capture() as captured:
        console.print(_machine(seen))
        for finding in findings:
            console.print(*_finding(finding), sep="\n")
        if exit_code:
            console.print(f"\nThe program ended with exit code {exit_code}.")
        counts = [f"{count} {name}{'s' * (count != 1)}" for name, count in _summary(findings).items()]
        console.print(f"\n{', '.join(counts)}")
    for line in captured.get().splitlines():
        click.echo(line.rstrip())  # rich fills lines up to the width


def _machine(seen: Facts) -> Any:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(overflow="fold")
    table.add_column(overflow="fold")
    for name, text in seen.rows():
        table.add_row(Text(printable(name)), Text(printable(text)))  # names of processes are no markup
    return table


def _finding(finding: Finding) -> Iterator[Any]:
    """A heading, what is there, why it bites, and the fix."""
    from rich.padding import Padding
    from rich.text import Text

    from tf1sessions.doctor.findings import Source

    name = finding.severity.name.lower()
    nowhere = "this machine" if finding.source is Source.MACHINE else "the run"
    where = nowhere if finding.place is None else str(finding.place)
    yield Text.assemble("\n", (name, _STYLES[name]), " ", (finding.rule, "bold"), "  ", printable(where))
    lines = [("", finding.title)]
    if finding.others:
        lines.append(("see: ", ", ".join(map(str, finding.others))))
    lines += [("why: ", finding.why), ("fix: ", finding.fix)]
    for start, text in lines:
        yield Padding(Text.assemble((start, "bold"), printable(text)), (0, 0, 0, 2))
