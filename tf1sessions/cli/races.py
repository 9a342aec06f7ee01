"""``tf1sessions races``: runs a program, and reports races between its threads; as text, JSON or SARIF."""

from __future__ import annotations

import json
import shlex
import shutil
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import click

from tf1sessions import __version__
from tf1sessions.cli.programs import (
    CONTEXT_SETTINGS,
    ProgramsCommand,
    check_programs,
    only_one,
    setting_option,
)
from tf1sessions.testing.reports import LEVELS, Kind, Report, failing_levels, how_to_accept
from tf1sessions.texts import printable

if TYPE_CHECKING:
    from tf1sessions.scripts.jobs import Job
    from tf1sessions.testing.runs import DetectedRun

__all__ = ["races"]

_COLOURS = dict(zip(LEVELS, ("red", "yellow", "blue"), strict=True))
_LOST = "The program may have replaced a function of Python's, closed files that it did not open, or filled the disk."


def _dashed(kind: str) -> str:
    return kind.replace(" ", "-")


_KINDS = {_dashed(kind.value): kind for kind in Kind}


# a kind may be given as reports print it, with spaces
@click.command(cls=ProgramsCommand, context_settings={**CONTEXT_SETTINGS, "token_normalize_func": _dashed})
@click.argument("scripts", nargs=-1, metavar="SCRIPT")
@click.option("-m", "module", metavar="MODULE", help="A module instead, as python -m takes it.")
@setting_option(
    "--time-limit",
    type=float,
    metavar="SECS",
    help="End the program after that: a server, which never ends by itself. Ctrl-C does so, too.",
)
@click.option(
    "--ignore",
    multiple=True,
    metavar="KIND",
    type=click.Choice(list(_KINDS)),
    help=f"Leave a kind out: {', '.join(_KINDS)}. May be given several times.",
)
@click.option(
    "--suppressions",
    metavar="FILE",
    help="A TOML file of races that are accepted: by kind, file, function or variable, each with its reason.",
)
@click.option(
    "--fail-on",
    type=click.Choice([f"{level}s" for level in LEVELS]),
    default="hazards",
    help="From which level on a report makes the exit code 1, or an order go wrong: hazards (the default), warnings "
    "too, or notes as well.",
)
@click.option(
    "--explore",
    "orders",
    type=click.IntRange(min=1),
    metavar="N",
    help="Run the program in so many orders of its threads, each from its beginning, until one goes wrong.",
)
@click.option("--replay", metavar="ORDER", help='Run it in one order, which --explore has printed: "C2 B".')
@click.option(
    "--json", "as_json", is_flag=True, help="Print JSON, and nothing else; the program's output goes to stderr."
)
@click.option("--sarif", "as_sarif", is_flag=True, help="Print SARIF 2.1.0 instead, for editors and code hosts.")
@click.pass_context
def races(
    ctx: click.Context,
    scripts: tuple[str, ...],
    module: str | None,
    time_limit: float | None,
    ignore: tuple[str, ...],
    suppressions: str | None,
    fail_on: str,
    orders: int | None,
    replay: str | None,
    as_json: bool,
    as_sarif: bool,
) -> None:
    """Run a script, module or notebook unmodified, and report races between its threads: where, why, the fix.

    What follows -- are the program's arguments. Races are two threads that add operations to one graph, a
    request handler that makes a graph grow, a session that is closed while another thread runs it, and the like. Each
    is reported with both threads and their stacks, also when nothing went wrong this time. What programs may do on
    purpose, and what is not certain, is a warning. Processes that the program starts are not watched.

    \b
    Exit code: 1 with a hazard (--fail-on), an order that goes wrong, or where what was
    found could not be written; without one (warnings and notes are none) the program's
    own if it ended by itself, else 0; 2 for a wrong call.

    \b
    Examples:
        tf1sessions races --time-limit 60 server.py -- --port 8080
        tf1sessions races --json -m package.train
        tf1sessions races --ignore variable-read-while-assigned async_training.py
        tf1sessions races --suppressions races.toml --sarif train.py > races.sarif
        tf1sessions races --explore 200 train.py
    """
    if as_json and as_sarif:
        raise click.UsageError("--json or --sarif: both are for other programs, which read one of them.")
    if module is None and not scripts:
        raise click.UsageError("Nothing to run: name a SCRIPT, or a module with -m.")
    check_programs("races", scripts, module)
    only_one("races", scripts)

    from tf1sessions.scripts.jobs import Job
    from tf1sessions.testing.runs import find_races
    from tf1sessions.testing.suppressions import read_suppressions

    rules = () if suppressions is None else read_suppressions(suppressions)
    job = Job(script=None if module else scripts[0], module=module, args=ctx.obj)
    kinds = [_KINDS[name] for name in ignore]
    if orders is not None or replay is not None:
        if orders is not None and replay is not None:
            raise click.UsageError(f"--explore {orders} and --replay {replay!r}: give one of them.")
        options = {"ignore": kinds, "suppressions": rules, "fail_on": fail_on, "time_limit": time_limit}
        _explore(ctx, job, orders or 1, replay, options, as_json, as_sarif)
    stdio = (0, 2, 2) if as_json or as_sarif else (0, 1, 2)
    found = find_races(job, ignore=kinds, suppressions=rules, time_limit=time_limit, stdio=stdio)
    _show(found, as_json, as_sarif)
    failing = failing_levels(fail_on, "--fail-on")
    fails = any(report.kind.level in failing for report in found.reports)
    ctx.exit(1 if fails or found.lost else found.exit_code if found.ended else 0)


