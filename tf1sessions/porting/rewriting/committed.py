"""Files that git could not give back, which ``port --write`` asks for before it replaces them.

Two questions, as neither alone is enough. ``git status`` and the flags of the index say what is not committed, or is
hidden. They go by a file's size and times, by what a monitor of the file system says, by spelling where case does not
count, and by what a filter makes of the file. So what they call committed is held against git's own bytes, too.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

__all__ = ["outside_git", "uncommitted"]

#: How many paths one git is asked about: a command line has an end.
_PATHS_AT_ONCE = 200
#: For at most that many files git takes some seconds, also where nothing is in memory; arbitrary.
_ANSWER_SECS = 120.0
#: A monitor of the file system is a program that the work tree's settings name: it is not run, nor believed.
_COMMAND = ("git", "-c", "core.fsmonitor=false", "--no-optional-locks", "--literal-pathspecs")


def uncommitted(paths: Iterable[Path]) -> list[Path]:
    """Return those files of git work trees that git could not give back: changed since the last commit, or not in it.

    So are those whose changes git ignores (``git update-index --assume-unchanged``) or does not see: it would not
    show them. Where a filter of git's changes a file, what counts is what a checkout would write.

    Files outside of work trees are not among them; :func:`outside_git` has those.

    Raises:
        OSError: git is not there, or fails, and the text is what it says; it gives no answer; or a file cannot be read.
    """
    found: list[Path] = []
    for top, files in _by_work_tree(paths).items():
        names = {os.path.relpath(os.path.realpath(path), top): path for path in files}
        for start in range(0, len(names), _PATHS_AT_ONCE):
            asked = list(names)[start : start + _PATHS_AT_ONCE]
            reported = tuple(_reported(top, asked))
            folders = tuple(each for each in reported if each.endswith("/"))
            is_lost = {name for name in asked if name in reported or name.startswith(folders)}
            is_lost.update(_other_than_stored(top, [name for name in asked if name not in is_lost]))
            found += [names[name] for name in asked if name in is_lost]
    return found


def outside_git(paths: Iterable[Path]) -> list[Path]:
    """Return those files that are in no work tree of git."""
    return [path for path in paths if _work_tree(path) is None]


def _by_work_tree(paths: Iterable[Path]) -> Mapping[str, list[Path]]:
    found: dict[str, list[Path]] = {}
    for path in paths:
        top = _work_tree(path)
        if top is not None:
            found.setdefault(top, []).append(path)
    return found


def _work_tree(path: Path) -> str | None:
    for folder in Path(os.path.realpath(path)).parents:
        if os.path.lexists(folder / ".git"):
            return os.fspath(folder)
    return None


def _reported(top: str, names: Sequence[str]) -> Iterator[str]:
    """Yield the names, seen from the top of the work tree, whose content git lacks or whose changes it ignores."""
    status = ["status", "--porcelain", "-z", "--untracked-files=all", "--ignored=matching"]
    for line in _records(top, [*status, "--no-renames"], names):
        yield line[3:]
    for line in _records(top, ["ls-files", "-v", "-z"], names):
        tag, name = line[0], line[2:]
        if tag == "S" or tag.islower():  # `git update-index --skip-worktree`, `--assume-unchanged`
            yield name


def _other_than_stored(top: str, names: Sequence[str]) -> Iterator[str]:
    """Yield the names whose bytes are neither those that git has stored nor those that a checkout would write."""
    if not names:
        return
    stored = dict(map(_entry, _records(top, ["ls-files", "-s", "-z"], names)))
    hashes = _output(top, ["hash-object", "--no-filters"], names)
    for name, digest in zip(names, hashes.decode().split(), strict=True):
        if name not in stored:
            yield name
        elif stored[name] != digest:
            written = _output(top, ["cat-file", "--filters", f"--path={name}", stored[name]], [])
            if written != Path(top, name).read_bytes():
                yield name


def _entry(record: str) -> tuple[str, str]:
    """The name and the hash of a record of ``git ls-files -s``."""
    about, _, name = record.partition("\t")
    return name, about.split()[1]


def _records(top: str, command: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return the records, with NUL between them, that git prints about files."""
    return [os.fsdecode(line) for line in _output(top, command, names).split(b"\0") if line]


def _output(top: str, command: Sequence[str], names: Sequence[str]) -> bytes:
    """Return what git prints about files.

    Raises:
        OSError: git is not there, or fails, and the text is what it says; or it gives no answer.
    """
    files = ["--", *names] if names else []
    try:
        done = subprocess.run(
            [*_COMMAND, "-C", top, *command, *files],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_ANSWER_SECS,
        )
    except FileNotFoundError:
        raise OSError(f"git is not on the PATH, and so cannot say what is committed in {top}") from None
    except subprocess.TimeoutExpired:
        raise OSError(f"git {command[0]} gave no answer in {_ANSWER_SECS:g} s in {top}") from None
    if done.returncode:
        raise OSError(f"git cannot say what is committed in {top}: {os.fsdecode(done.stderr).strip()}")
    return done.stdout
