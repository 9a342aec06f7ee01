"""Reading checkpoints, and starting variables from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...runtime import tf1 as tf

__all__ = ["init_from_checkpoint", "list_variables", "load_checkpoint", "load_variable"]


def load_checkpoint(filepattern: str) -> Any:
    """A reader of the checkpoint ``filepattern``, or of the newest one in that folder."""
    return tf.train.load_checkpoint(filepattern)


def load_variable(checkpoint_dir: str, name: str) -> Any:
    """The value of the variable ``name`` in a checkpoint, as an array."""
    return tf.train.load_variable(checkpoint_dir, name.removesuffix(":0"))


def list_variables(checkpoint_dir: str) -> list[tuple[str, list[int]]]:
    """The names and shapes of what is in a checkpoint, by name."""
    found: list[tuple[str, list[int]]] = tf.train.list_variables(checkpoint_dir)
    return found


def init_from_checkpoint(checkpoint_dir: str, assignment_map: Mapping[str, Any]) -> None:
    """Lets the initializers of variables that exist already read their values from a checkpoint.

    Args:
        checkpoint_dir: A checkpoint, or a folder with some.
        assignment_map: ``{name in the checkpoint: variable, its name, or list of its slices}``; or with scopes that
            end with a slash, of which "/" is the whole checkpoint: ``{"old/": "new/"}``.
    """
    tf.train.init_from_checkpoint(checkpoint_dir, assignment_map)
