"""Writes a ported project: in place or as a copy of the whole tree, all files or none.

::

    write_in_place(files)  ──▶ each new text in a hidden file beside the old one, and a copy of the old one
                           ──▶ replacing.py, a process of its own: renamed, one after the other
                           └─ an error, Ctrl-C, a kill of this process: all is put back, or all is done
    write_copy(roots, files, out)  ──▶ a hidden folder beside ``out`` ──▶ renamed

What stops both processes at once while files are renamed, such as a power cut, leaves a mixture; the copies of the old
files (``.tf1sessions-old-...``) lie beside the new ones then.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import secrets
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from ...errors import UsageError
from ...files import walk
from ...source import files as source_files
from ...source.files import SourceText
from ..target import Target
from . import replacing
from .interrupts import HeldInterrupts
from .rewrite import FilePort, StepPort

__all__ = [
    "add_neighbours",
    "add_surroundings",
    "beside",
    "check_out",
    "copy_tree",
    "in_copy",
    "over_all",
    "write_copy",
    "write_in_place",
]

_NEW, _OLD = ".tf1sessions-new-", ".tf1sessions-old-"
#: How many files are named that cannot be copied.
_NAMES_SHOWN = 5
#: Up to which size a file beside a program is copied for a run, and how much in all. Arbitrary: a tenth of a second.
_SMALL_BYTES, _COPIED_BYTES = 4 * 2**20, 64 * 2**20
#: How many files beside a program come along. Arbitrary: more than data sets of single images have.
_MOST_FILES = 200_000


def over_all(steps: Sequence[StepPort]) -> list[FilePort]:
    """Return the files before the first step and after the last one."""
    first = {file.before.path: file.before for step in reversed(steps) for file in step.files}
    last = {file.before.path: file for step in steps for file in step.files}
    return [FilePort(first[path], file.after, file.notes) for path, file in last.items()]


# -- in place ---------------------------------------------------------------------------------------------------------


def write_in_place(files: Iterable[FilePort]) -> list[Path]:
    """Write the files that have changed: all of them, or none, also when this process is killed meanwhile.

    Mode bits are kept, of a symbolic link the target is written, and a file that has not changed is not touched. A file
    with further names (hard links) is refused: it would keep its old text under those.

    Returns:
        The paths of what was written.

    Raises:
        OSError: A file cannot be written; what was written before it is as it was.
        UsageError: A file is no longer what was read, has further names, or its encoding lacks a character of the new
            text.

    Thread-safety: calls from several threads must be for different files. In the main thread Ctrl-C waits until a
    moment in which nothing is half done: before the first file is renamed nothing is written, after it all.
    """
    changed = [file for file in files if file.is_changed]
    contents = [(file, _encoded(file.after)) for file in changed]
    if not changed:
        return []
    with HeldInterrupts() as interrupts, _Replacer() as replacer:
        for file, data in contents:
            interrupts.check()
            _check_unchanged(file.before)
            _stage(os.path.realpath(file.before.path), data, replacer)
        interrupts.check()
        replacer.commit()
    return [file.before.path for file in changed]


class _Replacer:
    """The process of replacing.py, which outlives this one as long as it has to; leaving the block ends it."""

    def __init__(self) -> None:
        command = [sys.executable, "-I", "-S", replacing.__file__]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, start_new_session=True, cwd="/", text=True)
        self._replacements: list[dict[str, str]] = []

    def __enter__(self) -> _Replacer:
        return self

    def add(self, path: str, new: str, old: str) -> None:
        """Tell it of a file, with the names of two hidden ones that are made next."""
        self._replacements.append({"path": path, "new": new, "old": old})
        self._send(self._replacements[-1])

    def commit(self) -> None:
        """Have all files renamed.

        Raises:
            OSError: One could not be, and all are as they were.
        """
        self._send("commit")
        said = self._ended()
        if said is None:  # it was killed itself
            is_done, lost = replacing.settle(self._replacements)
            _raise_lost(lost)
            if is_done:
                return
            raise OSError("the process that was to write the files was killed; they are as they were")
        _raise_lost(said["lost"])
        if said["error"]:
            raise OSError(*said["error"])

    def _send(self, what: object) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it was killed: commit() says so
            self._process.stdin.write(json.dumps(what) + "\n")
            self._process.stdin.flush()

    def _ended(self) -> dict[str, Any] | None:
        """Wait for its end, and return what it says; None where it was killed."""
        said, _ = self._process.communicate()
        return json.loads(said) if said.endswith("\n") else None

    def __exit__(self, *exception: object) -> None:
        if self._process.returncode is None and self._ended() is None:
            replacing.put_back(self._replacements)


def _raise_lost(lost: Sequence[Sequence[str]]) -> None:
    if lost:
        texts = [f"{path} ({why}): what it was is in {copy}" for path, why, copy in lost]
        raise OSError("some files could not be put back: " + "; ".join(texts))


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


def _stage(path: str, data: bytes, replacer: _Replacer) -> None:
    """Put the new content and a copy of the old one beside a file, for the replacer."""
    if not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
    about = os.stat(path)
    if about.st_nlink > 1:
        raise UsageError(
            f"{path} has {about.st_nlink} names (hard links), and would change under this one alone",
            where="--write",
            next_step="Make it a file of its own (`cp -p FILE NEW && mv NEW FILE`), or write a copy with --out.",
        )
    folder, number = os.path.dirname(path), secrets.token_hex(6)
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), folder)
    new, old = (os.path.join(folder, f"{prefix}{number}") for prefix in (_NEW, _OLD))
    replacer.add(path, new, old)
    with open(new, "xb") as file:
        file.write(data)
        os.fchmod(file.fileno(), stat.S_IMODE(about.st_mode))
        if os.geteuid() == 0:  # others cannot give files away, and theirs are their own
            os.fchown(file.fileno(), about.st_uid, about.st_gid)
        file.flush()
        os.fsync(file.fileno())
    shutil.copy2(path, old)
    if os.geteuid() == 0:
        os.chown(old, about.st_uid, about.st_gid)


# -- a copy -----------------------------------------------------------------------------------------------------------


def _placed(roots: Sequence[Path]) -> dict[Path, Path]:
    """Return where each root is in a copy: a single folder is the copy itself, several things keep their names.

    Raises:
        UsageError: Two have the same name.
    """
    if len(roots) == 1 and os.path.isdir(roots[0]):
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
        OSError: Something cannot be copied, and is named; there is no ``out`` then.

    Thread-safety: safe; of two calls for one ``out`` the second one fails.
    """
    check_out(roots, out)
    with Target(os.path.realpath(out)).whole() as folder:
        try:
            copy_tree(roots, files, Path(folder))
        except shutil.Error as error:
            names = [str(source) for source, *_ in error.args[0]]
            more = f" and {len(names) - _NAMES_SHOWN:,} more" if len(names) > _NAMES_SHOWN else ""
            raise OSError(
                f"cannot be copied: {', '.join(names[:_NAMES_SHOWN])}{more}: {error.args[0][0][2]}"
            ) from error


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

    Raises:
        OSError: Something cannot be copied, or folders are nested too deep.
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
        if os.path.isdir(root):
            try:
                shutil.copytree(
                    root, target, symlinks=True, ignore=_ignored(is_left_out), copy_function=copy, dirs_exist_ok=True
                )
            except RecursionError:
                raise OSError(errno.ENAMETOOLONG, "its folders are nested too deep for a copy", str(root)) from None
        else:
            copy(os.fspath(root), os.fspath(target))
    for real in contents.keys() - written:
        path = in_copy(roots, folder, changed[real].before.path)
        path.unlink(missing_ok=True)
        path.write_bytes(contents[real])
        shutil.copymode(real, path)


