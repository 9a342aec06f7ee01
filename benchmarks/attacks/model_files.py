"""Attacks on what reads models and checkpoints: damaged files, odd names, and files that are none."""

from __future__ import annotations

import contextlib
import io
import os
import random
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from attacks.trial import Trial

GOLDEN = Path(__file__).resolve().parents[2] / "tests" / "golden" / "data" / "models"
NUMBERS = [b"\x00", b"\xff", b"\x80\x80\x80\x80\x0c", b"\xff" * 9 + b"\x01", b"\x7f", b"(", b"\n", b"\x1b[2J", b"\xc3"]


def written(folder: Path) -> list[Path]:
    """Small models and checkpoints of every form, made here; the paths that a reader is given."""
    import tf1sessions as t1

    tf = t1.tf1
    found = []
    with tf.Graph().as_default() as graph, tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        kernel = tf.get_variable("layer/kernel", initializer=tf.ones([3, 2]))
        tf.get_variable("layer/steps", initializer=3, trainable=False)
        y = tf.identity(tf.matmul(x, kernel), name="y")
        session.run(tf.global_variables_initializer())
        for version, name in ((tf.train.SaverDef.V1, "v1/model"), (tf.train.SaverDef.V2, "v2/model")):
            (folder / name).parent.mkdir()
            with contextlib.redirect_stderr(io.StringIO()):
                tf.train.Saver(write_version=version).save(session, str(folder / name))
            found += [folder / name, (folder / name).parent, Path(f"{folder / name}.meta")]
        tf.saved_model.simple_save(session, str(folder / "saved"), {"x": x}, {"y": y})
        found.append(folder / "saved")
        frozen = tf.graph_util.convert_variables_to_constants(session, graph.as_graph_def(), ["y"])
        tf.train.write_graph(frozen, str(folder), "frozen.pb", as_text=False)
        tf.train.write_graph(frozen, str(folder), "frozen.pbtxt")
        found += [folder / "frozen.pb", folder / "frozen.pbtxt"]
    return found


def readers(folder: Path) -> dict[str, Callable[[str], Any]]:
    """What reads a model or a checkpoint, by name."""
    import tf1sessions as t1
    from tf1sessions.models import files, inspection
    from tf1sessions.porting import checkpoints

    def load(path: str) -> None:
        with t1.load(path, initialize=True) as model:
            model.run(next(iter(model.outputs.values())).tensor, {"x:0": [[1.0, 2.0, 3.0]]})

    def convert_checkpoint(path: str) -> None:
        shutil.rmtree(folder / "converted", ignore_errors=True)
        checkpoints.convert(path, folder / "converted" / "model")

    return {
        "load": load,
        "inspect": lambda path: str(inspection.inspect(files.read(path))),
        "read checkpoint": lambda path: checkpoints.read(path).values(),
        "convert checkpoint": convert_checkpoint,
    }


def outcome(read: Callable[[str], Any], path: str, what: str) -> str:
    """ "read or refused", or the error that a user should not meet."""
    from tf1sessions import errors
    from tf1sessions.runtime import tf

    try:
        read(path)
    except errors.Tf1SessionsError as error:
        text = str(error)
        if len(text) > 3000 or "\x1b" in text:
            return f"{type(error).__name__} of {len(text)} characters: {text[:200]!r}"
    except (tf.errors.OpError, TypeError) as error:
        if what != "load" or (isinstance(error, TypeError) and "signature" not in str(error)):
            return f"{what}: {type(error).__name__}: {str(error)[:300]}"
    except Exception as error:
        import traceback

        place = traceback.extract_tb(error.__traceback__)[-1]
        return f"{what}: {type(error).__name__}: {str(error)[:200]} at {place.filename[-40:]}:{place.lineno}"
    return "read or refused"


def damage(path: Path, rng: random.Random) -> None:
    """Changes a file's bytes."""
    data = bytearray(path.read_bytes())
    for _ in range(rng.choice([1, 1, 1, 2, 5, 20])):
        place = rng.randrange(len(data) + 1)
        way = rng.randrange(6)
        if way == 0:
            del data[place:]
        elif way == 1:
            del data[place : place + rng.randrange(1, 64)]
        elif way == 2:
            data[place:place] = data[place : place + rng.randrange(1, 64)]
        elif way == 3:
            data[place : place + 1] = rng.choice(NUMBERS)
        elif place < len(data):
            data[place] = rng.randrange(256) if way == 4 else data[place] ^ 1 << rng.randrange(8)
    path.write_bytes(data)


