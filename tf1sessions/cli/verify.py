"""``tf1sessions verify``: the same inputs through two sides, and where they part, as text, as JSON, or as a page.

TensorFlow is imported when the command runs, so that ``--help`` answers at once.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import NoReturn

import click

from tf1sessions.cli.html_pages import check_page, write_page
from tf1sessions.cli.inspect import without_tensorflow_s_remarks
from tf1sessions.cli.programs import CONTEXT_SETTINGS, ProgramsCommand
from tf1sessions.pools.resource_limits import check_address_space
from tf1sessions.texts import printable

__all__ = ["verify"]


@click.command(cls=ProgramsCommand, context_settings=CONTEXT_SETTINGS)
@click.argument("left", metavar="LEFT")
@click.argument("right", metavar="RIGHT")
@click.option("--inputs", metavar="FILE", help="Arrays by the inputs' names, as np.savez writes them. Default: made.")
@click.option(
    "--all-tensors",
    is_flag=True,
    help="Compare every tensor that the outputs are made of and both sides have; find the first that differs.",
)
@click.option("--html", "page", metavar="FILE", help="Write a page with a plot of the error along the graph.")
@click.option("--json", "as_json", is_flag=True, help="Print all that was found as JSON, and nothing else.")
@click.option("--tolerances", metavar="FILE", help="Records of what is allowed, as TOML or JSON, before the defaults.")
@click.option(
    "--map",
    "names",
    metavar="LEFT=RIGHT",
    multiple=True,
    help="Pair an input or output of LEFT with one of RIGHT. May be given often.",
)
@click.option(
    "--output",
    "outputs",
    metavar="NAME",
    multiple=True,
    help="Which outputs of LEFT to compare. May be given often. Default: all.",
)
@click.option("--signature", metavar="NAME", help="Which signature. Default: serving_default, or the first.")
@click.option(
    "--seed",
    metavar="N",
    type=click.IntRange(0, 2**32 - 1),
    default=0,
    show_default=True,
    help="The seed of inputs that are made.",
)
@click.option("--allow-op", "allow_ops", metavar="OP", multiple=True, help="A risky operation that a model may run.")
@click.option(
    "--given",
    type=click.Choice(["variables", "feeds", "seeds"]),
    multiple=True,
    help="What a script gets from the recording that it is compared with. May be given often.",
)
@click.option(
    "--seeds",
    type=click.Choice(["tf1", "tf2"]),
    help="How operations of such a script that have no seed of their own get one. Default: tf1.",
)
@click.option("--once", is_flag=True, help="Run such a script only once, even where a second run would find the cause.")
@click.pass_context
def verify(
    ctx: click.Context,
    left: str,
    right: str,
    inputs: str | None,
    all_tensors: bool,
    page: str | None,
    as_json: bool,
    tolerances: str | None,
    names: tuple[str, ...],
    outputs: tuple[str, ...],
    signature: str | None,
    seed: int,
    allow_ops: tuple[str, ...],
    given: tuple[str, ...],
    seeds: str | None,
    once: bool,
) -> None:
    """Run LEFT and RIGHT on the same inputs, and compare the outputs.

    A side is a model that TensorFlow 1 wrote (anything that `tf1sessions inspect` takes), a SavedModel of
    TensorFlow 2, a Python function (module.py:function), a script (train.py: the graph and the variables that its
    last session leaves), or a recording (trace.npz). A script is compared with a recording call by call, and a
    diagnosis says whether a difference comes from seeds, from a kernel, or from the code. LEFT is the reference.
    What follows -- are the arguments of a script, by default those of the recording. The exit code is 0 if RIGHT
    has all outputs of LEFT and all that was compared is equal within its tolerance, 1 if not, and 2 for wrong
    usage.

    \b
    Examples:
        tf1sessions verify frozen.pb converted/
        tf1sessions verify export/1511606059 converted/ --all-tensors --html report.html
        tf1sessions verify frozen.pb new_model.py:predict --inputs data.npz --map images=x
        tf1sessions verify trace.npz train.py --given variables --given feeds
        tf1sessions verify trace.npz train.py -- --data digits.npz
    """
    read = [left, left.rpartition(":")[0], right, right.rpartition(":")[0], inputs, tolerances]  # module.py:function
    read_files = [each for each in read if each]
    if page is not None:
        check_page(page, read_files)
    check_address_space()
    from tf1sessions.porting.traces import is_trace

    if is_trace(left):  # what is computed again here is to be computed as in a script
        os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
    with without_tensorflow_s_remarks():
        from tf1sessions.porting.parity.html_report import page as html_page
        from tf1sessions.porting.parity.verifying import device
        from tf1sessions.porting.parity.verifying import verify as compare

        device()  # looks for GPUs, and says what it found

    with _stdout_to_stderr(), _no_exit_as_equal():
        found = compare(
            left,
            right,
            inputs=inputs,
            all_tensors=all_tensors,
            tolerances=tolerances,
            names=_pairs(names),
            outputs=outputs,
            signature=signature,
            seed=seed,
            allow_ops=allow_ops,
            given=given,
            seeds=seeds,
            once=once,
            args=ctx.obj or None,
        )
    if page is not None:
        write_page(page, html_page(found), read_files)
    click.echo(found.to_json(indent=1) if as_json else str(found))
    if page is not None and not as_json:
        click.echo(f"\nThe page is {printable(page)}")
    if not found.equal:
        raise click.exceptions.Exit(1)


@contextlib.contextmanager
def _stdout_to_stderr() -> Iterator[None]:
    """Have what a side writes to stdout, in Python or below it, go to stderr: stdout is for the report alone."""
    sys.stdout.flush()
    stdout = os.dup(1)
    try:
        os.dup2(2, 1)
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        os.dup2(stdout, 1)
        os.close(stdout)


@contextlib.contextmanager
def _no_exit_as_equal() -> Iterator[None]:
    """Have a side that ends this process by ``os._exit(0)`` end it with 1, and a reason: 0 would mean equal."""
    process, end = os.getpid(), os._exit

    def failed(status: int) -> NoReturn:
        if os.getpid() == process:
            click.echo(f"tf1sessions: a side has called os._exit({status}), and nothing was compared", err=True)
            status = status or 1
        end(status)

    os._exit = failed
    try:
        yield
    finally:
        os._exit = end


def _pairs(names: tuple[str, ...]) -> dict[str, str]:
    found: dict[str, str] = {}
    for each in names:
        left, equals, right = each.partition("=")
        if not (left and equals and right):
            raise click.BadParameter(f"{each!r} is not LEFT=RIGHT.", param_hint="'--map'")
        if found.setdefault(left, right) != right:
            message = f"{left!r} is paired with both {found[left]!r} and {right!r}."
            raise click.BadParameter(message, param_hint="'--map'")
    return found