def add_neighbours(roots: Sequence[Path], folder: Path, is_left_out: Callable[[str], bool]) -> None:
    """Put what lies beside the files of a copy beside them there, too: data and modules that a program reads.

    What a program saves there does not get into the original: folders are new, and files are copies. A large file is a
    symbolic link, which is replaced where a program writes another file and renames it, as savers do.

    Args:
        roots: What was copied: of the folders all is there already.
        folder: The copy.
        is_left_out: Says of the path of each file and folder whether it is left out. So are pipes and sockets, folders
            that this user may not read, and what is beyond ``_MOST_FILES`` files.
    """
    copied, added = 0, 0
    for top in beside(roots):
        for inside, folders, others in walk(top):
            here = folder / os.path.relpath(inside, top)
            here.mkdir(exist_ok=True)
            names = [*folders, *others] if os.access(inside, os.X_OK) else []
            paths = {name: os.path.join(inside, name) for name in names}
            left_out = {name for name, path in paths.items() if is_left_out(path) or _is_special(path)}
            left_out |= {name for name, path in paths.items() if os.path.isdir(path) and os.path.samefile(path, folder)}
            folders[:] = [name for name in folders if name in paths and name not in left_out]
            for name in sorted(paths.keys() - left_out):
                if _is_own_folder(paths[name]) or os.path.lexists(here / name):
                    continue
                copied += _add(paths[name], here / name, _COPIED_BYTES - copied, top)
                added += 1
                if added == _MOST_FILES:
                    return


