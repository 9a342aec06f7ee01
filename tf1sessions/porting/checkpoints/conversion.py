"""A bare checkpoint in the other form: of names as one of objects, and back.

What is written of a checkpoint of names has one object, a dictionary ``by_name`` of all variables, so that any of these
read it in plain TensorFlow 2::

    tf.train.Checkpoint(by_name={"dense/kernel": variable, ...}).restore(out)
    tf.train.load_checkpoint(out).get_tensor("by_name/dense.Skernel/.ATTRIBUTES/VARIABLE_VALUE")     # "/" is ".S"
"""

from __future__ import annotations

import collections
import dataclasses
import os
import re

from tf1sessions.errors import UsageError
from tf1sessions.porting.checkpoints.reading import VALUE_SUFFIX, Spec, escaped, read
from tf1sessions.porting.checkpoints.renaming import Names, Renaming
from tf1sessions.porting.checkpoints.writing import CheckpointWriter, check_target, why_no_name
from tf1sessions.texts import printable

__all__ = ["ROOT", "ConvertedCheckpoint", "convert"]

#: The name of the dictionary that has the variables.
ROOT = "by_name"
_COUNTER = "save_counter"
#: What TensorFlow takes as the name of a variable.
_VALID = re.compile(r"[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*")


@dataclasses.dataclass(frozen=True)
class ConvertedCheckpoint:
    """The result of a conversion: what was written, or would be.

    Attributes:
        source: The prefix of the checkpoint that was read.
        path: The prefix of the one that was written.
        form: Its form: ``"objects"`` or ``"names"``.
        variables: The name in the old one -> what is in the new one.
        left_out: Keys of a checkpoint of objects that a checkpoint of names has no place for, each with the reason.
        written: False for a dry run.
    """

    source: str
    path: str
    form: str
    variables: dict[str, Spec]
    left_out: dict[str, str]
    written: bool

    def __str__(self) -> str:
        width = max(map(len, self.variables), default=0)
        lines = [f"{self.source} -> {self.path}, by {self.form}"]
        lines += [f"  {old:{width}}  ->  {new}" for old, new in self.variables.items()]
        lines += [f"  {key}: left out, {reason}" for key, reason in self.left_out.items()]
        return "\n".join(map(printable, lines))


def convert(
    checkpoint: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    names: Names | None = None,
    force: bool = False,
    dry_run: bool = False,
) -> ConvertedCheckpoint:
    """Writes a checkpoint of names as one of objects, or one of objects as one of names.

    Every variable is copied, optimizer slots and averages too, one at a time: of a large checkpoint only a small part
    is in memory. It is written whole or not at all.

    Args:
        checkpoint: What :func:`~tf1sessions.porting.checkpoints.read` takes.
        out: The prefix of the new checkpoint.
        names: From old names to new ones: a dict of names and scopes, pairs of patterns, or a function. What it does
            not name keeps its name.
        force: Whether to replace a checkpoint at ``out``.
        dry_run: Whether only to say what would be written.

    Raises:
        ModelFileError: The checkpoint cannot be read.
        UsageError: ``out`` cannot be written, or ``names`` gives two variables one name, or names none that is there.
    """
    values = read(checkpoint)
    prefix = check_target(out, force)
    if prefix == values.path:
        raise UsageError(
            f"the checkpoint {prefix!r} would be written over itself", where="out", next_step="Give another path."
        )
    old_names = [name for name in values if not (values.form == "objects" and name == _COUNTER)]
    form = "names" if values.form == "objects" else "objects"
    renamed = _renamed(old_names, Renaming(names), values.form == "objects")
    result = ConvertedCheckpoint(
        values.path,
        prefix,
        form,
        {old: dataclasses.replace(values.specs[old], name=new) for old, new in renamed.items()},
        dict.fromkeys(values.others, "it is no variable"),
        not dry_run,
    )
    if dry_run:
        return result
    keys = {new: new if form == "names" else f"{ROOT}/{escaped(new)}{VALUE_SUFFIX}" for new in renamed.values()}
    with CheckpointWriter(prefix, force) as writer:
        for old, new in renamed.items():
            writer.add(keys[new], values[old])
        if form == "objects":
            writer.add_object_graph(keys, ROOT)
    return result


def _renamed(old_names: list[str], renaming: Renaming, from_objects: bool) -> dict[str, str]:
    renamed: dict[str, str] = {}
    for old in old_names:
        default = old.removeprefix(ROOT + "/") if from_objects else old
        new = renaming(old) or renaming(default) or default
        if from_objects and not _VALID.fullmatch(new):
            raise UsageError(
                f"{new!r} cannot be the name of a variable of TensorFlow 1",
                where="a checkpoint of objects",
                next_step=f"Give it a name: names={{{old!r}: 'scope/name'}}.",
            )
        if not from_objects and (reason := why_no_name(new)):
            raise UsageError(reason, where="names=", next_step=f"Give {old!r} another name.")
        renamed[old] = new
    if renaming.unused:
        raise UsageError(
            f"no variable is named {', '.join(map(repr, renaming.unused))}",
            where="names=",
            next_step="The checkpoint's variables are listed by convert(..., dry_run=True).",
        )
    counts = collections.Counter(renamed.values())
    twice = [new for new, count in counts.items() if count > 1]
    if twice:
        olds = [old for old, new in renamed.items() if new == twice[0]]
        raise UsageError(
            f"{' and '.join(map(repr, olds))} would both be named {twice[0]!r}",
            where="names=",
            next_step="Give one of them another name.",
        )
    return renamed
