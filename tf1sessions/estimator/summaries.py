"""Event files, read."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator
from typing import Any

from ..runtime import tf1 as tf

__all__ = ["events", "read_eval_metrics"]


def events(path: str) -> Iterator[Any]:
    """The events of a file, as far as they were written whole."""
    try:
        yield from tf.train.summary_iterator(path)
    except tf.errors.DataLossError:
        return  # an event that is being written


def read_eval_metrics(eval_dir: str) -> dict[int, dict[str, float]]:
    """The numbers in the event files of a folder: step -> {name: value}, by step."""
    found: dict[int, dict[str, float]] = {}
    if not tf.io.gfile.isdir(eval_dir):
        return found
    for path in sorted(tf.io.gfile.glob(os.path.join(glob.escape(eval_dir), "events.out.tfevents.*"))):
        for event in events(path):
            if not event.HasField("summary"):
                continue
            values = {value.tag: value.simple_value for value in event.summary.value if value.HasField("simple_value")}
            if values:
                found.setdefault(event.step, {}).update(values)
    return dict(sorted(found.items()))
