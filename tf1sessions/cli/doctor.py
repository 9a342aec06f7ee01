"""``tf1sessions doctor``: finds what will go wrong on this machine or in a script; prints text or JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from tf1sessions.cli.programs import CONTEXT_SETTINGS, ProgramsCommand, check_programs, setting_option
from tf1sessions.errors import PythonTwoError, ScriptUsageError
from tf1sessions.texts import printable, quoted

if TYPE_CHECKING:
    from tf1sessions.doctor.findings import Finding
    from tf1sessions.doctor.machine import Facts

__all__ = ["doctor"]

_STYLES = {"error": "bold red", "warning": "bold yellow", "note": "bold cyan"}


@click.command(cls=ProgramsCommand, context_settings=CONTEXT_SETTINGS)
@click.argument("scripts", nargs=-1, metavar="[SCRIPT...]")
@click.option("-m", "module", metavar="MODULE", help="A module instead, as python -m takes it.")
@click.option(
    "--run",
    "runs",
    is_flag=True,
    help="Run each program too, with the arguments after --, and report what it does. Its output is not redirected.",
)
@setting_option("--time-limit", type=float, metavar="SECS", help="With --run: end a program after that.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print JSON, and nothing else; a program's output goes to stderr."
)
@click.option(
    "--machine",
    "machine_too",
    is_flag=True,
    help="Show versions, memory and GPUs of this machine beside a script, too.",
)
@click.option("--ignore", multiple=True, metavar="RULE", help="Leave a rule out. May be given several times.")
@click.option("--list-rules", is_flag=True, help="List the rules for scripts, and end.")
@click.pass_context
def doctor(
    ctx: click.Context,
    scripts: tuple[str, ...],
    module: str | None,
    runs: bool,
    time_limit: float | None,
    as_json: bool,
    machine_too: bool,
    ignore: tuple[str, ...],
    list_rules: bool,
) -> None:
    """Find what will go wrong on this machine, and in scripts, modules or notebooks: where, why, and the fix.

    Without a script only the machine is looked at. Scripts are read, with the modules beside them that they import,
    and not run unless --run is given; what follows -- are their arguments then. The comment
    `# tf1sessions: ignore[rule]` on a line suppresses a rule there.

    \b
    Exit code: 0 without errors, 1 with an error among the findings, 2 for wrong usage.

    \b
    Examples:
        tf1sessions doctor
        tf1sessions doctor train.py evaluate.py
        tf1sessions doctor --run train.py -- --epochs 1
        tf1sessions doctor --json -m package.train
        tf1sessions doctor --list-rules
    """
    if list_rules:
        _list_rules(as_json)
        return
    check_programs("doctor", scripts, module)
    arguments: tuple[str, ...] = ctx.obj
    if runs and not scripts and module is None:
        raise click.UsageError("--run needs a SCRIPT or -m MODULE.")
    if time_limit is not None and not runs:
        raise click.UsageError("--time-limit is for --run: without it nothing is run.")
    if arguments and not runs:
        raise click.UsageError(
            f"The arguments {' '.join(map(quoted, arguments))} are for --run: without it nothing is run."
        )

    from tf1sessions.doctor.check import check, without_suppressed
    from tf1sessions.doctor.findings import Severity, in_order
    from tf1sessions.doctor.machine import examine, facts
    from tf1sessions.source.program import read_module, read_script

    try:  # all of them, before the first is run
        programs = [read_module(module)] if module is not None else [read_script(script) for script in scripts]
        read = [finding for program in programs for finding in check(program, ignore)]
    except PythonTwoError as error:
        raise ScriptUsageError(str(error)) from error  # here the call is wrong: there is nothing to look at
    seen = facts()
    found = without_suppressed(examine(seen), None, ignore)
    ended: list[tuple[str, int]] = []
    stopped: list[int] = []
    names = scripts or (str(module),)
    if runs:
        for name, program in zip(names, programs, strict=True):
            exit_code, watched = _watch(name, module is not None, arguments, as_json, time_limit, stopped)
            found += without_suppressed(watched, program, ignore)
            ended.append((name, exit_code))
            if stopped:  # by a signal, which is for the command
                break
    found = in_order(_once([*found, *read]))
    if as_json:
        click.echo(json.dumps(_as_json(seen, found, ended), indent=1))
    else:
        _print(seen if machine_too or not programs else None, found, ended)
    if stopped and (left := names[len(ended) :]):
        click.echo(f"tf1sessions: interrupted; not run: {', '.join(map(quoted, left))}", err=True)
        raise click.exceptions.Exit(128 + stopped[0])
    if any(finding.severity is Severity.ERROR for finding in found):
        raise click.exceptions.Exit(1)


def _watch(
    name: str,
    is_module: bool,
    arguments: Sequence[str],
    quiet: bool,
    time_limit: float | None,
    stopped: list[int],
) -> tuple[int, list[Finding]]:
    """Runs a program; its exit code and what it did. Signals that this process hears are added to ``stopped``."""
    from tf1sessions.doctor.dynamic import watch
    from tf1sessions.scripts.events import Event, Interrupted
    from tf1sessions.scripts.jobs import Job, JobSettings

    def listen(event: Event) -> None:
        if isinstance(event, Interrupted):
            stopped.append(event.signum)

    settings = JobSettings(time_limit=time_limit)
    script, module = (None, name) if is_module else (name, None)
    job = Job(script=script, module=module, args=tuple(arguments), settings=settings)
    return watch(job, stdio=(0, 2, 2) if quiet else (0, 1, 2), listener=listen)


def _once(findings: Sequence[Finding]) -> list[Finding]:
    """Each rule once at a place: what was seen while the program ran, before what its text shows."""
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


def _as_json(seen: Facts, findings: Sequence[Finding], ended: Sequence[tuple[str, int]]) -> dict[str, Any]:
    counts = {f"{name}s": count for name, count in _summary(findings).items()}
    report = {"machine": seen.to_json(), "findings": [finding.to_json() for finding in findings], **counts}
    if len(ended) > 1:
        return report | {"exit_codes": [{"program": name, "exit_code": exit_code} for name, exit_code in ended]}
    return report | {"exit_code": ended[0][1]} if ended else report


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


def _print(seen: Facts | None, findings: Sequence[Finding], ended: Sequence[tuple[str, int]]) -> None:
    from rich.console import Console

    console = Console(highlight=False, markup=False, emoji=False)
    with console.capture() as captured:
        if seen is not None:
            console.print(_machine(seen))
        for finding in findings:
            console.print(*_finding(finding), sep="\n")
        for name, exit_code in ended:
            if exit_code:
                which = "The program" if len(ended) == 1 else printable(name)
                console.print(f"\n{which} ended with exit code {exit_code}.")
        counts = [f"{count} {name}{'s' * (count != 1)}" for name, count in _summary(findings).items()]
        console.print(f"\n{', '.join(counts)}")
    for line in captured.get().removeprefix("\n").splitlines():
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
    """A heading, what is there, why it matters, and the fix."""
    from rich.padding import Padding
    from rich.text import Text

    from tf1sessions.doctor.findings import FindingSource

    name = finding.severity.name.lower()
    nowhere = "this machine" if finding.source is FindingSource.MACHINE else "the run"
    where = nowhere if finding.place is None else str(finding.place)
    yield Text.assemble("\n", (name, _STYLES[name]), " ", (finding.rule, "bold"), "  ", printable(where))
    lines = [("", finding.title)]
    if finding.others:
        lines.append(("see: ", ", ".join(map(str, finding.others))))
    lines += [("why: ", finding.why), ("fix: ", finding.fix)]
    for start, text in lines:
        yield Padding(Text.assemble((start, "bold"), printable(text)), (0, 0, 0, 2))
