"""What is taken for a version of a model on disk. Needs no TensorFlow."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tf1sessions.serving.versions import replaced, versions_on_disk


def _refuse_to_be_entered(path: Path) -> None:
    inner = path.with_name("closed")
    (inner / "model").mkdir(parents=True)
    path.symlink_to(inner / "model")
    inner.chmod(0)


@pytest.mark.parametrize(
    "make",
    [
        lambda path: path.symlink_to(path.name),
        lambda path: path.symlink_to("nowhere"),
        lambda path: path.symlink_to("1/model"),
        lambda path: path.write_text("no folder"),
        lambda path: os.mkfifo(path),
        _refuse_to_be_entered,
    ],
    ids=["loop", "dangling", "link to a file", "file", "pipe", "closed"],
)
def test_what_is_no_version_hides_none(make, tmp_path: Path) -> None:
    for number in ("1", "2"):
        (tmp_path / number).mkdir()
        (tmp_path / number / "model").write_text(number)
    make(tmp_path / "3")
    try:
        found = versions_on_disk(str(tmp_path), 1, {})
    finally:
        if (tmp_path / "closed").exists():
            (tmp_path / "closed").chmod(0o700)
    if make is _refuse_to_be_entered and os.geteuid() == 0:  # who may enter all
        assert [each.version for each in found] == [3]
    else:
        assert [each.version for each in found] == [2]


@pytest.mark.parametrize(
    ("loaded", "on_disk", "gone"),
    [
        ({1, 2}, {2}, [1]),
        ({1, 2}, {2, 3}, []),  # 3 does not load
        ({1, 2, 3}, {2, 3}, [1]),
        ({1}, {2}, []),
        ({2, 3}, {2}, [3]),  # 3 was removed: clients that name no version get 2 again
        ({2, 3}, {1, 2}, [3]),
        ({1, 2, 3}, {1, 2}, [3]),
        ({3}, {2}, []),  # 3 was removed, and 2 does not load
        ({1, 2, 4}, {2, 3}, [4]),
        ({1, 2}, {1, 2}, []),
    ],
)
def test_which_versions_go(loaded: set[int], on_disk: set[int], gone: list[int]) -> None:
    """What does not load replaces nothing; what was removed from the disk goes when another one is there."""
    assert sorted(replaced(loaded, on_disk)) == gone
