"""Writing a ported project: all files or none, in place and as a copy."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from porting_support import NAMES
from support import wait_for, without_root

from tf1sessions.errors import UsageError
from tf1sessions.porting.rewriting import replacing, writing
from tf1sessions.porting.rewriting.rewrite import FilePort, StepPort
from tf1sessions.porting.rewriting.writing import (
    add_neighbours,
    check_out,
    copy_tree,
    over_all,
    write_copy,
    write_in_place,
)
from tf1sessions.source.files import SourceText, read


def source(path: Path) -> SourceText:
    found = read(path)
    assert isinstance(found, SourceText)
    return found


def changed(path: Path, old: str = "old", new: str = "new") -> FilePort:
    before = source(path)
    return FilePort(before, before.with_text(before.text.replace(old, new)))


def contents(folder: Path) -> dict[str, str]:
    """All files below a folder, hidden ones included."""
    return {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()}


def has_become(folder: Path, expected: dict[str, str]) -> bool:
    """Whether a folder that another process still changes has these files."""
    try:
        return contents(folder) == expected
    except FileNotFoundError:  # it has removed one meanwhile
        return False


# -- in place


def test_all_files_are_written_and_nothing_is_left_beside_them(project: Path) -> None:
    written = write_in_place([changed(project / name) for name in NAMES])
    assert written == [project / name for name in NAMES]
    assert contents(project) == {name: f"print('new {name}')\n" for name in NAMES}


def test_what_has_not_changed_is_not_touched(project: Path) -> None:
    same = source(project / "a.py")
    before = os.stat(project / "a.py")
    assert write_in_place([FilePort(same, same), changed(project / "b.py")]) == [project / "b.py"]
    after = os.stat(project / "a.py")
    assert (after.st_mtime_ns, after.st_ino) == (before.st_mtime_ns, before.st_ino)


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbfprint('old')\r\n# caf\xc3\xa9\r\n",
        b"# -*- coding: latin-1 -*-\nprint('old')  # caf\xe9\n",
        b"print('old')\r# the line end of old Macs",
    ],
    ids=["mark-crlf", "latin-1", "cr"],
)
def test_encoding_and_line_ends_are_kept(project: Path, data: bytes) -> None:
    (project / "a.py").write_bytes(data)
    write_in_place([changed(project / "a.py")])
    assert (project / "a.py").read_bytes() == data.replace(b"old", b"new")


def test_mode_bits_are_kept_and_of_a_link_the_target_is_written(project: Path) -> None:
    (project / "a.py").chmod(0o751)
    (project / "link.py").symlink_to("a.py")
    write_in_place([changed(project / "link.py")])
    assert (project / "link.py").is_symlink() and os.readlink(project / "link.py") == "a.py"
    assert (project / "a.py").read_text() == "print('new a.py')\n"
    assert (project / "a.py").stat().st_mode & 0o7777 == 0o751


def test_a_file_with_another_name_is_refused_and_all_stays(project: Path) -> None:
    os.link(project / "b.py", project / "other name")
    before = contents(project)
    with pytest.raises(UsageError, match=r"b\.py has 2 names \(hard links\)"):
        write_in_place([changed(project / name) for name in NAMES])
    assert contents(project) == before


@pytest.mark.parametrize("nth", range(3))
def test_an_error_before_the_files_are_renamed_leaves_all(
    project: Path, monkeypatch: pytest.MonkeyPatch, nth: int
) -> None:
    before = contents(project)
    times = {name: os.stat(project / name).st_mtime_ns for name in NAMES}
    calls = []

    def failing(handle: int) -> None:
        calls.append(handle)
        if len(calls) == nth + 1:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(writing.os, "fsync", failing)
    with pytest.raises(OSError, match="No space left"):
        write_in_place([changed(project / name) for name in NAMES])
    assert len(calls) > nth
    assert contents(project) == before
    assert {name: os.stat(project / name).st_mtime_ns for name in NAMES} == times


@pytest.mark.parametrize("name", NAMES)
def test_a_file_that_cannot_be_renamed_puts_the_others_back(
    project: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    before = contents(project)
    del before[name]
    times = {other: os.stat(project / other).st_mtime_ns for other in before}
    real = writing._Replacer.commit

    def late(replacer: writing._Replacer) -> None:
        (project / name).unlink()
        (project / name).mkdir()  # no file can be renamed to it
        real(replacer)

    monkeypatch.setattr(writing._Replacer, "commit", late)
    with pytest.raises(OSError, match=f"directory.*{name}"):
        write_in_place([changed(project / each) for each in NAMES])
    assert contents(project) == before
    assert {other: os.stat(project / other).st_mtime_ns for other in before} == times


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("function", ["fsync", "commit"])
def test_an_interrupt_leaves_all_or_nothing_written(
    project: Path, monkeypatch: pytest.MonkeyPatch, signum: signal.Signals, function: str
) -> None:
    before = contents(project)
    owner: Any = writing.os if function == "fsync" else writing._Replacer
    real = getattr(owner, function)

    def interrupted(*args: object) -> None:
        signal.raise_signal(signum)  # it must not come out of here
        real(*args)

    monkeypatch.setattr(owner, function, interrupted)
    handler = signal.getsignal(signal.SIGTERM)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            write_in_place([changed(project / name) for name in NAMES])
        assert signal.getsignal(signal.SIGTERM) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGTERM, handler)
    after = {name: text.replace("old", "new") for name, text in before.items()}
    assert contents(project) == (before if function == "fsync" else after)


@pytest.mark.parametrize("moment", [0, 1, 2, "commit"])
def test_a_killed_process_leaves_all_or_nothing_written(project: Path, moment: int | str) -> None:
    """SIGKILL before the nth file is renamed, and as soon as the renames are asked for: nothing waits for their end."""
    before = contents(project)
    code = f"""
