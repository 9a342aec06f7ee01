"""Attacks on `verify` and `convert`: functions that compute or build something else than they should."""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from attacks.model_files import damage
from attacks.trial import Trial

COMMAND = [sys.executable, "-m", "tf1sessions"]
END_SECS = 100.0


def written(folder: Path) -> Path:
    """A model, x @ [[0, 1], [2, 3], [4, 5]]."""
    import numpy as np

    import tf1sessions as t1

    tf = t1.tf1
    with tf.Graph().as_default() as graph:
        kernel = tf.constant(np.arange(6, dtype=np.float32).reshape(3, 2))
        tf.matmul(tf.placeholder(tf.float32, [None, 3], name="x"), kernel, name="y")
    tf.train.write_graph(graph, str(folder), "model.pb", as_text=False)
    return folder / "model.pb"


def exact(x: Any) -> Any:
    import numpy as np

    return x @ np.arange(6, dtype=np.float32).reshape(3, 2)


def in_place(x: Any, factor: float) -> Any:
    x *= factor
    return exact(x)


@functools.cache
def functions() -> dict[str, tuple[Callable[[Any], Any], bool]]:
    """What -> a function, and whether it computes what the model does."""
    import numpy as np

    def after(x: Any, value: float) -> Any:
        y = exact(x)
        x[:] = value
        return y

    return {
        "right": (exact, True),
        "a dict": (lambda x: {"y": exact(x)}, True),
        "changes its input after": (lambda x: after(x, 7.0), True),
        "changes its input before": (lambda x: in_place(x, 0.0), False),
        "doubles its input": (lambda x: in_place(x, 2.0), False),
        "off by 1e-3": (lambda x: exact(x) + np.float32(1e-3), False),
        "off in one place": (lambda x: exact(x) + np.eye(len(x), 2, dtype=np.float32), False),
        "NaN": (lambda x: exact(x) * np.nan, False),
        "masked": (lambda x: np.ma.masked_all((len(x), 2), np.float32), False),
        "one row": (lambda x: exact(x)[:1], False),
        "transposed": (lambda x: exact(x).T, False),
        "whole numbers": (lambda x: exact(x).astype(int), False),
        "times": (lambda x: np.zeros((len(x), 2), "M8[s]"), False),
        "records": (lambda x: np.zeros(len(x), [("a", "f4")]), False),
        "nothing": (lambda x: None, False),
        "an exit": (lambda x: sys.exit(0), False),
    }


def compared(folder: Path, rng: random.Random) -> str:
    """A function and the model, each on either side: equal only if it computes the same on what was given."""
    import numpy as np

    from tf1sessions import errors, porting

    path = written(folder)
    what = rng.choice(list(functions()))
    function, is_right = functions()[what]
    sides: list[Any] = [function, path]
    rng.shuffle(sides)
    x = np.random.default_rng(rng.randrange(1000)).normal(size=(3, 3)).astype(np.float32)
    given = {"x": x.copy()}
    try:
        equal = porting.verify(*sides, inputs=given).equal
    except errors.Tf1SessionsError:
        equal = False
    if not np.array_equal(given["x"], x):
        return f"{what}: the caller's array was changed"
    return "equal only if it is" if equal == is_right else f"{what}: equal is {equal}"


@functools.cache
def saved() -> tuple[Path, Path]:
    """The model, and what TensorFlow 2 makes of it; for all tries of this process."""
    import tensorflow as tf2

    from tf1sessions import porting

    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = written(folder)
    module = porting.function(path)
    tf2.saved_model.save(module, str(folder / "saved"), signatures=module.export_signatures())
    return path, folder / "saved"


def damaged(folder: Path, rng: random.Random) -> str:
    """A file of a SavedModel of TensorFlow 2 is damaged, or is none; it is on either side."""
    from tf1sessions import errors, porting

    path, whole = saved()
    shutil.copytree(whole, folder / "saved")
    file = rng.choice(sorted(each for each in (folder / "saved").rglob("*") if each.is_file()))
    way = rng.choice(["bytes", "bytes", "bytes", "pipe", "folder", "none"])
    if way == "bytes":
        damage(file, rng)
    else:
        file.unlink()
    if way == "pipe":
        os.mkfifo(file)
    elif way == "folder":
        file.mkdir()
    sides = [path, folder / "saved"]
    rng.shuffle(sides)
    with contextlib.suppress(errors.Tf1SessionsError):
        porting.verify(*sides, all_tensors=True)
    return "compared, or refused"


BUILT = {
    "return tf.split(x, 2, axis=1, name='parts')": 0,
    "return {'a': x, 'b': [x + 1.0]}": 0,
    "return None": 2,  # the graph has no end but its input
    "import subprocess; open('pid', 'w').write(str(subprocess.Popen(['sleep', '300']).pid))\n    return x": 0,
    "return {1: x, '1': x + 1.0}": 2,
    "return object()": 2,
    "tf.identity(x, name='z')\n    with tf.Graph().as_default(): return tf.constant(1.0, name='z')": 2,
    "raise SystemExit(0)": 1,
    "import os; os._exit(0)": 1,
    "import os; os.kill(os.getpid(), 9)": 1,
    "raise ValueError('mine')": 1,
}


def built(folder: Path, rng: random.Random) -> str:
    """A function that builds a graph, and does something beside it."""
    body = rng.choice(list(BUILT))
    start = "    x = tf.placeholder(tf.float32, [None, 4], name='x')\n"
    (folder / "train.py").write_text(f"import tensorflow as tf\n\ndef build():\n{start}    {body}\n")
    done = subprocess.run(
        [*COMMAND, "convert", "train.py:build", "out"], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True,
        timeout=END_SECS,
    )  # fmt: skip
    if (folder / "pid").exists():
        os.kill(int((folder / "pid").read_text()), signal.SIGKILL)
    is_there = (folder / "out").exists()
    if done.returncode != BUILT[body] or is_there != (done.returncode == 0):
        return f"exit code {done.returncode}, written: {is_there}, of {body!r}: {done.stderr[-300:]!r}"
    return "as it should"


TRIALS = [
    Trial("a SavedModel of TensorFlow 2 is damaged", "compared, or refused", damaged, times=80),
    Trial("functions on either side of verify", "equal only if it is", compared, times=60),
    Trial("functions that build a graph for convert", "as it should", built, times=22, deadline_secs=120),
]
