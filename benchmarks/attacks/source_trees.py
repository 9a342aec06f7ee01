"""Attacks on audit, port and doctor: trees that no user would write, git's blind spots, ends at any moment."""

from __future__ import annotations

import itertools
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from attacks.command_line import END_SECS, call, judged
from attacks.trial import Trial

PROGRAM = b"""import tensorflow as tf
x = tf.placeholder(tf.float32, [None])
with tf.Session() as sess:
    print(sess.run(tf.log(x), {x: [1.0]}))
"""
NOTEBOOK = b'{"cells": [%s], "metadata": {}, "nbformat": 4, "nbformat_minor": 2}'

#: Name -> text. What each of them is about stands in it.
FILES = {
    "declared.py": b"# coding: %s\n" + PROGRAM,
    "nul.py": PROGRAM + b"\0",
    "marked.py": b"\xef\xbb\xbf" + PROGRAM,
    "ends.py": PROGRAM.replace(b"\n", b"\r"),
    "mixed.py": PROGRAM.replace(b"\n", b"\r\n", 2) + b"\x0c\n\x1a",
    "brackets.py": PROGRAM + b"y = " + b"(" * 3000 + b")" * 3000,
    "sum.py": PROGRAM + b"y = " + b"+".join([b"1"] * 30000) + b"\n",
    "chain.py": PROGRAM + b"y = x" + b".b" * 5000 + b"\n",
    "branches.py": PROGRAM + b"".join(b" " * depth + b"if x:\n" for depth in range(95)) + b" " * 95 + b"tf.log(x)\n",
    "numbers.py": PROGRAM + b"y = " + b"9" * 10_000 + b" + 10**10**10 + 1e999\n",
    "python2.py": b"import tensorflow as tf\nprint `1`, 0777, ur'x'\nexec 'a' in {}\nprint >>f, tf.log(1),\n",
    "names.py": b"import tensorflow as tf\ndel tf\nfor tf in [tf]: tf.log(1)\nclass tf: log = 1\n",
    "steering.py": PROGRAM + b"y = tf.contrib.sparsemax.sparsemax('\x1b]0;x\x07')\nprint 'x\x1b[2J'\n",
    "wide.py": "import tensorflow as \uff54\uff46\ny = \uff54\uff46.log(1)  # \u202e\n".encode(),
    "empty.ipynb": b"",
    "nested.ipynb": b"[" * 100_000,
    "kinds.ipynb": NOTEBOOK % b'null, 3, {"cell_type": "code", "source": 3}, {"cell_type": ["code"]}',
    "magic.ipynb": NOTEBOOK % b'{"cell_type": "code", "source": ["%%bash\\n", "!ls\\n", "?x\\n", "  %load x"]}',
    "surrogate.ipynb": NOTEBOOK % b'{"cell_type": "code", "source": "import tensorflow as tf\\nx = \'\\ud800\'"}',
    "requirements.txt": b"tensorflow==1.15\n-r requirements.txt\nnumpy==" + b"9" * 5000 + b"\n\x1b[2J\n",
    "setup.cfg": b"[options]\ninstall_requires =\n  tensorflow==1.15\n[options]\n%(x)s\n",
    "setup.py": b"setup(install_requires=['tensorflow-gpu==1.15'",
}
CODECS = [b"klingon", b"hex", b"rot13", b"utf-7", b"idna", b"undefined", b"utf-16", b"unicode_escape", b"cp037"]


def deep(tree: Path) -> None:
    for _ in range(1200):
        tree.mkdir()
        tree = tree / "d"


#: What may lie in a tree beside files.
PLACES: list[Callable[[Path], object]] = [
    lambda tree: os.mkfifo(tree / "pipe.py"),
    lambda tree: os.mkfifo(tree / "requirements.txt"),
    lambda tree: (tree / "zero.py").symlink_to("/dev/zero"),
    lambda tree: (tree / "kernel.py").symlink_to("/proc/kmsg"),
    lambda tree: (tree / "memory.ipynb").symlink_to("/proc/self/mem"),
    lambda tree: (tree / "circle.py").symlink_to("circle.py"),
    lambda tree: (tree / "up").symlink_to(".."),
    lambda tree: (tree / "folder.py").mkdir(),
    lambda tree: (tree / os.fsdecode(b"no text\xff.py")).write_bytes(PROGRAM),
    lambda tree: (tree / "a\nb\x1b[2J.py").write_bytes(PROGRAM),
    lambda tree: (tree / "--write").write_bytes(PROGRAM),
    lambda tree: os.truncate(os.open(tree / "large.py", os.O_CREAT | os.O_WRONLY), 6 << 30),
    lambda tree: deep(tree / "deep"),
]


