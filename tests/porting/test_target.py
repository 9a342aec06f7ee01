"""A folder that is written whole or not at all."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tf1sessions.errors import UsageError
from tf1sessions.porting import hidden_folders
from tf1sessions.porting.target import Target


def filled(folder: Path, text: str = "old") -> Path:
    """A folder that looks like a SavedModel."""
    folder.mkdir()
    (folder / "saved_model.pb").write_text(text)
    return folder


def seen(folder: Path) -> dict[str, str]:
    """All files below a folder, hidden ones too, and their text."""
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


def write(target: Target, text: str = "new") -> None:
    with target.whole() as folder:
        (Path(folder) / "variables").mkdir()
        (Path(folder) / "variables" / "data").write_text(text)
        (Path(folder) / "saved_model.pb").write_text(text)


def test_appears_whole(tmp_path: Path) -> None:
    target = Target.checked(tmp_path / "out", None)
    with target.whole() as folder:
        (Path(folder) / "saved_model.pb").write_text("new")
        assert Path(folder).parent == tmp_path  # on the same file system
        assert not (tmp_path / "out").exists()
    assert seen(tmp_path) == {"out/saved_model.pb": "new"}
    umask = os.umask(0)
    os.umask(umask)
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o777 & ~umask


def test_a_deleted_folder_is_said_to_be_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (gone := tmp_path / "gone").mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(UsageError, match=r"the current folder was deleted \(from OUT\)"):
        Target.checked("out", None)
    write(Target.checked(tmp_path / "out", None))
    assert "out/saved_model.pb" in seen(tmp_path)


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
@pytest.mark.parametrize("force", [False, True])
def test_an_error_leaves_all_as_it_was(tmp_path: Path, error: type[BaseException], force: bool) -> None:
    if force:
        filled(tmp_path / "out")
    before = seen(tmp_path)
    target = Target.checked(tmp_path / "out", None, force=force)
    with pytest.raises(error), target.whole() as folder:
        (Path(folder) / "saved_model.pb").write_text("half")
        raise error
    assert seen(tmp_path) == before
    assert os.listdir(tmp_path) == (["out"] if force else [])


def test_force_replaces(tmp_path: Path) -> None:
    old = filled(tmp_path / "out")
    (old / "assets").mkdir()
    target = Target.checked(old, None, force=True)
    with target.whole() as folder:
        (Path(folder) / "saved_model.pb").write_text("new")
        assert seen(old) == {"saved_model.pb": "old"}
    assert seen(tmp_path) == {"out/saved_model.pb": "new"} and os.listdir(old) == ["saved_model.pb"]
    assert os.listdir(tmp_path) == ["out"]


def test_force_replaces_where_the_system_cannot_exchange(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda *args, **options: object())
    write(Target.checked(filled(tmp_path / "out"), None, force=True))
    assert seen(tmp_path) == {"out/saved_model.pb": "new", "out/variables/data": "new"}
    assert os.listdir(tmp_path) == ["out"]


def test_force_without_anything_to_replace(tmp_path: Path) -> None:
    write(Target.checked(tmp_path / "out", None, force=True))
    (tmp_path / "empty").mkdir()
    write(Target.checked(tmp_path / "empty", None, force=True))
    assert sorted(os.listdir(tmp_path)) == ["empty", "out"] and seen(tmp_path / "empty") == seen(tmp_path / "out")


def test_force_replaces_all_that_a_saved_model_has(tmp_path: Path) -> None:
    old = filled(tmp_path / "out", "\x12\x0alabels.txt")
    for folder in ("variables", "assets", "assets.extra/deep", "debug"):
        (old / folder).mkdir(parents=True)
    for name in (
        "fingerprint.pb",
        "keras_metadata.pb",
        "variables/variables.index",
        "variables/variables.data-00000-of-00001",
        "assets/labels.txt",
        "assets.extra/tf_serving_warmup_requests",
        "assets.extra/deep/any",
        "debug/saved_model_debug_info.pb",
    ):
        (old / name).write_text("old")
    write(Target.checked(old, None, force=True))
    assert seen(tmp_path) == {"out/saved_model.pb": "new", "out/variables/data": "new"}


@pytest.mark.parametrize(
    "name",
    [
        "labels.txt", "notes/n", "old.pb", ".git/config", "fingerprint.pb/n", "variables/notes.txt", "variables/old/n",
        "variables/my_variables.index", "assets/labels", "assets/old/labels.txt", "debug/trace.json",
    ],
)  # fmt: skip
def test_force_keeps_what_is_no_part_of_a_saved_model(tmp_path: Path, name: str) -> None:
    old = filled(tmp_path / "out", "\x12\x0alabels.txt")
    (old / "variables").mkdir()
    (old / "variables" / "variables.index").write_text("old")
    (old / name).parent.mkdir(parents=True, exist_ok=True)
    (old / name).write_text("mine")
    before = seen(tmp_path)
    shown = name if name.startswith(("variables", "assets", "debug")) else name.partition("/")[0]
    shown = shown if "/old/" not in name else str(Path(name).parent)
    with pytest.raises(UsageError) as caught:
        Target.checked(old, None, force=True)
    assert f"has other things in it than a SavedModel: {shown} (" in str(caught.value)
    assert seen(tmp_path) == before


def test_force_names_few_of_many(tmp_path: Path) -> None:
    old = filled(tmp_path / "out")
    for number in range(9):
        (old / f"{number}.txt").write_text("mine")
    with pytest.raises(UsageError, match=r"SavedModel: 0.txt, 1.txt, 2.txt, 3.txt, 4.txt and 4 more"):
        Target.checked(old, None, force=True)


def test_force_keeps_what_has_come_there_meanwhile(tmp_path: Path) -> None:
    old = filled(tmp_path / "out")
    with pytest.raises(UsageError, match=r"labels\.txt"), Target.checked(old, None, force=True).whole() as folder:
        (Path(folder) / "saved_model.pb").write_text("new")
        (old / "labels.txt").write_text("mine")
    assert seen(tmp_path) == {"out/saved_model.pb": "old", "out/labels.txt": "mine"}


def test_links_that_lead_nowhere_are_kept(tmp_path: Path) -> None:
    with Target(tmp_path / "out").whole() as folder:
        for name, end in (("gone", "nowhere"), ("circle", "circle")):
            (Path(folder) / name).symlink_to(end)
    assert sorted(path.readlink().name for path in (tmp_path / "out").iterdir()) == ["circle", "nowhere"]


def test_a_link_leads_to_its_folder(tmp_path: Path) -> None:
    filled(tmp_path / "there")
    (tmp_path / "link").symlink_to(tmp_path / "there")
    write(Target.checked(tmp_path / "link", None, force=True))
    assert (tmp_path / "link").is_symlink() and seen(tmp_path / "there")["saved_model.pb"] == "new"


def test_what_comes_meanwhile_is_kept(tmp_path: Path) -> None:
    target = Target.checked(tmp_path / "out", None)
    with pytest.raises(UsageError, match="has come to be while"), target.whole() as folder:
        (Path(folder) / "saved_model.pb").write_text("new")
        filled(tmp_path / "out", "theirs")
    assert seen(tmp_path) == {"out/saved_model.pb": "theirs"}


def test_folders_above_are_made_and_removed(tmp_path: Path) -> None:
    target = Target.checked(tmp_path / "a" / "b" / "out", None)
    assert os.listdir(tmp_path) == []
    with pytest.raises(RuntimeError), target.whole():
        raise RuntimeError
    assert os.listdir(tmp_path) == []
    write(target)
    assert sorted(seen(tmp_path)) == ["a/b/out/saved_model.pb", "a/b/out/variables/data"]


def test_a_kill_leaves_the_folder_as_it_was(tmp_path: Path) -> None:
    filled(tmp_path / "out")
    code = """
