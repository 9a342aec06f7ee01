"""``tf1sessions memory``: how the sessions of a machine share it, as tables or JSON; and what they really hold."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from tf1sessions.cli.programs import FiniteRange
from tf1sessions.texts import printable

if TYPE_CHECKING:
    from tf1sessions.sessions.division import Division
    from tf1sessions.sessions.gpus import Gpu, Machine

__all__ = ["memory"]


def _numbers(ctx: click.Context, param: click.Parameter, value: str) -> str | tuple[int, ...]:
    if value == "auto":
        return value
    try:
        return tuple(int(part) for part in value.split(",")) if value != "none" else ()
    except ValueError:
        raise click.BadParameter(f"{value!r} is not 'auto', 'none' or GPU numbers such as 0,1.") from None


#: The largest number of MiB or seconds, and the rows that are shown of a table. Arbitrary.
_MOST, _MOST_ROWS = 1_000_000_000, 500


class _Number(FiniteRange):
    """A number of at most :data:`_MOST`."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        if number > _MOST:
            self.fail(f"{value!r} is more than {_MOST:,}.", param, ctx)
        return number


@click.command(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option(
    "-n",
    "--workers",
    type=click.IntRange(min=1),
    default=1,
    metavar="N",
    help="How many processes share. Default: 1.",
)
@click.option(
    "--gpus",
    default="auto",
    metavar="LIST",
    callback=_numbers,
    help="auto, none, or numbers as CUDA counts them: 0,1. Default: auto, all that CUDA shows.",
)
@click.option(
    "--fraction",
    type=_Number(min=0, min_open=True),
    metavar="F",
    help="Share of a GPU for each worker, above 0, at most 1. Default: equal parts of what is free.",
)
@click.option("--limit-mb", type=_Number(min=0, min_open=True), metavar="MB", help="The same in MiB, as a hard limit.")
@click.option("--growth", is_flag=True, help="Memory is taken as it is needed; with --fraction, up to that.")
@click.option(
    "--reserve", type=_Number(min=0), default=0.0, metavar="MB", help="MiB of each GPU to leave alone. Default: 0."
)
@click.option(
    "--strategy",
    type=click.Choice(["spread", "pack"]),
    default="spread",
    help="Each worker on the GPU with most room, or one GPU after another. Default: spread.",
)
@click.option(
    "--lanes",
    type=click.IntRange(min=1),
    default=1,
    metavar="N",
    help="Split each worker's GPU into N logical devices.",
)
@click.option("--describe", metavar="FILE", help="Plan for the machine that a JSON file describes, not for this one.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print JSON, and nothing else; with --watch a line for each look."
)
@click.option("--watch", is_flag=True, help="Then show repeatedly how much each process holds, until Ctrl-C.")
@click.option("--every", type=_Number(min=0.1), default=2.0, metavar="SECS", help="How often to look. Default: 2.")
def memory(
    workers: int,
    gpus: Any,
    fraction: float | None,
    limit_mb: float | None,
    growth: bool,
    reserve: float,
    strategy: str,
    lanes: int,
    describe: str | None,
    as_json: bool,
    watch: bool,
    every: float,
) -> None:
    """Show how N processes can share this machine's GPUs and cores, as MemoryPlan plans it.

    Nothing is changed, and no GPU is touched: the driver is asked. Sizes are in MiB. A program takes its part by
    `plan = tf1sessions.MemoryPlan(workers=N); plan.apply(worker=K)`.

    \b
    Examples:
        tf1sessions memory -n 4
        tf1sessions memory -n 8 --fraction 0.2 --strategy pack
        tf1sessions memory -n 4 --json > machine.json
        tf1sessions memory -n 4 --describe machine.json
        tf1sessions memory --watch
    """
    from tf1sessions.errors import MemoryPlanError
    from tf1sessions.sessions.division import divide
    from tf1sessions.sessions.gpus import Machine, look

    if watch and describe:
        raise click.UsageError("--watch looks at this machine, and --describe is about another.")
    machine = look() if describe is None else Machine.read(describe)
    try:
        division = divide(
            machine,
            workers,
            gpus=gpus,
            fraction=fraction,
            limit_mb=limit_mb,
            growth=growth,
            reserve=reserve,
            strategy=strategy,
            lanes=lanes,
        )
    except MemoryPlanError as error:
        raise click.UsageError(str(error).replace("(from MemoryPlan)", "(from the options of this command)")) from error
    if watch and not machine.gpus:
        raise MemoryPlanError(
            "; ".join(["there is no GPU to watch", *machine.notes]),
            where="--watch",
            next_step="Leave it out, or ask nvidia-smi why the driver shows none.",
        )
    if not watch:
        if as_json:
            click.echo(json.dumps(division.to_dict(), indent=1))
        else:
            _print(_plan(division))
        return
    if not as_json:
        _print(_plan(division))
    try:
        _watch(division, every, as_json)
    except KeyboardInterrupt:  # how one leaves
        pass


# -- the plan ---------------------------------------------------------------------------------------------------------


def _plan(division: Division) -> Iterator[Any]:
    """Two tables and the notes, for rich."""
    machine = division.machine
    if machine.gpus:
        heading = f"GPUs (by {machine.source}" + (", MPS runs)" if machine.mps else ")")
        cards = [
            (str(gpu.index), gpu.name, f"{gpu.total_mb:.0f}", f"{gpu.free_mb:.0f}", _planned(division, gpu))
            for gpu in machine.gpus
        ]
        yield _table(heading, ("GPU", "<name", "total", "free", "planned"), cards)
    rows = [
        (
            str(share.worker),
            "CPU" if share.gpu is None else str(share.gpu),
            _size(share.memory_mb, share.growth, share.gpu is None),
            "" if share.fraction is None else f"{share.fraction:.3f}",
            "yes" if share.growth else "",
            _lanes(share.lanes, share.lane_mb),
            "all" if share.intra_op_threads is None else str(share.intra_op_threads),
            "" if share.mps_percentage is None else f"{share.mps_percentage} %",
        )
        for share in division.shares
    ]
    columns = ("worker", "GPU", "MiB", "fraction", "growth", "lanes", "threads", "MPS")
    shown = [number for number in range(len(columns)) if number < 2 or any(row[number] for row in rows)]
    title = f"{len(rows)} worker{'s' * (len(rows) > 1)} on {machine.cores} core{'s' * (machine.cores > 1)}"
    kept = [[row[number] for number in shown] for row in rows[:_MOST_ROWS]]
    yield _table(title, [columns[number] for number in shown], kept)
    if len(rows) > _MOST_ROWS:
        yield f"and {len(rows) - _MOST_ROWS:,} workers more; --json has all of them"
    for note in division.notes:
        yield f"Note: {note}."


def _planned(division: Division, gpu: Gpu) -> str:
    size = division.planned_mb(gpu.index)
    return f"{size:.0f}" if size else ""


def _size(size: float | None, growth: bool, on_cpu: bool) -> str:
    if size is not None:
        return f"{size:.0f}"
    return "" if on_cpu else "no limit" if growth else ""


def _lanes(lanes: int, size: float | None) -> str:
    if lanes == 1:
        return ""
    return str(lanes) if size is None else f"{lanes} x {size:.0f}"


# -- what is held -----------------------------------------------------------------------------------------------------


def _watch(division: Division, every: float, as_json: bool) -> None:
    from tf1sessions.sessions.gpus import look

    if as_json:
        while True:
            click.echo(json.dumps(look().to_dict()))
            time.sleep(every)
    if not _on_terminal():
        while True:
            _print([_held(look(), division)])
            time.sleep(every)
    from rich.live import Live

    with Live(_held(look(), division), auto_refresh=False) as live:
        while True:
            time.sleep(every)
            live.update(_held(look(), division), refresh=True)


def _on_terminal() -> bool:
    return sys.stdout.isatty()


def _held(machine: Machine, division: Division) -> Any:
    """Make the table of processes and the memory that they hold; those with more than a worker's share are marked."""
    rows = []
    for gpu in machine.gpus:
        planned = [share.needed_mb for share in division.shares if share.gpu == gpu.index and share.memory_mb]
        for holder in gpu.holders:
            over = planned and holder.used_mb is not None and holder.used_mb > max(planned)
            held = "unknown" if holder.used_mb is None else f"{holder.used_mb:.0f}"
            rows.append((str(gpu.index), str(holder.pid), held, holder.name, "more than a share" if over else ""))
        used = gpu.total_mb - gpu.free_mb
        rows.append((str(gpu.index), "all", f"{used:.0f} of {gpu.total_mb:.0f}", "", ""))
    return _table(f"Held at {time.strftime('%H:%M:%S')}, in MiB", ("GPU", "process", "MiB", "<command", "<"), rows)


# -- rich -------------------------------------------------------------------------------------------------------------


def _table(title: str, columns: Any, rows: Any) -> Any:
    """A table under its title; columns are right-aligned, unless their name begins with ``<``."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    table = Table()
    for name in columns:
        table.add_column(name.removeprefix("<"), justify="left" if name.startswith("<") else "right", no_wrap=True)
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))  # names of processes are anybody's
    return Group(Text(printable(title), style="bold"), table)


def _print(parts: Any) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    for part in parts:
        console.print(Text(printable(part)) if isinstance(part, str) else part, soft_wrap=isinstance(part, str))