def contents(folder: Path) -> dict[str, bytes]:
    """The regular files in a folder, but for git's own and large ones."""
    found = {}
    for path in folder.iterdir():
        if path.is_file() and not path.is_symlink() and path.stat().st_size < 1 << 20:
            found[path.name] = path.read_bytes()
    return found


def trees(folder: Path, rng: random.Random) -> str:
    """Some odd files and places; nothing is written, and each command answers."""
    tree = folder / "tree"
    tree.mkdir()
    for name in rng.sample(sorted(FILES), rng.randrange(1, 6)):
        text = FILES[name]
        (tree / name).write_bytes(text % rng.choice(CODECS) if name == "declared.py" else text)
    for place in rng.sample(PLACES, rng.randrange(3)):
        if not (place is PLACES[1] and (tree / "requirements.txt").exists()):
            place(tree)
    before = contents(tree)
    scripts = [name for name in before if name.endswith((".py", ".ipynb"))]
    command = rng.choice(
        [
            ["audit", "tree", *rng.choice([[], ["--json"], ["--sarif"], ["--all-steps"]])],
            ["port", "tree", "--to", rng.choice(["py3", "v1", "clean", "functions", "native"]), "--json"],
            ["doctor", "--", *(os.path.join("tree", name) for name in scripts[:1])],
        ]
    )  # fmt: skip
    seen = judged(call(folder, *map(os.fsencode, command)), {0, 1, 2})
    subprocess.run(["rm", "-rf", tree / "deep"], check=True)  # shutil.rmtree() ends with RecursionError
    return seen if contents(tree) == before else f"changed by {command}"


def git(folder: Path, *args: str) -> bytes:
    command = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *args]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True).stdout


SETTINGS = [
    ("core.trustctime", "false"),
    ("core.checkStat", "minimal"),
    ("core.fsmonitor", "printf token"),
    ("core.ignoreCase", "true"),
    ("core.autocrlf", "true"),
    ("core.fileMode", "false"),
    ("status.showUntrackedFiles", "no"),
    ("filter.short.clean", "head -c 9"),
    ("filter.short.smudge", "cat"),
    ("color.ui", "always"),
]
ATTRIBUTES = ["*.py filter=short", "*.py text eol=lf", "*.py ident", "*.py -text", "x0.py filter=short"]


def change(tree: Path, name: str, rng: random.Random) -> None:
    """Make a file other than it was committed, in one of the ways that git does not see or is asked to ignore."""
    path = tree / name
    times = path.stat().st_mtime_ns
    way = rng.randrange(7)
    if way == 0:
        path.write_bytes(path.read_bytes().replace(b"1.0", b"2.0"))
        os.utime(path, ns=(times, times))
    elif way == 1:
        git(tree, "update-index", rng.choice(["--assume-unchanged", "--skip-worktree"]), name)
        path.write_bytes(path.read_bytes() + b"# mine\n")
    elif way == 2:
        (tree / ".git" / "info" / "exclude").write_text("mine.py\n")
        (tree / "mine.py").write_bytes(PROGRAM + b"# mine\n")
    elif way == 3:
        (tree / name.upper()).write_bytes(PROGRAM + b"# mine\n")
    elif way == 4:
        git(tree, "rm", "-q", "--cached", name)
    elif way == 5:
        path.write_bytes(path.read_bytes() + b"# mine\n")
        git(tree, "add", name)
    else:
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n", 1))


