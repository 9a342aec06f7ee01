"""``tf1sessions run --ray``: what goes to a node, and runs on a real cluster (in ray_server_checks.py)."""

from __future__ import annotations

import importlib.util
import io
import os
import tarfile
from pathlib import Path

import pytest

from tf1sessions.scripts.ray_script_worker import moved, packed_folder

PROGRAM = "ray_server_checks.py"


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="needs Ray: pip install 'tf1sessions[ray]'")
def test_ray_server(check: str, findings: dict[str, str | None]) -> None:
    assert findings[check] is None, findings[check]


def test_what_goes_along(tmp_path: Path) -> None:
    for name in (
        "train.py",
        "data/digits.npz",
        "runs/one/jobs.json",
        "out/jobs.json",
        ".git/HEAD",
        "data/__pycache__/a",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    (tmp_path / "link").symlink_to("train.py")
    os.mkfifo(tmp_path / "pipe")
    packed = packed_folder(str(tmp_path), [str(tmp_path / "out")])
    with tarfile.open(fileobj=io.BytesIO(packed.tobytes())) as archive:
        assert sorted(archive.getnames()) == [".", "./data", "./data/digits.npz", "./link", "./train.py"]


def test_paths_become_those_of_the_copy(tmp_path: Path) -> None:
    folder = os.path.realpath(tmp_path)
    assert moved(f"{folder}/a/train.py", folder, "/here") == "/here/a/train.py"
    assert moved(folder, folder, "/here") == "/here"
    for other in (f"{folder}-2/train.py", "/usr/lib/train.py"):
        assert moved(other, folder, "/here") == other
