"""``tf1sessions port``: a program's source code for today's TensorFlow, as a diff, in place, or as a copy."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tf1sessions.cli.programs import setting_option
from tf1sessions.source.program import Unread

if TYPE_CHECKING:
    from tf1sessions.cli.port_differences import PythonDifference
    from tf1sessions.cli.port_report import PortReport
    from tf1sessions.porting.rewriting.rewrite import StepPort
    from tf1sessions.porting.rewriting.verification import StepVerification
    from tf1sessions.source.files import SourceText

__all__ = ["port"]

_NAMES_SHOWN = 5
#: In the order of tf1sessions.porting.rewriting.steps, which is imported when the command runs.
_STEPS = ("py3", "v1", "clean", "functions", "native")


@click.command(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.argument("sources", metavar="SRC...", nargs=-1, required=True)
@click.option(
    "--to", "to", metavar="STEP", type=click.Choice(_STEPS), required=True, help="py3, v1, clean, functions or native."
)
@click.option(
    "--inputs",
    metavar="tf.data",
    type=click.Choice(["tf.data"]),
    help="Queues that are filled from files or arrays become tf.data, from step v1 on.",
)
@click.option("--diff", "as_diff", is_flag=True, help="Print a diff of each step, and write nothing. The default.")
@click.option("--write", is_flag=True, help="Write the files in place: all of them, or none.")
@click.option("--out", metavar="DIR", help="Write a copy of the whole tree to DIR, which is not there yet.")
@click.option("--force", is_flag=True, help="With --write: files with changes that git does not have, too.")
@click.option(
    "--verify",
    "verified",
    metavar="COMMAND",
    help='Run a script of the sources ("train.py --steps 10") before and after each step, and keep the steps after '
    "which it computes the same.",
)
@click.option(
    "--trace", metavar="FILE", help="With --verify: compare the program with this recording, made on an older machine."
)
@setting_option("--time-limit", type=float, metavar="SECS", help="With --verify: end a run after that.")
@click.option("--explain", is_flag=True, help="Print each change with its rule, what the rule does, and its page.")
@click.option("--json", "as_json", is_flag=True, help="Print what was done as JSON, and nothing else.")
def port(
    sources: tuple[str, ...],
    to: str,
    inputs: str | None,
    as_diff: bool,
    write: bool,
    out: str | None,
    force: bool,
    verified: str | None,
    trace: str | None,
    time_limit: float | None,
    explain: bool,
    as_json: bool,
) -> None:
    """Port the code of TensorFlow 1 programs step by step; each step leaves a program that runs.

    SRC are files, notebooks and folders. The steps: py3, Python 2 becomes Python 3; v1, plain Python runs it on today's
    TensorFlow, by tensorflow.compat.v1; clean, what has a name in TensorFlow 2 is called by that, and old libraries are
    replaced; functions, requests to a session become functions; native, plain TensorFlow 2. --to v1 makes the steps up
    to v1; with --inputs tf.data, queues become data sets before step functions. Formatting and comments stay. What no
    rule can change is listed with its line.

    \b
    Exit code: 0 when nothing is left to do by hand, 1 when something is, when a file could not be read, or when a step
    was not kept, 2 for wrong usage.

    \b
    Examples:
        tf1sessions port src/ --to v1
        tf1sessions port src/ --to v1 --write
        tf1sessions port train.py models/ --to clean --out ported/
        tf1sessions port src/ --to clean --write --verify "src/train.py --steps 10"
        tf1sessions port train.py --to native --inputs tf.data
    """
    _check(click.get_current_context().params)
    from tf1sessions.cli.port_report import PortReport
    from tf1sessions.porting.rewriting.requirements_files import with_requirements
    from tf1sessions.porting.rewriting.rewrite import port as ported
    from tf1sessions.porting.rewriting.writing import check_out, over_all, write_copy, write_in_place

    paths = [Path(source) for source in sources]
    read = _read(paths)
    if out is not None:
        check_out(paths, Path(out))
    verify = None if verified is None else _verifier(paths, verified, trace, time_limit)
    steps = with_requirements(
        ported(read, to, [path for path in paths if os.path.isdir(path)], inputs=inputs is not None), paths
    )
    if write and not force:
        _check_committed([file.before for file in over_all(steps) if file.is_changed])
    verifications = [] if verify is None else verify(steps)
    if any(not each.is_kept for each in verifications):
        steps = steps[: len(verifications) - 1]
    files = over_all(steps)
    if write:
        write_in_place(files)
    elif out is not None:
        write_copy(paths, files, Path(out))
    changed = [file.before.path for file in files if file.is_changed]
    report = PortReport(
        to=to,
        steps=tuple(steps),
        unread=steps[-1].unread if steps else tuple(each for each in read if isinstance(each, Unread)),
        differences=_differences(steps),
        written=tuple(changed) if write or out is not None else (),
        out=out,
        verifications=tuple(verifications),
        trace=trace,
    )
    if as_json:
        click.echo(json.dumps(report.as_dict(), indent=1))
    else:
        _print(report, is_diff=not (write or out), explain=explain)
        if write:
            _warn_outside_git(changed)
    if not report.is_complete:
        raise click.exceptions.Exit(1)


def _check(given: Mapping[str, Any]) -> None:
    """Refuse options that do not go together."""
    if given["as_diff"] + given["write"] + (given["out"] is not None) > 1:
        raise click.UsageError("--diff, --write and --out exclude each other.")
    if given["force"] and not given["write"]:
        raise click.UsageError("--force is for --write.")
    if given["inputs"] is not None and given["to"] == "py3":
        raise click.UsageError("--inputs is for --to v1 and the steps after it.")
    if given["verified"] is None and (given["trace"] is not None or given["time_limit"] is not None):
        raise click.UsageError("--trace and --time-limit are for --verify.")


def _read(paths: Sequence[Path]) -> list[SourceText | Unread]:
    from tf1sessions.errors import ScriptUsageError
    from tf1sessions.source import files
    from tf1sessions.texts import quoted

    for path in paths:
        if files.is_missing(path):
            raise ScriptUsageError(f"there is no file or folder {quoted(str(path))}", where="SRC")
    read = [each if isinstance(each, Unread) else files.read(each) for each in files.find(paths)]
    if not read:
        raise ScriptUsageError(
            f"there is no Python file and no notebook in {' '.join(quoted(str(path)) for path in paths)}", where="SRC"
        )
    return read


def _verifier(
    paths: Sequence[Path], command: str, trace: str | None, time_limit: float | None
) -> Callable[[Sequence[StepPort]], list[StepVerification]]:
    """Return a function that verifies steps by running a command, whose words are checked now."""
    from tf1sessions.porting.rewriting.verification import VerifiedProgram, verify_steps
    from tf1sessions.porting.traces import read

    program = VerifiedProgram.parsed(command, paths)
    if trace is not None:
        read(trace).close()
    return lambda steps: verify_steps(steps, paths, program, trace=trace, time_limit=time_limit)


def _differences(steps: Sequence[StepPort]) -> tuple[PythonDifference, ...]:
    from tf1sessions.cli.port_differences import differences

    if not steps or steps[-1].step == "py3":  # it is run by tf1sessions run
        return ()
    return tuple(differences(file.after for file in steps[-1].files))


def _check_committed(sources: Sequence[SourceText]) -> None:
    from tf1sessions.errors import UsageError
    from tf1sessions.porting.rewriting.committed import uncommitted

    try:
        found = uncommitted([source.path for source in sources])
    except OSError as error:
        raise UsageError(str(error), next_step="Mend that, or write with --force.") from error
    if found:
        raise UsageError(
            f"git does not have what is in {_named(found)}, which would be changed",
            where="--write",
            next_step="Commit first, so that `git diff` shows the port alone, or write with --force.",
        )


def _warn_outside_git(written: Sequence[Path]) -> None:
    from tf1sessions.porting.rewriting.committed import outside_git
    from tf1sessions.texts import printable

    found = outside_git(written)
    if found:
        text = f"no git repository has what was in {_named(found)} before; next time, `git init` and commit first"
        click.echo(f"tf1sessions: {printable(text)}", err=True)


def _named(paths: Sequence[Path]) -> str:
    shown = ", ".join(str(path) for path in paths[:_NAMES_SHOWN])
    return shown + (f" and {len(paths) - _NAMES_SHOWN:,} more" if len(paths) > _NAMES_SHOWN else "")


def _print(report: PortReport, is_diff: bool, explain: bool) -> None:
    from tf1sessions.cli.port_report import diffs, explanations, summary
    from tf1sessions.texts import printable

    if is_diff:
        colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
        for line in diffs(report.steps, colour):
            click.echo(line, nl=False)
    lines = [*summary(report), *(explanations(report) if explain else ())]
    for line in lines:
        click.echo(printable(line), err=is_diff)  # stdout is the diff's, for patch
