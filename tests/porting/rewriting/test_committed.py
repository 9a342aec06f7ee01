"""What git could not give back of a project that is to be written in place."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from porting_support import NAMES

from tf1sessions.porting.rewriting import committed
from tf1sessions.porting.rewriting.committed import outside_git, uncommitted


def git(folder: Path, *args: str) -> None:
    command = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", "-C", str(folder), *args]
    subprocess.run(command, check=True, capture_output=True)


def test_what_git_could_not_give_back(project: Path) -> None:
    (project / ".gitignore").write_text("ignored.py\nbuild/\n")
    (project / "sub dir").mkdir()
    (project / "build").mkdir()
    extra = ["ignored.py", "build/lib.py", "sub dir/*ñ.py"]
    for name in extra:
        (project / name).write_text("old\n")
    git(project, "init")
    paths = [project / name for name in (*NAMES, *extra)]
    assert uncommitted(paths) == paths  # nothing is committed
    git(project, "add", "a.py", "b.py", "sub dir")
    git(project, "commit", "-m", "x")
    assert sorted(uncommitted(paths)) == sorted(
        [project / "c.py", project / "ignored.py", project / "build" / "lib.py"]
    )
    (project / "b.py").write_text("mine\n")
    (project / "sub dir" / "*ñ.py").write_text("mine\n")
    assert uncommitted([project / "a.py"]) == []
    assert uncommitted([project / "b.py"]) == [project / "b.py"]
    assert uncommitted([project / "sub dir" / "*ñ.py"]) == [project / "sub dir" / "*ñ.py"]
    git(project, "add", "b.py")  # in the index is not committed
    assert uncommitted([project / "b.py", project / "a.py"]) == [project / "b.py"]


@pytest.mark.parametrize("option", ["--assume-unchanged", "--skip-worktree"])
def test_what_git_was_asked_to_ignore(project: Path, option: str) -> None:
    git(project, "init")
    git(project, "add", ".")
    git(project, "commit", "-m", "x")
    git(project, "update-index", option, "b.py")
    (project / "b.py").write_text("mine\n")
    assert uncommitted([project / name for name in NAMES]) == [project / "b.py"]


def test_what_cannot_be_known_is_an_error(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (uncommitted([project / "a.py"]), outside_git([project / "a.py"])) == ([], [project / "a.py"])
    (project / ".git").mkdir()  # and no work tree
    assert outside_git([project / "a.py"]) == []
    with pytest.raises(OSError, match="git cannot say what is committed"):
        uncommitted([project / "a.py"])
    monkeypatch.setenv("PATH", str(project))
    with pytest.raises(OSError, match="git is not on the PATH, and so cannot say what is committed in "):
        uncommitted([project / "a.py"])


def commit(project: Path, *settings: str) -> None:
    """Make a repository with these settings, and commit all files."""
    git(project, "init")
    for setting in settings:
        git(project, "config", *setting.split("=", 1))
    git(project, "add", ".")
    git(project, "commit", "-m", "x")


def same_size_and_time(path: Path) -> None:
    """Change a file as a program does that puts its time back."""
    times = path.stat().st_mtime_ns
    path.write_text(path.read_text().replace("old", "new"))
    os.utime(path, ns=(times, times))


# Each makes git's status say of b.py that it is committed, though what is in it is nowhere else.
UNSEEN = {
    "size and time": (("core.trustctime=false", "core.checkStat=minimal"), "", same_size_and_time),
    "a lossy filter": (("filter.short.clean=head -c 5",), "*.py filter=short", lambda path: None),
    "a monitor": (("core.fsmonitor=printf token",), "", lambda path: path.write_text("mine\n")),
}


@pytest.mark.parametrize("why", UNSEEN)
def test_what_git_does_not_see(project: Path, why: str) -> None:
    settings, attributes, change = UNSEEN[why]
    (project / ".gitattributes").write_text(attributes)
    for name in NAMES:  # older than the index: what is as old as that is looked at in any case
        os.utime(project / name, (1e9, 1e9))
    commit(project, *settings)
    change(project / "b.py")
    lost = [project / name for name in (NAMES if "filter" in why else ("b.py",))]
    assert uncommitted([project / name for name in NAMES]) == lost


def test_another_spelling_where_case_does_not_count(project: Path) -> None:
    commit(project, "core.ignoreCase=true")
    (project / "B.py").write_text("mine\n")
    assert uncommitted([project / "b.py", project / "B.py"]) == [project / "B.py"]


def test_what_a_checkout_would_write_is_not_lost(project: Path) -> None:
    (project / "b.py").write_bytes(b"print('old b.py')\r\n")
    commit(project, "core.autocrlf=true")
    assert uncommitted([project / "b.py"]) == []


def test_nothing_of_the_work_tree_is_run(project: Path) -> None:
    commit(project, "core.fsmonitor=touch ran;")
    (project / "ran").unlink(missing_ok=True)
    uncommitted([project / name for name in NAMES])
    assert not (project / "ran").exists()


def test_a_git_that_gives_no_answer(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit(project)
    (project / "git").write_text("#!/bin/sh\nexec sleep 60\n")
    (project / "git").chmod(0o755)
    monkeypatch.setenv("PATH", str(project), prepend=os.pathsep)
    monkeypatch.setattr(committed, "_ANSWER_SECS", 0.2)
    with pytest.raises(OSError, match="git status gave no answer in 0.2 s"):
        uncommitted([project / "a.py"])