def damaged(folder: Path, rng: random.Random) -> str:
    """One file of a model is damaged; each reader gets the model."""
    paths = written(folder)
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    damage(rng.choice(files), rng)
    seen = {outcome(read, str(path), what) for what, read in readers(folder).items() for path in paths}
    return " | ".join(sorted(seen - {"read or refused"})) or "read or refused"


def checkpoint_files(folder: Path, rng: random.Random) -> str:
    """As before, with the files of checkpoints alone, which are the least guarded by a format."""
    paths = [path for path in written(folder) if path.parent.name in ("v1", "v2") or path.name in ("v1", "v2")]
    files = [file for file in folder.rglob("*") if file.parent.name in ("v1", "v2") and file.suffix != ".meta"]
    damage(rng.choice(sorted(files)), rng)
    seen = {outcome(read, str(path), what) for what, read in readers(folder).items() for path in paths}
    return " | ".join(sorted(seen - {"read or refused"})) or "read or refused"


def swapped(folder: Path, rng: random.Random) -> str:
    """Files of one model in the place of another's."""
    paths = written(folder)
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    for _ in range(rng.randrange(1, 3)):
        one, other = rng.sample(files, 2)
        if rng.random() < 0.3:
            one.unlink()
            one.mkdir()
            break
        shutil.copy(one, other)
    seen = {outcome(read, str(path), what) for what, read in readers(folder).items() for path in paths}
    return " | ".join(sorted(seen - {"read or refused"})) or "read or refused"


ODD_NAMES = [
    b"\xff\xfe", b"a\nb", b"\x1b[2J", "é名前".encode(), b"-", b"--json", b"%s{}", b" ", b"a" * 200, b"*", b"[a]", b"?",
    b"~", b"a:b", b"a\\b", b"checkpoint", b"model.ckpt-00000-of-00001", b"gs:", b"$HOME", b"\xe2\x80\xae",
]  # fmt: skip


def odd_names(folder: Path, rng: random.Random) -> str:
    """Models that lie where no user would put them."""
    inner = folder / os.fsdecode(rng.choice(ODD_NAMES))
    inner.mkdir()
    paths = written(inner)
    seen = set()
    for path in paths:
        name = os.fsdecode(rng.choice(ODD_NAMES))
        target = path
        if path.suffix in (".pb", ".pbtxt", ".meta") and rng.random() < 0.5:
            target = path.with_name(name + path.suffix)
            path.rename(target)
        seen |= {outcome(read, str(target), what) for what, read in readers(folder).items()}
    return " | ".join(sorted(seen - {"read or refused"})) or "read or refused"


def special_files(folder: Path, rng: random.Random) -> str:
    """A file that never ends, or never begins, or may not be read, in the place of one of a model's."""
    paths = written(folder)
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    file = rng.choice(files)
    file.unlink()
    way = rng.randrange(6)
    if way == 0:
        os.mkfifo(file)
    elif way == 1:
        file.symlink_to("/dev/zero")
    elif way == 2:
        file.symlink_to("/dev/null")
    elif way == 3:
        file.symlink_to(file)
    elif way == 4:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(os.path.relpath(file))
    else:
        with open(file, "wb") as sparse:
            sparse.truncate(1 << 40)
    near = [path for path in paths if file == path or path in file.parents or path.parent == file.parent]
    seen = {outcome(read, str(path), what) for what, read in readers(folder).items() for path in near}
    return " | ".join(sorted(seen - {"read or refused"})) or "read or refused"


def commands(folder: Path, rng: random.Random) -> str:
    """The commands, with a damaged model: one line of what is wrong, and no traceback."""
    paths = written(folder)
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    damage(rng.choice(files), rng)
    path = str(rng.choice(paths))
    words = rng.choice([
        ["inspect", path], ["inspect", "--json", path], ["convert", path, str(folder / "out")], ["verify", path, path],
    ])  # fmt: skip
    done = subprocess.run([sys.executable, "-m", "tf1sessions", *words], cwd=folder, capture_output=True, timeout=60)
    if b"Traceback" in done.stderr or done.returncode not in (0, 1, 2):
        return f"exit code {done.returncode}: {done.stderr[-600:]!r}"
    return "answered"


TRIALS = [
    Trial("one file of many is damaged", "read or refused", damaged, times=60),
    Trial("a file of a checkpoint is damaged", "read or refused", checkpoint_files, times=120),
    Trial("files in each other's place", "read or refused", swapped, times=60),
    Trial("odd names of folders and files", "read or refused", odd_names, times=25),
    Trial("files that are no files", "read or refused", special_files, times=40),
    Trial("commands with a damaged model", "answered", commands, times=15),
]