def add_surroundings(top: Path, folder: Path) -> None:
    """Put links beside a copy to what lies beside the original, which a program may read as ``../data``.

    Args:
        top: What is copied.
        folder: The copy. Nothing but it is in its folder yet.
    """
    if not os.access(top.parent, os.R_OK | os.X_OK):
        return
    for name in sorted(set(os.listdir(top.parent)) - {top.name, folder.name}):
        (folder.parent / name).symlink_to(top.parent / name)


def beside(roots: Sequence[Path]) -> list[Path]:
    """The folders of those roots that are files."""
    return list(dict.fromkeys(root.parent for root in roots if not root.is_dir()))


def _is_own_folder(path: str) -> bool:
    return os.path.isdir(path) and not os.path.islink(path)


def _add(path: str, target: Path, most: int, top: Path) -> int:
    """Copy a file of at most so many bytes, or put a link to it; return how many were copied.

    A relative link that leads to something below ``top`` leads to what is there in the copy.
    """
    size, real = os.lstat(path).st_size, Path(os.path.realpath(path))
    if os.path.islink(path):
        link = os.readlink(path)
        is_inside = not os.path.isabs(link) and real.is_relative_to(os.path.realpath(top))
        target.symlink_to(link if is_inside else real)
    elif size <= min(most, _SMALL_BYTES) and os.access(path, os.R_OK):
        shutil.copy2(path, target)
        return size
    else:
        target.symlink_to(real)
    return 0


def in_copy(roots: Sequence[Path], folder: Path, path: Path) -> Path:
    """Return where a file of the tree, or what lies beside one, is in a copy.

    Raises:
        ValueError: It is neither.
    """
    for root, inside in _placed(roots).items():
        if path.is_relative_to(root):
            return folder / inside / path.relative_to(root)
    for top in beside(roots):
        if path.is_relative_to(top):
            return folder / path.relative_to(top)
    raise ValueError(f"{path} is in none of the folders")


def _ignored(is_left_out: Callable[[str], bool]) -> Callable[[Any, list[str]], set[str]]:
    def ignored(folder: Any, names: list[str]) -> set[str]:
        paths = {name: os.path.join(folder, name) for name in names}
        return {name for name, path in paths.items() if _is_special(path) or is_left_out(path)}

    return ignored


def _is_special(path: str) -> bool:
    mode = os.lstat(path).st_mode
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode))