import os, pathlib, signal, sys
from tf1sessions.porting import hidden_folders
from tf1sessions.porting.target import Target
with Target.checked(sys.argv[1], None, force=True).whole() as folder:
    pathlib.Path(folder, "saved_model.pb").write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "out")], timeout=60)
    assert done.returncode == -signal.SIGKILL
    assert seen(tmp_path / "out") == {"saved_model.pb": "old"}
    (left,) = (name for name in os.listdir(tmp_path) if name != "out")
    assert left.startswith(".out.tf1sessions-")  # which says what it is
    write(Target.checked(tmp_path / "out", None, force=True))
    assert os.listdir(tmp_path) == ["out"] and seen(tmp_path / "out")["saved_model.pb"] == "new"


def test_a_folder_that_a_living_process_owns_is_left(tmp_path: Path) -> None:
    """Another target's is, too, and one that has the only copy of what was to be replaced."""
    names = {".out.tf1sessions-0123abcd": [], ".other.tf1sessions-0123abcd": [], ".out.tf1sessions-0123abcd-old": []}
    for name in names:
        (tmp_path / name).mkdir()
    copy = tmp_path / ".out.tf1sessions-00000000" / hidden_folders.REPLACED
    copy.mkdir(parents=True)
    (copy / "out.index").touch()
    with Target.checked(tmp_path / "out", None).whole() as one:
        (Path(one) / "saved_model.pb").write_text("one")
        assert not (tmp_path / ".out.tf1sessions-0123abcd").exists()
        with pytest.raises(RuntimeError), Target.checked(tmp_path / "out", None).whole() as other:
            assert other != one and (Path(one) / "saved_model.pb").exists()
            raise RuntimeError
    left = [copy.parent.name, ".other.tf1sessions-0123abcd", ".out.tf1sessions-0123abcd-old", "out"]
    assert sorted(os.listdir(tmp_path)) == sorted(left)