import os
from pathlib import Path
from tf1sessions.porting.rewriting import writing
from tf1sessions.porting.rewriting.rewrite import FilePort
from tf1sessions.source.files import read
sources = [read(Path({str(project)!r}, name)) for name in {NAMES}]
files = [FilePort(each, each.with_text(each.text.replace("old", "new"))) for each in sources]
real = writing._Replacer._send
replacements = []
def send(replacer, what):
    if len(replacements) == {moment!r}:
        os.kill(os.getpid(), 9)
    real(replacer, what)
    replacements.append(what)
    if what == "commit":
        os.kill(os.getpid(), 9)
writing._Replacer._send = send
writing.write_in_place(files)
"""
    assert subprocess.run([sys.executable, "-c", code]).returncode == -signal.SIGKILL
    after = {name: text.replace("old", "new") for name, text in before.items()} if moment == "commit" else before
    wait_for(lambda: has_become(project, after), "the end of the process that renames")


def test_where_the_process_that_renames_is_killed_all_is_put_back(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = contents(project)
    kill_when_it_has_renamed_one(monkeypatch)
    with pytest.raises(OSError, match="was killed; they are as they were"):
        write_in_place([changed(project / name) for name in NAMES])
    assert contents(project) == before


def kill_when_it_has_renamed_one(monkeypatch: pytest.MonkeyPatch) -> None:
    real = writing._Replacer.commit

    def commit(replacer: writing._Replacer) -> None:
        os.replace(replacer._replacements[0]["new"], replacer._replacements[0]["path"])
        replacer._process.kill()
        replacer._process.wait()
        real(replacer)

    monkeypatch.setattr(writing._Replacer, "commit", commit)


def test_where_it_is_killed_when_all_are_renamed_all_are_new(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has begun to remove the copies of the old files: what lacks one could not be put back."""
    before = contents(project)
    real = writing._Replacer.commit

    def commit(replacer: writing._Replacer) -> None:
        for each in replacer._replacements:
            os.replace(each["new"], each["path"])
        os.unlink(replacer._replacements[0]["old"])
        replacer._process.kill()
        replacer._process.wait()
        real(replacer)

    monkeypatch.setattr(writing._Replacer, "commit", commit)
    assert len(write_in_place([changed(project / name) for name in NAMES])) == len(NAMES)
    assert contents(project) == {name: text.replace("old", "new") for name, text in before.items()}


def test_a_file_that_cannot_be_put_back_is_named_with_its_copy(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*args: str) -> None:
        raise OSError(5, "Input/output error")

    real = os.replace
    kill_when_it_has_renamed_one(monkeypatch)
    put_back = replacing.put_back

    def put_back_failing(replacements: list[replacing.Replacement]) -> list[list[str]]:
        monkeypatch.setattr(replacing.os, "replace", failing)
        try:
            return put_back(replacements)
        finally:
            monkeypatch.setattr(replacing.os, "replace", real)

    monkeypatch.setattr(replacing, "put_back", put_back_failing)
    with pytest.raises(OSError, match=r"a\.py .*: what it was is in (\S+)") as caught:
        write_in_place([changed(project / name) for name in NAMES])
    copy = Path(str(caught.value).rpartition(" ")[2])
    assert copy.read_text() == "print('old a.py')\n"
    assert (project / "b.py").read_text() == "print('old b.py')\n"


