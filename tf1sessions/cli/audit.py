"""``tf1sessions audit``: where code stands on its way from TensorFlow 1; prints text, JSON or SARIF, writes a page."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tf1sessions import __version__
from tf1sessions.cli.programs import CONTEXT_SETTINGS
from tf1sessions.garbage import collector_paused
from tf1sessions.source.files import is_missing
from tf1sessions.texts import ROWS, counted, figures, printable, quoted

if TYPE_CHECKING:
    from tf1sessions.porting.audit.record import Audit

__all__ = ["audit"]

#: How often the number of files that have been read is shown, in files. Arbitrary.
_EVERY = 50
_STEPS = {
    "native": "to plain TensorFlow 2: `tf1sessions port --to native`",
    "functions": "to functions, without sessions: `tf1sessions port --to functions`",
    "clean": "to TensorFlow 2's own names: `tf1sessions port --to clean`",
    "v1": "to tensorflow.compat.v1: `tf1sessions port --to v1`",
    "py3": "to Python 3: `tf1sessions port --to py3`, and audit again",
    "run": "as they are, under `tf1sessions run`",
    "none": "not yet: what is left by hand below comes first",
}
_VERDICTS = {
    "same": "the same in TensorFlow 2",
    "renamed": "the same by another name",
    "elsewhere": "elsewhere, and does the same",
    "v1": "in tf.compat.v1",
    "ours": "in tf1sessions",
    "moved": "at another inner address",
    "gone": "nowhere",
    "unknown": "not of TensorFlow 1.15.5",
}


@click.command(context_settings=CONTEXT_SETTINGS)
@click.argument("sources", nargs=-1, required=True, metavar="SRC...")
@click.option("--all-steps", is_flag=True, help="Also report how far the steps functions and native go.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, and nothing else.")
@click.option("--sarif", "as_sarif", is_flag=True, help="Print SARIF 2.1.0, for other tools, and nothing else.")
@click.option(
    "--html", "page", metavar="FILE", type=click.Path(dir_okay=False), help="Also write the report as an HTML page."
)
def audit(sources: tuple[str, ...], all_steps: bool, as_json: bool, as_sarif: bool, page: str | None) -> None:
    """Show where the code in SRC stands on its way from TensorFlow 1. Nothing of it is run.

    SRC are Python files, notebooks, and folders with all that is below them. For each file it says which step of
    `tf1sessions port` is in reach today, what became of the names of TensorFlow that it uses, and what is left to do by
    hand. What cannot be read is reported and does not end the rest.

    \b
    Exit code: 0 with nothing left by hand, 1 with places by hand, 2 for wrong usage or where a file or
    folder could not be opened.

    \b
    Examples:
        tf1sessions audit src
        tf1sessions audit train.py model.py --json
        tf1sessions audit . --html audit.html
        tf1sessions audit train.py --all-steps
    """
    if as_json and as_sarif:
        raise click.UsageError("--json or --sarif: both are for other programs, which read one of them.")
    for source in sources:
        if is_missing(source):
            raise click.UsageError(f"There is no file or folder {quoted(source)}.")
    if page is not None and not os.path.isdir(Path(page).absolute().parent):
        raise click.UsageError(f"--html {quoted(page)}: there is no such folder; make it first.")
    read = [source for source in sources if not os.path.isdir(source)]
    if page is not None:
        from tf1sessions.cli.html_pages import check_page, write_page

        check_page(page, read)

    with _counter(sys.stderr.isatty()) as progress, collector_paused():
        from tf1sessions.porting.audit.survey import survey
        from tf1sessions.sessions.machine import usable_cores

        found = survey(sources, progress, all_steps=all_steps, processes=usable_cores())
    if page is not None:
        from tf1sessions.porting.audit.html_report import page as page_of

        write_page(page, page_of(found, sources, __version__), read)
    if as_json:
        click.echo(json.dumps(found.to_json(), indent=1))
    elif as_sarif:
        from tf1sessions.porting.audit.sarif import report

        click.echo(json.dumps(report(found, __version__), indent=1))
    else:
        for line in _text(found):
            click.echo(line)
        if page is not None:
            click.echo(f"\nThe page is in {printable(page)}.")
    if found.incomplete or found.by_hand:
        raise click.exceptions.Exit(2 if found.incomplete else 1)


class _counter:
    """Shows on stderr how many files have been read: at once, and then again and again, on a terminal in one line."""

    def __init__(self, in_place: bool) -> None:
        self._in_place = in_place

    def __enter__(self) -> Callable[[int], None] | None:
        click.echo("Reading ..." + "\r" * self._in_place, err=True, nl=not self._in_place)
        return self._show if self._in_place else None

    def _show(self, number: int) -> None:
        if number % _EVERY == 0:
            click.echo(f"Reading ... {number:,} files\r", err=True, nl=False)

    def __exit__(self, *_: object) -> None:
        if self._in_place:
            click.echo(" " * 40 + "\r", err=True, nl=False)


# -- text -------------------------------------------------------------------------------------------------------------


def _text(found: Audit) -> Iterator[str]:
    """The audit as lines."""
    ported, lines = found.to_port(), sum(file.lines for file in found.files)
    yield (
        f"{counted(len(found.files), 'file')} with {counted(lines, 'line')}; "
        f"{counted(len(ported), 'file')} with TensorFlow or Python 2"
    )
    if not ported:
        yield "Nothing is to be ported."
        return
    yield from ("", "How far the files go today, with what they import:")
    yield from figures(
        ["files", "step", ""],
        [[count, step, _STEPS[step]] for step, count in found.reaches().items() if count],
    )
    if "native" not in found.steps and found.reaches()["clean"]:
        yield "How far the steps functions and native go from there: `tf1sessions audit SRC --all-steps`."
    if verdicts := found.verdicts():
        yield from ("", "The names of TensorFlow that they use:")
        yield from figures(["uses", "they are"], [[count, _VERDICTS[name]] for name, count in verdicts.items()])
    if constructs := found.constructs():
        yield from ("", "What they do in TensorFlow 1's way, and that stays in tf.compat.v1:")
        yield from figures(["places", "files", ""], [[*counts, kind] for kind, counts in constructs.items()])
    yield from _by_hand(found)
    yield from _stays(found)
    yield from _order(found)


def _by_hand(found: Audit) -> Iterator[str]:
    """The places that need a hand, the most frequent thing first."""
    groups: dict[tuple[str, str | None], list[str]] = {}
    for file in found.files:
        for place in file.places:
            if place.by_hand:
                groups.setdefault((place.what, place.fix), []).append(str(place.line))
    if not groups:
        yield from ("", "Nothing is left to do by hand.")
        return
    files = sum(bool(file.by_hand) for file in found.files)
    yield from ("", f"By hand: {counted(found.by_hand, 'place')} in {counted(files, 'file')}")
    ordered = sorted(groups.items(), key=lambda item: -len(item[1]))
    for (what, fix), lines in ordered[:ROWS]:
        yield printable(f"  {what}: {fix}" if fix else f"  {what}")
        more = f" and {len(lines) - 3:,} more" if len(lines) > 3 else ""
        yield printable(f"      {'; '.join(lines[:3])}{more}")
    if len(ordered) > ROWS:
        yield f"  and {len(ordered) - ROWS:,} more things; --json has them all"


def _stays(found: Audit) -> Iterator[str]:
    """Return why files do not reach the last step."""
    stays = [file for file in found.files if file.stays is not None]
    if stays:
        yield from ("", "What keeps files from the next step; the guide says what to do about each:")
    for file in stays[:ROWS]:
        yield printable(f"  {file.file}: {file.stays}")
    if len(stays) > ROWS:
        yield f"  and {len(stays) - ROWS:,} more; --json has them all"


def _order(found: Audit) -> Iterator[str]:
    """The files in the order of a port, those with something left by hand marked."""
    ported = found.to_port()
    yield from ("", "In which order the files go, imports first:")
    rows: list[list[Any]] = []
    for number, file in enumerate(ported[:ROWS], 1):
        waits = f"waits for {file.waits_for}" if file.waits_for and not file.by_hand else ""
        hand = f"{counted(file.by_hand, 'place')} by hand" if file.by_hand else waits
        rows.append([number, printable(file.file), file.stands, file.reach_with_imports or "none", printable(hand)])
    yield from figures(["", "file", "is now", "reaches", ""], rows)
    if len(ported) > ROWS:
        yield f"and {len(ported) - ROWS:,} more; --json has them all"
