"""Writes a ported project: in place or as a copy of the whole tree, all files or none.

::

    write_in_place(files)  ──▶ each new text in a hidden file beside the old one, and a copy of the old one
                           ──▶ renamed, one after the other
                           └─ an error, Ctrl-C: those that were renamed are put back; hidden files are removed
    write_copy(roots, files, out)  ──▶ a hidden folder beside ``out`` ──▶ renamed

A process that is killed while it renames leaves a mixture; the copies of the old files (``.tf1sessions-old-...``) lie
beside the new ones then.
"""

from __future__ import annotations

import dataclasses
import errno
import itertools
import os
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...errors import UsageError
from ...source import files as source_files
from ...source.files import SourceText
from ..target import Target
from .interrupts import HeldInterrupts
from .rewrite import FilePort, StepPort

__all__ = [
    "add_neighbours",
    "check_out",
    "copy_tree",
    "in_copy",
    "over_all",
    "uncommitted",
    "write_copy",
    "write_in_place",
]

_NEW, _OLD = ".tf1sessions-new-", ".tf1sessions-old-"
#: How many paths one git is asked about: a command line has an end.
_PATHS_AT_ONCE = 200
#: What is beside a program is copied for a run up to these sizes (arbitrary: some milliseconds).
_SMALL_BYTES, _SMALL_FILES = 16 * 2**20, 500


def over_all(steps: Sequence[StepPort]) -> list[FilePort]:
    """Return the files before the first step and after the last one."""
    first = {file.before.path: file.before for step in reversed(steps) for file in step.files}
    last = {file.before.path: file for step in steps for file in step.files}
    return [FilePort(first[path], file.after, file.notes) for path, file in last.items()]


# -- in place ---------------------------------------------------------------------------------------------------------


@dataclasses.dataclass
class _Replacement:
    """A file that gets another content: its path, and beside it the new content and a copy of the old one."""

    path: str
    new: str
    old: str
    is_done: bool = False


def write_in_place(files: Iterable[FilePort]) -> list[Path]:
    """Write the files that have changed: all of them, or none.

    Mode bits are kept, of a symbolic link the target is written, and a file that has not changed is not touched. A file
    with further names (hard links) is refused: it would keep its old text under those.

    Returns:
        The paths of what was written.

    Raises:
        OSError: A file cannot be written; what was written before it is as it was.
        UsageError: A file is no longer what was read, has further names, or its encoding lacks a character of the new
            text.

    Thread-safety: calls from several threads must be for different files. In the main thread Ctrl-C waits until a
    moment in which nothing is half done, and then all is put back.
    """
    changed = [file for file in files if file.is_changed]
    contents = [(file, _encoded(file.after)) for file in changed]
    replacements: list[_Replacement] = []
    with HeldInterrupts() as interrupts:
        try:
            for file, data in contents:
                interrupts.check()
                _check_unchanged(file.before)
                _stage(os.path.realpath(file.before.path), data, replacements)
            for each in replacements:
                interrupts.check()
                os.replace(each.new, each.path)
                each.is_done = True
            interrupts.check()
        except BaseException:
            _put_back(replacements)
            raise
        for each in replacements:
            os.unlink(each.old)
    return [file.before.path for file in changed]


def _encoded(source: SourceText) -> bytes:
    try:
        return source.encode()
    except UnicodeEncodeError as error:
        raise UsageError(
            f"{source.shown} cannot be written in its encoding: {error}",
            next_step="Save it as UTF-8, and port it again.",
        ) from error


def _check_unchanged(source: SourceText) -> None:
    now = source_files.read(source.path, source.shown)
    if not isinstance(now, SourceText) or now.encode() != source.encode():
        raise UsageError(
            f"{source.shown} has changed since it was read", next_step="Port it again when nothing else writes it."
        )


def _stage(path: str, data: bytes, replacements: list[_Replacement]) -> None:
    """Put the new content and a copy of the old one beside a file, and add it to ``replacements``."""
    if not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
    folder = os.path.dirname(path)
    about = os.stat(path)
    if about.st_nlink > 1:
        raise UsageError(
            f"{path} has {about.st_nlink} names (hard links), and would change under this one alone",
            where="--write",
            next_step="Make it a file of its own (`cp -p FILE NEW && mv NEW FILE`), or write a copy with --out.",
        )
    each = _Replacement(path, _hidden(folder, _NEW), "")
    replacements.append(each)
    with open(each.new, "wb") as file:
        file.write(data)
        os.fchmod(file.fileno(), stat.S_IMODE(about.st_mode))
        if os.geteuid() == 0:  # others cannot give files away, and theirs are their own
            os.fchown(file.fileno(), about.st_uid, about.st_gid)
        file.flush()
        os.fsync(file.fileno())
    each.old = _hidden(folder, _OLD)
    shutil.copy2(path, each.old)
    if os.geteuid() == 0:
        os.chown(each.old, about.st_uid, about.st_gid)


