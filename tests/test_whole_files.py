"""Files that are read and written as a whole, whatever has their names."""

from __future__ import annotations

import contextlib
import os
import resource
import stat
import threading
import tracemalloc
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from tf1sessions import files
from tf1sessions.files import read_whole, remove_folder, temporary_folder, walk, write_whole
from tf1sessions.porting.hidden_folders import hidden_folder
from tf1sessions.porting.rewriting.writing import copy_tree
from tf1sessions.source.files import find


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


def test_a_small_file_takes_little_memory(tmp_path: Path) -> None:
    """However much it might have; and what says that it has no bytes, as those of /proc do, is read to its end."""
    file = tmp_path / "file"
    file.write_bytes(bytes(100_000))
    tracemalloc.start()
    try:
        assert len(read_whole(file)) == 100_000
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()
    assert len(read_whole("/proc/self/maps")) > 1000
    with pytest.raises(OSError, match="more than 1,000 bytes"):
        read_whole("/proc/self/maps", 1000)


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


def test_what_looks_regular_and_gives_nothing_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """As /proc/kmsg, which no other user may open."""
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    monkeypatch.setattr(files, "open_regular", lambda path: open(reader, "rb"))
    with pytest.raises(OSError, match="it gives nothing now"):
        read_whole("kmsg")
    os.close(writer)


@pytest.fixture
def deep(tmp_path: Path) -> Iterator[Path]:
    """A tree of 1,200 folders, one in the other, with a file in the last one."""
    folder = tmp_path / "deep"
    inside = folder
    for _ in range(1200):
        inside.mkdir()
        inside = inside / "d"
    inside.mkdir()
    (inside / "last.py").touch()
    yield folder
    while inside != tmp_path:  # rmtree, with which pytest removes it, is not made for this
        for name in os.listdir(inside):
            path = inside / name
            path.rmdir() if path.is_dir() else path.unlink()
        inside = inside.parent


def test_a_tree_of_any_depth_is_walked(deep: Path, tmp_path: Path) -> None:
    (found,) = find([deep])
    assert found == deep.joinpath(*["d"] * 1200, "last.py")
    (tmp_path / "copy").mkdir()
    with pytest.raises(OSError, match="nested too deep"):
        copy_tree([deep], [], tmp_path / "copy")


def test_a_walk_is_that_of_os(tmp_path: Path) -> None:
    for name in ("a/b/c.py", "a/d", "e/f/g", "h", "left/out"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    for name, target in (("a/up", ".."), ("me", "me"), ("none", "nowhere"), ("link", "h")):
        (tmp_path / name).symlink_to(target)

    def seen(walked: Iterable[tuple[str, list[str], list[str]]]) -> list[tuple[str, list[str], list[str]]]:
        rows = []
        for folder, folders, others in walked:
            folders[:] = sorted(name for name in folders if name != "left")
            rows.append((folder, folders, sorted(others)))
        return rows

    assert seen(walk(tmp_path)) == seen(os.walk(tmp_path))
    errors: list[OSError] = []
    assert list(walk(tmp_path / "h", errors.append)) == [] == list(walk(tmp_path / "h"))
    assert errors[0].filename == str(tmp_path / "h")


@contextlib.contextmanager
def descriptors(left: int) -> Iterator[None]:
    """Let so many more files be opened at once while this lasts."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = max(map(int, os.listdir("/proc/self/fd"))) + 1 + left
    handles = []
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    try:
        with contextlib.suppress(OSError):
            while True:
                handles.append(os.open("/dev/null", os.O_RDONLY))
        for _ in range(left):
            os.close(handles.pop())
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        for handle in handles:
            os.close(handle)


def fill(folder: Path) -> None:
    (folder / "a/b/c").mkdir(parents=True)
    for path in (folder, folder / "a", folder / "a/b/c"):
        (path / "file").touch()
    (folder / "a/link").symlink_to(folder)
    os.mkfifo(folder / "a/pipe")
    (folder / "a/b").chmod(0o500)


def test_folders_go_where_descriptors_are_few(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    for left in (1, 2, 100):
        with contextlib.ExitStack() as stack:
            folder = Path(stack.enter_context(temporary_folder("some-")))
            fill(folder)
            stack.enter_context(descriptors(left))
            remove_folder(folder)
            assert not os.path.lexists(folder)
    with temporary_folder("some-") as name:
        assert os.path.dirname(name) == str(tmp_path)
        fill(Path(name))
    with descriptors(1), pytest.raises(OSError, match="Too many"), hidden_folder(str(tmp_path / "out")) as hidden:
        os.mkdir(f"{hidden}/inner")
        open(f"{hidden}/inner/file", "wb").close()  # the folder's lock has the last one
    with descriptors(0), hidden_folder(str(tmp_path / "out")):
        pass
    assert list(tmp_path.iterdir()) == []
