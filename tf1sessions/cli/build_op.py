"""``tf1sessions build-op``: operations in C++ and CUDA of TensorFlow 1, compiled for the TensorFlow that is installed.

TensorFlow is imported when the command runs, so that ``--help`` answers at once.
"""

from __future__ import annotations

import os
import shlex
import sys
from typing import TYPE_CHECKING

import click

from tf1sessions.cli.inspect import without_tensorflow_s_remarks
from tf1sessions.cli.programs import CONTEXT_SETTINGS
from tf1sessions.errors import BuildError
from tf1sessions.texts import counted, printable

if TYPE_CHECKING:
    from tf1sessions.porting.custom_ops.sources import Sources

__all__ = ["build_op"]


class _FlagsCommand(click.Command):
    """Keeps what follows the first ``--`` in ``ctx.obj``: flags for the compiler, whatever they look like."""

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        return [*super().collect_usage_pieces(ctx), "[-- FLAGS]"]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        cut = args.index("--") if "--" in args else len(args)
        ctx.obj = tuple(args[cut + 1 :])
        return super().parse_args(ctx, args[:cut])


@click.command(cls=_FlagsCommand, context_settings=CONTEXT_SETTINGS)
@click.argument("sources", metavar="SRC...", nargs=-1, required=True)
@click.option("-o", "--out", metavar="OUT.so", help="The library to write. Needed, except with --diff alone.")
@click.option("-I", "include", metavar="DIR", multiple=True, help="A folder of headers. May be given often.")
@click.option("-D", "define", metavar="NAME[=VALUE]", multiple=True, help="A macro. May be given often.")
@click.option("-L", "folders", metavar="DIR", multiple=True, help="A folder of libraries. May be given often.")
@click.option("-l", "libraries", metavar="NAME", multiple=True, help="A library to link. May be given often.")
@click.option("--diff", is_flag=True, help="Print what is rewritten in the sources. Without -o, nothing is compiled.")
@click.option(
    "--keep-sources", metavar="DIR", help="Write the rewritten sources into this folder, which is new or empty."
)
@click.option("--no-check", is_flag=True, help="Do not load the library before it is put into place.")
@click.option("-v", "--verbose", is_flag=True, help="Print the commands, and all that a compiler says of an error.")
@click.pass_context
def build_op(
    ctx: click.Context,
    sources: tuple[str, ...],
    out: str | None,
    include: tuple[str, ...],
    define: tuple[str, ...],
    folders: tuple[str, ...],
    libraries: tuple[str, ...],
    diff: bool,
    keep_sources: str | None,
    no_check: bool,
    verbose: bool,
) -> None:
    """Compile SRC, operations that were written for TensorFlow 1, into a library that tf.load_op_library loads.

    The sources, and the headers that they include from their own folders or from -I, are rewritten for the headers of
    the TensorFlow that is installed. That is done in copies: no file of yours is changed. Sources that end in .cu or
    .cu.cc are compiled by nvcc. What follows -- are flags for the compiler and the linker. OUT.so is written whole or
    not at all, once it has been loaded in a process of its own.

    \b
    Examples:
        tf1sessions build-op zero_out.cc -o zero_out.so
        tf1sessions build-op zero_out.cc --diff
        tf1sessions build-op sampling.cc sampling_gpu.cu -o sampling.so -I include -- -O3
    """
    if out is None and not diff and keep_sources is None:
        raise click.UsageError("Missing option '-o'. Name the library to write: -o my_op.so", ctx)
    with without_tensorflow_s_remarks():
        from tf1sessions.porting.custom_ops.building import build, installed_flags
        from tf1sessions.porting.custom_ops.sources import read_sources

        flags = installed_flags()
    read = read_sources(sources, include, leave=flags.include)
    _print_changes(read)
    if diff:
        click.echo(printable(read.diff(), keep="\n\t"), nl=False)
    if keep_sources is not None:
        _keep(read, keep_sources)
    if out is None:
        return
    try:
        built = build(
            read,
            out,
            flags,
            define=define,
            library_folders=folders,
            libraries=libraries,
            extra=ctx.obj,
            check=not no_check,
            notice=_notice if sys.stderr.isatty() else lambda line: None,
        )
    except BuildError as error:
        if verbose:
            click.echo(printable(error.output, keep="\n\t").rstrip("\n"), err=True)
        elif error.output.count("\n") > 1:
            raise BuildError(str(error), next_step="All that was said: --verbose.", output=error.output) from error
        raise
    if verbose:
        for command in built.commands:
            click.echo(printable(shlex.join(command)))
    names = ", ".join(built.functions)
    click.echo(printable(f"{out}: {counted(len(built.functions), 'function')}: {names}" if names else out))


def _notice(line: str) -> None:
    click.echo(printable(f"tf1sessions: {line}"), err=True)


def _print_changes(sources: Sources) -> None:
    """Print a line a rule, with the places where it changed something."""
    places: dict[tuple[str, str], list[str]] = {}
    for file in sources.changed:
        for change in file.changes:
            name = os.path.relpath(file.path)
            places.setdefault((change.rule, change.since), []).append(f"{name}:{','.join(map(str, change.lines))}")
    for (rule, _), found in places.items():
        click.echo(printable(f"{rule}  ({' '.join(found)})"))
    if not places:
        click.echo("nothing to rewrite")


def _keep(sources: Sources, folder: str) -> None:
    if os.path.lexists(folder) and (not os.path.isdir(folder) or os.listdir(folder)):
        raise click.BadParameter(
            f"{folder!r} is there already, and not an empty folder.", param_hint="'--keep-sources'"
        )
    sources.export(folder)
    click.echo(printable(f"the rewritten sources are in {folder}"))
