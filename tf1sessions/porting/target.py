"""The place where a converted model goes: a folder that is written whole or not at all.

::

    Target(out)  ──▶ checked, before any work ──▶ whole() ──▶ a hidden folder beside it ──▶ synced ──▶ out
                                                     └─ an error, Ctrl-C: removed, and out is as it was
                                                     └─ SIGKILL: out is as it was; the next one removes the folder

Where a SavedModel is replaced, the two folders change places in one step, so there is one of the two at any time.
"""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import errno
import mmap
import os
import re
from collections.abc import Iterator

from tf1sessions.errors import UsageError
from tf1sessions.porting.hidden_folders import hidden_folder

__all__ = ["Target"]

_SAVED_MODEL_FILES = ("saved_model.pb", "saved_model.pbtxt")
_FILES_BESIDE = (*_SAVED_MODEL_FILES, "fingerprint.pb", "keras_metadata.pb")
# By folder, the files that TensorFlow writes there. Those of assets have names of the model's own: see _is_asset().
_FOLDERS_BESIDE = {
    "variables": re.compile(r"variables([.-].*)?"),
    "debug": re.compile(r"saved_model_debug_info\.pb"),
    "assets": re.compile(""),
    "assets.extra": re.compile(".*", re.DOTALL),
}
_NAMES_SHOWN = 5
# Of Linux's fcntl.h and fs.h.
_CURRENT_FOLDER = -100
_EXCHANGE = 2


@dataclasses.dataclass(frozen=True)
class Target:
    """A folder that is to be written.

    Attributes:
        folder: Its absolute path.
        replaces: Whether there is a SavedModel that it takes the place of.

    Thread-safety: two threads or processes that write one folder do not mix; the last one's stays.
    """

    folder: str
    replaces: bool = False

    @classmethod
    def checked(cls, out: str | os.PathLike[str], source: str | None, *, force: bool = False) -> Target:
        """A target that can be written, as far as can be known before it is.

        Args:
            out: The path of the folder; what is missing above it is made.
            source: The path of the model that is read, or None.
            force: Whether a SavedModel that is there may be replaced. Nothing else ever is.

        Raises:
            UsageError: There is something already; it lies in the model that is read, or the other way round; or it
                cannot be written there.
        """
        name = os.fspath(out)
        if not isinstance(name, str) or not name or "\0" in name:
            raise _wrong(f"the output is {name!r}", "Give the path of a folder.")
        if "://" in name:
            raise _wrong(f"the output {name!r} is not on this machine", "Write it to a local folder, and copy that.")
        try:
            folder = os.path.realpath(name)
        except FileNotFoundError as error:
            raise _wrong("the current folder was deleted", "Change to one that exists.") from error
        if found := re.search(r"[\[\\]", folder):
            raise _wrong(
                f"the output {folder!r} has a {found[0]!r}: TensorFlow takes it for a pattern, and finds no variables",
                "Give a folder without [ and \\ in its path.",
            )
        _check_path(folder, name)
        if source is not None and "://" not in source:
            _check_apart(folder, name, os.path.realpath(source))
        if os.path.lexists(folder):
            _check_replaceable(folder, name, force)
        above = _nearest_folder(folder)
        if not os.access(above, os.W_OK | os.X_OK):
            raise _wrong(f"{name!r} cannot be written: {above!r} is not writable", "Give a folder of your own.")
        return cls(folder, os.path.lexists(folder))

    @contextlib.contextmanager
    def whole(self) -> Iterator[str]:
        """Gives an empty folder to write to, and puts it into place when the block ends without an error.

        Raises:
            UsageError: There can be no folder, or something has come there meanwhile.
            OSError: It cannot be put into place.
        """
        above = os.path.dirname(self.folder)
        made = _missing_folders(above)
        stack = contextlib.ExitStack()
        try:
            try:
                os.makedirs(above, exist_ok=True)
                temporary = stack.enter_context(hidden_folder(self.folder))
            except OSError as error:
                raise _wrong(
                    f"{self.folder!r} cannot be written: {error.strerror}", "Give a folder of your own."
                ) from error
            yield temporary
            _sync(temporary)
            self._put_into_place(temporary)
            made = []
        finally:
            stack.close()  # it removes the old one, where one was replaced
            for folder in made:
                with contextlib.suppress(OSError):  # another process uses it by now
                    os.rmdir(folder)

    def _put_into_place(self, temporary: str) -> None:
        if self.replaces and os.path.isdir(self.folder):
            _check_replaceable(self.folder, self.folder, True)  # a file may have come there meanwhile
            _exchange(temporary, self.folder)
        else:
            try:
                os.rename(temporary, self.folder)  # onto an empty folder, too
            except OSError as error:
                if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
                    raise
                raise _wrong(
                    f"{self.folder!r} has come to be while the model was converted", "Give another name."
                ) from error
        _sync_one(os.path.dirname(self.folder))


def _wrong(message: str, step: str) -> UsageError:
    return UsageError(message, where="OUT", next_step=step)