def _hidden(folder: str, prefix: str) -> str:
    handle, path = tempfile.mkstemp(prefix=prefix, dir=folder)
    os.close(handle)
    return path


def _put_back(replacements: Sequence[_Replacement]) -> None:
    """Undo what was done, and remove the hidden files; where a file cannot be put back, its copy is left."""
    lost = []
    for each in replacements:
        try:
            if each.is_done:
                os.replace(each.old, each.path)
                continue
        except OSError as error:
            lost.append(f"{each.path} ({error.strerror}): what it was is in {each.old}")
            continue
        for path in filter(None, (each.new, each.old)):
            os.unlink(path)
    if lost:
        raise OSError("some files could not be put back: " + "; ".join(lost))


# -- a copy -----------------------------------------------------------------------------------------------------------


def _placed(roots: Sequence[Path]) -> dict[Path, Path]:
    """Return where each root is in a copy: a single folder is the copy itself, several things keep their names.

    Raises:
        UsageError: Two have the same name.
    """
    if len(roots) == 1 and roots[0].is_dir():
        return {roots[0]: Path()}
    found: dict[Path, Path] = {}
    for root in roots:
        name = Path(root.resolve().name)
        if name in found.values():
            raise UsageError(
                f"two of the sources are called {str(name)!r}, and there is one place for them in a copy",
                next_step="Give the folder that has both, or port them one after the other.",
            )
        found[root] = name
    return found


def check_out(roots: Sequence[Path], out: Path) -> None:
    """Refuse a folder that has something in it, or that lies in what is copied.

    Raises:
        UsageError: It says which.
    """
    folder = Path(os.path.realpath(out))
    if os.path.lexists(folder) and not folder.is_dir():
        raise UsageError(f"{str(out)!r} is no folder", where="--out", next_step="Give a folder that is not there yet.")
    if folder.is_dir() and any(folder.iterdir()):
        raise UsageError(
            f"{str(out)!r} is there, and not empty", where="--out", next_step="Give a folder that is not there yet."
        )
    for root in roots:
        real = root.resolve()
        if folder == real or (real.is_dir() and real in folder.parents):
            raise UsageError(
                f"{str(out)!r} lies in {str(root)!r}, which is copied there",
                where="--out",
                next_step="Give a folder outside of it.",
            )
    _placed(roots)


def write_copy(roots: Sequence[Path], files: Iterable[FilePort], out: Path) -> None:
    """Write the whole tree with the new texts to another folder, which appears whole or not at all.

    Args:
        roots: The files and folders that were ported; a single folder is copied itself, of several things each has
            its name below ``out``.
        files: Their files, before and after.
        out: The folder. It is not there yet, or is empty.

    Raises:
        UsageError: ``out`` cannot be written to.
        OSError: Something cannot be copied; there is no ``out`` then.

    Thread-safety: safe; of two calls for one ``out`` the second one fails.
    """
    check_out(roots, out)
    with Target(os.path.realpath(out)).whole() as folder:
        copy_tree(roots, files, Path(folder))


def copy_tree(
    roots: Sequence[Path],
    files: Iterable[FilePort],
    folder: Path,
    is_left_out: Callable[[str], bool] = lambda path: False,
) -> None:
    """Copy files and folders with new texts in place of the old ones; all else stays as it is.

    Symbolic links are kept. One that leads out of the tree, to a file whose text is another now, becomes a file. Pipes
    and sockets are left out.

    Args:
        roots: What is copied.
        files: The files before and after.
        folder: A folder that is there.
        is_left_out: Says of the path of each file and folder whether it is left out.
    """
    changed = {os.path.realpath(file.before.path): file for file in files if file.is_changed}
    contents = {path: _encoded(file.after) for path, file in changed.items()}
    written: set[str] = set()

    def copy(source: str, target: str) -> None:
        real = os.path.realpath(source)
        if real not in contents:
            shutil.copy2(source, target)
            return
        Path(target).write_bytes(contents[real])
        shutil.copymode(source, target)
        written.add(real)

    for root, inside in _placed(roots).items():
        target = folder / inside
        if root.is_dir():
            shutil.copytree(
                root, target, symlinks=True, ignore=_ignored(is_left_out), copy_function=copy, dirs_exist_ok=True
            )
        else:
            copy(os.fspath(root), os.fspath(target))
    for real in contents.keys() - written:
        path = in_copy(roots, folder, changed[real].before.path)
        path.unlink(missing_ok=True)
        path.write_bytes(contents[real])
        shutil.copymode(real, path)


