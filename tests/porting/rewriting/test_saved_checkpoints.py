"""The checkpoints of two runs: which are new, and how they differ."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from support import PythonRun

from tf1sessions.errors import WorkError
from tf1sessions.porting.rewriting.saved_checkpoints import differences, moved, prefixes

#: Writes four pairs of checkpoints, and reports how each pair differs.
CODE = """
import contextlib, io, json, os, sys
import tensorflow.compat.v1 as tf
from tf1sessions.porting.rewriting.saved_checkpoints import main

def write(path, **values):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with tf.Graph().as_default(), tf.Session() as session:
        for name, value in values.items():
            tf.get_variable(name, initializer=value, use_resource=False)
        session.run(tf.global_variables_initializer())
        tf.train.Saver().save(session, path)

def differences(name, left, right):
    write(f"{name}/left/logs/model.ckpt-1", **left)
    write(f"{name}/right/logs/model.ckpt-1", **right)
    write(f"{name}/right/only/model.ckpt-1", w=1.0)  # what one side alone has is not looked into
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        main(f"{name}/left", f"{name}/right")
    report(**{name: json.loads(shown.getvalue())})

differences("equal", dict(w=[1.0, 2.0], n=3), dict(w=[1.0, 2.0000001], n=3))
differences("value", dict(w=[1.0, 2.0], n=3), dict(w=[1.0, 2.5], n=4))
differences("shape", dict(w=[1.0, 2.0]), dict(w=[1.0, 2.0, 3.0]))
differences("name", dict(w=1.0, a=1.0), dict(w=1.0, b=1.0))
"""


def test_what_differs(run_python: Callable[..., PythonRun]) -> None:
    found = run_python(CODE).results
    assert found["equal"] == []
    assert found["value"] == [
        "the checkpoint logs/model.ckpt-1: n: 3 before, 4 after",
        "the checkpoint logs/model.ckpt-1: w: 2.0 before, 2.5 after",
    ]
    assert found["shape"] == ["the checkpoint logs/model.ckpt-1 has w float32[2] before, w float32[3] after"]
    assert found["name"] == [
        "the checkpoint logs/model.ckpt-1 has the variable a before it alone",
        "the checkpoint logs/model.ckpt-1 has the variable b after it alone",
    ]


def checkpoint(folder: Path, prefix: str) -> None:
    path = folder / prefix
    path.parent.mkdir(parents=True, exist_ok=True)
    for ending in (".index", ".data-00000-of-00001", ".meta"):
        path.with_name(path.name + ending).write_text(prefix)


def test_what_a_run_has_written_is_moved(tmp_path: Path) -> None:
    for prefix in ("old", "logs/again"):
        checkpoint(tmp_path / "tree", prefix)
    before = prefixes(tmp_path / "tree")
    assert before.keys() == {"old", "logs/again"}
    (tmp_path / "tree" / "logs" / "again.index").unlink()
    checkpoint(tmp_path / "tree", "logs/again")
    os.utime(tmp_path / "tree" / "logs" / "again.index", ns=(1, 1))
    checkpoint(tmp_path / "tree", "logs/new[1]")
    moved(tmp_path / "tree", before, tmp_path / "kept")
    assert prefixes(tmp_path / "kept").keys() == {"logs/again", "logs/new[1]"}
    assert sorted(os.listdir(tmp_path / "kept" / "logs")) == [
        f"{name}{ending}" for name in ("again", "new[1]") for ending in (".data-00000-of-00001", ".index")
    ]
    assert prefixes(tmp_path / "tree").keys() == {"old"}


def test_without_checkpoints_of_one_path_only_their_number_counts(tmp_path: Path) -> None:
    for side, folders in {"left": ["10:00", "10:05"], "right": ["11:00"], "same": ["12:00", "12:05"]}.items():
        for folder in folders:
            checkpoint(tmp_path / side, f"{folder}/model.ckpt")
    assert differences(tmp_path / "left", tmp_path / "same") == []
    assert differences(tmp_path / "left", tmp_path / "right") == ["2 checkpoints before, 1 after"]
    assert differences(tmp_path / "none", tmp_path / "nowhere") == []


def test_what_is_no_checkpoint_is_an_error(tmp_path: Path) -> None:
    for side in ("left", "right"):
        checkpoint(tmp_path / side, "model.ckpt")
    with pytest.raises(WorkError, match=r"the checkpoints could not be compared: .*model\.ckpt"):
        differences(tmp_path / "left", tmp_path / "right")