def test_a_folder_that_is_taken_for_left_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process may see it before it is locked: it has the lock by then, or the folder is gone."""
    locked, seen_by_another = hidden_folders._locked, []

    def _locked(folder: str) -> tuple[int | None, bool | None]:
        seen_by_another.append(folder)
        if len(seen_by_another) == 1:
            handle, _ = locked(folder)
            handles.append(handle)
            return locked(folder)
        if len(seen_by_another) == 2:
            os.rmdir(folder)
        return locked(folder)

    handles: list[int | None] = []
    monkeypatch.setattr(hidden_folders, "_locked", _locked)
    with hidden_folders.hidden_folder(str(tmp_path / "out")) as folder:
        assert folder == seen_by_another[2] and os.path.isdir(folder)
    for handle in handles:
        assert handle is not None
        os.close(handle)
    assert [path.name for path in tmp_path.iterdir()] == [os.path.basename(seen_by_another[0])]  # that one's to remove


def test_where_there_are_no_locks_nothing_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def flock(handle: int, how: int) -> None:
        raise OSError(9, "Bad file descriptor")

    monkeypatch.setattr(hidden_folders.fcntl, "flock", flock)
    (tmp_path / ".out.tf1sessions-0123abcd").mkdir()
    write(Target.checked(tmp_path / "out", None))
    assert sorted(os.listdir(tmp_path)) == [".out.tf1sessions-0123abcd", "out"]


@pytest.mark.parametrize(
    ("out", "force", "message"),
    [
        ("", False, "the output is ''"),
        ("a\0b", False, "the output is"),
        ("gs://bucket/out", False, "is not on this machine"),
        ("model", False, "is the model that is read"),
        ("model", True, "is the model that is read"),
        ("model/tf2", True, "is inside the model that is read"),
        ("link/tf2", False, "is inside the model that is read"),
        (".", True, "has the model that is read in it"),
        ("file", True, "is a file"),
        ("file/out", False, "is a file"),
        ("saved", False, "is there already.*--force"),
        ("empty", False, "is there already"),
        ("home", True, "has other things in it than a SavedModel: .config, thesis.txt"),
        ("parts", True, "has other things in it than a SavedModel: variables"),
        ("o" * 256, False, "File name too long"),
        ("o/" * 2500, False, "File name too long"),
        ("o\udcff", False, "is not UTF-8"),
    ],
)
def test_is_refused_before_any_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, out: str, force: bool, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("model", "saved"):
        filled(tmp_path / name)
    (tmp_path / "link").symlink_to("model")
    for name in ("home", "empty", "parts", "parts/variables"):
        (tmp_path / name).mkdir()
    for name in ("file", "home/thesis.txt", "home/.config"):
        (tmp_path / name).write_text("mine")
    before = seen(tmp_path)
    with pytest.raises(UsageError, match=message) as caught:
        Target.checked(out, "model", force=force)
    assert caught.value.where == "OUT" and caught.value.next_step
    assert seen(tmp_path) == before


@pytest.mark.parametrize("folder", ["saved", "empty"])
@pytest.mark.parametrize("out", [".", "../{folder}", "link"])
def test_the_current_folder_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str, out: str
) -> None:
    """The caller would be left in a folder that is gone."""
    filled(tmp_path / "saved")
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / folder)
    (tmp_path / "link").symlink_to(folder)
    with pytest.raises(UsageError, match="is the current folder"):
        Target.checked(out.format(folder=folder) if out != "link" else tmp_path / out, None, force=True)
    with Target.checked(tmp_path / "other", None, force=True).whole() as other:
        filled(Path(other) / "variables")


def test_a_file_is_no_folder_to_be_inside_of(tmp_path: Path) -> None:
    """A checkpoint's prefix, a .pb: what is beside them is not inside of them."""
    filled(tmp_path / "export")
    assert not Target.checked(tmp_path / "export" / "tf2", str(tmp_path / "export" / "saved_model.pb")).replaces
    assert not Target.checked(tmp_path / "model.ckpt-2", str(tmp_path / "model.ckpt-1")).replaces


def test_where_writing_is_not_allowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root may write everywhere, so it is said that it may not."""
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(UsageError, match="is not writable"):
        Target.checked(tmp_path / "out", None)
    monkeypatch.undo()
    target = Target.checked("/proc/no/such/out", None) if os.access("/proc", os.W_OK) else None
    if target is not None:
        with pytest.raises(UsageError, match="cannot be written"), target.whole():
            pass


def test_a_signal_right_after_the_folder_is_made_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = os.mkdir

    def interrupted(path: str) -> None:
        make(path)
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "mkdir", interrupted)
    with pytest.raises(KeyboardInterrupt), hidden_folders.hidden_folder(str(tmp_path / "out")):
        pass
    assert os.listdir(tmp_path) == []


def test_a_folder_of_another_process_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hidden_folders.secrets, "token_hex", lambda count: "ab" * count)
    (tmp_path / ".out.tf1sessions-abababab" / "old" / "kept").mkdir(parents=True)
    with pytest.raises(FileExistsError), hidden_folders.hidden_folder(str(tmp_path / "out")):
        pass
    assert (tmp_path / ".out.tf1sessions-abababab" / "old" / "kept").is_dir()
