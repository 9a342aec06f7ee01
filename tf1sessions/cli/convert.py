"""``tf1sessions convert``: a model of TensorFlow 1 as a SavedModel of TensorFlow 2, with proof.

TensorFlow is imported when the command runs, so that ``--help`` answers at once.
"""

from __future__ import annotations

import dataclasses
import json
import logging
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import click

from tf1sessions.cli.inspect import without_tensorflow_s_remarks
from tf1sessions.errors import UsageError
from tf1sessions.files import temporary_folder
from tf1sessions.texts import printable

__all__ = ["convert"]

#: Not ``python -m``, which looks for modules in the working directory first: anybody may have put some there.
_BUILD = """
import sys
at_start = frozenset(sys.modules)
sys.path[:] = [entry for entry in sys.path if entry]
sys.path.append(sys.argv.pop())
from tf1sessions.scripts.built_graph import main_program
main_program(at_start)
"""


@click.command(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.argument("model", metavar="MODEL")
@click.argument("out", metavar="OUT")
@click.option("--signature", metavar="NAME", help="The only signature to keep. Default: all of them.")
@click.option("--train", is_flag=True, help="Keep the train operation, as loaded.train(...).")
@click.option(
    "--train-op",
    "train_ops",
    metavar="[NAME=]OPERATION",
    multiple=True,
    help="The train operation, where it is not found. Several, as those of a GAN: give each a NAME.",
)
@click.option(
    "--input",
    "inputs",
    metavar="[NAME=]TENSOR",
    multiple=True,
    help="An input. May be given often. Default: guessed.",
)
@click.option(
    "--output",
    "outputs",
    metavar="[NAME=]TENSOR",
    multiple=True,
    help="An output. May be given often. Default: guessed.",
)
@click.option(
    "--trainable",
    metavar="PATTERN",
    multiple=True,
    help="Which variables are trained, and which constants of a frozen graph: 'dense*/kernel'. May be given often.",
)
@click.option(
    "--partitions",
    type=click.Choice(["joined", "kept"]),
    default="joined",
    show_default=True,
    help="Join the parts of a partitioned variable, or keep them.",
)
@click.option("--tags", metavar="TAGS", help="Which graph of a SavedModel, by its tags: serve, or serve,gpu.")
@click.option("--checkpoint", metavar="PREFIX", help="The variables' values, for a graph that has none or others.")
@click.option("--initialize", is_flag=True, help="Give variables that no checkpoint has fresh initial values.")
@click.option(
    "--allow-op", "allow_ops", metavar="OP", multiple=True, help="An operation that the model may run, though risky."
)
@click.option("--force", is_flag=True, help="Replace a SavedModel at OUT. It stays until the new one is whole.")
@click.option("--dry-run", is_flag=True, help="Print what would be written, and write nothing.")
@click.option("--no-check", is_flag=True, help="Do not load it again and compare it with the model.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON, and nothing else.")
def convert(
    model: str,
    out: str,
    train: bool,
    train_ops: tuple[str, ...],
    inputs: tuple[str, ...],
    outputs: tuple[str, ...],
    trainable: tuple[str, ...],
    tags: str | None,
    checkpoint: str | None,
    allow_ops: tuple[str, ...],
    no_check: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Write MODEL, which TensorFlow 1 wrote, as a SavedModel of TensorFlow 2 at OUT.

    MODEL is anything that `tf1sessions inspect` takes, or a Python function that builds a graph (train.py:build). OUT
    is a folder that is not there yet; it is written whole or not at all. Plain TensorFlow 2 loads it with
    tf.saved_model.load, calls it and continues its training. What was written is loaded again and compared with MODEL
    first. A checkpoint without a graph becomes a checkpoint of objects; OUT is then its prefix.

    \b
    Examples:
        tf1sessions convert frozen.pb converted/ --dry-run
        tf1sessions convert export/1511606059 converted/ --signature predict
        tf1sessions convert train/model.ckpt-1000 converted/ --train
        tf1sessions convert train.py:build converted/ --checkpoint train/
    """
    with without_tensorflow_s_remarks():
        from tf1sessions.porting.conversion import Conversion
        from tf1sessions.porting.export import convert as export
        from tf1sessions.runtime import tf

        tf.config.list_logical_devices()  # it looks for GPUs, and says what it thinks of their absence

    logging.getLogger("tensorflow").setLevel(logging.ERROR)
    if sys.stderr.isatty():  # what it is at, for who waits
        logging.basicConfig(format="tf1sessions: %(message)s")
        logging.getLogger("tf1sessions").setLevel(logging.INFO)
    options |= {
        "inputs": _ends("--input", inputs),
        "outputs": _ends("--output", outputs),
        "train": _ends("--train-op", train_ops) or train or None,
        "trainable": trainable or None,
        "tags": None if tags is None else [tag.strip() for tag in tags.split(",") if tag.strip()],
        "checkpoint": checkpoint,
        "allow_ops": allow_ops,
        "check": not no_check,
    }
    if _is_builder(model):
        with _built(model, values=checkpoint is None) as built:
            found = export(
                out=out, **options | {key: value for key, value in built.items() if options.get(key) is None}
            )
        assert isinstance(found, Conversion)
        found = dataclasses.replace(found, source=model, kind="function")
    else:
        found = export(model, out, **options)
    if as_json:
        click.echo(json.dumps(dataclasses.asdict(found), indent=1, default=str))  # str() for dtypes
        return
    width = max(80, min(120, shutil.get_terminal_size((100, 24)).columns))
    for line in found.lines(width) if isinstance(found, Conversion) else str(found).split("\n"):
        line = printable(line)
        title = re.match(r"[^:(]+", line)
        click.echo(click.style(title[0], bold=True) + line[title.end() :] if title and line[0] != " " else line)


def _ends(option: str, arguments: tuple[str, ...]) -> dict[str, str] | list[str] | None:
    """Inputs, outputs and train operations as porting.convert takes them: names, or names for the caller with them."""
    pairs = [each.rpartition("=") for each in arguments]
    if not any(name for name, _, _ in pairs):
        return list(arguments) or None
    found: dict[str, str] = {}
    for name, _, tensor in pairs:
        name = name or tensor.partition(":")[0]
        if found.setdefault(name, tensor) != tensor:
            raise UsageError(
                f"{name!r} is given for both {found[name]!r} and {tensor!r}",
                where=option,
                next_step="Give each a name of its own.",
            )
    return found


def _is_builder(model: str) -> bool:
    """Whether it is a function, as ``train.py:build`` or ``package.train:build``."""
    return re.fullmatch(r".+\.py:\w+|[\w.]+:[A-Za-z_]\w*", model) is not None and not os.path.exists(model)


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode("utf-8", "replace")


@contextmanager
def _built(model: str, values: bool) -> Iterator[dict[str, Any]]:
    """The graph that a function builds, as arguments for porting.convert; built in a process of its own."""
    from tf1sessions.scripts.built_graph import GRAPH, OUTPUTS, VALUES

    with temporary_folder("tf1sessions-") as folder:
        command = [
            sys.executable,
            "-c",
            _BUILD,
            model,
            folder,
            "values" if values else "graph",
            os.fspath(Path(__file__).parents[2]),
        ]
        # into files: a process that the function has started and left would keep a pipe open
        with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
            done = subprocess.run(
                command,
                env={"TF_CPP_MIN_LOG_LEVEL": "3"} | os.environ | {"PYTHONINSPECT": ""},  # else its exit code is another
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
            )
            written, errors = (_text(file) for file in (stdout, stderr))
        if done.returncode == 2:  # what is wrong is in its last line
            click.echo(printable(errors.rstrip().rpartition("\n")[2]), err=True)
            raise click.exceptions.Exit(2)
        if done.returncode or not os.path.exists(os.path.join(folder, OUTPUTS)):
            click.echo(written + errors, nl=False, err=True)
            raise click.ClickException(f"{model} did not build a graph: the process ended with {done.returncode}.")
        found: dict[str, Any] = {"source": os.path.join(folder, GRAPH)}
        with open(os.path.join(folder, OUTPUTS), encoding="utf-8") as file:
            found["outputs"] = json.load(file)
        prefix = os.path.join(folder, VALUES)
        if os.path.exists(prefix + ".index"):
            found["checkpoint"] = prefix
        yield found
