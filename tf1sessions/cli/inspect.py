"""``tf1sessions inspect``: what is in a model, as text, as JSON, or as a page with a diagram.

TensorFlow is imported when the command runs, so that ``--help`` answers at once.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

import click

from tf1sessions.cli.html_pages import check_page, write_page
from tf1sessions.pools.resource_limits import check_address_space
from tf1sessions.texts import printable

__all__ = ["inspect", "without_tensorflow_s_remarks"]


@click.command(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.argument("model", metavar="MODEL")
@click.option("--json", "as_json", is_flag=True, help="Print all that was found as JSON, and nothing else.")
@click.option(
    "--html",
    "page",
    metavar="FILE",
    help="Write a page with the report and a diagram of the graph. It needs no network.",
)
@click.option("--tags", metavar="TAGS", help="Which graph of a SavedModel, by its tags: serve, or serve,gpu.")
@click.option("--signature", metavar="NAME", help="The signature to report. Default: serving_default, or the first.")
@click.option(
    "--trial",
    is_flag=True,
    help="Load it in a child process, too, and run it there once with zeros, within limits of memory and time.",
)
def inspect(model: str, as_json: bool, page: str | None, tags: str | None, signature: str | None, trial: bool) -> None:
    """Show what a TensorFlow 1 model contains, without running it.

    MODEL is a frozen graph (.pb, .pbtxt), the prefix of a checkpoint or its .meta file, a folder with checkpoints, a
    SavedModel, or an export of session_bundle. The report has inputs and outputs, weights, operations, FLOPs for one
    row, loops, queues and tables, and what is risky: operations that touch files, the network or Python.

    \b
    Examples:
        tf1sessions inspect frozen.pb
        tf1sessions inspect export/1511606059 --signature predict
        tf1sessions inspect train/model.ckpt-1000 --html model.html
        tf1sessions inspect frozen.pb --json
    """
    if page is not None:
        check_page(page, [model])
    with without_tensorflow_s_remarks():
        from tf1sessions.cli.report import lines
        from tf1sessions.models.diagram import page as html_page
        from tf1sessions.models.files import read
        from tf1sessions.models.inspection import inspect as look_into
        from tf1sessions.models.trial import try_model

    chosen = None if tags is None else [tag.strip() for tag in tags.split(",") if tag.strip()]
    artifact = read(model, chosen)
    if trial and (error := try_model(model, {"tags": chosen, "signature": signature})) is not None:
        click.echo(f"trial: the model gave no result: {printable(error)}", err=True)
    found = look_into(artifact, signature)
    if page is not None:
        write_page(page, html_page(artifact, found), [model])
    if as_json:
        click.echo(json.dumps(found.to_dict(), indent=1))
        return
    width = max(80, min(120, shutil.get_terminal_size((100, 24)).columns))
    for line in lines(found, width):
        click.echo(line)
    if page is not None:
        click.echo(f"\nThe diagram is in {printable(page)}")


@contextmanager
def without_tensorflow_s_remarks() -> Iterator[None]:
    """Keeps what TensorFlow's library says of the machine while it is imported off the terminal, unless that fails."""
    check_address_space()
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    sys.stderr.flush()
    terminal, python = os.dup(2), sys.stderr
    with tempfile.TemporaryFile() as said, open(terminal, "w", encoding="utf-8", errors="backslashreplace") as direct:
        os.dup2(said.fileno(), 2)
        sys.stderr = direct  # Python's own warnings are still seen
        try:
            yield
        except BaseException:
            said.seek(0)
            os.write(terminal, said.read())
            raise
        finally:
            direct.flush()
            sys.stderr = python
            os.dup2(terminal, 2)