def test_a_file_that_has_changed_meanwhile_is_not_overwritten(project: Path) -> None:
    files = [changed(project / name) for name in NAMES]
    (project / "b.py").write_text("mine\n")
    with pytest.raises(UsageError, match=r"b\.py has changed since it was read"):
        write_in_place(files)
    assert contents(project) == {name: f"print('old {name}')\n" for name in NAMES} | {"b.py": "mine\n"}


def test_a_text_that_its_encoding_cannot_have_is_an_error_before_anything_is_written(project: Path) -> None:
    (project / "c.py").write_bytes(b"# coding: latin-1\nold\n")
    before = contents(project)
    with pytest.raises(UsageError, match=r"c\.py cannot be written in its encoding"):
        write_in_place([changed(project / "a.py"), changed(project / "c.py", new="\u4e2d")])
    assert contents(project) == before


# -- over several steps


def test_the_whole_port_is_from_before_the_first_step_to_after_the_last_one(project: Path) -> None:
    one = changed(project / "a.py", "old", "newer")
    two = FilePort(one.after, one.after.with_text("newest\n"))
    late = changed(project / "b.py")
    steps = [StepPort("py3", (one,)), StepPort("v1", (two, late))]
    (a, b) = over_all(steps)
    assert (a.before.text, a.after.text) == ("print('old a.py')\n", "newest\n")
    assert (b.before.text, b.after.text) == ("print('old b.py')\n", "print('new b.py')\n")


# -- a copy


def test_a_copy_of_the_whole_tree(project: Path, tmp_path: Path) -> None:
    (project / "data").mkdir()
    (project / "data" / "x.bin").write_bytes(b"\0old")
    (project / "run.sh").write_text("old\n")
    (project / "run.sh").chmod(0o755)
    (project / "a.py").chmod(0o700)
    (project / "link").symlink_to("data")
    os.mkfifo(project / "pipe")
    write_copy([project], [changed(project / "a.py")], tmp_path / "out")
    out = tmp_path / "out"
    assert (out / "a.py").read_text() == "print('new a.py')\n"
    assert (out / "a.py").stat().st_mode & 0o777 == 0o700
    assert (out / "b.py").read_text() == "print('old b.py')\n"
    assert (out / "data" / "x.bin").read_bytes() == b"\0old"
    assert (out / "run.sh").stat().st_mode & 0o777 == 0o755
    assert (out / "link").is_symlink() and os.readlink(out / "link") == "data"
    assert not os.path.lexists(out / "pipe")
    assert (project / "a.py").read_text() == "print('old a.py')\n"
    assert sorted(os.listdir(tmp_path)) == ["out", "project"]


def test_a_file_outside_of_the_tree_becomes_a_file_of_the_copy(project: Path, tmp_path: Path) -> None:
    (tmp_path / "shared.py").write_text("old\n")
    (project / "shared.py").symlink_to(tmp_path / "shared.py")
    (project / "inner.py").symlink_to("a.py")
    files = [changed(project / "shared.py"), changed(project / "inner.py")]
    write_copy([project], files, tmp_path / "out")
    assert not (tmp_path / "out" / "shared.py").is_symlink()
    assert (tmp_path / "out" / "shared.py").read_text() == "new\n"
    assert (tmp_path / "out" / "inner.py").is_symlink()  # its target is in the tree, and new there
    assert (tmp_path / "out" / "a.py").read_text() == "print('new a.py')\n"
    assert (tmp_path / "shared.py").read_text() == "old\n"


def test_several_sources_keep_their_names(project: Path, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("old\n")
    write_copy([project, tmp_path / "train.py"], [changed(tmp_path / "train.py")], tmp_path / "out")
    assert sorted(os.listdir(tmp_path / "out")) == ["project", "train.py"]
    assert (tmp_path / "out" / "train.py").read_text() == "new\n"
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "train.py").touch()
    with pytest.raises(UsageError, match="two of the sources are called 'train.py'"):
        check_out([tmp_path / "train.py", tmp_path / "more" / "train.py"], tmp_path / "other")


