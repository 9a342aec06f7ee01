"""Files that are read and written as a whole, whatever has their names."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

from tf1sessions.files import read_whole, write_whole


def test_what_is_no_regular_file_is_not_read(tmp_path: Path) -> None:
    file, pipe = tmp_path / "file", tmp_path / "pipe"
    file.write_bytes(b"text")
    os.mkfifo(pipe)
    assert read_whole(file) == read_whole(file, 4) == b"text"
    with pytest.raises(OSError, match="more than 3 bytes"):
        read_whole(file, 3)
    for path in (pipe, "/dev/zero", "/dev/null"):
        with pytest.raises(OSError, match="it is not a regular file"):
            read_whole(path)
    with pytest.raises(IsADirectoryError):
        read_whole(tmp_path)
    with pytest.raises(FileNotFoundError):
        read_whole(tmp_path / "none")


def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text("old")
    with open(file) as reader:
        write_whole(file, "new ü")
        assert reader.read() == "old"
    assert file.read_text("utf-8") == "new ü"
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(file.stat().st_mode) == 0o666 & ~umask
    with pytest.raises(UnicodeEncodeError):
        write_whole(file, "\ud800")
    assert file.read_text("utf-8") == "new ü"
    assert os.listdir(tmp_path) == ["page.html"]


def test_what_is_no_regular_file_is_written_to_and_stays(tmp_path: Path) -> None:
    pipe, link, device = tmp_path / "pipe", tmp_path / "link", tmp_path / "device"
    os.mkfifo(pipe)
    device.symlink_to("/dev/full")
    found: list[str] = []
    reader = threading.Thread(target=lambda: found.append(pipe.read_text()))
    reader.start()
    write_whole(pipe, "page")
    reader.join()
    assert found == ["page"] and stat.S_ISFIFO(pipe.stat().st_mode)
    with pytest.raises(OSError, match="No space left"):
        write_whole(device, "page")
    assert device.is_symlink()
    (tmp_path / "target").write_text("old")
    link.symlink_to("target")
    write_whole(link, "new")
    assert link.is_symlink() and (tmp_path / "target").read_text() == "new"
    (tmp_path / "target").unlink()
    write_whole(link, "made")
    assert link.is_symlink() and (tmp_path / "target").read_text() == "made"
    for name, target in (("loop", "loop"), ("nowhere", "none/target")):
        (tmp_path / name).symlink_to(target)
        with pytest.raises(OSError):
            write_whole(tmp_path / name, "lost")
        assert (tmp_path / name).is_symlink()