def given_back(folder: Path, rng: random.Random) -> str:
    """After ``port --write`` a checkout gives back what was in each file that was written."""
    tree = folder / "tree"
    tree.mkdir()
    git(tree, "init", "-q")
    names = [f"x{number}.py" for number in range(3)]
    for name in names:
        (tree / name).write_bytes(PROGRAM)
        os.utime(tree / name, (1e9, 1e9))
    if rng.random() < 0.5:
        (tree / ".gitattributes").write_text(rng.choice(ATTRIBUTES) + "\n")
    for setting in rng.sample(SETTINGS, rng.randrange(4)):
        git(tree, "config", *setting)
    git(tree, "add", ".")
    git(tree, "commit", "-qm", "x")
    for name in rng.sample(names, rng.randrange(3)):
        change(tree, name, rng)
    before = contents(tree)
    done = call(folder, "port", "tree", "--to", "v1", "--write")
    written = [name for name, text in contents(tree).items() if before.get(name) != text]
    for name in written:
        try:
            stored = git(tree, "show", f"HEAD:{name}")
            git(tree, "checkout", "-q", "HEAD", "--", name)
        except subprocess.CalledProcessError:
            return f"{name} is lost: git has no such file"
        if before[name] not in (stored, (tree / name).read_bytes()):
            return f"{name} is lost: git gives back another"
    return judged(done, {0, 1, 2})


#: At the N-th change of a file below a folder, a signal or an error.
AT_A_MOMENT = """
import errno, os, sys
COUNT, WHAT, BELOW = int(os.environ["AT"]), os.environ["WHAT"], os.environ["BELOW"]
CHANGES = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.link", "os.symlink", "os.chmod", "shutil.copyfile"}
def hook(event, args):
    global COUNT
    writes = event == "open" and isinstance(args[2], int) and args[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
    if (writes or event in CHANGES) and any(BELOW in os.fsdecode(a) for a in args if isinstance(a, (str, bytes))):
        COUNT -= 1
        if COUNT == 0 and WHAT.isdigit():
            os.kill(os.getpid(), int(WHAT))
        elif COUNT == 0:
            raise OSError(getattr(errno, WHAT), "at this moment")
sys.addaudithook(hook)
"""
ENDS = [str(int(number)) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL)]


def moments(folder: Path, rng: random.Random) -> str:
    """A signal or an error of the disk at one of the changes that ``port`` makes: all files or none."""
    tree, out = folder / "tree", rng.random() < 0.4
    tree.mkdir()
    (folder / "site").mkdir()
    (folder / "site" / "sitecustomize.py").write_text(AT_A_MOMENT)
    for number in range(6):
        (tree / f"x{number}.py").write_bytes(PROGRAM)
    before = contents(tree)
    what = rng.choice([*ENDS, "ENOSPC", "EIO", "EACCES", "EROFS"])
    below = "copy" if out else "tree"
    path = os.pathsep.join(["site", os.environ.get("PYTHONPATH") or str(Path(__file__).resolve().parents[2])])
    way = ["--out", "copy"] if out else ["--write"]
    subprocess.run(
        [sys.executable, "-m", "tf1sessions", "port", "tree", "--to", "v1", *way],
        cwd=folder, capture_output=True, timeout=END_SECS,
        env={**os.environ, "PYTHONPATH": path, "AT": str(rng.randrange(1, 28)), "WHAT": what, "BELOW": below},
    )  # fmt: skip
    after = contents(tree)
    changed = [name for name in before if after.get(name) != before[name]]
    if what == ENDS[-1]:  # each file is whole, and the old ones lie beside them
        kept = set(after.values())
        if len(changed) == 6 and len({after[name] for name in before}) == 1:  # all was done before it came
            return "all or none"
        return "all or none" if all(text in kept for text in before.values()) else f"lost: {changed}"
    left = [name for name in itertools.chain(after, os.listdir(folder)) if name.startswith(".")]
    if left or (out and changed) or len(changed) not in (0, 6):
        return f"left {left}, changed {changed} at {what}"
    copied = len(contents(folder / "copy")) if (folder / "copy").exists() else 0
    return "all or none" if copied in (0, 6) else f"{copied} of 6 files in the copy"


TRIALS = [
    Trial("odd files and trees", "answered", trees, times=60, deadline_secs=180.0),
    Trial("port --write where git does not look", "answered", given_back, times=40),
    Trial("port ends at a moment", "all or none", moments, times=60),
]