def test_a_copy_goes_only_where_nothing_is(project: Path, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").touch()
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to(project)
    for out, why in [
        ("full", "not empty"),
        ("file", "is no folder"),
        ("project/out", "lies in"),
        ("project", "not empty"),
        ("link/out", "lies in"),
    ]:
        with pytest.raises(UsageError, match=why):
            write_copy([project], [], tmp_path / out)
    write_copy([project], [], tmp_path / "empty")
    assert contents(tmp_path / "empty") == contents(project)
    write_copy([project], [], tmp_path / "project-2")  # begins with the other's name, and is not in it
    assert os.listdir(tmp_path / "full") == ["mine"]


def test_a_copy_that_fails_leaves_nothing(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(source: str, target: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(writing.shutil, "copy2", failing)
    with pytest.raises(OSError, match="No space left"):
        write_copy([project], [], tmp_path / "more" / "out")
    assert os.listdir(tmp_path) == ["project"]


def test_a_copy_of_what_may_not_be_read_names_it_and_leaves_nothing() -> None:
    """Also where a folder that was copied before may not be written to, not even in the copy."""
    with tempfile.TemporaryDirectory(dir="/tmp") as top:  # pytest's own may be entered by its user alone
        os.chmod(top, 0o777)
        folder = Path(top, "project")
        (folder / "a-locked").mkdir(parents=True)
        (folder / "a-locked" / "a.py").write_text("old\n")
        (folder / "a-locked").chmod(0o555)
        (folder / "secret.py").write_text("old\n")
        (folder / "secret.py").chmod(0)

        def copy() -> None:
            with pytest.raises(OSError, match=r"cannot be copied: \S*secret\.py: .*Permission denied"):
                write_copy([folder], [], Path(top, "out"))

        without_root(copy)
        assert os.listdir(top) == ["project"]


def test_a_copy_may_leave_out_names(project: Path, tmp_path: Path) -> None:
    (project / ".git").mkdir()
    (project / ".git" / "HEAD").touch()
    out = tmp_path / "out"
    out.mkdir()
    copy_tree([project], [], out, lambda path: path.endswith("/.git"))
    assert sorted(os.listdir(out)) == sorted(NAMES)


def test_what_lies_beside_a_file_comes_along_for_a_run_and_stays_as_it_is(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "_SMALL_BYTES", 100)
    (project / "data").mkdir()
    (project / "data" / "small").write_text("old")
    (project / "data" / "large").write_text("old" * 100)
    (project / "link").symlink_to("data")
    (project / "skip").mkdir()
    (project / "skip" / "x").write_text("")
    before = contents(project)
    copy = project / "copy"  # as where a script lies in the folder of temporary files
    copy.mkdir()
    roots = [project / "a.py"]
    copy_tree(roots, [changed(project / "a.py")], copy)
    add_neighbours(roots, copy, lambda path: path.endswith("skip"))
    assert (copy / "a.py").read_text() == "print('new a.py')\n"
    assert sorted(os.listdir(copy)) == ["a.py", "b.py", "c.py", "data", "link"]
    assert {path.name for path in copy.rglob("*") if path.is_symlink()} == {"large", "link"}
    assert (copy / "data" / "large").read_text() == "old" * 100
    (copy / "link" / "small").write_text("new")
    (copy / "data" / "made").write_text("new")
    (copy / "b.py").unlink()
    os.replace(copy / "data" / "made", copy / "data" / "large")  # as a saver does
    shutil.rmtree(copy)
    assert contents(project) == before


def test_only_so_much_comes_along(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    roots, copy = [project / "a.py"], tmp_path / "copy"
    copy.mkdir()
    copy_tree(roots, [], copy)
    monkeypatch.setattr(writing, "_COPIED_BYTES", len("print('old b.py')\n"))
    add_neighbours(roots, copy, lambda path: False)
    assert {path.name for path in copy.iterdir() if path.is_symlink()} == {"c.py"}
    (copy / "b.py").unlink()
    (copy / "c.py").unlink()
    monkeypatch.setattr(writing, "_MOST_FILES", 1)
    add_neighbours(roots, copy, lambda path: False)
    assert sorted(os.listdir(copy)) == ["a.py", "b.py"]
