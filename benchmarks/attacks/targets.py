"""Attacks on the folder that convert() writes: several at once, and ended by SIGKILL at a random moment."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

from attacks.trial import Trial

WRITER = """
import pathlib, sys
from tf1sessions.porting.target import Target
print("ready", flush=True)
for number in range(10**6):
    with Target.checked("out", None, force=True).whole() as folder:
        for name in ("saved_model.pb", "variables/variables.index", "variables/variables.data-00000-of-00001"):
            path = pathlib.Path(folder, name)
            path.parent.mkdir(exist_ok=True)
            path.write_text(f"{sys.argv[1]} {number}")
"""


def killed(folder: Path, rng: random.Random) -> str:
    """The target is whole after each kill, and the next writer removes what was left."""
    from tf1sessions.porting.target import Target

    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(each)], cwd=folder, stdout=subprocess.PIPE) for each in "ab"
    ]
    try:
        for writer in writers:
            assert writer.stdout is not None
            writer.stdout.readline()
        time.sleep(rng.random())
    finally:
        for writer in writers:
            writer.kill()
            writer.wait()
    out = folder / "out"
    texts = [path.read_text() for path in out.rglob("*") if path.is_file()]
    if out.exists() and len(set(texts)) != 1:
        return f"mixed: {texts}"
    if out.exists() and len(texts) != 3:
        return f"not whole: {list(out.iterdir())}"
    with Target.checked(out, None, force=True).whole() as last:
        Path(last, "saved_model.pb").write_text("last")
    left = [path.name for path in folder.glob(".*")]
    return f"left {left}" if left else "whole, and nothing is left"


TRIALS = [Trial("two writers of one folder are killed", "whole, and nothing is left", killed, times=25)]