def _explore(
    ctx: click.Context,
    job: Job,
    orders: int,
    replay: str | None,
    options: dict[str, Any],
    as_json: bool,
    as_sarif: bool,
) -> NoReturn:
    from tf1sessions.testing.exploring import explore_program

    stdio = (0, 2, 2) if as_json or as_sarif else (0, 1, 2)
    found = explore_program(job, orders, replay=replay, stdio=stdio, **options)
    if as_json:
        click.echo(json.dumps(found.to_json(), indent=1))
    elif as_sarif:
        from tf1sessions.testing.race_sarif import order_report, report

        is_order = found.failure and found.report is None
        reports = report([found.report] if found.report else [], __version__)
        order = order_report(found.failure, found.schedule, found.place, __version__)
        click.echo(json.dumps(order if is_order else reports, indent=1))
    elif found.failure:
        head, *lines = map(printable, found.failure.split("\n"))
        click.echo(f"\n{click.style('goes wrong', fg='red', bold=True)} {click.style(head, bold=True)}")
        for line in lines:
            click.echo(line)
        program = ["-m", job.module] if job.module else [job.shown]
        level = [] if options["fail_on"] == "hazards" else ["--fail-on", options["fail_on"]]
        again = shlex.join([*level, *program, *(["--", *job.args] if job.args else [])])
        click.echo(f"\nAgain: tf1sessions races --replay {shlex.quote(found.schedule)} {again}")
    elif found.covered:
        click.echo(f"\nNothing goes wrong in {found.covered}.")
    else:
        click.echo(f"\nThe exploration did not come to its end; exit code {found.exit_code}.")
    for rule in () if found.failure else found.unused:
        click.echo(f"unused suppression: {printable(str(rule))}", err=True)
    ctx.exit(1 if found.failure else 0 if found.covered else found.exit_code or 1)


def _summary(reports: Sequence[Report]) -> dict[str, int]:
    levels = [report.kind.level for report in reports]
    return {f"{level}s": levels.count(level) for level in LEVELS}


def _as_json(found: DetectedRun) -> dict[str, Any]:
    content = {"reports": [report.to_json() for report in found.reports], **_summary(found.reports)}
    return content | {
        "exit_code": found.exit_code,
        "ended_by_itself": found.ended,
        "forked": found.forked,
        "lost": found.lost,
    }


def _show(found: DetectedRun, as_json: bool, as_sarif: bool) -> None:
    if as_json:
        click.echo(json.dumps(_as_json(found), indent=1))
    elif as_sarif:
        from tf1sessions.testing.race_sarif import report

        click.echo(json.dumps(report(found.reports, __version__), indent=1))
    else:
        _print(found)
    if found.lost:
        click.echo(f"Error: what the detector found could not be written: {printable(found.lost)}. {_LOST}", err=True)
    for rule in found.unused:
        click.echo(f"unused suppression: {printable(str(rule))}", err=True)


def _print(found: DetectedRun) -> None:
    width = max(40, min(100, shutil.get_terminal_size().columns))
    for report in sorted(found.reports, key=lambda report: LEVELS.index(report.kind.level)):
        name = report.kind.level
        colour = _COLOURS[name]
        head, *lines = map(printable, report.describe(how_to_accept(report.kind)).split("\n"))
        click.echo(f"\n{click.style(name, fg=colour, bold=True)} {click.style(head, bold=True)}")
        for line in lines:
            if line.startswith(("  why: ", "  fix: ")):
                line = textwrap.fill(line, width, subsequent_indent="  ")
            click.echo(line)
    if found.forked:
        click.echo("\nThe program forked: what its child processes did was not watched.")
    if found.ended and found.exit_code:
        click.echo(f"\nThe program ended with exit code {found.exit_code}.")
    counts = [
        f"{count} {name[:-1] if count == 1 else name}"
        for name, count in _summary(found.reports).items()
        if count or name != "notes"
    ]
    click.echo(f"\n{', '.join(counts)}")