def _check_path(folder: str, name: str) -> None:
    """A path that this system or TensorFlow cannot take would otherwise be an error after all the work."""
    if any("\ud800" <= letter <= "\udfff" for letter in folder):
        raise _wrong(f"the output {name!r} is not UTF-8, which TensorFlow wants", "Give another path.")
    try:
        os.lstat(folder)
    except (FileNotFoundError, NotADirectoryError):
        pass
    except OSError as error:
        raise _wrong(f"{name!r} cannot be written: {error.strerror}", "Give a folder of your own.") from error


def _check_apart(folder: str, name: str, source: str) -> None:
    if folder == source:
        raise _wrong(f"{name!r} is the model that is read", "Give another folder.")
    if os.path.isdir(source) and folder.startswith(source + os.sep):
        raise _wrong(f"{name!r} is inside the model that is read, {source!r}", "Give a folder outside of it.")
    if source.startswith(folder + os.sep):
        raise _wrong(f"{name!r} has the model that is read in it, {source!r}", "Give another folder.")


def _check_replaceable(folder: str, name: str, force: bool) -> None:
    if not os.path.isdir(folder):
        raise _wrong(f"{name!r} is a file", "Give the path of a folder that is not there yet.")
    if not force:
        raise _wrong(f"{name!r} is there already", "Give another name, or --force (force=True) to replace it.")
    inside = os.listdir(folder)
    others = _foreign(folder) if set(inside) & set(_SAVED_MODEL_FILES) else sorted(inside)
    if others:
        more = f" and {len(others) - _NAMES_SHOWN} more" if len(others) > _NAMES_SHOWN else ""
        raise _wrong(
            f"{name!r} has other things in it than a SavedModel: {', '.join(others[:_NAMES_SHOWN])}{more}",
            "Give another name, or move them away: nothing but a SavedModel is ever replaced.",
        )
    if os.path.samefile(folder, os.curdir):  # the caller would be left in the old one, which is removed
        raise _wrong(f"{name!r} is the current folder, which cannot be replaced", "Call from another folder.")


def _foreign(folder: str) -> list[str]:
    """Names of what lies in a SavedModel's folder and is no part of it, sorted."""
    found = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir() and entry.name in _FOLDERS_BESIDE:
                found += _foreign_below(folder, entry.name)
            elif entry.is_dir() or entry.name not in _FILES_BESIDE:
                found.append(entry.name)
    return sorted(found)


def _foreign_below(folder: str, kind: str) -> list[str]:
    found = []
    with os.scandir(os.path.join(folder, kind)) as entries:
        for entry in entries:
            own = _FOLDERS_BESIDE[kind].fullmatch(entry.name) or (kind == "assets" and _is_asset(folder, entry.name))
            if not own or (entry.is_dir() and kind != "assets.extra"):
                found.append(os.path.join(kind, entry.name))
    return found


def _is_asset(folder: str, name: str) -> bool:
    """Whether a SavedModel names an asset, looked up without parsing what may have gigabytes."""
    raw = os.fsencode(name)
    # In bytes, AssetFileDef.filename is field 2: its tag, its length, in one byte below 128, and the text.
    field = (bytes([0x12, len(raw)]) if len(raw) < 128 else b"") + raw
    return any(
        _holds(os.path.join(folder, file), raw if file.endswith("txt") else field) for file in _SAVED_MODEL_FILES
    )


def _holds(path: str, wanted: bytes) -> bool:
    """Whether these bytes are somewhere in a file."""
    try:
        with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return data.find(wanted) >= 0
    except (OSError, ValueError):  # it is not there, or empty
        return False


def _nearest_folder(path: str) -> str:
    """The folder above a path that is there; or what is there in its place."""
    above = os.path.dirname(path)
    while not os.path.lexists(above):
        above = os.path.dirname(above)
    if not os.path.isdir(above):
        raise _wrong(f"{path!r} cannot be written: {above!r} is a file", "Give a folder of your own.")
    return above


def _missing_folders(path: str) -> list[str]:
    """The folders that are not there yet, the innermost first."""
    missing = []
    while not os.path.lexists(path):
        missing.append(path)
        path = os.path.dirname(path)
    return missing


def _sync(top: str) -> None:
    for folder, _, files in os.walk(top, topdown=False):
        for file in files:
            path = os.path.join(folder, file)
            if not os.path.islink(path):  # it may lead nowhere, and belongs to its folder
                _sync_one(path)
        _sync_one(folder)


def _sync_one(path: str) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _exchange(one: str, other: str) -> None:
    """Two folders change places: in one step where the system can, else in two."""
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is not None:
        paths = os.fsencode(one), os.fsencode(other)
        if rename(_CURRENT_FOLDER, paths[0], _CURRENT_FOLDER, paths[1], ctypes.c_uint(_EXCHANGE)) == 0:
            return
        if ctypes.get_errno() not in (errno.ENOSYS, errno.EINVAL):
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), other)
    aside = f"{one}-old"
    os.rename(other, aside)
    try:
        os.rename(one, other)
    except BaseException:
        os.rename(aside, other)
        raise
    os.rename(aside, one)
