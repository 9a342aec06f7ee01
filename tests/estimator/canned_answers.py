"""What 1.15.5 answered and saved, and what programs of this folder find now."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

from support import ROOT

HERE = Path(__file__).parent
GOLDEN = HERE.parent / "golden" / "data"


def golden(name: str) -> Any:
    with gzip.open(GOLDEN / f"{name}.json.gz") as file:
        return json.load(file)


def unpack_checkpoints(name: str, folder: Path) -> Path:
    """Puts the folders that 1.15.5 wrote into ``folder``."""
    with tarfile.open(GOLDEN / f"{name}.tar.gz") as archive:
        for member in archive.getmembers():
            target = folder / member.name
            target.parent.mkdir(exist_ok=True)
            content = archive.extractfile(member)
            assert content is not None
            target.write_bytes(content.read())
    return folder


def run(script: str, *arguments: object) -> Any:
    """What a script of this folder prints, in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3", "TF_ENABLE_ONEDNN_OPTS": "0"}
    command = [sys.executable, str(HERE / script), *map(str, arguments)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout)