def add_neighbours(roots: Sequence[Path], folder: Path, is_left_out: Callable[[str], bool]) -> None:
    """Put what lies beside the files of a copy beside them there, too: data and modules that a program reads.

    What is small is copied, so that a program may write into it; the rest is a symbolic link.

    Args:
        roots: What was copied: of the folders all is there already.
        folder: The copy.
        is_left_out: Says of the path of each file and folder whether it is left out.
    """
    for parent in dict.fromkeys(root.parent for root in roots if not root.is_dir()):
        for path in sorted(parent.iterdir()):
            target = folder / path.name
            if os.path.lexists(target) or is_left_out(os.fspath(path)) or _is_special(os.fspath(path)):
                continue
            if path.is_symlink() or not _is_small(path):
                target.symlink_to(path.resolve(), target_is_directory=path.is_dir())
            elif path.is_dir():
                shutil.copytree(path, target, symlinks=True, ignore=_ignored(is_left_out))
            else:
                shutil.copy2(path, target)


def _is_small(path: Path) -> bool:
    """Whether a file or folder has at most as many bytes and files as are copied for each run."""
    size = count = 0
    for each in itertools.chain([path], path.rglob("*") if path.is_dir() else ()):
        size, count = size + each.lstat().st_size, count + 1
        if size > _SMALL_BYTES or count > _SMALL_FILES:
            return False
    return True


def in_copy(roots: Sequence[Path], folder: Path, path: Path) -> Path:
    """Return where a file of the tree is in a copy.

    Raises:
        ValueError: It is not in the tree.
    """
    for root, inside in _placed(roots).items():
        if path.is_relative_to(root):
            return folder / inside / path.relative_to(root)
    raise ValueError(f"{path} is in none of the folders")


def _ignored(is_left_out: Callable[[str], bool]) -> Callable[[Any, list[str]], set[str]]:
    def ignored(folder: Any, names: list[str]) -> set[str]:
        paths = {name: os.path.join(folder, name) for name in names}
        return {name for name, path in paths.items() if _is_special(path) or is_left_out(path)}

    return ignored


def _is_special(path: str) -> bool:
    mode = os.lstat(path).st_mode
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode))


# -- git --------------------------------------------------------------------------------------------------------------


def uncommitted(paths: Iterable[Path]) -> list[Path]:
    """Return those files of git work trees that git could not give back: changed since the last commit, or not in it.

    So are those whose changes git ignores (``git update-index --assume-unchanged``): it would not show them.

    Files outside of work trees are not among them, and none is where git is not installed.

    Raises:
        OSError: git fails; the text is what it says.
    """
    found: list[Path] = []
    for top, files in _by_work_tree(paths).items():
        names = {os.path.relpath(os.path.realpath(path), top): path for path in files}
        for start in range(0, len(names), _PATHS_AT_ONCE):
            asked = list(names)[start : start + _PATHS_AT_ONCE]
            reported = tuple(_reported(top, asked))
            folders = tuple(each for each in reported if each.endswith("/"))
            found += [names[name] for name in asked if name in reported or name.startswith(folders)]
    return found


def _by_work_tree(paths: Iterable[Path]) -> Mapping[str, list[Path]]:
    found: dict[str, list[Path]] = {}
    for path in paths:
        for folder in Path(os.path.realpath(path)).parents:
            if os.path.lexists(folder / ".git"):
                found.setdefault(os.fspath(folder), []).append(path)
                break
    return found


def _reported(top: str, names: Sequence[str]) -> Iterator[str]:
    """Yield the names, seen from the top of the work tree, whose content git lacks or whose changes it ignores."""
    status = ["status", "--porcelain", "-z", "--untracked-files=all", "--ignored=matching"]
    for line in _git(top, [*status, "--no-renames"], names):
        yield line[3:]
    for line in _git(top, ["ls-files", "-v", "-z"], names):
        tag, name = line[0], line[2:]
        if tag == "S" or tag.islower():  # `git update-index --skip-worktree`, `--assume-unchanged`
            yield name


def _git(top: str, command: Sequence[str], names: Sequence[str]) -> list[str]:
    """The records that git prints about files; none where it is not installed.

    Raises:
        OSError: git fails; the text is what it says.
    """
    before = ["git", "-C", top, "--no-optional-locks", "--literal-pathspecs"]
    try:
        done = subprocess.run([*before, *command, "--", *names], stdin=subprocess.DEVNULL, capture_output=True)
    except FileNotFoundError:
        return []
    if done.returncode:
        raise OSError(f"git cannot say what is committed in {top}: {os.fsdecode(done.stderr).strip()}")
    return [os.fsdecode(line) for line in done.stdout.split(b"\0") if line]
